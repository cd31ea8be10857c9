//! `/delegate/...` (spec: Delegate endpoints; contract §1, §2, §4).

use crate::harness::{Server, reply};
use reqwest::Method;
use serde_json::{Value, json};

const CODES: [&str; 7] = [
    "barcode",
    "rfid",
    "externalId",
    "publicId",
    "code",
    "uhfId",
    "slug",
];

#[test]
fn a_delegate_is_created_with_what_was_sent() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let sent = json!({
        "barcode": "B-1", "rfid": "R-1", "externalId": "E-1", "publicId": "P-1", "code": "C-1", "uhfId": "U-1",
        "slug": "S-1", "firstName": "Ada", "lastName": "Lovelace", "email": "ada@example.org", "phone": "+44 1",
        "jobTitle": "Analyst", "company": "Engine", "delegateType": "visitor", "rawFlags": "PvVs a",
        "data": {"Data": {"dietaryNeeds": "vegan"}, "Section1": {"x": [1, 2.5, true, "y"]}},
    });
    let made = caller.post("/delegate/new", &sent);
    assert_eq!(made.status, 201);
    assert_eq!(made.body["meta"], json!({}));
    let made = made.data().clone();
    for (name, value) in sent.as_object().expect("an object") {
        let expected = if name == "rawFlags" {
            &json!("apsv")
        } else {
            value
        };
        assert_eq!(&made[name], expected, "{name}");
    }
    assert_eq!(made["_type"], "delegate");
    assert_eq!(made["sources"], json!(["api"]));
    assert_eq!(made["createdAt"], made["updatedAt"]);
    let id = &made["id"];
    assert_eq!(caller.get(&format!("/delegate/id:{id}")).data(), &made);
    for code in CODES {
        let value = sent[code].as_str().expect("a code");
        assert_eq!(
            caller.get(&format!("/delegate/{code}:{value}")).data(),
            &made,
            "{code}"
        );
    }
}

#[test]
fn a_deleted_delegate_is_out_of_every_answer_and_its_interactions_stay() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let parent = caller.delegate(&json!({}));
    let id = caller.delegate(&json!({"barcode": "A", "parent": parent}));
    let owned = caller.delegate(&json!({"owner": id, "parent": id, "previous": id}));
    let made = caller.interact("lead", &json!({"delegate": id})).id();
    assert_eq!(caller.delete(&format!("/delegate/id:{id}")).status, 204);
    caller.get("/delegate/barcode:A").refused(404, 1301, "A");
    caller
        .patch("/delegate/barcode:A", &json!({}))
        .refused(404, 1301, "A");
    caller
        .delete(&format!("/delegate/id:{id}"))
        .refused(404, 1301, "");
    caller
        .interact("lead", &json!({"delegate": id}))
        .refused(404, 1301, "");
    let listed = caller.get("/delegate/list");
    assert_eq!(listed.body["meta"]["pagination"]["totalItems"], 2);
    assert!(
        listed
            .data()
            .as_array()
            .expect("a list")
            .iter()
            .all(|one| one["id"] != id)
    );
    assert_eq!(
        caller
            .get(&format!("/delegate/id:{parent}"))
            .data()
            .get("children"),
        None
    );
    let orphan = caller.get(&format!("/delegate/id:{owned}")).data().clone();
    for reference in ["owner", "parent", "previous"] {
        assert_eq!(orphan.get(reference), None, "{reference}");
    }
    caller
        .post("/delegate/new", &json!({"parent": id}))
        .refused(400, 1100, "parent");
    assert_eq!(caller.get("/interaction/list").data()[0]["id"], json!(made));
    // Its code is free, and its id is not used again.
    let next = caller.delegate(&json!({"barcode": "A"}));
    assert!(next > owned);
}

#[test]
fn a_patch_changes_what_it_names_and_null_clears() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let owner = caller.delegate(&json!({}));
    let all = json!({
        "barcode": "B", "rfid": "R", "externalId": "E", "code": "C", "uhfId": "U", "slug": "S", "firstName": "Ada",
        "lastName": "L", "email": "e", "phone": "p", "jobTitle": "j", "company": "c", "delegateType": "t",
        "rawFlags": "v", "owner": owner, "parent": owner, "previous": {"id": owner}, "data": {"Data": {"x": 1}},
    });
    let made = caller.post("/delegate/new", &all).data().clone();
    let path = format!("/delegate/id:{}", made["id"]);
    let same = caller.patch(&path, &json!({})).data().clone();
    assert_eq!(same, made);
    for name in all.as_object().expect("an object").keys() {
        assert!(made.get(name).is_some(), "{name}");
        let cleared = caller.patch(&path, &json!({name: null})).data().clone();
        assert_eq!(cleared.get(name), None, "{name}");
    }
    let bare = caller.get(&path).data().clone();
    let keys: Vec<&str> = bare
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
            "publicId",
            "sources",
            "createdAt",
            "updatedAt"
        ]
    );
    // Empty text is no value either.
    caller.patch(&path, &json!({"firstName": "Ada"}));
    assert_eq!(
        caller
            .patch(&path, &json!({"firstName": ""}))
            .data()
            .get("firstName"),
        None
    );
}

#[test]
fn data_merges_by_key() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let id = caller.delegate(
        &json!({"data": {"Data": {"a": 1, "deep": {"x": 1, "y": [1, 2, 3]}}, "Other": {"o": 1}}}),
    );
    let path = format!("/delegate/id:{id}");
    for (patch, result) in [
        (
            json!({"Data": {"deep": {"y": [9], "z": null}}}),
            json!({"Data": {"a": 1, "deep": {"x": 1, "y": [9]}}, "Other": {"o": 1}}),
        ),
        (
            json!({"Data": {"deep": null}}),
            json!({"Data": {"a": 1}, "Other": {"o": 1}}),
        ),
        (
            json!({"Other": null, "New": {"n": {}}}),
            json!({"Data": {"a": 1}, "New": {"n": {}}}),
        ),
        (
            json!({"Data": "text"}),
            json!({"Data": "text", "New": {"n": {}}}),
        ),
        (
            json!({"Data": {"pushTokens": [], "pushTopics": []}}),
            json!({"Data": {"pushTokens": [], "pushTopics": []}, "New": {"n": {}}}),
        ),
        (
            json!({}),
            json!({"Data": {"pushTokens": [], "pushTopics": []}, "New": {"n": {}}}),
        ),
    ] {
        let patched = caller.patch(&path, &json!({"data": patch})).data().clone();
        assert_eq!(patched["data"], result, "{patch}");
        assert_eq!(caller.get(&path).data()["data"], result);
    }
    assert_eq!(
        caller
            .patch(&path, &json!({"data": null}))
            .data()
            .get("data"),
        None
    );
    for bad in [json!([]), json!("x"), json!(1)] {
        caller
            .patch(&path, &json!({"data": bad}))
            .refused(400, 1100, "data");
    }
}

#[test]
fn an_unknown_property_is_refused_by_name_and_a_read_only_one_ignored() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let id = caller.delegate(&json!({"firstName": "Ada"}));
    let path = format!("/delegate/id:{id}");
    for unknown in [
        "firstname",
        "first_name",
        "name",
        "flags",
        "deviceType",
        "",
        "é",
        "a.b",
    ] {
        caller
            .post("/delegate/new", &json!({unknown: 1}))
            .refused(400, 1100, unknown);
        let change = json!({"firstName": "Eve", unknown: "x"});
        caller.patch(&path, &change).refused(400, 1100, unknown);
    }
    assert_eq!(caller.get(&path).data()["firstName"], "Ada");
    let read_only = json!({
        "id": 77, "_type": "device", "createdAt": "never", "updatedAt": 1, "sources": ["x"], "children": [],
        "firstInteractions": [{"id": 1}], "secondInteractions": {}, "thirdInteractions": null,
    });
    let made = caller.post("/delegate/new", &read_only).data().clone();
    assert!(made["id"] != 77 && made["_type"] == "delegate" && made["sources"] == json!(["api"]));
    let before = caller.get(&path);
    assert_eq!(caller.patch(&path, &read_only).body, before.body);
    // So what was read can be sent back.
    assert_eq!(
        caller.patch(&path, before.data()).body["data"]["firstName"],
        "Ada"
    );
}

#[test]
fn references_take_an_id_or_an_object_and_show_as_objects() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let target = caller.delegate(&json!({"firstName": "Target"}));
    let shown = json!({"id": target, "_type": "delegate"});
    for reference in ["parent", "owner", "previous"] {
        for sent in [json!(target), json!({"id": target}), shown.clone()] {
            let made = caller.post("/delegate/new", &json!({reference: sent}));
            assert_eq!(made.data()[reference], shown, "{sent}");
        }
        for bad in [
            json!(1.5),
            json!([]),
            json!({}),
            json!({"id": "1"}),
            json!(true),
            json!(999_999),
        ] {
            caller
                .post("/delegate/new", &json!({reference: bad}))
                .refused(400, 1100, reference);
        }
    }
    let children = caller.get(&format!("/delegate/id:{target}")).data()["children"].clone();
    assert_eq!(children.as_array().map(Vec::len), Some(3));
    assert!(children[0]["id"].is_i64() && children[0]["_type"] == "delegate");
    assert_eq!(children[0].as_object().map(serde_json::Map::len), Some(2));
}

#[test]
fn a_cycle_of_parents_is_refused() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let top = caller.delegate(&json!({}));
    let middle = caller.delegate(&json!({"parent": top}));
    let low = caller.delegate(&json!({"parent": middle}));
    for parent in [top, middle, low] {
        let path = format!("/delegate/id:{top}");
        caller
            .patch(&path, &json!({"parent": parent}))
            .refused(400, 1100, "parent");
    }
    assert_eq!(
        caller
            .patch(&format!("/delegate/id:{low}"), &json!({"parent": top}))
            .status,
        200
    );
    assert_eq!(
        caller
            .patch(&format!("/delegate/id:{middle}"), &json!({"parent": low}))
            .status,
        200
    );
    // Owners and predecessors are no tree.
    assert_eq!(
        caller
            .patch(
                &format!("/delegate/id:{top}"),
                &json!({"owner": top, "previous": low})
            )
            .status,
        200
    );
}

#[test]
fn values_of_a_wrong_type_are_refused_by_name() {
    let server = Server::start();
    let caller = server.caller_with_all();
    for name in [
        "firstName",
        "lastName",
        "email",
        "phone",
        "jobTitle",
        "company",
        "delegateType",
        "rawFlags",
    ] {
        for bad in [
            json!(1),
            json!(true),
            json!([]),
            json!({}),
            json!("a\u{0}b"),
            json!("x".repeat(10_001)),
        ] {
            caller
                .post("/delegate/new", &json!({name: bad}))
                .refused(400, 1100, name);
        }
        let long = "é".repeat(if name == "rawFlags" { 1 } else { 10_000 });
        assert_eq!(
            caller.post("/delegate/new", &json!({name: long})).data()[name],
            json!(long)
        );
    }
}

#[test]
fn an_idempotency_key_creates_once() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let other = server.caller_with_all();
    let post = |caller: &crate::harness::Caller<'_>, key: &str, body: &Value| {
        let request = caller
            .request(Method::POST, "/delegate/new")
            .header("Idempotency-Key", key);
        reply(request.json(body))
    };
    let body = json!({"firstName": "Ada", "data": {"Data": {"a": 1, "b": 2}}});
    let made = post(&caller, "k", &body);
    assert_eq!(made.status, 201);
    assert_eq!(post(&caller, "k", &body), made);
    let reordered = json!({"data": {"Data": {"b": 2, "a": 1}}, "firstName": "Ada"});
    assert_eq!(post(&caller, "k", &reordered), made);
    post(&caller, "k", &json!({"firstName": "Eve"})).refused(409, 1109, "Idempotency-Key");
    // A key is a client's own, and only a success uses it up.
    assert_ne!(post(&other, "k", &body).id(), made.id());
    post(&caller, "f", &json!({"typo": 1})).refused(400, 1100, "typo");
    assert_eq!(post(&caller, "f", &body).status, 201);
    post(&caller, &"x".repeat(256), &body).refused(400, 1100, "Idempotency-Key");
    assert_eq!(server.value::<i64>("SELECT count(*) FROM delegates"), 3);
    // It is the same answer even when the delegate has changed or gone since.
    caller.delete(&format!("/delegate/id:{}", made.id()));
    assert_eq!(post(&caller, "k", &body), made);
    // After seven days it may be used anew.
    server.sql("UPDATE idempotency_keys SET created_at = created_at - 7 * 86400000 - 1");
    assert_ne!(
        post(&caller, "k", &json!({"firstName": "Eve"})).id(),
        made.id()
    );
}
