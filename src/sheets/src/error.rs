//! The reason why a list cannot be read.

use std::fmt;

/// A shorthand for results of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A failure to read a list. Code decides by its kind, never by its message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    pub kind: Kind,
    /// The fault of the file as the rest of a sentence that begins with its name, such as "is empty".
    pub message: String,
}

/// The kinds of failure. Some of them leave the caller something to try, by a [`crate::Reading`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// The file cannot be read, is no list, or is larger than any list.
    Unreadable,
    /// The system has no room or no thread for it.
    Unavailable,
    /// The sheet that was named is not there, or the file has no sheets.
    NamedSheet,
    /// The encoding that was named is unknown, or the file has none of its own.
    NamedEncoding,
    /// The row that was named for the header is empty, or the file has no header.
    HeaderRow,
    /// The spreadsheet is damaged, or the sheet is no list.
    Damaged,
    /// The sheet has no header, and these others are there.
    EmptySheet { others: Vec<String> },
    /// Sheets that seem to go on with each other have different headers.
    HeadersDiffer,
    /// The text has bytes that are no letters in the encoding it is read in.
    NotInEncoding { is_utf_8: bool },
}

impl Error {
    pub(crate) fn new(kind: Kind, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { kind, message }
    }

    pub(crate) fn unreadable(message: impl Into<String>) -> Self {
        Self::new(Kind::Unreadable, message)
    }

    /// In the words of what failed.
    pub(crate) fn cause(cause: impl fmt::Display) -> Self {
        Self::unreadable(cause.to_string())
    }

    pub(crate) fn unavailable(cause: impl fmt::Display) -> Self {
        Self::new(Kind::Unavailable, cause.to_string())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
