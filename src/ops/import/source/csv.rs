//! A CSV text as records, each with the line it starts at. The text is read as it comes; a record
//! that goes on and on, because a quotation mark is not closed, is refused.

use super::{Content, ROW_MAX_BYTES, Row, encoding, scan::Scan, skip_mark};
use crate::types::error::{Error, Result};
use csv::StringRecord;
use encoding_rs::{Encoding, UTF_8};
use encoding_rs_io::{DecodeReaderBytes, DecodeReaderBytesBuilder};
use std::{
    fs::File,
    io::{self, Read},
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

/// The delimiters that are recognised; the first wins where two are as frequent.
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// How a text is written.
#[derive(Debug, Clone)]
pub(super) struct Dialect {
    delimiter: u8,
    /// None for UTF-8.
    encoding: Option<&'static Encoding>,
    /// Whether its first line says so (`sep=;`, as spreadsheets write and read it).
    declared: bool,
}

impl Dialect {
    /// How the text of a file is written; `named` is its encoding, where somebody named it.
    pub(super) fn of(scan: &Scan, path: &Path, named: Option<&str>) -> Result<Self> {
        let encoding = match named {
            Some(name) => {
                let encoding = encoding::named(name)?;
                encoding::check(path, encoding)?;
                (encoding != UTF_8).then_some(encoding)
            }
            None if scan.is_utf_16() => {
                // The byte order mark decides which of the two.
                Some(encoding_rs::UTF_16LE)
            }
            None if scan.utf_8 => None,
            None if scan.is_nearly_utf_8() => {
                return Err(Error::invalid(format!(
                    "is UTF-8, but for a byte in line {}; save it anew as UTF-8 (in a spreadsheet: \"CSV UTF-8\")",
                    scan.not_utf_8_in
                )));
            }
            None if scan.is_text => Some(encoding::recognised(path)?),
            None => {
                return Err(Error::invalid(format!(
                    "is no text: byte {} is neither UTF-8 nor a letter of another encoding; save it as UTF-8 (in a spreadsheet: \"CSV UTF-8\")",
                    scan.not_utf_8_at
                )));
            }
        };
        let mut dialect = Self {
            delimiter: b',',
            encoding,
            declared: false,
        };
        let file = File::open(path).map_err(Error::invalid_cause)?;
        let mut head = Vec::new();
        dialect
            .decoded(file)?
            .take(64 * 1024)
            .read_to_end(&mut head)
            .map_err(Error::invalid_cause)?;
        let declared = declared_delimiter(&head);
        dialect.declared = declared.is_some();
        dialect.delimiter = declared.unwrap_or_else(|| delimiter_of(&head));
        Ok(dialect)
    }

    /// Whether the first line is no row, but says which delimiter comes.
    pub(super) fn is_declared(&self) -> bool {
        self.declared
    }

    pub(super) fn about(&self) -> String {
        let delimiter = match self.delimiter {
            b'\t' => "tabs".to_owned(),
            other => format!("\"{}\"", char::from(other)),
        };
        format!("{}, columns separated by {delimiter}", self.encoding())
    }

    /// What its encoding is called.
    pub(super) fn encoding(&self) -> String {
        self.encoding
            .map_or_else(|| "UTF-8".to_owned(), encoding::name_of)
    }

    fn decoded(&self, mut file: File) -> Result<Decoded> {
        Ok(match self.encoding {
            None => {
                skip_mark(&mut file)?;
                Decoded::Plain(file)
            }
            Some(encoding) => Decoded::From(Box::new(
                DecodeReaderBytesBuilder::new()
                    .encoding(Some(encoding))
                    .bom_override(true)
                    .build(file),
            )),
        })
    }
}

/// The text in UTF-8, without a byte order mark.
enum Decoded {
    Plain(File),
    From(Box<DecodeReaderBytes<File, Vec<u8>>>),
}

impl Read for Decoded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(file) => file.read(buffer),
            Self::From(decoder) => decoder.read(buffer),
        }
    }
}

/// The delimiter that the first line names: `sep=;`.
fn declared_delimiter(head: &[u8]) -> Option<u8> {
    let line = head.split(|byte| matches!(byte, b'\r' | b'\n')).next()?;
    match line.strip_prefix(b"sep=")? {
        [delimiter] if DELIMITERS.contains(delimiter) => Some(*delimiter),
        _ => None,
    }
}

/// The delimiter that stands most often in the header, outside of quotation marks.
fn delimiter_of(head: &[u8]) -> u8 {
    let mut counts = [0; DELIMITERS.len()];
    let mut quoted = false;
    for byte in head.trim_ascii_start() {
        match byte {
            b'"' => quoted = !quoted,
            b'\r' | b'\n' if !quoted => break,
            _ if quoted => {}
            byte => {
                if let Some(known) = DELIMITERS.iter().position(|one| one == byte) {
                    counts[known] += 1;
                }
            }
        }
    }
    let most = counts.iter().max().copied().unwrap_or(0);
    let first = counts.iter().position(|count| *count == most);
    first.map_or(b',', |at| DELIMITERS[at])
}

/// What was read and not yet given out as records.
#[derive(Default)]
struct Ahead {
    text: Vec<u8>,
    /// How much of `text` is given out.
    start: usize,
    /// The same, in bytes of the whole.
    from: u64,
    /// The line there.
    line: u64,
    /// What was given out last ended in a carriage return; a line feed after it is no line.
    after_return: bool,
}

/// Keeps what passes until it is counted, and lets nothing pass beyond a record's limit.
struct Tap {
    text: Decoded,
    ahead: Arc<Mutex<Ahead>>,
}

impl Read for Tap {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut ahead = self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
        let given_out = std::mem::take(&mut ahead.start);
        ahead.text.drain(..given_out);
        if ahead.text.len() > ROW_MAX_BYTES {
            return Err(io::Error::other(format!(
                "line {}: goes on for more than {} MiB; is a quotation mark not closed?",
                ahead.line,
                ROW_MAX_BYTES / 1024 / 1024
            )));
        }
        let read = self.text.read(buffer)?;
        ahead.text.extend_from_slice(&buffer[..read]);
        Ok(read)
    }
}

/// The records of a text, one after the other; lines with nothing in them are passed over.
pub(super) struct Records {
    reader: csv::Reader<Tap>,
    ahead: Arc<Mutex<Ahead>>,
    record: StringRecord,
}

impl Records {
    pub(super) fn new(file: File, dialect: &Dialect) -> Result<Self> {
        let ahead = Arc::new(Mutex::new(Ahead {
            line: 1,
            ..Ahead::default()
        }));
        let tap = Tap {
            text: dialect.decoded(file)?,
            ahead: Arc::clone(&ahead),
        };
        Ok(Self {
            reader: csv::ReaderBuilder::new()
                .has_headers(false)
                .flexible(true)
                .delimiter(dialect.delimiter)
                .buffer_capacity(64 * 1024)
                .from_reader(tap),
            ahead,
            record: StringRecord::new(),
        })
    }
}

impl Iterator for Records {
    type Item = Result<Row>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.reader.read_record(&mut self.record) {
            Ok(false) => None,
            Ok(true) => {
                let mut ahead = self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
                let last = self.record.iter().next_back().unwrap_or_default();
                let goes_on = last.ends_with(['\n', '\r']);
                let (line, open_quote) = ahead.locate(self.reader.position().byte(), goes_on);
                let content = if open_quote {
                    Content::Unreadable(
                        "a quotation mark is not closed; what follows was read as part of this row"
                            .into(),
                    )
                } else {
                    Content::Cells(self.record.iter().map(str::to_owned).collect())
                };
                Some(Ok(Row { line, content }))
            }
            Err(cause) => Some(Err(Error::invalid(match cause.into_kind() {
                csv::ErrorKind::Io(cause) => cause.to_string(),
                other => format!("cannot be read: {other:?}"),
            }))),
        }
    }
}

impl Ahead {
    /// The line at which the record starts that ends at byte `end`, and whether it goes on over
    /// the next lines because a quotation mark is not closed. The reader counts a line break that
    /// ends a row, or stands before it, now here and now there. `goes_on`: the record's last cell
    /// ends with a line break.
    fn locate(&mut self, end: u64, goes_on: bool) -> (u64, bool) {
        let length = usize::try_from(end - self.from).unwrap_or(usize::MAX);
        let waiting = &self.text[self.start..];
        let mut raw = &waiting[..length.min(waiting.len())];
        self.start += raw.len();
        self.from = end;
        if self.after_return {
            raw = raw.strip_prefix(b"\n").unwrap_or(raw);
        }
        self.after_return = raw.ends_with(b"\r");
        let is_break = |byte: &&u8| matches!(byte, b'\r' | b'\n');
        let blank = raw.iter().take_while(is_break).count();
        let line = self.line + line_breaks(&raw[..blank]);
        let record = &raw[blank..];
        let inner = record.trim_ascii_end();
        let quotes = inner.iter().filter(|byte| **byte == b'"').count();
        let open_quote = quotes % 2 == 1 && (goes_on || line_breaks(inner) > 0);
        self.line = line + line_breaks(record);
        (line, open_quote)
    }
}

fn line_breaks(text: &[u8]) -> u64 {
    let breaks = text.iter().enumerate().filter(|(at, byte)| match byte {
        b'\n' => true,
        b'\r' => text.get(at + 1) != Some(&b'\n'),
        _ => false,
    });
    breaks.count() as u64
}
