//! Searching lists (spec: Search; contract §5) over HTTP; the language itself is tested beside
//! `src/core/search`.

use crate::{
    api::encoded,
    harness::{Caller, Reply, Server, reply},
};
use serde_json::{Value, json};
use std::process::Command;

fn search(caller: &Caller<'_>, list: &str, expr: &Value) -> Reply {
    caller.get(&format!(
        "/{list}/list?search={}",
        encoded(&expr.to_string())
    ))
}

fn ids(page: &Reply) -> Vec<i64> {
    assert_eq!(page.status, 200, "{page:?}");
    let items = page.data().as_array().expect("a list").iter();
    items
        .map(|item| item["id"].as_i64().expect("an id"))
        .collect()
}

/// Two delegates who differ in everything, a third who is deleted, and two devices.
struct Venue {
    server: Server,
    ada: i64,
    zoe: i64,
    hall: i64,
    room: i64,
}

fn venue() -> Venue {
    let server = Server::start();
    let caller = server.caller_with_all();
    let ada = caller.delegate(&json!({
        "firstName": "Ada", "lastName": "Lovelace", "email": "ada@example.org", "phone": "+44 1",
        "jobTitle": "Analyst", "company": "Engines", "delegateType": "vip", "rawFlags": "pv",
        "barcode": "A-1", "rfid": "A-2", "externalId": "A-3", "publicId": "A-4", "code": "A-5",
        "uhfId": "A-6", "slug": "a-7", "data": {"Data": {"meal": "vegan", "seats": 2}},
    }));
    let zoe = caller.delegate(&json!({
        "firstName": "Zoë", "lastName": "Ångström", "parent": ada, "owner": ada, "previous": ada,
    }));
    let gone = caller.delegate(&json!({"firstName": "Ada", "lastName": "Gone"}));
    assert_eq!(caller.delete(&format!("/delegate/id:{gone}")).status, 204);
    let hall = caller.device(&json!({
        "name": "Great Hall", "shortName": "GH", "deviceType": "room", "deviceTags": "big",
        "category": "main", "description": "Below the dome", "code": "hall", "externalId": "h-1",
        "rfid": "h-2", "slug": "h-3", "startAt": "2026-11-21 08:00:00", "endAt": "2026-11-21 18:00:00",
        "data": {"Data": {"floor": 0}},
    }));
    let room = caller
        .device(&json!({"name": "Küche", "parent": hall, "available": false, "code": "room"}));
    drop(caller);
    Venue {
        server,
        ada,
        zoe,
        hall,
        room,
    }
}

#[test]
fn every_field_of_a_delegate_is_searched() {
    let Venue {
        server, ada, zoe, ..
    } = venue();
    let caller = server.caller_with_all();
    for (field, value) in [
        ("id", json!(ada)),
        ("firstName", json!("Ada")),
        ("lastName", json!("Lovelace")),
        ("email", json!("ada@example.org")),
        ("phone", json!("+44 1")),
        ("jobTitle", json!("Analyst")),
        ("company", json!("Engines")),
        ("delegateType", json!("vip")),
        ("rawFlags", json!("pv")),
        ("barcode", json!("A-1")),
        ("rfid", json!("A-2")),
        ("externalId", json!("A-3")),
        ("publicId", json!("A-4")),
        ("code", json!("A-5")),
        ("uhfId", json!("A-6")),
        ("slug", json!("a-7")),
    ] {
        assert_eq!(
            ids(&search(&caller, "delegate", &json!({"==": [field, value]}))),
            [ada],
            "{field}"
        );
        assert_eq!(
            ids(&search(&caller, "delegate", &json!({"!=": [field, value]}))),
            [zoe],
            "{field}"
        );
        assert_eq!(
            ids(&search(
                &caller,
                "delegate",
                &json!({"in": [field, [value]]})
            )),
            [ada],
            "{field}"
        );
    }
    for field in ["parent", "owner", "previous"] {
        assert_eq!(
            ids(&search(&caller, "delegate", &json!({"==": [field, ada]}))),
            [zoe],
            "{field}"
        );
        assert_eq!(
            ids(&search(&caller, "delegate", &json!({"==": [field, null]}))),
            [ada],
            "{field}"
        );
    }
    for field in ["createdAt", "updatedAt"] {
        let since = json!({">=": [field, "2020-01-01 00:00:00"]});
        assert_eq!(
            ids(&search(&caller, "delegate", &since)),
            [ada, zoe],
            "{field}"
        );
        assert!(
            ids(&search(&caller, "delegate", &json!({"not": since}))).is_empty(),
            "{field}"
        );
    }
    for (expr, found) in [
        (json!({"*=": ["lastName", "åNGST"]}), vec![zoe]),
        (json!({"*=": ["firstName", "A"]}), vec![ada]),
        (json!({"ud": ["Data.meal", "==", "vegan"]}), vec![ada]),
        (json!({"ud": ["Data.seats", ">", 1]}), vec![ada]),
        (json!({"ud": ["Data.meal", "*=", "VEG"]}), vec![ada]),
        (json!({"ud": ["Data.meal", "==", null]}), vec![zoe]),
        (
            json!({"or": [{"==": ["id", zoe]}, {"==": ["id", ada]}]}),
            vec![ada, zoe],
        ),
        (
            json!({"and": [{"==": ["id", zoe]}, {"==": ["id", ada]}]}),
            vec![],
        ),
    ] {
        assert_eq!(ids(&search(&caller, "delegate", &expr)), found, "{expr}");
    }
}

#[test]
fn every_field_of_a_device_is_searched() {
    let Venue {
        server,
        hall,
        room,
        ada,
        ..
    } = venue();
    let caller = server.caller_with_all();
    for (field, value) in [
        ("id", json!(hall)),
        ("name", json!("Great Hall")),
        ("shortName", json!("GH")),
        ("deviceType", json!("room")),
        ("deviceTags", json!("big")),
        ("category", json!("main")),
        ("description", json!("Below the dome")),
        ("available", json!(true)),
        ("code", json!("hall")),
        ("externalId", json!("h-1")),
        ("rfid", json!("h-2")),
        ("slug", json!("h-3")),
        ("startAt", json!("2026-11-21 08:00:00")),
        ("endAt", json!("2026-11-21T18:00:00Z")),
    ] {
        assert_eq!(
            ids(&search(&caller, "device", &json!({"==": [field, value]}))),
            [hall],
            "{field}"
        );
        assert_eq!(
            ids(&search(&caller, "device", &json!({"!=": [field, value]}))),
            [room],
            "{field}"
        );
    }
    let uuid = json!({"!=": ["publicId", null]});
    assert_eq!(ids(&search(&caller, "device", &uuid)), [hall, room]);
    assert_eq!(
        ids(&search(&caller, "device", &json!({"==": ["parent", hall]}))),
        [room]
    );
    assert_eq!(
        ids(&search(&caller, "device", &json!({"*=": ["name", "KÜ"]}))),
        [room]
    );
    assert_eq!(
        ids(&search(
            &caller,
            "device",
            &json!({"ud": ["Data.floor", "==", 0]})
        )),
        [hall]
    );
    caller.interact("seen", &json!({"delegate": ada, "device": room}));
    let seen = json!({"fi": ["seen", {"firstDelegate": [ada]}, ">= 1"]});
    assert_eq!(ids(&search(&caller, "device", &seen)), [room]);
    assert_eq!(
        ids(&search(&caller, "device", &json!({"not": seen}))),
        [hall]
    );
}

#[test]
fn every_field_of_an_interaction_is_searched() {
    let Venue {
        server,
        ada,
        zoe,
        hall,
        room,
    } = venue();
    let caller = server.caller_with_all();
    let all = json!({
        "firstDelegate": ada, "secondDelegate": zoe, "thirdDelegate": ada, "firstDevice": hall,
        "secondDevice": room, "thirdDevice": hall, "recordedAt": 1_795_248_000,
        "data": {"Data": {"score": 5}},
    });
    let one = caller.interact("lead", &all).id();
    let other = caller
        .interact("seen", &json!({"delegate": zoe, "device": room}))
        .id();
    for (field, value) in [
        ("id", json!(one)),
        ("interactionType", json!("lead")),
        ("firstDelegate", json!(ada)),
        ("secondDelegate", json!(zoe)),
        ("thirdDelegate", json!(ada)),
        ("firstDevice", json!(hall)),
        ("secondDevice", json!(room)),
        ("thirdDevice", json!(hall)),
        ("recordedAt", json!(1_795_248_000)),
    ] {
        assert_eq!(
            ids(&search(
                &caller,
                "interaction",
                &json!({"==": [field, value]})
            )),
            [one],
            "{field}"
        );
        assert_eq!(
            ids(&search(
                &caller,
                "interaction",
                &json!({"!=": [field, value]})
            )),
            [other],
            "{field}"
        );
    }
    assert_eq!(
        ids(&search(
            &caller,
            "interaction",
            &json!({"ud": ["Data.score", "==", 5]})
        )),
        [one]
    );
    for field in ["createdAt", "updatedAt"] {
        let later = json!({">": [field, "2001-01-01 00:00:00"]});
        assert_eq!(ids(&search(&caller, "interaction", &later)), [one, other]);
    }
    search(&caller, "interaction", &json!({"fi": ["lead", {}, ">= 1"]})).refused(400, 1102, "fi: ");
}

#[test]
fn interactions_are_counted_by_place_type_and_device() {
    let Venue {
        server,
        ada,
        zoe,
        hall,
        room,
    } = venue();
    let caller = server.caller_with_all();
    caller.interact("seen", &json!({"delegate": ada, "device": hall}));
    caller.interact("seen", &json!({"delegate": ada, "device": room}));
    caller.interact(
        "lead",
        &json!({"firstDelegate": zoe, "secondDelegate": ada, "firstDevice": hall}),
    );
    for (expr, found) in [
        (
            json!({"fi": ["seen", {"firstDevice": [hall]}, ">= 1"]}),
            vec![ada],
        ),
        (
            json!({"fi": ["seen", {"firstDevice": [hall, room]}, "== 2"]}),
            vec![ada],
        ),
        (
            json!({"fi": ["seen", {"firstDevice": [hall]}, "== 0"]}),
            vec![zoe],
        ),
        (json!({"fi": ["seen", {}, "> 1"]}), vec![ada]),
        (json!({"fi": ["*"]}), vec![ada, zoe]),
        (json!({"si": ["lead", {"firstDevice": [hall]}]}), vec![ada]),
        (json!({"ti": ["*", {}, "< 1"]}), vec![ada, zoe]),
    ] {
        assert_eq!(ids(&search(&caller, "delegate", &expr)), found, "{expr}");
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
    let caller = server.caller_with_all();
    let expr = encoded(&json!({"*=": ["lastName", "MÜLLER"]}).to_string());
    let all = ids(&caller.get(&format!("/delegate/list?search={expr}")));
    assert_eq!(all.len(), 350);
    let mut found = Vec::new();
    let mut next = Some(format!(
        "{}/api/v5/delegate/list?limit=300&search={expr}",
        server.url()
    ));
    while let Some(link) = next {
        let page = reply(server.http.get(&link).bearer_auth(&caller.token));
        found.extend(ids(&page));
        let pagination = &page.body["meta"]["pagination"];
        assert_eq!(pagination["totalItems"], 350);
        assert_eq!(pagination["totalPages"], 2);
        next = pagination["next"].as_str().map(ToOwned::to_owned);
    }
    assert_eq!(found, all);
}

#[test]
fn a_fault_answers_1102_with_its_path() {
    let server = Server::start();
    let caller = server.caller_with_all();
    for list in ["delegate", "device", "interaction"] {
        let expr = json!({"and": [{"==": ["id", 1]}, {">=": ["createdAt", "soon"]}]});
        search(&caller, list, &expr).refused(400, 1102, r#"and[1].">="[1]: must be"#);
        caller
            .get(&format!("/{list}/list?search=%7B"))
            .refused(400, 1102, "search: ");
        // An empty parameter asks for everything.
        assert_eq!(caller.get(&format!("/{list}/list?search=")).status, 200);
    }
}

#[test]
fn what_a_client_does_not_see_it_cannot_search() {
    let Venue { server, ada, .. } = venue();
    let caller = server.caller_seeing(&["id", "firstName"]);
    assert_eq!(
        ids(&search(
            &caller,
            "delegate",
            &json!({"==": ["firstName", "Ada"]})
        )),
        [ada]
    );
    search(
        &caller,
        "delegate",
        &json!({"==": ["email", "ada@example.org"]}),
    )
    .refused(400, 1102, "email");
    search(
        &caller,
        "delegate",
        &json!({"ud": ["Data.meal", "==", "vegan"]}),
    )
    .refused(400, 1102, "ud");
}

#[test]
fn messages_and_batches_are_searched() {
    let Venue {
        server,
        ada,
        zoe,
        hall,
        ..
    } = venue();
    server.sql(&format!(
        "INSERT INTO messages (delegate_id, channel, template, state, created_at) VALUES
             ({ada}, 'email', 'welcome', 'sent', 0), ({zoe}, 'email', 'welcome', 'failed', 0),
             ({zoe}, 'sms', 'order', 'sent', 0);
         INSERT INTO batches (id, kind, device_id, file_name, file_sha256, options, total, actor, created_at)
             VALUES (5, 'delegates', {hall}, 'x.csv', x'', '{{}}', 1, 'cli', 0);
         INSERT INTO batch_rows (batch_id, line, record_id) VALUES (5, 2, {zoe});"
    ));
    let caller = server.caller_with_all();
    for (expr, found) in [
        (json!({"comms": ["email", "welcome"]}), vec![ada]),
        (json!({"comms": ["email"]}), vec![ada]),
        (json!({"comms": ["sms", "order"]}), vec![zoe]),
        (json!({"comms": ["sms", "welcome"]}), vec![]),
        (json!({"batch": [hall]}), vec![zoe]),
        (json!({"batch": []}), vec![zoe]),
        (json!({"batch": [999]}), vec![]),
    ] {
        assert_eq!(ids(&search(&caller, "delegate", &expr)), found, "{expr}");
    }
    assert!(ids(&search(&caller, "device", &json!({"batch": []}))).is_empty());
}

/// `gatepost config apply` with a document; its standard error.
fn apply(server: &Server, document: &Value) -> Result<(), String> {
    let file = server.path().with_file_name("config.json");
    std::fs::write(&file, document.to_string()).expect("a file");
    let output = Command::new(env!("CARGO_BIN_EXE_gatepost"))
        .args(["config", "apply"])
        .arg(&file)
        .arg("--db")
        .arg(server.path())
        .output()
        .expect("gatepost runs");
    if output.status.success() {
        Ok(())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

#[test]
fn statements_are_defined_by_configuration_and_searched() {
    let Venue {
        server,
        ada,
        zoe,
        hall,
        ..
    } = venue();
    let caller = server.caller_with_all();
    let unknown = json!({"st": ["visits", ">=", 1]});
    search(&caller, "delegate", &unknown).refused(400, 1102, "visits");
    apply(&server, &json!({"statements": [
        {"name": "visits", "type": "delegate", "sql": "SELECT count(*) FROM interactions WHERE first_delegate_id = :id"},
        {"name": "initial", "type": "delegate", "label": "First letter", "sql": "SELECT substr(first_name, 1, 1) FROM delegates WHERE id = :id"},
        {"name": "rooms", "type": "device", "sql": "SELECT count(*) FROM devices WHERE parent_id = :id"},
    ]}))
    .expect("a configuration");
    caller.interact("seen", &json!({"delegate": zoe, "device": hall}));
    for (list, expr, found) in [
        ("delegate", json!({"st": ["visits", ">=", 1]}), vec![zoe]),
        ("delegate", json!({"st": ["visits", "==", 0]}), vec![ada]),
        ("delegate", json!({"st": ["initial", "==", "A"]}), vec![ada]),
        (
            "delegate",
            json!({"st": ["initial", "in", ["Z", 3]]}),
            vec![zoe],
        ),
        (
            "delegate",
            json!({"and": [{"st": ["visits", "!=", 0]}, {"st": ["initial", "*=", "z"]}]}),
            vec![zoe],
        ),
        ("device", json!({"st": ["rooms", "==", 1]}), vec![hall]),
    ] {
        assert_eq!(ids(&search(&caller, list, &expr)), found, "{expr}");
    }
    search(&caller, "device", &unknown).refused(400, 1102, "visits");
    let wrong = json!({"st": ["visits", "~", 3]});
    search(&caller, "delegate", &wrong).refused(400, 1102, "st[1]: must be one of");
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
    let name: i64 = server.value("SELECT count(*) FROM settings WHERE name = 'name'");
    assert_eq!(name, 0);
}

#[test]
fn a_statement_that_fails_or_never_ends_is_told_to_whoever_searches() {
    let Venue { server, zoe, .. } = venue();
    let caller = server.caller_with_all();
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
    let asked = |name: &str| search(&caller, "delegate", &json!({"st": [name, ">=", 0]}));
    asked("fails").refused(400, 1102, "the statement \"fails\" fails for record");
    asked("endless").refused(503, 1108, "took longer than 5 s");
    assert_eq!(ids(&asked("all")).len(), 2);
    assert_eq!(asked("last").status, 200);
}

#[test]
fn an_interactions_data_is_searched_by_any_path() {
    let Venue { server, ada, .. } = venue();
    let caller = server.caller_with_all();
    let data = json!({"form": "visit", "answers": []});
    let lead = caller
        .interact("lead", &json!({"delegate": ada, "data": data}))
        .id();
    for path in ["form", "answersData"] {
        let expr = json!({"ud": [path, "!=", null]});
        assert_eq!(
            ids(&search(&caller, "interaction", &expr)),
            [lead],
            "{path}"
        );
    }
    search(&caller, "delegate", &json!({"ud": ["form", "==", 1]})).refused(400, 1102, "ud[0]");
}

#[test]
fn values_that_a_batch_shares_are_searched_where_they_are_shown() {
    let Venue { server, ada, .. } = venue();
    let caller = server.caller_with_all();
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
    let stored = caller.post("/interaction/batch", &batch);
    let id = |at: usize| stored.data()[at]["data"]["id"].as_i64().expect("an id");
    let [whole, parts, form, own] = [0, 1, 2, 3].map(id);
    for (expr, expected) in [
        (json!({"ud": ["a/b.n", "==", 5]}), vec![whole]),
        (json!({"ud": ["a/b.n", ">=", 5]}), vec![whole, own]),
        (json!({"ud": ["x.~y.a/b.n", "in", [4, 5]]}), vec![parts]),
        (json!({"ud": ["flag", "==", true]}), vec![parts]),
        (json!({"ud": ["flag", "!=", null]}), vec![parts, own]),
        (json!({"ud": ["n", "==", 5]}), vec![parts]),
        (
            json!({"ud": ["answersData.visit.note", "*=", "LONG"]}),
            vec![form],
        ),
        (json!({"ud": ["x", "==", null]}), vec![whole, form, own]),
        (json!({"ud": ["x.~y.$shared", "!=", null]}), vec![]),
        (json!({"ud": ["answers.0.answer", "!=", null]}), vec![]),
        (
            json!({"and": [{"ud": ["a/b.x", "==", null]}, {"ud": ["none", "==", null]}]}),
            vec![whole, parts, form, own],
        ),
    ] {
        let found = search(&caller, "interaction", &expr);
        assert_eq!(ids(&found), expected, "{expr}");
    }
}

#[test]
fn a_malformed_type_or_number_is_refused_and_not_searched_for() {
    let server = Server::start();
    let caller = server.caller_with_all();
    for (path, searches) in [
        (
            "/delegate/list",
            [
                (r#"{"fi": ["Check In", {}, ">= 1"]}"#, "fi[0]: \"Check In\""),
                (r#"{"ti": ["", {}]}"#, "ti[0]: \"\""),
                (r#"{"si": ["check_in", {}]}"#, "si[0]: \"check_in\""),
            ],
        ),
        (
            "/device/list",
            [
                (
                    r#"{"fi": ["check-in", {}, ">= 99999999999999999999"]}"#,
                    "fi[2]: is out of range",
                ),
                (r#"{"==": ["id", 1e300]}"#, "\"==\"[1]: is out of range"),
                (r#"{"==": ["id", "#, "search: is not valid JSON: it ends"),
            ],
        ),
    ] {
        for (search, told) in searches {
            let query = form_urlencoded::Serializer::new(String::new())
                .append_pair("search", search)
                .finish();
            caller
                .get(&format!("{path}?{query}"))
                .refused(400, 1102, told);
        }
    }
    for kind in ["connected", "check-in", "*"] {
        let search = json!({"fi": [kind, {}]}).to_string();
        let query = form_urlencoded::Serializer::new(String::new())
            .append_pair("search", &search)
            .finish();
        assert_eq!(caller.get(&format!("/delegate/list?{query}")).status, 200);
    }
}
