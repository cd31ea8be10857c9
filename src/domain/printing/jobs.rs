//! Badges to print, and what became of them. A job is stored as begun before a printer hears of it: so none is printed
//! twice because a process ended meanwhile, and one with an unknown outcome is printed again by a person only.

use super::{
    deliver::Sent,
    printers::{self, Printer},
};
use crate::{
    core::{
        Context,
        outbox::{Delivery, Ref, Source, destination, pending, runner::DOWN_AFTER},
    },
    db::Tx,
    domain::interactions::{
        draft::Draft,
        record::{self, Outcome},
        types::PRINT,
    },
    types::{
        DelegateId, DelegateSelector, DeviceId, DeviceSelector, Timestamp,
        error::{Error, Kind, Result},
        text::shortened,
    },
};
use rusqlite::{
    Connection, OptionalExtension, Row, params,
    types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef},
};
use serde_json::json;

/// Jobs of one printer go out one after the other.
const ORDERING_KEY: &str = "jobs";
/// The longest reason, in characters.
pub const REASON_MAX_CHARS: usize = 200;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Queued,
    Sending,
    Sent,
    /// Nothing was printed, for certain, and nothing will be.
    Failed,
    /// Nobody can know whether it was printed; a person looks.
    Unknown,
}

impl State {
    const ALL: [Self; 5] = [
        Self::Queued,
        Self::Sending,
        Self::Sent,
        Self::Failed,
        Self::Unknown,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Sending => "sending",
            Self::Sent => "sent",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
        }
    }
}

impl ToSql for State {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.name().into())
    }
}

impl FromSql for State {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let name = value.as_str()?;
        let found = Self::ALL.into_iter().find(|state| state.name() == name);
        found.ok_or(FromSqlError::InvalidType)
    }
}

/// A badge to print.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewJob {
    pub delegate: DelegateId,
    /// The place where it was asked for.
    pub place: Option<DeviceId>,
    /// The check-in that it is printed for by itself.
    pub trigger: Option<i64>,
    pub reason: Option<String>,
}

/// A job as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    pub id: i64,
    pub printer: i64,
    pub delegate: DelegateId,
    pub place: Option<DeviceId>,
    pub reason: Option<String>,
    pub actor: String,
    pub state: State,
    /// The reason why it was not printed, or may not have been.
    pub why: Option<String>,
    pub created_at: Timestamp,
    pub ended_at: Option<Timestamp>,
}

const COLUMNS: &str =
    "id, printer_id, delegate_id, device_id, reason, actor, state, why, created_at, ended_at";

fn read(row: &Row<'_>) -> rusqlite::Result<Job> {
    Ok(Job {
        id: row.get(0)?,
        printer: row.get(1)?,
        delegate: row.get(2)?,
        place: row.get(3)?,
        reason: row.get(4)?,
        actor: row.get(5)?,
        state: row.get(6)?,
        why: row.get(7)?,
        created_at: row.get(8)?,
        ended_at: row.get(9)?,
    })
}

/// Finds a job.
///
/// # Errors
/// [`Kind::NoSuchPath`].
pub fn get(connection: &Connection, id: i64) -> Result<Job> {
    let sql = format!("SELECT {COLUMNS} FROM print_jobs WHERE id = ?1");
    let found = connection.prepare_cached(&sql)?.query_row([id], read);
    found.optional()?.ok_or_else(missing)
}

/// The error for an unknown job.
pub fn missing() -> Error {
    Error::new(Kind::NoSuchPath, "there is no such print job")
}

/// Lists jobs, the newest first: those before an id, of one printer or of all, open or not.
pub fn list(
    connection: &Connection,
    printer: Option<i64>,
    before: Option<i64>,
    limit: usize,
) -> Result<Vec<Job>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM print_jobs
         WHERE (?1 IS NULL OR printer_id = ?1) AND (?2 IS NULL OR id < ?2) ORDER BY id DESC LIMIT ?3"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let jobs = statement.query_map(params![printer, before, limit], read)?;
    Ok(jobs.collect::<rusqlite::Result<_>>()?)
}

/// Lists what somebody was printed, the newest first.
pub fn of_delegate(connection: &Connection, delegate: DelegateId) -> Result<Vec<Job>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM print_jobs WHERE delegate_id = ?1 ORDER BY id DESC LIMIT 20"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let jobs = statement.query_map([delegate], read)?;
    Ok(jobs.collect::<rusqlite::Result<_>>()?)
}

/// The numbers of jobs that wait at a printer, and of those that a person has to look at.
pub fn counts(connection: &Connection, printer: i64) -> Result<(i64, i64)> {
    let counts = connection
        .prepare_cached(
            "SELECT count(*) FILTER (WHERE state IN ('queued', 'sending')), count(*) FILTER (WHERE state = 'unknown')
             FROM print_jobs WHERE printer_id = ?1 AND state IN ('queued', 'sending', 'unknown')",
        )?
        .query_row([printer], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(counts)
}

/// Returns the number of badges that a person has to decide about.
pub fn unknown(connection: &Connection) -> Result<i64> {
    let sql = "SELECT count(*) FROM print_jobs WHERE state = 'unknown'";
    Ok(connection
        .prepare_cached(sql)?
        .query_row([], |row| row.get(0))?)
}

/// Puts a job into the queue of a printer; one for a check-in only once.
pub fn add(tx: &Tx<'_>, ctx: &Context, printer: &Printer, new: &NewJob) -> Result<i64> {
    let too_long = |reason: &String| reason.chars().count() > REASON_MAX_CHARS;
    if new.reason.as_ref().is_some_and(too_long) {
        let message = format!("must have at most {REASON_MAX_CHARS} characters");
        return Err(Error::field("reason", message));
    }
    let known = match new.trigger {
        Some(trigger) => tx
            .prepare_cached("SELECT id FROM print_jobs WHERE trigger_id = ?1")?
            .query_row([trigger], |row| row.get(0))
            .optional()?,
        None => None,
    };
    if let Some(known) = known {
        return Ok(known);
    }
    tx.prepare_cached(
        "INSERT INTO print_jobs (printer_id, delegate_id, device_id, trigger_id, reason, actor, state, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'queued', ?7)",
    )?
    .execute(params![
        printer.id,
        new.delegate,
        new.place,
        new.trigger,
        new.reason,
        ctx.actor,
        tx.now(),
    ])?;
    let id = tx.last_insert_rowid();
    queue(tx, printer.id, id)?;
    Ok(id)
}

fn queue(tx: &Tx<'_>, printer: i64, id: i64) -> Result<()> {
    let delivery = Delivery {
        of: of(id),
        ordering_key: ORDERING_KEY.to_owned(),
        attempts: 0,
    };
    pending::add(tx, &printers::destination(printer), &delivery, None)
}

fn of(id: i64) -> Ref {
    Ref {
        source: Source::Print,
        id,
    }
}

/// Stores that a printer hears of a job now; whether it still waits there.
pub(super) fn begin(tx: &Tx<'_>, id: i64, printer: i64) -> Result<bool> {
    let begun = tx
        .prepare_cached(
            "UPDATE print_jobs SET state = 'sending', why = NULL
             WHERE id = ?1 AND printer_id = ?2 AND state = 'queued'",
        )?
        .execute((id, printer))?;
    Ok(begun > 0)
}

/// Stores how an attempt ended. It may run twice.
pub(super) fn end(tx: &Tx<'_>, ctx: &Context, id: i64, sent: &Sent) -> Result<()> {
    match sent {
        Sent::Yes => printed(tx, ctx, id, State::Sending),
        Sent::Unknown(why) => finish(tx, id, State::Sending, State::Unknown, Some(why)),
        Sent::Never(why) => finish(tx, id, State::Queued, State::Failed, Some(why)),
        Sent::NotYet(why) => {
            tx.prepare_cached("UPDATE print_jobs SET why = ?2 WHERE id = ?1 AND state = 'queued'")?
                .execute((id, shortened(why)))?;
            fall_back(tx, id)
        }
    }
}

/// Keeps what was left out of a badge that was printed.
pub(super) fn remark(tx: &Tx<'_>, id: i64, why: &str) -> Result<()> {
    tx.prepare_cached("UPDATE print_jobs SET why = ?2 WHERE id = ?1 AND state = 'sent'")?
        .execute((id, shortened(why)))?;
    Ok(())
}

fn finish(tx: &Tx<'_>, id: i64, before: State, after: State, why: Option<&String>) -> Result<()> {
    tx.prepare_cached(
        "UPDATE print_jobs SET state = ?3, why = ?4, ended_at = ?5 WHERE id = ?1 AND state = ?2",
    )?
    .execute(params![
        id,
        before,
        after,
        why.map(|why| shortened(why)),
        tx.now()
    ])?;
    Ok(())
}

/// Records that a badge was printed.
fn printed(tx: &Tx<'_>, ctx: &Context, id: i64, before: State) -> Result<()> {
    let job = get(tx, id)?;
    if job.state != before {
        return Ok(());
    }
    let printer = printers::get(tx, job.printer)?;
    let mut told = json!({"printer": printer.map(|printer| printer.is.name)});
    if let Some(reason) = &job.reason {
        told["reason"] = json!(reason);
    }
    let draft = Draft {
        kind: PRINT.name.to_owned(),
        delegates: [Some(DelegateSelector::Id(job.delegate)), None, None],
        devices: [job.place.map(DeviceSelector::Id), None, None],
        data: Some(json!({"Print": told}).to_string()),
        ..Draft::default()
    };
    // Whoever was deleted meanwhile has the badge all the same.
    let recorded = match record::record(tx, ctx, &draft)?.outcome {
        Outcome::Created(interaction) => Some(interaction.id),
        _ => None,
    };
    finish(tx, id, before, State::Sent, None)?;
    tx.prepare_cached("UPDATE print_jobs SET interaction_id = ?2 WHERE id = ?1")?
        .execute((id, recorded))?;
    Ok(())
}

/// Gives a job of a printer that does not work to the one to fall back on, unless that is down as well.
fn fall_back(tx: &Tx<'_>, id: i64) -> Result<()> {
    let job = get(tx, id)?;
    let printer = printers::get(tx, job.printer)?;
    let Some(fallback) = printer.and_then(|printer| printer.is.fallback) else {
        return Ok(());
    };
    let fallback = printers::named(tx, &fallback)?;
    let state = destination::get(tx, &fallback.destination())?;
    if job.state == State::Queued && state.failures < DOWN_AFTER && state.paused.is_none() {
        hand_over(tx, &job, fallback.id)?;
    }
    Ok(())
}

fn hand_over(tx: &Tx<'_>, job: &Job, printer: i64) -> Result<()> {
    pending::remove(tx, &printers::destination(job.printer), of(job.id))?;
    tx.prepare_cached("UPDATE print_jobs SET printer_id = ?2 WHERE id = ?1")?
        .execute((job.id, printer))?;
    queue(tx, printer, job.id)?;
    tx.outdate_caches();
    Ok(())
}

/// A decision of a person about a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// Prints it at this printer, once more where it was before.
    Print(i64),
    /// Takes it out of the queue.
    Cancel,
    /// Records that it was printed: somebody has seen it.
    Printed,
}

/// Does what a person decided.
///
/// # Errors
/// [`Kind::Invalid`] where the state of the job does not allow it (any more).
pub fn decide(tx: &Tx<'_>, ctx: &Context, id: i64, decision: Decision) -> Result<()> {
    let job = get(tx, id)?;
    match (decision, job.state) {
        (Decision::Print(printer), State::Queued) => hand_over(tx, &job, printer),
        (Decision::Print(printer), State::Failed | State::Unknown | State::Sent) => {
            let printer = printers::get(tx, printer)?
                .ok_or_else(|| Error::invalid("there is no such printer any more"))?;
            if job.state == State::Unknown {
                finish(
                    tx,
                    id,
                    State::Unknown,
                    State::Failed,
                    Some(&"printed again".into()),
                )?;
            }
            let again = NewJob {
                delegate: job.delegate,
                place: job.place,
                trigger: None,
                reason: job.reason.or_else(|| Some("printed again".into())),
            };
            add(tx, ctx, &printer, &again).map(drop)
        }
        (Decision::Cancel, State::Queued) => {
            pending::remove_about(tx, of(id))?;
            tx.outdate_caches();
            finish(
                tx,
                id,
                State::Queued,
                State::Failed,
                Some(&"cancelled".into()),
            )
        }
        (Decision::Printed, State::Unknown) => printed(tx, ctx, id, State::Unknown),
        _ => Err(Error::invalid(format!(
            "this job is {} now; look at it again",
            job.state.name()
        ))),
    }
}

/// Ends the attempts of an earlier process: their outcome is unknown. To be called before anything is printed.
pub fn end_interrupted(tx: &Tx<'_>) -> Result<()> {
    let why = "the server ended while it was being sent";
    tx.execute(
        "UPDATE print_jobs SET state = 'unknown', why = ?1, ended_at = ?2 WHERE state = 'sending'",
        (why, tx.now()),
    )?;
    tx.execute(
        "DELETE FROM outbox WHERE source = 'print'
         AND source_id IN (SELECT id FROM print_jobs WHERE state = 'unknown')",
        [],
    )?;
    Ok(())
}
