//! Rows that cannot be imported, and why: all of them are found before any row is written.

mod seen;

use super::{
    Batch, Source, What,
    bad::{BadRow, BadRows, Failure, Problem},
    body::{Planned, ROOM},
    device_names::DeviceNames,
    kept::Kept,
    plan::{Plan, Unresolved},
    references::{At, Parent, References},
    source::{Row, next_rows},
    warnings::Warnings,
};
use crate::{
    core::records::{self, Resource, input::referred, write::PARENT},
    db::{Store, Tx, in_transaction, migrate},
    domain::{delegates::blocked, interactions::record},
    ops::background::Background,
    types::{
        Timestamp,
        error::{Error, Result},
    },
};
use rusqlite::Connection;
use seen::Seen;
use serde_json::{Map, Value};
use std::{
    collections::HashSet,
    ops::ControlFlow,
    sync::{Mutex, PoisonError},
};

/// Rows that are looked up in one go.
const SLICE_ROWS: usize = 1_000;

/// The result of a check.
#[derive(Debug, Default)]
pub struct Checked {
    /// Rows that hold something, below the header.
    pub rows: u64,
    /// Rows that cannot be imported.
    pub bad: BadRows,
    /// Rows that are left out, as the list says.
    pub left_out: BadRows,
    /// Rows that mean a record which is there already.
    pub known: u64,
    /// The names of devices in the list: rooms that it names may be among them.
    pub(super) names: HashSet<String>,
    /// The names of devices in the file.
    pub(super) device_names: DeviceNames,
    /// Doubts about the others.
    pub warnings: Warnings,
}

impl Checked {
    /// Rows that can be imported.
    #[must_use]
    pub fn good(&self) -> u64 {
        self.rows - self.bad.count() as u64 - self.left_out.count() as u64
    }
}

/// Checks every row of a file: by itself, against the rows before it, and against the records in the
/// store, where there is one. Of an import that was `begun`, the first rows are written already.
/// `on_rows` is told how many rows were looked at while it goes on, and may stop it.
pub fn check(
    source: &Source,
    plan: &Plan,
    store: Option<&Store>,
    begun: Option<&Batch>,
    background: &Background,
    mut on_rows: impl FnMut(u64) -> ControlFlow<()>,
) -> Result<Checked> {
    let mut check = Check {
        plan,
        begun,
        seen: Seen::new(plan.what),
        references: References::default(),
        checked: Checked::default(),
    };
    // Without a file everything is checked against an empty one.
    let empty = Connection::open_in_memory()?;
    if store.is_none() {
        migrate::create(&empty)?;
    }
    let empty = Mutex::new(empty);
    let look_up = |look: &mut dyn FnMut(&Connection) -> Result<()>| match store {
        Some(store) => store.look_up(look),
        None => look(&empty.lock().unwrap_or_else(PoisonError::into_inner)),
    };
    let mut rows = source.rows()?;
    loop {
        let is_over = background.run(|| {
            let mut slice = next_rows(&mut rows, SLICE_ROWS)?.into_iter().peekable();
            if slice.peek().is_none() {
                return look_up(&mut |connection| check.end(connection)).map(|()| true);
            }
            look_up(&mut |connection| {
                in_transaction(connection, Timestamp::now(), |tx| {
                    slice.by_ref().try_for_each(|row| check.next(tx, row))
                })
            })
            .map(|()| false)
        })?;
        if is_over {
            return Ok(check.checked);
        }
        if on_rows(check.checked.rows).is_break() {
            return Err(Error::invalid("stopped; nothing was written"));
        }
    }
}

struct Check<'a> {
    plan: &'a Plan,
    begun: Option<&'a Batch>,
    seen: Seen,
    references: References,
    checked: Checked,
}

impl Check<'_> {
    fn next(&mut self, tx: &Tx<'_>, row: Row) -> Result<()> {
        let (number, line) = (self.checked.rows, row.line);
        self.checked.rows += 1;
        let begun = self.begun.filter(|begun| number < begun.done);
        let (rows, problem) = match self.row(tx, row, begun.map(|begun| begun.id)) {
            Ok(()) => return Ok(()),
            Err(Failure::Store(cause)) => return Err(cause),
            Err(Failure::Row(problem)) => (&mut self.checked.bad, problem),
            Err(Failure::LeftOut(problem)) => (&mut self.checked.left_out, problem),
        };
        rows.push(number, BadRow { line, problem });
        Ok(())
    }

    /// Looks at a row; `written` is the batch that is done with it already.
    fn row(&mut self, tx: &Tx<'_>, row: Row, written: Option<i64>) -> Result<(), Failure> {
        let (plan, row_line) = (self.plan, row.line);
        let planned = plan.body(row)?;
        if plan.what == What::Interactions {
            return match written {
                Some(_) => Ok(()),
                None => self.interaction(tx, planned.body),
            };
        }
        let resource = plan.resource(&planned.body);
        let at = At {
            number: self.checked.rows - 1,
            line: line_number(row_line),
            known: None,
        };
        if let Some(batch) = written {
            if Kept::of_line(tx, batch, row_line)?.is_some() {
                self.remember(resource, &planned.body, at.line)?;
            }
            return Ok(());
        }
        if planned.block.is_some() && blocked::has_blocked(tx, &planned.body)? {
            return Err(Failure::LeftOut(Problem::of_row(
                "has a code that is blocked already",
            )));
        }
        let is_new = self.record(tx, at, resource, &planned)?;
        let warnings = &mut self.checked.warnings;
        warnings.look_at(plan, row_line, &planned.body, is_new);
        warnings.look_at_times(plan, &planned.body);
        Ok(())
    }

    fn interaction(&mut self, tx: &Tx<'_>, body: Map<String, Value>) -> Result<(), Failure> {
        let plan = self.plan;
        self.checked.warnings.look_at_times(plan, &body);
        let draft = plan.of_row(plan.draft(body))?;
        let found = record::find_past(tx, &plan.ctx, &draft);
        plan.of_row(found.map_err(|cause| Plan::missing(tx, &draft, cause)))?;
        Ok(())
    }

    /// Checks a row as a record, and returns whether that is a new one.
    fn record(
        &mut self,
        tx: &Tx<'_>,
        mut at: At,
        resource: &'static Resource,
        planned: &Planned,
    ) -> Result<bool, Failure> {
        let (plan, body) = (self.plan, &planned.body);
        at.known = plan.of_row(plan.existing(tx, resource, body))?;
        check_damaged(tx, resource, planned, at.known)?;
        let person = self.seen.person(plan.key, body)?;
        // A row above may mean the same person.
        let above = person.and_then(|person| self.seen.line_of_person(person));
        let own_line = above.filter(|_| person.is_some_and(|person| person.is_by_key));
        let (unresolved, parent) = self.resolve(tx, at.known, resource, body)?;
        for (column, name, code) in codes(resource, body) {
            let line = self.seen.line_of(column, code);
            if let Some(line) = line.filter(|line| Some(*line) != own_line) {
                let reason = format!("duplicate, same as line {line}");
                return Err(Failure::Row(plan.problem(Error::field(name, reason))));
            }
        }
        if let Some(problem) = taken(tx, plan, resource, body, at.known)? {
            return Err(Failure::Row(problem));
        }
        for unresolved in unresolved {
            let code = self.seen.code_of(&unresolved.selector);
            self.references.push(at, unresolved, code)?;
        }
        if body.contains_key(PARENT) {
            self.references.add_parent(at, parent);
        }
        if let Some(id) = at.known {
            self.changes(tx, at, id, resource, body)?;
        }
        let is_new = at.known.is_none() && own_line.is_none();
        self.checked.known += u64::from(!is_new);
        self.remember(resource, body, at.line)?;
        match (person, above) {
            (_, Some(above)) => {
                let warnings = &mut self.checked.warnings;
                warnings.is_twice(above.into(), at.line.into(), body);
            }
            (Some(person), None) => self.seen.add_person(person, at.line),
            (None, None) => {}
        }
        Ok(is_new)
    }

    /// Checks a row as the API would; the references that other rows may have, and its parent.
    fn resolve(
        &mut self,
        tx: &Tx<'_>,
        known: Option<i64>,
        resource: &'static Resource,
        body: &Map<String, Value>,
    ) -> Result<(Vec<Unresolved>, Option<Parent>), Failure> {
        let plan = self.plan;
        let mut resolved = body.clone();
        let device_names = &mut self.checked.device_names;
        let unresolved = Plan::resolve(tx, device_names, resource, &mut resolved);
        let mut unresolved = plan.of_row(unresolved)?;
        for (property, selector) in Plan::selectors(resource, body) {
            if self.seen.is_changed(selector) && resolved.remove(property.name).is_some() {
                unresolved.push(Unresolved {
                    property: property.name,
                    selector: selector.to_owned(),
                });
            }
        }
        let selector = body.get(PARENT).and_then(Value::as_str);
        let parent = match unresolved.iter().find(|one| one.property == PARENT) {
            Some(unresolved) => Some(Parent::Code(self.seen.code_of(&unresolved.selector))),
            // It is created where it is not there.
            None if selector.is_some_and(|selector| selector.starts_with(ROOM)) => None,
            None => resolved.get(PARENT).and_then(referred).map(Parent::Record),
        };
        let checked = records::write::check(tx, &plan.ctx, resource, known, resolved);
        plan.of_row(checked)?;
        unresolved.retain(|one| !one.selector.starts_with(ROOM));
        Ok((unresolved, parent))
    }

    /// Remembers which codes a row gives the record of an id, and which that has no more then.
    fn changes(
        &mut self,
        tx: &Tx<'_>,
        at: At,
        id: i64,
        resource: &'static Resource,
        body: &Map<String, Value>,
    ) -> Result<()> {
        for (column, name) in resource.codes() {
            if Some(name) == self.plan.key || !body.contains_key(name) {
                continue;
            }
            let stored = records::write::stored_text(tx, resource, column, id)?;
            let given = body.get(name).and_then(Value::as_str);
            if stored.as_deref() == given {
                continue;
            }
            if let Some(stored) = stored {
                self.seen.add_changed(column, &stored);
            }
            self.references.rename(at);
        }
        Ok(())
    }

    /// Remembers the codes and the name of a good row.
    fn remember(
        &mut self,
        resource: &'static Resource,
        body: &Map<String, Value>,
        line: u32,
    ) -> Result<()> {
        let name = body.get("name").and_then(Value::as_str);
        if let Some(name) = name.filter(|_| self.plan.columns.has_room()) {
            self.checked.names.insert(name.to_owned());
        }
        self.seen.add_codes(codes(resource, body), name, line)
    }

    /// Judges the references when all rows are read.
    fn end(&mut self, connection: &Connection) -> Result<()> {
        let references = std::mem::take(&mut self.references);
        let line_of = |code| self.seen.line_of_code(code);
        let bad = references.bad_rows(self.plan, connection, line_of)?;
        for (at, row) in bad {
            self.checked.bad.push(at.number, row);
            self.checked.known -= u64::from(at.known.is_some());
        }
        Ok(())
    }
}

/// Checks that codes that a spreadsheet damaged are those that the record has.
fn check_damaged(
    tx: &Tx<'_>,
    resource: &'static Resource,
    planned: &Planned,
    known: Option<i64>,
) -> Result<(), Failure> {
    for (name, problem) in &planned.damaged {
        let column = resource.codes().find(|(_, known)| known == name);
        let stored = match (known, column) {
            (Some(id), Some((column, _))) => records::write::stored_text(tx, resource, column, id)?,
            _ => None,
        };
        if stored.is_none() || stored.as_deref() != planned.body.get(*name).and_then(Value::as_str)
        {
            return Err(Failure::Row(problem.clone()));
        }
    }
    Ok(())
}

/// Lines are kept in four bytes: no list that may be imported has more.
fn line_number(line: u64) -> u32 {
    u32::try_from(line).unwrap_or(u32::MAX)
}

/// The unique codes of a body, with their columns and names.
fn codes<'a>(
    resource: &'static Resource,
    body: &'a Map<String, Value>,
) -> impl Iterator<Item = (&'static str, &'static str, &'a str)> {
    resource
        .codes()
        .filter_map(|(column, name)| Some((column, name, body.get(name)?.as_str()?)))
}

/// Returns what is wrong with a row because another record has its code.
pub(super) fn taken(
    connection: &Connection,
    plan: &Plan,
    resource: &'static Resource,
    body: &Map<String, Value>,
    own: Option<i64>,
) -> Result<Option<Problem>> {
    for (_, name, code) in codes(resource, body) {
        let found = records::write::holder(connection, resource, name, code)?;
        if let Some(id) = found.filter(|id| Some(*id) != own) {
            let reason = format!("already used by the {} with id {id}", resource.name);
            return Ok(Some(plan.problem(Error::field(name, reason))));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests;
