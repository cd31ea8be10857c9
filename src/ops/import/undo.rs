//! Undoes an import: records that it created are deleted permanently along with their joins, records
//! that it changed are restored. Records that were changed or used since are left alone, and listed.

use super::{
    super::bulk::Action,
    Batch, Stop,
    bad::LISTED_MAX,
    batches,
    kept::{self, Kept, other_name},
    slices::{self, Steps},
};
use crate::{
    core::{
        Context,
        changes::{self, action},
        records::{self, Resource},
    },
    db::{Store, Tx},
    domain::{
        delegates::{self, blocked},
        devices,
        interactions::remove,
    },
    types::error::{Error, Kind, Result},
};
use rusqlite::{Connection, OptionalExtension};
use serde_json::json;
use std::fmt;

/// An import on its way back.
pub struct Undo {
    batch: Batch,
    ctx: Context,
    stop: Stop,
    /// Rows from this line on were looked at.
    before_line: i64,
    /// Records that removed records referred to: nothing may refer to them any more.
    freed: Vec<i64>,
    uses: Option<Uses>,
    finished: bool,
    /// The number undone by the end of the pass before.
    moved: u64,
    /// The number of records and interactions removed for good.
    pub removed: u64,
    /// The number of records put back to what they were.
    pub restored: u64,
    /// The number left as they are.
    pub left: u64,
    /// The first of those, each with its reason.
    pub listed: Vec<Left>,
}

/// A record that is left as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// The row that it came from.
    pub line: i64,
    /// `delegate`, `device` or `interaction`.
    pub kind: &'static str,
    pub record: i64,
    pub reason: String,
}

impl fmt::Display for Left {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            line,
            kind,
            record,
            reason,
        } = self;
        match line {
            1.. => write!(f, "line {line}: {kind} {record} {reason}"),
            _ => write!(f, "a room that the list names: {kind} {record} {reason}"),
        }
    }
}

/// Takes a batch back, or what an interrupted undoing left of it; `on_progress` is called after each slice.
///
/// # Errors
/// [`Kind::Invalid`] when there is nothing to take back, and what keeps the store from writing;
/// earlier slices stay undone.
pub fn undo(
    store: &Store,
    ctx: Context,
    id: i64,
    stop: Stop,
    on_progress: impl FnMut(&Undo),
) -> Result<Undo> {
    let (batch, uses) = store.look_up(|connection| {
        let batch = batches::find(connection, id)?;
        let resource = batch.what.resource();
        let uses = resource.map(|resource| Uses::of(connection, resource));
        Ok((batch, uses.transpose()?))
    })?;
    if batch.is_message() {
        return Err(Error::invalid("messages cannot be taken back"));
    }
    if batch.undone_at.is_some() && !batch.has_rows {
        return Err(Error::invalid(format!("import {id} is taken back already")));
    }
    store
        .write(move |tx| {
            let sql = "UPDATE batches SET undone_at = ?2 WHERE id = ?1";
            Ok(tx.execute(sql, rusqlite::params![id, tx.now()])?)
        })
        .wait()?;
    let work = Undo {
        batch,
        ctx,
        stop,
        before_line: i64::MAX,
        freed: Vec::new(),
        uses,
        finished: false,
        moved: 0,
        removed: 0,
        restored: 0,
        left: 0,
        listed: Vec::new(),
    };
    slices::write(store, work, on_progress)
}

impl Steps for Undo {
    fn step(&mut self, tx: &Tx<'_>) -> Result<bool> {
        if self.stop.is_stopped() {
            return Ok(false);
        }
        if let Some(record) = self.freed.pop() {
            let row = Kept::of_record(tx, self.batch.id, record)?;
            if let Some(row) = row.filter(|row| row.line >= self.before_line) {
                self.take_back(tx, &row)?;
            }
            return Ok(true);
        }
        // The last rows first: most refer to rows above them.
        let Some(row) = Kept::before_line(tx, self.batch.id, self.before_line)? else {
            return Ok(self.once_more());
        };
        self.before_line = row.line;
        self.take_back(tx, &row)?;
        Ok(true)
    }

    fn close(&mut self, tx: &Tx<'_>) -> Result<()> {
        if !self.finished {
            return Ok(());
        }
        let counts = json!({"removed": self.removed, "restored": self.restored, "left": self.left});
        batches::audit_change(tx, &self.ctx, self.batch.id, "undo", counts)
    }
}

impl Undo {
    /// Undone rows may have freed rows that were left: whether another pass is due.
    fn once_more(&mut self) -> bool {
        self.finished = self.left == 0 || self.moved == self.removed + self.restored;
        if !self.finished {
            self.moved = self.removed + self.restored;
            self.before_line = i64::MAX;
            self.left = 0;
            self.listed.clear();
        }
        !self.finished
    }

    /// Takes a row back, or notes why it is left.
    fn take_back(&mut self, tx: &Tx<'_>, row: &Kept) -> Result<()> {
        let Some(reason) = self.row(tx, row)? else {
            return row.forget(tx, self.batch.id);
        };
        self.left += 1;
        if self.listed.len() < LISTED_MAX {
            let resource = self.batch.what.resource();
            self.listed.push(Left {
                line: row.line,
                kind: resource.map_or("interaction", |resource| resource.name),
                record: row.record,
                reason,
            });
        }
        Ok(())
    }

    /// Takes a row back; why not, where it is left as it is.
    fn row(&mut self, tx: &Tx<'_>, row: &Kept) -> Result<Option<String>> {
        let (Some(resource), Some(uses)) = (self.batch.what.resource(), &self.uses) else {
            remove::take_back(tx, row.record)?;
            if let Some(connected) = row.interaction {
                remove::take_back(tx, connected)?;
            }
            self.removed += 1;
            return Ok(None);
        };
        let there = format!("SELECT 1 FROM {} WHERE id = ?1", resource.table);
        if !tx.prepare_cached(&there)?.exists([row.record])? {
            // It went with the import that made it.
            return Ok(None);
        }
        let left = |reason: &str| Ok(Some(reason.to_owned()));
        if row.changed_since(tx, resource, None)? {
            return left("was changed since");
        }
        let Some(before) = &row.before else {
            if self.batch.options.action.is_some() {
                return left("became anonymous since");
            }
            if uses.is_used(tx, row.record, row.interaction)? {
                return left("was used since");
            }
            if let Some(other) = uses.referring(tx, row.record)? {
                return Ok(Some(format!("is referred to by {} {other}", resource.name)));
            }
            self.freed.extend(targets(tx, resource, row.record)?);
            remove_for_good(tx, resource, row)?;
            self.removed += 1;
            return Ok(None);
        };
        if joined_and_used(tx, row)? {
            return left("was used since at the device it was joined with");
        }
        kept::undo_beside(tx, &self.ctx, &self.batch, row.record, before)?;
        let restored = match self.batch.options.action {
            Some(Action::Delete) => tx.nested(|tx| blocked::restore(tx, &self.ctx, row.record)),
            _ => records::write::restore(tx, &self.ctx, resource, row.record, before),
        };
        let restored = restored.and_then(|()| kept::block_again(tx, &self.ctx, row.record, before));
        match restored {
            Ok(()) => kept::keep_restored(tx, &self.batch, row, before)?,
            Err(cause) if cause.kind == Kind::CodeTaken => {
                return left("had a code that another record has by now");
            }
            Err(cause) if cause.kind == Kind::Invalid => {
                return left("referred to a record that is gone, or below it by now");
            }
            Err(cause) => return Err(cause),
        }
        if let Some(join) = row.interaction {
            remove::take_back(tx, join)?;
        }
        self.restored += 1;
        Ok(None)
    }
}

/// Returns whether a delegate has used the device since the import joined them.
fn joined_and_used(tx: &Tx<'_>, row: &Kept) -> Result<bool> {
    let Some(join) = row.interaction else {
        return Ok(false);
    };
    Ok(tx
        .prepare_cached(
            "SELECT 1 FROM interactions WHERE first_delegate_id = ?1 AND id > ?2
             AND first_device_id = (SELECT first_device_id FROM interactions WHERE id = ?2)",
        )?
        .exists([row.record, join])?)
}

/// Removes a record that the import made, with its join and its rows in the audit.
fn remove_for_good(tx: &Tx<'_>, resource: &Resource, row: &Kept) -> Result<()> {
    if let Some(join) = row.interaction {
        tx.prepare_cached("DELETE FROM interactions WHERE id = ?1")?
            .execute([join])?;
        changes::note(tx, action::UNDO, "interaction", join)?;
    }
    if resource.name == devices::LISTED.name {
        tx.prepare_cached(
            "UPDATE batches SET device_id = NULL WHERE device_id = ?1 AND undone_at IS NOT NULL",
        )?
        .execute([row.record])?;
    }
    tx.prepare_cached(&format!("DELETE FROM {} WHERE id = ?1", resource.table))?
        .execute([row.record])?;
    let types = [resource.name, other_name(resource)];
    let of_record = "record_type IN (?1, ?2) AND record_id = ?3";
    changes::empty(tx, of_record, (types[0], types[1], row.record))?;
    changes::note(tx, action::UNDO, resource.name, row.record).map(drop)
}

/// Statements that find what points to a record.
struct Uses {
    /// The question whether anything does but other records of its table, and the interaction of its row (`?2`).
    used: String,
    /// A record of its table that does, itself (`?1`) left out.
    referring: String,
}

impl Uses {
    fn of(connection: &Connection, resource: &Resource) -> Result<Self> {
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

    /// Returns whether anything but records of its table, and but its own join, points to a record.
    fn is_used(&self, tx: &Tx<'_>, record: i64, join: Option<i64>) -> Result<bool> {
        let parameters = rusqlite::params![record, join];
        let mut statement = tx.prepare_cached(&self.used)?;
        Ok(statement.query_row(parameters, |row| row.get(0))?)
    }

    /// A record of its table that refers to a record.
    fn referring(&self, tx: &Tx<'_>, record: i64) -> Result<Option<i64>> {
        let mut statement = tx.prepare_cached(&self.referring)?;
        Ok(statement.query_row([record], |row| row.get(0)).optional()?)
    }
}

/// The records that a record refers to.
fn targets(tx: &Tx<'_>, resource: &Resource, record: i64) -> Result<Vec<i64>> {
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
