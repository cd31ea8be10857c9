//! A database file and a log of different moments: copied apart, or put together by hand. SQLite takes any log whose
//! checksums are right, and makes a mixture of the two without a word.
//!
//! Two comparisons tell, without anything else beside the file. Whatever the file alone has, its log has as well, so a log
//! that is behind the file is older. And before a log is begun anew all of the last one is in the file: the first commit
//! that moves the position then notes how far the file alone is, so a file that is behind that is older than its log.
//!
//! Both go by the position in the feed. Changes that are in no feed, such as tokens and pings, do not show.

use super::{
    counters,
    open::{self, beside, refused},
    usage::{FILE, Position},
};
use crate::types::error::Result;
use rusqlite::Connection;
use std::path::Path;

/// Counters of how far the file alone is at least.
const INTERACTION: &str = "file interaction";
const CHANGE: &str = "file change";

/// Notes that the file alone has everything up to a position.
pub(super) fn note(connection: &Connection, position: Position) -> Result<()> {
    counters::set(connection, INTERACTION, position.interaction)?;
    counters::set(connection, CHANGE, position.change)
}

/// How file and log fit together.
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
    let look = || compare(path).unwrap_or(Moments::Same);
    let found = look();
    // Others may write and copy at this moment.
    if found == Moments::Same || look() != found {
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
    let with_log = open::unchanged(path)?;
    let counter = |connection: &Connection, name| {
        let counter = counters::get(connection, name);
        counter.map(Option::unwrap_or_default)
    };
    let noted = Position {
        interaction: counter(&with_log, INTERACTION)?,
        change: counter(&with_log, CHANGE)?,
    };
    let of_log = counter(&with_log, FILE)?;
    let alone = open::alone(path)?;
    let (file, of_file) = (Position::read(&alone)?, counter(&alone, FILE)?);
    Ok(if of_file != 0 && of_log != 0 && of_file != of_log {
        Moments::OtherFile
    } else if !Position::read(&with_log)?.reaches(file) {
        Moments::OlderLog
    } else if !file.reaches(noted) {
        Moments::OlderFile
    } else {
        Moments::Same
    })
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

        /// Why the file of this moment is refused with the log of another; nothing where it is not.
        fn with_log_of(&self, other: &Self) -> String {
            let folder = tempfile::tempdir().unwrap();
            let mixed = folder.path().join("mixed.db");
            fs::copy(&self.0, &mixed).unwrap();
            fs::copy(beside(&other.0, "-wal"), beside(&mixed, "-wal")).unwrap();
            let opened = Store::open(&mixed, Durability::Full);
            opened.err().map_or_else(String::new, |cause| cause.message)
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
        let record = || store.write_blocking(|tx| tx.new_interaction_id());
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
