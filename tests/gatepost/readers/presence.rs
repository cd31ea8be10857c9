//! From reads to interactions in a running server.

use super::{Venue, eventually};
use crate::{
    console::rehearsal,
    harness::{has, whole},
};
use gatepost::{
    domain::{
        delegates::merge::merge,
        readers::{
            presence::{Derived, DerivedKind},
            recording,
        },
    },
    types::DelegateId,
};
use llrp::emulator::{EmulatedRead, Emulator, EmulatorOptions};
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::BTreeSet;

#[test]
fn who_is_read_in_a_room_enters_it_and_leaves_it_when_nobody_reads_them() {
    let venue = Venue::new();
    let accepted = venue.read("3034AB01", 1);
    assert_eq!(accepted, json!({"accepted": 2, "dropped": 0, "unknown": 0}));
    for kind in ["seen", "entered"] {
        let [one] = &venue.interactions(kind)[..] else {
            panic!("one {kind}");
        };
        assert_eq!(one["firstDelegate"]["id"], venue.ada);
        assert_eq!(one["firstDevice"]["id"], venue.hall);
        assert_eq!(one["secondDevice"]["id"], venue.reader);
        assert_eq!(
            one["data"]["Reader"],
            json!({"antenna": 1, "rssi": -50.0, "reads": 2})
        );
    }
    // The hall counts what readers notice.
    let inside = |place: i64| {
        venue.server.count(&format!(
            "occupancy WHERE device_id = {place} AND inside = 1"
        ))
    };
    let exited = venue.interactions("exited");
    assert_eq!(exited[0]["firstDevice"]["id"], venue.hall);
    assert_eq!(
        exited[0]["recordedAt"],
        venue.interactions("entered")[0]["recordedAt"]
    );
    assert_eq!(inside(venue.hall), 0);
    assert_eq!(
        venue
            .server
            .count("interactions WHERE interaction_type = 'entered' AND effect = 0"),
        1
    );
    assert_eq!(
        venue
            .server
            .count("interactions WHERE interaction_type = 'exited' AND effect = 1"),
        1
    );
    // Somewhere else it is recorded, and nobody counts.
    venue.read("3034AB01", 2);
    eventually("entered the room", || {
        let sql = format!(
            "interactions WHERE interaction_type = 'entered' AND first_device_id = {} AND effect IS NULL",
            venue.room
        );
        (venue.server.count(&sql) == 1).then_some(())
    });
    assert_eq!(inside(venue.room), 0);
}

#[test]
fn a_restart_forgets_nobody() {
    let mut venue = Venue::new();
    venue.read("3034AB01", 2);
    venue.interactions("entered");
    venue.server.restart();
    // The room lets go of nobody for a minute, and enters nobody twice.
    eventually("the reader is known again", || {
        let body = json!({"reader": "code:portal-1", "reads": []});
        (venue.all.post("/reader/reads", &body).status == 202).then_some(())
    });
    venue.read("3034AB01", 2);
    venue.read("FFFF", 2);
    eventually("the unknown tag is kept", || {
        (venue.server.count("unknown_tags") == 1).then_some(())
    });
    assert_eq!(venue.interactions("entered").len(), 1);
}

#[test]
fn who_moved_before_a_restart_is_where_they_moved_to() {
    let mut venue = Venue::new();
    let now = jiff::Timestamp::now().to_string();
    for (kind, place) in [
        ("entered", venue.room),
        ("exited", venue.room),
        ("entered", venue.hall),
    ] {
        let body = json!({"delegate": venue.ada, "device": place, "secondDevice": venue.reader, "recordedAt": now});
        venue.all.interact(kind, &body).is(201);
    }
    // What others than readers tell is theirs.
    let bob = venue.all.delegate(&json!({"firstName": "Bob"}));
    let by_hand = json!({"delegate": bob, "device": venue.hall, "recordedAt": now});
    venue.all.interact("entered", &by_hand).is(201);
    venue.server.restart();
    // Nobody hears Ada, so she leaves the hall after two seconds.
    let left = format!(
        "interactions WHERE interaction_type = 'exited' AND first_device_id = {}",
        venue.hall
    );
    eventually("she has left the hall", || {
        (venue.server.count(&left) == 1).then_some(())
    });
    let of_bob = format!("interactions WHERE first_delegate_id = {bob}");
    assert_eq!(venue.server.count(&of_bob), 1);
}

#[test]
fn one_tag_belongs_to_one_attendee_in_any_case() {
    let venue = Venue::new();
    let bob = json!({"firstName": "Bob", "uhfId": "3034AB01"});
    let answer = venue.all.post("/delegate/new", &bob);
    assert_eq!(answer.status, 409, "{answer:?}");
    has(answer.message(), ["uhfId"]);
    let path = format!("/delegate/id:{}", venue.ada);
    venue.all.patched(&path, &json!({"uhfId": "3034AB01"}));
}

#[test]
fn a_weak_or_single_read_of_an_unknown_tag_is_no_sighting() {
    let venue = Venue::new();
    let read = |epc: &str, rssi: i64, count: usize| {
        let reads = vec![json!({"epc": epc, "antenna": 2, "rssi": rssi}); count];
        let body = json!({"reader": "code:portal-1", "reads": reads});
        venue.all.post("/reader/reads", &body).is(202);
    };
    read("AA01", -95, 2);
    read("AA02", -50, 1);
    read("AA03", -50, 2);
    eventually("they are kept", || {
        (venue.server.count("unknown_tags") == 2).then_some(())
    });
    for tag in ["AA01", "AA02", "AA03"] {
        venue.all.delegate(&json!({"uhfId": tag}));
    }
    let seen = venue.interactions("seen");
    eventually("none is left", || {
        (venue.server.count("unknown_tags") == 0).then_some(())
    });
    assert_eq!((seen.len(), venue.interactions("seen").len()), (1, 1));
}

#[test]
fn who_was_somewhere_in_a_rehearsal_is_forgotten_with_it() {
    let venue = Venue::new();
    let crew = venue.server.administrator();
    rehearsal::take_snapshot(&crew);
    venue.read("3034AB01", 2);
    venue.interactions("entered");
    rehearsal::go_back(&crew);
    assert_eq!(venue.server.count("interactions"), 0);
    // The room would let go of Ada after a minute; until then she would not enter it.
    eventually("she enters the room anew", || {
        venue.read("3034AB01", 2);
        (venue
            .server
            .count("interactions WHERE interaction_type = 'entered'")
            == 1)
            .then_some(())
    });
    assert_eq!(
        venue
            .server
            .count("interactions WHERE interaction_type = 'exited'"),
        0
    );
}

#[test]
fn an_unknown_tag_is_kept_and_recorded_once_somebody_gets_it() {
    let venue = Venue::new();
    let accepted = venue.read("e280116060000209", 2);
    assert_eq!(accepted["unknown"], 2);
    eventually("it is kept", || {
        (venue
            .server
            .count("unknown_tags WHERE epc = 'E280116060000209' AND reads = 2")
            == 1)
            .then_some(())
    });
    let bob = venue
        .all
        .delegate(&json!({"firstName": "Bob", "uhfId": "E280116060000209"}));
    let seen = venue.interactions("seen");
    assert_eq!(seen[0]["firstDelegate"]["id"], bob);
    assert_eq!(seen[0]["firstDevice"]["id"], venue.room);
    assert_eq!(venue.server.count("unknown_tags"), 0);
}

fn emulated(runtime: &tokio::runtime::Runtime, address: std::net::SocketAddr) -> Emulator {
    let reader = Emulator::start(address, EmulatorOptions::default());
    runtime.block_on(reader).expect("a reader")
}

#[test]
fn the_server_connects_to_a_reader_that_speaks_llrp() {
    let venue = Venue::new();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let emulator = emulated(&runtime, "127.0.0.1:0".parse().expect("an address"));
    let setup = json!({"data": {"Reader": {"protocol": "llrp", "address": emulator.address().to_string()}}});
    venue.all.patched("/device/code:portal-1", &setup);
    // Until the server inventories, reads are lost.
    eventually("Ada is noticed", || {
        let read = EmulatedRead {
            antenna: 1,
            epc: "3034AB01".parse().expect("an EPC"),
            rssi_dbm: -50.0,
            at_ms: jiff::Timestamp::now().as_millisecond(),
        };
        runtime.block_on(emulator.send(vec![read]));
        (venue
            .server
            .count("interactions WHERE interaction_type = 'entered'")
            == 1)
            .then_some(())
    });
    let is_down = |readers: u8| {
        let metrics = whole(venue.server.request(Method::GET, "/metrics"));
        let line = format!("gatepost_uhf_readers_down {readers}");
        metrics.text.contains(&line).then_some(())
    };
    assert!(is_down(0).is_some());
    // It breaks down. Bob, whom another reader hears, leaves the hall after two seconds; Ada stays.
    let address = emulator.address();
    drop(emulator);
    eventually("the reader is down", || is_down(1));
    venue
        .all
        .delegate(&json!({"firstName": "Bob", "uhfId": "3034AB02"}));
    venue.all.device(&json!({
        "code": "portal-2", "deviceType": "rfidreader", "parent": venue.hall, "data": {"Reader": {"protocol": "push"}},
    }));
    let exited = || {
        venue
            .server
            .count("interactions WHERE interaction_type = 'exited'")
    };
    eventually("the other reader is known", || {
        let now = jiff::Timestamp::now();
        let ago = |ms: i64| (now - jiff::SignedDuration::from_millis(ms)).to_string();
        let reads = [300, 0].map(|ms| json!({"epc": "3034AB02", "at": ago(ms)}));
        let body = json!({"reader": "code:portal-2", "reads": reads});
        (venue.all.post("/reader/reads", &body).status == 202).then_some(())
    });
    eventually("Bob has left", || (exited() == 1).then_some(()));
    let left = venue.interactions("exited");
    assert_ne!(left[0]["firstDelegate"]["id"], venue.ada);
    // Once the reader works again and does not hear her, she has left as well.
    let _emulator = emulated(&runtime, address);
    eventually("Ada has left", || (exited() == 2).then_some(()));
}

#[test]
fn reads_of_a_clock_that_is_off_are_of_now() {
    let venue = Venue::new();
    for at in [3_600.0, 4_000_000_000.0] {
        let reads = [at, at + 0.3].map(|at| json!({"epc": "3034AB01", "antenna": 2, "at": at}));
        let body = json!({"reader": "code:portal-1", "reads": reads});
        venue.all.post("/reader/reads", &body).is(202);
    }
    let entered = venue.interactions("entered");
    let at = entered[0]["recordedAt"].as_str().expect("a time");
    let at: jiff::Timestamp = at.parse().expect("a time");
    let ago = jiff::Timestamp::now().duration_since(at).as_secs();
    assert!((0..60).contains(&ago), "{ago} s ago");
}

#[test]
fn a_clock_that_is_off_by_seconds_hides_nobody() {
    let venue = Venue::new();
    for (tag, ahead) in [("3034AB10", -10), ("3034AB11", 10), ("3034AB12", -2)] {
        venue.all.delegate(&json!({"firstName": tag, "uhfId": tag}));
        // As of a reader that posts every few seconds.
        let now = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(ahead);
        let at = |ago: i64| (now - jiff::SignedDuration::from_millis(ago)).to_string();
        let reads = [600, 300, 0].map(|ago| json!({"epc": tag, "antenna": 2, "at": at(ago)}));
        let body = json!({"reader": "code:portal-1", "reads": reads});
        venue.all.post("/reader/reads", &body).is(202);
        let entered = format!(
            "interactions i JOIN delegates d ON d.id = i.first_delegate_id
             WHERE d.uhf_id = '{tag}' AND interaction_type = 'entered'"
        );
        eventually(&format!("{ahead} s ahead"), || {
            (venue.server.count(&entered) == 1).then_some(())
        });
    }
}

#[test]
fn who_is_merged_into_another_record_leaves_as_that_one() {
    let venue = Venue::new();
    let [cy, bob] = ["Cy", "Bob"].map(|name| venue.all.delegate(&json!({"firstName": name})));
    let enters = |who: i64, at: &str| {
        let body = json!({"delegate": who, "device": venue.hall, "recordedAt": at});
        venue.all.interact("entered", &body).is(201);
    };
    enters(venue.ada, "2026-11-21T09:00:00Z");
    let ada = venue.ada;
    venue.server.write(move |tx, ctx| {
        merge(tx, ctx, DelegateId(cy), DelegateId(ada), &BTreeSet::new())?;
        merge(tx, ctx, DelegateId(bob), DelegateId(cy), &BTreeSet::new()).map(|_| ())
    });
    let leaves = |at: &str| {
        let at: jiff::Timestamp = at.parse().expect("a time");
        let left = Derived {
            kind: DerivedKind::Exited,
            tag: venue.ada,
            place: venue.hall,
            reader: venue.reader,
            antenna: 1,
            rssi_dbm: -50.0,
            reads: 3,
            at_ms: at.as_millisecond(),
        };
        let store = |left: Derived| {
            venue
                .server
                .write(move |tx, ctx| recording::store(tx, ctx, &[left]))
        };
        let merged = store(left);
        for left in merged {
            assert_eq!(store(left), []);
        }
        venue
            .server
            .count("interactions WHERE interaction_type = 'exited'")
    };
    assert_eq!(leaves("2026-11-21T09:10:00Z"), 1);
    let left = venue.interactions("exited");
    assert_eq!(left[0]["firstDelegate"]["id"], bob);
    // Who came again as the other one did not leave before.
    enters(bob, "2026-11-21T09:30:00Z");
    assert_eq!(leaves("2026-11-21T09:20:00Z"), 1);
}

#[test]
fn what_an_antenna_without_a_place_hears_is_not_recorded_later_either() {
    let venue = Venue::new();
    venue.read("3034AB77", 9);
    eventually("it is kept", || {
        (venue.server.count("unknown_tags") == 1).then_some(())
    });
    let bob = venue.all.delegate(&json!({"uhfId": "3034AB77"}));
    eventually("it is known", || {
        (venue.server.count("unknown_tags") == 0).then_some(())
    });
    let of_bob = format!("interactions WHERE first_delegate_id = {bob}");
    assert_eq!(venue.server.count(&of_bob), 0);
}

#[test]
fn what_a_reader_lacks_is_told() {
    let venue = Venue::new();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let emulator = emulated(&runtime, "127.0.0.1:0".parse().expect("an address"));
    let address = emulator.address().to_string();
    let setup = |antennas: Value| json!({"data": {"Reader": {"protocol": "llrp", "address": address, "antennas": antennas}}});
    let some = json!([{"antenna": 1, "place": "code:hall"}, {"antenna": 99, "place": "code:room"}]);
    venue.all.patched("/device/code:portal-1", &setup(some));
    let crew = venue.server.administrator();
    eventually("the antenna is missed", || {
        let page = crew.page("/console/readers");
        page.contains("Antenna 99 does not exist").then_some(())
    });
    // A second reader of the same address cannot work.
    venue.all.device(&json!({
        "code": "twin", "deviceType": "rfidreader", "parent": venue.hall,
        "data": {"Reader": {"protocol": "llrp", "address": address}},
    }));
    eventually("the address is told", || {
        let page = crew.page("/console/readers");
        page.contains("Another reader has the same address")
            .then_some(())
    });
}

#[test]
fn a_reader_of_an_earlier_version_goes_on_and_is_listed() {
    let venue = Venue::new();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let emulator = emulated(&runtime, "127.0.0.1:0".parse().expect("an address"));
    let address = emulator.address().to_string();
    let setup = json!({"data": {"Reader": {"protocol": "llrp", "address": address}}});
    venue.all.patched("/device/code:portal-1", &setup);
    venue.server.settings(&json!({"outgoing": null}));
    let crew = venue.server.administrator();
    let is_down = || crew.page("/console/readers").contains("tag bad");
    eventually("it is not connected to", || is_down().then_some(()));
    // As the migration notes it.
    let noted = json!({(venue.reader.to_string()): address});
    venue.server.sql(&format!(
        "INSERT INTO settings (name, value) VALUES ('earlierReaders', '{noted}')"
    ));
    eventually("it goes on", || (!is_down()).then_some(()));
    let page = crew.page("/console/readers");
    assert!(page.contains("outgoing.allowLocal"), "{page}");
}

/// Antennas at two doors stand for the hall: a walk from one to the other is neither an exit nor an entry.
#[test]
fn who_walks_from_door_to_door_stays_inside() {
    let venue = Venue::new();
    let [north, south] = ["north", "south"].map(|code| {
        venue
            .all
            .device(&json!({"code": code, "deviceType": "door", "parent": venue.hall}))
    });
    let at_doors = json!({"data": {"Reader": {"antennas": [
        {"antenna": 1, "place": "code:north", "zone": "room"},
        {"antenna": 2, "place": "code:south", "zone": "room"},
    ]}}});
    let path = format!("/device/id:{}", venue.reader);
    venue.all.patch(&path, &at_doors).is(200);
    venue.read("3034AB01", 1);
    let entered = venue.interactions("entered");
    assert_eq!(entered[0]["firstDevice"]["id"], venue.hall);
    venue.read("3034AB01", 2);
    // Gone from both, once.
    let exited = venue.interactions("exited");
    assert_eq!(exited[0]["firstDevice"]["id"], venue.hall);
    let count = |kind: &str| {
        let kind = format!("interactions WHERE interaction_type = '{kind}'");
        venue.server.count(&kind)
    };
    assert_eq!((count("entered"), count("exited")), (1, 1));
    let at_a_door = format!("interactions WHERE first_device_id IN ({north}, {south})");
    assert_eq!(venue.server.count(&at_a_door), 0);
}
