//! Checks whether a copy is a whole file of ours, and tells what is in it. Looks at the copy alone, never at the
//! original.

use super::{folder, refused};
use crate::{
    core::settings,
    db::{APPLICATION_ID, connection, in_transaction, integrity, migrate, open, usage},
    ops::background::Background,
    types::{
        Timestamp,
        error::{Error, Kind, Result},
    },
};
use rusqlite::Connection;
use std::{
    fs::File,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

/// Steps of SQLite's machine between two looks whether to give up.
const STEPS: i32 = 10_000;

/// Brings what stands in the log of a copy into the copy, checks all of it, and makes it durable;
/// its size in bytes.
pub fn verify(copy: &Path, version: i64, background: &Background) -> Result<u64> {
    background.run_long(|give_up| {
        let given_up = Arc::new(AtomicBool::new(false));
        let verified = verify_once(copy, version, {
            let given_up = Arc::clone(&given_up);
            move || {
                given_up.fetch_or(give_up(), Relaxed);
                given_up.load(Relaxed)
            }
        });
        (!given_up.load(Relaxed)).then_some(verified)
    })
}

fn verify_once(
    copy: &Path,
    version: i64,
    give_up: impl FnMut() -> bool + Send + 'static,
) -> Result<u64> {
    let connection = folded(copy)?;
    connection.progress_handler(STEPS, Some(give_up))?;
    check(&connection, version).map_err(|cause| {
        Error::invalid(format!(
            "the copy is not sound, and was not kept: {cause}; see `gatepost check`"
        ))
    })?;
    drop(connection);
    synced(copy)
}

/// Has a copy that was verified say what the original has lost; its size in bytes.
pub(super) fn note_losses(copy: &Path, losses: &[String]) -> Result<u64> {
    let connection = Connection::open(copy)?;
    connection::prepare(&connection)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    in_transaction(&connection, Timestamp::now(), |tx| {
        let mut losses = losses.iter().cloned();
        losses.try_for_each(|loss| settings::notices::add(tx, loss))
    })?;
    drop(connection);
    synced(copy)
}

/// As [`verify`], of a copy that was checked before.
pub(super) fn fold(copy: &Path) -> Result<u64> {
    folded(copy)?;
    synced(copy)
}

fn folded(copy: &Path) -> Result<Connection> {
    let connection = Connection::open(copy)?;
    connection::prepare(&connection)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    // Without a log it is one file, which can be carried about.
    let mode: String =
        connection.pragma_update_and_check(None, "journal_mode", "DELETE", |row| row.get(0))?;
    if mode != "delete" {
        return Err(Error::defect(format!("the copy keeps its log: {mode}")));
    }
    usage::release(&connection)?;
    Ok(connection)
}

fn synced(copy: &Path) -> Result<u64> {
    let file = File::options().write(true).open(copy);
    let synced = file.and_then(|file| {
        file.sync_all()?;
        Ok(file.metadata()?.len())
    });
    synced.map_err(|cause| Error::field(copy.display(), cause))
}

/// Checks that all of a file is whole, and of this version.
pub fn check(connection: &Connection, version: i64) -> Result<()> {
    let number = |pragma: &str| -> Result<i64> {
        Ok(connection.pragma_query_value(None, pragma, |row| row.get(0))?)
    };
    if number("application_id")? != i64::from(APPLICATION_ID) {
        return Err(Error::invalid("it is not a file of Gatepost"));
    }
    let found = number("user_version")?;
    if found != version {
        return Err(Error::invalid(format!(
            "its schema version is {found}, not {version}"
        )));
    }
    let verdict = connection.query_row("PRAGMA integrity_check(1)", [], |row| {
        row.get::<_, String>(0)
    })?;
    if verdict != "ok" {
        return Err(Error::invalid(verdict));
    }
    if let Some(missing) = integrity::missing(connection)?.first() {
        return Err(Error::invalid(format!(
            "a row of {} names a record that does not exist",
            missing.table
        )));
    }
    Ok(())
}

/// The records that are counted: their name for people, and the statement.
const COUNTED: [(&str, &str); 5] = [
    (
        "Delegates",
        "SELECT count(*) FROM delegates WHERE deleted_at IS NULL",
    ),
    (
        "Devices and events",
        "SELECT count(*) FROM devices WHERE deleted_at IS NULL",
    ),
    ("Interactions", "SELECT count(*) FROM interactions"),
    ("Users", "SELECT count(*) FROM users"),
    (
        "Clients",
        "SELECT count(*) FROM clients WHERE revoked_at IS NULL",
    ),
];

/// The content of a sound backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspected {
    /// Its schema version.
    pub version: i64,
    pub bytes: u64,
    /// Its records by kind, and the number of each: see [`counts`].
    pub counts: Vec<(&'static str, i64)>,
}

impl Inspected {
    /// Returns whether this version of Gatepost wrote it.
    #[must_use]
    pub fn is_current(&self) -> bool {
        self.version == migrate::CURRENT
    }
}

/// Counts the records of a file by kind.
pub fn counts(connection: &Connection) -> Result<Vec<(&'static str, i64)>> {
    COUNTED
        .iter()
        .map(|(name, sql)| Ok((*name, connection.query_row(sql, [], |row| row.get(0))?)))
        .collect()
}

/// Checks a backup in full; it may take a second for every few hundred megabytes.
pub fn inspect(backup: &Path, database: &Path) -> Result<Inspected> {
    let metadata = match backup.metadata() {
        Ok(metadata) => metadata,
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => {
            return Err(refused(
                backup,
                "the file is not there any more; if it is on a stick, is the stick plugged in?",
            ));
        }
        Err(cause) => return Err(refused(backup, cause)),
    };
    folder::check_apart(backup, database)?;
    // Header, application id, size and version, each with a sentence of its own.
    let Some(version) = open::sound_version(backup)? else {
        return Err(refused(backup, "is empty"));
    };
    let damaged = |cause: Error| {
        let message = format!("{}: it is damaged: {}", backup.display(), cause);
        Error::new(Kind::Invalid, message)
    };
    let connection = open::unchanged(backup)
        .map_err(Error::from)
        .map_err(damaged)?;
    check(&connection, version).map_err(damaged)?;
    Ok(Inspected {
        version,
        bytes: metadata.len(),
        counts: counts(&connection).map_err(damaged)?,
    })
}
