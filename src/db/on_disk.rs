//! The contents of three pages of a database file that tell which file it is and how far, read as bytes beside SQLite
//! (<https://www.sqlite.org/fileformat2.html>).

use super::usage::{FILE, Position};
use crate::types::{error::Result, os::read_at};
use rusqlite::{Connection, OptionalExtension};
use std::fs::File;

/// The pages on which SQLite has the sequences of ids and the counters; 0 where there are none.
#[derive(Debug, Clone, Copy)]
pub struct Roots {
    pub sequences: u32,
    pub counters: u32,
    /// The version of the schema that they are of: a VACUUM by another program changes it, and may move them.
    pub schema: u32,
}

impl Roots {
    /// Reads them from the schema.
    pub fn read(connection: &Connection) -> Result<Self> {
        let root = |name: &str| {
            let sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
            let root = connection.query_row(sql, [name], |row| row.get(0));
            Ok::<u32, rusqlite::Error>(root.optional()?.unwrap_or(0))
        };
        Ok(Self {
            sequences: root("sqlite_sequence")?,
            counters: root("counters")?,
            schema: connection.query_row("PRAGMA schema_version", [], |row| row.get(0))?,
        })
    }
}

/// The header of a file, and how far the file itself is without its log. Each number grows with every checkpoint that
/// changes it, whichever process makes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OnDisk {
    application: u32,
    bytes: usize,
    /// The header's bytes about a log.
    log: [u8; 2],
    /// Grows whenever the first page is written.
    changes: u32,
    sequences: Content<Position>,
    /// The number of the file ([`FILE`]).
    number: Content<i64>,
}

/// The content of a page, where it is the expected one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Content<T> {
    Known(T),
    /// Something else is on the page, or the file ends before it.
    Elsewhere,
    /// The page is no page of a table or an index, which others report as damage, or refers to other pages.
    Unknown,
}

impl<T: Copy> Content<T> {
    /// Reads a page by `parse`; nothing where it has no type.
    fn read(
        file: &File,
        page: u32,
        bytes: usize,
        parse: impl FnOnce(&[u8]) -> Self,
    ) -> Option<Self> {
        let mut content = vec![0; bytes];
        let at = u64::from(page.saturating_sub(1)) * bytes as u64;
        if page == 0 || read_at(file, &mut content, at).is_err() {
            return Some(Self::Elsewhere);
        }
        Some(if PAGE_TYPES.contains(content.first()?) {
            parse(&content)
        } else {
            Self::Unknown
        })
    }

    fn known(self) -> Option<T> {
        match self {
            Self::Known(content) => Some(content),
            Self::Elsewhere | Self::Unknown => None,
        }
    }

    /// Returns whether a page with the content `before` can have become this one, if `follows` says so of both
    /// contents.
    fn may_follow(self, before: Self, follows: impl FnOnce(T, T) -> bool) -> bool {
        match (self, before) {
            (Self::Known(now), Self::Known(before)) => follows(now, before),
            (Self::Elsewhere, Self::Known(_)) => false,
            _ => true,
        }
    }
}

impl OnDisk {
    /// Reads a file. None where it cannot be read, or is written to at this moment.
    pub fn read(file: &File, roots: Roots) -> Option<Self> {
        let read = || Self::read_once(file, roots);
        read().filter(|found| read().as_ref() == Some(found))
    }

    fn read_once(file: &File, roots: Roots) -> Option<Self> {
        let mut header = [0; 100];
        read_at(file, &mut header, 0).ok()?;
        let bytes = match u16::from_be_bytes([header[16], header[17]]) {
            1 => 65_536,
            size => usize::from(size),
        };
        Some(Self {
            application: number(&header, 68)?,
            bytes,
            log: [header[18], header[19]],
            changes: number(&header, 24)?,
            sequences: if number(&header, 40)? == roots.schema {
                Content::read(file, roots.sequences, bytes, |page| {
                    sequences(page).map_or(Content::Elsewhere, Content::Known)
                })?
            } else {
                Content::Unknown
            },
            number: Content::read(file, roots.counters, bytes, file_number)?,
        })
    }

    /// Returns how far the file is, where it says.
    pub fn position(&self) -> Option<Position> {
        self.sequences.known()
    }

    /// The number of the file, where it says.
    pub fn number(&self) -> Option<i64> {
        self.number.known()
    }

    /// Returns whether the file is as far as that; true where it does not say.
    pub fn has(&self, position: Position) -> bool {
        self.position().is_none_or(|found| found.reaches(position))
    }

    /// Returns whether a file that was as `before` can have become this one by being written to.
    pub fn may_follow(&self, before: &Self) -> bool {
        (self.application, self.bytes, self.log) == (before.application, before.bytes, before.log)
            && self.changes >= before.changes
            && self
                .sequences
                .may_follow(before.sequences, Position::reaches)
            // A VACUUM by another program moves the counters to another page.
            && self
                .number()
                .zip(before.number())
                .is_none_or(|(now, then)| now == then)
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let number = bytes.get(at..at + 4)?;
    Some(u32::from_be_bytes(number.try_into().ok()?))
}

/// The values of the first byte of a page that is part of a table or an index.
const PAGE_TYPES: [u8; 4] = [REFERRING, 5, ROWS, LEAF];
/// A page of an index, or of a table without row ids, that refers to others.
const REFERRING: u8 = 2;
/// A leaf of such a table.
const ROWS: u8 = 10;
/// A leaf of a table: its type, the number of its cells, and where each begins.
const LEAF: u8 = 13;
const CELLS_AT: usize = 3;
const POINTERS_AT: usize = 8;

/// Reads the position from the leaf of `sqlite_sequence`.
pub fn sequences(page: &[u8]) -> Option<Position> {
    if *page.first()? != LEAF {
        return None;
    }
    let mut position = Position::default();
    for cell in 0..short(page, CELLS_AT)? {
        let (name, value) = row(page, short(page, POINTERS_AT + 2 * cell)?)?;
        match name {
            b"interactions" => position.interaction = value,
            b"audit" => position.change = value,
            _ => {}
        }
    }
    Some(position)
}

/// The number of the file, as the leaf of the counters says.
fn file_number(page: &[u8]) -> Content<i64> {
    match page.first() {
        Some(&REFERRING) => return Content::Unknown,
        Some(&ROWS) => {}
        _ => return Content::Elsewhere,
    }
    let counters = (0..short(page, CELLS_AT).unwrap_or(0)).filter_map(|cell| {
        let mut at = short(page, POINTERS_AT + 2 * cell)?;
        let _length = varint(page, &mut at)?;
        record(page, at)
    });
    let mut numbers = counters.filter(|(name, _)| *name == FILE.as_bytes());
    numbers
        .next()
        .map_or(Content::Elsewhere, |(_, number)| Content::Known(number))
}

fn short(page: &[u8], at: usize) -> Option<usize> {
    let pair = page.get(at..at + 2)?;
    Some(usize::from(u16::from_be_bytes([pair[0], pair[1]])))
}

/// A row of a text and a whole number.
fn row(page: &[u8], mut at: usize) -> Option<(&[u8], i64)> {
    let _length = varint(page, &mut at)?;
    let _id = varint(page, &mut at)?;
    record(page, at)
}

/// The text and the whole number of a row.
fn record(page: &[u8], mut at: usize) -> Option<(&[u8], i64)> {
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
    use crate::db::{counters, migrate};

    /// A file as it is without a log, with these sequences.
    fn file(folder: &std::path::Path, sequences: &[(&str, i64)]) -> (Connection, File, Roots) {
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
        let roots = Roots::read(&connection).unwrap();
        (connection, File::open(&path).unwrap(), roots)
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
            let (connection, file, roots) = file(folder.path(), &sequences);
            counters::set(&connection, FILE, value).unwrap();
            let found = OnDisk::read(&file, roots).unwrap();
            assert_eq!(found.number(), Some(value));
            let position = Position {
                interaction: value,
                change: value / 2,
            };
            assert_eq!(found.sequences, Content::Known(position), "{value}");
            assert!(found.has(position));
        }
    }

    #[test]
    fn what_is_older_or_foreign_does_not_follow() {
        let folder = tempfile::tempdir().unwrap();
        let (connection, file, roots) = file(folder.path(), &[("interactions", 5), ("audit", 5)]);
        counters::set(&connection, FILE, 1 << 60).unwrap();
        let before = OnDisk::read(&file, roots).unwrap();
        assert!(before.may_follow(&before));
        connection
            .execute("UPDATE sqlite_sequence SET seq = 6", [])
            .unwrap();
        let after = OnDisk::read(&file, roots).unwrap();
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
            sequences: Content::Elsewhere,
            ..after.clone()
        };
        let no_counters = OnDisk {
            number: Content::Elsewhere,
            ..after.clone()
        };
        let damaged = OnDisk {
            sequences: Content::Unknown,
            number: Content::Unknown,
            ..after.clone()
        };
        assert!(damaged.may_follow(&after) && no_counters.may_follow(&after));
        // One that is further on is another all the same.
        counters::set(&connection, FILE, 1 << 61).unwrap();
        let further_on = OnDisk::read(&file, roots).unwrap();
        for other in [
            foreign,
            other_pages,
            no_log,
            full_of_something_else,
            further_on,
        ] {
            assert!(!other.may_follow(&after), "{other:?}");
        }
    }
}
