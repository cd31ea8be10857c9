//! The index for searching, of many new delegates at once. It is kept by triggers otherwise.

use crate::{db::Tx, types::error::Result};

/// From here on to [`now`], in the same transaction, new delegates are not put into the index.
pub fn later(tx: &Tx<'_>) -> Result<()> {
    tx.prepare_cached("INSERT OR IGNORE INTO delegates_search_later (id) VALUES (1)")?
        .execute([])?;
    Ok(())
}

/// Puts new delegates into the index, all of those made since [`later`].
pub fn now(tx: &Tx<'_>, made: &[i64]) -> Result<()> {
    tx.prepare_cached(
        "INSERT INTO delegates_search (rowid, first_name, last_name, email, phone, job_title, company, barcode, external_id)
         SELECT id, first_name, last_name, email, phone, job_title, company, barcode, external_id
         FROM delegates WHERE id IN (SELECT value FROM json_each(?1))",
    )?
    .execute([serde_json::json!(made).to_string()])?;
    tx.prepare_cached("DELETE FROM delegates_search_later")?
        .execute([])?;
    Ok(())
}
