//! The words of the outbox: by which channel a message goes, and what became of it.

use crate::types::error::{Error, Result};
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};

/// By which way a message goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Channel {
    /// E-mail, by SMTP.
    Email,
    /// A text to a phone, by an HTTP gateway.
    Sms,
    /// A push message to an app, by an HTTP gateway.
    Push,
}

impl Channel {
    /// Every channel.
    pub const ALL: &'static [Self] = &[Self::Email, Self::Sms, Self::Push];

    /// Its name in the API, the file and the configuration document.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Email => "email",
            Self::Sms => "sms",
            Self::Push => "push",
        }
    }

    /// What people call a message of it.
    #[must_use]
    pub fn noun(self) -> &'static str {
        match self {
            Self::Email => "e-mail",
            Self::Sms => "text",
            Self::Push => "push message",
        }
    }

    /// The channel of a name.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`], naming those there are.
    pub fn named(name: &str) -> Result<Self> {
        let found = Self::ALL.iter().find(|channel| channel.name() == name);
        found
            .copied()
            .ok_or_else(|| Error::invalid("type: must be email, sms or push"))
    }
}

/// What became of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum State {
    /// It is sent as soon as its time comes.
    Waiting,
    /// An attempt goes on.
    Sending,
    /// The gateway took it.
    Sent,
    /// It was not taken, for certain, and is not tried again by itself.
    Failed,
    /// Nobody can know whether it was taken; a person says whether it is sent again.
    Unknown,
    /// A person called it back, or its delegate was deleted, before it was sent.
    Cancelled,
}

impl State {
    /// Every state.
    pub const ALL: &'static [Self] = &[
        Self::Waiting,
        Self::Sending,
        Self::Sent,
        Self::Failed,
        Self::Unknown,
        Self::Cancelled,
    ];

    /// Its name.
    #[must_use]
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

    /// The state of a name.
    #[must_use]
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
