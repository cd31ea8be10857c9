//! One sheet of an ODS file as rows of text, streamed: as [`crate::xlsx`] has them.

use crate::{
    COLUMNS_MAX, Rows, bomb,
    error::{Error, Result},
    marks::{attribute, attributes, reader},
    sheet::{self, SHEET_ROWS, SheetReader, unreadable},
};
use quick_xml::{
    Reader,
    events::{BytesStart, Event},
};
use std::{
    fs::File,
    io::{BufRead, BufReader, Read},
    path::Path,
};
use zip::ZipArchive;

const CONTENT: &str = "content.xml";
/// The beginning of the part that names the type of the file.
const TYPE: &str = "application/vnd.oasis.opendocument.spreadsheet";

type Archive = ZipArchive<BufReader<File>>;

fn archive(file: File) -> Result<Archive> {
    ZipArchive::new(BufReader::new(file)).map_err(|cause| unreadable(&cause))
}

/// Returns whether a packed file is one.
pub(super) fn is_one(path: &Path) -> Result<bool> {
    let Ok(mut archive) = archive(File::open(path).map_err(Error::cause)?) else {
        return Ok(false);
    };
    let mut name = Vec::new();
    let part = archive.by_name("mimetype").ok();
    let read = part.map(|part| part.take(100).read_to_end(&mut name));
    Ok(read.is_some_and(|read| read.is_ok()) && name.starts_with(TYPE.as_bytes()))
}

/// The sheets that there are; the part with them is looked through before.
pub(super) fn sheets(path: &Path) -> Result<Vec<String>> {
    let mut archive = archive(File::open(path).map_err(Error::cause)?)?;
    bomb::check_part(content(&mut archive)?)?;
    let mut xml = reader(content(&mut archive)?);
    let (mut buffer, mut names) = (Vec::new(), Vec::new());
    loop {
        buffer.clear();
        match next(&mut xml, &mut buffer)? {
            Event::Start(tag) if is(&tag, b"table") => names.extend(attribute(&tag, "name")),
            Event::Eof => return Ok(names),
            _ => {}
        }
    }
}

fn content(archive: &mut Archive) -> Result<impl Read + '_> {
    archive.by_name(CONTENT).map_err(|cause| match cause {
        zip::result::ZipError::UnsupportedArchive(_) => {
            Error::unreadable("is protected by a password; save it without one")
        }
        cause => unreadable(&cause),
    })
}

fn next<'a>(xml: &mut Reader<impl BufRead>, buffer: &'a mut Vec<u8>) -> Result<Event<'a>> {
    xml.read_event_into(buffer)
        .map_err(|cause| unreadable(&cause))
}

fn is(tag: &BytesStart<'_>, name: &[u8]) -> bool {
    tag.local_name().as_ref() == name
}

/// The rows of sheets, as [`crate::xlsx::rows`] gives them.
pub(super) fn rows(file: File, sheets: Vec<String>) -> Result<Rows> {
    sheet::rows(move |rows| {
        let mut archive = archive(file)?;
        for name in &sheets {
            let mut xml = reader(content(&mut archive)?);
            let mut buffer = Vec::new();
            loop {
                buffer.clear();
                match next(&mut xml, &mut buffer)? {
                    Event::Start(tag)
                        if is(&tag, b"table")
                            && attribute(&tag, "name").as_deref() == Some(name) =>
                    {
                        break;
                    }
                    Event::Eof => return Err(unreadable(&"a sheet is missing")),
                    _ => {}
                }
            }
            if !send(rows, &mut xml, name)? {
                break;
            }
            rows.next_sheet();
        }
        Ok(())
    })
}

/// Sends a sheet row by row; false where nobody listens any more.
fn send(rows: &mut SheetReader, xml: &mut Reader<impl BufRead>, name: &str) -> Result<bool> {
    let (mut line, mut column, mut repeated) = (0, 0, 0);
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        match next(xml, &mut buffer)? {
            Event::Start(tag) if is(&tag, b"table-row") => {
                repeated = count(&tag, "number-rows-repeated");
                column = 0;
                let visibility = attribute(&tag, "visibility");
                rows.is_hidden = visibility.is_some_and(|one| one != "visible");
            }
            Event::End(tag) if tag.local_name().as_ref() == b"table-row" => {
                // A row at the end stands for all that are left, and is empty.
                let most = SHEET_ROWS.saturating_sub(line).max(1);
                if !rows.send(name, line + 1, repeated.min(most))? {
                    return Ok(false);
                }
                line += repeated;
            }
            Event::Start(tag) if is(&tag, b"table-cell") || is(&tag, b"covered-table-cell") => {
                let times = count(&tag, "number-columns-repeated");
                let cell = Cell::of(&tag.into_owned(), xml)?;
                if !cell.text.is_empty() || cell.is_error {
                    for column in column..column + times.min(COLUMNS_MAX as u64 + 1) {
                        cell.put(rows, usize::try_from(column).unwrap_or(usize::MAX))?;
                    }
                }
                column += times;
            }
            Event::End(tag) if tag.local_name().as_ref() == b"table" => return Ok(true),
            Event::Eof => return Err(unreadable(&"its end is missing")),
            _ => {}
        }
    }
}

fn count(tag: &BytesStart<'_>, name: &str) -> u64 {
    let count = attribute(tag, name).and_then(|count| count.parse().ok());
    count.unwrap_or(1).min(SHEET_ROWS)
}

/// A cell as it is kept.
struct Cell {
    text: String,
    is_error: bool,
    is_number: bool,
    /// The text that is shown of a number.
    shown: Option<String>,
}

impl Cell {
    /// Reads a cell to its end.
    fn of(tag: &BytesStart<'_>, xml: &mut Reader<impl BufRead>) -> Result<Self> {
        let shown = paragraphs(tag.local_name().as_ref(), xml)?;
        let is_error = attributes(tag, "value-type").any(|one| *one == *b"error");
        let value = |name: &str| attribute(tag, name);
        let number = value("value").and_then(|value| value.parse::<f64>().ok());
        let text = if let Some(number) = number {
            number.to_string()
        } else if let Some(date) = value("date-value") {
            let date = date.replace('T', " ");
            date.strip_suffix(" 00:00:00").unwrap_or(&date).to_owned()
        } else if let Some(time) = value("time-value") {
            time.trim_start_matches("PT")
                .replace(['H', 'M'], ":")
                .trim_end_matches('S')
                .to_owned()
        } else if let Some(truth) = value("boolean-value") {
            truth
        } else {
            shown.clone()
        };
        Ok(Self {
            is_error,
            is_number: number.is_some(),
            shown: number
                .is_some()
                .then(|| with_zeros(&shown, &text))
                .flatten(),
            text,
        })
    }

    fn put(&self, rows: &mut SheetReader, column: usize) -> Result<()> {
        if self.is_error {
            rows.refuse(column, format!("holds the error {}", self.text));
            return Ok(());
        }
        rows.put(column, self.text.clone())?;
        if self.is_number {
            rows.is_number(column, self.shown.clone());
        }
        Ok(())
    }
}

/// The text that is shown of a number, where it has zeros in front.
fn with_zeros(shown: &str, number: &str) -> Option<String> {
    let is_sign = |sign: char| matches!(sign, '-' | ' ' | '/');
    let digits = shown.replace(is_sign, "");
    let is_padded = digits.len() > number.len() && digits.trim_start_matches('0') == number;
    is_padded.then(|| shown.to_owned())
}

/// The text of a cell's paragraphs, without notes, up to the cell's end.
fn paragraphs(cell: &[u8], xml: &mut Reader<impl BufRead>) -> Result<String> {
    let (mut text, mut buffer) = (String::new(), Vec::new());
    let (mut is_note, mut is_paragraph, mut any) = (false, false, false);
    loop {
        buffer.clear();
        match next(xml, &mut buffer)? {
            Event::Start(tag) => match tag.local_name().as_ref() {
                b"annotation" => is_note = true,
                _ if is_note => {}
                b"p" => {
                    if std::mem::replace(&mut any, true) {
                        text.push('\n');
                    }
                    is_paragraph = true;
                }
                b"s" => {
                    let spaces = count(&tag, "c").min(1_000);
                    text.extend((0..spaces).map(|_| ' '));
                }
                b"tab" => text.push('\t'),
                b"line-break" => text.push('\n'),
                _ => {}
            },
            Event::End(tag) => match tag.local_name().as_ref() {
                b"annotation" => is_note = false,
                b"p" if !is_note => is_paragraph = false,
                end if end == cell => return Ok(text),
                _ => {}
            },
            Event::Text(piece) if is_paragraph && !is_note => {
                let piece = piece.xml10_content();
                text.push_str(&piece.map_err(|cause| unreadable(&cause))?);
            }
            Event::GeneralRef(name) if is_paragraph && !is_note => {
                let sign = name.resolve_char_ref().ok().flatten();
                let known = name.decode().ok();
                let known =
                    known.and_then(|name| quick_xml::escape::resolve_predefined_entity(&name));
                text.extend(sign);
                text.push_str(known.unwrap_or_default());
            }
            Event::Eof => return Err(unreadable(&"its end is missing")),
            _ => {}
        }
        if text.len() > crate::ROW_MAX_BYTES {
            return Err(Error::unreadable(
                "has a cell that is longer than any list needs",
            ));
        }
    }
}
