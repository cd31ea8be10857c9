//! The history of one record: what the audit has of it, with the import that brought it.

use super::Entry;
use super::find::{SELECT, entry};
use crate::types::error::Result;
use rusqlite::{Connection, named_params};

/// A record: the types under which the audit has it, and its table, by which imports call it.
#[derive(Debug, Clone, Copy)]
pub struct HistoryOf {
    /// Types of records; one that has no other name names itself twice.
    pub types: [&'static str; 2],
    /// The table of the record.
    pub table: &'static str,
    /// The record.
    pub id: i64,
}

/// Changes to a record before a row of the audit, at most `limit`, the newest first.
pub fn history(
    connection: &Connection,
    of: HistoryOf,
    before: Option<i64>,
    limit: usize,
) -> Result<Vec<Entry>> {
    let mut statement = connection.prepare_cached(&format!(
        "{SELECT} WHERE record_type IN (:type, :other) AND record_id = :record AND id < :before
         UNION ALL SELECT r.change_id, t.created_at, b.actor, NULL, 'import', :type, t.id, NULL,
             json_object('Import', b.id || ': ' || b.file_name)
         FROM batch_rows r CROSS JOIN batches b ON b.id = r.batch_id JOIN {table} t ON t.id = r.record_id
         WHERE r.record_id = :record AND b.kind = '{table}' AND r.change_id < :before
         ORDER BY 1 DESC LIMIT :limit",
        table = of.table
    ))?;
    let [kind, other] = of.types;
    let entries = statement.query_map(
        named_params! {
            ":type": kind, ":other": other, ":record": of.id,
            ":before": before.unwrap_or(i64::MAX), ":limit": limit,
        },
        entry,
    )?;
    Ok(entries.collect::<rusqlite::Result<_>>()?)
}
