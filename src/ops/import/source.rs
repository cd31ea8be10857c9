//! A list as the crate `sheets` reads it, in the terms of an import: what to try where it cannot be read, and cells as
//! they are meant.

use super::{Mapping, What, by_header::is_known, clean};
use crate::types::{
    error::{Error, Kind as ErrorKind, Result},
    spreadsheet::{unguarded, was_cut},
};
use sheets::Kind;
pub use sheets::{Content, ENCODINGS, FILE_MAX_BYTES, Number, Reading, Row};
use std::path::Path;

/// The memory of rows that are read at once goes not much beyond this.
const ROWS_BYTES: usize = 16 * 1024 * 1024;
/// The memory of a cell beside its text.
const CELL_BYTES: usize = 32;
/// Rows in which the header is looked for.
const HEAD_ROWS: usize = 30;

/// The header by which a file that Gatepost exported is known; its cells are taken exactly as they
/// stand.
pub const OURS: &str = "_type";

/// The marks that tell a list from others: its file and, of a spreadsheet, its sheet.
#[derive(Debug, Clone, Default)]
pub struct Fingerprint {
    /// The name of the file.
    pub name: String,
    pub sha256: [u8; 32],
    /// The first sheet, which is meant where none is named.
    pub first_sheet: Option<String>,
    /// The sheet that is read.
    pub sheet: Option<String>,
}

/// A file to import from.
#[derive(Debug)]
pub struct Source {
    list: sheets::Source,
    header: Option<Vec<String>>,
    /// Somebody named the row of the header.
    is_named: bool,
    /// The texts above the header.
    above: Vec<String>,
}

/// Rows in their order.
pub type Rows = Box<dyn Iterator<Item = Result<Row>> + Send>;

/// The next rows, as many as are held at a time; none at the end.
pub fn next_rows(rows: &mut Rows, most: usize) -> Result<Vec<Row>> {
    let (mut slice, mut bytes) = (Vec::new(), 0);
    while slice.len() < most && bytes < ROWS_BYTES {
        let Some(row) = rows.next().transpose()? else {
            break;
        };
        bytes += bytes_of(&row.content);
        slice.push(row);
    }
    Ok(slice)
}

fn bytes_of(content: &Content) -> usize {
    match content {
        Content::Cells(cells) => cells.iter().map(|cell| CELL_BYTES + cell.len()).sum(),
        Content::Object(text) => text.len(),
        Content::Unreadable(_) | Content::BadCell(..) => CELL_BYTES,
    }
}

impl Source {
    /// Opens a file; errors name it by its path.
    pub fn open(path: &Path, reading: Reading<'_>) -> Result<Self> {
        Self::open_as(path, &path.display().to_string(), reading)
    }

    /// Opens a file that was called `name` where it came from; see [`Source::open`].
    pub fn open_as(path: &Path, name: &str, reading: Reading<'_>) -> Result<Self> {
        let list = sheets::Source::open(path, name, reading);
        let list = list.map_err(|cause| advised(cause).at(name))?;
        let mut source = Self {
            header: list.header().map(titles),
            list,
            is_named: reading.header_row.is_some(),
            above: Vec::new(),
        };
        source.look_above()?;
        Ok(source)
    }

    /// The list with its header where it is: titles may stand above it. Nothing changes where the first row is one, or
    /// `mappings` name its columns.
    ///
    /// # Errors
    /// As [`Source::open`].
    pub fn with_header_found(mut self, what: What, mappings: &[Mapping]) -> Result<Self> {
        let Some(first) = self.header.as_deref().filter(|_| !self.is_named) else {
            return Ok(self);
        };
        let is_mapped = mappings
            .iter()
            .any(|mapping| first.iter().any(|header| mapping.means(header)));
        if is_mapped || self.is_ours() {
            return Ok(self);
        }
        let known = |cells: &[String]| cells.iter().filter(|cell| is_known(what, cell)).count();
        let filled = |cells: &[String]| cells.iter().filter(|cell| !cell.is_empty()).count();
        let (of_first, width) = (known(first), filled(first));
        let name = self.name().to_owned();
        let named = |cause| advised(cause).at(&name);
        let head = self.list.head(HEAD_ROWS).map_err(named)?;
        let below = head
            .into_iter()
            .filter(|(line, _)| *line > self.list.header_line());
        let found = below
            .map(|(line, cells)| (line, titles(&cells)))
            .find(|(_, cells)| {
                let known = known(cells);
                let is_header = known * 2 >= filled(cells) && known > 0;
                let is_alone = filled(cells) == 1;
                is_header
                    && (of_first == 0 && (known > 1 || is_alone)
                        || of_first == 1 && width < 3 && known > 2)
            });
        if let Some((line, header)) = found {
            self.list = self.list.with_header_row(line).map_err(named)?;
            self.header = Some(header);
            self.look_above()?;
        }
        Ok(self)
    }

    /// Reads the texts above the header.
    fn look_above(&mut self) -> Result<()> {
        let line = self.list.header_line();
        if line > 1 {
            let name = self.name().to_owned();
            let head = self
                .list
                .head(HEAD_ROWS)
                .map_err(|cause| advised(cause).at(&name))?;
            let above = head.into_iter().filter(|(own, _)| *own < line);
            let texts = above
                .filter_map(|(_, cells)| cells.into_iter().find(|cell| !cell.trim().is_empty()));
            self.above = texts.collect();
        }
        Ok(())
    }

    /// The texts above the header, the first of each row.
    #[must_use]
    pub fn above(&self) -> &[String] {
        &self.above
    }

    /// The line of the header; 0 where there is none.
    #[must_use]
    pub fn header_line(&self) -> u64 {
        self.list.header_line()
    }

    /// The header's cells; a JSON file has none.
    #[must_use]
    pub fn header(&self) -> Option<&[String]> {
        self.header.as_deref()
    }

    /// The name of the file, without its folder.
    #[must_use]
    pub fn name(&self) -> &str {
        self.list.name()
    }

    /// Describes it in the words of an operator.
    #[must_use]
    pub fn about(&self) -> String {
        self.list.about()
    }

    /// Returns whether it is a programme, whose sessions have an id of their own.
    pub fn is_programme(&self) -> bool {
        self.list.is_programme()
    }

    /// The encoding that a CSV file is read in; none of another file.
    #[must_use]
    pub fn encoding(&self) -> Option<String> {
        self.list.encoding()
    }

    /// The sheets of a spreadsheet, and the one that its rows begin in; none of another file.
    #[must_use]
    pub fn sheets(&self) -> Option<(&[String], &str)> {
        self.list.sheets()
    }

    /// The sheets that are not read, quoted; none where there are no others.
    #[must_use]
    pub fn other_sheets(&self) -> Option<String> {
        let others = self.list.other_sheets();
        (!others.is_empty()).then(|| quoted(&others))
    }

    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        let sheets = self.sheets();
        Fingerprint {
            name: self.name().to_owned(),
            sha256: self.list.sha256(),
            first_sheet: sheets.and_then(|(all, _)| all.first().cloned()),
            sheet: sheets.map(|(_, chosen)| chosen.to_owned()),
        }
    }

    /// Returns whether Gatepost exported it, so that its cells are taken exactly as they stand.
    #[must_use]
    pub fn is_ours(&self) -> bool {
        let mut names = self.header.iter().flatten();
        names.any(|name| name == OURS)
    }

    /// The rows below the header. Those of a table are cleaned: of the apostrophe that keeps a
    /// spreadsheet from running a cell, and, unless Gatepost wrote it, of the white space around.
    pub fn rows(&self) -> Result<Rows> {
        let name = self.name().to_owned();
        let named = move |cause| advised(cause).at(&name);
        let clean: fn(&str) -> &str = if self.is_ours() { unguarded } else { cleaned };
        let rows = self.list.rows().map_err(&named)?;
        Ok(Box::new(rows.map(move |row| {
            let mut row = row.map_err(&named)?;
            if let Content::Cells(cells) = row.content {
                row.content = meant(cells, clean);
            }
            Ok(row)
        })))
    }
}

/// The cells of a header.
fn titles(cells: &[String]) -> Vec<String> {
    if cells.iter().any(|cell| cell == OURS) {
        return cells.iter().map(|cell| cleaned(cell).to_owned()).collect();
    }
    let visible = |cell: &String| clean::visible(cleaned(cell), true);
    cells.iter().map(visible).collect()
}

/// A row's cells as they are meant.
fn meant(mut cells: Vec<String>, clean: fn(&str) -> &str) -> Content {
    if let Some(column) = cells.iter().position(|cell| was_cut(cell)) {
        return Content::BadCell(
            column,
            "was cut when it was exported, as a cell holds no more; export it as csv or json"
                .into(),
            Vec::new(),
        );
    }
    for cell in &mut cells {
        let cleaned = clean(cell);
        if cleaned.len() != cell.len() {
            *cell = cleaned.to_owned();
        }
    }
    Content::Cells(cells)
}

/// A cell without the white space around it, and without the apostrophe of contract §8.
fn cleaned(cell: &str) -> &str {
    unguarded(cell.trim())
}

/// A failure to read, with what can be tried.
fn advised(cause: sheets::Error) -> Error {
    let message = cause.message;
    let kind = match cause.kind {
        Kind::Unavailable => ErrorKind::Unavailable,
        _ => ErrorKind::Invalid,
    };
    let message = match cause.kind {
        Kind::Unreadable | Kind::Unavailable => message,
        Kind::NamedSheet => format!("--sheet: {message}"),
        Kind::NamedEncoding => format!("--encoding: {message}"),
        Kind::HeaderRow => format!("--header-row: {message}"),
        Kind::Damaged => format!("{message}, or name another sheet with --sheet"),
        Kind::EmptySheet { others } => {
            format!(
                "{message}; there are others, for --sheet: {}",
                quoted(&others)
            )
        }
        Kind::HeadersDiffer => format!("{message}; name the sheet to import with --sheet"),
        Kind::NotInEncoding { is_utf_8: true } => {
            format!("{message}; name another with --encoding")
        }
        Kind::NotInEncoding { is_utf_8: false } => format!(
            "{message}; name another with --encoding, or save it as UTF-8 (in a spreadsheet: \"CSV UTF-8\")"
        ),
    };
    Error::new(kind, message)
}

fn quoted(sheets: &[String]) -> String {
    let quoted: Vec<_> = sheets.iter().map(|sheet| format!("\"{sheet}\"")).collect();
    quoted.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_cleaned_unless_the_file_is_ours() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("list.csv");
        let row = |text: &str| {
            std::fs::write(&path, text).unwrap();
            let source = Source::open(&path, Reading::default()).unwrap();
            match source.rows().unwrap().next().unwrap().unwrap().content {
                Content::Cells(cells) => cells,
                other => panic!("{other:?}"),
            }
        };
        let cells = row("a,b,c,d,e,f\n x y ,'=1+1,'-x,'tis,\"'\tq\",\u{a0}\n");
        assert_eq!(cells, ["x y", "=1+1", "-x", "'tis", "\tq", ""]);
        let ours = row("id,_type,a,b\n1,delegate, x y ,''=1\n");
        assert_eq!(ours[2..], [" x y ", "'=1"]);
    }

    #[test]
    fn a_file_that_cannot_be_read_is_refused_with_what_to_try() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("list.csv");
        std::fs::write(&path, b"name\n\xa3ukasz\n").unwrap();
        for (sheet, encoding, told) in [
            (Some("Guests"), None, "list.csv: --sheet: only an .xlsx"),
            (
                None,
                Some("klingon"),
                "list.csv: --encoding: \"klingon\" is",
            ),
            (None, Some("UTF-8"), "in it; name another with --encoding"),
        ] {
            let refused = Source::open(
                &path,
                Reading {
                    sheet,
                    encoding,
                    header_row: None,
                },
            )
            .unwrap_err();
            assert_eq!(refused.kind, ErrorKind::Invalid);
            assert!(refused.to_string().contains(told), "{refused}");
        }
    }
}
