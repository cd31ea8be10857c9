//! Bad rows: their faults, listed up to a limit, and their numbers.

use crate::types::error::Error;
use std::fmt;

/// Bad rows, and records that are left when an import is taken back, that are listed; more are counted.
pub const LISTED_MAX: usize = 10_000;

/// A row that cannot be imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadRow {
    /// The line in the file; see [`super::source::Row::line`].
    pub line: u64,
    pub problem: Problem,
}

/// The fault of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The header of the column at fault, where it is one.
    pub column: Option<String>,
    /// The fault in words, and what would be right.
    pub reason: String,
}

impl Problem {
    /// Of a column.
    pub(super) fn of_column(header: &str, reason: impl Into<String>) -> Self {
        Self {
            column: Some(header.to_owned()),
            reason: reason.into(),
        }
    }

    /// Of the row as a whole.
    pub(super) fn of_row(reason: impl Into<String>) -> Self {
        Self {
            column: None,
            reason: reason.into(),
        }
    }

    /// A value where no header stands; the column counted from 0.
    pub(super) fn nameless(at: usize) -> Self {
        Self::of_row(format!(
            "has a value in column {}, which has no header",
            at + 1
        ))
    }
}

/// The obstacle that keeps a row from being checked or written.
#[derive(Debug)]
pub enum Failure {
    /// The row is bad.
    Row(Problem),
    /// The row is left out, as its list says: it is a total, or its ticket is not good any more.
    LeftOut(Problem),
    /// Nothing can be checked or written.
    Store(Error),
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self::Row(problem)
    }
}

impl From<Error> for Failure {
    fn from(cause: Error) -> Self {
        Self::Store(cause)
    }
}

impl fmt::Display for BadRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.problem.column {
            Some(column) => write!(f, "line {}, column \"{column}\": ", self.line)?,
            None => write!(f, "line {}: ", self.line)?,
        }
        f.write_str(&self.problem.reason)
    }
}

/// Bad rows: the first of them with their reasons, and the numbers of all.
#[derive(Debug, Default)]
pub struct BadRows {
    listed: Vec<BadRow>,
    count: usize,
    /// Their numbers, a bit each: a file may have very many.
    which: Vec<u64>,
}

impl BadRows {
    /// Adds one, the row of this number from 0.
    pub fn push(&mut self, number: u64, row: BadRow) {
        let (word, bit) = place(number);
        if self.which.len() <= word {
            self.which.resize(word + 1, 0);
        }
        self.which[word] |= bit;
        self.count += 1;
        if self.listed.len() < LISTED_MAX {
            self.listed.push(row);
        }
    }

    /// The first [`LISTED_MAX`].
    #[must_use]
    pub fn listed(&self) -> &[BadRow] {
        &self.listed
    }

    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns whether the row of this number from 0 is one.
    #[must_use]
    pub fn contains(&self, number: u64) -> bool {
        let (word, bit) = place(number);
        self.which.get(word).is_some_and(|word| word & bit != 0)
    }
}

fn place(number: u64) -> (usize, u64) {
    let word = usize::try_from(number / 64).unwrap_or(usize::MAX);
    (word, 1 << (number % 64))
}
