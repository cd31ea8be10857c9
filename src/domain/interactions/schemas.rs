//! Interactions in the API's document.

use super::draft::{BatchInput, InteractionInput};
use crate::web::{
    error::ErrorDetail,
    record::Embedded,
    schema::{
        Described, array, bounded_text, example, formatted, free_object, id, inline, integer,
        matching_text, nullable, object, one_of, plain, selector, sent_time, text,
    },
};
use poem_openapi::registry::{MetaSchema, MetaSchemaRef, Registry};
use serde_json::{Value, json};

/// What an interaction type looks like.
const TYPE_PATTERN: &str = "^[a-z0-9][a-z0-9-]{0,63}$";

/// An interaction as it is answered.
pub struct InteractionShape;

impl Described for InteractionShape {
    const NAME: &'static str = "Interaction";

    fn schema() -> MetaSchema {
        let record = || MetaSchemaRef::Reference(Embedded::NAME.to_owned());
        let time = |about| inline(formatted("string", "date-time", about));
        example(
            object(
                "One to three delegates did something with one to three devices.",
                &["id", "_type"],
                vec![
                    ("id", inline(id(""))),
                    ("_type", inline(text("Always `interaction`."))),
                    ("firstDelegate", record()),
                    ("secondDelegate", record()),
                    ("thirdDelegate", record()),
                    ("firstDevice", record()),
                    ("secondDevice", record()),
                    ("thirdDevice", record()),
                    (
                        "interactionType",
                        inline(text("`check-in`, `check-out`, `join`, `lead` …")),
                    ),
                    (
                        "data",
                        inline(free_object(
                            "As stored; a form adds `answersData` and `reportData`.",
                        )),
                    ),
                    (
                        "recordedAt",
                        time("When it happened, as sent; the server's time without it."),
                    ),
                    ("createdAt", time("When it arrived.")),
                    ("updatedAt", time("")),
                ],
            ),
            json!({
                "id": 41, "_type": "interaction", "firstDelegate": {"id": 7, "_type": "delegate"},
                "firstDevice": {"id": 3, "_type": "device"}, "interactionType": "check-in",
                "recordedAt": "2026-11-21T09:02:00+00:00", "createdAt": "2026-11-21T09:02:00+00:00",
                "updatedAt": "2026-11-21T09:02:00+00:00"
            }),
        )
    }

    fn meta() -> MetaSchemaRef {
        InteractionMeta::reference()
    }

    fn register_parts(registry: &mut Registry) {
        Embedded::register(registry);
        InteractionMeta::register(registry);
    }
}

/// An interaction that was only tried.
pub struct TestedInteraction;

impl Described for TestedInteraction {
    const NAME: &'static str = "TestedInteraction";

    fn schema() -> MetaSchema {
        let mut schema = InteractionShape::schema();
        schema.description = Some("An interaction as it would be; nothing was written.");
        if let Some((_, shown)) = schema.properties.first_mut() {
            *shown = inline(nullable(id("Always `null`.")));
        }
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
        let repeat = object(
            "Of a check-in that passes although the delegate has been checked in at this device before.",
            &["count", "firstAt"],
            vec![
                (
                    "count",
                    inline(integer("How many check-ins there were before.")),
                ),
                (
                    "firstAt",
                    inline(formatted("string", "date-time", "When the first was.")),
                ),
            ],
        );
        let replayed = plain(
            "boolean",
            "`true`: the same nonce or `Idempotency-Key` created this before; nothing was created now.",
        );
        MetaSchema {
            additional_properties: Some(inline(MetaSchema::ANY).into()),
            ..object(
                "What there is to add to an interaction; often nothing.",
                &[],
                vec![
                    ("error", ErrorDetail::reference()),
                    ("replayed", inline(replayed)),
                    ("note", GateNote::reference()),
                    ("repeat", inline(repeat)),
                ],
            )
        }
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
        let level = MetaSchema {
            enum_items: vec![json!("info"), json!("warning"), json!("stop")],
            ..text("A gate shows `stop` red: a steward decides.")
        };
        object(
            "What the crew wrote about the first delegate, for gates to show.",
            &["level", "note"],
            vec![("level", inline(level)), ("note", inline(text("")))],
        )
    }
}

impl Described for InteractionInput {
    const NAME: &'static str = "InteractionInput";

    fn schema() -> MetaSchema {
        let participant = |about| {
            inline(nullable(one_of(
                selector("a selector such as `barcode:ABC`"),
                about,
            )))
        };
        let ignored = || {
            inline(MetaSchema {
                description: Some("Read-only; ignored when sent."),
                ..MetaSchema::ANY
            })
        };
        example(
            object(
                "An interaction to record: at least a delegate or a device, a second only after a first.",
                &[],
                vec![
                    ("firstDelegate", participant("A delegate's id or selector.")),
                    ("secondDelegate", participant("")),
                    ("thirdDelegate", participant("")),
                    ("firstDevice", participant("A device's id or selector.")),
                    ("secondDevice", participant("")),
                    ("thirdDevice", participant("")),
                    ("delegate", participant("In place of `firstDelegate`.")),
                    ("device", participant("In place of `firstDevice`.")),
                    (
                        "recordedAt",
                        inline(nullable(sent_time(
                            "When it happened; the server's time without it.",
                        ))),
                    ),
                    (
                        "data",
                        inline(nullable(free_object(
                            "With `form` and `answers` it is a form and reshaped.",
                        ))),
                    ),
                    (
                        "nonce",
                        inline(nullable(bounded_text(
                            1,
                            super::draft::NONCE_MAX_CHARS,
                            "Unique per client: a resend with it creates nothing twice.",
                        ))),
                    ),
                    (
                        "admitted",
                        inline(nullable(plain(
                            "boolean",
                            "The gate let the person in already: stored whatever the rules say.",
                        ))),
                    ),
                    (
                        "interactionType",
                        inline(nullable(matching_text(
                            TYPE_PATTERN,
                            "In a batch; elsewhere the path says it.",
                        ))),
                    ),
                    ("id", ignored()),
                    ("_type", ignored()),
                    ("createdAt", ignored()),
                    ("updatedAt", ignored()),
                ],
            ),
            json!({"firstDelegate": "barcode:TICKET-0007", "firstDevice": "code:gate-b", "recordedAt": 1_795_251_720, "nonce": "b1946ac9-1"}),
        )
    }
}

impl Described for BatchInput {
    const NAME: &'static str = "BatchInput";

    fn schema() -> MetaSchema {
        let items = MetaSchema {
            additional_properties: Some(Box::new(InteractionInput::reference())),
            max_properties: Some(10_000),
            ..plain(
                "object",
                "Interactions by a key of the client's choice, recorded in this order. One that does not fit fails alone.",
            )
        };
        example(
            object(
                "Interactions to record in order.",
                &["interactions"],
                vec![
                    ("interactions", inline(items)),
                    (
                        "sharedValues",
                        inline(free_object(
                            "Values by name; `{\"$shared\": \"name\"}` anywhere in an item's `data` stands for one.",
                        )),
                    ),
                ],
            ),
            json!({
                "interactions": {
                    "a": {"interactionType": "check-in", "firstDelegate": "barcode:TICKET-0007", "firstDevice": "code:gate-b", "nonce": "1"},
                    "b": {"interactionType": "lead", "firstDelegate": "barcode:TICKET-0008", "firstDevice": "code:stand-4", "data": {"photo": {"$shared": "p"}}}
                },
                "sharedValues": {"p": "iVBORw0KGgo="}
            }),
        )
    }

    fn register_parts(registry: &mut Registry) {
        InteractionInput::register(registry);
    }
}

/// The answers to a batch.
pub struct BatchAnswer;

impl Described for BatchAnswer {
    const NAME: &'static str = "BatchAnswer";

    fn schema() -> MetaSchema {
        let nothing = MetaSchema {
            max_properties: Some(0),
            ..plain("object", "Of an item that failed.")
        };
        let data = MetaSchema {
            any_of: vec![InteractionShape::reference(), inline(nothing)],
            description: Some(
                "The interaction, or `{}`. References to shared values stand in it as they were sent.",
            ),
            ..MetaSchema::ANY
        };
        let item = object(
            "What the single call would have answered.",
            &["key", "status", "data", "meta"],
            vec![
                ("key", inline(text("The item's key."))),
                (
                    "status",
                    inline(integer("The HTTP status it would have had.")),
                ),
                ("data", inline(data)),
                ("meta", InteractionMeta::reference()),
            ],
        );
        let recorded = InteractionShape::schema().example;
        example(
            array(inline(item), "One answer an item, in their order."),
            json!([
                {"key": "a", "status": 201, "data": recorded, "meta": {}},
                {"key": "b", "status": 412, "data": {}, "meta": {"error": {
                    "code": 412, "message": "already used at Gate B at 09:02", "internalCode": 740
                }}},
            ]),
        )
    }

    fn register_parts(registry: &mut Registry) {
        InteractionShape::register(registry);
    }
}
