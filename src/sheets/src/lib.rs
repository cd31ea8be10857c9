//! Lists from outside as rows of texts: CSV, XLSX, ODS, JSON or the programme of a conference, in whichever encoding, within
//! bounds that no crafted file breaks. But for a programme, a file is never held in memory as a whole.
//!
//! The meaning of the rows is left to the caller. Errors are the rest of a sentence that begins with the file's name, and say by
//! their kind what else could be tried.
//!
//! # Example
//!
//! ```
//! use sheets::{Content, Reading, Source};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("guests.csv");
//! std::fs::write(&path, "Name;City\nAda;London\n")?;
//! let list = Source::open(&path, "guests.csv", Reading::default())?;
//! assert_eq!(list.header().unwrap(), ["Name", "City"]);
//! for row in list.rows()? {
//!     let row = row?;
//!     assert_eq!(row.line, 2);
//!     assert_eq!(row.content, Content::Cells(vec!["Ada".into(), "London".into()]));
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Layout
//!
//! - `format`: the format of a file; `row`: a row as it is given out
//! - `csv`, `xlsx`, `ods`, `json`: the rows of one format; `sheet`: the rows of a sheet, as both spreadsheets build them
//! - `schedule`: programmes of conferences
//! - `marks`: number formats and hidden rows of an XLSX file
//! - `encoding`: one look at all bytes of a file, and the encoding of a text
//! - `bomb`: a look through a packed file before a parser holds any of it
//! - `error`: the reason why a list cannot be read

mod bomb;
mod csv;
mod encoding;
mod error;
mod format;
mod json;
mod marks;
mod ods;
mod row;
mod schedule;
mod sheet;
mod xlsx;

pub use encoding::OFFERED as ENCODINGS;
pub use error::{Error, Kind, Result};
pub use row::{Content, Number, Row, Rows};

use encoding::Scan;
use format::Format;
use row::{is_blank, of_width};
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

/// Directions for reading a file, where it does not say so itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reading<'a> {
    /// The sheet of a spreadsheet; the first without it.
    pub sheet: Option<&'a str>,
    /// The encoding of a CSV file, such as `windows-1250`; without it, the one that is recognised.
    pub encoding: Option<&'a str>,
    /// The line of the header, as [`Row::line`] counts; the first that holds something without it.
    pub header_row: Option<u64>,
}

/// A list in a file.
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
    header_line: u64,
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

impl Source {
    /// Opens a file that is called `name`, which tells its format where its content does not. What is no file, such as a
    /// pipe, is put on disk first.
    ///
    /// # Errors
    /// [`Kind`] says what could be tried.
    pub fn open(path: &Path, name: &str, reading: Reading<'_>) -> Result<Self> {
        Self::open_within(path, name, reading, FILE_MAX_BYTES)
    }

    fn open_within(path: &Path, name: &str, reading: Reading<'_>, most_bytes: u64) -> Result<Self> {
        let opened = File::open(path).map_err(Error::cause)?;
        let metadata = opened.metadata().map_err(Error::cause)?;
        if metadata.is_dir() {
            return Err(Error::unreadable("is a folder"));
        }
        let is_file = metadata.is_file();
        let spool = (!is_file)
            .then(|| spooled(opened, most_bytes))
            .transpose()?;
        let path = spool.as_ref().map_or(path, NamedTempFile::path).to_owned();
        let metadata = path.metadata().map_err(Error::cause)?;
        if metadata.len() > most_bytes {
            let most = most_bytes / 1024 / 1024;
            return Err(Error::unreadable(format!(
                "is larger than {most} MiB; split it"
            )));
        }
        let scan = Scan::of(&path)?;
        let name = Path::new(name).file_name().unwrap_or_default();
        let name = name.to_string_lossy().into_owned();
        let format = Format::of(&name, &scan, &path, reading)?;
        let mut source = Self {
            path,
            _spool: spool,
            version: Version::of(&metadata),
            name,
            sha256: scan.sha256,
            format,
            header: None,
            header_line: 0,
        };
        source.read_header(reading.header_row)?;
        Ok(source)
    }

    /// The list with its header in another line.
    ///
    /// # Errors
    /// As [`Source::open`].
    pub fn with_header_row(mut self, line: u64) -> Result<Self> {
        self.read_header(Some(line))?;
        Ok(self)
    }

    fn read_header(&mut self, line: Option<u64>) -> Result<()> {
        let mut rows = self.rows_from_the_start()?;
        if matches!(self.format, Format::Json { .. }) {
            if line.is_some() {
                return Err(Error::new(Kind::HeaderRow, "a JSON file has no header"));
            }
            return match rows.next().transpose()? {
                Some(_) => Ok(()),
                None => Err(Error::unreadable("is empty: it has no objects")),
            };
        }
        let found = match line {
            Some(line) => rows.find(|row| row.as_ref().map_or(true, |row| row.line == line)),
            None => rows.next(),
        };
        let row = found.transpose()?;
        if let (Some(line), None) = (line, &row) {
            return Err(Error::new(Kind::HeaderRow, format!("row {line} is empty")));
        }
        self.header_line = row.as_ref().map_or(0, |row| row.line);
        let cells = match row.map(|row| row.content) {
            Some(Content::Cells(cells)) => cells,
            Some(Content::BadCell(_, reason, _)) => {
                return Err(Error::unreadable(format!("a cell of the header {reason}")));
            }
            Some(Content::Unreadable(_) | Content::Object(_)) => {
                return Err(Error::unreadable(
                    "a quotation mark in the header is not closed",
                ));
            }
            None => return Err(self.without_header()),
        };
        if cells.len() > COLUMNS_MAX {
            return Err(Error::unreadable(format!(
                "has {} columns, at most {COLUMNS_MAX} are taken",
                cells.len()
            )));
        }
        if cells.iter().all(|cell| cell.trim().is_empty()) {
            return Err(Error::unreadable("has no header: its first row is empty"));
        }
        self.header = Some(cells);
        Ok(())
    }

    fn without_header(&self) -> Error {
        match (self.sheets(), self.other_sheets()) {
            (Some((_, sheet)), others) if !others.is_empty() => Error::new(
                Kind::EmptySheet { others },
                format!("its sheet \"{sheet}\" is empty"),
            ),
            _ => Error::unreadable("is empty: it has no header"),
        }
    }

    /// The sheets that are not read.
    #[must_use]
    pub fn other_sheets(&self) -> Vec<String> {
        let Format::Spreadsheet {
            sheets, all_sheets, ..
        } = &self.format
        else {
            return Vec::new();
        };
        let others = all_sheets.iter().filter(|sheet| !sheets.contains(sheet));
        others.cloned().collect()
    }

    /// The header's cells as they stand; a JSON file has none.
    #[must_use]
    pub fn header(&self) -> Option<&[String]> {
        self.header.as_deref()
    }

    /// The line of the header; 0 where there is none.
    #[must_use]
    pub fn header_line(&self) -> u64 {
        self.header_line
    }

    /// The first rows of the file with their lines, the header among them, and the cells of those that have any.
    ///
    /// # Errors
    /// As [`Source::rows`].
    pub fn head(&self, most: usize) -> Result<Vec<(u64, Vec<String>)>> {
        let rows = self.rows_from_the_start()?.take(most);
        let cells = rows.map(|row| {
            let Row { line, content, .. } = row?;
            Ok(match content {
                Content::Cells(cells) => (line, cells),
                _ => (line, Vec::new()),
            })
        });
        cells.collect()
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
            Format::Spreadsheet { sheets, .. } => format!("sheet \"{}\"", sheets.join("\", \"")),
            Format::Json { is_list: true } => "a JSON list".into(),
            Format::Schedule(schedule) if schedule.is_calendar => "a calendar".into(),
            Format::Schedule(_) => "the programme of a conference".into(),
            Format::Json { is_list: false } => "JSON, an object a line".into(),
        }
    }

    /// Returns whether it is a programme, whose sessions have an id of their own.
    #[must_use]
    pub fn is_programme(&self) -> bool {
        matches!(self.format, Format::Schedule(_))
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
            Format::Spreadsheet {
                sheets, all_sheets, ..
            } => Some((all_sheets, sheets.first()?)),
            _ => None,
        }
    }

    /// The digest of the file's bytes.
    #[must_use]
    pub fn sha256(&self) -> [u8; 32] {
        self.sha256
    }

    /// The rows below the header. Rows of nothing but delimiters are passed over: spreadsheets save formatted rows below a
    /// list as those.
    ///
    /// # Errors
    /// [`Kind::Unreadable`] where the file was changed since it was opened.
    pub fn rows(&self) -> Result<Rows> {
        let rows = self.rows_from_the_start()?;
        let Some(header) = &self.header else {
            return Ok(rows);
        };
        let header_line = self.header_line;
        let is_above =
            move |row: &Result<Row>| row.as_ref().is_ok_and(|row| row.line <= header_line);
        let rows = rows.skip_while(is_above).filter(|row| !is_blank(row));
        if !matches!(self.format, Format::Csv(_)) {
            return Ok(Box::new(rows));
        }
        let width = header.len();
        Ok(Box::new(rows.map(move |row| {
            let mut row = row?;
            if let Content::Cells(cells) = row.content {
                row.content = of_width(cells, width);
            }
            Ok(row)
        })))
    }

    fn rows_from_the_start(&self) -> Result<Rows> {
        let file = File::open(&self.path).map_err(Error::cause)?;
        let metadata = file.metadata().map_err(Error::cause)?;
        if Version::of(&metadata) != self.version {
            return Err(Error::unreadable(
                "was changed while it was read; try again",
            ));
        }
        self.format.rows(file, &self.path)
    }
}

/// Puts what comes through a pipe on disk, because it is read more than once.
fn spooled(pipe: File, most_bytes: u64) -> Result<NamedTempFile> {
    let mut spool = NamedTempFile::new().map_err(Error::unavailable)?;
    std::io::copy(&mut pipe.take(most_bytes + 1), &mut spool).map_err(Error::cause)?;
    spool.flush().map_err(Error::unavailable)?;
    Ok(spool)
}

#[cfg(test)]
mod tests;
