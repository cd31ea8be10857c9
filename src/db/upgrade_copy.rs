//! The copy of an older file that is made before its schema changes: whole under its name, or not there.

use super::{
    error,
    open::{self, beside, folder_of},
};
use crate::types::{
    error::{Error, Result},
    os,
};
use rusqlite::Connection;
use std::{
    ffi::OsStr,
    fs, io,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

/// Free space that is left beside copy and log, in bytes.
const SPARE_BYTES: u64 = 16 << 20;
/// The time between two reports of the progress.
const TELL_EVERY: Duration = Duration::from_secs(1);
/// Steps of SQLite's machine between two looks at the clock.
const STEPS: i32 = 10_000;

/// Copies the file to `<name>.v<version>.bak`, unless a sound copy with the same content is there from an upgrade
/// that failed; beside any other file of that name to `<name>.v<version>-2.bak`, and so on.
///
/// # Errors
/// Where there is no room for it, or it is not sound; nothing is left of it then.
pub(super) fn make(connection: &Connection, path: &Path, version: i64) -> Result<()> {
    let name = |number: &str| beside(path, &format!(".v{version}{number}.bak"));
    let position = position(connection)?;
    let is_same = |copy: &Path| {
        let copy = open::unchanged(copy).map_err(Error::from)?;
        check(&copy, version, &position)
    };
    let mut copy = name("");
    let mut another = 2;
    while copy.symlink_metadata().is_ok() {
        if is_same(&copy).is_ok() {
            tell(&format!(
                "{} is kept from before the upgrade",
                copy.display()
            ));
            return Ok(());
        }
        copy = name(&format!("-{another}"));
        another += 1;
    }
    let failed = |cause: &dyn std::fmt::Display| {
        Error::unavailable(format!(
            "copying {} to {} before the upgrade: {cause}",
            path.display(),
            copy.display()
        ))
    };
    check_room(path).map_err(|cause| failed(&cause))?;
    // A name that is known for a copy with people in it, should the process be killed.
    let prefix = beside(path, &format!(".v{version}."));
    let prefix = prefix.file_name().unwrap_or_default();
    remove_partial(folder_of(path), prefix);
    let partial = tempfile::Builder::new()
        .prefix(prefix)
        .suffix(PARTIAL)
        .tempfile_in(folder_of(path))
        .map_err(|cause| failed(&cause.kind()))?;
    write(connection, path, partial.path()).map_err(|cause| match error::reason(&cause) {
        Some((_, why)) => failed(&why),
        None => failed(&Error::from(cause)),
    })?;
    let copied = open::unchanged(partial.path()).map_err(Error::from);
    copied
        .and_then(|copied| check(&copied, version, &position))
        .map_err(|cause| failed(&cause))?;
    keep(partial, path, &copy).map_err(|cause| failed(&cause.kind()))?;
    tell(&format!("copied {} to {}", path.display(), copy.display()));
    Ok(())
}

/// The end of the name of a copy that is being made.
const PARTIAL: &str = ".part.bak";

/// Removes what processes left that were killed while they made a copy.
fn remove_partial(folder: &Path, prefix: &OsStr) {
    let names = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in names {
        let name = entry.file_name();
        let middle = name.to_str().zip(prefix.to_str());
        let middle = middle.and_then(|(name, prefix)| name.strip_prefix(prefix));
        // SQLite's own journal of the copy is beside it.
        if middle.is_some_and(|middle| middle.trim_end_matches("-journal").ends_with(PARTIAL)) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// The file is copied once and its log grows to as much again at most.
fn check_room(path: &Path) -> Result<()> {
    let length = |suffix| fs::metadata(beside(path, suffix)).map_or(0, |file| file.len());
    let needed = 2 * (length("") + length("-wal")) + SPARE_BYTES;
    let free = fs4::available_space(folder_of(path)).map_err(Error::unavailable)?;
    if free < needed {
        let mebi = |bytes: u64| bytes.div_ceil(1 << 20);
        return Err(Error::unavailable(format!(
            "{} MiB are free, and copy and upgrade take {}; make room",
            mebi(free),
            mebi(needed)
        )));
    }
    Ok(())
}

fn write(connection: &Connection, path: &Path, partial: &Path) -> rusqlite::Result<()> {
    let (from, to) = (path.to_owned(), partial.to_owned());
    let mut told = Instant::now();
    let tell_progress = move || {
        if told.elapsed() > TELL_EVERY {
            told = Instant::now();
            let mega = |path: &Path| fs::metadata(path).map_or(0, |file| file.len() / 1_000_000);
            tell(&format!(
                "copying before the upgrade: {} of {} MB",
                mega(&to),
                mega(&from)
            ));
        }
        false
    };
    connection.progress_handler(STEPS, Some(tell_progress))?;
    let copied = connection.execute("VACUUM INTO ?1", [partial.to_string_lossy()]);
    connection.progress_handler(0, None::<fn() -> bool>)?;
    copied.map(drop)
}

/// Checks that a copy is whole, of this version and with this content. An index for searching that is damaged is so in
/// the file, too, and is made anew later.
fn check(copy: &Connection, version: i64, position: &[String]) -> Result<()> {
    let found: i64 = copy.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let mut statement = copy.prepare("PRAGMA integrity_check(10)")?;
    let lines = statement.query_map([], |row| row.get::<_, String>(0))?;
    let lines: Vec<String> = lines.collect::<rusqlite::Result<_>>()?;
    let is_fine = |line: &String| line == "ok" || open::is_of_search_index(line);
    if let Some(line) = lines.iter().find(|line| !is_fine(line)) {
        return Err(Error::invalid(format!("the copy is not sound: {line}")));
    }
    if found != version || self::position(copy)? != position {
        return Err(Error::invalid("the copy has another content"));
    }
    Ok(())
}

/// The newest id of each table, and the ids that were given: it changes with every change, because changes are
/// recorded.
fn position(connection: &Connection) -> Result<Vec<String>> {
    let texts = |sql: &str| -> Result<Vec<String>> {
        let mut statement = connection.prepare(sql)?;
        let rows = statement.query_map([], |row| row.get(0))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    };
    // Of tables with ids alone: a copy numbers the rows of others anew.
    let tables = texts(
        "SELECT t.name FROM pragma_table_list AS t JOIN pragma_table_info(t.name) AS c
         WHERE t.schema = 'main' AND t.type = 'table' AND NOT t.wr AND c.pk > 0
         GROUP BY t.name HAVING count(*) = 1 AND c.type = 'INTEGER' ORDER BY t.name",
    )?;
    let mut position = Vec::new();
    for table in tables {
        let newest = format!("SELECT '{table} ' || coalesce(max(rowid), 0) FROM \"{table}\"");
        position.extend(texts(&newest)?);
    }
    if connection.table_exists(None, "sqlite_sequence")? {
        let given = "SELECT name || ' ' || seq FROM sqlite_sequence ORDER BY name";
        position.extend(texts(given)?);
    }
    Ok(position)
}

/// Gives a whole copy its name, for good. Whoever may not read the file may not read its copy.
fn keep(partial: tempfile::NamedTempFile, path: &Path, copy: &PathBuf) -> io::Result<()> {
    let permissions = fs::metadata(path)?.permissions();
    fs::set_permissions(partial.path(), permissions)?;
    partial.as_file().sync_all()?;
    partial.persist_noclobber(copy)?;
    os::sync_folder(folder_of(path))
}

/// Tells the log of a server, or who runs a command.
fn tell(line: &str) {
    if tracing::dispatcher::has_been_set() {
        tracing::info!("{line}");
    } else {
        eprintln!("gatepost: {line}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::{Durability, Store, migrate};

    /// A file of an older version with something in it.
    fn older() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let mut connection = Connection::open(&path).unwrap();
        migrate::up_to(&mut connection, 26);
        connection
            .execute_batch(&format!(
                "PRAGMA application_id = {}; INSERT INTO settings VALUES ('x', '1')",
                crate::db::APPLICATION_ID
            ))
            .unwrap();
        (folder, path)
    }

    fn copies(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name());
        let names = names.map(|name| name.into_string().unwrap());
        let mut copies: Vec<_> = names.filter(|name| name.contains(".bak")).collect();
        copies.sort();
        copies
    }

    #[test]
    fn a_torn_or_foreign_copy_is_never_taken_for_that_of_the_file() {
        for left in ["", "torn", "of another file", "older"] {
            let (folder, path) = older();
            let copy = beside(&path, ".v26.bak");
            match left {
                "torn" => {
                    let bytes = fs::read(&path).unwrap();
                    fs::write(&copy, &bytes[..bytes.len() / 2]).unwrap();
                }
                "older" => {
                    fs::copy(&path, &copy).unwrap();
                    let connection = Connection::open(&path).unwrap();
                    let change = "INSERT INTO audit (at, actor, action, record_type) VALUES (0, 'a', 'create', 'x')";
                    connection.execute_batch(change).unwrap();
                }
                left => fs::write(&copy, left).unwrap(),
            }
            let before = fs::read(&copy).unwrap();
            drop(Store::open(&path, Durability::Normal).unwrap());
            assert_eq!(
                copies(folder.path()),
                ["a.db.v26-2.bak", "a.db.v26.bak"],
                "{left}"
            );
            assert!(fs::read(&copy).unwrap() == before, "{left}");
            let made = open::unchanged(&beside(&path, ".v26-2.bak")).unwrap();
            let setting = "SELECT value FROM settings WHERE name = 'x'";
            let setting: String = made.query_row(setting, [], |row| row.get(0)).unwrap();
            assert_eq!(setting, "1");
        }
    }

    #[test]
    fn a_copy_of_an_upgrade_that_failed_is_used_again() {
        let (folder, path) = older();
        let connection = Connection::open(&path).unwrap();
        // Killed while it made one: the name is not the copy's.
        for left in [".v26.x1.part.bak", ".v26.x1.part.bak-journal"] {
            fs::write(beside(&path, left), "torn").unwrap();
        }
        make(&connection, &path, 26).unwrap();
        make(&connection, &path, 26).unwrap();
        drop(connection);
        assert_eq!(copies(folder.path()), ["a.db.v26.bak"]);
    }

    #[test]
    fn what_fails_is_named_in_words_and_leaves_nothing() {
        let (folder, path) = older();
        let connection = Connection::open(&path).unwrap();
        connection
            .execute_batch("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = 1")
            .unwrap();
        // As damage: a row that the copy's check finds.
        connection
            .execute_batch("PRAGMA writable_schema = 1; UPDATE sqlite_schema SET sql = replace(sql, 'TEXT NOT NULL', 'INTEGER NOT NULL') WHERE name = 'settings'; PRAGMA writable_schema = 0")
            .unwrap();
        drop(connection);
        let connection = Connection::open(&path).unwrap();
        let failed = make(&connection, &path, 26).unwrap_err().to_string();
        let words = format!(
            "copying {} to {}.v26.bak before the upgrade: ",
            path.display(),
            path.display()
        );
        assert!(failed.starts_with(&words), "{failed}");
        assert!(!failed.contains("VACUUM"), "{failed}");
        assert_eq!(copies(folder.path()), [""; 0]);
    }
}
