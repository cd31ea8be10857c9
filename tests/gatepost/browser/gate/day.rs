//! The whole way of a gate: from the QR in the console to two hundred scans, with the server and without.

use super::{
    add, import,
    venue::{codes, hurry, is_offline, is_online, kept, scan_all},
};
use crate::{
    browser::{NAME, app::scan, become_administrator, open, open_first_run, window::Browser},
    faults::{
        process::Served,
        proxy::{Network, Proxy},
    },
};
use serde_json::json;
use std::process::Command;

/// Waits until the gate shows people inside, people who arrived, and those that it let in.
#[track_caller]
fn counts(gate: &Browser, inside: usize, arrived: usize, mine: usize) {
    let wanted = [inside, arrived, mine].map(|number| number.to_string());
    gate.until(&format!("the numbers are {wanted:?}"), || {
        let script =
            "return [...document.querySelectorAll('#numbers strong')].map((one) => one.innerText)";
        gate.run(script, &[]) == json!(wanted)
    });
}

/// Scans codes, whose verdicts are all of a kind.
#[track_caller]
fn scans(gate: &Browser, codes: &[String], kind: &str) {
    for (verdict, code) in scan_all(gate, codes).iter().zip(codes) {
        assert_eq!(verdict.kind, kind, "{code}: {verdict:?}");
    }
}

#[test]
fn a_gate_goes_from_the_qr_to_two_hundred_scans_and_counts_people() {
    let folder = tempfile::tempdir().expect("a folder");
    let db = folder.path().join("event.db");
    import(&db, 160);
    let origin = format!("http://{NAME}");
    let command = Command::new(crate::faults::process::GATEPOST);
    let served = Served::start_by(command, &db, &["--public-url", &origin]);
    let console = open(&served);
    open_first_run(&console, &served);
    become_administrator(&console);

    // A phone's own camera reads the QR, and its browser opens what it says.
    console.go("/console/discovery");
    console.run(
        "document.querySelector('.qr').scrollIntoView({block: 'center'})",
        &[],
    );
    let address = scan(&console.picture()).expect("a QR code in the picture");
    let path = address.strip_prefix(&origin).expect("the public address");
    let network = Proxy::to(served.address);
    let gate = Browser::open_with(
        &origin,
        &[
            format!("--host-resolver-rules=MAP {NAME}:80 {}", network.address),
            format!("--unsafely-treat-insecure-origin-as-secure={origin}"),
        ],
    );
    gate.go(path);
    gate.arrives_at("/gate");
    add(&gate, &console, 160);

    scans(&gate, &codes(1..=80), "good");
    counts(&gate, 80, 80, 80);
    network.set(Network::Down);
    scans(&gate, &codes(81..=130), "good");
    // A ticket lets in once, whether the server or the gate itself admitted it.
    scans(&gate, &codes(71..=90), "stop");
    is_offline(&gate);
    counts(&gate, 130, 130, 130);
    assert_eq!(kept(&gate, "queue").len(), 50);
    network.set(Network::Up);
    hurry(&gate);
    is_online(&gate);
    scans(&gate, &codes(131..=150), "good");
    scans(&gate, &codes(111..=130), "stop");
    gate.until("all is uploaded", || kept(&gate, "queue").is_empty());
    counts(&gate, 150, 150, 150);
    gate.press("Out");
    scans(&gate, &codes(1..=10), "out");
    counts(&gate, 140, 150, 150);

    let kept = |kind: &str| {
        let of = format!("FROM interactions WHERE interaction_type = '{kind}'");
        let people = format!("SELECT count(DISTINCT first_delegate_id) {of}");
        (
            super::count(&db, &format!("SELECT count(*) {of}")),
            super::count(&db, &people),
        )
    };
    assert_eq!(
        (kept("check-in"), kept("check-out")),
        ((150, 150), (10, 10))
    );
    served.stop();
}
