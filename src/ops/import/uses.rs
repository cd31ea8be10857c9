//! What points to a record, and keeps it from being removed for good.

use super::Batch;
use crate::{core::records::Resource, db::Tx, domain::delegates, types::error::Result};
use rusqlite::Connection;
use std::collections::HashSet;

/// What may point to a record.
pub(super) struct Uses {
    /// Whether anything does but other records of its table, and the interaction of its row (`?2`).
    used: String,
    /// The next record (after `?2`) of its table that does, itself (`?1`) left out.
    referring: String,
    /// Takes every reference to it away.
    let_go: Vec<String>,
    /// Records that others referred to before another import, which may be taken back as well.
    named: HashSet<i64>,
}

impl Uses {
    pub(super) fn of(connection: &Connection, resource: &Resource, batch: &Batch) -> Result<Self> {
        let participant = resource.table.trim_end_matches('s');
        let mut used = vec![format!(
            "SELECT 1 FROM interactions WHERE first_{participant}_id = ?1 AND id IS NOT ?2"
        )];
        for place in ["second", "third"] {
            used.push(format!(
                "SELECT 1 FROM interactions WHERE {place}_{participant}_id = ?1"
            ));
        }
        let (mut referring, mut let_go) = (Vec::new(), Vec::new());
        // Whatever keeps it from being deleted; what goes with it does not.
        let mut statement = connection.prepare(
            "SELECT s.name, f.\"from\" FROM sqlite_schema s, pragma_foreign_key_list(s.name) f
             WHERE s.type = 'table' AND f.\"table\" = ?1 AND f.on_delete NOT IN ('CASCADE', 'SET NULL')",
        )?;
        let mut keys = statement.query([resource.table])?;
        while let Some(key) = keys.next()? {
            let (table, column): (String, String) = (key.get(0)?, key.get(1)?);
            if table == resource.table {
                referring.push(format!(
                    "SELECT min(id) AS id FROM {table} WHERE {column} = ?1 AND id > ?2 AND id <> ?1"
                ));
                let_go.push(format!(
                    "UPDATE {table} SET {column} = NULL WHERE {column} = ?1"
                ));
            } else if table == "batches" {
                // One that was taken back is no use of its device.
                used.push(format!(
                    "SELECT 1 FROM batches b WHERE {column} = ?1 AND (undone_at IS NULL
                     OR EXISTS (SELECT 1 FROM batch_rows r WHERE r.batch_id = b.id))"
                ));
            } else {
                used.push(format!("SELECT 1 FROM {table} WHERE {column} = ?1"));
            }
        }
        if resource.table == delegates::RESOURCE.table {
            used.push("SELECT 1 FROM messages WHERE delegate_id = ?1".into());
        }
        let used: Vec<_> = used.iter().map(|sql| format!("EXISTS ({sql})")).collect();
        Ok(Self {
            used: format!("SELECT {}", used.join(" OR ")),
            referring: format!("SELECT min(id) FROM ({})", referring.join(" UNION ALL ")),
            let_go,
            named: named(connection, resource, batch)?,
        })
    }

    /// Whether what another import would put back refers to a record.
    pub(super) fn is_named(&self, record: i64) -> bool {
        self.named.contains(&record)
    }

    /// Whether anything but records of its table, and but its own join, points to a record.
    pub(super) fn is_used(&self, tx: &Tx<'_>, record: i64, join: Option<i64>) -> Result<bool> {
        let parameters = rusqlite::params![record, join];
        let mut statement = tx.prepare_cached(&self.used)?;
        Ok(statement.query_row(parameters, |row| row.get(0))?)
    }

    /// The next record of its table after an id that refers to a record.
    pub(super) fn referring(&self, tx: &Tx<'_>, record: i64, after: i64) -> Result<Option<i64>> {
        let mut statement = tx.prepare_cached(&self.referring)?;
        Ok(statement.query_row([record, after], |row| row.get(0))?)
    }

    /// Takes every reference to a record away.
    pub(super) fn let_go(&self, tx: &Tx<'_>, record: i64) -> Result<()> {
        for sql in &self.let_go {
            tx.prepare_cached(sql)?.execute([record])?;
        }
        Ok(())
    }
}

/// Records to which others would refer if imports but one were taken back.
fn named(connection: &Connection, resource: &Resource, batch: &Batch) -> Result<HashSet<i64>> {
    let mut named = HashSet::new();
    for reference in resource.references() {
        let mut statement = connection.prepare(&format!(
            "SELECT json_extract(r.before, '$.{}') AS named FROM batches b JOIN batch_rows r ON r.batch_id = b.id
             WHERE b.id <> ?1 AND b.kind = ?2 AND r.before IS NOT NULL AND named IS NOT NULL",
            reference.column
        ))?;
        let mut rows = statement.query(rusqlite::params![batch.id, batch.what.name()])?;
        while let Some(row) = rows.next()? {
            named.insert(row.get(0)?);
        }
    }
    Ok(named)
}
