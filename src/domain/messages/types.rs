//! The words of the outbox: by which channel a message goes, and its state.

use crate::types::error::{Error, Result};
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};

/// The channel of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Channel {
    Email,
    Sms,
    Push,
}

impl Channel {
    pub const ALL: &'static [Self] = &[Self::Email, Self::Sms, Self::Push];

    /// Its name in the API, the file and the configuration document.
    pub fn name(self) -> &'static str {
        match self {
            Self::Email => "email",
            Self::Sms => "sms",
            Self::Push => "push",
        }
    }

    /// The noun for one message of the channel.
    pub fn noun(self) -> &'static str {
        match self {
            Self::Email => "e-mail",
            Self::Sms => "text",
            Self::Push => "push message",
        }
    }

    /// The destination of its messages in the outbox. Those to users, such as one-time passwords, have
    /// their own, so that they do not wait behind many messages to delegates.
    pub fn destination(self, to_delegate: bool) -> String {
        let suffix = if to_delegate { "" } else { ":users" };
        format!("{}{suffix}", self.name())
    }

    pub fn named(name: &str) -> Result<Self> {
        let found = Self::ALL.iter().find(|channel| channel.name() == name);
        let unknown = || Error::field("type", "must be email, sms or push");
        found.copied().ok_or_else(unknown)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum State {
    Waiting,
    Sending,
    Sent,
    /// The message was not accepted, for certain, and is not tried again automatically.
    Failed,
    /// Nobody can know whether it was accepted; a person decides whether it is sent again.
    Unknown,
    /// A person called it back, or its delegate was deleted, before it was sent.
    Cancelled,
}

impl State {
    pub const ALL: &'static [Self] = &[
        Self::Waiting,
        Self::Sending,
        Self::Sent,
        Self::Failed,
        Self::Unknown,
        Self::Cancelled,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Sending => "sending",
            Self::Sent => "sent",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
            Self::Cancelled => "cancelled",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|state| state.name() == name)
    }
}

impl ToSql for Channel {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.name().into())
    }
}

impl FromSql for Channel {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Self::named(value.as_str()?).map_err(|_| FromSqlError::InvalidType)
    }
}

impl ToSql for State {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.name().into())
    }
}

impl FromSql for State {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Self::named(value.as_str()?).ok_or(FromSqlError::InvalidType)
    }
}
