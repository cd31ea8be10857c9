//! Whether a copy is a whole file of ours. It looks at the copy alone, never at the original.

use crate::{
    db::{APPLICATION_ID, connection, integrity},
    types::error::{Error, Result},
};
use rusqlite::Connection;
use std::{fs::File, path::Path};

/// Brings what stands in the log of a copy into the copy, checks all of it, and makes it durable;
/// its size in bytes.
pub fn verify(copy: &Path, version: i64) -> Result<u64> {
    let connection = Connection::open(copy)?;
    connection::prepare(&connection)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    // Without a log it is one file, which can be carried about.
    let mode: String =
        connection.pragma_update_and_check(None, "journal_mode", "DELETE", |row| row.get(0))?;
    if mode != "delete" {
        return Err(Error::defect(format!("the copy keeps its log: {mode}")));
    }
    check(&connection, version).map_err(|cause| {
        Error::invalid(format!(
            "the copy is not sound, and was not kept: {}; see `gatepost check`",
            cause.message
        ))
    })?;
    drop(connection);
    let file = File::options().write(true).open(copy);
    let synced = file.and_then(|file| {
        file.sync_all()?;
        Ok(file.metadata()?.len())
    });
    synced.map_err(|cause| Error::invalid(format!("{}: {cause}", copy.display())))
}

/// Whether all of a file is whole, and of this version.
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
