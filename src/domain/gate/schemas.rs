//! Shapes that gates send and are sent, where no other module has them.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The settings of a gate.
#[derive(JsonSchema)]
#[schemars(example = json!({
    "_type": "gate", "device": {"id": 12, "_type": "device"}, "instance": "Nordlicht 2026",
    "timeZone": "Europe/Berlin", "serverTime": 1_795_248_120_000_i64, "place": {"id": 5, "_type": "device", "name": "Entrance"},
    "places": [{"id": 5, "name": "Entrance", "type": "room"}], "policy": "admit", "configVersion": 3, "appVersion": "9f86d081884c7d65",
    "features": ["check-in", "check-out", "delegate-search", "delegate-create"], "allowRejected": false,
    "walkIn": {"types": ["Visitor", "Press"]}, "replaceBadge": true,
    "supervisorPin": {
        "salt": "5f1c", "hash": "9b71d224bd62f3785d96d46ad3ea3d73319bfbc2890caadae2dff72519673ca7", "iterations": 300_000
    },
    "scans": {"code": "https://tickets.example/c/(*)"},
    "message": {"text": "Doors open at 8:30", "at": 1_795_248_000_000_i64}
}))]
pub struct Gate(pub Map<String, Value>);

/// An attendee as a gate shows them; only properties that have a value appear. The first of `codes` is the barcode,
/// unless `noTicket` says that they have none. `movedOn`: they checked in and not out, and are in another room since
/// (`oneAtATime`). Whoever is inside has `since`, and `at` where it is at a place below. `rooms`: the places with a
/// `capacity` that they are inside of; `elsewhere`: those of them in which they stay when they leave the place.
#[derive(JsonSchema)]
#[schemars(example = json!({
    "id": 17, "name": "Ada Lovelace", "category": "vip", "company": "Analytical Engines", "parent": 12, "codes": ["T-1"], "joined": true,
    "note": {"level": "info", "note": "Speaker"}, "lastIn": 1_795_248_120_000_i64, "entries": 1,
    "inside": true
}))]
pub struct GateDelegate(pub Map<String, Value>);

/// An attendee who came without a ticket, as a gate shows them, see `GateDelegate`.
#[derive(JsonSchema)]
pub struct GateWalkIn(#[schemars(schema_with = "GateDelegate::json_schema")] pub GateDelegate);

#[derive(JsonSchema)]
#[schemars(inline, example = json!({"interaction": 99}))]
pub struct GateWalkInMeta {
    /// The check-in; absent once it is deleted.
    #[schemars(range(min = 1))]
    pub interaction: Option<i64>,
    /// `true`: the same nonce created them before.
    pub replayed: Option<bool>,
}

/// A few attendees.
#[derive(JsonSchema)]
#[schemars(example = json!([{"id": 17, "name": "Ada Lovelace", "codes": ["T-1"], "joined": true}]))]
pub struct GateDelegates(#[schemars(with = "Vec<ListedDelegate>")] pub Vec<GateDelegate>);

/// An attendee as a gate shows them, see `GateDelegate`.
#[derive(JsonSchema)]
#[schemars(inline)]
pub struct ListedDelegate(#[schemars(schema_with = "GateDelegate::json_schema")] pub GateDelegate);

/// Ticket codes, as many as were asked for.
#[derive(JsonSchema)]
#[schemars(example = json!(["W001Z5XK9QJ7R2M8"]))]
pub struct GateCodes(pub Vec<String>);

/// The PIN that a supervisor typed.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({"pin": "471100"}))]
pub struct PinInput {
    /// The digits.
    pub pin: String,
}

/// The people inside a place, those who came last first.
#[derive(JsonSchema)]
#[schemars(example = json!([{
    "id": 17, "name": "Ada Lovelace", "company": "Analytical Engines", "place": "Stage",
    "since": 1_795_240_000_000_i64, "safe": {"at": 1_795_248_120_000_i64, "by": "Gate B"},
}]))]
pub struct GateEvacuation(pub Vec<InsidePerson>);

/// Somebody on the list.
#[derive(JsonSchema)]
#[schemars(inline)]
pub struct InsidePerson {
    /// Of the attendee.
    #[schemars(range(min = 1))]
    pub id: i64,
    pub name: Option<String>,
    pub company: Option<String>,
    /// The place where they checked in last; absent once they have left.
    pub place: Option<String>,
    /// Unix milliseconds.
    pub since: Option<i64>,
    /// The time at which they were ticked (`at`, Unix milliseconds), and who did it (`by`).
    pub safe: Option<Map<String, Value>>,
}

#[derive(JsonSchema)]
#[schemars(
    inline,
    rename_all = "camelCase",
    example = json!({"evacuation": {"id": 3, "startedAt": 1_795_248_000_000_i64}, "safe": 1, "serverTime": 1_795_248_130_000_i64, "unnamed": 0}),
)]
pub struct GateEvacuationMeta {
    /// The evacuation whose ticks hold here; absent without one.
    pub evacuation: Option<Map<String, Value>>,
    /// Send it as `after`; absent on the last page.
    pub next: Option<i64>,
    /// The number of people who are ticked.
    pub safe: Option<i64>,
    /// Unix milliseconds.
    pub server_time: Option<i64>,
    /// The number of people inside whom a gate admitted by a code that nobody has yet: they have no name to tick.
    pub unnamed: Option<i64>,
}

/// Changes of a gate's list, in order.
#[derive(JsonSchema)]
#[schemars(example = json!([
    {"cursor": "AAEC", "action": "delete", "kind": "deleted", "type": "delegate", "id": 12},
]))]
pub struct GateChanges(pub Vec<GateChange>);

/// A change of the list.
#[derive(JsonSchema)]
#[schemars(inline)]
pub struct GateChange {
    /// Behind this change.
    pub cursor: String,
    /// `upsert`, `delete` or `reset`, as in `GET /changes`.
    pub action: String,
    /// The last event of the record.
    pub kind: String,
    /// `delegate` or `blocked-code`.
    pub r#type: Option<String>,
    /// Absent of a reset.
    pub id: Option<i64>,
    /// The attendee, or a blocked code with its reason.
    pub data: Option<Map<String, Value>>,
}

#[derive(JsonSchema)]
#[schemars(inline, rename_all = "camelCase")]
pub struct GateChangesMeta {
    /// To go on from.
    pub cursor: Option<String>,
    /// There is more already.
    pub more: Option<bool>,
    /// Unix milliseconds.
    pub server_time: Option<i64>,
    /// The place with its rules and how many people are inside. `everybodyOut`: for the place and those above it that
    /// everybody leaves at a time of the day, the next such moments (`at`, Unix milliseconds), the places that they
    /// leave by it (`rooms`), and the types of attendees that stay (`except`).
    pub place: Option<Map<String, Value>>,
}
