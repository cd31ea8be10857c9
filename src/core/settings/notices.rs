//! The notices that an administrator has to know, each on the dashboard until somebody acknowledges it. Kept in the
//! `settings` table; it says what happened to the file, and is no part of a configuration.

use crate::{
    core::{Context, audit},
    db::Tx,
    types::{
        Timestamp,
        error::{Error, Result},
    },
};
use rusqlite::{Connection, OptionalExtension};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The name of the row.
pub(super) const NAME: &str = "notices";
/// The oldest go beyond this.
const KEPT_MAX: usize = 20;

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// The time of the event, in milliseconds since 1970.
    pub at: i64,
    /// The event, as a sentence.
    pub what: String,
}

/// Lists the notices that nobody has acknowledged, the oldest first.
pub fn list(connection: &Connection) -> Result<Vec<Notice>> {
    let stored: Option<String> = connection
        .prepare_cached("SELECT value FROM settings WHERE name = ?1")?
        .query_row([NAME], |row| row.get(0))
        .optional()?;
    Ok(stored
        .and_then(|stored| serde_json::from_str(&stored).ok())
        .unwrap_or_default())
}

pub fn add(tx: &Tx<'_>, what: String) -> Result<()> {
    let mut notices = list(tx)?;
    let at = tx.now().0;
    notices.push(Notice { at, what });
    store(tx, &notices)
}

fn store(tx: &Tx<'_>, notices: &[Notice]) -> Result<()> {
    let from = notices.len().saturating_sub(KEPT_MAX);
    let stored = serde_json::to_string(&notices[from..]).map_err(Error::defect)?;
    tx.execute(
        "INSERT INTO settings (name, value) VALUES (?1, ?2)
         ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        [NAME, &stored],
    )?;
    Ok(())
}

/// Removes those that somebody has seen, up to `until`.
pub fn acknowledge(tx: &Tx<'_>, ctx: &Context, until: Timestamp) -> Result<()> {
    let (seen, rest): (Vec<_>, Vec<_>) = list(tx)?
        .into_iter()
        .partition(|notice| notice.at <= until.0);
    if seen.is_empty() {
        return Ok(());
    }
    store(tx, &rest)?;
    audit::append(
        tx,
        ctx,
        &audit::Change {
            action: "delete",
            record_type: "notices",
            record_id: None,
            before: Some(json!(seen)),
            after: None,
        },
    )
}
