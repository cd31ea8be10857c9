//! What happens to a gate's access and clock while nobody looks.

use super::venue::{Venue, admits, hurry, is_offline, is_online, kept};
use crate::{browser::window::Browser, faults::proxy::Network};
use serde_json::{Value, json};
use std::time::{SystemTime, UNIX_EPOCH};

fn now_ms() -> i64 {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .expect("after 1970");
    i64::try_from(now.as_millis()).expect("a time")
}

/// When the holder of a code was checked in.
fn recorded_at(venue: &Venue, code: &str) -> i64 {
    venue.server.value(&format!(
        "SELECT recorded_at FROM interactions JOIN delegates ON delegates.id = first_delegate_id
         WHERE barcode = '{code}'"
    ))
}

#[test]
fn a_clock_that_is_off_by_twenty_minutes_records_the_right_times() {
    let venue = Venue::new(3, json!({}));
    let network = venue.network();
    let gate = Browser::open(&network.origin());
    let script = "const Real = Date;
        globalThis.Date = class extends Real {
            constructor(...all) { all.length ? super(...all) : super(Real.now() + 1_200_000); }
            static now() { return Real.now() + 1_200_000; }
        };";
    gate.call(
        "Page.addScriptToEvaluateOnNewDocument",
        &json!({"source": script}),
    );
    venue.set_up(&gate);
    let begun = now_ms();
    admits(&gate, &["T-1"]);
    network.set(Network::Down);
    admits(&gate, &["T-2"]);
    // It starts anew without the server, and knows by how much its clock is off.
    gate.reload();
    is_offline(&gate);
    admits(&gate, &["T-3"]);
    let ended = now_ms();
    network.set(Network::Up);
    venue.has_each_once(&gate, 3);
    for code in ["T-1", "T-2", "T-3"] {
        let at = recorded_at(&venue, code);
        assert!(
            begun - 3000 < at && at < ended + 3000,
            "{code}: {at}, not {begun} to {ended}"
        );
    }
}

#[test]
fn a_token_that_expired_over_night_costs_nothing() {
    let venue = Venue::new(3, json!({}));
    let network = venue.network();
    let gate = venue.gate(&network);
    let expire = "UPDATE tokens SET expires_at = 1";
    venue.server.sql(expire);
    admits(&gate, &["T-1"]);
    assert_eq!(venue.check_ins(), 1);
    network.set(Network::Down);
    admits(&gate, &["T-2"]);
    venue.server.sql(expire);
    network.set(Network::Up);
    venue.has_each_once(&gate, 2);
    is_online(&gate);
    admits(&gate, &["T-3"]);
    assert_eq!(kept(&gate, "people").len(), 3);
}

/// A gate that is revoked while it is offline, with two scans in its queue.
fn revoked_offline(end_tokens: bool) {
    let venue = Venue::new(4, json!({}));
    let network = venue.network();
    let gate = Browser::open(&network.origin());
    let (client, _) = venue.set_up(&gate);
    network.set(Network::Down);
    admits(&gate, &["T-1", "T-2"]);
    venue.server.done(&["client", "revoke", &client]);
    if end_tokens {
        // Tokens that ended are deleted some day.
        venue.server.sql(&format!(
            "DELETE FROM tokens WHERE client_id = (SELECT id FROM clients WHERE client_id = '{client}')"
        ));
    }
    assert_eq!(kept(&gate, "people").len(), 4);
    if !end_tokens {
        // Names behind the last verdict, and in a dialog that is open.
        gate.click("#verdict-next");
        gate.click("#open-search");
        gate.fill_in("#search-text", "guest");
        gate.until("somebody is found", || gate.has("#hits button"));
    }
    network.set(Network::Up);
    gate.until("the gate asks for access anew", || {
        gate.has("body[data-screen=setup]")
    });
    assert!(kept(&gate, "people").is_empty());
    let queue = kept(&gate, "queue");
    assert_eq!(queue.len(), 2);
    for scan in &queue {
        let names: Vec<&String> = scan.as_object().expect("a scan").keys().collect();
        assert!(scan["code"].is_string() && scan["at"].is_number() && scan["nonce"].is_string());
        assert!(scan.get("delegate").is_none_or(Value::is_null), "{names:?}");
    }
    gate.tells("Scans kept for upload, without names: 2");
    let page = "const typed = [...document.querySelectorAll('input')].map(({ value }) => value);
        return [document.body.textContent, ...typed].join().toLowerCase()";
    let page = gate.run(page, &[]);
    assert!(
        !page.as_str().is_none_or(|page| page.contains("guest")),
        "{page}"
    );
    assert!(!gate.has("dialog[open], #verdict:not([hidden])"));
    assert_eq!(venue.check_ins(), 0);
    // Somebody sets it up again: what it kept is uploaded.
    let (id, secret) = venue.credentials();
    venue.give(&gate, &id, &secret);
    gate.reload();
    is_online(&gate);
    venue.has_each_once(&gate, 2);
}

#[test]
fn a_gate_that_is_revoked_while_offline_forgets_everybody_and_keeps_its_scans() {
    revoked_offline(false);
}

#[test]
fn a_gate_whose_token_ended_learns_that_it_was_revoked() {
    revoked_offline(true);
}

/// The only place there was: the gate does not go on where nothing is counted.
#[test]
fn a_gate_whose_place_is_deleted_asks_for_another() {
    let venue = Venue::new(2, json!({}));
    let network = venue.network();
    let gate = venue.gate(&network);
    admits(&gate, &["T-1"]);
    venue.has_each_once(&gate, 1);
    let place = format!("/device/id:{}", venue.place);
    venue.api.delete(&place).is(204);
    hurry(&gate);
    gate.until("the gate asks for a place", || {
        gate.has("body[data-screen=places]")
    });
    gate.tells("does not allow Hall at this gate any more");
    gate.tells("No place is set for this gate.");
}
