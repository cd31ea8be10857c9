//! SQLite's errors in the domain's words.

use crate::types::error::{Error, Kind};
use rusqlite::ErrorCode;

impl From<rusqlite::Error> for Error {
    /// Full disk, I/O trouble, a lock that stays taken, an interrupt and damage mean that the store
    /// could not take it; SQLite's own words go to the log. Everything else is a defect.
    fn from(cause: rusqlite::Error) -> Self {
        if cause.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) {
            return Self::unavailable("the store took too long and was interrupted");
        }
        let Some((kind, why)) = reason(&cause) else {
            return Self::defect(format!("sqlite: {cause}"));
        };
        tracing::warn!("{why}: {cause}");
        Self::new(kind, format!("the store could not do it: {why}"))
    }
}

/// The reason why the store could not take something; `None` where that was not it.
pub(super) fn reason(cause: &rusqlite::Error) -> Option<(Kind, &'static str)> {
    let why = match cause.sqlite_error_code()? {
        // A damaged index for searching can be made anew, and is a defect until then.
        ErrorCode::DatabaseCorrupt if is_of_virtual_table(cause) => return None,
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => {
            return Some((Kind::Damaged, "the database file is damaged"));
        }
        ErrorCode::DiskFull => "the disk is full",
        ErrorCode::SystemIoFailure => "the disk cannot be read or written",
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => {
            "another program keeps the database file locked"
        }
        ErrorCode::OutOfMemory => "memory is short",
        ErrorCode::CannotOpen => "the database file cannot be opened",
        ErrorCode::ReadOnly => "the database file cannot be written",
        _ => return None,
    };
    Some((Kind::Unavailable, why))
}

fn is_of_virtual_table(cause: &rusqlite::Error) -> bool {
    let code = cause.sqlite_error().map(|failure| failure.extended_code);
    code == Some(rusqlite::ffi::SQLITE_CORRUPT_VTAB)
}

impl From<r2d2::Error> for Error {
    fn from(_: r2d2::Error) -> Self {
        Self::unavailable("all reading connections are busy")
    }
}

/// The column (`table.column`) or index that a unique constraint stopped a statement for.
pub fn unique_violation(cause: &rusqlite::Error) -> Option<&str> {
    match cause {
        // SQLite names the constraint in its text alone.
        rusqlite::Error::SqliteFailure(failure, Some(text))
            if failure.extended_code == rusqlite::ffi::SQLITE_CONSTRAINT_UNIQUE =>
        {
            text.strip_prefix("UNIQUE constraint failed: ")
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
            "this code is already used by another record",
        )
        .at(name),
        None => cause.into(),
    }
}
