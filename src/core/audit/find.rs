//! Finding changes among millions: by record through the index, otherwise backwards through slices
//! of ids for a bounded time. A time range is turned into ids first, by halving.

use crate::types::{Timestamp, error::Result};
use rusqlite::{Connection, OptionalExtension, Row, ToSql, named_params};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Ids looked at by one statement.
const SLICE: i64 = 5_000;
/// The longest time that a page may be looked for.
const PAGE_MAX: Duration = Duration::from_millis(100);
/// Ids beyond a time range that are looked at: a clock that was set back by a little puts rows there.
const MARGIN: i64 = 1_000;

/// Actions that nearly every kind of record knows.
pub const USUAL_ACTIONS: [&str; 5] = ["create", "update", "delete", "restore", "revoke"];

/// The actors to look for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Actors {
    /// Actors as the audit names them.
    pub names: Vec<String>,
    /// Imports, whatever their file.
    pub imports: bool,
}

/// The changes that are asked for; without anything all of them.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    pub who: Option<Actors>,
    /// The type of the record.
    pub record_type: Option<String>,
    /// The id of the record.
    pub record_id: Option<i64>,
    /// The action, such as `create`.
    pub action: Option<String>,
    /// The first moment.
    pub from: Option<Timestamp>,
    /// The moment after the last.
    pub to: Option<Timestamp>,
}

/// A change as it stands in the file.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Its id: grows in the order of commits.
    pub id: i64,
    pub at: Timestamp,
    /// The actor: `user:7`, `client:gate-b`, `cli`, `import:list.csv`.
    pub actor: String,
    /// The request's id.
    pub request_id: Option<String>,
    pub action: String,
    /// The type of the record.
    pub record_type: String,
    /// The id of the record.
    pub record_id: Option<i64>,
    /// The record before the change.
    pub before: Option<Value>,
    /// The record after it.
    pub after: Option<Value>,
}

/// Some changes, and how far was looked.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Page {
    /// The changes, the newest first.
    pub entries: Vec<Entry>,
    /// The id below which the search goes on. `None`: there are no more.
    pub below: Option<i64>,
    /// The moment down to which was looked, where time ran out before the page was full.
    pub searched_to: Option<Timestamp>,
}

/// The newest changes below an id, `limit` at the most.
pub fn page(
    connection: &Connection,
    filter: &Filter,
    below: Option<i64>,
    limit: usize,
) -> Result<Page> {
    if filter.is_of_nobody() {
        return Ok(Page::default());
    }
    let (first, last) = ids(connection, filter)?;
    let mut high = below.map_or(last, |below| last.min(below.saturating_sub(1)));
    let begun = Instant::now();
    let mut entries: Vec<Entry> = Vec::new();
    while high >= first {
        // One more than asked for tells whether there are more.
        let wanted = limit + 1 - entries.len();
        let low = if filter.is_of_record() {
            first
        } else {
            first.max(high - SLICE + 1)
        };
        entries.extend(slice(
            connection,
            filter,
            (low, high),
            Order::NewestFirst,
            wanted,
        )?);
        if entries.len() > limit {
            entries.truncate(limit);
            return Ok(Page {
                below: entries.last().map(|entry| entry.id),
                entries,
                searched_to: None,
            });
        }
        high = low - 1;
        if high >= first && begun.elapsed() > PAGE_MAX {
            return Ok(Page {
                entries,
                below: Some(low),
                searched_to: at_or_after(connection, low)?.map(|(_, at)| at),
            });
        }
    }
    Ok(Page {
        entries,
        below: None,
        searched_to: None,
    })
}

/// A walk through all that a filter finds, from the oldest to the newest that is there when it
/// begins; in slices, so that no reader is held for long.
#[derive(Debug)]
pub struct Walk {
    filter: Filter,
    next: i64,
    last: i64,
}

impl Walk {
    /// Begins a walk.
    pub fn begin(connection: &Connection, filter: Filter) -> Result<Self> {
        let (next, last) = if filter.is_of_nobody() {
            (1, 0)
        } else {
            ids(connection, &filter)?
        };
        Ok(Self { filter, next, last })
    }

    /// The next changes, `limit` at the most; `None` at the end. There may be none in a slice.
    pub fn next(&mut self, connection: &Connection, limit: usize) -> Result<Option<Vec<Entry>>> {
        if self.next > self.last {
            return Ok(None);
        }
        let high = self.last.min(self.next + SLICE - 1);
        let found = slice(
            connection,
            &self.filter,
            (self.next, high),
            Order::OldestFirst,
            limit,
        )?;
        self.next = match found.last() {
            Some(entry) if found.len() == limit => entry.id + 1,
            _ => high + 1,
        };
        Ok(Some(found))
    }
}

impl Filter {
    /// Returns whether actors are asked for, and none is meant.
    fn is_of_nobody(&self) -> bool {
        let nobody = |who: &Actors| who.names.is_empty() && !who.imports;
        self.who.as_ref().is_some_and(nobody)
    }

    fn is_of_record(&self) -> bool {
        self.record_type.is_some() && self.record_id.is_some()
    }
}

/// The first and the last id that can be in the filter's time range; the first is above the last
/// where there are none.
fn ids(connection: &Connection, filter: &Filter) -> Result<(i64, i64)> {
    let (low, high): (i64, i64) = connection
        .prepare_cached(
            "SELECT coalesce((SELECT min(id) FROM audit), 1), coalesce((SELECT max(id) FROM audit), 0)",
        )?
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let first = match filter.from {
        Some(from) => low.max(first_since(connection, from, low, high)? - MARGIN),
        None => low,
    };
    let last = match filter.to {
        Some(to) => high.min(first_since(connection, to, low, high)? + MARGIN),
        None => high,
    };
    Ok((first, last))
}

/// The first id at or after a moment, above `high` where there is none; as far as the clock went on.
fn first_since(connection: &Connection, since: Timestamp, low: i64, high: i64) -> Result<i64> {
    let (mut low, mut high) = (low, high + 1);
    while low < high {
        let middle = low + (high - low) / 2;
        match at_or_after(connection, middle)? {
            Some((id, at)) if at < since => low = id + 1,
            _ => high = middle,
        }
    }
    Ok(low)
}

/// The first change with this id or a higher one, and when it was: people who are erased leave gaps.
fn at_or_after(connection: &Connection, id: i64) -> Result<Option<(i64, Timestamp)>> {
    Ok(connection
        .prepare_cached("SELECT id, at FROM audit WHERE id >= ?1 ORDER BY id LIMIT 1")?
        .query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?)
}

/// The types of records that there are changes of, each found by one step in the index.
pub fn types(connection: &Connection) -> Result<Vec<String>> {
    let mut statement = connection.prepare_cached(
        "WITH RECURSIVE types (name) AS (
             SELECT min(record_type) FROM audit
             UNION ALL SELECT (SELECT min(record_type) FROM audit WHERE record_type > name) FROM types WHERE name IS NOT NULL)
         SELECT name FROM types WHERE name IS NOT NULL",
    )?;
    let types = statement.query_map([], |row| row.get(0))?;
    Ok(types.collect::<rusqlite::Result<_>>()?)
}

/// The newest changes whose actions are offered to filter by.
const OFFERED_FROM: i64 = 2_000;

/// Lists the actions of the newest changes.
pub fn recent_actions(connection: &Connection) -> Result<Vec<String>> {
    let mut statement = connection.prepare_cached(
        "SELECT DISTINCT action FROM audit WHERE id > (SELECT max(id) FROM audit) - ?1",
    )?;
    let actions = statement.query_map([OFFERED_FROM], |row| row.get(0))?;
    Ok(actions.collect::<rusqlite::Result<_>>()?)
}

#[derive(Debug, Clone, Copy)]
enum Order {
    NewestFirst,
    OldestFirst,
}

/// Lists the changes of an id range that the filter asks for.
fn slice(
    connection: &Connection,
    filter: &Filter,
    (low, high): (i64, i64),
    order: Order,
    limit: usize,
) -> Result<Vec<Entry>> {
    let mut statement = connection.prepare_cached(&sql(filter, order, limit))?;
    parameters(filter, (low, high), |all| {
        let entries = statement.query_map(all, entry)?;
        entries.collect::<rusqlite::Result<_>>()
    })
}

/// Runs something with the parameters of [`conditions`].
pub(super) fn parameters<T>(
    filter: &Filter,
    (low, high): (i64, i64),
    run: impl FnOnce(&[(&str, &dyn ToSql)]) -> rusqlite::Result<T>,
) -> Result<T> {
    let who = filter.who.as_ref();
    Ok(run(named_params! {
        ":low": low, ":high": high, ":type": filter.record_type, ":record": filter.record_id,
        ":action": filter.action, ":from": filter.from, ":to": filter.to,
        ":who": who.map(|who| json!(who.names).to_string()),
        ":imports": who.is_some_and(|who| who.imports),
    })?)
}

/// The statement of a slice. It uses the index of a record's changes, and by type alone none: all of
/// that type would have to be sorted.
fn sql(filter: &Filter, order: Order, limit: usize) -> String {
    let order = match order {
        Order::NewestFirst => "DESC",
        Order::OldestFirst => "ASC",
    };
    let conditions = conditions(filter);
    format!("{SELECT} WHERE {conditions} ORDER BY id {order} LIMIT {limit}")
}

/// What changes of an id range a filter asks for.
pub(super) fn conditions(filter: &Filter) -> String {
    let record = if filter.is_of_record() {
        "record_type = :type AND record_id = :record"
    } else {
        "(:type IS NULL OR +record_type = :type) AND (:record IS NULL OR +record_id = :record)"
    };
    format!(
        "id BETWEEN :low AND :high AND {record}
           AND (:action IS NULL OR action = :action)
           AND (:from IS NULL OR at >= :from) AND (:to IS NULL OR at < :to)
           AND (:who IS NULL OR actor IN (SELECT value FROM json_each(:who)) OR (:imports AND actor GLOB 'import:*'))"
    )
}

/// The beginning of a statement of which [`entry`] reads the rows.
pub(super) const SELECT: &str =
    "SELECT id, at, actor, request_id, action, record_type, record_id, before, after FROM audit";

pub(super) fn entry(row: &Row<'_>) -> rusqlite::Result<Entry> {
    let json = |text: Option<String>| text.and_then(|text| serde_json::from_str(&text).ok());
    Ok(Entry {
        id: row.get(0)?,
        at: row.get(1)?,
        actor: row.get(2)?,
        request_id: row.get(3)?,
        action: row.get(4)?,
        record_type: row.get(5)?,
        record_id: row.get(6)?,
        before: json(row.get(7)?),
        after: json(row.get(8)?),
    })
}

#[cfg(test)]
mod tests;
