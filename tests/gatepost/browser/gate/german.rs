//! A gate in German, as the browser is, and what the menu says about it.

use super::{
    people::is_for_everybody,
    scan, shows,
    venue::{Venue, is_online},
};
use crate::browser::window::Browser;
use serde_json::json;

/// Chooses the language in the menu.
fn choose(gate: &Browser, language: &str) {
    let script = "const field = document.getElementById('language');
        field.value = arguments[0];
        field.dispatchEvent(new Event('change'))";
    gate.run(script, &[json!(language)]);
}

#[test]
fn a_gate_speaks_the_language_of_the_browser_until_somebody_chooses() {
    let venue = Venue::new(2, json!({"entry": "single", "capacity": 1}));
    let network = venue.network();
    let german = ["--lang=de", "--accept-lang=de"].map(ToOwned::to_owned);
    let gate = Browser::open_with(&network.origin(), &german);
    gate.go("/gate");
    gate.tells("Gate einrichten");
    is_for_everybody(&gate, "set-up in German");
    let (id, secret) = venue.credentials();
    venue.give(&gate, &id, &secret);
    gate.go("/gate");
    is_online(&gate);
    gate.until("the list is complete", || gate.has("#status-list.good"));
    gate.tells("Bereit zum Scannen");
    is_for_everybody(&gate, "scan in German");
    scan(&gate, "NEW-77");
    shows(
        &gate,
        &[
            "Stopp",
            "Code unbekannt",
            "Diesen Code hat niemand: NEW-77",
            "Weiter",
        ],
    );
    is_for_everybody(&gate, "unknown code in German");
    scan(&gate, "T-1");
    shows(&gate, &["Willkommen"]);
    scan(&gate, "T-2");
    shows(&gate, &["Stopp", "Voll", "Hall ist voll: 1 von 1 drinnen"]);
    scan(&gate, "T-1");
    shows(
        &gate,
        &["Stopp", "Schon benutzt", "Schon benutzt: Hall, um "],
    );
    gate.press("Weiter");
    gate.click("#open-menu");
    gate.tells("Sprache · Language");
    is_for_everybody(&gate, "menu in German");
    choose(&gate, "en");
    gate.tells("Readiness");
    gate.press("Readiness");
    gate.tells("Start scanning");
    // The gate keeps it.
    gate.reload();
    is_online(&gate);
    gate.tells("Ready to scan");
    assert_eq!(
        gate.run("return document.documentElement.lang", &[]),
        json!("en")
    );
    scan(&gate, "T-1");
    shows(&gate, &["Stop", "Already used", "already used at Hall at"]);
    // A kiosk for which no languages are set begins in it; one press, and it speaks another.
    choose(&gate, "auto");
    gate.tells("Weiter");
    venue.allow(json!({"kiosk": true}));
    gate.reload();
    gate.tells("Scannen Sie Ihr Ticket");
    gate.press("English");
    gate.tells("Scan your ticket");
}
