//! A place as a gate needs it to judge by itself.

use crate::{
    core::rules::AccessRules,
    db::counters,
    domain::interactions::{
        everybody_out,
        judge::{self, DeviceCache},
    },
    types::{
        DeviceId, Timestamp, Zone,
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

/// Where a capacity counts, the place itself first, with how many may be inside.
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

/// The moments at which everybody leaves a place, or one above it, as the API shows them to a gate; `null`
/// where there are none.
pub fn everybody_out(
    connection: &Connection,
    place: DeviceId,
    zone: &Zone,
    now: Timestamp,
) -> Result<Value> {
    let coming = everybody_out::coming(connection, &DeviceCache::default(), place, zone, now)?;
    let shown = coming.iter().map(|coming| {
        let at: Vec<i64> = coming.at.iter().map(|at| at.0).collect();
        json!({"rooms": coming.rooms, "at": at, "except": coming.except})
    });
    let shown: Vec<Value> = shown.collect();
    Ok(if shown.is_empty() {
        Value::Null
    } else {
        shown.into()
    })
}

/// A place as the API shows it to a gate.
pub fn shown(connection: &Connection, place: DeviceId, default: &AccessRules) -> Result<Value> {
    let device_cache = DeviceCache::default();
    let known = device_cache.get(connection, place)?;
    let rules = rules(connection, &device_cache, place, default)?;
    let mut shown = Vec::new();
    for (room, capacity) in rooms(connection, &device_cache, place, rules.as_ref())? {
        shown.push(json!({
            "id": room,
            "name": device_cache.get(connection, room)?.place.name,
            "capacity": capacity,
            "inside": counters::people(connection, room)?,
        }));
    }
    let has_places_below: bool = connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM devices WHERE parent_id = ?1 AND deleted_at IS NULL)",
        )?
        .query_row([place], |row| row.get(0))?;
    let at = |time: Option<Timestamp>| time.map(|time| time.0);
    Ok(json!({
        "id": place,
        "name": known.place.name,
        "available": known.place.available && known.alive,
        "startAt": at(known.place.start_at),
        "endAt": at(known.place.end_at),
        "rules": rules.as_ref().map(AccessRules::to_json),
        "rooms": shown,
        "inside": counters::people(connection, place)?,
        "hasPlacesBelow": has_places_below,
    }))
}
