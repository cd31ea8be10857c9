//! `gatepost demo`

use super::{context, open, print};
use crate::{
    demo::{self, FIRST_DAY, Made},
    error::Result,
};
use serde_json::json;
use std::{path::Path, time::Instant};

/// Fill an empty file with an invented event of two days: 2,000 delegates, 40 sessions, 20,000
/// interactions.
///
/// One seed always makes the same records: names, codes, times, all but when they were written.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  gatepost demo --db demo.db && gatepost serve --db demo.db")]
pub struct Args {
    /// Makes another event of the same kind.
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
}

/// Fills the file.
///
/// # Errors
/// A sentence for the operator when the file is not empty or cannot be written.
pub fn run(args: &Args, db: &Path, json: bool) -> Result<()> {
    let begun = Instant::now();
    let store = open(db)?;
    let ctx = context(&store, "admin")?;
    let made = demo::fill(&store, ctx, args.seed)?;
    let seconds = begun.elapsed().as_secs_f64();
    if json {
        return print(&to_json(args.seed, &made, seconds).to_string());
    }
    print(&to_text(args.seed, &made, seconds, db))
}

fn to_json(seed: u64, made: &Made, seconds: f64) -> serde_json::Value {
    json!({
        "seed": seed,
        "firstDay": FIRST_DAY,
        "event": made.event,
        "rooms": made.rooms,
        "sessions": made.sessions,
        "sponsors": made.sponsors,
        "delegates": made.delegates,
        "interactions": made.interactions,
        "refused": made.refused,
        "sales": made.sales,
        "barcode": made.barcode,
        "seconds": seconds,
    })
}

fn to_text(seed: u64, made: &Made, seconds: f64, db: &Path) -> String {
    let db = db.display();
    format!(
        "\
Made an event of two days, from {FIRST_DAY} on, in {db} (seed {seed}, {seconds:.1} s):
  1 event (id {event}), {rooms} rooms, {sessions} sessions, {sponsors} sponsors
  {delegates} delegates, one of them with the barcode {barcode}
  {interactions} interactions, and {refused} that the rules refused
  {sales} sales at the box office and the shop, some of which do not add up

Next:
  gatepost serve --db {db}
  gatepost client add \"Gate A\" --gate --device {event} --db {db}",
        event = made.event,
        rooms = made.rooms.len(),
        sessions = made.sessions.len(),
        sponsors = made.sponsors.len(),
        delegates = made.delegates,
        interactions = made.interactions,
        refused = made.refused,
        sales = made.sales,
        barcode = made.barcode,
    )
}
