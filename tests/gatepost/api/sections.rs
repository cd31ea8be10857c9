//! Sections of `data` with a schema: checked on every write, by the path of what does not fit.

use crate::harness::Server;
use gatepost::sections;
use serde_json::{Value, json};

fn set(server: &Server, document: &Value) {
    let named: sections::Named = serde_json::from_value(document.clone()).expect("sections");
    sections::check(&named).expect("schemas");
    let ctx = server.context();
    server
        .app
        .store
        .write_blocking(move |tx| sections::save(tx, &ctx, &named, false))
        .expect("saved");
}

fn medical() -> Value {
    json!({"delegate": {"Medical": {
        "type": "object",
        "properties": {
            "blood": {"enum": ["A", "B", "0"]},
            "since": {"type": "string", "format": "date"},
            "allergies": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["blood"],
    }}})
}

#[test]
fn a_section_must_fit_its_schema_when_it_is_written() {
    let server = Server::start();
    let caller = server.caller_with_all();
    set(&server, &medical());
    let create =
        |data: Value| caller.post("/delegate/new", &json!({"firstName": "Ada", "data": data}));
    for (data, about) in [
        (
            json!({"Medical": {"blood": "C"}}),
            "data.Medical.blood: \"C\"",
        ),
        (
            json!({"Medical": {}}),
            "data.Medical: \"blood\" is a required property",
        ),
        (json!({"Medical": "A"}), "data.Medical: "),
        (
            json!({"Medical": {"blood": "A", "since": "soon"}}),
            "data.Medical.since",
        ),
        (
            json!({"Medical": {"blood": "A", "allergies": ["nuts", 1]}}),
            "data.Medical.allergies[1]",
        ),
    ] {
        create(data).refused(400, 1100, about);
    }
    assert_eq!(server.value::<i64>("SELECT count(*) FROM delegates"), 0);
    let id = create(json!({"Medical": {"blood": "A"}, "Free": [1, "x"], "Data": {"y": null}})).id();
    let patch = |data: Value| caller.patch(&format!("/delegate/id:{id}"), &json!({"data": data}));
    // What counts is the section as it will be.
    assert_eq!(
        patch(json!({"Medical": {"since": "2026-11-21"}})).status,
        200
    );
    patch(json!({"Medical": {"blood": null}})).refused(400, 1100, "required");
    patch(json!({"Medical": {"since": "2026-13-01"}})).refused(400, 1100, "data.Medical.since");
    assert_eq!(patch(json!({"Medical": null})).status, 200);
    assert_eq!(patch(json!({"Other": {"blood": 7}})).status, 200);
    // An item of a batch, an event and a device of the same section are other matters.
    caller.device(&json!({"data": {"Medical": {"blood": "X"}}}));
}

#[test]
fn what_is_stored_already_stands_in_nobodys_way() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let id = caller.delegate(&json!({"data": {"Medical": {"blood": "C"}}}));
    set(&server, &medical());
    let patch = |body: Value| caller.patch(&format!("/delegate/id:{id}"), &body);
    assert_eq!(
        patch(json!({"firstName": "Ada", "data": {"Data": {"x": 1}}})).status,
        200
    );
    patch(json!({"data": {"Medical": {"since": "2026-01-01"}}})).refused(
        400,
        1100,
        "data.Medical.blood",
    );
    assert_eq!(
        patch(json!({"data": {"Medical": {"blood": "A"}}})).status,
        200
    );
    assert_eq!(patch(json!({"data": null})).status, 200);
}

#[test]
fn data_is_free_unless_given_a_schema_and_a_schema_ends_at_once() {
    let server = Server::start();
    let caller = server.caller_with_all();
    set(
        &server,
        &json!({"delegate": {"Data": {"type": "object", "additionalProperties": false}}, "device": {"Seats": {"maxProperties": 1}}}),
    );
    let free = json!({"data": {"Data": {"any": "thing"}}});
    caller
        .post("/delegate/new", &free)
        .refused(400, 1100, "data.Data");
    caller.device(&free);
    caller
        .post("/device/new", &json!({"data": {"Seats": {"a": 1, "b": 2}}}))
        .refused(400, 1100, "data.Seats");
    set(&server, &json!({"delegate": {"Data": null}}));
    caller.delegate(&free);
}
