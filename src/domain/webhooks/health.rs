//! The health of a webhook in a word.

use crate::core::outbox::{Pause, State, runner::DOWN_AFTER};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Health {
    New,
    Well,
    /// Some deliveries fail.
    PartlyFailing,
    /// Every delivery fails.
    Failing,
    /// A person paused it.
    Paused,
    /// Paused because every delivery failed for days, or the receiver is gone.
    Stopped,
}

impl Health {
    /// The health of a webhook in a state, with so many pending deliveries.
    pub fn of(state: &State, pending: i64) -> Self {
        match state.paused {
            Some((_, Pause::Asked)) => Self::Paused,
            Some(_) => Self::Stopped,
            None if state.failures >= DOWN_AFTER => Self::Failing,
            None if pending > 0 => Self::PartlyFailing,
            None if state.last_success_at.is_none() => Self::New,
            None => Self::Well,
        }
    }

    /// The class of its tag in the console.
    pub fn tag(self) -> &'static str {
        match self {
            Self::New => "",
            Self::Well => "good",
            Self::PartlyFailing | Self::Failing | Self::Paused => "warn",
            Self::Stopped => "bad",
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::New => "no deliveries yet",
            Self::Well => "working",
            Self::PartlyFailing => "partly failing",
            Self::Failing => "failing",
            Self::Paused => "paused",
            Self::Stopped => "stopped",
        }
    }
}
