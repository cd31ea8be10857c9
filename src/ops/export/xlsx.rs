//! XLSX: every cell is text, so that no barcode or phone number becomes a number. Rows go to disk
//! as they come. A text that no cell holds is cut; a last sheet says how many were.

use super::{Counts, Export, layout::Layout, rows};
use crate::types::{
    error::{Error, Result},
    spreadsheet::{cut, kept},
};
use rust_xlsxwriter::{Format, Workbook};
use std::{
    io::{Seek, Write},
    ops::ControlFlow,
};

/// Rows that a sheet can have, the header included.
pub(super) const SHEET_ROWS: u32 = 1_048_576;

pub(super) fn write(
    export: &Export<'_>,
    sheet_rows: u32,
    out: impl Write + Seek + Send,
    told: impl FnMut(u64) -> ControlFlow<()>,
) -> Result<Counts> {
    let layout = Layout::of(export)?;
    let mut sheets = Sheets {
        book: Workbook::new(),
        name: export.what.name(),
        headers: layout.headers(),
        count: 0,
        row: 0,
        sheet_rows,
        cut: 0,
    };
    sheets.add()?;
    let rows = rows::each(
        export,
        |record| {
            if sheets.row == sheets.sheet_rows {
                sheets.add()?;
            }
            sheets.line(&layout.cells(record), &Format::default())
        },
        told,
    )?;
    let counts = Counts {
        rows,
        cut: sheets.cut,
    };
    if let Some(told) = counts.told() {
        sheets
            .book
            .add_worksheet()
            .set_name("Cut")
            .and_then(|sheet| sheet.write_string(0, 0, told))
            .map_err(Error::unavailable)?;
    }
    sheets
        .book
        .save_to_writer(out)
        .map_err(Error::unavailable)?;
    Ok(counts)
}

struct Sheets {
    book: Workbook,
    name: &'static str,
    headers: Vec<String>,
    count: usize,
    row: u32,
    sheet_rows: u32,
    cut: u64,
}

impl Sheets {
    /// Begins a sheet, with the header.
    fn add(&mut self) -> Result<()> {
        self.count += 1;
        self.row = 0;
        let name = if self.count == 1 {
            self.name.to_owned()
        } else {
            format!("{} {}", self.name, self.count)
        };
        self.book
            .add_worksheet_with_constant_memory()
            .set_name(name)
            .and_then(|sheet| sheet.set_freeze_panes(1, 0))
            .map_err(Error::unavailable)?;
        let headers = std::mem::take(&mut self.headers);
        self.line(&headers, &Format::new().set_bold())?;
        self.headers = headers;
        Ok(())
    }

    fn line(&mut self, cells: &[String], format: &Format) -> Result<()> {
        let sheet = self
            .book
            .worksheet_from_index(self.count - 1)
            .map_err(Error::defect)?;
        for (column, cell) in cells.iter().enumerate() {
            if cell.is_empty() {
                continue;
            }
            let mut text = kept(cell);
            if let Some(held) = cut(&text) {
                text = held.into();
                self.cut += 1;
            }
            let column = u16::try_from(column).map_err(Error::defect)?;
            sheet
                .write_string_with_format(self.row, column, &*text, format)
                .map_err(Error::unavailable)?;
        }
        self.row += 1;
        Ok(())
    }
}
