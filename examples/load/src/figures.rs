//! The whole run behind the handbook's table: the machine's limits, then the server beside them.

use crate::{
    Result,
    limits::{self, Limits},
    measure::{self, BatchOptions, ListOptions},
    output::{Output, OwnServer, machine},
    prepare,
    report::{Report, grouped, ms},
    run::Plan,
    server::Server,
    setup::{Access, Venue},
};
use std::time::Duration;

/// What the run is made of.
#[derive(clap::Args, Clone)]
pub struct Options {
    #[command(flatten)]
    own: OwnServer,
    #[arg(long, default_value_t = 50_000)]
    delegates: i64,
    #[arg(long, visible_alias = "places", default_value_t = 100)]
    sessions: i64,
    /// Interactions that are in the file beforehand
    #[arg(long, default_value_t = 100_000)]
    interactions: i64,
    /// Connections of check-ins and look-ups
    #[arg(long, default_value_t = 64)]
    connections: usize,
    /// Seconds of the check-ins; the other runs are a third of it
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    #[command(flatten)]
    batches: BatchOptions,
    #[command(flatten)]
    lists: ListOptions,
}

/// Everything that was measured.
struct Measured {
    limits: Limits,
    check_ins: Report,
    with_nonce: Report,
    one: Report,
    batches: Report,
    beside: Report,
    look_ups: Report,
    lists: Report,
}

/// Measures everything and prints it, with a table at the end.
pub async fn figures(options: &Options) -> Result<()> {
    let mut output = Output::to(options.own.output.as_deref())?;
    output.line(machine())?;
    output.line(format!(
        "file: {} delegates, {} sessions (Simple ACL, single entry), {} interactions and a join each; --durability full\n",
        options.delegates, options.sessions, options.interactions
    ))?;
    let dir = &options.own.dir;
    let limits = limits::measure(dir, options.seconds.div_ceil(6)).await?;
    output.line(&limits)?;
    let db = dir.join("figures.db");
    prepare::remove(&db)?;
    prepare::prepare(&prepare::Options {
        db: db.clone(),
        delegates: options.delegates,
        sessions: options.sessions,
        interactions: options.interactions,
    })?;
    let binary = options.own.binary();
    let server = Server::start(&binary, &db).await?;
    let venue = Venue::enter(&Access::at(server.url())).await?;
    let measured = measure_all(options, &venue, limits, &mut output).await?;
    drop(server);
    prepare::remove(&db)?;
    output.line("")?;
    for line in table(options, &measured) {
        output.line(line)?;
    }
    Ok(())
}

async fn measure_all(
    options: &Options,
    venue: &Venue,
    limits: Limits,
    output: &mut Output,
) -> Result<Measured> {
    let connections = options.connections;
    let full = Plan::seconds(options.seconds, 3);
    let short = Plan::seconds(options.seconds.div_ceil(3), 2);
    let check_ins = measure::check_ins(venue, connections, false, full).await?;
    output.line(&check_ins)?;
    let with_nonce = measure::check_ins(venue, connections, true, short).await?;
    output.line(format!("with nonces: {with_nonce}"))?;
    let one = measure::check_ins(venue, 1, false, short).await?;
    output.line(&one)?;
    let (batches, beside) = measure::batches(venue, options.batches, false, short).await?;
    output.line(&batches)?;
    output.line(&beside)?;
    let look_ups = measure::look_ups(venue, connections, short).await?;
    output.line(&look_ups)?;
    let lists = measure::lists(venue, &options.lists, 2, short).await?;
    output.line(&lists)?;
    Ok(Measured {
        limits,
        check_ins,
        with_nonce,
        one,
        batches,
        beside,
        look_ups,
        lists,
    })
}

fn table(options: &Options, measured: &Measured) -> Vec<String> {
    let limits = &measured.limits;
    let flush_ms = ms(limits.flush_p50());
    let check_ins = measured.check_ins.rate();
    let (p99, one_p50) = (measured.check_ins.p99(), measured.one.p50());
    let beside_p99 = measured.beside.p99();
    let look_ups = measured.look_ups.rate();
    let mut rows = vec![
        "| what | at least | measured | |".to_owned(),
        "|---|---|---|---|".to_owned(),
    ];
    let mut row = |what: String, target: String, measured: String, verdict: &str| {
        rows.push(format!("| {what} | {target} | {measured} | {verdict} |"));
    };
    row(
        format!(
            "check-ins by barcode, {} connections, {} s",
            options.connections, options.seconds
        ),
        "15,000/s".into(),
        format!("{}/s", grouped(check_ins)),
        verdict(check_ins >= 15_000.0, &measured.check_ins),
    );
    row(
        "their p99".into(),
        "under 15 ms".into(),
        format!("{:.2} ms", ms(p99)),
        verdict(p99 < Duration::from_millis(15), &measured.check_ins),
    );
    row(
        format!(
            "against the same rows by a bare loop ({}/s)",
            grouped(limits.bare_per_s)
        ),
        "0.33".into(),
        format!("{:.2}", check_ins / limits.bare_per_s),
        verdict(check_ins * 3.0 >= limits.bare_per_s, &measured.check_ins),
    );
    row(
        format!(
            "against a no-op endpoint ({}/s)",
            grouped(limits.no_op_per_s())
        ),
        String::new(),
        format!("{:.2}", check_ins / limits.no_op_per_s()),
        "",
    );
    row(
        "check-ins with a nonce each".into(),
        String::new(),
        format!(
            "{}/s, p99 {:.2} ms",
            grouped(measured.with_nonce.rate()),
            ms(measured.with_nonce.p99())
        ),
        "",
    );
    row(
        format!("check-in at 1 connection, p50 (one fdatasync: {flush_ms:.2} ms)"),
        format!("under {:.2} ms", flush_ms * 1.5 + 0.5),
        format!("{:.2} ms", ms(one_p50)),
        verdict(ms(one_p50) < flush_ms * 1.5 + 0.5, &measured.one),
    );
    row(
        format!("batches of {}", options.batches.size),
        "40,000 items/s".into(),
        format!("{} items/s", grouped(measured.batches.rate())),
        verdict(measured.batches.rate() >= 40_000.0, &measured.batches),
    );
    row(
        format!(
            "check-ins beside them ({}/s), p99",
            grouped(measured.beside.rate())
        ),
        "under 50 ms".into(),
        format!("{:.2} ms", ms(beside_p99)),
        verdict(beside_p99 < Duration::from_millis(50), &measured.beside),
    );
    row(
        "look-ups by barcode".into(),
        "30,000/s".into(),
        format!(
            "{}/s, p99 {:.2} ms",
            grouped(look_ups),
            ms(measured.look_ups.p99())
        ),
        verdict(look_ups >= 30_000.0, &measured.look_ups),
    );
    row(
        format!("{}, 2 connections", measured.lists.name),
        String::new(),
        format!(
            "{}/s, p99 {:.2} ms",
            grouped(measured.lists.rate()),
            ms(measured.lists.p99())
        ),
        "",
    );
    rows
}

/// A run with errors has no figures.
fn verdict(met: bool, report: &Report) -> &'static str {
    match (met, report.failures()) {
        (true, 0) => "pass",
        (false, 0) => "miss",
        _ => "errors",
    }
}
