//! What others recorded and quotes a person's e-mail address, telephone number or code. Every document
//! of the file is read for it, beside the writer; what is changed is written in small slices. That goes
//! before the record itself: whoever erases once more after an interruption still knows what to look
//! for.

use crate::{
    db::{Store, Tx},
    domain::sales::Contacts,
    types::error::Result,
};
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::Value;
use std::sync::Arc;

/// Bytes that are read in one go, those that are read while the writer waits, and those that are changed.
const READ_MAX_BYTES: usize = 4 * 1024 * 1024;
const LATE_MAX_BYTES: usize = 512 * 1024;
const CHANGED_MAX_BYTES: usize = 128 * 1024;
/// Documents that are changed in one go.
const CHANGED_MAX: usize = 100;
/// The whole file is read, and then what came meanwhile. The rest is read in the last transaction.
const PASSES: usize = 2;

/// Columns of documents that others recorded.
const PLACES: [Place; 8] = [
    Place::new("interactions", "data", Part::Whole),
    Place::new("shared_values", "value", Part::Whole),
    Place::new("delegates", "data", Part::Whole),
    Place::new("devices", "data", Part::Whole),
    Place::new("audit", "before", Part::Data),
    Place::new("audit", "after", Part::Data),
    Place {
        key: ["key_id", "part"],
        ..Place::new("idempotency_parts", "body", Part::Answers)
    },
    Place {
        key: ["batch_id", "line"],
        ..Place::new("batch_rows", "before", Part::StoredData)
    },
];

struct Place {
    table: &'static str,
    /// The columns that rows are known and sorted by; one column twice where it is enough.
    key: [&'static str; 2],
    column: &'static str,
    part: Part,
}

impl Place {
    const fn new(table: &'static str, column: &'static str, part: Part) -> Self {
        Self {
            table,
            key: ["id", "id"],
            column,
            part,
        }
    }
}

/// What of a document is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Whole,
    /// Its `data`: the rest is what the record is, such as another's address.
    Data,
    /// As that, of a record as its row has it: `data` is JSON within a text.
    StoredData,
    /// As [`Part::Data`], of the record in each answer.
    Answers,
}

/// The key of a row.
type Row = (i64, i64);

const FIRST: Row = (i64::MIN, i64::MIN);

/// The newest row of each place, when it was last read.
pub(super) type Newest = [Row; PLACES.len()];

/// A document that quotes the person.
struct Quote {
    row: Row,
    old: String,
    new: String,
}

/// A slice of a place: what quotes the person, and after which row to go on.
struct Slice {
    quotes: Vec<Quote>,
    next: Option<Row>,
}

/// Takes the quotes out of the whole file; gives the newest rows that were read.
pub(super) async fn take_out(store: &Store, contacts: &Contacts) -> Result<Newest> {
    let mut after = [FIRST; PLACES.len()];
    if contacts.is_empty() {
        return Ok(after);
    }
    let contacts = Arc::new(contacts.clone());
    for _ in 0..PASSES {
        let newest = store.look_up(newest)?;
        for (place, first) in after.into_iter().enumerate() {
            let mut after = Some(first);
            while let Some(row) = after {
                let contacts = Arc::clone(&contacts);
                let slice = store
                    .read(move |connection| find(connection, &contacts, place, row, READ_MAX_BYTES))
                    .await?;
                after = slice.next;
                if !slice.quotes.is_empty() {
                    store
                        .write_bulk(move |tx| replace(tx, place, &slice.quotes))
                        .await?;
                }
            }
        }
        after = newest;
    }
    Ok(after)
}

/// As [`take_out`], within one transaction.
pub(super) fn take_out_at_once(tx: &Tx<'_>, contacts: &Contacts) -> Result<()> {
    for place in 0..PLACES.len() {
        let mut after = Some(FIRST).filter(|_| !contacts.is_empty());
        while let Some(row) = after {
            let slice = find(tx, contacts, place, row, READ_MAX_BYTES)?;
            replace(tx, place, &slice.quotes)?;
            after = slice.next;
        }
    }
    Ok(())
}

/// Takes quotes out of the rows that came since; of very many only the first.
pub(super) fn take_out_late(tx: &Tx<'_>, contacts: &Contacts, newest: Newest) -> Result<()> {
    if contacts.is_empty() {
        return Ok(());
    }
    for (place, row) in newest.into_iter().enumerate() {
        let slice = find(tx, contacts, place, row, LATE_MAX_BYTES)?;
        replace(tx, place, &slice.quotes)?;
    }
    Ok(())
}

fn newest(connection: &Connection) -> Result<Newest> {
    let mut newest = [FIRST; PLACES.len()];
    for (place, newest) in PLACES.iter().zip(&mut newest) {
        let [first, second] = place.key;
        let sql = format!(
            "SELECT {first}, {second} FROM {} ORDER BY {first} DESC, {second} DESC LIMIT 1",
            place.table
        );
        let row = connection
            .prepare_cached(&sql)?
            .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        *newest = row.unwrap_or(FIRST);
    }
    Ok(newest)
}

fn find(
    connection: &Connection,
    contacts: &Contacts,
    place: usize,
    after: Row,
    max_bytes: usize,
) -> Result<Slice> {
    let Place {
        table,
        key: [first, second],
        column,
        part,
    } = PLACES[place];
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {first}, {second}, {column} FROM {table}
         WHERE ({first}, {second}) > (?1, ?2) AND {column} IS NOT NULL ORDER BY {first}, {second}"
    ))?;
    let mut rows = statement.query(after)?;
    let (mut quotes, mut read, mut changed) = (Vec::new(), 0, 0);
    while let Some(row) = rows.next()? {
        let (row, text): (Row, String) = ((row.get(0)?, row.get(1)?), row.get(2)?);
        read += text.len();
        if let Some(new) = without(contacts, part, &text) {
            changed += new.len();
            quotes.push(Quote {
                row,
                old: text,
                new,
            });
        }
        if read > max_bytes || changed > CHANGED_MAX_BYTES || quotes.len() >= CHANGED_MAX {
            return Ok(Slice {
                quotes,
                next: Some(row),
            });
        }
    }
    Ok(Slice { quotes, next: None })
}

/// A document without quotes; `None` where it has none.
fn without(contacts: &Contacts, part: Part, old: &str) -> Option<String> {
    match part {
        Part::Whole => contacts.blanked(old),
        Part::Data => {
            let mut document: Value = serde_json::from_str(old).ok()?;
            let data = document.get_mut("data")?;
            contacts.blank(data).then(|| document.to_string())
        }
        Part::StoredData => {
            let mut columns: Value = serde_json::from_str(old).ok()?;
            let data = columns.get_mut("data")?;
            *data = contacts.blanked(data.as_str()?)?.into();
            Some(columns.to_string())
        }
        Part::Answers => {
            let mut answers: Vec<Value> = serde_json::from_str(&format!("[{old}]")).ok()?;
            let data = answers
                .iter_mut()
                .filter_map(|item| item.pointer_mut("/data/data"));
            let changed = data.fold(false, |any, data| contacts.blank(data) | any);
            changed.then(|| super::traces::joined(&answers))
        }
    }
}

/// Writes what has not changed since it was read; what has is of somebody who writes now.
fn replace(tx: &Tx<'_>, place: usize, quotes: &[Quote]) -> Result<()> {
    let Place {
        table,
        key: [first, second],
        column,
        ..
    } = PLACES[place];
    // A value is known by its digest: nobody shares this one any more.
    let and = match table {
        "shared_values" => ", digest = randomblob(32)",
        _ => "",
    };
    let mut statement = tx.prepare_cached(&format!(
        "UPDATE {table} SET {column} = ?3{and} WHERE {first} = ?1 AND {second} = ?2 AND {column} = ?4"
    ))?;
    for Quote { row, old, new } in quotes {
        statement.execute(params![row.0, row.1, new, old])?;
    }
    Ok(())
}
