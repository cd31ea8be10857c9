//! The way up: the venue's feed reaches the hub, whatever happens on the way.

use super::{
    hub::{Act, Hub, Kept},
    *,
};
use gatepost::core::{changes, standby};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

/// The records of the feed, as a reader of it has them.
fn records(api: &Caller) -> BTreeMap<(String, i64), Value> {
    let (mut records, mut since) = (BTreeMap::new(), String::new());
    loop {
        let reply = api.get(&format!("/changes?limit=1000{since}"));
        for item in reply.list() {
            let key = (
                item["type"].as_str().expect("a type").to_owned(),
                item["id"].as_i64().expect("an id"),
            );
            match item["action"].as_str() {
                Some("upsert") => drop(records.insert(key, item["data"].clone())),
                _ => drop(records.remove(&key)),
            }
        }
        let meta = &reply.body["meta"];
        since = format!("&since={}", meta["cursor"].as_str().expect("a cursor"));
        if meta["more"] == false {
            return records;
        }
    }
}

/// Waits until the hub has what the venue has.
#[track_caller]
fn equal(api: &Caller, hub: &Hub) {
    let all = records(api);
    hub.wait("the hub has all", |hub| {
        hub.venue.is_complete && hub.venue.records == all
    });
}

pub fn people(api: &Caller, from: usize, count: usize) {
    for at in from..from + count {
        api.delegate(&json!({"barcode": format!("P{at}"), "firstName": "Ada", "lastName": format!("No {at}")}));
    }
}

#[test]
fn what_happens_at_a_venue_reaches_the_hub() {
    let (server, api) = Server::with_api();
    people(&api, 0, 30);
    let hall = api.device(&json!({"code": "hall", "name": "Hall"}));
    let hub = Hub::start();
    join(&server, &hub);
    equal(&api, &hub);
    let first = hub
        .state()
        .pushes
        .iter()
        .find(|push| push["to"].is_string())
        .cloned();
    let first = first.expect("a push");
    assert_eq!((&first["venue"], &first["from"]), (&json!(7), &Value::Null));
    // Live: a scan is there within seconds.
    api.scan("check-in", "barcode:P3", hall).is(201);
    api.scan("check-in", "barcode:P4", hall).is(201);
    people(&api, 30, 3);
    equal(&api, &hub);
    let (state, kept) = (line(&server), hub.state().venue.clone());
    assert_eq!(kept.generations, 1);
    assert!(
        state.answered_at.is_some() && state.cut_since.is_none(),
        "{state:?}"
    );
    assert_eq!(state.behind, 0);
    // The secret is in no answer and no export.
    assert!(!server.done(&["config", "export"]).contains("let-me-in"));
}

#[test]
fn changes_of_busy_gates_are_pushed_together() {
    let (_server, api, hub) = venue();
    people(&api, 0, 1);
    let hall = api.device(&json!({"code": "hall", "name": "Hall"}));
    equal(&api, &hub);
    let pushes = hub.state().pushes.len();
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(2) {
        api.scan("check-in-override", "barcode:P0", hall).is(201);
    }
    equal(&api, &hub);
    // However slow the machine is: two a second, and the ones at both ends.
    let most = begun.elapsed().as_millis() / 500 + 3;
    let pushes = hub.state().pushes.len() - pushes;
    assert!(
        pushes as u128 <= most,
        "{pushes} pushes, {most} at the most"
    );
}

#[test]
fn a_line_that_loses_half_of_everything_loses_nothing() {
    let (_server, api, hub) = venue();
    let mut count = 0_u32;
    // Of two requests one is lost, in turns on the way there and on the way back.
    hub.acts(move || {
        count += 1;
        [Act::Answer, Act::Cut, Act::Answer, Act::Mute][count as usize % 4]
    });
    for batch in 0..3 {
        people(&api, batch * 10, 10);
        equal(&api, &hub);
    }
    hub.acts(|| Act::Answer);
    let generations = hub.state().venue.generations;
    assert_eq!(generations, 1);
}

#[test]
fn check_ins_go_on_while_the_hub_hangs_and_arrive_once_it_answers() {
    let (server, api, hub) = venue();
    people(&api, 0, 5);
    let hall = api.device(&json!({"code": "hall", "name": "Hall"}));
    equal(&api, &hub);
    hub.acts(|| Act::Hang);
    for at in 0..5 {
        api.scan("check-in", format!("barcode:P{at}").as_str(), hall)
            .is(201);
    }
    let before = hub.state().venue.records.len();
    assert_eq!(hub.state().venue.records.len(), before);
    // A hub that is gone is told, and tried again.
    hub.acts(|| Act::Cut);
    server.app.head_office.renew();
    until("the line is cut", || line(&server).cut_since.is_some());
    hub.acts(|| Act::Answer);
    equal(&api, &hub);
    until("the line is up", || line(&server).cut_since.is_none());
}

#[test]
fn a_hub_of_yesterday_is_sent_what_it_lacks() {
    let (_server, api, hub) = venue();
    people(&api, 0, 5);
    equal(&api, &hub);
    let yesterday = hub.state().venue.clone();
    people(&api, 5, 5);
    equal(&api, &hub);
    // It was restored while the venue was connected.
    hub.state().venue = yesterday;
    people(&api, 10, 1);
    equal(&api, &hub);
    assert_eq!(hub.state().venue.generations, 1);
    // One that lost everything gets a snapshot.
    hub.state().venue = Kept::default();
    people(&api, 11, 1);
    equal(&api, &hub);
    assert_eq!(hub.state().venue.generations, 1);
}

#[test]
fn a_restored_venue_begins_a_new_generation() {
    let (server, api, hub) = venue();
    people(&api, 0, 3);
    equal(&api, &hub);
    server.write(|tx, _| changes::reset(tx));
    people(&api, 3, 1);
    equal(&api, &hub);
    assert_eq!(hub.state().venue.generations, 2);
}

#[test]
fn a_machine_that_took_over_goes_on_with_its_epoch() {
    let (server, api, hub) = venue();
    people(&api, 0, 3);
    equal(&api, &hub);
    server.write(|tx, _| {
        standby::begin(tx, "/nowhere")?;
        standby::raise(tx)
    });
    people(&api, 3, 3);
    equal(&api, &hub);
    let hub = hub.state();
    let epochs: Vec<_> = hub
        .pushes
        .iter()
        .filter_map(|push| push["epoch"].as_i64())
        .collect();
    assert!(
        epochs.first() == Some(&0) && epochs.last() > Some(&1),
        "{epochs:?}"
    );
    assert_eq!(hub.venue.generations, 1);
}

#[test]
fn a_hub_that_was_away_at_the_start_is_found_again_and_so_is_a_venue_that_was() {
    let (mut server, api, hub) = venue();
    people(&api, 0, 3);
    equal(&api, &hub);
    hub.acts(|| Act::Status(503));
    server.restart();
    people(&api, 3, 3);
    until("the line is cut", || line(&server).cut_since.is_some());
    let why = line(&server).trouble[0].clone().expect("a reason");
    assert!(why.contains("503"), "{why}");
    hub.acts(|| Act::Answer);
    equal(&api, &hub);
    assert_eq!(hub.state().venue.generations, 1);
}

#[test]
fn the_next_hub_is_tried_where_one_is_gone() {
    let (server, api) = Server::with_api();
    let (first, second) = (Hub::start(), Hub::start());
    let hubs = vec![first.url(), second.url()];
    (first.state().hubs, second.state().hubs) = (hubs.clone(), hubs);
    join(&server, &first);
    people(&api, 0, 3);
    equal(&api, &first);
    // Both stand in front of one store.
    second.state().venue = first.state().venue.clone();
    first.acts(|| Act::Cut);
    people(&api, 3, 3);
    equal(&api, &second);
    assert_eq!(second.state().venue.generations, 1);
}

#[test]
fn a_venue_that_was_revoked_says_so_and_pushes_nothing() {
    let (server, api, hub) = venue();
    people(&api, 0, 1);
    equal(&api, &hub);
    hub.acts(|| Act::Status(401));
    people(&api, 1, 1);
    until("it is told", || {
        line(&server).trouble[0]
            .as_ref()
            .is_some_and(|why| why.contains("revoked"))
    });
    // Another code mends it.
    hub.acts(|| Act::Answer);
    join(&server, &hub);
    equal(&api, &hub);
}

#[test]
fn a_wrong_code_and_a_plain_address_far_away_are_refused() {
    let server = Server::start();
    let hub = Hub::start();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let join = |url: &str, code: &str| {
        let joined = head_office::join(&server.app.store, server.context(), url, code, None);
        runtime.block_on(joined).err().expect("refused").to_string()
    };
    assert!(join(&hub.url(), "WRONG").contains("this code is unknown"));
    assert!(join("http://hub.example.org", "X").contains("must begin with https://"));
    assert!(join("ftp://hub.example.org", "X").contains("no address"));
    hub.acts(|| Act::Status(404));
    assert!(join(&hub.url(), "X").contains("no head office answers"));
}
