//! What is scanned that is no ticket, and lists that are long.

use super::venue::{Venue, Verdict, admits, codes, enter_all, is_offline, kept, scan_all};
use crate::{
    browser::window::{Browser, View},
    faults::proxy::Network,
};
use serde_json::json;
use std::time::{Duration, Instant};

/// A phone held upright.
const PHONE: View = View {
    width: 390,
    height: 844,
    scheme: "light",
};

/// Types each code into the field for it.
const TYPE: &str = "document.getElementById('type-code').value = code.replace('LONE', '\\ud800');
    document.getElementById('type-form').requestSubmit();";

/// What people and broken scanners hold in front of a gate; `n` makes each another.
fn garbage(n: usize) -> String {
    let long = |text: &str, times: usize| text.repeat(times);
    match n % 25 {
        0 => format!("{}{n}", long("A", 4_000)),
        1 => format!("{n}{}", long("Ünïcödé ", 2_000)),
        2 => format!("{}{n}", long("0", 100_000)),
        3 => format!("<img src=x onerror=\"globalThis.ran = {n}\">"),
        4 => format!("<script>globalThis.ran = {n}</script>"),
        5 => format!("\"><svg onload=globalThis.ran={n}>"),
        6 => format!("javascript:globalThis.ran={n}"),
        7 => format!("https://example.org/ticket?code=T-1&n={n}"),
        8 => format!("' OR 1=1 -- {n}"),
        9 => format!("T-1'; DROP TABLE delegates; -- {n}"),
        10 => format!("../../../../etc/passwd?{n}"),
        11 => format!("\u{0}\u{1}\u{2}\u{1b}[2J\u{7f}{n}"),
        12 => format!("🎟️👩‍👩‍👧‍👦{n}🏳️‍🌈"),
        13 => format!("\u{202e}1-T{n}"),
        14 => format!("LONE{n}"),
        15 => format!("{{\"delegate\":\"scan:T-1\",\"n\":{n}}}"),
        16 => format!("id:{n}"),
        17 => format!("barcode:T-1;{n}"),
        18 => format!("{{{{7*7}}}}${{7*7}}%00%n{n}"),
        19 => format!("T\u{2011}1 {n}"),
        20 => format!("*%_?{n}"),
        21 => format!("\u{feff}\u{200b}T-1\u{200b}{n}"),
        22 => format!("M1LOVELACE/ADA       E{n:07} HAMTXLLH 0123 330Y012A0045 147>1181"),
        23 => format!("BEGIN:VCARD N:Lovelace;Ada TEL:{n} END:VCARD"),
        _ => format!("T-1{}{n}", long("\t", 3)),
    }
}

#[test]
fn five_hundred_codes_that_are_no_tickets_are_refused_and_none_runs() {
    let venue = Venue::new(1, json!({}));
    let network = venue.network();
    let gate = venue.gate(&network);
    gate.look(PHONE);
    let all: Vec<String> = (1..=500).map(garbage).collect();
    let refused = |verdicts: &[Verdict]| {
        for (verdict, code) in verdicts.iter().zip(&all) {
            assert_eq!(verdict.kind, "stop", "{code:.80}: {verdict:?}");
            // A steward reads a sentence, not four screens.
            assert!(
                verdict.text.len() < 400,
                "{code:.80}: {:.800}",
                verdict.text
            );
        }
    };
    let enter = |codes: &[String]| -> Vec<Verdict> {
        let parts = codes.chunks(50);
        parts
            .flat_map(|part| enter_all(&gate, &json!(part), TYPE))
            .collect()
    };
    refused(&enter(&all));
    let reachable = "const box = document.getElementById('verdict-next').getBoundingClientRect();
        return box.bottom <= innerHeight && document.documentElement.scrollWidth <= innerWidth";
    assert_eq!(gate.run(reachable, &[]), json!(true));
    assert_eq!(venue.check_ins(), 0);
    // As a scanner types them, where it can.
    let plain = all.iter().filter(|code| code.len() < 300);
    refused(&scan_all(&gate, &plain.take(50).collect::<Vec<_>>()));

    gate.until("the server has answered", || {
        kept(&gate, "queue").is_empty()
    });
    network.set(Network::Down);
    // Its request is cut: it waits until the server says whether it was stored.
    refused(&enter(&all[..1]));
    is_offline(&gate);
    let cut = kept(&gate, "queue").len();
    assert!(cut <= 1);
    refused(&enter(&all[..100]));
    gate.until("no code that was refused offline waits", || {
        kept(&gate, "queue").len() <= cut
    });
    admits(&gate, &["T-1"]);
    network.set(Network::Up);
    venue.has_each_once(&gate, 1);
    assert_eq!(gate.run("return globalThis.ran", &[]), json!(null));
}

/// A gate with a long list: memory has its limit; snapshot and verdicts have theirs where they are measured.
fn crowd(people: usize, is_measured: bool) {
    let venue = Venue::new(people, json!({}));
    let network = venue.network();
    let gate = Browser::open(&network.origin());
    let (id, secret) = venue.credentials();
    gate.go("/gate");
    gate.until("the app has begun", || gate.has("#setup:not([hidden])"));
    venue.give(&gate, &id, &secret);
    let begun = Instant::now();
    gate.go("/gate");
    venue.is_ready(&gate);
    let snapshot = begun.elapsed();

    let some: Vec<String> = codes(1..=people).into_iter().step_by(people / 50).collect();
    let (online, offline) = some.split_at(some.len() / 2);
    let online = median(&admits(&gate, online));
    network.set(Network::Down);
    // The first of them waits for the server.
    let offline = median(&admits(&gate, offline)[1..]);
    let heap = gate.call("Runtime.getHeapUsage", &json!({}));
    let parts = ["usedSize", "embedderHeapUsedSize", "backingStorageSize"];
    let heap: f64 = parts
        .iter()
        .filter_map(|part| heap[part].as_f64())
        .sum::<f64>()
        / 1e6;
    let begun = Instant::now();
    gate.reload();
    is_offline(&gate);
    let restart = begun.elapsed();
    println!(
        "{people} attendees: snapshot {snapshot:.1?}, restart {restart:.1?}, memory {heap:.0} MB, \
         verdict {online:.0} ms online, {offline:.0} ms offline"
    );
    assert!(heap < 300.0, "memory: {heap} MB");
    if !is_measured {
        return;
    }
    assert!(snapshot < Duration::from_secs(20), "snapshot: {snapshot:?}");
    assert!(
        online < 100.0 && offline < 100.0,
        "{online} ms online, {offline} ms offline"
    );
}

fn median(verdicts: &[Verdict]) -> f64 {
    let mut times: Vec<f64> = verdicts.iter().map(|verdict| verdict.ms).collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

#[test]
fn a_gate_holds_five_thousand_attendees() {
    crowd(5_000, false);
}

#[test]
#[ignore = "a benchmark: it wants a machine for itself, and --release"]
fn a_gate_holds_a_hundred_thousand_attendees() {
    crowd(100_000, true);
}
