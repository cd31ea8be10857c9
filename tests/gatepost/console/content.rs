//! Content regions in the console: written, previewed, published, undone, removed.

use super::{Crew, settings::hidden};
use crate::harness::Server;
use gatepost::identity::ConsoleRole;
use reqwest::Method;
use serde_json::json;

const PATH: &str = "/api/delegate-info";
const REGION: &str = "/console/content/region?path=%2Fapi%2Fdelegate-info";
const NEW: &str = "/console/content/edit";
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

/// Saves the region as it is now, or creates it.
fn save(crew: &Crew, content: &str) {
    let page = crew.get(EDIT);
    let (path, seen) = match page.status {
        404 => (NEW, String::new()),
        _ => (EDIT, page.version()),
    };
    crew.post(path, &form(&seen, content)).taken();
}

#[test]
fn a_region_is_written_published_and_taken_offline() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    let all = server.caller_with_all();
    all.delegate(&json!({"barcode": "A1", "firstName": "Ada"}));
    assert!(
        crew.get("/console/content")
            .shown()
            .contains("No regions yet")
    );
    let mut first = form("0", "Hello {{ delegate.firstName }}\r\nand welcome");
    first.push(("offline", "1"));
    let led = crew.post(NEW, &first).taken();
    assert_eq!(led, REGION);
    assert!(crew.get(REGION).shown().contains("offline"));
    all.get("/delegate/barcode:A1/info")
        .refused(400, 1801, PATH);
    let publish = |what: &str| {
        let seen = hidden(
            &crew.get(REGION).shown(),
            "/console/content/publish",
            "seen",
        );
        let fields = [("path", PATH), ("seen", seen.as_str()), ("do", what)];
        crew.post("/console/content/publish", &fields).taken()
    };
    publish("publish");
    let answer = all.get("/delegate/barcode:A1/info");
    let region = &answer.data()["regions"][0];
    assert_eq!(region["content"], json!("Hello Ada\nand welcome"));
    assert_eq!(region["tags"], json!(["welcome", "first"]));
    assert_eq!(
        region["references"],
        json!(["https://example.org", "hall-a"])
    );
    let list = crew.get("/console/content").shown();
    assert!(
        list.contains("published") && list.contains("welcome"),
        "{list}"
    );
    publish("offline");
    all.get("/delegate/barcode:A1/info")
        .refused(400, 1801, PATH);
    let window = [("from", "2020-01-01T00:00"), ("to", "2100-01-01T00:00:00")];
    let seen = crew.get(EDIT).version();
    let mut fields = form(&seen, "x");
    fields.retain(|(name, _)| !["from", "to"].contains(name));
    fields.extend(window);
    crew.post(EDIT, &fields).taken();
    assert!(
        crew.get(REGION)
            .shown()
            .contains("published until 2100-01-01")
    );
    assert_eq!(all.get("/delegate/barcode:A1/info").status, 200);
}

#[test]
fn a_preview_shows_the_page_for_a_chosen_record_and_saves_nothing() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    let all = server.caller_with_all();
    let preview = |path: &str, content: &str, record: &str| {
        let fields = [
            ("do", "preview"),
            ("version", "0"),
            ("path", path),
            ("content", content),
            ("record", record),
        ];
        let page = crew.post(NEW, &fields);
        assert!([200, 422].contains(&page.status), "{page:?}");
        page.html
    };
    let template = "<b>{{ delegate.lastName }}</b>";
    assert!(preview(PATH, template, "").contains("There is no delegate yet"));
    let ada = all.delegate(&json!({"barcode": "A1", "firstName": "Ada", "lastName": "Lovelace"}));
    all.delegate(&json!({"firstName": "Zoë", "lastName": "ÖSTERREICHER"}));
    all.delegate(
        &json!({"barcode": "B1", "firstName": "Bo", "lastName": "<script>alert(1)</script>"}),
    );
    all.device(&json!({"name": "Hall", "code": "hall"}));
    for record in ["barcode:A1", "A1", "ada love", &ada.to_string()] {
        let shown = preview(PATH, template, record);
        assert!(shown.contains("For Ada Lovelace"), "{record}: {shown}");
        assert!(
            shown.contains("srcdoc=\"&#60;b&#62;Lovelace&#60;/b&#62;\""),
            "{shown}"
        );
    }
    assert!(preview(PATH, template, "zoë österr").contains("For Zoë ÖSTERREICHER"));
    // The newest, where none is named; and what a guest is called does not run.
    let shown = preview(PATH, template, "");
    assert!(
        shown.contains("For Bo") && !shown.contains("<script>alert"),
        "{shown}"
    );
    assert!(shown.contains("<iframe class=\"made\" sandbox "), "{shown}");
    assert!(preview("/api/device-info", "{{ device.name }}", "hall").contains("For Hall"));
    all.device(&json!({"name": "ÄRZTEHAUS", "code": "doctors"}));
    assert!(preview("/api/device-info", "{{ device.name }}", "ärzte").contains("For ÄRZTEHAUS"));
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
    assert_eq!(server.value::<i64>("SELECT count(*) FROM regions"), 0);
}

#[test]
fn a_template_that_does_not_compile_is_shown_again_with_its_line() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    let refused = crew.post(NEW, &form("0", "fine\n{% if delegate %}\n<p>"));
    refused.refused(422, "Nothing was saved");
    assert!(refused.html.contains("Line 2: "), "{}", refused.html);
    let mut elsewhere = form("0", "x");
    elsewhere.retain(|(name, _)| *name != "path");
    elsewhere.push(("path", "/api/elsewhere"));
    crew.post(NEW, &elsewhere).refused(422, "/api/elsewhere");
    save(&crew, "x");
    crew.post(NEW, &form("0", "y")).refused(422, "already");
    assert_eq!(server.value::<String>("SELECT content FROM regions"), "x");
}

#[test]
fn the_second_of_two_editors_is_told() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    save(&crew, "one");
    let seen = crew.get(EDIT).version();
    save(&crew, "theirs");
    let told = crew.post(EDIT, &form(&seen, "mine"));
    told.refused(422, "operator@example.com changed this while you did");
    assert!(told.html.contains("theirs") && told.html.contains("mine"));
    assert_eq!(
        server.value::<String>("SELECT content FROM regions"),
        "theirs"
    );
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
        assert!(
            crew.get(&led)
                .shown()
                .contains("somebody else saved version 2")
        );
    }
    assert_eq!(server.value::<i64>("SELECT version FROM regions"), 2);
    // Who was told and saves again means it.
    crew.post(EDIT, &form(&told.version(), "mine")).taken();
    assert_eq!(
        server.value::<String>("SELECT content FROM regions"),
        "mine"
    );
}

#[test]
fn a_save_is_undone_and_an_old_version_taken_up_again() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    save(&crew, "one\nshared");
    save(&crew, "two\nshared");
    let shown = crew.get(REGION).shown();
    assert!(shown.contains("Undo version 2"), "{shown}");
    let version = crew
        .get("/console/content/version?path=%2Fapi%2Fdelegate-info&version=2")
        .shown();
    assert!(
        version.contains("- one</del>") && version.contains("+ two</ins>"),
        "{version}"
    );
    let undo = [("path", PATH), ("seen", "2"), ("version", "1")];
    crew.post("/console/content/restore", &undo).taken();
    assert_eq!(
        server.value::<String>("SELECT content FROM regions"),
        "one\nshared"
    );
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
    let server = Server::start();
    let operator = server.crew(ConsoleRole::Operator);
    save(&operator, "<p>one</p>");
    let viewer = server.crew(ConsoleRole::Viewer);
    let shown = viewer.get(REGION).shown();
    assert!(
        shown.contains("&#60;p&#62;one") && !shown.contains("Take offline"),
        "{shown}"
    );
    viewer.get(EDIT).refused(403, "operator");
    let fields = [("path", PATH)];
    operator
        .post("/console/content/remove", &fields)
        .refused(403, "administrator");
    let administrator = server.crew(ConsoleRole::Administrator);
    administrator
        .post("/console/content/remove", &fields)
        .taken();
    assert_eq!(
        server.value::<i64>("SELECT count(*) FROM region_versions"),
        0
    );
    let told = administrator.get("/console/audit?type=region").shown();
    assert!(told.contains("&#60;p&#62;one"), "{told}");
    // Without a token nothing happens.
    let request = administrator.request(Method::POST, NEW);
    assert_eq!(super::page(request.form(&form("0", "x"))).status, 403);
}
