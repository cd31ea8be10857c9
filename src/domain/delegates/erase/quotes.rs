//! What others recorded and quotes a person's e-mail address, telephone number or code. Every document
//! of the file is read for it, beside the writer; what is changed is written in small slices. That goes
//! before the record itself: whoever erases once more after an interruption still knows what to look
//! for.

use crate::{
    db::{Store, Tx},
    domain::sales::Contacts,
    types::error::Result,
};
use rusqlite::{Connection, params};
use serde_json::Value;
use std::sync::Arc;

/// Bytes that are read in one go, and those that are changed.
const READ_MAX_BYTES: usize = 4 * 1024 * 1024;
const CHANGED_MAX_BYTES: usize = 128 * 1024;
/// Documents that are changed in one go.
const CHANGED_MAX: usize = 100;
/// Interactions that came while the others were read; those after them are told nothing of.
const LATE_MAX: usize = 1_000;

/// Where documents stand: the table, the column, and what of it others recorded.
const PLACES: [(&str, &str, Part); 6] = [
    ("interactions", "data", Part::Whole),
    ("shared_values", "value", Part::Whole),
    ("delegates", "data", Part::Whole),
    ("devices", "data", Part::Whole),
    ("audit", "before", Part::Data),
    ("audit", "after", Part::Data),
];

/// What of a document is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Whole,
    /// Its `data`: the rest is what the record is, such as another's address.
    Data,
}

/// A document that quotes the person.
struct Quote {
    id: i64,
    old: String,
    new: String,
}

/// A slice of a place: what quotes the person, and after which row to go on.
struct Slice {
    quotes: Vec<Quote>,
    next: Option<i64>,
}

/// Takes the quotes out of the whole file; the newest interaction that was read.
pub(super) async fn take_out(store: &Store, contacts: &Contacts) -> Result<i64> {
    let newest = store.look_up(newest)?;
    if contacts.is_empty() {
        return Ok(newest);
    }
    let contacts = Arc::new(contacts.clone());
    for place in 0..PLACES.len() {
        let mut after = Some(0);
        while let Some(id) = after {
            let contacts = Arc::clone(&contacts);
            let slice = store
                .read(move |connection| find(connection, &contacts, place, id))
                .await?;
            after = slice.next;
            if !slice.quotes.is_empty() {
                store
                    .write_bulk(move |tx| replace(tx, place, &slice.quotes))
                    .await?;
            }
        }
    }
    Ok(newest)
}

/// As [`take_out`], within one transaction.
pub(super) fn take_out_at_once(tx: &Tx<'_>, contacts: &Contacts) -> Result<()> {
    for place in 0..PLACES.len() {
        let mut after = Some(0).filter(|_| !contacts.is_empty());
        while let Some(id) = after {
            let slice = find(tx, contacts, place, id)?;
            replace(tx, place, &slice.quotes)?;
            after = slice.next;
        }
    }
    Ok(())
}

/// Takes quotes out of the interactions that came since.
pub(super) fn take_out_late(tx: &Tx<'_>, contacts: &Contacts, after: i64) -> Result<()> {
    let mut statement = tx.prepare_cached(
        "SELECT id, data FROM interactions WHERE id > ?1 AND data IS NOT NULL ORDER BY id LIMIT ?2",
    )?;
    let mut rows = statement.query(params![after, LATE_MAX])?;
    let mut quotes = Vec::new();
    while let Some(row) = rows.next()? {
        quotes.extend(quote(contacts, Part::Whole, row.get(0)?, row.get(1)?));
    }
    replace(tx, 0, &quotes)
}

fn newest(connection: &Connection) -> Result<i64> {
    let sql = "SELECT coalesce(max(id), 0) FROM interactions";
    Ok(connection.query_row(sql, [], |row| row.get(0))?)
}

fn find(connection: &Connection, contacts: &Contacts, place: usize, after: i64) -> Result<Slice> {
    let (table, column, part) = PLACES[place];
    let mut statement = connection.prepare_cached(&format!(
        "SELECT id, {column} FROM {table} WHERE id > ?1 AND {column} IS NOT NULL ORDER BY id"
    ))?;
    let mut rows = statement.query([after])?;
    let (mut quotes, mut read, mut changed) = (Vec::new(), 0, 0);
    while let Some(row) = rows.next()? {
        let (id, text): (i64, String) = (row.get(0)?, row.get(1)?);
        read += text.len();
        if let Some(quote) = quote(contacts, part, id, text) {
            changed += quote.new.len();
            quotes.push(quote);
        }
        if read > READ_MAX_BYTES || changed > CHANGED_MAX_BYTES || quotes.len() >= CHANGED_MAX {
            return Ok(Slice {
                quotes,
                next: Some(id),
            });
        }
    }
    Ok(Slice { quotes, next: None })
}

fn quote(contacts: &Contacts, part: Part, id: i64, old: String) -> Option<Quote> {
    let new = match part {
        Part::Whole => contacts.blanked(&old)?,
        Part::Data => {
            let mut document: Value = serde_json::from_str(&old).ok()?;
            let data = document.get_mut("data")?;
            contacts.blank(data).then(|| document.to_string())?
        }
    };
    Some(Quote { id, old, new })
}

/// Writes what has not changed since it was read; what has is of somebody who writes now.
fn replace(tx: &Tx<'_>, place: usize, quotes: &[Quote]) -> Result<()> {
    let (table, column, _) = PLACES[place];
    // A value is known by its digest: nobody shares this one any more.
    let and = match table {
        "shared_values" => ", digest = randomblob(32)",
        _ => "",
    };
    let mut statement = tx.prepare_cached(&format!(
        "UPDATE {table} SET {column} = ?2{and} WHERE id = ?1 AND {column} = ?3"
    ))?;
    for Quote { id, old, new } in quotes {
        statement.execute(params![id, new, old])?;
    }
    Ok(())
}
