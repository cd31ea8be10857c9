//! The second pass over the rows of a list: records are given the references that had to wait until
//! all rows are written.

use super::{
    Stop,
    bad::{BadRow, BadRows, Problem},
    batches,
    kept::Kept,
    plan::{Plan, Unresolved, is_of_row},
    slices::Steps,
    source::{Row, Rows},
};
use crate::{
    core::records::{self, Resource},
    db::Tx,
    types::error::{Error, Result},
};
use serde_json::{Map, Value};

/// The second pass on its way.
pub(super) struct Links {
    /// All rows of the file once more.
    pub rows: Rows,
    pub plan: Plan,
    pub batch: i64,
    /// How many rows the file has.
    pub total: u64,
    pub stop: Stop,
    /// The number of the next row.
    pub next: u64,
    /// Rows that stay without some of their references.
    pub unlinked: BadRows,
    pub finished: bool,
}

impl Steps for Links {
    fn step(&mut self, tx: &Tx<'_>) -> Result<bool> {
        if self.stop.is_stopped() {
            return Ok(false);
        }
        let Some(row) = self.rows.next().transpose()? else {
            self.finished = true;
            return Ok(false);
        };
        let (number, line) = (self.next, row.line);
        self.next += 1;
        if let Some(problem) = link(tx, &self.plan, self.batch, row)? {
            self.unlinked.push(number, BadRow { line, problem });
        }
        Ok(true)
    }

    fn open(&mut self, tx: &Tx<'_>) -> Result<()> {
        batches::take_up(tx, self.batch, self.total)
    }

    fn close(&mut self, tx: &Tx<'_>) -> Result<()> {
        batches::advance(tx, self.batch, self.total, self.finished)
    }
}

/// Gives the record of a row its references; the problem where it stays without some.
fn link(tx: &Tx<'_>, plan: &Plan, batch: i64, row: Row) -> Result<Option<Problem>> {
    let Some(kept) = Kept::of_line(tx, batch, row.line)?.filter(Kept::waits) else {
        return Ok(None);
    };
    let Ok(body) = plan.body(row.content) else {
        return Ok(None);
    };
    let resource = plan.resource(&body);
    let (references, missing) = references(tx, plan, resource, &body, &kept)?;
    let changed_since = kept.changed_since(tx, resource, None)?;
    let linked = if references.is_empty() {
        Ok(())
    } else {
        records::write::patch(tx, &plan.ctx, resource, kept.record, references)
    };
    kept.keep_linked(tx, batch, changed_since)?;
    match linked.and(missing.map_or(Ok(()), |missing| Err(missing.told(plan.what)))) {
        Ok(()) => Ok(None),
        Err(cause) if is_of_row(cause.kind) => {
            let reason = format!("{}; the row was imported without it", cause.message);
            Ok(Some(plan.problem(Error::new(cause.kind, reason))))
        }
        Err(cause) => Err(cause),
    }
}

/// The references that wait, and one that leads nowhere. What somebody set since the row was written
/// stays.
fn references(
    tx: &Tx<'_>,
    plan: &Plan,
    resource: &'static Resource,
    body: &Map<String, Value>,
    kept: &Kept,
) -> Result<(Map<String, Value>, Option<Unresolved>)> {
    let mut references = Map::new();
    for name in kept.unlinked() {
        if let Some(value) = body.get(name)
            && !kept.changed_since(tx, resource, Some(name))?
        {
            references.insert(name.to_owned(), value.clone());
        }
    }
    let missing = plan.resolve(tx, resource, &mut references)?.pop();
    Ok((references, missing))
}
