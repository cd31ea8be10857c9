//! Runs a search, in bounded time.

use super::{Search, statement::Statement, statements};
use crate::types::error::{Error, Kind, Result};
use rusqlite::Connection;
use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

/// The longest time of a search (contract §5).
pub const SEARCH_MAX: Duration = Duration::from_secs(5);
/// Steps of SQLite's machine between two looks at the clock.
const STEPS: i32 = 10_000;

/// A page of what a search found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The ids on the page, ascending.
    pub ids: VecDeque<i64>,
    /// The number of matches in all.
    pub total: u64,
    /// The number of matches before the page.
    pub before: u64,
}

/// A part of what matches, by id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The matches after this id; 0 for the beginning.
    After(i64),
    /// The matches before this id, the nearest.
    Before(i64),
}

impl Search {
    /// The ids of a part of what matches, ascending, `limit` at the most: it looks no further, so
    /// that turning pages costs what is shown.
    pub fn part(&self, connection: &Connection, part: Part, limit: u64) -> Result<Vec<i64>> {
        let mut ids = Vec::new();
        self.run(connection, SEARCH_MAX, |statement| {
            statement.nearest(part, limit, |id| ids.push(id))
        })?;
        ids.sort_unstable();
        Ok(ids)
    }

    /// The ids of what matches after the first `offset`, ascending, `limit` at the most. It looks no
    /// further.
    pub fn slice(&self, connection: &Connection, offset: u64, limit: u64) -> Result<Vec<i64>> {
        let (mut passed_over, mut ids) = (0, Vec::new());
        self.run(connection, SEARCH_MAX, |statement| {
            let most = offset.saturating_add(limit);
            statement.nearest(Part::After(0), most, |id| {
                if passed_over < offset {
                    passed_over += 1;
                } else {
                    ids.push(id);
                }
            })
        })?;
        Ok(ids)
    }

    /// Counts the matches, as far as `most`.
    pub fn count(&self, connection: &Connection, most: u64) -> Result<u64> {
        let mut count = 0;
        self.run(connection, SEARCH_MAX, |statement| {
            count = statement.count(most)?;
            Ok(())
        })?;
        Ok(count.unsigned_abs())
    }

    /// The ids of a part of what matches, or without one of those after the first `offset`; `limit` at
    /// the most.
    ///
    /// # Errors
    /// [`Kind::Unavailable`] when it takes longer than 5 s; [`Kind::InvalidSearch`] for a statement
    /// that there is not.
    pub fn page(
        &self,
        connection: &Connection,
        part: Option<Part>,
        offset: u64,
        limit: u64,
    ) -> Result<Found> {
        let mut found = Found {
            ids: VecDeque::new(),
            total: 0,
            before: 0,
        };
        self.each(connection, SEARCH_MAX, |id| {
            let is_full = found.ids.len() as u64 >= limit;
            match part {
                Some(Part::Before(end)) if id < end => {
                    found.ids.push_back(id);
                    if is_full {
                        found.ids.pop_front();
                        found.before += 1;
                    }
                }
                Some(Part::After(after)) if id <= after => found.before += 1,
                None if found.before < offset => found.before += 1,
                Some(Part::After(_)) | None if !is_full => found.ids.push_back(id),
                _ => {}
            }
            found.total += 1;
        })?;
        Ok(found)
    }

    /// The ids of all that matches, ascending, such as for an export.
    pub fn ids(&self, connection: &Connection, most: Duration) -> Result<Vec<i64>> {
        let mut ids = Vec::new();
        self.each(connection, most, |id| ids.push(id))?;
        Ok(ids)
    }

    fn each(&self, connection: &Connection, most: Duration, take: impl FnMut(i64)) -> Result<()> {
        self.run(connection, most, |statement| statement.each(take))
    }

    /// Has `work` run the search's statement, in bounded time.
    pub(super) fn run(
        &self,
        connection: &Connection,
        most: Duration,
        work: impl FnOnce(Statement<'_>) -> rusqlite::Result<()>,
    ) -> Result<()> {
        let statements = statements::named(&self.expr);
        statements::offer(connection, self.subject.name, &statements, most)?;
        let done = within(connection, most, || {
            work(Statement::of(connection, self.subject, &self.expr)?)
        });
        statements::withdraw(connection, &statements);
        done
    }
}

/// Runs `work` and interrupts its statements once `most` is over.
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
                format!("took longer than {} s; narrow it down", most.as_secs()),
            )
            .at("search"),
            (None, _) => cause.into(),
        }
    })
}
