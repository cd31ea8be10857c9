//! A head office over simulated venues: what it has at the end against the sum of what happened, how fast it catches up,
//! how that grows with the number of venues, and what a venue's check-ins cost with a hub and without, in pairs.

mod postgres;
mod simulated;

use crate::{
    Result, measure,
    output::{Output, OwnServer, machine},
    prepare,
    report::{grouped, median, ms},
    run::Plan,
    server::{Server, free_address},
    setup::{Access, Venue},
};
use postgres::Postgres;
use serde_json::Value;
use simulated::{Event, Simulated, Size};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
    time::{Duration, Instant},
};

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
    let postgres = if options.sqlite_only {
        None
    } else {
        Postgres::start(
            &std::env::temp_dir().join(format!("load-postgres-{}", std::process::id())),
        )?
    };
    let mut is_equal = true;
    let stores = std::iter::once(None).chain(postgres.as_ref().map(Some));
    for of in stores {
        let hub = Hub::new(options, of, "proof")?;
        is_equal &= proof(options, &hub, &mut output).await?;
        for (nth, venues) in options.growth.iter().enumerate() {
            let hub = Hub::new(options, of, &format!("growth{nth}"))?;
            growth(options, &hub, *venues, &mut output).await?;
        }
    }
    pairs(options, &mut output).await?;
    Ok(is_equal)
}

/// A hub that is started and killed.
struct Hub {
    binary: PathBuf,
    db: PathBuf,
    /// The address of its PostgreSQL.
    store: Option<String>,
    address: String,
}

impl Hub {
    fn new(options: &Options, postgres: Option<&Postgres>, name: &str) -> Result<Self> {
        let db = options.own.dir.join(format!("hub-{name}.db"));
        prepare::remove(&db)?;
        Ok(Self {
            binary: options.own.binary(),
            store: postgres
                .map(|postgres| postgres.database(name))
                .transpose()?,
            address: free_address()?,
            db,
        })
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
        let mut command = Command::new(&self.binary);
        command.arg("hub").args(arguments).arg("--db").arg(&self.db);
        if let Some(store) = &self.store {
            command.args(["--store", store]);
        }
        command
    }

    async fn start(&self) -> Result<Server> {
        let command = self.command(&["--no-mdns", "--listen", &self.address]);
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
        let mut venues = Vec::with_capacity(count);
        for number in 1..=count {
            let added = self.ask(&["venue", "add", &format!("Venue {number:03}")])?;
            let code = added["code"].as_str().ok_or("no code")?;
            venues.push(Simulated::pair(&client, &url, number, code, size, event(number)).await?);
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
    let pushed = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let tasks = venues.into_iter().map(|mut venue| {
        let pushed = Arc::clone(&pushed);
        tokio::spawn(async move {
            // In parts, so that it is known how far all are.
            for part in 1..=20 {
                venue.push_to(size.items() * part / 20).await?;
                pushed.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            }
            Ok::<_, crate::Failure>(venue)
        })
    });
    let tasks: Vec<_> = tasks.collect();
    let parts = 20 * options.venues;
    for kill in 1..=options.kills {
        let due = parts * kill / (options.kills + 1);
        while pushed.load(std::sync::atomic::Ordering::Relaxed) < due {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        drop(server);
        server = hub.start().await?;
    }
    let mut expected = BTreeMap::new();
    for task in tasks {
        task.await??.expect(&mut expected);
    }
    let took = begun.elapsed();
    let memory = server.memory_kib("VmHWM")? / 1024;
    output.line(format!(
        "{}: {} venues, {all} changes, hub killed {} times, one venue replaced, one restored: {:.1} s, {}/s; hub's memory {memory} MiB at most since its last start",
        hub.store_name(), options.venues, options.kills, took.as_secs_f64(), grouped(rate(all, took)),
    ))?;
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
            let hub = Hub::new(options, None, "pair")?;
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
