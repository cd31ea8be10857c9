//! `gatepost demo`

use super::{answer, context, open, progress::Progress};
use crate::{
    ops::demo::{self, MORNING_S, Made, Moment, Operator},
    types::{
        Timestamp,
        error::{Error, Result},
    },
};
use jiff::civil::Date;
use serde_json::json;
use std::{path::Path, time::Instant};

/// Fill an empty file with an invented event of two days: 2,000 delegates, 40 sessions, 20,000
/// interactions. Its first talk begins in 25 minutes; with a date it is noon of that day.
///
/// One seed and date always make the same records: names, codes, times, all but when they were
/// written, and passwords.
#[derive(clap::Args)]
#[command(after_help = "\
Example:
  gatepost demo --db demo.db && gatepost serve --db demo.db
  gatepost demo --date 2026-11-21 --db demo.db")]
pub struct Args {
    /// Makes another event of the same kind.
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// The event's first day, yyyy-mm-dd, at noon; without it the event began this morning, whatever time it is.
    #[arg(long, value_name = "DATE")]
    date: Option<Date>,
}

/// Fills the file.
pub fn run(args: &Args, db: &Path, json: bool) -> Result<()> {
    let begun = Instant::now();
    let store = open(db)?;
    let ctx = context(&store, "admin")?;
    let zone = ctx.settings.zone.clone();
    let moment = match args.date {
        Some(date) => {
            let midnight = json!(format!("{date} 00:00:00"));
            Moment::noon(zone.read("the first day", &midnight)?)
        }
        None => Moment::morning(Timestamp::now()),
    };
    let morning = Timestamp(moment.first_day.0 + MORNING_S * 1000);
    let date = zone.day(morning).0;
    let made = Progress::during("Making up an event", || {
        demo::fill(&store, ctx, args.seed, moment)
    })?;
    let seconds = begun.elapsed().as_secs_f64();
    let mut value = serde_json::to_value(&made).map_err(Error::defect)?;
    value["seed"] = args.seed.into();
    value["firstDay"] = date.clone().into();
    value["seconds"] = seconds.into();
    value["gate"] = json!(
        made.gate
            .as_ref()
            .map(|gate| json!({"clientId": gate.client_id, "clientSecret": gate.client_secret}))
    );
    answer(json, &value, &to_text(args, &date, &made, seconds, db))
}

fn to_text(args: &Args, date: &str, made: &Made, seconds: f64, db: &Path) -> String {
    let (db, seed) = (db.display(), args.seed);
    let when = if args.date.is_some() {
        "It is noon of the first day."
    } else {
        "The first talk begins in 25 minutes."
    };
    let gate = made.gate.as_ref().map_or_else(String::new, |gate| {
        format!("{} {}", gate.client_id, gate.client_secret)
    });
    let [rooms, sessions, sponsors] = [&made.rooms, &made.sessions, &made.sponsors].map(Vec::len);
    let Made {
        event,
        delegates,
        barcode,
        interactions,
        refused,
        conflicts,
        sales,
        operator: Operator { email, password },
        ..
    } = made;
    format!(
        "\
Made an event of two days, from {date} on, in {db} (seed {seed}, {seconds:.1} s).
{when}
  1 event (id {event}), {rooms} rooms, {sessions} sessions, {sponsors} sponsors
  {delegates} delegates, one of them with the barcode {barcode}
  {interactions} interactions, {refused} that the rules refused, {conflicts} conflicts with offline gates
  {sales} sales at the box office and the shop, some of which do not add up
  an operator of the console, {email}, with the password {password}
  a gate app, Gate A, with the client id and secret {gate}

Next:
  gatepost serve --db {db}
  gatepost barcode check {barcode}"
    )
}
