//! Whether UHF readers leave gates alone: check-ins beside readers as busy as they get. Each hall has a
//! reader: two of its antennas hear the hall, two are the sides of its entrance. People with tags walk.

use crate::{
    Failure, Result,
    histogram::Histogram,
    measure,
    output::{Output, OwnServer, machine},
    prepare::{self, EVENT},
    report::{Report, grouped, ms, per_second},
    run::Plan,
    server::Server,
    setup::{Access, Venue},
};
use gatepost::{
    core::presence::PresenceSettings,
    domain::readers::{
        Epc,
        walks::{self, Walks},
    },
    types::Timestamp,
};
use llrp::emulator::{EmulatedRead, Emulator, EmulatorOptions};
use rusqlite::{Connection, OpenFlags, params};
use serde_json::json;
use std::{
    fs::File,
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
        mpsc,
    },
    thread,
    time::Duration,
};

/// What the run is made of.
#[derive(clap::Args, Clone)]
pub struct Options {
    #[command(flatten)]
    own: OwnServer,
    #[arg(long, default_value_t = 50)]
    gates: usize,
    /// Check-ins a second, all gates together
    #[arg(long, default_value_t = 400, value_parser = clap::value_parser!(u32).range(1..))]
    rate: u32,
    /// People with tags
    #[arg(long, default_value_t = 4_000, value_parser = clap::value_parser!(u32).range(100..=50_000))]
    people: u32,
    /// Minutes of the measurement
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=1_000))]
    minutes: u64,
    /// Seconds beforehand without reads, to see what reads cost
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(5..))]
    silent_seconds: u64,
}

const DELEGATES: i64 = 50_000;
const SESSIONS: i64 = 100;
const READERS: u32 = 8;
/// Reads a second of each reader.
const READS: usize = 5_000;
/// A stay in a hall: at least and at most.
const STAY_S: [u32; 2] = [60, 600];
/// Everybody is noticed for the first time within this.
const ARRIVAL_S: u64 = 30;
/// A hall is a room, an entrance is a portal.
const PLACES: [&str; 2] = ["hall", "entrance"];
/// How often a reader reports; reads are up to so much old.
const REPORT: Duration = Duration::from_millis(50);
/// The sides of an entrance; the antennas 1 and 2 hear the hall.
const OUTSIDE: u16 = 3;
const INSIDE: u16 = 4;

/// How right presence is about simulated walks, for three seeds; whether that is right enough.
pub fn accuracy(options: &AccuracyOptions) -> Result<bool> {
    let mut output = Output::to(options.output.as_deref())?;
    let mut fine = true;
    for seed in 1..=3 {
        let options = walks::Options {
            seed,
            ..walks::Options::default()
        };
        let found = walks::measure(options, &PresenceSettings::default());
        fine &= found.right >= 0.99 && found.false_exits <= 1.0;
        let [middle, late] = found.noticed_s;
        output.line(format!(
            "seed {seed}: {} people, {} places, {:.0} % of rounds, {} min, {} reads: {:.2} % right after 5 s, \
             {:.2} false exits in 10,000 person-minutes, noticed after {middle} s (p50), {late} s (p95)",
            options.people,
            options.places,
            options.read_rate * 100.0,
            options.minutes,
            found.reads,
            found.right * 100.0,
            found.false_exits
        ))?;
    }
    Ok(fine)
}

/// Where the figures of walks go.
#[derive(clap::Args, Clone)]
pub struct AccuracyOptions {
    /// A file for what is printed
    #[arg(long)]
    output: Option<PathBuf>,
}

/// Measures and prints, with a table at the end; whether every target was met.
pub async fn figures(options: &Options) -> Result<bool> {
    let mut output = Output::to(options.own.output.as_deref())?;
    output.line(machine())?;
    output.line(format!(
        "file: {DELEGATES} delegates, {SESSIONS} sessions; --durability full; {READERS} readers, {READS} reads/s each, {} tags, stays of {STAY_S:?} s; {} gates\n",
        options.people, options.gates
    ))?;
    let counts = (DELEGATES, SESSIONS, 0);
    let db = options.own.fresh("readers.db", counts)?;
    let source = Source::start(options.people)?;
    add_readers(&db, options.people, &source.addresses)?;
    let binary = options.own.binary();
    let server = Server::start(&binary, &db).await?;
    let venue = Venue::enter(&Access::at(server.url())).await?;
    let run = Run {
        options,
        venue,
        server,
        file: Connection::open_with_flags(&db, OpenFlags::SQLITE_OPEN_READ_ONLY)?,
    };
    let silent = run
        .part("readers silent", options.silent_seconds, &mut output)
        .await?;
    source.reads.store(true, Relaxed);
    run.part("readers begin", ARRIVAL_S, &mut output).await?;
    let work = run
        .part("readers at work", options.minutes * 60, &mut output)
        .await?;
    source.reads.store(false, Relaxed);
    let fine = run
        .table(&silent, &work, source.sent.load(Relaxed), &mut output)
        .await?;
    drop(run);
    prepare::remove(&db)?;
    Ok(fine)
}

struct Run<'a> {
    options: &'a Options,
    venue: Venue,
    server: Server,
    file: Connection,
}

/// A part of the run.
struct Part {
    check_ins: Report,
    /// Cores that the server used.
    cores: f64,
    reads_per_s: f64,
    /// From a read to its `seen` or `entered`, at each of [`PLACES`].
    lags: [Histogram; 2],
}

impl Run<'_> {
    async fn part(&self, name: &str, seconds: u64, output: &mut Output) -> Result<Part> {
        let plan = Plan::seconds(seconds, 2).at_rate(self.options.rate);
        let beside = async {
            tokio::time::sleep(plan.warm_up).await;
            let (begun, cpu) = (Timestamp::now(), self.server.processor_time()?);
            let reads = self.reads().await?;
            tokio::time::sleep(plan.duration).await;
            let cpu = self.server.processor_time()?.saturating_sub(cpu);
            let reads_per_s = per_second(self.reads().await? - reads, plan.duration);
            let cores = cpu.as_secs_f64() / plan.duration.as_secs_f64();
            Ok::<_, Failure>((begun, cores, reads_per_s))
        };
        let gates = measure::check_ins(&self.venue, self.options.gates, false, plan);
        let (check_ins, (begun, cores, reads_per_s)) = tokio::try_join!(gates, beside)?;
        output.line(format!(
            "{name}: {check_ins}\n  server {cores:.2} cores, {:.0} MB; {} reads/s",
            self.memory_mb("VmRSS")?,
            grouped(reads_per_s)
        ))?;
        let mut lags = [Histogram::default(), Histogram::default()];
        for (place, lags) in PLACES.iter().zip(&mut lags) {
            // The time of an exit is that of the last read, long ago by design.
            for (kind, counts) in [("seen", true), ("entered", true), ("exited", false)] {
                let mut of_kind = Histogram::default();
                let found = self.lags(kind, place, begun)?;
                if found.is_empty() {
                    continue;
                }
                for lag in &found {
                    of_kind.record(*lag);
                    if counts {
                        lags.record(*lag);
                    }
                }
                let [p50, p99, most] =
                    [of_kind.quantile(500), of_kind.quantile(990), of_kind.max()]
                        .map(|lag| lag.as_secs_f64());
                output.line(format!(
                    "  {place}, {kind} {}: lag p50 {p50:.2} s, p99 {p99:.2} s, longest {most:.2} s",
                    found.len()
                ))?;
            }
        }
        Ok(Part {
            check_ins,
            cores,
            reads_per_s,
            lags,
        })
    }

    /// From the read to the transaction that stored the interaction.
    fn lags(&self, kind: &str, place: &str, since: Timestamp) -> Result<Vec<Duration>> {
        let mut find = self.file.prepare_cached(
            "SELECT max(i.created_at - i.recorded_at, 0) FROM interactions i JOIN devices d ON d.id = i.first_device_id
             WHERE lower(i.interaction_type) = ?1 AND i.created_at >= ?2 AND d.code LIKE 'load-' || ?3 || '-%'",
        )?;
        let lags = find.query_map(params![kind, since.0, place], |row| {
            Ok(Duration::from_millis(row.get(0)?))
        })?;
        Ok(lags.collect::<rusqlite::Result<_>>()?)
    }

    async fn reads(&self) -> Result<u64> {
        self.venue.target.metric("gatepost_uhf_reads_total").await
    }

    #[expect(clippy::cast_precision_loss, reason = "megabytes")]
    fn memory_mb(&self, figure: &str) -> Result<f64> {
        Ok((self.server.memory_kib(figure)? * 1024) as f64 / 1e6)
    }

    async fn table(
        &self,
        silent: &Part,
        work: &Part,
        sent: u64,
        output: &mut Output,
    ) -> Result<bool> {
        let target = &self.venue.target;
        let dropped = target.metric("gatepost_uhf_reads_dropped_total").await?;
        let lost = target
            .metric("gatepost_uhf_interactions_lost_total")
            .await?;
        let unknown = target.metric("gatepost_uhf_reads_unknown_total").await?;
        output.line(format!(
            "in all: {sent} reads sent, {} taken\n",
            self.reads().await?
        ))?;
        output.line("| what | target | measured | |\n|---|---|---|---|")?;
        let (p99, memory_mb) = (work.check_ins.p99(), self.memory_mb("VmHWM")?);
        let [room, portal] = [0, 1].map(|place| work.lags[place].quantile(990).as_secs_f64());
        let (rate, cores) = (work.check_ins.rate(), work.cores - silent.cores);
        let reads = f64::from(READERS * 5_000);
        let kept_up = rate > f64::from(self.options.rate) * 0.99 && work.check_ins.failures() == 0;
        let rows = [
            (
                kept_up && p99 < Duration::from_millis(20),
                format!(
                    "check-ins beside readers, p99 | under 20 ms | {:.2} ms at {rate:.0}/s",
                    ms(p99)
                ),
            ),
            (
                work.reads_per_s > reads * 0.99,
                format!(
                    "tag reads taken | {}/s | {}/s",
                    grouped(reads),
                    grouped(work.reads_per_s)
                ),
            ),
            (
                memory_mb < 200.0,
                format!("resident memory at most | under 200 MB | {memory_mb:.0} MB"),
            ),
            (
                cores <= 1.0,
                format!("processor time of reads | at most 1 core | {cores:.2} cores"),
            ),
            (
                room > 0.0 && room < 3.0,
                format!(
                    "from a read to `seen` or `entered` of a room, p99 | under 3 s | {room:.2} s"
                ),
            ),
            (
                portal > 0.0 && portal < 3.0,
                format!("the same of a portal | under 3 s | {portal:.2} s"),
            ),
            (
                dropped + lost + unknown == 0,
                format!(
                    "dropped reads, lost interactions, unknown tags | 0 | {dropped}, {lost}, {unknown}"
                ),
            ),
        ];
        for (met, row) in &rows {
            let verdict = if *met { "pass" } else { "miss" };
            output.line(format!("| {row} | {verdict} |"))?;
        }
        Ok(rows.iter().all(|(met, _)| *met))
    }
}

/// The tag of a delegate.
fn epc(delegate: u32) -> String {
    format!("E7E7{delegate:020X}")
}

/// Adds halls with readers, and tags of the first delegates, to a file that nobody serves.
fn add_readers(path: &Path, people: u32, addresses: &[SocketAddr]) -> Result<()> {
    let connection = Connection::open(path)?;
    connection.execute_batch("BEGIN")?;
    let add = |code: &str, kind: &str, data: serde_json::Value| {
        connection.execute(
            "INSERT INTO devices (parent_id, code, public_id, name, device_type, data, sources, created_at, updated_at)
             VALUES (?1, ?2, ?2, ?2, ?3, ?4, '[\"admin\"]', 0, 0)",
            params![EVENT, code, kind, data.to_string()],
        )
    };
    for (number, address) in (1..).zip(addresses) {
        let (hall, entrance) = (
            format!("load-hall-{number}"),
            format!("load-entrance-{number}"),
        );
        let antenna = |antenna: u16, place: &str, zone: &str| json!({"antenna": antenna, "place": format!("code:{place}"), "zone": zone});
        let antennas = [
            antenna(1, &hall, "room"),
            antenna(2, &hall, "room"),
            antenna(OUTSIDE, &entrance, "outside"),
            antenna(INSIDE, &entrance, "inside"),
        ];
        add(&hall, "session", json!({"Presence": {"counts": true}}))?;
        add(&entrance, "session", json!({}))?;
        add(
            &format!("load-reader-{number}"),
            "rfidreader",
            json!({"Reader": {"protocol": "llrp", "address": address, "epcPrefix": "E7E7", "antennas": antennas}}),
        )?;
    }
    for delegate in 1..=people {
        connection
            .prepare_cached("UPDATE delegates SET uhf_id = ?2 WHERE id = ?1")?
            .execute(params![delegate, epc(delegate)])?;
    }
    connection.execute_batch("COMMIT")?;
    connection.close().map_err(|(_, cause)| cause)?;
    Ok(File::open(path)?.sync_all()?)
}

/// Emulated readers, on a thread of their own, so that gates do not wait for them.
struct Source {
    addresses: Vec<SocketAddr>,
    /// Whether they read.
    reads: Arc<AtomicBool>,
    sent: Arc<AtomicU64>,
}

impl Source {
    fn start(people: u32) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let (reads, sent) = (
            Arc::new(AtomicBool::new(false)),
            Arc::new(AtomicU64::new(0)),
        );
        let (reads_now, sent_now, (told, addresses)) =
            (Arc::clone(&reads), Arc::clone(&sent), mpsc::channel());
        thread::spawn(move || {
            let failed = runtime.block_on(work(people, &told, &reads_now, &sent_now));
            let _ = told.send(failed.map(|()| Vec::new()));
        });
        Ok(Self {
            addresses: addresses.recv()??,
            reads,
            sent,
        })
    }
}

async fn work(
    people: u32,
    told: &mpsc::Sender<Result<Vec<SocketAddr>>>,
    reads: &AtomicBool,
    sent: &AtomicU64,
) -> Result<()> {
    let mut readers = Vec::new();
    for _ in 0..READERS {
        readers.push(
            Emulator::start((Ipv4Addr::LOCALHOST, 0).into(), EmulatorOptions::default()).await?,
        );
    }
    told.send(Ok(readers.iter().map(Emulator::address).collect()))?;
    let mut crowd = Crowd::new(people)?;
    let mut ticks = tokio::time::interval(REPORT);
    let mut made_ms = None;
    loop {
        ticks.tick().await;
        if !reads.load(Relaxed) {
            continue;
        }
        let now_ms = Timestamp::now().0;
        let second_ms = made_ms.get_or_insert(now_ms);
        while *second_ms <= now_ms {
            crowd.second(*second_ms);
            *second_ms += 1000;
        }
        for (reader, due) in readers.iter().zip(&mut crowd.due) {
            let batch: Vec<_> = due
                .drain(..due.partition_point(|read| read.at_ms <= now_ms))
                .collect();
            let count = batch.len() as u64;
            if reader.send(batch).await {
                sent.fetch_add(count, Relaxed);
            }
        }
    }
}

/// People, and the reads of each reader that are to come.
struct Crowd {
    tags: Vec<Epc>,
    walks: Walks,
    rooms: Vec<Option<u32>>,
    due: Vec<Vec<EmulatedRead>>,
}

impl Crowd {
    fn new(people: u32) -> Result<Self> {
        let walks = Walks::new(walks::Options {
            people,
            places: READERS,
            stay_s: STAY_S,
            ..walks::Options::default()
        });
        Ok(Self {
            tags: (1..=people)
                .map(|delegate| epc(delegate).parse())
                .collect::<std::result::Result<_, _>>()?,
            rooms: walks.rooms().collect(),
            walks,
            due: vec![Vec::new(); READERS as usize],
        })
    }

    /// Makes the reads of a second.
    fn second(&mut self, at_ms: i64) {
        let mut heard = Vec::new();
        self.walks.second(at_ms, &mut heard);
        let rooms: Vec<_> = self.walks.rooms().collect();
        for (number, due) in (0..).zip(&mut self.due) {
            let begun = due.len();
            for (epc, (before, after)) in self.tags.iter().zip(self.rooms.iter().zip(&rooms)) {
                if before != after && before.or(*after) == Some(number) {
                    due.extend(pass(*epc, after.is_some(), at_ms));
                }
            }
            let passes = due.len() - begun;
            // Few tags are read more often than many: a reader is always as fast as it can be.
            let of_hall: Vec<_> = heard
                .iter()
                .filter(|read| read.reader == i64::from(number))
                .collect();
            for (turn, read) in (0..READS.saturating_sub(passes)).zip(of_hall.iter().cycle()) {
                let shift_ms = i64::try_from(turn / of_hall.len()).unwrap_or(0) * 137;
                let Some(epc) = usize::try_from(read.tag)
                    .ok()
                    .and_then(|tag| self.tags.get(tag))
                else {
                    continue;
                };
                due.push(EmulatedRead {
                    antenna: if turn % 2 == 0 { 1 } else { 2 },
                    epc: *epc,
                    rssi_dbm: read.rssi_dbm,
                    at_ms: at_ms + (read.at_ms - at_ms + shift_ms) % 1000,
                });
            }
            due.sort_by_key(|read| read.at_ms);
        }
        self.rooms = rooms;
    }
}

/// The reads of somebody who passes an entrance within a second.
fn pass(epc: Epc, inwards: bool, at_ms: i64) -> impl Iterator<Item = EmulatedRead> {
    (0..8).map(move |number| EmulatedRead {
        antenna: if (number < 4) == inwards {
            OUTSIDE
        } else {
            INSIDE
        },
        epc,
        rssi_dbm: -50.0,
        at_ms: at_ms + number * 120,
    })
}
