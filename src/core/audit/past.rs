//! A record as it was: what it is now with every later change undone, newest first; or what it was
//! before, with the changes since then made again.

use super::{
    HistoryOf,
    find::{SELECT, entry},
};
use crate::types::error::{Error, Result};
use rusqlite::{Connection, params};
use serde_json::{Map, Value};

/// The properties of a record.
pub type Properties = Map<String, Value>;

/// A record after one of its changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Past {
    /// The change, by its number in the audit.
    change: i64,
    /// Its own properties as JSON text; `None` while it was not there.
    pub state: Option<String>,
}

impl Past {
    /// A record as it is now.
    pub fn now(state: Option<String>) -> Self {
        Self {
            change: i64::MAX,
            state,
        }
    }

    /// Goes to the state after another change, earlier or later, and returns how many changes lie
    /// between. `renamed` gives what an entry of a record type says under the names of the state;
    /// `updatedAt`, which the audit leaves out, is the one given.
    pub fn go_to(
        &mut self,
        connection: &Connection,
        of: HistoryOf,
        (change, updated_at): (i64, &str),
        renamed: &dyn Fn(&str, Properties) -> Properties,
    ) -> Result<usize> {
        let is_back = change < self.change;
        let mut between = numbers(
            connection,
            of,
            change.min(self.change),
            change.max(self.change),
        )?;
        self.change = change;
        if between.is_empty() {
            return Ok(0);
        }
        if is_back {
            between.reverse();
        }
        let state = self.state.as_deref().map(serde_json::from_str);
        let mut state: Option<Properties> = state.transpose().map_err(Error::defect)?;
        let mut statement = connection.prepare_cached(&format!("{SELECT} WHERE id = ?1"))?;
        for id in &between {
            let entry = statement.query_row([id], entry)?;
            let [before, after] = [entry.before, entry.after].map(|properties| match properties {
                Some(Value::Object(properties)) => renamed(&entry.record_type, properties),
                _ => Properties::new(),
            });
            state = match (entry.action.as_str(), is_back) {
                ("update", true) => state.map(|state| replaced(state, &after, before)),
                ("update", false) => state.map(|state| replaced(state, &before, after)),
                ("create" | "restore", true) | ("delete", false) => None,
                ("create" | "restore", false) => Some(after),
                ("delete", true) => Some(before),
                _ => state,
            };
        }
        self.state = state.map(|mut state| {
            state.insert("updatedAt".to_owned(), updated_at.into());
            Value::Object(state).to_string()
        });
        Ok(between.len())
    }
}

/// The changes of a record after one, up to another; the oldest first.
fn numbers(connection: &Connection, of: HistoryOf, after: i64, to: i64) -> Result<Vec<i64>> {
    let mut statement = connection.prepare_cached(
        "SELECT id FROM audit WHERE record_type IN (?1, ?2) AND record_id = ?3 AND id > ?4 AND id <= ?5
         ORDER BY id",
    )?;
    let [kind, other] = of.types;
    let ids = statement.query_map(params![kind, other, of.id, after, to], |row| row.get(0))?;
    Ok(ids.collect::<rusqlite::Result<_>>()?)
}

/// A state with some properties in place of others.
fn replaced(mut state: Properties, others: &Properties, by: Properties) -> Properties {
    for name in others.keys() {
        state.shift_remove(name);
    }
    state.extend(by);
    state
}
