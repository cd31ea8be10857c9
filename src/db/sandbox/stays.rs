//! The ends of stays, for the view `stays`: one pass over what a delegate did, in place of a query for each row.
//!
//! `stay_places(id, parent_id, is_session, end_at, door_of)` is an aggregate over the devices; of a door it takes `id` and
//! `door_of`. `stay_end(places, recorded_at, device_id, interaction_type)` is a window function over what one delegate
//! did, from the last row to the current one.

use super::allowed::FLAGS;
use crate::types::Timestamp;
use rusqlite::{
    Connection, Result,
    functions::{Aggregate, Context, WindowAggregate},
};
use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, PoisonError},
};

/// The longest stay, in milliseconds.
const DAY_MS: i64 = 86_400_000;
/// Later than everything.
const NEVER: i64 = 1 << 60;
/// The most places above a place that are looked at, should they ever form a circle.
const ABOVE_MAX: usize = 1_000;
/// The value for a row that begins no stay.
const NO_STAY: i64 = 0;

/// A place that is not deleted.
#[derive(Clone, Copy)]
struct Place {
    parent: Option<i64>,
    is_session: bool,
    /// The end of a session.
    end_at: Option<i64>,
}

#[derive(Default)]
struct Places {
    by_id: HashMap<i64, Place>,
    /// The place of each door.
    of_doors: HashMap<i64, i64>,
}

/// Takes the places of a statement, and gives how many there are.
#[derive(Clone, Default)]
struct PlacesOfStatement(Arc<Mutex<Arc<Places>>>);

impl Aggregate<Places, i64> for PlacesOfStatement {
    fn init(&self, _: &mut Context<'_>) -> Result<Places> {
        Ok(Places::default())
    }

    fn step(&self, call: &mut Context<'_>, places: &mut Places) -> Result<()> {
        let id = call.get(0)?;
        if let Some(place) = call.get(4)? {
            places.of_doors.insert(id, place);
            return Ok(());
        }
        let place = Place {
            parent: call.get(1)?,
            is_session: call.get(2)?,
            end_at: call.get(3)?,
        };
        places.by_id.insert(id, place);
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, places: Option<Places>) -> Result<i64> {
        let places = places.unwrap_or_default();
        let count = i64::try_from(places.by_id.len()).unwrap_or(i64::MAX);
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(places);
        Ok(count)
    }
}

/// An action of a delegate.
struct Done {
    at: i64,
    place: i64,
    by_reader: bool,
    leaves: bool,
}

/// The later actions of one delegate, as far as they may end a stay.
struct Delegate {
    places: Arc<Places>,
    now: i64,
    /// By place, of readers and of gates: when, and whether the delegate leaves then.
    next_there: BTreeMap<(i64, bool), (i64, bool)>,
    next_left: BTreeMap<i64, i64>,
    next_session: i64,
    /// When a stay ends that the current action begins, `None` while that goes on, or [`NO_STAY`].
    end: Option<i64>,
}

struct StayEnd(PlacesOfStatement);

impl Aggregate<Delegate, Option<i64>> for StayEnd {
    fn init(&self, _: &mut Context<'_>) -> Result<Delegate> {
        let places = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Delegate {
            places: Arc::clone(&places),
            now: Timestamp::now().0 / 1000 * 1000,
            next_there: BTreeMap::new(),
            next_left: BTreeMap::new(),
            next_session: NEVER,
            end: Some(NO_STAY),
        })
    }

    fn step(&self, call: &mut Context<'_>, delegate: &mut Delegate) -> Result<()> {
        let device = call.get(2)?;
        let (by_reader, leaves) = match call.get_raw(3).as_str()? {
            "entered" => (true, false),
            "exited" => (true, true),
            kind => (false, kind == "check-out"),
        };
        let of_doors = &delegate.places.of_doors;
        delegate.take(&Done {
            at: call.get(1)?,
            place: of_doors.get(&device).copied().unwrap_or(device),
            by_reader,
            leaves,
        });
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, delegate: Option<Delegate>) -> Result<Option<i64>> {
        Ok(delegate.map_or(Some(NO_STAY), |delegate| delegate.end))
    }
}

impl WindowAggregate<Delegate, Option<i64>> for StayEnd {
    fn value(&self, delegate: Option<&mut Delegate>) -> Result<Option<i64>> {
        Ok(delegate.map_or(Some(NO_STAY), |delegate| delegate.end))
    }

    fn inverse(&self, _: &mut Context<'_>, _: &mut Delegate) -> Result<()> {
        // The view's window takes no row out again.
        Err(rusqlite::Error::UserFunctionError(
            "stay_end is for the view stays".into(),
        ))
    }
}

impl Delegate {
    /// Takes the action before those that it knows.
    fn take(&mut self, done: &Done) {
        self.end = Some(NO_STAY);
        if let Some(place) = self.places.by_id.get(&done.place).copied() {
            if !done.leaves {
                self.end = self.end_of(done, place);
                if place.is_session {
                    self.next_session = done.at;
                }
            }
            let there = (done.place, done.by_reader);
            self.next_there.insert(there, (done.at, done.leaves));
        }
        if done.leaves {
            self.next_left.insert(done.place, done.at);
        }
    }

    fn end_of(&self, done: &Done, place: Place) -> Option<i64> {
        let there = (done.place, done.by_reader);
        let next_there = self.next_there.get(&there).copied();
        let (next_at, next_leaves) = next_there.unwrap_or((NEVER, false));
        let told_at = if done.by_reader {
            next_at
        } else {
            let next_session = if place.is_session {
                self.next_session
            } else {
                NEVER
            };
            next_at.min(next_session).min(self.left_above(done.place))
        };
        let closes_at = if done.by_reader && next_leaves {
            NEVER
        } else {
            done.at.max(place.end_at.unwrap_or(NEVER))
        };
        let ends_at = told_at.min(closes_at).min(done.at.saturating_add(DAY_MS));
        (ends_at >= told_at || ends_at <= self.now).then_some(ends_at)
    }

    /// Returns when the delegate next leaves a place, or one above it.
    fn left_above(&self, place: i64) -> i64 {
        if self.next_left.is_empty() {
            return NEVER;
        }
        let parent = |place: &i64| self.places.by_id.get(place).and_then(|place| place.parent);
        let above = std::iter::successors(Some(place), parent).take(ABOVE_MAX);
        above
            .filter_map(|place| self.next_left.get(&place).copied())
            .min()
            .unwrap_or(NEVER)
    }
}

/// Offers both to a connection.
pub(super) fn offer(connection: &Connection) -> Result<()> {
    let places = PlacesOfStatement::default();
    connection.create_aggregate_function("stay_places", 5, FLAGS, places.clone())?;
    connection.create_window_function("stay_end", 4, FLAGS, StayEnd(places))
}

#[cfg(test)]
mod tests {
    use super::super::{DEFINITIONS, RECORDS, allowed, record_view};
    use crate::{
        db::migrate,
        types::{Timestamp, Zone},
    };
    use rusqlite::{Connection, params, params_from_iter, types::Value};

    /// Numbers that look random and are the same each time.
    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, most: i64) -> i64 {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            i64::try_from(self.0 >> 33).unwrap() % most
        }
    }

    /// A venue of rooms and sessions in a tree, some deleted, and what people did there within two days around now.
    fn venue(seed: u64) -> Connection {
        let mut numbers = Numbers(seed);
        let connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch("ATTACH ':memory:' AS file; PRAGMA foreign_keys = OFF")
            .unwrap();
        let schema = Connection::open_in_memory().unwrap();
        migrate::create(&schema).unwrap();
        for name in [
            "delegates",
            "devices",
            "interactions",
            "interactions_first_delegate",
        ] {
            let sql = "SELECT sql FROM sqlite_schema WHERE name = ?1";
            let sql: String = schema.query_row(sql, [name], |row| row.get(0)).unwrap();
            let sql = sql.replacen(name, &format!("file.{name}"), 1);
            connection.execute_batch(&sql).unwrap();
        }
        let hour = 3_600_000;
        let begin = Timestamp::now().0 - 36 * hour;
        for id in 1..=9 {
            let is_session = numbers.below(2) == 0;
            let starts = (numbers.below(4) > 0).then(|| begin + numbers.below(40) * hour + 999);
            let ends = (numbers.below(3) > 0)
                .then(|| starts.unwrap_or(begin) + (1 + numbers.below(9)) * hour);
            connection
                .execute(
                    "INSERT INTO file.devices (id, parent_id, device_type, start_at, end_at, code, public_id, name, sources,
                         created_at, updated_at, deleted_at)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?1, ?1, 'Place ' || ?1, '[]', 0, 0, ?6)",
                    params![
                        id,
                        (id > 1).then(|| 1 + numbers.below(id - 1)),
                        if is_session { Some("session") } else { [Some("room"), None][usize::from(id % 2 == 0)] },
                        starts,
                        ends,
                        (numbers.below(6) == 0).then_some(1),
                    ],
                )
                .unwrap();
        }
        for id in 1..=6 {
            connection
                .execute(
                    "INSERT INTO file.delegates (id, public_id, sources, created_at, updated_at, deleted_at)
                     VALUES (?1, ?1, '[]', 0, 0, ?2)",
                    params![id, (id == 6).then_some(1)],
                )
                .unwrap();
        }
        let kinds = [
            "entered",
            "exited",
            "check-in",
            "check-in-override",
            "check-out",
            "join",
        ];
        for _ in 0..250 {
            connection
                .execute(
                    "INSERT INTO file.interactions (interaction_type, first_delegate_id, first_device_id, recorded_at,
                         created_at)
                     VALUES (?1, ?2, ?3, ?4, 0)",
                    params![
                        kinds[usize::try_from(numbers.below(6)).unwrap()],
                        (numbers.below(20) > 0).then(|| 1 + numbers.below(7)),
                        (numbers.below(20) > 0).then(|| 1 + numbers.below(10)),
                        // Often two at once.
                        begin + numbers.below(120) * hour * 2 / 5,
                    ],
                )
                .unwrap();
        }
        allowed::offer(&connection, Zone::default()).unwrap();
        for table in RECORDS {
            let view = record_view(&connection, "file", table).unwrap();
            connection.execute_batch(&view).unwrap();
        }
        connection.execute_batch(DEFINITIONS).unwrap();
        connection
            .execute_batch(include_str!("stays/by_query.sql"))
            .unwrap();
        connection
    }

    /// The rows of a statement as text, in order of that; parameters are empty.
    fn rows(connection: &Connection, sql: &str) -> Vec<String> {
        let mut statement = connection.prepare(sql).unwrap();
        let columns = statement.column_count();
        let parameters = vec![Value::Null; statement.parameter_count()];
        let rows = statement.query_map(params_from_iter(parameters), |row| {
            let values = (0..columns).map(|at| row.get(at));
            let values: rusqlite::Result<Vec<Value>> = values.collect();
            Ok(format!("{:?}", values?))
        });
        let mut rows: Vec<_> = rows.unwrap().map(Result::unwrap).collect();
        rows.sort();
        rows
    }

    /// Compares two statements at one time: what goes on has lasted longer a second later. The rows.
    fn same_rows(connection: &Connection, now: &str, before: &str, seed: u64) -> Vec<String> {
        loop {
            let (found, expected) = (rows(connection, now), rows(connection, before));
            if found == rows(connection, now) {
                assert_eq!(found, expected, "seed {seed}: {now}");
                return found;
            }
        }
    }

    #[test]
    fn stays_are_those_that_a_query_for_each_row_finds() {
        let mut open = 0;
        for seed in 0..40 {
            let connection = venue(seed);
            let all = "SELECT * FROM stays";
            let stays = same_rows(&connection, all, "SELECT * FROM stays_by_query", seed);
            assert!(stays.len() > 20, "{}", stays.len());
            open += stays.iter().filter(|stay| stay.contains(" Null,")).count();
            let of_one = |from: &str| format!("SELECT * FROM {from} WHERE delegate_id = 3");
            same_rows(
                &connection,
                &of_one("stays"),
                &of_one("stays_by_query"),
                seed,
            );
        }
        assert!(open > 40, "{open}");
    }

    #[test]
    fn reports_of_stays_give_what_they_gave() {
        let schema = Connection::open_in_memory().unwrap();
        migrate::create(&schema).unwrap();
        for (id, before) in [
            ("heat", include_str!("stays/heat_by_query.sql")),
            ("time-spent", include_str!("stays/time_spent_by_query.sql")),
        ] {
            let sql = "SELECT query FROM reports WHERE id = ?1";
            let now: String = schema.query_row(sql, [id], |row| row.get(0)).unwrap();
            let mut count = 0;
            for seed in 0..40 {
                let connection = venue(seed);
                count += same_rows(&connection, &now, before, seed).len();
            }
            assert!(count > 100, "{id}: {count}");
        }
    }

    #[test]
    fn what_is_done_at_a_door_is_done_at_its_place() {
        let all = "SELECT * FROM stays";
        let to_doors = "UPDATE file.interactions SET first_device_id = first_device_id + 100
            WHERE id % 2 AND first_device_id + 100 IN (SELECT id FROM file.devices)";
        let to_places = "UPDATE file.interactions SET first_device_id = first_device_id - 100 WHERE first_device_id > 100";
        for seed in 0..10 {
            let connection = venue(seed);
            // A door of each place, some deleted.
            connection
                .execute_batch(
                    "INSERT INTO file.devices (id, parent_id, device_type, code, public_id, sources, created_at, updated_at,
                         deleted_at)
                     SELECT id + 100, id, 'door', id + 100, id + 100, '[]', 0, 0, iif(id % 3 = 0, 1, NULL)
                     FROM file.devices WHERE deleted_at IS NULL",
                )
                .unwrap();
            let moved = |to: &str| {
                connection.execute_batch(to).unwrap();
                rows(&connection, all)
            };
            // What goes on may end meanwhile.
            loop {
                let (at_places, at_doors) = (rows(&connection, all), moved(to_doors));
                if at_places == moved(to_places) {
                    assert_eq!(at_doors, at_places, "seed {seed}");
                    assert!(at_doors.len() > 20, "{}", at_doors.len());
                    break;
                }
            }
        }
    }

    /// A report or a statement about one person does not read what everybody did.
    #[test]
    fn the_stays_of_one_delegate_are_found_by_an_index() {
        let connection = venue(1);
        let plan = |sql: &str| -> String {
            let mut statement = connection
                .prepare(&format!("EXPLAIN QUERY PLAN {sql}"))
                .unwrap();
            let rows = statement
                .query_map([], |row| row.get::<_, String>(3))
                .unwrap();
            rows.map(Result::unwrap).collect::<Vec<_>>().join("\n")
        };
        let found = plan("SELECT * FROM stays WHERE delegate_id = 3");
        assert!(
            found.contains("interactions_first_delegate (first_delegate_id=?"),
            "{found}"
        );
        let all = plan("SELECT * FROM stays");
        assert!(
            all.contains("SCAN file.interactions\n") && !all.contains("USING INDEX interactions"),
            "{all}"
        );
    }
}
