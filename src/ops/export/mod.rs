//! Records out of the file (contract §10), as lists that people read and that `import` takes back
//! to the same data. Read in slices by id: an export holds no record for long, and no state of the
//! file, so that it runs beside a server for as long as it likes. It knows no command line.
//!
//! - `rows`: what a list has, read slice by slice
//! - `layout`: the columns of a table, the parts of `data` among them
//! - `writers`: how lists are written

mod layout;
mod rows;
mod writers;

pub use rows::{What, Which};

use crate::{
    db::Store,
    ops::background::Background,
    types::{Zone, error::Result},
};
use layout::Layout;
use rows::List;
use std::io::{BufWriter, Write};
use writers::{Csv, Json, SHEET_ROWS, Writer, Xlsx};

/// The format of an exported list.
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

/// The number of rows that an export wrote, and of texts that it cut because no cell holds them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    pub rows: u64,
    pub cut: u64,
}

impl Counts {
    /// A sentence about what was cut; none where nothing was.
    #[must_use]
    pub fn warning(self) -> Option<String> {
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
    pub store: &'a Store,
    /// The time zone of the times.
    pub zone: Zone,
    pub what: What,
    pub which: Which,
    /// With which priority it is made.
    pub background: Background,
}

impl Export<'_> {
    /// Writes the list. A spreadsheet is put together in a temporary file, and a text that is longer
    /// than a cell can be is cut in it.
    pub fn write(&self, format: Format, out: &mut (dyn Write + Send)) -> Result<Counts> {
        self.write_in_sheets(format, SHEET_ROWS, out)
    }

    fn write_in_sheets(
        &self,
        format: Format,
        sheet_rows: u32,
        out: &mut (dyn Write + Send),
    ) -> Result<Counts> {
        let list = List::of(self.what);
        let list = self
            .store
            .look_up(|connection| list.with_tickets(connection))?;
        let layout = || Layout::of(self, &list);
        let out = BufWriter::with_capacity(256 * 1024, out);
        let mut writer: Box<dyn Writer + '_> = match format {
            Format::Csv => Box::new(Csv::begin(layout()?, out)?),
            Format::Xlsx => Box::new(Xlsx::begin(self.what.name(), layout()?, sheet_rows, out)?),
            Format::Json | Format::Ndjson => {
                Box::new(Json::begin(list.names(), format == Format::Json, out)?)
            }
        };
        let mut rows = 0;
        list.each(self, |record| {
            rows += 1;
            writer.add(record)
        })?;
        let cut = writer.end()?;
        Ok(Counts { rows, cut })
    }
}

#[cfg(test)]
mod tests;
