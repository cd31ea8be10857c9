//! References within a list. A row may refer to any other, further down too, or to itself: it is
//! written without such a reference, and linked when all rows are there.

use super::{
    bad::{BadRow, Problem},
    kept::Kept,
    lineage::{Above, Lineage, Parent},
    marks::Marks,
    plan::{Plan, Unresolved, is_of_row},
    source::Row,
};
use crate::{
    core::records::{self, Resource, write::PARENT},
    db::Tx,
    types::error::{Error, Result},
};
use rusqlite::Connection;
use serde_json::{Map, Value};
use std::collections::{HashMap, VecDeque};

/// The most references between rows; some hundred bytes of memory each.
const REFERENCES_MAX: usize = 2_000_000;
/// How often the list is looked through again for those whom bad rows left without a place.
const ROUNDS_MAX: usize = 50;

/// The references of a list, as its rows are checked one after the other.
#[derive(Default)]
pub(super) struct Links {
    references: Vec<(At, Reference)>,
    lineage: Lineage,
    /// Records of the store to which the row of a line gives a code that they have not.
    renamed: HashMap<u32, i64>,
    /// Rows that are written already, and perhaps not linked yet.
    written: Marks,
}

/// A row, for [`Links`].
#[derive(Clone, Copy)]
pub(super) struct At {
    /// Its number in the list, from 0.
    pub number: u64,
    /// Where it stands; see [`Row::line`].
    pub line: u32,
    /// The record of the store that it means.
    pub known: Option<i64>,
}

impl At {
    /// What the row is about.
    fn meant(self) -> Meant {
        self.known.map_or(Meant::Line(self.line), Meant::Record)
    }
}

/// A record of the store, or the one that the row of a line will make.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Meant {
    /// By its id.
    Record(i64),
    /// By where its row stands.
    Line(u32),
}

/// A row's reference to a record that only the list has.
pub(super) struct Reference {
    /// Its property.
    pub property: &'static str,
    /// A hash of the code that it is named by.
    pub code: u64,
    /// The selector, where no row further up has the code.
    pub wanted: Option<String>,
}

impl Reference {
    /// That there is no such record at all.
    fn nowhere(&self, plan: &Plan) -> Error {
        let unresolved = Unresolved {
            property: self.property,
            selector: self.wanted.clone().unwrap_or_default(),
        };
        unresolved.told(plan.what)
    }
}

/// What came of the references of a list.
#[derive(Default)]
pub(super) struct Ended {
    /// Rows that refer to others further down, and can be written.
    pub linked: Marks,
    /// Rows that cannot.
    pub bad: Vec<(At, BadRow)>,
}

impl Links {
    /// What a row says of the parent of its record.
    pub(super) fn above(&mut self, at: At, parent: Option<Parent>) {
        let row = Some(at);
        self.lineage.insert(at.meant(), Above { row, parent });
    }

    /// What a row that is written already says of the parent of its record.
    pub(super) fn written_above(&mut self, at: At, parent: Option<Parent>) {
        self.lineage.insert(at.meant(), Above { row: None, parent });
    }

    /// A reference to a record that the store has not.
    pub(super) fn push(&mut self, at: At, reference: Reference) -> Result<()> {
        if self.references.len() >= REFERENCES_MAX {
            return Err(Error::invalid(format!(
                "has more than {REFERENCES_MAX} references between rows; split it"
            )));
        }
        self.references.push((at, reference));
        Ok(())
    }

    /// A row that gives its record a code which that has not.
    pub(super) fn renames(&mut self, at: At) {
        self.renamed.extend(at.known.map(|id| (at.line, id)));
    }

    /// A row that is written already, and refers to others.
    pub(super) fn written(&mut self, at: At) {
        self.written.set(at.number);
    }

    /// Looks at all of them once the last row is read; `line_of` tells where a code stands.
    pub(super) fn end(
        self,
        plan: &Plan,
        connection: &Connection,
        line_of: impl Fn(u64) -> Option<u32>,
    ) -> Result<Ended> {
        let (references, mut lineage) = (self.references, self.lineage);
        let mut bad: HashMap<u32, (At, Error)> = HashMap::new();
        let mut news = VecDeque::new();
        // Who refers to the row of a line and cannot be without it.
        let mut referring: HashMap<u32, Vec<(At, &str)>> = HashMap::new();
        for (at, reference) in &references {
            match line_of(reference.code) {
                Some(line) => referring
                    .entry(line)
                    .or_default()
                    .push((*at, reference.property)),
                None => news.push_back((*at, reference.nowhere(plan))),
            }
        }
        for round in 0.. {
            while let Some((at, cause)) = news.pop_front() {
                if bad.contains_key(&at.line) {
                    continue;
                }
                for (referring, property) in referring.get(&at.line).into_iter().flatten() {
                    let told = format!("{property}: stands in line {}, which is bad", at.line);
                    news.push_back((*referring, Error::invalid(told)));
                }
                lineage.remove(at.meant());
                bad.insert(at.line, (at, cause));
            }
            // Without the bad rows their records stay where they are.
            if round == ROUNDS_MAX {
                let told = format!("{PARENT}: cannot be told before the other bad rows are mended");
                news.extend(
                    lineage
                        .judged()
                        .map(|at| (at, Error::invalid(told.clone()))),
                );
            } else if let Some(resource) = plan.what.resource() {
                let of_code = |code| {
                    let line = line_of(code)?;
                    let known = self.renamed.get(&line).copied();
                    Some(known.map_or(Meant::Line(line), Meant::Record))
                };
                news.extend(lineage.wrong(connection, resource, of_code)?);
            }
            if news.is_empty() {
                break;
            }
        }
        let mut linked = self.written;
        for (at, reference) in &references {
            if reference.wanted.is_some() && !bad.contains_key(&at.line) {
                linked.set(at.number);
            }
        }
        let told = bad.into_values().map(|(at, cause)| {
            let row = BadRow {
                line: at.line.into(),
                problem: plan.problem(cause),
            };
            (at, row)
        });
        let mut bad: Vec<_> = told.collect();
        bad.sort_by_key(|(at, _)| at.number);
        Ok(Ended { linked, bad })
    }
}

/// Gives the record of a row, which is written, the references that it was written without. What
/// keeps it from that is told as a bad row.
pub(super) fn link(tx: &Tx<'_>, plan: &Plan, batch: i64, row: Row) -> Result<Option<Problem>> {
    let Some(kept) = Kept::of_line(tx, batch, row.line)? else {
        // It was bad when it was written.
        return Ok(None);
    };
    let Ok(body) = plan.body(row.content) else {
        return Ok(None);
    };
    let resource = plan.resource(&body);
    let (references, missing) = references(tx, plan, resource, &body, &kept)?;
    let columns: Vec<_> = resource
        .references()
        .filter(|property| references.contains_key(property.name))
        .map(|property| property.column)
        .collect();
    let linked = if references.is_empty() {
        Ok(())
    } else {
        kept.change(tx, batch, resource, &columns, || {
            records::write::patch(tx, &plan.ctx, resource, kept.record, references)
        })
    };
    kept.keep_linked(tx, batch)?;
    match linked.and(missing.map_or(Ok(()), |missing| Err(missing.told(plan.what)))) {
        Ok(()) => Ok(None),
        Err(cause) if is_of_row(cause.kind) => {
            let told = format!("{}; the row was imported without it", cause.message);
            Ok(Some(plan.problem(Error::new(cause.kind, told))))
        }
        Err(cause) => Err(cause),
    }
}

/// The references of a row that wait, and one that is nowhere. What somebody set since the row was
/// written stays.
fn references(
    tx: &Tx<'_>,
    plan: &Plan,
    resource: &'static Resource,
    body: &Map<String, Value>,
    kept: &Kept,
) -> Result<(Map<String, Value>, Option<Unresolved>)> {
    let (mut references, mut missing) = (Map::new(), None);
    for name in kept.unlinked() {
        let Some(value) = body.get(name) else {
            continue;
        };
        if kept.changed_since(tx, resource, Some(name))? {
            continue;
        }
        let mut one = Map::from_iter([(name.to_owned(), value.clone())]);
        match plan.resolve(tx, resource, &mut one)?.pop() {
            Some(unresolved) => missing = Some(unresolved),
            None => references.append(&mut one),
        }
    }
    Ok((references, missing))
}
