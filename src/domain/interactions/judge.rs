//! Gathers the facts that the rules need for one interaction, from one state of the store, and has
//! them judged. Devices are cached: each is looked up and its rules are read once, however many interactions are
//! at it, for as long as no device changes (see [`crate::db::Tx::cache`]). So is what most events have none
//! of: gate notes, and people who were uninvited by another.

use super::{
    days, everybody_out,
    presence::{self, History, PresenceChange},
    types,
};
use crate::{
    core::{
        presence::PlacePresence,
        rules::{
            self, AccessRules, CheckInFacts, Door, Entry, Passage, Per, Place, Position,
            PresenceState, Room, RuleSet,
        },
        settings::{self, Settings},
    },
    db::Tx,
    domain::{
        delegates::{self, note},
        devices::{self, doors::Doors},
    },
    types::{
        Day, DelegateId, DeviceId, DeviceSelector, Timestamp,
        error::{Error, Kind, Refusal, Result},
    },
};
use rusqlite::{Connection, OptionalExtension};
use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    hash::Hash,
    rc::Rc,
};

/// May this delegate pass at this device?
pub struct Question<'a> {
    /// In or out.
    pub passage: Passage,
    pub delegate: DelegateId,
    pub device: DeviceId,
    /// The history of the delegate so far.
    pub history: &'a History,
    /// Devices the delegate is inside of, in order.
    pub inside: &'a [DeviceId],
    /// Counts the delegates inside a device.
    pub people: &'a dyn Fn(DeviceId) -> Result<i64>,
    /// The time of the passage: the earlier of recording and arrival.
    pub at: Timestamp,
    pub now: Timestamp,
    /// The settings in force.
    pub settings: &'a Settings,
}

/// Answers by the rules: those of the place, then at one of its doors those of the door.
///
/// # Errors
/// [`crate::types::error::Kind::Refused`], and when the facts cannot be read.
pub fn judge(
    connection: &Connection,
    device_cache: &DeviceCache,
    question: &Question<'_>,
) -> Result<()> {
    let settings = question.settings;
    let doors = device_cache.doors(connection)?;
    let place = doors.place_of(question.device);
    let known = device_cache.get(connection, place)?;
    let entering = question.passage == Passage::In;
    let rules = match question.passage {
        Passage::In => in_force(connection, device_cache, place, &settings.access)?,
        Passage::Out => known.rules.clone().map(|own| own.or(&settings.access)),
    };
    let door = if entering && place != question.device {
        let door = device_cache.get(connection, question.device)?;
        Some(door.as_door(&known.place, rules.as_ref()))
    } else {
        None
    };
    let state = question.history.state(connection, device_cache, place)?;
    let facts = if entering {
        let none = AccessRules::default();
        let entrance = Entrance {
            place,
            doors: &doors,
            rules: rules.as_ref().unwrap_or(&none),
            door: door.as_ref(),
            last_in: state.last_in,
        };
        entry_facts(connection, device_cache, question, &entrance)?
    } else {
        EntryFacts::default()
    };
    rules::judge(&CheckInFacts {
        passage: question.passage,
        place: &known.place,
        rules: rules.as_ref(),
        door: door.as_ref(),
        state: &state,
        last_passage: &|last| recorded_at_door(connection, device_cache, place, last),
        inside: may_leave(connection, device_cache, question, place)?,
        entries: facts.entries,
        last_in_of_day: facts.last_in_of_day,
        is_today: facts.day.is_none_or(|day| day.contains(question.now)),
        attendee_type: facts.attendee_type.as_deref(),
        joined: facts.joined,
        rooms: &facts.rooms,
        at: question.at,
        now: question.now,
        zone: &settings.zone,
    })
}

/// The time of an interaction, and the name of its door, if it was at a door of the place.
fn recorded_at_door(
    connection: &Connection,
    device_cache: &DeviceCache,
    place: DeviceId,
    position: Position,
) -> Result<(Timestamp, Option<String>)> {
    let (at, device) = presence::recorded_where(connection, position)?;
    let door = if device == place {
        None
    } else {
        Some(device_cache.get(connection, device)?.place.name.clone())
    };
    Ok((at, door))
}

/// The place that somebody wants to enter, with its rules.
struct Entrance<'a> {
    place: DeviceId,
    doors: &'a Doors,
    /// The rules in force.
    rules: &'a AccessRules,
    door: Option<&'a Door>,
    /// The delegate's last check-in there.
    last_in: Option<Position>,
}

/// The facts that matter to an entry only, as far as its rules ask for them; see [`CheckInFacts`].
#[derive(Default)]
struct EntryFacts {
    /// The day of the passage.
    day: Option<Day>,
    joined: bool,
    last_in_of_day: Option<Position>,
    entries: u32,
    attendee_type: Option<String>,
    rooms: Vec<Room>,
}

fn entry_facts(
    connection: &Connection,
    device_cache: &DeviceCache,
    question: &Question<'_>,
    entrance: &Entrance<'_>,
) -> Result<EntryFacts> {
    let (place, rules, door) = (entrance.place, entrance.rules, entrance.door);
    let (delegate, history) = (question.delegate, question.history);
    let needs_join = rules.needs_join() || door.is_some_and(Door::needs_join);
    let joined = needs_join && is_joined(connection, device_cache, history, delegate, place)?;
    let day = rules
        .asks_for_day()
        .then(|| question.settings.day(question.at));
    let (last_in_of_day, entries) = entries(connection, question, entrance, day)?;
    let attendee_type = if rules.states_types() || door.is_some_and(Door::states_types) {
        delegates::type_of(connection, delegate)?
    } else {
        None
    };
    Ok(EntryFacts {
        day,
        joined,
        last_in_of_day,
        entries,
        attendee_type,
        rooms: rooms(connection, device_cache, question, place, rules)?,
    })
}

/// How often the delegate entered, and the last time of the day where rules ask for that.
fn entries(
    connection: &Connection,
    question: &Question<'_>,
    entrance: &Entrance<'_>,
    day: Option<Day>,
) -> Result<(Option<Position>, u32)> {
    let (delegate, history) = (question.delegate, question.history);
    let (place, doors, rules) = (entrance.place, entrance.doors, entrance.rules);
    let most = rules.max_check_ins.unwrap_or(0);
    let (last_of_day, of_day) = match (day, entrance.last_in) {
        (Some(day), Some(last)) if last.at >= day.begins => {
            presence::entries_on(connection, doors, history, delegate, place, day, most)?
        }
        _ => (None, 0),
    };
    let entries = match rules.per {
        Some(Per::Day) => of_day,
        None if most > 0 => presence::entries(connection, doors, history, delegate, place, most)?,
        None => 0,
    };
    Ok((last_of_day, entries))
}

/// The rules in force for entering a device: its own; its `ruleSet`, if it sets none, from the nearest place
/// above that sets one, and so, together, `types` and `typeTimes`; the rest from the settings. `None` where
/// its own cannot be read, which is for the rules to say.
pub fn in_force(
    connection: &Connection,
    device_cache: &DeviceCache,
    device: DeviceId,
    default: &AccessRules,
) -> Result<Option<AccessRules>> {
    let Some(mut rules) = device_cache.get(connection, device)?.rules.clone() else {
        return Ok(None);
    };
    for above in &device_cache.path(connection, device)?[1..] {
        let known = device_cache.get(connection, *above)?;
        if known.alive {
            let above = readable(&known)?;
            rules.rule_set = rules.rule_set.or(above.rule_set);
            rules.inherit_types(above);
        }
    }
    Ok(Some(rules.or(default)))
}

/// The nearest place above that says who may enter: its name, and what it says.
pub fn rule_set_above(
    connection: &Connection,
    device_cache: &DeviceCache,
    device: DeviceId,
) -> Result<Option<(String, RuleSet)>> {
    for above in &device_cache.path(connection, device)?[1..] {
        let known = device_cache.get(connection, *above)?;
        let rules = known.rules.as_ref().filter(|_| known.alive);
        if let Some(rule_set) = rules.and_then(|rules| rules.rule_set) {
            return Ok(Some((devices::called(connection, *above)?, rule_set)));
        }
    }
    Ok(None)
}

fn readable(known: &CachedDevice) -> Result<&AccessRules> {
    known.rules.as_ref().ok_or_else(|| {
        Error::new(
            Kind::Refused(Refusal::NotAvailable),
            rules::unreadable(&known.place.name),
        )
    })
}

/// Returns whether the delegate is inside a place, as a check-out there sees it: who was there as a day began, entered
/// another room since, or had to leave with everybody after it happened, may still be checked out of this one.
fn may_leave(
    connection: &Connection,
    device_cache: &DeviceCache,
    question: &Question<'_>,
    place: DeviceId,
) -> Result<bool> {
    let (delegate, history) = (question.delegate, question.history);
    let is_inside = question.inside.binary_search(&place).is_ok();
    Ok(is_inside
        || question.passage == Passage::Out
            && (history.is_not_left(connection, device_cache, place)?
                || everybody_out::left_later(
                    connection,
                    device_cache,
                    delegate,
                    place,
                    question.at,
                )?))
}

/// The place and the places above it that have a capacity and that the delegate is not inside of yet.
fn rooms(
    connection: &Connection,
    device_cache: &DeviceCache,
    question: &Question<'_>,
    place: DeviceId,
    rules: &AccessRules,
) -> Result<Vec<Room>> {
    let mut rooms = Vec::new();
    for device in device_cache.path(connection, place)?.iter() {
        let known = device_cache.get(connection, *device)?;
        let capacity = if *device == place {
            rules.capacity
        } else {
            known
                .rules
                .as_ref()
                .filter(|_| known.alive)
                .and_then(|own| own.capacity)
        };
        if let Some(capacity) = capacity
            && question.inside.binary_search(device).is_err()
        {
            rooms.push(Room {
                name: known.place.name.clone(),
                capacity,
                inside: (question.people)(*device)?,
            });
        }
    }
    Ok(rooms)
}

/// Returns whether the delegate is joined with the place or with one above it; one that was deleted admits nobody.
pub fn is_joined(
    connection: &Connection,
    device_cache: &DeviceCache,
    history: &History,
    delegate: DelegateId,
    place: DeviceId,
) -> Result<bool> {
    for device in device_cache.path(connection, place)?.iter() {
        if *device != place && !device_cache.get(connection, *device)?.alive {
            continue;
        }
        let state = history.at(*device);
        if joined_at(connection, device_cache, delegate, *device, &state)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns whether the delegate is joined with the place of the device itself, whatever is above it.
pub fn is_joined_itself(
    connection: &Connection,
    device_cache: &DeviceCache,
    delegate: DelegateId,
    device: DeviceId,
) -> Result<bool> {
    let place = device_cache.place_of(connection, device)?;
    let state = History::of(connection, device_cache, delegate)?.at(place);
    let doors = device_cache.doors(connection)?;
    presence::is_joined(connection, &doors, delegate, place, &state)
}

/// As [`presence::is_joined`], and quicker where nobody was ever uninvited by another.
fn joined_at(
    connection: &Connection,
    device_cache: &DeviceCache,
    delegate: DelegateId,
    device: DeviceId,
    state: &PresenceState,
) -> Result<bool> {
    if state.last_join <= state.last_leave || !device_cache.has_uninvites(connection)? {
        return Ok(state.last_join > state.last_leave);
    }
    let doors = device_cache.doors(connection)?;
    presence::is_joined(connection, &doors, delegate, device, state)
}

/// Devices kept at the most; more begin anew.
const DEVICES_MAX: usize = 4_096;

/// The devices that were looked at so far.
#[derive(Default)]
pub struct DeviceCache {
    found: RefCell<HashMap<DeviceSelector, DeviceId>>,
    known: RefCell<HashMap<DeviceId, Rc<CachedDevice>>>,
    paths: RefCell<HashMap<DeviceId, Rc<[DeviceId]>>>,
    /// By the app and the place.
    may_use: RefCell<HashMap<(Option<DeviceId>, DeviceId), bool>>,
    /// The day that the file goes by, which may have none; `None` until it was looked up.
    #[expect(clippy::option_option, reason = "one is of the file, one of the cache")]
    day: Cell<Option<Option<Day>>>,
    /// The daily entry of places that say nothing else, once it was read.
    default_daily: Cell<Option<bool>>,
    doors: RefCell<Option<Rc<Doors>>>,
    notes: Cell<Option<bool>>,
    uninvites: Cell<Option<bool>>,
}

/// A device, as far as decisions need it.
pub struct CachedDevice {
    /// The device as the rules see it.
    pub place: Place,
    /// Its own rules; `None` when what is stored cannot be read.
    pub rules: Option<AccessRules>,
    /// The device that it belongs to.
    pub parent: Option<DeviceId>,
    /// Set where it is not deleted.
    pub alive: bool,
    /// Set where who is inside depends on what readers notice there, too.
    pub counts_reads: bool,
}

impl CachedDevice {
    /// The door of a place, which has these rules in force; `None` where nobody can read them.
    pub fn as_door(&self, place: &Place, rules: Option<&AccessRules>) -> Door {
        let own = self.rules.as_ref();
        Door {
            place: self.place.as_door(place),
            rules: own.map(|own| own.at_door(rules.unwrap_or(&AccessRules::default()))),
        }
    }
}

impl DeviceCache {
    /// The id of the living device that a selector means.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::DeviceNotFound`].
    pub fn find(&self, connection: &Connection, selector: &DeviceSelector) -> Result<DeviceId> {
        if let Some(id) = self.found.borrow().get(selector) {
            return Ok(*id);
        }
        let id = devices::find(connection, selector)?;
        insert(&mut self.found.borrow_mut(), selector.clone(), id);
        Ok(id)
    }

    /// The device of an id, deleted or not.
    pub fn get(&self, connection: &Connection, device: DeviceId) -> Result<Rc<CachedDevice>> {
        if let Some(known) = self.known.borrow().get(&device) {
            return Ok(Rc::clone(known));
        }
        let known = Rc::new(load(connection, device)?);
        insert(&mut self.known.borrow_mut(), device, Rc::clone(&known));
        Ok(known)
    }

    /// The doors of all places.
    pub fn doors(&self, connection: &Connection) -> Result<Rc<Doors>> {
        if let Some(doors) = &*self.doors.borrow() {
            return Ok(Rc::clone(doors));
        }
        let doors = Rc::new(Doors::read(connection)?);
        *self.doors.borrow_mut() = Some(Rc::clone(&doors));
        Ok(doors)
    }

    /// The place that a device counts for: that of a door, otherwise the device itself.
    pub fn place_of(&self, connection: &Connection, device: DeviceId) -> Result<DeviceId> {
        Ok(self.doors(connection)?.place_of(device))
    }

    /// A device and what it belongs to, nearest first.
    pub fn path(&self, connection: &Connection, device: DeviceId) -> Result<Rc<[DeviceId]>> {
        if let Some(path) = self.paths.borrow().get(&device) {
            return Ok(Rc::clone(path));
        }
        let mut path = vec![device];
        let mut above = self.get(connection, device)?.parent;
        // Nobody can write a ring of parents; a damaged file may hold one.
        while let Some(parent) = above.filter(|parent| !path.contains(parent)) {
            path.push(parent);
            above = self.get(connection, parent)?.parent;
        }
        let path: Rc<[DeviceId]> = path.into();
        insert(&mut self.paths.borrow_mut(), device, Rc::clone(&path));
        Ok(path)
    }

    /// Lists those of the stays that are at a device or below it.
    pub fn within(
        &self,
        connection: &Connection,
        stays: Vec<(DeviceId, Position)>,
        device: DeviceId,
    ) -> Result<Vec<(DeviceId, Position)>> {
        let mut within = Vec::new();
        for (at, since) in stays {
            if self.path(connection, at)?.contains(&device) {
                within.push((at, since));
            }
        }
        Ok(within)
    }

    /// Returns what an interaction of a type does to presence at its first device.
    pub fn effect(
        &self,
        connection: &Connection,
        kind: &str,
        device: Option<DeviceId>,
        has_second_delegate: bool,
    ) -> Result<Option<PresenceChange>> {
        let counted = match device {
            Some(device) if types::depends_on_place(kind) => {
                let place = self.place_of(connection, device)?;
                self.get(connection, place)?.counts_reads
            }
            _ => false,
        };
        Ok(types::effect(kind, has_second_delegate, counted))
    }

    /// Returns whether a gate's app may be used at a place, as `look` finds out.
    pub fn may_use(
        &self,
        app: Option<DeviceId>,
        place: DeviceId,
        look: impl FnOnce() -> Result<bool>,
    ) -> Result<bool> {
        if let Some(known) = self.may_use.borrow().get(&(app, place)) {
            return Ok(*known);
        }
        let found = look()?;
        insert(&mut self.may_use.borrow_mut(), (app, place), found);
        Ok(found)
    }

    /// The day that the file goes by.
    pub fn day(&self, connection: &Connection) -> Result<Option<Day>> {
        once(&self.day, || days::current(connection))
    }

    /// Begins the day of an instant in the file, unless it goes by that already.
    pub fn begin_day(&self, tx: &Tx<'_>, settings: &Settings, now: Timestamp) -> Result<()> {
        let is_over = |day: Day| !day.contains(now);
        if self.day(tx)?.is_some_and(is_over) {
            days::begin(tx, settings.day(now))?;
            self.day.set(None);
        }
        Ok(())
    }

    /// Returns whether a stay at a device has ended because a day began since; `happened` looks up when it began.
    pub fn is_over(
        &self,
        connection: &Connection,
        device: DeviceId,
        since: Position,
        happened: impl FnOnce() -> Result<Timestamp>,
    ) -> Result<bool> {
        let Some(day) = self.day(connection)? else {
            return Ok(false);
        };
        Ok(self.is_daily(connection, device)?
            && (since.at < day.begins || happened()? < day.begins))
    }

    /// Returns whether stays at a device end with the day: it, or a place above it, has daily entry.
    pub fn is_daily(&self, connection: &Connection, device: DeviceId) -> Result<bool> {
        for device in self.path(connection, device)?.iter() {
            let known = self.get(connection, *device)?;
            let is_daily = match known.rules.as_ref().map(|rules| rules.entry) {
                Some(Some(entry)) => entry == Entry::Daily,
                Some(None) => once(&self.default_daily, || settings::is_daily(connection))?,
                None => false,
            };
            if is_daily && known.alive {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns whether anybody has a gate note.
    pub fn has_notes(&self, connection: &Connection) -> Result<bool> {
        once(&self.notes, || note::is_any(connection))
    }

    /// Returns whether anybody may have been uninvited as a second delegate: it holds still when the one interaction
    /// that did it was undone.
    pub fn has_uninvites(&self, connection: &Connection) -> Result<bool> {
        once(&self.uninvites, || presence::is_any_uninvite(connection))
    }

    /// To be called when an interaction of this effect is recorded: it may be the first of them.
    pub fn recorded(&self, effect: Option<PresenceChange>) {
        if effect == Some(PresenceChange::LeaveSecond) {
            self.uninvites.set(None);
        }
    }
}

fn once<T: Copy>(kept: &Cell<Option<T>>, look: impl FnOnce() -> Result<T>) -> Result<T> {
    if let Some(known) = kept.get() {
        return Ok(known);
    }
    let found = look()?;
    kept.set(Some(found));
    Ok(found)
}

fn insert<K: Eq + Hash, V>(map: &mut HashMap<K, V>, key: K, value: V) {
    if map.len() >= DEVICES_MAX {
        map.clear();
    }
    map.insert(key, value);
}

fn load(connection: &Connection, device: DeviceId) -> Result<CachedDevice> {
    let found = connection
        .prepare_cached(
            "SELECT coalesce(name, short_name, code), available, start_at, end_at, data, parent_id,
                    deleted_at IS NULL
             FROM devices WHERE id = ?1",
        )?
        .query_row([device], |row| {
            let data = row.get_ref(4)?;
            Ok(CachedDevice {
                rules: AccessRules::of_stored(data.as_str_or_null()?),
                counts_reads: PlacePresence::of_stored(data.as_str_or_null()?).counts,
                place: Place {
                    name: row.get(0)?,
                    available: row.get(1)?,
                    start_at: row.get(2)?,
                    end_at: row.get(3)?,
                },
                parent: row.get(5)?,
                alive: row.get(6)?,
            })
        })
        .optional()?;
    // Only a damaged file lacks a device that interactions name.
    Ok(found.unwrap_or_else(|| CachedDevice {
        place: Place {
            name: format!("device {device}"),
            available: false,
            start_at: None,
            end_at: None,
        },
        rules: None,
        parent: None,
        alive: false,
        counts_reads: false,
    }))
}
