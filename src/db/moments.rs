//! A database file and a log of different moments: copied apart, or put together by hand. SQLite takes any log whose
//! checksums are right, and makes a mixture of the two without a word.
//!
//! Two comparisons tell, without anything else beside the file. Whatever the file alone has, its log has as well, so a log
//! that is behind the file is older. And before a log is begun anew all of the last one is in the file: the first commit
//! that moves the position then notes how far the file alone is, so a file that is behind that is older than its log.
//!
//! The file alone may lack pages that the log has, so that SQLite does not read it; then the pages that tell are read as
//! bytes. Where they are not in the file either, all that is known of it is what the log has.
//!
//! Both go by the position in the feed. Changes that are in no feed, such as tokens and pings, do not show.

use super::{
    counters,
    on_disk::{OnDisk, Roots},
    open::{self, beside, refused},
    usage::{FILE, Position},
};
use crate::types::error::{Error, Kind, Result};
use rusqlite::{Connection, OptionalExtension};
use std::{fs::File, path::Path};

/// Counters of how far the file alone is at least.
const INTERACTION: &str = "file interaction";
const CHANGE: &str = "file change";

/// Notes that the file alone has everything up to a position.
pub(super) fn note(connection: &Connection, position: Position) -> Result<()> {
    counters::set(connection, INTERACTION, position.interaction)?;
    counters::set(connection, CHANGE, position.change)
}

/// The relation of a file and a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moments {
    Same,
    OlderFile,
    OlderLog,
    OtherFile,
}

/// Refuses a file whose log is of another moment, or of another file. A damaged log is for `salvage`, before this.
pub(super) fn refuse_other(path: &Path) -> Result<()> {
    let (shown, log) = (path.display(), beside(path, "-wal"));
    if !log.exists() {
        return Ok(());
    }
    let look = || match compare(path) {
        Err(cause) if cause.kind == Kind::Damaged => {
            Err(open::damaged(path, &"how far it is cannot be read"))
        }
        // A file of an early version has no counters, and others may hold a lock.
        compared => Ok(compared.unwrap_or(Moments::Same)),
    };
    let found = look()?;
    // Others may write and copy at this moment.
    if found == Moments::Same || look()? != found {
        return Ok(());
    }
    let log = log.display();
    let back = "put the file and the log of one moment back, or a backup with `gatepost restore`";
    Err(refused(match found {
        Moments::OlderLog => format!(
            "the log {log} is older than {shown}, and would undo later changes: {back}; or move the log elsewhere to go on with what the file alone has"
        ),
        Moments::OtherFile => format!(
            "the log {log} belongs to another file than {shown}: {back}; or move the log elsewhere to go on with what the file alone has"
        ),
        _ => format!(
            "{shown} is older than its log {log}, and changes between the two are missing: {back}"
        ),
    }))
}

/// Compares the file alone with what it is by its log. The order matters where others write meanwhile: the file alone is
/// never behind what was noted before, nor ahead of what the log has afterwards.
fn compare(path: &Path) -> Result<Moments> {
    // Open as long as the connection is: closing it would drop the locks of that.
    let file = File::open(path).map_err(Error::unavailable)?;
    let with_log = open::unchanged(path)?;
    let counter = |name| {
        let counter = counters::get(&with_log, name);
        counter.map(Option::unwrap_or_default)
    };
    let noted = Position {
        interaction: counter(INTERACTION)?,
        change: counter(CHANGE)?,
    };
    let of_log = counter(FILE)?;
    let (of_file, position) = match read_alone(path) {
        Ok((number, position)) => (number, Some(position)),
        // The log may have the pages that it lacks.
        Err(_) => OnDisk::read(&file, Roots::read(&with_log)?)
            .map_or((None, None), |found| (found.number(), found.position())),
    };
    let is_other = of_file.is_some_and(|number| number != 0 && of_log != 0 && number != of_log);
    let is_behind = |file| Ok::<_, Error>(!Position::read(&with_log)?.reaches(file));
    Ok(if is_other {
        Moments::OtherFile
    } else if position.map_or(Ok(false), is_behind)? {
        Moments::OlderLog
    } else if position.is_some_and(|file| !file.reaches(noted)) {
        Moments::OlderFile
    } else {
        Moments::Same
    })
}

/// The number of the file, and how far the file alone is.
fn read_alone(path: &Path) -> rusqlite::Result<(Option<i64>, Position)> {
    let alone = open::alone(path)?;
    let sql = "SELECT value FROM counters WHERE name = ?1";
    let number = alone.query_row(sql, [FILE], |row| row.get(0));
    Ok((number.optional()?, Position::read(&alone)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::{Durability, ServeLock, Store};
    use std::{fs, path::PathBuf};

    /// Copies of a served file and its log.
    struct Moment(PathBuf);

    impl Moment {
        fn keep(database: &Path, name: &str) -> Self {
            let kept = database.with_file_name(name);
            for suffix in ["", "-wal"] {
                fs::copy(beside(database, suffix), beside(&kept, suffix)).unwrap();
            }
            Self(kept)
        }

        /// Returns why the file of this moment is refused with the log of another; nothing where it is not.
        fn with_log_of(&self, other: &Self) -> String {
            let folder = tempfile::tempdir().unwrap();
            let mixed = folder.path().join("mixed.db");
            fs::copy(&self.0, &mixed).unwrap();
            fs::copy(beside(&other.0, "-wal"), beside(&mixed, "-wal")).unwrap();
            let opened = Store::open(&mixed, Durability::Full);
            opened
                .err()
                .map_or_else(String::new, |cause| cause.to_string())
        }

        fn newest_without_log(&self) -> i64 {
            let alone = open::alone(&self.0).unwrap();
            Position::read(&alone).unwrap().interaction
        }
    }

    fn serve(folder: &Path) -> (PathBuf, ServeLock, Store) {
        let database = folder.join("a.db");
        let lock = ServeLock::take(&database).unwrap();
        let store = Store::open_to_serve(&database, Durability::Full, &lock).unwrap();
        (database, lock, store)
    }

    #[test]
    fn a_file_and_a_log_of_different_moments_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (database, _lock, store) = serve(folder.path());
        #[expect(
            clippy::redundant_closure_for_method_calls,
            reason = "the method alone is for one lifetime only"
        )]
        let record = || store.write(|tx| tx.new_interaction_id()).wait();
        let moments: Vec<_> = (0..4)
            .map(|number| {
                let newest = record().and_then(|_| record()).unwrap();
                let moment = Moment::keep(&database, &format!("{number}.db"));
                // The next commit begins the log anew.
                let other = Connection::open(&database).unwrap();
                let sql = "PRAGMA wal_checkpoint(RESTART)";
                let is_busy = other.query_row(sql, [], |row| row.get(0));
                assert_eq!(is_busy, Ok(0));
                (moment, newest)
            })
            .collect();
        let mut refused = 0;
        for (moment, _) in &moments {
            let newest_in_file = moment.newest_without_log();
            for (other, newest_in_log) in &moments {
                let message = moment.with_log_of(other);
                let expected = if newest_in_file > *newest_in_log {
                    "-wal is older than"
                } else if newest_in_file < newest_in_log - 2 {
                    "is older than its log"
                } else {
                    assert_eq!(message, "");
                    continue;
                };
                assert!(message.contains(expected), "{message}");
                refused += 1;
            }
        }
        assert!(refused >= 9, "{refused}");
        assert_eq!(store.lost(), None);
    }

    /// The log has the pages that the file lacks; that does not hide that the file is older.
    #[test]
    fn a_file_that_lacks_pages_of_its_log_is_whole_unless_it_is_older() {
        let folder = tempfile::tempdir().unwrap();
        let (database, _lock, store) = serve(folder.path());
        let write = || {
            store
                .write(|tx| {
                    tx.execute_batch(
                        "CREATE TABLE IF NOT EXISTS last (a INTEGER PRIMARY KEY, b);
                     INSERT OR REPLACE INTO last VALUES (1, randomblob(20000))",
                    )?;
                    tx.new_interaction_id()
                })
                .wait()
        };
        let restart = || {
            let other = Connection::open(&database).unwrap();
            let sql = "PRAGMA wal_checkpoint(RESTART)";
            assert_eq!(other.query_row(sql, [], |row| row.get(0)), Ok(0));
        };
        let _ = write().unwrap();
        restart();
        let _ = write().unwrap();
        let older = Moment::keep(&database, "older.db");
        restart();
        let _ = write().unwrap();
        restart();
        let _ = write().unwrap();
        let newer = Moment::keep(&database, "newer.db");
        for cut in [2048, 8192] {
            for kept in [&older, &newer] {
                let length = fs::metadata(&kept.0).unwrap().len();
                let file = File::options().write(true).open(&kept.0).unwrap();
                file.set_len(length - cut).unwrap();
            }
            assert!(read_alone(&newer.0).is_err());
            assert_eq!(newer.with_log_of(&newer), "", "{cut}");
            let message = older.with_log_of(&newer);
            assert!(message.contains("is older than its log"), "{message}");
        }
    }

    #[test]
    fn a_log_of_another_file_is_refused() {
        let (one, another) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let [one, another] = [&one, &another].map(|folder| {
            drop(serve(folder.path()));
            let (database, _lock, _store) = serve(folder.path());
            Moment::keep(&database, "kept.db")
        });
        let message = one.with_log_of(&another);
        assert!(message.contains("belongs to another file"), "{message}");
    }
}
