//! What doors, days and types of attendees cost a check-in: the same gates at places of single entry, and at doors
//! of places with daily entry for three types with a time each; in pairs within one run.

use crate::{
    Result, measure,
    output::{Output, machine},
    peers::{Options, start_ours},
    prepare,
    report::{grouped, median},
    run::Plan,
    setup::DEVICE_CODE,
};
use rusqlite::{Connection, params};
use serde_json::json;
use std::path::Path;

/// Measures and prints.
pub async fn figures(options: &Options) -> Result<()> {
    let mut output = Output::to(options.own.output.as_deref())?;
    output.line(machine())?;
    output.line(format!(
        "{} delegates, {} places; {} gates, {} s a run; --durability full\n",
        options.delegates, options.sessions, options.connections, options.seconds
    ))?;
    let (_plain, at_places) = start_ours(options, "plain.db", set_types).await?;
    let (_ruled, at_doors) = start_ours(options, "ruled.db", set_rules).await?;
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

/// Gives every place rules and a door, at which the gates are from then on.
fn set_rules(db: &Path) -> Result<()> {
    set_types(db)?;
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
    connection.execute_batch("COMMIT")?;
    Ok(connection.close().map_err(|(_, cause)| cause)?)
}

/// Gives every attendee a type: both files have the same attendees.
fn set_types(db: &Path) -> Result<()> {
    let connection = Connection::open(db)?;
    connection.execute(
        "UPDATE delegates SET delegate_type = json_array('visitor', 'speaker', 'crew') ->> (id % 3)",
        [],
    )?;
    Ok(connection.close().map_err(|(_, cause)| cause)?)
}
