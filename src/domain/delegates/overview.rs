//! Delegates as people look for them: by name, by a code, by relatives, by type.

use super::people::{self, People};
use crate::types::{DelegateCode, Timestamp, error::Result};
use rusqlite::{Connection, OptionalExtension};
use serde_json::json;
use std::collections::HashMap;

/// Relatives of a kind that are named at the most.
const RELATIVES_MAX: i64 = 50;
/// Candidates that words may find.
const CANDIDATES_MAX: usize = 21;

/// A delegate as a line.
#[derive(Debug, Clone)]
pub struct Line {
    /// The delegate.
    pub id: i64,
    /// The name to display.
    pub name: String,
    pub company: Option<String>,
    /// Its e-mail address.
    pub email: Option<String>,
    /// Its type.
    pub kind: Option<String>,
    pub barcode: Option<String>,
    pub job_title: Option<String>,
    pub phone: Option<String>,
    pub external_id: Option<String>,
    /// The level of its gate note.
    pub level: Option<String>,
    pub deleted_at: Option<Timestamp>,
}

/// Delegates as lines, in the order of the ids.
pub fn lines(connection: &Connection, ids: &[i64]) -> Result<Vec<Line>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT p.id, {NAME}, p.company, p.email, p.delegate_type, p.barcode, n.level, p.deleted_at,
             p.job_title, p.phone, p.external_id
         FROM delegates p LEFT JOIN gate_notes n ON n.delegate_id = p.id
         WHERE p.id IN (SELECT value FROM json_each(?1))"
    ))?;
    let lines = statement.query_map([json!(ids).to_string()], |row| {
        Ok(Line {
            id: row.get(0)?,
            name: row.get(1)?,
            company: row.get(2)?,
            email: row.get(3)?,
            kind: row.get(4)?,
            barcode: row.get(5)?,
            level: row.get(6)?,
            deleted_at: row.get(7)?,
            job_title: row.get(8)?,
            phone: row.get(9)?,
            external_id: row.get(10)?,
        })
    })?;
    let mut lines: Vec<Line> = lines.collect::<rusqlite::Result<_>>()?;
    let places: HashMap<i64, usize> = ids.iter().copied().zip(0..).collect();
    lines.sort_by_key(|line| places.get(&line.id));
    Ok(lines)
}

/// The holder of a code.
#[derive(Debug, Clone)]
pub struct Holder {
    /// The delegate.
    pub id: i64,
    /// The name to display.
    pub name: String,
    /// The kind of code.
    pub code: DelegateCode,
}

/// Finds the holder of this code, whichever kind of code it is.
pub fn holder(connection: &Connection, typed: &str) -> Result<Option<Holder>> {
    if typed.is_empty() {
        return Ok(None);
    }
    for code in DelegateCode::ALL {
        let id: Option<i64> = connection
            .prepare_cached(code.find_sql())?
            .query_row([typed], |row| row.get(0))
            .optional()?;
        if let Some(id) = id {
            return Ok(Some(Holder {
                id,
                name: name_of(connection, id)?.unwrap_or_default(),
                code: *code,
            }));
        }
    }
    Ok(None)
}

/// Finds attendees by words, but for one; for choosing somebody.
pub fn candidates(connection: &Connection, words: &str, but: i64) -> Result<Vec<Line>> {
    let mut ids = people::find(connection, &People::new(words), CANDIDATES_MAX)?.ids;
    ids.retain(|id| *id != but);
    lines(connection, &ids)
}

/// The times at which a delegate was created, last changed, and deleted.
pub fn stamps(
    connection: &Connection,
    id: i64,
) -> Result<(Timestamp, Timestamp, Option<Timestamp>)> {
    Ok(connection
        .prepare_cached("SELECT created_at, updated_at, deleted_at FROM delegates WHERE id = ?1")?
        .query_row([id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?)
}

/// Counts the delegates who belong to one.
pub fn count_children(connection: &Connection, id: i64) -> Result<i64> {
    Ok(connection
        .prepare_cached(
            "SELECT count(*) FROM delegates WHERE parent_id = ?1 AND deleted_at IS NULL",
        )?
        .query_row([id], |row| row.get(0))?)
}

/// Lists the delegate whom one belongs to, and the first of those who belong to it: how, id and name.
pub fn relatives(connection: &Connection, id: i64) -> Result<Vec<(&'static str, i64, String)>> {
    let mut relatives = Vec::new();
    // Those that are deleted, too: a merged record can be looked at.
    let above: [Option<i64>; 3] = connection
        .prepare_cached("SELECT parent_id, owner_id, previous_id FROM delegates WHERE id = ?1")?
        .query_row([id], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?]))?;
    for (how, other) in ["parent", "owner", "previous"].into_iter().zip(above) {
        if let Some(other) = other
            && let Some(name) = name_of(connection, other)?
        {
            relatives.push((how, other, name));
        }
    }
    for (how, column) in [
        ("Has", "parent_id"),
        ("Owns", "owner_id"),
        ("Replaced by", "previous_id"),
    ] {
        let mut statement = connection.prepare_cached(&format!(
            "SELECT p.id, {NAME} FROM delegates p WHERE p.{column} = ?1 AND p.deleted_at IS NULL
             ORDER BY p.id LIMIT ?2"
        ))?;
        let mut rows = statement.query([id, RELATIVES_MAX])?;
        while let Some(row) = rows.next()? {
            relatives.push((how, row.get(0)?, row.get(1)?));
        }
    }
    Ok(relatives)
}

/// The name of a delegate `p`, in SQL: first and last, otherwise what else is known; NULL where an outer
/// join found none.
pub const NAME: &str =
    "coalesce(nullif(trim(coalesce(p.first_name, '') || ' ' || coalesce(p.last_name, '')), ''),
    p.email, p.barcode, p.external_id, p.company, 'No. ' || p.id)";

/// The name of a delegate, deleted or not; `None` where it is gone.
pub fn name_of(connection: &Connection, id: i64) -> Result<Option<String>> {
    Ok(connection
        .prepare_cached(&format!("SELECT {NAME} FROM delegates p WHERE p.id = ?1"))?
        .query_row([id], |row| row.get(0))
        .optional()?)
}

/// The type of an attendee, if they have one.
pub fn type_of(
    connection: &Connection,
    delegate: crate::types::DelegateId,
) -> Result<Option<String>> {
    Ok(connection
        .prepare_cached("SELECT delegate_type FROM delegates WHERE id = ?1")?
        .query_row([delegate], |row| row.get(0))?)
}
