//! The message of the crew to all gates. Kept in the `settings` table; it belongs to the day, and is no part of a
//! configuration.

use crate::{
    core::{
        Context,
        audit::{self, Change},
    },
    db::Tx,
    types::{
        error::{Error, Result},
        text::check_text,
    },
};
use rusqlite::{Connection, OptionalExtension};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The name of the row.
pub(super) const NAME: &str = "gateMessage";
pub const MAX_CHARS: usize = 200;

/// The message that gates show.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateMessage {
    pub text: String,
    /// The time of sending, in milliseconds since 1970.
    pub at: i64,
    /// The sender, as the audit names them.
    pub by: String,
}

pub fn current(connection: &Connection) -> Result<Option<GateMessage>> {
    let stored: Option<String> = connection
        .prepare_cached("SELECT value FROM settings WHERE name = ?1")?
        .query_row([NAME], |row| row.get(0))
        .optional()?;
    Ok(stored.and_then(|stored| serde_json::from_str(&stored).ok()))
}

/// Sends a message in place of the one before.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`] for a text that is empty or too long.
pub fn send(tx: &Tx<'_>, ctx: &Context, text: &str) -> Result<()> {
    check_text("text", text)?;
    if text.is_empty() || text.chars().count() > MAX_CHARS {
        return Err(Error::field(
            "text",
            format!("must have 1 to {MAX_CHARS} characters"),
        ));
    }
    let before = current(tx)?;
    let message = GateMessage {
        text: text.to_owned(),
        at: tx.now().0,
        by: ctx.actor.clone(),
    };
    let stored = serde_json::to_string(&message).map_err(Error::defect)?;
    tx.prepare_cached(
        "INSERT INTO settings (name, value) VALUES (?1, ?2)
         ON CONFLICT (name) DO UPDATE SET value = excluded.value",
    )?
    .execute([NAME, &stored])?;
    let action = if before.is_some() { "update" } else { "create" };
    append(tx, ctx, action, before.as_ref(), Some(&message))
}

/// Takes the message from the gates.
pub fn clear(tx: &Tx<'_>, ctx: &Context) -> Result<()> {
    let Some(before) = current(tx)? else {
        return Ok(());
    };
    tx.prepare_cached("DELETE FROM settings WHERE name = ?1")?
        .execute([NAME])?;
    append(tx, ctx, "delete", Some(&before), None)
}

fn append(
    tx: &Tx<'_>,
    ctx: &Context,
    action: &'static str,
    before: Option<&GateMessage>,
    after: Option<&GateMessage>,
) -> Result<()> {
    let shown = |message: &GateMessage| -> Value { json!({"text": message.text}) };
    let change = Change {
        action,
        record_type: "gate-message",
        record_id: None,
        before: before.map(shown),
        after: after.map(shown),
    };
    audit::append(tx, ctx, &change)
}
