//! A row into the file: as an interaction, or as a record with its room, its codes and its note.

use super::{
    super::{
        What,
        bad::Failure,
        body::{Planned, ROOM},
        check,
        join::join,
        kept::{self, Became, Before},
        plan::{Plan, is_of_row},
        source::Row,
    },
    Import,
};
use crate::{
    core::{
        Context, changes,
        records::{
            Resource,
            input::referred,
            write::{self, PARENT},
        },
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

/// The code that is made for those who have none.
const BARCODE: &str = "barcode";

impl Import {
    /// Writes a row as a record or an interaction.
    pub(super) fn row(
        &self,
        tx: &Tx<'_>,
        number: u64,
        row: Row,
    ) -> Result<Option<Became>, Failure> {
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
            interaction: past.connected,
            ..Became::default()
        }))
    }

    fn record(
        &self,
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
            let change = note_new(tx, ctx, resource, id)?;
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
        let is_there = |name| self.device_names.borrow_mut().find(tx, name);
        if self.checked.names.contains(name) || is_there(name)?.is_some() {
            return Ok(());
        }
        let (resource, ctx) = (&devices::LISTED, &self.plan.ctx);
        let room = [("name", name), ("deviceType", "room")];
        let room = room.map(|(property, value)| (property.to_owned(), Value::from(value)));
        let id = write::insert(tx, ctx, resource, Map::from_iter(room))?;
        let became = Became {
            record: id,
            change: Some(note_new(tx, ctx, resource, id)?),
            ..Became::default()
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
        let device_names = &mut self.device_names.borrow_mut();
        let unresolved = Plan::resolve(tx, device_names, resource, body)?;
        let mut unlinked: Vec<_> = unresolved.iter().map(|one| one.property).collect();
        if unlinked.contains(&PARENT) {
            body.insert(PARENT.to_owned(), Value::Null);
        }
        if let Some(parent) = body.get(PARENT).and_then(referred) {
            let above = write::check_ancestors(tx, resource, existing, parent);
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
            write::patch(tx, ctx, resource, id, body).map(|()| (id, Some(before)))
        } else {
            write::insert(tx, ctx, resource, body).map(|id| (id, None))
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

/// Notes that a record was made, and returns the number of that change.
fn note_new(tx: &Tx<'_>, ctx: &Context, resource: &'static Resource, id: i64) -> Result<i64> {
    let change = changes::note(tx, changes::action::CREATE, resource.name, id)?;
    (resource.after_write)(tx, ctx, id)?;
    Ok(change)
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
    let stored = write::stored_text(tx, &delegates::RESOURCE, BARCODE, id)?;
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
