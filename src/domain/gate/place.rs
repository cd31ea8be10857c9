//! A place as a gate needs it to judge by itself.

use crate::{
    core::{rules::AccessRules, settings::Settings},
    db::counters,
    domain::interactions::judge::{self, DeviceCache},
    types::{
        Day, DeviceId, Timestamp,
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

/// For so many days to come a gate is told when they begin.
const DAYS: usize = 14;

/// When the day of `now` began and the next ones begin, in Unix milliseconds.
fn days(settings: &Settings, now: Timestamp) -> Vec<i64> {
    let today = settings.day(now);
    let next = |day: &Day| Some(settings.day(day.ends));
    let days = std::iter::successors(Some(today), next);
    days.take(DAYS + 1).map(|day| day.begins.0).collect()
}

/// A place as the API shows it to a gate.
pub fn shown(
    connection: &Connection,
    place: DeviceId,
    settings: &Settings,
    now: Timestamp,
) -> Result<Value> {
    let device_cache = DeviceCache::default();
    let known = device_cache.get(connection, place)?;
    let rules = rules(connection, &device_cache, place, &settings.access)?;
    let mut shown = Vec::new();
    for (room, capacity) in rooms(connection, &device_cache, place, rules.as_ref())? {
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
        "rules": rules.as_ref().map(|rules| rules.to_gate(&settings.zone)),
        "daily": device_cache.is_daily(connection, place)?,
        "days": days(settings, now),
        "rooms": shown,
        "inside": counters::people(connection, place)?,
        "hasPlacesBelow": has_places_below,
    }))
}
