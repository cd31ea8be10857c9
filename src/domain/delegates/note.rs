//! Gate notes: what a gate shows its steward when somebody is scanned. They inform; whether
//! somebody passes is for the rules to say.

use super::RESOURCE;
use crate::{
    core::Context,
    db::Tx,
    types::{
        DelegateId,
        error::{Error, Result},
        text,
    },
};
use rusqlite::{Connection, OptionalExtension};
use serde_json::{Value, json};

/// The longest note, in characters: a steward has a second for it.
pub const NOTE_MAX_CHARS: usize = 500;

/// The manner in which a gate shows a note, the mildest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// For information.
    Info,
    /// Somebody is to take notice.
    Warning,
    /// Shown red: hold the person and read it. The server does not refuse by it.
    Stop,
}

impl Level {
    /// Every level, the mildest first.
    pub const ALL: &'static [Self] = &[Self::Info, Self::Warning, Self::Stop];

    /// Its name in the API.
    pub fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Stop => "stop",
        }
    }

    /// The level of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|level| level.name() == name)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    pub level: Level,
    /// The note itself.
    pub text: String,
}

impl Note {
    /// A note of these words.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`] for an unknown level, no words or too many.
    pub fn new(level: &str, words: &str) -> Result<Self> {
        let level = Level::named(level)
            .ok_or_else(|| Error::field("level", "must be info, warning or stop"))?;
        let words = words.trim();
        text::check_text("note", words)?;
        if words.is_empty() || words.chars().count() > NOTE_MAX_CHARS {
            return Err(Error::field(
                "note",
                format!("must have 1 to {NOTE_MAX_CHARS} characters"),
            ));
        }
        Ok(Self {
            level,
            text: words.to_owned(),
        })
    }

    /// As the API shows it: `{"level", "note"}`.
    pub fn to_json(&self) -> Value {
        json!({"level": self.level.name(), "note": self.text})
    }
}

/// Returns whether anybody has a note.
pub fn is_any(connection: &Connection) -> Result<bool> {
    Ok(connection
        .prepare_cached("SELECT 1 FROM gate_notes LIMIT 1")?
        .exists([])?)
}

/// The note of a delegate.
pub fn of(connection: &Connection, delegate: DelegateId) -> Result<Option<Note>> {
    Ok(connection
        .prepare_cached("SELECT level, note FROM gate_notes WHERE delegate_id = ?1")?
        .query_row([delegate], |row| {
            let level: String = row.get(0)?;
            Ok(Note {
                level: Level::named(&level).unwrap_or(Level::Info),
                text: row.get(1)?,
            })
        })
        .optional()?)
}

/// Sets the note of a delegate, or takes it away.
///
/// # Errors
/// [`crate::types::error::Kind::DelegateNotFound`].
pub fn set(tx: &Tx<'_>, ctx: &Context, delegate: DelegateId, note: Option<&Note>) -> Result<()> {
    super::find(tx, &crate::types::DelegateSelector::Id(delegate))?;
    let before = of(tx, delegate)?;
    match note {
        Some(note) => tx
            .prepare_cached(
                "INSERT INTO gate_notes (delegate_id, level, note, actor, updated_at) VALUES (?1, ?2, ?3, ?4, ?5)
                 ON CONFLICT (delegate_id) DO UPDATE SET level = excluded.level, note = excluded.note,
                     actor = excluded.actor, updated_at = excluded.updated_at",
            )?
            .execute(rusqlite::params![delegate, note.level.name(), note.text, ctx.actor, tx.now()])?,
        None => tx
            .prepare_cached("DELETE FROM gate_notes WHERE delegate_id = ?1")?
            .execute([delegate])?,
    };
    if before.as_ref() == note {
        return Ok(());
    }
    let shown = |note: Option<&Note>| json!({"gateNote": note.map(Note::to_json)});
    let (before, after) = (shown(before.as_ref()), shown(note));
    RESOURCE.audit(tx, ctx, "update", delegate.0, Some(before), Some(after))
}
