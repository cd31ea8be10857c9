//! Marks that the parser of an XLSX file's cells leaves out: rows that are not shown, and number formats that put zeros in
//! front. The sheet is read beside the parser, cell for cell, and only where a file has either.

use crate::{error::Result, sheet::unreadable};
use quick_xml::{
    Reader,
    events::{BytesStart, Event},
};
use std::{
    borrow::Cow,
    collections::HashMap,
    fs::File,
    io::{BufReader, Read},
};
use zip::{ZipArchive, read::ZipFile};

/// The marks of a file.
pub(super) struct Marks {
    archive: ZipArchive<BufReader<File>>,
    /// The parts of the sheets, by the names of those.
    parts: HashMap<String, String>,
    /// By the numbers of styles.
    formats: Vec<Option<Format>>,
}

/// The mark of a cell.
pub(super) struct Mark<'a> {
    pub is_hidden: bool,
    pub format: Option<&'a Format>,
}

/// A number format of zeros, and of signs between them: `000000`, `000-00-0000`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Format(Vec<Option<char>>);

impl Format {
    /// Reads the code of a format; none where it does not put zeros in front.
    fn parse(code: &str) -> Option<Self> {
        let mut places = Vec::new();
        let mut signs = code.chars();
        while let Some(sign) = signs.next() {
            match sign {
                '0' => places.push(None),
                '#' if places.is_empty() => {}
                ';' => break,
                '"' => places.extend(signs.by_ref().take_while(|sign| *sign != '"').map(Some)),
                '\\' => places.push(Some(signs.next()?)),
                '-' | ' ' | '/' => places.push(Some(sign)),
                _ => return None,
            }
        }
        let zeros = places.iter().filter(|place| place.is_none()).count();
        (zeros > 1).then_some(Self(places))
    }

    /// The text that is shown of a whole number, where that is more than its digits.
    pub(super) fn shown(&self, number: &str) -> Option<String> {
        if !number.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let zeros = self.0.iter().filter(|place| place.is_none()).count();
        let padded = format!("{number:0>zeros$}");
        let (before, rest) = padded.split_at(padded.len() - zeros);
        let mut digits = rest.chars();
        let mut shown = String::new();
        let mut before = Some(before);
        for place in &self.0 {
            if let Some(sign) = place {
                shown.push(*sign);
            } else {
                shown.push_str(before.take().unwrap_or_default());
                shown.extend(digits.next());
            }
        }
        (shown != number).then_some(shown)
    }
}

impl Marks {
    pub(super) fn open(file: File) -> Result<Self> {
        let archive = ZipArchive::new(BufReader::new(file)).map_err(|cause| unreadable(&cause))?;
        let workbook = archive
            .file_names()
            .find(|name| name.to_lowercase().ends_with("workbook.xml"))
            .ok_or_else(|| unreadable(&"it has no workbook"))?
            .to_owned();
        let folder = workbook.rfind('/').map_or(0, |at| at + 1);
        let (folder, name) = workbook.split_at(folder);
        let mut marks = Self {
            archive,
            parts: HashMap::new(),
            formats: Vec::new(),
        };
        let mut targets = HashMap::new();
        marks.each_tag(&format!("{folder}_rels/{name}.rels"), |tag| {
            if tag.local_name().as_ref() == b"Relationship" {
                let target = attribute(tag, "Target")?;
                let path = target
                    .strip_prefix('/')
                    .map_or_else(|| format!("{folder}{target}"), ToOwned::to_owned);
                targets.insert(attribute(tag, "Id")?, path);
            }
            Some(())
        })?;
        let mut parts = HashMap::new();
        marks.each_tag(&workbook, |tag| {
            if tag.local_name().as_ref() == b"sheet" {
                let part = targets.get(&attribute(tag, "id")?)?;
                parts.insert(attribute(tag, "name")?, part.clone());
            }
            Some(())
        })?;
        marks.parts = parts;
        let (mut codes, mut formats, mut is_of_cells) = (HashMap::new(), Vec::new(), false);
        marks.each_tag(&format!("{folder}styles.xml"), |tag| {
            match tag.local_name().as_ref() {
                b"numFmt" => {
                    let format = Format::parse(&attribute(tag, "formatCode")?);
                    codes.insert(attribute(tag, "numFmtId")?, format);
                }
                b"cellXfs" => is_of_cells = true,
                b"cellStyles" => is_of_cells = false,
                b"xf" if is_of_cells => {
                    let id = attribute(tag, "numFmtId").unwrap_or_default();
                    formats.push(codes.get(&id).cloned().flatten());
                }
                _ => {}
            }
            Some(())
        })?;
        marks.formats = formats;
        Ok(marks)
    }

    /// Gives each tag of a part to `take`; what is told by none is passed over. A part that is not there has none.
    fn each_tag(
        &mut self,
        part: &str,
        mut take: impl FnMut(&BytesStart<'_>) -> Option<()>,
    ) -> Result<()> {
        let Ok(part) = self.archive.by_name(part) else {
            return Ok(());
        };
        let mut xml = reader(part);
        let mut buffer = Vec::new();
        loop {
            buffer.clear();
            match xml.read_event_into(&mut buffer) {
                Ok(Event::Start(tag)) => drop(take(&tag)),
                Ok(Event::Eof) => return Ok(()),
                Ok(_) => {}
                Err(cause) => return Err(unreadable(&cause)),
            }
        }
    }

    /// The cells of a sheet, in their order in the file.
    pub(super) fn of_sheet(&mut self, name: &str) -> Result<Cells<'_>> {
        let part = self.parts.get(name).cloned().unwrap_or_default();
        let part = self.archive.by_name(&part);
        Ok(Cells {
            xml: reader(part.map_err(|cause| unreadable(&cause))?),
            formats: &self.formats,
            buffer: Vec::new(),
            is_hidden: false,
        })
    }
}

/// The marks of a sheet's cells, one after the other.
pub(super) struct Cells<'a> {
    xml: Reader<BufReader<ZipFile<'a, BufReader<File>>>>,
    formats: &'a [Option<Format>],
    buffer: Vec<u8>,
    is_hidden: bool,
}

impl<'a> Cells<'a> {
    pub(super) fn next_cell(&mut self) -> Result<Mark<'a>> {
        loop {
            self.buffer.clear();
            let event = self.xml.read_event_into(&mut self.buffer);
            match event.map_err(|cause| unreadable(&cause))? {
                Event::Start(tag) if tag.local_name().as_ref() == b"row" => {
                    let hidden = attribute(&tag, "hidden");
                    self.is_hidden = matches!(hidden.as_deref(), Some("1" | "true"));
                }
                Event::Start(tag) if tag.local_name().as_ref() == b"c" => {
                    let style = attribute(&tag, "s").and_then(|style| style.parse().ok());
                    let format = style.and_then(|style: usize| self.formats.get(style)?.as_ref());
                    return Ok(Mark {
                        is_hidden: self.is_hidden,
                        format,
                    });
                }
                Event::Eof => return Err(unreadable(&"its cells do not fit together")),
                _ => {}
            }
        }
    }
}

pub(super) fn reader<R: Read>(part: R) -> Reader<BufReader<R>> {
    let mut xml = Reader::from_reader(BufReader::with_capacity(64 * 1024, part));
    let config = xml.config_mut();
    config.expand_empty_elements = true;
    config.check_end_names = false;
    xml
}

/// The values of a name's attributes as they stand; namespaces are passed over.
pub(super) fn attributes<'a>(
    tag: &'a BytesStart<'_>,
    name: &str,
) -> impl Iterator<Item = Cow<'a, [u8]>> {
    let mut attributes = tag.attributes();
    attributes.with_checks(false);
    attributes
        .flatten()
        .filter(move |one| one.key.local_name().as_ref() == name.as_bytes())
        .map(|one| one.value)
}

/// The value of an attribute by its name, whatever stands for its namespace.
pub(super) fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let found = attributes(tag, name).next()?;
    let value = String::from_utf8_lossy(&found).into_owned();
    let unescaped = quick_xml::escape::unescape(&value);
    Some(unescaped.map_or_else(|_| value.clone(), Cow::into_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_and_signs_of_a_format_are_shown() {
        for (code, number, shown) in [
            ("000000", "7422", Some("007422")),
            ("000000", "1234567", None),
            ("000-00-0000", "12345678", Some("012-34-5678")),
            ("\"T\"0000", "12", Some("T0012")),
            ("#0000;-0", "12", Some("0012")),
            ("0000", "1.5", None),
            ("0.00", "1", None),
            ("0", "1", None),
            ("General", "1", None),
            ("yyyy-mm-dd", "1", None),
        ] {
            let format = Format::parse(code);
            let found = format.and_then(|format| format.shown(number));
            assert_eq!(found.as_deref(), shown, "{code} {number}");
        }
    }
}
