//! `POST /delegate/batch` and `/device/batch` (contract §2): many records in one request, each by its code or its id.

use crate::harness::{Caller, Reply, Server, keys, reply};
use gatepost::identity::Role;
use reqwest::Method;
use serde_json::{Map, Value, json};

/// A kind of record: a code of it, another one, and a property.
const KINDS: [(&str, &str, &str, &str); 2] = [
    ("delegate", "barcode", "externalId", "company"),
    ("device", "code", "externalId", "category"),
];

fn send(api: &Caller, kind: &str, records: Value) -> Reply {
    let body = json!({format!("{kind}s"): records});
    api.post(&format!("/{kind}/batch"), &body)
}

/// Status and internal code of each answer.
fn told(answers: &Reply) -> Vec<(i64, i64)> {
    let of = |answer: &Value| {
        let code = &answer["meta"]["error"]["internalCode"];
        let status = answer["status"].as_i64().expect("a status");
        (status, code.as_i64().unwrap_or(0))
    };
    answers.list().iter().map(of).collect()
}

#[test]
fn each_is_created_or_changed_and_fails_alone() {
    let (_server, api) = Server::with_api();
    for (kind, code, other, property) in KINDS {
        let known = api.made(
            &format!("/{kind}/new"),
            &json!({code: "K", other: "O", property: "old"}),
        );
        let second = api.made(&format!("/{kind}/new"), &json!({code: "L"}));
        let id = known["id"].clone();
        let missing = if kind == "delegate" { 1301 } else { 1401 };
        let answers = send(
            &api,
            kind,
            json!({
                "z new": {code: "N", property: "one"},
                "by code": {code: "K", property: "two"},
                "by another code": {other: "O", property: "three"},
                "by id": {"id": id, code: "K2"},
                "the same": {code: "K2"},
                "again": {code: "N", property: null},
                "no such id": {"id": 999_999, property: "x"},
                "no code": {property: "x"},
                "taken": {"id": second["id"], code: "K2"},
                "two holders": {code: "L", other: "O"},
                "typo": {code: "T", "naem": "x"},
                "bad id": {"id": "one"},
                "no object": [1],
                "": {code: "E"},
            }),
        );
        answers.is(200);
        assert_eq!(
            told(&answers),
            [
                (201, 0),
                (200, 0),
                (200, 0),
                (200, 0),
                (200, 0),
                (200, 0),
                (404, missing),
                (400, 1100),
                (409, 1105),
                (409, 1105),
                (400, 1100),
                (400, 1100),
                (400, 1100),
                (201, 0),
            ],
            "{kind}: {answers:?}"
        );
        let list = answers.list();
        assert_eq!(keys(&list[0]), "key status data meta");
        assert_eq!(list[0]["key"], "z new");
        assert_eq!(list[1]["data"][property], "two");
        assert_eq!(list[2]["data"]["id"], id);
        assert_eq!(list[3]["data"][code], "K2");
        assert_eq!(list[5]["data"].get(property), None, "null clears");
        assert_eq!(list[6]["data"], json!({}));
        // What the single call says, word for word.
        let single = api.patch(
            &format!("/{kind}/id:{}", second["id"]),
            &json!({code: "K2"}),
        );
        assert_eq!(list[8]["meta"], single.body["meta"]);
        // What failed is not there.
        let listed = api.read(&format!("/{kind}/list?fields={code}"));
        let codes = listed.as_array().expect("a list").iter();
        let codes: Vec<_> = codes.filter_map(|record| record[code].as_str()).collect();
        assert!(
            ["K2", "L", "N", "E"]
                .iter()
                .all(|known| codes.contains(known)),
            "{codes:?}"
        );
        assert!(!codes.contains(&"T"), "{codes:?}");
        assert_eq!(list[2]["data"][property], "three");
        assert_eq!(
            api.read(&format!("/{kind}/{code}:K2")),
            api.read(&format!("/{kind}/id:{id}"))
        );
    }
}

#[test]
fn a_batch_sent_again_under_its_key_does_nothing_twice() {
    let (server, api) = Server::with_api();
    let send = |company: &str| {
        let body = json!({"delegates": {"a": {"barcode": "A", "company": company}, "b": {}}});
        let request = api.request(Method::POST, "/delegate/batch");
        reply(request.header("Idempotency-Key", "k").json(&body))
    };
    let first = send("x");
    assert_eq!(told(&first), [(201, 0), (400, 1100)]);
    send("x").repeats(&first);
    send("y").refused(409, 1109, "Idempotency-Key");
    assert_eq!(server.count("delegates"), 1);
    assert_eq!(server.count("audit WHERE record_type = 'delegate'"), 1);
}

#[test]
fn thousands_are_written_in_slices_and_answered_in_order() {
    let (server, api) = Server::with_api();
    let people = |company: &str| -> Value {
        let person = |at| {
            let record = json!({"externalId": format!("P-{at}"), "lastName": format!("Name {at}"), "company": company});
            (format!("{}", 3_000 - at), record)
        };
        (0..3_000).map(person).collect::<Map<_, _>>().into()
    };
    for (company, status) in [("one", 201), ("two", 200)] {
        let answers = send(&api, "delegate", people(company));
        let list = answers.list();
        assert_eq!(list.len(), 3_000);
        for (at, answer) in list.iter().enumerate() {
            assert_eq!(answer["key"], json!(format!("{}", 3_000 - at)));
            assert_eq!(answer["status"], status, "{answer}");
            assert_eq!(answer["data"]["externalId"], json!(format!("P-{at}")));
        }
    }
    assert_eq!(server.count("delegates WHERE company = 'two'"), 3_000);
    // Each change is in the feed and in the audit.
    assert_eq!(server.count("audit WHERE record_type = 'delegate'"), 6_000);
    server.has_indexed_everybody();
    let found = api.post("/delegate/find", &json!({"query": "Name 2999"}));
    assert_eq!(found.list()[0]["externalId"], "P-2999");
}

#[test]
fn an_item_that_fails_after_it_wrote_takes_nothing_with_it() {
    let (_server, api) = Server::with_api();
    let hall = api.device(&json!({"code": "hall", "deviceType": "room"}));
    // What a door may not have is found when it is written.
    let answers = send(
        &api,
        "device",
        json!({
            "a": {"code": "a"},
            "door": {"code": "door", "deviceType": "door", "parent": hall, "data": {"Access": {"capacity": 9}}},
            "b": {"code": "b"},
        }),
    );
    assert_eq!(told(&answers), [(201, 0), (400, 1100), (201, 0)]);
    api.get("/device/code:door").refused(404, 1401, "door");
    api.get("/device/code:b").is(200);
}

#[test]
fn limits_and_rights_are_those_of_single_calls() {
    let (server, api) = Server::with_api();
    let many: Map<String, Value> = (0..10_001)
        .map(|at| (at.to_string(), json!({"barcode": at.to_string()})))
        .collect();
    send(&api, "delegate", many.into()).invalid("delegates");
    assert_eq!(server.count("delegates"), 0);
    let large = json!({"a": {"barcode": "A", "notes": "x".repeat(2 << 20)}, "b": {"barcode": "B"}});
    let answers = send(&api, "delegate", large);
    assert_eq!(told(&answers), [(413, 1106), (201, 0)]);
    // A code that is blocked, and a deleted holder.
    api.delete("/delegate/barcode:B").is(204);
    let answers = send(&api, "delegate", json!({"b": {"barcode": "B"}}));
    assert_eq!(told(&answers), [(201, 0)]);

    let reader = server.caller(&[Role::DelegateRead, Role::DeviceWrite]);
    send(&reader, "delegate", json!({})).refused(403, 1202, "ROLE_OAUTH2_DELEGATE_WRITE");
    send(&reader, "device", json!({})).is(200);
    let narrow = server.caller_seeing(&["barcode", "company"]);
    let answers = send(
        &narrow,
        "delegate",
        json!({
            "own": {"barcode": "B", "company": "x"},
            "hidden": {"barcode": "B", "lastName": "x"},
        }),
    );
    assert_eq!(told(&answers), [(200, 0), (403, 1202)]);
    assert_eq!(keys(&answers.list()[0]["data"]), "id _type barcode company");
}

/// The records that a message names by their ids: `delegate 7`.
fn names(answer: &Value, kind: &str, id: &Value) -> bool {
    let message = answer["meta"]["error"]["message"].as_str();
    let message = message.unwrap_or_default();
    message.contains(&format!("{kind} {id}"))
}

#[test]
fn nobody_turns_into_somebody_else() {
    let (server, api) = Server::with_api();
    for (kind, code, identity, property) in KINDS {
        // Two people with one badge: by the badge the second would become the first.
        let answers = send(
            &api,
            kind,
            json!({
                "1": {identity: "crm-A", property: "Ann", code: "SH"},
                "2": {identity: "crm-B", property: "Bob", code: "SH"},
            }),
        );
        assert_eq!(told(&answers), [(201, 0), (409, 1105)], "{answers:?}");
        let ann = &answers.list()[0]["data"]["id"];
        assert!(names(&answers.list()[1], kind, ann), "{answers:?}");
        let second = send(&api, kind, json!({"2": {identity: "crm-B", code: "OT"}}));
        let bob = &second.list()[0]["data"]["id"];
        let clash = send(&api, kind, json!({"a": {identity: "crm-A", code: "OT"}}));
        assert_eq!(told(&clash), [(409, 1105)]);
        let message = &clash.list()[0]["meta"]["error"]["message"];
        let message = message.as_str().expect("a message");
        assert!(message.starts_with(&format!("{code}: ")), "{message}");
        assert!(names(&clash.list()[0], kind, bob), "{message}");
        // Who has no identity yet is given one, and may be given another on purpose.
        let given = send(
            &api,
            kind,
            json!({
                "new": {code: "BARE"},
                "first": {code: "BARE", identity: "crm-C"},
                "by id": {"id": ann, identity: "crm-A2"},
            }),
        );
        assert_eq!(told(&given), [(201, 0), (200, 0), (200, 0)]);
        let by = |by: &str, records: Value| {
            let body = json!({format!("{kind}s"): records});
            api.post(&format!("/{kind}/batch?by={by}"), &body)
        };
        let moved = by(code, json!({"a": {code: "SH", identity: "crm-A"}}));
        assert_eq!(told(&moved), [(200, 0)]);
        // By one code alone: an id is that of another server.
        let alone = by(
            identity,
            json!({
                "a": {identity: "crm-A", "id": bob, property: "Ann A."},
                "no code": {code: "SH"},
                "taken": {identity: "crm-A", code: "OT"},
                "new": {identity: "crm-D"},
            }),
        );
        assert_eq!(
            told(&alone),
            [(200, 0), (400, 1100), (409, 1105), (201, 0)],
            "{alone:?}"
        );
        assert_eq!(alone.list()[0]["data"]["id"], *ann);
        assert!(names(&alone.list()[2], kind, bob), "{alone:?}");
        by("nothing", json!({})).invalid("by");
        by("id", json!({})).invalid("by");
        // Two swap badges in three steps.
        let swapped = send(
            &api,
            kind,
            json!({
                "free": {identity: "crm-A", code: null},
                "b": {identity: "crm-B", code: "SH"},
                "a": {identity: "crm-A", code: "OT"},
            }),
        );
        assert_eq!(told(&swapped), [(200, 0); 3], "{swapped:?}");
        assert_eq!(api.get(&format!("/{kind}/{code}:OT")).id(), *ann);
        let number = send(&api, kind, json!({"n": {identity: 42}}));
        assert_eq!(told(&number), [(400, 1100)]);
        let message = &number.list()[0]["meta"]["error"]["message"];
        let message = message.as_str().expect("a message");
        assert!(message.contains("externalId: must be a text"), "{message}");
    }
    // Who may not read delegates is not told which.
    let blind = server.caller(&[Role::DelegateWrite]);
    let answers = send(
        &blind,
        "delegate",
        json!({"a": {"externalId": "crm-Z", "barcode": "OT"}}),
    );
    assert_eq!(told(&answers), [(409, 1105)]);
    let message = answers.list()[0]["meta"]["error"]["message"].as_str();
    assert!(message.is_some_and(|message| message.contains("another record")));
}
