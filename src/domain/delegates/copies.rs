//! Which copies of the file may still have a person: backups that were made since the person came, and
//! what migrations and restores put aside. Whoever erases somebody is told their names.

use crate::types::{Timestamp, error::Result};
use rusqlite::Connection;
use std::{fs, path::Path, time::UNIX_EPOCH};

/// What the name of a copy beside the file begins with, after the file's own, and how it ends.
const ATTACHED: [(&str, &str); 3] = [(".v", ".bak"), (PUT_ASIDE, ""), (DAMAGED_LOG, "")];

/// A damaged log that was kept: the file's own name, this, and when.
const DAMAGED_LOG: &str = "-wal.damaged-";

/// A file that a restore put aside: its own name, this, and when.
pub const PUT_ASIDE: &str = ".before-restore-";

/// The copies of the file at `database` that may have a delegate, the newest backup first.
pub fn of(connection: &Connection, database: &Path, delegate: i64) -> Result<Vec<String>> {
    let since: Option<Timestamp> = connection
        .prepare_cached("SELECT min(created_at) FROM delegates WHERE id = ?1")?
        .query_row([delegate], |row| row.get(0))?;
    let Some(since) = since else {
        return Ok(Vec::new());
    };
    let mut statement = connection.prepare_cached(
        "SELECT path FROM backups WHERE failure IS NULL AND finished_at >= ?1 ORDER BY id DESC",
    )?;
    let listed = statement.query_map([since], |row| row.get(0))?;
    let mut copies: Vec<String> = listed.collect::<rusqlite::Result<_>>()?;
    copies.extend(beside(database, since));
    Ok(copies)
}

/// Copies beside the file that were written since.
fn beside(database: &Path, since: Timestamp) -> Vec<String> {
    let folder = database
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let name = database.file_name().unwrap_or_default().to_string_lossy();
    let mut found: Vec<String> = fs::read_dir(folder.unwrap_or(Path::new(".")))
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| {
            let rest = entry.file_name().to_string_lossy().into_owned();
            let rest = rest.strip_prefix(&*name);
            let named = |(begins, ends): &(&str, &str)| {
                rest.is_some_and(|rest| rest.starts_with(begins) && rest.ends_with(ends))
            };
            let written = entry.metadata().and_then(|file| file.modified()).ok();
            let written = written.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
            // Of unknown age: it may have them.
            let may = written
                .is_none_or(|at| i64::try_from(at.as_millis()).is_ok_and(|at| at >= since.0));
            ATTACHED.iter().any(named) && may
        })
        .map(|entry| entry.path().display().to_string())
        .collect();
    found.sort_unstable();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_beside_the_file_are_told_by_their_names_and_age() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("a.db");
        for name in [
            "a.db",
            "a.db-wal",
            "a.db.v3.bak",
            "a.db.before-restore-20261121-090000",
            "a.db-wal.damaged-20261121-090000",
            "b.db.v3.bak",
            "a.db.lock",
        ] {
            fs::write(folder.path().join(name), b"x").unwrap();
        }
        let names = |since| {
            let found = beside(&database, Timestamp(since));
            let names = found
                .iter()
                .map(|path| path.rsplit('/').next().unwrap().to_owned());
            names.collect::<Vec<_>>()
        };
        assert_eq!(
            names(0),
            [
                "a.db-wal.damaged-20261121-090000",
                "a.db.before-restore-20261121-090000",
                "a.db.v3.bak"
            ]
        );
        assert_eq!(names(i64::MAX), [""; 0]);
    }
}
