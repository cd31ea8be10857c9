//! Check-ins that print a badge by themselves, read from the change feed: whoever checks somebody in does not wait for it.

use super::{
    jobs::{self, NewJob},
    printers::{self, ByItself, Printer},
};
use crate::{
    core::{
        Context,
        changes::{self, Position, What},
        outbox::{Delivery, Outcome, Read, Ref, Source, Step, destination},
        rules::folded,
    },
    db::Tx,
    domain::interactions::{live, types::CHECK_IN},
    types::{DelegateId, error::Result},
};
use rusqlite::Connection;

/// The destination of the outbox that follows the feed.
pub const DESTINATION: &str = "check-ins";
/// Changes read at once.
const SLICE: usize = 1_000;
/// A check-in that arrives later than this prints nothing: whoever it was is inside by now. In milliseconds.
const LATE_MS: i64 = 10 * 60 * 1000;

/// Begins to follow the feed, from now on, or ends it.
pub fn follow(tx: &Tx<'_>, wanted: bool) -> Result<()> {
    match (wanted, destination::get(tx, DESTINATION)?.cursor.is_some()) {
        (true, false) => destination::begin(tx, DESTINATION, changes::newest(tx)?),
        (false, true) => destination::remove(tx, DESTINATION),
        _ => Ok(()),
    }
}

/// Reads the feed after a position.
pub fn read(connection: &Connection, from: Position) -> Result<Read> {
    let found = changes::read_all(connection, from, SLICE)?;
    let mut steps = Vec::new();
    for change in &found.changes {
        if let What::Recorded(recorded) = &change.what
            && recorded.interaction_type == CHECK_IN.name
            && let Some((printer, _)) = wanted(connection, recorded.id)?
        {
            let delivery = Delivery {
                of: Ref {
                    source: Source::Interaction,
                    id: recorded.id,
                },
                ordering_key: printer.destination(),
                attempts: 0,
            };
            steps.push(Step {
                delivery: Some(delivery),
                to: change.to,
            });
        }
    }
    Ok(Read::along(steps, &found))
}

/// The printer that prints by itself for a check-in, with the job.
fn wanted(connection: &Connection, id: i64) -> Result<Option<(Printer, NewJob)>> {
    let Some(live) = live::find(connection, id)? else {
        return Ok(None);
    };
    let Some(delegate) = live.delegate.filter(|_| live.delay_ms <= LATE_MS) else {
        return Ok(None);
    };
    let Some(printer) = printers::assigned(connection, live.client, live.place)? else {
        return Ok(None);
    };
    let is_wanted = match printer.is.by_itself {
        ByItself::Never => false,
        ByItself::First => is_first(connection, delegate, id)?,
        ByItself::Each => true,
    };
    if !is_wanted || !is_of_types(connection, delegate, &printer)? {
        return Ok(None);
    }
    let job = NewJob {
        delegate,
        place: live.place,
        trigger: Some(id),
        reason: None,
    };
    Ok(Some((printer, job)))
}

/// Returns the printer at which a badge comes out by itself for a check-in.
pub fn prints(connection: &Connection, id: i64) -> Result<Option<Printer>> {
    Ok(wanted(connection, id)?.map(|(printer, _)| printer))
}

fn is_first(connection: &Connection, delegate: DelegateId, id: i64) -> Result<bool> {
    let earlier = connection
        .prepare_cached(
            "SELECT 1 FROM interactions WHERE first_delegate_id = ?1 AND id < ?2 AND interaction_type = ?3",
        )?
        .exists((delegate, id, CHECK_IN.name))?;
    Ok(!earlier)
}

fn is_of_types(connection: &Connection, delegate: DelegateId, printer: &Printer) -> Result<bool> {
    if printer.is.types.is_empty() {
        return Ok(true);
    }
    let kind: Option<String> = connection
        .prepare_cached("SELECT delegate_type FROM delegates WHERE id = ?1")?
        .query_row([delegate], |row| row.get(0))?;
    let kind = folded(&kind.unwrap_or_default());
    Ok(printer.is.types.iter().any(|named| folded(named) == kind))
}

/// Puts the job of a check-in into the outbox, unless the check-in was taken back meanwhile.
pub fn take_up(tx: &Tx<'_>, ctx: &Context, id: i64) -> Result<Outcome> {
    let Some((printer, job)) = wanted(tx, id)? else {
        return Ok(Outcome::Nothing);
    };
    jobs::add(tx, ctx, &printer, &job)?;
    Ok(Outcome::Delivered)
}
