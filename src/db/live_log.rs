//! The log of an open file and its index, read as bytes beside SQLite.

use super::{open::beside, wal};
use crate::types::os::read_at;
use std::{
    collections::HashSet,
    fs::File,
    io,
    ops::Range,
    path::Path,
    sync::{Mutex, OnceLock, PoisonError},
};

/// The log and its index, which says to every process what the log must have
/// (<https://www.sqlite.org/walformat.html>).
#[derive(Debug)]
pub(super) struct Log {
    log: File,
    frame_bytes: OnceLock<u64>,
    /// Never closed: closing it would drop SQLite's locks.
    index: &'static File,
    last: Mutex<Last>,
}

/// The findings of the last look.
#[derive(Debug, Default)]
struct Last {
    index: Option<Index>,
    /// The pages that the index named for the last frames.
    pages: Vec<u8>,
    /// The length below which the database file does not fall, unless another process makes it smaller.
    database_bytes: u64,
}

/// The header of the log's index. Each commit and each start of the log changes it.
#[derive(Debug, Clone)]
pub(super) struct Index {
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

    pub fn page_bytes(&self) -> u64 {
        match u16::from_ne_bytes([self.header[14], self.header[15]]) {
            1 => 65_536,
            size => size.into(),
        }
    }

    /// Frames of the log that count.
    pub fn frames(&self) -> u64 {
        self.word(16)
    }

    /// Frames that no checkpoint has copied yet.
    pub fn pending(&self) -> Range<u64> {
        self.copied.into()..self.frames()
    }

    /// Returns whether the database file has all that the log has.
    pub fn is_copied(&self) -> bool {
        self.frames() == u64::from(self.copied)
    }

    /// Nothing was written to the log since the first process opened the file: the index knows no sizes.
    fn is_fresh(&self) -> bool {
        self.page_bytes() == 0
    }

    /// Returns the length of the database file once all of the log is copied into it; without bounds while the
    /// index knows none.
    fn database_bytes(&self) -> u64 {
        if self.is_fresh() {
            return u64::MAX;
        }
        self.word(20) * self.page_bytes()
    }

    pub fn salts(&self) -> &[u8] {
        &self.header[32..40]
    }

    fn frame_bytes(&self) -> u64 {
        wal::FRAME_HEADER_BYTES as u64 + self.page_bytes()
    }

    /// Returns where the index names the pages of the last frames, and in how many bytes: some of those that are in one
    /// part of it.
    fn pages_at(&self) -> (u64, usize) {
        const PART: u64 = 32_768;
        const HEADER: u64 = 136;
        const PAGES: u64 = 4_096;
        const SHOWN_MAX: u64 = 64;
        // The header is in the place of the first ones.
        let last = self.frames() + HEADER / 4 - 1;
        let first = if last < PAGES { HEADER / 4 } else { 0 };
        let shown = (last % PAGES + 1 - first).min(SHOWN_MAX);
        let end = last / PAGES * PART + (last % PAGES + 1) * 4;
        (
            end - shown * 4,
            usize::try_from(shown * 4).unwrap_or_default(),
        )
    }

    /// Returns where a frame begins, counted from 0.
    fn frame_at(&self, frame: u64) -> u64 {
        wal::HEADER_BYTES as u64 + frame * self.frame_bytes()
    }
}

impl Log {
    pub fn open(database: &Path) -> Option<Self> {
        let index = File::open(beside(database, "-shm")).ok()?;
        Some(Self {
            log: File::open(beside(database, "-wal")).ok()?,
            frame_bytes: OnceLock::new(),
            index: Box::leak(Box::new(index)),
            last: Mutex::default(),
        })
    }

    /// Returns the bytes that a page takes in the log; 0 before anything was written to it.
    fn frame_bytes(&self) -> u64 {
        if let Some(bytes) = self.frame_bytes.get() {
            return *bytes;
        }
        match self.index().filter(|index| !index.is_fresh()) {
            Some(index) => *self.frame_bytes.get_or_init(|| index.frame_bytes()),
            None => 0,
        }
    }

    pub fn index(&self) -> Option<Index> {
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

    /// The pages of some frames, those that were written last first.
    pub fn pages(&self, index: &Index, frames: Range<u64>) -> io::Result<Vec<u32>> {
        let (mut pages, mut known) = (Vec::new(), HashSet::new());
        for frame in frames.rev() {
            let mut page = [0; 4];
            read_at(&self.log, &mut page, index.frame_at(frame))?;
            let page = u32::from_be_bytes(page);
            if known.insert(page) {
                pages.push(page);
            }
        }
        Ok(pages)
    }

    /// Returns whether it is shorter than so many pages take.
    pub fn may_be_cut(&self, pages: u64) -> bool {
        let length = self.log.metadata().map_or(0, |found| found.len());
        length < pages * self.frame_bytes()
    }

    /// The position among the files of the one that is too short, or older than at the last look.
    pub fn find_cut(
        &self,
        known: &Index,
        [database, log, _]: [u64; 3],
    ) -> io::Result<Option<usize>> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let cut = if !self.is_index_newer(known, &last)? {
            2
        } else if !self.is_whole(known, last.index.as_ref(), log)? {
            1
        } else if database < last.database_bytes.min(known.database_bytes()) {
            0
        } else {
            *last = Last {
                index: Some(known.clone()),
                pages: self.last_pages(known)?,
                database_bytes: database.min(known.database_bytes()),
            };
            return Ok(None);
        };
        // Another connection may have emptied the log lawfully while this looked.
        Ok((self.index().as_ref() == Some(known)).then_some(cut))
    }

    /// Returns whether the index has all that it had at the last look, unless the log was begun anew. Somebody may put
    /// an older one in its place; a commit at that moment has its header right again, but not the pages.
    fn is_index_newer(&self, known: &Index, last: &Last) -> io::Result<bool> {
        match last
            .index
            .as_ref()
            .filter(|last| last.salts() == known.salts())
        {
            Some(before) => {
                Ok(known.frames() >= before.frames() && self.last_pages(before)? == last.pages)
            }
            None => Ok(true),
        }
    }

    fn last_pages(&self, index: &Index) -> io::Result<Vec<u8>> {
        let (at, length) = index.pages_at();
        let mut pages = vec![0; length];
        read_at(self.index, &mut pages, at)?;
        Ok(pages)
    }

    /// Returns whether the log has all that the index knows. A log that was cut and written to again is long
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
