//! The record of an import in the file: a batch, so that it can be completed, taken back, and
//! searched by.

use super::{
    super::bulk::Action,
    Mapping, Plan, What,
    choice::{HiddenRows, Numbers},
    dates::Order,
    mapping::Constant,
    source::{Fingerprint, Reading},
    status::StatusRule,
};
use crate::{
    core::{
        Context,
        audit::{self, Change},
    },
    db::Tx,
    types::{
        DelegateId, DeviceId, Timestamp, Zone,
        error::{Error, Result},
    },
};
use rusqlite::{Connection, OptionalExtension, Row};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The options of an import, as resuming it needs them.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Options {
    /// The path of the file.
    pub path: String,
    /// The sheet of a spreadsheet.
    pub sheet: Option<String>,
    /// Columns that were mapped by hand: header and property.
    pub map: Vec<Mapping>,
    /// The code by which rows mean records.
    pub key: Option<String>,
    /// The device that delegates are joined with.
    pub join: Option<i64>,
    /// Bad rows are left out.
    pub skip_bad: bool,
    /// Delegates without a barcode are given one.
    pub make_codes: bool,
    /// The encoding of a CSV file, where it was named and not recognised.
    pub encoding: Option<String>,
    /// The line of the header, where it was named and not found.
    pub header_row: Option<u64>,
    /// Values of rows that have none of their own.
    pub set: Vec<Constant>,
    /// The order of day, month and year.
    pub dates: Option<Order>,
    /// The text of numbers that are shown with zeros in front.
    pub numbers: Option<Numbers>,
    /// The treatment of rows that a filter hides.
    pub hidden_rows: Option<HiddenRows>,
    /// The treatment of tickets that are not good any more, by the columns that say it.
    pub status: Vec<StatusRule>,
    /// What was done to many attendees at once, where it is no import.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<Action>,
    /// The newest message before the first of a list's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after_message: Option<i64>,
}

impl Options {
    /// Returns how the file is read.
    #[must_use]
    pub fn reading(&self) -> Reading<'_> {
        Reading {
            sheet: self.sheet.as_deref(),
            encoding: self.encoding.as_deref(),
            header_row: self.header_row,
        }
    }
}

#[derive(Debug, Clone)]
pub struct Batch {
    pub id: i64,
    pub what: What,
    /// The device that it was made for.
    pub device: Option<DeviceId>,
    pub file_name: String,
    pub sha256: [u8; 32],
    /// The options that it was started with.
    pub options: Options,
    /// Rows in the file.
    pub total: u64,
    /// Rows that are done.
    pub done: u64,
    /// The user or client who began it, as the audit names them.
    pub actor: String,
    pub created_at: Timestamp,
    /// The time when it was complete.
    pub finished_at: Option<Timestamp>,
    /// The time when taking it back was begun.
    pub undone_at: Option<Timestamp>,
    /// Set while records that it created or changed are left.
    pub has_rows: bool,
}

const COLUMNS: &str = "id, kind, device_id, file_name, file_sha256, options, total, done, \
    created_at, finished_at, undone_at, actor,
    EXISTS (SELECT 1 FROM batch_rows WHERE batch_id = batches.id)";

impl Batch {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let kind: String = row.get(1)?;
        let options: String = row.get(5)?;
        let what = What::ALL.into_iter().find(|what| what.name() == kind);
        Ok(Self {
            id: row.get(0)?,
            what: what.unwrap_or(What::Delegates),
            device: row.get(2)?,
            file_name: row.get(3)?,
            sha256: row.get(4)?,
            options: serde_json::from_str(&options).unwrap_or_default(),
            total: row.get(6)?,
            done: row.get(7)?,
            created_at: row.get(8)?,
            finished_at: row.get(9)?,
            undone_at: row.get(10)?,
            actor: row.get(11)?,
            has_rows: row.get(12)?,
        })
    }

    /// Tells whether it sends messages, which nothing takes back.
    #[must_use]
    pub fn is_message(&self) -> bool {
        matches!(self.options.action, Some(Action::Message(_)))
    }

    /// Its state, unless it is being worked on.
    #[must_use]
    pub fn state(&self) -> State {
        match (self.undone_at, self.finished_at) {
            (Some(_), _) if self.has_rows => State::PartlyTakenBack,
            (Some(_), _) => State::TakenBack,
            (None, Some(_)) => State::Complete,
            (None, None) => State::Interrupted,
        }
    }

    /// Returns it as JSON for `--json`.
    #[must_use]
    pub fn to_json(&self, zone: &Zone) -> serde_json::Value {
        json!({
            "id": self.id,
            "what": self.what.name(),
            "file": self.file_name,
            "device": self.device.map(|device| device.0),
            "rows": self.total,
            "done": self.done,
            "state": self.state().name(),
            "createdAt": zone.iso(self.created_at),
        })
    }
}

/// The state of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Rows are being written.
    Running,
    Complete,
    /// Ended before its last row.
    Interrupted,
    /// Being taken back.
    BeingTakenBack,
    /// All of it was undone.
    TakenBack,
    /// Some of it could not be taken back.
    PartlyTakenBack,
}

impl State {
    /// Its name for operators.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Complete => "complete",
            Self::Interrupted => "interrupted",
            Self::BeingTakenBack => "being taken back",
            Self::TakenBack => "taken back",
            Self::PartlyTakenBack => "taken back in part",
        }
    }
}

/// The batch of an id.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`] when there is none.
pub fn find(connection: &Connection, id: i64) -> Result<Batch> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM batches WHERE id = ?1"))?
        .query_row([id], Batch::read)
        .optional()?
        .ok_or_else(|| Error::invalid(format!("there is no import {id}")))
}

/// The newest imports before one (before `i64::MAX`: of all), the newest first.
pub fn older(connection: &Connection, than: i64, most: u32) -> Result<Vec<Batch>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM batches WHERE id < ?1 ORDER BY id DESC LIMIT ?2"
    ))?;
    let batches = statement.query_map(rusqlite::params![than, most], Batch::read)?;
    Ok(batches.collect::<rusqlite::Result<_>>()?)
}

/// The newest import of the same list that was not taken back.
pub fn of_list(connection: &Connection, what: What, list: &Fingerprint) -> Result<Option<Batch>> {
    Ok(connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM batches
             WHERE kind = ?1 AND file_sha256 = ?2 AND coalesce(options ->> 'sheet', ?3) IS ?4
             AND undone_at IS NULL ORDER BY id DESC"
        ))?
        .query_row(
            rusqlite::params![what.name(), list.sha256, list.first_sheet, list.sheet],
            Batch::read,
        )
        .optional()?)
}

/// Counts the rows of a batch that became something that is still there.
pub fn rows_left(connection: &Connection, id: i64) -> Result<u64> {
    Ok(connection
        .prepare_cached("SELECT count(*) FROM batch_rows WHERE batch_id = ?1")?
        .query_row([id], |row| row.get(0))?)
}

/// Records that the rows of a batch became, those of the last rows first.
pub fn records(connection: &Connection, id: i64, most: u32) -> Result<Vec<i64>> {
    let mut statement = connection.prepare_cached(
        "SELECT record_id FROM batch_rows WHERE batch_id = ?1 ORDER BY line DESC LIMIT ?2",
    )?;
    let ids = statement.query_map(rusqlite::params![id, most], |row| row.get(0))?;
    Ok(ids.collect::<rusqlite::Result<_>>()?)
}

/// Begins a batch of so many rows: its id.
pub fn begin(tx: &Tx<'_>, plan: &Plan, list: &Fingerprint, rows: u64) -> Result<i64> {
    let what = plan.what.name();
    let options = &plan.options;
    let id = insert(tx, &plan.ctx, (what, plan.device), list, options, rows)?;
    let after = json!({"what": what, "file": list.name, "rows": rows});
    audit_change(tx, &plan.ctx, id, "create", after)?;
    Ok(id)
}

/// Begins a batch of something that is done to so many attendees at once: its id.
pub(in crate::ops) fn begin_action(
    tx: &Tx<'_>,
    ctx: &Context,
    (what, name): (What, &str),
    options: &Options,
    attendees: usize,
) -> Result<i64> {
    let list = Fingerprint {
        name: name.to_owned(),
        ..Fingerprint::default()
    };
    let attendees = u64::try_from(attendees).map_err(Error::defect)?;
    let id = insert(tx, ctx, (what.name(), None), &list, options, attendees)?;
    let after = json!({"action": name, "attendees": attendees});
    audit_change(tx, ctx, id, "create", after)?;
    Ok(id)
}

fn insert(
    tx: &Tx<'_>,
    ctx: &Context,
    (what, device): (&str, Option<DeviceId>),
    list: &Fingerprint,
    options: &Options,
    rows: u64,
) -> Result<i64> {
    tx.execute(
        "INSERT INTO batches (kind, device_id, file_name, file_sha256, options, total, actor, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        rusqlite::params![
            what,
            device,
            list.name,
            list.sha256,
            serde_json::to_string(options).map_err(Error::defect)?,
            rows,
            ctx.actor,
            tx.now()
        ],
    )?;
    Ok(tx.last_insert_rowid())
}

/// Writes into the audit what happened to a batch.
pub(in crate::ops) fn audit_change(
    tx: &Tx<'_>,
    ctx: &Context,
    id: i64,
    action: &'static str,
    after: serde_json::Value,
) -> Result<()> {
    audit::append(
        tx,
        ctx,
        &Change {
            action,
            record_type: "batch",
            record_id: Some(id),
            before: None,
            after: Some(after),
        },
    )
}

/// Checks, before a slice is written, that nobody else continued or undid the import.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`] when another command undoes or continues it.
pub(in crate::ops) fn take_up(tx: &Tx<'_>, id: i64, done: u64) -> Result<()> {
    let (is_undone, at): (bool, u64) = tx
        .prepare_cached("SELECT undone_at IS NOT NULL, done FROM batches WHERE id = ?1")?
        .query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))?;
    if is_undone {
        return Err(Error::invalid("it is being taken back"));
    }
    if at != done {
        return Err(Error::invalid("another command goes on with it"));
    }
    Ok(())
}

/// Stores how many rows are done, in the transaction that wrote them.
pub(in crate::ops) fn advance(tx: &Tx<'_>, id: i64, done: u64, finished: bool) -> Result<()> {
    let at = finished.then(|| tx.now());
    tx.prepare_cached("UPDATE batches SET done = ?2, finished_at = ?3 WHERE id = ?1")?
        .execute(rusqlite::params![id, done, at])?;
    Ok(())
}

/// Keeps that an attendee was refused in something done to many.
pub(in crate::ops) fn keep_refusal(
    tx: &Tx<'_>,
    id: i64,
    attendee: DelegateId,
    reason: &str,
) -> Result<()> {
    tx.prepare_cached(
        "INSERT INTO batch_refusals (batch_id, line, delegate_id, reason)
         SELECT ?1, coalesce(max(line), 0) + 1, ?2, ?3 FROM batch_refusals WHERE batch_id = ?1",
    )?
    .execute(rusqlite::params![id, attendee.0, reason])?;
    Ok(())
}

/// The attendees who were refused in something done to many, as far as they are kept, with the reasons.
pub fn refusals(connection: &Connection, id: i64) -> Result<Vec<(DelegateId, String)>> {
    let mut statement = connection.prepare_cached(
        "SELECT delegate_id, reason FROM batch_refusals WHERE batch_id = ?1 ORDER BY line",
    )?;
    let refusals = statement.query_map([id], |row| Ok((DelegateId(row.get(0)?), row.get(1)?)))?;
    Ok(refusals.collect::<rusqlite::Result<_>>()?)
}
