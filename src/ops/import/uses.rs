//! What points to a record, and keeps it from being removed for good.

use crate::{core::records::Resource, db::Tx, domain::delegates, types::error::Result};
use rusqlite::{Connection, OptionalExtension};

/// What may point to a record.
pub(super) struct Uses {
    /// Whether anything does but other records of its table, and the interaction of its row (`?2`).
    used: String,
    /// A record of its table that does, itself (`?1`) left out.
    referring: String,
}

impl Uses {
    pub(super) fn of(connection: &Connection, resource: &Resource) -> Result<Self> {
        let participant = resource.table.trim_end_matches('s');
        let mut used = vec![format!(
            "SELECT 1 FROM interactions WHERE first_{participant}_id = ?1 AND id IS NOT ?2"
        )];
        for place in ["second", "third"] {
            used.push(format!(
                "SELECT 1 FROM interactions WHERE {place}_{participant}_id = ?1"
            ));
        }
        let mut referring = Vec::new();
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
                    "SELECT id FROM {table} WHERE {column} = ?1 AND id <> ?1"
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
            referring: format!("{} LIMIT 1", referring.join(" UNION ALL ")),
        })
    }

    /// Whether anything but records of its table, and but its own join, points to a record.
    pub(super) fn is_used(&self, tx: &Tx<'_>, record: i64, join: Option<i64>) -> Result<bool> {
        let parameters = rusqlite::params![record, join];
        let mut statement = tx.prepare_cached(&self.used)?;
        Ok(statement.query_row(parameters, |row| row.get(0))?)
    }

    /// A record of its table that refers to a record.
    pub(super) fn referring(&self, tx: &Tx<'_>, record: i64) -> Result<Option<i64>> {
        let mut statement = tx.prepare_cached(&self.referring)?;
        Ok(statement.query_row([record], |row| row.get(0)).optional()?)
    }
}

/// The records that a record refers to.
pub(super) fn targets(tx: &Tx<'_>, resource: &Resource, record: i64) -> Result<Vec<i64>> {
    let mut targets = Vec::new();
    for property in resource.references() {
        let sql = format!(
            "SELECT {0} FROM {1} WHERE id = ?1 AND {0} IS NOT NULL",
            property.column, resource.table
        );
        let mut statement = tx.prepare_cached(&sql)?;
        let target: Option<i64> = statement.query_row([record], |row| row.get(0)).optional()?;
        targets.extend(target);
    }
    Ok(targets)
}
