//! The progress of a destination, and its health.

use super::{
    Completion,
    pending::{self, PendingDelivery},
    runner::DOWN_AFTER,
};
use crate::{
    core::{changes::Position, outbox::Ref},
    db::Tx,
    types::{Timestamp, error::Result},
};
use rusqlite::{Connection, OptionalExtension, Row, params};
use std::{collections::BTreeMap, fmt};

/// The reason why a destination is paused.
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

/// The progress of a destination, and its health.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct State {
    /// Every change up to here is delivered, pending, or irrelevant; `None`: it does not follow the
    /// change feed.
    pub cursor: Option<Position>,
    /// Failures in a row.
    pub failures: u32,
    /// The time since which every delivery fails.
    pub failing_since: Option<Timestamp>,
    /// The reason why the destination as a whole fails.
    pub why: Option<String>,
    /// The next attempt, if the destination fails as a whole.
    pub next_at: Option<Timestamp>,
    pub last_success_at: Option<Timestamp>,
    /// The time since which it is paused, and the reason.
    pub paused: Option<(Timestamp, Pause)>,
    /// Grows with each decision of a person.
    pub revision: i64,
}

const COLUMNS: &str = "name, interaction_id, audit_id, failures, failing_since, why, next_at, \
    last_success_at, paused_at, paused_why, revision";

impl State {
    fn read(row: &Row<'_>) -> rusqlite::Result<(String, Self)> {
        let (interaction, change): (Option<i64>, Option<i64>) = (row.get(1)?, row.get(2)?);
        let (paused_at, paused_why): (Option<Timestamp>, Option<String>) =
            (row.get(8)?, row.get(9)?);
        let state = Self {
            cursor: interaction
                .zip(change)
                .map(|(interaction, change)| Position {
                    interaction,
                    change,
                }),
            failures: row.get(3)?,
            failing_since: row.get(4)?,
            why: row.get(5)?,
            next_at: row.get(6)?,
            last_success_at: row.get(7)?,
            paused: paused_at.map(|at| {
                let why = paused_why.as_deref().and_then(Pause::parse);
                (at, why.unwrap_or(Pause::Asked))
            }),
            revision: row.get(10)?,
        };
        Ok((row.get(0)?, state))
    }
}

/// The state of a destination; the default without a row.
pub fn get(connection: &Connection, name: &str) -> Result<State> {
    let found = connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM outbox_destinations WHERE name = ?1"
        ))?
        .query_row([name], State::read)
        .optional()?;
    Ok(found.map(|(_, state)| state).unwrap_or_default())
}

/// A destination that people should look at.
#[derive(Debug, Clone)]
pub struct StuckDestination {
    pub name: String,
    pub state: State,
    /// The number of pending deliveries.
    pub pending: i64,
    /// The reason why it, or its first failing delivery, fails.
    pub why: Option<String>,
}

/// All destinations, by name.
pub fn all(connection: &Connection) -> Result<BTreeMap<String, State>> {
    let mut statement =
        connection.prepare_cached(&format!("SELECT {COLUMNS} FROM outbox_destinations"))?;
    let all = statement.query_map([], State::read)?;
    Ok(all.collect::<rusqlite::Result<_>>()?)
}

/// The time for which a delivery may be due before its destination counts as stuck, in milliseconds.
const OVERDUE_MS: i64 = 60_000;

/// The destinations that fail, were stopped, or do not send what is due.
pub fn stuck(connection: &Connection, now: Timestamp) -> Result<Vec<StuckDestination>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {COLUMNS}, (SELECT count(*) FROM outbox WHERE destination = name),
             (SELECT why FROM outbox WHERE destination = name AND why IS NOT NULL ORDER BY id LIMIT 1)
         FROM outbox_destinations
         WHERE paused_why IN ('failing', 'gone') OR (paused_at IS NULL AND (failures >= ?2
             OR EXISTS (SELECT 1 FROM outbox
                 WHERE destination = name AND (failing_since IS NOT NULL OR next_at < ?1))))
         ORDER BY name"
    ))?;
    let stuck = statement.query_map((now.0 - OVERDUE_MS, DOWN_AFTER), |row| {
        let (name, state) = State::read(row)?;
        Ok(StuckDestination {
            name,
            pending: row.get(11)?,
            why: state.why.clone().or(row.get(12)?),
            state,
        })
    })?;
    Ok(stuck.collect::<rusqlite::Result<_>>()?)
}

/// Starts a destination at a position of the feed.
pub fn begin(tx: &Tx<'_>, name: &str, cursor: Position) -> Result<()> {
    tx.prepare_cached(
        "INSERT INTO outbox_destinations (name, interaction_id, audit_id) VALUES (?1, ?2, ?3)",
    )?
    .execute(params![name, cursor.interaction, cursor.change])?;
    Ok(())
}

/// Makes sure that there is a destination, one that does not follow the feed.
pub fn ensure(tx: &Tx<'_>, name: &str) -> Result<()> {
    tx.prepare_cached("INSERT OR IGNORE INTO outbox_destinations (name) VALUES (?1)")?
        .execute([name])?;
    Ok(())
}

/// Removes a destination with its pending deliveries.
pub fn remove(tx: &Tx<'_>, name: &str) -> Result<()> {
    discard(tx, name)?;
    tx.prepare_cached("DELETE FROM outbox_destinations WHERE name = ?1")?
        .execute([name])?;
    Ok(())
}

fn discard(tx: &Tx<'_>, name: &str) -> Result<()> {
    tx.prepare_cached("DELETE FROM outbox WHERE destination = ?1")?
        .execute([name])?;
    Ok(())
}

/// Pauses a destination; whether it was not paused before. Later deliveries wait.
pub fn pause(tx: &Tx<'_>, name: &str) -> Result<bool> {
    let paused = tx
        .prepare_cached(
            "UPDATE outbox_destinations
             SET paused_at = ?2, paused_why = 'asked', revision = revision + 1
             WHERE name = ?1 AND paused_at IS NULL",
        )?
        .execute(params![name, tx.now()])?;
    tx.outdate_caches();
    Ok(paused > 0)
}

/// Resumes a destination: every pending delivery is due at once.
pub fn resume(tx: &Tx<'_>, name: &str) -> Result<()> {
    tx.prepare_cached(
        "UPDATE outbox_destinations SET paused_at = NULL, paused_why = NULL WHERE name = ?1",
    )?
    .execute([name])?;
    retry(tx, name)
}

/// Makes every pending delivery of a destination due at once, unless it is paused.
pub fn retry(tx: &Tx<'_>, name: &str) -> Result<()> {
    tx.prepare_cached(
        "UPDATE outbox_destinations SET failures = 0, failing_since = NULL, why = NULL, next_at = NULL,
             revision = revision + 1
         WHERE name = ?1",
    )?
    .execute([name])?;
    tx.prepare_cached("UPDATE outbox SET next_at = ?2 WHERE destination = ?1")?
        .execute(params![name, tx.now()])?;
    tx.outdate_caches();
    Ok(())
}

/// Resumes a destination at a position of the feed, without what waited before it.
pub fn skip(tx: &Tx<'_>, name: &str, to: Position) -> Result<()> {
    discard(tx, name)?;
    tx.prepare_cached(
        "UPDATE outbox_destinations SET interaction_id = ?2, audit_id = ?3 WHERE name = ?1",
    )?
    .execute(params![name, to.interaction, to.change])?;
    resume(tx, name)
}

/// A note that the worker stores about a destination.
#[derive(Clone)]
pub enum Note {
    State(State),
    /// A delivery became pending.
    Pending(PendingDelivery),
    /// A pending delivery failed again.
    Failed(PendingDelivery),
    /// A delivery is not pending any more.
    Released(Ref),
    /// Something that an attempt leaves beside its outcome.
    Completion(Completion),
}

impl fmt::Debug for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::State(state) => write!(f, "State({state:?})"),
            Self::Pending(pending) => write!(f, "Pending({pending:?})"),
            Self::Failed(pending) => write!(f, "Failed({pending:?})"),
            Self::Released(of) => write!(f, "Released({of:?})"),
            Self::Completion(_) => write!(f, "Record"),
        }
    }
}

/// Stores notes. Those of removed destinations are dropped.
pub(super) fn write(tx: &Tx<'_>, notes: &[(String, Note)]) -> Result<()> {
    for (name, note) in notes {
        match note {
            Note::State(state) => write_state(tx, name, state)?,
            Note::Pending(pending) => pending::insert(tx, name, pending)?,
            Note::Failed(pending) => pending::update(tx, name, pending)?,
            Note::Released(of) => pending::remove(tx, name, *of)?,
            Note::Completion(record) => record(tx)?,
        }
    }
    Ok(())
}

/// Stores a state. The cursor only grows. The rest is dropped if a person decided something since.
fn write_state(tx: &Tx<'_>, name: &str, state: &State) -> Result<()> {
    if let Some(cursor) = state.cursor {
        tx.prepare_cached(
            "UPDATE outbox_destinations
             SET interaction_id = max(interaction_id, ?2), audit_id = max(audit_id, ?3) WHERE name = ?1",
        )?
        .execute(params![name, cursor.interaction, cursor.change])?;
    }
    tx.prepare_cached(
        "UPDATE outbox_destinations SET failures = ?3, failing_since = ?4, why = ?5, next_at = ?6,
             last_success_at = ?7, paused_at = ?8, paused_why = ?9
         WHERE name = ?1 AND revision = ?2",
    )?
    .execute(params![
        name,
        state.revision,
        state.failures,
        state.failing_since,
        state.why,
        state.next_at,
        state.last_success_at,
        state.paused.map(|(at, _)| at),
        state.paused.map(|(_, why)| why.name()),
    ])?;
    Ok(())
}
