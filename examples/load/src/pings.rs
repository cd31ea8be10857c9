//! Whether apps that ping leave check-ins alone: as fast as they go, with a thousand devices that
//! ping every ten seconds and without, in turn.

use crate::{
    Result,
    client::{Response, Target},
    measure,
    output::{Output, OwnServer, machine},
    pairs::unix_s,
    prepare,
    report::{Report, grouped, ms},
    run::{Plan, Workload, run},
    server::Server,
    setup::{Access, CLIENT_SECRET, Venue},
};
use std::{fmt::Write, time::Duration};

/// What the run is made of.
#[derive(clap::Args, Clone)]
pub struct Options {
    #[command(flatten)]
    own: OwnServer,
    #[arg(long, default_value_t = 50_000)]
    delegates: i64,
    #[arg(long, default_value_t = 100)]
    sessions: i64,
    /// Devices that ping, each with a connection, a client and a token of its own
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    devices: u32,
    /// Seconds between two pings of a device
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    every: u64,
    /// Connections of the check-ins
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    connections: u32,
    /// Seconds of all rounds together
    #[arg(long, default_value_t = 160, value_parser = clap::value_parser!(u64).range(1..))]
    seconds: u64,
    /// Rounds without pings and with them, each the other way round than the one before
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
}

/// What check-ins keep of their rate beside pings. A ping is a write like another: a hundred of them
/// a second are a hundred of some ten thousand.
const KEPT_MIN: f64 = 0.95;

/// A device that pings.
struct Pings {
    target: Target,
    number: usize,
    body: String,
    times: u64,
}

impl Workload for Pings {
    fn next(&mut self, request: &mut Vec<u8>) {
        self.times += 1;
        let (now_s, number) = (unix_s(), self.number);
        let battery = 100 - self.times % 60;
        self.body.clear();
        let _ = write!(
            self.body,
            "{{\"localTime\":{now_s},\"lat\":53.55{number:04},\"lon\":9.99{number:04},\"battery\":{battery},\
             \"pingInterval\":10,\"failedUploads\":0,\"network\":\"venue-crew\",\"status\":\"foreground\",\
             \"configVersion\":1}}"
        );
        self.target.post(request, "/api/v5/device/ping", &self.body);
    }

    fn acknowledged(&mut self, answer: &Response<'_>) -> u64 {
        u64::from(answer.status == 200)
    }
}

/// Measures both and prints them, with a table at the end.
pub async fn figures(options: &Options) -> Result<()> {
    rlimit::increase_nofile_limit(u64::MAX)?;
    let mut output = Output::to(options.own.output.as_deref())?;
    output.line(machine())?;
    output.line(format!(
        "file: {} delegates, {} sessions; {} devices that ping every {} s; --durability full\n",
        options.delegates, options.sessions, options.devices, options.every
    ))?;
    let counts = (options.delegates, options.sessions, 0);
    let db = options.own.fresh("pings.db", counts)?;
    prepare::add_apps(&db, options.devices)?;
    let binary = options.own.binary();
    let server = Server::start(&binary, &db).await?;
    let rows = measured(options, &server, &mut output).await?;
    drop(server);
    prepare::remove(&db)?;
    output.line("\n| what | at least | measured | |\n|---|---|---|---|")?;
    for line in rows {
        output.line(line)?;
    }
    Ok(())
}

async fn measured(options: &Options, server: &Server, output: &mut Output) -> Result<Vec<String>> {
    let venue = Venue::enter(&Access::at(server.url())).await?;
    let apps = apps(options, &server.url()).await?;
    let seconds = options.seconds.div_ceil(2 * u64::from(options.rounds));
    let plan = Plan::seconds(seconds, 1);
    let paced = Plan {
        every: Some(Duration::from_secs(options.every) / options.devices),
        ..plan
    };
    let gates = options.connections as usize;
    let (mut without, mut with, mut pinged, mut failures) = (0.0, 0.0, 0, 0);
    let mut slowest = Duration::ZERO;
    for round in 1..=options.rounds {
        // The file grows and machines tire: whoever is always second would be the slower.
        let alone_first = round % 2 == 1;
        for alone in [alone_first, !alone_first] {
            if alone {
                let report = measure::check_ins(&venue, gates, false, plan).await?;
                output.line(format!("round {round}, nobody pings: {report}"))?;
                without += report.rate() / f64::from(options.rounds);
                failures += report.failures();
                continue;
            }
            let (beside, pings) = tokio::try_join!(
                measure::check_ins(&venue, gates, false, plan),
                ping(&venue.target, &apps, paced),
            )?;
            output.line(format!("round {round}, beside pings: {beside}"))?;
            output.line(format!("round {round}, {pings}"))?;
            with += beside.rate() / f64::from(options.rounds);
            pinged += pings.units;
            slowest = slowest.max(pings.p99());
            failures += beside.failures() + pings.failures();
        }
    }
    let kept = with / without;
    // Devices that do not ping prove nothing.
    let due = u64::from(options.devices) * seconds * u64::from(options.rounds) / options.every;
    let fine = |met: bool| if met { "pass" } else { "miss" };
    Ok(vec![
        format!(
            "| check-ins beside {} devices that ping every {} s | {KEPT_MIN:.2} of without | {kept:.2} ({}/s, {}/s) | {} |",
            options.devices,
            options.every,
            grouped(with),
            grouped(without),
            fine(kept >= KEPT_MIN && failures == 0)
        ),
        format!(
            "| pings taken | {} | {pinged}, p99 at most {:.1} ms | {} |",
            due * 99 / 100,
            ms(slowest),
            fine(pinged >= due * 99 / 100)
        ),
    ])
}

/// Every device's address with its token.
async fn apps(options: &Options, url: &str) -> Result<Vec<Target>> {
    let mut targets = Vec::new();
    for number in 0..options.devices {
        let client = prepare::app_client(number);
        targets.push(crate::setup::enter_as(url, &client, CLIENT_SECRET).await?);
    }
    Ok(targets)
}

async fn ping(target: &Target, apps: &[Target], plan: Plan) -> Result<Report> {
    let lanes = apps.iter().enumerate().map(|(number, app)| Pings {
        target: app.clone(),
        number,
        body: String::new(),
        times: 0,
    });
    run("pings", target, lanes.collect(), plan).await
}
