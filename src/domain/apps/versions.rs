//! The versions of the configuration that were published.

use super::Document;
use crate::types::{
    Timestamp,
    error::{Error, Kind, Result},
};
use rusqlite::{Connection, OptionalExtension};

/// Versions listed.
const LISTED: i64 = 100;

/// A version as it was published.
#[derive(Debug, Clone)]
pub struct Version {
    pub version: i64,
    pub by: String,
    pub published_at: Timestamp,
}

/// The newest versions.
pub fn newest(connection: &Connection) -> Result<Vec<Version>> {
    let mut statement = connection.prepare_cached(
        "SELECT version, actor, published_at FROM app_config ORDER BY version DESC LIMIT ?1",
    )?;
    let rows = statement.query_map([LISTED], |row| {
        Ok(Version {
            version: row.get(0)?,
            by: row.get(1)?,
            published_at: row.get(2)?,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// A version with its document.
///
/// # Errors
/// [`Kind::NoSuchPath`] where there is none.
pub fn find(connection: &Connection, version: i64) -> Result<(Version, Document)> {
    connection
        .prepare_cached(
            "SELECT version, actor, published_at, document FROM app_config WHERE version = ?1",
        )?
        .query_row([version], |row| {
            let found = Version {
                version: row.get(0)?,
                by: row.get(1)?,
                published_at: row.get(2)?,
            };
            Ok((found, Document::stored(&row.get::<_, String>(3)?)))
        })
        .optional()?
        .ok_or_else(|| Error::new(Kind::NoSuchPath, format!("there is no version {version}")))
}

/// The document in force before a version.
pub fn before(connection: &Connection, version: i64) -> Result<Document> {
    let text: Option<String> = connection
        .prepare_cached(
            "SELECT document FROM app_config WHERE version < ?1 ORDER BY version DESC LIMIT 1",
        )?
        .query_row([version], |row| row.get(0))
        .optional()?;
    Ok(text.map_or_else(Document::built_in, |text| Document::stored(&text)))
}
