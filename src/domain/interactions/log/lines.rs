//! Interactions and refusals as lines: what they are of, by name.

use crate::{
    domain::{delegates::NAME as WHO, devices::NAME as PLACE, interactions::everybody_out},
    types::{Timestamp, error::Result},
};
use rusqlite::{Connection, Row};
use std::sync::LazyLock;

/// Which line it is: interactions and refusals are counted each by themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    Interaction(i64),
    Refusal(i64),
}

#[derive(Debug, Clone)]
pub struct Line {
    /// Which it is.
    pub key: Key,
    /// When it came in.
    pub at: Timestamp,
    /// When it happened.
    pub recorded_at: Timestamp,
    /// Its type.
    pub kind: String,
    /// The delegate's name, or the code that was scanned. A refusal without either is of a walk-in.
    pub delegate: String,
    pub delegate_id: Option<i64>,
    /// The second delegate's name.
    pub other: String,
    /// The device's name.
    pub device: String,
    pub device_id: Option<i64>,
    /// Why it was refused, or would have been.
    pub message: Option<String>,
    pub code: Option<i64>,
    /// The code that was scanned, of a refusal.
    pub scanned: String,
    /// Who sent it.
    pub sender: String,
    /// A gate admitted it, and it waits for somebody who has the code.
    pub waits: bool,
}

impl Line {
    /// Whether it was kept out.
    pub fn is_refused(&self) -> bool {
        matches!(self.key, Key::Refusal(_))
    }

    /// The interaction's id.
    pub fn interaction(&self) -> Option<i64> {
        match self.key {
            Key::Interaction(id) => Some(id),
            Key::Refusal(_) => None,
        }
    }

    /// What the line is called on the page.
    pub fn name(&self) -> String {
        match self.key {
            Key::Interaction(id) => format!("i{id}"),
            Key::Refusal(id) => format!("r{id}"),
        }
    }

    /// Whether it happened long before it came in, or, by its clock, after.
    pub fn is_late(&self) -> bool {
        (self.at.0 - self.recorded_at.0).abs() > 60_000
    }

    fn read(row: &Row<'_>, key: fn(i64) -> Key) -> rusqlite::Result<Self> {
        Ok(Self {
            key: key(row.get(0)?),
            at: row.get(1)?,
            recorded_at: row.get(2)?,
            kind: row.get(3)?,
            delegate: row.get(4)?,
            delegate_id: row.get(5)?,
            device: row.get(6)?,
            device_id: row.get(7)?,
            message: row.get(8)?,
            code: row.get(9)?,
            scanned: row.get(10)?,
            sender: row.get(11)?,
            other: row.get(12)?,
            waits: row.get(13)?,
        })
    }
}

/// A client `c` or a user `u`, or the server, of a row with these data.
fn sender_of(row: &str) -> String {
    format!(
        "coalesce(u.email, c.name, iif({row}.data IS '{}', '{}', ''))",
        everybody_out::DATA,
        everybody_out::SENDER
    )
}

/// Interactions by their ids, the newest first.
pub fn interactions(connection: &Connection, ids: &[i64]) -> Result<Vec<Line>> {
    static SQL: LazyLock<String> = LazyLock::new(|| {
        format!(
            "SELECT i.id, i.created_at, i.recorded_at, i.interaction_type, coalesce({WHO}, ''), p.id,
                 coalesce({PLACE}, ''), d.id, q.message, q.code, '', {},
                 trim(coalesce(o.first_name, '') || ' ' || coalesce(o.last_name, '')), FALSE
             FROM json_each(?1) wanted CROSS JOIN interactions i ON i.id = wanted.value
             LEFT JOIN delegates p ON p.id = i.first_delegate_id
             LEFT JOIN delegates o ON o.id = i.second_delegate_id
             LEFT JOIN devices d ON d.id = i.first_device_id
             LEFT JOIN conflicts q ON q.interaction_id = i.id
             LEFT JOIN clients c ON c.id = i.client_id
             LEFT JOIN users u ON u.id = i.user_id
             GROUP BY i.id ORDER BY i.id DESC",
            sender_of("i")
        )
    });
    read(connection, &SQL, ids, Key::Interaction)
}

/// Refusals by their ids, the newest first.
pub fn refusals(connection: &Connection, ids: &[i64]) -> Result<Vec<Line>> {
    static SQL: LazyLock<String> = LazyLock::new(|| {
        format!(
            "SELECT r.id, r.at, r.recorded_at, r.interaction_type, coalesce({WHO}, r.delegate, 'Walk-in'), p.id,
                 coalesce({PLACE}, r.device, ''), d.id, r.message, r.code, coalesce(r.delegate, ''), {}, '', r.admitted
             FROM json_each(?1) wanted CROSS JOIN refusals r ON r.id = wanted.value
             LEFT JOIN delegates p ON p.id = r.delegate_id
             LEFT JOIN devices d ON d.id = r.device_id
             LEFT JOIN clients c ON c.id = r.client_id
             LEFT JOIN users u ON u.id = r.user_id
             ORDER BY r.id DESC",
            sender_of("r")
        )
    });
    read(connection, &SQL, ids, Key::Refusal)
}

fn read(connection: &Connection, sql: &str, ids: &[i64], key: fn(i64) -> Key) -> Result<Vec<Line>> {
    let mut statement = connection.prepare_cached(sql)?;
    let lines = statement.query_map([serde_json::json!(ids).to_string()], |row| {
        Line::read(row, key)
    })?;
    Ok(lines.collect::<rusqlite::Result<_>>()?)
}

/// Interactions that are looked through for those who go in and out.
const NEWEST: i64 = 20_000;

/// Who went in or out last, or was refused: the newest first.
pub fn newest_passages(connection: &Connection, limit: usize) -> Result<Vec<Line>> {
    let sql = format!(
        "SELECT id FROM interactions
         WHERE id > (SELECT coalesce(max(id), 0) - {NEWEST} FROM interactions) AND effect <= 1
         ORDER BY id DESC LIMIT ?1"
    );
    let mut lines = interactions(connection, &ids(connection, &sql, limit)?)?;
    lines.extend(newest_refusals(connection, limit)?);
    lines.sort_by_key(|line| std::cmp::Reverse(line.at));
    lines.truncate(limit);
    Ok(lines)
}

pub fn newest_refusals(connection: &Connection, limit: usize) -> Result<Vec<Line>> {
    let ids = ids(
        connection,
        "SELECT id FROM refusals ORDER BY id DESC LIMIT ?1",
        limit,
    )?;
    refusals(connection, &ids)
}

/// The newest interactions that the rules would have refused.
pub fn newest_conflicts(connection: &Connection, limit: usize) -> Result<Vec<Line>> {
    let ids = ids(
        connection,
        "SELECT interaction_id FROM conflicts ORDER BY id DESC LIMIT ?1",
        limit,
    )?;
    interactions(connection, &ids)
}

fn ids(connection: &Connection, sql: &str, limit: usize) -> Result<Vec<i64>> {
    let mut statement = connection.prepare_cached(sql)?;
    let ids = statement.query_map([limit], |row| row.get(0))?;
    Ok(ids.collect::<rusqlite::Result<_>>()?)
}
