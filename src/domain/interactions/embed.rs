//! The interactions that a delegate carries in answers, loaded for a whole page at once.

use super::rows::{COLUMNS, Interaction};
use crate::{
    core::records::{Attachments, Selection, list::SLICE_MAX_BYTES},
    types::{Zone, error::Result},
};
use rusqlite::Connection;

/// The most interactions shown of a delegate in each place; the newest. The rest is in the list of
/// interactions.
const EMBEDDED_MAX: i64 = 1_000;
/// No more of them are shown once they have so many bytes.
const EMBEDDED_MAX_BYTES: usize = 4 * 1024 * 1024;

/// The properties that carry interactions, with the column by which they belong to the delegate.
const PLACES: [(&str, &str); 3] = [
    ("firstInteractions", "first_delegate_id"),
    ("secondInteractions", "second_delegate_id"),
    ("thirdInteractions", "third_delegate_id"),
];

/// Attaches the interactions of the delegates `ids`, as far as the selection shows them; of the first
/// delegates alone, where these have very many bytes of them.
pub fn attach(
    connection: &Connection,
    selection: &Selection,
    ids: &[i64],
    zone: &Zone,
    attachments: &mut Attachments,
) -> Result<()> {
    let mut bytes = 0;
    for (done, id) in (1..).zip(ids) {
        for (property, column) in PLACES {
            if !selection.shows(property) {
                continue;
            }
            let shown = newest(connection, column, *id, zone)?;
            bytes += shown.len();
            if !shown.is_empty() {
                attachments.set(property, *id, shown);
            }
        }
        if bytes > SLICE_MAX_BYTES {
            attachments.end_after(done);
            break;
        }
    }
    Ok(())
}

/// The newest interactions of a delegate as a JSON array, the oldest of them first; nothing without
/// any.
fn newest(connection: &Connection, column: &str, id: i64, zone: &Zone) -> Result<String> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM interactions WHERE {column} = ?1 ORDER BY id DESC LIMIT {EMBEDDED_MAX}"
    ))?;
    let mut rows = statement.query([id])?;
    let (mut text, mut begins) = (String::new(), Vec::new());
    while let Some(row) = rows.next()? {
        let mut interaction = Interaction::read(row)?;
        interaction.complete(connection)?;
        begins.push(text.len());
        interaction.write(zone, None, &mut text);
        if text.len() > EMBEDDED_MAX_BYTES {
            break;
        }
    }
    if begins.is_empty() {
        return Ok(text);
    }
    let mut shown = String::with_capacity(text.len() + begins.len() + 1);
    let mut end = text.len();
    for begin in begins.into_iter().rev() {
        shown.push(if shown.is_empty() { '[' } else { ',' });
        shown.push_str(&text[begin..end]);
        end = begin;
    }
    shown.push(']');
    Ok(shown)
}
