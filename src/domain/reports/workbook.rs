//! One report as a spreadsheet: numbers are numbers, everything else is text as it stands.

use super::{
    Report, Values,
    run::{folder, read_rows},
    write::shown,
};
use crate::{
    core::texts,
    db::sandbox::QueryLimits,
    identity::App,
    types::{
        error::{Error, Result},
        spreadsheet::cut,
    },
};
use rusqlite::types::ValueRef;
use rust_xlsxwriter::{Format, Workbook, Worksheet, XlsxError};
use std::{
    cell::RefCell,
    fs::File,
    io::{Seek, SeekFrom},
    ops::ControlFlow,
};

/// Rows that a sheet can have, the header included.
const SHEET_ROWS: u32 = 1_048_576;
/// Whole numbers up to this one are the same in a spreadsheet.
const EXACT_MAX: i64 = 1 << 53;

/// Runs a report into a file without a name, with a heading in words above each column.
///
/// # Errors
/// As [`super::run`]; [`crate::types::error::Kind::Invalid`] for more rows than a sheet has.
pub async fn workbook(app: &App, report: &Report, values: Values) -> Result<File> {
    let permit = app.report_semaphore.run().await?;
    let (path, report) = (app.store.path().to_owned(), report.clone());
    let language = texts::current();
    let made = tokio::task::spawn_blocking(move || {
        let _permit = permit;
        let mut book = Workbook::new();
        let sheet = RefCell::new(book.add_worksheet_with_constant_memory());
        let mut row = 0;
        read_rows(
            &path,
            &report.query,
            &values,
            &QueryLimits::default(),
            |columns| {
                let mut sheet = sheet.borrow_mut();
                let bold = Format::new().set_bold();
                for (at, column) in (0..).zip(columns) {
                    let heading = texts::within(language, || report.heading(column));
                    let written = sheet.write_string_with_format(0, at, heading, &bold);
                    written.map_err(Error::unavailable)?;
                }
                let frozen = sheet.set_freeze_panes(1, 0);
                frozen.map(drop).map_err(Error::unavailable)
            },
            |cells| {
                row += 1;
                if row >= SHEET_ROWS {
                    return Err(Error::invalid(
                        "a spreadsheet has 1,048,575 rows at the most: narrow the report, or take CSV",
                    ));
                }
                let mut sheet = sheet.borrow_mut();
                for (at, cell) in (0..).zip(cells) {
                    write(&mut sheet, row, at, *cell).map_err(Error::unavailable)?;
                }
                Ok(ControlFlow::Continue(()))
            },
        )?;
        let mut file = tempfile::tempfile_in(folder(&path)).map_err(Error::unavailable)?;
        book.save_to_writer(&mut file).map_err(Error::unavailable)?;
        file.seek(SeekFrom::Start(0)).map_err(Error::unavailable)?;
        Ok(file)
    });
    made.await.map_err(Error::defect)?
}

#[expect(clippy::cast_precision_loss, reason = "it is exact up to there")]
fn write(sheet: &mut Worksheet, row: u32, at: u16, value: ValueRef<'_>) -> Result<(), XlsxError> {
    let written = match value {
        ValueRef::Null => return Ok(()),
        ValueRef::Integer(number) if number.abs() <= EXACT_MAX => {
            sheet.write_number(row, at, number as f64)
        }
        ValueRef::Real(number) if number.is_finite() => sheet.write_number(row, at, number),
        value => {
            let text = shown(value);
            let held = cut(&text);
            sheet.write_string(row, at, held.unwrap_or(text))
        }
    };
    written.map(drop)
}
