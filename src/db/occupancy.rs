//! How many people are inside each place, which check-ins count up and down.

use crate::types::{DeviceId, error::Result};
use rusqlite::{Connection, OptionalExtension};

/// Delegates inside a device now.
pub fn people(connection: &Connection, device: DeviceId) -> Result<i64> {
    let inside = connection
        .prepare_cached("SELECT inside FROM occupancy WHERE device_id = ?1")?
        .query_row([device], |row| row.get(0))
        .optional()?;
    Ok(inside.unwrap_or(0))
}

/// Adds to how many delegates are inside a device.
pub(super) fn add_people(connection: &Connection, device: DeviceId, more: i64) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO occupancy (device_id, inside) VALUES (?1, ?2)
             ON CONFLICT (device_id) DO UPDATE SET inside = inside + ?2",
        )?
        .execute((device, more))?;
    Ok(())
}
