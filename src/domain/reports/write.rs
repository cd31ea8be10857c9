//! Rows of a report as text.

use crate::types::{
    error::{Error, Result},
    json::write_string,
    secret::hex,
    spreadsheet::guarded,
};
use csv::{Terminator, WriterBuilder};
use rusqlite::types::ValueRef;
use std::{borrow::Cow, fmt::Write as _};

/// The format in which a report is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// An envelope whose `data` is a list of objects.
    Json,
    /// RFC 4180, UTF-8, with a byte order mark, by which a spreadsheet knows that it is UTF-8.
    Csv,
}

/// Writes rows one by one, each into a text of its own.
pub(super) struct Writer {
    format: Format,
    /// Of JSON: each column's name as a key, with its colon.
    keys: Vec<String>,
    first: bool,
}

impl Writer {
    /// Returns what comes before the rows, and what writes them.
    pub(super) fn begin(format: Format, columns: &[String]) -> Result<(String, Self)> {
        let key = |column: &String| {
            let mut key = String::new();
            write_string(column, &mut key);
            key.push(':');
            key
        };
        let writer = Self {
            format,
            keys: columns.iter().map(key).collect(),
            first: true,
        };
        let head = match format {
            Format::Json => "{\"data\":[".to_owned(),
            Format::Csv => {
                "\u{feff}".to_owned() + &line(columns.iter().map(|column| guarded(column)))?
            }
        };
        Ok((head, writer))
    }

    /// One row.
    pub(super) fn row(&mut self, values: &[ValueRef<'_>]) -> Result<String> {
        let first = std::mem::take(&mut self.first);
        match self.format {
            Format::Csv => line(values.iter().map(|value| cell(*value))),
            Format::Json => {
                let mut text = String::from(if first { "\n{" } else { ",\n{" });
                for (at, (key, value)) in self.keys.iter().zip(values).enumerate() {
                    if at > 0 {
                        text.push(',');
                    }
                    text.push_str(key);
                    json(*value, &mut text);
                }
                text.push('}');
                Ok(text)
            }
        }
    }

    /// The text after the rows; without it, what was sent is not whole.
    pub(super) fn end(&self) -> &'static str {
        match self.format {
            Format::Json => "\n],\"meta\":{}}\n",
            Format::Csv => "",
        }
    }
}

fn json(value: ValueRef<'_>, out: &mut String) {
    match value {
        ValueRef::Integer(number) => {
            let _ = write!(out, "{number}");
        }
        ValueRef::Real(number) => out.push_str(&real(number).unwrap_or_else(|| "null".to_owned())),
        ValueRef::Text(text) => write_string(&String::from_utf8_lossy(text), out),
        ValueRef::Blob(bytes) => write_string(&hex(bytes), out),
        ValueRef::Null => out.push_str("null"),
    }
}

/// A value as a cell of a table; what a spreadsheet would run is guarded, and numbers are none of it.
fn cell(value: ValueRef<'_>) -> Cow<'_, str> {
    match value {
        ValueRef::Null => Cow::Borrowed(""),
        ValueRef::Text(text) => match String::from_utf8_lossy(text) {
            Cow::Borrowed(text) => guarded(text),
            Cow::Owned(text) => Cow::Owned(guarded(&text).into_owned()),
        },
        other => Cow::Owned(shown(other)),
    }
}

/// A value as people read it.
pub(super) fn shown(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => String::new(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => real(number).unwrap_or_default(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
        ValueRef::Blob(bytes) => hex(bytes),
    }
}

/// A number that is one: SQLite has infinities, JSON and spreadsheets have not.
fn real(number: f64) -> Option<String> {
    serde_json::Number::from_f64(number).map(|number| number.to_string())
}

fn line<'a>(cells: impl Iterator<Item = Cow<'a, str>>) -> Result<String> {
    let mut writer = WriterBuilder::new()
        .terminator(Terminator::CRLF)
        .buffer_capacity(512)
        .from_writer(Vec::new());
    for cell in cells {
        writer.write_field(cell.as_bytes()).map_err(Error::defect)?;
    }
    writer.write_record(None::<&[u8]>).map_err(Error::defect)?;
    let bytes = writer.into_inner().map_err(Error::defect)?;
    String::from_utf8(bytes).map_err(Error::defect)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(format: Format) -> String {
        let columns = ["id", "na\"me", "=x"].map(ToOwned::to_owned);
        let (mut text, mut writer) = Writer::begin(format, &columns).unwrap();
        for row in [
            [
                ValueRef::Integer(-1),
                ValueRef::Text("Ada, \"L\"\nx".as_bytes()),
                ValueRef::Text(b"=1+1"),
            ],
            [
                ValueRef::Real(12.0),
                ValueRef::Null,
                ValueRef::Text("+49 30".as_bytes()),
            ],
            [
                ValueRef::Real(f64::INFINITY),
                ValueRef::Blob(&[0, 255]),
                ValueRef::Real(-1.5e-7),
            ],
        ] {
            text.push_str(&writer.row(&row).unwrap());
        }
        text + writer.end()
    }

    #[test]
    fn json_is_an_envelope_of_objects() {
        let whole: serde_json::Value = serde_json::from_str(&rows(Format::Json)).unwrap();
        assert_eq!(
            whole,
            serde_json::json!({"meta": {}, "data": [
                {"id": -1, "na\"me": "Ada, \"L\"\nx", "=x": "=1+1"},
                {"id": 12.0, "na\"me": null, "=x": "+49 30"},
                {"id": null, "na\"me": "00ff", "=x": -1.5e-7},
            ]})
        );
        let (head, writer) = Writer::begin(Format::Json, &[]).unwrap();
        assert!(serde_json::from_str::<serde_json::Value>(&(head + writer.end())).is_ok());
    }

    #[test]
    fn csv_has_a_header_and_guards_what_would_run() {
        assert_eq!(
            rows(Format::Csv),
            "\u{feff}id,\"na\"\"me\",'=x\r\n-1,\"Ada, \"\"L\"\"\nx\",'=1+1\r\n12.0,,'+49 30\r\n,00ff,-1.5e-7\r\n"
        );
    }
}
