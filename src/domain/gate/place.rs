//! A place as a gate needs it to judge by itself.

use crate::{
    core::{
        rules::{AccessRules, Place},
        settings::Settings,
    },
    db::counters,
    domain::{
        devices::doors::Doors,
        interactions::{
            everybody_out,
            judge::{self, DeviceCache},
        },
    },
    types::{
        Day, DeviceId, Timestamp, Zone,
        error::{Kind, Result},
    },
};
use rusqlite::Connection;
use serde_json::{Value, json};

/// The rules in force for entering a place; none where they, or those of a place above that count, cannot
/// be read: then nobody enters.
pub fn rules(
    connection: &Connection,
    device_cache: &DeviceCache,
    place: DeviceId,
    default: &AccessRules,
) -> Result<Option<AccessRules>> {
    match judge::in_force(connection, device_cache, place, default) {
        Err(cause) if matches!(cause.kind, Kind::Refused(_)) => Ok(None),
        rules => rules,
    }
}

/// Returns whether whoever enters a place, or by a door, has to be registered for it.
pub fn needs_join(
    connection: &Connection,
    device: DeviceId,
    default: &AccessRules,
) -> Result<bool> {
    let device_cache = DeviceCache::default();
    let place = device_cache.place_of(connection, device)?;
    let rules = rules(connection, &device_cache, place, default)?;
    let is_needed = |rules: Option<&AccessRules>| rules.is_some_and(AccessRules::needs_join);
    let own = device_cache.get(connection, device)?;
    Ok(is_needed(rules.as_ref()) || is_needed(own.rules.as_ref()))
}

/// Lists the rooms where a capacity counts, the place itself first, with how many may be inside.
pub fn rooms(
    connection: &Connection,
    device_cache: &DeviceCache,
    place: DeviceId,
    rules: Option<&AccessRules>,
) -> Result<Vec<(DeviceId, u32)>> {
    let mut rooms = Vec::new();
    for above in device_cache.path(connection, place)?.iter() {
        let room = device_cache.get(connection, *above)?;
        let counting = if *above == place {
            rules
        } else {
            room.rules.as_ref().filter(|_| room.alive)
        };
        if let Some(capacity) = counting.and_then(|rules| rules.capacity) {
            rooms.push((*above, capacity));
        }
    }
    Ok(rooms)
}

/// For so many days to come a gate is told when they begin.
const DAYS: usize = 14;

/// The times at which the day of `now` began and the next ones begin, in Unix milliseconds.
fn days(settings: &Settings, now: Timestamp) -> Vec<i64> {
    let today = settings.day(now);
    let next = |day: &Day| Some(settings.day(day.ends));
    let days = std::iter::successors(Some(today), next);
    days.take(DAYS + 1).map(|day| day.begins.0).collect()
}

/// The moments at which everybody leaves a place, or one above it, as the API shows them to a gate.
fn everybody_out(
    connection: &Connection,
    device_cache: &DeviceCache,
    place: DeviceId,
    zone: &Zone,
    now: Timestamp,
) -> Result<Vec<Value>> {
    let coming = everybody_out::coming(connection, device_cache, place, zone, now)?;
    let shown = coming.iter().map(|coming| {
        let at: Vec<i64> = coming.at.iter().map(|at| at.0).collect();
        json!({"rooms": coming.rooms, "at": at, "except": coming.except})
    });
    Ok(shown.collect())
}

/// A place as the API shows it to a gate. A gate at a door judges by the rules and the presence of the place of the door,
/// then by what the door sets.
pub fn shown(
    connection: &Connection,
    device: DeviceId,
    settings: &Settings,
    now: Timestamp,
) -> Result<Value> {
    let device_cache = DeviceCache::default();
    let doors = device_cache.doors(connection)?;
    let place = doors.place_of(device);
    let known = device_cache.get(connection, place)?;
    let rules = rules(connection, &device_cache, place, &settings.access)?;
    let for_gate = |rules: &AccessRules| rules.to_gate(&settings.zone);
    let mut shown = json!({
        "id": device,
        "name": known.place.name,
        "available": known.place.available && known.alive,
        "rules": rules.as_ref().map(for_gate),
        "daily": device_cache.is_daily(connection, place)?,
        "days": days(settings, now),
        "rooms": rooms_shown(connection, &device_cache, place, rules.as_ref())?,
        "inside": counters::people(connection, place)?,
        "hasPlacesBelow": has_places_below(connection, &doors, place)?,
    });
    add_times(&mut shown, &known.place);
    let leaving = everybody_out(connection, &device_cache, place, &settings.zone, now)?;
    if !leaving.is_empty() {
        shown["everybodyOut"] = leaving.into();
    }
    let mut named = Vec::new();
    for door in doors.with_doors(place).skip(1) {
        let name = &device_cache.get(connection, door)?.place.name;
        named.push(json!({"id": door, "name": name}));
    }
    if !named.is_empty() {
        shown["doors"] = named.into();
    }
    if place != device {
        let own = device_cache.get(connection, device)?;
        let door = own.as_door(&known.place, rules.as_ref());
        shown["name"] = door.place.name.as_str().into();
        shown["doorOf"] = json!({"id": place, "name": known.place.name});
        shown["door"] = json!({
            "available": door.place.available && own.alive,
            "rules": door.rules.as_ref().map(for_gate),
        });
        add_times(&mut shown["door"], &door.place);
    }
    Ok(shown)
}

/// Adds the times that a place has.
fn add_times(shown: &mut Value, place: &Place) {
    for (name, time) in [("startAt", place.start_at), ("endAt", place.end_at)] {
        if let Some(time) = time {
            shown[name] = time.0.into();
        }
    }
}

fn rooms_shown(
    connection: &Connection,
    device_cache: &DeviceCache,
    place: DeviceId,
    rules: Option<&AccessRules>,
) -> Result<Vec<Value>> {
    let mut shown = Vec::new();
    for (room, capacity) in rooms(connection, device_cache, place, rules)? {
        let mut one = json!({
            "id": room,
            "name": device_cache.get(connection, room)?.place.name,
            "capacity": capacity,
            "inside": counters::people(connection, room)?,
        });
        if device_cache.is_daily(connection, room)? {
            one["daily"] = true.into();
        }
        shown.push(one);
    }
    Ok(shown)
}

/// Returns whether people inside may have checked in at other places: doors are none.
fn has_places_below(connection: &Connection, doors: &Doors, place: DeviceId) -> Result<bool> {
    let mut below = connection
        .prepare_cached("SELECT id FROM devices WHERE parent_id = ?1 AND deleted_at IS NULL")?;
    let mut below = below.query([place])?;
    while let Some(row) = below.next()? {
        if doors.place_of(row.get(0)?) != place {
            return Ok(true);
        }
    }
    Ok(false)
}
