//! References within a list. A row may refer to any other, further down too, or to itself: it is
//! written without such a reference, and linked when all rows are there.

use super::{
    bad::{BadRow, Problem},
    kept::{self, Kept},
    marks::Marks,
    plan::{Plan, Unresolved, is_of_row},
    source::Row,
};
use crate::{
    error::{Error, Result},
    records::{
        self, Property, Resource,
        write::{ANCESTORS_MAX, PARENT},
    },
    store::Tx,
};
use rusqlite::OptionalExtension;
use serde_json::{Map, Value};
use std::collections::{HashMap, VecDeque};

/// The most references to rows further down; a row's weight in memory each.
const FORWARD_MAX: usize = 1_000_000;

/// The references of a list, as its rows are checked one after the other. A record is meant by the
/// hash of one of its codes, a row by its line.
#[derive(Default)]
pub(super) struct Links {
    forward: Vec<Forward>,
    /// What stands above the row of a line.
    above: HashMap<u32, Above>,
}

/// A row, for [`Links`].
#[derive(Clone, Copy)]
pub(super) struct At {
    /// Its number in the list, from 0.
    pub number: u64,
    /// Where it stands; see [`Row::line`].
    pub line: u32,
    /// It means a record of the store.
    pub known: bool,
}

/// A reference to what did not stand further up.
struct Forward {
    at: At,
    target: u64,
    /// What to say where it is not further down either; none where it is in the store.
    wanted: Option<Unresolved>,
}

/// A row's parent.
struct Above {
    at: At,
    target: u64,
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
    /// The parent of a row, where it is named by a code.
    pub(super) fn above(&mut self, at: At, target: u64) {
        self.above.insert(at.line, Above { at, target });
    }

    /// A reference to a record that neither the store has nor the list further up.
    pub(super) fn wanted(&mut self, at: At, unresolved: Unresolved, target: u64) -> Result<()> {
        let wanted = Some(unresolved);
        self.push(Forward { at, target, wanted })
    }

    /// A reference of a row that is written already, to what does not stand further up.
    pub(super) fn written(&mut self, at: At, target: u64) -> Result<()> {
        let wanted = None;
        self.push(Forward { at, target, wanted })
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
        let mut bad: HashMap<u32, (At, Error)> = HashMap::new();
        // Those that are bad by themselves come before those that are for another's sake.
        let mut news = VecDeque::new();
        // Who refers to the row of a line and cannot be without it.
        let mut referring: HashMap<u32, Vec<(At, &Unresolved)>> = HashMap::new();
        for forward in &self.forward {
            let Some(wanted) = &forward.wanted else {
                continue;
            };
            match line_of(forward.target) {
                Some(line) => referring
                    .entry(line)
                    .or_default()
                    .push((forward.at, wanted)),
                None => news.push_back((forward.at, wanted.told(plan.what))),
            }
        }
        for at in self.too_deep(&line_of) {
            news.push_back(at);
        }
        let below = self.below(&line_of);
        while let Some((at, cause)) = news.pop_front() {
            if bad.contains_key(&at.line) {
                continue;
            }
            // A record that is in the store already may stay above others.
            let below = below.get(&at.line).filter(|_| !at.known);
            for below in below.into_iter().flatten() {
                let told = format!("{PARENT}: stands in line {}, which is bad", at.line);
                news.push_back((*below, Error::invalid(told)));
            }
            for (referring, wanted) in referring.get(&at.line).into_iter().flatten() {
                news.push_back((*referring, wanted.told(plan.what)));
            }
            bad.insert(at.line, (at, cause));
        }
        let mut ended = Ended::default();
        for forward in &self.forward {
            if !bad.contains_key(&forward.at.line) && line_of(forward.target).is_some() {
                ended.linked.set(forward.at.number);
            }
        }
        let told = bad.into_values().map(|(at, cause)| {
            let row = BadRow {
                line: at.line.into(),
                problem: plan.problem(cause),
            };
            (at, row)
        });
        ended.bad = told.collect();
        ended.bad.sort_by_key(|(at, _)| at.number);
        ended
    }

    /// Those who stand right below the row of a line.
    fn below(&self, line_of: impl Fn(u64) -> Option<u32>) -> HashMap<u32, Vec<At>> {
        let mut below: HashMap<u32, Vec<At>> = HashMap::new();
        for above in self.above.values() {
            if let Some(parent) = line_of(above.target) {
                below.entry(parent).or_default().push(above.at);
            }
        }
        below
    }

    /// Rows that would stand above themselves, or under too many others of the list.
    fn too_deep(&self, line_of: impl Fn(u64) -> Option<u32>) -> Vec<(At, Error)> {
        let parent = |line: u32| line_of(self.above.get(&line)?.target);
        // How many stand above the row of a line; none where it is in a ring, or below one.
        let mut depths: HashMap<u32, Option<usize>> = HashMap::new();
        let mut path = Vec::new();
        for line in self.above.keys() {
            let mut top = *line;
            let mut depth = loop {
                if let Some(depth) = depths.get(&top) {
                    break *depth;
                }
                // Until it is known, it is taken for a ring's: who comes back to it is in one.
                depths.insert(top, None);
                path.push(top);
                match parent(top) {
                    Some(above) => top = above,
                    None => {
                        break path.pop().map(|top| {
                            depths.insert(top, Some(0));
                            0
                        });
                    }
                }
            };
            while let Some(line) = path.pop() {
                depth = depth.map(|depth| depth + 1);
                depths.insert(line, depth);
            }
        }
        let wrong = self.above.iter().filter_map(|(line, above)| {
            let told = match depths.get(line).copied().flatten() {
                Some(depth) if depth <= ANCESTORS_MAX => return None,
                Some(_) => format!(
                    "{PARENT}: there may be at most {ANCESTORS_MAX} generations above a row"
                ),
                None => format!(
                    "{PARENT}: is this row itself, stands below it in this list, or is such a row's"
                ),
            };
            parent(*line)?;
            Some((above.at, Error::invalid(told)))
        });
        wrong.collect()
    }
}

/// Gives the record of a row, which is written, the references that it was written without. What
/// keeps it from that is told as a bad row.
///
/// # Errors
/// When the store cannot take it.
pub(super) fn link(tx: &Tx<'_>, plan: &Plan, batch: i64, row: Row) -> Result<Option<Problem>> {
    let Some(kept) = kept::of_line(tx, batch, row.line)? else {
        // It was bad when it was written.
        return Ok(None);
    };
    let Ok(body) = plan.body(row.content) else {
        return Ok(None);
    };
    let resource = plan.resource(&body);
    let (references, missing) = references(tx, plan, resource, body, &kept)?;
    let linked = if references.is_empty() {
        Ok(())
    } else {
        let changed = kept.changed_since(tx, resource, None)?;
        records::write::patch(tx, &plan.ctx, resource, kept.record, references).and_then(|()| {
            if changed {
                return Ok(());
            }
            kept::keep_change(tx, batch, row.line)
        })
    };
    match linked.and(missing.map_or(Ok(()), |missing| Err(missing.told(plan.what)))) {
        Ok(()) => Ok(None),
        Err(cause) if is_of_row(cause.kind) => {
            let told = format!("{}; the row was imported without it", cause.message);
            Ok(Some(plan.problem(Error::new(cause.kind, told))))
        }
        Err(cause) => Err(cause),
    }
}

/// The references of a body that its record is to have and has not, and one that is nowhere. What
/// somebody set since the row was written stays.
fn references(
    tx: &Tx<'_>,
    plan: &Plan,
    resource: &'static Resource,
    body: Map<String, Value>,
    kept: &Kept,
) -> Result<(Map<String, Value>, Option<Unresolved>)> {
    let named: Vec<_> = Plan::references(resource, &body)
        .map(|(property, selector)| (property, selector.to_owned()))
        .collect();
    let (mut references, mut missing) = (Map::new(), None);
    for (property, selector) in named {
        if kept.changed_since(tx, resource, Some(property.name))? {
            continue;
        }
        let stored = stored(tx, resource, property, kept.record)?;
        let mut one = Map::from_iter([(property.name.to_owned(), selector.into())]);
        match plan.resolve(tx, resource, &mut one)?.pop() {
            // Found when the row was written, by a code that another row took from it.
            Some(_) if stored.is_some() => {}
            Some(unresolved) => missing = Some(unresolved),
            None if one.get(property.name).and_then(Value::as_i64) == stored => {}
            None => references.append(&mut one),
        }
    }
    Ok((references, missing))
}

/// The id that a record has in a reference.
fn stored(
    tx: &Tx<'_>,
    resource: &Resource,
    property: &Property,
    record: i64,
) -> Result<Option<i64>> {
    let sql = format!(
        "SELECT {} FROM {} WHERE id = ?1",
        property.column, resource.table
    );
    Ok(tx
        .prepare_cached(&sql)?
        .query_row([record], |row| row.get(0))
        .optional()?
        .flatten())
}
