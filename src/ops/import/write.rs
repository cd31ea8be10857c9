//! The good rows into the file, through the same use cases as the API's, under one batch.

mod record;

use super::{
    Checked, Source, Stop,
    bad::{BadRow, BadRows, Failure},
    batches,
    body::Planned,
    device_names::DeviceNames,
    kept::{self, Kept},
    plan::{Plan, is_of_row},
    slices::Steps,
    source::{Row, Rows},
};
use crate::{
    core::records::write,
    db::{Store, Tx},
    types::error::{Error, Result},
};
use serde_json::Map;
use std::{cell::RefCell, sync::Arc};

/// An import on its way: one pass over the rows writes them, a second one gives records the references
/// that had to wait until all rows were written.
pub struct Import {
    source: Arc<Source>,
    plan: Plan,
    /// The bad rows of the check are left out.
    checked: Arc<Checked>,
    device_names: RefCell<DeviceNames>,
    /// The rows that are left in this pass.
    rows: Rows,
    /// The first row of the second pass.
    first: Option<Row>,
    /// The second pass must be prepared.
    is_unprepared: bool,
    /// The number of the next row of the second pass.
    linked: Option<u64>,
    stop: Stop,
    pub batch: i64,
    /// Rows that are done with, earlier runs included.
    pub done: u64,
    /// Records or interactions that were made.
    pub created: u64,
    /// Records that were changed.
    pub updated: u64,
    /// Rows that were good and are no more: their code was taken between check and write.
    pub late: BadRows,
    /// Rows that were written without all that they refer to.
    pub unlinked: BadRows,
    /// Set once all rows are done with; not where it was stopped.
    pub finished: bool,
}

impl Import {
    /// An import of the rows after the first `done`.
    pub fn new(
        source: Arc<Source>,
        plan: Plan,
        checked: Arc<Checked>,
        batch: i64,
        done: u64,
        stop: Stop,
    ) -> Result<Self> {
        let to_skip = usize::try_from(done).unwrap_or(usize::MAX);
        Ok(Self {
            rows: Box::new(source.rows()?.skip(to_skip)),
            source,
            plan,
            device_names: RefCell::new(checked.device_names.clone()),
            checked,
            first: None,
            is_unprepared: false,
            linked: None,
            stop,
            batch,
            done,
            created: 0,
            updated: 0,
            late: BadRows::default(),
            unlinked: BadRows::default(),
            finished: false,
        })
    }

    fn next_row(&mut self) -> Result<Option<Row>> {
        match self.first.take() {
            Some(row) => Ok(Some(row)),
            None => self.rows.next().transpose(),
        }
    }

    /// Writes the next row, unless it is left out.
    fn write_row(&mut self, tx: &Tx<'_>, row: Row) -> Result<()> {
        let (number, line) = (self.done, row.line);
        self.done += 1;
        if self.checked.bad.contains(number) || self.checked.left_out.contains(number) {
            return Ok(());
        }
        // Without a savepoint for the row, which would cost more than the row: what fails for a
        // reason of its own fails before anything of it is written.
        match self.row(tx, number, row) {
            Ok(Some(became)) => {
                if became.before.is_none() {
                    self.created += 1;
                } else {
                    self.updated += 1;
                }
                let line = i64::try_from(line).map_err(Error::defect)?;
                kept::keep_row(tx, self.batch, line, &became)
            }
            Ok(None) | Err(Failure::LeftOut(_)) => Ok(()),
            Err(Failure::Row(problem)) => {
                self.late.push(number, BadRow { line, problem });
                Ok(())
            }
            Err(Failure::Store(cause)) => Err(cause),
        }
    }

    /// Gives the record of a row its references, where some had to wait.
    fn link_row(&mut self, tx: &Tx<'_>, number: u64, row: Row) -> Result<()> {
        let (line, plan) = (row.line, &self.plan);
        let Some(kept) = Kept::of_line(tx, self.batch, line)?.filter(Kept::waits) else {
            return Ok(());
        };
        let Ok(Planned { body, .. }) = plan.body(row) else {
            return Ok(());
        };
        let resource = plan.resource(&body);
        // What somebody set since the row was written stays.
        let mut references = Map::new();
        for name in kept.unlinked() {
            if let Some(value) = body.get(name)
                && !kept.changed_since(tx, resource, Some(name))?
            {
                references.insert(name.to_owned(), value.clone());
            }
        }
        let device_names = &mut self.device_names.borrow_mut();
        let missing = Plan::resolve(tx, device_names, resource, &mut references)?.pop();
        let changed_since = kept.changed_since(tx, resource, None)?;
        let linked = if references.is_empty() {
            Ok(())
        } else {
            write::patch(tx, &plan.ctx, resource, kept.record, references)
        };
        kept.keep_linked(tx, self.batch, changed_since)?;
        let missing = missing.map_or(Ok(()), |missing| Err(missing.error(plan.what)));
        match linked.and(missing) {
            Err(mut cause) if is_of_row(cause.kind) => {
                cause.message += "; the row was imported without it";
                let problem = plan.problem(cause);
                self.unlinked.push(number, BadRow { line, problem });
                Ok(())
            }
            linked => linked,
        }
    }
}

impl Steps for Import {
    fn step(&mut self, tx: &Tx<'_>) -> Result<bool> {
        if self.stop.is_stopped() {
            return Ok(false);
        }
        match (self.next_row()?, self.linked) {
            (Some(row), None) => self.write_row(tx, row)?,
            (Some(row), Some(number)) => {
                self.linked = Some(number + 1);
                self.link_row(tx, number, row)?;
            }
            (None, None) if kept::any_waits(tx, self.batch)? => {
                self.linked = Some(0);
                self.is_unprepared = true;
            }
            (None, _) => self.finished = true,
        }
        Ok(!self.finished)
    }

    fn is_unprepared(&self) -> bool {
        self.is_unprepared
    }

    fn prepare(&mut self, _: &Store) -> Result<()> {
        if std::mem::take(&mut self.is_unprepared) {
            self.rows = self.source.rows()?;
            self.first = self.rows.next().transpose()?;
        }
        Ok(())
    }

    fn open(&mut self, tx: &Tx<'_>) -> Result<()> {
        batches::take_up(tx, self.batch, self.done)
    }

    fn close(&mut self, tx: &Tx<'_>) -> Result<()> {
        batches::advance(tx, self.batch, self.done, self.finished)
    }
}

#[cfg(test)]
mod tests;
