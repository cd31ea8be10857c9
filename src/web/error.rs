//! Turns a domain error into its HTTP status and envelope (contract §3).

use super::{
    RequestId,
    schema::{Described, inline, integer, object, text},
};
use crate::types::error::{Error, Kind};
use poem::{
    Response,
    error::{MethodNotAllowedError, NotFoundError, ReadBodyError, ResponseError},
    http::{StatusCode, header},
};
use poem_openapi::{
    ApiResponse,
    error::{ParseParamError, ParsePathError},
    registry::{MetaResponses, MetaSchema, Registry},
};
use serde_json::json;
use std::fmt;

/// A domain error on its way out of a handler.
#[derive(Debug)]
pub struct Failure(pub Error);

/// `meta.error` of an answer.
pub struct ErrorDetail;

impl Described for ErrorDetail {
    const NAME: &'static str = "ErrorDetail";

    fn schema() -> MetaSchema {
        let message = text("Names what is at fault and what would be right.");
        object(
            "Why something was refused.",
            &["code", "message", "internalCode"],
            vec![
                ("code", inline(integer("The HTTP status."))),
                ("message", inline(message)),
                (
                    "internalCode",
                    inline(integer("What happened, see the operation's responses.")),
                ),
            ],
        )
    }
}

/// What a handler gives.
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

/// The HTTP status of a kind of failure (contract §3).
#[must_use]
pub fn status_code(kind: Kind) -> u16 {
    match kind {
        Kind::Invalid
        | Kind::UnknownIdType
        | Kind::InvalidSearch
        | Kind::InteractionType
        | Kind::Participants
        | Kind::InteractionContent
        | Kind::RegionUnavailable => 400,
        Kind::TokenMissing | Kind::Unauthenticated | Kind::ClientRevoked => 401,
        Kind::Forbidden | Kind::ReportNotExposed => 403,
        Kind::NoSuchPath
        | Kind::DelegateNotFound
        | Kind::DeviceNotFound
        | Kind::EventNotFound
        | Kind::InteractionNotFound
        | Kind::ReportNotFound => 404,
        Kind::MethodNotAllowed => 405,
        Kind::CodeTaken | Kind::KeyReused | Kind::RequestCodeTaken => 409,
        Kind::CursorGone => 410,
        Kind::Refused(_) | Kind::VersionChanged => 412,
        Kind::TooLarge => 413,
        Kind::NotJson => 415,
        Kind::TooManyAttempts { .. } => 429,
        Kind::Defect | Kind::RegionFailed => 500,
        Kind::Unavailable | Kind::NotSetUp | Kind::DiscoveryClosed => 503,
    }
}

fn status(kind: Kind) -> StatusCode {
    StatusCode::from_u16(status_code(kind)).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

/// The `meta` object of an error; a defect's cause is logged here and replaced by the request id.
#[must_use]
pub fn meta(error: &Error, request_id: &str) -> serde_json::Value {
    crate::types::observe::told(error.kind.code());
    let message = match error.kind {
        Kind::Defect => {
            tracing::error!(%request_id, "defect: {}", error.message);
            format!("internal error; the server's log has the details under request {request_id}")
        }
        _ => error.message.clone(),
    };
    json!({"error": {
        "code": status_code(error.kind),
        "message": message,
        "internalCode": error.kind.code(),
    }})
}

/// The response of a domain error.
#[must_use]
pub fn respond(error: &Error, request_id: &RequestId) -> Response {
    let response = Response::builder()
        .status(status(error.kind))
        .content_type("application/json");
    let response = match error.kind {
        // Whoever brought none is told no fault of it (RFC 6750 section 3.1).
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
        Kind::Unavailable => response.header(header::RETRY_AFTER, 1),
        _ => response,
    };
    response.body(body(error, request_id))
}

/// The envelope of a domain error.
#[must_use]
pub fn body(error: &Error, request_id: &RequestId) -> String {
    json!({"data": {}, "meta": meta(error, request_id.as_str())}).to_string()
}

/// Why a parameter cannot be read, without the names of our types.
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
#[must_use]
pub fn of_poem(cause: poem::Error) -> Error {
    if let Some(Failure(_)) = cause.downcast_ref::<Failure>() {
        return match cause.downcast::<Failure>() {
            Ok(Failure(error)) => error,
            Err(cause) => Error::defect(cause),
        };
    }
    if cause.is::<NotFoundError>() {
        return Error::new(Kind::NoSuchPath, "there is no such path");
    }
    if cause.is::<MethodNotAllowedError>() {
        return Error::new(
            Kind::MethodNotAllowed,
            "this path does not know this method",
        );
    }
    if let Some(cause) = cause.downcast_ref::<ParseParamError>() {
        if cause.reason.contains("\"boolean\"") {
            return Error::invalid(format!("{}: must be true or false", cause.name));
        }
        return Error::invalid(format!("{}: {}", cause.name, in_plain_words(&cause.reason)));
    }
    if let Some(cause) = cause.downcast_ref::<ParsePathError>() {
        return Error::invalid(format!("{}: {}", cause.name, cause.reason));
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
