//! The last attempts of each webhook, for people who look for a missing delivery.

use crate::{
    core::outbox::{Ref, Source},
    db::Tx,
    types::{
        DelegateId, Timestamp,
        error::{Error, Result},
    },
};
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde_json::json;

/// Attempts kept of each webhook.
pub const KEPT: usize = 200;
/// The part of an answer that is kept, in characters.
pub const ANSWER_MAX_CHARS: usize = 300;

/// The result of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptResult {
    /// 2xx.
    Delivered,
    /// Another status.
    Refused,
    /// No answer.
    Failed,
}

impl AttemptResult {
    const ALL: [Self; 3] = [Self::Delivered, Self::Refused, Self::Failed];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Delivered => "delivered",
            Self::Refused => "refused",
            Self::Failed => "failed",
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    /// The change that it told of; `None` for a test.
    pub of: Option<Ref>,
    /// The type of the event.
    pub kind: String,
    pub ordering_key: String,
    /// The delegates it was about.
    pub people: Vec<DelegateId>,
    pub at: Timestamp,
    pub took_ms: i64,
    /// Its result.
    pub result: AttemptResult,
    pub status: Option<u16>,
    /// The beginning of the answer, or why there was none.
    pub answer: String,
}

/// Stores an attempt and removes old ones. An attempt about a person who was erased since is dropped: the
/// answer may quote the delivery.
pub(super) fn put(tx: &Tx<'_>, webhook: i64, attempt: &Attempt) -> Result<()> {
    let (source, id) = match attempt.of {
        Some(of) => (of.source.name(), of.id),
        None => ("test", 0),
    };
    tx.prepare_cached(
        "INSERT INTO webhook_attempts (webhook_id, source, source_id, type, ordering_key, people, at, took_ms, outcome, status, answer)
         SELECT id, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11 FROM webhooks WHERE id = ?1
         AND NOT EXISTS (SELECT 1 FROM json_each(?6) WHERE value NOT IN (SELECT id FROM delegates))",
    )?
    .execute(params![
        webhook,
        source,
        id,
        attempt.kind,
        attempt.ordering_key,
        json!(attempt.people).to_string(),
        attempt.at,
        attempt.took_ms,
        attempt.result.name(),
        attempt.status,
        attempt.answer,
    ])?;
    tx.prepare_cached(
        "DELETE FROM webhook_attempts WHERE webhook_id = ?1 AND id <=
             (SELECT id FROM webhook_attempts WHERE webhook_id = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)",
    )?
    .execute(params![webhook, KEPT])?;
    Ok(())
}

fn read(row: &Row<'_>) -> rusqlite::Result<(i64, Attempt)> {
    let source: String = row.get(1)?;
    let id = row.get(2)?;
    let of = Source::parse(&source).ok().map(|source| Ref { source, id });
    let people: String = row.get(5)?;
    let result: String = row.get(8)?;
    let attempt = Attempt {
        of,
        kind: row.get(3)?,
        ordering_key: row.get(4)?,
        people: serde_json::from_str(&people).unwrap_or_default(),
        at: row.get(6)?,
        took_ms: row.get(7)?,
        result: AttemptResult::ALL
            .into_iter()
            .find(|known| known.name() == result)
            .unwrap_or(AttemptResult::Failed),
        status: row.get(9)?,
        answer: row.get(10)?,
    };
    Ok((row.get(0)?, attempt))
}

const COLUMNS: &str =
    "id, source, source_id, type, ordering_key, people, at, took_ms, outcome, status, answer";

/// The last attempts of a webhook, newest first, each with its id.
pub fn last(connection: &Connection, webhook: i64, limit: usize) -> Result<Vec<(i64, Attempt)>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM webhook_attempts WHERE webhook_id = ?1 ORDER BY id DESC LIMIT ?2"
    ))?;
    let attempts = statement.query_map(params![webhook, limit], read)?;
    Ok(attempts.collect::<rusqlite::Result<_>>()?)
}

pub fn get(connection: &Connection, webhook: i64, id: i64) -> Result<Attempt> {
    let found = connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM webhook_attempts WHERE webhook_id = ?1 AND id = ?2"
        ))?
        .query_row([webhook, id], read)
        .optional()?;
    match found {
        Some((_, attempt)) => Ok(attempt),
        None => Err(Error::invalid("that delivery is not kept any more")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::{in_transaction, migrate};

    #[test]
    fn the_last_attempts_are_kept() {
        let file = Connection::open_in_memory().unwrap();
        migrate::create(&file).unwrap();
        file.execute_batch(
            "INSERT INTO webhooks (id, uid, name, secret, created_at, updated_at)
             VALUES (1, 'a', 'A', 's', 0, 0),
                    (2, 'b', 'B', 's', 0, 0)",
        )
        .unwrap();
        let attempt = |took_ms| Attempt {
            of: None,
            kind: "test".into(),
            ordering_key: "test".into(),
            people: Vec::new(),
            at: Timestamp(0),
            took_ms,
            result: AttemptResult::Delivered,
            status: Some(200),
            answer: String::new(),
        };
        in_transaction(&file, Timestamp(0), |tx| {
            put(tx, 2, &attempt(0))?;
            (0..)
                .take(KEPT + 3)
                .try_for_each(|took_ms| put(tx, 1, &attempt(took_ms)))
        })
        .unwrap();
        let kept = last(&file, 1, 2 * KEPT).unwrap();
        let first = kept.last().map(|(_, attempt)| attempt.took_ms);
        assert_eq!((kept.len(), first), (200, Some(3)));
        assert_eq!(last(&file, 2, 2 * KEPT).unwrap().len(), 1);
    }
}
