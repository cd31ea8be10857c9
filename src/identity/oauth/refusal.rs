//! Every way in which the token endpoint says no (RFC 6749 section 5.2).

use crate::types::error::{Error, Kind};
use std::borrow::Cow;

/// What went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// A parameter is missing, sent twice, or unreadable.
    InvalidRequest,
    /// The client is unknown or revoked, or its secret wrong.
    InvalidClient {
        /// Whether it used HTTP Basic, and is told so in its challenge.
        basic: bool,
    },
    /// The password or the refresh token is wrong.
    InvalidGrant,
    /// There is no such grant type.
    UnsupportedGrantType,
    /// A scope is named that the client lacks.
    InvalidScope,
    /// Too many attempts failed. RFC 6749 has no word for it at this endpoint.
    TooManyAttempts {
        /// Seconds until the next attempt is looked at.
        retry_after_s: u32,
    },
    /// The store could not take it.
    Unavailable,
    /// A bug of ours.
    Defect,
}

/// A refusal, as the client is told of it.
#[derive(Debug)]
pub struct Refusal {
    /// What went wrong.
    pub cause: Cause,
    /// A sentence without quotation marks, as RFC 6749 wants it, that repeats nothing of what was
    /// sent. Of a [`Cause::Defect`] it goes to the log only.
    pub description: Cow<'static, str>,
}

impl Refusal {
    /// A refusal with a sentence.
    pub fn new(cause: Cause, description: impl Into<Cow<'static, str>>) -> Self {
        Self {
            cause,
            description: description.into(),
        }
    }

    /// A parameter is missing, sent twice, or unreadable.
    pub fn invalid_request(description: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Cause::InvalidRequest, description)
    }

    /// The client is unknown or revoked, or its secret wrong: it is not told which.
    pub fn invalid_client(basic: bool) -> Self {
        Self::new(
            Cause::InvalidClient { basic },
            "the client is unknown or revoked, or its secret is wrong",
        )
    }

    /// The HTTP status.
    pub fn status(&self) -> u16 {
        match self.cause {
            Cause::InvalidRequest
            | Cause::InvalidGrant
            | Cause::UnsupportedGrantType
            | Cause::InvalidScope => 400,
            Cause::InvalidClient { .. } => 401,
            Cause::TooManyAttempts { .. } => 429,
            Cause::Unavailable => 503,
            Cause::Defect => 500,
        }
    }

    /// The `error` of the answer.
    pub fn code(&self) -> &'static str {
        match self.cause {
            Cause::InvalidRequest => "invalid_request",
            Cause::InvalidClient { .. } => "invalid_client",
            Cause::InvalidGrant => "invalid_grant",
            Cause::UnsupportedGrantType => "unsupported_grant_type",
            Cause::InvalidScope => "invalid_scope",
            Cause::TooManyAttempts { .. } | Cause::Unavailable => "temporarily_unavailable",
            Cause::Defect => "server_error",
        }
    }

    /// Seconds after which it is worth trying again.
    pub fn retry_after_s(&self) -> Option<u32> {
        match self.cause {
            Cause::TooManyAttempts { retry_after_s } => Some(retry_after_s),
            Cause::Unavailable => Some(1),
            _ => None,
        }
    }
}

impl From<Error> for Refusal {
    /// What the store or the throttle fails with; the rest of the domain's errors cannot come from
    /// a token request.
    fn from(error: Error) -> Self {
        match error.kind {
            Kind::TooManyAttempts { retry_after_s } => {
                Self::new(Cause::TooManyAttempts { retry_after_s }, error.message)
            }
            Kind::Unavailable => Self::new(
                Cause::Unavailable,
                "the store could not take it; nothing was issued, try again",
            ),
            _ => Self::new(Cause::Defect, error.message),
        }
    }
}
