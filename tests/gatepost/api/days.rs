//! Daily entry, and check-ins counted by days (contract §6, *Daily*).

use crate::{
    faults::process::until,
    harness::{Caller, Reply, Server, cases},
};
use gatepost::{
    identity::{Role, clients::NewClient},
    types::DeviceId,
};
use serde_json::{Value, json};

const HOUR: i64 = 3_600;

fn now() -> i64 {
    jiff::Timestamp::now().as_second()
}

/// The time of day so many seconds ago, in UTC.
fn clock(seconds_ago: i64) -> String {
    let minute = (now() - seconds_ago).rem_euclid(24 * HOUR) / 60;
    format!("{:02}:{:02}", minute / 60, minute % 60)
}

/// Moves the beginning of the day, and waits until all go by it.
fn day_began(server: &Server, seconds_ago: i64) {
    let starts = clock(seconds_ago);
    server.settings(&json!({"timeZone": "UTC", "dayStartsAt": starts}));
    let counted = format!(
        "SELECT (SELECT value / 60000 % 1440 FROM counters WHERE name = 'day_begins') = {}
            AND (SELECT value FROM counters WHERE name = 'moves') IS
                (SELECT value FROM counters WHERE name = 'moves_counted')",
        starts[..2].parse::<i64>().expect("a number") * 60
            + starts[3..].parse::<i64>().expect("a number"),
    );
    let is_counted = || server.value::<Option<bool>>(&counted) == Some(true);
    until("the day to begin", is_counted);
}

struct Venue {
    server: Server,
    api: Caller,
    event: i64,
    hall: i64,
}

impl Venue {
    /// A hall with these rules at an event, on a day that began two hours ago.
    fn new(access: &Value) -> Self {
        let (server, api) = Server::with_api();
        let event = api.event(&json!({"eventName": "Fair"}));
        let hall =
            json!({"name": "Hall", "code": "hall", "parent": event, "data": {"Access": access}});
        let hall = api.device(&hall);
        let venue = Self {
            server,
            api,
            event,
            hall,
        };
        venue.day_began(2 * HOUR);
        venue
    }

    fn day_began(&self, seconds_ago: i64) {
        day_began(&self.server, seconds_ago);
    }

    fn at(&self, kind: &str, who: i64, seconds_ago: i64) -> Reply {
        let scan = json!({"delegate": who, "device": self.hall, "recordedAt": now() - seconds_ago});
        self.api.interact(kind, &scan)
    }

    /// How many are counted inside the hall, the event, and anywhere; as they follow from the file.
    fn inside(&self) -> [i64; 3] {
        self.server.done(&["check"]);
        [self.hall, self.event, 0].map(|place| {
            self.server.value(&format!(
                "SELECT coalesce((SELECT inside FROM occupancy WHERE device_id = {place}), 0)"
            ))
        })
    }
}

/// The second day is refused by single entry, and not by daily entry.
#[test]
fn a_ticket_of_several_days_enters_once_a_day() {
    for (access, second_day) in [
        (json!({"entry": "single"}), 412),
        (json!({"entry": "daily"}), 201),
        (json!({"entry": "multiple", "maxCheckIns": 1}), 412),
        (
            json!({"entry": "multiple", "maxCheckIns": 1, "per": "day"}),
            201,
        ),
    ] {
        let venue = Venue::new(&access);
        let guest = venue.api.delegate(&json!({}));
        venue.at("check-in", guest, 24 * HOUR).is(201);
        let reply = venue.at("check-in", guest, 0);
        assert_eq!(reply.status, second_day, "{access} {reply:?}");
        venue.at("check-in", guest, 0).refused(412, 740, "Hall");
    }
}

#[test]
fn a_refusal_names_the_day() {
    let venue = Venue::new(&json!({"entry": "daily"}));
    let guest = venue.api.delegate(&json!({}));
    venue.at("check-in", guest, 0).is(201);
    let at = clock(0);
    let reply = venue.at("check-in", guest, 0);
    reply.refused(412, 740, "already used at Hall today at ");
    assert!(reply.message().ends_with(&at) || reply.message().ends_with(&clock(60)));
    // Out and in again on the same day.
    venue.at("check-out", guest, 0).is(201);
    venue.at("check-in", guest, 0).is(201);
    let twice = Venue::new(&json!({"maxCheckIns": 2, "per": "day"}));
    let guest = twice.api.delegate(&json!({}));
    for _ in 0..2 {
        twice.at("check-in", guest, 0).is(201);
    }
    let most = "already checked in 2 times at Hall, the most allowed in a day; last at ";
    twice.at("check-in", guest, 0).refused(412, 740, most);
}

#[test]
fn nobody_is_inside_from_the_day_before() {
    let venue = Venue::new(&json!({"entry": "daily", "capacity": 1}));
    let (api, server) = (&venue.api, &venue.server);
    let (ada, bob) = (api.delegate(&json!({})), api.delegate(&json!({})));
    let stage = api.device(&json!({"name": "Stage", "parent": venue.hall}));
    venue.at("check-in", ada, HOUR).is(201);
    assert_eq!(venue.inside(), [1, 1, 1]);
    venue
        .at("check-in", bob, 0)
        .refused(412, 744, "Hall is full");
    // The day that began 30 minutes ago ends the stay, and the place has room again.
    venue.day_began(HOUR / 2);
    assert_eq!(venue.inside(), [0, 0, 0]);
    let report = "SELECT coalesce(sum(inside), 0) FROM presence";
    let reports = || -> i64 {
        let sandbox = gatepost::db::sandbox::Sandbox::open(&server.path()).expect("a sandbox");
        match sandbox.scalar(report, 0) {
            Ok(rusqlite::types::Value::Integer(inside)) => inside,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(reports(), 0);
    venue.at("check-in", bob, 0).is(201);
    assert_eq!(venue.inside(), [1, 1, 1]);
    assert_eq!(reports(), 1);
    // A session below a daily place empties with it.
    venue.at("check-out", bob, 0).is(201);
    api.scan("check-in", bob, stage).is(201);
    assert_eq!(venue.inside(), [1, 1, 1]);
    // As it was before: what ended is derived, and not recorded.
    venue.day_began(2 * HOUR);
    assert_eq!(venue.inside(), [2, 2, 2]);
    assert_eq!(server.count("interactions"), 4);
    // Other rules count anew, too.
    venue.day_began(HOUR / 2);
    let path = format!("/device/id:{}", venue.hall);
    for (entry, inside) in [("multiple", 2), ("daily", 1)] {
        api.patch(&path, &json!({"data": {"Access": {"entry": entry}}}))
            .is(200);
        venue.day_began(HOUR / 2);
        assert_eq!(venue.inside(), [inside; 3], "{entry}");
    }
}

#[test]
fn a_day_that_began_while_the_server_was_off_has_begun_at_the_start() {
    let mut venue = Venue::new(&json!({"entry": "daily", "capacity": 1}));
    let (ada, bob) = (
        venue.api.delegate(&json!({})),
        venue.api.delegate(&json!({})),
    );
    venue.at("check-in", ada, HOUR).is(201);
    venue.server.restart_after(|server| {
        let starts = json!(clock(HOUR / 2));
        server.sql(&format!(
            "UPDATE settings SET value = '{starts}' WHERE name = 'dayStartsAt'"
        ));
    });
    venue.at("check-in", bob, 0).is(201);
    venue.at("check-in", ada, 0).refused(412, 744, "");
}

/// A day ends daily stays without a check-out, so what everybody has to leave at comes first.
#[test]
fn everybody_left_in_the_evening_before_the_day_began_while_the_server_was_off() {
    let mut venue = Venue::new(&json!({"entry": "daily", "everybodyOutAt": clock(HOUR)}));
    let access = json!({"Access": {"entry": "single"}});
    let session = venue
        .api
        .device(&json!({"name": "Talk", "parent": venue.hall, "data": access}));
    let ada = venue.api.delegate(&json!({}));
    let enters = |venue: &Venue, seconds_ago: i64| {
        let scan = json!({"delegate": ada, "device": session, "recordedAt": now() - seconds_ago});
        venue.api.interact("check-in", &scan)
    };
    enters(&venue, HOUR * 3 / 2).is(201);
    venue.server.restart_after(|server| {
        let starts = json!(clock(HOUR / 2));
        server.sql(&format!(
            "UPDATE settings SET value = '{starts}' WHERE name = 'dayStartsAt';
             UPDATE everybody_out SET since = since - 7200000, handled_to = handled_to - 7200000"
        ));
    });
    venue.api = venue.server.caller_with_all();
    let check_outs = "SELECT count(*) FROM interactions WHERE interaction_type = 'check-out'";
    assert_eq!(venue.server.value::<i64>(check_outs), 1);
    assert_eq!(venue.inside(), [0; 3]);
    enters(&venue, 0).is(201);
}

#[test]
fn somebody_from_the_day_before_may_leave() {
    let venue = Venue::new(&json!({"entry": "daily"}));
    let (ada, bob) = (
        venue.api.delegate(&json!({})),
        venue.api.delegate(&json!({})),
    );
    venue.at("check-in", ada, HOUR).is(201);
    venue.day_began(HOUR / 2);
    venue.at("check-out", ada, 0).is(201);
    venue.at("check-out", ada, 0).refused(412, 745, "");
    venue.at("check-out", bob, 0).refused(412, 745, "");
    assert_eq!(venue.inside(), [0, 0, 0]);
}

/// A scan's day is that of the earlier of its recording and its arrival.
#[test]
fn a_scan_of_yesterday_counts_for_yesterday() {
    let venue = Venue::new(&json!({"entry": "daily"}));
    let guest = venue.api.delegate(&json!({}));
    venue.at("check-in", guest, 0).is(201);
    // Two of the day before come later.
    venue.at("check-in", guest, 20 * HOUR).is(201);
    venue
        .at("check-in", guest, 19 * HOUR)
        .refused(412, 740, "already used at Hall at ");
    let admitted = json!({
        "delegate": guest, "device": venue.hall, "recordedAt": now() - 18 * HOUR, "admitted": true,
    });
    venue.api.interact("check-in", &admitted).is(201);
    let conflicts = venue
        .server
        .text("SELECT group_concat(code || ' ' || message) FROM conflicts");
    assert!(
        conflicts.starts_with("740 already used at Hall at "),
        "{conflicts}"
    );
    // Today is as it was.
    assert_eq!(venue.inside(), [1, 1, 1]);
    venue.at("check-in", guest, 0).refused(412, 740, "today");
    // One whose clock is an hour fast counts for the day of its arrival; one whose clock is slow for the
    // day that it tells.
    let other = venue.api.delegate(&json!({}));
    venue.at("check-in", other, -23 * HOUR).is(201);
    venue.at("check-in", other, 0).refused(412, 740, "");
    let slow = venue.api.delegate(&json!({}));
    venue.day_began(HOUR / 2);
    venue.at("check-in", slow, HOUR).is(201);
    venue.at("check-in", slow, HOUR).refused(412, 740, "");
    venue.at("check-in", slow, 0).is(201);
}

/// A gate is told what it needs to judge by itself, whatever day it is.
#[test]
fn gates_know_when_days_begin_and_who_came_on_which() {
    let (server, api) = Server::with_api();
    let access = json!({
        "entry": "daily", "capacity": 9, "maxCheckIns": 5, "per": "day",
        "typeTimes": [{"types": ["Crew"], "from": "2026-11-21 18:00", "until": "2026-11-22 01:00"}],
    });
    let hall = api.device(&json!({"name": "Hall", "code": "hall", "data": {"Access": access}}));
    let app = api.device(&json!({"code": "app-1", "deviceType": "regoapp"}));
    server.publish(&json!({"default": {"place": "code:hall"}}));
    let (id, secret) = server.new_client(NewClient {
        roles: [Role::Gate].into_iter().collect(),
        device: Some(DeviceId(app)),
        ..NewClient::named("gate")
    });
    let gate = server.caller_of(&id, &secret);
    day_began(&server, 2 * HOUR);
    let guest = api.delegate(&json!({"delegateType": "Crew", "barcode": "A1"}));
    let crew = |seconds_ago: i64| {
        let scan = json!({"delegate": guest, "device": hall, "recordedAt": now() - seconds_ago, "admitted": true});
        api.interact("check-in", &scan).is(201);
    };
    let snapshot = || {
        let reply = gate.get(&format!("/gate/snapshot?place={hall}"));
        (
            reply.data()[0]["data"].clone(),
            reply.body["meta"]["place"].clone(),
        )
    };
    crew(24 * HOUR);
    let (person, place) = snapshot();
    assert_eq!(place["daily"], true);
    assert_eq!(place["rooms"][0]["daily"], true);
    let days: Vec<i64> = serde_json::from_value(place["days"].clone()).expect("instants");
    assert_eq!(days.len(), 15);
    let today = days[0] / 1000;
    assert!(
        (now() - 2 * HOUR - 120..=now() - 2 * HOUR + 60).contains(&today),
        "{today}"
    );
    assert!(
        days.windows(2)
            .all(|pair| pair[1] - pair[0] == 24 * HOUR * 1000)
    );
    let times =
        json!([{"types": ["Crew"], "from": 1_795_284_000_000_i64, "until": 1_795_309_200_000_i64}]);
    assert_eq!(place["rules"]["typeTimes"], times);
    // Somebody of the day before may be checked out, and is not inside.
    for (name, value) in [
        ("category", json!("Crew")),
        ("inside", Value::Null),
        ("insideBefore", json!(true)),
        ("entries", json!(1)),
        ("dayEntries", json!(1)),
    ] {
        assert_eq!(person[name], value, "{name} of {person}");
    }
    crew(HOUR);
    crew(HOUR / 2);
    let (person, place) = snapshot();
    assert_eq!(
        (&person["inside"], &person["entries"], &person["dayEntries"]),
        (&json!(true), &json!(3), &json!(2))
    );
    assert_eq!(person["since"], person["lastIn"]);
    assert_eq!(place["inside"], 1);
}

#[test]
fn rules_and_settings_of_days_are_read_strictly() {
    let (server, api) = Server::with_api();
    for (access, named) in cases::<(Value, &str)>(json!([
        [{"per": "day"}, "data.Access.per"],
        [{"maxCheckIns": 1, "per": "hour"}, "data.Access.per"],
        [{"entry": "Daily"}, "data.Access.entry"],
    ])) {
        api.post("/device/new", &json!({"data": {"Access": access}}))
            .invalid(named);
    }
    for wrong in [json!("4:00"), json!(4), json!("24:00"), json!("")] {
        let changes = json!({"dayStartsAt": wrong});
        let changes = changes.as_object().expect("an object");
        let error = gatepost::core::settings::check(changes).expect_err("a wrong time");
        assert!(
            error.to_string().starts_with("dayStartsAt: must be"),
            "{error}"
        );
    }
    server.settings(&json!({"dayStartsAt": "06:30"}));
    let shown = server.done(&["config", "export"]);
    assert!(shown.contains("\"dayStartsAt\": \"06:30\""), "{shown}");
}
