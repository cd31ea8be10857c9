//! A kiosk, as attendees use it: in their language, by touch, scanner and keyboard.

use super::{
    people::is_for_everybody,
    scan,
    venue::{Venue, kept},
};
use crate::browser::{
    pictures::Pictures,
    window::{Browser, View},
};
use serde_json::json;

/// A tablet on a stand.
const STAND: View = View {
    width: 1024,
    height: 680,
    scheme: "light",
};

/// Waits until the kiosk shows a step with these words.
#[track_caller]
fn step(kiosk: &Browser, step: &str, words: &str) {
    kiosk.until(&format!("{step}: {words}"), || {
        let script = "const shown = document.querySelector('#kiosk > section:not([hidden])');
            return shown.dataset.step === arguments[0] && shown.innerText.includes(arguments[1])";
        kiosk.run(script, &[json!(step), json!(words)]) == json!(true)
    });
}

/// Tabs on until this has the focus.
#[track_caller]
fn tab_to(kiosk: &Browser, css: &str) {
    for _ in 0..12 {
        kiosk.key("Tab", 0);
        let script = "return document.activeElement.matches(arguments[0])";
        if kiosk.run(script, &[json!(css)]) == json!(true) {
            return;
        }
    }
    panic!("{css} is not reached by Tab");
}

#[track_caller]
fn types(kiosk: &Browser, text: &str) {
    kiosk.call("Input.insertText", &json!({"text": text}));
}

/// Lets seconds pass for the kiosk.
fn wait(kiosk: &Browser, seconds: u32) {
    let script = "globalThis.passed += arguments[0] * 1000";
    kiosk.run(script, &[json!(seconds)]);
}

/// Finds an attendee by keyboard alone: by name and e-mail address, a wrong one first.
#[track_caller]
fn find_by_keyboard(kiosk: &Browser) {
    step(kiosk, "start", "Scan your ticket");
    tab_to(kiosk, "#kiosk-no-code");
    kiosk.key("Enter", 0);
    step(kiosk, "find", "Find your registration");
    is_for_everybody(kiosk, "kiosk, find");
    tab_to(kiosk, "#kiosk-name");
    types(kiosk, "Byron");
    tab_to(kiosk, "#kiosk-email");
    types(kiosk, "L-1@example.org");
    kiosk.key("Enter", 0);
    step(kiosk, "find", "We found no registration");
    let empty = "document.activeElement.select()";
    tab_to(kiosk, "#kiosk-name");
    tab_to(kiosk, "#kiosk-email");
    kiosk.run(empty, &[]);
    types(kiosk, "B-1@example.org");
    kiosk.key("Enter", 0);
    step(kiosk, "confirm", "Are you Ada Byron?");
    tab_to(kiosk, "#kiosk-yes");
    kiosk.key("Enter", 0);
    step(kiosk, "result", "Welcome, Ada Byron!");
}

/// Somebody leaves in the middle of it.
#[track_caller]
fn starts_over(kiosk: &Browser) {
    kiosk.press("I have no code");
    kiosk.fill_in("#kiosk-name", "Secret");
    wait(kiosk, 38);
    kiosk.tells("Are you still there?");
    is_for_everybody(kiosk, "kiosk, still there");
    kiosk.press("Yes, I am still here");
    step(kiosk, "find", "");
    wait(kiosk, 38);
    kiosk.tells("This screen starts over");
    wait(kiosk, 10);
    step(kiosk, "start", "Scan your ticket");
    let typed = "return document.getElementById('kiosk-name').value";
    assert_eq!(kiosk.run(typed, &[]), json!(""));
}

/// Ends the kiosk, as the crew does with its PIN; others who press the same keys do not.
#[track_caller]
fn end(kiosk: &Browser) {
    kiosk.key("X", 2 | 8);
    kiosk.until("the PIN is asked for", || {
        kiosk.has("#kiosk-exit-dialog[open]")
    });
    is_for_everybody(kiosk, "kiosk, PIN");
    types(kiosk, "0000");
    kiosk.key("Enter", 0);
    kiosk.tells("The PIN is wrong.");
    assert!(kiosk.has("body[data-screen=kiosk]"));
    types(kiosk, "471100");
    kiosk.key("Enter", 0);
    kiosk.until("the gate is back", || kiosk.has("body[data-screen=scan]"));
}

#[test]
fn attendees_check_themselves_in_and_the_crew_ends_the_kiosk() {
    let venue = Venue::new(2, json!({}));
    let add = |last: &str, code: &str| {
        let email = format!("{code}@example.org");
        venue.api.delegate(&json!({
            "barcode": code, "firstName": "Ada", "lastName": last, "email": email, "delegateType": "Speaker",
        }))
    };
    add("Lovelace", "L-1");
    add("Byron", "B-1");
    venue.allow(json!({}));
    let network = venue.network();
    let kiosk = Browser::open_with(
        &network.origin(),
        &[
            "--use-fake-device-for-media-stream",
            "--use-fake-ui-for-media-stream",
        ]
        .map(ToOwned::to_owned),
    );
    // A clock that the test moves on.
    let clock = "globalThis.passed = 0;
        const now = performance.now.bind(performance);
        performance.now = () => now() + passed;";
    kiosk.call(
        "Page.addScriptToEvaluateOnNewDocument",
        &json!({"source": clock}),
    );
    venue.set_up(&kiosk);
    venue.allow(json!({"kiosk": true, "kioskLanguages": ["en", "de"], "kioskWalkIn": true}));
    kiosk.reload();
    step(&kiosk, "start", "in front of the camera");
    is_for_everybody(&kiosk, "kiosk");
    let last = || {
        venue.server.text(
            "SELECT p.first_name || ' ' || p.last_name || ' ' || i.id FROM interactions i
             JOIN delegates p ON p.id = i.first_delegate_id ORDER BY i.id DESC LIMIT 1",
        )
    };

    // By scanner, in German.
    kiosk.press("Deutsch");
    step(&kiosk, "start", "Scannen Sie Ihr Ticket");
    scan(&kiosk, "]Q1l-1");
    step(&kiosk, "confirm", "Sind Sie Ada Lovelace?");
    step(&kiosk, "confirm", "Speaker");
    is_for_everybody(&kiosk, "kiosk, confirm");
    Pictures::wanted().take_as(&kiosk, "kiosk", STAND);
    assert_eq!(venue.check_ins(), 0);
    kiosk.press("Ja, bitte einchecken");
    step(&kiosk, "result", "Willkommen, Ada Lovelace!");
    assert_eq!(last(), "Ada Lovelace 1");
    is_for_everybody(&kiosk, "kiosk, welcome");
    // The next attendee begins in the first language.
    wait(&kiosk, 30);
    step(&kiosk, "start", "Scan your ticket");

    // Typed, and somebody else.
    kiosk.press("I have no code");
    kiosk.press("Type a ticket code");
    kiosk.fill_in("#kiosk-code", "t-1 ");
    kiosk.click("#kiosk-code-form button:not([type])");
    step(&kiosk, "confirm", "Are you Guest No1x?");
    kiosk.press("No, that is not me");
    assert_eq!(venue.check_ins(), 1);

    find_by_keyboard(&kiosk);
    assert_eq!(last(), "Ada Byron 2");
    tab_to(&kiosk, "[data-step=result] button");
    kiosk.key("Enter", 0);
    step(&kiosk, "start", "Scan your ticket");

    starts_over(&kiosk);

    // Without a ticket.
    kiosk.click("#kiosk-register");
    is_for_everybody(&kiosk, "kiosk, register");
    kiosk.fill_in("#kiosk-first-name", "Grace");
    kiosk.fill_in("#kiosk-last-name", "Hopper");
    kiosk.press("Register and check in");
    step(&kiosk, "result", "Welcome, Grace Hopper!");
    let code = venue
        .server
        .text("SELECT barcode FROM delegates WHERE last_name = 'Hopper'");
    let groups: Vec<_> = code
        .as_bytes()
        .chunks(4)
        .map(String::from_utf8_lossy)
        .collect();
    step(&kiosk, "result", &groups.join(" "));
    assert_eq!(last(), "Grace Hopper 3");
    kiosk.press("Done");

    end(&kiosk);
    kiosk.until("the queue is empty", || kept(&kiosk, "queue").is_empty());
    assert_eq!(venue.check_ins(), 3);
}
