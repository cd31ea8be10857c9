//! Looks through the parts of an XLSX file before a parser holds any of them: a few bytes of a
//! packed file can stand for gigabytes, and a parser keeps a whole tag, text or cell in memory.

use crate::error::{Error, Result};
use std::io::{BufRead, BufReader, Read, Seek};
use zip::{ZipArchive, result::ZipError};

/// The largest part when unpacked: a sheet.
const SHEET_MAX_BYTES: u64 = 1024 * 1024 * 1024;
/// The largest table of shared texts; the parser holds all of it.
const TEXTS_MAX_BYTES: u64 = 128 * 1024 * 1024;
/// The largest part of any other kind.
const OTHER_MAX_BYTES: u64 = 16 * 1024 * 1024;
/// All parts together.
const ALL_MAX_BYTES: u64 = 2 * 1024 * 1024 * 1024;
/// The most parts.
const PARTS_MAX: usize = 10_000;
/// The longest tag.
const TAG_MAX_BYTES: usize = 64 * 1024;
/// The longest text between two tags, and the longest cell.
const CELL_MAX_BYTES: usize = 4 * 1024 * 1024;
/// Rows without a value, one after the other: a parser goes through them, for seconds to the million.
const EMPTY_ROWS_MAX: u32 = 100_000;
/// The most shared texts that a file may announce; the parser makes room for them at once.
const TEXTS_MAX: u64 = 8_000_000;

/// Marks that were seen, which the parser of cells leaves out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// A row is not shown.
    has_hidden_rows: bool,
    /// A number format may put zeros in front.
    has_zeros: bool,
}

impl Found {
    pub(super) fn has_marks(self) -> bool {
        self.has_hidden_rows || self.has_zeros
    }
}

/// Checks the one part of a packed file that is read.
///
/// # Errors
/// As [`check`].
pub(super) fn check_part(part: impl Read) -> Result<()> {
    let mut reader = BufReader::with_capacity(64 * 1024, part.take(SHEET_MAX_BYTES + 1));
    let bytes = look_through(&mut reader, Some(&mut Xml::default()))?;
    if bytes > SHEET_MAX_BYTES {
        return Err(too_much());
    }
    Ok(())
}

/// Checks every part.
///
/// # Errors
/// [`crate::Kind::Unreadable`] for what is damaged, protected, or unpacks to too much.
pub(super) fn check(file: impl Read + Seek) -> Result<Found> {
    let mut found = Found::default();
    let mut archive = ZipArchive::new(file).map_err(damaged)?;
    if archive.len() > PARTS_MAX {
        return Err(too_much());
    }
    let mut all_bytes = 0;
    for at in 0..archive.len() {
        let part = archive.by_index(at).map_err(|cause| match cause {
            ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) => {
                Error::unreadable("is protected by a password; save it without one")
            }
            cause => damaged(cause),
        })?;
        let name = part.name().to_lowercase();
        let is_xml = [".xml", ".rels", ".vml"]
            .iter()
            .any(|end| name.ends_with(end));
        let most = if name.contains("sharedstrings") {
            TEXTS_MAX_BYTES
        } else if name.contains("worksheets/") && is_xml {
            SHEET_MAX_BYTES
        } else {
            OTHER_MAX_BYTES
        };
        if part.size() > most {
            return Err(too_much());
        }
        let mut reader = BufReader::with_capacity(64 * 1024, part.take(most + 1));
        let mut xml = Xml {
            found,
            ..Xml::default()
        };
        let bytes = look_through(&mut reader, is_xml.then_some(&mut xml))?;
        found = xml.found;
        all_bytes += bytes;
        if bytes > most || all_bytes > ALL_MAX_BYTES {
            return Err(too_much());
        }
    }
    Ok(found)
}

fn look_through(part: &mut impl BufRead, mut xml: Option<&mut Xml>) -> Result<u64> {
    let mut bytes = 0;
    loop {
        let chunk = part.fill_buf().map_err(damaged)?;
        if chunk.is_empty() {
            return Ok(bytes);
        }
        if let Some(xml) = &mut xml {
            chunk.iter().try_for_each(|byte| xml.byte(*byte))?;
        }
        let length = chunk.len();
        bytes += length as u64;
        part.consume(length);
    }
}

/// The state of reading an XML text.
#[derive(Default)]
struct Xml {
    is_tag: bool,
    /// The quotation mark that closes the value of an attribute.
    quote: Option<u8>,
    /// Bytes since the tag or text began.
    length: usize,
    /// The beginning of the tag.
    tag: Vec<u8>,
    /// The tag that a cell's text began with, and bytes since, while inside one.
    cell: Option<(Vec<u8>, usize)>,
    tags: u64,
    /// Rows without a value before this one.
    empty_rows: u32,
    /// Set once the row has a value.
    has_value: bool,
    found: Found,
}

impl Xml {
    fn byte(&mut self, byte: u8) -> Result<()> {
        self.length += 1;
        let of_cell = self.cell.as_mut().map_or(0, |(_, length)| {
            *length += 1;
            *length
        });
        let most = if self.is_tag {
            TAG_MAX_BYTES
        } else {
            CELL_MAX_BYTES
        };
        if self.length > most || of_cell > CELL_MAX_BYTES {
            return Err(too_much());
        }
        match byte {
            0 => return Err(odd("a NUL byte")),
            b'<' if !self.is_tag => {
                self.tag.clear();
                (self.is_tag, self.length) = (true, 0);
                return Ok(());
            }
            b'>' if self.is_tag && self.quote.is_none() => {
                (self.is_tag, self.length) = (false, 0);
                return self.end_of_tag();
            }
            b'!' if self.is_tag && self.length == 1 => return Err(odd("a comment or CDATA")),
            b'"' | b'\'' if self.is_tag => match self.quote {
                None => self.quote = Some(byte),
                Some(quote) if quote == byte => self.quote = None,
                Some(_) => {}
            },
            _ => {}
        }
        if self.is_tag && self.tag.len() < 1024 {
            self.tag.push(byte);
        }
        Ok(())
    }

    fn end_of_tag(&mut self) -> Result<()> {
        self.tags += 1;
        let tag = self.tag.as_slice();
        if tag.starts_with(b"?") && (self.tags > 1 || !tag.ends_with(b"?")) {
            return Err(odd("an instruction"));
        }
        let opened = tag.strip_prefix(b"/");
        let (closes, tag) = (opened.is_some(), opened.unwrap_or(tag));
        let is_end = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'/';
        let name = tag.split(is_end).next().unwrap_or_default();
        let local = name.rsplit(|byte| *byte == b':').next().unwrap_or_default();
        let is_whole = !closes && tag.ends_with(b"/");
        let ends_row = local == b"row" && (closes || is_whole);
        self.has_value |= !closes && !is_whole && matches!(local, b"v" | b"is" | b"f");
        let has = |text: &[u8]| tag.windows(text.len()).any(|part| part == text);
        match local {
            b"row" if !closes => self.found.has_hidden_rows |= has(b" hidden="),
            b"numFmt" => self.found.has_zeros |= has(b"00"),
            _ => {}
        }
        match local {
            _ if closes && self.cell.as_ref().is_some_and(|(begun, _)| begun == local) => {
                self.cell = None;
            }
            _ if closes => {}
            _ if self.cell.is_some() || tag.ends_with(b"/") => {}
            b"si" | b"is" | b"v" => self.cell = Some((local.to_vec(), 0)),
            b"sst" if announced(tag) > TEXTS_MAX => return Err(too_much()),
            _ => {}
        }
        if ends_row { self.end_of_row() } else { Ok(()) }
    }

    fn end_of_row(&mut self) -> Result<()> {
        self.empty_rows = if std::mem::take(&mut self.has_value) {
            0
        } else {
            self.empty_rows + 1
        };
        if self.empty_rows > EMPTY_ROWS_MAX {
            return Err(Error::unreadable(
                "has more than 100,000 empty rows one after the other; delete the rows below the list in a spreadsheet, or save the list as CSV",
            ));
        }
        Ok(())
    }
}

/// The number of texts that the tag of shared texts announces.
fn announced(tag: &[u8]) -> u64 {
    let text = String::from_utf8_lossy(tag);
    let after = text.split("uniqueCount").nth(1).unwrap_or_default();
    let digits = after.trim_start_matches(|char: char| !char.is_ascii_digit());
    let digits = digits.split(|char: char| !char.is_ascii_digit()).next();
    match digits.unwrap_or_default() {
        "" => 0,
        digits => digits.parse().unwrap_or(u64::MAX),
    }
}

fn damaged(cause: impl std::fmt::Display) -> Error {
    Error::unreadable(format!(
        "is cut off, damaged, or no .xlsx ({cause}); open it in a spreadsheet and save it anew as .xlsx"
    ))
}

fn too_much() -> Error {
    Error::unreadable(
        "unpacks to more than any list needs; open it in a spreadsheet, and save the list alone, or as CSV",
    )
}

fn odd(what: &str) -> Error {
    Error::unreadable(format!(
        "has {what} among its cells, which no spreadsheet writes; open it in one and save it anew"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(text: &[u8]) -> Result<u64> {
        look_through(&mut BufReader::new(text), Some(&mut Xml::default()))
    }

    #[test]
    fn what_a_parser_would_hold_is_bounded() {
        let long = vec![b'x'; CELL_MAX_BYTES + 10];
        let of = |parts: &[&[u8]]| look(&parts.concat());
        assert!(look(b"<?xml version='1.0'?><a b='>'><c/>text</a>").is_ok());
        assert!(of(&[b"<a>", &long, b"</a>"]).is_err());
        assert!(of(&[b"<a b='", &long, b"'/>"]).is_err());
        assert!(look(b"<a><!-- x --></a>").is_err());
        assert!(look(b"<a><![CDATA[x]]></a>").is_err());
        assert!(look(b"<a><?x ?></a>").is_err());
        assert!(look(b"<?x >").is_err());
        assert!(look(b"<\0a>").is_err());
        for (row, more) in [
            ("<row r='1'/>", "<row/>"),
            ("<row><c/><c><v/></c></row>", "<row></row>"),
        ] {
            let rows = row.repeat(EMPTY_ROWS_MAX as usize);
            let filled = "<row><c><v>1</v></c></row>";
            assert!(look(format!("{filled}{rows}{filled}{rows}").as_bytes()).is_ok());
            let refused = look(format!("{filled}{rows}{more}").as_bytes()).unwrap_err();
            assert!(refused.to_string().contains("empty rows"), "{refused}");
        }
        let runs = b"<r><t>y</t></r>".repeat(CELL_MAX_BYTES / 15 + 10);
        assert!(of(&[b"<is>", &runs, b"</is>"]).is_err());
        assert!(of(&[b"<rows>", &runs, b"</rows>"]).is_ok());
        assert!(look(b"<sst count='5' uniqueCount=\"99999999999999999999999\">").is_err());
        assert!(look(b"<sst count='99' uniqueCount=\"5\">").is_ok());
    }
}
