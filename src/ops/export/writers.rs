//! Writers of lists: CSV, JSON and XLSX.

use super::{
    Counts,
    layout::Layout,
    rows::{Record, Value},
};
use crate::types::{
    error::{Error, Result},
    json::write_string,
    spreadsheet::{cut, guarded, kept},
};
use csv::{Terminator, WriterBuilder};
use rust_xlsxwriter::{Format, Workbook};
use std::io::{Seek, Write};

pub(super) trait Writer: Send {
    fn add(&mut self, record: Record) -> Result<()>;

    /// Completes the list; how many texts were cut.
    fn end(self: Box<Self>) -> Result<u64>;
}

/// RFC 4180, UTF-8 with a byte order mark; what a spreadsheet would run is guarded.
pub(super) struct Csv<W: Write> {
    layout: Layout,
    lines: csv::Writer<W>,
}

impl<W: Write> Csv<W> {
    pub fn begin(layout: Layout, mut out: W) -> Result<Self> {
        out.write_all("\u{feff}".as_bytes())
            .map_err(Error::unavailable)?;
        let lines = WriterBuilder::new()
            .terminator(Terminator::CRLF)
            .from_writer(out);
        let headers = layout.headers();
        let mut csv = Self { layout, lines };
        csv.line(&headers)?;
        Ok(csv)
    }

    fn line(&mut self, cells: &[String]) -> Result<()> {
        let cells = cells.iter().map(|cell| guarded(cell));
        let guarded: Vec<_> = cells.collect();
        let cells = guarded.iter().map(|cell| cell.as_bytes());
        self.lines.write_record(cells).map_err(Error::unavailable)
    }
}

impl<W: Write + Send> Writer for Csv<W> {
    fn add(&mut self, record: Record) -> Result<()> {
        let cells = self.layout.cells(record);
        self.line(&cells)
    }

    fn end(mut self: Box<Self>) -> Result<u64> {
        self.lines.flush().map_err(Error::unavailable)?;
        Ok(0)
    }
}

/// Objects as the API shows them, but for references, which are selectors: a list, or one a line.
pub(super) struct Json<W> {
    names: Vec<&'static str>,
    is_list: bool,
    /// The text before the next object.
    separator: &'static str,
    text: String,
    out: W,
}

impl<W: Write> Json<W> {
    pub fn begin(names: Vec<&'static str>, is_list: bool, out: W) -> Result<Self> {
        let mut json = Self {
            names,
            is_list,
            separator: if is_list { "\n" } else { "" },
            text: String::new(),
            out,
        };
        if is_list {
            json.write("[")?;
        }
        Ok(json)
    }

    fn write(&mut self, text: &str) -> Result<()> {
        self.out
            .write_all(text.as_bytes())
            .map_err(Error::unavailable)
    }
}

impl<W: Write + Send> Writer for Json<W> {
    fn add(&mut self, record: Record) -> Result<()> {
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        text.push_str(self.separator);
        text.push('{');
        let names = self.names.iter().copied().chain(["data"]);
        // As stored, but a line is a record.
        let data = record.data.map(|data| data.replace(['\n', '\r'], " "));
        let values = record.values.into_iter().chain(data.map(Value::Json));
        for (name, value) in names.zip(values) {
            if value == Value::Nothing {
                continue;
            }
            text.push_str(if text.ends_with('{') { "\"" } else { ",\"" });
            text.push_str(name);
            text.push_str("\":");
            match value {
                Value::Text(value) => write_string(&value, &mut text),
                Value::Json(value) => text.push_str(&value),
                Value::Nothing => {}
            }
        }
        text.push_str(if self.is_list { "}" } else { "}\n" });
        if self.is_list {
            self.separator = ",\n";
        }
        self.write(&text)?;
        self.text = text;
        Ok(())
    }

    fn end(mut self: Box<Self>) -> Result<u64> {
        if self.is_list {
            self.write("\n]\n")?;
        }
        self.out.flush().map_err(Error::unavailable)?;
        Ok(0)
    }
}

/// Rows that a sheet can have, the header included.
pub(super) const SHEET_ROWS: u32 = 1_048_576;

/// Every cell is text, so that no barcode or phone number becomes a number. Rows go to disk as they
/// come. A text that no cell holds is cut; a last sheet says how many were.
pub(super) struct Xlsx<W> {
    layout: Layout,
    out: W,
    book: Workbook,
    name: &'static str,
    sheets: usize,
    /// The next row of the sheet.
    row: u32,
    sheet_rows: u32,
    counts: Counts,
}

impl<W: Write> Xlsx<W> {
    pub fn begin(name: &'static str, layout: Layout, sheet_rows: u32, out: W) -> Result<Self> {
        let mut xlsx = Self {
            layout,
            out,
            book: Workbook::new(),
            name,
            sheets: 0,
            row: 0,
            sheet_rows,
            counts: Counts { rows: 0, cut: 0 },
        };
        xlsx.add_sheet()?;
        Ok(xlsx)
    }

    /// Begins a sheet, with the header.
    fn add_sheet(&mut self) -> Result<()> {
        self.sheets += 1;
        self.row = 0;
        let name = match self.sheets {
            1 => self.name.to_owned(),
            number => format!("{} {number}", self.name),
        };
        self.book
            .add_worksheet_with_constant_memory()
            .set_name(name)
            .and_then(|sheet| sheet.set_freeze_panes(1, 0))
            .map_err(Error::unavailable)?;
        let headers = self.layout.headers();
        self.line(&headers, &Format::new().set_bold())
    }

    fn line(&mut self, cells: &[String], format: &Format) -> Result<()> {
        let sheet = self.book.worksheet_from_index(self.sheets - 1);
        let sheet = sheet.map_err(Error::defect)?;
        for (column, cell) in (0..).zip(cells) {
            if cell.is_empty() {
                continue;
            }
            let mut text = kept(cell);
            if let Some(held) = cut(&text) {
                text = held.into();
                self.counts.cut += 1;
            }
            sheet
                .write_string_with_format(self.row, column, &*text, format)
                .map_err(Error::unavailable)?;
        }
        self.row += 1;
        Ok(())
    }
}

impl<W: Write + Send> Writer for Xlsx<W> {
    fn add(&mut self, record: Record) -> Result<()> {
        if self.row == self.sheet_rows {
            self.add_sheet()?;
        }
        let cells = self.layout.cells(record);
        self.line(&cells, &Format::default())
    }

    fn end(mut self: Box<Self>) -> Result<u64> {
        if let Some(warning) = self.counts.warning() {
            self.book
                .add_worksheet()
                .set_name("Cut")
                .and_then(|sheet| sheet.write_string(0, 0, warning))
                .map_err(Error::unavailable)?;
        }
        let mut file = tempfile::tempfile().map_err(Error::unavailable)?;
        self.book
            .save_to_writer(&mut file)
            .map_err(Error::unavailable)?;
        let copied = file
            .rewind()
            .and_then(|()| std::io::copy(&mut file, &mut self.out))
            .and_then(|_| self.out.flush());
        copied.map_err(Error::unavailable)?;
        Ok(self.counts.cut)
    }
}
