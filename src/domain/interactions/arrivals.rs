//! Arrived of expected: attendees with a check-in anywhere, out of those who may come, by type. Kept in
//! memory and brought up to date from the change feed whenever somebody asks, so that a check-in writes
//! nothing for it and the numbers are always those of the file.
//!
//! - Expected: every attendee who is not deleted. Whom a note of the level `stop` holds is expected only
//!   once they came.
//! - Arrived: expected, and checked in at least once, at whatever place and on whatever day; a check-out
//!   does not take that back. Deleting the check-in does.
//! - Today: arrived, and checked in on this day of the venue.

use super::presence::PresenceChange;
use crate::{
    core::{
        changes::{self, Changed, Position, action},
        rules::folded,
    },
    domain::delegates::note::Level,
    types::{Day, DelegateId, Timestamp, error::Result},
};
use rusqlite::{Connection, OptionalExtension, params};
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// With more changes, or more check-ins, since the last look it is quicker to count anew.
const CHANGES_MAX: usize = 2_000;
const ENTRIES_MAX: usize = 100_000;
/// Between two counts of everybody passes so many times what one takes.
const REST: u32 = 40;
const MINUTE_MS: i64 = 60_000;

/// The people of one type.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OfType {
    /// The type, as most of them have it; empty for attendees without one.
    pub name: String,
    pub expected: i64,
    pub arrived: i64,
}

/// The number of people who have come, of those expected.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Arrived {
    pub expected: i64,
    pub arrived: i64,
    /// The number of them who checked in today.
    pub today: i64,
    /// Types with the most people first.
    pub by_type: Vec<OfType>,
    /// People whose first check-in of this day was in each minute since the epoch.
    pub by_minute: BTreeMap<i64, i64>,
}

/// Follows who arrives.
#[derive(Default)]
pub struct Arrivals(Mutex<State>);

#[derive(Default)]
struct State {
    followed: Option<Followed>,
    people: HashMap<DelegateId, Person>,
    /// Names of types; a person has the number of one.
    types: Vec<String>,
    /// Something happened of which only a count of everybody can tell.
    is_off: bool,
    /// The time of the last count of everybody, and how long that took.
    counted: Option<(Instant, Duration)>,
}

/// The part of the file that is known.
#[derive(Clone, Copy)]
struct Followed {
    generation: i64,
    to: Position,
    day: Day,
}

#[derive(Clone, Copy)]
struct Person {
    kind: usize,
    is_held: bool,
    has_arrived: bool,
    /// The first check-in of the day.
    today: Option<Timestamp>,
}

impl Arrivals {
    /// Brings the numbers up to date with the file.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn follow(&self, connection: &Connection, day: Day) -> Result<()> {
        self.state().follow(connection, day)
    }

    /// The numbers as of the last look.
    pub fn now(&self) -> Arrived {
        self.state().sum()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn follow(&mut self, connection: &Connection, day: Day) -> Result<()> {
        let generation = changes::generation(connection)?;
        // Before anything else is read: what comes in meanwhile is looked at once more, which does no harm.
        let newest = changes::newest(connection)?;
        let known = self.followed.filter(|known| {
            known.generation == generation
                && known.day == day
                && known.to.change <= newest.change
                && known.to.interaction <= newest.interaction
        });
        let Some(known) = known else {
            return self.count(connection, generation, newest, day);
        };
        self.is_off |= !self.catch_up(connection, known.to, newest, day)?;
        if self.is_off {
            let rests = |(at, took): (Instant, Duration)| at.elapsed() < took * REST;
            if !self.counted.is_some_and(rests) {
                return self.count(connection, generation, newest, day);
            }
        }
        self.followed = Some(Followed {
            to: newest,
            ..known
        });
        Ok(())
    }

    /// Takes in what happened between two positions; false where only a count of everybody can.
    fn catch_up(
        &mut self,
        connection: &Connection,
        from: Position,
        to: Position,
        day: Day,
    ) -> Result<bool> {
        let mut is_all = true;
        if from.change != to.change {
            let Some(changed) = changed(connection, from)? else {
                return Ok(false);
            };
            is_all = changed.is_all;
            for delegate in changed.people {
                self.read(connection, delegate, day)?;
            }
        }
        let entries = entries(connection, from.interaction)?;
        if entries.len() > ENTRIES_MAX {
            return Ok(false);
        }
        for (delegate, moment) in entries {
            match self.people.get_mut(&delegate) {
                Some(person) => person.arrive(moment, day),
                None => self.read(connection, delegate, day)?,
            }
        }
        Ok(is_all)
    }

    /// Reads one person.
    fn read(&mut self, connection: &Connection, delegate: DelegateId, day: Day) -> Result<()> {
        let found: Option<(Option<String>, bool)> = connection
            .prepare_cached(
                "SELECT d.delegate_type, EXISTS (SELECT 1 FROM gate_notes n WHERE n.delegate_id = d.id AND n.level = ?2)
                 FROM delegates d WHERE d.id = ?1 AND d.deleted_at IS NULL",
            )?
            .query_row(params![delegate, Level::Stop.name()], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .optional()?;
        let Some((kind, is_held)) = found else {
            self.people.remove(&delegate);
            return Ok(());
        };
        let (last, today): (Option<Timestamp>, _) = connection
            .prepare_cached(
                "SELECT max(moment), min(iif(moment >= ?2, moment, NULL)) FROM interactions
                 WHERE first_delegate_id = ?1 AND effect = ?3",
            )?
            .query_row(
                params![delegate, day.begins, PresenceChange::Enter],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )?;
        let kind = self.kind(kind.unwrap_or_default());
        let person = Person {
            kind,
            is_held,
            has_arrived: last.is_some(),
            today,
        };
        self.people.insert(delegate, person);
        Ok(())
    }

    fn kind(&mut self, name: String) -> usize {
        let known = self.types.iter().position(|known| *known == name);
        known.unwrap_or_else(|| {
            self.types.push(name);
            self.types.len() - 1
        })
    }

    /// Counts everybody, from indexes alone.
    fn count(
        &mut self,
        connection: &Connection,
        generation: i64,
        to: Position,
        day: Day,
    ) -> Result<()> {
        let begun = Instant::now();
        self.people.clear();
        self.types = vec![String::new()];
        let mut statement = connection.prepare_cached(
            "SELECT id FROM delegates INDEXED BY delegates_alive WHERE deleted_at IS NULL",
        )?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let person = Person {
                kind: 0,
                is_held: false,
                has_arrived: false,
                today: None,
            };
            self.people.insert(row.get(0)?, person);
        }
        self.count_types(connection)?;
        let mut statement =
            connection.prepare_cached("SELECT delegate_id FROM gate_notes WHERE level = ?1")?;
        let mut rows = statement.query([Level::Stop.name()])?;
        while let Some(row) = rows.next()? {
            if let Some(person) = self.people.get_mut(&row.get(0)?) {
                person.is_held = true;
            }
        }
        let mut statement = connection.prepare_cached(
            "SELECT first_delegate_id, min(iif(moment >= ?1, moment, NULL))
             FROM interactions INDEXED BY interactions_first_delegate
             WHERE first_delegate_id IS NOT NULL AND effect = ?2 GROUP BY first_delegate_id",
        )?;
        let mut rows = statement.query(params![day.begins, PresenceChange::Enter])?;
        while let Some(row) = rows.next()? {
            if let Some(person) = self.people.get_mut(&row.get(0)?) {
                person.has_arrived = true;
                person.today = row.get(1)?;
            }
        }
        self.is_off = false;
        self.counted = Some((Instant::now(), begun.elapsed()));
        self.followed = Some(Followed {
            generation,
            to,
            day,
        });
        Ok(())
    }

    fn count_types(&mut self, connection: &Connection) -> Result<()> {
        let mut statement = connection.prepare_cached(
            "SELECT delegate_type, id FROM delegates INDEXED BY delegates_type
             WHERE delegate_type IS NOT NULL AND deleted_at IS NULL ORDER BY delegate_type",
        )?;
        let mut rows = statement.query([])?;
        // In the order of types, so that only another one is looked for.
        let mut kind = 0;
        while let Some(row) = rows.next()? {
            let name = row.get_ref(0)?.as_str().unwrap_or_default();
            if self.types[kind] != name {
                kind = self.kind(name.to_owned());
            }
            if let Some(person) = self.people.get_mut(&row.get(1)?) {
                person.kind = kind;
            }
        }
        Ok(())
    }

    fn sum(&self) -> Arrived {
        let mut arrived = Arrived::default();
        let of_type = |name: &String| OfType {
            name: name.clone(),
            ..OfType::default()
        };
        let mut by_type: Vec<OfType> = self.types.iter().map(of_type).collect();
        for person in self.people.values() {
            if person.is_held && !person.has_arrived {
                continue;
            }
            let kind = &mut by_type[person.kind];
            kind.expected += 1;
            kind.arrived += i64::from(person.has_arrived);
            if let Some(today) = person.today {
                arrived.today += 1;
                *arrived
                    .by_minute
                    .entry(today.0.div_euclid(MINUTE_MS))
                    .or_default() += 1;
            }
        }
        let by_type = alike_as_one(by_type);
        arrived.expected = by_type.iter().map(|kind| kind.expected).sum();
        arrived.arrived = by_type.iter().map(|kind| kind.arrived).sum();
        arrived.by_type = by_type;
        arrived
    }
}

/// Types that differ only in how they are spelt as one, in the spelling that most people have; those with the most
/// people first.
fn alike_as_one(mut spelt: Vec<OfType>) -> Vec<OfType> {
    let by_size = |one: &OfType, other: &OfType| {
        let order = other.expected.cmp(&one.expected);
        order.then_with(|| one.name.cmp(&other.name))
    };
    spelt.retain(|kind| kind.expected > 0);
    spelt.sort_by(by_size);
    let mut types: Vec<OfType> = Vec::with_capacity(spelt.len());
    let mut places = HashMap::with_capacity(spelt.len());
    for kind in spelt {
        let place = *places.entry(folded(&kind.name)).or_insert(types.len());
        match types.get_mut(place) {
            Some(known) => {
                known.expected += kind.expected;
                known.arrived += kind.arrived;
            }
            None => types.push(kind),
        }
    }
    types.sort_by(by_size);
    types
}

impl Person {
    fn arrive(&mut self, moment: Timestamp, day: Day) {
        self.has_arrived = true;
        if moment >= day.begins {
            self.today = Some(self.today.map_or(moment, |known| known.min(moment)));
        }
    }
}

/// The people that changes are about.
struct Touched {
    people: HashSet<DelegateId>,
    /// False where one of them does not tell whom.
    is_all: bool,
}

/// Reads the people whom changes after a position are about; `None` where there are too many.
fn changed(connection: &Connection, from: Position) -> Result<Option<Touched>> {
    let read = changes::changed_after(connection, from.change, CHANGES_MAX + 1)?;
    if read.len() > CHANGES_MAX {
        return Ok(None);
    }
    let mut touched = Touched {
        people: HashSet::new(),
        is_all: true,
    };
    for change in read {
        match (&*change.record_type, change.record) {
            ("delegate", Some(record)) => {
                touched.people.insert(DelegateId(record));
                touched.people.extend(change.into.map(DelegateId));
            }
            // Of people who were merged, which is a change of them.
            ("interaction", _) if change.action == action::REFRESH => {}
            ("interaction", _) => match of_deleted(connection, &change)? {
                Some(delegate) => drop(touched.people.insert(delegate)),
                None => touched.is_all = false,
            },
            _ => {}
        }
    }
    Ok(Some(touched))
}

/// The first delegate of an interaction that was deleted, where the audit has it.
fn of_deleted(connection: &Connection, change: &Changed) -> Result<Option<DelegateId>> {
    let delegate = connection
        .prepare_cached("SELECT before ->> '$.firstDelegate.id' FROM audit WHERE id = ?1")?
        .query_row([change.id], |row| row.get(0))
        .optional()?;
    Ok(delegate.flatten())
}

/// Check-ins after an interaction, up to one more than [`ENTRIES_MAX`].
fn entries(connection: &Connection, after: i64) -> Result<Vec<(DelegateId, Timestamp)>> {
    let mut statement = connection.prepare_cached(
        "SELECT first_delegate_id, moment FROM interactions
         WHERE id > ?1 AND effect = ?2 AND first_delegate_id IS NOT NULL ORDER BY id LIMIT ?3",
    )?;
    let entries = statement.query_map(
        params![after, PresenceChange::Enter, ENTRIES_MAX + 1],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    Ok(entries.collect::<rusqlite::Result<_>>()?)
}
