//! Interactions in the API's document.

use super::{
    draft::{BatchInput, InteractionInput, NONCE_MAX_CHARS},
    types::TYPES,
};
use crate::web::{
    error::ErrorDetail,
    record::Embedded,
    schema::{Described, from_json},
};
use poem_openapi::registry::{MetaSchema, MetaSchemaRef, Registry};
use serde_json::{Value, json};

/// The pattern of an interaction type.
const TYPE_PATTERN: &str = "^[a-z0-9][a-z0-9-]{0,63}$";

/// Describes the types for the API's document.
fn about_types() -> String {
    let names: Vec<String> = TYPES
        .iter()
        .map(|known| format!("`{}`", known.name))
        .collect();
    format!("One of {}, or any other.", names.join(", "))
}

/// An interaction as it is answered.
pub struct InteractionShape;

impl Described for InteractionShape {
    const NAME: &'static str = "Interaction";

    fn schema() -> MetaSchema {
        let record = json!({"$ref": "Embedded"});
        let time =
            |about: &str| json!({"type": "string", "format": "date-time", "description": about});
        from_json(&json!({
            "type": "object",
            "description": "One to three delegates did something with one to three devices.",
            "required": ["id", "_type"],
            "properties": {
                "id": {"type": "integer", "format": "int64", "minimum": 1},
                "_type": {"type": "string", "description": "Always `interaction`."},
                "firstDelegate": record, "secondDelegate": record, "thirdDelegate": record,
                "firstDevice": record, "secondDevice": record, "thirdDevice": record,
                "interactionType": {"type": "string", "description": about_types()},
                "data": {
                    "type": "object", "additionalProperties": {},
                    "description": "As stored; a form adds `answersData` and `reportData`.",
                },
                "recordedAt": time("When it happened, as sent; the server's time without it."),
                "createdAt": time("When it arrived."),
                "updatedAt": {"type": "string", "format": "date-time"},
            },
            "example": {
                "id": 41, "_type": "interaction", "firstDelegate": {"id": 7, "_type": "delegate"},
                "firstDevice": {"id": 3, "_type": "device"}, "interactionType": "check-in",
                "recordedAt": "2026-11-21T09:02:00+00:00", "createdAt": "2026-11-21T09:02:00+00:00",
                "updatedAt": "2026-11-21T09:02:00+00:00",
            },
        }))
    }

    fn meta() -> MetaSchemaRef {
        InteractionMeta::reference()
    }

    fn register_parts(registry: &mut Registry) {
        Embedded::register(registry);
        InteractionMeta::register(registry);
    }
}

/// An interaction as recording it answers.
pub struct RecordedInteraction;

impl Described for RecordedInteraction {
    const NAME: &'static str = "RecordedInteraction";

    fn schema() -> MetaSchema {
        without_id(
            "An interaction that was recorded.",
            "`null` of a scan that waits until somebody has its code (`meta.unknown`).",
        )
    }

    fn meta() -> MetaSchemaRef {
        InteractionMeta::reference()
    }

    fn register_parts(registry: &mut Registry) {
        InteractionShape::register(registry);
    }
}

/// An interaction whose id may be `null`.
fn without_id(about: &'static str, about_id: &'static str) -> MetaSchema {
    let mut schema = InteractionShape::schema();
    schema.description = Some(about);
    if let Some((_, MetaSchemaRef::Inline(id))) = schema.properties.first_mut() {
        id.nullable = true;
        id.description = Some(about_id);
    }
    schema
}

/// An interaction that was only tried.
pub struct TestedInteraction;

impl Described for TestedInteraction {
    const NAME: &'static str = "TestedInteraction";

    fn schema() -> MetaSchema {
        let about = "An interaction as it would be; nothing was written.";
        let mut schema = without_id(about, "Always `null`.");
        if let Some(example) = &mut schema.example {
            example["id"] = Value::Null;
        }
        schema
    }

    fn meta() -> MetaSchemaRef {
        InteractionMeta::reference()
    }

    fn register_parts(registry: &mut Registry) {
        InteractionShape::register(registry);
    }
}

/// The `meta` of an interaction.
struct InteractionMeta;

impl Described for InteractionMeta {
    const NAME: &'static str = "InteractionMeta";

    fn schema() -> MetaSchema {
        from_json(&json!({
            "type": "object",
            "description": "What there is to add to an interaction; often nothing.",
            "additionalProperties": {},
            "properties": {
                "error": {"$ref": "ErrorDetail"},
                "replayed": {
                    "type": "boolean",
                    "description": "`true`: the same nonce or `Idempotency-Key` created this before; nothing was created now.",
                },
                "unknown": {
                    "type": "boolean",
                    "description": "`true`: a gate admitted it and nobody has its code. It is recorded, with this `recordedAt`, as soon as somebody does; until then it counts as inside.",
                },
                "warning": {"type": "string", "description": "What looks like a mistake, such as the spelling of the type."},
                "note": {"$ref": "GateNote"},
                "repeat": {
                    "type": "object",
                    "description": "Of a check-in that passes although the delegate has been checked in at this device before.",
                    "required": ["count", "firstAt"],
                    "properties": {
                        "count": {
                            "type": "integer", "format": "int64",
                            "description": "How many check-ins there were before, counted up to 100.",
                        },
                        "firstAt": {"type": "string", "format": "date-time", "description": "When the first was."},
                    },
                },
            },
        }))
    }

    fn register_parts(registry: &mut Registry) {
        ErrorDetail::register(registry);
        GateNote::register(registry);
    }
}

/// A note of the crew about a delegate.
struct GateNote;

impl Described for GateNote {
    const NAME: &'static str = "GateNote";

    fn schema() -> MetaSchema {
        from_json(&json!({
            "type": "object",
            "description": "What the crew wrote about the first delegate, for gates to show.",
            "required": ["level", "note"],
            "properties": {
                "level": {
                    "type": "string", "enum": ["info", "warning", "stop"],
                    "description": "A gate shows `stop` red: a steward decides.",
                },
                "note": {"type": "string"},
            },
        }))
    }
}

impl Described for InteractionInput {
    const NAME: &'static str = "InteractionInput";

    fn schema() -> MetaSchema {
        let participant = |about: &str| {
            json!({"description": about, "anyOf": [
                {"type": "integer", "format": "int64", "minimum": 1, "description": "an id", "nullable": true},
                {"type": "string", "pattern": "^[A-Za-z]+:", "description": "a selector such as `barcode:ABC`"},
            ]})
        };
        let ignored = json!({"description": "Read-only; ignored when sent."});
        from_json(&json!({
            "type": "object",
            "description": "An interaction to record: at least a delegate or a device, a second only after a first.",
            "properties": {
                "firstDelegate": participant("A delegate's id or selector."),
                "secondDelegate": participant(""), "thirdDelegate": participant(""),
                "firstDevice": participant("A device's id or selector."),
                "secondDevice": participant(""), "thirdDevice": participant(""),
                "delegate": participant("In place of `firstDelegate`."),
                "device": participant("In place of `firstDevice`."),
                "recordedAt": {
                    "description": "When it happened; the server's time without it.",
                    "anyOf": [
                        {"type": "string", "nullable": true, "description": "ISO 8601 or `yyyy-mm-dd hh:mm:ss`"},
                        // The years 1 to 9999.
                        {
                            "type": "integer", "format": "int64", "description": "Unix seconds",
                            "minimum": -62_135_596_800_i64, "maximum": 253_402_300_799_i64,
                        },
                    ],
                },
                "data": {
                    "type": "object", "nullable": true, "additionalProperties": {},
                    "description": "With `form` and `answers` it is a form and reshaped.",
                },
                "nonce": {
                    "type": "string", "nullable": true, "minLength": 1, "maxLength": NONCE_MAX_CHARS,
                    "description": "Unique per client: a resend with it creates nothing twice.",
                },
                "admitted": {
                    "type": "boolean", "nullable": true,
                    "description": "The gate let the person in already: stored whatever the rules say, and though nobody has the code.",
                },
                "interactionType": {
                    "type": "string", "nullable": true, "pattern": TYPE_PATTERN,
                    "description": "In a batch; elsewhere the path says it.",
                },
                "id": ignored, "_type": ignored, "createdAt": ignored, "updatedAt": ignored,
            },
            "example": {
                "firstDelegate": "barcode:TICKET-0007", "firstDevice": "code:gate-b", "recordedAt": 1_795_251_720,
                "nonce": "b1946ac9-1",
            },
        }))
    }
}

impl Described for BatchInput {
    const NAME: &'static str = "BatchInput";

    fn schema() -> MetaSchema {
        from_json(&json!({
            "type": "object",
            "description": "Interactions to record in order.",
            "required": ["interactions"],
            "properties": {
                "interactions": {
                    "type": "object", "maxProperties": 10_000, "additionalProperties": {"$ref": "InteractionInput"},
                    "description": "Interactions by a key of the client's choice, recorded in this order. One that does not fit fails alone.",
                },
                "sharedValues": {
                    "type": "object", "additionalProperties": {},
                    "description": "Values by name; `{\"$shared\": \"name\"}` anywhere in an item's `data` stands for one.",
                },
            },
            "example": {
                "interactions": {
                    "a": {"interactionType": "check-in", "firstDelegate": "barcode:TICKET-0007", "firstDevice": "code:gate-b", "nonce": "1"},
                    "b": {"interactionType": "lead", "firstDelegate": "barcode:TICKET-0008", "firstDevice": "code:stand-4", "data": {"photo": {"$shared": "p"}}},
                },
                "sharedValues": {"p": "iVBORw0KGgo="},
            },
        }))
    }

    fn register_parts(registry: &mut Registry) {
        InteractionInput::register(registry);
    }
}

pub struct BatchAnswer;

impl Described for BatchAnswer {
    const NAME: &'static str = "BatchAnswer";

    fn schema() -> MetaSchema {
        let recorded = InteractionShape::schema().example;
        from_json(&json!({
            "type": "array",
            "description": "One answer an item, in their order.",
            "items": {
                "type": "object",
                "description": "What the single call would have answered.",
                "required": ["key", "status", "data", "meta"],
                "properties": {
                    "key": {"type": "string", "description": "The item's key."},
                    "status": {"type": "integer", "format": "int64", "description": "The HTTP status it would have had."},
                    "data": {
                        "description": "The interaction, or `{}`. References to shared values stand in it as they were sent.",
                        "anyOf": [
                            {"$ref": "RecordedInteraction"},
                            {"type": "object", "maxProperties": 0, "description": "Of an item that failed."},
                        ],
                    },
                    "meta": {"$ref": "InteractionMeta"},
                },
            },
            "example": [
                {"key": "a", "status": 201, "data": recorded, "meta": {}},
                {"key": "b", "status": 412, "data": {}, "meta": {"error": {
                    "code": 412, "message": "already used at Gate B at 09:02", "internalCode": 740,
                }}},
            ],
        }))
    }

    fn register_parts(registry: &mut Registry) {
        RecordedInteraction::register(registry);
    }
}
