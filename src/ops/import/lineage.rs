//! Who will stand above whom when a list is written: the list and the store taken together.

use super::links::{At, Meant};
use crate::{
    core::records::{
        Resource,
        write::{self, ANCESTORS_MAX, PARENT},
    },
    types::error::{Error, Result},
};
use rusqlite::Connection;
use std::collections::HashMap;

/// What the rows of a list say of their parents.
#[derive(Default)]
pub(super) struct Lineage(HashMap<Meant, Above>);

/// A row's parent.
pub(super) struct Above {
    /// The row; none where it is written already, and no more judged.
    pub row: Option<At>,
    /// Its parent; none where the row says so.
    pub parent: Option<Parent>,
}

/// A parent as a row names it.
#[derive(Clone, Copy)]
pub(super) enum Parent {
    /// A record of the store.
    Record(i64),
    /// What a row of the list has the code of, as [`super::links::Links`] keeps it.
    Code(u64),
}

impl Lineage {
    /// What a row says of its record's parent.
    pub(super) fn insert(&mut self, record: Meant, above: Above) {
        self.0.insert(record, above);
    }

    /// Leaves out what a row said of its record.
    pub(super) fn remove(&mut self, record: Meant) {
        self.0.remove(&record);
    }

    /// All rows that are judged.
    pub(super) fn judged(&self) -> impl Iterator<Item = At> {
        self.0.values().filter_map(|above| above.row)
    }

    /// Rows that would stand above themselves, or below too many others; `of_code` tells what a row
    /// of the list makes of a code.
    pub(super) fn wrong(
        &self,
        connection: &Connection,
        resource: &Resource,
        of_code: impl Fn(u64) -> Option<Meant>,
    ) -> Result<Vec<(At, Error)>> {
        let parent = |record: Meant| match (self.0.get(&record), record) {
            (Some(above), _) => Ok(match above.parent {
                Some(Parent::Record(id)) => Some(Meant::Record(id)),
                Some(Parent::Code(code)) => of_code(code),
                None => None,
            }),
            (None, Meant::Record(id)) => {
                write::parent(connection, resource, id).map(|parent| parent.map(Meant::Record))
            }
            (None, Meant::Line(_)) => Ok(None),
        };
        // How many stand above a record; none where it is in a ring, or below one.
        let mut depths: HashMap<Meant, Option<usize>> = HashMap::new();
        let mut path = Vec::new();
        let mut wrong = Vec::new();
        for (record, above) in &self.0 {
            let Some(row) = above.row else { continue };
            let mut next = Some(*record);
            let mut depth = loop {
                let Some(one) = next else {
                    break path.pop().map(|top| {
                        depths.insert(top, Some(0));
                        0
                    });
                };
                if let Some(depth) = depths.get(&one) {
                    break *depth;
                }
                // Until it is known, it is taken for a ring's: who comes back to it is in one.
                depths.insert(one, None);
                path.push(one);
                next = parent(one)?;
            };
            while let Some(one) = path.pop() {
                depth = depth.map(|depth| depth + 1);
                depths.insert(one, depth);
            }
            let told = match depths.get(record).copied().flatten() {
                Some(depth) if depth <= ANCESTORS_MAX => continue,
                Some(_) => format!(
                    "{PARENT}: there may be at most {ANCESTORS_MAX} generations above a row"
                ),
                None => format!(
                    "{PARENT}: is this row itself, stands below it when all rows are there, or is such a row's"
                ),
            };
            wrong.push((row, Error::invalid(told)));
        }
        Ok(wrong)
    }
}
