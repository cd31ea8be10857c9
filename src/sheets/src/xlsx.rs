//! One sheet of an XLSX file as rows of text: numbers as they are read, dates as
//! `yyyy-mm-dd hh:mm:ss`, without the time at midnight.

use crate::{
    Rows, bomb,
    error::{Error, Result},
    marks::{Cells, Marks},
    sheet::{self, SheetReader, unreadable},
};
use calamine::{DataRef, Reader, Xlsx, XlsxError};
use std::{fs::File, io::BufReader, path::Path};

type Workbook = Xlsx<BufReader<File>>;

/// The fault of a formula without a value.
const NOT_COMPUTED: &str =
    "holds a formula whose result was not saved; open the file in a spreadsheet and save it anew";

/// The sheets that there are, and what was seen in them; every part of the file is looked through before.
pub(super) fn sheets(path: &Path) -> Result<(bomb::Found, Vec<String>)> {
    let file = File::open(path).map_err(Error::cause)?;
    let found = bomb::check(BufReader::new(file))?;
    let file = File::open(path).map_err(Error::cause)?;
    Ok((found, open(file)?.sheet_names()))
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

/// The rows of sheets, those without any value left out; of the second and later ones without the
/// header, and counted on.
pub(super) fn rows(
    file: File,
    path: &Path,
    sheets: Vec<String>,
    found: bomb::Found,
) -> Result<Rows> {
    let again = found.has_marks().then(|| File::open(path)).transpose();
    let again = again.map_err(Error::cause)?;
    sheet::rows(move |reader| {
        let mut book = open(file)?;
        let mut marks = again.map(Marks::open).transpose()?;
        for name in &sheets {
            if !send(reader, &mut book, name, marks.as_mut())? {
                break;
            }
            reader.next_sheet();
        }
        Ok(())
    })
}

/// Sends a sheet row by row, until there are no more or nobody listens: false then.
fn send(
    reader: &mut SheetReader,
    book: &mut Workbook,
    name: &str,
    marks: Option<&mut Marks>,
) -> Result<bool> {
    let mut cells = book
        .worksheet_cells_reader(name)
        .map_err(|cause| unreadable(&cause))?;
    let mut marks = marks.map(|marks| marks.of_sheet(name)).transpose()?;
    let mut at: Option<u32> = None;
    loop {
        let cell = cells
            .next_cell_with_formula_metadata()
            .map_err(|cause| unreadable(&cause))?;
        let row = cell.as_ref().map(|cell| cell.pos.0);
        if row != at {
            if let Some(line) = at
                && !reader.send(name, u64::from(line) + 1, 1)?
            {
                return Ok(false);
            }
            if row < at && row.is_some() {
                return Err(unreadable(&"its rows are out of order"));
            }
            at = row;
        }
        let Some(cell) = cell else {
            return Ok(true);
        };
        let mark = marks.as_mut().map(Cells::next_cell).transpose()?;
        reader.is_hidden = mark.as_ref().is_some_and(|mark| mark.is_hidden);
        let column = cell.pos.1 as usize;
        if cell.formula.is_some() && cell.value == DataRef::Empty {
            // Some programs write formulas and leave it to the next to compute them.
            reader.refuse(column, NOT_COMPUTED.to_owned());
            continue;
        }
        match text(&cell.value) {
            Ok(text) => {
                let shown = mark.and_then(|mark| mark.format?.shown(&text));
                reader.put(column, text)?;
                if matches!(cell.value, DataRef::Int(_) | DataRef::Float(_)) {
                    reader.is_number(column, shown);
                }
            }
            Err(error) => reader.refuse(column, format!("holds {error}")),
        }
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
