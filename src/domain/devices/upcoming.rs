//! The places that begin next.

use super::NAME;
use crate::types::{Timestamp, error::Result};
use rusqlite::Connection;

/// A session that begins soon.
#[derive(Debug, Clone)]
pub struct Upcoming {
    pub id: i64,
    pub name: String,
    /// The room or hall that it belongs to; empty where that is the event.
    pub place: String,
    pub begins: Timestamp,
    /// The number of people who may still come in, where that is limited.
    pub left: Option<i64>,
}

/// Returns the sessions that begin after `now` and before `until`, the next one first.
pub fn upcoming(
    connection: &Connection,
    now: Timestamp,
    until: Timestamp,
    limit: usize,
) -> Result<Vec<Upcoming>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT d.id, {NAME}, d.start_at,
             coalesce((SELECT coalesce(nullif(p.name, ''), nullif(p.short_name, ''), p.code) FROM devices p
                 WHERE p.id = d.parent_id AND p.device_type IS NOT 'event'), ''),
             iif(json_valid(d.data), json_extract(d.data, '$.Access.capacity'), NULL)
                 - coalesce((SELECT inside FROM occupancy o WHERE o.device_id = d.id), 0)
         FROM devices d
         WHERE d.device_type = 'session' AND d.deleted_at IS NULL AND d.start_at > ?1 AND d.start_at < ?2
         ORDER BY d.start_at, d.id LIMIT ?3"
    ))?;
    let found = statement.query_map((now, until, limit), |row| {
        let left: Option<i64> = row.get(4).unwrap_or_default();
        Ok(Upcoming {
            id: row.get(0)?,
            name: row.get(1)?,
            begins: row.get(2)?,
            place: row.get(3)?,
            left: left.map(|left| left.max(0)),
        })
    })?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}
