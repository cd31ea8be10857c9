use super::{
    super::{inside, recount, types},
    *,
};
use crate::db::{connection::steps_of, migrate, sandbox::Sandbox};
use proptest::{collection::vec, prelude::*};
use rusqlite::types::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Every type that means something here, and two that do not.
const KINDS: [&str; 9] = [
    "check-in",
    "check-in-override",
    "check-out",
    "join",
    "booking",
    "uninvite",
    "cancel-booking",
    "lead",
    "connect",
];

#[derive(Debug, Clone)]
struct Happened {
    kind: &'static str,
    first: Option<i64>,
    second: Option<i64>,
    device: Option<i64>,
    recorded_at: i64,
    created_at: i64,
    order_at: Option<i64>,
}

/// Few people, places and moments, so that they meet.
fn happened() -> impl Strategy<Value = Happened> {
    let somebody = || prop::option::weighted(0.9, 1_i64..4);
    (
        prop::sample::select(KINDS.to_vec()),
        somebody(),
        prop::option::weighted(0.3, 1_i64..4),
        prop::option::weighted(0.9, 1..=DEVICES),
        (0_i64..6, 0_i64..6),
        prop::option::weighted(0.3, 0_i64..6),
    )
        .prop_map(
            |(kind, first, second, device, (recorded_at, created_at), order_at)| Happened {
                kind,
                first,
                second,
                device,
                recorded_at,
                created_at,
                order_at,
            },
        )
}

/// A hall with two sessions, one of them with a corner of its own, and a place by itself; then two doors of the hall,
/// one of them deleted, and one of the session with the corner.
const PARENTS: [Option<i64>; 8] = [
    None,
    Some(1),
    Some(1),
    Some(3),
    None,
    Some(1),
    Some(1),
    Some(3),
];
const PLACES: i64 = 5;
const DEVICES: i64 = 8;

/// The place that a device counts for.
fn place_of(device: i64) -> i64 {
    if device > PLACES {
        PARENTS[usize::try_from(device - 1).unwrap()].unwrap()
    } else {
        device
    }
}

/// A device and what is above it.
fn path(device: i64) -> Vec<i64> {
    std::iter::successors(Some(device), |at| PARENTS[usize::try_from(at - 1).unwrap()]).collect()
}

/// As [`file_with`], where people may be in several rooms.
fn file(path: &std::path::Path, all: &[Happened]) -> Connection {
    file_with(path, all, &[])
}

/// Makes a file of what happened, in a venue where people are in one room at a time below some places.
fn file_with(path: &std::path::Path, all: &[Happened], narrow: &[i64]) -> Connection {
    let file = Connection::open(path).unwrap();
    migrate::create(&file).unwrap();
    for (device, parent) in (1..).zip(PARENTS) {
        file.execute(
            "INSERT INTO devices (id, parent_id, device_type, deleted_at, data, code, public_id, sources, created_at,
                updated_at)
             VALUES (?1, ?2, iif(?1 > ?3, 'door', NULL), iif(?1 = 7, 9, NULL), ?4, ?1, ?1, '[]', 0, 0)",
            (
                device,
                parent,
                PLACES,
                narrow.contains(&device).then_some(r#"{"Access":{"oneAtATime":true}}"#),
            ),
        )
        .unwrap();
    }
    for one in all {
        file.execute(
            "INSERT INTO interactions (interaction_type, first_delegate_id, second_delegate_id,
                 first_device_id, recorded_at, created_at, order_at, effect)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            rusqlite::params![
                one.kind,
                one.first,
                one.second,
                one.device,
                one.recorded_at,
                one.created_at,
                one.order_at,
                types::effect(one.kind, one.second.is_some(), false)
            ],
        )
        .unwrap();
    }
    file
}

/// The presence of one delegate at one place itself by contract §6, by whatever door, found by reading everything.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
struct Expected {
    state: PresenceState,
    entries: u32,
}

impl Expected {
    fn of(all: &[Happened], delegate: i64, device: i64) -> Self {
        let mut expected = Self::default();
        for (id, one) in (1..).zip(all) {
            let of = match one.kind {
                "uninvite" => one.second.or(one.first),
                _ => one.first,
            };
            if of != Some(delegate) || one.device.map(place_of) != Some(device) {
                continue;
            }
            let latest = match one.kind {
                "check-in" | "check-in-override" => {
                    expected.entries += 1;
                    &mut expected.state.last_in
                }
                "check-out" => &mut expected.state.last_out,
                "join" | "booking" => &mut expected.state.last_join,
                "uninvite" | "cancel-booking" => &mut expected.state.last_leave,
                _ => continue,
            };
            let at = one.order_at.unwrap_or(one.recorded_at.min(one.created_at));
            let at = Timestamp(at);
            *latest = (*latest).max(Some(Position { at, id }));
        }
        expected
    }
}

/// The position since which a delegate is inside a device by a check-in at that device itself.
fn entered(all: &[Happened], delegate: i64, device: i64) -> Option<Position> {
    let last_in = Expected::of(all, delegate, device).state.last_in;
    let last_out = path(device)
        .into_iter()
        .map(|at| Expected::of(all, delegate, at).state.last_out)
        .max()
        .flatten();
    last_in.filter(|_| last_in > last_out)
}

/// Returns whether a later entry at another room ended a stay, where people are in one at a time below some places.
fn is_elsewhere(
    all: &[Happened],
    delegate: i64,
    device: i64,
    since: Position,
    narrow: &[i64],
) -> bool {
    // The child of a place on the way to a device.
    let room = |device: i64, place: i64| {
        let path = path(device);
        let at = path.iter().position(|above| *above == place)?;
        at.checked_sub(1).map(|child| path[child])
    };
    narrow.iter().any(|place| {
        room(device, *place).is_some_and(|own| {
            (1..=DEVICES).any(|other| {
                room(other, *place).is_some_and(|another| another != own)
                    && Expected::of(all, delegate, other).state.last_in > Some(since)
            })
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The rules, the whole-file passes, the console and the reports' view all see what was recorded.
    #[test]
    fn the_index_tells_what_the_interactions_say(
        mut all in vec(happened(), 0..80),
        few: bool,
        narrow in prop::sample::subsequence(vec![1_i64, 3], 0..=2),
    ) {
        if few {
            // One person at two places, for whom much is stepped over.
            for one in &mut all {
                one.first = Some(1);
                one.device = one.device.map(|device| 5 + device % 2);
            }
        }
        let folder = tempfile::tempdir().unwrap();
        let file_path = folder.path().join("x.db");
        let file = file_with(&file_path, &all, &narrow);
        let device_cache = DeviceCache::default();
        let doors = device_cache.doors(&file).unwrap();
        let mut in_all = BTreeMap::new();
        let reports = Sandbox::open(&file_path).unwrap();
        let of_view = |column: &str, delegate: i64, device: i64| {
            let sql = format!("SELECT coalesce((SELECT {column} FROM presence \
                WHERE delegate_id = {delegate} AND device_id = {device}), 0)");
            reports.scalar(&sql, 0).unwrap()
        };
        let mut passed = BTreeMap::new();
        each_history(&file, &device_cache, |delegate, history| {
            assert!(passed.insert(delegate.0, history.clone()).is_none());
            Ok(())
        })
        .unwrap();
        for delegate in 1..4 {
            let who = DelegateId(delegate);
            let history = History::of(&file, &device_cache, who).unwrap();
            let in_pass = passed.remove(&delegate).unwrap_or_default();
            let mut inside = BTreeSet::new();
            for device in 1..=PLACES {
                let expected = Expected::of(&all, delegate, device);
                let place = DeviceId(device);
                let since = entered(&all, delegate, device);
                let is_in = expected.state.last_join > expected.state.last_leave;
                let found = history.at(place);
                let passage = |of: PresenceState| (of.last_in, of.last_out);
                prop_assert_eq!(passage(found), passage(expected.state));
                prop_assert_eq!(passage(in_pass.at(place)), passage(expected.state));
                prop_assert_eq!(found.last_join, expected.state.last_join);
                let state = history.state(&file, &device_cache, place).unwrap();
                prop_assert_eq!(state.is_inside(), since.is_some());
                let may_leave = (1..=PLACES).any(|below| path(below).contains(&device)
                    && entered(&all, delegate, below).is_some());
                prop_assert_eq!(history.is_not_left(&file, &device_cache, place).unwrap(), may_leave);
                let since = since.filter(|since| !is_elsewhere(&all, delegate, device, *since, &narrow));
                prop_assert_eq!(entries(&file, &doors, &history, who, place, 99).unwrap(), expected.entries);
                prop_assert_eq!(entries(&file, &doors, &history, who, place, 2).unwrap(), expected.entries.min(2));
                prop_assert_eq!(is_joined(&file, &doors, who, place, &found).unwrap(), is_in);
                for (column, value) in [
                    ("inside", i64::from(since.is_some())),
                    ("joined", i64::from(is_in)),
                    ("check_ins", i64::from(expected.entries)),
                ] {
                    prop_assert_eq!(of_view(column, delegate, device), Value::Integer(value), "{}", column);
                }
                if since.is_some() {
                    inside.insert(ANYWHERE);
                    inside.extend(path(device).into_iter().map(DeviceId));
                }
            }
            for device in &inside {
                *in_all.entry(*device).or_default() += 1_i64;
            }
            let inside: Vec<_> = inside.into_iter().collect();
            prop_assert_eq!(&history.inside(&file, &device_cache).unwrap(), &inside);
            prop_assert_eq!(&in_pass.inside(&file, &device_cache).unwrap(), &inside);
        }
        prop_assert!(passed.is_empty(), "{:?}", passed);
        // Counted from nothing.
        let off = recount::drift(&file).unwrap();
        let off: BTreeMap<_, _> = off.into_iter().map(|(device, off)| (device, -off)).collect();
        prop_assert_eq!(off, in_all);
    }
}

/// A decision must not read the interactions themselves, nor go through many.
#[test]
fn decisions_are_read_from_the_index_alone() {
    let file = Connection::open_in_memory().unwrap();
    migrate::create(&file).unwrap();
    let plan: String = file
        .query_row(
            "EXPLAIN QUERY PLAN SELECT moment, id, first_device_id, effect FROM interactions
             WHERE first_delegate_id = 1 AND (first_device_id, effect) <= (2, 9)
             ORDER BY first_device_id DESC, effect DESC, moment DESC, id DESC",
            [],
            |row| row.get(3),
        )
        .unwrap();
    assert_eq!(
        plan,
        "SEARCH interactions USING INDEX interactions_first_delegate \
         (first_delegate_id=? AND (first_device_id,effect)<(?,?))"
    );
}

/// Makes a file where one person did the same in one millisecond, again and again, and others joined.
fn busy(count: i64) -> Connection {
    let file = Connection::open_in_memory().unwrap();
    migrate::create(&file).unwrap();
    file.execute_batch(
        "INSERT INTO delegates (id, public_id, sources, created_at, updated_at)
             VALUES (1, 'a', '[]', 0, 0), (2, 'b', '[]', 0, 0), (3, 'c', '[]', 0, 0);
         INSERT INTO devices (id, code, public_id, sources, created_at, updated_at)
             VALUES (9, 'c', 'p', '[]', 0, 0);
         INSERT INTO occupancy (device_id, inside) VALUES (9, 1);",
    )
    .unwrap();
    let mut insert = file
        .prepare(
            "INSERT INTO interactions (interaction_type, first_delegate_id, second_delegate_id,
                 first_device_id, recorded_at, created_at, effect)
             VALUES (?1, ?2, ?3, 9, 5, 5, ?4)",
        )
        .unwrap();
    for _ in 0..count {
        for (kind, first, second) in [
            ("check-in", 1, None),
            ("check-out", 1, None),
            ("join", 1, None),
            ("cancel-booking", 1, None),
            ("join", 2, None),
            ("uninvite", 3, Some(2)),
        ] {
            let effect = types::effect(kind, second.is_some(), false);
            insert.execute((kind, first, second, effect)).unwrap();
        }
    }
    for (kind, first) in [("check-in", 3), ("join", 3)] {
        let effect = types::effect(kind, false, false);
        insert.execute((kind, first, None::<i64>, effect)).unwrap();
    }
    drop(insert);
    file
}

#[test]
fn a_busy_devices_page_costs_as_much_as_it_has_interactions() {
    let costs = [100, 400].map(|count| {
        let file = busy(count);
        steps_of(&file, || {
            let people = inside::people(&file, DeviceId(9), None, 50).unwrap();
            let ids: Vec<_> = people.iter().map(|person| person.delegate.0).collect();
            assert_eq!(ids, [3]);
            assert_eq!(count_joined(&file, DeviceId(9)).unwrap(), (1, true));
        })
    });
    assert!(costs[1] < costs[0] * 5, "{costs:?}");
}

/// Until all is counted anew, people are counted at a device that became a door.
#[test]
fn nobody_is_listed_twice_where_a_place_became_a_door() {
    let folder = tempfile::tempdir().unwrap();
    let entered = Happened {
        kind: "check-in",
        first: Some(1),
        second: None,
        device: Some(6),
        recorded_at: 1,
        created_at: 1,
        order_at: Some(1),
    };
    let file = file(&folder.path().join("became.db"), &[entered]);
    file.execute_batch(
        "INSERT OR REPLACE INTO occupancy (device_id, inside) VALUES (1, 1), (6, 1)",
    )
    .unwrap();
    let people = inside::people(&file, DeviceId(1), None, 9).unwrap();
    assert_eq!(people.len(), 1, "{people:?}");
}

/// Somebody in the corner is in its session, in the hall, and in the venue, and nowhere else.
#[test]
fn who_enters_a_place_is_inside_everything_above_it() {
    let folder = tempfile::tempdir().unwrap();
    let at = |kind, device, order_at| Happened {
        kind,
        first: Some(1),
        second: None,
        device: Some(device),
        recorded_at: order_at,
        created_at: order_at,
        order_at: Some(order_at),
    };
    let inside = |name: &str, all: &[Happened]| {
        let file = file(&folder.path().join(name), all);
        let device_cache = DeviceCache::default();
        let history = History::of(&file, &device_cache, DelegateId(1)).unwrap();
        let inside = history.inside(&file, &device_cache).unwrap();
        inside.iter().map(|device| device.0).collect::<Vec<_>>()
    };
    let entered = at("check-in", 4, 1);
    assert_eq!(
        inside("in.db", std::slice::from_ref(&entered)),
        [0, 1, 3, 4]
    );
    assert!(inside("out.db", &[entered.clone(), at("check-out", 1, 2)]).is_empty());
    // Out by a door of the hall.
    assert!(inside("door.db", &[entered, at("check-out", 6, 2)]).is_empty());
}

/// Somebody who moved on is in the room that they entered last, by position, until they leave that.
#[test]
fn who_enters_another_room_has_left_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let at = |kind, device, order_at| Happened {
        kind,
        first: Some(1),
        second: None,
        device: Some(device),
        recorded_at: order_at,
        created_at: order_at,
        order_at: Some(order_at),
    };
    let inside = |name: &str, all: &[Happened]| {
        let file = file_with(&folder.path().join(name), all, &[1]);
        let device_cache = DeviceCache::default();
        let history = History::of(&file, &device_cache, DelegateId(1)).unwrap();
        let inside = history.inside(&file, &device_cache).unwrap();
        inside.iter().map(|device| device.0).collect::<Vec<_>>()
    };
    let moved = [at("check-in", 2, 1), at("check-in", 4, 2)];
    assert_eq!(inside("moved.db", &moved), [0, 1, 3, 4]);
    let late = [at("check-in", 4, 2), at("check-in", 2, 1)];
    assert_eq!(inside("late.db", &late), [0, 1, 3, 4]);
    let below = [
        at("check-in", 3, 1),
        at("check-in", 4, 2),
        at("check-in", 1, 3),
    ];
    assert_eq!(
        inside("below.db", &below),
        [0, 1, 3, 4],
        "the same room, and the hall itself"
    );
    let gone = [
        at("check-in", 2, 1),
        at("check-in", 4, 2),
        at("check-out", 4, 3),
    ];
    assert!(inside("gone.db", &gone).is_empty());
    // By a door of the corner's session.
    let by_door = [at("check-in", 2, 1), at("check-in", 8, 2)];
    assert_eq!(inside("door.db", &by_door), [0, 1, 3]);
    let elsewhere = [at("check-in", 2, 1), at("check-in", 5, 2)];
    assert_eq!(inside("elsewhere.db", &elsewhere), [0, 1, 2, 5]);
}

/// Every order of up to five check-ins and check-outs at one place, with whether somebody is inside after it, and how often
/// they entered: `tests/gate/shared.test.mjs` holds the gate's own list to the same.
#[test]
fn what_scans_leave_of_presence_is_written_down() {
    let folder = tempfile::tempdir().unwrap();
    let mut law = Vec::new();
    for length in 1..=5 {
        for order in 0..1_u32 << length {
            let scans: Vec<_> = (0..length)
                .map(|at| {
                    if order >> at & 1 == 0 {
                        "check-in"
                    } else {
                        "check-out"
                    }
                })
                .collect();
            let happened: Vec<_> = (0..).zip(&scans).map(|(at, kind)| scan(kind, at)).collect();
            let file = file(
                &folder.path().join(format!("{length}-{order}.db")),
                &happened,
            );
            let cache = DeviceCache::default();
            let doors = cache.doors(&file).unwrap();
            let history = History::of(&file, &cache, DelegateId(1)).unwrap();
            let entries = entries(&file, &doors, &history, DelegateId(1), DeviceId(5), 100);
            let is_inside = history.at(DeviceId(5)).is_inside();
            law.push(serde_json::json!([scans, is_inside, entries.unwrap()]));
        }
    }
    let fresh = serde_json::to_string(&law)
        .unwrap()
        .replace("],[[", "],\n[[")
        + "\n";
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/gate/presence.json");
    if std::env::var_os("INSTA_UPDATE").is_some_and(|update| update == "always") {
        std::fs::write(path, &fresh).unwrap();
    }
    assert!(
        std::fs::read_to_string(path).unwrap_or_default() == fresh,
        "tests/gate/presence.json is stale: run this test with INSTA_UPDATE=always, then tests/gate"
    );
}

/// A scan of the first attendee at the place by itself.
fn scan(kind: &'static str, at: i64) -> Happened {
    Happened {
        kind,
        first: Some(1),
        second: None,
        device: Some(5),
        recorded_at: at,
        created_at: at,
        order_at: None,
    }
}
