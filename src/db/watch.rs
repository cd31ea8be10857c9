//! Notices that the database file, its log or the log's index was removed, renamed, replaced, overwritten or cut short
//! while it is open. Writes would go on into files that nobody finds again, or that are ruined.
//!
//! That somebody copied another file over the database file changes neither its name nor, perhaps, its length. A time
//! that changed is no more than a reason to look, as checkpoints of any process change it, and so does `touch`; the proof is
//! in the file: `on_disk` tells.
//!
//! A checkpoint at the very moment of the overwrite hides that: what it copies into the other file looks new. If the
//! log has every page that differs, this makes the file whole again. Otherwise the result is a mixture; of the pages that are
//! not in the log the one that was written last tells, because every older copy lacks it ([`Watch::copying`]).

use super::{
    live_log::{Index, Log},
    on_disk::{OnDisk, Roots},
    open::beside,
    usage::Position,
};
use crate::types::os::{changed_at, identity, read_at};
use std::{
    collections::HashSet,
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::{Mutex, OnceLock, PoisonError},
    time::{Duration, SystemTime},
};

/// The error of refused writes.
pub(super) const REFUSED: &str = "the database file or its log was removed, renamed, replaced, overwritten or cut short; nothing is stored until the server is restarted";

/// The age from which the time of a change differs from that of the next one: clocks of file systems tick every 10 ms,
/// on some every 2 s.
const TICK_MAX: Duration = Duration::from_secs(2);
/// Pages that are remembered as written lately.
const RECENT_MAX: usize = 4096;

/// The position of the log's index among the files.
const INDEX: usize = 2;

/// The files that SQLite has open, as they were found by their names at the start.
#[derive(Debug)]
pub struct Watch {
    /// The database file, its log, and the log's index.
    files: Vec<(PathBuf, Option<(u64, u64)>)>,
    log: Option<Log>,
    /// The database file, open for good.
    database: &'static File,
    roots: Roots,
    content: Mutex<Content>,
    lost: OnceLock<Loss>,
}

/// The state of the database file at the last look, and what this process committed since.
#[derive(Debug, Default)]
struct Content {
    changed_at: Option<SystemTime>,
    on_disk: Option<OnDisk>,
    committed: Position,
    /// Pages that checkpoints copied, those that were written last first.
    recent: Vec<u32>,
    /// A checkpoint copied the log into another file.
    is_mixture: bool,
}

/// A page that a checkpoint has no reason to change.
#[derive(Debug)]
struct Witness {
    index: Index,
    page: u32,
    bytes: Vec<u8>,
}

#[derive(Debug)]
struct Loss {
    path: PathBuf,
    how: How,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    /// Its name leads elsewhere.
    Gone,
    /// The file is in its place, but shorter than it must be.
    Cut,
    /// The file is in its place, with the content of another.
    Overwritten,
    /// The index of the log is in its place, and older than it was.
    Older,
}

impl Watch {
    /// Watches a file that is open, with what is beside it.
    pub(super) fn begin(database: &Path, file: &'static File, roots: Roots) -> Self {
        let files = ["", "-wal", "-shm"].into_iter().filter_map(|suffix| {
            let path = beside(database, suffix);
            let identity = identity(&path.metadata().ok()?);
            Some((path, identity))
        });
        let watch = Self {
            files: files.collect(),
            log: Log::open(database),
            database: file,
            content: Mutex::default(),
            roots,
            lost: OnceLock::new(),
        };
        // Notes how long they are, and what is in the file.
        let _ = watch.look();
        watch
    }

    /// Checks that every file is in its place and has what must be in it; takes some microseconds. Gives
    /// the first that was lost, for good.
    ///
    /// # Errors
    /// What keeps it from looking, which may pass.
    pub(super) fn look(&self) -> io::Result<Option<&Path>> {
        if self.lost.get().is_none()
            && let Some(loss) = self.find_loss()?
        {
            let _ = self.lost.set(loss);
        }
        Ok(self.lost())
    }

    /// Notes how far the file is by a commit.
    pub(super) fn committed(&self, position: Position) {
        let mut content = self.content.lock().unwrap_or_else(PoisonError::into_inner);
        content.committed = position;
    }

    /// Returns whether the file has all of the log now.
    pub(super) fn is_log_copied(&self) -> bool {
        let index = self.log.as_ref().and_then(Log::index);
        index.is_some_and(|index| index.is_copied())
    }

    /// Copies the log into the file by `copy`, and notes if that went into another file.
    pub(super) fn copying<T>(&self, copy: impl FnOnce() -> T) -> T {
        let witness = self.log.as_ref().and_then(|log| self.witness(log));
        let copied = copy();
        if witness.is_some_and(|witness| self.has_changed(&witness)) {
            let mut content = self.content.lock().unwrap_or_else(PoisonError::into_inner);
            content.is_mixture = true;
        }
        copied
    }

    /// The page that was written last of those that are not to be copied now.
    fn witness(&self, log: &Log) -> Option<Witness> {
        let index = log.index()?;
        let pending = log.pages(&index, index.pending()).ok()?;
        if pending.is_empty() {
            return None;
        }
        let mut content = self.content.lock().unwrap_or_else(PoisonError::into_inner);
        let known: HashSet<_> = pending.iter().copied().collect();
        let before = content.recent.iter().filter(|page| !known.contains(page));
        let before: Vec<_> = before.copied().collect();
        content.recent = [&*pending, &before].concat();
        content.recent.truncate(RECENT_MAX);
        drop(content);
        let page = *before.first()?;
        let bytes = self.page(&index, page)?;
        Some(Witness { index, page, bytes })
    }

    /// Returns whether a page has changed and the log does not tell why.
    fn has_changed(&self, witness: &Witness) -> bool {
        let now = self.page(&witness.index, witness.page);
        if now.is_none_or(|now| now == witness.bytes) {
            return false;
        }
        let Some((log, index)) = self.log.as_ref().and_then(|log| Some((log, log.index()?))) else {
            return false;
        };
        // Others may have written it and copied that meanwhile, or begun the log anew.
        let added = log.pages(&index, witness.index.frames()..index.frames());
        index.salts() == witness.index.salts()
            && added.is_ok_and(|added| !added.contains(&witness.page))
    }

    fn page(&self, index: &Index, page: u32) -> Option<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(index.page_bytes()).ok()?];
        let at = u64::from(page.checked_sub(1)?) * index.page_bytes();
        read_at(self.database, &mut bytes, at).ok()?;
        Some(bytes)
    }

    /// Notes that what SQLite reads is behind what was committed: it goes by an older index.
    pub(super) fn lose_index(&self) {
        if let Some((path, _)) = self.files.last() {
            let (path, how) = (path.clone(), How::Older);
            let _ = self.lost.set(Loss { path, how });
        }
    }

    /// Notes that a file has the content of another.
    pub(super) fn lose(&self, path: PathBuf) {
        let how = How::Overwritten;
        let _ = self.lost.set(Loss { path, how });
    }

    fn find_loss(&self) -> io::Result<Option<Loss>> {
        // The index first: it never promises what its files do not have yet.
        let known = self.log.as_ref().and_then(Log::index);
        let loss = |path: &Path, how| {
            let path = path.to_owned();
            Ok(Some(Loss { path, how }))
        };
        let mut lengths = [0; 3];
        let mut changed = None;
        for ((path, identity_before), length) in self.files.iter().zip(&mut lengths) {
            let found = match path.metadata() {
                Err(cause) if cause.kind() == io::ErrorKind::NotFound => None,
                found => Some(found?),
            };
            let Some(found) = found.filter(|found| identity(found) == *identity_before) else {
                return loss(path, How::Gone);
            };
            *length = found.len();
            changed = changed.or_else(|| Some(changed_at(&found)));
        }
        if let (Some(log), Some(known)) = (&self.log, &known)
            && let Some(cut) = log.find_cut(known, lengths)?
        {
            let how = if cut == INDEX { How::Older } else { How::Cut };
            return loss(&self.files[cut].0, how);
        }
        match self.files.first() {
            Some((database, _)) if self.is_overwritten(changed.flatten(), known.as_ref()) => {
                loss(database, How::Overwritten)
            }
            _ => Ok(None),
        }
    }

    /// Returns whether the file has what is older than what it had, or another's, where it was changed at all.
    fn is_overwritten(&self, changed_at: Option<SystemTime>, known: Option<&Index>) -> bool {
        let mut content = self.content.lock().unwrap_or_else(PoisonError::into_inner);
        if content.is_mixture {
            return true;
        }
        if changed_at.is_some() && content.changed_at == changed_at {
            return false;
        }
        // A page that is being written is read again at the next look.
        let Some(now) = OnDisk::read(self.database, self.roots) else {
            return false;
        };
        let before = content.on_disk.as_ref();
        let overwritten = before.is_some_and(|before| !now.may_follow(before))
            || known.is_some_and(Index::is_copied) && !now.has(content.committed);
        let is_settled = |at: &SystemTime| at.elapsed().is_ok_and(|age| age > TICK_MAX);
        content.changed_at = changed_at.filter(is_settled);
        content.on_disk = Some(now);
        overwritten
    }

    /// Returns whether the log is shorter than so many pages take, which is cheap to find out. It may have been
    /// emptied lawfully: [`Watch::look`] tells.
    pub(super) fn may_be_cut(&self, pages: u64) -> bool {
        let log = self.log.as_ref();
        log.is_some_and(|log| log.may_be_cut(pages))
    }

    /// The file that was found missing or cut short.
    pub fn lost(&self) -> Option<&Path> {
        self.lost.get().map(|loss| loss.path.as_path())
    }

    /// Returns whether the log may be copied into the database file: both are whole, and no other program has
    /// made a log of its own for the file.
    pub(super) fn may_copy_log(&self) -> bool {
        self.lost.get().is_none_or(|loss| {
            loss.how == How::Gone && (self.is_database(loss) || !loss.path.exists())
        })
    }

    /// Returns whether the log must not meet the database file again, which has become another.
    pub(super) fn is_log_of_another(&self) -> bool {
        let lost = self.lost.get();
        lost.is_some_and(|loss| loss.how != How::Gone && self.is_database(loss))
    }

    /// Returns whether the index of the log is older than it was: the log may have all that was stored.
    pub(super) fn is_index_older(&self) -> bool {
        self.lost.get().is_some_and(|loss| loss.how == How::Older)
    }

    fn is_database(&self, loss: &Loss) -> bool {
        let database = self.files.first();
        database.is_some_and(|(database, _)| *database == loss.path)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;

    fn begin(database: &Path) -> Watch {
        let file = Box::leak(Box::new(File::open(database).expect("a file")));
        let roots = Roots {
            sequences: 1,
            counters: 1,
            schema: 0,
        };
        Watch::begin(database, file, roots)
    }

    #[test]
    fn whatever_happens_to_a_name_is_noticed() {
        for (suffix, what) in [("", "removed"), ("-wal", "renamed"), ("-shm", "replaced")] {
            let folder = tempfile::tempdir().unwrap();
            let database = folder.path().join("a.db");
            for suffix in ["", "-wal", "-shm"] {
                fs::write(beside(&database, suffix), b"x").unwrap();
            }
            let watch = begin(&database);
            assert_eq!(watch.look().unwrap(), None);
            // What is written to a file is no change of its name.
            fs::write(beside(&database, suffix), b"y").unwrap();
            assert_eq!(watch.look().unwrap(), None);
            let (path, other) = (beside(&database, suffix), folder.path().join("other"));
            match what {
                "removed" => fs::remove_file(&path).unwrap(),
                "renamed" => fs::rename(&path, &other).unwrap(),
                _ => {
                    fs::write(&other, b"x").unwrap();
                    fs::rename(&other, &path).unwrap();
                }
            }
            assert_eq!(watch.look().unwrap(), Some(&*path), "{what}");
            // For good: what was written meanwhile may be elsewhere.
            fs::write(&path, b"x").unwrap();
            assert_eq!(watch.look().unwrap(), Some(&*path), "{what}");
        }
    }

    #[test]
    fn a_file_that_is_cut_before_anything_went_into_its_log_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("a.db");
        for (suffix, length) in [("", 4096), ("-wal", 0), ("-shm", 32_768)] {
            fs::write(beside(&database, suffix), vec![0; length]).unwrap();
        }
        let watch = begin(&database);
        assert_eq!(watch.look().unwrap(), None);
        let file = File::options().write(true).open(&database).unwrap();
        file.set_len(2048).unwrap();
        assert_eq!(watch.look().unwrap(), Some(&*database));
    }

    #[test]
    fn an_older_index_is_noticed_also_where_a_commit_made_its_header_anew() {
        for mends_header in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            let database = folder.path().join("a.db");
            let connection = rusqlite::Connection::open(&database).unwrap();
            let run = |sql: &str| connection.execute_batch(sql).unwrap();
            run(
                "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = 0;
                 CREATE TABLE a (b)",
            );
            let watch = begin(&database);
            let index = beside(&database, "-shm");
            let read = || fs::read(&index).unwrap();
            let overwrite = |bytes: &[u8]| {
                use std::io::Write;
                let mut file = File::options().write(true).open(&index).unwrap();
                file.write_all(bytes).unwrap();
            };
            // A new beginning of the log is no loss, nor is the second part of the index.
            let mut older = Vec::new();
            for frames in [10, 4_000, 100, 5_000, 100] {
                older = read();
                for _ in 0..frames {
                    run("INSERT INTO a VALUES (1)");
                    assert_eq!(watch.look().unwrap(), None);
                }
                if frames == 4_000 {
                    let sql = "PRAGMA wal_checkpoint(RESTART)";
                    connection.query_row(sql, [], |_| Ok(())).unwrap();
                }
            }
            let newer = read();
            overwrite(&older);
            if mends_header {
                overwrite(&newer[..48 * 2]);
            }
            assert_eq!(watch.look().unwrap(), Some(&*index), "{mends_header}");
            assert!(watch.is_index_older() && !watch.may_copy_log());
        }
    }

    /// A checkpoint makes another file look new that took the place of ours right before.
    #[test]
    fn a_checkpoint_into_an_older_file_makes_it_whole_or_is_noticed() {
        for (what, is_mixture) in [("a = a", false), ("a = a || 'b'", true)] {
            let folder = tempfile::tempdir().unwrap();
            let (database, older) = (folder.path().join("a.db"), folder.path().join("older"));
            let connection = rusqlite::Connection::open(&database).unwrap();
            connection
                .execute_batch(
                    "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;
                     CREATE TABLE first (a); CREATE TABLE second (a);
                     INSERT INTO first VALUES ('a'); INSERT INTO second VALUES ('a')",
                )
                .unwrap();
            let watch = begin(&database);
            let copy = || {
                let sql = "PRAGMA wal_checkpoint(PASSIVE)";
                connection.query_row(sql, [], |_| Ok(())).unwrap();
            };
            watch.copying(copy);
            fs::copy(&database, &older).unwrap();
            let change = |sql: &str| connection.execute_batch(sql).unwrap();
            change(&format!("UPDATE first SET {what}"));
            watch.copying(copy);
            change("UPDATE second SET a = 'c'");
            assert_eq!(watch.look().unwrap(), None);
            watch.copying(|| {
                fs::write(&database, fs::read(&older).unwrap()).unwrap();
                copy();
            });
            let found = watch.look().unwrap().map(Path::to_owned);
            assert_eq!(found, is_mixture.then_some(database), "{what}");
        }
    }

    #[test]
    fn a_time_that_may_be_that_of_the_next_change_is_not_relied_on() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("a.db");
        let write = |changes: u8| {
            let mut bytes = [0; 512];
            (bytes[16], bytes[27]) = (2, changes);
            fs::write(&database, bytes).unwrap();
        };
        write(2);
        let watch = begin(&database);
        let (now, before) = (SystemTime::now(), SystemTime::now() - 2 * TICK_MAX);
        for (at, is_noticed) in [(before, false), (now, true)] {
            write(2);
            assert!(!watch.is_overwritten(Some(at), None));
            write(1);
            assert_eq!(watch.is_overwritten(Some(at), None), is_noticed);
        }
    }
}
