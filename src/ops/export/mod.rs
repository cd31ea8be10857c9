//! Records out of the file (contract §10), as lists that people read and that `import` takes back
//! to the same data. Read in slices by id: it holds no record for long, and no state of the file,
//! so that it runs beside a server for as long as it likes. It knows no command line.
//!
//! - `rows`: what is read: records and interactions, slice by slice; `sales`: purchases
//! - `layout`: the columns of a table, the parts of `data` among them
//! - `csv`, `json`, `xlsx`: how they are written

mod csv;
mod json;
mod layout;
mod rows;
mod sales;
mod xlsx;

pub use rows::{What, Which};

use crate::{
    db::Store,
    types::{Zone, error::Result},
};
use std::{
    io::{Seek, Write},
    ops::ControlFlow,
};

/// How a list is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// RFC 4180, UTF-8 with a byte order mark, by which a spreadsheet knows that it is UTF-8.
    Csv,
    /// A list of objects, one a line.
    Json,
    /// An object a line.
    Ndjson,
    /// A spreadsheet; past 1,048,576 rows it goes on in another sheet.
    Xlsx,
}

impl Format {
    /// The end of a file's name.
    #[must_use]
    pub fn extension(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Json => "json",
            Self::Ndjson => "ndjson",
            Self::Xlsx => "xlsx",
        }
    }
}

/// What an export came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// How many records.
    pub rows: u64,
    /// How many texts that no cell holds as a whole.
    pub cut: u64,
}

impl Counts {
    /// That something was cut, as a sentence.
    #[must_use]
    pub fn told(self) -> Option<String> {
        let texts = match self.cut {
            0 => return None,
            1 => "1 text is".to_owned(),
            count => format!("{count} texts are"),
        };
        Some(format!(
            "{texts} longer than a cell of a spreadsheet holds, and cut there; csv and json have them whole"
        ))
    }
}

/// One export.
pub struct Export<'a> {
    /// Where from.
    pub store: &'a Store,
    /// How times are shown.
    pub zone: Zone,
    /// What.
    pub what: What,
    /// Which of them.
    pub which: Which,
}

impl Export<'_> {
    /// Writes the list in any format but XLSX; `told` hears how many are written, and may stop it.
    /// How many were.
    pub fn write(
        &self,
        format: Format,
        out: &mut dyn Write,
        told: impl FnMut(u64) -> ControlFlow<()>,
    ) -> Result<u64> {
        match format {
            Format::Csv => csv::write(self, out, told),
            Format::Ndjson => json::write(self, json::Frame::Lines, out, told),
            Format::Json | Format::Xlsx => json::write(self, json::Frame::List, out, told),
        }
    }

    /// Writes the list as XLSX; a text that is longer than a cell can be is cut.
    pub fn write_xlsx(
        &self,
        out: impl Write + Seek + Send,
        told: impl FnMut(u64) -> ControlFlow<()>,
    ) -> Result<Counts> {
        xlsx::write(self, xlsx::SHEET_ROWS, out, told)
    }
}

#[cfg(test)]
mod tests;
