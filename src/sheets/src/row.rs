//! Rows as they are given out.

use crate::error::Result;

/// One row.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Its position, from 1: the line at which it starts in a text, the row of a sheet, the
    /// object of a JSON list.
    pub line: u64,
    pub content: Content,
    /// Its cells that a spreadsheet keeps as numbers.
    pub numbers: Vec<Number>,
    /// Set where a spreadsheet does not show it.
    pub is_hidden: bool,
}

impl Row {
    /// A row of a text.
    #[must_use]
    pub fn new(line: u64, content: Content) -> Self {
        Self {
            line,
            content,
            numbers: Vec::new(),
            is_hidden: false,
        }
    }
}

/// A cell that a spreadsheet keeps as a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Number {
    /// Its column, counted from 0.
    pub column: usize,
    /// The text that is shown of it, where its format puts zeros in front.
    pub shown: Option<String>,
}

/// The content of a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Cells, as many as the header of a text has; of a spreadsheet those at the end may be left out.
    Cells(Vec<String>),
    /// The text of a JSON object, or of a line that should be one.
    Object(String),
    /// Nothing that can be read, and why.
    Unreadable(String),
    /// A cell that holds no value, the column counted from 0, and what it holds; and the other cells.
    BadCell(usize, String, Vec<String>),
}

/// Rows in their order.
pub type Rows = Box<dyn Iterator<Item = Result<Row>> + Send>;

/// Returns whether a row is nothing but delimiters.
pub(super) fn is_blank(row: &Result<Row>) -> bool {
    let cells = row.as_ref().ok().map(|row| &row.content);
    matches!(cells, Some(Content::Cells(cells)) if cells.iter().all(|cell| cell.trim().is_empty()))
}

/// The cells of a row that must have so many.
pub(super) fn of_width(mut cells: Vec<String>, width: usize) -> Content {
    if cells.iter().skip(width).all(|cell| cell.trim().is_empty()) {
        // Nothing is lost with cells that hold nothing.
        cells.truncate(width);
    }
    if cells.len() != width {
        let count = cells.len();
        return Content::Unreadable(format!("has {count} columns, the header has {width}"));
    }
    Content::Cells(cells)
}
