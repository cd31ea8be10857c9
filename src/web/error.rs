//! Turns a domain error into its HTTP status and envelope (contract §3).

use super::RequestId;
use crate::types::error::{Error, Kind, Refusal};
use poem::{
    Response,
    error::{ReadBodyError, ResponseError},
    http::{StatusCode, header},
};
use poem_openapi::{
    ApiResponse,
    error::{ParseParamError, ParsePathError},
    registry::{MetaResponses, Registry},
};
use schemars::JsonSchema;
use serde_json::json;
use std::fmt;

/// A domain error on its way out of a handler.
#[derive(Debug)]
pub struct Failure(pub Error);

/// The reason why something was refused.
#[derive(JsonSchema)]
pub struct ErrorDetail {
    /// The HTTP status.
    pub code: i64,
    /// Names what is at fault and what would be right.
    pub message: String,
    /// The kind of failure, see the operation's responses.
    #[schemars(rename = "internalCode")]
    pub internal_code: i64,
    /// The cause in a word, of a check-in or check-out that was refused, and of an attendee who is not there: `unknown`,
    /// `blocked`, `ambiguous`, `used`, `max`, `too-early`, `too-late`, `wrong-type`, `not-joined`, `full`, `not-available`,
    /// `not-inside`; of a device request `spent-code`. There may be more some day.
    pub reason: Option<String>,
}

/// The result of a handler.
pub type Outcome<T> = Result<T, Failure>;

impl<E: Into<Error>> From<E> for Failure {
    fn from(cause: E) -> Self {
        Self(cause.into())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Failure {}

impl ResponseError for Failure {
    fn status(&self) -> StatusCode {
        status(self.0.kind)
    }
}

impl ApiResponse for Failure {
    /// None here: which errors an operation can give is added to the document as a whole, see
    /// `server::openapi`.
    fn meta() -> MetaResponses {
        MetaResponses {
            responses: Vec::new(),
        }
    }

    fn register(_: &mut Registry) {}
}

/// The HTTP status of a kind of failure (contract §3), and what its internal code means, in a few words.
pub fn described(kind: Kind) -> (u16, &'static str) {
    match kind {
        Kind::Invalid | Kind::ForeignFile | Kind::ServedElsewhere => {
            (400, "malformed, of a wrong type, unknown, or out of range")
        }
        Kind::UnknownIdType => (400, "id type unknown"),
        Kind::InvalidSearch => (400, "search expression invalid"),
        Kind::InteractionType => (400, "interaction type malformed or reserved"),
        Kind::Participants => (400, "participants missing or out of order"),
        Kind::InteractionContent => (
            400,
            "recordedAt or data unusable, or a shared value unknown",
        ),
        Kind::RegionUnavailable => (400, "region path outside its prefix or not published"),
        Kind::TokenMissing | Kind::Unauthenticated => (
            401,
            "token missing, unknown, expired, cancelled, or not a user's",
        ),
        Kind::ClientRevoked => (401, "the client was revoked"),
        Kind::Forbidden => (403, "role, scope or user lacking"),
        Kind::ReportNotExposed => (403, "report not exposed to this client"),
        Kind::NoSuchPath => (404, "no such path"),
        Kind::DelegateNotFound => (404, "delegate not found"),
        Kind::DeviceNotFound => (404, "device not found"),
        Kind::EventNotFound => (404, "event not found"),
        Kind::InteractionNotFound => (404, "interaction not found"),
        Kind::ReportNotFound => (404, "report or dashboard not found"),
        Kind::MethodNotAllowed => (405, "method not allowed"),
        Kind::CodeTaken => (409, "unique code already used"),
        Kind::KeyReused => (
            409,
            "nonce or idempotency key used before with another body",
        ),
        Kind::RequestCodeTaken => (
            409,
            "another device request has this code, or the secret is not its own",
        ),
        Kind::CursorGone => (
            410,
            "the cursor is of another file or too old: begin with a snapshot",
        ),
        Kind::Refused(refusal) => (412, refused(refusal)),
        Kind::VersionChanged => (412, "`If-Match` names another version of the record"),
        Kind::TooLarge => (413, "body too large"),
        Kind::NotJson => (415, "not JSON"),
        Kind::TooManyAttempts { .. } => (429, "too many attempts"),
        Kind::Defect => (500, "a defect; the log has the request's id"),
        Kind::RegionFailed => (
            500,
            "the template of a region fails; the message names region and line",
        ),
        Kind::Unavailable | Kind::Damaged => (
            503,
            "the store could not take it; resend with the same nonce",
        ),
        Kind::NotSetUp => (
            503,
            "something is not set up, such as a gateway for e-mail; retrying does not help",
        ),
        Kind::DiscoveryClosed => (503, "the Device Discovery page of the console is not open"),
    }
}

fn refused(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::TooMany => "too many interactions: already used or entered",
        Refusal::NotJoined => "not joined",
        Refusal::OutsideWindow => "outside the time window",
        Refusal::NotAvailable => "device not available, or its rules unreadable",
        Refusal::Full => "device full",
        Refusal::NotCheckedIn => "check-out without check-in",
        Refusal::WrongType => "type of attendee may not enter",
    }
}

pub fn status_code(kind: Kind) -> u16 {
    described(kind).0
}

fn status(kind: Kind) -> StatusCode {
    StatusCode::from_u16(status_code(kind)).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

/// The `meta` object of an error; a defect's cause is logged here and replaced by the request id.
pub fn meta(error: &Error, request_id: &str) -> serde_json::Value {
    crate::types::observe::count_error(error.kind.code());
    let message = match error.kind {
        Kind::Defect => {
            tracing::error!(%request_id, "defect: {error}");
            format!("internal error; the server's log has the details under request {request_id}")
        }
        _ => error.to_string(),
    };
    let mut told = json!({"error": {
        "code": status_code(error.kind),
        "message": message,
        "internalCode": error.kind.code(),
    }});
    if let Some(reason) = error.reason.or(error.kind.reason()) {
        told["error"]["reason"] = reason.into();
    }
    told
}

/// The response of a domain error.
pub fn respond(error: &Error, request_id: &RequestId) -> Response {
    let response = Response::builder()
        .status(status(error.kind))
        .content_type("application/json");
    let response = match error.kind {
        // A request without a token gets no error code (RFC 6750 section 3.1).
        Kind::TokenMissing => {
            response.header(header::WWW_AUTHENTICATE, "Bearer realm=\"gatepost\"")
        }
        Kind::Unauthenticated | Kind::ClientRevoked => response.header(
            header::WWW_AUTHENTICATE,
            "Bearer realm=\"gatepost\", error=\"invalid_token\"",
        ),
        Kind::TooManyAttempts { retry_after_s } => {
            response.header(header::RETRY_AFTER, retry_after_s)
        }
        Kind::Unavailable | Kind::Damaged => response.header(header::RETRY_AFTER, 1),
        _ => response,
    };
    response.body(body(error, request_id))
}

/// The envelope of a domain error.
pub fn body(error: &Error, request_id: &RequestId) -> String {
    json!({"data": {}, "meta": meta(error, request_id.as_str())}).to_string()
}

/// The reason why a parameter cannot be read, without the names of our types.
fn in_plain_words(reason: &str) -> &str {
    if reason.contains("number too") {
        "is out of range"
    } else if reason.contains("\"integer") {
        "must be a whole number"
    } else {
        reason
    }
}

/// The domain error behind whatever poem reports.
pub fn of_poem(cause: poem::Error) -> Error {
    if let Some(Failure(_)) = cause.downcast_ref::<Failure>() {
        return match cause.downcast::<Failure>() {
            Ok(Failure(error)) => error,
            Err(cause) => Error::defect(cause),
        };
    }
    if let Some(cause) = cause.downcast_ref::<ParseParamError>() {
        if cause.reason.contains("\"boolean\"") {
            return Error::field(cause.name, "must be true or false");
        }
        return Error::field(cause.name, in_plain_words(&cause.reason));
    }
    if let Some(cause) = cause.downcast_ref::<ParsePathError>() {
        return Error::field(cause.name, &cause.reason);
    }
    if let Some(cause) = cause.downcast_ref::<ReadBodyError>() {
        return match cause {
            ReadBodyError::PayloadTooLarge => Error::new(Kind::TooLarge, "the body is too large"),
            other => Error::invalid(format!("the body cannot be read: {other}")),
        };
    }
    match cause.status() {
        StatusCode::NOT_FOUND => Error::new(Kind::NoSuchPath, "there is no such path"),
        StatusCode::METHOD_NOT_ALLOWED => Error::new(
            Kind::MethodNotAllowed,
            "this path does not know this method",
        ),
        StatusCode::PAYLOAD_TOO_LARGE => Error::new(Kind::TooLarge, "the body is too large"),
        status if status.is_client_error() => Error::invalid(cause.to_string()),
        _ => Error::defect(cause),
    }
}
