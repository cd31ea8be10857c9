//! Places that an upgrade closed to people who are not registered: the dashboard lists them once.

use super::NAME;
use crate::{db::Tx, types::error::Result};
use rusqlite::Connection;

/// Places that an upgrade closed to people who are not registered, until [`forget_closed`].
pub fn closed_by_upgrade(connection: &Connection) -> Result<Vec<(i64, String)>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT d.id, {NAME} FROM closed_by_upgrade c
         JOIN devices d ON d.id = c.device_id WHERE d.deleted_at IS NULL ORDER BY d.id LIMIT 50"
    ))?;
    let places = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(places.collect::<rusqlite::Result<_>>()?)
}

/// An administrator has seen what the upgrade closed.
pub fn forget_closed(tx: &Tx<'_>) -> Result<usize> {
    Ok(tx.execute("DELETE FROM closed_by_upgrade", [])?)
}
