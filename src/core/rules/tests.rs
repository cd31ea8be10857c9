//! The law for gates that are offline: every combination of facts with the verdict that `judge` gives,
//! in `tests/gate/judge.json`. `assets/gate/core/judge.js` is held against the same file (`tests/gate`).

use super::{
    AccessRules, CheckInFacts, Entry, Passage, Per, Place, Position, PresenceState, Room, RuleSet,
    judge,
};
use crate::types::{Timestamp, Zone};
use serde_json::{Value, json};

mod doors;

const NOON: i64 = 1_795_262_400_000;

fn minute(count: i64) -> Timestamp {
    Timestamp(NOON + count * 60_000)
}

/// The day began at 04:00.
const DAY_BEGAN: i64 = -480;

/// Every rule in every form that makes a difference; `None` for rules that nobody can read.
fn rules() -> Vec<Option<AccessRules>> {
    let windows = [(None, None), (Some(15), Some(10)), (Some(0), None)];
    let limits = [None, Some(0), Some(1), Some(2)];
    let mut all = vec![None];
    let mut add = |rule_set, entry, max_check_ins: Option<u32>, per, window: (_, _)| {
        all.push(Some(AccessRules {
            rule_set: Some(rule_set),
            entry: Some(entry),
            max_check_ins,
            per,
            opens_before: window.0,
            closes_after: window.1,
            ..AccessRules::default()
        }));
    };
    for rule_set in [RuleSet::Open, RuleSet::Simple] {
        for max_check_ins in limits {
            for entry in [Entry::Multiple, Entry::Single] {
                for window in windows {
                    add(rule_set, entry, max_check_ins, None, window);
                }
            }
            add(rule_set, Entry::Daily, max_check_ins, None, windows[0]);
        }
        for max_check_ins in &limits[1..] {
            for entry in [Entry::Multiple, Entry::Daily] {
                add(rule_set, entry, *max_check_ins, Some(Per::Day), windows[0]);
            }
        }
    }
    all
}

/// Rules of types of attendees.
fn rules_of_types() -> Vec<Option<AccessRules>> {
    let night = json!({"types": ["Crew"], "from": "22:00", "until": "02:00"});
    let rules = [
        json!({"types": []}),
        json!({"types": ["crew", "VIP"]}),
        json!({"types": ["CAFE"]}),
        json!({"types": ["VIP"], "ruleSet": "simple"}),
        json!({"typeTimes": []}),
        json!({"typeTimes": [night]}),
        json!({"types": ["Crew"], "typeTimes": [night]}),
        json!({"typeTimes": [night, {"types": ["VIP", "Crew"], "from": "12:00", "until": "14:00"}]}),
        json!({"typeTimes": [{"types": ["Crew"], "from": "2026-11-21 14:00", "until": "2026-11-21 22:00"}]}),
        json!({"typeTimes": [
            {"types": ["Crew"], "from": "2026-11-20 14:00", "until": "2026-11-20 22:00"},
            {"types": ["VIP"], "from": "2026-11-21 12:00", "until": "2026-11-22 02:00"},
        ]}),
    ];
    let parse = |rules: Value| AccessRules::parse("data.Access", &rules).unwrap();
    rules.map(parse).map(Some).into()
}

const TYPES: [Option<&str>; 5] = [None, Some("Crew"), Some(" vip"), Some("Café"), Some("")];

/// Before and at the edges of the hours, in minutes from noon.
const HOURS: [i64; 8] = [-1, 0, 119, 120, 599, 600, 839, 840];

/// `lastIn`, `lastOut` (minutes from noon), `inside`, `entries`, those of the day of the last.
const STATES: [State; 7] = [
    (None, None, false, 0, 0),
    (Some(-178), None, true, 1, 1),
    (Some(-178), Some(-100), false, 1, 1),
    // In again after a check-out.
    (Some(-178), Some(-200), true, 2, 2),
    (Some(-3_000), None, true, 3, 1),
    // As the day began, and just before.
    (Some(DAY_BEGAN), None, true, 1, 1),
    (Some(DAY_BEGAN - 1), None, true, 1, 1),
];

/// Name, capacity and people inside of the places that would be entered.
const ROOMS: [&[(&str, u32, i64)]; 4] = [
    &[],
    &[("Gate B", 2, 1)],
    &[("Gate B", 2, 2), ("Hall", 5, 5)],
    &[("Gate B", 2, 1), ("Hall", 0, 0)],
];

/// Before, at and after the edges of the window, in minutes from noon.
const TIMES: [i64; 5] = [-46, -45, 0, 40, 41];

type State = (Option<i64>, Option<i64>, bool, u32, u32);
type Rooms = &'static [(&'static str, u32, i64)];

/// Facts to combine.
struct Axes {
    passage: &'static [Passage],
    available: &'static [bool],
    at: &'static [i64],
    state: &'static [State],
    joined: &'static [bool],
    rooms: &'static [Rooms],
    types: &'static [Option<&'static str>],
}

impl Axes {
    /// The verdicts of one set of rules, over every other fact.
    fn verdicts(&self, rules: Option<&AccessRules>) -> Vec<String> {
        let mut all = Vec::new();
        for passage in self.passage {
            for available in self.available {
                for at in self.at {
                    for state in self.state {
                        for joined in self.joined {
                            for rooms in self.rooms {
                                for own in self.types {
                                    let facts =
                                        (*passage, *available, *at, *state, *joined, *rooms, *own);
                                    all.push(verdict(rules, facts));
                                }
                            }
                        }
                    }
                }
            }
        }
        all
    }

    /// With the verdicts of each of several rules.
    fn to_json(&self, rules: &[Option<AccessRules>]) -> Value {
        let mut known: Vec<String> = Vec::new();
        let mut results = Vec::new();
        for rules in rules {
            let mut digits = String::new();
            for verdict in self.verdicts(rules.as_ref()) {
                let index = known.iter().position(|earlier| *earlier == verdict);
                let index = index.unwrap_or_else(|| {
                    known.push(verdict);
                    known.len() - 1
                });
                digits.push(char::from_digit(u32::try_from(index).unwrap(), 36).unwrap());
            }
            let rules = rules.as_ref().map(|rules| rules.to_gate(&Zone::default()));
            results.push(json!({"rules": rules, "verdicts": digits}));
        }
        let passage = |passage: &Passage| match passage {
            Passage::In => "in",
            Passage::Out => "out",
        };
        let instant = |minutes: Option<i64>| minutes.map(|minutes| minute(minutes).0);
        let state = |(last_in, last_out, inside, entries, of_day): &State| {
            json!({
                "lastIn": instant(*last_in), "lastOut": instant(*last_out), "inside": inside,
                "entries": entries, "dayEntries": of_day,
            })
        };
        let room = |(name, capacity, inside): &(&str, u32, i64)| json!({"name": name, "capacity": capacity, "inside": inside});
        let rooms = |rooms: &Rooms| rooms.iter().map(room).collect::<Vec<_>>();
        json!({
            "passage": self.passage.iter().map(passage).collect::<Vec<_>>(),
            "available": self.available,
            "at": self.at.iter().map(|at| minute(*at).0).collect::<Vec<_>>(),
            "state": self.state.iter().map(state).collect::<Vec<_>>(),
            "joined": self.joined,
            "rooms": self.rooms.iter().map(rooms).collect::<Vec<_>>(),
            "type": self.types,
            "verdicts": known,
            "results": results,
        })
    }
}

type Facts = (Passage, bool, i64, State, bool, Rooms, Option<&'static str>);

fn verdict(rules: Option<&AccessRules>, facts: Facts) -> String {
    let (passage, available, at, state, joined, rooms, attendee_type) = facts;
    let (last_in, last_out, inside, entries, of_day) = state;
    let place = Place {
        name: "Gate B".into(),
        available,
        start_at: Some(minute(-30)),
        end_at: Some(minute(30)),
    };
    let position = |minutes: i64| Position {
        at: minute(minutes),
        id: 1,
    };
    let last_in_of_day = last_in.filter(|at| *at >= DAY_BEGAN).map(position);
    let entries = match rules.and_then(|rules| rules.per) {
        Some(Per::Day) if last_in_of_day.is_none() => 0,
        Some(Per::Day) => of_day,
        None => entries,
    };
    let state = PresenceState {
        last_in: last_in.map(position),
        last_out: last_out.map(position),
        ..PresenceState::default()
    };
    let room = |&(name, capacity, inside): &(&str, u32, i64)| Room {
        name: name.into(),
        capacity,
        inside,
    };
    let rooms: Vec<Room> = rooms.iter().map(room).collect();
    let verdict = judge(&CheckInFacts {
        passage,
        place: &place,
        rules,
        state: &state,
        door: None,
        last_passage: &|last| Ok((last.at, None)),
        inside,
        entries,
        last_in_of_day,
        is_today: true,
        attendee_type,
        joined,
        rooms: &rooms,
        at: minute(at),
        now: minute(0),
        zone: &Zone::default(),
    });
    match verdict {
        Ok(()) => "0".into(),
        Err(refusal) => format!("{} {}", refusal.kind.code(), refusal),
    }
}

#[test]
fn the_law_for_offline_gates_is_fresh() {
    let both = &[Passage::In, Passage::Out];
    let all = Axes {
        passage: both,
        available: &[true, false],
        at: &TIMES,
        state: &STATES,
        joined: &[true, false],
        rooms: &ROOMS,
        types: &[None],
    };
    let of_types = Axes {
        passage: both,
        available: &[true],
        at: &HOURS,
        state: &STATES[..1],
        joined: &[false],
        rooms: &ROOMS[..1],
        types: &TYPES,
    };
    let law = json!({
        "about": "Written by src/core/rules/tests.rs. The axes nest in this order: passage, available, at, state, joined, rooms, type; each verdict is a digit in base 36, the index in `verdicts`.",
        "place": {"name": "Gate B", "startAt": minute(-30).0, "endAt": minute(30).0},
        "zone": "UTC",
        "now": NOON,
        "days": [minute(DAY_BEGAN - 1440).0, minute(DAY_BEGAN).0, minute(DAY_BEGAN + 1440).0],
        "sets": [all.to_json(&rules()), of_types.to_json(&rules_of_types())],
        "doors": doors::law(),
    });
    let fresh = serde_json::to_string_pretty(&law).unwrap() + "\n";
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/gate/judge.json");
    if std::env::var_os("INSTA_UPDATE").is_some_and(|update| update == "always") {
        std::fs::write(path, &fresh).unwrap();
    }
    let kept = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        kept == fresh,
        "tests/gate/judge.json is stale: run this test with INSTA_UPDATE=always, then tests/gate"
    );
}
