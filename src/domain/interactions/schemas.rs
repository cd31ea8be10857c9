//! Interactions as they are answered, in the API's document. `rows` and `answers` write their JSON by hand, for speed.

use super::types::TYPES;
use crate::{
    core::standby::Durable,
    web::{batch::ItemAnswer, error::ErrorDetail, record::Embedded},
};
use schemars::JsonSchema;
use serde_json::{Map, Value, json};

/// The description of types.
fn about_types() -> String {
    let names: Vec<String> = TYPES
        .iter()
        .map(|known| format!("`{}`", known.name))
        .collect();
    format!("One of {}, or any other.", names.join(", "))
}

/// An interaction in an example.
fn example() -> Value {
    json!({
        "id": 41, "_type": "interaction", "firstDelegate": {"id": 7, "_type": "delegate"},
        "firstDevice": {"id": 3, "_type": "device"}, "interactionType": "check-in",
        "recordedAt": "2026-11-21T09:02:00+00:00", "createdAt": "2026-11-21T09:02:00+00:00",
        "updatedAt": "2026-11-21T09:02:00+00:00",
    })
}

fn example_without_id() -> Value {
    let mut example = example();
    example["id"] = Value::Null;
    example
}

/// One to three delegates did something with one to three devices.
#[derive(JsonSchema)]
#[schemars(rename = "Interaction", example = example())]
pub struct InteractionShape {
    #[schemars(range(min = 1))]
    pub id: i64,
    #[serde(flatten)]
    pub properties: Properties,
}

/// An interaction that was recorded; `{}` where it was recorded before and is deleted since.
#[derive(JsonSchema)]
#[schemars(extend("required" = []), example = example())]
pub struct RecordedInteraction {
    /// `null` of a scan that waits until somebody has its code (`meta.unknown`).
    #[schemars(range(min = 1), extend("nullable" = true))]
    pub id: Option<i64>,
    #[serde(flatten)]
    pub properties: Properties,
}

/// An interaction as it would be; nothing was written.
#[derive(JsonSchema)]
#[schemars(example = example_without_id())]
pub struct TestedInteraction {
    /// Always `null`.
    #[schemars(required, range(min = 1), extend("nullable" = true))]
    pub id: Option<i64>,
    #[serde(flatten)]
    pub properties: Properties,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub struct Properties {
    /// Always `interaction`.
    #[schemars(rename = "_type")]
    pub kind: String,
    pub first_delegate: Option<Embedded>,
    pub second_delegate: Option<Embedded>,
    pub third_delegate: Option<Embedded>,
    pub first_device: Option<Embedded>,
    pub second_device: Option<Embedded>,
    pub third_device: Option<Embedded>,
    #[schemars(extend("description" = about_types()))]
    pub interaction_type: Option<String>,
    /// As stored; a form adds `answersData` and `reportData`.
    pub data: Option<Map<String, Value>>,
    /// The time at which it happened, as sent; the server's time without it.
    #[schemars(extend("format" = "date-time"))]
    pub recorded_at: Option<String>,
    /// The time at which it arrived.
    #[schemars(extend("format" = "date-time"))]
    pub created_at: Option<String>,
    #[schemars(extend("format" = "date-time"))]
    pub updated_at: Option<String>,
}

/// Additions to an interaction; often none.
#[derive(JsonSchema)]
pub struct InteractionMeta {
    pub error: Option<ErrorDetail>,
    /// `true`: the same nonce or `Idempotency-Key` created this before; nothing was created now.
    pub replayed: Option<bool>,
    /// `true`: a gate admitted it and nobody has its code. It is recorded, with this `recordedAt`, as soon as somebody
    /// does; until then it counts as inside.
    pub unknown: Option<bool>,
    /// A likely mistake, such as in the spelling of the type.
    pub warning: Option<String>,
    pub note: Option<GateNote>,
    /// Of a check-in that passes although the delegate has been checked in at this device before.
    pub repeat: Option<Repeat>,
    /// Of a write, where there is a second machine.
    pub durable: Option<Durable>,
    #[serde(flatten)]
    pub others: Map<String, Value>,
}

#[derive(JsonSchema)]
#[schemars(inline, rename_all = "camelCase")]
pub struct Repeat {
    /// The number of check-ins before, counted up to 100.
    pub count: i64,
    /// The time of the first.
    #[schemars(extend("format" = "date-time"))]
    pub first_at: String,
}

/// A note of the crew about the first delegate, for gates to show.
#[derive(JsonSchema)]
pub struct GateNote {
    /// A gate shows `stop` red: a steward decides.
    #[schemars(extend("enum" = ["info", "warning", "stop"]))]
    pub level: String,
    pub note: String,
}

/// One answer an item, in their order. References to shared values stand in `data` as they were sent.
#[derive(JsonSchema)]
#[schemars(example = json!([
    {"key": "a", "status": 201, "data": example(), "meta": {}},
    {"key": "b", "status": 412, "data": {}, "meta": {"error": {
        "code": 412, "message": "already used at Gate B at 09:02", "internalCode": 740,
    }}},
]))]
pub struct BatchAnswer(pub Vec<ItemAnswer<RecordedInteraction, InteractionMeta>>);
