//! The law at doors: what a door sets narrows the rules of its place, and refusals name both.

#![expect(
    clippy::option_option,
    reason = "a last check-in, where there is one, and its door, where it was at one"
)]

use super::minute;
use crate::{
    core::rules::{
        AccessRules, CheckInFacts, Door, Entry, Passage, Place, Position, PresenceState, RuleSet,
        judge,
    },
    types::Zone,
};
use serde_json::{Value, json};

/// Before the place opens, while the door alone is closed, while both are open, and after both, in minutes from noon.
const TIMES: [i64; 4] = [-50, -20, 0, 41];

/// The state of a place: whether there was a check-in, and at which door; whoever came is inside.
const STATES: [Option<Option<&str>>; 3] = [None, Some(None), Some(Some("South"))];

fn place(name: &str) -> Place {
    Place {
        name: name.into(),
        available: true,
        start_at: Some(minute(-30)),
        end_at: Some(minute(30)),
    }
}

/// Rules of a place, and what its door North adds.
fn cases() -> Vec<(AccessRules, Door)> {
    let simple = AccessRules {
        rule_set: Some(RuleSet::Simple),
        ..AccessRules::default()
    };
    let mut cases = Vec::new();
    for (rule_set, entry, max_check_ins) in [
        (RuleSet::Open, Entry::Single, None),
        (RuleSet::Simple, Entry::Multiple, Some(2)),
    ] {
        let rules = AccessRules {
            rule_set: Some(rule_set),
            entry: Some(entry),
            max_check_ins,
            opens_before: Some(15),
            closes_after: Some(10),
            ..AccessRules::default()
        };
        for (available, own) in [
            (true, Some(AccessRules::default())),
            (true, Some(simple.clone())),
            (true, None),
            (false, Some(AccessRules::default())),
        ] {
            let north = Place {
                available,
                start_at: Some(minute(10)),
                end_at: None,
                ..place("North")
            };
            let door = Door {
                place: north.as_door(&place("Hall")),
                rules: own.map(|own| own.at_door(&rules)),
            };
            cases.push((rules.clone(), door));
        }
    }
    cases
}

fn verdict(
    rules: &AccessRules,
    door: &Door,
    at: i64,
    last: Option<Option<&str>>,
    joined: bool,
) -> String {
    let position = Position {
        at: minute(-178),
        id: 1,
    };
    let state = PresenceState {
        last_in: last.map(|_| position),
        ..PresenceState::default()
    };
    let at_door = last.flatten().map(ToOwned::to_owned);
    let verdict = judge(&CheckInFacts {
        passage: Passage::In,
        place: &place("Hall"),
        rules: Some(rules),
        door: Some(door),
        state: &state,
        last_passage: &|last| Ok((last.at, at_door.clone())),
        inside: last.is_some(),
        entries: u32::from(last.is_some()) * 2,
        last_in_of_day: None,
        is_today: true,
        attendee_type: None,
        joined,
        rooms: &[],
        at: minute(at),
        now: minute(0),
        zone: &Zone::default(),
    });
    match verdict {
        Ok(()) => "0".into(),
        Err(refusal) => format!("{} {}", refusal.kind.code(), refusal),
    }
}

/// Every case with its verdicts; `at`, `state` and `joined` nest in this order.
pub(super) fn law() -> Value {
    let told = |(rules, door): &(AccessRules, Door)| {
        let mut verdicts = Vec::new();
        for at in TIMES {
            for state in STATES {
                for joined in [true, false] {
                    verdicts.push(verdict(rules, door, at, state, joined));
                }
            }
        }
        let of_door = &door.place;
        json!({
            "rules": rules.to_gate(&Zone::default()),
            "door": {
                "place": {
                    "name": of_door.name, "available": of_door.available,
                    "startAt": of_door.start_at.map(|at| at.0), "endAt": of_door.end_at.map(|at| at.0),
                },
                "rules": door.rules.as_ref().map(|rules| rules.to_gate(&Zone::default())),
            },
            "verdicts": verdicts,
        })
    };
    let state = |last: Option<Option<&str>>| match last {
        Some(door) => {
            json!({"lastIn": minute(-178).0, "lastDoor": door, "inside": true, "entries": 2})
        }
        None => json!({"inside": false, "entries": 0}),
    };
    json!({
        "place": {"name": "Hall", "available": true, "startAt": minute(-30).0, "endAt": minute(30).0},
        "at": TIMES.map(|at| minute(at).0),
        "state": STATES.map(state),
        "joined": [true, false],
        "cases": cases().iter().map(told).collect::<Vec<_>>(),
    })
}
