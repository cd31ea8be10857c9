//! Whether the index for searching has what delegates' texts say. SQLite's own check looks at the
//! index alone, not at whether it is of these rows.

use crate::{
    delegates::SEARCHED,
    error::Result,
    search::index_query,
    store::{ServeLock, Store},
};
use rusqlite::{Connection, OptionalExtension};

/// The most delegates that are looked up, spread over the file.
const SAMPLE_MAX: i64 = 20_000;

/// The first of the delegates that the index does not find by their own texts.
///
/// # Errors
/// When it cannot be read.
pub fn first_missing(connection: &Connection) -> Result<Option<i64>> {
    let columns: Vec<&str> = SEARCHED
        .fields
        .iter()
        .filter(|field| field.text_indexed)
        .map(|field| field.column)
        .collect();
    let newest: i64 =
        connection.query_row("SELECT coalesce(max(id), 0) FROM delegates", [], |row| {
            row.get(0)
        })?;
    let stride = (newest / SAMPLE_MAX).max(1);
    let mut read = connection.prepare(&format!(
        "SELECT {} FROM delegates WHERE id = ?1",
        columns.join(", ")
    ))?;
    let mut find = connection
        .prepare("SELECT 1 FROM delegates_search WHERE delegates_search MATCH ?1 AND rowid = ?2")?;
    for id in (1..=newest).step_by(usize::try_from(stride).unwrap_or(1)) {
        let texts: Option<Vec<Option<String>>> = read
            .query_row([id], |row| {
                (0..columns.len()).map(|at| row.get(at)).collect()
            })
            .optional()?;
        for (column, text) in columns.iter().zip(texts.into_iter().flatten()) {
            if let Some(query) = text.and_then(|text| index_query(column, &text))
                && !find.exists((query, id))?
            {
                return Ok(Some(id));
            }
        }
    }
    Ok(None)
}

/// Makes the index anew. It holds the file for as long as that takes (some ten seconds a million
/// delegates), so it is not done beside a server; the server does it before it begins.
///
/// # Errors
/// When it cannot be written.
pub fn rebuild(store: &Store, _: &ServeLock) -> Result<()> {
    store.write_blocking(|tx| {
        tx.execute(
            "INSERT INTO delegates_search (delegates_search) VALUES ('rebuild')",
            [],
        )?;
        Ok(())
    })
}
