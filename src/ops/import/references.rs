//! References of the rows of a list, judged when the last row is read: a row may refer to any other,
//! further down too, or to itself.

use super::{
    bad::BadRow,
    plan::{Plan, Unresolved},
};
use crate::{
    core::records::{
        Resource,
        write::{self, ANCESTORS_MAX, PARENT},
    },
    types::error::{Error, Result},
};
use rusqlite::Connection;
use std::collections::{HashMap, VecDeque};

/// The most references between rows; some hundred bytes of memory each.
const REFERENCES_MAX: usize = 2_000_000;
/// The number of times that parents are checked again: every bad row leaves its record under its old parent.
const ROUNDS_MAX: usize = 50;

/// The references of a list, as its rows are checked one after the other.
#[derive(Default)]
pub(super) struct References {
    /// References to records that are not stored yet, and a hash of the code that each names.
    references: Vec<(At, Unresolved, u64)>,
    /// The parents that rows name, by their records.
    parents: HashMap<Node, (At, Option<Parent>)>,
    /// Stored records to which the row of a line gives another code.
    renamed: HashMap<u32, i64>,
}

/// A row, for [`References`].
#[derive(Clone, Copy)]
pub(super) struct At {
    /// Its number in the list, from 0.
    pub number: u64,
    /// The line in the file; see [`super::source::Row::line`].
    pub line: u32,
    /// The stored record that it changes.
    pub known: Option<i64>,
}

impl At {
    fn node(self) -> Node {
        self.known.map_or(Node::Line(self.line), Node::Record)
    }
}

/// A stored record, or the one that the row of a line will create.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Node {
    Record(i64),
    Line(u32),
}

/// A parent as a row names it.
#[derive(Clone, Copy)]
pub(super) enum Parent {
    /// A stored record.
    Record(i64),
    /// A hash of the code that a row of the list has.
    Code(u64),
}

impl References {
    /// Adds the parent that a row names; none where it clears it.
    pub(super) fn add_parent(&mut self, at: At, parent: Option<Parent>) {
        self.parents.insert(at.node(), (at, parent));
    }

    /// Adds a reference to a record that is not stored yet, with a hash of the code that it names.
    pub(super) fn push(&mut self, at: At, reference: Unresolved, code: u64) -> Result<()> {
        if self.references.len() >= REFERENCES_MAX {
            return Err(Error::invalid(format!(
                "has more than {REFERENCES_MAX} references between rows; split it"
            )));
        }
        self.references.push((at, reference, code));
        Ok(())
    }

    /// Notes that a row gives its stored record another code.
    pub(super) fn rename(&mut self, at: At) {
        self.renamed.extend(at.known.map(|id| (at.line, id)));
    }

    /// The rows whose references lead nowhere, to bad rows, or in a circle of parents; `line_of` finds the
    /// row that has a code.
    pub(super) fn bad_rows(
        mut self,
        plan: &Plan,
        connection: &Connection,
        line_of: impl Fn(u64) -> Option<u32>,
    ) -> Result<Vec<(At, BadRow)>> {
        let mut found = VecDeque::new();
        let mut referring: HashMap<u32, Vec<(At, &str)>> = HashMap::new();
        for (at, reference, code) in &self.references {
            match line_of(*code) {
                Some(line) => {
                    let referring = referring.entry(line).or_default();
                    referring.push((*at, reference.property));
                }
                None => found.push_back((*at, reference.error(plan.what))),
            }
        }
        let node_of = |code: u64| {
            let line = line_of(code)?;
            let known = self.renamed.get(&line).copied();
            Some(known.map_or(Node::Line(line), Node::Record))
        };
        let mut bad: HashMap<u32, (At, Error)> = HashMap::new();
        for round in 0.. {
            while let Some((at, cause)) = found.pop_front() {
                if bad.contains_key(&at.line) {
                    continue;
                }
                for (referring, property) in referring.get(&at.line).into_iter().flatten() {
                    let reason = format!("stands in line {}, which is bad", at.line);
                    found.push_back((*referring, Error::field(property, reason)));
                }
                // Without its row a record stays where it is.
                self.parents.remove(&at.node());
                bad.insert(at.line, (at, cause));
            }
            if let Some(resource) = plan.what.resource() {
                let tree = Tree {
                    connection,
                    resource,
                    parents: &self.parents,
                    node_of: &node_of,
                };
                found.extend(tree.misplaced(round < ROUNDS_MAX)?);
            }
            if found.is_empty() {
                break;
            }
        }
        let rows = bad.into_values().map(|(at, cause)| {
            let (line, problem) = (at.line.into(), plan.problem(cause));
            (at, BadRow { line, problem })
        });
        let mut bad: Vec<_> = rows.collect();
        bad.sort_by_key(|(at, _)| at.number);
        Ok(bad)
    }
}

/// The parents that records will have, those of the list and of the file together.
struct Tree<'a, F> {
    connection: &'a Connection,
    resource: &'static Resource,
    parents: &'a HashMap<Node, (At, Option<Parent>)>,
    node_of: &'a F,
}

impl<F: Fn(u64) -> Option<Node>> Tree<'_, F> {
    /// Rows that would stand below themselves or too many others; all rows that name a parent where
    /// there is no time to look.
    fn misplaced(&self, look: bool) -> Result<Vec<(At, Error)>> {
        let mut known = HashMap::new();
        let mut rows = Vec::new();
        for (node, (at, _)) in self.parents {
            let reason = if !look {
                "cannot be told before the other bad rows are mended".to_owned()
            } else if self.generations(*node, &mut known)? > ANCESTORS_MAX {
                format!(
                    "a row cannot stand below itself, nor below more than {ANCESTORS_MAX} generations"
                )
            } else {
                continue;
            };
            rows.push((*at, Error::field(PARENT, reason)));
        }
        Ok(rows)
    }

    /// Counts the generations above a record; more than allowed where it is below itself.
    fn generations(&self, node: Node, known: &mut HashMap<Node, usize>) -> Result<usize> {
        let mut path = vec![];
        let mut next = Some(node);
        let mut above = loop {
            match next {
                None => break 0,
                Some(node) if known.contains_key(&node) => break known[&node] + 1,
                Some(_) if path.len() > ANCESTORS_MAX => {
                    known.insert(node, ANCESTORS_MAX + 1);
                    return Ok(ANCESTORS_MAX + 1);
                }
                Some(node) => {
                    path.push(node);
                    next = self.parent(node)?;
                }
            }
        };
        for node in path.into_iter().rev() {
            known.insert(node, above);
            above += 1;
        }
        Ok(known.get(&node).copied().unwrap_or_default())
    }

    fn parent(&self, node: Node) -> Result<Option<Node>> {
        Ok(match (self.parents.get(&node), node) {
            (Some((_, None)), _) | (None, Node::Line(_)) => None,
            (Some((_, Some(Parent::Record(id)))), _) => Some(Node::Record(*id)),
            (Some((_, Some(Parent::Code(code)))), _) => (self.node_of)(*code),
            (None, Node::Record(id)) => {
                write::parent(self.connection, self.resource, id)?.map(Node::Record)
            }
        })
    }
}
