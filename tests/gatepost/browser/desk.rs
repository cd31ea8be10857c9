//! The desk as its user runs it: thirty people with their codes or names and Enter, and not one key or click besides.

use super::{become_administrator, examine::Examiner, open, open_first_run, window::Browser};
use crate::faults::process::{Served, gatepost};
use serde_json::{Value, json};
use std::fmt::Write;

/// Thirty people: odd ones are scanned, even ones are typed.
fn people() -> Vec<(String, String)> {
    let person = |number: usize| {
        (
            format!("Guest{number:02} Person"),
            format!("TICKET-{number:02}"),
        )
    };
    (1..=30).map(person).collect()
}

pub fn open_desk() -> (tempfile::TempDir, Served, Browser) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("event.db");
    let served = Served::start(&file);
    let browser = open(&served);
    open_first_run(&browser, &served);
    become_administrator(&browser);
    let mut list = "First name,Last name,Barcode\n".to_owned();
    for (name, code) in people() {
        let (first, last) = name.split_once(' ').expect("two names");
        writeln!(list, "{first},{last},{code}").expect("text");
    }
    let path = folder.path().join("list.csv");
    std::fs::write(&path, list).expect("a list");
    let imported = gatepost(
        &file,
        &["import", "delegates", path.to_str().expect("a path")],
    );
    assert!(imported.status.success(), "{imported:?}");
    browser.go("/console/desk");
    (folder, served, browser)
}

/// Types into whatever has the focus.
fn type_text(browser: &Browser, text: &str) {
    browser.call("Input.insertText", &json!({"text": text}));
}

/// The name in the verdict.
fn verdict(browser: &Browser) -> Value {
    let script = "return [document.querySelector('.verdict-word')?.innerText,
        document.querySelector('.verdict-name')?.innerText, document.activeElement?.id, document.activeElement?.value]";
    browser.run(script, &[])
}

#[test]
fn thirty_people_take_a_code_or_a_name_and_enter_each() {
    let (_folder, _served, browser) = open_desk();
    browser.run("globalThis.isSamePage = true", &[]);
    for (number, (name, code)) in people().into_iter().enumerate() {
        if number % 2 == 0 {
            type_text(&browser, &code);
        } else {
            type_text(&browser, &name);
        }
        browser.key("Enter", 0);
        let expected = json!(["Checked in", name, "desk-field", ""]);
        browser.until(&format!("{name} is checked in"), || {
            verdict(&browser) == expected
        });
    }
    assert_eq!(
        browser.run("return globalThis.isSamePage === true", &[]),
        json!(true)
    );
    // The last one again, and undone by one click.
    browser.press("Undo");
    browser.tells("Check-in undone");
    let faults = Examiner::installed().faults(&browser, "desk");
    assert!(faults.is_empty(), "{faults:?}");
}

#[test]
fn a_name_of_several_is_chosen_and_an_unknown_one_walks_in() {
    let (_folder, _served, browser) = open_desk();
    type_text(&browser, "Guest");
    browser.until("people are offered", || {
        browser.has("#desk-list [role=option][value]")
    });
    // Enter takes the one that is marked.
    let marked =
        "return document.querySelector('#desk-list [aria-selected=true] strong')?.innerText";
    let first = browser.run(marked, &[]);
    browser.key("Enter", 0);
    browser.until("the marked one is checked in", || {
        verdict(&browser)[0] == json!("Checked in") && verdict(&browser)[1] == first
    });
    type_text(&browser, "Zoë Unheard");
    browser.until("a walk-in is offered", || {
        browser.has("#desk-list a[href*=walkin]")
    });
    browser.key("Enter", 0);
    browser.until("the panel is there", || browser.has("#walk-in"));
    browser.click("#walk-in button[type=submit]");
    browser.tells("Registered and checked in");
    assert_eq!(verdict(&browser)[1], json!("Zoë Unheard"));
    let faults = Examiner::installed().faults(&browser, "desk with a verdict");
    assert!(faults.is_empty(), "{faults:?}");
}

#[test]
fn a_tick_of_an_evacuation_keeps_the_focus() {
    let (_folder, _served, browser) = open_desk();
    type_text(&browser, "TICKET-01");
    browser.key("Enter", 0);
    browser.tells("Checked in");
    browser.go("/console");
    browser.run("window.confirm = () => true", &[]);
    browser.press("Start evacuation");
    browser.tells("of 1 safe");
    for pressed in ["true", "false"] {
        browser.run("document.querySelector('.evacuation button').focus()", &[]);
        browser.key("Enter", 0);
        // Until it has settled, a new list takes no key.
        let state = "return !document.querySelector('.htmx-added, .htmx-settling')
            && document.activeElement.matches('[id^=safe-]')
            && document.activeElement.getAttribute('aria-pressed')";
        browser.until("the tick has the focus", || {
            browser.run(state, &[]) == json!(pressed)
        });
    }
}

/// What is not recorded is said, and the next scan begins anew.
#[test]
fn a_desk_whose_server_is_away_says_that_nothing_was_recorded() {
    let (_folder, served, browser) = open_desk();
    drop(served);
    type_text(&browser, "TICKET-01");
    browser.key("Enter", 0);
    let told = json!(["Not recorded", null, "desk-field", "TICKET-01"]);
    browser.until("the desk says so", || verdict(&browser) == told);
    type_text(&browser, "TICKET-02");
    assert_eq!(verdict(&browser)[3], json!("TICKET-02"));
}

#[test]
fn keys_undo_the_last_choose_the_place_and_open_a_walk_in() {
    let (_folder, _served, browser) = open_desk();
    type_text(&browser, "TICKET-01");
    browser.key("Enter", 0);
    browser.tells("Checked in");
    let word = || verdict(&browser)[0].clone();
    // Not what is typed: that is the browser's own undo.
    type_text(&browser, "Gu");
    browser.key("z", 2);
    assert_ne!(word(), json!("Check-in undone"));
    browser.key("Escape", 0);
    browser.key("z", 2);
    browser.until("the last one is undone", || {
        word() == json!("Check-in undone")
    });
    assert_eq!(verdict(&browser)[2], json!("desk-field"));
    // After a refusal there is nothing to undo: who came before stays.
    type_text(&browser, "TICKET-02");
    browser.key("Enter", 0);
    browser.tells("Guest02 Person");
    type_text(&browser, "UNKNOWN-1");
    browser.key("Enter", 0);
    browser.until("the code is refused", || {
        browser.has("#verdict.bad") && verdict(&browser)[3] == json!("")
    });
    browser.key("z", 2);
    type_text(&browser, "TICKET-03");
    browser.key("Enter", 0);
    browser.tells("Guest03 Person");
    let undone = "return document.querySelector('.last-ten').innerText.match(/undone/g).length";
    assert_eq!(browser.run(undone, &[]), json!(1));
    browser.key("F2", 0);
    browser.until("the places are open", || browser.has(".desk-place[open]"));
    browser.key("Escape", 0);
    browser.until("they are closed", || !browser.has(".desk-place[open]"));
    browser.key("F4", 0);
    browser.until("the panel is there", || browser.has("#walk-in"));
    let focused = browser.run("return document.activeElement.name", &[]);
    assert_eq!(focused, json!("firstName"));
}
