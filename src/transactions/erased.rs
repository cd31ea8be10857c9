//! Which tickets of a purchase were of people who were deleted for good, as keyed hashes: a purchase
//! that comes once more does not make them anew, and nobody can read from it who they were.

use crate::{auth::keyed::Key, error::Result, store::Tx};
use rusqlite::params;

/// Whether a ticket of the purchase was of somebody who was deleted for good.
///
/// # Errors
/// When it cannot be read.
pub(super) fn had(tx: &Tx<'_>, transaction: i64, barcode: &str) -> Result<bool> {
    let Some(key) = Key::find(tx)? else {
        return Ok(false);
    };
    Ok(tx
        .prepare_cached("SELECT 1 FROM erased_tickets WHERE transaction_id = ?1 AND hash = ?2")?
        .exists(params![transaction, key.hash(barcode.as_bytes())?])?)
}

/// Remembers that a ticket was of somebody who is being deleted for good.
///
/// # Errors
/// When it cannot be written.
pub(super) fn keep(tx: &Tx<'_>, transaction: i64, barcode: &str) -> Result<()> {
    let hash = Key::find_or_make(tx)?.hash(barcode.as_bytes())?;
    tx.prepare_cached(
        "INSERT OR IGNORE INTO erased_tickets (transaction_id, hash) VALUES (?1, ?2)",
    )?
    .execute(params![transaction, hash])?;
    Ok(())
}
