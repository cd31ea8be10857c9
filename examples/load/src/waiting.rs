//! Check-ins beside thousands of gates that wait for changes, and how fast those hear of them.

use crate::{
    Result,
    client::{Response, Target},
    measure,
    output::{Output, OwnServer, machine},
    prepare,
    run::{Plan, Workload, run},
    server::Server,
    setup::{Access, Venue, get},
};
use std::collections::HashMap;

/// What the run is made of.
#[derive(clap::Args, Clone)]
pub struct Options {
    #[command(flatten)]
    own: OwnServer,
    /// Attendees
    #[arg(long, visible_alias = "attendees", default_value_t = 10_000)]
    delegates: i64,
    #[arg(long, visible_alias = "places", default_value_t = 40)]
    sessions: i64,
    /// Gates that wait
    #[arg(long, default_value_t = 2_000)]
    waiting: u32,
    /// Gates that check people in
    #[arg(long, default_value_t = 64)]
    gates: usize,
    /// Check-ins a second, all gates together
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    rate: u32,
    /// Seconds of each run
    #[arg(long, default_value_t = 20)]
    seconds: u64,
}

/// Measures and prints.
pub async fn figures(options: &Options) -> Result<()> {
    rlimit::increase_nofile_limit(u64::MAX)?;
    let mut output = Output::to(options.own.output.as_deref())?;
    output.line(machine())?;
    output.line(format!(
        "file: {} delegates, {} sessions; {} gates that wait; {} check-ins/s by others\n",
        options.delegates, options.sessions, options.waiting, options.rate
    ))?;
    let counts = (options.delegates, options.sessions, 0);
    let db = options.own.fresh("waiting.db", counts)?;
    prepare::set_gates(&db, options.waiting, options.sessions)?;
    let server = Server::start(&options.own.binary(), &db).await?;
    let venue = Venue::enter(&Access::at(server.url())).await?;
    let plan = Plan::seconds(options.seconds, 2);
    let paced = plan.at_rate(options.rate);
    let alone = measure::check_ins(&venue, options.gates, false, paced).await?;
    output.line(format!("nobody waits: {alone}"))?;
    output.line(memory(&server)?)?;
    let gates = waiting_gates(&venue).await?;
    output.line(format!("{} gates have their lists", gates.len()))?;
    let (check_ins, heard) = tokio::try_join!(
        measure::check_ins(&venue, options.gates, false, paced),
        run("answers to gates that wait", &venue.target, gates, plan),
    )?;
    output.line(format!("beside: {check_ins}"))?;
    output.line(heard)?;
    output.line(memory(&server)?)?;
    drop(server);
    prepare::remove(&db)
}

fn memory(server: &Server) -> Result<String> {
    Ok(format!(
        "server: {} MiB resident, at most {}",
        server.memory_kib("VmRSS")? / 1024,
        server.memory_kib("VmHWM")? / 1024
    ))
}

/// A gate that has its list, and asks for what comes after it.
struct WaitingGate {
    target: Target,
    place: i64,
    since: String,
}

impl Workload for WaitingGate {
    fn next(&mut self, request: &mut Vec<u8>) {
        let Self {
            target,
            place,
            since,
        } = self;
        target.get(
            request,
            format_args!("/api/v5/gate/snapshot?place={place}&wait=20&since={since}"),
        );
    }

    fn acknowledged(&mut self, answer: &Response<'_>) -> u64 {
        let body = std::str::from_utf8(answer.body).unwrap_or_default();
        // The last one is that of the page.
        let cursor = body.rsplit_once("\"cursor\":\"");
        let cursor = cursor.and_then(|(_, rest)| rest.split_once('"'));
        let Some((cursor, _)) = cursor.filter(|_| answer.status == 200) else {
            return 0;
        };
        cursor.clone_into(&mut self.since);
        1
    }
}

/// Every gate with the cursor behind the list of its place, which is read once for all gates there.
async fn waiting_gates(venue: &Venue) -> Result<Vec<WaitingGate>> {
    let mut cursors: HashMap<i64, String> = HashMap::new();
    let mut gates = Vec::new();
    for number in 0..venue.gates() {
        let gate = venue.gate(number);
        let place = gate.places[0];
        let since = match cursors.get(&place) {
            Some(since) => since.clone(),
            None => read_list(&gate.target, place).await?,
        };
        cursors.insert(place, since.clone());
        gates.push(WaitingGate {
            target: gate.target,
            place,
            since,
        });
    }
    Ok(gates)
}

async fn read_list(target: &Target, place: i64) -> Result<String> {
    let mut connection = target.connect().await?;
    let mut since = String::new();
    loop {
        let path = format!("/api/v5/gate/snapshot?place={place}&limit=10000{since}");
        let page = get(&mut connection, target, &path).await?;
        let cursor = page["meta"]["cursor"].as_str().ok_or("no cursor")?;
        if page["meta"]["more"] == false {
            return Ok(cursor.to_owned());
        }
        since = format!("&since={cursor}");
    }
}
