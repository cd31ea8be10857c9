//! Making, changing, deleting and restoring records.

use super::{fields, send, set};
use crate::harness::Server;
use gatepost::identity::ConsoleRole;
use serde_json::json;

#[test]
fn somebody_is_entered_with_details_and_shown() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    let mut form = fields(&crew.get("/console/delegates/new").shown(), "/new");
    send(&crew, "/console/delegates/new", &form).refused(422, "Enter a name or a code");
    for (name, value) in [
        ("firstName", "Ada"),
        ("barcode", "T-1"),
        ("key", "meal"),
        ("value", "vegan"),
        ("rest", r#"{"Travel": {"hotel": "Berg"}}"#),
        ("flags", "Z"),
    ] {
        set(&mut form, name, value);
    }
    form.push(("flag".to_owned(), "p".to_owned()));
    let record = send(&crew, "/console/delegates/new", &form).taken();
    let html = crew.get(&record).shown();
    for shown in ["Ada", "T-1", "vegan", "Berg", "p: profile is public"] {
        assert!(html.contains(shown), "no {shown}");
    }
    let caller = server.caller_with_all();
    let stored = caller.get("/delegate/barcode:T-1");
    assert_eq!(
        stored.data()["data"],
        json!({"Travel": {"hotel": "Berg"}, "Data": {"meal": "vegan"}})
    );
    assert_eq!(stored.data()["rawFlags"], "pz");
    assert_eq!(stored.data()["sources"], json!(["admin"]));
    let taken = send(&crew, "/console/delegates/new", &form);
    taken.refused(422, "Check the field Barcode");
    taken.refused(422, "id=\"barcode-error\">This code is already used");
}

#[test]
fn a_change_is_of_what_was_changed_and_is_told_in_the_history() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let boss = caller.delegate(&json!({"firstName": "Grace", "barcode": "BOSS"}));
    let id = caller.delegate(
        &json!({"firstName": "Ada", "lastName": "Lovelace", "parent": boss,
        "data": {"Data": {"meal": "vegan", "size": 3}, "Travel": {"by": ["train"]}}}),
    );
    let crew = server.crew(ConsoleRole::Operator);
    let path = format!("/console/delegates/{id}/edit");
    let untouched = fields(&crew.get(&path).shown(), "/edit");
    send(&crew, &path, &untouched).taken();
    let changes =
        format!("SELECT count(*) FROM audit WHERE record_type = 'delegate' AND record_id = {id}");
    assert_eq!(server.value::<i64>(&changes), 1, "nothing was changed");
    let mut form = untouched;
    set(&mut form, "lastName", "King");
    set(&mut form, "value", "");
    set(&mut form, "owner", "barcode:BOSS");
    send(&crew, &path, &form).taken();
    let stored = caller.get(&format!("/delegate/id:{id}"));
    assert_eq!(stored.data()["lastName"], "King");
    assert_eq!(stored.data()["owner"]["id"], boss);
    assert_eq!(
        stored.data()["data"],
        json!({"Data": {"size": 3}, "Travel": {"by": ["train"]}})
    );
    let html = crew.get(&format!("/console/delegates/{id}")).shown();
    assert!(
        html.contains("<del>Lovelace</del> → <ins>King</ins>"),
        "{html}"
    );
    assert!(html.contains("operator@example.com"));
    for (name, value, about) in [
        ("rest", "{", "This is not valid JSON"),
        ("parent", "barcode:NOBODY", "There is no delegate"),
        ("parent", "x", "a delegate&#39;s number or a code"),
        ("publicId", &"x".repeat(256), "Must have at most 255"),
    ] {
        let mut bad = fields(&crew.get(&path).shown(), "/edit");
        set(&mut bad, name, value);
        send(&crew, &path, &bad).refused(422, about);
    }
}

#[test]
fn the_second_of_two_who_edit_is_told_and_overwrites_nothing() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let id = caller.delegate(
        &json!({"firstName": "Ada", "lastName": "L", "company": "Engines", "rawFlags": "p",
            "data": {"Data": {"meal": "vegan", "size": "M"}, "Travel": {"by": "train", "hotel": "Berg"}}}),
    );
    let path = format!("/console/delegates/{id}/edit");
    let (one, other) = (
        server.crew(ConsoleRole::Operator),
        server.crew(ConsoleRole::Administrator),
    );
    let mut first = fields(&one.get(&path).shown(), "/edit");
    let mut second = fields(&other.get(&path).shown(), "/edit");
    for (name, value) in [
        ("company", "Nordwind"),
        ("lastName", "King"),
        ("value", "meat"),
        ("rest", r#"{"Travel": {"by": "car", "hotel": "Berg"}}"#),
        ("flags", "z"),
    ] {
        set(&mut first, name, value);
    }
    for (name, value) in [
        ("firstName", "Augusta"),
        ("company", "Analytics"),
        (
            "rest",
            "{\"Travel\": {\r\n \"by\": \"train\", \"hotel\": \"Tal\"}}",
        ),
    ] {
        set(&mut second, name, value);
    }
    send(&one, &path, &first).taken();
    let told = send(&other, &path, &second);
    told.refused(422, "operator@example.com changed this while you did");
    // Who changed what; and everything that was entered is still in the form.
    for part in [
        "<dt>Company is now</dt><dd>Nordwind</dd>",
        "<dt>Last name is now</dt><dd>King</dd>",
        "<dt>Values is now</dt><dd>meal: meat, size: M</dd>",
        "&#34;by&#34;: &#34;car&#34;",
    ] {
        assert!(told.html.contains(part), "{part}: {}", told.html);
    }
    let stored = caller.get(&format!("/delegate/id:{id}"));
    assert_eq!(stored.data()["firstName"], "Ada", "nothing is written over");
    let mut again = fields(&told.html, "/edit");
    let value = |name: &str| {
        let field = again.iter().find(|(known, _)| known == name);
        field.map(|(_, value)| value.as_str()).unwrap_or_default()
    };
    assert_eq!(
        ["firstName", "lastName", "company", "value"].map(value),
        ["Augusta", "L", "Analytics", "vegan"]
    );

    // What is sent from the page that told it is knowingly sent.
    set(&mut again, "lastName", "King");
    send(&other, &path, &again).taken();
    let stored = caller.get(&format!("/delegate/id:{id}"));
    for (name, value) in [
        ("firstName", json!("Augusta")),
        ("lastName", json!("King")),
        ("company", json!("Analytics")),
        (
            "data",
            json!({"Data": {"meal": "vegan", "size": "M"}, "Travel": {"by": "train", "hotel": "Tal"}}),
        ),
    ] {
        assert_eq!(stored.data()[name], value, "{name}");
    }
    // A third who was faster still is told just so.
    let stale = fields(&told.html, "/edit");
    send(&one, &path, &stale).refused(422, "changed this while you did");
}

#[test]
fn a_deleted_record_comes_back_unless_its_code_is_anothers() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let id = caller.delegate(&json!({"firstName": "Ada", "barcode": "T-1"}));
    let crew = server.crew(ConsoleRole::Operator);
    let at = |end: &str| format!("/console/delegates/{id}{end}");
    crew.post(&at("/delete"), &[]).taken();
    caller
        .get("/delegate/barcode:T-1")
        .refused(404, 1301, "there is no delegate");
    assert!(crew.get(&at("")).shown().contains("This record is deleted"));
    crew.get(&at("/edit")).refused(404, "There is no delegate");
    crew.post(&at("/restore"), &[]).taken();
    assert_eq!(caller.get("/delegate/barcode:T-1").id(), id);
    crew.post(&at("/restore"), &[])
        .refused(404, "no deleted delegate");
    crew.post(&at("/delete"), &[]).taken();
    let other = caller.delegate(&json!({"firstName": "Grace", "barcode": "T-1"}));
    let refused = crew.post(&at("/restore"), &[]);
    refused.refused(422, "T-1");
    refused.refused(422, &format!("was given to delegate {other}"));
    assert_eq!(caller.get("/delegate/barcode:T-1").id(), other);
    caller
        .patch(&format!("/delegate/id:{other}"), &json!({"barcode": "T-2"}))
        .data();
    crew.post(&at("/restore"), &[]).taken();
    assert!(
        crew.get(&at(""))
            .shown()
            .contains("<strong>Restored</strong>")
    );
}
