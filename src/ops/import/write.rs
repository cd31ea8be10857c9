//! The good rows into the file, through the same use cases as the API's, under one batch.

use super::{
    Checked, Source, Stop, What,
    bad::{BadRow, BadRows, Failure},
    batches,
    body::{Planned, ROOM},
    check,
    join::join,
    kept::{self, Became, Before, Kept},
    plan::{Plan, by_name, is_of_row},
    slices::Steps,
    source::{Row, Rows},
};
use crate::{
    core::{
        Context, changes,
        records::{self, Resource, input::referred, write::PARENT},
    },
    db::Tx,
    domain::{
        delegates::{
            self, blocked,
            note::{self, Note},
        },
        devices,
        interactions::record,
    },
    types::{
        DelegateId, DeviceId,
        barcode::{Barcode, Base, SEQUENCE_MAX},
        error::{Error, Kind, Result},
    },
};
use serde_json::{Map, Value};
use std::sync::Arc;

/// The code that is made for those who have none.
const BARCODE: &str = "barcode";

/// An import on its way: one pass over the rows writes them, a second one gives records the references
/// that had to wait until all rows were written.
pub struct Import {
    source: Arc<Source>,
    plan: Plan,
    /// The bad rows of the check are left out.
    checked: Arc<Checked>,
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
        let missing = plan.resolve(tx, resource, &mut references)?.pop();
        let changed_since = kept.changed_since(tx, resource, None)?;
        let linked = if references.is_empty() {
            Ok(())
        } else {
            records::write::patch(tx, &plan.ctx, resource, kept.record, references)
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

    fn prepare(&mut self) -> Result<()> {
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

impl Import {
    fn row(&mut self, tx: &Tx<'_>, number: u64, row: Row) -> Result<Option<Became>, Failure> {
        let planned = self.plan.body(row)?;
        let written = if self.plan.what == What::Interactions {
            self.interaction(tx, planned.body)
        } else {
            self.record(tx, number, planned)
        };
        written.or_else(|failure| match failure {
            Failure::Store(cause) => self.plan.of_row(Err(cause)),
            of_row => Err(of_row),
        })
    }

    fn interaction(
        &self,
        tx: &Tx<'_>,
        body: Map<String, Value>,
    ) -> Result<Option<Became>, Failure> {
        let draft = self.plan.draft(body)?;
        let past = record::record_past(tx, &self.plan.ctx, &draft)
            .map_err(|cause| Plan::missing(tx, &draft, cause))?;
        Ok(past.id.map(|id| Became {
            record: id,
            before: None,
            change: None,
            interaction: past.connected,
            unlinked: Vec::new(),
        }))
    }

    fn record(
        &mut self,
        tx: &Tx<'_>,
        number: u64,
        planned: Planned,
    ) -> Result<Option<Became>, Failure> {
        let (plan, ctx) = (&self.plan, &self.plan.ctx);
        let Planned {
            mut body,
            note,
            block,
            ..
        } = planned;
        let resource = plan.resource(&body);
        let existing = plan.existing(tx, resource, &body)?;
        if plan.options.make_codes && lacks_barcode(tx, existing, &body)? {
            let code = code_of_row(self.batch, number)?;
            body.insert(BARCODE.to_owned(), code.into());
        }
        self.make_room(tx, &body)?;
        let unlinked = self.resolve(tx, resource, existing, &mut body)?;
        let (id, before) = self.store(tx, resource, existing, body)?;
        let (before, change) = if let Some(mut before) = before {
            before.has_note = note_for_gates(tx, ctx, DelegateId(id), note.as_ref())?;
            before.is_blocked = block_codes(tx, ctx, DelegateId(id), block.as_deref())?;
            let kept = before.kept(tx, resource, id, unlinked.is_empty())?;
            (Some(kept), None)
        } else {
            let made = changes::action::CREATE;
            let change = changes::note(tx, made, resource.name, id)?;
            (resource.after_write)(tx, ctx, id)?;
            note_for_gates(tx, ctx, DelegateId(id), note.as_ref())?;
            block_codes(tx, ctx, DelegateId(id), block.as_deref())?;
            (None, Some(change))
        };
        let interaction = match plan.options.join {
            Some(device) => join(tx, ctx, DelegateId(id), DeviceId(device))?,
            None => None,
        };
        Ok(Some(Became {
            record: id,
            before,
            change,
            interaction,
            unlinked,
        }))
    }

    /// Creates the room that a row names, where it is neither there nor in the list.
    fn make_room(&self, tx: &Tx<'_>, body: &Map<String, Value>) -> Result<()> {
        let parent = body.get(PARENT).and_then(Value::as_str);
        let Some(name) = parent.and_then(|parent| parent.strip_prefix(ROOM)) else {
            return Ok(());
        };
        if self.checked.names.contains(name) || by_name(tx, name)?.is_some() {
            return Ok(());
        }
        let (resource, ctx) = (&devices::LISTED, &self.plan.ctx);
        let room = [("name", name), ("deviceType", "room")];
        let room = room.map(|(property, value)| (property.to_owned(), Value::from(value)));
        let id = records::write::insert(tx, ctx, resource, Map::from_iter(room))?;
        let change = changes::note(tx, changes::action::CREATE, resource.name, id)?;
        (resource.after_write)(tx, ctx, id)?;
        let became = Became {
            record: id,
            before: None,
            change: Some(change),
            interaction: None,
            unlinked: Vec::new(),
        };
        // No line of the list is less than 1, and rows are undone from the last to the first.
        kept::keep_row(tx, self.batch, -id, &became)
    }

    /// Gives a row its references, and returns the properties whose records are not there yet.
    fn resolve(
        &self,
        tx: &Tx<'_>,
        resource: &'static Resource,
        existing: Option<i64>,
        body: &mut Map<String, Value>,
    ) -> Result<Vec<&'static str>> {
        let unresolved = self.plan.resolve(tx, resource, body)?;
        let mut unlinked: Vec<_> = unresolved.iter().map(|one| one.property).collect();
        if unlinked.contains(&PARENT) {
            body.insert(PARENT.to_owned(), Value::Null);
        }
        if let Some(parent) = body.get(PARENT).and_then(referred) {
            let above = records::write::check_ancestors(tx, resource, existing, parent);
            if above.is_err_and(|cause| is_of_row(cause.kind)) {
                // Rows further down make room for it; until then it has no parent.
                body.insert(PARENT.to_owned(), Value::Null);
                unlinked.push(PARENT);
            }
        }
        Ok(unlinked)
    }

    /// Inserts a record, or changes the one that is there: its id, and how it was before. A code that was taken since
    /// the check is refused as the check would have.
    fn store(
        &self,
        tx: &Tx<'_>,
        resource: &'static Resource,
        existing: Option<i64>,
        body: Map<String, Value>,
    ) -> Result<(i64, Option<Before>), Failure> {
        let (plan, ctx) = (&self.plan, &self.plan.ctx);
        let codes: Map<String, Value> = resource
            .codes()
            .filter_map(|(_, name)| Some((name.to_owned(), body.get(name)?.clone())))
            .collect();
        let stored = if let Some(id) = existing {
            // An event is put back as the device that it is.
            let whole = plan.what.resource().unwrap_or(resource);
            let before = Before::of(tx, whole, id)?;
            records::write::patch(tx, ctx, resource, id, body).map(|()| (id, Some(before)))
        } else {
            records::write::insert(tx, ctx, resource, body).map(|id| (id, None))
        };
        match stored {
            Err(cause) if cause.kind == Kind::CodeTaken => {
                let taken = check::taken(tx, plan, resource, &codes, existing)?;
                Err(taken.map_or(Failure::Store(cause), Failure::Row))
            }
            stored => Ok(stored?),
        }
    }
}

/// Gives a delegate the note of a row for gates, and returns whether it did: a note that is there stays.
fn note_for_gates(
    tx: &Tx<'_>,
    ctx: &Context,
    delegate: DelegateId,
    note: Option<&Note>,
) -> Result<bool> {
    let is_new = note.is_some() && note::of(tx, delegate)?.is_none();
    if is_new {
        note::set(tx, ctx, delegate, note)?;
    }
    Ok(is_new)
}

/// Blocks the codes of a delegate for a reason, and returns whether it did.
fn block_codes(
    tx: &Tx<'_>,
    ctx: &Context,
    delegate: DelegateId,
    reason: Option<&str>,
) -> Result<bool> {
    if let Some(reason) = reason {
        blocked::replace_badge(tx, ctx, delegate, reason, None)?;
    }
    Ok(reason.is_some())
}

/// Returns whether a row gives its delegate no barcode, and it has none.
fn lacks_barcode(tx: &Tx<'_>, existing: Option<i64>, body: &Map<String, Value>) -> Result<bool> {
    if body.get(BARCODE).is_some_and(|code| !code.is_null()) {
        return Ok(false);
    }
    let Some(id) = existing else {
        return Ok(true);
    };
    let stored = records::write::stored_text(tx, &delegates::RESOURCE, BARCODE, id)?;
    Ok(stored.is_none())
}

/// A barcode for the row of this number, from 0 (contract §8), with the import as the purchase and the row
/// as the ticket. Where there are more rows than tickets, the purchase code has the block of rows.
fn code_of_row(batch: i64, number: u64) -> Result<String> {
    let tickets = u64::from(SEQUENCE_MAX) + 1;
    let base = match number / tickets {
        0 => format!("B{batch}"),
        block => format!("B{batch}X{block}"),
    };
    let sequence = u16::try_from(number % tickets).map_err(Error::defect)?;
    Ok(Barcode::make(&Base::parse(&base)?, sequence)?.to_string())
}

#[cfg(test)]
mod tests;
