//! Is a backup still sound, and what is in it? It opens the copy for reading only.

use super::{folder, refused};
use crate::{
    db::{migrate, open},
    types::error::{Error, Kind, Result},
};
use rusqlite::Connection;
use std::path::Path;

/// What is counted: what people call it, and the statement.
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

/// What is in a sound backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspected {
    /// Its schema version.
    pub version: i64,
    /// Its size in bytes.
    pub bytes: u64,
    /// What it holds, and how many of that: see [`counts`].
    pub counts: Vec<(&'static str, i64)>,
}

impl Inspected {
    /// Whether this version of Gatepost wrote it.
    #[must_use]
    pub fn is_current(&self) -> bool {
        self.version == migrate::CURRENT
    }
}

/// How many of everything a file has.
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
        let message = format!("{}: it is damaged: {}", backup.display(), cause.message);
        Error::new(Kind::Invalid, message)
    };
    let connection = open::unchanged(backup)
        .map_err(Error::from)
        .map_err(damaged)?;
    super::verify::check(&connection, version).map_err(damaged)?;
    Ok(Inspected {
        version,
        bytes: metadata.len(),
        counts: counts(&connection).map_err(damaged)?,
    })
}
