//! Doors (contract §6): entrances of a place, at which everything counts as at the place.

use super::{gate::Venue, refusals};
use crate::{
    console::rehearsal,
    faults::process::until,
    harness::{Caller, Reply, Server},
};
use gatepost::{
    domain::devices::deleted,
    identity::ConsoleRole,
    types::{DeviceId, error::Error},
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

#[track_caller]
fn passes(reply: &Reply) -> i64 {
    assert_eq!(reply.status, 201, "{reply:?}");
    reply.id()
}

fn place(api: &Caller, name: &str, parent: Option<i64>, kind: &str, access: &Value) -> i64 {
    api.device(&json!({
        "name": name, "parent": parent, "deviceType": kind, "data": {"Access": access},
    }))
}

fn door(api: &Caller, name: &str, parent: i64) -> i64 {
    place(api, name, Some(parent), "door", &json!({}))
}

/// A hall of an event with two doors, and a session in it.
struct Hall {
    server: Server,
    api: Caller,
    event: i64,
    hall: i64,
    north: i64,
    south: i64,
    session: i64,
}

impl Hall {
    fn new(access: &Value) -> Self {
        let (server, api) = Server::with_api();
        let event = api.event(&json!({"eventName": "Expo"}));
        let hall = place(&api, "Hall", Some(event), "room", access);
        Self {
            north: door(&api, "North door", hall),
            south: door(&api, "South door", hall),
            session: place(&api, "Talk", Some(hall), "session", &json!({})),
            server,
            api,
            event,
            hall,
        }
    }

    fn scan(&self, kind: &str, who: i64, place: i64) -> Reply {
        self.api.scan(kind, who, place)
    }

    fn restore(&self, device: i64) -> Result<(), Error> {
        self.server
            .write(move |tx, ctx| Ok(tx.nested(|tx| deleted::restore(tx, ctx, DeviceId(device)))))
    }

    fn inside<const N: usize>(&self, places: [i64; N]) -> [i64; N] {
        places.map(|place| {
            self.server.value(&format!(
                "SELECT coalesce((SELECT inside FROM occupancy WHERE device_id = {place}), 0)"
            ))
        })
    }
}

#[test]
fn a_ticket_that_entered_by_one_door_is_used_at_every_other_and_at_the_hall() {
    let hall = Hall::new(&json!({"entry": "single"}));
    let (a, b) = (hall.api.delegate(&json!({})), hall.api.delegate(&json!({})));
    let reply = hall.scan("check-in", a, hall.north);
    passes(&reply);
    assert_eq!(reply.data()["firstDevice"]["id"], hall.north);
    for place in [hall.north, hall.south, hall.hall] {
        hall.scan("check-in", a, place)
            .refused(412, 740, "already used at Hall, North door at ");
    }
    // A session in the hall is no entrance of it.
    passes(&hall.scan("check-in", b, hall.session));
    passes(&hall.scan("check-in", b, hall.hall));
    hall.scan("check-in", b, hall.south)
        .refused(412, 740, "already used at Hall at ");
    passes(&hall.scan("check-in", a, hall.session));
    let places = [hall.event, hall.hall, hall.north, hall.session];
    assert_eq!(hall.inside(places), [2, 2, 0, 2]);

    // Out by another door: of the hall and of everything in it.
    passes(&hall.scan("check-out", a, hall.south));
    assert_eq!(hall.inside(places), [1, 1, 0, 1]);
    hall.scan("check-out", a, hall.hall)
        .refused(412, 745, "not checked in at Hall");
    let again = hall.scan("check-in", a, hall.south);
    passes(&again);
    assert_eq!(again.body["meta"]["repeat"]["count"], 1);
}

#[test]
fn check_ins_by_all_doors_are_counted_together() {
    let hall = Hall::new(&json!({"maxCheckIns": 2}));
    let a = hall.api.delegate(&json!({}));
    passes(&hall.scan("check-in", a, hall.north));
    passes(&hall.scan("check-in", a, hall.hall));
    hall.scan("check-in", a, hall.south).refused(
        412,
        740,
        "already checked in 2 times at Hall, the most allowed; last at ",
    );
    // An override passes at a door, too, and tells what was before.
    let forced = hall.scan("check-in-override", a, hall.south);
    passes(&forced);
    hall.scan("check-in", a, hall.north)
        .refused(412, 740, "last at South door at ");
    // Undone at a door, it had never been.
    let once = Hall::new(&json!({"entry": "single"}));
    let b = once.api.delegate(&json!({}));
    let id = passes(&once.scan("check-in", b, once.north));
    once.scan("check-in", b, once.south).refused(412, 740, "");
    once.api.delete(&format!("/interaction/id:{id}")).is(204);
    assert_eq!(once.inside([once.hall, once.event]), [0, 0]);
    passes(&once.scan("check-in", b, once.south));
}

#[test]
fn a_batch_and_scans_of_doors_and_hall_alike_let_a_ticket_in_once() {
    let hall = Hall::new(&json!({"entry": "single"}));
    let [a, b] = [(); 2].map(|()| hall.api.delegate(&json!({})));
    let item = |who: i64, place: i64| json!({"interactionType": "check-in", "delegate": who, "device": place});
    let reply = hall.api.post(
        "/interaction/batch",
        &json!({"interactions": {
            "1": item(a, hall.north), "2": item(a, hall.south), "3": item(b, hall.hall), "4": item(b, hall.south),
        }}),
    );
    let statuses: Vec<_> = reply.list().iter().map(|one| &one["status"]).collect();
    assert_eq!(statuses, [201, 412, 201, 412], "{reply:?}");
    // At once.
    let c = hall.api.delegate(&json!({}));
    let passed = std::thread::scope(|scope| {
        let at = [hall.north, hall.south].map(|place| {
            let hall = &hall;
            scope.spawn(move || hall.scan("check-in", c, place).status)
        });
        at.map(|scan| scan.join().expect("a scan"))
    });
    assert!(passed == [201, 412] || passed == [412, 201], "{passed:?}");
    // The test endpoint says the same.
    hall.api
        .post(
            "/interaction/test/check-in",
            &json!({"delegate": c, "device": hall.south}),
        )
        .refused(412, 740, "already used at Hall");
}

#[test]
fn capacity_of_hall_and_event_counts_who_came_by_doors() {
    let hall = Hall::new(&json!({"capacity": 2}));
    let [a, b, c] = [(); 3].map(|()| hall.api.delegate(&json!({})));
    passes(&hall.scan("check-in", a, hall.north));
    passes(&hall.scan("check-in", b, hall.south));
    hall.scan("check-in", c, hall.north)
        .refused(412, 744, "Hall is full: 2 of 2 inside");
    // Whoever is inside already takes no more room.
    passes(&hall.scan("check-in", b, hall.north));
    passes(&hall.scan("check-out", b, hall.south));
    let capacity = json!({"data": {"Access": {"capacity": 1}}});
    hall.api
        .patch(&format!("/device/id:{}", hall.event), &capacity)
        .is(200);
    hall.scan("check-in", c, hall.north)
        .refused(412, 744, "Expo is full: 1 of 1 inside");
}

#[test]
fn a_door_narrows_the_rules_of_its_place_and_never_widens_them() {
    let hall = Hall::new(&json!({}));
    let a = hall.api.delegate(&json!({}));
    let set = |door: i64, change: &Value| {
        hall.api
            .patch(&format!("/device/id:{door}"), change)
            .is(200);
    };
    set(
        hall.north,
        &json!({"data": {"Access": {"ruleSet": "simple"}}}),
    );
    hall.scan("check-in", a, hall.north)
        .refused(412, 741, "not registered for Hall, North door");
    passes(&hall.scan("check-in", a, hall.south));
    // Joins count at the place, also those at a door.
    passes(&hall.scan("join", a, hall.south));
    passes(&hall.scan("check-in", a, hall.north));
    passes(&hall.scan("uninvite", a, hall.hall));
    hall.scan("check-in", a, hall.north).refused(412, 741, "");

    set(hall.south, &json!({"available": false}));
    hall.scan("check-in", a, hall.south)
        .refused(412, 743, "Hall, South door is not available");
    passes(&hall.scan("check-out", a, hall.south));
    set(hall.south, &json!({"available": true}));
    // Its own time, by the minutes of the hall.
    let opens = json!({"data": {"Access": {"opensBefore": 0}}});
    set(hall.hall, &opens);
    set(hall.south, &json!({"startAt": "2100-01-01 00:00:00"}));
    hall.scan("check-in", a, hall.south)
        .refused(412, 742, "Hall, South door opens at ");
    set(hall.south, &json!({"startAt": null}));
    passes(&hall.scan("check-in", a, hall.south));

    // What the place closes, no door opens.
    let simple = json!({"data": {"Access": {"ruleSet": "simple"}}});
    set(hall.hall, &simple);
    let open = json!({"data": {"Access": {"ruleSet": "open"}}});
    set(hall.south, &open);
    hall.scan("check-in", a, hall.south)
        .refused(412, 741, "not registered for Hall");
    set(hall.hall, &json!({"available": false}));
    hall.scan("check-in", a, hall.south)
        .refused(412, 743, "Hall is not available");
    let last = refusals(&hall.server).pop().expect("a refusal");
    assert_eq!(last["deviceId"], hall.south);
}

#[test]
fn rules_that_count_at_the_place_are_no_rules_of_a_door() {
    let hall = Hall::new(&json!({"entry": "single"}));
    let path = format!("/device/id:{}", hall.north);
    for (name, value) in [
        ("capacity", json!(5)),
        ("entry", json!("single")),
        ("maxCheckIns", json!(1)),
    ] {
        hall.api
            .patch(&path, &json!({"data": {"Access": {name: value}}}))
            .invalid(&format!(
                "data.Access.{name}: a door has no {name} of its own"
            ));
    }
    let stand = place(
        &hall.api,
        "Stand",
        Some(hall.event),
        "stand",
        &json!({"capacity": 5, "entry": "single", "ruleSet": "simple"}),
    );
    let path = format!("/device/id:{stand}");
    // Below an event it may have them; below a place it would be a door.
    hall.api
        .patch(&path, &json!({"deviceType": "door"}))
        .is(200);
    hall.api
        .patch(&path, &json!({"parent": hall.hall}))
        .invalid(
            "parent: a door has no capacity and entry of its own; set them at its place, Hall",
        );
    hall.api
        .patch(&path, &json!({"deviceType": "stand", "parent": hall.hall}))
        .is(200);
    hall.api
        .patch(&path, &json!({"deviceType": "door"}))
        .invalid("deviceType: a door has no capacity and entry of its own");
    hall.api
        .post(
            "/device/new",
            &json!({"deviceType": "door", "parent": hall.hall, "data": {"Access": {"maxCheckIns": 1}}}),
        )
        .invalid("data.Access.maxCheckIns: a door has no maxCheckIns");
    let cleared =
        json!({"deviceType": "door", "data": {"Access": {"capacity": null, "entry": null}}});
    hall.api.patch(&path, &cleared).is(200);

    // A parent that becomes a place, or is restored, would make it a door.
    let area = place(&hall.api, "Area", None, "event", &json!({}));
    let gate = place(
        &hall.api,
        "Gate",
        Some(area),
        "door",
        &json!({"capacity": 5}),
    );
    hall.api
        .patch(
            &format!("/device/id:{area}"),
            &json!({"deviceType": "room"}),
        )
        .invalid("Gate would be a door of Area, and a door has no capacity of its own");
    hall.api.delete(&format!("/device/id:{area}")).is(204);
    // Deleted as an event, it comes back as a place.
    hall.server.sql(&format!(
        "UPDATE devices SET device_type = 'room' WHERE id = {area}"
    ));
    let refusal = hall.restore(area).expect_err("a door with a capacity");
    assert!(
        refusal.to_string().contains("Gate would be a door of Area"),
        "{refusal:?}"
    );
    let path = format!("/device/id:{gate}");
    hall.api
        .patch(&path, &json!({"data": {"Access": null}}))
        .is(200);
    hall.restore(area).expect("restored");
}

#[test]
fn a_door_of_no_place_is_a_place() {
    let hall = Hall::new(&json!({"entry": "single"}));
    let single = json!({"entry": "single"});
    let of_event = place(&hall.api, "Gate", Some(hall.event), "door", &single);
    let below_door = place(&hall.api, "Hatch", Some(hall.north), "door", &single);
    let alone = place(&hall.api, "Lone", None, "door", &single);
    let a = hall.api.delegate(&json!({}));
    for (place, name) in [(of_event, "Gate"), (below_door, "Hatch"), (alone, "Lone")] {
        passes(&hall.scan("check-in", a, place));
        hall.scan("check-in", a, place)
            .refused(412, 740, &format!("already used at {name} at "));
    }
    let places = [hall.event, hall.hall, of_event, below_door, alone];
    assert_eq!(hall.inside(places), [1, 1, 1, 1, 1]);
    // Of another type it would be no door; with a capital letter it is another type.
    let other = place(&hall.api, "West", Some(hall.hall), "Door", &single);
    passes(&hall.scan("check-in", a, other));
    assert_eq!(hall.inside([other]), [1]);
}

/// Who is inside where is counted anew, beside gates that go on.
#[test]
fn a_change_of_type_or_parent_counts_people_where_they_are_then() {
    let hall = Hall::new(&json!({"entry": "single"}));
    let [a, b] = [(); 2].map(|()| hall.api.delegate(&json!({})));
    passes(&hall.scan("check-in", a, hall.north));
    passes(&hall.scan("check-in", b, hall.session));
    let places = [hall.event, hall.hall, hall.north, hall.session];
    let becomes = |expected: [i64; 4]| {
        until(&format!("{expected:?}"), || hall.inside(places) == expected);
    };
    let change = |device: i64, change: &Value| {
        hall.api
            .patch(&format!("/device/id:{device}"), change)
            .is(200);
    };
    becomes([2, 2, 0, 1]);
    change(hall.north, &json!({"deviceType": "room"}));
    becomes([2, 2, 1, 1]);
    passes(&hall.scan("check-in", a, hall.south));
    passes(&hall.scan("check-out", a, hall.hall));
    becomes([1, 1, 0, 1]);
    passes(&hall.scan("check-in", a, hall.north));
    change(hall.north, &json!({"deviceType": "door"}));
    becomes([2, 2, 0, 1]);
    hall.scan("check-in", a, hall.south)
        .refused(412, 740, "North door");
    change(hall.north, &json!({"parent": hall.event}));
    becomes([2, 1, 1, 1]);
    passes(&hall.scan("check-in", a, hall.south));
    change(hall.north, &json!({"parent": hall.hall}));
    becomes([2, 2, 0, 1]);
    // Without its place a door is a place; with it, it is one again.
    hall.api
        .delete(&format!("/device/id:{}", hall.hall))
        .is(204);
    becomes([2, 2, 1, 1]);
    hall.restore(hall.hall).expect("restored");
    becomes([2, 2, 0, 1]);
    let checked: Value =
        serde_json::from_str(&hall.server.done(&["check", "--json"])).expect("JSON");
    assert_eq!(checked["findings"], json!([]));
    // Who came by a door stays inside when it is deleted.
    let other = Hall::new(&json!({"entry": "single"}));
    let c = other.api.delegate(&json!({}));
    passes(&other.scan("check-in", c, other.north));
    other
        .api
        .delete(&format!("/device/id:{}", other.north))
        .is(204);
    other
        .scan("check-in", c, other.south)
        .refused(412, 740, "already used at Hall, North door");
    assert_eq!(other.inside([other.hall]), [1]);
}

/// A gate at a door has the rules and the presence of the hall, and knows what its door adds.
#[test]
fn a_gate_at_a_door_is_told_of_its_place() {
    let venue = Venue::new();
    let north = venue.all.device(&json!({
        "name": "North door", "code": "north", "deviceType": "door", "parent": venue.room,
        "data": {"Access": {"ruleSet": "simple"}},
    }));
    let south = door(&venue.all, "South door", venue.room);
    venue
        .server
        .publish(&json!({"default": {"place": "code:north", "places": ["code:room"]}}));
    let told = venue.gate.get("/gate").data().clone();
    assert_eq!(told["place"]["name"], "Room, North door");
    let venue = Venue {
        room: north,
        ..venue
    };
    let room = told["places"][0]["id"].as_i64().expect("the room");
    let mut list = BTreeMap::new();
    let a = venue
        .all
        .delegate(&json!({"barcode": "T-1", "lastName": "Lovelace"}));
    passes(&venue.all.scan("join", a, south));
    passes(&venue.all.scan("check-in", a, south));
    let (cursor, place) = venue.follow(&mut list, None);
    let person = &list[&format!("\"delegate\" {a}")];
    for (name, value) in [
        ("joined", json!(true)),
        ("inside", json!(true)),
        ("entries", json!(1)),
        ("lastDoor", json!("South door")),
    ] {
        assert_eq!(person[name], value, "{person}");
    }
    for (name, value) in [
        ("id", json!(north)),
        ("name", json!("Room, North door")),
        ("doorOf", json!({"id": room, "name": "Room"})),
        ("rules", json!({"ruleSet": "simple", "entry": "single"})),
        ("inside", json!(1)),
        ("hasPlacesBelow", json!(false)),
        (
            "doors",
            json!([{"id": north, "name": "North door"}, {"id": south, "name": "South door"}]),
        ),
    ] {
        assert_eq!(place[name], value, "{place}");
    }
    assert_eq!(
        place["door"],
        json!({
            "available": true, "rules": {"ruleSet": "simple"},
        })
    );
    // Once it is no door, the list is another.
    let path = format!("/device/id:{south}");
    venue
        .all
        .patch(&path, &json!({"deviceType": "room"}))
        .is(200);
    let (_, place) = venue.follow(&mut list, Some(cursor));
    assert_eq!(place["doors"], json!([{"id": north, "name": "North door"}]));
    let person = &list[&format!("\"delegate\" {a}")];
    assert!(
        person["lastIn"].is_null() && person["inside"] == true,
        "{person}"
    );
}

/// The end of a rehearsal takes back what was done at doors, and who is inside.
#[test]
fn a_rehearsal_at_doors_ends_with_nobody_inside() {
    let hall = Hall::new(&json!({"entry": "single"}));
    let crew = hall.server.crew(ConsoleRole::Administrator);
    let a = hall.api.delegate(&json!({}));
    rehearsal::take_snapshot(&crew);
    passes(&hall.scan("check-in", a, hall.north));
    let late = hall
        .api
        .device(&json!({"deviceType": "door", "parent": hall.hall}));
    passes(&hall.scan("check-in-override", a, late));
    assert_eq!(hall.inside([hall.hall, hall.event]), [1, 1]);
    rehearsal::go_back(&crew);
    assert_eq!(hall.inside([hall.hall, hall.event]), [0, 0]);
    passes(&hall.scan("check-in", a, hall.south));
    hall.scan("check-in", a, hall.north)
        .refused(412, 740, "Hall, South door");
}

/// Two gates that were offline at two doors let one ticket in twice; the server stores both and tells of it.
#[test]
fn a_scan_that_a_gate_admitted_at_another_door_is_a_conflict() {
    let hall = Hall::new(&json!({"entry": "single"}));
    let a = hall.api.delegate(&json!({}));
    let admitted = |place: i64| {
        let body = json!({"delegate": a, "device": place, "admitted": true});
        passes(&hall.api.interact("check-in", &body));
    };
    admitted(hall.north);
    admitted(hall.south);
    let conflicts = hall
        .server
        .text("SELECT group_concat(message) FROM conflicts");
    assert!(
        conflicts.starts_with("already used at Hall, North door at "),
        "{conflicts}"
    );
    assert_eq!(hall.inside([hall.hall]), [1]);
}
