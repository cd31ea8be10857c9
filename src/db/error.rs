//! Errors of SQLite in the domain's words.

use crate::types::error::{Error, Kind};
use rusqlite::ErrorCode;

impl From<rusqlite::Error> for Error {
    /// Full disk, I/O trouble, a lock that stays taken, an interrupt and damage mean that the store
    /// could not take it; SQLite's own words go to the log. Everything else is a defect.
    fn from(cause: rusqlite::Error) -> Self {
        let why = match cause.sqlite_error_code() {
            // A damaged index for searching can be made anew, and is a defect until then.
            Some(ErrorCode::DatabaseCorrupt) if !is_of_virtual_table(&cause) => DAMAGED,
            Some(ErrorCode::NotADatabase) => DAMAGED,
            Some(ErrorCode::DiskFull) => "the disk is full",
            Some(ErrorCode::SystemIoFailure) => "the disk cannot be read or written",
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                "another program keeps the database file locked"
            }
            Some(ErrorCode::OperationInterrupted) => {
                return Self::unavailable("the store took too long and was interrupted");
            }
            Some(ErrorCode::OutOfMemory) => "memory is short",
            Some(ErrorCode::CannotOpen) => "the database file cannot be opened",
            Some(ErrorCode::ReadOnly) => "the database file cannot be written",
            _ => return Self::defect(format!("sqlite: {cause}")),
        };
        tracing::warn!("{why}: {cause}");
        Self::unavailable(format!("the store could not do it: {why}"))
    }
}

const DAMAGED: &str = "the database file is damaged";

fn is_of_virtual_table(cause: &rusqlite::Error) -> bool {
    let code = cause.sqlite_error().map(|failure| failure.extended_code);
    code == Some(rusqlite::ffi::SQLITE_CORRUPT_VTAB)
}

/// Returns whether SQLite came upon damage of the database file.
pub fn is_damage(cause: &Error) -> bool {
    cause.message.ends_with(DAMAGED)
}

impl From<r2d2::Error> for Error {
    fn from(_: r2d2::Error) -> Self {
        Self::unavailable("all reading connections are busy")
    }
}

/// The column (`table.column`) or index that a unique constraint stopped a statement for.
pub fn unique_violation(cause: &rusqlite::Error) -> Option<&str> {
    match cause {
        rusqlite::Error::SqliteFailure(failure, Some(message))
            if failure.extended_code == rusqlite::ffi::SQLITE_CONSTRAINT_UNIQUE =>
        {
            message.strip_prefix("UNIQUE constraint failed: ")
        }
        _ => None,
    }
}

/// Maps a violated unique constraint on one of `codes` (`(column, name in the API)`) to
/// [`Kind::CodeTaken`]; passes everything else on.
pub fn code_taken<'a>(
    cause: rusqlite::Error,
    mut codes: impl Iterator<Item = (&'a str, &'a str)>,
) -> Error {
    let column = unique_violation(&cause).and_then(|target| target.rsplit_once('.'));
    match column.and_then(|(_, column)| codes.find(|(known, _)| *known == column)) {
        Some((_, name)) => Error::new(
            Kind::CodeTaken,
            format!("{name}: this code is already used by another record"),
        ),
        None => cause.into(),
    }
}
