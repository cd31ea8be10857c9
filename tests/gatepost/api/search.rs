//! Searching lists (spec: Search; contract §5) over HTTP; the language itself is tested beside
//! `src/core/search`.

use crate::{
    api::encoded,
    faults::process::gatepost,
    harness::{Agrees, Caller, Reply, Server, cases},
};
use serde_json::{Value, json};

fn search(api: &Caller, list: &str, expr: &Value) -> Reply {
    let expr = encoded(&expr.to_string());
    api.get(&format!("/{list}/list?search={expr}"))
}

fn ids(page: &Reply) -> Vec<i64> {
    assert_eq!(page.status, 200, "{page:?}");
    let items = page.list().iter();
    items
        .map(|item| item["id"].as_i64().expect("an id"))
        .collect()
}

/// Two delegates who differ in everything, a third who is deleted, and two devices.
fn venue() -> (Server, Caller, [i64; 4]) {
    let (server, api) = Server::with_api();
    let ada = api.delegate(&json!({
        "firstName": "Ada", "lastName": "Lovelace", "email": "ada@example.org", "phone": "+44 1",
        "jobTitle": "Analyst", "company": "Engines", "delegateType": "vip", "rawFlags": "pv",
        "barcode": "A-1", "rfid": "A-2", "externalId": "A-3", "publicId": "A-4", "code": "A-5",
        "uhfId": "A-6", "slug": "a-7", "data": {"Data": {"meal": "vegan", "seats": 2}},
    }));
    let zoe = api.delegate(&json!({
        "firstName": "Zoë", "lastName": "Ångström", "parent": ada, "owner": ada, "previous": ada,
    }));
    let gone = api.delegate(&json!({"firstName": "Ada", "lastName": "Gone"}));
    api.delete(&format!("/delegate/id:{gone}")).is(204);
    let hall = api.device(&json!({
        "name": "Great Hall", "shortName": "GH", "deviceType": "room", "deviceTags": "big",
        "category": "main", "description": "Below the dome", "code": "hall", "externalId": "h-1",
        "rfid": "h-2", "slug": "h-3", "startAt": "2026-11-21 08:00:00", "endAt": "2026-11-21 18:00:00",
        "data": {"Data": {"floor": 0}},
    }));
    let room =
        api.device(&json!({"name": "Küche", "parent": hall, "available": false, "code": "room"}));
    (server, api, [ada, zoe, hall, room])
}

#[test]
fn every_field_is_searched() {
    let (_server, api, [ada, zoe, hall, room]) = venue();
    let lead = api.interact("lead", &json!({
        "firstDelegate": ada, "secondDelegate": zoe, "thirdDelegate": ada, "firstDevice": hall,
        "secondDevice": room, "thirdDevice": hall, "recordedAt": 1_795_248_000, "data": {"Data": {"score": 5}},
    }));
    let seen = api.scan("seen", zoe, room).id();
    for (list, one, other, fields) in cases::<(&str, i64, i64, Value)>(json!([
        ["delegate", ada, zoe, {
            "id": ada, "firstName": "Ada", "lastName": "Lovelace", "email": "ada@example.org", "phone": "+44 1",
            "jobTitle": "Analyst", "company": "Engines", "delegateType": "vip", "rawFlags": "pv", "barcode": "A-1",
            "rfid": "A-2", "externalId": "A-3", "publicId": "A-4", "code": "A-5", "uhfId": "A-6", "slug": "a-7",
        }],
        ["device", hall, room, {
            "id": hall, "name": "Great Hall", "shortName": "GH", "deviceType": "room", "deviceTags": "big",
            "category": "main", "description": "Below the dome", "available": true, "code": "hall",
            "externalId": "h-1", "rfid": "h-2", "slug": "h-3", "startAt": "2026-11-21 08:00:00",
            "endAt": "2026-11-21T18:00:00Z",
        }],
        ["interaction", lead.id(), seen, {
            "id": lead.id(), "interactionType": "lead", "firstDelegate": ada, "secondDelegate": zoe,
            "thirdDelegate": ada, "firstDevice": hall, "secondDevice": room, "thirdDevice": hall,
            "recordedAt": 1_795_248_000,
        }],
    ])) {
        for (field, value) in fields.as_object().expect("an object") {
            let found = |expr: Value| ids(&search(&api, list, &expr));
            assert_eq!(found(json!({"==": [field, value]})), [one], "{field}");
            assert_eq!(found(json!({"!=": [field, value]})), [other], "{field}");
            assert_eq!(found(json!({"in": [field, [value]]})), [one], "{field}");
        }
        for field in ["createdAt", "updatedAt"] {
            let since = json!({">=": [field, "2020-01-01 00:00:00"]});
            assert_eq!(ids(&search(&api, list, &since)), [one, other], "{field}");
            let before = search(&api, list, &json!({"not": since}));
            assert_eq!(ids(&before), [0; 0], "{field}");
        }
    }
    search(&api, "interaction", &json!({"fi": ["lead", {}, ">= 1"]})).refused(400, 1102, "fi: ");
}

#[test]
fn operators_and_counts_find_what_they_say() {
    let (_server, api, [ada, zoe, hall, room]) = venue();
    api.scan("seen", ada, hall);
    api.scan("seen", ada, room);
    let lead = json!({"firstDelegate": zoe, "secondDelegate": ada, "firstDevice": hall, "data": {"score": 5}});
    let lead = api.interact("lead", &lead).id();
    for (list, expr, found) in cases::<(&str, Value, Vec<i64>)>(json!([
        ["delegate", {"==": ["parent", ada]}, [zoe]],
        ["delegate", {"==": ["owner", ada]}, [zoe]],
        ["delegate", {"==": ["previous", ada]}, [zoe]],
        ["delegate", {"==": ["parent", null]}, [ada]],
        ["delegate", {"==": ["owner", null]}, [ada]],
        ["delegate", {"==": ["previous", null]}, [ada]],
        ["delegate", {"*=": ["lastName", "åNGST"]}, [zoe]],
        ["delegate", {"*=": ["firstName", "A"]}, [ada]],
        ["delegate", {"ud": ["Data.meal", "==", "vegan"]}, [ada]],
        ["delegate", {"ud": ["Data.seats", ">", 1]}, [ada]],
        ["delegate", {"ud": ["Data.meal", "*=", "VEG"]}, [ada]],
        ["delegate", {"ud": ["Data.meal", "==", null]}, [zoe]],
        ["delegate", {"or": [{"==": ["id", zoe]}, {"==": ["id", ada]}]}, [ada, zoe]],
        ["delegate", {"and": [{"==": ["id", zoe]}, {"==": ["id", ada]}]}, []],
        ["device", {"!=": ["publicId", null]}, [hall, room]],
        ["device", {"==": ["parent", hall]}, [room]],
        ["device", {"*=": ["name", "KÜ"]}, [room]],
        ["device", {"ud": ["Data.floor", "==", 0]}, [hall]],
        ["interaction", {"ud": ["score", "==", 5]}, [lead]],
        // Counts of interactions, by place, type and device.
        ["delegate", {"fi": ["seen", {"firstDevice": [hall]}, ">= 1"]}, [ada]],
        ["delegate", {"fi": ["seen", {"firstDevice": [hall, room]}, "== 2"]}, [ada]],
        ["delegate", {"fi": ["seen", {"firstDevice": [hall]}, "== 0"]}, [zoe]],
        ["delegate", {"fi": ["seen", {}, "> 1"]}, [ada]],
        ["delegate", {"fi": ["*"]}, [ada, zoe]],
        ["delegate", {"si": ["lead", {"firstDevice": [hall]}]}, [ada]],
        ["delegate", {"ti": ["*", {}, "< 1"]}, [ada, zoe]],
        ["device", {"fi": ["lead", {"firstDelegate": [zoe]}, ">= 1"]}, [hall]],
        ["device", {"not": {"fi": ["lead", {"firstDelegate": [zoe]}, ">= 1"]}}, [room]],
    ])) {
        assert_eq!(ids(&search(&api, list, &expr)), found, "{expr}");
    }
}

#[test]
fn pages_of_a_search_carry_it_along() {
    let server = Server::start();
    server.sql(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 700)
         INSERT INTO delegates (public_id, last_name, sources, created_at, updated_at)
         SELECT i, iif(i % 2, 'Müller-' || i, 'Other'), '[]', 0, 0 FROM n",
    );
    let api = server.caller_with_all();
    let expr = encoded(&json!({"*=": ["lastName", "MÜLLER"]}).to_string());
    let all = ids(&api.get(&format!("/delegate/list?search={expr}")));
    assert_eq!(all.len(), 350);
    let mut found = Vec::new();
    let mut next = Some(format!(
        "{}/api/v5/delegate/list?limit=300&search={expr}",
        server.url()
    ));
    while let Some(link) = next {
        let page = api.follow(&link);
        found.extend(ids(&page));
        let pagination = &page.body["meta"]["pagination"];
        pagination.agrees(&json!({"totalItems": 350, "totalPages": 2}));
        next = pagination["next"].as_str().map(ToOwned::to_owned);
    }
    assert_eq!(found, all);
}

#[test]
fn a_fault_answers_1102_with_its_path() {
    let (_server, api) = Server::with_api();
    for list in ["delegate", "device", "interaction"] {
        let expr = json!({"and": [{"==": ["id", 1]}, {">=": ["createdAt", "soon"]}]});
        search(&api, list, &expr).refused(400, 1102, r#"and[1].">="[1]: must be"#);
        api.get(&format!("/{list}/list?search=%7B"))
            .refused(400, 1102, "search: ");
        // An empty parameter asks for everything.
        api.get(&format!("/{list}/list?search=")).is(200);
    }
}

#[test]
fn what_a_client_does_not_see_it_cannot_search() {
    let (server, _, [ada, ..]) = venue();
    let api = server.caller_seeing(&["id", "firstName"]);
    let searched = |expr: Value| search(&api, "delegate", &expr);
    assert_eq!(ids(&searched(json!({"==": ["firstName", "Ada"]}))), [ada]);
    searched(json!({"==": ["email", "ada@example.org"]})).refused(400, 1102, "email");
    searched(json!({"ud": ["Data.meal", "==", "vegan"]})).refused(400, 1102, "ud");
}

#[test]
fn messages_and_batches_are_searched() {
    let (server, _, [ada, zoe, hall, ..]) = venue();
    server.sql(&format!(
        "INSERT INTO messages (delegate_id, channel, template, state, created_at) VALUES
             ({ada}, 'email', 'welcome', 'sent', 0), ({zoe}, 'email', 'welcome', 'failed', 0),
             ({zoe}, 'sms', 'order', 'sent', 0);
         INSERT INTO batches (id, kind, device_id, file_name, file_sha256, options, total, actor, created_at)
             VALUES (5, 'delegates', {hall}, 'x.csv', x'', '{{}}', 1, 'cli', 0);
         INSERT INTO batch_rows (batch_id, line, record_id) VALUES (5, 2, {zoe});"
    ));
    let api = server.caller_with_all();
    for (expr, found) in [
        (json!({"comms": ["email", "welcome"]}), vec![ada]),
        (json!({"comms": ["email"]}), vec![ada]),
        (json!({"comms": ["sms", "order"]}), vec![zoe]),
        (json!({"comms": ["sms", "welcome"]}), vec![]),
        (json!({"batch": [hall]}), vec![zoe]),
        (json!({"batch": []}), vec![zoe]),
        (json!({"batch": [999]}), vec![]),
    ] {
        assert_eq!(ids(&search(&api, "delegate", &expr)), found, "{expr}");
    }
    assert!(ids(&search(&api, "device", &json!({"batch": []}))).is_empty());
}

/// `gatepost config apply` with a document; its standard error.
fn apply(server: &Server, document: &Value) -> Result<(), String> {
    let file = server.path().with_file_name("config.json");
    std::fs::write(&file, document.to_string()).expect("a file");
    let output = gatepost(
        &server.path(),
        &["config", "apply", file.to_str().expect("a name")],
    );
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() {
        Ok(())
    } else {
        Err(told)
    }
}

#[test]
fn statements_are_defined_by_configuration_and_searched() {
    let (server, api, [ada, zoe, hall, ..]) = venue();
    let unknown = json!({"st": ["visits", ">=", 1]});
    search(&api, "delegate", &unknown).refused(400, 1102, "visits");
    apply(&server, &json!({"statements": [
        {"name": "visits", "type": "delegate", "sql": "SELECT count(*) FROM interactions WHERE first_delegate_id = :id"},
        {"name": "initial", "type": "delegate", "label": "First letter", "sql": "SELECT substr(first_name, 1, 1) FROM delegates WHERE id = :id"},
        {"name": "rooms", "type": "device", "sql": "SELECT count(*) FROM devices WHERE parent_id = :id"},
    ]}))
    .expect("a configuration");
    api.scan("seen", zoe, hall);
    for (list, expr, found) in cases::<(&str, Value, Vec<i64>)>(json!([
        ["delegate", {"st": ["visits", ">=", 1]}, [zoe]],
        ["delegate", {"st": ["visits", "==", 0]}, [ada]],
        ["delegate", {"st": ["initial", "==", "A"]}, [ada]],
        ["delegate", {"st": ["initial", "in", ["Z", 3]]}, [zoe]],
        ["delegate", {"and": [{"st": ["visits", "!=", 0]}, {"st": ["initial", "*=", "z"]}]}, [zoe]],
        ["device", {"st": ["rooms", "==", 1]}, [hall]],
    ])) {
        assert_eq!(ids(&search(&api, list, &expr)), found, "{expr}");
    }
    search(&api, "device", &unknown).refused(400, 1102, "visits");
    let wrong = json!({"st": ["visits", "~", 3]});
    search(&api, "delegate", &wrong).refused(400, 1102, "st[1]: must be one of");
    // What a search could not run, or should not see, is not taken, and nothing of the document is.
    for (sql, why) in [
        ("SELECT password_hash FROM users", "prohibited"),
        ("DELETE FROM delegates", "view"),
        ("SELECT 1, 2", "one column"),
        ("SELEC", "syntax"),
    ] {
        let document = json!({
            "settings": {"name": "Half"},
            "statements": [{"name": "bad", "type": "delegate", "sql": sql}],
        });
        let told = apply(&server, &document).expect_err(sql);
        assert!(
            told.contains("statements: bad: ") && told.contains(why),
            "{sql}: {told}"
        );
    }
    let name = server.count("settings WHERE name = 'name'");
    assert_eq!(name, 0);
}

#[test]
fn a_statement_that_fails_or_never_ends_is_told_to_whoever_searches() {
    let (server, api, [_, zoe, ..]) = venue();
    let fails = format!("SELECT abs(-9223372036854775807 - (:id = {zoe}))");
    // Quick for the record that it is tried with.
    let endless = "SELECT (WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE :id > 0) SELECT count(*) FROM c)";
    apply(&server, &json!({"statements": [
        {"name": "fails", "type": "delegate", "sql": fails},
        {"name": "endless", "type": "delegate", "sql": endless},
        {"name": "all", "type": "delegate", "sql": "SELECT count(*) FROM interactions"},
        {"name": "last", "type": "delegate", "sql": "SELECT max(i.id) FROM interactions i WHERE i.id > 0"},
    ]}))
    .expect("a configuration");
    let asked = |name: &str| search(&api, "delegate", &json!({"st": [name, ">=", 0]}));
    asked("fails").refused(400, 1102, "the statement \"fails\" fails for record");
    asked("endless").refused(503, 1108, "took longer than 5 s");
    assert_eq!(ids(&asked("all")).len(), 2);
    asked("last").is(200);
}

#[test]
fn an_interactions_data_is_searched_by_any_path() {
    let (_server, api, [ada, ..]) = venue();
    let data = json!({"form": "visit", "answers": []});
    let lead = api
        .interact("lead", &json!({"delegate": ada, "data": data}))
        .id();
    for path in ["form", "answersData"] {
        let expr = json!({"ud": [path, "!=", null]});
        assert_eq!(ids(&search(&api, "interaction", &expr)), [lead], "{path}");
    }
    search(&api, "delegate", &json!({"ud": ["form", "==", 1]})).refused(400, 1102, "ud[0]");
}

#[test]
fn values_that_a_batch_shares_are_searched_where_they_are_shown() {
    let (_server, api, [ada, ..]) = venue();
    let lead = |data: Value| json!({"interactionType": "lead", "delegate": ada, "data": data});
    let of = |name: &str| json!({"$shared": name});
    let answers = json!([{"field": "visit.note", "answer": of("note")}]);
    let batch = json!({
        "sharedValues": {"card": {"a/b": {"n": 5}, "list": [1], "none": null}, "note": "A long note", "yes": true},
        "interactions": {
            "whole": lead(of("card")),
            "parts": lead(json!({"x": {"~y": of("card")}, "flag": of("yes"), "n": 5})),
            "form": lead(json!({"form": "visit", "answers": answers})),
            "own": lead(json!({"a/b": {"n": 6}, "flag": false})),
        },
    });
    let stored = api.post("/interaction/batch", &batch);
    let id = |at: usize| stored.data()[at]["data"]["id"].as_i64().expect("an id");
    let [whole, parts, form, own] = [0, 1, 2, 3].map(id);
    for (expr, expected) in cases::<(Value, Vec<i64>)>(json!([
        [{"ud": ["a/b.n", "==", 5]}, [whole]],
        [{"ud": ["a/b.n", ">=", 5]}, [whole, own]],
        [{"ud": ["x.~y.a/b.n", "in", [4, 5]]}, [parts]],
        [{"ud": ["flag", "==", true]}, [parts]],
        [{"ud": ["flag", "!=", null]}, [parts, own]],
        [{"ud": ["n", "==", 5]}, [parts]],
        [{"ud": ["answersData.visit.note", "*=", "LONG"]}, [form]],
        [{"ud": ["x", "==", null]}, [whole, form, own]],
        [{"ud": ["x.~y.$shared", "!=", null]}, []],
        [{"ud": ["answers.0.answer", "!=", null]}, []],
        [{"and": [{"ud": ["a/b.x", "==", null]}, {"ud": ["none", "==", null]}]}, [whole, parts, form, own]],
    ])) {
        let found = search(&api, "interaction", &expr);
        assert_eq!(ids(&found), expected, "{expr}");
    }
}

#[test]
fn a_malformed_type_or_number_is_refused_and_not_searched_for() {
    let (_server, api) = Server::with_api();
    for (list, search, told) in [
        (
            "delegate",
            r#"{"fi": ["Check In", {}, ">= 1"]}"#,
            "fi[0]: \"Check In\"",
        ),
        ("delegate", r#"{"ti": ["", {}]}"#, "ti[0]: \"\""),
        (
            "delegate",
            r#"{"si": ["check_in", {}]}"#,
            "si[0]: \"check_in\"",
        ),
        (
            "device",
            r#"{"fi": ["check-in", {}, ">= 99999999999999999999"]}"#,
            "fi[2]: is out of range",
        ),
        (
            "device",
            r#"{"==": ["id", 1e300]}"#,
            "\"==\"[1]: is out of range",
        ),
        (
            "device",
            r#"{"==": ["id", "#,
            "search: is not valid JSON: it ends",
        ),
    ] {
        let search = encoded(search);
        api.get(&format!("/{list}/list?search={search}"))
            .refused(400, 1102, told);
    }
    for kind in ["connected", "check-in", "*"] {
        search(&api, "delegate", &json!({"fi": [kind, {}]})).is(200);
    }
}
