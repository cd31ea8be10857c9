//! Which rows cannot be imported, and why: all of them are told before any row is written. Nothing
//! is kept of a row but a hash of its codes, so that the longest list takes little memory.

use super::{
    Source, What,
    bad::{BadRow, BadRows, Problem},
    plan::{Plan, by_code, is_of_row},
    source::Row,
};
use crate::{
    error::{Error, Result},
    interactions::record,
    records::{self, Resource},
    store::{Store, Tx, in_transaction, migrate},
    types::Timestamp,
};
use rusqlite::Connection;
use serde_json::{Map, Value};
use std::{
    collections::HashMap,
    hash::{BuildHasher, RandomState},
    ops::ControlFlow,
};

/// Rows that are looked up in one go.
const SLICE_ROWS: usize = 1_000;
/// The most unique codes that a file may have, beside each other; a few bytes of memory each.
const CODES_MAX: usize = 5_000_000;

/// What a check found.
#[derive(Debug, Default)]
pub struct Checked {
    /// Rows that hold something, below the header.
    pub rows: u64,
    /// Those that cannot be imported.
    pub bad: BadRows,
    /// Those that mean a record which is there already.
    pub known: u64,
}

impl Checked {
    /// Rows that can be imported.
    #[must_use]
    pub fn good(&self) -> u64 {
        self.rows - self.bad.count() as u64
    }
}

/// How far a check came.
pub struct Looked<'a> {
    /// Rows that were looked at.
    pub rows: u64,
    /// The bad ones among those since it was told before.
    pub bad: &'a [BadRow],
}

/// Checks every row of a file: by itself, against the rows before it, and against what is in the
/// store, where there is one. The first `done` rows are written already. `told` hears how far
/// it came, and may stop it.
///
/// # Errors
/// When the file or the store cannot be read, or when `told` stopped it.
pub fn check(
    source: &Source,
    plan: &Plan,
    store: Option<&Store>,
    done: u64,
    mut told: impl FnMut(&Looked<'_>) -> ControlFlow<()>,
) -> Result<Checked> {
    let mut check = Check {
        plan,
        done,
        codes: HashMap::new(),
        hasher: RandomState::new(),
        checked: Checked::default(),
        fresh: Vec::new(),
    };
    // Without a file everything is checked against an empty one.
    let empty = Connection::open_in_memory()?;
    if store.is_none() {
        migrate::create(&empty)?;
    }
    let mut rows = source.rows()?;
    loop {
        let slice: Vec<Row> = rows.by_ref().take(SLICE_ROWS).collect::<Result<_>>()?;
        if slice.is_empty() {
            return Ok(check.checked);
        }
        match store {
            Some(store) => store.look_up(|connection| check.slice(slice, connection))?,
            None => check.slice(slice, &empty)?,
        }
        let looked = Looked {
            rows: check.checked.rows,
            bad: &check.fresh,
        };
        let goes_on = told(&looked);
        for row in check.fresh.drain(..) {
            check.checked.bad.tell(row);
        }
        if goes_on.is_break() {
            return Err(Error::invalid("stopped; nothing was written"));
        }
    }
}

struct Check<'a> {
    plan: &'a Plan,
    done: u64,
    /// The line at which a code stands, by a hash of the code; of good rows only.
    codes: HashMap<u64, u32>,
    hasher: RandomState,
    checked: Checked,
    /// Bad rows of this slice.
    fresh: Vec<BadRow>,
}

impl Check<'_> {
    fn slice(&mut self, rows: Vec<Row>, connection: &Connection) -> Result<()> {
        in_transaction(connection, Timestamp::now(), |tx| {
            for row in rows {
                let number = self.checked.rows;
                self.checked.rows += 1;
                let line = row.line;
                match self.row(tx, row, number < self.done) {
                    Ok(()) => {}
                    Err(Trouble::Problem(problem)) => {
                        self.checked.bad.mark(number);
                        self.fresh.push(BadRow { line, problem });
                    }
                    Err(Trouble::Error(cause)) => return Err(cause),
                }
            }
            Ok(())
        })
    }

    fn row(&mut self, tx: &Tx<'_>, row: Row, is_done: bool) -> Result<(), Trouble> {
        let body = self.plan.body(row.content)?;
        if self.plan.what == What::Interactions {
            if is_done {
                return Ok(());
            }
            return self.of_plan(
                self.plan
                    .draft(body)
                    .and_then(|draft| record::find_past(tx, &draft))
                    .map(|_| ()),
            );
        }
        let resource = self.plan.resource(&body);
        if !is_done {
            self.record(tx, resource, &body)?;
        }
        self.remember_codes(resource, &body, row.line)?;
        Ok(())
    }

    fn record(
        &mut self,
        tx: &Tx<'_>,
        resource: &'static Resource,
        body: &Map<String, Value>,
    ) -> Result<(), Trouble> {
        let existing = self.of_plan(self.plan.existing(tx, resource, body))?;
        let mut resolved = body.clone();
        let stands_above = |name: &str, code: &str| self.line_of(name, code).is_some();
        self.of_plan(self.plan.resolve(tx, resource, &mut resolved, stands_above))?;
        let ctx = &self.plan.ctx;
        self.of_plan(records::write::check(tx, ctx, resource, existing, resolved))?;
        for (name, code) in codes(resource, body) {
            if let Some(line) = self.line_of(name, code) {
                let reason = format!("{name}: stands in line {line} already");
                return Err(Trouble::Problem(self.plan.problem(Error::invalid(reason))));
            }
        }
        if let Some(problem) = taken(tx, self.plan, resource, body, existing)? {
            return Err(Trouble::Problem(problem));
        }
        self.checked.known += u64::from(existing.is_some());
        Ok(())
    }

    /// A failure that is about the row is a problem of the row.
    fn of_plan<T>(&self, outcome: Result<T>) -> Result<T, Trouble> {
        outcome.map_err(|cause| {
            if is_of_row(cause.kind) {
                Trouble::Problem(self.plan.problem(cause))
            } else {
                Trouble::Error(cause)
            }
        })
    }

    fn line_of(&self, name: &str, code: &str) -> Option<u32> {
        self.codes.get(&self.hasher.hash_one((name, code))).copied()
    }

    fn remember_codes(
        &mut self,
        resource: &'static Resource,
        body: &Map<String, Value>,
        line: u64,
    ) -> Result<()> {
        let line = u32::try_from(line).unwrap_or(u32::MAX);
        for (name, code) in codes(resource, body) {
            self.codes.insert(self.hasher.hash_one((name, code)), line);
        }
        if self.codes.len() > CODES_MAX {
            return Err(Error::invalid(format!(
                "has more than {CODES_MAX} unique codes; split it"
            )));
        }
        Ok(())
    }
}

enum Trouble {
    /// The row is bad.
    Problem(Problem),
    /// Nothing can be checked.
    Error(Error),
}

impl From<Problem> for Trouble {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl From<Error> for Trouble {
    fn from(cause: Error) -> Self {
        Self::Error(cause)
    }
}

/// The unique codes of a body, with their names.
fn codes<'a>(
    resource: &'static Resource,
    body: &'a Map<String, Value>,
) -> impl Iterator<Item = (&'static str, &'a str)> {
    resource
        .codes()
        .filter_map(|(_, name)| Some((name, body.get(name)?.as_str()?)))
}

/// What is wrong with a row because another record has its code.
///
/// # Errors
/// When the file cannot be read.
pub(super) fn taken(
    connection: &Connection,
    plan: &Plan,
    resource: &'static Resource,
    body: &Map<String, Value>,
    own: Option<i64>,
) -> Result<Option<Problem>> {
    for (name, code) in codes(resource, body) {
        let found = by_code(connection, resource, name, code)?;
        if let Some(id) = found.filter(|id| Some(*id) != own) {
            let reason = format!("{name}: already used by the {} with id {id}", resource.name);
            return Ok(Some(plan.problem(Error::invalid(reason))));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests;
