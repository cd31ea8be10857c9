//! Stays that the end of a day ended: those at places with daily entry, and below them, as the file has them
//! (`domain/interactions/days.rs`).

use super::allowed::FLAGS;
use crate::types::error::Result;
use rusqlite::{Connection, OptionalExtension};
use std::collections::HashSet;

/// Offers `day_ended(device_id, since)`, of the attached file as it is now; `since` in Unix milliseconds.
pub(super) fn offer(connection: &Connection, file: &str) -> Result<()> {
    let sql = format!("SELECT value FROM {file}.counters WHERE name = 'day_begins'");
    let begins: Option<i64> = connection
        .query_row(&sql, [], |row| row.get(0))
        .optional()?;
    let daily = match begins {
        Some(_) => daily_places(connection, file)?,
        None => HashSet::new(),
    };
    connection.create_scalar_function("day_ended", 2, FLAGS, move |call| {
        let device: Option<i64> = call.get(0)?;
        let since: Option<i64> = call.get(1)?;
        let is_daily = device.is_some_and(|device| daily.contains(&device));
        Ok(is_daily && since < begins)
    })?;
    Ok(())
}

fn daily_places(connection: &Connection, file: &str) -> Result<HashSet<i64>> {
    let mut statement = connection.prepare(&format!(
        "WITH RECURSIVE daily (id) AS (
             SELECT id FROM {file}.devices WHERE deleted_at IS NULL AND coalesce(
                 iif(data LIKE '%\"entry\"%' AND json_valid(data), data ->> '$.Access.entry', NULL),
                 (SELECT value ->> '$.entry' FROM {file}.settings WHERE name = 'access')) = 'daily'
             UNION SELECT d.id FROM daily JOIN {file}.devices AS d ON d.parent_id = daily.id)
         SELECT id FROM daily"
    ))?;
    let places = statement.query_map([], |row| row.get(0))?;
    Ok(places.collect::<rusqlite::Result<_>>()?)
}
