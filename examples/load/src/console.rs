//! How far the console and the gates leave each other alone: every page while check-ins go on, check-ins with and
//! without dashboards that are open, and what these cost at the pace of a queue.

use crate::{
    Result, measure,
    output::{Output, OwnServer, machine},
    pages::{self, Dashboards},
    prepare,
    report::{Report, grouped, median, ms},
    run::Plan,
    server::Server,
    setup::{Access, Venue},
};
use std::time::{Duration, Instant};

/// What the run is made of.
#[derive(clap::Args, Clone)]
pub struct Options {
    #[command(flatten)]
    own: OwnServer,
    #[arg(long, default_value_t = 100_000)]
    delegates: i64,
    #[arg(long, default_value_t = 1_000_000)]
    interactions: i64,
    #[arg(long, default_value_t = 100)]
    sessions: i64,
    /// Connections of the check-ins
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    connections: u32,
    /// Check-ins a second while pages are asked for
    #[arg(long, default_value_t = 5_000, value_parser = clap::value_parser!(u32).range(1..))]
    rate: u32,
    /// Dashboards that are open in half of the rounds
    #[arg(long, default_value_t = 20)]
    dashboards: usize,
    /// Seconds of the pages, and of all rounds together
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    seconds: u64,
    /// Rounds without dashboards and with them, in turn
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
}

/// A page has to be there within this, 95 times of 100.
const PAGE_MAX: Duration = Duration::from_millis(150);
/// What check-ins keep of their rate while dashboards are open.
const KEPT_MIN: f64 = 0.9;
/// Check-ins a second of a venue whose doors are all busy.
const QUEUE_RATE: u32 = 400;
/// What open dashboards may take of one processor at that rate.
const SHARE_MAX: f64 = 0.03;

/// Measures everything and prints it, with a table at the end.
pub async fn figures(options: &Options) -> Result<()> {
    let mut output = Output::to(options.own.output.as_deref())?;
    output.line(machine())?;
    output.line(format!(
        "file: {} delegates, {} sessions, {} interactions and a join each; --durability full\n",
        options.delegates, options.sessions, options.interactions
    ))?;
    let counts = (options.delegates, options.sessions, options.interactions);
    let db = options.own.fresh("console.db", counts)?;
    let binary = options.own.binary();
    pages::make_administrator(&binary, &db)?;
    let server = Server::start(&binary, &db).await?;
    let mut rows = beside(options, &server, &mut output).await?;
    rows.extend(watched(options, &server, &mut output).await?);
    rows.push(cost(options, &server, &mut output).await?);
    drop(server);
    prepare::remove(&db)?;
    output.line("\n| what | at least | measured | |\n|---|---|---|---|")?;
    for line in rows {
        output.line(line)?;
    }
    Ok(())
}

/// Every page while check-ins go on.
async fn beside(options: &Options, server: &Server, output: &mut Output) -> Result<Vec<String>> {
    let venue = Venue::enter(&Access::at(server.url())).await?;
    let console = pages::sign_in(&server.url()).await?;
    let typical = pages::typical(&console, &venue).await?;
    let gates = options.connections;
    let plan = Plan::seconds(options.seconds, 1).at_rate(options.rate);
    let (check_ins, walked) = tokio::try_join!(
        measure::check_ins(&venue, gates as usize, false, plan),
        pages::walk(&console, &typical, Duration::from_secs(options.seconds)),
    )?;
    output.line(&check_ins)?;
    for report in &walked {
        output.line(report)?;
    }
    let mut rows: Vec<String> = walked.iter().map(told).collect();
    let rate = check_ins.rate();
    rows.push(row(
        "check-ins meanwhile",
        &format!("{}/s", grouped(options.rate.into())),
        &format!("{}/s, p99 {:.2} ms", grouped(rate), ms(check_ins.p99())),
        rate > f64::from(options.rate) * 0.99 && check_ins.failures() == 0,
    ));
    Ok(rows)
}

fn told(report: &Report) -> String {
    let p95 = report.latencies.quantile(950);
    row(
        &report.name,
        &format!("p95 under {:.0} ms", ms(PAGE_MAX)),
        &format!(
            "{:.1} ms (p50 {:.1}, p99 {:.1}, {} times)",
            ms(p95),
            ms(report.p50()),
            ms(report.p99()),
            report.units
        ),
        p95 < PAGE_MAX && report.failures() == 0,
    )
}

/// Check-ins as fast as they go, without dashboards and with them, in turn.
async fn watched(options: &Options, server: &Server, output: &mut Output) -> Result<Vec<String>> {
    let venue = Venue::enter(&Access::at(server.url())).await?;
    let console = pages::sign_in(&server.url()).await?;
    let seconds = options.seconds.div_ceil(2 * u64::from(options.rounds));
    let plan = Plan::seconds(seconds, 1);
    let (mut without, mut with, mut heard, mut failures) = (0.0, 0.0, 0, 0);
    for round in 1..=options.rounds {
        let gates = options.connections as usize;
        let alone = measure::check_ins(&venue, gates, false, plan).await?;
        output.line(format!("round {round}, no dashboard: {alone}"))?;
        let open = Dashboards::open(&console, options.dashboards).await?;
        let watched = measure::check_ins(&venue, gates, false, plan).await?;
        output.line(format!(
            "round {round}, {} dashboards, {} events: {watched}",
            options.dashboards,
            open.heard()
        ))?;
        without += alone.rate() / f64::from(options.rounds);
        with += watched.rate() / f64::from(options.rounds);
        heard += open.heard();
        failures += alone.failures() + watched.failures();
    }
    let kept = with / without;
    // Dashboards that show nothing prove nothing: each is to hear something every second.
    let due = options.dashboards as u64 * seconds * u64::from(options.rounds);
    Ok(vec![
        row(
            &format!("check-ins with {} dashboards open", options.dashboards),
            &format!("{KEPT_MIN:.2} of without"),
            &format!("{kept:.2} ({}/s, {}/s)", grouped(with), grouped(without)),
            kept >= KEPT_MIN && failures == 0,
        ),
        row(
            "events that the dashboards heard",
            &due.to_string(),
            &heard.to_string(),
            heard >= due,
        ),
    ])
}

/// The processor time of the server at the pace of a queue, without dashboards and with them, in turn.
async fn cost(options: &Options, server: &Server, output: &mut Output) -> Result<String> {
    let venue = Venue::enter(&Access::at(server.url())).await?;
    let console = pages::sign_in(&server.url()).await?;
    let seconds = options.seconds.div_ceil(2 * u64::from(options.rounds));
    let plan = Plan::seconds(seconds, 1).at_rate(QUEUE_RATE);
    let gates = options.connections as usize;
    let mut more = Vec::new();
    for round in 1..=options.rounds {
        let mut shares = [0.0; 2];
        for (share, dashboards) in shares.iter_mut().zip([0, options.dashboards]) {
            let open = Dashboards::open(&console, dashboards).await?;
            let (before, begun) = (server.processor_time()?, Instant::now());
            let check_ins = measure::check_ins(&venue, gates, false, plan).await?;
            let used = server.processor_time()?.saturating_sub(before);
            *share = used.as_secs_f64() / begun.elapsed().as_secs_f64();
            output.line(format!(
                "round {round}, {dashboards} dashboards, {} events: {:.1} % of a processor: {check_ins}",
                open.heard(),
                *share * 100.0
            ))?;
        }
        more.push(shares[1] - shares[0]);
    }
    let more = median(more);
    Ok(row(
        &format!(
            "{} dashboards at {QUEUE_RATE} check-ins/s",
            options.dashboards
        ),
        &format!("{:.0} % of a processor at most", SHARE_MAX * 100.0),
        &format!("{:.1} %", more * 100.0),
        more <= SHARE_MAX,
    ))
}

fn row(what: &str, target: &str, measured: &str, met: bool) -> String {
    let verdict = if met { "pass" } else { "miss" };
    format!("| {what} | {target} | {measured} | {verdict} |")
}
