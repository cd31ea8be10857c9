//! Gate apps: what the role `ROLE_OAUTH2_GATE` lets an app do and see.

use crate::harness::{Caller, Server, reply};
use gatepost::{
    domain::apps::parameters::LANGUAGES,
    identity::{ConsoleRole, Role, clients::NewClient},
    types::DeviceId,
};
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A hall with a room in it, another place, and a gate that may be used at the room.
pub struct Venue {
    pub server: Server,
    pub all: Caller,
    pub gate: Caller,
    pub hall: i64,
    pub room: i64,
    pub other: i64,
}

impl Venue {
    pub fn new() -> Self {
        let server = Server::start();
        let all = server.caller_with_all();
        let hall = all
            .device(&json!({"name": "Hall", "code": "hall", "data": {"Access": {"capacity": 2}}}));
        let room = all.device(&json!({
            "name": "Room", "code": "room", "parent": hall,
            "data": {"Access": {"ruleSet": "simple", "entry": "single"}},
        }));
        let other = all.device(&json!({"name": "Other", "code": "other"}));
        let app = all.device(&json!({"code": "app-1", "deviceType": "regoapp"}));
        server.publish(&json!({"default": {
            "place": "code:room", "places": ["code:room", "code:gone"], "supervisorPin": "471100",
        }}));
        let (id, secret) = server.new_client(NewClient {
            roles: [Role::Gate].into_iter().collect(),
            device: Some(DeviceId(app)),
            ..NewClient::named("gate")
        });
        let gate = server.caller_of(&id, &secret);
        Self {
            server,
            all,
            gate,
            hall,
            room,
            other,
        }
    }

    /// Applies the list from a cursor on; where it is then.
    pub fn follow(
        &self,
        list: &mut BTreeMap<String, Value>,
        since: Option<String>,
    ) -> (String, Value) {
        let mut since = since;
        loop {
            let from = since.map_or_else(String::new, |since| format!("&since={since}"));
            let path = format!("/gate/snapshot?place={}&limit=2{from}", self.room);
            let page = self.gate.get(&path);
            for change in page.data().as_array().expect("a list") {
                let key = format!("{} {}", change["type"], change["id"]);
                match change["action"].as_str() {
                    Some("upsert") => drop(list.insert(key, change["data"].clone())),
                    Some("delete") => drop(list.remove(&key)),
                    _ => list.clear(),
                }
            }
            let meta = &page.body["meta"];
            let cursor = meta["cursor"].as_str().expect("a cursor").to_owned();
            if meta["more"] == false {
                return (cursor, meta["place"].clone());
            }
            since = Some(cursor);
        }
    }
}

#[test]
fn a_gate_learns_its_places_and_not_the_pin() {
    let venue = Venue::new();
    let gate = venue.gate.get("/gate").data().clone();
    assert_eq!(gate["place"]["id"], venue.room);
    assert_eq!(gate["place"]["name"], gate["places"][0]["name"]);
    assert_eq!(
        gate["places"],
        json!([{"id": venue.room, "name": "Room", "type": ""}])
    );
    assert_eq!(
        (&gate["policy"], gate["serverTime"].is_i64()),
        (&json!("admit"), true)
    );
    let pin = &gate["supervisorPin"];
    assert!(
        pin["hash"].as_str().is_some_and(|hash| hash.len() == 64) && pin["iterations"] == 300_000,
        "{gate}"
    );
    assert!(!gate.to_string().contains("471100"));
    // Nor does any app get it with its settings.
    let ping = json!({"localTime": 1_795_248_120, "configVersion": 0});
    let sent = venue.gate.post("/device/ping", &ping).body.to_string();
    assert!(
        sent.contains("code:room") && !sent.contains("471100"),
        "{sent}"
    );
}

#[test]
fn a_gate_learns_whether_it_is_a_kiosk_and_registers_people() {
    let venue = Venue::new();
    let gate = || venue.gate.get("/gate").data().clone();
    let first = gate();
    assert_eq!(first["replaceBadge"], true);
    assert!(first["walkIn"].is_null() && first["kiosk"].is_null() && first["message"].is_null());
    venue.server.publish(&json!({"default": {
        "place": "code:room", "availableFeatures": ["check-in", "delegate-create"], "walkInTypes": ["Visitor", "Press"],
        "kiosk": true, "kioskWalkIn": true,
    }}));
    let kiosk = gate();
    assert!(kiosk["supervisorPin"].is_null() && kiosk["replaceBadge"].is_null());
    assert_eq!(kiosk["walkIn"], json!({"types": ["Visitor", "Press"]}));
    let all =
        json!({"languages": ["en", "de", "fr", "es", "da"], "walkIn": true, "idleSeconds": 45});
    assert_eq!(kiosk["kiosk"], all);
    // Nobody registers themselves where nobody may be registered.
    venue.server.publish(&json!({"default": {
        "availableFeatures": ["check-in"], "walkInTypes": ["Press"], "kiosk": true, "kioskWalkIn": true,
        "kioskLanguages": ["da", "de"], "kioskIdleSeconds": 20,
    }}));
    let kiosk = gate();
    assert!(kiosk["walkIn"].is_null());
    assert_eq!(
        kiosk["kiosk"],
        json!({"languages": ["da", "de"], "walkIn": false, "idleSeconds": 20})
    );
    // None of this is an app's to set, but its place.
    for (name, value) in [
        ("kiosk", json!(true)),
        ("offlinePolicy", json!("hold")),
        ("supervisorPin", json!("0000")),
        ("places", json!(["code:room"])),
        ("walkInTypes", json!(["vip"])),
        ("kioskIdleSeconds", json!(10)),
    ] {
        let sent = venue
            .gate
            .put("/device-config", &json!({"value": {name: value}}));
        sent.refused(400, 1100, "the server's to set");
    }
    venue
        .gate
        .put("/device-config", &json!({"value": {"place": "code:room"}}))
        .data();
}

#[test]
fn the_server_checks_the_pin_and_stops_who_guesses() {
    let venue = Venue::new();
    let check = |pin: &Value| venue.gate.post("/gate/pin", &json!({"pin": pin}));
    for _ in 0..4 {
        check(&json!("471101")).refused(403, 1202, "not the supervisor PIN");
    }
    // A right one forgets them.
    assert_eq!(check(&json!("471100")).status, 204);
    check(&json!(471_100)).invalid("pin");
    for _ in 0..5 {
        check(&json!("")).refused(403, 1202, "not the supervisor PIN");
    }
    check(&json!("471100")).refused(429, 1203, "wrong PINs");
    // What needs the PIN counts with it.
    let badge = json!({"delegate": "scan:T-1", "pin": "471100"});
    venue
        .gate
        .post("/gate/badge", &badge)
        .refused(429, 1203, "wrong PINs");
    venue
        .server
        .publish(&json!({"default": {"place": "code:room"}}));
    check(&json!("471100")).refused(403, 1202, "supervisorPin");
}

#[test]
fn guesses_at_once_are_no_more_than_those_in_turn() {
    let venue = Venue::new();
    let guess = || {
        venue
            .gate
            .post("/gate/pin", &json!({"pin": "471101"}))
            .status
    };
    let mut answers: Vec<u16> = std::thread::scope(|scope| {
        let guesses: Vec<_> = (0..20).map(|_| scope.spawn(guess)).collect();
        let answers = guesses.into_iter();
        answers
            .map(|guess| guess.join().expect("an answer"))
            .collect()
    });
    answers.sort_unstable();
    assert_eq!(answers, [[403; 5].as_slice(), &[429; 15]].concat());
}

#[test]
fn a_pin_of_one_gate_goes_with_its_client() {
    let venue = Venue::new();
    let own = |pin: Value| json!({"default": {"supervisorPin": "471100"}, "byDevice": {"app-1": {"supervisorPin": pin, "kiosk": true}}});
    venue.server.publish(&own(json!("081500")));
    let check = |pin: &str| venue.gate.post("/gate/pin", &json!({"pin": pin})).status;
    assert_eq!((check("081500"), check("471100")), (204, 403));
    let revoke = || {
        let id: String = venue
            .server
            .value("SELECT client_id FROM clients WHERE name = 'gate'");
        venue
            .server
            .sql("UPDATE clients SET revoked_at = NULL WHERE name = 'gate'");
        venue.server.done(&["client", "revoke", &id])
    };
    let told = revoke();
    assert!(
        told.contains("supervisor PIN of this device was removed"),
        "{told}"
    );
    let document: String = venue
        .server
        .value("SELECT document FROM app_config ORDER BY version DESC LIMIT 1");
    let document: Value = serde_json::from_str(&document).expect("JSON");
    assert_eq!(document["byDevice"]["app-1"], json!({"kiosk": true}));
    assert!(document["default"]["supervisorPin"].is_object());
    // One that all gates share goes on, and somebody has to know.
    let told = revoke();
    assert!(told.contains("all gates share"), "{told}");
    // An earlier version that is taken up again does not bring it back.
    let crew = venue.server.crew(ConsoleRole::Operator);
    let version = crew.current();
    let page = "/console/configuration/versions/3/take";
    crew.post(page, &[("version", &version)]).taken();
    let draft: String = venue.server.value("SELECT document FROM app_config_draft");
    let draft: Value = serde_json::from_str(&draft).expect("JSON");
    assert_eq!(draft["byDevice"]["app-1"], json!({"kiosk": true}));
    assert_eq!(draft["default"], document["default"]);
}

#[test]
fn the_app_comes_with_the_server_all_files_of_one_version() {
    let venue = Venue::new();
    let get = |path: &str| {
        let response = venue.server.request(Method::GET, path);
        let response = response.send().expect("an answer");
        let status = response.status().as_u16();
        (status, response.bytes().expect("a body").to_vec())
    };
    let text = |path: &str| String::from_utf8(get(path).1).expect("text");
    let version = venue.gate.get("/gate").data()["appVersion"].clone();
    let version = version.as_str().expect("a version");
    let worker = text("/gate/worker.js");
    let mut lines = worker.lines();
    assert_eq!(
        lines.next(),
        Some(&*format!("const VERSION = \"{version}\";"))
    );
    let listed = lines
        .next()
        .and_then(|line| line.strip_prefix("const FILES = "));
    let listed = listed
        .and_then(|line| line.strip_suffix(';'))
        .expect("a list");
    let mut listed: Vec<String> = serde_json::from_str(listed).expect("JSON");
    listed.sort();
    // Whatever is in the folder, but the worker itself and licences.
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/gate");
    let mut files = Vec::new();
    for below in ["", "core/", "io/", "ui/", "vendor/"] {
        for entry in std::fs::read_dir(folder.join(below)).expect("a folder") {
            let entry = entry.expect("a file");
            let name = format!("{below}{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() {
                continue;
            }
            let is_kept = name != "io/worker.js" && !name.contains("LICENSE");
            if is_kept {
                assert_eq!(get(&format!("/gate/{version}/{name}")).0, 200, "{name}");
                files.push(name);
            }
        }
    }
    files.sort();
    assert_eq!(listed, files);
    // The page leads to files of its version alone; another version is not there.
    let page = text("/gate");
    assert!(
        page.contains(&format!("src=\"/gate/{version}/app.js\"")),
        "{page}"
    );
    for (at, _) in page.match_indices("\"/gate/") {
        assert!(
            page[at..].starts_with(&format!("\"/gate/{version}/")),
            "{}",
            &page[at..at + 60]
        );
    }
    assert_eq!(get("/gate/0123456789abcdef/app.js").0, 404);
}

#[test]
fn settings_of_earlier_versions_are_read_and_what_cannot_be_used_counts_as_not_set() {
    let venue = Venue::new();
    let stored = |default: Value| {
        let document = json!({"default": default}).to_string().replace('\'', "''");
        venue.server.sql(&format!(
            "UPDATE app_config SET version = version + 1, document = '{document}'"
        ));
        venue.gate.get("/gate").data().clone()
    };
    // A PIN of any text, stored as such.
    let gate =
        stored(json!({"place": "code:room", "places": ["code:hall"], "supervisorPin": "let me"}));
    let places: Vec<_> = gate["places"]
        .as_array()
        .expect("places")
        .iter()
        .map(|place| &place["id"])
        .collect();
    assert_eq!(places, [venue.hall, venue.room]);
    assert!(gate["supervisorPin"]["hash"].is_string() && !gate.to_string().contains("let me"));
    let gate = stored(json!({
        "place": 5, "places": "code:hall", "offlinePolicy": "all", "supervisorPin": 4711, "kiosk": "yes",
        "walkInTypes": "Press", "availableFeatures": ["delegate-create"],
    }));
    assert_eq!(
        (&gate["policy"], &gate["walkIn"]),
        (&json!("admit"), &json!({"types": []}))
    );
    assert_eq!(gate["places"].as_array().map(Vec::len), Some(3), "{gate}");
    assert!(gate["place"].is_null() && gate["supervisorPin"].is_null() && gate["kiosk"].is_null());
    let gate = stored(json!({"kiosk": true, "kioskLanguages": ["tlh"], "kioskIdleSeconds": 5}));
    assert_eq!(
        gate["kiosk"]["languages"].as_array().map(Vec::len),
        Some(LANGUAGES.len())
    );
    assert_eq!(gate["kiosk"]["idleSeconds"], 45);
}

#[test]
fn a_gate_records_at_its_places_alone_and_takes_back_its_own() {
    let venue = Venue::new();
    let ada = venue
        .all
        .delegate(&json!({"firstName": "Ada", "barcode": "T-1", "rfid": "04A2"}));
    let at = |kind: &str, body: &Value| venue.gate.post(&format!("/interaction/new/{kind}"), body);
    let here = json!({"delegate": "scan:04A2", "device": venue.room});
    at("check-in", &here).refused(412, 741, "not registered for Room");
    let joined = at("join", &json!({"delegate": ada, "device": venue.room})).id();
    let entered = at("check-in", &here).id();
    // Whichever code was scanned, it is one person.
    let again = json!({"delegate": "scan:T-1", "device": "code:room"});
    at("check-in", &again).refused(412, 740, "already used at Room");
    at("check-in-override", &again).data();
    at(
        "check-in",
        &json!({"delegate": "scan:nobody", "device": venue.room}),
    )
    .refused(404, 1301, "nobody");
    let elsewhere = json!({"delegate": "scan:T-1", "device": venue.other});
    at("check-in", &elsewhere).refused(403, 1202, "not one of this gate's places");
    at("lead", &here).refused(403, 1202, "ROLE_OAUTH2_INTERACTION_WRITE");
    let two = json!({"delegate": ada, "secondDelegate": ada, "device": venue.room});
    at("join", &two).refused(403, 1202, "one delegate");
    venue
        .gate
        .post("/interaction/test/check-in", &elsewhere)
        .refused(403, 1202, "places");
    // In a batch one that is not allowed fails alone.
    let scan = |device: i64, nonce: &str| json!({"interactionType": "check-out", "delegate": "barcode:T-1", "device": device, "nonce": nonce});
    let batch = json!({"interactions": {"a": scan(venue.other, "1"), "b": scan(venue.room, "2")}});
    let answers = venue.gate.post("/interaction/batch", &batch);
    let statuses: Vec<_> = answers
        .data()
        .as_array()
        .expect("answers")
        .iter()
        .map(|item| item["status"].clone())
        .collect();
    assert_eq!(statuses, [403, 201]);

    let delete = |caller: &Caller, id: i64| caller.delete(&format!("/interaction/{id}"));
    assert_eq!(delete(&venue.gate, entered).status, 204);
    let of_others = venue
        .all
        .interact("check-in", &json!({"delegate": ada, "device": venue.other}))
        .id();
    delete(&venue.gate, of_others).refused(403, 1202, "itself");
    let past =
        format!("UPDATE interactions SET created_at = created_at - 660000 WHERE id = {joined}");
    venue.server.sql(&past);
    delete(&venue.gate, joined).refused(403, 1202, "ten minutes");
    // Of attendees it reads nothing but by its own endpoints.
    venue
        .gate
        .get(&format!("/delegate/id:{ada}"))
        .refused(403, 1202, "DELEGATE_READ");
    venue.gate.get("/changes").refused(403, 1202, "");
}

#[test]
fn the_list_of_a_gate_follows_whatever_happens() {
    let venue = Venue::new();
    let all = &venue.all;
    let ada = all.delegate(&json!({
        "firstName": "Ada", "lastName": "Lovelace", "barcode": "T-1", "rfid": "04A2",
        "delegateType": "vip", "email": "ada@example.org", "phone": "+49301234",
    }));
    let bob = all.delegate(&json!({
        "firstName": "Bob", "barcode": "T-2", "data": {"Data": {"photo": "https://photos.example.com/bob.jpg"}},
    }));
    let carl = all.delegate(&json!({"firstName": "Carl", "barcode": "T-3"}));
    all.interact("join", &json!({"delegate": ada, "device": venue.hall}))
        .id();
    let mut list = BTreeMap::new();
    let (cursor, place) = venue.follow(&mut list, None);
    let of = |list: &BTreeMap<String, Value>, id: i64| {
        list.get(&format!("\"delegate\" {id}"))
            .cloned()
            .unwrap_or_default()
    };
    let mut shown = of(&list, ada);
    let codes = shown["codes"].as_array_mut().expect("codes");
    // The public id, made by the server, is a code, too.
    codes.retain(|code| code.as_str().is_some_and(|code| code.len() < 10));
    assert_eq!(
        shown,
        json!({"id": ada, "name": "Ada Lovelace", "category": "vip", "codes": ["T-1", "04A2"], "joined": true})
    );
    // What a gate does not show it does not hold.
    let text = json!(list).to_string();
    assert!(
        !text.contains("example.org") && !text.contains("+4930"),
        "{text}"
    );
    assert_eq!(
        place["rules"],
        json!({"ruleSet": "simple", "entry": "single"})
    );
    assert_eq!(
        place["rooms"],
        json!([{"id": venue.hall, "name": "Hall", "capacity": 2, "inside": 0}])
    );

    let check_in = json!({"delegate": ada, "device": venue.room});
    let entered = all.interact("check-in", &check_in).id();
    all.patch(
        &format!("/delegate/id:{bob}"),
        &json!({"lastName": "Builder"}),
    )
    .data();
    assert_eq!(all.delete(&format!("/delegate/id:{carl}")).status, 204);
    let (cursor, place) = venue.follow(&mut list, Some(cursor));
    let shown = of(&list, ada);
    assert_eq!(
        (
            &json!(shown["lastIn"].is_i64()),
            &shown["inside"],
            &shown["entries"],
            &shown["rooms"]
        ),
        (&json!(true), &json!(true), &json!(1), &json!([venue.hall]))
    );
    assert_eq!(
        (&place["inside"], &place["rooms"][0]["inside"]),
        (&json!(1), &json!(1))
    );
    let shown = of(&list, bob);
    assert_eq!(
        (&shown["name"], &shown["photo"]),
        (
            &json!("Bob Builder"),
            &json!("https://photos.example.com/bob.jpg")
        )
    );
    // A picture that is too large for a gate's list is left out.
    let large = json!({"data": {"Data": {"photo": "x".repeat(100_001)}}});
    all.patch(&format!("/delegate/id:{bob}"), &large).data();
    assert!(of(&list, carl).is_null());

    // Taken back, and the hall is no longer above the room: nobody is registered for it any more.
    assert_eq!(all.delete(&format!("/interaction/{entered}")).status, 204);
    let (cursor, _) = venue.follow(&mut list, Some(cursor));
    assert!(of(&list, ada)["entries"].is_null(), "{list:?}");
    assert!(of(&list, bob)["photo"].is_null(), "{list:?}");
    all.patch(
        &format!("/device/id:{}", venue.room),
        &json!({"parent": null}),
    )
    .data();
    let (cursor, place) = venue.follow(&mut list, Some(cursor));
    assert!(of(&list, ada)["joined"].is_null(), "{list:?}");
    assert_eq!(place["rooms"], json!([]));
    assert_eq!(place["hasPlacesBelow"], false);
    all.device(&json!({"name": "Stand", "code": "stand", "parent": venue.room}));
    let (cursor, place) = venue.follow(&mut list, Some(cursor));
    assert_eq!(place["hasPlacesBelow"], true);
    // A copy that goes on equals one that begins anew.
    let mut anew = BTreeMap::new();
    venue.follow(&mut anew, None);
    venue.follow(&mut list, Some(cursor));
    assert_eq!(list, anew);
}

#[test]
fn a_gate_searches_and_lists_at_its_own_places() {
    let venue = Venue::new();
    let gate = &venue.gate;
    let ada = venue
        .all
        .delegate(&json!({"firstName": "Ada", "lastName": "Lovelace"}));
    let found = |words: &str| gate.get(&format!("/gate/search?place={}&q={words}", venue.room));
    assert_eq!(found("love").data()[0]["id"], ada);
    assert_eq!(found("nobody").data(), &json!([]));
    assert_eq!(found("lo").data(), &json!([]), "no whole name");
    found("l").refused(400, 1100, "3 letters");
    // A whole address or number is somebody's before it is nearly another's name or code; a whole code comes first.
    let marta = venue
        .all
        .delegate(&json!({"firstName": "Marta", "email": "marta.lang@firma.example", "phone": "+49 171 5558812"}));
    let near = venue.all.delegate(&json!({
        "firstName": "Martha", "lastName": "Lange", "company": "Firmen Example", "barcode": "01715558813",
    }));
    let first = |words: &str| found(words).data()[0]["id"].clone();
    assert_eq!(first("marta.lang@firma.example"), marta);
    assert_eq!(first("01715558812"), marta);
    assert_eq!(first("01715558813"), near);
    gate.get(&format!("/gate/search?place={}&q=love", venue.other))
        .refused(403, 1202, "places");
    gate.get(&format!("/gate/snapshot?place={}", venue.other))
        .refused(403, 1202, "places");
}

#[test]
fn the_gate_app_is_served_with_a_policy_of_its_own() {
    let server = Server::start();
    let page = server
        .request(Method::GET, "/gate")
        .send()
        .expect("an answer");
    let header = |name: &str| page.headers()[name].to_str().expect("text").to_owned();
    assert!(header("content-type").starts_with("text/html"));
    let policy = header("content-security-policy");
    assert!(
        policy.contains("script-src 'self' 'wasm-unsafe-eval'")
            && !policy.contains("unsafe-inline")
    );
    reply(server.request(Method::GET, "/gate/no-such-file.js")).refused(404, 1103, "");
}
