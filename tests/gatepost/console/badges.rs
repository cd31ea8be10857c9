//! Badges: layouts from presets, tried before they are saved, and drawn for one attendee or all (contract §15).

use super::{Crew, settings::hidden};
use crate::harness::{Caller, Server, whole};
use gatepost::{domain::badges, identity::ConsoleRole, types::DelegateId};
use reqwest::Method;
use serde_json::{Value, json};

#[path = "../../../src/badges/src/test_font.rs"]
mod test_font;

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

const FONTS: &str = "/console/settings/badges/fonts";

/// The status and the answer that the designer gets for a layout.
fn preview(crew: &Crew, layout: &str, with: (&str, &str)) -> (u16, Value) {
    let page = crew.post(
        "/console/settings/badges/preview",
        &[("layout", layout), with],
    );
    (
        page.status,
        serde_json::from_str(&page.html).unwrap_or_default(),
    )
}

#[test]
fn the_designer_gets_a_picture_of_each_side_for_whoever_is_chosen() {
    let (server, crew, api) = start();
    let drawn = |layout: &str, with: (&str, &str)| {
        let (status, drawn) = preview(&crew, layout, with);
        assert_eq!(status, 200, "{drawn}");
        drawn
    };
    let ada = drawn(SMALL, ("sample", ""));
    assert_eq!(ada["name"], "Ada Lovelace");
    assert_eq!(ada["warnings"], json!([]));
    let pages = ada["pages"].as_array().unwrap();
    let svg = pages[0].as_str().unwrap();
    assert!(pages.len() == 1 && svg.starts_with("data:image/svg+xml;base64,"));
    // However it is folded, each side is a page.
    let element = r#"{"kind": "qr", "text": "{ticket}", "x": 1, "y": 1, "width": 9, "height": 9}"#;
    let folded = format!(
        r#"{{"width": 62, "height": 30, "fold": "below", "front": [{element}], "back": [{element}]}}"#
    );
    let folded = drawn(&folded, ("sample", ""));
    assert_eq!(folded["pages"].as_array().unwrap().len(), 2);

    let (status, nobody) = preview(&crew, SMALL, ("sample", "The longest name"));
    assert_eq!(status, 422);
    assert!(
        nobody["error"]
            .as_str()
            .unwrap()
            .contains("nobody like that")
    );
    let id = api.delegate(&json!({"firstName": "Zoë"}));
    api.delegate(&json!({"firstName": "Jo", "company": "李 & 王"}));
    api.delegate(&json!({"firstName": "Zoë Ōe", "company": "王"}));
    let id = id.to_string();
    assert_eq!(drawn(SMALL, ("delegate", &id))["name"], "Zoë");
    assert_eq!(preview(&crew, SMALL, ("delegate", "4711")).0, 422);
    // 李 is somebody's alone, as Ō is: what no font has counts first.
    let company = SMALL.replace("{firstName}", "{company}");
    let rarest = drawn(&company, ("sample", "The rarest letter"));
    assert_eq!(
        rarest["warnings"],
        json!(["no font has 李王 of 李 & 王, which is left out"])
    );
    let long = drawn(
        &SMALL.replace("58", "6"),
        ("sample", "A name of 60 letters"),
    );
    assert!(long["warnings"][0].as_str().unwrap().contains("too long"));
    assert_eq!(server.count("badge_layouts"), 0);
}

#[test]
fn the_designer_is_told_in_words_what_cannot_be_drawn() {
    let (server, crew, _) = start();
    let refused = |layout: &str| {
        let (status, drawn) = preview(&crew, layout, ("sample", ""));
        assert_eq!(status, 422, "{drawn}");
        drawn["error"].as_str().unwrap().to_owned()
    };
    let element = r#"{"kind": "line", "x": 1, "y": 1, "width": 9, "height": 0}"#;
    let many = vec![element; 1001].join(",");
    let many = refused(&format!(
        r#"{{"width": 62, "height": 30, "front": [{many}]}}"#
    ));
    assert!(many.contains("may have 200 elements"), "{many}");
    for (layout, why) in [
        ("", "EOF"),
        (&*SMALL.replace("62", "9000"), "10 to 420 mm"),
        (&*SMALL.replace("qr", "circle"), "circle"),
        (&*SMALL.replace("{ticket}", ""), "1 to 500 characters"),
    ] {
        let told = refused(layout);
        assert!(told.contains(why), "{told}");
    }
    // A picture that an earlier version took.
    server.sql(
        "INSERT INTO logo (id, content_type, content, updated_at)
         VALUES (1, 'image/gif', x'47494638396130753075000000', 1)",
    );
    let logo = SMALL.replace(r#""qr", "text": "{ticket}""#, r#""image", "image": "logo""#);
    let (status, drawn) = preview(&crew, &logo, ("sample", ""));
    assert_eq!(status, 200);
    assert_eq!(
        drawn["warnings"],
        json!(["the picture logo is left out: 30000 × 30000 pixels are too many"])
    );
    let operator = server.crew(ConsoleRole::Operator);
    assert_eq!(preview(&operator, SMALL, ("sample", "")).0, 403);
}

#[test]
fn a_font_is_added_for_letters_that_the_embedded_ones_lack() {
    let (server, crew, api) = start();
    assert_eq!(post(&crew, "Small", "", SMALL, "").status, 303);
    let page = || crew.page("/console/settings/badges");
    assert!(!page().contains("names and companies"));
    let id = api.delegate(&json!({"firstName": "李"}));
    api.delegate(&json!({"firstName": "李", "lastName": "Ωmega 王"}));
    let told = page();
    assert!(told.contains("<strong>李</strong> (2 people), <strong>王</strong> (1 person)"));
    assert!(!told.contains("<strong>Ω"));
    let svg = || whole(api.request(Method::GET, &format!("/badge/id:{id}?format=svg"))).text;
    let without = svg();

    for (content, why) in [
        (&b""[..], "Choose a font first"),
        (b"none", "no TTF, OTF or TTC font"),
        (
            &test_font::font("Latin", 'A'),
            "no letter that the embedded ones lack",
        ),
        (&vec![0; 20 * 1024 * 1024 + 1], "at most 20480 KiB"),
    ] {
        crew.send_file(FONTS, "a.ttf", content).refused(422, why);
    }
    let operator = server.crew(ConsoleRole::Operator);
    let li = test_font::font("Li Sans", '李');
    assert_eq!(operator.send_file(FONTS, "a.ttf", &li).status, 403);
    assert_eq!(server.count("badge_fonts"), 0);

    crew.send_file(FONTS, "whatever.bin", &li).taken();
    let told = page();
    assert!(told.contains("Li Sans added.") && told.contains("Li Sans <span"));
    assert!(!told.contains("<strong>李") && told.contains("<strong>王</strong> (1 person)"));
    let by_name = SMALL.replace("{firstName}", "李");
    let warnings = |layout: &str| preview(&crew, layout, ("sample", "")).1["warnings"].clone();
    assert_eq!(warnings(&by_name), json!([]));
    // The font makes an A of the letter, in prints as in previews.
    let drawn = svg();
    assert_ne!(drawn, without);
    api.patch(&format!("/delegate/id:{id}"), &json!({"firstName": "A"}))
        .is(200);
    assert_eq!(svg(), drawn);

    assert_eq!(server.count("badge_fonts"), 2, "pieces");
    // One of the same name and size takes its place at once, and the audit has both.
    crew.send_file(FONTS, "b.ttf", &test_font::font("Li Sans", '王'))
        .taken();
    assert!(page().contains("<strong>李</strong> (1 person)"));
    assert_eq!(warnings(&SMALL.replace("{firstName}", "王")), json!([]));
    crew.post(&format!("{FONTS}/remove"), &[("name", "Li Sans")])
        .taken();
    assert_eq!(warnings(&by_name).as_array().unwrap().len(), 1);
    assert_eq!(
        server.count("audit WHERE record_type = 'badgeFonts' AND actor LIKE 'user:%'"),
        4
    );
}

#[test]
fn a_badge_has_the_zones_that_its_holder_may_enter() {
    let (server, _, api) = start();
    let place = |name: &str, zone: &str, access: serde_json::Value| {
        let mut access = access;
        access["zone"] = zone.into();
        api.device(&json!({"name": name, "deviceType": "room", "data": {"Access": access}}))
    };
    place("Hall", "A", json!({}));
    let lounge = place("Lounge", "C", json!({"ruleSet": "simple"}));
    place("Backstage", "B", json!({"types": ["crew"]}));
    place("Stage", "B", json!({"types": ["Crew", "Speaker"]}));
    let ada = api.delegate(&json!({"firstName": "Ada", "delegateType": "CREW"}));
    let bea = api.delegate(&json!({"firstName": "Bea", "delegateType": "Visitor"}));
    api.scan("join", bea, lounge).is(201);
    let cem = api.delegate(&json!({"firstName": "Cem"}));
    let zones = |who: i64| {
        server.write(move |tx, ctx| {
            let record = badges::Records::of(tx, &ctx.settings, None)?.get(DelegateId(who))?;
            Ok(badges::fields(&record, "")["zones"].clone())
        })
    };
    assert_eq!([ada, bea, cem].map(zones), ["A B", "A C", "A"]);
    for wrong in ["", "ABCD", "A B"] {
        let body = json!({"name": "Cellar", "data": {"Access": {"zone": wrong}}});
        api.post("/device/new", &body).invalid("zone");
    }
}
