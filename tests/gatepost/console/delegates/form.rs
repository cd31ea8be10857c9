//! Making, changing, deleting and restoring records.

use super::{fields, send, set};
use crate::harness::{Agrees, Server, cases, has};
use serde_json::{Value, json};

#[test]
fn somebody_is_entered_with_details_and_shown() {
    let (server, crew) = Server::with_operator();
    let mut form = fields(&crew.page("/console/delegates/new"), "/new");
    send(&crew, "/console/delegates/new", &form).refused(422, "Enter a name or a code");
    for (name, value) in [
        ("firstName", "Ada"),
        ("barcode", "T-1"),
        ("detail-key", "meal"),
        ("detail-value", "vegan"),
        ("sections", r#"{"Travel": {"hotel": "Berg"}}"#),
        ("flags", "Z"),
    ] {
        set(&mut form, name, value);
    }
    form.push(("flag".to_owned(), "p".to_owned()));
    let record = send(&crew, "/console/delegates/new", &form).taken();
    let html = crew.page(&record);
    has(
        &html,
        ["Ada", "T-1", "vegan", "Berg", "p: profile is public"],
    );
    let api = server.caller_with_all();
    let stored = api.get("/delegate/barcode:T-1");
    stored.data().agrees(&json!({
        "data": {"Travel": {"hotel": "Berg"}, "Data": {"meal": "vegan"}}, "rawFlags": "pz",
        "sources": ["admin"],
    }));
    send(&crew, "/console/delegates/new", &form).refused(422, "Barcode: this code is already used");
}

#[test]
fn a_change_is_of_what_was_changed_and_is_told_in_the_history() {
    let (server, api) = Server::with_api();
    let boss = api.delegate(&json!({"firstName": "Grace", "barcode": "BOSS"}));
    let id = api.delegate(
        &json!({"firstName": "Ada", "lastName": "Lovelace", "parent": boss,
        "data": {"Data": {"meal": "vegan", "size": 3}, "Travel": {"by": ["train"]}}}),
    );
    let crew = server.operator();
    let path = format!("/console/delegates/{id}/edit");
    let untouched = fields(&crew.page(&path), "/edit");
    send(&crew, &path, &untouched).taken();
    let changes =
        format!("SELECT count(*) FROM audit WHERE record_type = 'delegate' AND record_id = {id}");
    assert_eq!(server.value::<i64>(&changes), 1, "nothing was changed");
    let mut form = untouched;
    set(&mut form, "lastName", "King");
    set(&mut form, "detail-value", "");
    set(&mut form, "owner", "barcode:BOSS");
    send(&crew, &path, &form).taken();
    let stored = api.get(&format!("/delegate/id:{id}"));
    assert_eq!(stored.data()["lastName"], "King");
    assert_eq!(stored.data()["owner"]["id"], boss);
    assert_eq!(
        stored.data()["data"],
        json!({"Data": {"size": 3}, "Travel": {"by": ["train"]}})
    );
    let html = crew.page(&format!("/console/delegates/{id}"));
    has(&html, "<del>Lovelace</del> → <ins>King</ins>");
    has(&html, "operator@example.com");
    for (name, value, about) in [
        (
            "sections",
            "{",
            "Other sections: the body is not valid JSON",
        ),
        (
            "parent",
            "barcode:NOBODY",
            "Belongs to: there is no delegate",
        ),
        ("parent", "x", "a delegate&#39;s number or a code"),
        (
            "publicId",
            &"x".repeat(256),
            "Public ID: must have at most 255",
        ),
    ] {
        let mut bad = fields(&crew.page(&path), "/edit");
        set(&mut bad, name, value);
        send(&crew, &path, &bad).refused(422, about);
    }
}

#[test]
fn the_second_of_two_who_edit_is_told_and_overwrites_nothing() {
    let (server, api) = Server::with_api();
    let id = api.delegate(
        &json!({"firstName": "Ada", "lastName": "L", "company": "Engines", "rawFlags": "p",
            "data": {"Data": {"meal": "vegan", "size": "M"}, "Travel": {"by": "train", "hotel": "Berg"}}}),
    );
    let path = format!("/console/delegates/{id}/edit");
    let (one, other) = (server.operator(), server.administrator());
    let mut first = fields(&one.page(&path), "/edit");
    let mut second = fields(&other.page(&path), "/edit");
    for (name, value) in [
        ("company", "Nordwind"),
        ("lastName", "King"),
        ("detail-value", "meat"),
        ("sections", r#"{"Travel": {"by": "car", "hotel": "Berg"}}"#),
        ("flags", "z"),
    ] {
        set(&mut first, name, value);
    }
    for (name, value) in [
        ("firstName", "Augusta"),
        ("company", "Analytics"),
        (
            "sections",
            "{\"Travel\": {\r\n \"by\": \"train\", \"hotel\": \"Tal\"}}",
        ),
    ] {
        set(&mut second, name, value);
    }
    send(&one, &path, &first).taken();
    let told = send(&other, &path, &second);
    told.refused(422, "Somebody else changed this record");
    // Who changed what; and everything that was entered is still in the form.
    has(
        &told.html,
        [
            "<strong>Changed</strong> by operator@example.com",
            "<dt>Company</dt><dd><del>Engines</del> → <ins>Nordwind</ins></dd>",
            "<dt>Last name</dt><dd><del>L</del> → <ins>King</ins></dd>",
            "<dt>Data › Data › meal</dt><dd><del>vegan</del> → <ins>meat</ins></dd>",
            "<dt>Data › Travel › by</dt><dd><del>train</del> → <ins>car</ins></dd>",
        ],
    );
    let stored = api.get(&format!("/delegate/id:{id}"));
    assert_eq!(stored.data()["firstName"], "Ada", "nothing is written over");
    let mut again = fields(&told.html, "/edit");
    let value = |name: &str| {
        let field = again.iter().find(|(known, _)| known == name);
        field.map(|(_, value)| value.as_str()).unwrap_or_default()
    };
    assert_eq!(
        ["firstName", "lastName", "company", "detail-value"].map(value),
        ["Augusta", "L", "Analytics", "vegan"]
    );

    // What is sent from the page that told it is knowingly sent.
    set(&mut again, "lastName", "King");
    send(&other, &path, &again).taken();
    let stored = api.get(&format!("/delegate/id:{id}"));
    for (name, value) in cases::<(&str, Value)>(json!([
        ["firstName", "Augusta"],
        ["lastName", "King"],
        ["company", "Analytics"],
        ["data", {"Data": {"meal": "vegan", "size": "M"}, "Travel": {"by": "train", "hotel": "Tal"}}],
    ])) {
        assert_eq!(stored.data()[name], value, "{name}");
    }
    // A third who was faster still is told just so.
    let stale = fields(&told.html, "/edit");
    send(&one, &path, &stale).refused(422, "Somebody else changed this record");
}

#[test]
fn a_deleted_record_comes_back_unless_its_code_is_anothers() {
    let (server, api) = Server::with_api();
    let id = api.delegate(&json!({"firstName": "Ada", "barcode": "T-1"}));
    let crew = server.operator();
    let at = |end: &str| format!("/console/delegates/{id}{end}");
    crew.press(&at("/delete"));
    api.get("/delegate/barcode:T-1")
        .refused(404, 1301, "there is no delegate");
    crew.sees(&at(""), "This record is deleted");
    crew.get(&at("/edit")).refused(404, "There is no delegate");
    crew.press(&at("/restore"));
    assert_eq!(api.get("/delegate/barcode:T-1").id(), id);
    crew.post(&at("/restore"), &[])
        .refused(404, "no deleted delegate");
    crew.press(&at("/delete"));
    let other = api.delegate(&json!({"firstName": "Grace", "barcode": "T-1"}));
    let refused = crew.post(&at("/restore"), &[]);
    refused.refused(422, "T-1");
    refused.refused(422, &format!("was given to delegate {other}"));
    assert_eq!(api.get("/delegate/barcode:T-1").id(), other);
    api.patch(&format!("/delegate/id:{other}"), &json!({"barcode": "T-2"}))
        .data();
    crew.press(&at("/restore"));
    crew.sees(&at(""), "<strong>Restored</strong>");
}
