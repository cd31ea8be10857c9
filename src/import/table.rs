//! A CSV file as rows of text. The file is held once, as it is; rows are read from it anew whenever
//! they are needed.

use crate::error::{Error, Result};
use csv::StringRecord;
use std::{
    fs::File,
    io::{Cursor, Read},
    path::Path,
    sync::Arc,
};

/// The largest file that is taken, in bytes: it is held in memory.
pub const FILE_MAX_BYTES: usize = 512 * 1024 * 1024;

/// The most columns that are taken.
pub const COLUMNS_MAX: usize = 1_000;

/// The delimiters that are recognised; the first wins where two are as frequent.
const DELIMITERS: [u8; 3] = [b',', b';', b'\t'];

/// What spreadsheets take for a formula; an apostrophe before it is not part of the value.
const FORMULA_STARTS: [char; 6] = ['=', '@', '+', '-', '\t', '\r'];

/// A table with its header.
#[derive(Debug)]
pub struct Table {
    text: Text,
    delimiter: u8,
    header: Vec<String>,
}

#[derive(Debug, Clone)]
struct Text(Arc<String>);

impl AsRef<[u8]> for Text {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl Table {
    /// Reads a CSV file.
    ///
    /// # Errors
    /// A sentence for the operator, with the file's name.
    pub fn open(path: &Path) -> Result<Self> {
        let told =
            |cause: &dyn std::fmt::Display| Error::invalid(format!("{}: {cause}", path.display()));
        let mut bytes = Vec::new();
        let most = u64::try_from(FILE_MAX_BYTES).unwrap_or(u64::MAX);
        let file = File::open(path).map_err(|cause| told(&cause))?;
        // One byte more, so that what is too large is noticed, in a pipe too.
        file.take(most + 1)
            .read_to_end(&mut bytes)
            .map_err(|cause| told(&cause))?;
        Self::parse(bytes).map_err(|cause| told(&cause))
    }

    /// Reads the bytes of a CSV file.
    ///
    /// # Errors
    /// [`crate::error::Kind::Invalid`] for what is too large, not UTF-8, or without a header.
    pub fn parse(bytes: Vec<u8>) -> Result<Self> {
        if bytes.len() > FILE_MAX_BYTES {
            return Err(Error::invalid(format!(
                "is larger than {} MiB; split it",
                FILE_MAX_BYTES / 1024 / 1024
            )));
        }
        let text = decoded(bytes)?;
        let delimiter = delimiter_of(&text);
        let mut table = Self {
            text: Text(Arc::new(text)),
            delimiter,
            header: Vec::new(),
        };
        let header = table.rows_from_the_start().next().transpose()?;
        let header = header.ok_or_else(|| Error::invalid("is empty: it has no header"))?;
        if header.open_quote {
            return Err(Error::invalid(
                "a quotation mark in the header is not closed",
            ));
        }
        if header.width() > COLUMNS_MAX {
            return Err(Error::invalid(format!(
                "has {} columns, at most {COLUMNS_MAX} are taken",
                header.width()
            )));
        }
        table.header = header.values().map(str::to_owned).collect();
        Ok(table)
    }

    /// The header's cells, cleaned as values are.
    #[must_use]
    pub fn header(&self) -> &[String] {
        &self.header
    }

    /// The delimiter of its columns.
    #[must_use]
    pub fn delimiter(&self) -> char {
        char::from(self.delimiter)
    }

    /// The rows below the header.
    #[must_use]
    pub fn rows(&self) -> Rows {
        let mut rows = self.rows_from_the_start();
        rows.next();
        rows
    }

    fn rows_from_the_start(&self) -> Rows {
        Rows {
            reader: csv::ReaderBuilder::new()
                .has_headers(false)
                .flexible(true)
                .delimiter(self.delimiter)
                .from_reader(Cursor::new(self.text.clone())),
            text: self.text.clone(),
            at: 0,
            line: 1,
        }
    }
}

/// The rows of a table, one after the other; lines with nothing in them are passed over.
#[derive(Debug)]
pub struct Rows {
    reader: csv::Reader<Cursor<Text>>,
    text: Text,
    /// Where the lines are counted up to, in bytes.
    at: usize,
    line: u64,
}

/// One row.
#[derive(Debug)]
pub struct Row {
    /// The line it starts at, counted from 1.
    pub line: u64,
    /// Whether it goes on over the next lines because a quotation mark is not closed.
    pub open_quote: bool,
    record: StringRecord,
}

impl Iterator for Rows {
    type Item = Result<Row>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut record = StringRecord::new();
        match self.reader.read_record(&mut record) {
            Ok(false) => None,
            Ok(true) => Some(Ok(self.located(record))),
            Err(cause) => Some(Err(Error::defect(cause))),
        }
    }
}

impl Rows {
    /// The reader counts a line break that ends a row, or stands before it, now here and now there.
    fn located(&mut self, record: StringRecord) -> Row {
        let text = self.text.as_ref();
        let end = usize::try_from(self.reader.position().byte()).unwrap_or(text.len());
        let blank = text[self.at..end]
            .iter()
            .take_while(|byte| matches!(byte, b'\r' | b'\n'))
            .count();
        self.line += line_breaks(&text[self.at..self.at + blank]);
        let raw = &text[self.at + blank..end];
        let line = self.line;
        let inner = raw.trim_ascii_end();
        let open_quote =
            line_breaks(inner) > 0 && inner.iter().filter(|byte| **byte == b'"').count() % 2 == 1;
        self.line += line_breaks(raw);
        self.at = end;
        if text[..end].ends_with(b"\r") && text[end..].starts_with(b"\n") {
            self.at += 1;
        }
        Row {
            line,
            open_quote,
            record,
        }
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

impl Row {
    /// How many columns it has.
    #[must_use]
    pub fn width(&self) -> usize {
        self.record.len()
    }

    /// The value in a column, counted from 0; empty where there is none.
    #[must_use]
    pub fn value(&self, column: usize) -> &str {
        cleaned(self.record.get(column).unwrap_or_default())
    }

    /// The values of all columns.
    pub fn values(&self) -> impl Iterator<Item = &str> {
        self.record.iter().map(cleaned)
    }
}

/// A cell without the white space around it, and without the apostrophe that keeps a spreadsheet
/// from running it (contract §8).
fn cleaned(cell: &str) -> &str {
    let cell = cell.trim();
    match cell.strip_prefix('\'') {
        Some(rest) if rest.starts_with(FORMULA_STARTS) => rest,
        _ => cell,
    }
}

fn decoded(mut bytes: Vec<u8>) -> Result<String> {
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Err(Error::invalid(
            "is UTF-16; save it as UTF-8 (in a spreadsheet: \"CSV UTF-8\")",
        ));
    }
    let mark = if bytes.starts_with(b"\xef\xbb\xbf") {
        3
    } else {
        0
    };
    bytes.drain(..mark);
    String::from_utf8(bytes).map_err(|cause| {
        let at = cause.utf8_error().valid_up_to();
        let line = 1 + line_breaks(&cause.as_bytes()[..at]);
        Error::invalid(format!(
            "is not UTF-8: line {line}, byte {} of the file; save it as UTF-8 (in a spreadsheet: \"CSV UTF-8\")",
            at + mark
        ))
    })
}

/// The delimiter that stands most often in the header, outside of quotation marks.
fn delimiter_of(text: &str) -> u8 {
    let mut counts = [0; DELIMITERS.len()];
    let mut quoted = false;
    for byte in text.trim_start().bytes() {
        match byte {
            b'"' => quoted = !quoted,
            b'\r' | b'\n' if !quoted => break,
            _ if quoted => {}
            _ => {
                if let Some(known) = DELIMITERS.iter().position(|one| *one == byte) {
                    counts[known] += 1;
                }
            }
        }
    }
    let most = counts.iter().max().copied().unwrap_or(0);
    let first = counts.iter().position(|count| *count == most);
    first.map_or(b',', |at| DELIMITERS[at])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> Table {
        Table::parse(text.as_bytes().to_vec()).unwrap()
    }

    fn lines(text: &str) -> Vec<(u64, Vec<String>)> {
        table(text)
            .rows()
            .map(|row| row.unwrap())
            .map(|row| (row.line, row.values().map(str::to_owned).collect()))
            .collect()
    }

    #[test]
    fn the_delimiter_is_told_by_the_header() {
        for (text, delimiter) in [
            ("a,b;c,d\n1;2;3;4;5", ','),
            ("a;b;c\n1,2,3,4,5,6", ';'),
            ("a\tb,c\td\n", '\t'),
            ("\"a,b,c,d\";e\n", ';'),
            ("\"a\n,,,\";b\n", ';'),
            ("barcode\nA,B", ','),
            ("\r\na;b", ';'),
        ] {
            assert_eq!(table(text).delimiter(), delimiter, "{text}");
        }
    }

    #[test]
    fn a_row_knows_its_line_whatever_ends_it() {
        for end in ["\n", "\r\n", "\r"] {
            let text = ["", "h,i", "", "a,\"b", "c\"", "", "", "d,e", "f,g"].join(end);
            let found: Vec<_> = lines(&text).into_iter().map(|(line, _)| line).collect();
            assert_eq!(found, [4, 8, 9], "{end:?}");
        }
        assert_eq!(lines("h\r\na\r\nb\r\n").len(), 2);
        assert!(lines("h\n").is_empty());
    }

    #[test]
    fn values_are_cleaned() {
        let row = &lines("a,b,c,d,e,f\n x y ,'=1+1,'-x,'tis,\"'\tq\",\u{a0}\n")[0].1;
        assert_eq!(row, &["x y", "=1+1", "-x", "'tis", "\tq", ""]);
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_header() {
        assert_eq!(table("\u{feff}Barcode,b\n").header(), ["Barcode", "b"]);
    }

    #[test]
    fn what_is_not_utf_8_is_told_with_its_place() {
        let refused = |bytes: &[u8]| Table::parse(bytes.to_vec()).unwrap_err().message;
        assert!(refused(b"a,b\r\nx,M\xfcller\r\n").contains("line 2, byte 8 "));
        assert!(refused(b"\xef\xbb\xbfa\nM\xfc").contains("line 2, byte 6 "));
        assert!(refused(b"\xff\xfea\0").contains("UTF-16"));
        assert!(refused(&[b','; 1_000]).contains("has 1001 columns"));
        assert!(refused(b"").contains("is empty"));
        assert!(refused(b"\n\n").contains("is empty"));
        assert!(refused(b"a,\"b\nc,d\n").contains("not closed"));
    }

    #[test]
    fn a_quotation_mark_that_is_not_closed_is_noticed() {
        let open: Vec<bool> = table("a,b\n1,\"x\ny\"\n2,5\" nail\n3,\"z\n4,5\n")
            .rows()
            .map(|row| row.unwrap().open_quote)
            .collect();
        assert_eq!(open, [false, false, true]);
    }
}
