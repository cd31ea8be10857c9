//! `/device/...` (spec: Device endpoints; contract §2, §4, §6).

use super::{ODD_VALUES, encoded};
use crate::harness::Server;
use serde_json::{Value, json};

const CODES: [&str; 5] = ["code", "publicId", "externalId", "rfid", "slug"];

#[test]
fn a_device_is_created_with_what_was_sent() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let event = caller
        .post("/event/new", &json!({"eventName": "Summit"}))
        .id();
    let sent = json!({
        "name": "Gate B", "shortName": "B", "description": "North", "deviceType": "session", "deviceTags": "x,y",
        "category": "gates", "startAt": "2026-11-21T09:00:00+00:00", "endAt": "2026-11-21T10:00:00+00:00",
        "available": false, "code": "gate-b", "publicId": "P", "externalId": "E", "slug": "S", "rfid": "R",
        "data": {"Access": {"ruleSet": "simple"}, "Data": {"x": 1}},
    });
    let mut body = sent.clone();
    body["parent"] = json!(event);
    let made = caller.post("/device/new", &body);
    assert_eq!((made.status, &made.body["meta"]), (201, &json!({})));
    let made = made.data().clone();
    for (name, value) in sent.as_object().expect("an object") {
        assert_eq!(&made[name], value, "{name}");
    }
    assert_eq!(made["parent"], json!({"id": event, "_type": "device"}));
    assert_eq!(
        (&made["_type"], &made["sources"]),
        (&json!("device"), &json!(["api"]))
    );
    for code in CODES {
        let value = sent[code].as_str().expect("a code");
        assert_eq!(
            caller.get(&format!("/device/{code}:{value}")).data(),
            &made,
            "{code}"
        );
    }
    let above = caller.get(&format!("/device/id:{event}"));
    assert_eq!(
        above.data()["children"],
        json!([{"id": made["id"], "_type": "device"}])
    );
}

#[test]
fn a_device_is_available_and_has_codes_of_the_servers_making_unless_sent() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let made = caller.post("/device/new", &json!({})).data().clone();
    assert_eq!(made["available"], true);
    let path = format!("/device/id:{}", made["id"]);
    for code in ["code", "publicId"] {
        assert_eq!(made[code].as_str().map(str::len), Some(36), "{code}");
        let cleared = caller.patch(&path, &json!({code: null})).data().clone();
        assert_eq!(cleared[code].as_str().map(str::len), Some(36), "{code}");
        assert_ne!(cleared[code], made[code], "{code}");
    }
    assert_eq!(
        caller.patch(&path, &json!({"available": false})).data()["available"],
        false
    );
    assert_eq!(
        caller.patch(&path, &json!({"available": null})).data()["available"],
        true
    );
    for bad in [json!(1), json!("true"), json!([])] {
        caller
            .patch(&path, &json!({"available": bad}))
            .refused(400, 1100, "available");
    }
}

#[test]
fn every_id_type_takes_any_value() {
    let server = Server::start();
    let caller = server.caller_with_all();
    for code in CODES {
        for value in ODD_VALUES {
            let id = caller.device(&json!({code: value}));
            let path = format!("/device/{code}:{}", encoded(value));
            let found = caller.get(&path);
            assert_eq!(
                (found.id(), &found.data()[code]),
                (id, &json!(value)),
                "{path}"
            );
            let made = caller.interact("seen", &json!({"device": format!("{code}:{value}")}));
            assert_eq!(
                made.data()["firstDevice"],
                json!({"id": id, "_type": "device"})
            );
            caller
                .post("/device/new", &json!({code: value}))
                .refused(409, 1105, code);
            assert_eq!(
                caller.patch(&path, &json!({"name": "X"})).id(),
                id,
                "{path}"
            );
            assert_eq!(caller.delete(&path).status, 204, "{path}");
            caller.get(&path).refused(404, 1401, "");
        }
    }
    caller
        .get("/device/barcode:x")
        .refused(400, 1101, "id code publicId externalId rfid slug");
    caller.get("/device/uhfId:x").refused(400, 1101, "uhfId");
    caller.get("/device/id:x").refused(400, 1100, "id");
    caller.get("/device/7").refused(400, 1101, "7");
}

#[test]
fn a_patch_changes_what_it_names_and_null_clears() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let parent = caller.device(&json!({}));
    let all = json!({
        "externalId": "E", "rfid": "R", "slug": "S", "name": "n", "shortName": "s", "description": "d",
        "deviceType": "room", "deviceTags": "t", "category": "c", "startAt": 0, "endAt": 1, "parent": parent,
        "data": {"Data": {"x": 1}},
    });
    let made = caller.post("/device/new", &all).data().clone();
    let path = format!("/device/id:{}", made["id"]);
    assert_eq!(caller.patch(&path, &json!({})).data(), &made);
    for name in all.as_object().expect("an object").keys() {
        assert!(made.get(name).is_some(), "{name}");
        let cleared = caller.patch(&path, &json!({name: null})).data().clone();
        assert_eq!(cleared.get(name), None, "{name}");
    }
    let merged = caller.patch(&path, &json!({"data": {"A": {"x": 1, "y": 2}}}));
    assert_eq!(merged.data()["data"], json!({"A": {"x": 1, "y": 2}}));
    let merged = caller.patch(&path, &json!({"data": {"A": {"x": null}, "B": []}}));
    assert_eq!(merged.data()["data"], json!({"A": {"y": 2}, "B": []}));
}

#[test]
fn an_unknown_property_is_refused_by_name_and_a_read_only_one_ignored() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let made = caller
        .post("/device/new", &json!({"name": "Gate"}))
        .data()
        .clone();
    let path = format!("/device/id:{}", made["id"]);
    for unknown in [
        "Name",
        "barcode",
        "eventName",
        "managerEmail",
        "startsAt",
        "firstInteractions",
    ] {
        caller
            .post("/device/new", &json!({unknown: "x"}))
            .refused(400, 1100, unknown);
        caller
            .patch(&path, &json!({"name": "X", unknown: "x"}))
            .refused(400, 1100, unknown);
    }
    let read_only = json!({"id": 77, "_type": "x", "createdAt": 1, "updatedAt": 1, "sources": [], "children": []});
    assert_eq!(caller.patch(&path, &read_only).data(), &made);
    assert_eq!(caller.patch(&path, &made).data()["name"], "Gate");
}

#[test]
fn an_end_before_the_start_is_refused() {
    let server = Server::start();
    let caller = server.caller_with_all();
    caller
        .post("/device/new", &json!({"startAt": 100, "endAt": 99}))
        .refused(400, 1100, "endAt");
    let id = caller.device(&json!({"startAt": 100, "endAt": 100}));
    let path = format!("/device/id:{id}");
    caller
        .patch(&path, &json!({"endAt": 99}))
        .refused(400, 1100, "endAt");
    caller
        .patch(&path, &json!({"startAt": 101}))
        .refused(400, 1100, "endAt");
    assert_eq!(
        caller
            .patch(&path, &json!({"startAt": 200, "endAt": 300}))
            .status,
        200
    );
    assert_eq!(
        caller
            .patch(&path, &json!({"startAt": null, "endAt": 1}))
            .status,
        200
    );
    caller
        .post(
            "/event/new",
            &json!({"eventStartAt": 100, "eventEndAt": 99}),
        )
        .refused(400, 1100, "eventEndAt");
}

#[test]
fn a_cycle_of_parents_is_refused() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let event = caller.post("/event/new", &json!({})).id();
    let room = caller.device(&json!({"parent": {"id": event}}));
    let session = caller.device(&json!({"parent": room}));
    for parent in [event, room, session] {
        let path = format!("/device/id:{event}");
        caller
            .patch(&path, &json!({"parent": parent}))
            .refused(400, 1100, "parent");
    }
    caller.device(&json!({"parent": session}));
    caller
        .post("/device/new", &json!({"parent": 999_999}))
        .refused(400, 1100, "parent");
}

#[test]
fn rules_are_checked_strictly_when_written() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let id = caller.device(&json!({}));
    let path = format!("/device/id:{id}");
    let whole = json!({
        "ruleSet": "simple", "entry": "single", "maxCheckIns": 3, "capacity": 0, "opensBefore": 15, "closesAfter": 0,
    });
    let stored = caller.patch(&path, &json!({"data": {"Access": whole}}));
    assert_eq!(stored.data()["data"]["Access"], whole);
    for (access, named) in [
        (json!({"ruleset": "simple"}), "data.Access.ruleset"),
        (json!({"ruleSet": "Simple"}), "data.Access.ruleSet"),
        (json!({"ruleSet": "acl"}), "data.Access.ruleSet"),
        (json!({"ruleSet": true}), "data.Access.ruleSet"),
        (json!({"entry": "once"}), "data.Access.entry"),
        (json!({"entry": ["single"]}), "data.Access.entry"),
        (json!({"maxCheckIns": -1}), "data.Access.maxCheckIns"),
        (json!({"maxCheckIns": 1.5}), "data.Access.maxCheckIns"),
        (json!({"maxCheckIns": "1"}), "data.Access.maxCheckIns"),
        (json!({"maxcheckins": 1}), "data.Access.maxcheckins"),
        (
            json!({"capacity": 4_294_967_296_i64}),
            "data.Access.capacity",
        ),
        (json!({"capacity": {}}), "data.Access.capacity"),
        (json!({"opensBefore": "15 min"}), "data.Access.opensBefore"),
        (json!({"closesAfter": -5}), "data.Access.closesAfter"),
        (json!({"": 1}), "data.Access"),
        (json!([]), "data.Access"),
        (json!("open"), "data.Access"),
        (json!(1), "data.Access"),
        (json!(false), "data.Access"),
    ] {
        let body = json!({"name": "Lost", "data": {"Access": access}});
        caller.patch(&path, &body).refused(400, 1100, named);
        caller.post("/device/new", &body).refused(400, 1100, named);
    }
    assert_eq!(caller.get(&path).data(), stored.data());
    assert_eq!(server.value::<i64>("SELECT count(*) FROM devices"), 1);
    // Rules are checked as they will be after the merge, and null takes one or all back.
    let fewer = caller.patch(
        &path,
        &json!({"data": {"Access": {"capacity": null, "entry": "multiple"}}}),
    );
    assert_eq!(
        fewer.data()["data"]["Access"],
        json!({"ruleSet": "simple", "entry": "multiple", "maxCheckIns": 3, "opensBefore": 15, "closesAfter": 0})
    );
    assert_eq!(
        caller
            .patch(&path, &json!({"data": {"Access": null}}))
            .data()
            .get("data"),
        None
    );
    // A device of another's making, an event, has rules too.
    let event = caller.post("/event/new", &json!({})).id();
    let path = format!("/device/id:{event}");
    caller
        .patch(&path, &json!({"data": {"Access": {"entri": 1}}}))
        .refused(400, 1100, "entri");
}

#[test]
fn a_deleted_device_is_out_of_every_answer_and_its_interactions_stay() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let parent = caller.device(&json!({}));
    let id = caller.device(&json!({"code": "gate", "parent": parent}));
    let child = caller.device(&json!({"parent": id}));
    let made = caller.interact("seen", &json!({"device": id})).id();
    assert_eq!(caller.delete("/device/code:gate").status, 204);
    caller
        .get(&format!("/device/id:{id}"))
        .refused(404, 1401, "");
    caller
        .patch("/device/code:gate", &json!({}))
        .refused(404, 1401, "gate");
    caller
        .interact("seen", &json!({"device": "code:gate"}))
        .refused(404, 1401, "gate");
    caller
        .interact("seen", &json!({"device": id}))
        .refused(404, 1401, "");
    assert_eq!(
        caller.get("/device/list").body["meta"]["pagination"]["totalItems"],
        2
    );
    assert_eq!(
        caller
            .get(&format!("/device/id:{child}"))
            .data()
            .get("parent"),
        None
    );
    assert_eq!(
        caller
            .get(&format!("/device/id:{parent}"))
            .data()
            .get("children"),
        None
    );
    assert_eq!(caller.get("/interaction/list").data()[0]["id"], json!(made));
    assert!(caller.device(&json!({"code": "gate"})) > child);
}

#[test]
fn sparse_fields_show_what_they_name() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let parent = caller.device(&json!({}));
    let id = caller.device(&json!({"name": "Gate", "parent": parent, "startAt": 0}));
    for (fields, keys) in [
        ("name", vec!["id", "_type", "name"]),
        (
            "parent,startAt,available",
            vec!["id", "_type", "parent", "startAt", "available"],
        ),
        ("endAt", vec!["id", "_type"]),
    ] {
        let one = caller
            .get(&format!("/device/id:{id}?fields={fields}"))
            .data()
            .clone();
        let shown: Vec<&String> = one.as_object().expect("an object").keys().collect();
        assert_eq!(shown, keys, "{fields}");
        let list = caller.get(&format!("/device/list?offset=1&fields={fields}"));
        assert_eq!(list.data(), &Value::Array(vec![one]), "{fields}");
    }
    caller
        .get("/device/list?fields=barcode")
        .refused(400, 1100, "barcode");
    caller
        .get(&format!("/device/id:{id}?fields=parent_id"))
        .refused(400, 1100, "parent_id");
}
