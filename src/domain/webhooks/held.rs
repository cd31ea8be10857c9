//! What a receiver did not take, and what waits behind it.

use super::{
    event::{Event, Ref, Source},
    store,
};
use crate::{
    core::Context,
    db::Tx,
    types::{
        Timestamp,
        error::{Error, Result},
    },
};
use rusqlite::{Connection, Row, params};
use serde_json::json;

/// Something that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// What.
    pub event: Event,
    /// Its place among those that wait: in order within its lane.
    pub position: i64,
    /// How often it was tried.
    pub attempts: u32,
    /// When it may be tried again.
    pub next_at: Timestamp,
    /// When it was tried first; `None`: it only waits behind another.
    pub failing_since: Option<Timestamp>,
    /// Why it was not taken.
    pub why: Option<String>,
}

impl Held {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let source: String = row.get(0)?;
        let source = if source == Source::Audit.name() {
            Source::Audit
        } else {
            Source::Interaction
        };
        Ok(Self {
            event: Event {
                of: Ref {
                    source,
                    id: row.get(1)?,
                },
                lane: row.get(3)?,
            },
            position: row.get(2)?,
            attempts: row.get(4)?,
            next_at: row.get(5)?,
            failing_since: row.get(6)?,
            why: row.get(7)?,
        })
    }
}

/// Everything that waits at a webhook, in order.
pub fn all(connection: &Connection, webhook: i64) -> Result<Vec<Held>> {
    let mut statement = connection.prepare_cached(
        "SELECT source, source_id, position, lane, attempts, next_at, failing_since, why
         FROM webhook_held WHERE webhook_id = ?1 ORDER BY position",
    )?;
    let held = statement.query_map([webhook], Held::read)?;
    Ok(held.collect::<rusqlite::Result<_>>()?)
}

/// How many wait at a webhook.
pub fn count(connection: &Connection, webhook: i64) -> Result<i64> {
    Ok(connection
        .prepare_cached("SELECT count(*) FROM webhook_held WHERE webhook_id = ?1")?
        .query_row([webhook], |row| row.get(0))?)
}

/// Has something wait, or says anew how it fares.
pub(super) fn put(tx: &Tx<'_>, webhook: i64, held: &Held) -> Result<()> {
    tx.prepare_cached(
        "INSERT INTO webhook_held (webhook_id, source, source_id, position, lane, attempts, next_at, failing_since, why)
         SELECT id, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9 FROM webhooks WHERE id = ?1
         ON CONFLICT DO UPDATE SET position = excluded.position, attempts = excluded.attempts,
             next_at = excluded.next_at, failing_since = excluded.failing_since, why = excluded.why",
    )?
    .execute(params![
        webhook,
        held.event.of.source.name(),
        held.event.of.id,
        held.position,
        held.event.lane,
        held.attempts,
        held.next_at,
        held.failing_since,
        held.why,
    ])?;
    Ok(())
}

/// Has something wait no more; whether it did.
pub(super) fn remove(tx: &Tx<'_>, webhook: i64, of: Ref) -> Result<bool> {
    let gone = tx
        .prepare_cached(
            "DELETE FROM webhook_held WHERE webhook_id = ?1 AND source = ?2 AND source_id = ?3",
        )?
        .execute(params![webhook, of.source.name(), of.id])?;
    Ok(gone > 0)
}

/// Sends something once more that was delivered or failed before, under its own id, as soon as
/// nothing of the same record is under way.
///
/// # Errors
/// [`crate::types::error::Kind::NoSuchPath`] when there is no such webhook.
pub fn send_again(tx: &Tx<'_>, ctx: &Context, webhook: i64, of: Ref, lane: &str) -> Result<()> {
    let name = store::name_of(tx, webhook)?;
    let waits = tx
        .prepare_cached(
            "UPDATE webhook_held SET next_at = ?4
             WHERE webhook_id = ?1 AND source = ?2 AND source_id = ?3",
        )?
        .execute(params![webhook, of.source.name(), of.id, tx.now()])?;
    if waits == 0 {
        let last: i64 = tx
            .prepare_cached(
                "SELECT coalesce(max(position), 0) FROM webhook_held WHERE webhook_id = ?1",
            )?
            .query_row([webhook], |row| row.get(0))?;
        let event = Event {
            of,
            lane: lane.to_owned(),
        };
        let held = Held {
            event,
            position: last + 1,
            attempts: 0,
            next_at: tx.now(),
            failing_since: None,
            why: None,
        };
        put(tx, webhook, &held)?;
    }
    tell(tx, ctx, webhook, "resend", &name, of)
}

/// Gives something up that waits, so that what is behind it goes on.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`] when it does not wait any more;
/// [`crate::types::error::Kind::NoSuchPath`] when there is no such webhook.
pub fn give_up(tx: &Tx<'_>, ctx: &Context, webhook: i64, source: Source, id: i64) -> Result<()> {
    let name = store::name_of(tx, webhook)?;
    let of = Ref { source, id };
    if !remove(tx, webhook, of)? {
        return Err(Error::invalid("that does not wait any more"));
    }
    tell(tx, ctx, webhook, "give-up", &name, of)
}

fn tell(
    tx: &Tx<'_>,
    ctx: &Context,
    webhook: i64,
    action: &'static str,
    name: &str,
    of: Ref,
) -> Result<()> {
    let what = json!({"name": name, "source": of.source.name(), "sourceId": of.id});
    store::tell(tx, ctx, webhook, action, what)
}
