//! Runs a search, in bounded time.

use super::{
    Search,
    compile::{Condition, compile},
    statements,
};
use crate::error::{Error, Kind, Result};
use rusqlite::{Connection, params_from_iter};
use std::time::{Duration, Instant};

/// How long a search may take (contract §5).
pub const SEARCH_MAX: Duration = Duration::from_secs(5);
/// Steps of SQLite's machine between two looks at the clock.
const STEPS: i32 = 10_000;

/// A page of what a search found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The ids on the page, ascending.
    pub ids: Vec<i64>,
    /// How many there are in all.
    pub total: u64,
}

/// A part of what matches, by id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// What comes after this id; 0 for the beginning.
    After(i64),
    /// What comes before this id, the nearest.
    Before(i64),
}

impl Search {
    /// The ids of a part of what matches, ascending, `limit` at the most: it looks no further, so
    /// that turning pages costs what is shown.
    ///
    /// # Errors
    /// As [`Search::page`].
    pub fn part(&self, connection: &Connection, part: Part, limit: u64) -> Result<Vec<i64>> {
        let (bound, order) = match part {
            Part::After(id) => (format!("id > {id}"), "ASC"),
            Part::Before(id) => (format!("id < {id}"), "DESC"),
        };
        let mut ids = Vec::new();
        self.run(
            connection,
            SEARCH_MAX,
            |table, condition| {
                format!("SELECT id FROM {table} WHERE {bound} AND {condition} ORDER BY id {order} LIMIT {limit}")
            },
            |id| ids.push(id),
        )?;
        ids.sort_unstable();
        Ok(ids)
    }

    /// How many match, as far as `most`.
    ///
    /// # Errors
    /// As [`Search::page`].
    pub fn count(&self, connection: &Connection, most: u64) -> Result<u64> {
        let mut count = 0;
        self.run(
            connection,
            SEARCH_MAX,
            |table, condition| {
                format!(
                    "SELECT count(*) FROM (SELECT 1 FROM {table} WHERE {condition} LIMIT {most})"
                )
            },
            |found| count = found,
        )?;
        Ok(count.unsigned_abs())
    }

    /// The ids of what matches: those after the first `offset`, `limit` at the most.
    ///
    /// # Errors
    /// [`Kind::Unavailable`] when it takes longer than 5 s; [`Kind::InvalidSearch`] for a statement
    /// that there is not.
    pub fn page(&self, connection: &Connection, offset: u64, limit: u64) -> Result<Found> {
        let mut found = Found {
            ids: Vec::new(),
            total: 0,
        };
        self.each(connection, SEARCH_MAX, |id| {
            if found.total >= offset && (found.ids.len() as u64) < limit {
                found.ids.push(id);
            }
            found.total += 1;
        })?;
        Ok(found)
    }

    /// The ids of all that matches, ascending, such as for an export.
    ///
    /// # Errors
    /// As [`Search::page`], but for the time it may take.
    pub fn ids(&self, connection: &Connection, most: Duration) -> Result<Vec<i64>> {
        let mut ids = Vec::new();
        self.each(connection, most, |id| ids.push(id))?;
        Ok(ids)
    }

    fn each(&self, connection: &Connection, most: Duration, take: impl FnMut(i64)) -> Result<()> {
        self.run(
            connection,
            most,
            |table, condition| format!("SELECT id FROM {table} WHERE {condition} ORDER BY id"),
            take,
        )
    }

    /// Runs the statement that `frame` makes of the table and the condition, and gives the whole
    /// number of each of its rows.
    fn run(
        &self,
        connection: &Connection,
        most: Duration,
        frame: impl FnOnce(&str, &str) -> String,
        mut take: impl FnMut(i64),
    ) -> Result<()> {
        let statements = statements::named(&self.expr);
        statements::offer(connection, self.subject.name, &statements, most)?;
        let Condition { sql, parameters } = compile(self.subject, &self.expr);
        let condition = format!("{} AND ({sql})", self.subject.alive);
        let sql = frame(self.subject.table, &condition);
        let done = within(connection, most, || {
            // Not kept prepared: searches differ, and would push out what does not.
            let mut statement = connection.prepare(&sql)?;
            let mut rows = statement.query(params_from_iter(parameters))?;
            while let Some(row) = rows.next()? {
                take(row.get(0)?);
            }
            Ok(())
        });
        statements::withdraw(connection, &statements);
        done
    }
}

/// Runs `work` and interrupts its statements once `most` is over.
///
/// # Errors
/// What `work` fails with; [`Kind::Unavailable`] when it was interrupted.
fn within<T>(
    connection: &Connection,
    most: Duration,
    work: impl FnOnce() -> rusqlite::Result<T>,
) -> Result<T> {
    struct Watched<'a>(&'a Connection);

    impl Drop for Watched<'_> {
        fn drop(&mut self) {
            let _ = self.0.progress_handler(0, None::<fn() -> bool>);
        }
    }

    let end = Instant::now() + most;
    connection.progress_handler(STEPS, Some(move || Instant::now() > end))?;
    let _watched = Watched(connection);
    work().map_err(|cause| {
        let fault = match cause.sqlite_error_code() {
            Some(rusqlite::ErrorCode::OperationInterrupted) => Some(Kind::Unavailable),
            _ => statements::fault_of(&cause),
        };
        match (fault, &cause) {
            (Some(Kind::InvalidSearch), rusqlite::Error::SqliteFailure(_, Some(told))) => {
                Error::new(Kind::InvalidSearch, told.clone())
            }
            (Some(_), _) => Error::new(
                Kind::Unavailable,
                format!(
                    "search: took longer than {} s; narrow it down",
                    most.as_secs()
                ),
            ),
            (None, _) => cause.into(),
        }
    })
}
