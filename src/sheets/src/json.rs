//! JSON objects as texts, one after the other: those of a list, or one a line. Only one is held at a time.
//! A text is cut out by its braces; whoever parses it finds what is wrong within.

use crate::{
    Content, ROW_MAX_BYTES, Row,
    error::{Error, Result},
};
use encoding_rs::UTF_8;
use encoding_rs_io::{DecodeReaderBytes, DecodeReaderBytesBuilder};
use std::{
    fs::File,
    io::{BufRead, BufReader, Read},
};

/// The objects of a file.
pub(super) struct Objects {
    bytes: BufReader<DecodeReaderBytes<File, Vec<u8>>>,
    is_list: bool,
    /// The object that was read last, or the line.
    number: u64,
    /// Set at its end, or where it is unreadable from here on.
    is_over: bool,
}

impl Objects {
    pub(super) fn new(file: File, is_list: bool) -> Self {
        let bytes = DecodeReaderBytesBuilder::new()
            .encoding(Some(UTF_8))
            .utf8_passthru(true)
            .strip_bom(true)
            .build(file);
        Self {
            bytes: BufReader::with_capacity(64 * 1024, bytes),
            is_list,
            number: 0,
            is_over: false,
        }
    }

    fn next_line(&mut self) -> Result<Option<Vec<u8>>> {
        loop {
            let mut text = Vec::new();
            self.number += 1;
            let mut limited = (&mut self.bytes).take(ROW_MAX_BYTES as u64 + 1);
            limited.read_until(b'\n', &mut text).map_err(Error::cause)?;
            if text.is_empty() {
                return Ok(None);
            }
            if text.len() > ROW_MAX_BYTES {
                return Err(too_long("line", self.number));
            }
            if !text.trim_ascii().is_empty() {
                return Ok(Some(text));
            }
        }
    }

    /// The text of the next object of a list; the separators between objects are checked.
    fn next_of_list(&mut self) -> Result<Option<Vec<u8>>> {
        let number = self.number + 1;
        if number == 1 {
            // The bracket by which it is known for a list.
            next_token(&mut self.bytes)?;
        }
        let cut_off = || Error::unreadable(format!("is cut off after object {}", number - 1));
        let mut token = next_token(&mut self.bytes)?.ok_or_else(cut_off)?;
        if number > 1 && token != b']' {
            if token != b',' {
                return Err(Error::unreadable(format!(
                    "is no JSON list: a comma is missing before object {number}"
                )));
            }
            token = next_token(&mut self.bytes)?.ok_or_else(cut_off)?;
        }
        match token {
            b'{' => {
                self.number = number;
                self.object().map(Some)
            }
            b']' if next_token(&mut self.bytes)?.is_none() => Ok(None),
            b']' => Err(Error::unreadable("goes on after its list")),
            _ => Err(Error::unreadable(format!(
                "is no JSON list of objects: see object {number}"
            ))),
        }
    }

    /// The text of the object whose first brace was read.
    fn object(&mut self) -> Result<Vec<u8>> {
        let mut text = vec![b'{'];
        let (mut depth, mut quoted, mut escaped) = (1_u32, false, false);
        while depth > 0 {
            let chunk = self.bytes.fill_buf().map_err(Error::cause)?;
            if chunk.is_empty() {
                let before = self.number - 1;
                return Err(Error::unreadable(format!(
                    "is cut off after object {before}"
                )));
            }
            let mut used = 0;
            for byte in chunk {
                used += 1;
                match byte {
                    _ if escaped => escaped = false,
                    b'\\' if quoted => escaped = true,
                    b'"' => quoted = !quoted,
                    _ if quoted => {}
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' => depth -= 1,
                    _ => {}
                }
                if depth == 0 {
                    break;
                }
            }
            text.extend_from_slice(&chunk[..used]);
            self.bytes.consume(used);
            if text.len() > ROW_MAX_BYTES {
                return Err(too_long("object", self.number));
            }
        }
        Ok(text)
    }
}

impl Iterator for Objects {
    type Item = Result<Row>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let text = if self.is_list {
            self.next_of_list()
        } else {
            self.next_line()
        };
        self.is_over = !matches!(text, Ok(Some(_)));
        let row = |text: Vec<u8>| {
            let content = match String::from_utf8(text) {
                Ok(text) => Content::Object(text),
                Err(_) => Content::Unreadable("is not UTF-8".into()),
            };
            Row::new(self.number, content)
        };
        text.map(|text| text.map(row)).transpose()
    }
}

fn too_long(what: &str, number: u64) -> Error {
    let most = ROW_MAX_BYTES / 1024 / 1024;
    Error::unreadable(format!("{what} {number} is longer than {most} MiB"))
}

/// The next byte that is no white space.
fn next_token(bytes: &mut impl BufRead) -> Result<Option<u8>> {
    for byte in bytes.bytes() {
        let byte = byte.map_err(Error::cause)?;
        if !byte.is_ascii_whitespace() {
            return Ok(Some(byte));
        }
    }
    Ok(None)
}
