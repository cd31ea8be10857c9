//! Notices that the database file, its log or the log's index was removed, renamed, replaced or cut short
//! while it is open. Writes would go on into files that nobody finds again, or that are ruined.

use super::{open::beside, wal};
use crate::types::os::{identity, read_at};
use std::{
    fs::File,
    path::{Path, PathBuf},
    sync::{Mutex, OnceLock, PoisonError},
};

/// The error of refused writes.
pub(super) const REFUSED: &str = "the database file or its log was removed, renamed, replaced or cut short; nothing is stored until the server is restarted";

/// The files that SQLite has open, as they were found by their names at the start.
#[derive(Debug)]
pub struct Watch {
    /// The database file, its log, and the log's index.
    files: Vec<(PathBuf, Option<(u64, u64)>)>,
    log: Option<Log>,
    lost: OnceLock<Loss>,
}

#[derive(Debug)]
struct Loss {
    path: PathBuf,
    /// The file is in its place, but shorter than it must be.
    is_cut: bool,
}

impl Watch {
    /// Watches a file that is open, with what is beside it.
    pub(super) fn begin(database: &Path) -> Self {
        let files = ["", "-wal", "-shm"].into_iter().filter_map(|suffix| {
            let path = beside(database, suffix);
            let identity = identity(&path.metadata().ok()?);
            Some((path, identity))
        });
        let watch = Self {
            files: files.collect(),
            log: Log::open(database),
            lost: OnceLock::new(),
        };
        // Notes how long they are.
        watch.look();
        watch
    }

    /// Checks that every file is in its place and has what must be in it; takes some microseconds. Gives
    /// the first that was lost, for good.
    pub(super) fn look(&self) -> Option<&Path> {
        if self.lost.get().is_none() {
            let _ = self.lost.set(self.find_loss()?);
        }
        self.lost()
    }

    fn find_loss(&self) -> Option<Loss> {
        // The index first: it never promises what its files do not have yet.
        let known = self.log.as_ref().and_then(Log::index);
        let mut lengths = [0; 3];
        for ((path, identity_before), length) in self.files.iter().zip(&mut lengths) {
            let found = path.metadata().ok();
            let Some(found) = found.filter(|found| identity(found) == *identity_before) else {
                return Some(Loss {
                    path: path.clone(),
                    is_cut: false,
                });
            };
            *length = found.len();
        }
        let cut = self.log.as_ref()?.find_cut(&known?, lengths)?;
        Some(Loss {
            path: self.files.get(cut)?.0.clone(),
            is_cut: true,
        })
    }

    /// Whether the log is shorter than so many pages take, which is cheap to find out. It may have been
    /// emptied lawfully: [`Watch::look`] tells.
    pub(super) fn may_be_cut(&self, pages: u64) -> bool {
        self.log.as_ref().is_some_and(|log| {
            let length = log.log.metadata().map_or(0, |found| found.len());
            length < pages * log.frame_bytes()
        })
    }

    /// The file that was found missing or cut short.
    pub fn lost(&self) -> Option<&Path> {
        self.lost.get().map(|loss| loss.path.as_path())
    }

    /// Whether the log may be copied into the database file: both are whole, and no other program has
    /// made a log of its own for the file.
    pub(super) fn may_copy_log(&self) -> bool {
        let database = self.files.first().map(|(path, _)| path.as_path());
        self.lost.get().is_none_or(|loss| {
            !loss.is_cut && (Some(loss.path.as_path()) == database || !loss.path.exists())
        })
    }
}

/// The log and its index, which says to every process what the log must have
/// (<https://www.sqlite.org/walformat.html>).
#[derive(Debug)]
struct Log {
    log: File,
    frame_bytes: OnceLock<u64>,
    /// Never closed: closing it would drop SQLite's locks.
    index: &'static File,
    last: Mutex<Last>,
}

/// What the last look found.
#[derive(Debug, Default)]
struct Last {
    index: Option<Index>,
    /// The length below which the database file does not fall, unless another process makes it smaller.
    database_bytes: u64,
}

/// The header of the log's index. Each commit and each start of the log changes it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Index([u8; 48]);

impl Index {
    fn word(&self, at: usize) -> u64 {
        let word = [self.0[at], self.0[at + 1], self.0[at + 2], self.0[at + 3]];
        u32::from_ne_bytes(word).into()
    }

    fn page_bytes(&self) -> u64 {
        match u16::from_ne_bytes([self.0[14], self.0[15]]) {
            1 => 65_536,
            size => size.into(),
        }
    }

    /// Frames of the log that count.
    fn frames(&self) -> u64 {
        self.word(16)
    }

    /// Nothing was written to the log since the first process opened the file: the index knows no sizes.
    fn is_fresh(&self) -> bool {
        self.page_bytes() == 0
    }

    /// How long the database file is once all of the log is copied into it; without bounds while the
    /// index knows none.
    fn database_bytes(&self) -> u64 {
        if self.is_fresh() {
            return u64::MAX;
        }
        self.word(20) * self.page_bytes()
    }

    fn salts(&self) -> &[u8] {
        &self.0[32..40]
    }

    fn frame_bytes(&self) -> u64 {
        wal::FRAME_HEADER_BYTES as u64 + self.page_bytes()
    }

    /// Where a frame begins, counted from 0.
    fn frame_at(&self, frame: u64) -> u64 {
        wal::HEADER_BYTES as u64 + frame * self.frame_bytes()
    }
}

impl Log {
    fn open(database: &Path) -> Option<Self> {
        let index = File::open(beside(database, "-shm")).ok()?;
        Some(Self {
            log: File::open(beside(database, "-wal")).ok()?,
            frame_bytes: OnceLock::new(),
            index: Box::leak(Box::new(index)),
            last: Mutex::default(),
        })
    }

    /// What a page takes in the log; 0 before anything was written to it.
    fn frame_bytes(&self) -> u64 {
        if let Some(bytes) = self.frame_bytes.get() {
            return *bytes;
        }
        match self.index().filter(|index| !index.is_fresh()) {
            Some(index) => *self.frame_bytes.get_or_init(|| index.frame_bytes()),
            None => 0,
        }
    }

    fn index(&self) -> Option<Index> {
        let mut copies = [[0; 48]; 2];
        read_at(self.index, copies.as_flattened_mut(), 0).ok()?;
        // They differ while a process writes them.
        let [first, second] = copies;
        (first == second).then_some(Index(first))
    }

    /// The position among the files of the one that is too short.
    fn find_cut(&self, known: &Index, [database, log, _]: [u64; 3]) -> Option<usize> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let cut = if !self.is_whole(known, last.index.as_ref(), log) {
            1
        } else if database < last.database_bytes.min(known.database_bytes()) {
            0
        } else {
            *last = Last {
                index: Some(known.clone()),
                database_bytes: database.min(known.database_bytes()),
            };
            return None;
        };
        // Another connection may have emptied the log lawfully while this looked.
        (self.index().as_ref() == Some(known)).then_some(cut)
    }

    /// Whether the log has all that the index knows. A log that was cut and written to again is long
    /// enough, but has a hole where it began, or where it ended at the last look.
    fn is_whole(&self, known: &Index, last: Option<&Index>, length: u64) -> bool {
        let has_salts = |at: u64| {
            let mut salts = [0; 8];
            read_at(&self.log, &mut salts, at).is_ok() && salts == known.salts()
        };
        let last = last.filter(|last| last.salts() == known.salts() && last.frames() > 0);
        known.frames() == 0
            || (length >= known.frame_at(known.frames())
                && has_salts(16)
                && last.is_none_or(|last| has_salts(known.frame_at(last.frames() - 1) + 8)))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn whatever_happens_to_a_name_is_noticed() {
        for (suffix, what) in [("", "removed"), ("-wal", "renamed"), ("-shm", "replaced")] {
            let folder = tempfile::tempdir().unwrap();
            let database = folder.path().join("a.db");
            for suffix in ["", "-wal", "-shm"] {
                fs::write(beside(&database, suffix), b"x").unwrap();
            }
            let watch = Watch::begin(&database);
            assert_eq!(watch.look(), None);
            // What is written to a file is no change of its name.
            fs::write(beside(&database, suffix), b"y").unwrap();
            assert_eq!(watch.look(), None);
            let (path, other) = (beside(&database, suffix), folder.path().join("other"));
            match what {
                "removed" => fs::remove_file(&path).unwrap(),
                "renamed" => fs::rename(&path, &other).unwrap(),
                _ => {
                    fs::write(&other, b"x").unwrap();
                    fs::rename(&other, &path).unwrap();
                }
            }
            assert_eq!(watch.look(), Some(&*path), "{what}");
            // For good: what was written meanwhile may be elsewhere.
            fs::write(&path, b"x").unwrap();
            assert_eq!(watch.look(), Some(&*path), "{what}");
        }
    }

    #[test]
    fn a_file_that_is_cut_before_anything_went_into_its_log_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("a.db");
        for (suffix, length) in [("", 4096), ("-wal", 0), ("-shm", 32_768)] {
            fs::write(beside(&database, suffix), vec![0; length]).unwrap();
        }
        let watch = Watch::begin(&database);
        assert_eq!(watch.look(), None);
        let file = File::options().write(true).open(&database).unwrap();
        file.set_len(2048).unwrap();
        assert_eq!(watch.look(), Some(&*database));
    }
}
