//! Taking an import back: what its rows made is removed for good along with its joins, what they
//! changed is put back. What somebody changed or used since is left as it is, and told.

use super::{
    Batch, Stop,
    batches::{self, Kept, other_name},
    slices::{self, Steps},
};
use crate::{
    auth::Context,
    delegates,
    error::{Error, Kind, Result},
    interactions::remove,
    records::{self, Resource},
    store::{Store, Tx},
};
use rusqlite::OptionalExtension;
use serde_json::json;
use std::fmt;

/// Records left as they are that are told one by one.
pub const TOLD_MAX: usize = 100;

/// An import on its way back.
pub struct Undo {
    batch: Batch,
    ctx: Context,
    stop: Stop,
    pass: Pass,
    begun: bool,
    finished: bool,
    /// How many records and interactions were removed for good.
    pub removed: u64,
    /// How many records were put back to what they were.
    pub restored: u64,
    /// How many were left as they are.
    pub left: u64,
    /// The first of those, each with its reason.
    pub told: Vec<Left>,
}

/// A record that is left as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// The row that it came from.
    pub line: i64,
    /// `delegate`, `device` or `interaction`.
    pub kind: &'static str,
    /// Its id.
    pub record: i64,
    /// Why.
    pub reason: &'static str,
}

impl fmt::Display for Left {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            line,
            kind,
            record,
            reason,
        } = self;
        write!(f, "line {line}: {kind} {record} {reason}")
    }
}

/// Takes a batch back, or what an interrupted undoing left of it; `told` sees it proceed.
///
/// # Errors
/// [`Kind::Invalid`] when there is nothing to take back, and what keeps the store from writing;
/// what `told` saw is taken back.
pub fn undo(
    store: &Store,
    ctx: Context,
    id: i64,
    stop: Stop,
    told: impl FnMut(&Undo),
) -> Result<Undo> {
    let (batch, rows) = store.look_up(|connection| {
        let batch = batches::find(connection, id)?;
        let rows: i64 = connection
            .prepare_cached("SELECT EXISTS (SELECT 1 FROM batch_rows WHERE batch_id = ?1)")?
            .query_row([id], |row| row.get(0))?;
        Ok((batch, rows))
    })?;
    if batch.undone_at.is_some() && rows == 0 {
        return Err(Error::invalid(format!("import {id} is taken back already")));
    }
    let work = Undo {
        batch,
        ctx,
        stop,
        pass: Pass::upward(),
        begun: false,
        finished: false,
        removed: 0,
        restored: 0,
        left: 0,
        told: Vec::new(),
    };
    slices::write(store, work, told)
}

struct Row {
    line: i64,
    kept: Kept,
    before: Option<String>,
    interaction: Option<i64>,
}

/// A way through the rows. The last ones first: what they made may stand under what earlier ones
/// made. Where rows are left because others of the import refer to them from further up, the way back
/// may find them free, and so on until none is.
struct Pass {
    /// Finds the next row.
    next: &'static str,
    is_upward: bool,
    /// The row of this line was the last.
    from_line: i64,
    /// Rows that were taken back.
    taken: u64,
}

impl Pass {
    fn upward() -> Self {
        Self {
            next: "SELECT line, record_id, before, audit_id, interaction_id FROM batch_rows
                 WHERE batch_id = ?1 AND line < ?2 ORDER BY line DESC LIMIT 1",
            is_upward: true,
            from_line: i64::MAX,
            taken: 0,
        }
    }

    fn downward() -> Self {
        Self {
            next: "SELECT line, record_id, before, audit_id, interaction_id FROM batch_rows
                 WHERE batch_id = ?1 AND line > ?2 ORDER BY line LIMIT 1",
            is_upward: false,
            from_line: i64::MIN,
            taken: 0,
        }
    }
}

impl Steps for Undo {
    fn step(&mut self, tx: &Tx<'_>) -> Result<bool> {
        if !self.begun {
            self.begun = true;
            tx.prepare_cached("UPDATE batches SET undone_at = ?2 WHERE id = ?1")?
                .execute(rusqlite::params![self.batch.id, tx.now()])?;
        }
        if self.stop.is_stopped() {
            return Ok(false);
        }
        let row = tx
            .prepare_cached(self.pass.next)?
            .query_row([self.batch.id, self.pass.from_line], |row| {
                Ok(Row {
                    line: row.get(0)?,
                    kept: Kept {
                        record: row.get(1)?,
                        audit: row.get(3)?,
                    },
                    before: row.get(2)?,
                    interaction: row.get(4)?,
                })
            })
            .optional()?;
        let Some(row) = row else {
            return Ok(self.turn());
        };
        self.pass.from_line = row.line;
        match self.row(tx, &row)? {
            None => {
                self.pass.taken += 1;
                tx.prepare_cached("DELETE FROM batch_rows WHERE batch_id = ?1 AND line = ?2")?
                    .execute([self.batch.id, row.line])?;
            }
            Some(reason) => {
                self.left += 1;
                if self.told.len() < TOLD_MAX {
                    let resource = self.batch.what.resource();
                    let kind = resource.map_or("interaction", |resource| resource.name);
                    self.told.push(Left {
                        line: row.line,
                        kind,
                        record: row.kept.record,
                        reason,
                    });
                }
            }
        }
        Ok(true)
    }

    fn close(&mut self, tx: &Tx<'_>) -> Result<()> {
        if !self.finished {
            return Ok(());
        }
        let counts = json!({"removed": self.removed, "restored": self.restored, "left": self.left});
        batches::tell(tx, &self.ctx, self.batch.id, "undo", counts)
    }
}

impl Undo {
    /// Ends a pass; whether there is another.
    fn turn(&mut self) -> bool {
        if self.left == 0 || self.pass.taken == 0 {
            self.finished = true;
            return false;
        }
        self.pass = if self.pass.is_upward {
            Pass::downward()
        } else {
            Pass::upward()
        };
        self.left = 0;
        self.told.clear();
        true
    }

    /// Takes a row back; why not, where it is left as it is.
    fn row(&mut self, tx: &Tx<'_>, row: &Row) -> Result<Option<&'static str>> {
        let Some(resource) = self.batch.what.resource() else {
            remove::take_back(tx, row.kept.record)?;
            if let Some(connected) = row.interaction {
                remove::take_back(tx, connected)?;
            }
            self.removed += 1;
            return Ok(None);
        };
        if row.kept.changed_since(tx, resource)? {
            return Ok(Some("was changed since"));
        }
        match &row.before {
            None => {
                if is_used(tx, resource, row)? {
                    return Ok(Some("was used since"));
                }
                remove_for_good(tx, resource, row)?;
                self.removed += 1;
            }
            Some(before) => {
                if joined_and_used(tx, row)? {
                    return Ok(Some("was used since at the device it was joined with"));
                }
                match records::write::restore(tx, &self.ctx, resource, row.kept.record, before) {
                    Ok(()) => {}
                    Err(cause) if cause.kind == Kind::CodeTaken => {
                        return Ok(Some("had a code that another record has by now"));
                    }
                    Err(cause) => return Err(cause),
                }
                if let Some(join) = row.interaction {
                    remove::take_back(tx, join)?;
                }
                self.restored += 1;
            }
        }
        Ok(None)
    }
}

/// Whether anything but the import's own join points to a record that the import made.
fn is_used(tx: &Tx<'_>, resource: &Resource, row: &Row) -> Result<bool> {
    let sql = if resource.name == delegates::RESOURCE.name {
        "SELECT EXISTS (SELECT 1 FROM interactions WHERE first_delegate_id = ?1 AND id IS NOT ?2)
             OR EXISTS (SELECT 1 FROM interactions WHERE second_delegate_id = ?1)
             OR EXISTS (SELECT 1 FROM interactions WHERE third_delegate_id = ?1)
             OR EXISTS (SELECT 1 FROM delegates WHERE parent_id = ?1)
             OR EXISTS (SELECT 1 FROM delegates WHERE previous_id = ?1 AND id <> ?1)
             OR EXISTS (SELECT 1 FROM delegates WHERE owner_id = ?1 AND id <> ?1)
             OR EXISTS (SELECT 1 FROM users WHERE delegate_id = ?1)
             OR EXISTS (SELECT 1 FROM messages WHERE delegate_id = ?1)"
    } else {
        "SELECT EXISTS (SELECT 1 FROM interactions WHERE first_device_id = ?1 AND id IS NOT ?2)
             OR EXISTS (SELECT 1 FROM interactions WHERE second_device_id = ?1)
             OR EXISTS (SELECT 1 FROM interactions WHERE third_device_id = ?1)
             OR EXISTS (SELECT 1 FROM devices WHERE parent_id = ?1)
             OR EXISTS (SELECT 1 FROM clients WHERE device_id = ?1)
             OR EXISTS (SELECT 1 FROM batches WHERE device_id = ?1)"
    };
    Ok(tx
        .prepare_cached(sql)?
        .query_row(rusqlite::params![row.kept.record, row.interaction], |row| {
            row.get(0)
        })?)
}

/// Whether a delegate that the import changed and joined did anything since where it was joined.
fn joined_and_used(tx: &Tx<'_>, row: &Row) -> Result<bool> {
    let Some(join) = row.interaction else {
        return Ok(false);
    };
    Ok(tx
        .prepare_cached(
            "SELECT 1 FROM interactions WHERE first_delegate_id = ?1 AND id > ?2
             AND first_device_id = (SELECT first_device_id FROM interactions WHERE id = ?2)",
        )?
        .exists([row.kept.record, join])?)
}

/// Removes a record that the import made, with its join and what the audit tells of it.
fn remove_for_good(tx: &Tx<'_>, resource: &Resource, row: &Row) -> Result<()> {
    if let Some(join) = row.interaction {
        tx.prepare_cached("DELETE FROM interactions WHERE id = ?1")?
            .execute([join])?;
    }
    if resource.name == delegates::RESOURCE.name {
        // Nothing is left that it could follow from.
        tx.prepare_cached("DELETE FROM presence WHERE delegate_id = ?1")?
            .execute([row.kept.record])?;
    }
    tx.prepare_cached(&format!("DELETE FROM {} WHERE id = ?1", resource.table))?
        .execute([row.kept.record])?;
    tx.prepare_cached("DELETE FROM audit WHERE record_type IN (?1, ?2) AND record_id = ?3")?
        .execute(rusqlite::params![
            resource.name,
            other_name(resource),
            row.kept.record
        ])?;
    Ok(())
}
