//! Where an interaction came from, and what the rules would have said.

use crate::types::error::Result;
use rusqlite::{Connection, OptionalExtension};

/// Who sent an interaction.
#[derive(Debug, Clone)]
pub struct Sender {
    /// The client, by name.
    pub client: Option<String>,
    /// The user, by e-mail address.
    pub user: Option<String>,
    /// Whether the gate had let the person in already.
    pub admitted: bool,
}

/// Who sent an interaction; by number who is gone since.
pub fn sender(connection: &Connection, id: i64) -> Result<Sender> {
    Ok(connection
        .prepare_cached(
            "SELECT iif(i.client_id IS NULL, NULL, coalesce(c.name, 'client ' || i.client_id || ', which is gone')),
                 iif(i.user_id IS NULL, NULL, coalesce(u.email, 'user ' || i.user_id || ', who is gone')),
                 i.admitted
             FROM interactions i LEFT JOIN clients c ON c.id = i.client_id
             LEFT JOIN users u ON u.id = i.user_id WHERE i.id = ?1",
        )?
        .query_row([id], |row| {
            Ok(Sender {
                client: row.get(0)?,
                user: row.get(1)?,
                admitted: row.get(2)?,
            })
        })?)
}

/// Why the rules would have refused an interaction.
pub fn conflicts(connection: &Connection, id: i64) -> Result<Vec<String>> {
    let mut statement = connection
        .prepare_cached("SELECT message FROM conflicts WHERE interaction_id = ?1 ORDER BY id")?;
    let messages = statement.query_map([id], |row| row.get(0))?;
    Ok(messages.collect::<rusqlite::Result<_>>()?)
}

/// The import that brought an interaction.
pub fn batch(connection: &Connection, id: i64) -> Result<Option<i64>> {
    Ok(connection
        .prepare_cached(
            "SELECT b.id FROM batch_rows r JOIN batches b ON b.id = r.batch_id
             WHERE r.record_id = ?1 AND b.kind = 'interactions' LIMIT 1",
        )?
        .query_row([id], |row| row.get(0))
        .optional()?)
}
