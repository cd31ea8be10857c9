//! The desk's own view of what happened: the newest passages that one user recorded, refusals and undone ones
//! among them.

use super::types::{CHECK_IN, CHECK_OUT, OVERRIDE};
use crate::{
    core::audit,
    domain::{delegates, devices::NAME},
    types::{
        Timestamp, UserId,
        error::{Kind, Result},
    },
};
use rusqlite::{Connection, Row, params};
use std::cmp::Reverse;

/// A passage at the desk.
#[derive(Debug, Clone)]
pub struct DeskRow {
    pub at: Timestamp,
    /// The attendee, where one was found.
    pub delegate: Option<i64>,
    /// The attendee's name, or the code as it was scanned.
    pub name: String,
    /// The attendee's type; empty without one.
    pub delegate_type: String,
    pub place: String,
    pub result: DeskResult,
}

impl DeskRow {
    /// Reads the first five columns of each of the lists here.
    fn read(row: &Row<'_>, result: DeskResult) -> rusqlite::Result<Self> {
        Ok(Self {
            at: row.get(0)?,
            delegate: row.get(1)?,
            name: row.get(2)?,
            delegate_type: row.get(3)?,
            place: row.get(4)?,
            result,
        })
    }
}

/// The outcome of a passage at the desk.
#[derive(Debug, Clone)]
pub enum DeskResult {
    /// Recorded, with the interaction that an undo takes back.
    Recorded { interaction: i64, kind: String },
    /// Refused, with the reason.
    Refused(String),
    /// Let in with a code that nobody has yet.
    Waiting,
    /// Recorded, and taken back since, by whom.
    Undone { by: String },
}

/// The newest passages that a user recorded since a moment, the newest first.
pub fn recent(
    connection: &Connection,
    user: UserId,
    since: Timestamp,
    limit: usize,
) -> Result<Vec<DeskRow>> {
    let mut rows = recorded(connection, user, since, limit)?;
    rows.extend(refused(connection, user, since, limit)?);
    rows.extend(undone(connection, user, since, limit)?);
    rows.sort_by_key(|row| Reverse(row.at));
    rows.truncate(limit);
    Ok(rows)
}

fn recorded(
    connection: &Connection,
    user: UserId,
    since: Timestamp,
    limit: usize,
) -> Result<Vec<DeskRow>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT i.created_at, p.id, {}, coalesce(p.delegate_type, ''), coalesce({NAME}, ''), i.id, i.interaction_type
         FROM interactions i INDEXED BY interactions_user
         JOIN delegates p ON p.id = i.first_delegate_id LEFT JOIN devices d ON d.id = i.first_device_id
         WHERE i.user_id = ?1 AND i.admitted = 0 AND i.created_at >= ?2 AND i.interaction_type IN (?4, ?5, ?6)
         ORDER BY i.id DESC LIMIT ?3",
        delegates::NAME
    ))?;
    let kinds = [CHECK_IN.name, CHECK_OUT.name, OVERRIDE.name];
    let rows = statement.query_map(
        params![user, since, limit, kinds[0], kinds[1], kinds[2]],
        |row| {
            let result = DeskResult::Recorded {
                interaction: row.get(5)?,
                kind: row.get(6)?,
            };
            DeskRow::read(row, result)
        },
    )?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn refused(
    connection: &Connection,
    user: UserId,
    since: Timestamp,
    limit: usize,
) -> Result<Vec<DeskRow>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT r.at, p.id, coalesce({}, substr(r.delegate, instr(r.delegate, ':') + 1), ''),
             coalesce(p.delegate_type, ''), coalesce({NAME}, ''), r.message, r.admitted,
             r.code = ?4 AND NOT EXISTS (SELECT 1 FROM blocked_codes b
                 WHERE b.value = substr(r.delegate, instr(r.delegate, ':') + 1))
         FROM refusals r INDEXED BY refusals_user
         LEFT JOIN delegates p ON p.id = r.delegate_id LEFT JOIN devices d ON d.id = r.device_id
         WHERE r.user_id = ?1 AND r.at >= ?2 ORDER BY r.id DESC LIMIT ?3",
        delegates::NAME
    ))?;
    let unknown = Kind::DelegateNotFound.code();
    let rows = statement.query_map(params![user, since, limit, unknown], |row| {
        let result = if row.get(6)? {
            DeskResult::Waiting
        } else if row.get(7)? {
            // The code itself stands in place of the name.
            DeskResult::Refused("unknown code".to_owned())
        } else {
            DeskResult::Refused(row.get(5)?)
        };
        DeskRow::read(row, result)
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn undone(
    connection: &Connection,
    user: UserId,
    since: Timestamp,
    limit: usize,
) -> Result<Vec<DeskRow>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT a.at, p.id, {}, coalesce(p.delegate_type, ''), coalesce({NAME}, ''), a.actor
         FROM audit a INDEXED BY audit_undone
         JOIN delegates p ON p.id = json_extract(a.before, '$.firstDelegate.id')
         LEFT JOIN devices d ON d.id = json_extract(a.before, '$.firstDevice.id')
         WHERE a.action = 'delete' AND a.record_type = 'interaction'
             AND json_extract(a.before, '$.origin.user') = ?1 AND a.at >= ?2
             AND json_extract(a.before, '$.interactionType') <> 'join'
         ORDER BY a.id DESC LIMIT ?3",
        delegates::NAME
    ))?;
    let rows = statement.query_map(params![user, since, limit], |row| {
        let undone = DeskResult::Undone { by: row.get(5)? };
        DeskRow::read(row, undone)
    })?;
    let mut rows = rows.collect::<rusqlite::Result<Vec<_>>>()?;
    for row in &mut rows {
        if let DeskResult::Undone { by } = &mut row.result {
            *by = audit::actor_name(connection, by)?;
        }
    }
    Ok(rows)
}
