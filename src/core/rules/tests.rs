//! The law for gates that are offline: every combination of facts with the verdict that `judge` gives,
//! in `tests/gate/judge.json`. `assets/gate/judge.js` is held against the same file (`tests/gate`).

use super::{
    AccessRules, CheckInFacts, Entry, Passage, Place, Position, PresenceState, Room, RuleSet, judge,
};
use crate::types::{Timestamp, Zone};
use serde_json::{Value, json};

mod doors;

const NOON: i64 = 1_795_262_400_000;

fn minute(count: i64) -> Timestamp {
    Timestamp(NOON + count * 60_000)
}

/// Every rule in every form that makes a difference; `None` for rules that nobody can read.
fn rules() -> Vec<Option<AccessRules>> {
    let mut all = vec![None];
    for rule_set in [RuleSet::Open, RuleSet::Simple] {
        for entry in [Entry::Multiple, Entry::Single] {
            for max_check_ins in [None, Some(0), Some(1), Some(2)] {
                for (opens_before, closes_after) in
                    [(None, None), (Some(15), Some(10)), (Some(0), None)]
                {
                    all.push(Some(AccessRules {
                        rule_set: Some(rule_set),
                        entry: Some(entry),
                        max_check_ins,
                        opens_before,
                        closes_after,
                        ..AccessRules::default()
                    }));
                }
            }
        }
    }
    all
}

/// As the gate's snapshot tells them.
fn rules_json(rules: &AccessRules) -> Value {
    let mut object = json!({
        "ruleSet": if rules.needs_join() { "simple" } else { "open" },
        "entry": if rules.is_single_entry() { "single" } else { "multiple" },
    });
    let counts = [
        ("maxCheckIns", rules.max_check_ins),
        ("opensBefore", rules.opens_before),
        ("closesAfter", rules.closes_after),
    ];
    for (name, count) in counts {
        if let Some(count) = count {
            object[name] = count.into();
        }
    }
    object
}

/// `lastIn`, `lastOut` (minutes from noon), `inside`, `entries`.
const STATES: [State; 5] = [
    (None, None, false, 0),
    (Some(-178), None, true, 1),
    (Some(-178), Some(-100), false, 1),
    // In again after a check-out.
    (Some(-178), Some(-200), true, 2),
    (Some(-3_000), None, true, 3),
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

/// The verdicts of one set of rules, over every other fact.
fn verdicts(rules: Option<&AccessRules>) -> Vec<String> {
    let mut all = Vec::new();
    for passage in [Passage::In, Passage::Out] {
        for available in [true, false] {
            for at in TIMES {
                for state in STATES {
                    for joined in [true, false] {
                        for rooms in ROOMS {
                            let facts = (passage, available, at, state, joined, rooms);
                            all.push(verdict(rules, facts));
                        }
                    }
                }
            }
        }
    }
    all
}

type State = (Option<i64>, Option<i64>, bool, u32);
type Facts = (
    Passage,
    bool,
    i64,
    State,
    bool,
    &'static [(&'static str, u32, i64)],
);

fn verdict(rules: Option<&AccessRules>, facts: Facts) -> String {
    let (passage, available, at, (last_in, last_out, inside, entries), joined, rooms) = facts;
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
        joined,
        rooms: &rooms,
        at: minute(at),
        now: minute(0),
        zone: &Zone::default(),
    });
    match verdict {
        Ok(()) => "0".into(),
        Err(refusal) => format!("{} {}", refusal.kind.code(), refusal.message),
    }
}

#[test]
fn the_law_for_offline_gates_is_fresh() {
    let mut known: Vec<String> = Vec::new();
    let mut results = Vec::new();
    for rules in rules() {
        let mut digits = String::new();
        for verdict in verdicts(rules.as_ref()) {
            let index = known.iter().position(|earlier| *earlier == verdict);
            let index = index.unwrap_or_else(|| {
                known.push(verdict);
                known.len() - 1
            });
            digits.push(char::from_digit(u32::try_from(index).unwrap(), 36).unwrap());
        }
        results.push(json!({"rules": rules.as_ref().map(rules_json), "verdicts": digits}));
    }
    let instant = |minutes: Option<i64>| minutes.map(|minutes| minute(minutes).0);
    let state = |(last_in, last_out, inside, entries): State| json!({"lastIn": instant(last_in), "lastOut": instant(last_out), "inside": inside, "entries": entries});
    let room = |(name, capacity, inside): &(&str, u32, i64)| json!({"name": name, "capacity": capacity, "inside": inside});
    let law = json!({
        "about": "Written by src/core/rules/tests.rs. The axes nest in this order: passage, available, at, state, joined, rooms; each verdict is a digit in base 36, the index in `verdicts`.",
        "place": {"name": "Gate B", "startAt": minute(-30).0, "endAt": minute(30).0},
        "zone": "UTC",
        "now": NOON,
        "passage": ["in", "out"],
        "available": [true, false],
        "at": TIMES.map(|at| minute(at).0),
        "state": STATES.map(state),
        "joined": [true, false],
        "rooms": ROOMS.map(|rooms| rooms.iter().map(room).collect::<Vec<_>>()),
        "verdicts": known,
        "results": results,
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
