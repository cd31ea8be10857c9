//! The removal of what an earlier process left, and of what is old enough to go.

use super::{LOST, of};
use crate::{
    core::outbox::{Source, pending},
    db::{Store, Tx},
    types::{Timestamp, error::Result},
};
use rusqlite::{Connection, params};
use serde_json::json;

/// The time for which messages are kept that are to nobody in the list.
const KEPT_MS: i64 = 30 * 24 * 3_600 * 1_000;
/// Messages removed in one write.
const SLICE: i64 = 500;

/// Lets messages go that are to nobody in the list (one-time passwords, tests) and ended a month ago, in
/// small slices that wait for everybody else; how many went. Those to delegates are their history,
/// which searches look at (`comms`), and go with them.
pub async fn thin(store: &Store, now: Timestamp) -> Result<usize> {
    let before = Timestamp(now.0 - KEPT_MS);
    let mut gone = 0;
    loop {
        let old = store
            .read(move |connection| ended(connection, before))
            .await?;
        if old.is_empty() {
            return Ok(gone);
        }
        gone += old.len();
        store
            .write_bulk(move |tx| {
                let old = json!(old).to_string();
                tx.prepare_cached(
                    "DELETE FROM messages WHERE id IN (SELECT value FROM json_each(?1))",
                )?
                .execute([old])?;
                Ok(())
            })
            .await?;
    }
}

fn ended(connection: &Connection, before: Timestamp) -> Result<Vec<i64>> {
    let mut statement = connection.prepare_cached(
        "SELECT id FROM messages INDEXED BY messages_address
         WHERE delegate_id IS NULL AND created_at < ?1 AND state NOT IN ('waiting', 'sending')
         LIMIT ?2",
    )?;
    let ids = statement.query_map(params![before, SLICE], |row| row.get(0))?;
    Ok(ids.collect::<rusqlite::Result<_>>()?)
}

/// Ends the attempts of an earlier process: their outcome is unknown. The text of a secret was lost with
/// that process. To be called before anything is sent.
pub fn end_interrupted(tx: &Tx<'_>) -> Result<()> {
    tx.execute(
        "UPDATE messages SET state = 'unknown', failure = 'the server ended while it was being sent',
             body = iif(secret, NULL, body), html = iif(secret, NULL, html)
         WHERE state = 'sending'",
        [],
    )?;
    tx.execute(
        "UPDATE messages SET state = 'failed', failure = ?1, body = NULL, html = NULL
         WHERE state = 'waiting' AND secret",
        [LOST],
    )?;
    tx.execute(
        "DELETE FROM outbox WHERE source = 'message'
         AND source_id NOT IN (SELECT id FROM messages WHERE state = 'waiting')",
        [],
    )?;
    Ok(())
}

/// Returns whether [`expire`] would change anything.
pub fn is_any_expired(connection: &Connection, now: Timestamp) -> Result<bool> {
    Ok(!pending::expired(connection, Source::Message, now)?.is_empty())
}

/// Ends messages that could not be sent in time.
pub fn expire(tx: &Tx<'_>) -> Result<()> {
    for id in pending::expired(tx, Source::Message, tx.now())? {
        let ended = tx
            .prepare_cached(
                "UPDATE messages SET state = 'failed',
                     failure = coalesce(failure || '; ', '') || 'it could not be sent in time'
                 WHERE id = ?1 AND state = 'waiting'",
            )?
            .execute([id])?;
        if ended > 0 {
            pending::remove_about(tx, of(id))?;
        }
    }
    Ok(())
}
