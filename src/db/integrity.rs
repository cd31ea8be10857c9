//! SQLite's own check of every page and index while the file is in use, and a check of references. The
//! first reads one table at a time, each in a snapshot of its own, and stops where the log grows too much
//! meanwhile.

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
/// The most that the log may grow while a table is read: it cannot be started over meanwhile.
const LOG_MAX_BYTES: u64 = 64 << 20;
/// The time that the end of the server waits for a check to stop.
const END_MAX: Duration = Duration::from_secs(2);

/// The result of the last check.
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

    /// Returns the result of the last check.
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
            match self.read(&connection, &table) {
                Ok(found) => lines.extend(found),
                Err(cause) if is_interrupt(&cause) => {
                    if !self.ending.load(Relaxed) {
                        tracing::warn!(
                            "{table} could not be checked: too much is written meanwhile"
                        );
                    }
                    return Ok(None);
                }
                Err(cause) if is_damage(&cause) => lines.push(format!("{table}: {cause}")),
                Err(cause) => return Err(cause.into()),
            }
        }
        Ok(Some(lines))
    }

    fn read(&self, connection: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
        let log = beside(&self.path, "-wal");
        let size = move || std::fs::metadata(&log).map_or(0, |log| log.len());
        let (before, ending) = (size(), Arc::clone(&self.ending));
        let let_go = move || ending.load(Relaxed) || size() > before + LOG_MAX_BYTES;
        connection.progress_handler(10_000, Some(let_go))?;
        let name = table;
        let read = || {
            let table = table.replace('"', "\"\"");
            let mut statement =
                connection.prepare(&format!("PRAGMA integrity_check(\"{table}\")"))?;
            let lines = statement.query_map([], |row| row.get::<_, String>(0))?;
            let lines = lines.filter(|line| line.as_ref().map_or(true, |line| line != "ok"));
            let mut lines: Vec<_> = lines.take(LINES_MAX).collect::<rusqlite::Result<_>>()?;
            lines.extend(partial_indexes(connection, name)?);
            Ok(lines)
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

/// Partial indexes of a table that have more or fewer entries than there are rows for them. SQLite's own check counts
/// those of whole indexes only, and of partial ones finds none that is too many.
fn partial_indexes(connection: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare(
        "SELECT name, substr(sql, instr(sql, 'WHERE ')) FROM sqlite_schema
         WHERE type = 'index' AND sql LIKE '%WHERE %' AND tbl_name = ?1",
    )?;
    let indexes = statement.query_map([table], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let indexes: Vec<(String, String)> = indexes.collect::<rusqlite::Result<_>>()?;
    if indexes.is_empty() {
        return Ok(Vec::new());
    }
    let of_rows = indexes
        .iter()
        .map(|(_, fits)| format!("count(*) FILTER ({fits})"));
    let of_rows: Vec<_> = of_rows.collect();
    let sql = format!("SELECT {} FROM \"{table}\" NOT INDEXED", of_rows.join(", "));
    let mut of_rows = connection.prepare(&sql)?;
    let mut of_rows = of_rows.query([])?;
    let mut lines = Vec::new();
    if let Some(counts) = of_rows.next()? {
        for (at, (name, fits)) in indexes.iter().enumerate() {
            // SQLite takes each entry of the index for a row that fits.
            let sql = format!("SELECT count(*) FROM \"{table}\" INDEXED BY \"{name}\" {fits}");
            let entries: i64 = connection.query_row(&sql, [], |row| row.get(0))?;
            let rows: i64 = counts.get(at)?;
            if entries != rows {
                lines.push(format!(
                    "wrong # of entries in index {name}: {entries} for {rows} rows"
                ));
            }
        }
    }
    Ok(lines)
}

/// The same of all tables.
pub fn all_partial_indexes(connection: &Connection) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    for table in tables(connection)? {
        lines.extend(partial_indexes(connection, &table)?);
    }
    Ok(lines)
}

fn is_interrupt(cause: &rusqlite::Error) -> bool {
    cause.sqlite_error_code() == Some(ErrorCode::OperationInterrupted)
}

/// Returns whether a page could not even be read as one.
fn is_damage(cause: &rusqlite::Error) -> bool {
    matches!(
        cause.sqlite_error_code(),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::SystemIoFailure | ErrorCode::NotADatabase)
    )
}

/// References of one table to records of another that do not exist.
#[derive(Debug, PartialEq, Eq)]
pub struct Missing {
    /// The table whose rows name them.
    pub table: String,
    /// The table in which they are missing.
    pub of: String,
    /// The number of these references.
    pub count: i64,
    /// The first row that has one; `None` in a table whose rows have no number.
    pub first: Option<i64>,
}

/// Finds the references of a file to records that are missing: foreign keys, and the delegates and devices of
/// interactions, which `schema.sql` keeps otherwise. Looks at every row.
pub fn missing(connection: &Connection) -> Result<Vec<Missing>> {
    let mut references = vec![
        "SELECT \"table\", parent AS of, rowid AS \"row\" FROM pragma_foreign_key_check".to_owned(),
    ];
    for (participant, of) in [("delegate", "delegates"), ("device", "devices")] {
        for place in ["first", "second", "third"] {
            let named = format!("{place}_{participant}_id");
            references.push(format!(
                "SELECT 'interactions', '{of}', id FROM interactions
                 WHERE {named} IS NOT NULL AND NOT EXISTS (SELECT 1 FROM {of} AS o WHERE o.id = {named})"
            ));
        }
    }
    let mut statement = connection.prepare(&format!(
        "SELECT \"table\", of, count(*), min(\"row\") FROM ({}) GROUP BY 1, 2 ORDER BY 1, 2",
        references.join(" UNION ALL ")
    ))?;
    let rows = statement.query_map([], |row| {
        Ok(Missing {
            table: row.get(0)?,
            of: row.get(1)?,
            count: row.get(2)?,
            first: row.get(3)?,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::migrate;

    fn file() -> Connection {
        let file = Connection::open_in_memory().unwrap();
        migrate::create(&file).unwrap();
        file.execute_batch(
            "INSERT INTO delegates (id, public_id, sources, created_at, updated_at)
             VALUES (1, 'a', '[]', 0, 0), (2, 'b', '[]', 0, 0), (3, 'c', '[]', 0, 0), (4, 'd', '[]', 0, 0);
             INSERT INTO devices (id, code, public_id, sources, created_at, updated_at)
             VALUES (1, 'a', 'a', '[]', 0, 0), (2, 'b', 'b', '[]', 0, 0), (3, 'c', 'c', '[]', 0, 0), (4, 'd', 'd', '[]', 0, 0);
             INSERT INTO interactions (id, interaction_type, first_delegate_id, second_delegate_id,
                 third_delegate_id, first_device_id, second_device_id, third_device_id, recorded_at, created_at)
             VALUES (7, 'x', 1, 2, 3, 1, 2, 3, 0, 0), (8, 'x', NULL, NULL, NULL, 1, NULL, NULL, 0, 0);",
        )
        .unwrap();
        file
    }

    #[test]
    fn an_entry_too_many_or_too_few_in_a_partial_index_is_found() {
        assert_eq!(all_partial_indexes(&file()).unwrap(), [""; 0]);
        let folder = tempfile::tempdir().unwrap();
        for change in [
            "DELETE FROM interactions WHERE id = 8",
            "INSERT INTO interactions (interaction_type, first_device_id, recorded_at, created_at) VALUES ('x', 1, 0, 0)",
        ] {
            let path = folder.path().join(&change[..6]);
            file()
                .execute("VACUUM INTO ?1", [path.to_str().unwrap()])
                .unwrap();
            // What happens to the table does not reach the index, as where a page of one is older than that of the other.
            let behind_its_back = |sql: &str| {
                let connection = Connection::open(&path).unwrap();
                connection
                    .execute_batch(&format!("PRAGMA writable_schema = 1; {sql}"))
                    .unwrap();
            };
            behind_its_back(
                "CREATE TABLE kept AS SELECT * FROM sqlite_schema WHERE name = 'interactions_first_device'; DELETE FROM sqlite_schema WHERE name = 'interactions_first_device'",
            );
            behind_its_back(change);
            behind_its_back("INSERT INTO sqlite_schema SELECT * FROM kept");
            let connection = Connection::open(&path).unwrap();
            let rows = if change.starts_with("DELETE") { 1 } else { 3 };
            let expected =
                format!("wrong # of entries in index interactions_first_device: 2 for {rows} rows");
            assert_eq!(all_partial_indexes(&connection).unwrap(), [&*expected]);
        }
    }

    #[test]
    fn who_takes_part_in_an_interaction_cannot_be_deleted() {
        let file = file();
        for table in ["delegates", "devices"] {
            for id in 1..4 {
                let sql = format!("DELETE FROM {table} WHERE id = {id}");
                let refused = file.execute(&sql, []).unwrap_err().to_string();
                assert!(refused.contains("takes part"), "{sql}: {refused}");
            }
            let sql = format!("DELETE FROM {table} WHERE id = 4");
            assert_eq!(file.execute(&sql, []).unwrap(), 1);
        }
        assert_eq!(missing(&file).unwrap(), []);
    }

    #[test]
    fn every_place_that_names_nobody_is_found() {
        for (at, of) in [("delegate", "delegates"), ("device", "devices")] {
            for place in ["first", "second", "third"] {
                let file = file();
                let sql = format!("UPDATE interactions SET {place}_{at}_id = 99 WHERE id = 7");
                file.execute_batch(&sql).unwrap();
                let found = Missing {
                    table: "interactions".into(),
                    of: of.into(),
                    count: 1,
                    first: Some(7),
                };
                assert_eq!(missing(&file).unwrap(), [found], "{sql}");
            }
        }
    }

    #[test]
    fn a_place_for_nobody_misses_nobody_even_where_there_is_nobody() {
        let file = Connection::open_in_memory().unwrap();
        migrate::create(&file).unwrap();
        file.execute_batch(
            "INSERT INTO interactions (interaction_type, recorded_at, created_at) VALUES ('x', 0, 0)",
        )
        .unwrap();
        assert_eq!(missing(&file).unwrap(), []);
    }

    #[test]
    fn foreign_keys_are_looked_at_too() {
        let file = file();
        file.execute_batch(
            "PRAGMA foreign_keys = 0; UPDATE delegates SET parent_id = 99 WHERE id = 2",
        )
        .unwrap();
        let found = Missing {
            table: "delegates".into(),
            of: "delegates".into(),
            count: 1,
            first: Some(2),
        };
        assert_eq!(missing(&file).unwrap(), [found]);
    }
}
