//! References within a list. A row may refer to any other, further down too, or to itself: it is
//! written without such a reference, and linked when all rows are there.

use super::{
    bad::{BadRow, Problem},
    batches::{self, Kept},
    marks::Marks,
    plan::{Plan, Unresolved, is_of_row},
    source::Row,
};
use crate::{
    error::{Error, Result},
    records::{
        self, Resource,
        write::{ANCESTORS_MAX, PARENT},
    },
    store::Tx,
};
use rusqlite::OptionalExtension;
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};

/// The most references to rows further down; a row's weight in memory each.
const FORWARD_MAX: usize = 1_000_000;

/// The references of a list, as its rows are checked one after the other. A record is meant by the
/// hash of one of its codes.
#[derive(Default)]
pub(super) struct Links {
    forward: Vec<Forward>,
    /// What stands above the row of a line, where that is in the list.
    parents: HashMap<u32, u64>,
}

/// A reference to what did not stand further up.
struct Forward {
    number: u64,
    line: u32,
    target: u64,
    property: &'static str,
    /// What to say of it where it is not further down either; none where it is in the store.
    wanted: Option<Wanted>,
}

struct Wanted {
    selector: String,
    /// The row is a record of the store.
    known: bool,
}

/// A row, for [`Links`].
#[derive(Clone, Copy)]
pub(super) struct At {
    pub number: u64,
    pub line: u32,
    /// It means a record of the store.
    pub known: bool,
}

/// What came of the references to rows further down.
pub(super) struct Ended {
    /// Rows that have some, and can be written.
    pub linked: Marks,
    /// Rows that cannot, and whether each means a record of the store.
    pub bad: Vec<(u64, BadRow, bool)>,
}

impl Links {
    /// A reference to a record of the list that the store lacks; `line` is where it stands, as far
    /// as that is known.
    pub(super) fn wanted(
        &mut self,
        at: At,
        unresolved: Unresolved,
        target: u64,
        line: Option<u32>,
    ) -> Result<()> {
        if unresolved.property == PARENT {
            self.parents.insert(at.line, target);
        }
        if line.is_some() {
            return Ok(());
        }
        self.push(Forward {
            number: at.number,
            line: at.line,
            target,
            property: unresolved.property,
            wanted: Some(Wanted {
                selector: unresolved.selector,
                known: at.known,
            }),
        })
    }

    /// A reference of a row that is written already, to what does not stand further up.
    pub(super) fn written(&mut self, at: At, property: &'static str, target: u64) -> Result<()> {
        self.push(Forward {
            number: at.number,
            line: at.line,
            target,
            property,
            wanted: None,
        })
    }

    fn push(&mut self, forward: Forward) -> Result<()> {
        if self.forward.len() >= FORWARD_MAX {
            return Err(Error::invalid(format!(
                "has more than {FORWARD_MAX} references to rows further down; put what is referred to first"
            )));
        }
        self.forward.push(forward);
        Ok(())
    }

    /// Looks at all of them once the last row is read; `line_of` tells where a record stands.
    pub(super) fn end(&self, plan: &Plan, line_of: impl Fn(u64) -> Option<u32>) -> Ended {
        let mut bad: HashMap<u32, &Forward> = HashMap::new();
        // What refers to a bad row is bad itself.
        loop {
            let before = bad.len();
            for forward in self.forward.iter().filter(|one| one.wanted.is_some()) {
                let stands = line_of(forward.target).is_some_and(|line| !bad.contains_key(&line));
                if !stands {
                    bad.entry(forward.line).or_insert(forward);
                }
            }
            if bad.len() == before {
                break;
            }
        }
        let mut ended = Ended {
            linked: Marks::default(),
            bad: Vec::new(),
        };
        let mut told = HashSet::new();
        for forward in &self.forward {
            let cause = match (bad.get(&forward.line), &forward.wanted) {
                (Some(first), _) => first.wanted.as_ref().map(|wanted| {
                    let unresolved = Unresolved {
                        property: first.property,
                        selector: wanted.selector.clone(),
                    };
                    (unresolved.told(plan.what), wanted.known)
                }),
                (None, Some(wanted)) if forward.property == PARENT => self
                    .wrong_above(forward.line, &line_of)
                    .map(|cause| (cause, wanted.known)),
                (None, _) => None,
            };
            let Some((cause, known)) = cause else {
                if line_of(forward.target).is_some() {
                    ended.linked.set(forward.number);
                }
                continue;
            };
            if told.insert(forward.line) {
                let row = BadRow {
                    line: forward.line.into(),
                    problem: plan.problem(cause),
                };
                ended.bad.push((forward.number, row, known));
            }
        }
        ended
    }

    /// What is wrong with the rows above the row of a line.
    fn wrong_above(&self, line: u32, line_of: impl Fn(u64) -> Option<u32>) -> Option<Error> {
        let above = |line: u32| line_of(*self.parents.get(&line)?);
        let mut ancestor = line;
        for _ in 0..ANCESTORS_MAX {
            ancestor = above(ancestor)?;
            if ancestor == line {
                return Some(Error::invalid(format!(
                    "{PARENT}: is this row itself or stands below it in this list"
                )));
            }
        }
        Some(Error::invalid(format!(
            "{PARENT}: there may be at most {ANCESTORS_MAX} generations above a row"
        )))
    }
}

/// Gives the record of a row, which is written, the references that it was written without. What
/// keeps it from that is told as a bad row.
///
/// # Errors
/// When the store cannot take it.
pub(super) fn link(tx: &Tx<'_>, plan: &Plan, batch: i64, row: Row) -> Result<Option<Problem>> {
    let Some(kept) = batches::kept(tx, batch, row.line)? else {
        // It was bad when it was written.
        return Ok(None);
    };
    let Ok(body) = plan.body(row.content) else {
        return Ok(None);
    };
    let resource = plan.resource(&body);
    let linked = references(tx, plan, resource, body, &kept).and_then(|references| {
        if !references.is_empty() {
            let changed = kept.changed_since(tx, resource)?;
            records::write::patch(tx, &plan.ctx, resource, kept.record, references)?;
            if !changed {
                batches::keep_change(tx, batch, row.line)?;
            }
        }
        Ok(())
    });
    match linked {
        Ok(()) => Ok(None),
        Err(cause) if is_of_row(cause.kind) => {
            let told = format!("{}; the row was imported without it", cause.message);
            Ok(Some(plan.problem(Error::new(cause.kind, told))))
        }
        Err(cause) => Err(cause),
    }
}

/// The references of a body that its record does not have yet.
fn references(
    tx: &Tx<'_>,
    plan: &Plan,
    resource: &'static Resource,
    body: Map<String, Value>,
    kept: &Kept,
) -> Result<Map<String, Value>> {
    let mut references: Map<String, Value> = Plan::references(resource, &body)
        .map(|(property, selector)| (property.name.to_owned(), selector.into()))
        .collect();
    if let Some(unresolved) = plan.resolve(tx, resource, &mut references)?.first() {
        return Err(unresolved.told(plan.what));
    }
    let mut missing = Map::new();
    for (name, id) in references {
        let Some(property) = resource.property(&name) else {
            continue;
        };
        let sql = format!(
            "SELECT {} FROM {} WHERE id = ?1",
            property.column, resource.table
        );
        let stored: Option<Option<i64>> = tx
            .prepare_cached(&sql)?
            .query_row([kept.record], |row| row.get(0))
            .optional()?;
        if stored.flatten() != id.as_i64() {
            missing.insert(name, id);
        }
    }
    Ok(missing)
}
