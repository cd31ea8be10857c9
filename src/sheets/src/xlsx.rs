//! One sheet of an XLSX file as rows of text: numbers as they are read, dates as
//! `yyyy-mm-dd hh:mm:ss`, without the time at midnight. Read by a thread of its own, cell by cell.

use crate::{
    COLUMNS_MAX, Content, ROW_MAX_BYTES, Row, Rows, bomb,
    error::{Error, Kind, Result},
};
use calamine::{DataRef, Reader, Xlsx, XlsxError};
use std::{
    fs::File,
    io::BufReader,
    path::Path,
    sync::mpsc::{SyncSender, sync_channel},
};

type Workbook = Xlsx<BufReader<File>>;

/// Rows that a sheet can have.
const SHEET_ROWS: u64 = 1_048_576;
/// The fault of a formula without a value.
const NOT_COMPUTED: &str =
    "holds a formula whose result was not saved; open the file in a spreadsheet and save it anew";
/// Rows that are read ahead; each may have [`ROW_MAX_BYTES`].
const AHEAD_ROWS: usize = 16;
/// The most text that the cells of a file may hold. Many cells may share one, so that a small file
/// can stand for any amount.
const TEXT_MAX_BYTES: usize = 4 * 1024 * 1024 * 1024;

/// The sheet of a name, or the first with those that go on with it (`delegates 2` after
/// `delegates`, as `export` writes them), and all that there are; every part of the file is looked
/// through before.
pub(super) fn find_sheets(path: &Path, named: Option<&str>) -> Result<(Vec<String>, Vec<String>)> {
    let file = File::open(path).map_err(Error::cause)?;
    bomb::check(BufReader::new(file))?;
    let file = File::open(path).map_err(Error::cause)?;
    let all = open(file)?.sheet_names();
    let Some(named) = named else {
        let first = all
            .first()
            .ok_or_else(|| Error::unreadable("has no sheet"))?;
        let goes_on = (2..).map(|number| format!("{first} {number}"));
        let more = goes_on.take_while(|name| all.contains(name));
        return Ok((std::iter::once(first.clone()).chain(more).collect(), all));
    };
    if all.iter().any(|sheet| sheet == named) {
        return Ok((vec![named.to_owned()], all));
    }
    Err(Error::new(
        Kind::NamedSheet,
        format!(
            "there is no sheet \"{named}\"; there are \"{}\"",
            all.join("\", \"")
        ),
    ))
}

fn open(file: File) -> Result<Workbook> {
    // A parser that panics on a crafted file must not take the caller with it.
    std::panic::catch_unwind(|| Xlsx::new(BufReader::new(file)))
        .map_err(|_| unreadable(&"its parts do not fit together"))?
        .map_err(|cause| match cause {
            XlsxError::Password => {
                Error::unreadable("is protected by a password; save it without one")
            }
            cause => unreadable(&cause),
        })
}

fn unreadable(cause: &dyn std::fmt::Display) -> Error {
    Error::new(
        Kind::Damaged,
        format!(
            "is damaged, or no list in an .xlsx ({cause}); open it in a spreadsheet and save it anew as .xlsx"
        ),
    )
}

/// The rows of sheets, those without any value left out; of the second and later ones without the
/// header, and counted on.
pub(super) fn rows(file: File, sheets: Vec<String>) -> Result<Rows> {
    let (sender, receiver) = sync_channel(AHEAD_ROWS);
    std::thread::Builder::new()
        .name("spreadsheet".into())
        .spawn(move || {
            let read = || {
                let mut book = open(file)?;
                let mut reader = SheetReader {
                    number: 0,
                    header: None,
                    is_at_header: true,
                    bytes_left: TEXT_MAX_BYTES,
                    cells: Vec::new(),
                    row_bytes: 0,
                    problem: None,
                };
                for name in &sheets {
                    reader.send(&mut book, name, &sender)?;
                    reader.number += 1;
                    reader.is_at_header = true;
                }
                Ok(())
            };
            let read = std::panic::catch_unwind(std::panic::AssertUnwindSafe(read));
            let read = read.unwrap_or_else(|_| Err(unreadable(&"its parts do not fit together")));
            if let Err(cause) = read {
                // Nobody may be listening any more.
                let _ = sender.send(Err(cause));
            }
        })
        .map_err(Error::unavailable)?;
    Ok(Box::new(receiver.into_iter()))
}

/// Reads sheets that go on with each other.
struct SheetReader {
    number: u64,
    /// The header of the first sheet.
    header: Option<Content>,
    is_at_header: bool,
    /// The text that the file may still hold.
    bytes_left: usize,
    /// The row that is not complete yet.
    cells: Vec<String>,
    row_bytes: usize,
    problem: Option<(usize, String)>,
}

impl SheetReader {
    /// Sends a sheet row by row, until there are no more or nobody listens.
    fn send(
        &mut self,
        book: &mut Workbook,
        name: &str,
        sender: &SyncSender<Result<Row>>,
    ) -> Result<()> {
        let mut cells = book
            .worksheet_cells_reader(name)
            .map_err(|cause| unreadable(&cause))?;
        let mut at: Option<u32> = None;
        loop {
            let cell = cells
                .next_cell_with_formula_metadata()
                .map_err(|cause| unreadable(&cause))?;
            let row = cell.as_ref().map(|cell| cell.pos.0);
            if row != at {
                if let Some(line) = at
                    && let Some(row) = self.row(name, line)?
                    && sender.send(Ok(row)).is_err()
                {
                    return Ok(());
                }
                if row < at && row.is_some() {
                    return Err(unreadable(&"its rows are out of order"));
                }
                at = row;
            }
            let Some(cell) = cell else {
                return Ok(());
            };
            let column = cell.pos.1 as usize;
            if cell.formula.is_some() && cell.value == DataRef::Empty {
                // Some programs write formulas and leave it to the next to compute them.
                self.problem = Some((column, NOT_COMPUTED.to_owned()));
            } else {
                self.put(column, &cell.value)?;
            }
        }
    }

    fn put(&mut self, column: usize, value: &DataRef<'_>) -> Result<()> {
        let text = match text(value) {
            Ok(text) if text.is_empty() => return Ok(()),
            Ok(text) => text,
            Err(error) => {
                self.problem = Some((column, format!("holds {error}")));
                return Ok(());
            }
        };
        if column >= COLUMNS_MAX {
            return Err(Error::unreadable(format!(
                "has a value in column {}, at most {COLUMNS_MAX} are taken",
                column + 1
            )));
        }
        self.bytes_left = self.bytes_left.checked_sub(text.len()).ok_or_else(|| {
            let most = TEXT_MAX_BYTES / 1024 / 1024 / 1024;
            Error::unreadable(format!("holds more than {most} GiB of text; split it"))
        })?;
        self.row_bytes += text.len();
        if self.row_bytes > ROW_MAX_BYTES {
            let most = ROW_MAX_BYTES / 1024 / 1024;
            self.problem = Some((column, format!("makes the row longer than {most} MiB")));
            return Ok(());
        }
        if self.cells.len() <= column {
            self.cells.resize(column + 1, String::new());
        }
        self.cells[column] = text;
        Ok(())
    }

    /// The row that is complete now; none where it is empty, or a header that is known.
    fn row(&mut self, sheet: &str, line: u32) -> Result<Option<Row>> {
        let cells = std::mem::take(&mut self.cells);
        self.row_bytes = 0;
        let content = match self.problem.take() {
            Some((column, reason)) => Content::BadCell(column, reason),
            None if cells.is_empty() => return Ok(None),
            None => Content::Cells(cells),
        };
        if std::mem::take(&mut self.is_at_header) {
            match &self.header {
                None => self.header = Some(content.clone()),
                Some(first) if *first == content => return Ok(None),
                Some(_) => {
                    return Err(Error::new(
                        Kind::HeadersDiffer,
                        format!(
                            "sheet \"{sheet}\" has another header than the one it seems to go on with"
                        ),
                    ));
                }
            }
        }
        let line = self.number * SHEET_ROWS + u64::from(line) + 1;
        Ok(Some(Row { line, content }))
    }
}

/// A value as a spreadsheet shows it; an error value is an error.
fn text(value: &DataRef<'_>) -> Result<String, String> {
    Ok(match value {
        DataRef::Empty => String::new(),
        DataRef::String(text) | DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => {
            text.clone()
        }
        DataRef::SharedString(text) => (*text).to_owned(),
        DataRef::Bool(value) => value.to_string(),
        DataRef::Int(number) => number.to_string(),
        // Never as 1.23E+11.
        DataRef::Float(number) => number.to_string(),
        // Of thirty hours they say thirty.
        DataRef::DateTime(at) if at.is_duration() => {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "a float beyond that is none"
            )]
            let seconds = (at.as_f64() * 86_400.0).round() as i64;
            let sign = if seconds < 0 { "-" } else { "" };
            let seconds = seconds.unsigned_abs();
            let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60);
            format!("{sign}{hours:02}:{minutes:02}:{:02}", seconds % 60)
        }
        DataRef::DateTime(at) => {
            let (year, month, day, hour, minute, second, _) = at.to_ymd_hms_milli();
            let date = format!("{year:04}-{month:02}-{day:02}");
            let time = format!("{hour:02}:{minute:02}:{second:02}");
            match (at.is_datetime() && at.as_f64() >= 1.0, time.as_str()) {
                (false, _) => time,
                (true, "00:00:00") => date,
                (true, _) => format!("{date} {time}"),
            }
        }
        DataRef::Error(error) => return Err(format!("the error {error}")),
    })
}
