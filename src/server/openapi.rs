//! The API's document. poem-openapi makes it from the code; what it cannot know is added here:
//! selectors as `{idType}:{id}`, the errors of each operation, examples of parameters, and that
//! unknown properties are refused.

use super::routes;
use crate::{
    app::App,
    discovery::Discovery,
    error::{Error, Kind, Refusal, Result},
    types::{DelegateSelector, DeviceSelector},
    web::error::status_code,
};
use poem_openapi::{LicenseObject, OpenApiService, ServerObject};
use serde_json::{Map, Value, json};
use std::sync::Arc;

const ABOUT: &str = "\
The on-site server for live events. Delegates meet devices; every meeting is an interaction.\n\n\
Every answer is `{\"data\": ..., \"meta\": ...}`; on failure `data` is `{}` and `meta.error` carries \
`code`, `message` and `internalCode`. The token endpoint alone answers as RFC 6749 says. Every path \
takes an optional `.json`, and `/api/5` serves the same as `/api/v5`. Where there is no such path, the \
answer is 404 with `internalCode` 1103; where a path has no such method, 405 with 1104. An address \
past 64 KiB is 414, a head past 80 KiB 431 (both 1106), and what is not HTTP 400 (1100).";

fn service(
    app: &App,
    discovery: &Arc<Discovery>,
) -> OpenApiService<impl poem_openapi::OpenApi + 'static, ()> {
    OpenApiService::new(
        routes::operations(app, discovery),
        "Gatepost",
        env!("CARGO_PKG_VERSION"),
    )
    .description(ABOUT)
    .server(ServerObject::new("/api/v5"))
    .license(LicenseObject::new("MIT"))
}

/// The document as JSON text.
///
/// # Errors
/// [`Kind::Defect`] when what poem-openapi makes is not what this expects.
pub fn document(app: &App, discovery: &Arc<Discovery>) -> Result<String> {
    let mut document: Value =
        serde_json::from_str(&service(app, discovery).spec()).map_err(Error::defect)?;
    document["components"]["schemas"]["Error"] = error_schema();
    close_inputs(&mut document["components"]["schemas"]);
    let paths = document["paths"]
        .as_object_mut()
        .map(std::mem::take)
        .ok_or_else(|| Error::defect("the document has no paths"))?;
    document["paths"] = Value::Object(paths.into_iter().map(described).collect());
    serde_json::to_string_pretty(&document).map_err(Error::defect)
}

/// The page that shows the document, whole in itself: it needs no internet.
#[must_use]
pub fn page(app: &App, discovery: &Arc<Discovery>, document: &str) -> String {
    let service = service(app, discovery);
    service
        .swagger_ui_html()
        .replace(&service.spec(), document)
        .replace("<title>Swagger UI</title>", "<title>Gatepost API</title>")
}

/// An input refuses a property it does not know.
fn close_inputs(schemas: &mut Value) {
    for (name, schema) in schemas.as_object_mut().into_iter().flatten() {
        if name.ends_with("Input") {
            schema["additionalProperties"] = json!(false);
        }
    }
}

fn error_schema() -> Value {
    json!({
        "type": "object",
        "required": ["data", "meta"],
        "properties": {
            "data": {"type": "object", "description": "Always `{}`."},
            "meta": {"type": "object", "required": ["error"], "properties": {"error": {
                "type": "object",
                "required": ["code", "message", "internalCode"],
                "properties": {
                    "code": {"type": "integer", "description": "The HTTP status."},
                    "message": {"type": "string", "description": "Names what is at fault and what would be right."},
                    "internalCode": {"type": "integer", "description": "What happened, see the operation's responses."},
                },
            }}},
        },
    })
}

/// A path as it is meant, with the errors of its operations.
fn described((path, mut operations): (String, Value)) -> (String, Value) {
    for (method, operation) in operations.as_object_mut().into_iter().flatten() {
        add_errors(&path, method, operation);
        describe_parameters(&path, operation);
    }
    let path = path
        .replace("{selector}", "{idType}:{id}")
        .replace("{interaction}", "id:{id}")
        .replace("{interaction_type}", "{interactionType}");
    (path, operations)
}

fn describe_parameters(path: &str, operation: &mut Value) {
    let Some(parameters) = operation
        .get_mut("parameters")
        .and_then(Value::as_array_mut)
    else {
        return;
    };
    let (id_types, code) = if path.starts_with("/device/") {
        (DeviceSelector::ID_TYPES, ("code", "gate-b"))
    } else {
        (DelegateSelector::ID_TYPES, ("barcode", "TICKET-0007"))
    };
    let mut described = Vec::new();
    for mut parameter in parameters.drain(..) {
        match parameter["name"].as_str() {
            Some("selector") => {
                described.push(json!({
                    "name": "idType", "in": "path", "required": true,
                    "description": "By which code the record is meant.",
                    "schema": {"type": "string", "enum": id_types}, "example": code.0,
                }));
                described.push(json!({
                    "name": "id", "in": "path", "required": true,
                    "description": "The value of that code, percent-encoded; it may hold any character.",
                    "schema": {"type": "string", "minLength": 1}, "example": code.1,
                }));
            }
            Some("interaction") => described.push(json!({
                "name": "id", "in": "path", "required": true,
                "description": "The interaction's id.",
                "schema": {"type": "integer", "format": "int64", "minimum": 0}, "example": 41,
            })),
            Some("interaction_type") => {
                parameter["name"] = json!("interactionType");
                parameter["schema"]["pattern"] = json!("^[a-z0-9][a-z0-9-]{0,63}$");
                parameter["example"] = json!("check-in");
                described.push(parameter);
            }
            Some(name) => {
                let name = name.to_owned();
                for (limit, value) in limits(&name) {
                    parameter["schema"][*limit] = json!(value);
                }
                parameter["example"] = parameter_example(path, &name);
                described.push(parameter);
            }
            None => described.push(parameter),
        }
    }
    *parameters = described;
}

/// What a parameter's schema does not say by its type.
fn limits(parameter: &str) -> &'static [(&'static str, i64)] {
    match parameter {
        "limit" => &[("minimum", 1), ("maximum", 50_000)],
        "offset" => &[("minimum", 0)],
        "Idempotency-Key" => &[("minLength", 1), ("maxLength", 255)],
        _ => &[],
    }
}

/// A value that a parameter may have, such as one that suits the examples of records.
fn parameter_example(path: &str, parameter: &str) -> Value {
    let of = path.split('/').nth(1).unwrap_or_default();
    match (parameter, of) {
        ("limit", _) => json!(100),
        ("offset", _) => json!(200),
        ("fields", "delegate") => json!("id,barcode,firstName"),
        ("fields", "device") => json!("id,code,name"),
        ("fields", "event") => json!("id,eventName,eventStartAt"),
        ("fields", _) => json!("id,interactionType,recordedAt"),
        ("search", "delegate") => json!(
            r#"{"and": [{"*=": ["lastName", "love"]}, {"fi": ["check-in", {"firstDevice": [12]}, ">= 1"]}]}"#
        ),
        ("search", "device") => {
            json!(r#"{"and": [{"==": ["deviceType", "session"]}, {"*=": ["name", "keynote"]}]}"#)
        }
        ("search", _) => json!(
            r#"{"and": [{"==": ["interactionType", "lead"]}, {">=": ["recordedAt", "2026-11-21 08:00:00"]}]}"#
        ),
        ("region", of) => json!(format!("/api/{of}-info/seat,/api/{of}-info/schedule")),
        ("Idempotency-Key", _) => json!("6f1c2a9e-till-3-000117"),
        ("event", _) => json!("externalId:SUMMIT-26"),
        ("dashboard", _) => json!("event"),
        // Of a report that is there from the start.
        ("export", _) => json!("leads"),
        ("parameters", _) => json!({"sponsor": "12"}),
        ("query", _) => json!({"till": "3"}),
        _ => Value::Null,
    }
}

/// The errors an operation can give beside those of every operation.
fn own_errors(path: &str, method: &str) -> Vec<Kind> {
    let refused = [
        Refusal::TooMany,
        Refusal::NotJoined,
        Refusal::OutsideWindow,
        Refusal::NotAvailable,
        Refusal::Full,
        Refusal::NotCheckedIn,
    ];
    let mut errors = Vec::new();
    let missing = match path.split('/').nth(1) {
        Some("delegate") => Kind::DelegateNotFound,
        Some("device") => Kind::DeviceNotFound,
        Some("event") => Kind::EventNotFound,
        _ => Kind::InteractionNotFound,
    };
    if path.contains("{selector}") || path.contains("{event}") || path.contains("{interaction}") {
        errors.extend([missing, Kind::UnknownIdType]);
    }
    if path.ends_with("/myself") {
        errors.push(Kind::DelegateNotFound);
    }
    match (path, method) {
        ("/interaction/new/{interaction_type}" | "/interaction/test/{interaction_type}", _) => {
            errors.extend([
                Kind::UnknownIdType,
                Kind::InteractionType,
                Kind::Participants,
                Kind::InteractionContent,
                Kind::DelegateNotFound,
                Kind::DeviceNotFound,
            ]);
            errors.extend(refused.map(Kind::Refused));
            if path.contains("/new/") {
                errors.push(Kind::KeyReused);
            }
        }
        ("/interaction/batch" | "/delegate/new" | "/tx/new", _) => errors.push(Kind::KeyReused),
        ("/device-request/new", _) => errors.extend([
            Kind::DiscoveryClosed,
            Kind::RequestCodeTaken,
            Kind::TooManyAttempts { retry_after_s: 0 },
        ]),
        ("/otp/send", _) => errors.push(Kind::TooManyAttempts { retry_after_s: 0 }),
        ("/device/ping" | "/device-config", _) => errors.push(Kind::DeviceNotFound),
        (path, _) if path.starts_with("/report/") => {
            errors.push(Kind::ReportNotFound);
            if path.contains("/export/") {
                errors.push(Kind::ReportNotExposed);
            }
        }
        ("/delegate/send-comm", _) => errors.push(Kind::DelegateNotFound),
        ("/delegate/{selector}/info" | "/device/{selector}/info", _) => {
            errors.extend([Kind::RegionUnavailable, Kind::RegionFailed]);
        }
        _ => {}
    }
    let has_codes = !path.starts_with("/interaction")
        && ![
            "/device/ping",
            "/device-request/new",
            "/tx/new",
            "/otp/send",
            "/delegate/send-comm",
        ]
        .contains(&path);
    if matches!(method, "post" | "patch") && has_codes {
        errors.push(Kind::CodeTaken);
    }
    errors
}

fn add_errors(path: &str, method: &str, operation: &mut Value) {
    if path.starts_with("/oauth/") {
        return;
    }
    let mut errors = vec![Kind::Invalid, Kind::Defect, Kind::Unavailable];
    if operation["security"].is_array() {
        errors.extend([Kind::Unauthenticated, Kind::ClientRevoked, Kind::Forbidden]);
    }
    if operation["requestBody"].is_object() {
        errors.push(Kind::TooLarge);
        // A till's purchase is taken as it comes.
        if path != "/tx/new" {
            errors.push(Kind::NotJson);
        }
    }
    let parameters = operation["parameters"].as_array();
    if parameters.is_some_and(|all| all.iter().any(|one| one["name"] == "search")) {
        errors.push(Kind::InvalidSearch);
    }
    errors.extend(own_errors(path, method));
    let mut by_status: Map<String, Value> = Map::new();
    for kind in errors {
        let codes = by_status
            .entry(status_code(kind).to_string())
            .or_insert_with(|| json!([]));
        let line = json!(format!("`{}` {}", kind.code(), meaning(kind)));
        if let Some(codes) = codes.as_array_mut()
            && !codes.contains(&line)
        {
            codes.push(line);
        }
    }
    for (status, lines) in by_status {
        let lines: Vec<&str> = lines
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        operation["responses"][status] = json!({
            "description": lines.join("; "),
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
        });
    }
    if path.ends_with("/pong") {
        describe_offline(&mut operation["responses"]);
    }
}

/// A device that is offline has a status that otherwise is of errors, with an answer of its own.
fn describe_offline(responses: &mut Value) {
    let mut offline = responses["200"]["content"]["application/json"]["schema"].clone();
    offline["example"]["data"]["online"] = json!(false);
    let missing = &mut responses["404"];
    let about = missing["description"].as_str().unwrap_or_default();
    missing["description"] = json!(format!("It is offline; {about}"));
    let schema = &mut missing["content"]["application/json"]["schema"];
    *schema = json!({"anyOf": [offline, schema]});
}

/// What an internal code means, in a few words (contract §3).
fn meaning(kind: Kind) -> &'static str {
    match kind {
        Kind::Invalid => "malformed, of a wrong type, unknown, or out of range",
        Kind::UnknownIdType => "id type unknown",
        Kind::InvalidSearch => "search expression invalid",
        Kind::NoSuchPath => "no such path",
        Kind::MethodNotAllowed => "method not allowed",
        Kind::CodeTaken => "unique code already used",
        Kind::TooLarge => "body too large",
        Kind::AddressTooLong => "address too long",
        Kind::HeadTooLarge => "address and headers too large",
        Kind::NotJson => "not JSON",
        Kind::Unavailable => "the store could not take it; resend with the same nonce",
        Kind::KeyReused => "nonce or idempotency key used before with another body",
        Kind::Defect => "a defect; the log has the request's id",
        Kind::TokenMissing | Kind::Unauthenticated => {
            "token missing, unknown, expired, cancelled, or not a user's"
        }
        Kind::ClientRevoked => "the client was revoked",
        Kind::Forbidden => "role, scope or user lacking",
        Kind::TooManyAttempts { .. } => "too many attempts",
        Kind::DiscoveryClosed => "the Device Discovery page of the console is not open",
        Kind::RequestCodeTaken => {
            "another device request has this code, or the secret is not its own"
        }
        Kind::DelegateNotFound => "delegate not found",
        Kind::DeviceNotFound => "device not found",
        Kind::EventNotFound => "event not found",
        Kind::InteractionNotFound => "interaction not found",
        Kind::RegionUnavailable => "region path outside its prefix or not published",
        Kind::RegionFailed => "the template of a region fails; the message names region and line",
        Kind::InteractionType => "interaction type malformed or reserved",
        Kind::Participants => "participants missing or out of order",
        Kind::InteractionContent => "recordedAt or data unusable, or a shared value unknown",
        Kind::ReportNotFound => "report or dashboard not found",
        Kind::ReportNotExposed => "report not exposed to this client",
        Kind::Refused(Refusal::TooMany) => "too many interactions: already used or entered",
        Kind::Refused(Refusal::NotJoined) => "not joined",
        Kind::Refused(Refusal::OutsideWindow) => "outside the time window",
        Kind::Refused(Refusal::NotAvailable) => "device not available, or its rules unreadable",
        Kind::Refused(Refusal::Full) => "device full",
        Kind::Refused(Refusal::NotCheckedIn) => "check-out without check-in",
    }
}
