//! The good rows into the file, through the same use cases as the API's, under one batch.

use super::{
    Stop, What,
    bad::{BadRow, BadRows, Failure},
    batches, check,
    kept::{self, Became, Before},
    plan::{Plan, is_of_row},
    slices::{self, Steps},
    source::{ROWS_BYTES, Row, Rows},
};
use crate::{
    core::{
        Context, changes,
        records::{self, input::referred, write::PARENT},
    },
    db::{Store, Tx, in_transaction},
    domain::{
        delegates,
        interactions::{draft::Draft, presence, record, types::JOIN},
    },
    types::{
        DelegateId, DelegateSelector, DeviceId, DeviceSelector, Timestamp,
        barcode::{Barcode, Base, SEQUENCE_MAX},
        error::{Error, Kind, Result},
    },
};
use serde_json::{Map, Value};
use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

/// Rows that are validated at a time beside the writer, and how long it goes on taking them.
const AHEAD_ROWS: usize = 100;
const AHEAD: Duration = Duration::from_millis(100);

/// The code that is made for those who have none.
const BARCODE: &str = "barcode";

/// An import on its way.
pub struct Import {
    /// The rows that are left.
    pub rows: Rows,
    /// What they are to become.
    pub plan: Plan,
    /// The rows to leave out.
    pub leave_out: BadRows,
    /// Rows that were read to be validated.
    ahead: VecDeque<Row>,
    /// A section has a schema.
    has_schemas: bool,
    /// The next row must be validated.
    unprepared: bool,
    /// The batch.
    pub batch: i64,
    /// How many rows are done with, earlier runs included.
    pub done: u64,
    /// How many records or interactions were made.
    pub created: u64,
    /// How many records were changed.
    pub updated: u64,
    /// Rows that were good and are no more: their code was taken between check and write.
    pub late: BadRows,
    /// Ends it between two rows.
    pub stop: Stop,
    /// Whether all rows are written; some may wait for the second pass.
    pub finished: bool,
    /// What this slice made.
    made: Vec<i64>,
}

impl Import {
    /// An import of the rows after the first `done`.
    #[must_use]
    pub fn new(
        rows: Rows,
        plan: Plan,
        leave_out: BadRows,
        batch: i64,
        done: u64,
        stop: Stop,
    ) -> Self {
        let to_skip = usize::try_from(done).unwrap_or(usize::MAX);
        Self {
            rows: Box::new(rows.skip(to_skip)),
            plan,
            leave_out,
            ahead: VecDeque::new(),
            has_schemas: false,
            unprepared: false,
            batch,
            done,
            created: 0,
            updated: 0,
            late: BadRows::default(),
            stop,
            finished: false,
            made: Vec::new(),
        }
    }

    fn next_row(&mut self) -> Result<Option<Row>> {
        match self.ahead.pop_front() {
            Some(row) => Ok(Some(row)),
            None => self.rows.next().transpose(),
        }
    }

    /// Validates a row as it will be written.
    fn validate(&self, tx: &Tx<'_>, row: Row) -> Result<()> {
        let plan = &self.plan;
        let Ok(mut body) = plan.body(row.content) else {
            return Ok(());
        };
        let resource = plan.resource(&body);
        let existing = plan.existing(tx, resource, &body)?;
        plan.resolve(tx, resource, &mut body)?;
        records::write::check(tx, &plan.ctx, resource, existing, body)
    }
}

/// Writes every row that is not left out; `told` sees the import grow.
pub fn write(store: &Store, import: Import, told: impl FnMut(&Import)) -> Result<Import> {
    slices::write(store, import, told)
}

impl Steps for Import {
    fn step(&mut self, tx: &Tx<'_>) -> Result<bool> {
        if self.stop.is_stopped() {
            return Ok(false);
        }
        let Some(row) = self.next_row()? else {
            self.finished = true;
            return Ok(false);
        };
        let number = self.done;
        self.done += 1;
        if self.leave_out.contains(number) {
            return Ok(true);
        }
        let line = row.line;
        let again = self.has_schemas.then(|| row.clone());
        let Some(written) = tx.unless_put_off(|tx| self.row(tx, number, row)) else {
            self.ahead.extend(again);
            self.ahead.rotate_right(1);
            self.done = number;
            self.unprepared = true;
            return Ok(true);
        };
        // Without a savepoint for the row, which would cost more than the row: what fails for a
        // reason of its own fails before anything of it is written.
        match written {
            Ok(Some(became)) => {
                if became.before.is_none() {
                    self.created += 1;
                    self.made.push(became.record);
                } else {
                    self.updated += 1;
                }
                kept::keep_row(tx, self.batch, line, &became)?;
            }
            Ok(None) => {}
            Err(Failure::Row(problem)) => self.late.push(number, BadRow { line, problem }),
            Err(Failure::Store(cause)) => return Err(cause),
        }
        Ok(true)
    }

    fn is_unprepared(&self) -> bool {
        self.unprepared
    }

    fn prepare(&mut self, store: &Store) -> Result<()> {
        if !std::mem::take(&mut self.unprepared) {
            return Ok(());
        }
        let begun = Instant::now();
        let mut bytes = 0;
        while self.ahead.len() < AHEAD_ROWS && bytes < ROWS_BYTES && begun.elapsed() < AHEAD {
            let Some(row) = self.rows.next().transpose()? else {
                break;
            };
            bytes += row.bytes();
            self.ahead.push_back(row);
        }
        store.look_up(|connection| {
            in_transaction(connection, Timestamp::now(), |tx| {
                for row in &self.ahead {
                    // What is wrong with it is told when it is written.
                    let _ = self.validate(tx, row.clone());
                }
                Ok(())
            })
        })
    }

    fn open(&mut self, tx: &Tx<'_>) -> Result<()> {
        self.has_schemas = tx.query_row("SELECT EXISTS (SELECT 1 FROM sections)", [], |row| {
            row.get(0)
        })?;
        batches::take_up(tx, self.batch, self.done)?;
        self.made.clear();
        if self.plan.what == What::Delegates {
            delegates::overview::skip_index(tx)?;
        }
        Ok(())
    }

    fn close(&mut self, tx: &Tx<'_>) -> Result<()> {
        if self.plan.what == What::Delegates {
            delegates::overview::fill_index(tx, &self.made)?;
        }
        let finished = self.finished && !kept::any_waits(tx, self.batch)?;
        batches::advance(tx, self.batch, self.done, finished)
    }
}

impl Import {
    fn row(&mut self, tx: &Tx<'_>, number: u64, row: Row) -> Result<Option<Became>, Failure> {
        let body = self.plan.body(row.content)?;
        let written = if self.plan.what == What::Interactions {
            self.interaction(tx, body)
        } else {
            self.record(tx, number, body)
        };
        match written {
            Err(Failure::Store(cause)) => self.plan.of_row(Err(cause)),
            written => written,
        }
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
        mut body: Map<String, Value>,
    ) -> Result<Option<Became>, Failure> {
        let (plan, ctx) = (&self.plan, &self.plan.ctx);
        let resource = plan.resource(&body);
        let existing = plan.existing(tx, resource, &body)?;
        if plan.make_codes && lacks_barcode(tx, existing, &body)? {
            let code = code_of_row(self.batch, number)?;
            body.insert(BARCODE.to_owned(), code.into());
        }
        let unresolved = plan.resolve(tx, resource, &mut body)?;
        let mut unlinked: Vec<_> = unresolved.iter().map(|one| one.property).collect();
        if unlinked.contains(&PARENT) {
            body.insert(PARENT.to_owned(), Value::Null);
        }
        if let Some(parent) = body.get(PARENT).and_then(referred) {
            let above = records::write::check_ancestors(tx, resource, existing, parent);
            if above.is_err_and(|cause| is_of_row(cause.kind)) {
                // Rows further down make room for it; until then it stands nowhere.
                body.insert(PARENT.to_owned(), Value::Null);
                unlinked.push(PARENT);
            }
        }
        // A code that was taken since the check is told as the check would have.
        let codes: Map<String, Value> = resource
            .codes()
            .filter_map(|(_, name)| Some((name.to_owned(), body.get(name)?.clone())))
            .collect();
        let (id, before) = if let Some(id) = existing {
            // An event is put back as the device that it is.
            let whole = plan.what.resource().unwrap_or(resource);
            let before = Before::of(tx, whole, id)?;
            records::write::patch(tx, ctx, resource, id, body).map(|()| (id, Some(before)))
        } else {
            records::write::insert(tx, ctx, resource, body).map(|id| (id, None))
        }
        .or_else(|cause| {
            if cause.kind != Kind::CodeTaken {
                return Err(Failure::Store(cause));
            }
            Err(match check::taken(tx, plan, resource, &codes, existing)? {
                Some(problem) => Failure::Row(problem),
                None => Failure::Store(cause),
            })
        })?;
        let change = match &before {
            Some(_) => None,
            None => Some(changes::note(
                tx,
                changes::action::CREATE,
                resource.name,
                id,
            )?),
        };
        let before = match before {
            // Whoever takes this back later undoes nothing that others changed in between.
            Some(before) if unlinked.is_empty() && before.is_still(tx, resource, id)? => {
                Some(before.time_alone()?)
            }
            before => before.map(|before| before.text()),
        };
        let interaction = match plan.join {
            Some(device) => join(tx, ctx, DelegateId(id), device)?,
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
}

/// Whether a row gives its delegate no barcode, and it has none.
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

/// A barcode for the row of this number, from 0 (contract §8): the import stands for the purchase, the
/// row for the ticket. Where there are more rows than tickets, their block stands in the purchase code.
fn code_of_row(batch: i64, number: u64) -> Result<String> {
    let tickets = u64::from(SEQUENCE_MAX) + 1;
    let base = match number / tickets {
        0 => format!("B{batch}"),
        block => format!("B{batch}X{block}"),
    };
    let sequence = u16::try_from(number % tickets).map_err(Error::defect)?;
    Ok(Barcode::make(&Base::parse(&base)?, sequence)?.to_string())
}

/// Joins a delegate with a device, unless it is; the id of the `join`.
pub(super) fn join(
    tx: &Tx<'_>,
    ctx: &Context,
    delegate: DelegateId,
    device: DeviceId,
) -> Result<Option<i64>> {
    let state = presence::History::of(tx, delegate)?.at(device);
    if presence::is_joined(tx, delegate, device, &state)? {
        return Ok(None);
    }
    let draft = Draft {
        kind: JOIN.name.into(),
        delegates: [Some(DelegateSelector::Id(delegate)), None, None],
        devices: [Some(DeviceSelector::Id(device)), None, None],
        ..Draft::default()
    };
    // What keeps a join from being made concerns all rows: the device is gone.
    let past = record::record_past(tx, ctx, &draft).map_err(|cause| {
        Error::unavailable(format!("joining was not possible: {}", cause.message))
    })?;
    Ok(past.id)
}

#[cfg(test)]
mod tests;
