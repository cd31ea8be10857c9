//! The errors of each operation, with their headers.

use crate::{
    types::error::{Kind, Refusal},
    web::error::described,
};
use serde_json::{Value, json};

/// The body of an error.
pub(super) fn schema() -> Value {
    json!({
        "type": "object",
        "required": ["data", "meta"],
        "properties": {
            "data": {"type": "object", "description": "Always `{}`."},
            "meta": {"type": "object", "required": ["error"], "properties": {
                "error": {"$ref": "#/components/schemas/ErrorDetail"},
                "note": {"$ref": "#/components/schemas/GateNote"},
            }},
        },
    })
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
        Refusal::WrongType,
    ];
    let mut errors = Vec::new();
    let missing = match path.split('/').nth(1) {
        Some("delegate" | "badge") => Kind::DelegateNotFound,
        Some("device") => Kind::DeviceNotFound,
        Some("event") => Kind::EventNotFound,
        _ => Kind::InteractionNotFound,
    };
    if path.contains("{selector}") || path.contains("{event}") || path.contains("{interaction}") {
        errors.push(Kind::UnknownIdType);
        // What is not there is created.
        if method != "put" {
            errors.push(missing);
        }
    }
    if path.contains("{webhook}") || path == "/badge/job/{id}" {
        errors.push(Kind::NoSuchPath);
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
        }
        ("/badge/print", _) => errors.extend([
            Kind::UnknownIdType,
            Kind::DelegateNotFound,
            Kind::DeviceNotFound,
        ]),
        ("/device-request/new", _) => errors.extend([
            Kind::DiscoveryClosed,
            Kind::RequestCodeTaken,
            Kind::TooManyAttempts { retry_after_s: 0 },
        ]),
        ("/otp/send", _) => {
            errors.extend([Kind::TooManyAttempts { retry_after_s: 0 }, Kind::NotSetUp]);
        }
        ("/gate/walk-in", _) => {
            errors.extend([Kind::InteractionContent, Kind::KeyReused]);
            errors.extend(refused.map(Kind::Refused));
        }
        ("/gate/pin" | "/gate/find", _) => {
            errors.push(Kind::TooManyAttempts { retry_after_s: 0 });
        }
        ("/gate/badge", _) => errors.extend([
            Kind::UnknownIdType,
            Kind::DelegateNotFound,
            Kind::TooManyAttempts { retry_after_s: 0 },
        ]),
        ("/changes" | "/gate/snapshot", _) => errors.push(Kind::CursorGone),
        ("/changes/stream", _) => {
            errors.extend([Kind::CursorGone, Kind::TooManyAttempts { retry_after_s: 0 }]);
        }
        ("/device/ping" | "/device-config", _) => errors.push(Kind::DeviceNotFound),
        (path, _) if path.starts_with("/reader/") => errors.extend([
            Kind::UnknownIdType,
            Kind::DeviceNotFound,
            Kind::TooManyAttempts { retry_after_s: 0 },
        ]),
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
    if gives_codes(path, method) {
        errors.push(Kind::CodeTaken);
    }
    errors
}

/// Tells whether an operation gives records codes, one of which may be taken.
fn gives_codes(path: &str, method: &str) -> bool {
    let writes =
        matches!(method, "post" | "patch") || method == "put" && path.contains("{selector}");
    let others = [
        "/device/ping",
        "/device-request/new",
        "/tx/new",
        "/otp/send",
        "/delegate/send-comm",
        "/gate/codes",
        "/gate/evacuation",
        "/gate/find",
        "/delegate/find",
    ];
    let begins = ["/interaction", "/reader/"];
    let ends = ["/list", "/batch", "/test", "/resend", "/rotate"];
    writes
        && !others.contains(&path)
        && !begins.iter().any(|begin| path.starts_with(begin))
        && !ends.iter().any(|end| path.ends_with(end))
}

/// The errors that follow from the security, the body and the parameters of an operation.
fn common_errors(path: &str, method: &str, operation: &Value) -> Vec<Kind> {
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
    let takes = |name: &str| {
        let parameters = operation["parameters"].as_array();
        parameters.is_some_and(|all| all.iter().any(|one| one["name"] == name))
    };
    if takes("search") || (method == "post" && path.ends_with("/list")) {
        errors.push(Kind::InvalidSearch);
    }
    if takes("If-Match") {
        errors.push(Kind::VersionChanged);
    }
    // A purchase under a key of another is taken all the same.
    if takes("Idempotency-Key") && path != "/tx/new" {
        errors.push(Kind::KeyReused);
    }
    errors
}

/// Adds what an operation answers when it fails.
pub(super) fn add(path: &str, method: &str, operation: &mut Value) {
    if path.starts_with("/oauth/") {
        return;
    }
    let mut errors = common_errors(path, method, operation);
    errors.extend(own_errors(path, method));
    let mut by_status: Vec<(u16, Vec<String>)> = Vec::new();
    for kind in errors {
        let (status, about) = described(kind);
        let line = format!("`{}` {about}", kind.code());
        match by_status.iter_mut().find(|(known, _)| *known == status) {
            Some((_, lines)) if lines.contains(&line) => {}
            Some((_, lines)) => lines.push(line),
            None => by_status.push((status, vec![line])),
        }
    }
    for (status, lines) in by_status {
        let mut response = json!({
            "description": lines.join("; "),
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
        });
        if [429, 503].contains(&status) {
            response["headers"]["Retry-After"] = json!({
                "description": "Seconds after which to try again; absent where something has to be set up or opened first.",
                "schema": {"type": "integer", "minimum": 1},
            });
        }
        operation["responses"][status.to_string()] = response;
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
