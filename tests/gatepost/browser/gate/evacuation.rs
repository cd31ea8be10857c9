//! The evacuation list at a gate: there without the server, and shared with all screens once it is back.

use super::{
    people::is_for_everybody,
    scan,
    venue::{Venue, admits, hurry, is_offline, is_online, kept},
};
use crate::{browser::window::Browser, faults::proxy::Network};
use serde_json::json;

/// Presses the button of somebody on the list.
#[track_caller]
fn press_of(gate: &Browser, name: &str) {
    let script = "const row = [...document.querySelectorAll('#evacuation-list li')].find((one) => one.innerText.includes(arguments[0]));
        if (!row) return false;
        row.querySelector('button').click();
        return true";
    gate.until(&format!("{name} is on the list"), || {
        gate.run(script, &[json!(name)]) == json!(true)
    });
}

fn rows(gate: &Browser) -> usize {
    let script = "return document.querySelectorAll('#evacuation-list li').length";
    let rows = gate.run(script, &[]);
    usize::try_from(rows.as_u64().expect("a number")).expect("a few")
}

/// A gate at a place that has places below, with its whole list.
fn open(venue: &Venue, origin: &str) -> Browser {
    let gate = Browser::open(origin);
    let (id, secret) = venue.credentials();
    gate.go("/gate");
    gate.until("the app has begun", || gate.has("#setup:not([hidden])"));
    venue.give(&gate, &id, &secret);
    gate.go("/gate");
    is_online(&gate);
    gate.until("the list is complete", || gate.has("#status-list.good"));
    gate
}

#[test]
fn the_evacuation_list_is_there_offline_and_ticks_are_shared() {
    let venue = Venue::new(4, json!({}));
    let stage = venue
        .api
        .device(&json!({"name": "Stage", "deviceType": "room", "parent": venue.place}));
    let change =
        json!({"phone": "+49 170 5550100", "email": "no1x@example.org", "company": "Engines"});
    venue.api.patch("/delegate/barcode:T-1", &change).is(200);
    let network = venue.network();
    let gate = open(&venue, &network.origin());
    admits(&gate, &["T-1"]);
    gate.click("#verdict-next");
    // Somebody comes in by another gate, at a place below.
    venue
        .api
        .interact(
            "check-in",
            &json!({"delegate": "barcode:T-2", "device": stage}),
        )
        .id();
    gate.click("#open-menu");
    gate.click("#menu-evacuation");
    gate.tells("2 inside");
    gate.tells("Live, with the scans of all gates.");
    gate.tells("Stage");
    gate.tells("Engines");
    is_for_everybody(&gate, "evacuation list");
    // Nobody is ticked before an evacuation runs.
    assert!(!gate.has("#evacuation-list button:not([hidden])"));
    let page = gate
        .run("return document.body.textContent", &[])
        .to_string();
    assert!(!page.contains("5550100") && !page.contains("example.org"));

    network.set(Network::Down);
    gate.tells("Offline: as of");
    gate.press("Start evacuation");
    gate.press("Start: all screens show it");
    gate.tells("2 inside, 0 safe");
    press_of(&gate, "No1x");
    gate.tells("2 inside, 1 safe");
    // A badge that is scanned is ticked, too; whoever is not inside is not on the list.
    scan(&gate, "T-2");
    gate.tells("2 inside, 2 safe");
    scan(&gate, "T-3");
    gate.tells("Not on the list: Guest No3x");
    press_of(&gate, "No2x");
    gate.tells("2 inside, 1 safe");
    // It is there after a start without the server.
    gate.until("all is kept", || kept(&gate, "queue").len() == 4);
    gate.reload();
    is_offline(&gate);
    gate.click("#evacuation-open");
    gate.tells("2 inside, 1 safe");
    assert_eq!(venue.server.count("evacuations"), 0);

    network.set(Network::Up);
    hurry(&gate);
    gate.until("the queue is empty", || kept(&gate, "queue").is_empty());
    let ticked = "SELECT group_concat(delegate_id || ' ' || (SELECT name FROM clients WHERE 'client:' || client_id = actor)) FROM evacuation_safe";
    assert_eq!(venue.server.text(ticked), "1 gate");
    let place = "SELECT group_concat(device_id) FROM evacuations";
    assert_eq!(venue.server.text(place), venue.place.to_string());
    assert_eq!(
        venue
            .server
            .count("interactions WHERE interaction_type = 'check-out'"),
        0
    );
    shares_with_the_console(&venue, &gate, stage);
}

/// What the console ticks, and its end, come to the gate.
fn shares_with_the_console(venue: &Venue, gate: &Browser, stage: i64) {
    // Ticked in the console.
    venue.server.sql(
        "INSERT INTO evacuation_safe (evacuation_id, delegate_id, at, actor) SELECT id, 2, started_at, 'cli' FROM evacuations",
    );
    gate.tells("2 inside, 2 safe");
    gate.tells("command line");
    is_for_everybody(gate, "evacuation list, ticked");
    gate.click("#evacuation-close");
    is_for_everybody(gate, "evacuation at a gate");
    gate.click("#evacuation-open");
    // A–Z or by place, and a few letters of a name.
    gate.press("By place");
    gate.tells("Hall: 1, 1 safe");
    gate.tells("Stage: 1, 1 safe");
    gate.fill_in("#evacuation-search", "no2");
    gate.until("one is found", || rows(gate) == 1);
    gate.fill_in("#evacuation-search", "");
    gate.until("all are back", || rows(gate) == 2);
    // Who leaves by a gate stays ticked; the end empties the list.
    venue
        .api
        .interact(
            "check-out",
            &json!({"delegate": "barcode:T-2", "device": stage}),
        )
        .id();
    gate.tells("1 inside, 1 safe");
    gate.tells("has left");
    venue
        .server
        .sql("UPDATE evacuations SET ended_at = started_at + 1");
    gate.tells("No evacuation is running.");
    gate.tells("1 inside");
    gate.until("who left is gone", || rows(gate) == 1);
    gate.click("#evacuation-close");
    assert!(gate.has("body[data-screen=scan] #evacuation-notice[hidden]"));
}
