//! Content regions in the console: written, previewed, published, undone, removed.

use super::{Crew, settings::hidden};
use crate::harness::{Agrees, Server, has, lacks};
use reqwest::Method;
use serde_json::json;

const PATH: &str = "/api/delegate-info";
const REGION: &str = "/console/content/region?path=%2Fapi%2Fdelegate-info";
const EDIT: &str = "/console/content/edit?path=%2Fapi%2Fdelegate-info";

fn form<'a>(seen: &'a str, content: &'a str) -> Vec<(&'a str, &'a str)> {
    vec![
        ("do", "save"),
        ("version", seen),
        ("path", PATH),
        ("content", content),
        ("tags", "welcome, first"),
        ("references", "https://example.org\r\n\r\nhall-a"),
        ("from", ""),
        ("to", ""),
    ]
}

fn save(crew: &Crew, seen: &str, content: &str) {
    crew.post("/console/content/edit", &form(seen, content))
        .taken();
}

#[test]
fn a_region_is_written_published_and_taken_offline() {
    let (server, crew) = Server::with_operator();
    let all = server.caller_with_all();
    all.delegate(&json!({"barcode": "A1", "firstName": "Ada"}));
    crew.sees("/console/content", "There are none yet");
    let mut first = form("0", "Hello {{ delegate.firstName }}\r\nand welcome");
    first.push(("offline", "1"));
    let led = crew.post("/console/content/edit", &first).taken();
    assert_eq!(led, REGION);
    crew.sees(REGION, "offline");
    all.get("/delegate/barcode:A1/info")
        .refused(400, 1801, PATH);
    let publish = |what: &str| {
        let seen = hidden(&crew.page(REGION), "/console/content/publish", "seen");
        let fields = [("path", PATH), ("seen", seen.as_str()), ("do", what)];
        crew.post("/console/content/publish", &fields).taken()
    };
    publish("publish");
    let answer = all.get("/delegate/barcode:A1/info");
    let region = &answer.data()["regions"][0];
    region.agrees(&json!({
        "content": "Hello Ada\nand welcome", "tags": ["welcome", "first"],
        "references": ["https://example.org", "hall-a"],
    }));
    crew.sees("/console/content", ["published", "welcome"]);
    publish("offline");
    all.get("/delegate/barcode:A1/info")
        .refused(400, 1801, PATH);
    let window = [("from", "2020-01-01T00:00"), ("to", "2100-01-01T00:00:00")];
    let seen = crew.get(EDIT).version();
    let mut fields = form(&seen, "x");
    fields.retain(|(name, _)| !["from", "to"].contains(name));
    fields.extend(window);
    crew.post("/console/content/edit", &fields).taken();
    crew.sees(REGION, "published until 2100-01-01");
    all.get("/delegate/barcode:A1/info").is(200);
}

#[test]
fn a_preview_shows_the_page_for_a_chosen_record_and_saves_nothing() {
    let (server, crew) = Server::with_operator();
    let all = server.caller_with_all();
    let preview = |path: &str, content: &str, record: &str| {
        let fields = [
            ("do", "preview"),
            ("version", "0"),
            ("path", path),
            ("content", content),
            ("record", record),
        ];
        crew.post("/console/content/edit", &fields).shown()
    };
    let template = "<b>{{ delegate.lastName }}</b>";
    has(preview(PATH, template, ""), "There is no delegate yet");
    let ada = all.delegate(&json!({"barcode": "A1", "firstName": "Ada", "lastName": "Lovelace"}));
    all.delegate(&json!({"firstName": "Zoë", "lastName": "ÖSTERREICHER"}));
    all.delegate(
        &json!({"barcode": "B1", "firstName": "Bo", "lastName": "<script>alert(1)</script>"}),
    );
    all.device(&json!({"name": "Hall", "code": "hall"}));
    for record in ["barcode:A1", "A1", "ada love", &ada.to_string()] {
        let shown = preview(PATH, template, record);
        assert!(shown.contains("For Ada Lovelace"), "{record}: {shown}");
        has(&shown, "srcdoc=\"&#60;b&#62;Lovelace&#60;/b&#62;\"");
    }
    has(
        preview(PATH, template, "zoë österr"),
        "For Zoë ÖSTERREICHER",
    );
    // The newest, where none is named; and what a guest is called does not run.
    let shown = preview(PATH, template, "");
    has(&shown, "For Bo");
    lacks(&shown, "<script>alert");
    has(&shown, "<iframe class=\"made\" sandbox ");
    has(
        preview("/api/device-info", "{{ device.name }}", "hall"),
        "For Hall",
    );
    all.device(&json!({"name": "ÄRZTEHAUS", "code": "doctors"}));
    has(
        preview("/api/device-info", "{{ device.name }}", "ärzte"),
        "For ÄRZTEHAUS",
    );
    for (content, record, told) in [
        ("a\n{{ delegat.x }}", "A1", "line 2: `delegat` is not known"),
        (
            "a\n\n{{ delegate.fistName }}",
            "A1",
            "line 3: delegate has no property",
        ),
        (
            "a\n{{ delegate.firstName + 1 }}",
            "A1",
            "line 2: tried to use + operator on unsupported types",
        ),
        ("x", "barcode:nobody", "nobody"),
        ("x", "nose:1", "nose"),
        ("x", "no such name", "no such name"),
    ] {
        let shown = preview(PATH, content, record);
        assert!(shown.contains(told), "{told}: {shown}");
    }
    assert_eq!(server.count("regions"), 0);
}

#[test]
fn a_template_that_does_not_compile_is_shown_again_with_its_line() {
    let (server, crew) = Server::with_operator();
    let refused = crew.post(
        "/console/content/edit",
        &form("0", "fine\n{% if delegate %}\n<p>"),
    );
    refused.refused(422, "Nothing was saved");
    has(&refused.html, "Line 2: ");
    let mut elsewhere = form("0", "x");
    elsewhere.retain(|(name, _)| *name != "path");
    elsewhere.push(("path", "/api/elsewhere"));
    crew.post("/console/content/edit", &elsewhere)
        .refused(422, "/api/elsewhere");
    save(&crew, "0", "x");
    crew.post("/console/content/edit", &form("0", "y"))
        .refused(422, "already");
    assert_eq!(server.text("SELECT content FROM regions"), "x");
}

#[test]
fn the_second_of_two_editors_is_told() {
    let (server, crew) = Server::with_operator();
    save(&crew, "0", "one");
    let seen = crew.get(EDIT).version();
    save(&crew, &seen, "theirs");
    let told = crew.post("/console/content/edit", &form(&seen, "mine"));
    told.refused(422, "operator@example.com changed this while you did");
    has(&told.html, ["theirs", "mine"]);
    assert_eq!(server.text("SELECT content FROM regions"), "theirs");
    for path in ["publish", "restore"] {
        let fields = [
            ("path", PATH),
            ("seen", "1"),
            ("version", "1"),
            ("do", "offline"),
        ];
        let led = crew
            .post(&format!("/console/content/{path}"), &fields)
            .taken();
        crew.sees(&led, "somebody else saved version 2");
    }
    assert_eq!(server.value::<i64>("SELECT version FROM regions"), 2);
    // Who was told and saves again means it.
    let again = told.version();
    save(&crew, &again, "mine");
    assert_eq!(server.text("SELECT content FROM regions"), "mine");
}

#[test]
fn a_save_is_undone_and_an_old_version_taken_up_again() {
    let (server, crew) = Server::with_operator();
    save(&crew, "0", "one\nshared");
    save(&crew, "1", "two\nshared");
    crew.sees(REGION, "Undo version 2");
    let version = crew.page("/console/content/version?path=%2Fapi%2Fdelegate-info&version=2");
    has(&version, ["- one</del>", "+ two</ins>"]);
    let undo = [("path", PATH), ("seen", "2"), ("version", "1")];
    crew.post("/console/content/restore", &undo).taken();
    assert_eq!(server.text("SELECT content FROM regions"), "one\nshared");
    assert_eq!(server.value::<i64>("SELECT version FROM regions"), 3);
    crew.get("/console/content/version?path=%2Fapi%2Fdelegate-info&version=9")
        .refused(404, "no version 9");
    for page in ["region", "edit", "version"] {
        crew.get(&format!("/console/content/{page}?path=%2Fnone"))
            .refused(404, "/none");
    }
}

#[test]
fn viewers_look_and_administrators_remove() {
    let (server, operator) = Server::with_operator();
    save(&operator, "0", "<p>one</p>");
    let viewer = server.viewer();
    let shown = viewer.page(REGION);
    has(&shown, "&#60;p&#62;one");
    lacks(&shown, "Take offline");
    viewer.get(EDIT).refused(403, "operator");
    let fields = [("path", PATH)];
    operator
        .post("/console/content/remove", &fields)
        .refused(403, "administrator");
    let administrator = server.administrator();
    administrator
        .post("/console/content/remove", &fields)
        .taken();
    assert_eq!(server.count("region_versions"), 0);
    administrator.sees("/console/audit?type=region", "&#60;p&#62;one");
    // Without a token nothing happens.
    let request = administrator.request(Method::POST, "/console/content/edit");
    super::page(request.form(&form("0", "x"))).is(403);
}
