//! The people inside a device, there or at anything below it, those who came last first.

use super::{
    judge::DeviceCache,
    presence::{self, History, PresenceChange},
};
use crate::{
    core::rules::Position,
    db::counters,
    domain::devices::NAME,
    types::{DelegateId, DeviceId, InteractionId, Timestamp, error::Result},
};
use rusqlite::Connection;
use std::collections::{BTreeSet, HashMap, VecDeque};

/// Somebody who is inside.
#[derive(Debug, Clone, Copy)]
pub struct Inside {
    pub delegate: DelegateId,
    /// The check-in since when.
    pub interaction: InteractionId,
    /// The place of that check-in, whichever its door.
    pub device: DeviceId,
    /// The time at which that was recorded.
    pub since: Timestamp,
}

/// People inside a device whose last check-in there came before `before`, at most `limit`.
pub fn people(
    connection: &Connection,
    device: DeviceId,
    before: Option<InteractionId>,
    limit: usize,
) -> Result<Vec<Inside>> {
    let device_cache = DeviceCache::default();
    let below = occupied_below(connection, device)?;
    let doors = device_cache.doors(connection)?;
    // Until all is counted anew, a device that became a door is counted as a place, too.
    let entrances: BTreeSet<_> = below
        .iter()
        .flat_map(|place| doors.with_doors(*place))
        .collect();
    let entrances = Vec::from_iter(entrances);
    let mut latest: HashMap<DelegateId, Option<Inside>> = HashMap::new();
    let mut entries = Entries::of(&entrances, before.map_or(i64::MAX, |before| before.0));
    let mut people = Vec::new();
    while people.len() < limit
        && let Some((id, delegate)) = entries.next(connection)?
    {
        let last = if let Some(last) = latest.get(&delegate) {
            *last
        } else {
            let last = last_entry(connection, &device_cache, delegate, &below)?;
            latest.insert(delegate, last);
            last
        };
        people.extend(last.filter(|last| last.interaction.0 == id));
    }
    Ok(people)
}

/// Somebody inside whom a gate admitted by a code that nobody has yet.
#[derive(Debug, Clone)]
pub struct Unnamed {
    pub code: String,
    /// The place of the check-in, whichever its door.
    pub device: DeviceId,
    pub since: Timestamp,
}

/// Lists the people inside a device of whom only a code is known: they are counted with the others.
pub fn unnamed(connection: &Connection, device: DeviceId) -> Result<Vec<Unnamed>> {
    let below = occupied_below(connection, device)?;
    let device_cache = DeviceCache::default();
    let mut unnamed = Vec::new();
    presence::each_unknown(connection, &device_cache, |code, history| {
        let entered = history.entered(connection, &device_cache)?;
        let last = last_of(entered, &below).map(|(device, since)| Unnamed {
            code: code.to_owned(),
            device,
            since: since.at,
        });
        unnamed.extend(last);
        Ok(())
    })?;
    Ok(unnamed)
}

/// A device with people inside.
#[derive(Debug, Clone)]
pub struct Occupied {
    /// The device.
    pub id: i64,
    /// The name to display.
    pub name: String,
    pub inside: i64,
    /// The most people who may be inside.
    pub capacity: Option<i64>,
    /// Its time is over.
    pub is_over: bool,
}

impl Occupied {
    /// The number of people who may still come in, where that is limited.
    #[must_use]
    pub fn left(&self) -> Option<i64> {
        self.capacity
            .map(|capacity| (capacity - self.inside).max(0))
    }

    /// Tells whether nobody else may come in.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.left() == Some(0)
    }

    /// Tells whether a tenth of the capacity is left at most.
    #[must_use]
    pub fn is_nearly_full(&self) -> bool {
        self.capacity
            .is_some_and(|capacity| self.inside * 10 >= capacity * 9)
    }
}

/// The devices with the most people inside.
pub fn busiest(connection: &Connection, limit: usize) -> Result<Vec<Occupied>> {
    occupied(connection, "TRUE", "o.inside DESC", Timestamp::now(), limit)
}

/// The devices with people inside: the fullest of those with a capacity first, then those with the most
/// people. Events are left out, unless they have a capacity.
pub fn fullest(connection: &Connection, now: Timestamp, limit: usize) -> Result<Vec<Occupied>> {
    let is_meant = "d.device_type IS NOT 'event' OR capacity IS NOT NULL";
    let order = "iif(typeof(capacity) = 'integer', o.inside * 1000 / max(capacity, 1), -1) DESC, o.inside DESC";
    occupied(connection, is_meant, order, now, limit)
}

fn occupied(
    connection: &Connection,
    is_meant: &str,
    order: &str,
    now: Timestamp,
    limit: usize,
) -> Result<Vec<Occupied>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT d.id, {NAME}, o.inside,
             iif(json_valid(d.data), json_extract(d.data, '$.Access.capacity'), NULL) AS capacity,
             coalesce(d.end_at < ?2, FALSE)
         FROM occupancy o JOIN devices d ON d.id = o.device_id
         WHERE o.inside > 0 AND d.deleted_at IS NULL AND ({is_meant}) ORDER BY {order}, d.id LIMIT ?1"
    ))?;
    let devices = statement.query_map((limit, now), |row| {
        Ok(Occupied {
            id: row.get(0)?,
            name: row.get(1)?,
            inside: row.get(2)?,
            capacity: row.get(3).unwrap_or_default(),
            is_over: row.get(4)?,
        })
    })?;
    Ok(devices.collect::<rusqlite::Result<_>>()?)
}

/// Devices where somebody ever checked in, there or below, by name.
pub fn places(connection: &Connection) -> Result<Vec<(i64, String)>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT d.id, {NAME} FROM occupancy o JOIN devices d ON d.id = o.device_id
         WHERE d.deleted_at IS NULL ORDER BY 2"
    ))?;
    let devices = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(devices.collect::<rusqlite::Result<_>>()?)
}

/// Check-ins that are looked at for where people came in last.
const ENTERED_LAST: i64 = 500;

/// The devices of the newest check-ins, the one with most of them first.
pub fn entered_last(connection: &Connection) -> Result<Vec<DeviceId>> {
    let mut statement = connection.prepare_cached(
        "SELECT first_device_id FROM (
             SELECT first_device_id, effect FROM interactions ORDER BY id DESC LIMIT ?1)
         WHERE effect = ?2 AND first_device_id IS NOT NULL GROUP BY 1 ORDER BY count(*) DESC, 1",
    )?;
    let devices = statement.query_map((ENTERED_LAST, PresenceChange::Enter), |row| row.get(0))?;
    Ok(devices.collect::<rusqlite::Result<_>>()?)
}

/// The last check-in of a delegate at one of the devices that keeps them inside.
fn last_entry(
    connection: &Connection,
    device_cache: &DeviceCache,
    delegate: DelegateId,
    devices: &[DeviceId],
) -> Result<Option<Inside>> {
    let entered =
        History::of(connection, device_cache, delegate)?.entered(connection, device_cache)?;
    let Some((device, since)) = last_of(entered, devices) else {
        return Ok(None);
    };
    Ok(Some(Inside {
        delegate,
        interaction: InteractionId(since.id),
        device,
        since: presence::recorded_at(connection, since)?,
    }))
}

/// The latest of the check-ins at some devices.
fn last_of(
    entered: Vec<(DeviceId, Position)>,
    devices: &[DeviceId],
) -> Option<(DeviceId, Position)> {
    let here = entered.into_iter().filter(|(at, _)| devices.contains(at));
    here.max_by_key(|(_, since)| since.id)
}

/// The device and those below it where somebody may be; all devices for [`presence::ANYWHERE`].
fn occupied_below(connection: &Connection, device: DeviceId) -> Result<Vec<DeviceId>> {
    if counters::people(connection, device)? <= 0 {
        return Ok(Vec::new());
    }
    let mut statement = connection.prepare_cached(
        "WITH RECURSIVE below (id) AS (
             SELECT id FROM devices WHERE ?1 = 0 UNION
             SELECT ?1 UNION SELECT d.id FROM below JOIN devices d ON d.parent_id = below.id)
         SELECT below.id FROM below JOIN occupancy o ON o.device_id = below.id WHERE o.inside > 0",
    )?;
    let below = statement.query_map([device], |row| row.get(0))?;
    Ok(below.collect::<rusqlite::Result<_>>()?)
}

/// Check-ins read ahead at a device.
const AHEAD: i64 = 64;

/// The check-ins at several devices, the newest first.
struct Entries(Vec<EntriesAt>);

struct EntriesAt {
    device: DeviceId,
    ahead: VecDeque<(i64, DelegateId)>,
    /// The id before which nothing was read yet; none once all is.
    before: Option<i64>,
}

impl Entries {
    fn of(devices: &[DeviceId], before: i64) -> Self {
        let at = |device: &DeviceId| EntriesAt {
            device: *device,
            ahead: VecDeque::new(),
            before: Some(before),
        };
        Self(devices.iter().map(at).collect())
    }

    fn next(&mut self, connection: &Connection) -> Result<Option<(i64, DelegateId)>> {
        for at in &mut self.0 {
            if at.ahead.is_empty()
                && let Some(before) = at.before
            {
                at.read(connection, before)?;
            }
        }
        let newest = self.0.iter_mut().max_by_key(|at| at.ahead.front().copied());
        Ok(newest.and_then(|at| at.ahead.pop_front()))
    }
}

impl EntriesAt {
    fn read(&mut self, connection: &Connection, before: i64) -> Result<()> {
        let mut statement = connection.prepare_cached(
            "SELECT id, first_delegate_id FROM interactions
             WHERE first_device_id = ?1 AND id < ?2 AND effect = ?3 AND first_delegate_id IS NOT NULL
             ORDER BY id DESC LIMIT ?4",
        )?;
        let rows = statement
            .query_map((self.device, before, PresenceChange::Enter, AHEAD), |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?;
        self.ahead = rows.collect::<rusqlite::Result<_>>()?;
        self.before = self.ahead.back().map(|(id, _)| *id);
        Ok(())
    }
}
