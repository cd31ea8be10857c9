//! What holds for delegates, devices and events alike (spec: their endpoints; contract §1, §2, §4).

use super::{ODD_VALUES, encoded};
use crate::harness::{Server, cases, keys, words};
use serde_json::{Value, json};

const DELEGATE_CODES: &str = "barcode rfid externalId publicId code uhfId slug";
const DEVICE_CODES: &str = "code publicId externalId rfid slug";

#[test]
fn a_record_is_created_with_the_values_sent() {
    let (_server, api) = Server::with_api();
    let parent = api.event(&json!({"eventName": "Summit"}));
    for (kind, codes, sent) in cases::<(&str, &str, Value)>(json!([
        ["delegate", DELEGATE_CODES, {
            "barcode": "B-1", "rfid": "R-1", "externalId": "E-1", "publicId": "P-1", "code": "C-1", "uhfId": "U-1",
            "slug": "S-1", "firstName": "Ada", "lastName": "Lovelace", "email": "ada@example.org", "phone": "+44 1",
            "jobTitle": "Analyst", "company": "Engine", "delegateType": "visitor", "rawFlags": "apsv",
            "data": {"Data": {"dietaryNeeds": "vegan"}, "Section1": {"x": [1, 2.5, true, "y"]}},
        }],
        ["device", DEVICE_CODES, {
            "name": "Gate B", "shortName": "B", "description": "North", "deviceType": "session", "deviceTags": "x,y",
            "category": "gates", "startAt": "2026-11-21T09:00:00+00:00", "endAt": "2026-11-21T10:00:00+00:00",
            "available": false, "code": "gate-b", "publicId": "P", "externalId": "E", "slug": "S", "rfid": "R",
            "data": {"Access": {"ruleSet": "simple"}, "Data": {"x": 1}}, "parent": {"id": parent, "_type": "device"},
        }],
        ["event", "", {
            "eventName": "Summit", "eventExternalID": "S-26", "eventStartAt": "2026-11-21 00:00:00",
            "eventEndAt": "2026-11-22 00:00:00", "eventManagerEmail": "m@example.org", "eventManagerPhone": "+44",
        }],
    ])) {
        let made = api.post(&format!("/{kind}/new"), &sent);
        assert_eq!((made.status, &made.body["meta"]), (201, &json!({})));
        for (name, value) in sent.as_object().expect("an object") {
            assert_eq!(&made.data()[name], value, "{name}");
        }
        made.shows("_type", kind);
        made.shows("sources", json!(["api"]));
        made.shows("createdAt", made.data()["updatedAt"].clone());
        let mut selectors = vec![format!("id:{}", made.id())];
        selectors.extend(
            words(codes).map(|code| format!("{code}:{}", sent[code].as_str().expect(code))),
        );
        for selector in selectors {
            assert_eq!(
                &api.read(&format!("/{kind}/{selector}")),
                made.data(),
                "{selector}"
            );
        }
        if kind == "device" {
            let child = json!([{"id": made.id(), "_type": "device"}]);
            api.get(&format!("/device/id:{parent}"))
                .shows("children", child);
        }
    }
    // Flags are lower case, sorted, and each is there once.
    let flagged = api.post("/delegate/new", &json!({"rawFlags": "PvVs a"}));
    flagged.shows("rawFlags", "apsv");
}

#[test]
fn a_patch_changes_only_named_properties_and_null_clears_them() {
    let (_server, api) = Server::with_api();
    let (boss, hall) = (api.delegate(&json!({})), api.device(&json!({})));
    for (kind, all) in cases::<(&str, Value)>(json!([
        ["delegate", {
            "barcode": "B", "rfid": "R", "externalId": "E", "code": "C", "uhfId": "U", "slug": "S", "firstName": "Ada",
            "lastName": "L", "email": "e@", "phone": "p", "jobTitle": "j", "company": "c", "delegateType": "t",
            "rawFlags": "v", "owner": boss, "parent": boss, "previous": {"id": boss}, "data": {"Data": {"x": 1}},
        }],
        ["device", {
            "externalId": "E", "rfid": "R", "slug": "S", "name": "n", "shortName": "s", "description": "d",
            "deviceType": "room", "deviceTags": "t", "category": "c", "startAt": 0, "endAt": 1, "parent": hall,
            "data": {"Data": {"x": 1}},
        }],
        ["event", {"eventName": "Summit", "eventExternalID": "S", "eventStartAt": 0}],
    ])) {
        let made = api.made(&format!("/{kind}/new"), &all);
        let path = format!("/{kind}/id:{}", made["id"]);
        assert_eq!(api.patched(&path, &json!({})), made);
        for name in all.as_object().expect("an object").keys() {
            assert!(made.get(name).is_some(), "{name}");
            api.patch(&path, &json!({name: null})).without(name);
        }
    }
    // An empty text is no value either.
    let path = format!(
        "/delegate/id:{}",
        api.delegate(&json!({"firstName": "Ada"}))
    );
    api.patch(&path, &json!({"firstName": ""}))
        .without("firstName");
}

#[test]
fn an_unknown_property_is_refused_by_name_and_a_read_only_one_ignored() {
    let (_server, api) = Server::with_api();
    for (kind, known, unknown, read_only) in cases::<(&str, &str, &str, Value)>(json!([
        ["delegate", "firstName", "firstname first_name name flags deviceType é a.b",
            {"children": [], "firstInteractions": [{"id": 1}], "secondInteractions": {}, "thirdInteractions": null}],
        ["device", "name", "Name barcode eventName managerEmail startsAt firstInteractions", {"children": []}],
        ["event", "eventName", "name data parent eventExternalId available", {}],
    ])) {
        let new = format!("/{kind}/new");
        let made = api.made(&new, &json!({known: "Ada"}));
        let path = format!("/{kind}/id:{}", made["id"]);
        for unknown in words(unknown).chain([""]) {
            api.post(&new, &json!({unknown: null})).invalid(unknown);
            api.patch(&path, &json!({known: "Eve", unknown: "x"}))
                .invalid(unknown);
        }
        assert_eq!(api.read(&path), made);
        for id in [json!(null), json!(77), json!("x")] {
            let mut sent = json!({"id": id, "_type": "x", "createdAt": "never", "updatedAt": 1, "sources": ["x"]});
            sent.as_object_mut()
                .expect("an object")
                .extend(read_only.as_object().expect("an object").clone());
            assert_eq!(api.patched(&path, &sent), made, "{id}");
            let other = api.post(&new, &sent);
            assert_ne!(other.id(), 77);
            other.shows("_type", kind);
            other.shows("sources", json!(["api"]));
        }
        // What was read can be sent back.
        api.patch(&path, &made).shows(known, "Ada");
    }
}

#[test]
fn every_kind_of_code_finds_its_record_whatever_its_value() {
    let (_server, api) = Server::with_api();
    for (kind, codes, missing, property) in cases::<(&str, &str, i64, &str)>(json!([
        ["delegate", DELEGATE_CODES, 1301, "company"],
        ["device", DEVICE_CODES, 1401, "name"],
    ])) {
        let participant = if kind == "delegate" {
            "firstDelegate"
        } else {
            "firstDevice"
        };
        let new = format!("/{kind}/new");
        for (code, value) in words(codes).flat_map(|code| ODD_VALUES.map(|value| (code, value))) {
            let id = api.post(&new, &json!({code: value})).id();
            let path = format!("/{kind}/{code}:{}", encoded(value));
            let found = api.get(&path);
            assert_eq!(
                (found.id(), &found.data()[code]),
                (id, &json!(value)),
                "{path}"
            );
            let made = api.interact("seen", &json!({kind: format!("{code}:{value}")}));
            made.shows(participant, json!({"id": id, "_type": kind}));
            api.post(&new, &json!({code: value}))
                .refused(409, 1105, code);
            assert_eq!(api.patch(&path, &json!({property: "X"})).id(), id, "{path}");
            assert_eq!(api.delete(&path).status, 204, "{path}");
            api.get(&path).refused(404, missing, "");
        }
    }
    for value in ODD_VALUES {
        let id = api.event(&json!({"eventExternalID": value}));
        let by_code = format!("externalId:{}", encoded(value));
        for selector in [id.to_string(), format!("id:{id}"), by_code.clone()] {
            let path = format!("/event/{selector}");
            assert_eq!(api.get(&path).id(), id, "{path}");
            api.patch(&path, &json!({"eventName": selector}))
                .shows("eventName", selector);
        }
        api.delete(&format!("/event/{by_code}")).is(204);
    }
}

#[test]
fn a_malformed_selector_is_refused() {
    let (_server, api) = Server::with_api();
    for (kind, unknown_type, malformed) in [
        (
            "delegate",
            "ABC 7 Barcode:1 :1 email:a@example.org name:x",
            "id:x id: id:1.0 id:-1 id:+1 id:%201 id:0x1 id:9223372036854775808 barcode:",
        ),
        ("device", "barcode:x uhfId:x 7", "id:x"),
        (
            "event",
            "code:x publicId:x eventExternalID:x slug:x",
            "x 1.5 -1 id:x externalId:",
        ),
    ] {
        for (selectors, code) in [(unknown_type, 1101), (malformed, 1100)] {
            for path in words(selectors).map(|selector| format!("/{kind}/{selector}")) {
                api.get(&path).refused(400, code, "");
                api.patch(&path, &json!({})).refused(400, code, "");
                api.delete(&path).refused(400, code, "");
            }
        }
    }
    api.get("/delegate/email:x")
        .refused(400, 1101, &format!("id {DELEGATE_CODES}"));
    api.get("/device/barcode:x")
        .refused(400, 1101, &format!("id {DEVICE_CODES}"));
    api.get("/delegate/id:9223372036854775807")
        .refused(404, 1301, "9223372036854775807");
}

#[test]
fn codes_are_compared_exactly_and_never_tried_as_another_type() {
    let (_server, api) = Server::with_api();
    let first = api.delegate(&json!({"barcode": "Abc"}));
    let second = api.delegate(&json!({"barcode": "ABC", "rfid": "Abc"}));
    let third = api.delegate(&json!({"barcode": first.to_string()}));
    // A number that was scanned is not an id.
    let number = format!("barcode:{first}");
    for (selector, id) in [
        ("barcode:Abc", first),
        ("barcode:ABC", second),
        ("rfid:Abc", second),
        (&number, third),
    ] {
        assert_eq!(
            api.get(&format!("/delegate/{selector}")).id(),
            id,
            "{selector}"
        );
    }
    for selector in [
        "barcode:abc",
        "code:Abc",
        "barcode:Abc%20",
        &format!("barcode:{second}"),
    ] {
        api.get(&format!("/delegate/{selector}")).refused(
            404,
            1301,
            selector.trim_end_matches("%20"),
        );
    }
}

#[test]
fn a_code_in_use_is_refused_by_name_until_it_is_free() {
    let (_server, api) = Server::with_api();
    for (kind, codes) in [("delegate", DELEGATE_CODES), ("device", DEVICE_CODES)] {
        let new = format!("/{kind}/new");
        for code in words(codes) {
            let taken = json!({code: "taken"});
            let [holder, other] = ["taken", "other"]
                .map(|value| format!("/{kind}/id:{}", api.post(&new, &json!({code: value})).id()));
            api.post(&new, &taken).refused(409, 1105, code);
            api.patch(&other, &taken).refused(409, 1105, code);
            // Its own code is not in use.
            api.patch(&holder, &taken).is(200);
            api.delete(&holder).is(204);
            api.patch(&other, &taken).is(200);
            api.delete(&other).is(204);
        }
    }
    // Nothing of a refused change is written.
    api.delegate(&json!({"barcode": "A"}));
    api.delegate(&json!({"barcode": "B", "firstName": "Ada"}));
    let change = json!({"firstName": "Eve", "barcode": "A"});
    api.patch("/delegate/barcode:B", &change)
        .refused(409, 1105, "barcode");
    api.get("/delegate/barcode:B").shows("firstName", "Ada");
    // An event names its external id in its own way.
    api.device(&json!({"externalId": "X"}));
    let event = format!("/event/{}", api.event(&json!({})));
    api.answers(&json!([
        ["POST /event/new", {"eventExternalID": "X"}, 409, 1105, "eventExternalID"],
        [format!("PATCH {event}"), {"eventExternalID": "X"}, 409, 1105, "eventExternalID"],
        ["POST /event/new", {"eventExternalID": ""}, 400, 1100, "eventExternalID"],
    ]));
}

#[test]
fn codes_have_1_to_255_characters() {
    let (_server, api) = Server::with_api();
    for code in words(DELEGATE_CODES) {
        let longest = "é".repeat(255);
        api.post("/delegate/new", &json!({code: longest}))
            .shows(code, longest);
        let bad = json!(["", 7, ["x"], {"x": 1}, true, "a\u{0}b", "é".repeat(256)]);
        for bad in bad.as_array().expect("a list") {
            api.post("/delegate/new", &json!({code: bad})).invalid(code);
        }
    }
}

#[test]
fn the_server_makes_the_codes_that_are_absent_or_cleared() {
    let (_server, api) = Server::with_api();
    for (kind, code, property) in [
        ("delegate", "publicId", "firstName"),
        ("device", "publicId", "name"),
        ("device", "code", "name"),
    ] {
        let made = api.made(&format!("/{kind}/new"), &json!({}));
        let path = format!("/{kind}/id:{}", made["id"]);
        let cleared = api.patched(&path, &json!({code: null}));
        for shown in [&made, &cleared] {
            assert_eq!(shown[code].as_str().map(str::len), Some(36), "{code}");
        }
        assert_ne!(cleared[code], made[code], "{code}");
        api.patch(&path, &json!({property: "A"}))
            .shows(code, cleared[code].clone());
    }
}

#[test]
fn references_take_an_id_an_object_or_a_selector() {
    let (server, api) = Server::with_api();
    let boss = api.delegate(&json!({"barcode": "BOSS", "slug": "a:b"}));
    let hall = api.device(&json!({"code": "BOSS", "slug": "a:b"}));
    for (kind, code, target, names) in [
        ("delegate", "barcode", boss, "parent owner previous"),
        ("device", "code", hall, "parent"),
    ] {
        let new = format!("/{kind}/new");
        let shown = json!({"id": target, "_type": kind});
        let sent = json!([target, {"id": target}, shown, format!("id:{target}"), format!("{code}:BOSS"), "slug:a:b"]);
        for name in words(names) {
            for sent in sent.as_array().expect("a list") {
                let made = api.post(&new, &json!({name: sent}));
                made.shows(name, shown.clone());
                let path = format!("/{kind}/id:{}", made.id());
                api.patch(&path, &json!({name: null})).without(name);
                api.patch(&path, &json!({name: sent}))
                    .shows(name, shown.clone());
            }
            for bad in
                cases::<Value>(json!([1.5, [], [1], {}, {"id": "1"}, {"code": "x"}, true, 999_999]))
            {
                api.post(&new, &json!({name: bad})).invalid(name);
            }
        }
        let children = api.read(&format!("/{kind}/id:{target}"))["children"].clone();
        assert_eq!(children.as_array().map(Vec::len), Some(6));
        assert_eq!(
            (keys(&children[0]).as_str(), &children[0]["_type"]),
            ("id _type", &json!(kind))
        );
    }
    let gone = api.delegate(&json!({"barcode": "GONE"}));
    api.delete(&format!("/delegate/id:{gone}"));
    let before = server.count("delegates");
    for (owner, code, about) in cases::<(Value, i64, &str)>(json!([
        ["barcode:NOPE", 1100, "owner: there is no delegate barcode:NOPE"],
        ["barcode:GONE", 1100, "owner: "],
        ["id:999", 1100, "owner: "],
        ["id:x", 1100, "owner: "],
        [{"code": "x"}, 1100, "owner: must be an id"],
        // A scanned code is never tried as an id.
        ["1", 1101, "owner: "],
        ["GONE", 1101, "owner: "],
        ["", 1101, "owner: "],
        [":x", 1101, "owner: "],
        ["name:x", 1101, "owner: "],
        ["raw_flags:x", 1101, "owner: "],
    ])) {
        api.post("/delegate/new", &json!({"owner": owner}))
            .refused(400, code, about);
    }
    assert_eq!(server.count("delegates"), before);
}

#[test]
fn a_cycle_of_parents_is_refused() {
    let (_server, api) = Server::with_api();
    for (kind, code) in [("delegate", "barcode"), ("device", "code")] {
        let new = |parent: Value| {
            api.post(&format!("/{kind}/new"), &json!({"parent": parent}))
                .id()
        };
        let top = new(Value::Null);
        let middle = new(json!(top));
        let low = new(json!({"id": middle}));
        let path = |id: i64| format!("/{kind}/id:{id}");
        api.patch(&path(low), &json!({code: "low"})).is(200);
        for parent in cases::<Value>(json!([top, middle, low, format!("{code}:low")])) {
            api.patch(&path(top), &json!({"parent": parent}))
                .invalid("parent");
        }
        api.patch(&path(low), &json!({"parent": top})).is(200);
        api.patch(&path(middle), &json!({"parent": low})).is(200);
        if kind == "delegate" {
            // Owners and predecessors are no tree.
            api.patch(&path(top), &json!({"owner": top, "previous": low}))
                .is(200);
        }
    }
}

#[test]
fn a_deleted_record_is_out_of_every_answer_and_its_interactions_stay() {
    let (_server, api) = Server::with_api();
    for (kind, code, missing, references) in [
        ("delegate", "barcode", 1301, "parent owner previous"),
        ("device", "code", 1401, "parent"),
    ] {
        let new = format!("/{kind}/new");
        let parent = api.post(&new, &json!({})).id();
        let id = api.post(&new, &json!({code: "A", "parent": parent})).id();
        let refers: Value = words(references)
            .map(|name| (name.to_owned(), json!(id)))
            .collect();
        let child = api.post(&new, &refers).id();
        let made = api.interact("seen", &json!({kind: id})).id();
        api.delete(&format!("/{kind}/{code}:A")).is(204);
        api.answers(&json!([
            [format!("GET /{kind}/{code}:A"), null, 404, missing, "A"],
            [format!("GET /{kind}/id:{id}"), null, 404, missing, ""],
            [format!("PATCH /{kind}/{code}:A"), {}, 404, missing, "A"],
            [format!("DELETE /{kind}/id:{id}"), null, 404, missing, ""],
            ["POST /interaction/new/seen", {kind: id}, 404, missing, ""],
            ["POST /interaction/new/seen", {kind: format!("{code}:A")}, 404, missing, "A"],
            [format!("POST {new}"), {"parent": id}, 400, 1100, "parent"],
        ]));
        let listed = api.get(&format!("/{kind}/list"));
        assert_eq!(listed.body["meta"]["pagination"]["totalItems"], 2);
        assert!(listed.list().iter().all(|one| one["id"] != id));
        api.get(&format!("/{kind}/id:{parent}")).without("children");
        for name in words(references) {
            api.get(&format!("/{kind}/id:{child}")).without(name);
        }
        assert!(
            api.get("/interaction/list")
                .list()
                .iter()
                .any(|one| one["id"] == made)
        );
        // Its code is free, and its id is not used again.
        assert!(api.post(&new, &json!({code: "A"})).id() > child);
    }
    let id = api.event(&json!({"eventExternalID": "X"}));
    api.delete(&format!("/event/id:{id}")).is(204);
    for path in [
        format!("/event/{id}"),
        format!("/event/id:{id}"),
        "/event/externalId:X".into(),
    ] {
        api.get(&path).refused(404, 1601, "event");
        api.patch(&path, &json!({"eventName": "x"}))
            .refused(404, 1601, "event");
        api.delete(&path).refused(404, 1601, "event");
    }
    api.get(&format!("/device/id:{id}")).refused(404, 1401, "");
    api.post("/event/new", &json!({"eventExternalID": "X"}))
        .is(201);
}

#[test]
fn sparse_fields_show_what_they_name() {
    let (_server, api) = Server::with_api();
    let parent = api.device(&json!({}));
    for (kind, body, unknown, shown) in cases::<(&str, Value, &str, Vec<[&str; 2]>)>(json!([
        ["delegate", {"barcode": "A", "firstName": "Ada", "company": "X", "data": {"Data": {"x": 1}}}, "firstname", [
            ["id,barcode,firstName", "id _type barcode firstName"],
            ["barcode", "id _type barcode"],
            ["%20firstName%20,barcode,barcode", "id _type barcode firstName"],
            ["lastName", "id _type"],
            ["data,firstInteractions", "id _type data firstInteractions"],
            ["", "id _type"],
        ]],
        ["device", {"name": "Gate", "parent": parent, "startAt": 0}, "barcode", [
            ["name", "id _type name"],
            ["parent,startAt,available", "id _type parent startAt available"],
            ["endAt", "id _type"],
        ]],
        ["event", {"eventName": "Summit", "eventExternalID": "S"}, "name", [["eventName", "id _type eventName"]]],
    ])) {
        let id = api.post(&format!("/{kind}/new"), &body).id();
        if kind == "delegate" {
            api.interact("lead", &json!({"delegate": id}));
        }
        let offset = i64::from(kind == "device");
        let (one, list) = (
            format!("/{kind}/id:{id}?fields="),
            format!("/{kind}/list?offset={offset}&fields="),
        );
        for [fields, names] in shown {
            let found = api.read(&format!("{one}{fields}"));
            assert_eq!(keys(&found), names, "{fields}");
            assert_eq!(api.read(&format!("{list}{fields}"))[0], found, "{fields}");
        }
        for path in [one, list] {
            api.get(&format!("{path}id,{unknown}")).invalid(unknown);
            api.get(&format!("{path}parent_id")).invalid("parent_id");
        }
    }
}
