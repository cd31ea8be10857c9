//! Figures of a large file: searches, long pages, and memory while a slow reader takes one.

use crate::{
    Result,
    measure::{self, ListOptions},
    output::{Output, OwnServer, machine},
    prepare,
    report::{grouped, ms},
    run::Plan,
    searches,
    server::{self, Server},
    setup::{Access, Venue},
};
use std::time::{Duration, Instant};

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
    let db = options.own.dir.join("data.db");
    std::fs::create_dir_all(&options.own.dir)?;
    prepare::remove(&db)?;
    prepare::prepare(&prepare::Options {
        db: db.clone(),
        delegates: options.delegates,
        sessions: options.sessions,
        interactions: options.interactions,
    })?;
    let binary = options
        .own
        .server
        .clone()
        .unwrap_or_else(server::binary_beside);
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
    let peak = server.memory_kib("VmHWM")?;
    rows.push(row(
        "resident memory at most",
        "under 150 MiB",
        &format!("{} MiB", peak / 1024),
        Some(peak < 150 * 1024),
    ));
    drop(server);
    prepare::remove(&db)?;
    output.line("")?;
    for line in rows {
        output.line(line)?;
    }
    Ok(())
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
