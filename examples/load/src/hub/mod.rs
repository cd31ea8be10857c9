//! A head office over simulated venues: what it has at the end against the sum of what happened, how fast it catches up,
//! how that grows with the number of venues, and what a venue's check-ins cost with a hub and without, in pairs.

mod failover;
#[path = "../../../../tests/postgresql/server.rs"]
mod server;
mod simulated;

use self::server::Postgres;
use crate::{
    Result, measure,
    output::{Output, OwnServer, machine},
    prepare,
    report::{grouped, median, ms},
    run::Plan,
    server::{Server, free_address},
    setup::{Access, Venue},
};
use serde_json::Value;
use simulated::{Event, Simulated, Size};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::task::JoinHandle;

const REPORTS: [&str; 5] = ["attendance", "arrivals", "no-shows", "sales", "leads"];
/// Changes of each venue in a trickle, and the time between two.
const TRICKLE: usize = 50;
const TRICKLE_EVERY: Duration = Duration::from_millis(500);

/// What the run is made of.
#[derive(clap::Args, Clone)]
pub struct Options {
    #[command(flatten)]
    own: OwnServer,
    /// Venues of the proof
    #[arg(long, default_value_t = 50)]
    venues: usize,
    /// Interactions of each of them, after an hour without a line
    #[arg(long, default_value_t = 100_000)]
    interactions: usize,
    /// Attendees of each of them
    #[arg(long, default_value_t = 1_000)]
    attendees: usize,
    /// Times that the hub is killed meanwhile
    #[arg(long, default_value_t = 2)]
    kills: usize,
    /// Times that the primary of two PostgreSQL servers is killed and the replica promoted
    #[arg(long, default_value_t = 10)]
    failovers: usize,
    /// Numbers of venues to compare
    #[arg(long, value_delimiter = ',', default_values_t = [1, 10, 50, 200])]
    growth: Vec<usize>,
    /// Interactions of all of them together
    #[arg(long, default_value_t = 400_000)]
    growth_interactions: usize,
    /// Pairs of runs of a venue with and without a hub
    #[arg(long, default_value_t = 5)]
    pairs: u32,
    /// Seconds of each run of a pair
    #[arg(long, default_value_t = 15)]
    seconds: u64,
    /// Check-ins a second of a pair
    #[arg(long, default_value_t = 400)]
    rate: u32,
    /// Leave PostgreSQL out
    #[arg(long)]
    sqlite_only: bool,
}

/// Measures and prints; whether the hub had everything.
pub async fn figures(options: &Options) -> Result<bool> {
    let mut output = Output::to(options.own.output.as_deref())?;
    output.line(machine())?;
    std::fs::create_dir_all(&options.own.dir)?;
    let folder = std::env::temp_dir().join(format!("load-pg-{}", std::process::id()));
    let postgres = (!options.sqlite_only)
        .then(|| Postgres::start(&folder.join("one")))
        .transpose()?;
    let mut is_right = true;
    for postgres in std::iter::once(None).chain(postgres.as_ref().map(Some)) {
        let hub = Hub::new(options, postgres, "proof")?;
        is_right &= proof(options, &hub, &mut output).await?;
        for (nth, venues) in options.growth.iter().enumerate() {
            let hub = Hub::new(options, postgres, &format!("growth{nth}"))?;
            growth(options, &hub, *venues, &mut output).await?;
        }
    }
    if let Some(primary) = postgres {
        is_right &= failover::proof(options, primary, &folder, &mut output).await?;
    }
    let _ = std::fs::remove_dir(&folder);
    pairs(options, &mut output).await?;
    Ok(is_right)
}

/// A hub that is started and killed.
struct Hub {
    binary: PathBuf,
    db: PathBuf,
    /// The address of its PostgreSQL.
    store: Option<String>,
    /// It has only the time that nobody else wants.
    is_idle: bool,
    address: String,
}

impl Hub {
    fn new(options: &Options, postgres: Option<&Postgres>, name: &str) -> Result<Self> {
        let db = options.own.dir.join(format!("hub-{name}.db"));
        prepare::remove(&db)?;
        Ok(Self {
            binary: options.own.binary(),
            store: postgres
                .map(|postgres| {
                    postgres.ask("postgres", &format!("CREATE DATABASE {name}"))?;
                    Ok::<_, crate::Failure>(Postgres::address(&[postgres], name))
                })
                .transpose()?,
            address: free_address()?,
            db,
            is_idle: false,
        })
    }

    /// One that costs the venue nothing but what it asks for, as on a machine of its own: on a disk of its own, with the
    /// processors that nobody else wants.
    fn elsewhere(options: &Options) -> Result<Self> {
        let mut hub = Self::new(options, None, "pair")?;
        let memory = Path::new("/dev/shm");
        if memory.is_dir() {
            hub.db = memory.join(format!("load-hub-{}.db", std::process::id()));
        }
        hub.is_idle = true;
        Ok(hub)
    }

    /// One of several at the same store.
    fn at(options: &Options, name: &str, store: &str) -> Result<Self> {
        let mut hub = Self::new(options, None, name)?;
        hub.store = Some(store.to_owned());
        Ok(hub)
    }

    fn store_name(&self) -> &'static str {
        if self.store.is_some() {
            "PostgreSQL"
        } else {
            "SQLite"
        }
    }

    fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = if self.is_idle && Path::new("/usr/bin/chrt").exists() {
            let mut command = Command::new("/usr/bin/chrt");
            command.args(["--idle", "0"]).arg(&self.binary);
            command
        } else {
            Command::new(&self.binary)
        };
        command.arg("hub").args(arguments).arg("--db").arg(&self.db);
        if let Some(store) = &self.store {
            command.args(["--store", store]);
        }
        command
    }

    async fn start(&self) -> Result<Server> {
        let url = self.url();
        let command = self.command(&["--no-mdns", "--listen", &self.address, "--public-url", &url]);
        Server::spawn(
            command,
            self.address.clone(),
            &self.db.with_extension("serve.log"),
        )
        .await
    }

    fn ask(&self, arguments: &[&str]) -> Result<Value> {
        let output = self.command(arguments).arg("--json").output()?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
        }
        Ok(serde_json::from_slice(&output.stdout)?)
    }

    /// Adds venues and pairs them; `event` says what happens to each on the way.
    async fn join(
        &self,
        count: usize,
        size: Size,
        event: impl Fn(usize) -> Event,
    ) -> Result<Vec<Simulated>> {
        let (client, url) = (simulated::client(), self.url());
        let longest_ms = Arc::default();
        let mut venues = Vec::with_capacity(count);
        for number in 1..=count {
            let added = self.ask(&["venue", "add", &format!("Venue {number:03}")])?;
            let code = added["code"].as_str().ok_or("no code")?;
            let mut venue =
                Simulated::pair(&client, &url, number, code, size, event(number)).await?;
            venue.longest_ms = Arc::clone(&longest_ms);
            venues.push(venue);
        }
        Ok(venues)
    }

    /// The rows of a report, as texts.
    fn report(&self, name: &str) -> Result<BTreeSet<String>> {
        let told = self.ask(&["report", name])?;
        let rows = told.as_array().ok_or("no rows")?;
        let text = |value: &Value| match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let row = |row: &Value| {
            let values = row
                .as_object()
                .into_iter()
                .flat_map(serde_json::Map::values);
            values.map(text).collect::<Vec<_>>().join("|")
        };
        Ok(rows.iter().map(row).collect())
    }
}

/// Has all venues push what happened in an hour, while the hub is killed, a venue is replaced and one restored.
async fn proof(options: &Options, hub: &Hub, output: &mut Output) -> Result<bool> {
    let size = Size {
        attendees: options.attendees,
        interactions: options.interactions,
    };
    let mut server = hub.start().await?;
    let venues = hub
        .join(options.venues, size, |number| match number {
            1 => Event::Replaced,
            2 => Event::Restored,
            _ => Event::Nothing,
        })
        .await?;
    let begun = Instant::now();
    let all = venues.len() * size.items();
    let pushing = Pushing::begin(venues);
    for kill in 1..=options.kills {
        pushing.until(kill, options.kills + 1).await;
        drop(server);
        server = hub.start().await?;
    }
    let expected = pushing.end().await?;
    let took = begun.elapsed();
    let memory = server.memory_kib("VmHWM")? / 1024;
    output.line(format!(
        "{}: {} venues, {all} changes, hub killed {} times, one venue replaced, one restored: {:.1} s, {}/s; hub's memory {memory} MiB at most since its last start",
        hub.store_name(), options.venues, options.kills, took.as_secs_f64(), grouped(rate(all, took)),
    ))?;
    is_equal(hub, expected, output)
}

/// Venues that push all they have.
struct Pushing {
    venues: Vec<JoinHandle<Result<Simulated>>>,
    /// Parts that arrived, of all venues.
    parts: Arc<AtomicUsize>,
}

impl Pushing {
    /// Parts of each venue, so that it is known how far all are.
    const PARTS: usize = 20;

    fn begin(venues: Vec<Simulated>) -> Self {
        let parts = Arc::<AtomicUsize>::default();
        let push = |mut venue: Simulated| {
            let parts = Arc::clone(&parts);
            tokio::spawn(async move {
                for part in 1..=Self::PARTS {
                    venue
                        .push_to(venue.size.items() * part / Self::PARTS)
                        .await?;
                    parts.fetch_add(1, Ordering::Relaxed);
                }
                Ok(venue)
            })
        };
        let venues = venues.into_iter().map(push).collect();
        Self { venues, parts }
    }

    /// Waits until so many of `of` shares arrived.
    async fn until(&self, share: usize, of: usize) {
        let due = Self::PARTS * self.venues.len() * share / of;
        while self.parts.load(Ordering::Relaxed) < due {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Waits for all, and tells what the reports must show.
    async fn end(self) -> Result<BTreeMap<&'static str, BTreeSet<String>>> {
        let mut expected = BTreeMap::new();
        for venue in self.venues {
            venue.await??.expect(&mut expected);
        }
        Ok(expected)
    }
}

/// Whether the reports of a hub show what they must.
fn is_equal(
    hub: &Hub,
    mut expected: BTreeMap<&'static str, BTreeSet<String>>,
    output: &mut Output,
) -> Result<bool> {
    let mut is_equal = true;
    for report in REPORTS {
        let (expected, found) = (
            expected.remove(report).unwrap_or_default(),
            hub.report(report)?,
        );
        let missing = expected.difference(&found).count();
        let more = found.difference(&expected).count();
        output.line(format!(
            "{}: report {report}: {} rows, {missing} missing, {more} that should not be there",
            hub.store_name(),
            found.len(),
        ))?;
        is_equal &= missing + more == 0;
        if let (Some(one), other) = (
            expected.difference(&found).next(),
            found.difference(&expected).next(),
        ) {
            output.line(format!("  such as {one}, found {other:?}"))?;
        }
    }
    Ok(is_equal)
}

#[expect(clippy::cast_precision_loss, reason = "it is shown rounded")]
fn rate(count: usize, took: Duration) -> f64 {
    count as f64 / took.as_secs_f64()
}

/// How fast so many venues catch up, and how long a change takes while all of them trickle.
async fn growth(options: &Options, hub: &Hub, count: usize, output: &mut Output) -> Result<()> {
    let size = Size {
        attendees: options.attendees / 10,
        interactions: (options.growth_interactions / count).max(TRICKLE * 2),
    };
    let server = hub.start().await?;
    let venues = hub.join(count, size, |_| Event::Nothing).await?;
    let (begun, caught_up) = (Instant::now(), size.items() - TRICKLE);
    let tasks = venues.into_iter().map(|mut venue| {
        tokio::spawn(async move { venue.push_to(caught_up).await.map(|_| venue) })
    });
    let mut venues = Vec::with_capacity(count);
    for task in tasks.collect::<Vec<_>>() {
        venues.push(task.await??);
    }
    let took = begun.elapsed();
    let processor = server.processor_time()?;
    let begun = Instant::now();
    let tasks = venues.into_iter().enumerate().map(|(nth, mut venue)| {
        tokio::spawn(async move {
            tokio::time::sleep(TRICKLE_EVERY * u32::try_from(nth % 100)? / 100).await;
            let mut times = Vec::new();
            for step in (0..TRICKLE).step_by(5) {
                times.extend(venue.push_to(caught_up + step + 5).await?);
                tokio::time::sleep(TRICKLE_EVERY).await;
            }
            Ok::<_, crate::Failure>(times)
        })
    });
    let mut times = Vec::new();
    for task in tasks.collect::<Vec<_>>() {
        times.extend(task.await??);
    }
    times.sort_unstable();
    let p99 = times
        .get(times.len() * 99 / 100)
        .copied()
        .unwrap_or_default();
    let share = server
        .processor_time()?
        .saturating_sub(processor)
        .as_secs_f64()
        / begun.elapsed().as_secs_f64();
    output.line(format!(
        "{}: {count} venues: catch-up {}/s; then 10 changes/s of each: push p99 {:.1} ms, {:.0} % of a core; memory {} MiB at most",
        hub.store_name(),
        grouped(rate(count * caught_up, took)),
        ms(p99),
        share * 100.0,
        server.memory_kib("VmHWM")? / 1024,
    ))?;
    drop(server);
    prepare::remove(&hub.db)
}

/// Check-ins at a venue that belongs to a hub, and at one that does not, in pairs.
async fn pairs(options: &Options, output: &mut Output) -> Result<()> {
    let binary = options.own.binary();
    let plan = Plan::seconds(options.seconds, 2).at_rate(options.rate);
    let mut ratios = Vec::new();
    for pair in 1..=options.pairs {
        let mut p99 = [0.0; 2];
        // Whoever is always second would meet a tired machine.
        let order = if pair % 2 == 1 {
            [false, true]
        } else {
            [true, false]
        };
        for is_joined in order {
            let db = options.own.fresh("venue.db", (5_000, 50, 50_000))?;
            let hub = Hub::elsewhere(options)?;
            let _hub = hub.start().await?;
            if is_joined {
                let code = hub.ask(&["venue", "add", "Venue"])?;
                join(
                    &binary,
                    &db,
                    &hub.url(),
                    code["code"].as_str().ok_or("no code")?,
                )?;
            }
            let server = Server::start(&binary, &db).await?;
            let venue = Venue::enter(&Access::at(server.url())).await?;
            let report = measure::check_ins(&venue, 64, true, plan).await?;
            output.line(format!(
                "{}/s, pair {pair}, {}: {}/s, p50 {:.2} ms, p99 {:.2} ms, errors {}",
                options.rate,
                if is_joined { "with a hub" } else { "alone" },
                grouped(report.rate()),
                ms(report.p50()),
                ms(report.p99()),
                report.failures(),
            ))?;
            p99[usize::from(is_joined)] = ms(report.p99());
        }
        ratios.push(p99[1] / p99[0]);
    }
    if !ratios.is_empty() {
        output.line(format!(
            "p99 with a hub against alone: median of the ratios {:.3}",
            median(ratios)
        ))?;
    }
    Ok(())
}

fn join(binary: &Path, db: &Path, url: &str, code: &str) -> Result<()> {
    let mut command = Command::new(binary);
    let done = command
        .args(["head-office", "join", url, code, "--db"])
        .arg(db)
        .output()?;
    if done.status.success() {
        Ok(())
    } else {
        Err(String::from_utf8_lossy(&done.stderr).into_owned().into())
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        let _ = prepare::remove(&self.db);
    }
}
