//! `/event/...` (spec: Event endpoints; contract §1, §4).

use super::{ODD_VALUES, encoded};
use crate::harness::Server;
use serde_json::json;

#[test]
fn an_event_is_a_device_under_names_of_its_own() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let sent = json!({
        "eventName": "Summit", "eventExternalID": "S-26", "eventStartAt": "2026-11-21 00:00:00",
        "eventEndAt": "2026-11-22 00:00:00", "eventManagerEmail": "m@example.org", "eventManagerPhone": "+44",
    });
    let made = caller.post("/event/new", &sent);
    assert_eq!((made.status, &made.body["meta"]), (201, &json!({})));
    let made = made.data().clone();
    for (name, value) in sent.as_object().expect("an object") {
        assert_eq!(&made[name], value, "{name}");
    }
    let keys: Vec<&str> = made
        .as_object()
        .expect("an object")
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(
        keys,
        [
            "id",
            "_type",
            "eventName",
            "eventExternalID",
            "eventStartAt",
            "eventEndAt",
            "eventManagerEmail",
            "eventManagerPhone",
            "sources",
            "createdAt",
            "updatedAt"
        ]
    );
    assert_eq!(
        (&made["_type"], &made["sources"]),
        (&json!("event"), &json!(["api"]))
    );
    let device = caller
        .get(&format!("/device/id:{}", made["id"]))
        .data()
        .clone();
    assert_eq!(device["deviceType"], "event");
    assert_eq!(
        (&device["name"], &device["externalId"]),
        (&json!("Summit"), &json!("S-26"))
    );
    assert_eq!(device["startAt"], "2026-11-21T00:00:00+00:00");
    assert_eq!(device["endAt"], "2026-11-22T00:00:00+00:00");
    assert!(device["code"].is_string() && device["publicId"].is_string());
    // The other way round.
    let other = caller.device(&json!({"deviceType": "event", "name": "Fair", "externalId": "F"}));
    assert_eq!(
        caller.get("/event/externalId:F").data()["eventName"],
        "Fair"
    );
    let room = caller.device(&json!({"deviceType": "room"}));
    caller.get(&format!("/event/{room}")).refused(404, 1601, "");
    caller.patch(
        &format!("/device/id:{other}"),
        &json!({"deviceType": "room"}),
    );
    caller
        .get(&format!("/event/{other}"))
        .refused(404, 1601, "");
}

#[test]
fn an_event_is_selected_in_three_ways_and_no_other() {
    let server = Server::start();
    let caller = server.caller_with_all();
    for value in ODD_VALUES {
        let id = caller
            .post("/event/new", &json!({"eventExternalID": value}))
            .id();
        let by_code = format!("externalId:{}", encoded(value));
        for selector in [id.to_string(), format!("id:{id}"), by_code] {
            let path = format!("/event/{selector}");
            assert_eq!(caller.get(&path).id(), id, "{path}");
            assert_eq!(
                caller.patch(&path, &json!({"eventName": selector})).data()["eventName"],
                json!(selector)
            );
        }
        assert_eq!(
            caller
                .delete(&format!("/event/externalId:{}", encoded(value)))
                .status,
            204
        );
    }
    for (selector, code) in [
        ("code:x", 1101),
        ("publicId:x", 1101),
        ("eventExternalID:x", 1101),
        ("slug:x", 1101),
        ("x", 1100),
        ("1.5", 1100),
        ("-1", 1100),
        ("id:x", 1100),
        ("externalId:", 1100),
    ] {
        caller
            .get(&format!("/event/{selector}"))
            .refused(400, code, "");
    }
}

#[test]
fn a_patch_changes_what_it_names_and_the_id_never() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let made = caller
        .post(
            "/event/new",
            &json!({"eventName": "Summit", "eventExternalID": "S", "eventStartAt": 0}),
        )
        .data()
        .clone();
    let path = format!("/event/{}", made["id"]);
    for id in [json!(null), json!(77), json!("x")] {
        assert_eq!(
            caller.patch(&path, &json!({"id": id})).data(),
            &made,
            "{id}"
        );
    }
    let read_only =
        json!({"id": 1, "_type": "x", "sources": [], "createdAt": 0, "updatedAt": null});
    assert_eq!(caller.patch(&path, &read_only).data(), &made);
    assert_eq!(caller.patch(&path, &made).status, 200);
    for name in ["eventName", "eventExternalID", "eventStartAt"] {
        assert_eq!(
            caller.patch(&path, &json!({name: null})).data().get(name),
            None,
            "{name}"
        );
    }
    for unknown in ["name", "data", "parent", "eventExternalId", "available"] {
        caller
            .patch(&path, &json!({unknown: null}))
            .refused(400, 1100, unknown);
        caller
            .post("/event/new", &json!({unknown: null}))
            .refused(400, 1100, unknown);
    }
}

#[test]
fn a_taken_external_id_is_told_by_the_events_name_for_it() {
    let server = Server::start();
    let caller = server.caller_with_all();
    caller.device(&json!({"externalId": "X"}));
    caller
        .post("/event/new", &json!({"eventExternalID": "X"}))
        .refused(409, 1105, "eventExternalID");
    let id = caller.post("/event/new", &json!({})).id();
    let change = json!({"eventExternalID": "X"});
    caller
        .patch(&format!("/event/{id}"), &change)
        .refused(409, 1105, "eventExternalID");
    caller
        .post("/event/new", &json!({"eventExternalID": ""}))
        .refused(400, 1100, "eventExternalID");
}

#[test]
fn a_deleted_event_is_404_and_its_external_id_free() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let id = caller
        .post("/event/new", &json!({"eventExternalID": "X"}))
        .id();
    assert_eq!(caller.delete(&format!("/event/id:{id}")).status, 204);
    for path in [
        format!("/event/{id}"),
        format!("/event/id:{id}"),
        "/event/externalId:X".into(),
    ] {
        caller.get(&path).refused(404, 1601, "event");
        caller
            .patch(&path, &json!({"eventName": "x"}))
            .refused(404, 1601, "event");
        caller.delete(&path).refused(404, 1601, "event");
    }
    caller
        .get(&format!("/device/id:{id}"))
        .refused(404, 1401, "");
    assert_eq!(
        caller
            .post("/event/new", &json!({"eventExternalID": "X"}))
            .status,
        201
    );
}

#[test]
fn sparse_fields_show_what_they_name() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let id = caller
        .post(
            "/event/new",
            &json!({"eventName": "Summit", "eventExternalID": "S"}),
        )
        .id();
    let sparse = caller.get(&format!("/event/{id}?fields=eventName"));
    assert_eq!(
        sparse.data(),
        &json!({"id": id, "_type": "event", "eventName": "Summit"})
    );
    caller
        .get(&format!("/event/{id}?fields=name"))
        .refused(400, 1100, "name");
}
