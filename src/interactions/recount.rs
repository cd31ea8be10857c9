//! Holds the counts of those inside against the interactions that they follow from, and mends what
//! differs.

use super::presence;
use crate::{error::Result, store::Tx, types::DeviceId};
use rusqlite::Connection;
use std::collections::BTreeMap;

/// By how much the count of those inside a device is off, for each device where it is. What gates
/// record meanwhile does not change that: they count up and down by one. To be called on one state
/// of the file.
///
/// # Errors
/// When it cannot be read.
pub fn drift(connection: &Connection) -> Result<Vec<(DeviceId, i64)>> {
    let mut off: BTreeMap<DeviceId, i64> = BTreeMap::new();
    presence::of_all(connection, |_, device, standing| {
        if standing.is_inside() {
            *off.entry(device).or_default() -= 1;
        }
    })?;
    let mut statement = connection.prepare("SELECT device_id, inside FROM occupancy")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        *off.entry(row.get(0)?).or_default() += row.get::<_, i64>(1)?;
    }
    off.retain(|_, off| *off != 0);
    Ok(off.into_iter().collect())
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
