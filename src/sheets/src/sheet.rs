//! The rows of a spreadsheet as they are put together, cell by cell, by a thread of its own.

use crate::{
    COLUMNS_MAX, Content, Number, ROW_MAX_BYTES, Row, Rows,
    error::{Error, Kind, Result},
};
use std::sync::mpsc::{SyncSender, sync_channel};

/// Rows that a sheet can have.
pub(super) const SHEET_ROWS: u64 = 1_048_576;
/// Rows that are read ahead; each may have [`ROW_MAX_BYTES`].
const AHEAD_ROWS: usize = 16;
/// The most text that the cells of a file may hold. Many cells may share one, so that a small file
/// can stand for any amount.
const TEXT_MAX_BYTES: usize = 4 * 1024 * 1024 * 1024;

/// The sheet of a name, or the first with those that go on with it (`delegates 2` after
/// `delegates`, as `export` writes them).
pub(super) fn chosen(all: &[String], named: Option<&str>) -> Result<Vec<String>> {
    let Some(named) = named else {
        let first = all
            .first()
            .ok_or_else(|| Error::unreadable("has no sheet"))?;
        let goes_on = (2..).map(|number| format!("{first} {number}"));
        let more = goes_on.take_while(|name| all.contains(name));
        return Ok(std::iter::once(first.clone()).chain(more).collect());
    };
    if all.iter().any(|sheet| sheet == named) {
        return Ok(vec![named.to_owned()]);
    }
    Err(Error::new(
        Kind::NamedSheet,
        format!(
            "there is no sheet \"{named}\"; there are \"{}\"",
            all.join("\", \"")
        ),
    ))
}

pub(super) fn unreadable(cause: &dyn std::fmt::Display) -> Error {
    Error::new(
        Kind::Damaged,
        format!(
            "is damaged, or no list in a spreadsheet ({cause}); open it in a spreadsheet and save it anew as .xlsx"
        ),
    )
}

/// The rows that `read` sends, on a thread of its own.
pub(super) fn rows(
    read: impl FnOnce(&mut SheetReader) -> Result<()> + Send + 'static,
) -> Result<Rows> {
    let (sender, receiver) = sync_channel(AHEAD_ROWS);
    std::thread::Builder::new()
        .name("spreadsheet".into())
        .spawn(move || {
            let mut reader = SheetReader {
                sender: sender.clone(),
                number: 0,
                header: None,
                is_at_header: true,
                bytes_left: TEXT_MAX_BYTES,
                cells: Vec::new(),
                numbers: Vec::new(),
                row_bytes: 0,
                problem: None,
                is_hidden: false,
            };
            let read = std::panic::AssertUnwindSafe(move || read(&mut reader));
            let read = std::panic::catch_unwind(read);
            let read = read.unwrap_or_else(|_| Err(unreadable(&"its parts do not fit together")));
            if let Err(cause) = read {
                // Nobody may be listening any more.
                let _ = sender.send(Err(cause));
            }
        })
        .map_err(Error::unavailable)?;
    Ok(Box::new(receiver.into_iter()))
}

/// Puts the rows of sheets together that go on with each other.
pub(super) struct SheetReader {
    sender: SyncSender<Result<Row>>,
    number: u64,
    /// The header of the first sheet.
    header: Option<Content>,
    is_at_header: bool,
    /// The text that the file may still hold.
    bytes_left: usize,
    /// The row that is not complete yet.
    cells: Vec<String>,
    numbers: Vec<Number>,
    row_bytes: usize,
    problem: Option<(usize, String)>,
    /// Set while the row is one that is not shown.
    pub is_hidden: bool,
}

impl SheetReader {
    /// Ends a sheet; the next one goes on with it.
    pub fn next_sheet(&mut self) {
        self.number += 1;
        self.is_at_header = true;
    }

    /// Notes a cell that holds no value.
    pub fn refuse(&mut self, column: usize, reason: String) {
        self.problem = Some((column, reason));
    }

    /// Notes that the cell which was put last is a number, and how it is shown where that is more.
    pub fn is_number(&mut self, column: usize, shown: Option<String>) {
        self.numbers.push(Number { column, shown });
    }

    pub fn put(&mut self, column: usize, text: String) -> Result<()> {
        if text.is_empty() {
            return Ok(());
        }
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
            self.refuse(column, format!("makes the row longer than {most} MiB"));
            return Ok(());
        }
        if self.cells.len() <= column {
            self.cells.resize(column + 1, String::new());
        }
        self.cells[column] = text;
        Ok(())
    }

    /// Sends the row that is complete now, as often as it is `repeated`, unless it is empty, or a header that is known.
    /// False where nobody listens any more.
    pub fn send(&mut self, sheet: &str, line: u64, repeated: u64) -> Result<bool> {
        let Some(row) = self.row(sheet, line)? else {
            return Ok(true);
        };
        for at in 1..repeated {
            let bytes: usize = match &row.content {
                Content::Cells(cells) => cells.iter().map(String::len).sum(),
                _ => 0,
            };
            self.bytes_left = self
                .bytes_left
                .checked_sub(bytes)
                .ok_or_else(|| Error::unreadable("repeats a row too often; split it"))?;
            let again = Row {
                line: row.line + at,
                ..row.clone()
            };
            if self.sender.send(Ok(again)).is_err() {
                return Ok(false);
            }
        }
        Ok(self.sender.send(Ok(row)).is_ok())
    }

    fn row(&mut self, sheet: &str, line: u64) -> Result<Option<Row>> {
        let cells = std::mem::take(&mut self.cells);
        let numbers = std::mem::take(&mut self.numbers);
        self.row_bytes = 0;
        let content = match self.problem.take() {
            Some((column, reason)) => Content::BadCell(column, reason, cells),
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
        Ok(Some(Row {
            line: self.number * SHEET_ROWS + line,
            content,
            numbers,
            is_hidden: self.is_hidden,
        }))
    }
}
