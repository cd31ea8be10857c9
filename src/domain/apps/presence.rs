//! Presence of a device on the network (spec: Pong): its last request is known to memory at once and to the file a
//! little later.

use crate::{
    db::{Store, Tx},
    identity::last_seen::LastSeen,
    types::{DeviceId, Timestamp, error::Result},
};
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::HashMap;

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
