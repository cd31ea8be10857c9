//! How far a webhook has come, and how it fares, in the file.

use super::{
    attempts::{self, Attempt},
    event::Ref,
    held::{self, Held},
    store,
};
use crate::{
    core::{
        Context,
        changes::{self, Position},
    },
    db::Tx,
    types::{Timestamp, error::Result},
};
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde_json::json;

/// Why a webhook is paused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pause {
    /// Somebody paused it.
    Asked,
    /// Nothing was taken for days.
    Failing,
    /// The receiver said that it is no more (410).
    Gone,
}

impl Pause {
    fn name(self) -> &'static str {
        match self {
            Self::Asked => "asked",
            Self::Failing => "failing",
            Self::Gone => "gone",
        }
    }

    fn parse(name: &str) -> Option<Self> {
        [Self::Asked, Self::Failing, Self::Gone]
            .into_iter()
            .find(|why| why.name() == name)
    }
}

/// How far it has come, and how it fares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct State {
    /// Up to here everything is delivered, held, or none of its business.
    pub cursor: Position,
    /// Failures in a row.
    pub failures: u32,
    /// Since when nothing was taken.
    pub failing_since: Option<Timestamp>,
    /// When it is tried again, after some failures in a row.
    pub next_at: Option<Timestamp>,
    /// When something was taken last.
    pub last_success_at: Option<Timestamp>,
    /// Since when and why nothing is sent.
    pub paused: Option<(Timestamp, Pause)>,
    /// How often a person decided something about it.
    pub revision: i64,
}

impl State {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let paused_at: Option<Timestamp> = row.get(6)?;
        let why: Option<String> = row.get(7)?;
        Ok(Self {
            cursor: Position {
                interaction: row.get(0)?,
                change: row.get(1)?,
            },
            failures: row.get(2)?,
            failing_since: row.get(3)?,
            next_at: row.get(4)?,
            last_success_at: row.get(5)?,
            paused: paused_at.map(|at| {
                let why = why.as_deref().and_then(Pause::parse);
                (at, why.unwrap_or(Pause::Asked))
            }),
            revision: row.get(8)?,
        })
    }
}

/// The state of a webhook; that of one which was never begun stands at nothing.
pub fn of(connection: &Connection, webhook: i64) -> Result<State> {
    let found = connection
        .prepare_cached(
            "SELECT interaction_id, audit_id, failures, failing_since, next_at, last_success_at,
                    paused_at, paused_why, revision
             FROM webhook_states WHERE webhook_id = ?1",
        )?
        .query_row([webhook], State::read)
        .optional()?;
    Ok(found.unwrap_or_default())
}

/// The names of those that were stopped because their receiver takes nothing any more.
pub fn stopped(connection: &Connection) -> Result<Vec<String>> {
    let mut statement = connection.prepare_cached(
        "SELECT name FROM webhooks JOIN webhook_states ON webhook_id = id
         WHERE paused_why IN ('failing', 'gone') ORDER BY name",
    )?;
    let names = statement.query_map([], |row| row.get(0))?;
    Ok(names.collect::<rusqlite::Result<_>>()?)
}

/// Has a webhook begin here.
pub(super) fn begin(tx: &Tx<'_>, webhook: i64) -> Result<()> {
    let cursor = changes::newest(tx)?;
    tx.prepare_cached(
        "INSERT INTO webhook_states (webhook_id, interaction_id, audit_id) VALUES (?1, ?2, ?3)",
    )?
    .execute(params![webhook, cursor.interaction, cursor.change])?;
    Ok(())
}

/// Pauses a webhook: what happens meanwhile waits.
///
/// # Errors
/// [`crate::types::error::Kind::NoSuchPath`] when there is no such webhook.
pub fn pause(tx: &Tx<'_>, ctx: &Context, webhook: i64) -> Result<()> {
    let name = store::name_of(tx, webhook)?;
    let paused = tx
        .prepare_cached(
            "UPDATE webhook_states SET paused_at = ?2, paused_why = 'asked', revision = revision + 1
             WHERE webhook_id = ?1 AND paused_at IS NULL",
        )?
        .execute(params![webhook, tx.now()])?;
    if paused == 0 {
        return Ok(());
    }
    store::tell(tx, ctx, webhook, "pause", json!({"name": name}))
}

/// Has a webhook go on at once, with what waited; or, where that is to be `skipped`, with what
/// happens from now on.
pub fn resume(tx: &Tx<'_>, ctx: &Context, webhook: i64, skipped: bool) -> Result<()> {
    let name = store::name_of(tx, webhook)?;
    tx.prepare_cached(
        "UPDATE webhook_states SET paused_at = NULL, paused_why = NULL WHERE webhook_id = ?1",
    )?
    .execute([webhook])?;
    hurry(tx, webhook)?;
    if skipped {
        let cursor = changes::newest(tx)?;
        tx.prepare_cached(
            "UPDATE webhook_states SET interaction_id = ?2, audit_id = ?3 WHERE webhook_id = ?1",
        )?
        .execute(params![webhook, cursor.interaction, cursor.change])?;
        tx.prepare_cached("DELETE FROM webhook_held WHERE webhook_id = ?1")?
            .execute([webhook])?;
    }
    let action = if skipped { "skip" } else { "resume" };
    store::tell(tx, ctx, webhook, action, json!({"name": name}))
}

/// Forgets how often it failed: it is tried again at once.
pub(super) fn hurry(tx: &Tx<'_>, webhook: i64) -> Result<()> {
    tx.prepare_cached(
        "UPDATE webhook_states SET failures = 0, failing_since = NULL, next_at = NULL,
                revision = revision + 1
         WHERE webhook_id = ?1",
    )?
    .execute([webhook])?;
    tx.prepare_cached("UPDATE webhook_held SET next_at = ?2 WHERE webhook_id = ?1")?
        .execute(params![webhook, tx.now()])?;
    Ok(())
}

/// Something that one round found out about a webhook, to be written down.
#[derive(Debug, Clone, PartialEq)]
pub enum Note {
    /// It has come so far, and fares so.
    State(State),
    /// This waits.
    Held(Held),
    /// This does not wait any more.
    Released(Ref),
    /// This was tried.
    Tried(Attempt),
}

/// Writes notes down. Those of a webhook that is gone by now are let go.
pub fn write(tx: &Tx<'_>, notes: &[(i64, Note)]) -> Result<()> {
    for (webhook, note) in notes {
        match note {
            Note::State(state) => write_state(tx, *webhook, state)?,
            Note::Held(held) => held::put(tx, *webhook, held)?,
            Note::Released(of) => held::remove(tx, *webhook, *of).map(drop)?,
            Note::Tried(attempt) => attempts::put(tx, *webhook, attempt)?,
        }
    }
    Ok(())
}

/// Writes a state down. How far it has come only ever grows; the rest is nothing worth where a
/// person decided something since it was known.
fn write_state(tx: &Tx<'_>, webhook: i64, state: &State) -> Result<()> {
    tx.prepare_cached(
        "UPDATE webhook_states SET interaction_id = max(interaction_id, ?2), audit_id = max(audit_id, ?3)
         WHERE webhook_id = ?1",
    )?
    .execute(params![
        webhook,
        state.cursor.interaction,
        state.cursor.change
    ])?;
    tx.prepare_cached(
        "UPDATE webhook_states SET failures = ?3, failing_since = ?4, next_at = ?5,
                last_success_at = ?6, paused_at = ?7, paused_why = ?8
         WHERE webhook_id = ?1 AND revision = ?2",
    )?
    .execute(params![
        webhook,
        state.revision,
        state.failures,
        state.failing_since,
        state.next_at,
        state.last_success_at,
        state.paused.map(|(at, _)| at),
        state.paused.map(|(_, why)| why.name()),
    ])?;
    Ok(())
}

/// What is read to go on with a webhook.
pub fn load(connection: &Connection, webhook: i64) -> Result<(State, Vec<Held>)> {
    Ok((of(connection, webhook)?, held::all(connection, webhook)?))
}
