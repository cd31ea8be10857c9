//! Rows of pending deliveries.

use super::{Delivery, Ref, Source};
use crate::{
    db::Tx,
    types::{Timestamp, error::Result},
};
use rusqlite::{Connection, OptionalExtension, Row, params};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingDelivery {
    pub delivery: Delivery,
    pub next_at: Timestamp,
    /// The first failure; `None`: never tried.
    pub failing_since: Option<Timestamp>,
    /// The reason why the last attempt failed.
    pub why: Option<String>,
}

/// A pending delivery as people see it.
#[derive(Debug, Clone)]
pub struct ListedDelivery {
    pub id: i64,
    pub destination: String,
    pub pending: PendingDelivery,
}

const COLUMNS: &str =
    "source, source_id, ordering_key, attempts, next_at, failing_since, why, id, destination";

fn read(row: &Row<'_>) -> rusqlite::Result<PendingDelivery> {
    let source: String = row.get(0)?;
    Ok(PendingDelivery {
        delivery: Delivery {
            of: Ref {
                source: Source::parse(&source).unwrap_or(Source::Audit),
                id: row.get(1)?,
            },
            ordering_key: row.get(2)?,
            attempts: row.get(3)?,
        },
        next_at: row.get(4)?,
        failing_since: row.get(5)?,
        why: row.get(6)?,
    })
}

fn listed(row: &Row<'_>) -> rusqlite::Result<ListedDelivery> {
    Ok(ListedDelivery {
        id: row.get(7)?,
        destination: row.get(8)?,
        pending: read(row)?,
    })
}

/// Adds a delivery that is due now. After `expires_at` it is worth nothing.
pub fn add(
    tx: &Tx<'_>,
    destination: &str,
    delivery: &Delivery,
    expires_at: Option<Timestamp>,
) -> Result<()> {
    super::destination::ensure(tx, destination)?;
    tx.prepare_cached(
        "INSERT INTO outbox (destination, source, source_id, ordering_key, next_at, expires_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT DO UPDATE SET next_at = excluded.next_at",
    )?
    .execute(params![
        destination,
        delivery.of.source.name(),
        delivery.of.id,
        delivery.ordering_key,
        tx.now(),
        expires_at,
    ])?;
    Ok(())
}

/// Adds a delivery of a destination that follows the feed, unless that was removed.
pub(super) fn insert(tx: &Tx<'_>, destination: &str, pending: &PendingDelivery) -> Result<()> {
    tx.prepare_cached(
        "INSERT INTO outbox (destination, source, source_id, ordering_key, attempts, next_at, failing_since, why)
         SELECT name, ?2, ?3, ?4, ?5, ?6, ?7, ?8 FROM outbox_destinations WHERE name = ?1
         ON CONFLICT DO NOTHING",
    )?
    .execute(params![
        destination,
        pending.delivery.of.source.name(),
        pending.delivery.of.id,
        pending.delivery.ordering_key,
        pending.delivery.attempts,
        pending.next_at,
        pending.failing_since,
        pending.why,
    ])?;
    Ok(())
}

/// Stores a failed attempt at a delivery, unless that was removed.
pub(super) fn update(tx: &Tx<'_>, destination: &str, pending: &PendingDelivery) -> Result<()> {
    tx.prepare_cached(
        "UPDATE outbox SET attempts = ?4, next_at = ?5, failing_since = ?6, why = ?7
         WHERE destination = ?1 AND source = ?2 AND source_id = ?3",
    )?
    .execute(params![
        destination,
        pending.delivery.of.source.name(),
        pending.delivery.of.id,
        pending.delivery.attempts,
        pending.next_at,
        pending.failing_since,
        pending.why,
    ])?;
    Ok(())
}

/// Removes a pending delivery.
pub fn remove(tx: &Tx<'_>, destination: &str, of: Ref) -> Result<()> {
    tx.prepare_cached(
        "DELETE FROM outbox WHERE destination = ?1 AND source = ?2 AND source_id = ?3",
    )?
    .execute(params![destination, of.source.name(), of.id])?;
    Ok(())
}

/// Removes the pending deliveries about a record.
pub fn remove_about(tx: &Tx<'_>, of: Ref) -> Result<()> {
    tx.prepare_cached("DELETE FROM outbox WHERE source = ?1 AND source_id = ?2")?
        .execute(params![of.source.name(), of.id])?;
    Ok(())
}

/// The pending deliveries of a destination, those that are due first, at most `limit`; in their order.
pub(super) fn load(
    connection: &Connection,
    destination: &str,
    limit: usize,
) -> Result<Vec<PendingDelivery>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM (SELECT * FROM outbox WHERE destination = ?1 ORDER BY next_at, id LIMIT ?2)
         ORDER BY id"
    ))?;
    let pending = statement.query_map(params![destination, limit], read)?;
    Ok(pending.collect::<rusqlite::Result<_>>()?)
}

/// The newest row of all destinations.
pub(super) fn newest(connection: &Connection) -> Result<i64> {
    Ok(connection
        .prepare_cached("SELECT coalesce(max(id), 0) FROM outbox")?
        .query_row([], |row| row.get(0))?)
}

/// Counts the pending deliveries of a destination.
pub fn count(connection: &Connection, destination: &str) -> Result<i64> {
    Ok(connection
        .prepare_cached("SELECT count(*) FROM outbox WHERE destination = ?1")?
        .query_row([destination], |row| row.get(0))?)
}

/// Pending deliveries after a row, the oldest first, of one destination or of all.
pub fn list(
    connection: &Connection,
    destination: Option<&str>,
    after: i64,
    limit: usize,
) -> Result<Vec<ListedDelivery>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM outbox WHERE id > ?2 AND (?1 IS NULL OR destination = ?1) ORDER BY id LIMIT ?3"
    ))?;
    let listed = statement.query_map(params![destination, after, limit], listed)?;
    Ok(listed.collect::<rusqlite::Result<_>>()?)
}

pub fn get(connection: &Connection, id: i64) -> Result<Option<ListedDelivery>> {
    Ok(connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM outbox WHERE id = ?1"))?
        .query_row([id], listed)
        .optional()?)
}

/// Records whose deliveries expired.
pub fn expired(connection: &Connection, source: Source, now: Timestamp) -> Result<Vec<i64>> {
    let mut statement = connection
        .prepare_cached("SELECT source_id FROM outbox WHERE expires_at <= ?1 AND source = ?2")?;
    let expired = statement.query_map(params![now, source.name()], |row| row.get(0))?;
    Ok(expired.collect::<rusqlite::Result<_>>()?)
}
