//! Quotes of a person's e-mail address, telephone number or code in what others recorded. Every document
//! of the file is read for them, beside the writer; what is changed is written in small slices. That goes
//! before the record itself: whoever erases once more after an interruption still knows what to look
//! for. Telephone numbers that are written in another way are left, for people to look at.

use crate::{
    db::{
        Store, Tx,
        tables::{Content, TABLES, Table, Text},
    },
    domain::sales::Contacts,
    types::error::Result,
};
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::Value;
use std::{
    collections::BTreeSet,
    sync::{Arc, LazyLock},
};

/// Bytes that are read in one go, those that are read while the writer waits, and those that are changed.
const READ_MAX_BYTES: usize = 4 * 1024 * 1024;
const LATE_MAX_BYTES: usize = 512 * 1024;
const CHANGED_MAX_BYTES: usize = 128 * 1024;
/// Documents that are changed in one go.
const CHANGED_MAX: usize = 100;
/// The whole file is read, and then what came meanwhile. The rest is read in the last transaction.
const PASSES: usize = 2;
/// Documents that are kept for review. Many of them may be the person's own, which go.
const REVIEW_MAX: usize = 500;

/// The columns of documents that others recorded.
static DOCUMENTS: LazyLock<Vec<(&Table, &str, Text)>> = LazyLock::new(|| {
    let columns = |table: &'static Table| {
        let quotes = move |(content, column)| match content {
            Content::Quotes(text) => Some((table, column, text)),
            _ => None,
        };
        table.columns().filter_map(quotes)
    };
    TABLES.iter().flat_map(columns).collect()
});

/// The key of a row.
type Row = (i64, i64);

const FIRST: Row = (i64::MIN, i64::MIN);

/// The state of reading the documents.
pub(super) struct Read {
    /// The newest row of each column, when it was last read.
    newest: Vec<Row>,
    /// Rows with a telephone number like the person's, by column.
    alike: BTreeSet<(usize, Row)>,
}

impl Read {
    fn keep(&mut self, column: usize, rows: Vec<Row>) {
        let room = REVIEW_MAX.saturating_sub(self.alike.len());
        let rows = rows.into_iter().map(|row| (column, row));
        self.alike.extend(rows.take(room));
    }
}

/// A document that quotes the person.
struct Quote {
    row: Row,
    old: String,
    new: String,
}

/// A slice of a column: what quotes the person, rows for review, and after which row to go on.
#[derive(Default)]
struct Slice {
    quotes: Vec<Quote>,
    alike: Vec<Row>,
    next: Option<Row>,
}

/// Takes the quotes out of the whole file.
pub(super) async fn take_out(store: &Store, contacts: &Contacts) -> Result<Read> {
    let mut read = Read {
        newest: vec![FIRST; DOCUMENTS.len()],
        alike: BTreeSet::new(),
    };
    if contacts.is_empty() {
        return Ok(read);
    }
    let contacts = Arc::new(contacts.clone());
    for _ in 0..PASSES {
        let newest = store.look_up(newest)?;
        for (column, first) in read.newest.clone().into_iter().enumerate() {
            let mut after = Some(first);
            while let Some(row) = after {
                let contacts = Arc::clone(&contacts);
                let slice = store
                    .read(move |connection| {
                        find(connection, &contacts, column, row, READ_MAX_BYTES)
                    })
                    .await?;
                after = slice.next;
                read.keep(column, slice.alike);
                if !slice.quotes.is_empty() {
                    store
                        .write_bulk(move |tx| replace(tx, column, &slice.quotes))
                        .await?;
                }
            }
        }
        read.newest = newest;
    }
    Ok(read)
}

/// As [`take_out`], within one transaction.
pub(super) fn take_out_at_once(tx: &Tx<'_>, contacts: &Contacts) -> Result<()> {
    for column in 0..DOCUMENTS.len() {
        let mut after = Some(FIRST).filter(|_| !contacts.is_empty());
        while let Some(row) = after {
            let slice = find(tx, contacts, column, row, READ_MAX_BYTES)?;
            replace(tx, column, &slice.quotes)?;
            after = slice.next;
        }
    }
    Ok(())
}

/// Takes quotes out of the rows that came since; of very many only the first.
pub(super) fn take_out_late(tx: &Tx<'_>, contacts: &Contacts, read: &mut Read) -> Result<()> {
    if contacts.is_empty() {
        return Ok(());
    }
    for (column, row) in read.newest.clone().into_iter().enumerate() {
        let slice = find(tx, contacts, column, row, LATE_MAX_BYTES)?;
        replace(tx, column, &slice.quotes)?;
        read.keep(column, slice.alike);
    }
    Ok(())
}

/// Names the documents for review that are still there, now that the person is not.
pub(super) fn left(tx: &Tx<'_>, contacts: &Contacts, read: &Read) -> Result<Vec<String>> {
    let mut left = Vec::new();
    for (column, row) in &read.alike {
        let (table, name, text) = DOCUMENTS[*column];
        let [first, second] = table.key;
        let sql = format!(
            "SELECT {name} FROM {} WHERE {first} = ?1 AND {second} = ?2 AND {name} IS NOT NULL",
            table.name
        );
        let document: Option<String> = tx.query_row(&sql, *row, |row| row.get(0)).optional()?;
        let is_alike =
            |document: String| look(contacts, text, &document).is_some_and(|it| it.is_alike);
        if document.is_some_and(is_alike) {
            left.push(match table.name {
                "delegates" => format!("attendee {}", row.0),
                "devices" => format!("place {}", row.0),
                "interactions" => format!("interaction {}", row.0),
                "shared_values" => format!("shared value {}", row.0),
                "audit" => format!("history entry {}", row.0),
                "batch_rows" => format!("line {} of import {}", row.1, row.0),
                _ => format!("stored answer {}", row.0),
            });
        }
    }
    left.dedup();
    Ok(left)
}

fn newest(connection: &Connection) -> Result<Vec<Row>> {
    let newest = |(table, ..): &(&Table, &str, Text)| {
        let [first, second] = table.key;
        let sql = format!(
            "SELECT {first}, {second} FROM {} ORDER BY {first} DESC, {second} DESC LIMIT 1",
            table.name
        );
        let row = connection
            .prepare_cached(&sql)?
            .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        Ok(row.unwrap_or(FIRST))
    };
    DOCUMENTS.iter().map(newest).collect()
}

fn find(
    connection: &Connection,
    contacts: &Contacts,
    column: usize,
    after: Row,
    max_bytes: usize,
) -> Result<Slice> {
    let (table, name, text) = DOCUMENTS[column];
    let [first, second] = table.key;
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {first}, {second}, {name} FROM {}
         WHERE ({first}, {second}) > (?1, ?2) AND {name} IS NOT NULL ORDER BY {first}, {second}",
        table.name
    ))?;
    let mut rows = statement.query(after)?;
    let (mut slice, mut read, mut changed) = (Slice::default(), 0, 0);
    while let Some(row) = rows.next()? {
        let (row, old): (Row, String) = ((row.get(0)?, row.get(1)?), row.get(2)?);
        read += old.len();
        let found = look(contacts, text, &old).unwrap_or_default();
        if found.is_alike {
            slice.alike.push(row);
        }
        if let Some(new) = found.new {
            changed += new.len();
            slice.quotes.push(Quote { row, old, new });
        }
        if read > max_bytes || changed > CHANGED_MAX_BYTES || slice.quotes.len() >= CHANGED_MAX {
            slice.next = Some(row);
            break;
        }
    }
    Ok(slice)
}

/// The result of a look at a document.
#[derive(Default)]
struct Look {
    /// The document without quotes, where it had any.
    new: Option<String>,
    /// Set where a telephone number like the person's is left.
    is_alike: bool,
}

/// Looks at a document; `None` where it cannot be read.
fn look(contacts: &Contacts, text: Text, old: &str) -> Option<Look> {
    let may_be_alike = contacts.are_like(old);
    let mut is_alike = false;
    let mut blank = |data: &mut Value| {
        let any = contacts.blank(data);
        is_alike |= may_be_alike && contacts.are_like(&data.to_string());
        any
    };
    let new = match text {
        Text::Whole => {
            let mut data = serde_json::from_str(old).ok()?;
            blank(&mut data).then(|| data.to_string())
        }
        Text::Data => {
            let mut record: Value = serde_json::from_str(old).ok()?;
            blank(record.get_mut("data")?).then(|| record.to_string())
        }
        Text::RowData => {
            let mut columns: Value = serde_json::from_str(old).ok()?;
            let column = columns.get_mut("data")?;
            let mut data: Value = serde_json::from_str(column.as_str()?).ok()?;
            let any = blank(&mut data);
            *column = data.to_string().into();
            any.then(|| columns.to_string())
        }
        Text::Answers => {
            let mut answers: Vec<Value> = serde_json::from_str(&format!("[{old}]")).ok()?;
            let data = answers.iter_mut();
            let data = data.filter_map(|item| item.pointer_mut("/data/data"));
            let any = data.fold(false, |any, data| blank(data) | any);
            any.then(|| super::traces::joined(&answers))
        }
    };
    Some(Look { new, is_alike })
}

/// Writes what has not changed since it was read; what has is of somebody who writes now.
fn replace(tx: &Tx<'_>, column: usize, quotes: &[Quote]) -> Result<()> {
    let (table, name, _) = DOCUMENTS[column];
    let ([first, second], table) = (table.key, table.name);
    // A value is known by its digest: nobody shares this one any more.
    let and = match table {
        "shared_values" => ", digest = randomblob(32)",
        _ => "",
    };
    let mut statement = tx.prepare_cached(&format!(
        "UPDATE {table} SET {name} = ?3{and} WHERE {first} = ?1 AND {second} = ?2 AND {name} = ?4"
    ))?;
    for Quote { row, old, new } in quotes {
        statement.execute(params![row.0, row.1, new, old])?;
    }
    Ok(())
}
