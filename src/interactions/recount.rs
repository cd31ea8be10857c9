//! Holds presence and occupancy against the interactions that they follow from, and mends what
//! differs. Reading is in slices: a presence and its interactions change in one transaction, so each
//! delegate can be looked at alone.

use super::presence::{self, Effect, subject};
use crate::{
    error::Result,
    rules::{Moment, Standing},
    store::Tx,
    types::{DelegateId, DeviceId},
};
use rusqlite::Connection;
use std::collections::BTreeMap;

type Standings = BTreeMap<DeviceId, Standing>;

/// The devices at which a delegate's presence is not what the interactions give.
///
/// # Errors
/// When it cannot be read.
pub fn differing(connection: &Connection, delegate: DelegateId) -> Result<Vec<DeviceId>> {
    let expected = expected(connection, delegate)?;
    let stored = stored(connection, delegate)?;
    let none = Standing::default();
    let mut devices: Vec<_> = expected.keys().chain(stored.keys()).copied().collect();
    devices.sort_unstable();
    devices.dedup();
    // A presence of nothing is as good as none: one is left where an interaction was deleted.
    devices.retain(|device| {
        expected.get(device).unwrap_or(&none) != stored.get(device).unwrap_or(&none)
    });
    Ok(devices)
}

fn expected(connection: &Connection, delegate: DelegateId) -> Result<Standings> {
    let mut statement = connection.prepare_cached(
        "SELECT interaction_type, first_delegate_id, second_delegate_id, first_device_id,
                min(recorded_at, created_at), id
         FROM interactions
         WHERE (first_delegate_id = ?1 OR second_delegate_id = ?1) AND first_device_id IS NOT NULL",
    )?;
    let mut rows = statement.query([delegate.0])?;
    let mut standings = Standings::new();
    while let Some(row) = rows.next()? {
        let kind: String = row.get(0)?;
        if let Some(effect) = Effect::of(&kind)
            && subject(&kind, row.get(1)?, row.get(2)?) == Some(delegate)
        {
            let moment = Moment {
                at: row.get(4)?,
                id: row.get(5)?,
            };
            effect.apply(standings.entry(row.get(3)?).or_default(), moment);
        }
    }
    Ok(standings)
}

fn stored(connection: &Connection, delegate: DelegateId) -> Result<Standings> {
    let devices: Vec<DeviceId> = connection
        .prepare_cached("SELECT device_id FROM presence WHERE delegate_id = ?1")?
        .query_map([delegate.0], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let mut standings = Standings::new();
    for device in devices {
        if let Some(standing) = presence::load(connection, delegate, device)? {
            standings.insert(device, standing);
        }
    }
    Ok(standings)
}

/// By how much the count of those inside a device is off, for each device where it is. What gates
/// record meanwhile does not change that: they count up and down by one. To be called on one state
/// of the file.
///
/// # Errors
/// When it cannot be read.
pub fn drift(connection: &Connection) -> Result<Vec<(DeviceId, i64)>> {
    let mut inside: BTreeMap<DeviceId, i64> = BTreeMap::new();
    for (sql, sign) in [
        (
            "SELECT device_id, in_at IS NOT NULL AND (out_at IS NULL OR (in_at, in_id) > (out_at, out_id))
             FROM presence",
            -1,
        ),
        ("SELECT device_id, inside FROM occupancy", 1),
    ] {
        let mut statement = connection.prepare(sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            *inside.entry(row.get(0)?).or_default() += sign * row.get::<_, i64>(1)?;
        }
    }
    inside.retain(|_, off| *off != 0);
    Ok(inside.into_iter().collect())
}

/// Takes back by how much a count is off.
///
/// # Errors
/// When it cannot be written.
pub fn correct(tx: &Tx<'_>, device: DeviceId, off: i64) -> Result<()> {
    tx.execute(
        "INSERT INTO occupancy (device_id, inside) VALUES (?1, ?2)
         ON CONFLICT (device_id) DO UPDATE SET inside = inside + ?2",
        [device.0, -off],
    )?;
    Ok(())
}
