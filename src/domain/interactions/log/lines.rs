//! Interactions and refusals as lines: what they are of, by name.

use super::heads::Key;
use crate::{
    core::audit,
    domain::{
        delegates::NAME as WHO,
        devices::NAME as PLACE,
        interactions::{
            everybody_out, types,
            undo::{Caller, Page, Recorded, may_undo},
        },
    },
    types::{Timestamp, Zone, error::Result},
};
use rusqlite::{Connection, Row};
use serde_json::Value;
use std::sync::LazyLock;

#[derive(Debug, Clone)]
pub struct Line {
    pub key: Key,
    /// The time of arrival.
    pub at: Timestamp,
    /// The time of the interaction.
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
    /// The reason why it was refused, or would have been.
    pub message: Option<String>,
    /// The reason that was given for an admission against the rules.
    pub reason: Option<String>,
    pub code: Option<i64>,
    /// The code that was scanned, of a refusal.
    pub scanned: String,
    /// The sender.
    pub sender: String,
    /// A gate admitted it, and it waits for somebody who has the code.
    pub waits: bool,
    /// The user who sent it.
    user: Option<i64>,
    /// A gate had let the person in before it asked.
    admitted: bool,
    /// The person who took it back, and when; what it was stands in the rest.
    pub undone: Option<(String, Timestamp)>,
    /// The interaction that was taken back.
    taken_back: Option<i64>,
    /// Set where the viewer may take it back.
    pub can_undo: bool,
}

impl Line {
    /// Tells if it was kept out.
    pub fn is_refused(&self) -> bool {
        matches!(self.key, Key::Refusal(_))
    }

    /// The interaction's id.
    pub fn interaction(&self) -> Option<i64> {
        match self.key {
            Key::Interaction(id) => Some(id),
            _ => None,
        }
    }

    /// The interaction that was taken back.
    pub fn taken_back(&self) -> Option<i64> {
        self.taken_back
    }

    /// The name of the line on the page.
    pub fn name(&self) -> String {
        match self.key {
            Key::Interaction(id) => format!("i{id}"),
            Key::Refusal(id) => format!("r{id}"),
            Key::Undone(id) => format!("u{id}"),
            Key::Import(id) => format!("b{id}"),
        }
    }

    /// The verb for what the first delegate did, and the word before the place.
    pub fn told(&self) -> (&str, &'static str) {
        types::find(&self.kind).map_or((&self.kind, "at"), |known| known.told)
    }

    /// Tells if it happened long before it came in, or, by its clock, after.
    pub fn is_late(&self) -> bool {
        self.undone.is_none() && (self.at.0 - self.recorded_at.0).abs() > 60_000
    }

    /// The time that the list shows: when it happened, or when it was taken back.
    pub fn shown_at(&self) -> &Timestamp {
        self.undone.as_ref().map_or(&self.recorded_at, |(_, at)| at)
    }

    /// Notes if somebody may take it back.
    pub fn offer_undo(&mut self, caller: Caller, now: Timestamp) {
        let recorded = Recorded {
            kind: self.kind.clone(),
            user: self.user,
            admitted: self.admitted,
            created_at: self.at,
        };
        self.can_undo =
            self.interaction().is_some() && may_undo(caller, Page::Activity, &recorded, now);
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
            user: row.get(14)?,
            admitted: row.get(15)?,
            reason: row.get(16)?,
            undone: None,
            taken_back: None,
            can_undo: false,
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
                 trim(coalesce(o.first_name, '') || ' ' || coalesce(o.last_name, '')), FALSE, i.user_id, i.admitted,
                 iif(i.interaction_type = '{}' AND json_valid(i.data), i.data ->> '$.reason', NULL)
             FROM json_each(?1) wanted CROSS JOIN interactions i ON i.id = wanted.value
             LEFT JOIN delegates p ON p.id = i.first_delegate_id
             LEFT JOIN delegates o ON o.id = i.second_delegate_id
             LEFT JOIN devices d ON d.id = i.first_device_id
             LEFT JOIN conflicts q ON q.interaction_id = i.id
             LEFT JOIN clients c ON c.id = i.client_id
             LEFT JOIN users u ON u.id = i.user_id
             GROUP BY i.id ORDER BY i.id DESC",
            sender_of("i"),
            types::OVERRIDE.name
        )
    });
    read(connection, &SQL, ids, Key::Interaction)
}

/// Refusals by their ids, the newest first.
pub fn refusals(connection: &Connection, ids: &[i64]) -> Result<Vec<Line>> {
    static SQL: LazyLock<String> = LazyLock::new(|| {
        format!(
            "SELECT r.id, r.at, r.recorded_at, r.interaction_type, coalesce({WHO}, substr(r.delegate, instr(r.delegate, ':') + 1), 'Walk-in'), p.id,
                 coalesce({PLACE}, r.device, ''), d.id, r.message, r.code, coalesce(r.delegate, ''), {}, '', r.admitted,
                 r.user_id, r.admitted, NULL
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

/// Interactions that were taken back, by the numbers of those changes, the newest first.
pub fn undone(connection: &Connection, ids: &[i64], zone: &Zone) -> Result<Vec<Line>> {
    static SQL: LazyLock<String> = LazyLock::new(|| {
        format!(
            "SELECT a.id, a.at, a.before ->> '$.recordedAt', coalesce(a.before ->> '$.interactionType', ''),
                 coalesce({WHO}, ''), p.id, coalesce({PLACE}, ''), d.id,
                 trim(coalesce(o.first_name, '') || ' ' || coalesce(o.last_name, '')), a.actor,
                 coalesce(u.email, c.name, ''), a.record_id
             FROM json_each(?1) wanted CROSS JOIN audit a ON a.id = wanted.value
             LEFT JOIN delegates p ON p.id = a.before ->> '$.firstDelegate.id'
             LEFT JOIN delegates o ON o.id = a.before ->> '$.secondDelegate.id'
             LEFT JOIN devices d ON d.id = a.before ->> '$.firstDevice.id'
             LEFT JOIN users u ON u.id = a.before ->> '$.origin.user'
             LEFT JOIN clients c ON c.id = a.before ->> '$.origin.client'
             ORDER BY a.id DESC"
        )
    });
    let mut statement = connection.prepare_cached(&SQL)?;
    let mut rows = statement.query([serde_json::json!(ids).to_string()])?;
    let mut lines = Vec::new();
    while let Some(row) = rows.next()? {
        let at = row.get(1)?;
        let recorded_at: Option<String> = row.get(2)?;
        let recorded_at = recorded_at.and_then(|text| zone.read("", &Value::String(text)).ok());
        let actor: String = row.get(9)?;
        lines.push(Line {
            key: Key::Undone(row.get(0)?),
            at,
            recorded_at: recorded_at.unwrap_or(at),
            kind: row.get(3)?,
            delegate: row.get(4)?,
            delegate_id: row.get(5)?,
            other: row.get(8)?,
            device: row.get(6)?,
            device_id: row.get(7)?,
            message: None,
            reason: None,
            code: None,
            scanned: String::new(),
            sender: row.get(10)?,
            waits: false,
            user: None,
            admitted: false,
            undone: Some((audit::actor_name(connection, &actor)?, at)),
            taken_back: row.get(11)?,
            can_undo: false,
        });
    }
    Ok(lines)
}

/// Returns how an interaction was taken back; none where it was not.
pub fn undone_of(connection: &Connection, interaction: i64, zone: &Zone) -> Result<Option<Line>> {
    let change: Option<i64> = connection
        .prepare_cached(
            "SELECT max(id) FROM audit WHERE record_type = 'interaction' AND record_id = ?1 AND action = 'delete'",
        )?
        .query_row([interaction], |row| row.get(0))?;
    let Some(change) = change else {
        return Ok(None);
    };
    Ok(undone(connection, &[change], zone)?.pop())
}

/// Lists what a delegate did that was taken back, the newest first.
pub fn undone_by_delegate(
    connection: &Connection,
    delegate: i64,
    limit: usize,
    zone: &Zone,
) -> Result<Vec<Line>> {
    let mut statement = connection.prepare_cached(
        "SELECT id FROM audit INDEXED BY audit_undone_delegate
         WHERE action = 'delete' AND record_type = 'interaction' AND json_extract(before, '$.firstDelegate.id') = ?1
         ORDER BY id DESC LIMIT ?2",
    )?;
    let ids = statement.query_map((delegate, limit), |row| row.get(0))?;
    let ids = ids.collect::<rusqlite::Result<Vec<_>>>()?;
    undone(connection, &ids, zone)
}

/// An import, as one.
#[derive(Debug, Clone)]
pub struct Import {
    pub id: i64,
    pub file: String,
    /// The kind of its rows: `delegates`, `devices` or `interactions`.
    pub kind: String,
    pub rows: i64,
    pub by: String,
    pub at: Timestamp,
    pub undone: bool,
    /// Something that was done to many attendees; its name stands in place of the file.
    pub is_action: bool,
}

/// Imports by their ids.
pub fn imports(connection: &Connection, ids: &[i64]) -> Result<Vec<Import>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, file_name, kind, done, actor, created_at, undone_at IS NOT NULL,
             options ->> '$.action' IS NOT NULL FROM batches
         WHERE id IN (SELECT value FROM json_each(?1))",
    )?;
    let mut rows = statement.query([serde_json::json!(ids).to_string()])?;
    let mut imports = Vec::new();
    while let Some(row) = rows.next()? {
        let actor: String = row.get(4)?;
        imports.push(Import {
            id: row.get(0)?,
            file: row.get(1)?,
            kind: row.get(2)?,
            rows: row.get(3)?,
            by: audit::actor_name(connection, &actor)?,
            at: row.get(5)?,
            undone: row.get(6)?,
            is_action: row.get(7)?,
        });
    }
    Ok(imports)
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

/// Lists who went in or out last, or was refused: the newest first.
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
