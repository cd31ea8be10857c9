//! Everybody out, and one room at a time (contract §6), through the API of a server with the clock of the
//! day. Whole days are in the tests beside the code.

use crate::{
    faults::process::until,
    harness::{Caller, Server},
};
use serde_json::{Value, json};

/// A hall that everybody but the crew has to leave at a moment of the last minutes.
struct Venue {
    server: Server,
    all: Caller,
    hall: i64,
    room: i64,
    /// Unix seconds, a whole minute.
    moment: i64,
}

impl Venue {
    fn new() -> Self {
        let (server, all) = Server::with_api();
        let moment = (jiff::Timestamp::now().as_second() - 300) / 60 * 60;
        let time = jiff::Timestamp::from_second(moment).expect("a time");
        let access = json!({
            "everybodyOutAt": time.strftime("%H:%M").to_string(), "everybodyOutExcept": ["CREW"], "entry": "single",
        });
        let hall = all.device(&json!({"name": "Hall", "data": {"Access": access}}));
        let room = all.device(&json!({"name": "Room", "parent": hall}));
        Self {
            server,
            all,
            hall,
            room,
            moment,
        }
    }

    /// As if the rule had been there for two days, and nobody had looked since.
    fn age(server: &Server) {
        server.sql(
            "UPDATE everybody_out SET since = since - 172800000, handled_to = handled_to - 7200000",
        );
    }

    /// A check-in that a gate admitted so many seconds before the moment.
    fn admitted(&self, delegate: i64, before: i64) -> i64 {
        self.all
            .interact(
                "check-in",
                &json!({
                    "firstDelegate": delegate, "firstDevice": self.room, "recordedAt": self.moment - before,
                    "admitted": true,
                }),
            )
            .id()
    }

    fn attendee(&self, delegate_type: &str) -> i64 {
        self.all.delegate(&json!({"delegateType": delegate_type}))
    }

    fn inside(&self) -> i64 {
        let sql = "SELECT coalesce(sum(inside), 0) FROM occupancy WHERE device_id = ";
        self.server.value(&format!("{sql}{}", self.hall))
    }

    /// The check-outs of a delegate.
    fn check_outs(&self, delegate: i64) -> Vec<Value> {
        let search = json!({"search": {"and": [
            {"==": ["firstDelegate", delegate]}, {"==": ["interactionType", "check-out"]},
        ]}});
        self.all.post("/interaction/list", &search).list().clone()
    }

    #[track_caller]
    fn left(&self, delegate: i64) {
        let [check_out] = &self.check_outs(delegate)[..] else {
            panic!("{:?}", self.check_outs(delegate));
        };
        let at = jiff::Timestamp::from_second(self.moment).expect("a time");
        let at = at.strftime("%Y-%m-%dT%H:%M:%S+00:00").to_string();
        assert_eq!(check_out["recordedAt"], at);
        assert_eq!(check_out["data"], json!({"reason": "everybodyOutAt"}));
        assert_eq!(check_out["firstDevice"]["id"], self.hall);
    }
}

#[test]
fn a_server_that_was_off_checks_everybody_out_before_it_answers() {
    let mut venue = Venue::new();
    let (guest, crew) = (venue.attendee("Guest"), venue.attendee("Crew"));
    venue.admitted(guest, 60);
    venue.admitted(crew, 60);
    assert_eq!(venue.inside(), 2, "a rule does not act back in time");
    let cursor = venue.all.get("/changes?types=interaction").body["meta"]["cursor"].clone();
    venue.server.restart_after(Venue::age);
    venue.all = venue.server.caller_with_all();
    venue.left(guest);
    assert_eq!((venue.inside(), venue.check_outs(crew).len()), (1, 0));
    let since = cursor.as_str().expect("a cursor");
    let told = venue
        .all
        .get(&format!("/changes?since={since}&types=interaction"));
    let told: Vec<_> = told
        .list()
        .iter()
        .map(|change| change["data"]["interactionType"].clone())
        .collect();
    assert_eq!(told, ["check-out"]);
    venue.server.restart();
    venue.all = venue.server.caller_with_all();
    assert_eq!(venue.check_outs(guest).len(), 1);
    // Single entry: a ticket that left enters again.
    venue.all.scan("check-in", guest, venue.hall).is(201);
    venue.server.done(&["check"]);
}

#[test]
fn a_server_that_runs_notices_the_moment_beside_check_ins() {
    let venue = Venue::new();
    let guests: Vec<_> = (0..120).map(|_| venue.attendee("Guest")).collect();
    for guest in &guests {
        venue.admitted(*guest, 60);
    }
    Venue::age(&venue.server);
    let late = venue.attendee("Guest");
    until("everybody left", || {
        venue.all.scan("check-in", late, venue.room).is(201);
        venue.inside() == 1
    });
    for guest in guests {
        venue.left(guest);
    }
    assert_eq!(venue.check_outs(late).len(), 0);
    venue.server.done(&["check"]);
}

#[test]
fn a_scan_that_a_gate_uploads_the_day_after_is_checked_out_at_once() {
    let mut venue = Venue::new();
    venue.server.restart_after(Venue::age);
    venue.all = venue.server.caller_with_all();
    let (guest, crew, later) = (
        venue.attendee("Guest"),
        venue.attendee("Crew"),
        venue.attendee("Guest"),
    );
    let scan = venue.admitted(guest, 60);
    venue.left(guest);
    venue.admitted(crew, 60);
    venue.admitted(later, -60);
    assert_eq!((venue.inside(), venue.check_outs(later).len()), (2, 0));
    assert_eq!(venue.server.count("conflicts"), 0);
    venue.all.delete(&format!("/interaction/id:{scan}")).is(204);
    assert_eq!(venue.check_outs(guest).len(), 0);
    venue.server.done(&["check"]);
}

#[test]
fn gates_are_told_the_moments_to_come() {
    let venue = Venue::new();
    let snapshot = venue
        .all
        .get(&format!("/gate/snapshot?place={}", venue.room));
    let place = &snapshot.body["meta"]["place"];
    let coming = place["everybodyOut"].as_array().expect("moments");
    assert_eq!(coming.len(), 1, "{place}");
    assert_eq!(coming[0]["rooms"], json!([venue.room, venue.hall]));
    assert_eq!(coming[0]["except"], json!(["CREW"]));
    let at = coming[0]["at"].as_array().expect("moments");
    assert_eq!(
        (at.len(), at[0].as_i64()),
        (14, Some((venue.moment + 86_400) * 1000))
    );
}

/// A congress with two rooms.
struct Congress {
    server: Server,
    all: Caller,
    congress: i64,
    rooms: [i64; 2],
    ada: i64,
}

impl Congress {
    fn new(access: &Value, of_rooms: &Value) -> Self {
        let (server, all) = Server::with_api();
        let congress = all.device(&json!({"name": "Congress", "data": {"Access": access}}));
        let room = |name: &str| {
            let data = json!({"Access": of_rooms});
            all.device(
                &json!({"name": name, "deviceType": "room", "parent": congress, "data": data}),
            )
        };
        let rooms = [room("One"), room("Two")];
        let ada = all.delegate(&json!({"firstName": "Ada"}));
        Self {
            server,
            all,
            congress,
            rooms,
            ada,
        }
    }

    /// People inside the congress and each room.
    fn inside(&self) -> [i64; 3] {
        [self.congress, self.rooms[0], self.rooms[1]].map(|device| {
            let sql = "SELECT coalesce(sum(inside), 0) FROM occupancy WHERE device_id = ";
            self.server.value(&format!("{sql}{device}"))
        })
    }

    fn set(&self, one_at_a_time: impl Into<Value>) {
        let access = json!({"data": {"Access": {"oneAtATime": one_at_a_time.into()}}});
        self.all
            .patched(&format!("/device/id:{}", self.congress), &access);
    }

    fn counts(&self, expected: [i64; 3]) {
        until("people are counted anew", || self.inside() == expected);
        self.server.done(&["check"]);
    }
}

#[test]
fn who_enters_the_next_room_has_left_the_one_before() {
    let congress = Congress::new(
        &json!({"oneAtATime": true, "capacity": 1}),
        &json!({"capacity": 1}),
    );
    let [one, two] = congress.rooms;
    let all = &congress.all;
    all.scan("check-in", congress.ada, one).is(201);
    all.scan("check-in", congress.ada, two).is(201);
    assert_eq!(congress.inside(), [1, 0, 1]);
    let bob = all.delegate(&json!({"firstName": "Bob"}));
    all.scan("check-in", bob, two)
        .refused(412, 744, "Two is full: 1 of 1 inside");
    all.scan("check-in", bob, one)
        .refused(412, 744, "Congress is full");
    // A late scan takes its place by its time.
    let at = jiff::Timestamp::now().as_second() - 600;
    let late = json!({"firstDelegate": congress.ada, "firstDevice": one, "recordedAt": at, "admitted": true});
    all.interact("check-in", &late).is(201);
    assert_eq!(congress.inside(), [1, 0, 1]);
    // Undo brings them back to where they were.
    let last: i64 = congress
        .server
        .value("SELECT max(id) - 1 FROM interactions");
    all.delete(&format!("/interaction/id:{last}")).is(204);
    assert_eq!(congress.inside(), [1, 1, 0]);
    congress.server.done(&["check"]);
}

#[test]
fn single_entry_and_check_outs_never_look_at_other_rooms() {
    let congress = Congress::new(&json!({"oneAtATime": true}), &json!({"entry": "single"}));
    let [one, two] = congress.rooms;
    let all = &congress.all;
    all.scan("check-in", congress.ada, one).is(201);
    all.scan("check-in", congress.ada, two).is(201);
    all.scan("check-in", congress.ada, one)
        .refused(412, 740, "already used at One");
    let snapshot = all.get(&format!("/gate/snapshot?place={one}"));
    let ada = &snapshot.list()[0]["data"];
    assert_eq!(
        (&ada["movedOn"], &ada["inside"]),
        (&json!(true), &Value::Null)
    );
    all.scan("check-out", congress.ada, one).is(201);
    assert_eq!(congress.inside(), [1, 0, 1]);
    all.scan("check-out", congress.ada, one)
        .refused(412, 745, "not checked in at One");
}

#[test]
fn switched_on_and_off_with_people_inside_everybody_is_counted_again() {
    let congress = Congress::new(&json!({}), &json!({}));
    for room in congress.rooms {
        congress.all.scan("check-in", congress.ada, room).is(201);
    }
    assert_eq!(congress.inside(), [1, 1, 1]);
    let page = |since: &str| {
        let path = format!("/gate/snapshot?place={}{since}", congress.rooms[0]);
        congress.all.get(&path)
    };
    let before = page("");
    let before = before.body["meta"]["cursor"].as_str().expect("a cursor");
    congress.set(true);
    congress.counts([1, 0, 1]);
    // Gates take everybody anew.
    let told = page(&format!("&since={before}"));
    assert_eq!(told.list()[0]["action"], "reset", "{told:?}");
    assert_eq!(page("").list()[0]["data"]["movedOn"], true);
    congress.set(Value::Null);
    congress.counts([1, 1, 1]);
}
