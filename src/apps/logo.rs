//! The instance's picture, as apps and the console show it. Whoever sets it sees to its type.

use crate::{error::Result, types::Timestamp};
use rusqlite::{Connection, OptionalExtension};

/// Where the picture is served: an address that needs no token (contract §7).
pub const PATH: &str = "/logo";

/// A picture.
pub struct Logo {
    /// Its media type, such as `image/png`.
    pub content_type: String,
    /// Its bytes.
    pub content: Vec<u8>,
}

/// The picture, if there is one.
///
/// # Errors
/// When it cannot be read.
pub fn find(connection: &Connection) -> Result<Option<Logo>> {
    Ok(connection
        .prepare_cached("SELECT content_type, content FROM logo WHERE id = 1")?
        .query_row([], |row| {
            Ok(Logo {
                content_type: row.get(0)?,
                content: row.get(1)?,
            })
        })
        .optional()?)
}

/// The path of the picture, another one whenever the picture is; `None` without one.
///
/// # Errors
/// When it cannot be read.
pub fn path(connection: &Connection) -> Result<Option<String>> {
    let updated_at: Option<Timestamp> = connection
        .prepare_cached("SELECT updated_at FROM logo WHERE id = 1")?
        .query_row([], |row| row.get(0))
        .optional()?;
    Ok(updated_at.map(|at| format!("{PATH}?v={}", at.0)))
}
