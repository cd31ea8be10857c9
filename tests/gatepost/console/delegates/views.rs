//! Views of the list of attendees: those that are always there, and those that somebody saved.

use crate::harness::{Server, has, lacks};
use serde_json::json;

#[test]
fn views_find_whom_their_names_say() {
    let server = Server::start();
    let gate = server.caller_with_all();
    let crew = server.operator();
    lacks(crew.page("/console/delegates"), "Speakers missing");
    let hall = gate.device(&json!({"name": "Hall"}));
    for (name, kind) in [
        ("Ada", "Speaker"),
        ("Ben", "Speaker"),
        ("Cleo", "Visitor"),
        ("Dora", "Visitor"),
    ] {
        gate.delegate(&json!({"firstName": name, "barcode": name, "delegateType": kind}));
    }
    gate.interact(
        "check-in",
        &json!({"delegate": "barcode:Ada", "device": hall}),
    );
    crew.post(
        "/console/delegates/4/note",
        &[("note", "VIP"), ("level", "info"), ("was", "")],
    )
    .taken();
    server.sql(
        "INSERT INTO blocked_codes (kind, value, delegate_id, reason, at, actor) VALUES ('barcode', 'Cleo', 3, 'lost', 0, 'test');
         UPDATE delegates SET barcode = NULL WHERE id = 3",
    );
    for (query, name, found) in [
        ("been=no", "Not arrived", "Ben Cleo Dora"),
        ("type=Speaker&#38;been=no", "Speakers missing", "Ben"),
        ("only=noted", "Notes", "Dora"),
        ("only=blocked", "Blocked", "Cleo"),
    ] {
        let page = crew.page(&format!(
            "/console/delegates?{}",
            query.replace("&#38;", "&")
        ));
        has(
            &page,
            &*format!("?{query}\" aria-current=\"page\">{name}</a>"),
        );
        for one in ["Ada", "Ben", "Cleo", "Dora"] {
            assert_eq!(
                page.contains(&format!(">{one}</a>")),
                found.contains(one),
                "{name}: {one}"
            );
        }
        // With counts, as they come after the page.
        let counted = crew.page("/console/delegates/views");
        let count = found.split(' ').count();
        has(
            &counted,
            &*format!("{name} <span class=\"badge\">{count}</span>"),
        );
    }
    has(crew.page("/console/delegates"), "Speaker (2)");
}

#[test]
fn a_view_is_saved_by_a_user_for_that_user() {
    let server = Server::start();
    server
        .caller_with_all()
        .delegate(&json!({"firstName": "Ada", "delegateType": "Press"}));
    let (crew, other) = (server.viewer(), server.operator());
    let path = "/console/delegates?q=ada&type=Press&been=no";
    let page = crew.page(path);
    has(&page, "Save view");
    // Words stay out of it: they may be of a person.
    let led = crew
        .post(
            "/console/delegates/views",
            &[
                ("name", " Press missing "),
                ("query", "q=ada&type=Press&been=no"),
            ],
        )
        .taken();
    assert_eq!(led, "/console/delegates?type=Press&been=no");
    let page = crew.page(&led);
    has(&page, "aria-current=\"page\">Press missing</a>");
    lacks(&page, "Save view");
    has(crew.page(path), "aria-current=\"page\">Press missing</a>");
    lacks(other.page(&led), "Press missing");
    let saved: String = server.value("SELECT query FROM console_views");
    assert_eq!(saved, "type=Press&been=no");
    other.post("/console/delegates/views/1/delete", &[]).taken();
    assert_eq!(server.count("console_views"), 1);
    crew.post(
        "/console/delegates/views",
        &[("name", ""), ("query", "been=no")],
    )
    .is(400);
    crew.post("/console/delegates/views/1/delete", &[]).taken();
    assert_eq!(server.count("console_views"), 0);
}
