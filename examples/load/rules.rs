//! What doors, days and types of attendees cost a check-in: the same gates at places of single entry, and at doors
//! of places with daily entry for three types with a time each; in pairs within one run.

use crate::{
    Result, measure,
    output::{Output, OwnServer, machine},
    prepare,
    report::{grouped, median},
    run::Plan,
    server::{self, Server},
    setup::{Access, DEVICE_CODE, Venue},
};
use rusqlite::{Connection, params};
use serde_json::json;
use std::path::Path;

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
    /// Gates
    #[arg(long, default_value_t = 64)]
    connections: usize,
    /// Seconds of each run
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    /// Pairs of runs
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..))]
    pairs: u32,
}

/// Measures and prints.
pub async fn figures(options: &Options) -> Result<()> {
    let mut output = Output::to(options.own.output.as_deref())?;
    output.line(machine())?;
    output.line(format!(
        "{} delegates, {} places; {} gates, {} s a run; --durability full\n",
        options.delegates, options.sessions, options.connections, options.seconds
    ))?;
    let (_plain, at_places) = start(options, "plain.db", false).await?;
    let (_ruled, at_doors) = start(options, "ruled.db", true).await?;
    let plan = Plan::seconds(options.seconds, 2);
    let mut ratios = Vec::new();
    for pair in 1..=options.pairs {
        // Whoever is always second would meet a tired machine.
        let first_at_doors = pair % 2 == 0;
        let mut rates = [0.0; 2];
        for is_at_doors in [first_at_doors, !first_at_doors] {
            let venue = if is_at_doors { &at_doors } else { &at_places };
            let report = measure::check_ins(venue, options.connections, false, plan).await?;
            if report.failures() > 0 {
                output.line(report)?;
                return Err("a run with errors has no figures".into());
            }
            rates[usize::from(is_at_doors)] = report.rate();
        }
        let [plain, ruled] = rates;
        output.line(format!(
            "pair {pair}: {}/s at places, {}/s at doors with rules: {:.3}",
            grouped(plain),
            grouped(ruled),
            ruled / plain
        ))?;
        ratios.push(ruled / plain);
    }
    output.line(format!("\nmedian of the ratios: {:.3}", median(ratios)))?;
    for name in ["plain.db", "ruled.db"] {
        prepare::remove(&options.own.dir.join(name))?;
    }
    Ok(())
}

async fn start(options: &Options, name: &str, with_rules: bool) -> Result<(Server, Venue)> {
    std::fs::create_dir_all(&options.own.dir)?;
    let db = options.own.dir.join(name);
    prepare::remove(&db)?;
    prepare::prepare(&prepare::Options {
        db: db.clone(),
        delegates: options.delegates,
        sessions: options.sessions,
        interactions: 0,
    })?;
    if with_rules {
        set_rules(&db)?;
    }
    let binary = options.own.server.clone();
    let server = Server::start(&binary.unwrap_or_else(server::binary_beside), &db).await?;
    let venue = Venue::enter(&Access::at(server.url())).await?;
    Ok((server, venue))
}

/// Gives every place rules and a door, at which the gates are from then on.
fn set_rules(db: &Path) -> Result<()> {
    let connection = Connection::open(db)?;
    let times = |name: &str| json!({"types": [name], "from": "00:00", "until": "23:59"});
    let types = ["Visitor", "Speaker", "Crew"];
    let access = json!({"Access": {
        "ruleSet": "simple", "entry": "daily", "types": types, "typeTimes": types.map(times),
    }});
    let sessions = format!("{DEVICE_CODE}%");
    connection.execute_batch("BEGIN")?;
    connection.execute(
        "UPDATE devices SET data = ?1, code = 'place-' || code WHERE code LIKE ?2",
        params![access.to_string(), sessions],
    )?;
    connection.execute(
        "INSERT INTO devices (parent_id, code, public_id, name, device_type, sources, created_at, updated_at)
         SELECT id, substr(code, 7), 'door-' || public_id, 'Door of ' || name, 'door', sources, created_at, updated_at
         FROM devices WHERE code LIKE 'place-' || ?1",
        [sessions],
    )?;
    connection.execute(
        "UPDATE delegates SET delegate_type = json_array('visitor', 'speaker', 'crew') ->> (id % 3)",
        [],
    )?;
    connection.execute_batch("COMMIT")?;
    Ok(connection.close().map_err(|(_, cause)| cause)?)
}
