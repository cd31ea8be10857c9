//! Places for some types of attendees, and at some times (contract §6, *Types*).

use crate::harness::{Caller, Server, cases};
use serde_json::{Value, json};

/// A hall with a lounge in it, and an attendee of each type.
struct Venue {
    server: Server,
    api: Caller,
    hall: i64,
    lounge: i64,
    vip: i64,
    none: i64,
}

impl Venue {
    fn new(hall: &Value, lounge: &Value) -> Self {
        let (server, api) = Server::with_api();
        let place = |name: &str, parent: Option<i64>, access: &Value| {
            api.device(&json!({"name": name, "parent": parent, "data": {"Access": access}}))
        };
        let hall = place("Hall", None, hall);
        let lounge = place("VIP Lounge", Some(hall), lounge);
        Self {
            vip: api.delegate(&json!({"delegateType": "Vïp"})),
            none: api.delegate(&json!({})),
            server,
            api,
            hall,
            lounge,
        }
    }

    /// The codes of check-ins of the two at the lounge.
    fn codes(&self) -> [i64; 2] {
        [self.vip, self.none].map(|who| {
            let reply = self
                .api
                .interact("check-in", &json!({"delegate": who, "device": self.lounge}));
            if reply.status == 201 { 0 } else { reply.code() }
        })
    }
}

#[test]
fn types_are_those_of_the_nearest_place_that_says_any() {
    for (hall, lounge, codes) in cases::<(Value, Value, [i64; 2])>(json!([
        [{}, {}, [0, 0]],
        [{}, {"types": ["VIP"]}, [0, 746]],
        [{}, {"types": []}, [746, 746]],
        [{"types": ["vip", "Crew"]}, {}, [0, 746]],
        [{"types": ["Crew"]}, {}, [746, 746]],
        // Types and their times go together.
        [{"types": []}, {"typeTimes": []}, [0, 0]],
        [{"types": []}, {"types": ["VIP"]}, [0, 746]],
        [{"typeTimes": [{"types": ["VIP"], "from": "2001-01-01 00:00", "until": "2001-01-02 00:00"}]}, {}, [742, 0]],
        [{"typeTimes": [{"types": ["VIP"], "from": "2001-01-01 00:00", "until": "2001-01-02 00:00"}]}, {"types": ["VIP"]}, [0, 746]],
        [{"typeTimes": [{"types": ["Crew"], "from": "2001-01-01 00:00", "until": "2001-01-02 00:00"}]}, {}, [0, 0]],
        // Other rules do not count there.
        [{"types": ["Crew"], "entry": "single"}, {"entry": "multiple", "types": ["VIP"]}, [0, 746]],
    ])) {
        let venue = Venue::new(&hall, &lounge);
        assert_eq!(venue.codes(), codes, "{hall} {lounge}");
    }
}

#[test]
fn the_setting_holds_where_no_place_says_anything_and_a_deleted_one_says_nothing() {
    let venue = Venue::new(&json!({"types": ["VIP"]}), &json!({}));
    venue.server.settings(&json!({"access": {"types": []}}));
    assert_eq!(venue.codes(), [0, 746]);
    let path = format!("/device/id:{}", venue.hall);
    venue.api.delete(&path).is(204);
    assert_eq!(venue.codes(), [746, 746]);
    venue.server.settings(&json!({"access": null}));
    assert_eq!(venue.codes(), [0, 0]);
}

#[test]
fn rules_above_that_nobody_can_read_refuse_by_name() {
    let venue = Venue::new(&json!({"types": ["VIP"]}), &json!({}));
    let broken = json!({"Access": {"types": "VIP"}});
    venue.server.sql(&format!(
        "UPDATE devices SET data = '{broken}' WHERE id = {}",
        venue.hall
    ));
    venue.api.scan("check-in", venue.vip, venue.lounge).refused(
        412,
        743,
        "the rules of Hall cannot be read",
    );
}

#[test]
fn a_refusal_names_the_type_and_people_may_leave() {
    let night = json!({"types": ["VIP"], "typeTimes": [
        {"types": ["VIP"], "from": "2001-01-01 08:00", "until": "2001-01-01 09:30"},
    ]});
    let venue = Venue::new(&json!({}), &night);
    let api = &venue.api;
    let crew = api.delegate(&json!({"delegateType": "Crew", "barcode": "C1"}));
    let scan = |kind: &str, who: i64| api.scan(kind, who, venue.lounge);
    scan("check-in", crew).refused(412, 746, "VIP Lounge is not open to attendees of type Crew");
    scan("check-in", venue.none).refused(
        412,
        746,
        "VIP Lounge is not open to attendees without a type",
    );
    let closed = "VIP Lounge has been closed for Vïp since 09:30 on 2001-01-01";
    scan("check-in", venue.vip).refused(412, 742, closed);
    scan("check-out", crew).is(201);
    scan("check-in-override", crew).is(201);
    // What a gate admitted is a conflict.
    let admitted = json!({"delegate": crew, "device": venue.lounge, "admitted": true});
    api.interact("check-in", &admitted).is(201);
    assert_eq!(venue.server.count("conflicts WHERE code = 746"), 1);
    assert_eq!(venue.server.count("refusals WHERE code = 746"), 2);
    // Late scans are judged by their own time.
    let early = json!({"delegate": venue.vip, "device": venue.lounge, "recordedAt": 978_336_000});
    api.interact("check-in", &early).is(201);
}
