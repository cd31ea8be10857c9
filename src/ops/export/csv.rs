//! CSV: RFC 4180, UTF-8 with a byte order mark; what a spreadsheet would run is guarded.

use super::{Export, layout::Layout, rows};
use crate::types::{
    error::{Error, Result},
    spreadsheet::guarded,
};
use csv::{Terminator, Writer, WriterBuilder};
use std::{
    io::{BufWriter, Write},
    ops::ControlFlow,
};

pub(super) fn write(
    export: &Export<'_>,
    out: &mut dyn Write,
    told: impl FnMut(u64) -> ControlFlow<()>,
) -> Result<u64> {
    let layout = Layout::of(export)?;
    let mut out = BufWriter::with_capacity(256 * 1024, out);
    out.write_all("\u{feff}".as_bytes())
        .map_err(Error::unavailable)?;
    let mut writer = WriterBuilder::new()
        .terminator(Terminator::CRLF)
        .from_writer(out);
    line(&mut writer, &layout.headers())?;
    let count = rows::each(
        export,
        |record| line(&mut writer, &layout.cells(record)),
        told,
    )?;
    writer.flush().map_err(Error::unavailable)?;
    Ok(count)
}

fn line(writer: &mut Writer<impl Write>, cells: &[String]) -> Result<()> {
    for cell in cells {
        writer
            .write_field(guarded(cell).as_bytes())
            .map_err(Error::unavailable)?;
    }
    writer
        .write_record(None::<&[u8]>)
        .map_err(Error::unavailable)
}
