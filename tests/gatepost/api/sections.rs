//! Sections of `data` with a schema: checked on every write, by the path of what does not fit.

use crate::harness::{Server, cases, has};
use gatepost::core::sections;
use serde_json::{Value, json};

fn set(server: &Server, document: &Value) {
    let named: sections::Named = serde_json::from_value(document.clone()).expect("sections");
    sections::check(&named).expect("schemas");
    server.write(move |tx, ctx| sections::save(tx, ctx, &named, false));
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
    let (server, api) = Server::with_api();
    set(&server, &medical());
    let create =
        |data: Value| api.post("/delegate/new", &json!({"firstName": "Ada", "data": data}));
    for (data, about) in cases::<(Value, &str)>(json!([
        [{"Medical": {"blood": "C"}}, "data.Medical.blood: \"C\""],
        [{"Medical": {}}, "data.Medical: \"blood\" is a required property"],
        [{"Medical": "A"}, "data.Medical: "],
        [{"Medical": {"blood": "A", "since": "soon"}}, "data.Medical.since"],
        [{"Medical": {"blood": "A", "allergies": ["nuts", 1]}}, "data.Medical.allergies[1]"],
    ])) {
        create(data).invalid(about);
    }
    assert_eq!(server.count("delegates"), 0);
    let id = create(json!({"Medical": {"blood": "A"}, "Free": [1, "x"], "Data": {"y": null}})).id();
    let patch = |data: Value| api.patch(&format!("/delegate/id:{id}"), &json!({"data": data}));
    // What counts is the section as it will be.
    patch(json!({"Medical": {"since": "2026-11-21"}})).is(200);
    patch(json!({"Medical": {"blood": null}})).invalid("required");
    patch(json!({"Medical": {"since": "2026-13-01"}})).invalid("data.Medical.since");
    patch(json!({"Medical": null})).is(200);
    patch(json!({"Other": {"blood": 7}})).is(200);
    // An item of a batch, an event and a device of the same section are other matters.
    api.device(&json!({"data": {"Medical": {"blood": "X"}}}));
}

#[test]
fn what_is_stored_already_stands_in_nobodys_way() {
    let (server, api) = Server::with_api();
    let id = api.delegate(&json!({"data": {"Medical": {"blood": "C"}}}));
    set(&server, &medical());
    let patch = |body: Value| api.patch(&format!("/delegate/id:{id}"), &body);
    patch(json!({"firstName": "Ada", "data": {"Data": {"x": 1}}})).is(200);
    patch(json!({"data": {"Medical": {"since": "2026-01-01"}}})).invalid("data.Medical.blood");
    patch(json!({"data": {"Medical": {"blood": "A"}}})).is(200);
    patch(json!({"data": null})).is(200);
}

#[test]
fn data_is_free_unless_given_a_schema_and_a_schema_ends_at_once() {
    let (server, api) = Server::with_api();
    set(
        &server,
        &json!({"delegate": {"Data": {"type": "object", "additionalProperties": false}}, "device": {"Seats": {"maxProperties": 1}}}),
    );
    let free = json!({"data": {"Data": {"any": "thing"}}});
    api.post("/delegate/new", &free).invalid("data.Data");
    api.device(&free);
    api.post("/device/new", &json!({"data": {"Seats": {"a": 1, "b": 2}}}))
        .invalid("data.Seats");
    set(&server, &json!({"delegate": {"Data": null}}));
    api.delegate(&free);
}

/// Definitions of which each refers twice to the next.
fn doubling(definitions: usize) -> Value {
    let mut all = serde_json::Map::new();
    for number in 0..definitions {
        let next = json!({"$ref": format!("#/$defs/d{}", number + 1)});
        all.insert(format!("d{number}"), json!({"allOf": [next, next]}));
    }
    all.insert(format!("d{definitions}"), json!({"type": "integer"}));
    json!({"items": {"$ref": "#/$defs/d0"}, "$defs": all})
}

#[test]
fn a_schema_that_expands_too_far_is_not_stored_and_stops_nobody_where_it_is() {
    let (server, api) = Server::with_api();
    let named = json!({"delegate": {"Medical": doubling(40)}});
    let named: sections::Named = serde_json::from_value(named).expect("sections");
    let refused = sections::check(&named).expect_err("too much");
    has(refused.to_string(), "4398046511103 subschemas");
    let id = api.delegate(&json!({"data": {"Medical": [1]}}));
    // An older version stored it all the same.
    server.write(move |tx, ctx| sections::save(tx, ctx, &named, false));
    let patch = |body: Value| api.patch(&format!("/delegate/id:{id}"), &body);
    patch(json!({"data": {"Medical": [2]}})).invalid("data.Medical: its schema");
    api.post("/delegate/new", &json!({"data": {"Medical": [2]}}))
        .invalid("data.Medical: its schema");
    patch(json!({"firstName": "Ada"})).is(200);
    set(&server, &medical());
    patch(json!({"data": {"Medical": {"blood": "A"}}})).is(200);
}

#[test]
fn check_ins_go_on_while_a_record_is_validated() {
    let (server, api) = Server::with_api();
    let delegate = api.delegate(&json!({}));
    let device = api.device(&json!({}));
    let id = api.delegate(&json!({}));
    // It takes seconds, which is within what is allowed.
    set(&server, &json!({"delegate": {"Slow": doubling(10)}}));
    let list: Vec<_> = (0..8_000).collect();
    let body = json!({"data": {"Slow": list}});
    let mut meanwhile = 0;
    std::thread::scope(|scope| {
        let writing = scope.spawn(|| {
            let api = server.caller_with_all();
            api.patch(&format!("/delegate/id:{id}"), &body)
        });
        while !writing.is_finished() {
            let reply = api.scan("check-in-override", delegate, device);
            assert_eq!(reply.status, 201);
            meanwhile += 1;
        }
        let written = writing.join().expect("a reply");
        // On a slow machine it may have waited too long, and says so.
        if written.status == 503 {
            assert_eq!(written.code(), 1108);
        } else {
            assert_eq!(written.status, 200, "{}", written.message());
        }
    });
    assert!(meanwhile > 5, "{meanwhile} check-ins");
    let too_large: Vec<_> = (0..100_000).collect();
    api.patch(
        &format!("/delegate/id:{id}"),
        &json!({"data": {"Slow": too_large}}),
    )
    .invalid("data.Slow: is too large");
}

#[test]
fn what_was_validated_is_what_is_written() {
    let (server, api) = Server::with_api();
    let schema = json!({"delegate": {"Pair": {"not": {"required": ["a", "b"]}}}});
    set(&server, &schema);
    for _ in 0..20 {
        let id = api.delegate(&json!({"data": {"Pair": {}}}));
        let patch = |key: &str| {
            let api = server.caller_with_all();
            let body = json!({"data": {"Pair": {key: 1}}});
            api.patch(&format!("/delegate/id:{id}"), &body).status
        };
        // Each fits alone; together they do not, whoever comes first.
        let mut statuses = std::thread::scope(|scope| {
            let one = scope.spawn(|| patch("a"));
            let other = scope.spawn(|| patch("b"));
            [one.join().expect("a"), other.join().expect("b")]
        });
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 400]);
    }
}
