//! The bodies that gates send and are sent, in the API's document.

use super::{
    badge::BadgeInput,
    codes::{CODES_MAX, CodesInput},
    evacuation::{EvacuationInput, TICKS_MAX},
    find::FindInput,
    walk_in::WalkInInput,
};
use crate::{
    domain::interactions::draft::NONCE_MAX_CHARS,
    types::text::{CODE_MAX_CHARS, TEXT_MAX_CHARS},
    web::schema::{
        Described, Properties, array, bounded_integer, bounded_text, example, free_object, id,
        inline, integer, nullable, object, one_of, plain, selector, sent_time, text, texts,
    },
};
use poem_openapi::registry::{MetaSchema, MetaSchemaRef};
use serde::Deserialize;
use serde_json::json;

/// The settings of a gate.
pub struct Gate;

impl Described for Gate {
    const NAME: &'static str = "Gate";

    fn schema() -> MetaSchema {
        let about = "The settings of a gate.";
        free_object(about).with_example(json!({
            "_type": "gate", "device": {"id": 12, "_type": "device"}, "instance": "Nordlicht 2026",
            "timeZone": "Europe/Berlin", "serverTime": 1_795_248_120_000_i64, "place": {"id": 5, "_type": "device", "name": "Entrance"},
            "places": [{"id": 5, "name": "Entrance", "type": "room"}], "policy": "admit", "configVersion": 3, "appVersion": "9f86d081884c7d65",
            "features": ["check-in", "check-out", "delegate-search", "delegate-create"], "allowRejected": false,
            "walkIn": {"types": ["Visitor", "Press"]}, "replaceBadge": true,
            "supervisorPin": {
                "salt": "5f1c", "hash": "9b71d224bd62f3785d96d46ad3ea3d73319bfbc2890caadae2dff72519673ca7", "iterations": 300_000
            },
            "message": {"text": "Doors open at 8:30", "at": 1_795_248_000_000_i64}
        }))
    }
}

/// An attendee as a gate shows them.
pub struct GateDelegate;

impl Described for GateDelegate {
    const NAME: &'static str = "GateDelegate";

    fn schema() -> MetaSchema {
        free_object("An attendee as a gate shows them; only properties that have a value appear. The first of `codes` is the barcode, unless `noTicket` says that they have none. `movedOn`: they checked in and not out, and are in another room since (`oneAtATime`). Whoever is inside has `since`, and `at` where it is at a place below. `rooms`: the places with a `capacity` that they are inside of; `elsewhere`: those of them in which they stay when they leave the place.").with_example(json!({
            "id": 17, "name": "Ada Lovelace", "category": "vip", "company": "Analytical Engines", "parent": 12, "codes": ["T-1"], "joined": true,
            "note": {"level": "info", "note": "Speaker"}, "lastIn": 1_795_248_120_000_i64, "entries": 1,
            "inside": true
        }))
    }
}

/// An attendee who came without a ticket.
pub struct GateWalkIn;

impl Described for GateWalkIn {
    const NAME: &'static str = "GateWalkIn";
    const META: &'static str = "{\"interaction\":99}";

    fn schema() -> MetaSchema {
        GateDelegate::schema()
    }

    fn meta() -> MetaSchemaRef {
        let replayed = plain("boolean", "`true`: the same nonce created them before.");
        let about = "The check-in; absent once it is deleted.";
        inline(
            plain("object", "")
                .optional("interaction", id(about))
                .optional("replayed", replayed),
        )
    }
}

/// Attendees that were found.
pub struct GateDelegates;

impl Described for GateDelegates {
    const NAME: &'static str = "GateDelegates";

    fn schema() -> MetaSchema {
        let found = json!([{"id": 17, "name": "Ada Lovelace", "codes": ["T-1"], "joined": true}]);
        example(array(inline(GateDelegate::schema()), "A few."), found)
    }
}

/// Ticket codes.
pub struct GateCodes;

impl Described for GateCodes {
    const NAME: &'static str = "GateCodes";

    fn schema() -> MetaSchema {
        example(
            texts("As many as were asked for."),
            json!(["W001Z5XK9QJ7R2M8"]),
        )
    }
}

impl Described for CodesInput {
    const NAME: &'static str = "GateCodesInput";

    fn schema() -> MetaSchema {
        let count = bounded_integer(1.0, CODES_MAX.into(), "How many codes.");
        plain("object", "How many ticket codes to make.")
            .required("count", count)
            .with_example(json!({"count": 50}))
    }
}

impl Described for WalkInInput {
    const NAME: &'static str = "WalkInInput";

    fn schema() -> MetaSchema {
        let property = |about| nullable(bounded_text(0, TEXT_MAX_CHARS, about));
        let admitted = "The gate let them in while it was offline: stored whatever the rules say.";
        let time = "When they came; the server's time without it.";
        plain("object", "Somebody who comes without a ticket, with a first or a last name.")
            .required("place", id("The id of the place."))
            .required("nonce", bounded_text(1, NONCE_MAX_CHARS, "Unique per client: a resend with it creates nothing twice."))
            .optional("firstName", property(""))
            .optional("lastName", property(""))
            .optional("email", property(""))
            .optional("delegateType", property("One of the settings' `walkInTypes`, where there are any; their `delegateType` without it."))
            .optional("code", nullable(bounded_text(1, CODE_MAX_CHARS, "The barcode; made by the server without it.")))
            .optional("recordedAt", nullable(sent_time(time)))
            .optional("admitted", nullable(plain("boolean", admitted)))
            .with_example(json!({
                "place": 5, "nonce": "0f5cbb1e", "firstName": "Ada", "lastName": "Lovelace", "email": "ada@example.org",
                "delegateType": "Visitor"
            }))
    }
}

impl Described for BadgeInput {
    const NAME: &'static str = "BadgeInput";

    fn schema() -> MetaSchema {
        let code = "The barcode of the new badge; made by the server without it.";
        let reason = "Why the codes are blocked; `reported lost` without it.";
        plain("object", "A lost badge and the one in its place.")
            .required(
                "delegate",
                one_of(
                    selector("a selector such as `scan:T-1`"),
                    "Whose badge was lost.",
                ),
            )
            .optional(
                "place",
                nullable(id(
                    "Where the answer shows the attendee; the gate's place without it.",
                )),
            )
            .optional("code", nullable(bounded_text(1, CODE_MAX_CHARS, code)))
            .optional("reason", nullable(bounded_text(1, 200, reason)))
            .required("pin", text("The supervisor PIN of the gate's settings."))
            .with_example(
                json!({"delegate": 17, "code": "NEW-1", "reason": "reported lost", "pin": "471100"}),
            )
    }
}

/// The body of a check of the supervisor PIN.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PinInput {
    pub pin: String,
}

impl Described for PinInput {
    const NAME: &'static str = "PinInput";

    fn schema() -> MetaSchema {
        plain("object", "What a supervisor typed.")
            .required("pin", text("The digits."))
            .with_example(json!({"pin": "471100"}))
    }
}

impl Described for FindInput {
    const NAME: &'static str = "GateFindInput";

    fn schema() -> MetaSchema {
        plain("object", "Who somebody at a kiosk is.")
            .required("place", id("The id of the place."))
            .optional(
                "name",
                nullable(bounded_text(
                    1,
                    TEXT_MAX_CHARS,
                    "The last name, or the first and the last. With `email`, and without `code`.",
                )),
            )
            .optional(
                "email",
                nullable(bounded_text(1, TEXT_MAX_CHARS, "The whole e-mail address.")),
            )
            .optional(
                "code",
                nullable(bounded_text(
                    1,
                    CODE_MAX_CHARS,
                    "The barcode of their ticket, in place of both.",
                )),
            )
            .with_example(json!({"place": 5, "name": "Lovelace", "email": "ada@example.org"}))
    }
}

/// The people inside a place.
pub struct GateEvacuation;

impl Described for GateEvacuation {
    const NAME: &'static str = "GateEvacuation";
    const META: &'static str = "{\"evacuation\":{\"id\":3,\"startedAt\":1795248000000},\"safe\":1,\"serverTime\":1795248130000}";

    fn schema() -> MetaSchema {
        let person = object(
            "Somebody on the list.",
            &["id"],
            vec![
                ("id", inline(id("Of the attendee."))),
                ("name", inline(text(""))),
                ("company", inline(text(""))),
                (
                    "place",
                    inline(text(
                        "Where they checked in last; absent once they have left.",
                    )),
                ),
                ("since", inline(integer("Unix milliseconds."))),
                (
                    "safe",
                    inline(free_object(
                        "When they were ticked (`at`, Unix milliseconds), and by whom (`by`).",
                    )),
                ),
            ],
        );
        example(
            array(inline(person), "Those who came last first."),
            json!([{
                "id": 17, "name": "Ada Lovelace", "company": "Analytical Engines", "place": "Stage",
                "since": 1_795_240_000_000_i64, "safe": {"at": 1_795_248_120_000_i64, "by": "Gate B"},
            }]),
        )
    }

    fn meta() -> MetaSchemaRef {
        inline(object(
            "",
            &[],
            vec![
                (
                    "evacuation",
                    inline(free_object(
                        "The evacuation whose ticks hold here; absent without one.",
                    )),
                ),
                (
                    "next",
                    inline(integer("Send it as `after`; absent on the last page.")),
                ),
                ("safe", inline(integer("How many are ticked."))),
                ("serverTime", inline(integer("Unix milliseconds."))),
            ],
        ))
    }
}

impl Described for EvacuationInput {
    const NAME: &'static str = "GateEvacuationInput";

    fn schema() -> MetaSchema {
        let tick = plain("object", "")
            .optional("delegate", nullable(id("Whom it is about.")))
            .optional(
                "safe",
                nullable(plain(
                    "boolean",
                    "`false` takes the tick back; `true` without it.",
                )),
            )
            .optional(
                "recordedAt",
                nullable(sent_time("When it was made; the server's time without it.")),
            );
        let mut ticks = array(inline(tick), "Ticks.");
        ticks.min_items = Some(1);
        ticks.max_items = Some(TICKS_MAX);
        plain("object", "Who was seen outside.")
            .required("place", id("The id of the place."))
            .required("ticks", ticks)
            .with_example(
                json!({"place": 5, "ticks": [{"delegate": 17, "recordedAt": 1_795_248_120}]}),
            )
    }
}

/// Changes of a gate's list.
pub struct GateChanges;

impl Described for GateChanges {
    const NAME: &'static str = "GateChanges";

    fn schema() -> MetaSchema {
        let change = object(
            "A change of the list.",
            &["cursor", "action", "kind"],
            vec![
                ("cursor", inline(text("Behind this change."))),
                (
                    "action",
                    inline(text("`upsert`, `delete` or `reset`, as in `GET /changes`.")),
                ),
                ("kind", inline(text("What happened to the record last."))),
                ("type", inline(text("`delegate` or `blocked-code`."))),
                ("id", inline(integer("Absent of a reset."))),
                (
                    "data",
                    inline(free_object(
                        "The attendee, or a blocked code with its reason.",
                    )),
                ),
            ],
        );
        example(
            array(inline(change), "In order."),
            json!([{"cursor": "AAEC", "action": "delete", "kind": "deleted", "type": "delegate", "id": 12}]),
        )
    }

    fn meta() -> MetaSchemaRef {
        inline(object(
            "",
            &[],
            vec![
                ("cursor", inline(text("To go on from."))),
                ("more", inline(plain("boolean", "There is more already."))),
                ("serverTime", inline(integer("Unix milliseconds."))),
                (
                    "place",
                    inline(free_object(
                        "The place with its rules and how many people are inside. `everybodyOut`: for the place and \
                         those above it that everybody leaves at a time of the day, the next such moments (`at`, Unix \
                         milliseconds), the places that they leave by it (`rooms`), and the types of attendees \
                         that stay (`except`).",
                    )),
                ),
            ],
        ))
    }
}
