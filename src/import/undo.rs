//! Taking an import back: what its rows made is removed for good along with its joins, what they
//! changed is put back. What somebody changed or used since is left as it is, and told.

use super::{
    Batch, Stop, What, batches,
    slices::{self, Steps},
};
use crate::{
    auth::Context,
    delegates, devices,
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
    /// Rows from this line on are looked at.
    before_line: i64,
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
        before_line: i64::MAX,
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
    record: i64,
    before: Option<String>,
    audit: Option<i64>,
    interaction: Option<i64>,
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
        // The last rows first: what they made may stand under what earlier ones made.
        let row = tx
            .prepare_cached(
                "SELECT line, record_id, before, audit_id, interaction_id FROM batch_rows
                 WHERE batch_id = ?1 AND line < ?2 ORDER BY line DESC LIMIT 1",
            )?
            .query_row([self.batch.id, self.before_line], |row| {
                Ok(Row {
                    line: row.get(0)?,
                    record: row.get(1)?,
                    before: row.get(2)?,
                    audit: row.get(3)?,
                    interaction: row.get(4)?,
                })
            })
            .optional()?;
        let Some(row) = row else {
            self.finished = true;
            return Ok(false);
        };
        self.before_line = row.line;
        match self.row(tx, &row)? {
            None => {
                tx.prepare_cached("DELETE FROM batch_rows WHERE batch_id = ?1 AND line = ?2")?
                    .execute([self.batch.id, row.line])?;
            }
            Some(reason) => {
                self.left += 1;
                if self.told.len() < TOLD_MAX {
                    let kind = self
                        .resource()
                        .map_or("interaction", |resource| resource.name);
                    self.told.push(Left {
                        line: row.line,
                        kind,
                        record: row.record,
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
    fn resource(&self) -> Option<&'static Resource> {
        match self.batch.what {
            What::Delegates => Some(&delegates::RESOURCE),
            What::Devices => Some(&devices::RESOURCE),
            What::Interactions => None,
        }
    }

    /// Takes a row back; why not, where it is left as it is.
    fn row(&mut self, tx: &Tx<'_>, row: &Row) -> Result<Option<&'static str>> {
        let Some(resource) = self.resource() else {
            remove::take_back(tx, row.record)?;
            if let Some(connected) = row.interaction {
                remove::take_back(tx, connected)?;
            }
            self.removed += 1;
            return Ok(None);
        };
        if changed_since(tx, resource, row)? {
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
                match records::write::restore(tx, &self.ctx, resource, row.record, before) {
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

/// Whether the audit knows of a change after the import's own. An event is a device.
fn changed_since(tx: &Tx<'_>, resource: &Resource, row: &Row) -> Result<bool> {
    let other_name = if resource.name == devices::RESOURCE.name {
        "event"
    } else {
        resource.name
    };
    Ok(tx
        .prepare_cached(
            "SELECT 1 FROM audit WHERE record_type IN (?1, ?2) AND record_id = ?3 AND id > ?4",
        )?
        .exists(rusqlite::params![
            resource.name,
            other_name,
            row.record,
            row.audit.unwrap_or(i64::MAX)
        ])?)
}

/// Whether anything but the import's own join points to a record that the import made.
fn is_used(tx: &Tx<'_>, resource: &Resource, row: &Row) -> Result<bool> {
    let sql = if resource.name == delegates::RESOURCE.name {
        "SELECT EXISTS (SELECT 1 FROM interactions WHERE first_delegate_id = ?1 AND id IS NOT ?2)
             OR EXISTS (SELECT 1 FROM interactions WHERE second_delegate_id = ?1)
             OR EXISTS (SELECT 1 FROM interactions WHERE third_delegate_id = ?1)
             OR EXISTS (SELECT 1 FROM delegates WHERE parent_id = ?1)
             OR EXISTS (SELECT 1 FROM delegates WHERE previous_id = ?1)
             OR EXISTS (SELECT 1 FROM delegates WHERE owner_id = ?1)
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
        .query_row(rusqlite::params![row.record, row.interaction], |row| {
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
        .exists([row.record, join])?)
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
            .execute([row.record])?;
    }
    tx.prepare_cached(&format!("DELETE FROM {} WHERE id = ?1", resource.table))?
        .execute([row.record])?;
    tx.prepare_cached("DELETE FROM audit WHERE record_type IN (?1, ?2) AND record_id = ?3")?
        .execute(rusqlite::params![
            resource.name,
            if resource.name == "device" {
                "event"
            } else {
                resource.name
            },
            row.record
        ])?;
    Ok(())
}
