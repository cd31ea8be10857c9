//! Which tickets of a purchase were of people who were deleted for good, as keyed hashes: a purchase
//! that comes once more does not make them anew, and nobody can read from it who they were.

use crate::{core::keyed::Key, db::Tx, types::error::Result};
use rusqlite::params;

/// Whether a ticket was of somebody who was deleted for good, and then whether this purchase sold it.
pub(super) fn had(tx: &Tx<'_>, transaction: i64, barcode: &str) -> Result<Option<bool>> {
    let Some(key) = Key::find(tx)? else {
        return Ok(None);
    };
    Ok(tx
        .prepare_cached("SELECT max(transaction_id = ?1) FROM erased_tickets WHERE hash = ?2")?
        .query_row(params![transaction, key.hash(barcode.as_bytes())?], |row| {
            row.get(0)
        })?)
}

/// Remembers that a ticket was of somebody who is being deleted for good.
pub(super) fn keep(tx: &Tx<'_>, transaction: i64, barcode: &str) -> Result<()> {
    let hash = Key::find_or_make(tx)?.hash(barcode.as_bytes())?;
    tx.prepare_cached(
        "INSERT OR IGNORE INTO erased_tickets (transaction_id, hash) VALUES (?1, ?2)",
    )?
    .execute(params![transaction, hash])?;
    Ok(())
}
