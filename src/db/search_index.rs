//! The index for finding attendees: every three letters in a row of their folded texts. Triggers note which rows
//! changed and what the index has of them; the program folds, which SQLite cannot, and writes the index before it
//! commits. So any other program may write the file as well: what it changed is indexed at the next write. Where more
//! rows changed than others can wait for, a commit indexes a slice, and searches look at the rows themselves until the
//! index has them all.

use crate::types::{
    error::{Error, Result},
    fold,
};
use rusqlite::{Connection, OptionalExtension, Row, params_from_iter};

/// The columns of attendees that are indexed, in the order of the index.
pub const COLUMNS: [&str; 8] = [
    "first_name",
    "last_name",
    "email",
    "phone",
    "job_title",
    "company",
    "barcode",
    "external_id",
];
/// Rows that are indexed at once where others wait: some 30 ms.
pub(super) const SLICE: usize = 500;
/// Rows that are indexed at once where nobody does.
const SLICE_ALONE: usize = 2_000;

/// The columns, separated by commas.
#[must_use]
pub fn columns() -> String {
    COLUMNS.join(", ")
}

/// Returns the entry of a text in the index: its forms and their other spellings, with a space before and after each,
/// so that a space and two letters find a word that begins with those.
#[must_use]
pub fn indexed(column: &str, text: &str) -> String {
    let words = match column {
        "email" | "barcode" | "external_id" => fold::forms(text),
        "phone" => {
            let mut words = fold::forms(text);
            words.push(fold::phone(text));
            words
        }
        _ => fold::with_alternatives(fold::forms(text)),
    };
    let mut indexed = String::with_capacity(text.len() * 2 + 2);
    for word in words.iter().filter(|word| !word.is_empty()) {
        indexed.push(' ');
        indexed.push_str(word);
    }
    if !indexed.is_empty() {
        indexed.push(' ');
    }
    indexed
}

/// The texts of a row as the index has them; `first` is where the columns begin.
pub fn indexed_row(row: &Row<'_>, first: usize) -> rusqlite::Result<Vec<Option<String>>> {
    let columns = (first..).zip(COLUMNS);
    columns
        .map(|(at, column)| {
            let text = row.get_ref(at)?.as_str_or_null()?;
            Ok(text.map(|text| indexed(column, text)))
        })
        .collect()
}

/// Brings the index up to the rows that changed, so many at the most. Returns how many those were.
pub fn settle(connection: &Connection, most: usize) -> Result<usize> {
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    settle_between(connection, (i64::MIN, i64::MAX), most)
}

/// Brings the index up to one row.
pub fn settle_row(connection: &Connection, id: i64) -> Result<()> {
    settle_between(connection, (id, id), 1).map(drop)
}

fn settle_between(connection: &Connection, (from, to): (i64, i64), most: i64) -> Result<usize> {
    let changed: Vec<(i64, Option<Vec<Option<String>>>)> = {
        let mut pending = connection.prepare_cached(
            "SELECT id, is_indexed, first_name, last_name, email, phone, job_title, company, barcode, external_id
             FROM delegates_search_pending WHERE id BETWEEN ?1 AND ?2 ORDER BY id LIMIT ?3",
        )?;
        let rows = pending.query_map([from, to, most], |row| {
            let old = row.get::<_, bool>(1)?.then(|| indexed_row(row, 2));
            Ok((row.get(0)?, old.transpose()?))
        })?;
        rows.collect::<rusqlite::Result<_>>()?
    };
    let Some((last, _)) = changed.last() else {
        return Ok(0);
    };
    for (id, old) in &changed {
        if let Some(old) = old {
            write(connection, REMOVE, *id, old)?;
        }
        if let Some(new) = current(connection, *id)? {
            write(connection, ADD, *id, &new)?;
        }
    }
    connection
        .prepare_cached("DELETE FROM delegates_search_pending WHERE id BETWEEN ?1 AND ?2")?
        .execute([from, *last])?;
    Ok(changed.len())
}

const ADD: &str = "INSERT INTO delegates_search
    (rowid, first_name, last_name, email, phone, job_title, company, barcode, external_id)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
const REMOVE: &str = "INSERT INTO delegates_search
    (rowid, first_name, last_name, email, phone, job_title, company, barcode, external_id, delegates_search)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 'delete')";

fn write(connection: &Connection, sql: &str, id: i64, texts: &[Option<String>]) -> Result<()> {
    let mut statement = connection.prepare_cached(sql)?;
    statement.raw_bind_parameter(1, id)?;
    for (at, text) in (2..).zip(texts) {
        statement.raw_bind_parameter(at, text)?;
    }
    statement.raw_execute()?;
    Ok(())
}

fn current(connection: &Connection, id: i64) -> Result<Option<Vec<Option<String>>>> {
    let row = connection
        .prepare_cached(
            "SELECT first_name, last_name, email, phone, job_title, company, barcode, external_id
             FROM delegates WHERE id = ?1",
        )?
        .query_row([id], |row| indexed_row(row, 0));
    Ok(row.optional()?)
}

/// Returns whether rows changed that the index does not have yet.
pub fn is_behind(connection: &Connection) -> rusqlite::Result<bool> {
    let sql = "SELECT 1 FROM delegates_search_pending LIMIT 1";
    connection.prepare_cached(sql)?.exists([])
}

/// Counts the rows that changed and that the index does not have yet.
pub fn rows_behind(connection: &Connection) -> Result<usize> {
    let sql = "SELECT count(*) FROM delegates_search_pending";
    Ok(connection.query_row(sql, [], |row| row.get(0))?)
}

/// Brings the index up to every row that changed, a slice in each transaction; nothing where none did.
pub fn settle_all(connection: &Connection) -> Result<()> {
    let total = rows_behind(connection)?;
    if total == 0 {
        return Ok(());
    }
    let (mut done, mut told) = (0, 0);
    loop {
        connection.execute_batch("BEGIN IMMEDIATE")?;
        let settled = settle(connection, SLICE_ALONE)
            .and_then(|settled| Ok(connection.execute_batch("COMMIT").map(|()| settled)?));
        match settled {
            Ok(0) => return Ok(()),
            Ok(settled) => done += settled,
            Err(cause) => {
                let _ = connection.execute_batch("ROLLBACK");
                return Err(cause);
            }
        }
        let tenths = done * 10 / total.max(1);
        if total > 10 * SLICE_ALONE && tenths > told {
            told = tenths;
            tracing::info!("indexing attendees for the search: {done} of {total}");
        }
    }
}

/// Empties the index, and has it made anew of every row.
pub fn rebuild(connection: &Connection) -> Result<()> {
    connection.execute_batch(
        "INSERT INTO delegates_search (delegates_search) VALUES ('delete-all');
         DELETE FROM delegates_search_pending;
         INSERT INTO delegates_search_pending (id, is_indexed) SELECT id, 0 FROM delegates",
    )?;
    while settle(connection, SLICE_ALONE)? > 0 {}
    Ok(())
}

/// A second index of the same rows in `temp.fresh`, to compare with.
pub fn make_fresh(connection: &Connection) -> Result<()> {
    let columns = columns();
    connection.execute_batch(&format!(
        "CREATE VIRTUAL TABLE temp.fresh USING fts5 ({columns}, content = '',
             tokenize = 'trigram case_sensitive 1', detail = 'column', columnsize = 0)"
    ))?;
    let mut read = connection.prepare(&format!("SELECT {columns}, id FROM main.delegates"))?;
    let mut add = connection.prepare(&format!(
        "INSERT INTO temp.fresh ({columns}, rowid) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"
    ))?;
    let mut rows = read.query([])?;
    while let Some(row) = rows.next()? {
        let mut values: Vec<rusqlite::types::Value> =
            indexed_row(row, 0)?.into_iter().map(Into::into).collect();
        values.push(row.get(COLUMNS.len())?);
        add.execute(params_from_iter(values)).map_err(Error::from)?;
    }
    Ok(())
}
