//! `kill -9` at any moment: what was acknowledged is told, at least once, always under its id, and
//! each person's in order.

use super::receiver::{Act, Receiver};
use crate::faults::process::{Served, Site, gatepost, until};
use serde_json::json;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const ROUNDS: usize = 8;
/// Scans that were acknowledged before the server is killed.
const SCANS: usize = 20;

/// Sends scans until the server is gone; ids that were acknowledged, in order, with the person.
fn scan(site: &Site, served: &Served, enough: &AtomicBool) -> Vec<(i64, i64)> {
    let http = crate::harness::plain();
    let mut acknowledged = Vec::new();
    for n in 0_usize.. {
        if enough.load(Ordering::SeqCst) {
            break;
        }
        let person = site.delegates[n % site.delegates.len()];
        let url = format!("http://{}/api/v5/interaction/new/seen", served.address);
        let sent = http
            .post(url)
            .bearer_auth(&site.token)
            .json(&json!({"delegate": person}))
            .send();
        let Ok(answer) = sent else { break };
        if answer.status() == 201
            && let Ok(body) = answer.json::<serde_json::Value>()
        {
            acknowledged.push((body["data"]["id"].as_i64().expect("an id"), person));
        }
    }
    acknowledged
}

#[test]
fn nothing_that_was_acknowledged_is_missed_over_kill_9() {
    let site = Site::prepare();
    let turns = Arc::new(AtomicUsize::new(0));
    // Now and then it fails, so that things are held when the end comes.
    let calls = Arc::clone(&turns);
    let receiver = Receiver::that(move |_| match calls.fetch_add(1, Ordering::SeqCst) % 17 {
        5 => Act::Answer(500, ""),
        11 => Act::Cut,
        _ => Act::Answer(200, ""),
    });
    let document = json!({
        "settings": {"outgoing": {"allowLocal": true}},
        "webhooks": [{"name": "CRM", "url": receiver.url(), "interactions": ["seen"], "secret": SECRET}],
    });
    let file = site.folder.path().join("config.json");
    std::fs::write(&file, document.to_string()).expect("a file");
    let applied = gatepost(
        &site.db,
        &["config", "apply", file.to_str().expect("a name")],
    );
    assert!(applied.status.success(), "{applied:?}");
    let mut acknowledged = Vec::new();
    for round in 0..ROUNDS {
        let mut served = Served::start(&site.db);
        let enough = AtomicBool::new(false);
        thread::scope(|scope| {
            let scans = scope.spawn(|| scan(&site, &served, &enough));
            // Something is under way by then; which moment it is does not matter.
            let before = turns.load(Ordering::SeqCst);
            until("calls are made", || {
                turns.load(Ordering::SeqCst) > before + SCANS + round
            });
            enough.store(true, Ordering::SeqCst);
            acknowledged.extend(scans.join().expect("scans"));
        });
        served.kill();
    }
    receiver.now(|_| Act::Answer(200, ""));
    let _served = Served::start(&site.db);
    let wanted: BTreeSet<i64> = acknowledged.iter().map(|(id, _)| *id).collect();
    assert!(wanted.len() > ROUNDS, "{}", wanted.len());
    let came = receiver.wait("all of them", |came| {
        let told: BTreeSet<i64> = came
            .iter()
            .filter_map(|came| came.data()["id"].as_i64())
            .collect();
        told.is_superset(&wanted)
    });
    let mut ids: BTreeMap<i64, BTreeSet<String>> = BTreeMap::new();
    for delivery in &came {
        assert_eq!(delivery.signed_by(&[SECRET]), [true]);
        let id = delivery.data()["id"].as_i64().expect("an id");
        ids.entry(id).or_default().insert(delivery.id().to_owned());
    }
    assert!(ids.values().all(|ids| ids.len() == 1), "one id for each");
    let mut first: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
    for delivery in came.iter().filter(|came| came.taken) {
        let told = first
            .entry(
                delivery.data()["firstDelegate"]["id"]
                    .as_i64()
                    .expect("a person"),
            )
            .or_default();
        let id = delivery.data()["id"].as_i64().expect("an id");
        if !told.contains(&id) {
            told.push(id);
        }
    }
    for told in first.values() {
        assert!(told.is_sorted(), "{told:?}");
    }
    let distinct: BTreeSet<_> = ids.values().flatten().collect();
    assert_eq!(distinct.len(), ids.len());
}
