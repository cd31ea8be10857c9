//! The pragmas of every connection, in one place, each with its reason.

use super::Durability;
use crate::types::{
    error::{Error, Result},
    text::contains_folded,
};
use rusqlite::{Connection, config::DbConfig, functions::FunctionFlags};
use std::time::Duration;

/// The interval at which a lock of another process is asked for, and the number of times: for 5 s.
const BUSY_ASK: Duration = Duration::from_micros(500);
const BUSY_MAX: i32 = 10_000;

/// Sets a connection up, whatever it is for.
pub fn prepare(connection: &Connection) -> Result<()> {
    wait_for_others(connection)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // Functions and virtual tables are never called from inside a schema that came with a file.
    connection.pragma_update(None, "trusted_schema", false)?;
    // Sorting a list must not write to a disk that may be full.
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.set_prepared_statement_cache_capacity(128);
    offer_text_functions(connection)
}

/// Makes a connection wait for locks of other processes.
pub fn wait_for_others(connection: &Connection) -> Result<()> {
    // Another process (import, config apply) may hold the lock; it does so for 50 ms at most.
    // SQLite's own timeout would ask again ever more rarely, and a gate would wait for that.
    connection.busy_handler(Some(|asked| {
        std::thread::sleep(BUSY_ASK);
        asked < BUSY_MAX
    }))?;
    Ok(())
}

/// `text_contains(text, part)`: whether a text contains another whatever the case, of any script;
/// the part comes folded (see [`crate::types::text::fold`]). SQLite's own LIKE knows ASCII only.
fn offer_text_functions(connection: &Connection) -> Result<()> {
    connection.create_scalar_function(
        "text_contains",
        2,
        FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC,
        |call| {
            let text = |at| call.get_raw(at).as_str_or_null();
            Ok(match (text(0)?, text(1)?) {
                (Some(text), Some(part)) => Some(contains_folded(text, part)),
                _ => None,
            })
        },
    )?;
    Ok(offer_text_folded(connection)?)
}

/// `text_folded(text)`: the text as it is sorted, without case and accents.
pub(super) fn offer_text_folded(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_scalar_function("text_folded", 1, flags, |call| {
        let text = call.get_raw(0).as_str_or_null()?;
        Ok(text.map(crate::types::fold::fold))
    })
}

/// Sets a reading connection up.
pub fn prepare_reader(connection: &Connection) -> Result<()> {
    prepare(connection)?;
    connection.pragma_update(None, "query_only", true)?;
    // 4 MiB each: the pages are in the operating system's cache anyway.
    connection.pragma_update(None, "cache_size", -4096)?;
    Ok(())
}

/// Sets up a reading connection for a few records by an index.
pub fn prepare_look_ups(connection: &Connection) -> Result<()> {
    prepare_reader(connection)?;
    keep_plans(connection)
}

/// Makes a statement keep the plan that it was prepared with. Otherwise one that may use a partial index
/// (`WHERE effect = 4`) only for some value of a parameter is prepared anew each time it is run. So here a
/// statement that needs such an index writes the value out. Lists choose by what is asked for.
fn keep_plans(connection: &Connection) -> Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}

/// Returns whether the file keeps a write-ahead log.
pub fn keeps_log(connection: &Connection) -> Result<bool> {
    let mode: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    Ok(mode == "wal")
}

/// Turns on the write-ahead log, without which readers and the writer wait for each other. A
/// file remembers it; one whose making was interrupted, or that came back from a backup, does not.
pub fn keep_log(connection: &Connection) -> Result<()> {
    let mode: String =
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
    if mode == "wal" {
        Ok(())
    } else {
        Err(Error::invalid(
            "the database file cannot keep a write-ahead log here; put it on a local disk",
        ))
    }
}

/// Sets the writing connection up.
pub fn prepare_writer(connection: &Connection, durability: Durability) -> Result<()> {
    prepare(connection)?;
    keep_plans(connection)?;
    // Checkpoints are the checkpointer's: one inside a commit would make a gate wait for it.
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    // FULL syncs the log at every commit: an acknowledged write survives power loss.
    let synchronous = match durability {
        Durability::Full => "FULL",
        Durability::Normal => "NORMAL",
    };
    connection.pragma_update(None, "synchronous", synchronous)?;
    // On macOS a plain sync leaves the data in the disk's own cache. Elsewhere this does nothing.
    connection.pragma_update(None, "fullfsync", durability == Durability::Full)?;
    // 8 MiB: what is above the leaves of a large file, and the leaves that one event is at. More is
    // slower: SQLite walks the whole cache at each commit that had moved pages (balancing a tree makes
    // it believe that pages past the file's end are cached).
    connection.pragma_update(None, "cache_size", -8_192)?;
    // Deleted content is overwritten (contract §8, erasure).
    connection.pragma_update(None, "secure_delete", true)?;
    Ok(())
}

/// Counts the steps of SQLite's machine that some work takes: its cost, on whatever machine.
///
/// # Panics
/// When SQLite cannot count them.
#[cfg(test)]
pub fn steps_of<T>(connection: &Connection, work: impl FnOnce() -> T) -> u64 {
    use std::sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    };
    let steps = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&steps);
    let count = move || {
        counted.fetch_add(1, Ordering::Relaxed);
        false
    };
    connection.progress_handler(1, Some(count)).unwrap();
    work();
    connection
        .progress_handler(0, None::<fn() -> bool>)
        .unwrap();
    steps.load(Ordering::Relaxed)
}
