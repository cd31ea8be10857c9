//! Numbers that outlive a restart, by name; `schema.sql` lists them.

use crate::types::error::Result;
use rusqlite::{Connection, OptionalExtension};

/// The value of a counter; `None` where none was ever set.
pub fn get(connection: &Connection, name: &str) -> Result<Option<i64>> {
    Ok(connection
        .prepare_cached("SELECT value FROM counters WHERE name = ?1")?
        .query_row([name], |row| row.get(0))
        .optional()?)
}

/// Sets a counter.
pub fn set(connection: &Connection, name: &str, value: i64) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO counters (name, value) VALUES (?1, ?2)
             ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        )?
        .execute((name, value))?;
    Ok(())
}
