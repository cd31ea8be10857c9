//! The API's document. poem-openapi makes it from the code; what it cannot know is added here:
//! selectors as `{idType}:{id}`, the errors of each operation, limits and examples of parameters, that
//! unknown properties are refused, and what the server sends (`x-webhooks`).
//!
//! - `errors`: the errors of each operation, and their headers
//! - `about.md`: what every operation has in common

use super::{durable, routes};
use crate::{
    admin::Console,
    domain::{feed::RecordType, webhooks::CHANGES},
    types::{
        DelegateSelector, DeviceSelector,
        error::{Error, Result},
        text::capital,
    },
};
use poem_openapi::{LicenseObject, OpenApiService, ServerObject};
use serde_json::{Map, Value, json};

mod errors;

const ABOUT: &str = include_str!("about.md");

fn service(console: &Console) -> OpenApiService<impl poem_openapi::OpenApi + 'static, ()> {
    OpenApiService::new(
        routes::operations(console),
        "Gatepost",
        env!("CARGO_PKG_VERSION"),
    )
    .description(ABOUT)
    .server(ServerObject::new("/api/v5"))
    .license(LicenseObject::new("MIT"))
}

/// The document as JSON text.
pub fn document(console: &Console) -> Result<String> {
    let mut document: Value =
        serde_json::from_str(&service(console).spec()).map_err(Error::defect)?;
    document["components"]["schemas"]["Error"] = errors::schema();
    add_webhooks(&mut document);
    type_changes(&mut document["components"]["schemas"]);
    close_inputs(&mut document["components"]["schemas"]);
    let paths = document["paths"]
        .as_object_mut()
        .map(std::mem::take)
        .ok_or_else(|| Error::defect("the document has no paths"))?;
    document["paths"] = Value::Object(paths.into_iter().map(described).collect());
    serde_json::to_string_pretty(&document).map_err(Error::defect)
}

/// The page that shows the document, whole in itself: it needs no internet.
pub fn page(console: &Console, document: &str) -> String {
    let service = service(console);
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

/// A path as it is meant, with the errors of its operations.
fn described((path, mut operations): (String, Value)) -> (String, Value) {
    for (method, operation) in operations.as_object_mut().into_iter().flatten() {
        let parameters = operation.get_mut("parameters");
        if let Some(parameters) = parameters.and_then(Value::as_array_mut) {
            *parameters = parameters.drain(..).flat_map(each_alone).collect();
        }
        errors::add(&path, method, operation);
        describe_parameters(&path, operation);
        add_etag(&path, method, operation);
        add_durable(&path, method, operation);
        if operation["security"].is_null() {
            operation["security"] = json!([]);
        }
    }
    let path = path
        .replace("{selector}", "{idType}:{id}")
        .replace("{interaction}", "id:{id}")
        .replace("{interaction_type}", "{interactionType}");
    (path, operations)
}

/// Answers of writes tell how far a second machine is, in a `meta` that has no other name.
fn add_durable(path: &str, method: &str, operation: &mut Value) {
    if method == "get" || durable::only_reads(path) {
        return;
    }
    for status in ["200", "201"] {
        let meta = format!("/responses/{status}/content/application~1json/schema/properties/meta");
        if let Some(Value::Object(meta)) = operation.pointer_mut(&meta)
            && meta.get("type") == Some(&json!("object"))
        {
            let properties = meta.entry("properties").or_insert_with(|| json!({}));
            properties["durable"] = json!({"$ref": "#/components/schemas/Durable"});
        }
    }
}

/// Answers with one record have its version.
fn add_etag(path: &str, method: &str, operation: &mut Value) {
    let one = [
        "{selector}",
        "{event}",
        "{interaction}",
        "{webhook}",
        "/myself",
    ];
    let of_one = one.iter().any(|end| path.ends_with(end));
    let created = ["/delegate/new", "/device/new", "/event/new"];
    let statuses: &[&str] = match method {
        "get" | "patch" if of_one => &["200"],
        "put" if of_one => &["200", "201"],
        "post" if created.contains(&path) => &["201"],
        _ => return,
    };
    for status in statuses {
        operation["responses"][status]["headers"]["ETag"] = json!({
            "description": "The version of the record, for `If-Match`; interactions of a delegate or device do not change it.",
            "schema": {"type": "string"},
        });
    }
}

/// The type of the delivery that tells of a new interaction.
const RECORDED: (&str, &str) = ("interaction.created", "an interaction was recorded");

/// The type of the delivery that a program or a person asks for to try a webhook.
const TEST: (&str, &str) = ("webhook.test", "somebody tries the webhook");

/// Adds every delivery by its type, each with a shape of its own, and `Delivery`, which is any of them.
fn add_webhooks(document: &mut Value) {
    let changes = CHANGES.iter().map(|change| (change.name, change.about));
    let (mut webhooks, mut mapping) = (Map::new(), Map::new());
    for (name, about) in [RECORDED, TEST].into_iter().chain(changes) {
        let mut shape: String = name.split('.').map(capital).collect();
        if name == TEST.0 {
            // The result of a test is called as the delivery would be.
            shape.push_str("Delivery");
        }
        let reference = format!("#/components/schemas/{shape}");
        let post = delivery(name, about, &reference);
        webhooks.insert(name.to_owned(), json!({"post": post}));
        mapping.insert(name.to_owned(), reference.into());
        document["components"]["schemas"][shape] = delivery_shape(name, about);
    }
    let shapes: Vec<_> = mapping
        .values()
        .map(|shape| json!({"$ref": shape}))
        .collect();
    document["components"]["schemas"]["Delivery"] = json!({
        "description": "The body of a delivery of a webhook.",
        "oneOf": shapes,
        "discriminator": {"propertyName": "type", "mapping": mapping},
    });
    document["x-webhooks"] = webhooks.into();
}

/// The shape of each record in the feed that has one.
const FED: [(RecordType, Option<&str>); RecordType::ALL.len()] = [
    (RecordType::Delegate, Some("Delegate")),
    (RecordType::Device, Some("Device")),
    (RecordType::Interaction, Some("Interaction")),
    (RecordType::BlockedCode, None),
    (RecordType::Transaction, None),
];

/// Gives the changes of each type of record, and a reset, a shape of their own.
fn type_changes(schemas: &mut Value) {
    let base = schemas["Changes"]["items"].take();
    let mut shapes = Vec::new();
    let mut add = |schemas: &mut Value, name: String, shape: Value| {
        shapes.push(json!({"$ref": format!("#/components/schemas/{name}")}));
        schemas[name] = shape;
    };
    for (record_type, record) in FED {
        let mut shape = base.clone();
        shape["required"] = json!(["cursor", "action", "kind", "type", "id"]);
        shape["properties"]["action"]["enum"] = json!(["upsert", "delete"]);
        shape["properties"]["type"] = json!({"type": "string", "enum": [record_type.name()]});
        if let Some(record) = record {
            let record = format!("#/components/schemas/{record}");
            shape["properties"]["data"] = json!({"$ref": record});
        }
        let name = format!("{record_type:?}Change");
        add(schemas, name, shape);
    }
    let mut reset = base;
    reset["description"] = json!("Everything is to be read anew.");
    reset["required"] = json!(["cursor", "action", "kind"]);
    reset["properties"]["action"]["enum"] = json!(["reset"]);
    if let Some(properties) = reset["properties"].as_object_mut() {
        properties.retain(|name, _| !["type", "id", "data"].contains(&&**name));
    }
    add(schemas, "Reset".to_owned(), reset);
    schemas["Changes"]["items"] = json!({"oneOf": shapes});
}

fn delivery(name: &str, about: &str, shape: &str) -> Value {
    let header = |name: &str, about: &str| {
        json!({
            "name": name, "in": "header", "required": true, "description": about,
            "schema": {"type": "string"},
        })
    };
    json!({
        "operationId": name.replace('.', "_"),
        "summary": about,
        "description": "Sent again, with the same id, until an answer is 2xx.",
        "security": [],
        "parameters": [
            header("webhook-id", "The id of the delivery: the same however often it is sent."),
            header("webhook-timestamp", "When it is sent, Unix seconds."),
            header(
                "webhook-signature",
                "`v1,` and the base64 of an HMAC-SHA256 over id, timestamp and body, joined by dots; \
                 several of them, separated by spaces, while a secret is replaced.",
            ),
        ],
        "requestBody": {"required": true, "content": {"application/json": {"schema": {"$ref": shape}}}},
        "responses": {
            "2XX": {"description": "Received."},
            "4XX": {"description": "Not received; sent again later."},
        },
    })
}

fn delivery_shape(name: &str, about: &str) -> Value {
    json!({
        "type": "object",
        "description": format!("Sent when {about}."),
        "required": ["id", "type", "createdAt", "data"],
        "properties": {
            "id": {"type": "string", "description": "The same as `webhook-id`."},
            "type": {"type": "string", "enum": [name]},
            "createdAt": {"type": "string", "format": "date-time", "description": "When it happened."},
            "data": delivered(name),
        },
    })
}

/// The body of a delivery: the record as it stands when it is sent, of one that is gone its id.
fn delivered(name: &str) -> Value {
    let schema = match name {
        "delegate.merged" => {
            return json!({
                "type": "object",
                "required": ["id", "_type"],
                "properties": {
                    "id": {"type": "integer", "format": "int64"},
                    "_type": {"type": "string"},
                    "into": {"$ref": "#/components/schemas/Embedded"},
                },
            });
        }
        _ if name.starts_with("delegate.") => "Delegate",
        _ if name.starts_with("device.") => "Device",
        _ if name.starts_with("event.") => "Event",
        _ if name.starts_with("interaction.") => "Interaction",
        "webhook.test" => {
            return json!({
                "type": "object",
                "required": ["message"],
                "properties": {"message": {"type": "string"}},
            });
        }
        _ => return json!({"type": "object", "additionalProperties": true}),
    };
    json!({"$ref": format!("#/components/schemas/{schema}")})
}

/// Several query parameters that are read together, each alone; see [`crate::web::ListQuery`].
fn each_alone(parameter: Value) -> Vec<Value> {
    let Some(properties) = parameter["schema"]["properties"].as_object() else {
        return vec![parameter];
    };
    let alone = properties.iter().map(|(name, schema)| {
        let (mut alone, mut schema) = (parameter.clone(), schema.clone());
        alone["name"] = json!(name);
        alone["description"] = schema["description"].take();
        if let Some(schema) = schema.as_object_mut() {
            schema.remove("description");
        }
        alone["schema"] = schema;
        alone
    });
    alone.collect()
}

/// Describes the parameters of an operation.
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
                    "description": "By which code the record is meant. `scan` is for texts as a scanner sends them: any code of \
                                    the record, also with spaces, line ends or an AIM prefix around it, as the part that \
                                    the setting `scans` names, or in any case.",
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

/// The limits of a parameter that the type of its schema does not state.
fn limits(path: &str, parameter: &str) -> &'static [(&'static str, i64)] {
    match parameter {
        "limit" if path == "/changes" || path.starts_with("/gate/") => {
            &[("minimum", 1), ("maximum", 10_000)]
        }
        "wait" => &[("minimum", 0), ("maximum", 60)],
        "limit" if path.starts_with("/webhook/") => &[("minimum", 1), ("maximum", 200)],
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
        ("after", "gate") => json!(812),
        ("only", _) => json!("safe"),
        ("after" | "before", _) => json!("WzQxLDIwMF0"),
        ("place", _) => json!(5),
        ("webhook", _) => json!("id:2"),
        ("q", _) => json!("ada"),
        ("reader", _) => json!("code:portal-1"),
        ("total", _) => json!(false),
        ("format", "badge") => json!("zpl"),
        ("dpi", _) => json!(300),
        ("id", "badge") => json!(12),
        ("sort", "delegate") => json!("lastName"),
        ("sort", "device") => json!("name"),
        ("sort", "event") => json!("-eventStartAt"),
        ("sort", _) => json!("-recordedAt"),
        ("expand", "delegate" | "device") => json!("parent"),
        ("expand", _) => json!("firstDelegate,firstDevice"),
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
        ("name", "report") => json!("leads"),
        ("by", _) => json!("externalId"),
        ("parameters", _) => json!({"sponsor": "12"}),
        ("query", _) => json!({"till": "3"}),
        _ => Value::Null,
    }
}
