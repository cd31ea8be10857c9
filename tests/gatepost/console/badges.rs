//! Badges: layouts from presets, tried before they are saved, and drawn for one attendee or all (contract §15).

use super::{Crew, settings::hidden};
use crate::harness::{Caller, Server, whole};
use gatepost::identity::ConsoleRole;
use reqwest::Method;
use serde_json::json;

const EDIT: &str = "/console/settings/badges/edit";
const SMALL: &str = r#"{"width": 62, "height": 30, "front": [
    {"kind": "text", "text": "{firstName}", "size": 20, "x": 2, "y": 2, "width": 58, "height": 12},
    {"kind": "text", "text": "PRESS", "size": 12, "x": 2, "y": 15, "width": 30, "height": 8, "when": {"types": ["Press"]}},
    {"kind": "qr", "text": "{ticket}", "x": 40, "y": 14, "width": 15, "height": 15}]}"#;

fn start() -> (Server, Crew, Caller) {
    let server = Server::start();
    let (crew, api) = (
        server.crew(ConsoleRole::Administrator),
        server.caller_with_all(),
    );
    (server, crew, api)
}

fn post(crew: &Crew, name: &str, types: &str, layout: &str, press: &str) -> super::Page {
    let version = hidden(&crew.get(EDIT).shown(), EDIT, "version");
    let fields = [
        ("version", version.as_str()),
        ("name", name),
        ("types", types),
        ("layout", layout),
        ("do", press),
    ];
    crew.post(EDIT, &fields)
}

#[test]
fn a_layout_is_tried_saved_and_drawn_for_its_types() {
    let (server, crew, api) = start();
    assert!(
        crew.get("/console/settings/badges")
            .shown()
            .contains("No layout yet")
    );
    let from_preset = crew.get(&format!("{EDIT}?preset=Brother%2062")).shown();
    assert!(
        from_preset.contains("&#34;width&#34;: 62.0"),
        "{from_preset}"
    );

    let tried = post(&crew, "Small", "", SMALL, "preview").shown();
    assert!(tried.contains("data:image/svg+xml;base64,") && tried.contains("A name of 60 letters"));
    let unknown = SMALL.replace("{firstName}", "李");
    assert!(
        post(&crew, "Small", "", &unknown, "preview")
            .shown()
            .contains("no font has 李")
    );
    assert_eq!(server.count("badge_layouts"), 0);

    for (layout, told) in [
        ("{", "EOF"),
        (
            r#"{"width": 62, "height": 30, "front": [{"kind": "circle", "x": 1, "y": 1, "width": 9, "height": 9}]}"#,
            "unknown variant",
        ),
        (&*SMALL.replace("62", "9000"), "width"),
    ] {
        let refused = post(&crew, "Small", "", layout, "");
        assert_eq!(refused.status, 422, "{layout}");
        assert!(refused.html.contains(told), "{layout}");
    }
    assert_eq!(post(&crew, "Small", "Press", SMALL, "").status, 303);
    assert_eq!(post(&crew, "Small", "", SMALL, "").status, 422);

    // Whoever has another type gets none, until there is a layout for all.
    let guest = api.delegate(&json!({"firstName": "Ada", "delegateType": "Guest"}));
    let press = api.delegate(&json!({"firstName": "Ada", "delegateType": "press"}));
    let svg = |id: i64| whole(api.request(Method::GET, &format!("/badge/id:{id}?format=svg")));
    svg(guest).reply.invalid("no layout of badges is for Guest");
    assert_eq!(svg(press).header("content-type"), "image/svg+xml");
    assert_eq!(post(&crew, "General", "", SMALL, "").status, 303);
    assert_ne!(svg(guest).text, svg(press).text);
}

#[test]
fn badges_of_one_and_of_all_are_printed() {
    let (server, crew, api) = start();
    let pdf = |path: &str| {
        let answer = crew.get(path);
        assert_eq!(answer.status, 200, "{}", answer.html);
        answer.html.starts_with("%PDF")
    };
    let all = "/console/settings/badges/pdf?type=&sheet=a4";
    assert_eq!(crew.get(all).status, 400);
    let id = api.delegate(&json!({"firstName": "Zoë", "lastName": "Łódzka", "company": "Ωmega"}));
    api.delegate(&json!({"firstName": "Ada", "delegateType": "Press"}));
    assert!(pdf(&format!("/console/delegates/{id}/badge.pdf")) && pdf(all));
    assert!(pdf("/console/settings/badges/pdf?type=Press"));
    assert!(
        crew.get(&format!("/console/delegates/{id}"))
            .shown()
            .contains("badge.pdf")
    );
    // Nobody is printed who is deleted, and layouts are an administrator's.
    api.delete(&format!("/delegate/id:{id}")).is(204);
    api.get(&format!("/badge/id:{id}")).refused(404, 1301, "");
    let operator = server.crew(ConsoleRole::Operator);
    assert_eq!(operator.get(all).status, 403);
}
