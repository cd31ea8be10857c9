//! The audit: one row for every change to a record that can change, written in the transaction of the change. An import
//! has one row for all records that it made: which they are stands in `changes`. Interactions are not here when they
//! are made (their row says who and when), only when they are deleted.

mod find;
mod history;
mod past;
mod runs;
mod who;

pub use find::{Actors, Entry, Filter, Page, USUAL_ACTIONS, Walk, page, recent_actions, types};
pub use history::{HistoryOf, history};
pub use past::{Past, Properties};
pub use runs::{Run, Runs, runs};
pub use who::{Actor, meant};

use crate::{core::Context, db::Tx, types::error::Result};
use rusqlite::{Connection, OptionalExtension};
use serde_json::Value;

/// One change.
pub struct Change {
    /// `create`, `update`, `delete`, `restore`, `revoke` …
    pub action: &'static str,
    /// `delegate`, `device`, `interaction`, `client`, `user`, `settings`.
    pub record_type: &'static str,
    /// The record's id, where it has one.
    pub record_id: Option<i64>,
    /// The record before; of an update only the properties that changed.
    pub before: Option<Value>,
    /// The record now; of an update only the properties that changed.
    pub after: Option<Value>,
}

/// Appends a change. Of an update it keeps only what differs, and nothing when nothing does.
pub fn append(tx: &Tx<'_>, ctx: &Context, change: &Change) -> Result<()> {
    let (before, after) = match (&change.before, &change.after) {
        (Some(before), Some(after)) => {
            let differing = differences(before, after);
            if differing.0.is_null() && differing.1.is_null() {
                return Ok(());
            }
            (Some(differing.0), Some(differing.1))
        }
        (before, after) => (before.clone(), after.clone()),
    };
    tx.prepare_cached(
        "INSERT INTO audit (at, actor, request_id, action, record_type, record_id, before, after, interaction_id)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )?
    .execute(rusqlite::params![
        tx.now(),
        ctx.actor,
        ctx.request_id,
        change.action,
        change.record_type,
        change.record_id,
        before.map(|value| value.to_string()),
        after.map(|value| value.to_string()),
        tx.newest_interaction()?,
    ])?;
    Ok(())
}

/// Takes the next number of the audit without a row, for a change that stands elsewhere.
pub fn reserve(tx: &Tx<'_>) -> Result<i64> {
    let next = tx
        .prepare_cached(
            "UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'audit' RETURNING seq",
        )?
        .query_row([], |row| row.get(0))
        .optional()?;
    if let Some(next) = next {
        return Ok(next);
    }
    tx.execute(
        "INSERT INTO sqlite_sequence (name, seq) VALUES ('audit', 1)",
        [],
    )?;
    Ok(1)
}

/// Returns who changed a record last, as people call them; of a record such as the settings, who changed one of these
/// keys last.
pub fn last_actor(
    connection: &Connection,
    record_type: &str,
    id: Option<i64>,
    keys: &[&str],
) -> Result<String> {
    let actor: Option<String> = connection
        .prepare_cached(
            "SELECT actor FROM audit WHERE record_type = ?1 AND record_id IS ?2 AND (?3 = '[]' OR EXISTS (
                 SELECT 1 FROM json_each(?3) AS k, json_each(coalesce(after, before)) AS changed
                 WHERE changed.key = k.value))
             ORDER BY id DESC LIMIT 1",
        )?
        .query_row((record_type, id, serde_json::json!(keys).to_string()), |row| row.get(0))
        .optional()?;
    match actor {
        Some(actor) => actor_name(connection, &actor),
        None => Ok("Somebody".to_owned()),
    }
}

/// Returns the name by which people know an actor of the audit.
pub fn actor_name(connection: &Connection, actor: &str) -> Result<String> {
    Ok(Actor::of(connection, actor)?.name())
}

/// As [`actor_name`], in the language of the page.
pub fn actor_shown(connection: &Connection, actor: &str) -> Result<String> {
    Ok(Actor::of(connection, actor)?.shown())
}

/// The number of the newest change; 0 where there is none.
pub fn newest(connection: &Connection) -> Result<i64> {
    let newest = connection
        .prepare_cached("SELECT seq FROM sqlite_sequence WHERE name = 'audit'")?
        .query_row([], |row| row.get(0))
        .optional()?;
    Ok(newest.unwrap_or(0))
}

/// Appends that something was made (there is only an `after`), changed (both) or removed (only a
/// `before`); nothing where there is neither.
pub fn append_between(
    tx: &Tx<'_>,
    ctx: &Context,
    record_type: &'static str,
    record_id: Option<i64>,
    before: Option<Value>,
    after: Option<Value>,
) -> Result<()> {
    let action = match (&before, &after) {
        (None, None) => return Ok(()),
        (None, Some(_)) => "create",
        (Some(_), Some(_)) => "update",
        (Some(_), None) => "delete",
    };
    let change = Change {
        action,
        record_type,
        record_id,
        before,
        after,
    };
    append(tx, ctx, &change)
}

/// Returns whether the two differ.
#[must_use]
pub fn differ(before: &Value, after: &Value) -> bool {
    let (before, after) = differences(before, after);
    !(before.is_null() && after.is_null())
}

/// The parts of two objects that differ; `updatedAt` always does and does not count.
fn differences(before: &Value, after: &Value) -> (Value, Value) {
    let (Value::Object(before), Value::Object(after)) = (before, after) else {
        return if before == after {
            (Value::Null, Value::Null)
        } else {
            (before.clone(), after.clone())
        };
    };
    let differing = |one: &serde_json::Map<String, Value>,
                     other: &serde_json::Map<String, Value>| {
        let part: serde_json::Map<String, Value> = one
            .iter()
            .filter(|(key, value)| *key != "updatedAt" && other.get(*key) != Some(value))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        if part.is_empty() {
            Value::Null
        } else {
            Value::Object(part)
        }
    };
    (differing(before, after), differing(after, before))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_what_changed_is_kept() {
        let (before, after) = differences(
            &json!({"id": 1, "firstName": "Ada", "updatedAt": "a"}),
            &json!({"id": 1, "firstName": "Ada L.", "company": "X", "updatedAt": "b"}),
        );
        assert_eq!(before, json!({"firstName": "Ada"}));
        assert_eq!(after, json!({"firstName": "Ada L.", "company": "X"}));
    }
}
