//! What new values must look like, and that what is stored stays (contract §4).

use crate::harness::{Caller, Server};
use gatepost::identity::Role;
use serde_json::{Value, json};

/// Somebody of an earlier version, whose values are odd.
const ODD: &str = "INSERT INTO delegates (id, public_id, barcode, email, raw_flags, data, sources, created_at, updated_at)
    VALUES (7, 'p', 'A', 'ask at the desk', '1a', '{\"Data\": {\"meal\": \"vegan\"}, \"Old\": \"text\"}', '[]', 0, 0);
    INSERT INTO devices (id, public_id, code, data, sources, created_at, updated_at)
    VALUES (8, 'p', 'hall', '{\"Old\": [1]}', '[]', 0, 0)";

fn odd() -> (Server, Caller) {
    let (server, api) = Server::with_api();
    server.sql(ODD);
    (server, api)
}

#[test]
fn new_values_look_like_what_they_are() {
    let (_server, api) = odd();
    for (body, about) in [
        (json!({"email": "ada"}), "email"),
        (json!({"rawFlags": "b2"}), "rawFlags"),
        (json!({"data": {"Data": "x"}}), "data.Data"),
        (json!({"data": {"Any": [1]}}), "data.Any"),
    ] {
        api.post("/delegate/new", &body).invalid(about);
        api.patch("/delegate/id:7", &body).invalid(about);
        api.put("/delegate/barcode:N", &body).invalid(about);
        let mut item = body.clone();
        item["barcode"] = json!("N");
        let answers = api.post("/delegate/batch", &json!({"delegates": {"a": item}}));
        assert_eq!(answers.list()[0]["status"], 400, "{body}");
    }
    let wrong = json!({"data": {"Any": 1}});
    api.post("/device/new", &wrong).invalid("data.Any");
    api.patch("/device/id:8", &wrong).invalid("data.Any");
    api.post(
        "/delegate/new",
        &json!({"email": "ada@example.org", "rawFlags": "p, É", "data": {"Data": {"a": 1}, "None": null}}),
    )
    .is(201);
}

#[test]
fn what_is_stored_can_be_sent_back() {
    let (_server, api) = odd();
    for (path, change) in [
        ("/delegate/id:7", json!({"firstName": "Ada"})),
        ("/device/id:8", json!({"name": "Hall"})),
    ] {
        api.patch(path, &change).is(200);
        let mut whole = api.read(path);
        whole["code"] = json!("another");
        api.patch(path, &whole).is(200);
        assert_eq!(api.read(path)["data"], whole["data"]);
    }
    let kept = api.read("/delegate/id:7");
    assert_eq!(
        (&kept["email"], &kept["rawFlags"], &kept["data"]["Old"]),
        (&json!("ask at the desk"), &json!("1a"), &json!("text"))
    );
    // It may be mended, section by section.
    let mended = json!({"email": null, "rawFlags": "a", "data": {"Old": {"text": 1}}});
    api.patch("/delegate/id:7", &mended).is(200);
}

#[test]
fn lists_and_purchases_are_taken_as_they_come() {
    let (server, api) = Server::with_api();
    let list = server.file(
        "list.csv",
        "barcode,email,rawFlags\nA,at the desk,1\nB,b@example.org,p\n",
    );
    server.done(&["import", "delegates", &list, "--key", "barcode"]);
    assert_eq!(server.count("delegates"), 2);
    let list = server.file("again.csv", "barcode,email\nA,nobody\n");
    server.done(&["import", "delegates", &list, "--key", "barcode"]);
    assert_eq!(api.read("/delegate/barcode:A")["email"], "nobody");
}

#[test]
fn a_taken_code_names_its_holder_to_who_may_read_it() {
    let (server, api) = Server::with_api();
    let ada = api.delegate(&json!({"barcode": "A", "uhfId": "e2"}));
    let hall = api.device(&json!({"code": "hall", "externalId": "X"}));
    let writer = server.caller(&[Role::DelegateWrite, Role::DeviceWrite, Role::EventWrite]);
    let taken = [
        (
            "/delegate/new",
            json!({"barcode": "A"}),
            format!("delegate {ada}"),
        ),
        (
            "/delegate/new",
            json!({"uhfId": "E2"}),
            format!("delegate {ada}"),
        ),
        (
            "/device/new",
            json!({"code": "hall"}),
            format!("device {hall}"),
        ),
        (
            "/event/new",
            json!({"eventExternalID": "X"}),
            format!("device {hall}"),
        ),
    ];
    for (path, body, holder) in taken {
        api.post(path, &body).refused(409, 1105, &holder);
        let refused = writer.post(path, &body);
        refused.refused(409, 1105, "already used by another record");
        let told: Value = refused.body["meta"]["error"]["message"].clone();
        assert!(!told.to_string().contains(&holder), "{told}");
    }
}
