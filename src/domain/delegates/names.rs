//! What people call delegates.

use crate::types::error::Result;
use rusqlite::{Connection, OptionalExtension};

/// The name of a delegate `p`, in SQL: first and last, otherwise what else is known; NULL where an outer
/// join found none.
pub const NAME: &str =
    "coalesce(nullif(trim(coalesce(p.first_name, '') || ' ' || coalesce(p.last_name, '')), ''),
    p.email, p.barcode, p.external_id, p.company, 'No. ' || p.id)";

/// What a delegate is called, deleted or not; `None` where it is gone.
pub fn name_of(connection: &Connection, id: i64) -> Result<Option<String>> {
    Ok(connection
        .prepare_cached(&format!("SELECT {NAME} FROM delegates p WHERE p.id = ?1"))?
        .query_row([id], |row| row.get(0))
        .optional()?)
}
