//! What the machine itself can do, to hold the server's figures against: flushes of its disk, the
//! rows of a check-in inserted by a bare loop, requests to an endpoint that does nothing.

use crate::{
    Result,
    client::{Response, Target},
    histogram::Histogram,
    noop,
    pairs::{Pair, Pairs},
    prepare::{self, session_ids},
    report::{Report, grouped, ms, per_second},
    run::{Plan, Workload, run},
};
use gatepost::domain::interactions::types::{CHECK_IN, CHECK_OUT, InteractionType};
use rusqlite::{Connection, Statement, params};
use std::{
    collections::VecDeque,
    fmt,
    fs::File,
    io::{Seek, SeekFrom, Write},
    path::Path,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

const PAGE_BYTES: usize = 4096;
/// As long as the write-ahead log gets, which is overwritten again and again.
const PAGES: u64 = 8192;
const GROUP: usize = 64;
/// Check-ins that await their check-out, as many as 64 lanes of the generator have.
const INSIDE: usize = 64 * 256;
const DELEGATES: i64 = 50_000;
const SESSIONS: i64 = 100;

/// The machine's limits.
pub struct Limits {
    flushes_per_s: f64,
    flushes: Histogram,
    /// Check-ins and check-outs a second.
    pub bare_per_s: f64,
    no_op: Report,
}

impl Limits {
    /// The median time of one flush.
    pub fn flush_p50(&self) -> Duration {
        self.flushes.quantile(500)
    }

    /// Requests a second to an endpoint that does nothing.
    pub fn no_op_per_s(&self) -> f64 {
        self.no_op.rate()
    }
}

impl fmt::Display for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "fdatasync of a 4 KiB write: {}/s; p50 {:.3} ms, p99 {:.3} ms",
            grouped(self.flushes_per_s),
            ms(self.flush_p50()),
            ms(self.flushes.quantile(990)),
        )?;
        writeln!(
            f,
            "a check-in's rows by a bare loop, {GROUP} a transaction, synchronous=FULL: {}/s",
            grouped(self.bare_per_s)
        )?;
        write!(f, "{}", self.no_op)
    }
}

/// Measures them, with files in `directory`.
pub async fn measure(directory: &Path, seconds: u64) -> Result<Limits> {
    let duration = Duration::from_secs(seconds);
    std::fs::create_dir_all(directory)?;
    let flushes = flush(&directory.join("flush.tmp"), duration, Duration::ZERO)?;
    Ok(Limits {
        flushes_per_s: flushes.0,
        flushes: flushes.1,
        bare_per_s: insert_bare(&directory.join("bare.db"), duration)?,
        no_op: request_nothing(seconds).await?,
    })
}

/// Writes a page and flushes it, again and again with a pause between: flushes a second, and how long
/// each took.
pub fn flush(path: &Path, duration: Duration, pause: Duration) -> Result<(f64, Histogram)> {
    let page = [0x5A; PAGE_BYTES];
    let mut file = File::create(path)?;
    for _ in 0..PAGES {
        file.write_all(&page)?;
    }
    file.sync_all()?;
    let mut latencies = Histogram::default();
    let begun = Instant::now();
    let mut flushes = 0;
    while begun.elapsed() < duration {
        if flushes % PAGES == 0 {
            file.seek(SeekFrom::Start(0))?;
        }
        let before = Instant::now();
        file.write_all(&page)?;
        file.sync_data()?;
        latencies.record(before.elapsed());
        flushes += 1;
        std::thread::sleep(pause);
    }
    let rate = per_second(flushes, begun.elapsed());
    std::fs::remove_file(path)?;
    Ok((rate, latencies))
}

/// The same rows as the server writes for a check-in or check-out, in the same kind of file, with
/// the server's pragmas; no HTTP, no look-ups, no rules.
fn insert_bare(path: &Path, duration: Duration) -> Result<f64> {
    prepare::remove(path)?;
    prepare::prepare(&prepare::Options {
        db: path.to_owned(),
        delegates: DELEGATES,
        sessions: SESSIONS,
        interactions: 0,
    })?;
    let connection = Connection::open(path)?;
    gatepost::db::connection::prepare(&connection)?;
    connection.execute_batch(&format!(
        "PRAGMA synchronous = FULL; PRAGMA cache_size = -16384; PRAGMA secure_delete = ON;
         PRAGMA wal_autocheckpoint = {PAGES};"
    ))?;
    let mut rows = Rows::prepare(&connection)?;
    let mut pairs = Pairs::new(DELEGATES.unsigned_abs(), &session_ids(SESSIONS), 0, 1)?;
    let mut inside = VecDeque::with_capacity(INSIDE);
    let begun = Instant::now();
    let mut inserted = 0;
    while begun.elapsed() < duration {
        connection.execute_batch("BEGIN IMMEDIATE")?;
        for number in 0..GROUP {
            let leaving = inside.len() >= INSIDE && number % 2 == 1;
            if let Some(pair) = if leaving { inside.pop_front() } else { None } {
                rows.insert(pair, &CHECK_OUT)?;
            } else {
                let pair = pairs.next();
                inside.push_back(pair);
                rows.insert(pair, &CHECK_IN)?;
            }
        }
        connection.execute_batch("COMMIT")?;
        inserted += GROUP as u64;
    }
    let rate = per_second(inserted, begun.elapsed());
    drop(rows);
    connection.close().map_err(|(_, cause)| cause)?;
    prepare::remove(path)?;
    Ok(rate)
}

struct Rows<'a> {
    interaction: Statement<'a>,
    count: Statement<'a>,
}

impl<'a> Rows<'a> {
    fn prepare(connection: &'a Connection) -> Result<Self> {
        Ok(Self {
            interaction: connection.prepare(
                "INSERT INTO interactions (interaction_type, first_delegate_id, first_device_id,
                                           recorded_at, created_at, client_id, effect)
                 VALUES (?1, ?2, ?3, ?4, ?5, 1, ?6)",
            )?,
            count: connection.prepare(
                "INSERT INTO occupancy (device_id, inside) VALUES (?1, ?2)
                 ON CONFLICT DO UPDATE SET inside = inside + ?2",
            )?,
        })
    }

    fn insert(&mut self, pair: Pair, kind: &InteractionType) -> Result<()> {
        let delegate = i64::try_from(pair.delegate)?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
        let now_ms = i64::try_from(now.as_millis())?;
        let recorded_at = now_ms - now_ms % 1000;
        self.interaction.execute(params![
            kind.name,
            delegate,
            pair.device,
            recorded_at,
            now_ms,
            kind.presence_effect
        ])?;
        let change = if *kind == CHECK_IN { 1 } else { -1 };
        self.count.execute(params![pair.device, change])?;
        Ok(())
    }
}

/// Posts what looks like a check-in to an endpoint that does nothing.
struct NoOp {
    target: Target,
}

impl Workload for NoOp {
    fn next(&mut self, request: &mut Vec<u8>) {
        let body =
            r#"{"firstDelegate":"barcode:L0000001","firstDevice":2,"recordedAt":1795248120}"#;
        self.target
            .post(request, "/api/v5/interaction/new/check-in", body);
    }

    fn acknowledged(&mut self, answer: &Response<'_>) -> u64 {
        u64::from(answer.status == 201)
    }
}

async fn request_nothing(seconds: u64) -> Result<Report> {
    let server = noop::Server::start()?;
    let target = Target::parse(server.url())?.with_token("0123456789abcdef0123456789abcdef");
    let lanes = (0..64)
        .map(|_| NoOp {
            target: target.clone(),
        })
        .collect();
    run(
        "a no-op endpoint",
        &target,
        lanes,
        Plan::seconds(seconds, 1),
    )
    .await
}
