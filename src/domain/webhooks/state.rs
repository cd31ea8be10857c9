//! How far a webhook has come, and how it health, in the file.

use super::{
    attempts::{self, Attempt},
    event::Ref,
    pending::{self, PendingDelivery},
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
    /// A person paused it.
    Asked,
    /// Every delivery failed for three days.
    Failing,
    /// The receiver is gone for good (410).
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

/// How far it has come, and how it health.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct State {
    /// Everything up to here is delivered, pending, or irrelevant.
    pub cursor: Position,
    /// Failures in a row.
    pub failures: u32,
    /// Since when every delivery fails.
    pub failing_since: Option<Timestamp>,
    /// The next attempt, if the receiver is down.
    pub next_at: Option<Timestamp>,
    /// The last successful delivery.
    pub last_success_at: Option<Timestamp>,
    /// Since when and why it is paused.
    pub paused: Option<(Timestamp, Pause)>,
    /// Grows with each decision of a person.
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

/// The state of a webhook; the default without a row.
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

/// The names of webhooks that stopped because every delivery failed.
pub fn stopped(connection: &Connection) -> Result<Vec<String>> {
    let mut statement = connection.prepare_cached(
        "SELECT name FROM webhooks JOIN webhook_states ON webhook_id = id
         WHERE paused_why IN ('failing', 'gone') ORDER BY name",
    )?;
    let names = statement.query_map([], |row| row.get(0))?;
    Ok(names.collect::<rusqlite::Result<_>>()?)
}

/// Starts a webhook at the end of the feed.
pub(super) fn begin(tx: &Tx<'_>, webhook: i64) -> Result<()> {
    let cursor = changes::newest(tx)?;
    tx.prepare_cached(
        "INSERT INTO webhook_states (webhook_id, interaction_id, audit_id) VALUES (?1, ?2, ?3)",
    )?
    .execute(params![webhook, cursor.interaction, cursor.change])?;
    Ok(())
}

/// Pauses a webhook. Later changes wait.
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

/// Resumes a webhook with what waited or, if that is `skipped`, with what
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
        tx.prepare_cached("DELETE FROM webhook_pending WHERE webhook_id = ?1")?
            .execute([webhook])?;
    }
    let action = if skipped { "skip" } else { "resume" };
    store::tell(tx, ctx, webhook, action, json!({"name": name}))
}

/// Resets the back-off: the next attempt is at once.
pub(super) fn hurry(tx: &Tx<'_>, webhook: i64) -> Result<()> {
    tx.prepare_cached(
        "UPDATE webhook_states SET failures = 0, failing_since = NULL, next_at = NULL,
                revision = revision + 1
         WHERE webhook_id = ?1",
    )?
    .execute([webhook])?;
    tx.prepare_cached("UPDATE webhook_pending SET next_at = ?2 WHERE webhook_id = ?1")?
        .execute(params![webhook, tx.now()])?;
    Ok(())
}

/// A fact about a webhook to store.
#[derive(Debug, Clone, PartialEq)]
pub enum Note {
    /// It has come so far, and health so.
    State(State),
    /// A pending delivery.
    PendingDelivery(PendingDelivery),
    /// A delivery that is not pending any more.
    Released(Ref),
    /// An attempt.
    Tried(Attempt),
}

/// Stores notes. Those of removed webhooks are dropped.
pub fn write(tx: &Tx<'_>, notes: &[(i64, Note)]) -> Result<()> {
    for (webhook, note) in notes {
        match note {
            Note::State(state) => write_state(tx, *webhook, state)?,
            Note::PendingDelivery(pending) => pending::put(tx, *webhook, pending)?,
            Note::Released(of) => pending::remove(tx, *webhook, *of).map(drop)?,
            Note::Tried(attempt) => attempts::put(tx, *webhook, attempt)?,
        }
    }
    Ok(())
}

/// Stores a state. The cursor only grows. The rest is dropped if a
/// person decided something since.
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

/// The state and the pending deliveries of a webhook.
pub fn load(connection: &Connection, webhook: i64) -> Result<(State, Vec<PendingDelivery>)> {
    Ok((of(connection, webhook)?, pending::all(connection, webhook)?))
}
