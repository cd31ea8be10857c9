//! JSON: objects as the API shows them, but for references, which are selectors.

use super::{
    Export,
    rows::{self, Record, Value},
};
use crate::types::{
    error::{Error, Result},
    json::write_string,
};
use std::{
    io::{BufWriter, Write},
    ops::ControlFlow,
};

/// What stands around the objects.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Frame {
    List,
    Lines,
}

pub(super) fn write(
    export: &Export<'_>,
    frame: Frame,
    out: &mut dyn Write,
    told: impl FnMut(u64) -> ControlFlow<()>,
) -> Result<u64> {
    let names = rows::names(export.what);
    let mut out = BufWriter::with_capacity(256 * 1024, out);
    let mut text = String::new();
    let mut first = true;
    if frame == Frame::List {
        out.write_all(b"[").map_err(Error::unavailable)?;
    }
    let count = rows::each(
        export,
        |record| {
            text.clear();
            if frame == Frame::List {
                text.push_str(if first { "\n" } else { ",\n" });
                first = false;
            }
            object(&names, &record, &mut text);
            if frame == Frame::Lines {
                text.push('\n');
            }
            out.write_all(text.as_bytes()).map_err(Error::unavailable)
        },
        told,
    )?;
    if frame == Frame::List {
        out.write_all(b"\n]\n").map_err(Error::unavailable)?;
    }
    out.flush().map_err(Error::unavailable)?;
    Ok(count)
}

fn object(names: &[&str], record: &Record, out: &mut String) {
    out.push('{');
    let key = |name: &str, out: &mut String| {
        if !out.ends_with('{') {
            out.push(',');
        }
        out.push('"');
        out.push_str(name);
        out.push_str("\":");
    };
    for (name, value) in names.iter().zip(&record.values) {
        match value {
            Value::Nothing => {}
            Value::Text(text) => {
                key(name, out);
                write_string(text, out);
            }
            Value::Json(json) => {
                key(name, out);
                out.push_str(json);
            }
        }
    }
    if let Some(data) = &record.data {
        key("data", out);
        // As stored, but a line is a record.
        if data.contains('\n') {
            out.push_str(&data.replace(['\n', '\r'], " "));
        } else {
            out.push_str(data);
        }
    }
    out.push('}');
}
