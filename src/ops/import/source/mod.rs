//! A file from outside as rows: what it is (CSV, XLSX, JSON), in which encoding, and its rows one
//! after the other, as often as they are needed. It is never held in memory as a whole.

mod bomb;
mod csv;
mod encoding;
mod json;
mod scan;
mod xlsx;

pub use encoding::OFFERED as ENCODINGS;

use crate::types::{
    error::{Error, Result},
    spreadsheet::{unguarded, was_cut},
};
use scan::Scan;
use serde_json::{Map, Value};
use std::{
    fs::{File, Metadata},
    io::{Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    time::SystemTime,
};
use tempfile::NamedTempFile;

/// The largest file that is taken, in bytes.
pub const FILE_MAX_BYTES: u64 = 1024 * 1024 * 1024;
/// The most columns that are taken.
pub const COLUMNS_MAX: usize = 1_000;
/// The longest row that is taken, in bytes.
pub const ROW_MAX_BYTES: usize = 4 * 1024 * 1024;
/// The memory of rows that are read at once goes not much beyond this.
pub const ROWS_BYTES: usize = 16 * 1024 * 1024;
/// What a cell or a value of JSON takes beside its text.
const VALUE_BYTES: usize = 32;

/// The header by which a file that Gatepost exported is known; its cells are taken exactly as they
/// stand.
pub const OURS: &str = "_type";

/// How a file is to be read, where it does not say so itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reading<'a> {
    /// The sheet of an XLSX file; the first without it.
    pub sheet: Option<&'a str>,
    /// The encoding of a CSV file, such as `windows-1250`; without it, the one that is recognised.
    pub encoding: Option<&'a str>,
}

/// What tells a list from others: its file and, of a spreadsheet, its sheet.
#[derive(Debug, Clone, Default)]
pub struct Fingerprint {
    /// The file's SHA-256.
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
    /// What came through a pipe, on disk.
    _spool: Option<NamedTempFile>,
    seen: Seen,
    name: String,
    sha256: [u8; 32],
    format: Format,
    header: Option<Vec<String>>,
}

/// What must not change while a file is read twice.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    bytes: u64,
    changed: Option<SystemTime>,
}

impl Seen {
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
        sheets: Vec<String>,
        there: Vec<String>,
    },
    Json {
        list: bool,
    },
}

/// One row.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Where it stands, from 1: the line at which it starts in a text, the row of a sheet, the
    /// object of a JSON list.
    pub line: u64,
    /// What it holds.
    pub content: Content,
}

impl Row {
    /// About how much memory it takes, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match &self.content {
            Content::Cells(cells) => cells.iter().map(|cell| VALUE_BYTES + cell.len()).sum(),
            Content::Object(object) => object
                .iter()
                .map(|(name, value)| VALUE_BYTES + name.len() + bytes_of(value))
                .sum(),
            Content::Unreadable(_) | Content::BadCell(..) => VALUE_BYTES,
        }
    }
}

fn bytes_of(value: &Value) -> usize {
    VALUE_BYTES
        + match value {
            Value::String(text) => text.len(),
            Value::Array(items) => items.iter().map(bytes_of).sum(),
            Value::Object(object) => object
                .iter()
                .map(|(name, value)| VALUE_BYTES + name.len() + bytes_of(value))
                .sum(),
            _ => 0,
        }
}

/// What a row holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Cells, those at the end possibly left out.
    Cells(Vec<String>),
    /// A JSON object.
    Object(Map<String, Value>),
    /// Nothing that can be read, and why.
    Unreadable(String),
    /// A cell that holds no value, the column counted from 0, and what it holds.
    BadCell(usize, String),
}

const NO_ENCODING: &str = "--encoding: only a CSV file is in an encoding of its own";

/// Rows in their order.
pub type Rows = Box<dyn Iterator<Item = Result<Row>> + Send>;

impl Source {
    /// Opens a file; `sheet` names the sheet of an XLSX file, the first without it.
    pub fn open(path: &Path, sheet: Option<&str>) -> Result<Self> {
        Self::open_within(path, sheet, FILE_MAX_BYTES)
    }

    /// As [`Source::open`], read as somebody says.
    pub fn open_with(path: &Path, reading: Reading<'_>) -> Result<Self> {
        Self::open_named(path, reading, FILE_MAX_BYTES)
    }

    /// As [`Source::open`], with a limit of its own.
    pub fn open_within(path: &Path, sheet: Option<&str>, most_bytes: u64) -> Result<Self> {
        let encoding = None;
        Self::open_named(path, Reading { sheet, encoding }, most_bytes)
    }

    fn open_named(path: &Path, reading: Reading<'_>, most_bytes: u64) -> Result<Self> {
        let name = path.file_name().unwrap_or(path.as_os_str());
        let name = name.to_string_lossy().into_owned();
        Self::read(path, &name, reading, most_bytes).map_err(|cause| {
            Error::new(cause.kind, format!("{}: {}", path.display(), cause.message))
        })
    }

    /// As [`Source::open`], of a file that was called `name` where it came from.
    pub fn open_as(path: &Path, name: &str, reading: Reading<'_>) -> Result<Self> {
        Self::read(path, name, reading, FILE_MAX_BYTES)
            .map_err(|cause| Error::new(cause.kind, format!("{name}: {}", cause.message)))
    }

    fn read(path: &Path, name: &str, reading: Reading<'_>, most_bytes: u64) -> Result<Self> {
        let opened = File::open(path).map_err(Error::invalid_cause)?;
        let metadata = opened.metadata().map_err(Error::invalid_cause)?;
        if metadata.is_dir() {
            return Err(Error::invalid("is a folder"));
        }
        let spool = if metadata.is_file() {
            None
        } else {
            Some(spooled(opened, most_bytes)?)
        };
        let path = spool.as_ref().map_or(path, NamedTempFile::path).to_owned();
        let mut file = File::open(&path).map_err(Error::invalid_cause)?;
        let metadata = file.metadata().map_err(Error::invalid_cause)?;
        if metadata.len() > most_bytes {
            return Err(too_large(most_bytes));
        }
        let scan = Scan::of(&mut file)?;
        let format = format_of(name, &scan, &path, reading)?;
        let mut source = Self {
            path,
            _spool: spool,
            seen: Seen::of(&metadata),
            name: name.to_owned(),
            sha256: scan.sha256,
            format,
            header: None,
        };
        source.read_header()?;
        Ok(source)
    }

    fn read_header(&mut self) -> Result<()> {
        if matches!(self.format, Format::Json { .. }) {
            if self.rows_from_the_start()?.next().transpose()?.is_none() {
                return Err(Error::invalid("is empty: it has no objects"));
            }
            return Ok(());
        }
        let row = self.rows_from_the_start()?.next().transpose()?;
        let cells = match row.map(|row| row.content) {
            None => return Err(Error::invalid(self.nothing_there())),
            Some(Content::BadCell(_, reason)) => {
                return Err(Error::invalid(format!("a cell of the header {reason}")));
            }
            Some(Content::Unreadable(_) | Content::Object(_)) => {
                return Err(Error::invalid(
                    "a quotation mark in the header is not closed",
                ));
            }
            Some(Content::Cells(cells)) => cells,
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
        self.header = Some(cells.iter().map(|cell| cleaned(cell).to_owned()).collect());
        Ok(())
    }

    /// That there is not even a header; which other sheets there are.
    fn nothing_there(&self) -> String {
        match (&self.format, self.other_sheets()) {
            (Format::Xlsx { sheets, .. }, Some(others)) => format!(
                "its sheet \"{}\" is empty; there are others, for --sheet: {others}",
                sheets.join("\", \"")
            ),
            _ => "is empty: it has no header".to_owned(),
        }
    }

    /// The sheets that are not read, quoted; none where there are no others.
    #[must_use]
    pub fn other_sheets(&self) -> Option<String> {
        let Format::Xlsx { sheets, there } = &self.format else {
            return None;
        };
        let others = there.iter().filter(|sheet| !sheets.contains(sheet));
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

    /// The SHA-256 of the file.
    #[must_use]
    pub fn sha256(&self) -> [u8; 32] {
        self.sha256
    }

    /// What it is, as an operator would call it.
    #[must_use]
    pub fn about(&self) -> String {
        match &self.format {
            Format::Csv(dialect) => dialect.about(),
            Format::Xlsx { sheets, .. } => format!("sheet \"{}\"", sheets.join("\", \"")),
            Format::Json { list: true } => "a JSON list".into(),
            Format::Json { list: false } => "JSON, an object a line".into(),
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
            Format::Xlsx { sheets, there } => Some((there, sheets.first()?)),
            _ => None,
        }
    }

    /// What tells this list from others.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        let sheets = self.sheets();
        Fingerprint {
            sha256: self.sha256,
            first_sheet: sheets.and_then(|(there, _)| there.first().cloned()),
            sheet: sheets.map(|(_, chosen)| chosen.to_owned()),
        }
    }

    /// Whether Gatepost exported it, so that its cells are taken exactly as they stand.
    #[must_use]
    pub fn is_ours(&self) -> bool {
        self.header()
            .is_some_and(|header| header.iter().any(|name| name == OURS))
    }

    /// The rows below the header. Those of a table are cleaned: of the apostrophe that keeps a
    /// spreadsheet from running a cell, and, unless Gatepost wrote it, of the white space around.
    pub fn rows(&self) -> Result<Rows> {
        let name = self.name.clone();
        let told = move |cause: Error| Error::new(cause.kind, format!("{name}: {}", cause.message));
        let rows = self.rows_from_the_start().map_err(&told)?;
        let rows = rows.map(move |row| row.map_err(&told));
        let Some(header) = &self.header else {
            return Ok(Box::new(rows));
        };
        let strict = matches!(self.format, Format::Csv(_)).then_some(header.len());
        let clean: fn(&str) -> &str = if self.is_ours() { unguarded } else { cleaned };
        let rows = rows.skip(1).filter(|row| !is_blank(row));
        Ok(Box::new(rows.map(move |row| {
            row.map(|row| Row {
                line: row.line,
                content: checked(row.content, clean, strict),
            })
        })))
    }

    fn rows_from_the_start(&self) -> Result<Rows> {
        let file = File::open(&self.path).map_err(Error::invalid_cause)?;
        let metadata = file.metadata().map_err(Error::invalid_cause)?;
        if Seen::of(&metadata) != self.seen {
            return Err(Error::invalid("was changed while it was read; try again"));
        }
        Ok(match &self.format {
            Format::Csv(dialect) => {
                let declaration = usize::from(dialect.is_declared());
                Box::new(csv::Records::new(file, dialect)?.skip(declaration))
            }
            Format::Xlsx { sheets, .. } => Box::new(xlsx::rows(file, sheets.clone())?),
            Format::Json { list } => Box::new(json::Objects::new(file, *list)),
        })
    }
}

/// Whether a row is nothing but delimiters: spreadsheets save formatted rows below a list as those.
fn is_blank(row: &Result<Row>) -> bool {
    let cells = row.as_ref().ok().map(|row| &row.content);
    matches!(cells, Some(Content::Cells(cells)) if cells.iter().all(|cell| cell.trim().is_empty()))
}

/// A row's cells, cleaned; `width` is what a row of a text must have.
fn checked(content: Content, clean: fn(&str) -> &str, width: Option<usize>) -> Content {
    let Content::Cells(mut cells) = content else {
        return content;
    };
    if let Some(width) = width
        && cells.iter().skip(width).all(|cell| cell.trim().is_empty())
    {
        // Nothing is lost with cells that hold nothing.
        cells.truncate(width);
    }
    if let Some(width) = width.filter(|width| *width != cells.len()) {
        return Content::Unreadable(format!(
            "has {} columns, the header has {width}",
            cells.len()
        ));
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

fn too_large(most_bytes: u64) -> Error {
    Error::invalid(format!(
        "is larger than {} MiB; split it",
        most_bytes / 1024 / 1024
    ))
}

/// What comes through a pipe, on disk, because it is read more than once.
fn spooled(pipe: File, most_bytes: u64) -> Result<NamedTempFile> {
    let mut spool = NamedTempFile::new().map_err(Error::unavailable)?;
    let copied =
        std::io::copy(&mut pipe.take(most_bytes + 1), &mut spool).map_err(Error::invalid_cause)?;
    if copied > most_bytes {
        return Err(too_large(most_bytes));
    }
    spool.flush().map_err(Error::unavailable)?;
    Ok(spool)
}

/// Tells what a file is: by its first bytes, and for a text by its name.
fn format_of(name: &str, scan: &Scan, path: &Path, reading: Reading<'_>) -> Result<Format> {
    let Reading { sheet, encoding } = reading;
    let extension = name.rsplit_once('.').map(|(_, end)| end.to_lowercase());
    let is_called = |names: &[&str]| extension.as_deref().is_some_and(|end| names.contains(&end));
    let head = scan.head.as_slice();
    // The second begins an archive with nothing in it.
    if head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06") {
        if is_called(&["ods", "zip", "numbers", "docx"]) {
            return Err(Error::invalid(
                "is no .xlsx; save the list as .xlsx or as CSV in the program that made it",
            ));
        }
        if encoding.is_some() {
            return Err(Error::invalid(NO_ENCODING));
        }
        let (sheets, there) = xlsx::find_sheets(path, sheet)?;
        return Ok(Format::Xlsx { sheets, there });
    }
    if head.starts_with(b"\xd0\xcf\x11\xe0") {
        return Err(Error::invalid(
            "is protected by a password, or an old .xls; save it as .xlsx without a password",
        ));
    }
    if head.starts_with(b"SQLite format 3\0") {
        return Err(Error::invalid("is a database, no list"));
    }
    let text = head
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(head)
        .trim_ascii_start();
    if is_called(&["xlsx", "xlsm", "xls", "ods"]) && text.is_empty() {
        return Err(Error::invalid("is empty"));
    }
    if text.starts_with(b"<") {
        return Err(Error::invalid(
            "is a web page or XML, no list; open it in a spreadsheet and save it as .xlsx or CSV",
        ));
    }
    if is_called(&["xlsx", "xlsm", "xls", "ods"]) && !scan.utf_8 && !scan.is_text {
        return Err(Error::invalid(
            "is no spreadsheet: it is damaged, or something else",
        ));
    }
    if sheet.is_some() {
        return Err(Error::invalid("--sheet: only an .xlsx file has sheets"));
    }
    if is_called(&["json", "ndjson", "jsonl"]) {
        if encoding.is_some() {
            return Err(Error::invalid(NO_ENCODING));
        }
        return Ok(Format::Json {
            list: text.starts_with(b"["),
        });
    }
    Ok(Format::Csv(csv::Dialect::of(scan, path, encoding)?))
}

/// Skips a byte order mark of UTF-8.
fn skip_mark(file: &mut File) -> Result<()> {
    let mut mark = [0; 3];
    let read = file.read(&mut mark).map_err(Error::unavailable)?;
    if read < 3 || mark != *b"\xef\xbb\xbf" {
        file.seek(SeekFrom::Start(0)).map_err(Error::unavailable)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
