//! Days of a hall that everybody leaves at eleven but the crew, at times that a test says.

use super::*;
use crate::{
    db::{counters, in_transaction, migrate, sandbox::Sandbox},
    domain::interactions::{
        draft::Draft,
        everybody_out::DATA,
        record::{Outcome, record},
        recount, remove,
    },
    types::DeviceSelector,
};
use rusqlite::types::Value;
use serde_json::json;

const HALL: DeviceId = DeviceId(1);
/// Below the hall.
const ROOM: DeviceId = DeviceId(2);
const GUEST: i64 = 1;
const CREW: i64 = 3;

struct Venue {
    file: Connection,
    settings: Arc<Settings>,
}

impl Venue {
    /// A hall with these rules beside the time, set on the first of November.
    fn new(time: &str) -> Self {
        let file = Connection::open_in_memory().unwrap();
        migrate::create(&file).unwrap();
        let zone = Zone::named("Europe/Berlin").unwrap();
        let settings = Arc::new(Settings {
            zone,
            ..Settings::default()
        });
        let venue = Self { file, settings };
        let made = venue.at("2026-01-01 12:00:00");
        let access = json!({"Access": {
            "everybodyOutAt": time, "everybodyOutExcept": ["Crew"], "entry": "single",
        }});
        venue
            .file
            .execute_batch(&format!(
                "INSERT INTO devices (id, parent_id, code, public_id, data, sources, created_at, updated_at)
                 VALUES (1, NULL, 'hall', 'h', '{access}', '[]', {made}, {made}),
                        (2, 1, 'room', 'r', NULL, '[]', {made}, {made});
                 INSERT INTO delegates (id, public_id, delegate_type, sources, created_at, updated_at)
                 VALUES (1, 'a', 'guest', '[]', 0, 0), (2, 'b', NULL, '[]', 0, 0), (3, 'c', 'CREW', '[]', 0, 0)",
                made = made.0
            ))
            .unwrap();
        venue.write("2026-01-01 12:00:00", |tx| {
            fall_into_step(tx, "Europe/Berlin")
        });
        venue
    }

    fn at(&self, text: &str) -> Timestamp {
        self.settings.zone.read("t", &json!(text)).unwrap()
    }

    fn write<T>(&self, now: &str, work: impl FnOnce(&Tx<'_>) -> Result<T>) -> T {
        in_transaction(&self.file, self.at(now), work).unwrap()
    }

    /// Records a scan that happened at one time and arrives at another; the interaction's id.
    fn scan(&self, kind: &str, who: &str, device: DeviceId, at: &str, now: &str) -> Option<i64> {
        let draft = Draft {
            kind: kind.to_owned(),
            delegates: [Some(DelegateSelector::parse(who).unwrap()), None, None],
            devices: [Some(DeviceSelector::Id(device)), None, None],
            recorded_at: Some(self.at(at)),
            admitted: at != now,
            ..Draft::default()
        };
        let ctx = Context::of_command("api", Arc::clone(&self.settings));
        let recorded = self.write(now, |tx| record(tx, &ctx, &draft));
        match recorded.outcome {
            Outcome::Created(interaction) => interaction.id.map(|id| id.0),
            _ => None,
        }
    }

    fn enters(&self, who: i64, device: DeviceId, at: &str) -> Option<i64> {
        self.scan("check-in", &format!("id:{who}"), device, at, at)
    }

    fn undo(&self, id: i64, now: &str) {
        let ctx = Context::of_command("api", Arc::clone(&self.settings));
        self.write(now, |tx| remove::remove(tx, &ctx, id));
    }

    fn people(&self) -> Vec<DelegateId> {
        let people = inside::people(&self.file, HALL, None, 99).unwrap();
        people.iter().map(|person| person.delegate).collect()
    }

    /// Does what the server does at a time; returns how many places had a moment.
    fn looks(&self, now: &str) -> usize {
        let at = self.at(now);
        let zone = self.settings.zone.iana_name();
        if is_out_of_step(&self.file, zone, at).unwrap() {
            self.write(now, |tx| fall_into_step(tx, zone));
        }
        let places = due(&self.file, &self.settings.zone, at).unwrap();
        for place in &places {
            let (people, codes) = (self.people(), late_codes::waiting(&self.file).unwrap());
            self.write(now, |tx| {
                leave(
                    tx,
                    &self.settings.zone,
                    *place,
                    Leaving::ByRule(at),
                    &people,
                )?;
                leave_by_code(tx, &self.settings, *place, Leaving::ByRule(at), &codes)?;
                keep(tx, *place, at)
            });
        }
        let is_there = "SELECT deleted_at IS NULL FROM devices WHERE id = 1";
        if self.file.query_row(is_there, [], |row| row.get(0)).unwrap() {
            assert_eq!(recount::drift(&self.file).unwrap(), []);
        }
        places.len()
    }

    fn inside(&self) -> i64 {
        counters::people(&self.file, HALL).unwrap()
    }

    /// Lists the times at which the server checked people out, each with who it was.
    fn left(&self) -> Vec<String> {
        let sql = "SELECT first_delegate_id, moment, recorded_at, interaction_type, first_device_id FROM interactions
                   WHERE data = ?1 ORDER BY id";
        let mut statement = self.file.prepare(sql).unwrap();
        let rows = statement.query_map([DATA], |row| {
            let (moment, recorded_at): (Timestamp, Timestamp) = (row.get(1)?, row.get(2)?);
            assert_eq!(moment, recorded_at);
            assert_eq!(row.get::<_, String>(3)?, "check-out");
            assert_eq!(row.get::<_, DeviceId>(4)?, HALL);
            let at = self.settings.zone.iso(moment);
            Ok(format!("{} {}", row.get::<_, i64>(0)?, &at[..16]))
        });
        rows.unwrap().map(Result::unwrap).collect()
    }

    fn conflicts(&self) -> i64 {
        let sql = "SELECT count(*) FROM conflicts";
        self.file.query_row(sql, [], |row| row.get(0)).unwrap()
    }
}

#[test]
fn everybody_but_the_crew_leaves_once() {
    let venue = Venue::new("23:00");
    venue.enters(GUEST, ROOM, "2026-11-20 20:00:00");
    venue.enters(2, HALL, "2026-11-20 21:00:00");
    venue.enters(CREW, HALL, "2026-11-20 21:00:00");
    assert_eq!(
        (venue.looks("2026-11-20 22:59:59"), venue.inside()),
        (1, 3),
        "moments before"
    );
    assert_eq!(venue.looks("2026-11-20 22:59:59"), 0);
    assert_eq!((venue.looks("2026-11-20 23:00:00"), venue.inside()), (1, 1));
    assert_eq!(venue.left(), ["2 2026-11-20T23:00", "1 2026-11-20T23:00"]);
    // A ticket that left enters again, and stays until the next day.
    assert!(venue.enters(2, HALL, "2026-11-20 23:00:05").is_some());
    assert_eq!((venue.looks("2026-11-20 23:00:06"), venue.inside()), (0, 2));
    assert_eq!((venue.looks("2026-11-21 23:00:00"), venue.inside()), (1, 1));
    assert_eq!(venue.left()[2..], ["2 2026-11-21T23:00"]);
}

#[test]
fn days_without_a_server_give_one_check_out() {
    let venue = Venue::new("23:00");
    venue.looks("2026-11-20 19:00:00");
    venue.enters(GUEST, HALL, "2026-11-20 20:00:00");
    venue.scan(
        "check-in",
        "id:2",
        ROOM,
        "2026-11-21 10:00:00",
        "2026-11-21 10:00:00",
    );
    assert_eq!((venue.looks("2026-11-23 08:00:00"), venue.inside()), (1, 0));
    assert_eq!(venue.left(), ["2 2026-11-21T23:00", "1 2026-11-20T23:00"]);
}

#[test]
fn what_was_cut_off_goes_on() {
    let venue = Venue::new("23:00");
    venue.looks("2026-11-20 19:00:00");
    for who in [GUEST, 2] {
        venue.enters(who, HALL, "2026-11-20 20:00:00");
    }
    let now = venue.at("2026-11-20 23:00:01");
    venue.write("2026-11-20 23:00:01", |tx| {
        leave(
            tx,
            &venue.settings.zone,
            HALL,
            Leaving::ByRule(now),
            &[DelegateId(GUEST)],
        )
    });
    assert_eq!(venue.inside(), 1);
    assert_eq!((venue.looks("2026-11-21 08:00:00"), venue.inside()), (1, 0));
    assert_eq!(venue.left(), ["1 2026-11-20T23:00", "2 2026-11-20T23:00"]);
    assert_eq!(venue.looks("2026-11-21 08:00:01"), 0);
}

#[test]
fn a_rule_does_not_act_back_in_time() {
    let venue = Venue::new("23:00");
    let set = |now: &str, time: &str| {
        let sql = "UPDATE devices SET data = ?1, updated_at = ?2 WHERE id = 1";
        let data = json!({"Access": {"everybodyOutAt": time}}).to_string();
        venue.file.execute(sql, (data, venue.at(now))).unwrap();
        venue.write(now, |tx| fall_into_step(tx, "Europe/Berlin"));
    };
    venue.looks("2026-11-20 19:00:00");
    venue.enters(GUEST, HALL, "2026-11-20 20:00:00");
    set("2026-11-20 22:30:00", "22:00");
    assert_eq!((venue.looks("2026-11-20 22:31:00"), venue.inside()), (0, 1));
    // Nor on a scan that arrives late.
    venue.scan(
        "check-in",
        "id:2",
        HALL,
        "2026-11-20 21:00:00",
        "2026-11-20 22:40:00",
    );
    assert_eq!(venue.inside(), 2);
    venue.write("2026-11-21 21:00:00", |tx| fall_into_step(tx, "Asia/Tokyo"));
    venue.write("2026-11-21 21:30:00", |tx| {
        fall_into_step(tx, "Europe/Berlin")
    });
    assert_eq!((venue.looks("2026-11-21 21:31:00"), venue.inside()), (0, 2));
    assert_eq!((venue.looks("2026-11-21 22:00:00"), venue.inside()), (1, 0));
    // A place that comes back begins anew.
    venue.enters(GUEST, HALL, "2026-11-22 20:00:00");
    venue
        .file
        .execute("UPDATE devices SET deleted_at = 5 WHERE id = 1", [])
        .unwrap();
    assert_eq!(venue.looks("2026-11-22 22:00:00"), 0);
    let restored = venue.at("2026-11-22 22:10:00");
    let sql = "UPDATE devices SET deleted_at = NULL, updated_at = ?1 WHERE id = 1";
    venue.file.execute(sql, [restored]).unwrap();
    assert_eq!((venue.looks("2026-11-22 22:11:00"), venue.inside()), (0, 1));
}

#[test]
fn a_scan_that_arrives_after_the_moment_is_checked_out_at_once() {
    let venue = Venue::new("23:00");
    let now = "2026-11-21 09:00:00";
    venue.looks("2026-11-21 08:00:00");
    let late = |kind: &str, who: i64, at: &str| {
        venue.scan(
            kind,
            &format!("id:{who}"),
            ROOM,
            &format!("2026-11-{at}"),
            now,
        )
    };
    let id = late("check-in", GUEST, "20 22:00:00").unwrap();
    assert_eq!(
        (venue.left(), venue.inside()),
        (vec!["1 2026-11-20T23:00".to_owned()], 0)
    );
    // The gate tells the rest of the evening.
    late("check-out", GUEST, "20 22:30:00");
    late("check-in", GUEST, "20 22:45:00");
    assert_eq!(
        (venue.left().len(), venue.inside()),
        (1, 0),
        "the check-out is later than both"
    );
    assert!(late("check-in", CREW, "20 22:00:00").is_some());
    assert!(late("check-in", 2, "20 23:30:00").is_some());
    assert_eq!((venue.left().len(), venue.inside()), (1, 2));
    assert_eq!(venue.conflicts(), 0);
    venue.undo(id, now);
    assert_eq!(
        (venue.left().len(), venue.inside()),
        (0, 3),
        "the later check-in has no check-out"
    );
    assert_eq!(venue.looks("2026-11-21 22:00:00"), 0);
    assert_eq!((venue.looks("2026-11-21 23:00:00"), venue.inside()), (1, 1));
}

#[test]
fn a_late_check_out_under_single_entry_is_no_conflict() {
    let venue = Venue::new("23:00");
    let now = "2026-11-21 09:00:00";
    venue.scan("check-in", "id:1", HALL, "2026-11-20 22:00:00", now);
    venue.scan("check-out", "id:1", HALL, "2026-11-20 22:30:00", now);
    assert_eq!((venue.conflicts(), venue.left().len()), (0, 1));
    // Whoever was not inside by then leaves nothing.
    venue.scan("check-out", "id:2", HALL, "2026-11-20 22:30:00", now);
    assert_eq!(venue.conflicts(), 1);
}

#[test]
fn whoever_is_checked_in_again_by_an_undo_stays_until_the_next_moment() {
    let venue = Venue::new("23:00");
    venue.looks("2026-11-20 19:00:00");
    let first = venue.enters(GUEST, HALL, "2026-11-20 20:00:00").unwrap();
    let second = venue.enters(2, HALL, "2026-11-20 20:00:00").unwrap();
    venue.undo(second, "2026-11-20 20:01:00");
    venue.looks("2026-11-20 23:00:00");
    assert_eq!((venue.left().len(), venue.inside()), (1, 0));
    let sql = "SELECT max(id) FROM interactions";
    let check_out = venue.file.query_row(sql, [], |row| row.get(0)).unwrap();
    venue.undo(check_out, "2026-11-20 23:30:00");
    assert_eq!((venue.looks("2026-11-21 22:59:59"), venue.inside()), (0, 1));
    assert_eq!((venue.looks("2026-11-21 23:00:00"), venue.inside()), (1, 0));
    assert_eq!(venue.left(), ["1 2026-11-21T23:00"]);
    // A check-out of the evening stays when the check-in is undone later.
    venue.undo(first, "2026-11-21 23:10:00");
    assert_eq!((venue.left().len(), venue.inside()), (1, 0));
}

#[test]
fn crew_who_become_guests_leave_at_the_next_moment() {
    let venue = Venue::new("23:00");
    venue.enters(CREW, HALL, "2026-11-20 20:00:00");
    venue.looks("2026-11-20 23:00:00");
    venue
        .file
        .execute("UPDATE delegates SET delegate_type = 'guest'", [])
        .unwrap();
    assert_eq!((venue.looks("2026-11-21 22:00:00"), venue.inside()), (0, 1));
    venue.looks("2026-11-21 23:00:00");
    assert_eq!(venue.left(), ["3 2026-11-21T23:00"]);
}

#[test]
fn an_hour_that_is_missing_counts_at_the_next_and_one_that_is_doubled_at_its_first() {
    let venue = Venue::new("02:30");
    venue.looks("2026-03-28 19:00:00");
    venue.enters(GUEST, HALL, "2026-03-28 20:00:00");
    assert_eq!(venue.looks("2026-03-29T03:29:59+02:00"), 0);
    assert_eq!(
        (venue.looks("2026-03-29T03:30:00+02:00"), venue.inside()),
        (1, 0)
    );
    venue.looks("2026-10-24 19:00:00");
    venue.enters(GUEST, HALL, "2026-10-24 20:00:00");
    assert_eq!(
        (venue.looks("2026-10-25T02:30:00+02:00"), venue.inside()),
        (1, 0)
    );
    venue.enters(GUEST, HALL, "2026-10-25T02:40:00+02:00");
    assert_eq!(
        (venue.looks("2026-10-25T02:30:00+01:00"), venue.inside()),
        (0, 1)
    );
    assert_eq!(venue.left(), ["1 2026-03-29T03:30", "1 2026-10-25T02:30"]);
}

#[test]
fn a_clock_that_was_ahead_keeps_nobody_inside() {
    let venue = Venue::new("23:00");
    venue.looks("2027-11-20 19:00:00");
    venue.enters(GUEST, HALL, "2026-11-20 20:00:00");
    assert_eq!((venue.looks("2026-11-20 20:01:00"), venue.inside()), (0, 1));
    assert_eq!((venue.looks("2026-11-20 23:00:00"), venue.inside()), (1, 0));
}

#[test]
fn whoever_has_an_unknown_code_leaves_too() {
    let venue = Venue::new("23:00");
    venue.looks("2026-11-20 19:00:00");
    let waits = |code: &str, at: &str, now: &str| {
        let scanned = venue.scan("check-in", &format!("barcode:{code}"), HALL, at, now);
        assert_eq!(scanned, None);
    };
    waits("X1", "2026-11-20 20:00:00", "2026-11-20 20:10:00");
    assert_eq!(venue.inside(), 1);
    assert_eq!((venue.looks("2026-11-20 23:00:00"), venue.inside()), (1, 0));
    waits("X2", "2026-11-20 22:00:00", "2026-11-21 09:00:00");
    assert_eq!(venue.inside(), 0);
    for (who, code) in [(GUEST, "X1"), (2, "X2")] {
        let sql = "UPDATE delegates SET barcode = ?2 WHERE id = ?1";
        venue.file.execute(sql, (who, code)).unwrap();
        let ctx = Context::of_command("api", Arc::clone(&venue.settings));
        venue.write("2026-11-21 10:00:00", |tx| {
            late_codes::settle(tx, &ctx, DelegateId(who))
        });
    }
    assert_eq!(venue.inside(), 0);
    assert_eq!(venue.left(), ["1 2026-11-20T23:00", "2 2026-11-20T23:00"]);
    assert!(late_codes::waiting(&venue.file).unwrap().is_empty());
}

#[test]
fn for_reports_such_a_stay_has_no_check_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.db");
    let file = Connection::open(&path).unwrap();
    migrate::create(&file).unwrap();
    let begin = Timestamp::now().0 / 1000 * 1000 - 30 * 3_600_000;
    for (id, data) in [(1, DATA), (2, r#"{"reason":"tired"}"#)] {
        file.execute_batch(&format!(
            "INSERT INTO devices (id, code, public_id, sources, created_at, updated_at)
             VALUES ({id}, {id}, {id}, '[]', 0, 0);
             INSERT INTO delegates (id, public_id, sources, created_at, updated_at) VALUES ({id}, {id}, '[]', 0, 0);
             INSERT INTO interactions (interaction_type, first_delegate_id, first_device_id, data, recorded_at, created_at)
             VALUES ('check-in', {id}, {id}, NULL, {begin}, 0),
                    ('check-out', {id}, {id}, '{data}', {begin} + 3600000, 0)"
        ))
        .unwrap();
    }
    let reports = Sandbox::open(&path).unwrap();
    let sql = "SELECT unixepoch(ends_at) - unixepoch(begins_at) FROM stays WHERE delegate_id = :id";
    for (id, seconds) in [(1, 86_400), (2, 3_600)] {
        assert_eq!(reports.scalar(sql, id).unwrap(), Value::Integer(seconds));
    }
}
