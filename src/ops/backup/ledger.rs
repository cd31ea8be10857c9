//! Which backups were made, and how that went: the table `backups`.

use super::Backup;
use crate::{
    core::{Context, audit},
    db::Tx,
    types::{
        Timestamp,
        error::{Error, Kind, Result},
    },
};
use rusqlite::{Connection, Params, Row, params};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Failures that are kept to be shown.
const FAILURES_MAX: i64 = 20;

/// The purpose of a backup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Somebody asked for it.
    Manual,
    /// The plan.
    Scheduled,
    /// The rehearsal: there is a way back to it.
    Rehearsal,
}

impl Purpose {
    /// As it is stored.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Manual => "manual",
            Self::Scheduled => "scheduled",
            Self::Rehearsal => "rehearsal",
        }
    }

    fn parse(name: &str) -> Self {
        match name {
            "scheduled" => Self::Scheduled,
            "rehearsal" => Self::Rehearsal,
            _ => Self::Manual,
        }
    }
}

/// A backup, as it is written down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub id: i64,
    pub purpose: Purpose,
    pub path: PathBuf,
    pub started_at: Timestamp,
    /// The time when it ended, in success or failure; `None` while it is being made.
    pub finished_at: Option<Timestamp>,
    /// Its size, where it is sound.
    pub bytes: Option<u64>,
    /// The reason why there is none.
    pub failure: Option<String>,
    /// The time when it was last checked in full.
    pub checked_at: Option<Timestamp>,
    /// The reason why that check failed.
    pub check_failure: Option<String>,
}

impl Entry {
    /// Returns whether it is there and was found sound.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.finished_at.is_some() && self.failure.is_none()
    }

    /// The file's name.
    #[must_use]
    pub fn file_name(&self) -> String {
        let name = self.path.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: row.get(0)?,
            purpose: Purpose::parse(&row.get::<_, String>(1)?),
            path: PathBuf::from(row.get::<_, String>(2)?),
            started_at: row.get(3)?,
            finished_at: row.get(4)?,
            bytes: row.get(5)?,
            failure: row.get(6)?,
            checked_at: row.get(7)?,
            check_failure: row.get(8)?,
        })
    }
}

const SOUND: &str = "finished_at IS NOT NULL AND failure IS NULL";

/// Backups of a condition, in an order. The newest are those of the highest ids: the clock may have
/// jumped between two.
fn select(connection: &Connection, end: &str, parameters: impl Params) -> Result<Vec<Entry>> {
    let sql = format!(
        "SELECT id, kind, path, started_at, finished_at, bytes, failure, checked_at, check_failure
         FROM backups WHERE {end}"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let entries = statement.query_map(parameters, Entry::read)?;
    Ok(entries.collect::<rusqlite::Result<_>>()?)
}

/// The newest backups, the newest first.
pub fn newest(connection: &Connection, limit: i64) -> Result<Vec<Entry>> {
    select(connection, "TRUE ORDER BY id DESC LIMIT ?1", [limit])
}

/// A backup.
///
/// # Errors
/// [`Kind::NoSuchPath`] where there is none of this id.
pub fn find(connection: &Connection, id: i64) -> Result<Entry> {
    let missing = || Error::new(Kind::NoSuchPath, "this backup is not listed any more");
    let found = select(connection, "id = ?1", [id])?.pop();
    found.ok_or_else(missing)
}

/// The newest backup of a purpose, however it went.
pub fn last(connection: &Connection, purpose: Purpose) -> Result<Option<Entry>> {
    let end = "kind = ?1 ORDER BY id DESC LIMIT 1";
    Ok(select(connection, end, [purpose.name()])?.pop())
}

/// The newest snapshot for a rehearsal that is sound.
pub fn snapshot(connection: &Connection) -> Result<Option<Entry>> {
    let end = format!("kind = 'rehearsal' AND {SOUND} ORDER BY id DESC LIMIT 1");
    Ok(select(connection, &end, [])?.pop())
}

/// Backups of the plan that are sound, the newest first, in a folder.
pub fn of_plan(connection: &Connection, folder: &Path) -> Result<Vec<Entry>> {
    let end = format!("kind = 'scheduled' AND {SOUND} ORDER BY id DESC");
    let mut entries = select(connection, &end, [])?;
    entries.retain(|entry| entry.path.parent() == Some(folder));
    Ok(entries)
}

/// Backups that were begun and have no end yet.
pub fn unfinished(connection: &Connection) -> Result<Vec<Entry>> {
    select(connection, "finished_at IS NULL ORDER BY id", [])
}

/// Writes down that a backup is begun; its id.
pub fn begin(tx: &Tx<'_>, purpose: Purpose, path: &Path, at: Timestamp) -> Result<i64> {
    tx.execute(
        "INSERT INTO backups (kind, path, started_at) VALUES (?1, ?2, ?3)",
        params![purpose.name(), path.to_string_lossy(), at],
    )?;
    Ok(tx.last_insert_rowid())
}

/// Writes down that a backup is made and sound.
pub fn done(tx: &Tx<'_>, ctx: &Context, id: i64, made: &Backup, at: Timestamp) -> Result<()> {
    tx.execute(
        "UPDATE backups SET finished_at = ?2, bytes = ?3, failure = NULL WHERE id = ?1",
        params![id, at, made.bytes],
    )?;
    super::record(tx, ctx, made)
}

/// Writes down that there is no backup, and why. The same failure of the plan again and again, such
/// as a stick that is not there, is one line.
pub fn failed(tx: &Tx<'_>, id: i64, why: &str, at: Timestamp) -> Result<()> {
    tx.execute(
        "UPDATE backups SET finished_at = ?2, failure = ?3 WHERE id = ?1",
        params![id, at, why],
    )?;
    tx.execute(
        "DELETE FROM backups WHERE kind = 'scheduled' AND failure = ?2
         AND id = (SELECT max(id) FROM backups WHERE kind = 'scheduled' AND id < ?1)",
        params![id, why],
    )?;
    tx.execute(
        "DELETE FROM backups WHERE failure IS NOT NULL AND id NOT IN
             (SELECT id FROM backups WHERE failure IS NOT NULL ORDER BY id DESC LIMIT ?1)",
        [FAILURES_MAX],
    )?;
    Ok(())
}

/// Writes down that a backup was read in full, and what was wrong with it.
pub fn checked(tx: &Tx<'_>, id: i64, failure: Option<&str>) -> Result<()> {
    tx.execute(
        "UPDATE backups SET checked_at = ?2, check_failure = ?3 WHERE id = ?1",
        params![id, tx.now(), failure],
    )?;
    Ok(())
}

/// Takes a backup off the list.
pub fn forget(tx: &Tx<'_>, ctx: &Context, entry: &Entry) -> Result<()> {
    let gone = tx.execute("DELETE FROM backups WHERE id = ?1", [entry.id])?;
    if gone == 0 {
        return Ok(());
    }
    let change = audit::Change {
        action: "delete",
        record_type: "backup",
        record_id: None,
        before: Some(json!({"file": entry.path.to_string_lossy(), "bytes": entry.bytes})),
        after: None,
    };
    audit::append(tx, ctx, &change)
}

/// Returns when the last backup was made, as far as the file knows.
pub fn last_made(connection: &Connection) -> Result<Option<Timestamp>> {
    Ok(connection
        .prepare_cached("SELECT max(at) FROM audit WHERE record_type = 'backup'")?
        .query_row([], |row| row.get(0))?)
}
