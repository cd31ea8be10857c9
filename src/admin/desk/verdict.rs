//! The verdict of a passage at the desk: what happened, to whom, and what would help.

use super::find::Candidate;
use crate::admin::prelude::*;
use crate::{
    domain::{
        delegates::{
            note::{Level, Note},
            overview::{self, Line},
        },
        interactions::{presence::Repeat, refusing_rule::RefusingRule},
    },
    types::error::Refusal,
};

/// The outcome of a passage.
pub(super) struct Verdict {
    pub finding: Finding,
    /// The first words, readable from a metre away.
    pub word: String,
    pub at: Timestamp,
    pub person: Option<Line>,
    pub note: Option<Note>,
    /// A remark for the steward beside it.
    pub remark: Option<String>,
    /// The printer at which the badge comes out by itself.
    pub printer: Option<String>,
}

pub(super) enum Finding {
    /// Recorded, with the interaction that an undo takes back.
    Done(i64),
    /// Nothing more to do: a passage was taken back.
    Told,
    /// A badge is on its way.
    Printing,
    /// Let in with a code that nobody has yet.
    Waiting,
    Refused {
        refusal: Option<Refusal>,
        rule: Option<RefusingRule>,
    },
    /// Nobody has this code, or nobody is found by these words.
    Unknown {
        typed: String,
        is_code: bool,
        /// A list that comes later may have the code.
        may_wait: bool,
    },
    /// More than one person is meant.
    Several(Vec<Candidate>),
}

impl Verdict {
    pub fn new(finding: Finding, word: impl Into<String>) -> Self {
        Self {
            finding,
            word: word.into(),
            at: Timestamp::now(),
            person: None,
            note: None,
            remark: None,
            printer: None,
        }
    }

    /// Somebody's verdict.
    pub fn of(mut self, connection: &Connection, delegate: Option<i64>) -> Result<Self> {
        if let Some(delegate) = delegate {
            self.person = overview::lines(connection, &[delegate])?.pop();
        }
        Ok(self)
    }

    pub fn is_bad(&self) -> bool {
        matches!(
            self.finding,
            Finding::Refused { .. } | Finding::Unknown { .. }
        )
    }

    pub fn class(&self) -> &'static str {
        match (&self.finding, self.note.as_ref().map(|note| note.level)) {
            (Finding::Refused { .. } | Finding::Unknown { .. }, _) => "bad",
            (Finding::Done(_), Some(Level::Stop)) => "bad",
            (Finding::Done(_), Some(Level::Warning)) | (Finding::Several(_), _) => "warn",
            (Finding::Printing, _) if self.remark.is_some() => "warn",
            _ => "good",
        }
    }

    pub fn symbol(&self) -> &'static str {
        match (&self.finding, self.class()) {
            (Finding::Unknown { .. }, _) => "search",
            (Finding::Several(_), _) => "delegates",
            (Finding::Told, _) => "undo",
            (Finding::Waiting, _) => "in",
            (_, "bad") => "stop",
            (_, "warn") => "warn",
            _ => "tick",
        }
    }
}

/// Earlier check-ins of the same person at the same place, as a steward is told.
pub(super) fn remark(repeat: &Repeat, zone: &Zone, now: Timestamp) -> String {
    let first = zone.spoken(repeat.first_at, now);
    match repeat.count {
        1 => format!("Checked in here before, at {first}."),
        count => format!("Checked in here {count} times before, first at {first}."),
    }
}
