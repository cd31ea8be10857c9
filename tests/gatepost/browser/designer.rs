//! The designer of badges: a layout by keys alone, and by the pointer, from a preset to the badge that the API draws.

use super::{examine::Examiner, window::Browser};
use crate::harness::{PASSWORD, Server, whole};
use gatepost::identity::ConsoleRole;
use reqwest::Method;
use serde_json::{Value, json};

const ALT: u8 = 1;
const CTRL: u8 = 2;
const SHIFT: u8 = 8;
const EDIT: &str = "/console/settings/badges/edit?preset=Card%2086%20%C3%97%2054";

fn begin() -> (Server, Browser) {
    let server = Server::start();
    server.console_user("ada@example.com", ConsoleRole::Administrator);
    let browser = Browser::open(&server.url());
    browser.go("/console/sign-in");
    browser.fill("email", "ada@example.com");
    browser.fill("password", PASSWORD);
    browser.press("Sign in");
    browser.arrives_at("/console");
    browser.go(EDIT);
    is_drawn(&browser);
    (server, browser)
}

/// Waits for the server's picture.
fn is_drawn(browser: &Browser) {
    let script = "return document.querySelector('[data-stage] img')?.naturalWidth > 0";
    browser.until("the badge is drawn", || {
        browser.run(script, &[]) == json!(true)
    });
}

/// The layout as the form would send it.
fn layout(browser: &Browser) -> Value {
    let json = browser.run("return document.querySelector('[name=layout]').value", &[]);
    serde_json::from_str(json.as_str().expect("text")).expect("JSON")
}

/// Hands that know no pointer.
struct Keys<'b>(&'b Browser);

impl Keys<'_> {
    fn press(&self, key: &str, modifiers: u8, times: usize) {
        for _ in 0..times {
            self.0.key(key, modifiers);
        }
    }

    /// Types into the field with the focus, whose content Tab has selected.
    fn type_text(&self, text: &str) {
        self.0.call("Input.insertText", &json!({"text": text}));
    }

    fn is_at(&self, css: &str) -> bool {
        let script = "return document.activeElement.matches(arguments[0])";
        self.0.run(script, &[css.into()]) == json!(true)
    }

    /// Presses Tab, or with Shift the other way, until this has the focus.
    #[track_caller]
    fn tab_to(&self, css: &str, modifiers: u8) {
        for _ in 0..120 {
            self.0.key("Tab", modifiers);
            if self.is_at(css) {
                return;
            }
        }
        panic!("Tab never comes to {css}");
    }
}

#[test]
fn a_badge_is_designed_and_saved_by_keys_alone() {
    let (server, browser) = begin();
    let keys = Keys(&browser);
    let faults = Examiner::installed().faults(&browser, "the designer");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    browser.go(EDIT);
    is_drawn(&browser);
    let first = layout(&browser)["front"].clone();
    keys.tab_to("[name=name]", 0);
    keys.type_text("Speakers");

    // The first name: moved by 2 mm, 5 mm and 0.1 mm, and a millimetre wider.
    keys.tab_to(".handle", 0);
    keys.press("ArrowDown", 0, 2);
    keys.press("ArrowRight", SHIFT, 1);
    keys.press("ArrowLeft", ALT, 1);
    keys.press("ArrowRight", CTRL, 1);
    let moved = |of: &Value, name: &str, by: f64| {
        let hundredths = (of[name].as_f64().expect("a number") + by) * 100.0;
        hundredths.round() / 100.0
    };
    let name = &layout(&browser)["front"][0];
    for (property, by) in [("x", 4.9), ("y", 2.0), ("width", 1.0), ("height", 0.0)] {
        assert_eq!(
            name[property],
            json!(moved(&first[0], property, by)),
            "{property}"
        );
    }
    browser.tells(&format!("{} by {} mm", name["width"], name["height"]));

    // The last name is removed, brought back, and removed again.
    let front = |expected: usize| {
        let found = layout(&browser)["front"]
            .as_array()
            .expect("elements")
            .len();
        assert_eq!(found, expected);
    };
    keys.tab_to(".handle", 0);
    keys.press("Delete", 0, 1);
    front(4);
    assert!(keys.is_at(".handle[aria-label*='{company}']"));
    keys.press("Z", CTRL, 1);
    front(5);
    keys.press("Z", CTRL | SHIFT, 1);
    front(4);

    // Enter leads to the properties, Escape back and out of the badge.
    keys.press("Enter", 0, 1);
    assert!(keys.is_at("#element-text"));
    keys.press("A", CTRL, 1);
    browser.run("document.activeElement.select()", &[]);
    keys.type_text("{company} at {eventName}");
    keys.tab_to("#element-size", 0);
    keys.type_text("11");
    keys.press("Escape", 0, 1);
    assert!(keys.is_at(".handle[aria-label*='{company} at']"));
    keys.press("D", CTRL, 1);
    front(5);
    keys.press("PageDown", 0, 1);
    keys.press("PageUp", 0, 1);
    keys.press("Delete", 0, 1);
    front(4);
    keys.press("Escape", 0, 1);
    assert!(keys.is_at("[data-list] button[aria-pressed=true]"));

    keys.tab_to("[data-add=line]", SHIFT);
    keys.press("Enter", 0, 1);
    assert!(keys.is_at(".handle[aria-label^='Line']"));
    let made = layout(&browser);
    assert_eq!(made["front"][1]["text"], "{company} at {eventName}");
    assert_eq!(made["front"][1]["size"], 11);
    assert_eq!(made["front"][4]["kind"], "line");

    keys.tab_to("form button[value=save]", 0);
    keys.press("Enter", 0, 1);
    browser.arrives_at("/console/settings/badges");
    let stored = server.text("SELECT layout FROM badge_layouts WHERE name = 'Speakers'");
    let stored: Value = serde_json::from_str(&stored).expect("JSON");
    assert_eq!(stored["front"][0]["x"], made["front"][0]["x"]);
    let elements = stored["front"].as_array().expect("elements");
    assert_eq!(elements.len(), 5);

    // Badges are drawn by it.
    let api = server.caller_with_all();
    let id = api.delegate(&json!({"firstName": "Ada", "company": "Engines"}));
    let badge = || whole(api.request(Method::GET, &format!("/badge/id:{id}?format=svg"))).text;
    let drawn = badge();
    assert!(drawn.contains("width=\"86mm\""), "{}", &drawn[..200]);
    server.sql("DELETE FROM badge_layouts");
    assert_ne!(badge(), drawn);
}

#[test]
fn an_element_that_is_dragged_snaps_and_can_be_put_back() {
    let (_server, browser) = begin();
    let first = layout(&browser)["front"][0].clone();
    let stage = "const box = document.querySelector(arguments[0]).getBoundingClientRect();
        return [box.x + box.width / 2, box.y + box.height / 2, box.width, box.height]";
    let at = browser.run(stage, &[".handle".into()]);
    let badge = browser.run(stage, &["[data-stage]".into()]);
    let number = |of: &Value, index: usize| of[index].as_f64().expect("a number");
    let pixels = number(&badge, 2) / 86.0;
    let mouse = |kind: &str, x: f64, y: f64| {
        let event = json!({"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1});
        browser.call("Input.dispatchMouseEvent", &event);
    };
    let (x, y) = (number(&at, 0), number(&at, 1));
    mouse("mousePressed", x, y);
    mouse("mouseMoved", x + 3.0 * pixels, y + 7.2 * pixels);
    mouse("mouseMoved", x + 3.1 * pixels, y + 7.3 * pixels);
    assert!(browser.has("[data-stage] .corner"));
    mouse("mouseReleased", x + 3.1 * pixels, y + 7.3 * pixels);
    let moved = layout(&browser)["front"][0].clone();
    assert_ne!((&moved["x"], &moved["y"]), (&first["x"], &first["y"]));
    for name in ["width", "height"] {
        assert_eq!(moved[name], first[name]);
    }
    browser.key("Z", CTRL);
    let back = layout(&browser)["front"][0].clone();
    assert_eq!((&back["x"], &back["y"]), (&first["x"], &first["y"]));
    // By hand: what the field says is what is shown.
    browser.press("As JSON");
    let line = r#"{"width": 40, "height": 20, "front": [{"kind": "line", "x": 1, "y": 2, "width": 9, "height": 0}]}"#;
    browser.fill("layout", line);
    browser.until("the line is alone", || {
        browser.has(".handle[aria-label^='Line']") && !browser.has(".handle[aria-label^='Text']")
    });
    browser.fill("layout", "{");
    browser.tells("The JSON cannot be read");
}
