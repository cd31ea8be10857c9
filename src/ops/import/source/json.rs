//! JSON objects, one after the other: those of a list, or one a line. Only one is held at a time.

use super::{Content, ROW_MAX_BYTES, Row, skip_mark};
use crate::types::{
    error::{Error, Result},
    json::{check_limits, fault, no_property_twice},
};
use std::{
    fs::File,
    io::{BufRead, BufReader},
};

/// The objects of a file.
pub(super) struct Objects {
    /// None once it is at its end, or unreadable from there on.
    bytes: Option<BufReader<File>>,
    list: bool,
    begun: bool,
    count: u64,
    line: u64,
}

impl Objects {
    pub(super) fn new(mut file: File, list: bool) -> Self {
        // What cannot be read shows when it is read.
        let _ = skip_mark(&mut file);
        Self {
            bytes: Some(BufReader::with_capacity(64 * 1024, file)),
            list,
            begun: false,
            count: 0,
            line: 0,
        }
    }

    fn of_lines(&mut self) -> Result<Option<Row>> {
        let Some(bytes) = &mut self.bytes else {
            return Ok(None);
        };
        loop {
            let mut text = Vec::new();
            self.line += 1;
            let mut limited = std::io::Read::take(&mut *bytes, ROW_MAX_BYTES as u64 + 1);
            limited
                .read_until(b'\n', &mut text)
                .map_err(Error::invalid_cause)?;
            if text.is_empty() {
                return Ok(None);
            }
            if text.len() > ROW_MAX_BYTES {
                return Err(too_long(self.line, "line"));
            }
            if !text.trim_ascii().is_empty() {
                return Ok(Some(Row {
                    line: self.line,
                    content: content(&text),
                }));
            }
        }
    }

    /// The next object of a list; what stands between objects is checked.
    fn of_list(&mut self) -> Result<Option<Row>> {
        let Some(bytes) = &mut self.bytes else {
            return Ok(None);
        };
        if !self.begun {
            self.begun = true;
            next_token(bytes)?;
        }
        let next = self.count + 1;
        let cut_off = || Error::invalid(format!("is cut off after object {}", next - 1));
        let mut token = next_token(bytes)?.ok_or_else(cut_off)?;
        if token == b',' && self.count > 0 {
            token = next_token(bytes)?.ok_or_else(cut_off)?;
        } else if token != b']' && self.count > 0 {
            return Err(Error::invalid(format!(
                "is no JSON list: a comma is missing before object {next}"
            )));
        }
        if token == b']' {
            return match next_token(bytes)? {
                None => Ok(None),
                Some(_) => Err(Error::invalid("goes on after its list")),
            };
        }
        if token != b'{' {
            return Err(Error::invalid(format!(
                "is no JSON list of objects: see object {next}"
            )));
        }
        self.count = next;
        let text = object(bytes, next)?.ok_or_else(cut_off)?;
        Ok(Some(Row {
            line: next,
            content: content(&text),
        }))
    }
}

impl Iterator for Objects {
    type Item = Result<Row>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = if self.list {
            self.of_list()
        } else {
            self.of_lines()
        };
        if !matches!(next, Ok(Some(_))) {
            self.bytes = None;
        }
        next.transpose()
    }
}

fn too_long(at: u64, what: &str) -> Error {
    Error::invalid(format!(
        "{what} {at} is longer than {} MiB",
        ROW_MAX_BYTES / 1024 / 1024
    ))
}

/// The next byte that is no white space.
fn next_token(bytes: &mut impl BufRead) -> Result<Option<u8>> {
    loop {
        let chunk = bytes.fill_buf().map_err(Error::invalid_cause)?;
        if chunk.is_empty() {
            return Ok(None);
        }
        let blank = chunk
            .iter()
            .take_while(|byte| byte.is_ascii_whitespace())
            .count();
        let token = chunk.get(blank).copied();
        bytes.consume(blank + usize::from(token.is_some()));
        if token.is_some() {
            return Ok(token);
        }
    }
}

/// The text of the object whose first brace was read; none where it is cut off.
fn object(bytes: &mut impl BufRead, number: u64) -> Result<Option<Vec<u8>>> {
    let mut text = vec![b'{'];
    let (mut depth, mut quoted, mut escaped) = (1_u32, false, false);
    loop {
        let chunk = bytes.fill_buf().map_err(Error::invalid_cause)?;
        if chunk.is_empty() {
            return Ok(None);
        }
        let end = chunk.iter().position(|byte| {
            match byte {
                _ if escaped => escaped = false,
                b'\\' if quoted => escaped = true,
                b'"' => quoted = !quoted,
                _ if quoted => {}
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        let length = end.map_or(chunk.len(), |end| end + 1);
        text.extend_from_slice(&chunk[..length]);
        bytes.consume(length);
        if end.is_some() {
            return Ok(Some(text));
        }
        if text.len() > ROW_MAX_BYTES {
            return Err(too_long(number, "object"));
        }
    }
}

fn content(text: &[u8]) -> Content {
    match parsed(text) {
        Ok(object) => Content::Object(object),
        Err(cause) => Content::Unreadable(cause.message),
    }
}

fn parsed(text: &[u8]) -> Result<serde_json::Map<String, serde_json::Value>> {
    check_limits(text)?;
    let mut reader = serde_json::Deserializer::from_slice(text);
    let told = |cause: serde_json::Error| Error::invalid(fault(&cause));
    let object = no_property_twice(&mut reader).map_err(told)?;
    reader.end().map_err(told)?;
    Ok(object)
}
