//! Gathers the facts that the rules need for one interaction, from one state of the store, and has
//! them judged. Devices are cached: each is looked up and its rules are read once, however many interactions are
//! at it, for as long as no device changes (see [`crate::db::Tx::cache`]). So is what most events have none
//! of: gate notes, and people who were uninvited by another.

use super::{
    everybody_out,
    presence::{self, History, PresenceChange},
    types,
};
use crate::{
    core::{
        presence::PlacePresence,
        rules::{self, AccessRules, CheckInFacts, Passage, Place, PresenceState, Room},
        settings::Settings,
    },
    domain::{delegates::note, devices},
    types::{
        DelegateId, DeviceId, DeviceSelector, Timestamp,
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
    /// Who.
    pub delegate: DelegateId,
    /// Where.
    pub device: DeviceId,
    /// What the delegate did so far.
    pub history: &'a History,
    /// Devices the delegate is inside of, in order.
    pub inside: &'a [DeviceId],
    /// Counts the delegates inside a device.
    pub people: &'a dyn Fn(DeviceId) -> Result<i64>,
    /// When it happened: the earlier of recording and arrival.
    pub at: Timestamp,
    pub now: Timestamp,
    /// The settings in force.
    pub settings: &'a Settings,
}

/// Answers by the rules.
///
/// # Errors
/// [`crate::types::error::Kind::Refused`], and when the facts cannot be read.
pub fn judge(
    connection: &Connection,
    device_cache: &DeviceCache,
    question: &Question<'_>,
) -> Result<()> {
    let settings = question.settings;
    let known = device_cache.get(connection, question.device)?;
    let entering = question.passage == Passage::In;
    let rules = match question.passage {
        Passage::In => in_force(connection, device_cache, question.device, &settings.access)?,
        Passage::Out => known.rules.clone().map(|own| own.or(&settings.access)),
    };
    let none = AccessRules::default();
    let needed = rules.as_ref().unwrap_or(&none);
    let state = question
        .history
        .state(connection, device_cache, question.device)?;
    let joined = entering
        && needed.needs_join()
        && is_joined(
            connection,
            device_cache,
            question.history,
            question.delegate,
            question.device,
        )?;
    let entries = match needed.max_check_ins {
        Some(most) if entering => {
            presence::entries(connection, question.delegate, question.device, most)?
        }
        _ => 0,
    };
    let rooms = if entering {
        rooms(connection, device_cache, question, needed)?
    } else {
        Vec::new()
    };
    rules::judge(&CheckInFacts {
        passage: question.passage,
        place: &known.place,
        rules: rules.as_ref(),
        state: &state,
        recorded_at: &|last| presence::recorded_at(connection, last),
        inside: may_leave(connection, device_cache, question)?,
        entries,
        joined,
        rooms: &rooms,
        at: question.at,
        now: question.now,
        zone: &settings.zone,
    })
}

/// The rules in force for entering a device: its own; its `ruleSet`, if it sets none, from the nearest place
/// above that sets one; the rest from the settings. `None` where its own cannot be read, which is for
/// the rules to say.
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
            rules.rule_set = rules.rule_set.or(readable(&known)?.rule_set);
        }
    }
    Ok(Some(rules.or(default)))
}

fn readable(known: &CachedDevice) -> Result<&AccessRules> {
    known.rules.as_ref().ok_or_else(|| {
        Error::new(
            Kind::Refused(Refusal::NotAvailable),
            rules::unreadable(&known.place.name),
        )
    })
}

/// Whether the delegate is inside a device, as a check-out there sees it: who entered another room since, or
/// had to leave with everybody after it happened, may still be checked out of this one.
fn may_leave(
    connection: &Connection,
    device_cache: &DeviceCache,
    question: &Question<'_>,
) -> Result<bool> {
    let device = question.device;
    let is_inside = question.inside.binary_search(&device).is_ok();
    Ok(is_inside
        || question.passage == Passage::Out
            && (question
                .history
                .is_not_left(connection, device_cache, device)?
                || everybody_out::left_later(
                    connection,
                    device_cache,
                    question.delegate,
                    device,
                    question.at,
                )?))
}

/// The device and the places above it that have a capacity and that the delegate is not inside of yet.
fn rooms(
    connection: &Connection,
    device_cache: &DeviceCache,
    question: &Question<'_>,
    rules: &AccessRules,
) -> Result<Vec<Room>> {
    let mut rooms = Vec::new();
    for device in device_cache.path(connection, question.device)?.iter() {
        let known = device_cache.get(connection, *device)?;
        let capacity = if *device == question.device {
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

/// Whether the delegate is joined with the device or with one above it; one that was deleted admits
/// nobody.
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

/// As [`presence::is_joined`], and quicker where nobody was ever uninvited by another.
fn joined_at(
    connection: &Connection,
    device_cache: &DeviceCache,
    delegate: DelegateId,
    device: DeviceId,
    state: &PresenceState,
) -> Result<bool> {
    Ok(state.last_join > state.last_leave
        && (!device_cache.has_uninvites(connection)?
            || presence::is_joined(connection, delegate, device, state)?))
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
    notes: Cell<Option<bool>>,
    uninvites: Cell<Option<bool>>,
}

/// What is known of a device.
pub struct CachedDevice {
    /// The device as the rules see it.
    pub place: Place,
    /// Its own rules; `None` when what is stored cannot be read.
    pub rules: Option<AccessRules>,
    /// What it belongs to.
    pub parent: Option<DeviceId>,
    /// Whether it is not deleted.
    pub alive: bool,
    /// Whether who is inside depends on what readers notice there, too.
    pub counts_reads: bool,
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

    /// What an interaction of a type does to presence at its first device.
    pub fn effect(
        &self,
        connection: &Connection,
        kind: &str,
        device: Option<DeviceId>,
        has_second_delegate: bool,
    ) -> Result<Option<PresenceChange>> {
        let counted = match device {
            Some(device) if types::depends_on_place(kind) => {
                self.get(connection, device)?.counts_reads
            }
            _ => false,
        };
        Ok(types::effect(kind, has_second_delegate, counted))
    }

    /// Whether a gate's app may be used at a place, as `look` finds out.
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

    /// Whether anybody has a gate note.
    pub fn has_notes(&self, connection: &Connection) -> Result<bool> {
        once(&self.notes, || note::is_any(connection))
    }

    /// Whether anybody may have been uninvited as a second delegate: it holds still when the one
    /// interaction that did it was undone.
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

fn once(kept: &Cell<Option<bool>>, look: impl FnOnce() -> Result<bool>) -> Result<bool> {
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
