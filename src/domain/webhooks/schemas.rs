//! Webhooks as the API answers and takes them.

use super::{Health, NewWebhook, attempts::Attempt, document, store};
use crate::{
    core::outbox::{destination, pending},
    types::{Zone, error::Result},
};
use rusqlite::Connection;
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// A webhook; only properties that have a value appear.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(example = example())]
pub struct Webhook {
    id: i64,
    /// Always `webhook`.
    #[serde(rename = "_type")]
    kind: &'static str,
    #[serde(flatten)]
    #[schemars(with = "Settings")]
    settings: Value,
    #[schemars(extend("enum" = [
        "no deliveries yet", "working", "partly failing", "failing", "paused", "stopped",
    ]))]
    state: &'static str,
    /// Deliveries that failed, or wait behind one that did.
    pending: i64,
    /// The reason why every delivery fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<String>,
    /// The secret that signs deliveries; only in the answer that creates the webhook, or replaces it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    last_success_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    failing_since: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    next_attempt_at: Option<String>,
    #[schemars(extend("format" = "date-time"))]
    created_at: String,
    #[schemars(extend("format" = "date-time"))]
    updated_at: String,
    /// The version of its settings, as `ETag`.
    #[serde(skip)]
    pub etag: String,
}

impl Webhook {
    /// Returns a webhook as it is shown, without its secret.
    pub fn new(connection: &Connection, webhook: &super::Webhook, zone: &Zone) -> Result<Self> {
        let name = store::destination(webhook.id);
        let state = destination::get(connection, &name)?;
        let pending = pending::count(connection, &name)?;
        let time = |at| zone.iso(at);
        let settings = document::with_state(webhook, &state);
        Ok(Self {
            // Neither pausing nor resuming changes the record.
            etag: format!("\"{:x}-{}\"", webhook.updated_at.0, settings["active"]),
            id: webhook.id,
            kind: "webhook",
            settings,
            state: Health::of(&state, pending).name(),
            pending,
            failure: state.why,
            secret: None,
            last_success_at: state.last_success_at.map(time),
            failing_since: state.failing_since.map(time),
            next_attempt_at: state.next_at.map(time),
            created_at: time(webhook.created_at),
            updated_at: time(webhook.updated_at),
        })
    }
}

/// The settings of a webhook.
#[derive(JsonSchema)]
#[schemars(transform = always_there)]
#[expect(dead_code, reason = "a shape, of what `document::with_state` gives")]
struct Settings {
    #[serde(flatten)]
    webhook: NewWebhook,
    /// `false`: somebody paused it.
    active: bool,
}

fn example() -> Value {
    json!({
        "id": 2, "_type": "webhook", "name": "CRM", "url": "https://crm.example.org/gatepost",
        "interactions": ["check-in"], "changes": ["delegate.*"], "active": true, "state": "working", "pending": 0,
        "createdAt": "2026-11-21T08:00:00+00:00", "updatedAt": "2026-11-21T08:00:00+00:00",
    })
}

/// Properties of a webhook; in a PATCH only those to change, `null` clears one.
#[derive(Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(example = json!({
    "name": "CRM", "url": "https://crm.example.org/gatepost", "interactions": ["check-in"], "changes": ["delegate.*"],
    "expand": ["firstDelegate"],
}))]
pub struct WebhookInput(
    #[serde(deserialize_with = "crate::types::json::no_property_twice")]
    #[schemars(with = "SentWebhook")]
    pub Map<String, Value>,
);

#[derive(JsonSchema)]
#[schemars(inline, transform = changes)]
pub struct SentWebhook {
    #[serde(flatten)]
    pub webhook: NewWebhook,
    /// `false` pauses it, `true` resumes it.
    pub active: Option<bool>,
    /// A secret that was agreed on with the receiver; one is made without it.
    pub secret: Option<String>,
}

/// Requires the lists, which answers show also where they are empty.
fn always_there(schema: &mut Schema) {
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.extend(["interactions", "changes"].map(Value::from));
    }
}

/// Requires nothing of what is sent, where `null` clears a property.
fn changes(schema: &mut Schema) {
    schema.remove("required");
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        for property in properties.values_mut() {
            property["nullable"] = true.into();
        }
    }
}

/// The way to replace a secret.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(example = json!({"atOnce": false}))]
pub struct RotateInput {
    /// A secret that was agreed on with the receiver; one is made without it. The one that it has changes nothing.
    pub secret: Option<String>,
    /// `true`: the previous secret no longer signs. Without it both sign for a day.
    #[serde(default)]
    pub at_once: bool,
}

/// Every webhook, by name.
#[derive(JsonSchema)]
#[schemars(example = json!([example()]))]
pub struct Webhooks(pub Vec<Webhook>);

/// The result of a test delivery.
#[derive(Serialize, JsonSchema)]
#[schemars(example = json!({"delivered": true, "message": "The receiver answered 204."}))]
pub struct WebhookTest {
    pub delivered: bool,
    /// The answer of the receiver, in a sentence.
    pub message: String,
}

/// The last attempts, newest first.
#[derive(JsonSchema)]
#[schemars(example = json!([delivery_example()]))]
pub struct WebhookDeliveries(pub Vec<WebhookDelivery>);

/// An attempt at a delivery.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(example = delivery_example())]
pub struct WebhookDelivery {
    id: i64,
    /// The type of the delivery, such as `delegate.updated`.
    r#type: String,
    #[schemars(extend("format" = "date-time"))]
    at: String,
    /// The time that the receiver took, in milliseconds.
    took: i64,
    /// `refused`: the receiver answered with another status than 2xx; `failed`: it did not answer.
    #[schemars(extend("enum" = ["delivered", "refused", "failed"]))]
    result: &'static str,
    /// The status that the receiver answered with.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    /// The beginning of the answer, or why there was none.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[schemars(with = "Option<String>")]
    answer: String,
}

fn delivery_example() -> Value {
    json!({
        "id": 812, "type": "interaction.created", "at": "2026-11-21T09:02:11+00:00", "took": 48, "result": "refused",
        "status": 503, "answer": "try again later",
    })
}

/// The delivery to send again.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({"delivery": 812}))]
pub struct ResendInput {
    /// The id of one of its attempts.
    pub delivery: i64,
}

impl WebhookDelivery {
    /// Returns an attempt as it is shown.
    pub fn new(id: i64, attempt: Attempt, zone: &Zone) -> Self {
        Self {
            id,
            r#type: attempt.kind,
            at: zone.iso(attempt.at),
            took: attempt.took_ms,
            result: attempt.result.name(),
            status: attempt.status,
            answer: attempt.answer,
        }
    }
}
