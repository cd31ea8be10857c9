//! Parameters as they are meant: selectors as `{idType}:{id}`, limits, examples.

use crate::types::{DelegateSelector, DeviceSelector};
use serde_json::{Value, json};

/// Describes the parameters of an operation.
pub(super) fn describe(path: &str, operation: &mut Value) {
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
                "schema": {"type": "integer", "format": "int64", "minimum": 1}, "example": 41,
            })),
            Some("interaction_type") => {
                parameter["name"] = json!("interactionType");
                parameter["schema"]["pattern"] = json!("^[a-z0-9][a-z0-9-]{0,63}$");
                parameter["example"] = json!("check-in");
                described.push(parameter);
            }
            Some(name) => {
                let name = name.to_owned();
                for (limit, value) in limits(path, &name) {
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
fn limits(path: &str, parameter: &str) -> &'static [(&'static str, i64)] {
    match parameter {
        "limit" if path == "/changes" => &[("minimum", 1), ("maximum", 10_000)],
        "wait" => &[("minimum", 0), ("maximum", 60)],
        "limit" => &[("minimum", 1), ("maximum", 50_000)],
        "offset" => &[("minimum", 0)],
        "If-Match" => &[("minLength", 1)],
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
        ("total", _) => json!(false),
        ("since", _) => json!("U3VtbWl0MjYAAAGTUcV2AAAAdmlld_8AAAAAAAAAKQ"),
        ("types", _) => json!("delegate,interaction"),
        ("wait", _) => json!(30),
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
        ("search", "event") => json!(r#"{">=": ["eventStartAt", "2026-11-21 00:00:00"]}"#),
        ("search", _) => json!(
            r#"{"and": [{"==": ["interactionType", "lead"]}, {">=": ["recordedAt", "2026-11-21 08:00:00"]}]}"#
        ),
        ("region", of) => json!(format!("/api/{of}-info/seat,/api/{of}-info/schedule")),
        ("If-Match", _) => json!("\"19f8c3a2b10\""),
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
