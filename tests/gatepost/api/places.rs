//! Places within places, and the order of events (contract §6): who is inside a hall, which rules a
//! gate below an event has, and what a corrected clock must not change.

use super::gate;
use crate::{
    faults::process::until,
    harness::{Caller, Reply, Server},
};
use serde_json::{Value, json};

#[track_caller]
fn passes(reply: &Reply) {
    assert_eq!(reply.status, 201, "{reply:?}");
}

fn place(api: &Caller, name: &str, parent: Option<i64>, access: &Value) -> i64 {
    api.device(&json!({
        "name": name, "deviceType": "room", "parent": parent, "data": {"Access": access},
    }))
}

fn inside(server: &Server, device: i64) -> i64 {
    server.value(&format!(
        "SELECT coalesce((SELECT inside FROM occupancy WHERE device_id = {device}), 0)"
    ))
}

/// People inside places, then anywhere.
fn counts<const N: usize>(server: &Server, places: [i64; N]) -> ([i64; N], i64) {
    (places.map(|place| inside(server, place)), inside(server, 0))
}

#[test]
fn people_in_a_session_are_in_its_hall_until_they_leave_either() {
    let (server, api) = Server::with_api();
    let hall = place(&api, "Hall 2", None, &json!({"capacity": 2}));
    let [talk, panel] =
        ["Talk", "Panel"].map(|name| place(&api, name, Some(hall), &json!({"entry": "single"})));
    let [a, b, c] = [(); 3].map(|()| api.delegate(&json!({})));

    passes(&api.scan("check-in", a, talk));
    assert_eq!(counts(&server, [hall, talk, panel]), ([1, 1, 0], 1));
    // One person at two places of a hall is one person.
    passes(&api.scan("check-in", a, panel));
    passes(&api.scan("check-in", a, hall));
    assert_eq!(counts(&server, [hall, talk, panel]), ([1, 1, 1], 1));
    passes(&api.scan("check-in", b, panel));
    for place in [talk, panel, hall] {
        api.scan("check-in", c, place)
            .refused(412, 744, "Hall 2 is full: 2 of 2 inside");
    }
    // Whoever is in the hall already may go on to another session of it.
    passes(&api.scan("check-in", b, talk));
    assert_eq!(counts(&server, [hall, talk, panel]), ([2, 2, 2], 2));

    // Leaving the hall is leaving its sessions, so that a single entry is free again.
    passes(&api.scan("check-out", a, hall));
    assert_eq!(counts(&server, [hall, talk, panel]), ([1, 1, 1], 1));
    passes(&api.scan("check-in", c, talk));
    passes(&api.scan("check-out", b, panel));
    passes(&api.scan("check-out", b, talk));
    assert_eq!(counts(&server, [hall, talk, panel]), ([1, 1, 0], 1));
    passes(&api.scan("check-in", a, panel));
    // Under single entry, somebody who is in a session can be checked out of the hall.
    let single = json!({"data": {"Access": {"entry": "single"}}});
    api.patch(&format!("/device/id:{hall}"), &single);
    passes(&api.scan("check-out", a, hall));
    api.scan("check-out", a, hall).refused(412, 745, "");
}

#[test]
fn a_place_that_is_moved_takes_its_people_along() {
    let (server, api) = Server::with_api();
    let [one, two] = ["One", "Two"].map(|name| place(&api, name, None, &json!({})));
    let talk = place(&api, "Talk", Some(one), &json!({}));
    let a = api.delegate(&json!({}));
    passes(&api.scan("check-in", a, talk));
    let becomes = |expected: ([i64; 3], i64)| {
        until(&format!("{expected:?}"), || {
            counts(&server, [one, two, talk]) == expected
        });
    };
    becomes(([1, 0, 1], 1));
    api.patch(&format!("/device/id:{talk}"), &json!({"parent": two}));
    becomes(([0, 1, 1], 1));
    // In a deleted place is nobody.
    api.delete(&format!("/device/id:{talk}")).is(204);
    becomes(([0, 0, 0], 0));
}

#[test]
fn generations_are_counted_below_what_is_moved_too() {
    let (_server, api) = Server::with_api();
    let chain = |length: usize| {
        let mut parent = None;
        let made = |_| {
            let id = place(&api, "Box", parent, &json!({}));
            parent = Some(id);
            id
        };
        (0..length).map(made).collect::<Vec<_>>()
    };
    let (long, short) = (chain(60), chain(60));
    let path = format!("/device/id:{}", short[0]);
    let moved = |below: usize| api.patch(&path, &json!({"parent": long[below]}));
    moved(59).invalid("100 generations");
    moved(30).is(200);
}

#[test]
fn a_rule_set_comes_from_the_nearest_place_above_that_sets_one() {
    let (server, api) = Server::with_api();
    let event = place(&api, "Expo", None, &json!({"ruleSet": "simple"}));
    let hall = place(&api, "Hall", Some(event), &json!({"entry": "single"}));
    let door = place(&api, "Door", Some(hall), &json!({}));
    let foyer = place(&api, "Foyer", Some(event), &json!({"ruleSet": "open"}));
    let [a, b] = [(); 2].map(|()| api.delegate(&json!({})));
    api.scan("check-in", a, door).refused(412, 741, "Door");
    passes(&api.scan("check-in", a, foyer));
    // Joined anywhere above is enough; nothing but the rule set is inherited.
    passes(&api.scan("join", a, event));
    passes(&api.scan("check-in", a, door));
    passes(&api.scan("check-in", a, door));

    // A change above binds the next scan below; rules above that nobody can read close what is below.
    let open = json!({"data": {"Access": {"ruleSet": "open"}}});
    api.patch(&format!("/device/id:{event}"), &open);
    passes(&api.scan("check-in", b, door));
    server.sql(&format!(
        "UPDATE devices SET data = '{{\"Access\": {{\"ruleSet\": 7}}}}' WHERE id = {event}"
    ));
    api.scan("check-in", b, door)
        .refused(412, 743, "the rules of Expo cannot be read");
    passes(&api.scan("check-out", b, door));
}

/// What a check-in leaves behind while the server's clock is an hour fast.
fn an_hour_fast(server: &Server) {
    server.sql(
        "UPDATE interactions SET recorded_at = recorded_at + 3600000, created_at = created_at + 3600000,
             order_at = order_at + 3600000;
         UPDATE counters SET value = value + 3600000 WHERE name = 'order';",
    );
}

#[test]
fn a_clock_that_is_put_right_keeps_nobody_inside() {
    let (server, api) = Server::with_api();
    let room = gate(&api, &json!({"capacity": 1, "entry": "single"}));
    let [a, b] = [(); 2].map(|()| api.delegate(&json!({})));
    passes(&api.scan("check-in", a, room));
    an_hour_fast(&server);
    passes(&api.scan("check-out", a, room));
    assert_eq!(inside(&server, room), 0);
    passes(&api.scan("check-in", b, room));
    // In and out again, all within the hour that comes twice.
    passes(&api.scan("check-out", b, room));
    let entered = api.scan("check-in", a, room);
    passes(&entered);
    // The steward hears the time of the scan, not its place in that hour.
    let at = entered.body["data"]["recordedAt"].as_str().expect("a time");
    let told = format!("already used at Gate at {}", &at[11..16]);
    api.scan("check-in", a, room).refused(412, 740, &told);
    assert_eq!(inside(&server, room), 1);
}

#[test]
fn only_what_tells_of_the_past_takes_its_place_in_it() {
    let (server, api) = Server::with_api();
    let room = gate(&api, &json!({}));
    let a = api.delegate(&json!({}));
    let now = jiff::Timestamp::now().as_second();
    let at = |kind: &str, ago: i64, admitted: bool| {
        let body = json!({
            "delegate": a, "device": room, "recordedAt": now - ago, "admitted": admitted,
        });
        passes(&api.interact(kind, &body));
        inside(&server, room)
    };
    assert_eq!(at("check-in", 0, false), 1);
    // A gate's clock a minute slow changes no order; one that admitted offline tells of the past.
    assert_eq!(at("check-out", 60, false), 0);
    assert_eq!(at("check-in", 0, false), 1);
    assert_eq!(at("check-out", 60, true), 1);
    assert_eq!(at("check-out", 600, false), 1);
    // A gate's clock that is fast does not reach into the future.
    assert_eq!(at("check-out", -3_600, true), 0);
    assert_eq!(at("check-in", 0, false), 1);
}

#[test]
fn a_slow_clock_lets_one_ticket_in_once() {
    let (server, api) = Server::with_api();
    let room = gate(&api, &json!({"entry": "single", "capacity": 1}));
    let [a, b] = [(); 2].map(|()| api.delegate(&json!({})));
    passes(&api.scan("check-in", a, room));
    passes(&api.scan("check-out", a, room));
    let slow = |kind: &str, delegate: i64| {
        let at = jiff::Timestamp::now().as_second() - 180;
        let body = json!({"delegate": delegate, "device": room, "recordedAt": at});
        api.interact(kind, &body)
    };
    passes(&slow("check-in", a));
    slow("check-in", a).refused(412, 740, "");
    api.scan("check-in", a, room).refused(412, 740, "");
    slow("check-in", b).refused(412, 744, "");
    // What a slow clock tells of leaving is of the past: it undoes no newer check-in.
    passes(&slow("check-out", a));
    slow("check-in", b).refused(412, 744, "");
    passes(&api.scan("check-out", a, room));
    passes(&slow("check-in", b));
    assert_eq!(inside(&server, room), 1);
}

#[test]
fn a_check_in_that_passes_again_says_so() {
    let (_server, api) = Server::with_api();
    let door = gate(&api, &json!({}));
    let other = gate(&api, &json!({}));
    let a = api.delegate(&json!({}));
    let repeat = |reply: &Reply| reply.body["meta"]["repeat"].clone();
    let at = |device: i64, second: i64| {
        let body = json!({"delegate": a, "device": device, "recordedAt": second});
        api.interact("check-in", &body)
    };
    assert_eq!(repeat(&at(door, 1_591_002_120)), Value::Null);
    assert_eq!(repeat(&at(other, 1_591_002_150)), Value::Null);
    let first_at = "2020-06-01T09:02:00+00:00";
    let told = |count: i64| json!({"count": count, "firstAt": first_at});
    assert_eq!(repeat(&at(door, 1_591_002_180)), told(1));
    let body = json!({"delegate": a, "device": door});
    assert_eq!(
        repeat(&api.post("/interaction/test/check-in", &body)),
        told(2)
    );
    assert_eq!(repeat(&api.interact("check-out", &body)), Value::Null);
    let items = json!({"interactions": {"x": {
        "interactionType": "check-in", "delegate": a, "device": door,
    }}});
    let batch = api.post("/interaction/batch", &items);
    assert_eq!(batch.body["data"][0]["meta"]["repeat"], told(2));
}
