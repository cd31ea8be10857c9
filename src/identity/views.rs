//! Views that users of the console saved: names for filters of the list of attendees.

use crate::{
    db::Tx,
    types::{
        UserId,
        error::{Error, Result},
    },
};
use rusqlite::{Connection, params};

/// Views of a user, and characters of a name.
const MOST: i64 = 20;
pub const NAME_MAX_CHARS: usize = 40;

#[derive(Debug, Clone)]
pub struct SavedView {
    pub id: i64,
    pub name: String,
    /// The filters, as the address of the list has them.
    pub query: String,
}

/// The views of a user, in the order in which they were saved.
pub fn of(connection: &Connection, user: UserId) -> Result<Vec<SavedView>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, name, query FROM console_views WHERE user_id = ?1 ORDER BY id",
    )?;
    let views = statement.query_map([user], |row| {
        Ok(SavedView {
            id: row.get(0)?,
            name: row.get(1)?,
            query: row.get(2)?,
        })
    })?;
    Ok(views.collect::<rusqlite::Result<_>>()?)
}

/// Saves a view, in place of one of the same name.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`] for a name that is empty or too long, and beyond 20 views.
pub fn save(tx: &Tx<'_>, user: UserId, name: &str, query: &str) -> Result<()> {
    let name = name.trim();
    if name.is_empty() || name.chars().count() > NAME_MAX_CHARS {
        return Err(Error::field(
            "name",
            format!("must have 1 to {NAME_MAX_CHARS} characters"),
        ));
    }
    let others: i64 = tx
        .prepare_cached("SELECT count(*) FROM console_views WHERE user_id = ?1 AND name <> ?2")?
        .query_row(params![user, name], |row| row.get(0))?;
    if others >= MOST {
        return Err(Error::invalid(format!(
            "there are {MOST} views; remove one first"
        )));
    }
    tx.prepare_cached(
        "INSERT INTO console_views (user_id, name, query) VALUES (?1, ?2, ?3)
         ON CONFLICT (user_id, name) DO UPDATE SET query = excluded.query",
    )?
    .execute(params![user, name, query])?;
    Ok(())
}

/// Removes a view of a user.
pub fn remove(tx: &Tx<'_>, user: UserId, id: i64) -> Result<()> {
    tx.prepare_cached("DELETE FROM console_views WHERE user_id = ?1 AND id = ?2")?
        .execute(params![user, id])?;
    Ok(())
}
