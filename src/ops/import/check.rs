//! Which rows cannot be imported, and why: all of them are found before any row is written. Nothing
//! is kept of a row but a hash of its codes, so that the longest list takes little memory.

use super::{
    Batch, Source, What,
    bad::{BadRow, BadRows, Failure, Problem},
    body::{Planned, ROOM},
    kept::Kept,
    people::person,
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
use serde_json::{Map, Value};
use std::{
    collections::{HashMap, HashSet},
    hash::{BuildHasher, RandomState},
    ops::ControlFlow,
    sync::{Mutex, PoisonError},
};

/// Rows that are looked up in one go.
const SLICE_ROWS: usize = 1_000;
/// The most unique codes that a file may have, beside each other; a few bytes of memory each.
const CODES_MAX: usize = 5_000_000;

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

/// An import that was interrupted.
#[derive(Clone, Copy)]
pub struct Begun {
    /// Its batch.
    pub batch: i64,
    /// The number of rows it is done with.
    pub done: u64,
}

/// The progress of a check.
pub struct Looked<'a> {
    /// Rows that were looked at.
    pub rows: u64,
    /// The bad ones among those since the last call.
    pub bad: &'a [BadRow],
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
        codes: HashMap::new(),
        people: HashMap::new(),
        changed: HashSet::new(),
        hasher: RandomState::new(),
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
    /// The line of each code, by a hash of the code and its column; of good rows only.
    codes: HashMap<u64, u32>,
    /// The line of each person, by a hash of what the key means one by, or of the e-mail address.
    people: HashMap<u64, u32>,
    /// Codes that records of the store have until a row changes them.
    changed: HashSet<u64>,
    hasher: RandomState,
    references: References,
    checked: Checked,
}

impl Check<'_> {
    fn next(&mut self, tx: &Tx<'_>, row: Row) -> Result<()> {
        let (number, line) = (self.checked.rows, row.line);
        self.checked.rows += 1;
        let begun = self.begun.filter(|begun| number < begun.done);
        match self.row(tx, row, begun.map(|begun| begun.id)) {
            Err(Failure::Row(problem)) => {
                self.checked.bad.push(number, BadRow { line, problem });
                Ok(())
            }
            Err(Failure::LeftOut(problem)) => {
                self.checked.left_out.push(number, BadRow { line, problem });
                Ok(())
            }
            Err(Failure::Store(cause)) => Err(cause),
            Ok(()) => Ok(()),
        }
    }

    /// Looks at a row; `written` is the batch that is done with it already.
    fn row(&mut self, tx: &Tx<'_>, row: Row, written: Option<i64>) -> Result<(), Failure> {
        let row_line = row.line;
        let planned = self.plan.body(row)?;
        if self.plan.what == What::Interactions {
            if written.is_some() {
                return Ok(());
            }
            self.checked
                .warnings
                .look_at_times(self.plan, &planned.body);
            let draft = self.plan.of_row(self.plan.draft(planned.body))?;
            let found = record::find_past(tx, &self.plan.ctx, &draft).map(|_| ());
            return self
                .plan
                .of_row(found.map_err(|cause| Plan::missing(tx, &draft, cause)));
        }
        let Planned {
            body,
            block,
            damaged,
            ..
        } = planned;
        let resource = self.plan.resource(&body);
        let at = At {
            number: self.checked.rows - 1,
            line: line_number(row_line),
            known: None,
        };
        if let Some(batch) = written {
            if Kept::of_line(tx, batch, row_line)?.is_some() {
                self.remember_codes(resource, &body, at.line)?;
            }
            return Ok(());
        }
        if block.is_some() && blocked::has_blocked(tx, &body)? {
            return Err(Failure::LeftOut(Problem::of_row(
                "has a code that is blocked already",
            )));
        }
        let known = self.checked.known;
        self.record(tx, at, resource, &body, &damaged)?;
        self.remember_codes(resource, &body, at.line)?;
        self.remember_person(&body, at.line)?;
        let is_new = self.checked.known == known;
        let warnings = &mut self.checked.warnings;
        warnings.look_at(self.plan, row_line, &body, is_new);
        warnings.look_at_times(self.plan, &body);
        Ok(())
    }

    /// The hash of the person that a row means by the key, or by the e-mail address alone.
    fn person(&self, body: &Map<String, Value>) -> Result<Option<u64>> {
        if self.plan.what != What::Delegates {
            return Ok(None);
        }
        let by_key = self
            .plan
            .key
            .map(|key| person(key, body))
            .transpose()?
            .flatten();
        let email = || Some(body.get("email")?.as_str()?.trim().to_ascii_lowercase());
        Ok(match by_key {
            Some(person) => Some(self.hasher.hash_one(person)),
            None => email()
                .filter(|email| !email.is_empty())
                .map(|email| self.hasher.hash_one(email)),
        })
    }

    fn remember_person(&mut self, body: &Map<String, Value>, line: u32) -> Result<()> {
        if let Some(person) = self.person(body)? {
            if let Some(first) = self.people.get(&person) {
                let warnings = &mut self.checked.warnings;
                warnings.is_twice((*first).into(), line.into(), body);
            } else if self.people.len() < CODES_MAX {
                self.people.insert(person, line);
            }
        }
        Ok(())
    }

    fn record(
        &mut self,
        tx: &Tx<'_>,
        mut at: At,
        resource: &'static Resource,
        body: &Map<String, Value>,
        damaged: &[(&'static str, Problem)],
    ) -> Result<(), Failure> {
        at.known = self.plan.of_row(self.plan.existing(tx, resource, body))?;
        for (name, problem) in damaged {
            let column = resource.codes().find(|(_, known)| known == name);
            let stored = match (at.known, column) {
                (Some(id), Some((column, _))) => {
                    records::write::stored_text(tx, resource, column, id)?
                }
                _ => None,
            };
            if stored.is_none() || stored.as_deref() != body.get(*name).and_then(Value::as_str) {
                return Err(Failure::Row(problem.clone()));
            }
        }
        // A row above may mean the same person.
        let is_by_person = self
            .plan
            .key
            .is_some_and(|key| matches!(person(key, body), Ok(Some(_))));
        let own_line = match self.person(body)? {
            Some(person) if is_by_person => self.people.get(&person).copied(),
            _ => None,
        };
        let mut resolved = body.clone();
        let mut unresolved = self
            .plan
            .of_row(self.plan.resolve(tx, resource, &mut resolved))?;
        for (property, selector) in Plan::selectors(resource, body) {
            if self.changed.contains(&self.target(selector))
                && resolved.remove(property.name).is_some()
            {
                unresolved.push(Unresolved {
                    property: property.name,
                    selector: selector.to_owned(),
                });
            }
        }
        let parent = match unresolved.iter().find(|one| one.property == PARENT) {
            Some(unresolved) => Some(Parent::Code(self.target(&unresolved.selector))),
            // It is created where it is not there.
            None if body
                .get(PARENT)
                .and_then(Value::as_str)
                .is_some_and(|one| one.starts_with(ROOM)) =>
            {
                None
            }
            None => resolved.get(PARENT).and_then(referred).map(Parent::Record),
        };
        let ctx = &self.plan.ctx;
        self.plan
            .of_row(records::write::check(tx, ctx, resource, at.known, resolved))?;
        for (column, name, code) in codes(resource, body) {
            if let Some(line) = self.codes.get(&self.hash(column, code))
                && Some(*line) != own_line
            {
                let reason = format!("duplicate, same as line {line}");
                return Err(Failure::Row(self.plan.problem(Error::field(name, reason))));
            }
        }
        if let Some(problem) = taken(tx, self.plan, resource, body, at.known)? {
            return Err(Failure::Row(problem));
        }
        for unresolved in unresolved
            .into_iter()
            .filter(|one| !one.selector.starts_with(ROOM))
        {
            let code = self.target(&unresolved.selector);
            self.references.push(at, unresolved, code)?;
        }
        if body.contains_key(PARENT) {
            self.references.add_parent(at, parent);
        }
        if let Some(id) = at.known {
            self.checked.known += 1;
            self.changes(tx, at, id, resource, body)?;
        } else if own_line.is_some() {
            self.checked.known += 1;
        }
        Ok(())
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
                self.changed.insert(self.hash(column, &stored));
            }
            self.references.rename(at);
        }
        Ok(())
    }

    /// Judges the references when all rows are read.
    fn end(&mut self, connection: &Connection) -> Result<()> {
        let references = std::mem::take(&mut self.references);
        let line_of = |code| self.codes.get(&code).copied();
        let bad = references.bad_rows(self.plan, connection, line_of)?;
        for (at, row) in bad {
            self.checked.bad.push(at.number, row);
            self.checked.known -= u64::from(at.known.is_some());
        }
        Ok(())
    }

    /// The record that a selector such as `code:hall-a` means, as its code is kept in `codes`.
    fn target(&self, selector: &str) -> u64 {
        let (name, code) = selector.split_once(':').unwrap_or_default();
        if matches!(name, "name" | "room") {
            return self.hash("name", code);
        }
        let resource = self.plan.what.resource();
        let mut codes = resource.into_iter().flat_map(Resource::codes);
        let column = codes.find(|(_, known)| *known == name);
        self.hash(column.map_or("", |(column, _)| column), code)
    }

    fn hash(&self, column: &str, code: &str) -> u64 {
        let resource = self.plan.what.resource();
        if resource.is_some_and(|resource| resource.is_in_any_case(column)) {
            let code = code.to_ascii_uppercase();
            return self.hasher.hash_one((column, code.as_str()));
        }
        self.hasher.hash_one((column, code))
    }

    fn remember_codes(
        &mut self,
        resource: &'static Resource,
        body: &Map<String, Value>,
        line: u32,
    ) -> Result<()> {
        for (column, _, code) in codes(resource, body) {
            self.codes.insert(self.hash(column, code), line);
        }
        if let Some(name) = body.get("name").and_then(Value::as_str) {
            let hash = self.hash("name", name);
            self.codes.entry(hash).or_insert(line);
            if self.plan.columns.has_room() {
                self.checked.names.insert(name.to_owned());
            }
        }
        if self.codes.len() > CODES_MAX {
            return Err(Error::invalid(format!(
                "has more than {CODES_MAX} unique codes; split it"
            )));
        }
        Ok(())
    }
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
