//! Every way in which the token endpoint says no (RFC 6749 section 5.2).

use crate::types::error::{Error, Kind};
use std::borrow::Cow;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    InvalidRequest,
    /// With HTTP Basic the answer carries a challenge.
    InvalidClient {
        basic: bool,
    },
    RevokedClient {
        basic: bool,
    },
    InvalidGrant,
    UnsupportedGrantType,
    InvalidScope,
    /// RFC 6749 has no word for it at this endpoint.
    TooManyAttempts {
        retry_after_s: u32,
    },
    Unavailable,
    Defect,
}

#[derive(Debug)]
pub struct Refusal {
    pub cause: Cause,
    /// A sentence without quotation marks, as RFC 6749 wants it, that repeats nothing of what was
    /// sent. Of a [`Cause::Defect`] it goes to the log only.
    pub description: Cow<'static, str>,
}

impl Refusal {
    pub fn new(cause: Cause, description: impl Into<Cow<'static, str>>) -> Self {
        Self {
            cause,
            description: description.into(),
        }
    }

    pub fn invalid_request(description: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Cause::InvalidRequest, description)
    }

    /// Does not tell which of client and secret is wrong.
    pub fn invalid_client(basic: bool) -> Self {
        Self::new(
            Cause::InvalidClient { basic },
            "the client is unknown or revoked, or its secret is wrong",
        )
    }

    pub fn invalid_grant(description: &'static str) -> Self {
        Self::new(Cause::InvalidGrant, description)
    }

    /// Said only to a client that has the right secret.
    pub fn revoked_client(basic: bool) -> Self {
        Self::new(Cause::RevokedClient { basic }, "the client was revoked")
    }

    pub fn invalid_scope() -> Self {
        Self::new(
            Cause::InvalidScope,
            "scope names one that this client or this sign-in does not have",
        )
    }

    pub fn status(&self) -> u16 {
        self.status_and_code().0
    }

    /// The `error` of the answer.
    pub fn code(&self) -> &'static str {
        self.status_and_code().1
    }

    fn status_and_code(&self) -> (u16, &'static str) {
        match self.cause {
            Cause::InvalidRequest => (400, "invalid_request"),
            Cause::InvalidClient { .. } | Cause::RevokedClient { .. } => (401, "invalid_client"),
            Cause::InvalidGrant => (400, "invalid_grant"),
            Cause::UnsupportedGrantType => (400, "unsupported_grant_type"),
            Cause::InvalidScope => (400, "invalid_scope"),
            Cause::TooManyAttempts { .. } => (429, "temporarily_unavailable"),
            Cause::Unavailable => (503, "temporarily_unavailable"),
            Cause::Defect => (500, "server_error"),
        }
    }

    pub fn retry_after_s(&self) -> Option<u32> {
        match self.cause {
            Cause::TooManyAttempts { retry_after_s } => Some(retry_after_s),
            Cause::Unavailable => Some(1),
            _ => None,
        }
    }
}

impl From<Error> for Refusal {
    /// Converts the errors of the store and the throttle; the rest of the domain's errors cannot come from a token
    /// request.
    fn from(error: Error) -> Self {
        match error.kind {
            Kind::TooManyAttempts { retry_after_s } => {
                Self::new(Cause::TooManyAttempts { retry_after_s }, error.to_string())
            }
            Kind::Unavailable | Kind::Damaged => Self::new(
                Cause::Unavailable,
                "the store could not take it; nothing was issued, try again",
            ),
            _ => Self::new(Cause::Defect, error.to_string()),
        }
    }
}
