//! The interactions that a delegate carries in answers, loaded for a whole page at once.

use super::rows::{COLUMNS, Interaction};
use crate::{
    error::Result,
    records::{Attachments, Selection},
    types::Zone,
};
use rusqlite::Connection;

/// The most interactions shown of a delegate in each place; the newest. The rest is in the list of
/// interactions.
const EMBEDDED_MAX: i64 = 1_000;

/// The properties that carry interactions, with the column by which they belong to the delegate.
const PLACES: [(&str, &str); 3] = [
    ("firstInteractions", "first_delegate_id"),
    ("secondInteractions", "second_delegate_id"),
    ("thirdInteractions", "third_delegate_id"),
];

/// Attaches the interactions of the delegates `ids`, as far as the selection shows them.
///
/// # Errors
/// When they cannot be read.
pub fn attach(
    connection: &Connection,
    selection: &Selection,
    ids: &[i64],
    zone: &Zone,
    attachments: &mut Attachments,
) -> Result<()> {
    for (property, column) in PLACES {
        if !selection.shows(property) {
            continue;
        }
        let mut statement = connection.prepare_cached(&format!(
            "SELECT * FROM (SELECT {COLUMNS} FROM interactions WHERE {column} = ?1 ORDER BY id DESC LIMIT {EMBEDDED_MAX}) ORDER BY id"
        ))?;
        for id in ids {
            let mut rows = statement.query([id])?;
            let mut shown = String::new();
            while let Some(row) = rows.next()? {
                let mut interaction = Interaction::read(row)?;
                interaction.complete(connection)?;
                shown.push(if shown.is_empty() { '[' } else { ',' });
                interaction.write(zone, None, &mut shown);
            }
            if !shown.is_empty() {
                shown.push(']');
                attachments.set(property, *id, shown);
            }
        }
    }
    Ok(())
}
