//! Pending deliveries: those that failed, and those behind them with the same ordering key.

use super::{
    event::{Event, Ref, Source},
    state::State,
    store, subscription,
    webhook::Webhook,
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

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingDelivery {
    pub event: Event,
    /// Its place among the pending deliveries of the webhook.
    pub position: i64,
    /// Attempts so far.
    pub attempts: u32,
    /// The next attempt.
    pub next_at: Timestamp,
    /// The first failure; `None`: it waits behind another delivery.
    pub failing_since: Option<Timestamp>,
    /// Why it failed.
    pub why: Option<String>,
}

impl PendingDelivery {
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
                ordering_key: row.get(3)?,
            },
            position: row.get(2)?,
            attempts: row.get(4)?,
            next_at: row.get(5)?,
            failing_since: row.get(6)?,
            why: row.get(7)?,
        })
    }
}

/// All pending deliveries of a webhook, in order.
pub fn all(connection: &Connection, webhook: i64) -> Result<Vec<PendingDelivery>> {
    let mut statement = connection.prepare_cached(
        "SELECT source, source_id, position, ordering_key, attempts, next_at, failing_since, why
         FROM webhook_pending WHERE webhook_id = ?1 ORDER BY position",
    )?;
    let pending = statement.query_map([webhook], PendingDelivery::read)?;
    Ok(pending.collect::<rusqlite::Result<_>>()?)
}

/// Counts the pending deliveries of a webhook.
pub fn count(connection: &Connection, webhook: i64) -> Result<i64> {
    Ok(connection
        .prepare_cached("SELECT count(*) FROM webhook_pending WHERE webhook_id = ?1")?
        .query_row([webhook], |row| row.get(0))?)
}

/// Has something wait, or says anew how it health.
pub(super) fn put(tx: &Tx<'_>, webhook: i64, pending: &PendingDelivery) -> Result<()> {
    tx.prepare_cached(
        "INSERT INTO webhook_pending (webhook_id, source, source_id, position, ordering_key, attempts, next_at, failing_since, why)
         SELECT id, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9 FROM webhooks WHERE id = ?1
         ON CONFLICT DO UPDATE SET position = excluded.position, attempts = excluded.attempts,
             next_at = excluded.next_at, failing_since = excluded.failing_since, why = excluded.why",
    )?
    .execute(params![
        webhook,
        pending.event.of.source.name(),
        pending.event.of.id,
        pending.position,
        pending.event.ordering_key,
        pending.attempts,
        pending.next_at,
        pending.failing_since,
        pending.why,
    ])?;
    Ok(())
}

/// Removes a pending delivery; whether there was one.
pub(super) fn remove(tx: &Tx<'_>, webhook: i64, of: Ref) -> Result<bool> {
    let gone = tx
        .prepare_cached(
            "DELETE FROM webhook_pending WHERE webhook_id = ?1 AND source = ?2 AND source_id = ?3",
        )?
        .execute(params![webhook, of.source.name(), of.id])?;
    Ok(gone > 0)
}

/// Sends a delivery again under its own id, as soon as
/// no delivery with the same ordering key is running.
pub fn send_again(
    tx: &Tx<'_>,
    ctx: &Context,
    webhook: i64,
    of: Ref,
    ordering_key: &str,
) -> Result<()> {
    let name = store::name_of(tx, webhook)?;
    let waits = tx
        .prepare_cached(
            "UPDATE webhook_pending SET next_at = ?4
             WHERE webhook_id = ?1 AND source = ?2 AND source_id = ?3",
        )?
        .execute(params![webhook, of.source.name(), of.id, tx.now()])?;
    if waits == 0 {
        let last: i64 = tx
            .prepare_cached(
                "SELECT coalesce(max(position), 0) FROM webhook_pending WHERE webhook_id = ?1",
            )?
            .query_row([webhook], |row| row.get(0))?;
        let event = Event {
            of,
            ordering_key: ordering_key.to_owned(),
        };
        let pending = PendingDelivery {
            event,
            position: last + 1,
            attempts: 0,
            next_at: tx.now(),
            failing_since: None,
            why: None,
        };
        put(tx, webhook, &pending)?;
    }
    tell(tx, ctx, webhook, "resend", &name, of)
}

/// Cancels a pending delivery, so that those behind it go on.
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

/// Slices of the feed that are counted.
const SLICES: usize = 5;

/// Deliveries to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Waiting {
    /// At least so many.
    pub count: i64,
    /// Whether there may be more.
    pub more: bool,
}

impl std::fmt::Display for Waiting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.more, self.count) {
            (true, count) => write!(f, "{count} or more"),
            (false, count) => write!(f, "{count}"),
        }
    }
}

/// Counts what a webhook has yet to send.
pub fn waiting(connection: &Connection, webhook: &Webhook, state: &State) -> Result<Waiting> {
    let mut count = count(connection, webhook.id)?;
    let mut from = state.cursor;
    for _ in 0..SLICES {
        let read = subscription::read(connection, webhook, from)?;
        let told = read.steps.iter().filter(|step| step.event.is_some());
        count += i64::try_from(told.count()).unwrap_or(i64::MAX);
        if !read.more {
            return Ok(Waiting { count, more: false });
        }
        from = read.steps.last().map_or(from, |step| step.to);
    }
    Ok(Waiting { count, more: true })
}
