//! Figures of a large file: searches, long pages, memory while a slow reader takes one, and
//! check-ins while lists come in and everything is taken out.

use crate::{
    Result,
    chores::{self, Chores},
    measure::{self, ListOptions},
    output::{Output, OwnServer, machine},
    prepare,
    report::{grouped, ms},
    run::Plan,
    searches,
    server::Server,
    setup::{Access, Venue},
};
use std::{
    path::Path,
    time::{Duration, Instant},
};

/// What the run is made of.
#[derive(clap::Args, Clone)]
pub struct Options {
    #[command(flatten)]
    own: OwnServer,
    #[arg(long, default_value_t = 1_000_000)]
    delegates: i64,
    #[arg(long, default_value_t = 1_000_000)]
    interactions: i64,
    #[arg(long, default_value_t = 100)]
    sessions: i64,
    /// Seconds for each search
    #[arg(long, default_value_t = 5)]
    seconds: u64,
    /// Check-ins a second while lists come in and everything is taken out
    #[arg(long, default_value_t = 8_000)]
    rate: u32,
    /// Seconds of these check-ins
    #[arg(long, default_value_t = 60)]
    beside_seconds: u64,
}

const FIELDS: &str =
    "id,barcode,firstName,lastName,email,phone,jobTitle,company,publicId,createdAt";

/// Measures everything and prints it, with a table at the end.
pub async fn figures(options: &Options) -> Result<()> {
    let mut output = Output::to(options.own.output.as_deref())?;
    output.line(machine())?;
    output.line(format!(
        "file: {} delegates, {} sessions, {} interactions and a join each; --durability full\n",
        options.delegates, options.sessions, options.interactions
    ))?;
    let counts = (options.delegates, options.sessions, options.interactions);
    let db = options.own.fresh("data.db", counts)?;
    let binary = options.own.binary();
    let begun = Instant::now();
    let server = Server::start(&binary, &db).await?;
    let started = begun.elapsed();
    let venue = Venue::enter(&Access::at(server.url())).await?;
    let mut rows = vec![
        "| what | at least | measured | |".to_owned(),
        "|---|---|---|---|".to_owned(),
        row(
            "start",
            "under 500 ms",
            &format!("{:.0} ms", ms(started)),
            Some(started < Duration::from_millis(500)),
        ),
    ];
    for asked in &searches::ALL {
        let report = searches::measure(&venue, asked, options.seconds).await?;
        output.line(&report)?;
        let p95 = report.latencies.quantile(950);
        let met = asked
            .p95_max
            .map(|most| p95 < most && report.failures() == 0);
        let target = asked
            .p95_max
            .map_or_else(String::new, |most| format!("p95 under {:.0} ms", ms(most)));
        rows.push(row(asked.name, &target, &format!("{:.2} ms", ms(p95)), met));
    }
    rows.extend(pages(&venue, &server, &mut output).await?);
    let list = options.own.dir.join("list.csv");
    chores::write_list(&list)?;
    rows.extend(alone(&binary, &options.own.dir, &list).await?);
    let chores = Chores {
        binary: &binary,
        db: &db,
        dir: &options.own.dir,
    };
    let (rate, seconds) = (options.rate, options.beside_seconds);
    let beside = chores::beside(&chores, &list, &venue, &server, rate, seconds).await?;
    output.line(&beside.check_ins)?;
    rows.extend(told(&beside, rate));
    drop(server);
    prepare::remove(&db)?;
    std::fs::remove_file(list)?;
    output.line("")?;
    for line in rows {
        output.line(line)?;
    }
    Ok(())
}

/// Import and export of a list, with nothing else going on.
async fn alone(binary: &Path, dir: &Path, list: &Path) -> Result<Vec<String>> {
    let db = dir.join("alone.db");
    prepare::remove(&db)?;
    let chores = Chores {
        binary,
        db: &db,
        dir,
    };
    let import = chores.import(list).await?;
    let export = chores.export("delegates").await?;
    prepare::remove(&db)?;
    let seconds = |took: Duration| format!("{:.2} s", took.as_secs_f64());
    Ok(vec![
        row(
            "import of 100,000 delegates from CSV",
            "under 10 s",
            &seconds(import),
            Some(import < Duration::from_secs(10)),
        ),
        row(
            "export of them",
            "under 3 s",
            &seconds(export),
            Some(export < Duration::from_secs(3)),
        ),
    ])
}

fn told(beside: &chores::Beside, wanted_per_s: u32) -> Vec<String> {
    let check_ins = &beside.check_ins;
    let (rate, p99) = (check_ins.rate(), check_ins.p99());
    let kept_up = rate > f64::from(wanted_per_s) * 0.99 && check_ins.failures() == 0;
    let [import, export, backup] = beside.took.map(|took| took.as_secs_f64());
    let log_mib = beside.log_bytes / 1024 / 1024;
    let (memory_mib, most_mib) = (beside.memory_kib / 1024, beside.memory_max_kib / 1024);
    vec![
        row(
            &format!(
                "check-ins at {wanted_per_s}/s beside an import ({import:.1} s), an export of all interactions ({export:.1} s) and a backup ({backup:.1} s), p99"
            ),
            "under 50 ms",
            &format!("{:.2} ms at {}/s", ms(p99), grouped(rate)),
            Some(kept_up && p99 < Duration::from_millis(50)),
        ),
        row(
            "write-ahead log at most",
            "under 256 MiB",
            &format!("{log_mib} MiB"),
            Some(log_mib < 256),
        ),
        row(
            "resident memory after all that",
            "under 150 MiB",
            &format!("{memory_mib} MiB (at most so far: {most_mib} MiB)"),
            Some(memory_mib < 150),
        ),
    ]
}

async fn pages(venue: &Venue, server: &Server, output: &mut Output) -> Result<Vec<String>> {
    let lists = ListOptions {
        limit: 5_000,
        fields: FIELDS.to_owned(),
    };
    let report = measure::lists(venue, &lists, 2, Plan::seconds(10, 1)).await?;
    output.line(&report)?;
    let rate = report.rate();
    let before = server.memory_kib("VmRSS")?;
    let path = format!("/api/v5/delegate/list?limit=50000&fields={FIELDS}");
    let mut most = before;
    let (bytes, took) = venue
        .target
        .read_slowly(&path, Duration::from_millis(20), || {
            if let Ok(now) = server.memory_kib("VmRSS") {
                most = most.max(now);
            }
        })
        .await?;
    let grown = most.saturating_sub(before);
    let told = format!(
        "{} KiB more while {} KiB are read in {:.0} s",
        grown,
        bytes / 1024,
        took.as_secs_f64()
    );
    output.line(format!("a slow reader: resident memory {told}"))?;
    Ok(vec![
        row(
            "pages of 5,000 delegates, ten fields",
            "25/s",
            &format!("{}/s", grouped(rate)),
            Some(rate >= 25.0 && report.failures() == 0),
        ),
        row(
            "memory while a slow reader takes 50,000",
            "flat",
            &told,
            Some(grown < 8 * 1024),
        ),
    ])
}

fn row(what: &str, target: &str, measured: &str, met: Option<bool>) -> String {
    let verdict = match met {
        Some(true) => "pass",
        Some(false) => "miss",
        None => "",
    };
    format!("| {what} | {target} | {measured} | {verdict} |")
}
