//! A file from outside as rows: what it is (CSV, XLSX, JSON), in which encoding, and its rows one
//! after the other, as often as they are needed. It is never held in memory as a whole.

mod bomb;
mod csv;
mod encoding;
mod json;
mod xlsx;

pub use encoding::OFFERED as ENCODINGS;

use crate::types::{
    error::{Error, Result},
    spreadsheet::{unguarded, was_cut},
};
use encoding::Scan;
use serde_json::{Map, Value};
use std::{
    fs::{File, Metadata},
    io::{Read, Write},
    path::{Path, PathBuf},
    time::SystemTime,
};
use tempfile::NamedTempFile;

/// The largest file that is accepted, in bytes.
pub const FILE_MAX_BYTES: u64 = 1024 * 1024 * 1024;
/// The most columns that are accepted.
const COLUMNS_MAX: usize = 1_000;
/// The longest row that is accepted, in bytes.
const ROW_MAX_BYTES: usize = 4 * 1024 * 1024;
/// The memory of rows that are read at once goes not much beyond this.
const ROWS_BYTES: usize = 16 * 1024 * 1024;
/// The memory of a cell or a JSON value beside its text.
const VALUE_BYTES: usize = 32;

/// The header by which a file that Gatepost exported is known; its cells are taken exactly as they
/// stand.
pub const OURS: &str = "_type";

/// Directions for reading a file, where it does not say so itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reading<'a> {
    /// The sheet of an XLSX file; the first without it.
    pub sheet: Option<&'a str>,
    /// The encoding of a CSV file, such as `windows-1250`; without it, the one that is recognised.
    pub encoding: Option<&'a str>,
}

/// The marks that tell a list from others: its file and, of a spreadsheet, its sheet.
#[derive(Debug, Clone, Default)]
pub struct Fingerprint {
    /// The name of the file.
    pub name: String,
    pub sha256: [u8; 32],
    /// The first sheet, which is meant where none is named.
    pub first_sheet: Option<String>,
    /// The sheet that is read.
    pub sheet: Option<String>,
}

/// A file to import from.
#[derive(Debug)]
pub struct Source {
    path: PathBuf,
    /// The content of a pipe, on disk.
    _spool: Option<NamedTempFile>,
    version: Version,
    name: String,
    sha256: [u8; 32],
    format: Format,
    header: Option<Vec<String>>,
}

/// The marks of a file that must not change while it is read twice.
#[derive(Debug, PartialEq, Eq)]
struct Version {
    bytes: u64,
    changed: Option<SystemTime>,
}

impl Version {
    fn of(metadata: &Metadata) -> Self {
        Self {
            bytes: metadata.len(),
            changed: metadata.modified().ok(),
        }
    }
}

#[derive(Debug, Clone)]
enum Format {
    Csv(csv::Dialect),
    Xlsx {
        /// Sheets that are read, and all that there are.
        sheets: Vec<String>,
        all_sheets: Vec<String>,
    },
    Json {
        is_list: bool,
    },
}

/// One row.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Its position, from 1: the line at which it starts in a text, the row of a sheet, the
    /// object of a JSON list.
    pub line: u64,
    pub content: Content,
}

/// The content of a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Cells, those at the end possibly left out.
    Cells(Vec<String>),
    Object(Map<String, Value>),
    /// Nothing that can be read, and why.
    Unreadable(String),
    /// A cell that holds no value, the column counted from 0, and what it holds.
    BadCell(usize, String),
}

impl Row {
    /// About how much memory it takes, in bytes.
    fn bytes(&self) -> usize {
        match &self.content {
            Content::Cells(cells) => cells.iter().map(|cell| VALUE_BYTES + cell.len()).sum(),
            Content::Object(object) => bytes_of_object(object),
            Content::Unreadable(_) | Content::BadCell(..) => VALUE_BYTES,
        }
    }
}

fn bytes_of(value: &Value) -> usize {
    VALUE_BYTES
        + match value {
            Value::String(text) => text.len(),
            Value::Array(items) => items.iter().map(bytes_of).sum(),
            Value::Object(object) => bytes_of_object(object),
            _ => 0,
        }
}

fn bytes_of_object(object: &Map<String, Value>) -> usize {
    let properties = object.iter();
    properties
        .map(|(name, value)| VALUE_BYTES + name.len() + bytes_of(value))
        .sum()
}

/// Rows in their order.
pub type Rows = Box<dyn Iterator<Item = Result<Row>> + Send>;

/// The next rows, as many as are held at a time; none at the end.
pub fn next_rows(rows: &mut Rows, most: usize) -> Result<Vec<Row>> {
    let (mut slice, mut bytes) = (Vec::new(), 0);
    while slice.len() < most && bytes < ROWS_BYTES {
        let Some(row) = rows.next().transpose()? else {
            break;
        };
        bytes += row.bytes();
        slice.push(row);
    }
    Ok(slice)
}

impl Source {
    /// Opens a file; errors name it by its path.
    pub fn open(path: &Path, reading: Reading<'_>) -> Result<Self> {
        Self::open_as(path, &path.display().to_string(), reading)
    }

    /// As [`Source::open`], of a file that was called `name` where it came from.
    pub fn open_as(path: &Path, name: &str, reading: Reading<'_>) -> Result<Self> {
        Self::open_within(path, name, reading, FILE_MAX_BYTES).map_err(|cause| cause.at(name))
    }

    fn open_within(path: &Path, name: &str, reading: Reading<'_>, most_bytes: u64) -> Result<Self> {
        let opened = File::open(path).map_err(Error::invalid_cause)?;
        let metadata = opened.metadata().map_err(Error::invalid_cause)?;
        if metadata.is_dir() {
            return Err(Error::invalid("is a folder"));
        }
        let is_file = metadata.is_file();
        let spool = (!is_file)
            .then(|| spooled(opened, most_bytes))
            .transpose()?;
        let path = spool.as_ref().map_or(path, NamedTempFile::path).to_owned();
        let metadata = path.metadata().map_err(Error::invalid_cause)?;
        if metadata.len() > most_bytes {
            let most = most_bytes / 1024 / 1024;
            return Err(Error::invalid(format!(
                "is larger than {most} MiB; split it"
            )));
        }
        let scan = Scan::of(&path)?;
        let name = Path::new(name).file_name().unwrap_or_default();
        let name = name.to_string_lossy().into_owned();
        let format = format_of(&name, &scan, &path, reading)?;
        let mut source = Self {
            path,
            _spool: spool,
            version: Version::of(&metadata),
            name,
            sha256: scan.sha256,
            format,
            header: None,
        };
        source.header = source.read_header()?;
        Ok(source)
    }

    fn read_header(&self) -> Result<Option<Vec<String>>> {
        let row = self.rows_from_the_start()?.next().transpose()?;
        if matches!(self.format, Format::Json { .. }) {
            return match row {
                Some(_) => Ok(None),
                None => Err(Error::invalid("is empty: it has no objects")),
            };
        }
        let cells = match row.map(|row| row.content) {
            Some(Content::Cells(cells)) => cells,
            Some(Content::BadCell(_, reason)) => {
                return Err(Error::invalid(format!("a cell of the header {reason}")));
            }
            Some(Content::Unreadable(_) | Content::Object(_)) => {
                return Err(Error::invalid(
                    "a quotation mark in the header is not closed",
                ));
            }
            None => {
                return Err(Error::invalid(match (self.sheets(), self.other_sheets()) {
                    (Some((_, sheet)), Some(others)) => format!(
                        "its sheet \"{sheet}\" is empty; there are others, for --sheet: {others}"
                    ),
                    _ => "is empty: it has no header".to_owned(),
                }));
            }
        };
        if cells.len() > COLUMNS_MAX {
            return Err(Error::invalid(format!(
                "has {} columns, at most {COLUMNS_MAX} are taken",
                cells.len()
            )));
        }
        if cells.iter().all(|cell| cell.trim().is_empty()) {
            return Err(Error::invalid("has no header: its first row is empty"));
        }
        let cells = cells.iter().map(|cell| cleaned(cell).to_owned());
        Ok(Some(cells.collect()))
    }

    /// The sheets that are not read, quoted; none where there are no others.
    #[must_use]
    pub fn other_sheets(&self) -> Option<String> {
        let Format::Xlsx { sheets, all_sheets } = &self.format else {
            return None;
        };
        let others = all_sheets.iter().filter(|sheet| !sheets.contains(sheet));
        let others: Vec<_> = others.map(|sheet| format!("\"{sheet}\"")).collect();
        (!others.is_empty()).then(|| others.join(", "))
    }

    /// The header's cells; a JSON file has none.
    #[must_use]
    pub fn header(&self) -> Option<&[String]> {
        self.header.as_deref()
    }

    /// The name of the file, without its folder.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Describes it in the words of an operator.
    #[must_use]
    pub fn about(&self) -> String {
        match &self.format {
            Format::Csv(dialect) => dialect.about(),
            Format::Xlsx { sheets, .. } => format!("sheet \"{}\"", sheets.join("\", \"")),
            Format::Json { is_list: true } => "a JSON list".into(),
            Format::Json { is_list: false } => "JSON, an object a line".into(),
        }
    }

    /// The encoding that a CSV file is read in; none of another file.
    #[must_use]
    pub fn encoding(&self) -> Option<String> {
        match &self.format {
            Format::Csv(dialect) => Some(dialect.encoding()),
            _ => None,
        }
    }

    /// The sheets of a spreadsheet, and the one that its rows begin in; none of another file.
    #[must_use]
    pub fn sheets(&self) -> Option<(&[String], &str)> {
        match &self.format {
            Format::Xlsx { sheets, all_sheets } => Some((all_sheets, sheets.first()?)),
            _ => None,
        }
    }

    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        let sheets = self.sheets();
        Fingerprint {
            name: self.name.clone(),
            sha256: self.sha256,
            first_sheet: sheets.and_then(|(all, _)| all.first().cloned()),
            sheet: sheets.map(|(_, chosen)| chosen.to_owned()),
        }
    }

    /// Returns whether Gatepost exported it, so that its cells are taken exactly as they stand.
    #[must_use]
    pub fn is_ours(&self) -> bool {
        let mut names = self.header.iter().flatten();
        names.any(|name| name == OURS)
    }

    /// The rows below the header. Those of a table are cleaned: of the apostrophe that keeps a
    /// spreadsheet from running a cell, and, unless Gatepost wrote it, of the white space around.
    pub fn rows(&self) -> Result<Rows> {
        let name = self.name.clone();
        let named = move |cause: Error| cause.at(&name);
        let rows = self.rows_from_the_start().map_err(&named)?;
        let rows = rows.map(move |row| row.map_err(&named));
        let Some(header) = &self.header else {
            return Ok(Box::new(rows));
        };
        let width = matches!(self.format, Format::Csv(_)).then_some(header.len());
        let clean: fn(&str) -> &str = if self.is_ours() { unguarded } else { cleaned };
        let rows = rows.skip(1).filter(|row| !is_blank(row));
        Ok(Box::new(rows.map(move |row| {
            row.map(|Row { line, content }| match content {
                Content::Cells(cells) => Row {
                    line,
                    content: checked(cells, clean, width),
                },
                content => Row { line, content },
            })
        })))
    }

    fn rows_from_the_start(&self) -> Result<Rows> {
        let file = File::open(&self.path).map_err(Error::invalid_cause)?;
        let metadata = file.metadata().map_err(Error::invalid_cause)?;
        if Version::of(&metadata) != self.version {
            return Err(Error::invalid("was changed while it was read; try again"));
        }
        Ok(match &self.format {
            Format::Csv(dialect) => {
                let declaration = usize::from(dialect.is_declared);
                Box::new(csv::Records::new(file, dialect).skip(declaration))
            }
            Format::Xlsx { sheets, .. } => Box::new(xlsx::rows(file, sheets.clone())?),
            Format::Json { is_list } => Box::new(json::Objects::new(file, *is_list)),
        })
    }
}

/// Returns whether a row is nothing but delimiters: spreadsheets save formatted rows below a list as those.
fn is_blank(row: &Result<Row>) -> bool {
    let cells = row.as_ref().ok().map(|row| &row.content);
    matches!(cells, Some(Content::Cells(cells)) if cells.iter().all(|cell| cell.trim().is_empty()))
}

/// A row's cells, cleaned; `width` is the number that a row of a text must have.
fn checked(mut cells: Vec<String>, clean: fn(&str) -> &str, width: Option<usize>) -> Content {
    if let Some(width) = width {
        if cells.iter().skip(width).all(|cell| cell.trim().is_empty()) {
            // Nothing is lost with cells that hold nothing.
            cells.truncate(width);
        }
        if cells.len() != width {
            let count = cells.len();
            return Content::Unreadable(format!("has {count} columns, the header has {width}"));
        }
    }
    if let Some(column) = cells.iter().position(|cell| was_cut(cell)) {
        return Content::BadCell(
            column,
            "was cut when it was exported, as a cell holds no more; export it as csv or json"
                .into(),
        );
    }
    for cell in &mut cells {
        let cleaned = clean(cell);
        if cleaned.len() != cell.len() {
            *cell = cleaned.to_owned();
        }
    }
    Content::Cells(cells)
}

/// A cell without the white space around it, and without the apostrophe of contract §8.
fn cleaned(cell: &str) -> &str {
    unguarded(cell.trim())
}

/// Puts what comes through a pipe on disk, because it is read more than once.
fn spooled(pipe: File, most_bytes: u64) -> Result<NamedTempFile> {
    let mut spool = NamedTempFile::new().map_err(Error::unavailable)?;
    std::io::copy(&mut pipe.take(most_bytes + 1), &mut spool).map_err(Error::invalid_cause)?;
    spool.flush().map_err(Error::unavailable)?;
    Ok(spool)
}

/// Tells the format of a file by its first bytes, and for a text by its name.
fn format_of(name: &str, scan: &Scan, path: &Path, reading: Reading<'_>) -> Result<Format> {
    let extension = name.rsplit_once('.').map(|(_, end)| end.to_lowercase());
    let is_called = |names: &[&str]| extension.as_deref().is_some_and(|end| names.contains(&end));
    let is_called_spreadsheet = is_called(&["xlsx", "xlsm", "xls", "ods"]);
    let head = scan.head.as_slice();
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let text = text.trim_ascii_start();
    // The second begins an archive with nothing in it.
    let is_archive = head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06");
    let refused = if is_archive && is_called(&["ods", "zip", "numbers", "docx"]) {
        "is no .xlsx; save the list as .xlsx or as CSV in the program that made it"
    } else if head.starts_with(b"\xd0\xcf\x11\xe0") {
        "is protected by a password, or an old .xls; save it as .xlsx without a password"
    } else if head.starts_with(b"SQLite format 3\0") {
        "is a database, no list"
    } else if is_called_spreadsheet && text.is_empty() {
        "is empty"
    } else if text.starts_with(b"<") {
        "is a web page or XML, no list; open it in a spreadsheet and save it as .xlsx or CSV"
    } else if is_called_spreadsheet && !is_archive && scan.not_utf_8_in.is_some() && !scan.is_text {
        "is no spreadsheet: it is damaged, or something else"
    } else if reading.sheet.is_some() && !is_archive {
        "--sheet: only an .xlsx file has sheets"
    } else {
        ""
    };
    if !refused.is_empty() {
        return Err(Error::invalid(refused));
    }
    let is_json = is_called(&["json", "ndjson", "jsonl"]);
    if reading.encoding.is_some() && (is_archive || is_json) {
        return Err(Error::invalid(
            "--encoding: only a CSV file is in an encoding of its own",
        ));
    }
    if is_archive {
        let (sheets, all_sheets) = xlsx::find_sheets(path, reading.sheet)?;
        return Ok(Format::Xlsx { sheets, all_sheets });
    }
    if is_json {
        let is_list = text.starts_with(b"[");
        return Ok(Format::Json { is_list });
    }
    Ok(Format::Csv(csv::Dialect::of(scan, path, reading.encoding)?))
}

#[cfg(test)]
mod tests;
