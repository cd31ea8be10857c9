//! SQLite's own check of every page and index, while the file is in use. It reads one table at a time,
//! each in a snapshot of its own, and lets go where the log grows too much meanwhile.

use super::{connection, open::beside};
use crate::types::{Timestamp, error::Result};
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::{
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError, TryLockError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

/// Lines of one table that are kept.
const LINES_MAX: usize = 5;
/// How much the log may grow while a table is read: it cannot be started over meanwhile.
const LOG_MAX_BYTES: u64 = 64 << 20;
/// How often a table is tried again, and how long after.
const TRIES_MAX: u32 = 10;
const TRY_AGAIN: Duration = Duration::from_secs(20);
/// How long the end of the server waits for a check to stop.
const END_MAX: Duration = Duration::from_secs(2);

/// What the last check found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Condition {
    /// No check was finished since the start.
    #[default]
    Unchecked,
    /// Every table and index was sound then.
    Sound(Timestamp),
    /// Something was damaged then, in SQLite's words.
    Damaged(Timestamp, Vec<String>),
}

/// Checks a file that is in use.
#[derive(Debug)]
pub struct Integrity {
    path: PathBuf,
    condition: Mutex<Condition>,
    /// Held while a check runs.
    running: Mutex<()>,
    ending: Arc<AtomicBool>,
}

impl Integrity {
    pub(super) fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            condition: Mutex::default(),
            running: Mutex::default(),
            ending: Arc::default(),
        }
    }

    /// What the last check found.
    pub fn condition(&self) -> Condition {
        let condition = self.condition.lock();
        condition.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Checks everything, on a thread that may take its time. Damage goes to the log.
    pub fn check(&self) -> Result<()> {
        let _running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(lines) = self.read_all()? else {
            return Ok(());
        };
        let now = Timestamp::now();
        let condition = if lines.is_empty() {
            Condition::Sound(now)
        } else {
            let damage = lines.join("; ");
            tracing::error!(
                "the database file is damaged: {damage}; run `gatepost check`, and restore the last sound backup"
            );
            Condition::Damaged(now, lines)
        };
        *self
            .condition
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = condition;
        Ok(())
    }

    /// Ends a check that runs; none begins afterwards.
    pub fn end(&self) {
        self.ending.store(true, Relaxed);
        let begun = Instant::now();
        while matches!(self.running.try_lock(), Err(TryLockError::WouldBlock))
            && begun.elapsed() < END_MAX
        {
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Everything that is wrong; `None` where the check was not finished.
    fn read_all(&self) -> Result<Option<Vec<String>>> {
        if self.ending.load(Relaxed) {
            return Ok(None);
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.path, flags)?;
        connection::prepare_reader(&connection)?;
        let mut lines = Vec::new();
        for table in tables(&connection)? {
            match self.read_patiently(&connection, &table) {
                Ok(Some(found)) => lines.extend(found),
                Ok(None) => return Ok(None),
                Err(cause) if is_damage(&cause) => lines.push(format!("{table}: {cause}")),
                Err(cause) => return Err(cause.into()),
            }
        }
        Ok(Some(lines))
    }

    /// Reads a table, again if it was let go; `None` at the end.
    fn read_patiently(
        &self,
        connection: &Connection,
        table: &str,
    ) -> rusqlite::Result<Option<Vec<String>>> {
        let mut tries = 0;
        loop {
            match self.read(connection, table) {
                Err(cause) if is_interrupt(&cause) => {
                    tries += 1;
                    if self.ending.load(Relaxed) || !self.rest() {
                        return Ok(None);
                    }
                    if tries == TRIES_MAX {
                        tracing::warn!(
                            "{table} could not be checked: too much is written meanwhile"
                        );
                        return Ok(None);
                    }
                }
                read => return read.map(Some),
            }
        }
    }

    /// Waits before the next try; false at the end.
    fn rest(&self) -> bool {
        let begun = Instant::now();
        while begun.elapsed() < TRY_AGAIN {
            if self.ending.load(Relaxed) {
                return false;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        true
    }

    fn read(&self, connection: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
        let log = beside(&self.path, "-wal");
        let size = move || std::fs::metadata(&log).map_or(0, |log| log.len());
        let (before, ending) = (size(), Arc::clone(&self.ending));
        let let_go = move || ending.load(Relaxed) || size() > before + LOG_MAX_BYTES;
        connection.progress_handler(10_000, Some(let_go))?;
        let read = || {
            let table = table.replace('"', "\"\"");
            let mut statement =
                connection.prepare(&format!("PRAGMA integrity_check(\"{table}\")"))?;
            let lines = statement.query_map([], |row| row.get::<_, String>(0))?;
            let lines = lines.filter(|line| line.as_ref().map_or(true, |line| line != "ok"));
            lines.take(LINES_MAX).collect()
        };
        let lines = read();
        connection.progress_handler(0, None::<fn() -> bool>)?;
        lines
    }
}

/// Every table, the list of them first: that checks the list of free pages, too.
fn tables(connection: &Connection) -> Result<Vec<String>> {
    let mut statement = connection.prepare(
        "SELECT 'sqlite_schema' UNION ALL SELECT name FROM sqlite_schema WHERE type = 'table'",
    )?;
    let names = statement.query_map([], |row| row.get(0))?;
    Ok(names.collect::<rusqlite::Result<_>>()?)
}

fn is_interrupt(cause: &rusqlite::Error) -> bool {
    cause.sqlite_error_code() == Some(ErrorCode::OperationInterrupted)
}

/// Whether a page could not even be read as one.
fn is_damage(cause: &rusqlite::Error) -> bool {
    matches!(
        cause.sqlite_error_code(),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::SystemIoFailure | ErrorCode::NotADatabase)
    )
}
