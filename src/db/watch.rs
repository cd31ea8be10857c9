//! Notices that the database file, its log or the log's index was removed, renamed, replaced, overwritten or cut short
//! while it is open. Writes would go on into files that nobody finds again, or that are ruined.
//!
//! That somebody copied another file over the database file changes neither its name nor, perhaps, its length. A time
//! that changed is no more than a reason to look, as checkpoints of any process change it, and so does `touch`; the proof is
//! in the file: `on_disk` tells.

use super::{on_disk::OnDisk, open::beside, usage::Position, wal};
use crate::types::os::{changed_at, identity, read_at};
use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::{Mutex, OnceLock, PoisonError},
    time::SystemTime,
};

/// The error of refused writes.
pub(super) const REFUSED: &str = "the database file or its log was removed, renamed, replaced, overwritten or cut short; nothing is stored until the server is restarted";

/// The files that SQLite has open, as they were found by their names at the start.
#[derive(Debug)]
pub struct Watch {
    /// The database file, its log, and the log's index.
    files: Vec<(PathBuf, Option<(u64, u64)>)>,
    log: Option<Log>,
    /// The database file, open for good.
    database: &'static File,
    sequences: u32,
    content: Mutex<Content>,
    lost: OnceLock<Loss>,
}

/// What the database file had at the last look, and what this process committed since.
#[derive(Debug, Default)]
struct Content {
    changed_at: Option<SystemTime>,
    on_disk: Option<OnDisk>,
    committed: Position,
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
}

impl Watch {
    /// Watches a file that is open, with what is beside it.
    ///
    /// `sequences` is the page of `sqlite_sequence`.
    pub(super) fn begin(database: &Path, file: &'static File, sequences: u32) -> Self {
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
            sequences,
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
            return loss(&self.files[cut].0, How::Cut);
        }
        match self.files.first() {
            Some((database, _)) if self.is_overwritten(changed.flatten(), known.as_ref()) => {
                loss(database, How::Overwritten)
            }
            _ => Ok(None),
        }
    }

    /// Whether the file has what is older than what it had, or another's, where it was changed at all.
    fn is_overwritten(&self, changed_at: Option<SystemTime>, known: Option<&Index>) -> bool {
        let mut content = self.content.lock().unwrap_or_else(PoisonError::into_inner);
        if changed_at.is_some() && content.changed_at == changed_at {
            return false;
        }
        // A page that is being written is read again at the next look.
        let Some(now) = OnDisk::read(self.database, self.sequences) else {
            return false;
        };
        let before = content.on_disk.as_ref();
        let overwritten = before.is_some_and(|before| !now.may_follow(before))
            || known.is_some_and(Index::is_copied) && !now.has(content.committed);
        content.changed_at = changed_at;
        content.on_disk = Some(now);
        overwritten
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
        self.lost.get().is_none_or(|loss| {
            loss.how == How::Gone && (self.is_database(loss) || !loss.path.exists())
        })
    }

    /// Whether the log must not meet the database file again, which has become another.
    pub(super) fn is_log_of_another(&self) -> bool {
        let lost = self.lost.get();
        lost.is_some_and(|loss| loss.how != How::Gone && self.is_database(loss))
    }

    fn is_database(&self, loss: &Loss) -> bool {
        let database = self.files.first();
        database.is_some_and(|(database, _)| *database == loss.path)
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
#[derive(Debug, Clone)]
struct Index {
    header: [u8; 48],
    /// Frames that a checkpoint copied into the database file.
    copied: u32,
}

impl PartialEq for Index {
    fn eq(&self, other: &Self) -> bool {
        self.header == other.header
    }
}

impl Index {
    fn word(&self, at: usize) -> u64 {
        let word = &self.header[at..at + 4];
        u32::from_ne_bytes([word[0], word[1], word[2], word[3]]).into()
    }

    fn page_bytes(&self) -> u64 {
        match u16::from_ne_bytes([self.header[14], self.header[15]]) {
            1 => 65_536,
            size => size.into(),
        }
    }

    /// Frames of the log that count.
    fn frames(&self) -> u64 {
        self.word(16)
    }

    /// Whether the database file has all that the log has.
    fn is_copied(&self) -> bool {
        self.frames() == u64::from(self.copied)
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
        &self.header[32..40]
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
        let mut copied = [0; 4];
        read_at(self.index, &mut copied, 96).ok()?;
        let mut copies = [[0; 48]; 2];
        read_at(self.index, copies.as_flattened_mut(), 0).ok()?;
        // They differ while a process writes them.
        let [header, second] = copies;
        (header == second).then(|| Index {
            header,
            copied: u32::from_ne_bytes(copied),
        })
    }

    /// The position among the files of the one that is too short.
    fn find_cut(&self, known: &Index, [database, log, _]: [u64; 3]) -> io::Result<Option<usize>> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let cut = if !self.is_whole(known, last.index.as_ref(), log)? {
            1
        } else if database < last.database_bytes.min(known.database_bytes()) {
            0
        } else {
            *last = Last {
                index: Some(known.clone()),
                database_bytes: database.min(known.database_bytes()),
            };
            return Ok(None);
        };
        // Another connection may have emptied the log lawfully while this looked.
        Ok((self.index().as_ref() == Some(known)).then_some(cut))
    }

    /// Whether the log has all that the index knows. A log that was cut and written to again is long
    /// enough, but has a hole where it began, or where it ended at the last look.
    fn is_whole(&self, known: &Index, last: Option<&Index>, length: u64) -> io::Result<bool> {
        let has_salts = |at: u64| {
            let mut salts = [0; 8];
            match read_at(&self.log, &mut salts, at) {
                Err(cause) if cause.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
                read => read.map(|()| salts == known.salts()),
            }
        };
        if known.frames() == 0 {
            return Ok(true);
        }
        if length < known.frame_at(known.frames()) || !has_salts(16)? {
            return Ok(false);
        }
        match last.filter(|last| last.salts() == known.salts() && last.frames() > 0) {
            Some(last) => has_salts(known.frame_at(last.frames() - 1) + 8),
            None => Ok(true),
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;

    fn begin(database: &Path) -> Watch {
        let file = Box::leak(Box::new(File::open(database).expect("a file")));
        Watch::begin(database, file, 1)
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
}
