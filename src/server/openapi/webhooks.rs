//! What the server sends by itself, as `x-webhooks`: this version of OpenAPI has no place for it.

use crate::domain::webhooks::CHANGES;
use serde_json::{Map, Value, json};

/// The type of the delivery that tells of a new interaction.
const RECORDED: (&str, &str) = ("interaction.created", "an interaction was recorded");

/// Every delivery by its type.
pub(super) fn described() -> Value {
    let changes = CHANGES.iter().map(|change| (change.name, change.about));
    let all = std::iter::once(RECORDED).chain(changes);
    let webhooks: Map<String, Value> = all
        .map(|(name, about)| (name.to_owned(), json!({"post": delivery(name, about)})))
        .collect();
    webhooks.into()
}

fn delivery(name: &str, about: &str) -> Value {
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
        "requestBody": {"required": true, "content": {"application/json": {"schema": {
            "type": "object",
            "required": ["id", "type", "createdAt", "data"],
            "properties": {
                "id": {"type": "string", "description": "The same as `webhook-id`."},
                "type": {"type": "string", "enum": [name]},
                "createdAt": {"type": "string", "format": "date-time", "description": "When it happened."},
                "data": data(name),
            },
        }}}},
        "responses": {
            "2XX": {"description": "Received."},
            "4XX": {"description": "Not received; sent again later."},
        },
    })
}

/// What a delivery carries: the record as it stands when it is sent, of one that is gone its id.
fn data(name: &str) -> Value {
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
        _ => return json!({"type": "object", "additionalProperties": true}),
    };
    json!({"$ref": format!("#/components/schemas/{schema}")})
}
