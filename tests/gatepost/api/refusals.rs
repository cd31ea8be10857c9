//! What is kept of those who were not let in, of those whom a gate let in before it asked, and what
//! happens at once (contract §3, §6).

use super::{gate, refusals};
use crate::harness::{Server, cases};
use gatepost::identity::Role;
use serde_json::{Value, json};

#[test]
fn a_refusal_is_kept_with_who_where_when_by_which_client_and_why() {
    let (server, api) = Server::with_api();
    let a = api.delegate(&json!({"barcode": "A"}));
    let door = gate(&api, &json!({"entry": "single"}));
    api.patch(&format!("/device/id:{door}"), &json!({"code": "gate"}));
    let scan = json!({"delegate": "barcode:A", "device": "code:gate", "recordedAt": 1_591_002_120});
    api.interact("check-in", &scan).is(201);
    let again = api.interact("check-in", &scan);
    again.refused(412, 740, "");
    let unknown = api.scan("lead", "barcode:NOPE", door);
    unknown.refused(404, 1301, "NOPE");
    let second = api.interact("lead", &json!({"delegate": a, "secondDelegate": 999}));
    second.refused(404, 1301, "999");
    let client: i64 = server.value("SELECT max(id) FROM clients");
    let by_id = |id: i64| format!("id:{id}");
    let expected: Vec<Value> = cases::<[Value; 5]>(json!([
        ["check-in", "barcode:A", a, "code:gate", door],
        ["lead", "barcode:NOPE", null, by_id(door), door],
        ["lead", by_id(a), a, null, null],
    ]))
    .into_iter()
    .zip([&again, &unknown, &second])
    .map(|([kind, delegate, delegate_id, device, device_id], reply)| {
        json!({
            "kind": kind, "delegate": delegate, "delegateId": delegate_id, "device": device, "deviceId": device_id,
            "client": client, "user": null, "code": reply.code(), "message": reply.message(),
        })
    })
    .collect();
    assert_eq!(refusals(&server), expected);
    assert_eq!(
        server.value::<i64>("SELECT recorded_at FROM refusals ORDER BY id LIMIT 1"),
        1_591_002_120_000
    );
    assert!(server.value::<i64>("SELECT min(at) FROM refusals") > 1_591_002_120_000);
    assert_eq!(server.count("interactions"), 1);
}

#[test]
fn what_is_malformed_or_at_an_unknown_device_is_not_a_refusal() {
    let (server, api) = Server::with_api();
    let a = api.delegate(&json!({}));
    api.answers(&json!([
        ["POST /interaction/new/check-in", {"delegate": a, "device": 999}, 404, 1401, ""],
        ["POST /interaction/new/check-in", {"delegate": a, "typo": 1}, 400, 1100, ""],
        ["POST /interaction/new/Bad", {"delegate": a}, 400, 1501, ""],
        ["POST /interaction/new/check-in", {}, 400, 1502, ""],
    ]));
    assert!(refusals(&server).is_empty());
}

#[test]
fn a_users_refusal_names_the_user() {
    let server = Server::start();
    let user = server.caller_as_user("crew@example.org", &[Role::InteractionWrite], None);
    user.interact("check-in", &json!({"delegate": "barcode:NOPE"}))
        .refused(404, 1301, "");
    let kept = refusals(&server);
    assert_eq!(kept[0]["user"], 1);
    assert!(kept[0]["client"].is_i64());
}

#[test]
fn what_a_gate_admitted_is_stored_and_makes_a_conflict_where_rules_say_no() {
    let (server, api) = Server::with_api();
    let a = api.delegate(&json!({}));
    let conflicts = || server.count("conflicts");
    let door = gate(&api, &json!({"entry": "single"}));
    let admitted =
        json!({"delegate": a, "device": door, "admitted": true, "recordedAt": 1_591_002_120});
    // Two offline gates admit one ticket: two check-ins, one conflict.
    api.interact("check-in", &admitted).is(201);
    assert_eq!(conflicts(), 0);
    let second = api.interact("check-in", &admitted);
    assert_eq!(second.status, 201);
    assert_eq!(conflicts(), 1);
    let kept: String =
        server.value("SELECT interaction_id || ' ' || code || ' ' || message FROM conflicts");
    assert_eq!(
        kept,
        format!(
            "{} 740 already used at Gate at 09:02 on 2020-06-01",
            second.id()
        )
    );
    assert_eq!(server.count("interactions WHERE admitted"), 2);
    // It counts as being inside.
    api.scan("check-in", a, door).refused(412, 740, "");
    for (access, code) in [
        (json!({"ruleSet": "simple"}), 741),
        (json!({"capacity": 0}), 744),
        (json!({"maxCheckIns": 0}), 740),
    ] {
        let door = gate(&api, &access);
        let body = json!({"delegate": a, "device": door, "admitted": true});
        assert_eq!(api.interact("check-in", &body).status, 201, "{access}");
        assert_eq!(
            server.value::<i64>("SELECT code FROM conflicts ORDER BY id DESC LIMIT 1"),
            code
        );
    }
    let door = gate(&api, &json!({"entry": "single"}));
    let out = json!({"delegate": a, "device": door, "admitted": true});
    api.interact("check-out", &out).is(201);
    assert_eq!(
        server.value::<i64>("SELECT code FROM conflicts ORDER BY id DESC LIMIT 1"),
        745
    );
    server.sql(&format!("UPDATE devices SET data = '[]' WHERE id = {door}"));
    api.interact("check-in", &out).is(201);
    assert_eq!(
        server.value::<i64>("SELECT code FROM conflicts ORDER BY id DESC LIMIT 1"),
        743
    );
    assert_eq!(conflicts(), 6);
    assert_eq!(refusals(&server).len(), 1);
    // Somebody unknown cannot be stored, and a deleted interaction takes its conflict along.
    let unknown = json!({"delegate": 999, "device": door, "admitted": true});
    api.interact("check-in", &unknown).refused(404, 1301, "");
    api.delete(&format!("/interaction/id:{}", second.id()));
    assert_eq!(conflicts(), 5);
}

#[test]
fn a_refusal_has_a_reason_that_programs_tell_apart() {
    let (_server, api) = Server::with_api();
    let a = api.delegate(&json!({"barcode": "A", "delegateType": "Visitor"}));
    api.delegate(&json!({"barcode": "aB1"}));
    api.delegate(&json!({"barcode": "Ab1"}));
    let now = jiff::Timestamp::now().as_second();
    let place = |access: Value, more: Value| {
        let mut body = json!({"name": "Hall", "data": {"Access": access}});
        for (name, value) in more.as_object().expect("an object") {
            body[name] = value.clone();
        }
        api.device(&body)
    };
    let window = |start: i64, end: i64| json!({"startAt": now + start, "endAt": now + end});
    let none = json!({});
    let passed = place(json!({"maxCheckIns": 1}), none.clone());
    api.scan("check-in", "barcode:A", passed).is(201);
    let used = place(json!({"entry": "single"}), none.clone());
    api.scan("check-in", "barcode:A", used).is(201);
    let times = json!({"opensBefore": 0, "closesAfter": 0});
    let open = place(json!({}), none.clone());
    for (kind, who, at, code, reason) in [
        ("check-in", "scan:A", used, 740, "used"),
        ("check-in", "scan:A", passed, 740, "max"),
        (
            "check-in",
            "scan:A",
            place(json!({"ruleSet": "simple"}), none.clone()),
            741,
            "not-joined",
        ),
        (
            "check-in",
            "scan:A",
            place(times.clone(), window(7_200, 9_000)),
            742,
            "too-early",
        ),
        (
            "check-in",
            "scan:A",
            place(times, window(-9_000, -7_200)),
            742,
            "too-late",
        ),
        (
            "check-in",
            "scan:A",
            place(json!({}), json!({"available": false})),
            743,
            "not-available",
        ),
        (
            "check-in",
            "scan:A",
            place(json!({"capacity": 0}), none.clone()),
            744,
            "full",
        ),
        (
            "check-out",
            "scan:A",
            place(json!({"entry": "single"}), none.clone()),
            745,
            "not-inside",
        ),
        (
            "check-in",
            "scan:A",
            place(json!({"types": ["Crew"]}), none),
            746,
            "wrong-type",
        ),
        ("check-in", "scan:nobody", open, 1301, "unknown"),
        ("check-in", "scan:AB1", open, 1301, "ambiguous"),
    ] {
        let refused = api.scan(kind, who, at);
        let error = &refused.body["meta"]["error"];
        assert_eq!(
            (refused.code(), &error["reason"]),
            (code, &json!(reason)),
            "{refused:?}"
        );
        let batch = json!({"interactions": {"a": {"interactionType": kind, "delegate": who, "device": at}}});
        let batch = api.post("/interaction/batch", &batch);
        assert_eq!(
            batch.list()[0]["meta"]["error"]["reason"],
            reason,
            "{batch:?}"
        );
    }
    // Only refusals and unknown attendees have one.
    let malformed = api.interact("check-in", &json!({"delegate": a, "typo": 1}));
    assert_eq!(malformed.body["meta"]["error"].get("reason"), None);
}
