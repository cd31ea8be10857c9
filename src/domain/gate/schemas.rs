//! Shapes that gates send and are sent, where no other module has them.

use crate::{
    core::{rules::AccessRules, standby::Durable},
    domain::{apps::parameters::POLICIES, interactions::schemas::GateNote},
    web::record::Embedded,
};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;

/// The settings of a gate.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", example = json!({
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
pub struct Gate {
    /// Always `gate`.
    #[schemars(rename = "_type")]
    pub record_type: String,
    /// The app; absent of a client that is none.
    pub device: Option<Embedded>,
    /// The name of the event.
    pub instance: String,
    /// IANA name.
    pub time_zone: String,
    /// Unix milliseconds.
    pub server_time: i64,
    /// The version of the app that the server has.
    pub app_version: String,
    /// The place of the settings, where the app may use it.
    pub place: Option<PlaceOfSettings>,
    /// Places to choose from.
    pub places: Vec<OfferedPlace>,
    /// The people whom it admits offline.
    #[schemars(extend("enum" = POLICIES.iter().map(|(name, _)| *name).collect::<Vec<_>>()))]
    pub policy: String,
    pub config_version: i64,
    pub features: Vec<String>,
    pub allow_rejected: bool,
    pub supervisor_pin: Option<GatePin>,
    /// `true` where lost badges may be replaced.
    pub replace_badge: Option<bool>,
    /// `true` where a printer prints badges for it.
    pub prints: Option<bool>,
    pub walk_in: Option<GateWalkIns>,
    pub kiosk: Option<GateKiosk>,
    pub scans: Option<GateScans>,
    pub tickets: Option<GateTickets>,
    pub message: Option<GateMessage>,
    pub evacuation: Option<RunningEvacuation>,
    pub durable: Option<Durable>,
}

#[derive(JsonSchema)]
#[schemars(inline)]
pub struct PlaceOfSettings {
    /// Always `device`.
    #[schemars(rename = "_type")]
    pub record_type: String,
    #[schemars(range(min = 1))]
    pub id: i64,
    pub name: String,
}

#[derive(JsonSchema)]
#[schemars(inline)]
pub struct NamedPlace {
    #[schemars(range(min = 1))]
    pub id: i64,
    pub name: String,
}

#[derive(JsonSchema)]
#[schemars(inline)]
pub struct OfferedPlace {
    #[schemars(range(min = 1))]
    pub id: i64,
    pub name: String,
    #[schemars(required, extend("nullable" = true))]
    pub r#type: Option<String>,
}

/// Hexadecimal; how it is made is said at `GET /gate`.
#[derive(JsonSchema)]
#[schemars(inline)]
pub struct GatePin {
    pub salt: String,
    pub hash: String,
    pub iterations: Option<i64>,
}

/// Registration of people without a ticket, where it is allowed.
#[derive(JsonSchema)]
#[schemars(example = json!({"types": ["Visitor", "Press"]}))]
pub struct GateWalkIns {
    /// Types to choose from.
    pub types: Vec<String>,
}

/// The settings of a kiosk, where attendees check themselves in.
#[derive(JsonSchema)]
#[schemars(inline, rename_all = "camelCase")]
pub struct GateKiosk {
    pub languages: Vec<String>,
    pub walk_in: bool,
    pub idle_seconds: i64,
}

#[derive(JsonSchema)]
#[schemars(inline)]
pub struct GateScans {
    /// The part of a scanned text that is the code.
    pub code: String,
}

/// Signed tickets, where there is or was a key.
#[derive(JsonSchema)]
#[schemars(example = json!({
    "keys": [{"kid": 2, "publicKey": "5f1c…", "days": [1_795_744_800_000_i64, 1_795_831_200_000_i64]}, {"kid": 1, "retired": true}],
    "types": {"48120": "Visitor"}, "cancelled": [71_336_112_894_013_i64]
}))]
pub struct GateTickets {
    pub keys: Vec<GateTicketKey>,
    /// Types of attendees by the numbers that tickets have of them.
    pub types: BTreeMap<String, String>,
    /// Serials of tickets that nobody may use any more, besides those of blocked codes.
    pub cancelled: Vec<i64>,
}

#[derive(JsonSchema)]
#[schemars(inline, rename_all = "camelCase")]
pub struct GateTicketKey {
    #[schemars(range(min = 1, max = 255))]
    pub kid: i64,
    /// Ed25519, in hexadecimal digits; absent of one that was retired.
    pub public_key: Option<String>,
    /// When the days begin that tickets name by bits, and when the last of them ends: Unix milliseconds.
    pub days: Option<Vec<i64>>,
    /// `true`: nothing that it signed is valid any more.
    pub retired: Option<bool>,
}

/// A message of the crew to all gates.
#[derive(JsonSchema)]
#[schemars(inline)]
pub struct GateMessage {
    pub text: String,
    /// Unix milliseconds.
    pub at: i64,
}

/// An evacuation that runs, wherever it is.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", example = json!({"startedAt": 1_795_248_000_000_i64}))]
pub struct RunningEvacuation {
    /// Unix milliseconds.
    pub started_at: i64,
}

/// An attendee as a gate shows them; only properties that have a value appear. Times are Unix milliseconds.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", example = json!({
    "id": 17, "name": "Ada Lovelace", "category": "vip", "company": "Analytical Engines", "parent": 12, "codes": ["T-1"], "joined": true,
    "note": {"level": "info", "note": "Speaker"}, "lastIn": 1_795_248_120_000_i64, "entries": 1,
    "inside": true
}))]
pub struct GateDelegate {
    #[schemars(range(min = 1))]
    pub id: i64,
    /// First and last name; of somebody without one the barcode, the company, or `No. 17`.
    pub name: Option<String>,
    /// The type of attendee.
    pub category: Option<String>,
    pub company: Option<String>,
    /// The booking or group that they belong to.
    pub parent: Option<i64>,
    /// The barcode first, unless `noTicket`.
    pub codes: Option<Vec<String>>,
    /// `true`: they have no barcode.
    pub no_ticket: Option<bool>,
    pub photo: Option<String>,
    pub note: Option<GateNote>,
    /// `true`: registered for the place.
    pub joined: Option<bool>,
    /// The last check-in.
    pub last_in: Option<i64>,
    /// The door that it was at.
    pub last_door: Option<String>,
    /// The check-out after it.
    pub last_out: Option<i64>,
    /// Check-ins, counted up to 100.
    pub entries: Option<i64>,
    /// Check-ins on the day of the last one, where `maxCheckIns` counts each day.
    pub day_entries: Option<i64>,
    pub inside: Option<bool>,
    /// The time since when they are inside.
    pub since: Option<i64>,
    /// The place below at which they are inside.
    pub at: Option<String>,
    /// `true`: inside until a day began.
    pub inside_before: Option<bool>,
    /// `true`: they checked in and not out, and are in another room since (`oneAtATime`).
    pub moved_on: Option<bool>,
    /// The places with a `capacity` that they are inside of.
    pub rooms: Option<Vec<i64>>,
    /// The part of `rooms` in which they stay when they leave the place.
    pub elsewhere: Option<Vec<i64>>,
}

/// An attendee who came without a ticket, as a gate shows them, see `GateDelegate`; `{}` where they were registered
/// before and are deleted since.
#[derive(JsonSchema)]
#[schemars(extend("required" = []))]
pub struct GateWalkIn(#[schemars(schema_with = "GateDelegate::json_schema")] pub GateDelegate);

#[derive(JsonSchema)]
#[schemars(inline, example = json!({"interaction": 99}))]
pub struct GateWalkInMeta {
    /// The check-in; absent once it is deleted.
    #[schemars(range(min = 1))]
    pub interaction: Option<i64>,
    /// `true`: the same nonce created them before.
    pub replayed: Option<bool>,
    /// The `delegateType` that was sent is not one to choose from.
    pub warning: Option<String>,
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
    pub safe: Option<SafeTick>,
}

/// A tick of an evacuation list.
#[derive(JsonSchema)]
#[schemars(inline)]
pub struct SafeTick {
    /// Unix milliseconds.
    pub at: i64,
    /// The gate or the user who ticked.
    pub by: String,
}

#[derive(JsonSchema)]
#[schemars(
    inline,
    rename_all = "camelCase",
    example = json!({"evacuation": {"id": 3, "startedAt": 1_795_248_000_000_i64}, "safe": 1, "serverTime": 1_795_248_130_000_i64, "unnamed": 0}),
)]
pub struct GateEvacuationMeta {
    /// The evacuation whose ticks hold here; absent without one.
    pub evacuation: Option<EvacuationShown>,
    /// Send it as `after`; absent on the last page.
    pub next: Option<i64>,
    /// The number of people who are ticked.
    pub safe: Option<i64>,
    /// Unix milliseconds.
    pub server_time: Option<i64>,
    /// The number of people inside whom a gate admitted by a code that nobody has yet: they have no name to tick.
    pub unnamed: Option<i64>,
}

#[derive(JsonSchema)]
#[schemars(inline, rename_all = "camelCase")]
pub struct EvacuationShown {
    pub id: i64,
    /// Unix milliseconds.
    pub started_at: i64,
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
    pub data: Option<GateRecord>,
}

#[derive(JsonSchema)]
#[schemars(inline, untagged)]
pub enum GateRecord {
    Delegate(Box<GateDelegate>),
    BlockedCode(GateBlockedCode),
}

#[derive(JsonSchema)]
#[schemars(inline)]
pub struct GateBlockedCode {
    pub code: String,
    pub reason: String,
}

#[derive(JsonSchema)]
#[schemars(inline, rename_all = "camelCase", example = json!({"cursor": "AAEC", "more": true}))]
pub struct GateChangesMeta {
    /// To go on from.
    pub cursor: String,
    /// There is more already.
    pub more: bool,
    /// Unix milliseconds.
    pub server_time: Option<i64>,
    pub place: Option<PlaceAtGate>,
}

/// A place as a gate needs it to judge by itself. At a door, the rules and the people are those of its place, and `door`
/// has what the door sets. Times are Unix milliseconds.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", example = json!({
    "id": 5, "name": "Entrance", "available": true, "rules": {"ruleSet": "simple"}, "daily": false, "days": [1_795_215_600_000_i64],
    "rooms": [{"id": 5, "name": "Entrance", "capacity": 200, "inside": 17}], "inside": 17, "hasPlacesBelow": false,
}))]
pub struct PlaceAtGate {
    /// The place of the gate: the door, at a door.
    #[schemars(range(min = 1))]
    pub id: i64,
    pub name: String,
    pub available: bool,
    pub start_at: Option<i64>,
    pub end_at: Option<i64>,
    #[schemars(schema_with = "rules")]
    pub rules: AccessRules,
    /// `true`: stays end with the day.
    pub daily: bool,
    /// The times at which days begin.
    pub days: Vec<i64>,
    /// The place and those above it where a capacity counts.
    pub rooms: Vec<GateRoom>,
    /// The number of people inside.
    pub inside: i64,
    /// `true`: people inside may have checked in at places below.
    pub has_places_below: bool,
    /// For the place and those above it that everybody leaves at a time of the day, the next such moments.
    pub everybody_out: Option<Vec<EverybodyOut>>,
    /// Every door of the place: scans at all of them count here.
    pub doors: Option<Vec<NamedPlace>>,
    /// The place of the door.
    pub door_of: Option<NamedPlace>,
    pub door: Option<GateDoor>,
}

#[derive(JsonSchema)]
#[schemars(inline)]
pub struct GateRoom {
    #[schemars(range(min = 1))]
    pub id: i64,
    pub name: String,
    pub capacity: i64,
    /// The number of people inside.
    pub inside: i64,
    /// `true`: stays end with the day.
    pub daily: Option<bool>,
}

#[derive(JsonSchema)]
#[schemars(inline)]
pub struct EverybodyOut {
    /// The places that they leave, the gate's own among them.
    pub rooms: Vec<i64>,
    /// In order.
    pub at: Vec<i64>,
    /// The types of attendees that stay.
    pub except: Vec<String>,
}

/// The times and rules that a door sets, which must pass, too.
#[derive(JsonSchema)]
#[schemars(inline, rename_all = "camelCase")]
pub struct GateDoor {
    pub available: bool,
    pub start_at: Option<i64>,
    pub end_at: Option<i64>,
    #[schemars(schema_with = "rules")]
    pub rules: AccessRules,
}

/// The rules in force, with times of types as a gate is told them; `null` where nobody can read them.
fn rules(generator: &mut SchemaGenerator) -> Schema {
    let mut rules = AccessRules::json_schema(generator);
    let times = generator.subschema_for::<Vec<GateTypeTime>>();
    if let Some(properties) = rules.get_mut("properties") {
        properties["typeTimes"] = times.to_value();
    }
    rules.insert("nullable".to_owned(), true.into());
    rules
}

/// A time in which types of attendees may enter.
#[derive(JsonSchema)]
#[schemars(inline)]
pub struct GateTypeTime {
    pub types: Vec<String>,
    pub from: GateTime,
    /// Exclusive.
    pub until: GateTime,
}

#[derive(JsonSchema)]
#[schemars(inline, untagged)]
pub enum GateTime {
    /// `hh:mm` of every day
    Daily(String),
    /// Unix milliseconds
    At(i64),
}
