//! Changes that one request or one import made together, each told once.

use super::find::{Entry, Filter, SELECT, conditions, entry, page, parameters};
use crate::types::{Timestamp, error::Result};
use rusqlite::{Connection, OptionalExtension, named_params};
use std::time::{Duration, Instant};

/// So many are told one by one.
const FEW: i64 = 3;
/// Changes of a run that are told.
const TOLD_MAX: usize = 20;
/// The longest time that a page may be looked for.
const PAGE_MAX: Duration = Duration::from_millis(300);

/// Changes that were made together, one after the other.
#[derive(Debug, Default)]
pub struct Run {
    /// The newest of them, the newest first.
    pub entries: Vec<Entry>,
    /// The number of all.
    pub count: i64,
    /// The change that says what it was: an import, or something done to many.
    pub batch: Option<Entry>,
    /// The id of the oldest.
    lowest: i64,
}

/// Some runs, and how far was looked.
#[derive(Debug, Default)]
pub struct Runs {
    pub runs: Vec<Run>,
    /// The id below which the search goes on. `None`: there are no more.
    pub below: Option<i64>,
    /// The moment down to which was looked, where time ran out before the page was full.
    pub searched_to: Option<Timestamp>,
}

impl Run {
    fn new(entry: Entry) -> Self {
        Self {
            count: 1,
            lowest: entry.id,
            batch: None,
            entries: vec![entry],
        }
    }

    fn has(&self, entry: &Entry) -> bool {
        let same = |known: &Entry| {
            known.actor == entry.actor
                && known.request_id == entry.request_id
                && (known.request_id.is_some() || known.actor.starts_with("import:"))
        };
        self.entries.first().is_some_and(same)
    }

    fn push(&mut self, entry: Entry) {
        self.count += 1;
        self.lowest = entry.id;
        if self.entries.len() < TOLD_MAX {
            self.entries.push(entry);
        }
    }

    /// Returns whether these are so many that they are told as one.
    pub fn is_long(&self) -> bool {
        self.count > FEW
    }

    /// Goes to the end of the run without reading what is in it.
    fn skip(&mut self, connection: &Connection, filter: &Filter) -> Result<()> {
        let Some(first) = self.entries.first() else {
            return Ok(());
        };
        let before: i64 = connection
            .prepare_cached(
                "SELECT id FROM audit WHERE id < :below AND NOT (actor = :actor AND request_id IS :request)
                 ORDER BY id DESC LIMIT 1",
            )?
            .query_row(
                named_params! {":below": self.lowest, ":actor": first.actor, ":request": first.request_id},
                |row| row.get(0),
            )
            .optional()?
            .unwrap_or(0);
        let sql = format!("SELECT count(*) FROM audit WHERE {}", conditions(filter));
        let mut statement = connection.prepare_cached(&sql)?;
        let more: i64 = parameters(filter, (before + 1, self.lowest - 1), |all| {
            statement.query_row(all, |row| row.get(0))
        })?;
        self.count += more;
        self.lowest = before + 1;
        Ok(())
    }

    fn find_batch(&mut self, connection: &Connection) -> Result<()> {
        let Some(newest) = self.entries.first().filter(|_| self.is_long()) else {
            return Ok(());
        };
        let sql = format!("{SELECT} WHERE id BETWEEN ?1 AND ?2 AND +record_type = 'batch' LIMIT 1");
        let batch = connection
            .prepare_cached(&sql)?
            .query_row((self.lowest, newest.id), entry)
            .optional()?;
        self.batch = batch;
        Ok(())
    }
}

/// The newest runs below an id, `limit` at the most.
pub fn runs(
    connection: &Connection,
    filter: &Filter,
    below: Option<i64>,
    limit: usize,
) -> Result<Runs> {
    let begun = Instant::now();
    let mut below = below;
    let mut runs: Vec<Run> = Vec::new();
    let searched_to = loop {
        let found = page(connection, filter, below, limit)?;
        for entry in found.entries {
            let is_full = runs.len() >= limit;
            match runs.last_mut() {
                Some(run) if run.has(&entry) => run.push(entry),
                Some(run) if is_full => {
                    let lowest = Some(run.lowest);
                    return completed(connection, runs, lowest, None);
                }
                _ => runs.push(Run::new(entry)),
            }
        }
        below = found.below;
        if below.is_none() || found.searched_to.is_some() {
            break found.searched_to;
        }
        if let Some(run) = runs.last_mut()
            && run.count > FEW
        {
            run.skip(connection, filter)?;
            below = Some(run.lowest);
        }
        if runs.len() >= limit || begun.elapsed() > PAGE_MAX {
            break None;
        }
    };
    completed(connection, runs, below, searched_to)
}

fn completed(
    connection: &Connection,
    mut runs: Vec<Run>,
    below: Option<i64>,
    searched_to: Option<Timestamp>,
) -> Result<Runs> {
    for run in &mut runs {
        run.find_batch(connection)?;
    }
    Ok(Runs {
        runs,
        below,
        searched_to,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::{connection::prepare, migrate};

    fn file(rows: &str) -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        prepare(&connection).unwrap();
        migrate::create(&connection).unwrap();
        connection.execute_batch(rows).unwrap();
        connection
    }

    #[test]
    fn what_one_import_did_is_one_run_however_long_it_is() {
        let connection = file(
            "INSERT INTO audit (at, actor, action, record_type, record_id) VALUES (1, 'cli', 'create', 'delegate', 1);
             INSERT INTO audit (at, actor, request_id, action, record_type, record_id, after)
                 VALUES (2, 'user:7', 'r1', 'import', 'batch', 3, '{\"fileName\": \"list.csv\"}');
             INSERT INTO audit (at, actor, request_id, action, record_type, record_id)
                 WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
                 SELECT 3, 'user:7', 'r1', 'update', 'delegate', i FROM n;
             INSERT INTO audit (at, actor, request_id, action, record_type, record_id)
                 VALUES (4, 'user:7', 'r2', 'update', 'delegate', 1), (4, 'user:7', 'r2', 'update', 'user', 1),
                        (5, 'client:a', NULL, 'update', 'delegate', 1), (5, 'client:a', NULL, 'update', 'delegate', 2);",
        );
        let told = |filter: &Filter, limit, below| {
            let found = runs(&connection, filter, below, limit).unwrap();
            let counts: Vec<i64> = found.runs.iter().map(|run| run.count).collect();
            (counts, found.below)
        };
        let all = Filter::default();
        assert_eq!(told(&all, 50, None), (vec![1, 1, 2, 501, 1], None));
        // A page ends behind a run, and the next one begins there.
        assert_eq!(told(&all, 4, None), (vec![1, 1, 2, 501], Some(2)));
        assert_eq!(told(&all, 4, Some(2)), (vec![1], None));
        let found = runs(&connection, &all, None, 50).unwrap();
        let batch = found.runs[3].batch.as_ref().unwrap();
        assert_eq!(
            (batch.record_id, found.runs[3].entries.len()),
            (Some(3), 20)
        );
        assert!(found.runs[2].batch.is_none() && !found.runs[2].is_long());
        // Of what is asked for alone.
        let users = Filter {
            record_type: Some("delegate".to_owned()),
            ..Filter::default()
        };
        assert_eq!(told(&users, 50, None), (vec![1, 1, 1, 500, 1], None));
    }
}
