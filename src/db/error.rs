//! What SQLite reports, in the domain's words.

use crate::types::error::{Error, Kind};
use rusqlite::ErrorCode;

impl From<rusqlite::Error> for Error {
    /// Full disk, I/O trouble, a lock that stays taken and an interrupt mean that the store could
    /// not take it; everything else that reaches this point is a defect.
    fn from(cause: rusqlite::Error) -> Self {
        let unavailable = matches!(
            cause.sqlite_error_code(),
            Some(
                ErrorCode::DiskFull
                    | ErrorCode::SystemIoFailure
                    | ErrorCode::DatabaseBusy
                    | ErrorCode::DatabaseLocked
                    | ErrorCode::OperationInterrupted
                    | ErrorCode::OutOfMemory
                    | ErrorCode::CannotOpen
                    | ErrorCode::ReadOnly
            )
        );
        if unavailable {
            Self::unavailable(format!("the store could not do it: {cause}"))
        } else {
            Self::defect(format!("sqlite: {cause}"))
        }
    }
}

impl From<r2d2::Error> for Error {
    fn from(_: r2d2::Error) -> Self {
        Self::unavailable("all reading connections are busy")
    }
}

/// The column (`table.column`) or index that a unique constraint stopped a statement for.
#[must_use]
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
