//! `parent`, `owner` and `previous`: by id, by `{"id": …}` or by a selector (contract §2).

use crate::harness::Server;
use serde_json::{Value, json};

#[test]
fn a_reference_takes_a_selector_as_participants_do() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let hall = caller.device(&json!({"code": "hall", "externalId": "a:b"}));
    let id = format!("id:{hall}");
    for parent in [
        json!("code:hall"),
        json!("externalId:a:b"),
        json!(id),
        json!(hall),
        json!({"id": hall}),
    ] {
        let made = caller.post("/device/new", &json!({"parent": parent}));
        assert_eq!(made.data()["parent"]["id"], hall, "{parent}");
        let path = format!("/device/id:{}", made.id());
        assert!(
            caller.patch(&path, &json!({"parent": null})).data()["parent"].is_null(),
            "{parent}"
        );
        let moved = caller.patch(&path, &json!({"parent": parent}));
        assert_eq!(moved.data()["parent"]["id"], hall, "{parent}");
    }
    let boss = caller.delegate(&json!({"barcode": "BOSS", "slug": "boss"}));
    let references =
        json!({"parent": "barcode:BOSS", "owner": "slug:boss", "previous": "barcode:BOSS"});
    let made = caller.post("/delegate/new", &references);
    for name in ["parent", "owner", "previous"] {
        assert_eq!(made.data()[name]["id"], boss, "{name}");
    }
}

#[test]
fn a_reference_to_nothing_is_refused_by_name() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let gone = caller.delegate(&json!({"barcode": "GONE"}));
    caller.delete(&format!("/delegate/id:{gone}"));
    let try_owner = |owner: Value| caller.post("/delegate/new", &json!({"owner": owner}));
    try_owner(json!("barcode:NOPE")).refused(400, 1100, "owner: there is no delegate barcode:NOPE");
    try_owner(json!("barcode:GONE")).refused(400, 1100, "owner: ");
    try_owner(json!("id:999")).refused(400, 1100, "owner: ");
    try_owner(json!("id:x")).refused(400, 1100, "owner: ");
    // A scanned code is never tried as an id.
    for unknown in ["1", "GONE", "", ":x", "name:x", "raw_flags:x"] {
        try_owner(json!(unknown)).refused(400, 1101, "owner: ");
    }
    for wrong in [json!([1]), json!(true), json!({"code": "x"})] {
        try_owner(wrong).refused(400, 1100, "owner: must be an id");
    }
    assert_eq!(server.value::<i64>("SELECT count(*) FROM delegates"), 1);
}

#[test]
fn a_selector_makes_no_circle() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let hall = caller.device(&json!({"code": "hall"}));
    caller.device(&json!({"code": "room", "parent": "code:hall"}));
    for below in ["code:hall", "code:room"] {
        caller
            .patch(&format!("/device/id:{hall}"), &json!({"parent": below}))
            .refused(400, 1100, "parent: ");
    }
}
