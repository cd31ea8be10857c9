//! `oneTimePasswords`: who may have a code sent by which one signs in (contract §8, OTP).

use crate::types::error::{Error, Result};
use serde_json::Value;

/// Who may have a one-time password.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OneTimePasswords {
    /// Nobody.
    Off,
    /// Those who are users already.
    #[default]
    Users,
    /// Users, and whose e-mail address exactly one delegate has: they become users as they sign in.
    Delegates,
    /// Anybody with an e-mail address: they become users as they sign in.
    Anyone,
}

impl OneTimePasswords {
    /// Every choice, the strictest first.
    pub const ALL: [Self; 4] = [Self::Off, Self::Users, Self::Delegates, Self::Anyone];

    /// Its name in the configuration.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Users => "users",
            Self::Delegates => "delegates",
            Self::Anyone => "anyone",
        }
    }

    pub(super) fn parse(value: &Value) -> Result<Self> {
        let named = |name: &str| Self::ALL.into_iter().find(|choice| choice.name() == name);
        value.as_str().and_then(named).ok_or_else(|| {
            Error::invalid("oneTimePasswords: must be off, users, delegates or anyone")
        })
    }
}
