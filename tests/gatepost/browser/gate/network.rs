//! The network is what fails most.

use super::venue::{Venue, admits, codes, hurry, is_offline, is_online, kept, scan_all};
use crate::{browser::window::Browser, faults::proxy::Network};
use serde_json::json;

const CHECK_IN: &str = "/api/v5/interaction/new/check-in";
const BATCH: &str = "/api/v5/interaction/batch";

/// The tab ends as when the system takes its memory, and is opened again.
fn tab_is_killed(gate: &Browser) {
    let _ = gate.try_call("Page.crash", &json!({}));
    gate.new_tab();
    gate.go("/gate");
}

#[test]
fn a_server_that_stops_mid_scan_loses_and_doubles_nothing() {
    let venue = Venue::new(4, json!({}));
    let network = venue.network();
    let gate = venue.gate(&network);

    // The server stores the scan, and its answer is lost.
    network.set(Network::Mute);
    let [verdict] = &admits(&gate, &["T-1"])[..] else {
        panic!("one verdict");
    };
    assert!(
        verdict.ms > 1000.0 && verdict.text.contains("list"),
        "{verdict:?}"
    );
    assert_eq!(venue.check_ins(), 1);
    // The scan never reaches the server.
    network.set(Network::Down);
    admits(&gate, &["T-2"]);
    assert_eq!(kept(&gate, "queue").len(), 2);
    // The server has the scans that waited, and what it answered is lost.
    network.set(Network::Mute);
    hurry(&gate);
    network.set(Network::Up);
    venue.has_each_once(&gate, 2);
    is_online(&gate);
    admits(&gate, &["T-3"]);
    venue.has_each_once(&gate, 3);
}

#[test]
fn a_network_that_flaps_stores_every_scan_once() {
    let venue = Venue::new(120, json!({}));
    let network = venue.network();
    let gate = venue.gate(&network);
    let mut people = codes(1..=120).into_iter();
    let mut some = |count| people.by_ref().take(count).collect::<Vec<_>>();
    for flap in 0..30 {
        let lost = if flap % 10 == 9 {
            Network::Mute
        } else {
            Network::Down
        };
        network.set(lost);
        admits(&gate, &some(2));
        network.set(Network::Up);
        hurry(&gate);
        // Between, the gate finds the server now and then.
        if flap % 3 == 0 {
            is_online(&gate);
        }
        admits(&gate, &some(2));
    }
    hurry(&gate);
    venue.has_each_once(&gate, 120);
}

#[test]
fn a_tab_that_is_killed_between_scan_and_upload_loses_nothing() {
    let venue = Venue::new(5, json!({}));
    let network = venue.network();
    let gate = venue.gate(&network);
    network.set(Network::Down);
    admits(&gate, &["T-1", "T-2", "T-3"]);
    tab_is_killed(&gate);
    // It starts without the server, with its list and its queue.
    is_offline(&gate);
    assert_eq!(kept(&gate, "queue").len(), 3);
    admits(&gate, &["T-4"]);
    network.set(Network::Up);
    venue.has_each_once(&gate, 4);

    // The server is asked and has not answered: nobody knows whether it has the scan.
    is_online(&gate);
    network.set(Network::Mute);
    super::scan(&gate, "T-5");
    gate.until("the request is sent", || network.passed(CHECK_IN) > 0);
    tab_is_killed(&gate);
    network.set(Network::Up);
    venue.has_each_once(&gate, 5);
}

#[test]
fn one_ticket_at_two_gates_offline_is_two_check_ins_and_one_conflict() {
    let venue = Venue::new(1, json!({"entry": "single", "maxCheckIns": 1}));
    let networks = [venue.network(), venue.network()];
    let gates = networks
        .each_ref()
        .map(|network| Browser::open(&network.origin()));
    let [(id, secret), _] = gates.each_ref().map(|gate| venue.set_up(gate));
    for (network, gate) in networks.iter().zip(&gates) {
        network.set(Network::Down);
        admits(gate, &["T-1"]);
        // The same gate does not admit it twice.
        let again = scan_all(gate, &["T-1"]);
        assert_eq!(again[0].kind, "stop", "{again:?}");
    }
    let waiting = kept(&gates[0], "queue").remove(0);
    for (network, gate) in networks.iter().zip(&gates) {
        network.set(Network::Up);
        hurry(gate);
        gate.until("the queue is empty", || kept(gate, "queue").is_empty());
    }
    assert_eq!(venue.check_ins(), 2);
    assert_eq!(venue.server.count("interactions WHERE admitted = 1"), 2);
    assert_eq!(venue.server.count("conflicts"), 1);
    assert!(networks.iter().all(|network| network.passed(BATCH) > 0));

    // A phone that is restored from a backup sends its queue again.
    let at = waiting["at"].as_i64().expect("a time") / 1000;
    let body = json!({"interactions": {"a": {
        "interactionType": "check-in", "delegate": "scan:T-1", "device": venue.place,
        "recordedAt": at, "nonce": waiting["nonce"], "admitted": true,
    }}});
    let gate = venue.server.caller_of(&id, &secret);
    let answer = gate.post("/interaction/batch", &body);
    assert_eq!(answer.data()[0]["status"], 200, "{answer:?}");
    assert_eq!(venue.check_ins(), 2);
}
