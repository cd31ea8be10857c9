//! Sections of `data` with a schema: checked on every write, by the path of what does not fit.

use crate::harness::{Server, cases, has};
use gatepost::core::sections;
use serde_json::{Value, json};

fn set(server: &Server, document: &Value) {
    let named: sections::Named = serde_json::from_value(document.clone()).expect("sections");
    sections::check(&named, &sections::Named::new()).expect("schemas");
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
    let id =
        create(json!({"Medical": {"blood": "A"}, "Free": {"x": [1, "x"]}, "Data": {"y": null}}))
            .id();
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

#[test]
fn a_schema_with_references_is_refused_and_left_unchecked_where_it_is() {
    let (server, api) = Server::with_api();
    let document = json!({"delegate": {"Medical": {"properties": {"next": {"$ref": "#"}}, "required": ["blood"]}}});
    let named: sections::Named = serde_json::from_value(document).expect("sections");
    let refused = sections::check(&named, &sections::Named::new()).expect_err("a reference");
    has(
        refused.to_string(),
        "sections: delegate: Medical: schema.properties.next.$ref: references are not supported",
    );
    // An earlier version stored it.
    let schema = named[&sections::Kind::Delegate]["Medical"].to_string();
    server.sql(&format!(
        "INSERT INTO sections VALUES ('delegate', 'Medical', '{schema}', 0)"
    ));
    let create = || api.post("/delegate/new", &json!({"data": {"Medical": {"seat": 7}}}));
    create().is(201);
    // The same again changes nothing, another schema is checked.
    let stored = server.app.store.look_up(sections::all).expect("sections");
    sections::check(&named, &stored).expect("the same");
    server.write(move |tx, ctx| sections::save(tx, ctx, &named, true));
    create().is(201);
    assert_eq!(server.count("audit WHERE record_type = 'sections'"), 0);
    set(&server, &medical());
    create().invalid("data.Medical: \"blood\" is a required property");
}

/// A schema of seats, each one of so many.
fn seats(choices: i64) -> Value {
    json!({"properties": {"seats": {"items": {"enum": (0..choices).collect::<Vec<_>>()}}}})
}

#[test]
fn schemas_and_values_have_a_largest_size() {
    let (server, api) = Server::with_api();
    let choice = |choices: i64| json!({"delegate": {"Seat": seats(choices)}});
    let named: sections::Named = serde_json::from_value(choice(5_000)).expect("sections");
    let refused = sections::check(&named, &sections::Named::new()).expect_err("too large");
    has(refused.to_string(), "the schema has a size of ");
    has(refused.to_string(), ", at most 5000");
    set(&server, &choice(4_000));
    let create = |seats| {
        api.post(
            "/delegate/new",
            &json!({"data": {"Seat": {"seats": vec![3_999; seats]}}}),
        )
    };
    create(50).is(201);
    create(100).invalid("data.Seat: is too large to be checked against its schema");
}

#[test]
fn the_sections_of_one_write_share_its_bound() {
    let (server, api) = Server::with_api();
    let choice = seats(4_000);
    set(
        &server,
        &json!({"delegate": {"Seat": choice, "Table": choice}}),
    );
    let seats = json!({"seats": vec![3_999; 40]});
    let id = api.delegate(&json!({"data": {"Seat": seats}}));
    let both = json!({"data": {"Seat": seats, "Table": seats}});
    api.post("/delegate/new", &both).invalid(
        "data.Table: is too large to be checked together with the sections before it; write it alone",
    );
    let table = json!({"data": {"Table": seats}});
    api.patch(&format!("/delegate/id:{id}"), &table).is(200);
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
