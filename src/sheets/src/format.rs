//! The format of a file, told by its first bytes and its name.

use crate::{
    Reading, Rows, bomb, csv,
    encoding::Scan,
    error::{Error, Kind, Result},
    json, ods,
    schedule::Schedule,
    sheet, xlsx,
};
use std::{fs::File, path::Path};

#[derive(Debug, Clone)]
pub(super) enum Format {
    Csv(csv::Dialect),
    Spreadsheet {
        book: Book,
        /// Sheets that are read, and all that there are.
        sheets: Vec<String>,
        all_sheets: Vec<String>,
    },
    Json {
        is_list: bool,
    },
    Schedule(Schedule),
}

/// The format of a spreadsheet.
#[derive(Debug, Clone, Copy)]
pub(super) enum Book {
    Xlsx(bomb::Found),
    Ods,
}

impl Format {
    /// Tells the format of a file by its first bytes, and for a text by its name.
    pub fn of(name: &str, scan: &Scan, path: &Path, reading: Reading<'_>) -> Result<Self> {
        let head = Head::of(name, scan);
        if let Some(reason) = head.refused(scan) {
            return Err(Error::unreadable(reason));
        }
        let is_json = head.is_called(&["json", "ndjson", "jsonl"]);
        if reading.sheet.is_some() && !head.is_archive {
            return Err(Error::new(
                Kind::NamedSheet,
                "only an .xlsx or .ods file has sheets",
            ));
        }
        if reading.encoding.is_some() && (head.is_archive || is_json) {
            return Err(Error::new(
                Kind::NamedEncoding,
                "only a CSV file is in an encoding of its own",
            ));
        }
        if head.is_archive {
            let (book, all_sheets) = if ods::is_one(path)? {
                (Book::Ods, ods::sheets(path)?)
            } else {
                let (found, all_sheets) = xlsx::sheets(path)?;
                (Book::Xlsx(found), all_sheets)
            };
            return Ok(Self::Spreadsheet {
                book,
                sheets: sheet::chosen(&all_sheets, reading.sheet)?,
                all_sheets,
            });
        }
        if head.text.starts_with(b"BEGIN:VCALENDAR") {
            return Ok(Self::Schedule(Schedule::of_calendar(path)?));
        }
        if is_json
            && head.has(b"\"schedule\"")
            && let Some(schedule) = Schedule::of_json(path)?
        {
            return Ok(Self::Schedule(schedule));
        }
        if is_json {
            let is_list = head.text.starts_with(b"[");
            return Ok(Self::Json { is_list });
        }
        Ok(Self::Csv(csv::Dialect::of(scan, path, reading.encoding)?))
    }

    /// All rows of the file.
    pub fn rows(&self, file: File, path: &Path) -> Result<Rows> {
        Ok(match self {
            Self::Csv(dialect) => {
                let declaration = usize::from(dialect.is_declared);
                Box::new(csv::Records::new(file, dialect).skip(declaration))
            }
            Self::Spreadsheet { book, sheets, .. } => match book {
                Book::Xlsx(found) => xlsx::rows(file, path, sheets.clone(), *found)?,
                Book::Ods => ods::rows(file, sheets.clone())?,
            },
            Self::Schedule(schedule) => schedule.rows(),
            Self::Json { is_list } => Box::new(json::Objects::new(file, *is_list)),
        })
    }
}

/// The beginning and the name of a file.
struct Head<'a> {
    bytes: &'a [u8],
    /// The bytes without a mark of the encoding and white space.
    text: &'a [u8],
    is_archive: bool,
    /// The end of the name, in small letters.
    extension: String,
}

impl<'a> Head<'a> {
    fn of(name: &str, scan: &'a Scan) -> Self {
        let bytes = scan.head.as_slice();
        let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let extension = name.rsplit_once('.').map_or("", |(_, end)| end);
        Self {
            bytes,
            text: text.trim_ascii_start(),
            // The second begins an archive with nothing in it.
            is_archive: bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06"),
            extension: extension.to_lowercase(),
        }
    }

    fn is_called(&self, extensions: &[&str]) -> bool {
        extensions.contains(&self.extension.as_str())
    }

    fn has(&self, word: &[u8]) -> bool {
        self.text.windows(word.len()).any(|piece| piece == word)
    }

    /// The reason why it is no list.
    fn refused(&self, scan: &Scan) -> Option<&'static str> {
        let is_called_spreadsheet = self.is_called(&["xlsx", "xlsm", "xls", "ods"]);
        let is_binary = scan.not_utf_8_in.is_some() && !scan.is_text;
        if self.is_archive && self.is_called(&["zip", "numbers", "docx"]) {
            Some("is no .xlsx; save the list as .xlsx or as CSV in the program that made it")
        } else if self.bytes.starts_with(b"\xd0\xcf\x11\xe0") {
            Some("is protected by a password, or an old .xls; save it as .xlsx without a password")
        } else if self.bytes.starts_with(b"SQLite format 3\0") {
            Some("is a database, no list")
        } else if is_called_spreadsheet && self.text.is_empty() {
            Some("is empty")
        } else if self.text.starts_with(b"<") {
            Some(
                "is a web page or XML, no list; open it in a spreadsheet and save it as .xlsx or CSV",
            )
        } else if is_called_spreadsheet && !self.is_archive && is_binary {
            Some("is no spreadsheet: it is damaged, or something else")
        } else {
            None
        }
    }
}
