//! `/gate/...` (contract §9): what a gate app needs beside the interactions that it records.

use super::{list::GateList, place};
use crate::{
    core::{
        search::{Part, Search},
        settings::gate_message,
    },
    domain::{
        apps::GateSettings,
        delegates::SEARCHED,
        feed::{Cursor, Reader, whole},
    },
    identity::{App, Granted, roles::UseGate},
    types::{
        DeviceId, Timestamp,
        error::{Error, Result},
    },
    web::{
        Answer, Outcome,
        schema::{
            Described, Properties, array, example, free_object, inline, integer, object, plain,
            text,
        },
    },
};
use poem_openapi::{
    OpenApi,
    param::Query,
    registry::{MetaSchema, MetaSchemaRef},
};
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};

/// Changes on a page without `limit`.
const LIMIT: usize = 2_000;
const LIMIT_MAX: usize = 10_000;
const WAIT_MAX_S: usize = 60;
/// Letters of a search: a gate has no list to leaf through.
const LETTERS_MIN: usize = 3;
/// Attendees that a search finds.
const HITS_MAX: u64 = 8;

/// The endpoints.
pub struct GateApi {
    pub app: App,
}

#[OpenApi(tag = "crate::web::Tag::Gates")]
impl GateApi {
    /// Get the settings of a gate
    ///
    /// Where the app checks in (`place`), the places that it may choose, whom it admits while it is
    /// offline (`policy`), and the server's time, in Unix milliseconds. `supervisorPin` has the hexadecimal
    /// SHA-256 of the bytes of `salt` and the digits; where there is a PIN, `replaceBadge` says that lost
    /// badges may be replaced here. `walkIn` is there where people may be registered, with the `types` to
    /// choose from; `kiosk` where attendees check themselves in. `message` is what the crew tells all
    /// gates. Needs `ROLE_OAUTH2_GATE`.
    #[oai(path = "/gate", method = "get", operation_id = "getGate")]
    async fn get(&self, caller: Granted<UseGate>) -> Outcome<Answer<Gate>> {
        let app = caller.device;
        let (gate, message) = self.app.store.look_up(|connection| {
            let gate = GateSettings::read(connection, app)?;
            Ok((gate, gate_message::current(connection)?))
        })?;
        let places: Vec<_> = gate
            .places
            .iter()
            .map(|place| json!({"id": place.id, "name": place.name, "type": place.kind}))
            .collect();
        let place = gate.place.filter(|id| gate.check_place(*id).is_ok());
        let settings = self.app.settings();
        let mut shown = json!({
            "_type": "gate",
            "instance": settings.name(),
            "timeZone": settings.zone.iana_name(),
            "serverTime": Timestamp::now().0,
            "places": places,
            "policy": gate.policy.name(),
            "configVersion": gate.version,
            "features": gate.all.get("availableFeatures").cloned().unwrap_or(json!(["check-in", "check-out", "delegate-search"])),
            "allowRejected": gate.all.get("allowRejected") == Some(&json!(true)),
        });
        if let Some(app) = app {
            shown["device"] = json!({"id": app, "_type": "device"});
        }
        if let Some(place) = place {
            shown["place"] = json!({"id": place, "_type": "device"});
        }
        if let Some(pin) = &gate.supervisor_pin {
            shown["supervisorPin"] = pin.clone();
            shown["replaceBadge"] = json!(true);
        }
        if let Some(types) = &gate.walk_in {
            shown["walkIn"] = json!({"types": types});
        }
        if let Some(kiosk) = &gate.kiosk {
            shown["kiosk"] = json!({
                "languages": kiosk.languages, "walkIn": kiosk.walk_in, "idleSeconds": kiosk.idle_seconds,
            });
        }
        if let Some(message) = message {
            shown["message"] = json!({"text": message.text, "at": message.at});
        }
        Ok(Answer::of(&shown.to_string()))
    }

    /// Follow the attendees of a place
    ///
    /// What a gate needs to judge while it is offline: attendees by name, category and codes, whether they
    /// are registered for the place, and what they did there, blocked codes, and in `meta.place` the place
    /// with its rules. `photo` is `data.Data.photo` or `data.Photo.url`, of at most 100,000 bytes. A change feed as `GET /changes`: without `since` a snapshot, then what changed. Times
    /// are Unix milliseconds. After a 401 with `1204` (revoked) the app deletes its copy. Needs
    /// `ROLE_OAUTH2_GATE`, and a place of the gate's settings.
    #[oai(
        path = "/gate/snapshot",
        method = "get",
        operation_id = "getGateSnapshot"
    )]
    async fn snapshot(
        &self,
        caller: Granted<UseGate>,
        /// The id of the place.
        place: Query<i64>,
        /// The cursor of the last change that was applied, or `meta.cursor`; a snapshot without it.
        since: Query<Option<String>>,
        /// Changes on a page, 1 to 10,000; 2,000 without it.
        limit: Query<Option<i64>>,
        /// Holds the answer for up to so many seconds, 60 at most, until there is a change.
        wait: Query<Option<i64>>,
    ) -> Outcome<Answer<GateChanges>> {
        let place = self.place(&caller, place.0)?;
        let since = since.0.as_deref().map(Cursor::parse).transpose()?;
        let limit = whole("limit", limit.0, 1, LIMIT_MAX)?.unwrap_or(LIMIT);
        let wait = whole("wait", wait.0, 0, WAIT_MAX_S)?.unwrap_or(0);
        let default = self.app.settings().access;
        let list = Arc::new(GateList::at(place, default));
        let mut reader = Reader::new(&self.app, list, since, limit);
        let page = reader.wait(Duration::from_secs(wait as u64)).await?;
        let shown = self
            .app
            .store
            .look_up(|connection| place::shown(connection, place, default))?;
        let meta = json!({
            "cursor": page.cursor.encoded(), "more": page.more, "place": shown,
            "serverTime": Timestamp::now().0,
        });
        Ok(Answer::with_meta(&page.data(), &meta.to_string()))
    }

    /// Search attendees at a gate
    ///
    /// By the beginnings of words, three letters or more; at most 8. Needs `ROLE_OAUTH2_GATE`, and a place of
    /// the gate's settings.
    #[oai(path = "/gate/search", method = "get", operation_id = "searchGate")]
    async fn search(
        &self,
        caller: Granted<UseGate>,
        /// The id of the place.
        place: Query<i64>,
        /// Words of a name, an e-mail address or a company, or a code.
        q: Query<String>,
    ) -> Outcome<Answer<GateDelegates>> {
        let place = self.place(&caller, place.0)?;
        let words = q.0.trim().to_owned();
        if words
            .chars()
            .filter(|letter| letter.is_alphanumeric())
            .count()
            < LETTERS_MIN
        {
            return Err(
                Error::invalid(format!("q: must have {LETTERS_MIN} letters or more")).into(),
            );
        }
        let list = GateList::at(place, self.app.settings().access);
        let found = self
            .app
            .store
            .read(move |connection| {
                let search = Search::everything(&SEARCHED).and_words(&words);
                let ids = search.part(connection, Part::After(0), HITS_MAX)?;
                let found = ids.into_iter().map(|id| list.delegate(connection, id));
                let found: Vec<Option<Value>> = found.collect::<Result<_>>()?;
                Ok(Value::Array(found.into_iter().flatten().collect()))
            })
            .await?;
        Ok(Answer::of(&found.to_string()))
    }
}

impl GateApi {
    /// A place at which the caller may be a gate.
    fn place(&self, caller: &Granted<UseGate>, place: i64) -> Result<DeviceId> {
        let (app, place) = (caller.device, DeviceId(place));
        let gate = self
            .app
            .store
            .look_up(|connection| GateSettings::read(connection, app))?;
        gate.check_place(place)?;
        Ok(place)
    }
}

/// The settings of a gate.
pub struct Gate;

impl Described for Gate {
    const NAME: &'static str = "Gate";

    fn schema() -> MetaSchema {
        let about = "The settings of a gate.";
        free_object(about).with_example(json!({
            "_type": "gate", "device": {"id": 12, "_type": "device"}, "instance": "Nordlicht 2026",
            "timeZone": "Europe/Berlin", "serverTime": 1_795_248_120_000_i64, "place": {"id": 5, "_type": "device"},
            "places": [{"id": 5, "name": "Entrance", "type": "room"}], "policy": "admit", "configVersion": 3,
            "features": ["check-in", "check-out", "delegate-search", "delegate-create"], "allowRejected": false,
            "walkIn": {"types": ["Visitor", "Press"]}, "replaceBadge": true,
            "supervisorPin": {"salt": "5f1c", "hash": "9b71d224bd62f3785d96d46ad3ea3d73319bfbc2890caadae2dff72519673ca7"},
            "message": {"text": "Doors open at 8:30", "at": 1_795_248_000_000_i64}
        }))
    }
}

fn delegate() -> MetaSchema {
    free_object("An attendee as a gate shows them; only properties that have a value appear.").with_example(json!({
        "id": 17, "name": "Ada Lovelace", "category": "vip", "codes": ["T-1"], "joined": true,
        "note": {"level": "info", "note": "Speaker"}, "lastIn": 1_795_248_120_000_i64, "entries": 1,
        "inside": true
    }))
}

/// Attendees that a search found.
pub struct GateDelegates;

impl Described for GateDelegates {
    const NAME: &'static str = "GateDelegates";

    fn schema() -> MetaSchema {
        let found = json!([{"id": 17, "name": "Ada Lovelace", "codes": ["T-1"], "joined": true}]);
        example(array(inline(delegate()), "At most 8."), found)
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
                        "The place with its rules and how many people are inside.",
                    )),
                ),
            ],
        ))
    }
}
