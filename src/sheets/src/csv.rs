//! A CSV text as records, each with the line it starts at. The text is streamed; a record that grows
//! too long, because a quotation mark is not closed, is refused. The line numbers of the `csv` library
//! are wrong at some line breaks, so records are split here.

use crate::{
    Content, ROW_MAX_BYTES, Row,
    encoding::{self, Scan},
    error::{Error, Result},
};
use encoding_rs::{Encoding, UTF_8};
use encoding_rs_io::{DecodeReaderBytes, DecodeReaderBytesBuilder};
use std::{
    fs::File,
    io::{BufRead, BufReader, Read},
    path::Path,
};

/// The delimiters that are recognised; the first wins where two are as frequent.
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// The delimiter and the encoding of a text.
#[derive(Debug, Clone)]
pub(super) struct Dialect {
    delimiter: u8,
    encoding: &'static Encoding,
    /// Its first line is no row, but names the delimiter (`sep=;`, as spreadsheets write and read it).
    pub is_declared: bool,
}

impl Dialect {
    /// Recognises how the text of a file is written; `named` is its encoding, where somebody named it.
    pub(super) fn of(scan: &Scan, path: &Path, named: Option<&str>) -> Result<Self> {
        let encoding = match named.map(encoding::named).transpose()? {
            Some(encoding) => encoding::check(path, encoding).map(|()| encoding)?,
            None => scan.encoding(path)?,
        };
        let file = File::open(path).map_err(Error::cause)?;
        let mut head = Vec::new();
        decoded(file, encoding)
            .take(64 * 1024)
            .read_to_end(&mut head)
            .map_err(Error::cause)?;
        let declared = declared_delimiter(&head);
        Ok(Self {
            delimiter: declared.unwrap_or_else(|| delimiter_of(&head)),
            encoding,
            is_declared: declared.is_some(),
        })
    }

    pub(super) fn about(&self) -> String {
        let delimiter = match self.delimiter {
            b'\t' => "tabs".to_owned(),
            other => format!("\"{}\"", char::from(other)),
        };
        format!("{}, columns separated by {delimiter}", self.encoding())
    }

    /// The name of its encoding.
    pub(super) fn encoding(&self) -> String {
        encoding::name_of(self.encoding)
    }
}

type Decoded = DecodeReaderBytes<File, Vec<u8>>;

/// The text in UTF-8, without a byte order mark.
fn decoded(file: File, encoding: &'static Encoding) -> Decoded {
    DecodeReaderBytesBuilder::new()
        .encoding(Some(encoding))
        .bom_override(true)
        .strip_bom(true)
        .utf8_passthru(encoding == UTF_8)
        .build(file)
}

/// The delimiter that the first line names: `sep=;`, also in quotation marks.
fn declared_delimiter(head: &[u8]) -> Option<u8> {
    let line = head.split(|byte| matches!(byte, b'\r' | b'\n')).next()?;
    let unquoted = line
        .strip_prefix(b"\"")
        .and_then(|line| line.strip_suffix(b"\""));
    match unquoted.unwrap_or(line).strip_prefix(b"sep=")? {
        [delimiter] if DELIMITERS.contains(delimiter) => Some(*delimiter),
        _ => None,
    }
}

/// Lines that are looked at for the delimiter: a title may stand above the header.
const LINES_LOOKED_AT: usize = 20;

/// The most frequent delimiter of the header, outside of quotation marks. A line with at most one is a title where a line
/// below has two or more of another.
fn delimiter_of(head: &[u8]) -> u8 {
    let mut best = (0, b',');
    let mut rest = head.trim_ascii_start();
    for _ in 0..LINES_LOOKED_AT {
        let (counts, length) = counted(rest);
        rest = rest[length..].trim_ascii_start();
        let most = counts.iter().max().copied().unwrap_or(0);
        let first = counts.iter().position(|count| *count == most).unwrap_or(0);
        if best.0 == 0 && most > 0 || best.0 == 1 && most > 1 && DELIMITERS[first] != best.1 {
            best = (most, DELIMITERS[first]);
        }
        if best.0 > 1 || rest.is_empty() {
            break;
        }
    }
    best.1
}

/// Counts the delimiters of the first line, and its bytes.
fn counted(text: &[u8]) -> ([usize; DELIMITERS.len()], usize) {
    let mut counts = [0; DELIMITERS.len()];
    let mut quoted = false;
    for (at, byte) in text.iter().enumerate() {
        match byte {
            b'"' => quoted = !quoted,
            b'\r' | b'\n' if !quoted => return (counts, at),
            _ if quoted => {}
            byte => {
                if let Some(known) = DELIMITERS.iter().position(|one| one == byte) {
                    counts[known] += 1;
                }
            }
        }
    }
    (counts, text.len())
}

/// The records of a text, one after the other; lines with nothing in them are passed over.
pub(super) struct Records {
    text: BufReader<Decoded>,
    delimiter: u8,
    /// The line of the next byte.
    line: u64,
    /// The byte before was a carriage return: a line feed after it is no line.
    after_return: bool,
}

/// The position of the next byte in a record.
#[derive(PartialEq)]
enum Place {
    CellStart,
    Cell,
    Quoted,
    /// After a quotation mark in a quoted cell: the end, or half of one that is meant.
    QuoteInQuoted,
}

/// A record as it is read.
struct Record {
    /// The line at which it starts.
    line: u64,
    place: Place,
    bytes: usize,
    quotes: usize,
    line_breaks: usize,
    cells: Vec<Vec<u8>>,
}

impl Record {
    /// Takes the next byte; false where it ends the record.
    fn take(&mut self, byte: u8, delimiter: u8) -> bool {
        let is_break = matches!(byte, b'\r' | b'\n');
        if is_break && self.place != Place::Quoted {
            return false;
        }
        if self.bytes == 0 {
            self.cells.push(Vec::new());
        }
        self.bytes += 1;
        self.quotes += usize::from(byte == b'"');
        self.line_breaks += usize::from(is_break);
        self.place = match (&self.place, byte) {
            (Place::Quoted, b'"') => Place::QuoteInQuoted,
            (Place::CellStart, b'"') => Place::Quoted,
            (place, byte) if byte == delimiter && *place != Place::Quoted => {
                self.cells.push(Vec::new());
                Place::CellStart
            }
            (place, byte) => {
                let is_quoted =
                    *place == Place::Quoted || byte == b'"' && *place == Place::QuoteInQuoted;
                if let Some(cell) = self.cells.last_mut() {
                    cell.push(byte);
                }
                if is_quoted {
                    Place::Quoted
                } else {
                    Place::Cell
                }
            }
        };
        true
    }

    fn row(self) -> Result<Row> {
        // A later row may have closed it, which leaves an odd number of marks.
        let is_open = self.place == Place::Quoted || self.quotes % 2 == 1 && self.line_breaks > 0;
        let content = if is_open {
            Content::Unreadable(
                "a quotation mark is not closed; what follows was read as part of this row".into(),
            )
        } else {
            let cells = self.cells.into_iter().map(String::from_utf8);
            let cells = cells.collect::<Result<_, _>>();
            Content::Cells(cells.map_err(|_| Error::unreadable("was changed while it was read"))?)
        };
        Ok(Row::new(self.line, content))
    }
}

impl Records {
    pub(super) fn new(file: File, dialect: &Dialect) -> Self {
        Self {
            text: BufReader::with_capacity(64 * 1024, decoded(file, dialect.encoding)),
            delimiter: dialect.delimiter,
            line: 1,
            after_return: false,
        }
    }

    fn read(&mut self) -> Result<Option<Row>> {
        let mut record = Record {
            line: self.line,
            place: Place::CellStart,
            bytes: 0,
            quotes: 0,
            line_breaks: 0,
            cells: Vec::new(),
        };
        loop {
            let chunk = self.text.fill_buf().map_err(Error::cause)?;
            if chunk.is_empty() {
                return (record.bytes > 0).then(|| record.row()).transpose();
            }
            let mut used = 0;
            let mut is_complete = false;
            for byte in chunk {
                used += 1;
                if record.bytes == 0 {
                    record.line = self.line;
                }
                self.line += u64::from(*byte == b'\r' || *byte == b'\n' && !self.after_return);
                self.after_return = *byte == b'\r';
                if !record.take(*byte, self.delimiter) && record.bytes > 0 {
                    is_complete = true;
                    break;
                }
            }
            self.text.consume(used);
            if is_complete {
                return record.row().map(Some);
            }
            if record.bytes > ROW_MAX_BYTES {
                return Err(Error::unreadable(format!(
                    "line {}: goes on for more than {} MiB; is a quotation mark not closed?",
                    record.line,
                    ROW_MAX_BYTES / 1024 / 1024
                )));
            }
        }
    }
}

impl Iterator for Records {
    type Item = Result<Row>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}
