//! The figure that matters at a door: the latency of check-ins at a fixed rate, counted from the time
//! at which each was due, alone and beside import, export and backup. The disk's own flushes are
//! measured at the same time, because every check-in waits for one.

use crate::{
    Result,
    chores::Chores,
    histogram::Histogram,
    limits, measure,
    output::{Output, OwnServer, machine},
    prepare,
    report::ms,
    run::Plan,
    server::Server,
    setup::{Access, Venue},
};
use std::time::{Duration, Instant};

/// The time between two flushes that measure the disk.
const FLUSH_PAUSE: Duration = Duration::from_millis(20);
/// Seconds before each measurement, which do not count.
const WARM_UP_S: u64 = 2;

/// What the run is made of.
#[derive(clap::Args, Clone)]
pub struct Options {
    #[command(flatten)]
    own: OwnServer,
    /// Attendees
    #[arg(long, visible_alias = "attendees", default_value_t = 100_000)]
    delegates: i64,
    /// Places; the gates are set to some of them
    #[arg(long, visible_alias = "places", default_value_t = 2_000)]
    sessions: i64,
    /// Interactions that are in the file beforehand
    #[arg(long, default_value_t = 200_000)]
    interactions: i64,
    #[arg(long, default_value_t = 64)]
    gates: usize,
    /// Check-ins a second, all gates together
    #[arg(long, default_value_t = 400, value_parser = clap::value_parser!(u32).range(1..))]
    rate: u32,
    /// Seconds of each run
    #[arg(long, default_value_t = 30)]
    seconds: u64,
    /// Also measure beside an import, an export and a backup on their own
    #[arg(long)]
    each: bool,
}

/// What goes on beside the check-ins.
#[derive(Clone, Copy)]
struct Beside {
    name: &'static str,
    import: bool,
    export: bool,
    backup: bool,
}

const ALONE: Beside = beside("alone", false, false, false);
const EACH: [Beside; 3] = [
    beside("beside imports", true, false, false),
    beside("beside exports", false, true, false),
    beside("beside backups", false, false, true),
];
const ALL: Beside = beside("beside all three", true, true, true);

const fn beside(name: &'static str, import: bool, export: bool, backup: bool) -> Beside {
    Beside {
        name,
        import,
        export,
        backup,
    }
}

/// Measures and prints.
pub async fn figures(options: &Options) -> Result<()> {
    let mut output = Output::to(options.own.output.as_deref())?;
    output.line(machine())?;
    output.line(format!(
        "file: {} delegates, {} sessions, {} interactions and a join each; --durability full",
        options.delegates, options.sessions, options.interactions
    ))?;
    output.line(format!(
        "{} gates, {} check-ins/s, {} s each; latencies count from the time at which a check-in was due\n",
        options.gates, options.rate, options.seconds
    ))?;
    let counts = (options.delegates, options.sessions, options.interactions);
    let db = options.own.fresh("paced.db", counts)?;
    let binary = options.own.binary();
    let server = Server::start(&binary, &db).await?;
    let venue = Venue::enter(&Access::at(server.url())).await?;
    let chores = Chores {
        binary: &binary,
        db: &db,
        dir: &options.own.dir,
    };
    let each: &[Beside] = if options.each { &EACH } else { &[] };
    let mut lists = 0;
    for beside in [&[ALONE], each, &[ALL]].concat() {
        lists += measure(options, &venue, &chores, beside, lists, &mut output).await?;
    }
    drop(server);
    prepare::remove(&db)
}

/// Measures once; returns how many lists were imported.
async fn measure(
    options: &Options,
    venue: &Venue,
    chores: &Chores<'_>,
    beside: Beside,
    lists: u64,
    output: &mut Output,
) -> Result<u64> {
    let plan = Plan::seconds(options.seconds, WARM_UP_S).at_rate(options.rate);
    let duration = plan.warm_up + plan.duration;
    let until = Instant::now() + duration;
    let file = options.own.dir.join("flush.tmp");
    let disk = tokio::task::spawn_blocking(move || limits::flush(&file, duration, FLUSH_PAUSE));
    // A chore that is not wanted is one whose time is over.
    let end = |wanted: bool| if wanted { until } else { Instant::now() };
    let (check_ins, imports, exports, backups) = tokio::try_join!(
        measure::check_ins(venue, options.gates, false, plan),
        chores.import_until(end(beside.import), lists),
        chores.export_until(end(beside.export)),
        chores.backup_until(end(beside.backup)),
    )?;
    let (_, flushes) = disk.await??;
    output.line(format!(
        "{:17} {}; {:.0}/s; imports {imports}, exports {exports}, backups {backups}, errors {}",
        beside.name,
        latencies(&check_ins.latencies),
        check_ins.rate(),
        check_ins.failures(),
    ))?;
    output.line(format!("  {:15} {}", "fdatasync", latencies(&flushes)))?;
    if check_ins.failures() > 0 {
        return Err(check_ins.to_string().into());
    }
    Ok(imports)
}

fn latencies(latencies: &Histogram) -> String {
    format!(
        "p50 {:.2} ms, p99 {:.2} ms, p99.9 {:.2} ms, longest {:.2} ms",
        ms(latencies.quantile(500)),
        ms(latencies.quantile(990)),
        ms(latencies.quantile(999)),
        ms(latencies.max()),
    )
}
