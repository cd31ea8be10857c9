//! A delegate's unique codes and the selectors made of them (contract §1, §4).

use super::{ODD_VALUES, encoded};
use crate::harness::Server;
use serde_json::json;

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
fn a_public_id_is_made_when_absent_and_when_cleared() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let made = caller.post("/delegate/new", &json!({})).data().clone();
    let public_id = made["publicId"].as_str().expect("a public id");
    assert_eq!(public_id.len(), 36);
    let path = format!("/delegate/id:{}", made["id"]);
    let cleared = caller
        .patch(&path, &json!({"publicId": null}))
        .data()
        .clone();
    let next = cleared["publicId"].as_str().expect("a public id");
    assert!(next.len() == 36 && next != public_id);
    assert_eq!(
        caller.patch(&path, &json!({"firstName": "A"})).data()["publicId"],
        json!(next)
    );
}

#[test]
fn every_id_type_takes_any_value() {
    let server = Server::start();
    let caller = server.caller_with_all();
    for code in CODES {
        for value in ODD_VALUES {
            let id = caller.delegate(&json!({code: value}));
            let path = format!("/delegate/{code}:{}", encoded(value));
            let found = caller.get(&path);
            assert_eq!(
                (found.id(), &found.data()[code]),
                (id, &json!(value)),
                "{path}"
            );
            assert_eq!(
                caller.patch(&path, &json!({"company": "X"})).id(),
                id,
                "{path}"
            );
            let scan = json!({"delegate": format!("{code}:{value}")});
            let made = caller.interact("lead", &scan);
            assert_eq!(made.data()["firstDelegate"]["id"], json!(id), "{scan}");
            assert_eq!(caller.delete(&path).status, 204, "{path}");
            caller.get(&path).refused(404, 1301, "");
        }
    }
}

#[test]
fn codes_are_compared_exactly_and_never_tried_as_another_type() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let first = caller.delegate(&json!({"barcode": "Abc"}));
    let second = caller.delegate(&json!({"barcode": "ABC", "rfid": "Abc"}));
    let third = caller.delegate(&json!({"barcode": first.to_string()}));
    assert_eq!(caller.get("/delegate/barcode:Abc").id(), first);
    assert_eq!(caller.get("/delegate/barcode:ABC").id(), second);
    assert_eq!(caller.get("/delegate/rfid:Abc").id(), second);
    caller
        .get("/delegate/barcode:abc")
        .refused(404, 1301, "barcode:abc");
    caller
        .get("/delegate/barcode:Abc%20")
        .refused(404, 1301, "");
    caller
        .get("/delegate/code:Abc")
        .refused(404, 1301, "code:Abc");
    // A number that was scanned is not an id.
    assert_eq!(
        caller.get(&format!("/delegate/barcode:{first}")).id(),
        third
    );
    caller
        .get(&format!("/delegate/barcode:{second}"))
        .refused(404, 1301, "");
}

#[test]
fn what_is_no_selector_is_told() {
    let server = Server::start();
    let caller = server.caller_with_all();
    for (selector, code) in [
        ("ABC", 1101),
        ("7", 1101),
        ("Barcode:1", 1101),
        (":1", 1101),
        ("email:a@example.org", 1101),
        ("name:x", 1101),
        ("id:x", 1100),
        ("id:", 1100),
        ("id:1.0", 1100),
        ("id:-1", 1100),
        ("id:+1", 1100),
        ("id:%201", 1100),
        ("id:0x1", 1100),
        ("id:9223372036854775808", 1100),
        ("barcode:", 1100),
    ] {
        caller
            .get(&format!("/delegate/{selector}"))
            .refused(400, code, "");
        caller
            .patch(&format!("/delegate/{selector}"), &json!({}))
            .refused(400, code, "");
        caller
            .delete(&format!("/delegate/{selector}"))
            .refused(400, code, "");
    }
    caller.get("/delegate/email:x").refused(
        400,
        1101,
        "id barcode rfid externalId publicId code uhfId slug",
    );
    caller
        .get("/delegate/id:9223372036854775807")
        .refused(404, 1301, "9223372036854775807");
}

#[test]
fn a_taken_code_is_told_by_its_name() {
    let server = Server::start();
    let caller = server.caller_with_all();
    for code in CODES {
        let holder = caller.delegate(&json!({code: "taken"}));
        let other = caller.delegate(&json!({code: "other"}));
        caller
            .post("/delegate/new", &json!({code: "taken"}))
            .refused(409, 1105, code);
        caller
            .patch(&format!("/delegate/id:{other}"), &json!({code: "taken"}))
            .refused(409, 1105, code);
        // Its own code is not taken.
        assert_eq!(
            caller
                .patch(&format!("/delegate/id:{holder}"), &json!({code: "taken"}))
                .status,
            200
        );
        assert_eq!(caller.delete(&format!("/delegate/id:{holder}")).status, 204);
        assert_eq!(
            caller
                .patch(&format!("/delegate/id:{other}"), &json!({code: "taken"}))
                .status,
            200
        );
        caller.delete(&format!("/delegate/id:{other}"));
    }
    // Nothing of a refused change is written.
    caller.delegate(&json!({"barcode": "A"}));
    let id = caller.delegate(&json!({"barcode": "B", "firstName": "Ada"}));
    let change = json!({"firstName": "Eve", "barcode": "A"});
    caller
        .patch(&format!("/delegate/id:{id}"), &change)
        .refused(409, 1105, "barcode");
    assert_eq!(caller.get("/delegate/barcode:B").data()["firstName"], "Ada");
}

#[test]
fn codes_have_1_to_255_characters() {
    let server = Server::start();
    let caller = server.caller_with_all();
    for code in CODES {
        let longest = "é".repeat(255);
        let made = caller.post("/delegate/new", &json!({code: longest}));
        assert_eq!(made.data()[code], json!(longest));
        caller
            .post("/delegate/new", &json!({code: "é".repeat(256)}))
            .refused(400, 1100, code);
        for bad in [
            json!(""),
            json!(7),
            json!(["x"]),
            json!({"x": 1}),
            json!(true),
            json!("a\u{0}b"),
        ] {
            caller
                .post("/delegate/new", &json!({code: bad}))
                .refused(400, 1100, code);
        }
    }
}
