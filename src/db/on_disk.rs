//! What two pages of a database file tell about how far it is, read as bytes beside SQLite
//! (<https://www.sqlite.org/fileformat2.html>).

use super::usage::Position;
use crate::types::os::read_at;
use std::fs::File;

/// The header of a file, and how far the file itself is without its log. Each number grows with every checkpoint that
/// changes it, whichever process makes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OnDisk {
    application: u32,
    bytes: usize,
    /// What the header says of a log.
    log: [u8; 2],
    /// Grows whenever the first page is written.
    changes: u32,
    sequences: Sequences,
}

/// What stands on the page of the sequences of ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sequences {
    Known(Position),
    /// Something else does, or the file ends before it.
    Elsewhere,
    /// It is no page of a table or an index: it is damaged, which others tell.
    Damaged,
}

impl OnDisk {
    /// Reads a file whose `sqlite_sequence` stands on a page. None where it cannot be read, or is written to at
    /// this moment.
    pub fn read(file: &File, sequences: u32) -> Option<Self> {
        let read = || Self::read_once(file, sequences);
        read().filter(|found| read().as_ref() == Some(found))
    }

    fn read_once(file: &File, page: u32) -> Option<Self> {
        let mut header = [0; 100];
        read_at(file, &mut header, 0).ok()?;
        let bytes = match u16::from_be_bytes([header[16], header[17]]) {
            1 => 65_536,
            size => usize::from(size),
        };
        let mut leaf = vec![0; bytes];
        let at = u64::from(page.saturating_sub(1)) * bytes as u64;
        let sequences = match read_at(file, &mut leaf, at) {
            Ok(()) if !PAGE_TYPES.contains(leaf.first()?) => Sequences::Damaged,
            Ok(()) => sequences(&leaf).map_or(Sequences::Elsewhere, Sequences::Known),
            Err(_) => Sequences::Elsewhere,
        };
        Some(Self {
            application: number(&header, 68)?,
            bytes,
            log: [header[18], header[19]],
            changes: number(&header, 24)?,
            sequences,
        })
    }

    /// Whether the file is as far as that; yes where it does not say.
    pub fn has(&self, position: Position) -> bool {
        match self.sequences {
            Sequences::Known(found) => found.reaches(position),
            Sequences::Elsewhere | Sequences::Damaged => true,
        }
    }

    /// Whether a file that was as `before` can have become this one by being written to.
    pub fn may_follow(&self, before: &Self) -> bool {
        let is_behind = match (self.sequences, before.sequences) {
            (Sequences::Known(_), Sequences::Known(then)) => !self.has(then),
            // It is full of something else.
            (Sequences::Elsewhere, Sequences::Known(_)) => true,
            _ => false,
        };
        (self.application, self.bytes, self.log) == (before.application, before.bytes, before.log)
            && self.changes >= before.changes
            && !is_behind
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let number = bytes.get(at..at + 4)?;
    Some(u32::from_be_bytes(number.try_into().ok()?))
}

/// What the first byte of a page may be that is part of a table or an index.
const PAGE_TYPES: [u8; 4] = [2, 5, 10, LEAF];
/// A leaf of a table: its type, the number of its cells, and where each begins.
const LEAF: u8 = 13;
const CELLS_AT: usize = 3;
const POINTERS_AT: usize = 8;

/// What the leaf of `sqlite_sequence` says.
fn sequences(page: &[u8]) -> Option<Position> {
    if *page.first()? != LEAF {
        return None;
    }
    let short = |at: usize| {
        let pair = page.get(at..at + 2)?;
        Some(usize::from(u16::from_be_bytes([pair[0], pair[1]])))
    };
    let mut position = Position::default();
    for cell in 0..short(CELLS_AT)? {
        let (name, value) = row(page, short(POINTERS_AT + 2 * cell)?)?;
        match name {
            b"interactions" => position.interaction = value,
            b"audit" => position.change = value,
            _ => {}
        }
    }
    Some(position)
}

/// A row of a text and a whole number.
fn row(page: &[u8], mut at: usize) -> Option<(&[u8], i64)> {
    let _length = varint(page, &mut at)?;
    let _id = varint(page, &mut at)?;
    let header = at;
    let mut begin = header + usize::try_from(varint(page, &mut at)?).ok()?;
    let text = usize::try_from(varint(page, &mut at)?)
        .ok()?
        .checked_sub(13)?
        / 2;
    let kind = varint(page, &mut at)?;
    let name = page.get(begin..begin + text)?;
    begin += text;
    let bytes = match kind {
        8 | 9 => return Some((name, i64::from(kind == 9))),
        1..=4 => usize::try_from(kind).ok()?,
        5 => 6,
        6 => 8,
        _ => return None,
    };
    let value = page.get(begin..begin + bytes)?;
    // None of these is below 0.
    let value = value
        .iter()
        .fold(0, |value, byte| value << 8 | i64::from(*byte));
    Some((name, value))
}

fn varint(page: &[u8], at: &mut usize) -> Option<u64> {
    let mut value = 0;
    for count in 0..9 {
        let byte = *page.get(*at)?;
        *at += 1;
        if count == 8 {
            return Some(value << 8 | u64::from(byte));
        }
        value = value << 7 | u64::from(byte & 0x7f);
        if byte < 0x80 {
            break;
        }
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::{migrate, sequences as page_of};
    use rusqlite::Connection;

    /// A file as it is without a log, with these sequences.
    fn file(folder: &std::path::Path, sequences: &[(&str, i64)]) -> (Connection, File, u32) {
        let path = folder.join("a.db");
        let _ = std::fs::remove_file(&path);
        let connection = Connection::open(&path).unwrap();
        migrate::create(&connection).unwrap();
        for (name, value) in sequences {
            connection
                .execute(
                    "INSERT OR REPLACE INTO sqlite_sequence (name, seq) VALUES (?1, ?2)",
                    (name, value),
                )
                .unwrap();
        }
        let page = page_of(&connection).unwrap();
        (connection, File::open(&path).unwrap(), page)
    }

    #[test]
    fn sequences_are_read_as_sqlite_wrote_them() {
        let folder = tempfile::tempdir().unwrap();
        for value in [
            0,
            1,
            127,
            128,
            40_000,
            9_000_000,
            1 << 31,
            1 << 40,
            i64::MAX,
        ] {
            let sequences = [("users", 7), ("interactions", value), ("audit", value / 2)];
            let (_connection, file, page) = file(folder.path(), &sequences);
            let found = OnDisk::read(&file, page).unwrap();
            let position = Position {
                interaction: value,
                change: value / 2,
            };
            assert_eq!(found.sequences, Sequences::Known(position), "{value}");
            assert!(found.has(position));
        }
    }

    #[test]
    fn what_is_older_or_foreign_does_not_follow() {
        let folder = tempfile::tempdir().unwrap();
        let (connection, file, page) = file(folder.path(), &[("interactions", 5), ("audit", 5)]);
        let before = OnDisk::read(&file, page).unwrap();
        assert!(before.may_follow(&before));
        connection
            .execute("UPDATE sqlite_sequence SET seq = 6", [])
            .unwrap();
        let after = OnDisk::read(&file, page).unwrap();
        assert!(after.may_follow(&before) && !before.may_follow(&after));
        let foreign = OnDisk {
            application: 1,
            ..after.clone()
        };
        let other_pages = OnDisk {
            bytes: 512,
            ..after.clone()
        };
        let no_log = OnDisk {
            log: [2, 2],
            ..after.clone()
        };
        let full_of_something_else = OnDisk {
            sequences: Sequences::Elsewhere,
            ..after.clone()
        };
        let damaged = OnDisk {
            sequences: Sequences::Damaged,
            ..after.clone()
        };
        assert!(damaged.may_follow(&after));
        for other in [foreign, other_pages, no_log, full_of_something_else] {
            assert!(!other.may_follow(&after), "{other:?}");
        }
    }
}
