//! Presence of a device on the network (spec: Pong): its last request is known to memory at once and to the file a
//! little later.

use crate::{
    db::{Store, Tx},
    identity::last_seen::LastSeen,
    types::{DeviceId, Timestamp, error::Result},
};
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::HashMap;

/// A device is online until it was not seen for longer than this (spec: States and transitions).
pub const ONLINE_MS: i64 = 15 * 60 * 1000;

/// The time at which a device was last seen. Memory has every request since the start, so that what the file says
/// counts only where memory says nothing.
pub fn last_seen(
    connection: &Connection,
    last_seen: &LastSeen,
    device: DeviceId,
) -> Result<Option<Timestamp>> {
    if let Some(at) = last_seen.last(device) {
        return Ok(Some(at));
    }
    Ok(connection
        .prepare_cached("SELECT seen_at FROM device_states WHERE device_id = ?1")?
        .query_row([device], |row| row.get(0))
        .optional()?)
}

/// Returns whether a device that was last seen then is online. A time that far ahead means that the clock was put back,
/// and says nothing about the device.
pub fn is_online(last_seen: Option<Timestamp>, now: Timestamp) -> bool {
    last_seen.is_some_and(|at| (now.0 - at.0).abs() <= ONLINE_MS)
}

/// The times that were written down before, so that a device that is silent costs no write.
#[derive(Default)]
pub struct Written(HashMap<DeviceId, Timestamp>);

/// Writes down when devices were last seen.
pub async fn write_down(store: &Store, last_seen: &LastSeen, written: &mut Written) -> Result<()> {
    let mut new = last_seen.all();
    new.retain(|(device, at)| written.0.get(device) != Some(at));
    if new.is_empty() {
        return Ok(());
    }
    let rows = new.clone();
    store.write(move |tx| write_rows(tx, &rows)).await?;
    written.0.extend(new);
    Ok(())
}

fn write_rows(tx: &Tx<'_>, rows: &[(DeviceId, Timestamp)]) -> Result<()> {
    let mut statement = tx.prepare_cached(
        "INSERT INTO device_states (device_id, seen_at)
         SELECT id, ?2 FROM devices WHERE id = ?1
         ON CONFLICT (device_id) DO UPDATE SET seen_at = excluded.seen_at",
    )?;
    for (device, at) in rows {
        statement.execute(params![device, at])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_online_for_fifteen_minutes() {
        let at = |minutes: i64| Some(Timestamp(minutes * 60_000));
        let now = Timestamp(60 * 60_000);
        assert!(is_online(at(60), now) && is_online(at(45), now) && is_online(at(61), now));
        assert!(!is_online(at(44), now) && !is_online(at(100), now) && !is_online(None, now));
    }
}
