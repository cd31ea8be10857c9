//! Tag numbers to encode: who has one, who gets one, and the list for a badge printer.

use crate::{
    core::{Context, records::write},
    db::Tx,
    domain::delegates::{NAME, RESOURCE},
    types::{
        error::{Error, Result},
        spreadsheet,
    },
};
use rusqlite::Connection;
use serde_json::json;

/// Attendees that a slice numbers.
pub const SLICE: usize = 100;
/// Hexadecimal digits of an EPC-96.
const DIGITS: usize = 24;
/// Digits of the counter between the prefix and the attendee's id.
const COUNTER_DIGITS: usize = 2;
/// The longest prefix that leaves room for the counter and the attendee's id.
const PREFIX_MAX: usize = 10;

/// Counts the attendees who have a tag, and those who have none.
pub fn counts(connection: &Connection) -> Result<(i64, i64)> {
    Ok(connection
        .prepare_cached("SELECT count(uhf_id), count(*) - count(uhf_id) FROM delegates WHERE deleted_at IS NULL")?
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?)
}

/// Checks what tag numbers begin with.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`].
pub fn check_prefix(prefix: &str) -> Result<()> {
    let is_hexadecimal = prefix.bytes().all(|one| one.is_ascii_hexdigit());
    if is_hexadecimal && (2..=PREFIX_MAX).contains(&prefix.len()) {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "the prefix must have 2 to {PREFIX_MAX} hexadecimal digits"
    )))
}

/// Gives a tag number to a slice of those who have none: the prefix, a counter, then the attendee's id. How many.
/// The counter is 0 unless that number is another's, or blocked.
pub fn assign(tx: &Tx<'_>, ctx: &Context, prefix: &str) -> Result<usize> {
    let ids: Vec<i64> = tx
        .prepare_cached(
            "SELECT id FROM delegates WHERE uhf_id IS NULL AND deleted_at IS NULL ORDER BY id LIMIT ?1",
        )?
        .query_map([SLICE], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let mut taken = tx.prepare_cached(
        "SELECT 1 FROM delegates WHERE uhf_id = ?1 COLLATE NOCASE AND uhf_id IS NOT NULL AND deleted_at IS NULL
         UNION ALL SELECT 1 FROM blocked_codes WHERE kind = 'uhfId' AND upper(value) = ?1",
    )?;
    let prefix = prefix.to_ascii_uppercase();
    let width = DIGITS - prefix.len() - COUNTER_DIGITS;
    for id in &ids {
        let mut counter: u8 = 0;
        let number = loop {
            let number = format!("{prefix}{counter:02X}{id:0width$X}");
            if !taken.exists([&number])? {
                break number;
            }
            counter = counter.checked_add(1).ok_or_else(|| {
                Error::invalid(format!("every tag number of attendee {id} is taken"))
            })?;
        };
        let body = json!({"uhfId": number});
        let body = body.as_object().cloned().unwrap_or_default();
        write::patch(tx, ctx, &RESOURCE, *id, body)?;
    }
    Ok(ids.len())
}

/// Everybody's tag number as CSV: `epc,barcode,name,company,type`. It begins with a byte order mark, as reports do, and
/// leaves out what no tag can have.
pub fn list(connection: &Connection) -> Result<Vec<u8>> {
    let mut csv = csv::Writer::from_writer("\u{feff}".as_bytes().to_vec());
    let failed = |cause: csv::Error| Error::defect(cause);
    csv.write_record(["epc", "barcode", "name", "company", "type"])
        .map_err(failed)?;
    let mut statement = connection.prepare_cached(&format!(
        "SELECT upper(uhf_id), coalesce(barcode, ''), coalesce({NAME}, ''), coalesce(company, ''), coalesce(delegate_type, '')
         FROM delegates p
         WHERE uhf_id IS NOT NULL AND uhf_id NOT GLOB '*[^0-9A-Fa-f]*' AND deleted_at IS NULL ORDER BY id"
    ))?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let cells: Vec<String> = (0..5)
            .map(|at| row.get(at))
            .collect::<rusqlite::Result<_>>()?;
        let cells = cells.iter().map(|cell| spreadsheet::guarded(cell));
        csv.write_record(cells.map(std::borrow::Cow::into_owned))
            .map_err(failed)?;
    }
    csv.into_inner().map_err(Error::defect)
}
