//! One look at all cells of a table before any row is judged: facts that only a column as a whole can tell. Nothing is
//! kept of a cell but counts and an example.

use super::{
    batches::Options,
    clean::{Mended, Mending, clean, is_scientific},
    dates::{self, Order},
    headers::{CHECKED_IN, folded, has},
    source::{Content, Row, Source, next_rows},
    status::{self, Manner},
    values,
};
use crate::{ops::background::Background, types::error::Result};
use std::{collections::BTreeMap, sync::LazyLock};

/// Rows that are looked at in one go.
const SLICE_ROWS: usize = 1_000;
/// Digits of a number that spreadsheets keep.
pub const DIGITS_MAX: usize = 15;

/// The facts of a table.
#[derive(Debug, Clone, Default)]
pub struct Survey {
    pub rows: u64,
    /// Rows that a filter hides.
    pub hidden: u64,
    /// Cells beside the columns that have a header, and the first of them with its line.
    pub beside: u64,
    pub beside_first: Option<(u64, String)>,
    /// The line of the header, and the texts above it.
    pub header_line: u64,
    pub above: Vec<String>,
    pub is_spreadsheet: bool,
    columns: Vec<Facts>,
}

/// The facts of a column.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    pub filled: u64,
    /// The first value.
    pub example: Option<String>,
    /// Set where there are others than the first value.
    has_others: bool,
    /// All of its values are hexadecimal digits.
    pub is_hex: bool,
    /// Mended cells, where the column holds texts and where it holds codes.
    mended: [Mended; 2],
    /// Cells that a spreadsheet shortened, such as `1,5E+12`.
    pub scientific: u64,
    /// Numbers that a spreadsheet rounded, or that have a fraction.
    pub rounded: u64,
    /// Numbers that are shown with zeros in front, and the first with its text.
    pub shown: u64,
    pub shown_first: Option<(String, String)>,
    /// Dates whose writing leaves their order open, by the orders that they fit, and the first of each.
    pub dates: BTreeMap<Vec<Order>, String>,
    /// The manner in which it says whether tickets are good, and those that are not, by kind.
    pub manner: Option<Manner>,
    pub not_good: BTreeMap<&'static str, u64>,
    /// Set where it says who was checked in elsewhere.
    is_checked_in: bool,
    /// Rows that were checked in elsewhere.
    pub yes: u64,
    header: String,
}

static NO_FACTS: LazyLock<Facts> = LazyLock::new(Facts::default);

impl Survey {
    /// Looks at all rows of a list; at none of a list of objects, or of one that Gatepost exported.
    pub fn of(source: &Source, options: &Options, background: &Background) -> Result<Self> {
        let mut survey = Self::new(source, options);
        if survey.columns.is_empty() {
            return Ok(survey);
        }
        let mut rows = source.rows()?;
        loop {
            let is_over = background.run(|| {
                let slice = next_rows(&mut rows, SLICE_ROWS)?;
                for row in &slice {
                    survey.look_at(row);
                }
                Ok::<_, crate::types::error::Error>(slice.is_empty())
            })?;
            if is_over {
                return Ok(survey);
            }
        }
    }

    /// The survey of a list of which no row was looked at yet.
    #[must_use]
    pub fn new(source: &Source, options: &Options) -> Self {
        let headers = source.header().filter(|_| !source.is_ours());
        let columns = headers.unwrap_or_default().iter().map(|header| {
            let is_named = options.status.iter().any(|rule| rule.means(header));
            Facts {
                is_hex: true,
                manner: status::manner(header).or(is_named.then_some(Manner::Word)),
                header: header.clone(),
                is_checked_in: has(CHECKED_IN, &folded(header)),
                ..Facts::default()
            }
        });
        Self {
            columns: columns.collect(),
            header_line: source.header_line(),
            is_spreadsheet: source.sheets().is_some(),
            above: source.above().to_vec(),
            ..Self::default()
        }
    }

    /// The facts of a column, by its position.
    #[must_use]
    pub fn column(&self, at: usize) -> &Facts {
        self.columns.get(at).unwrap_or(&NO_FACTS)
    }

    /// Returns whether all rows have the same value in a column; a total may have none, and two rows may be one by mistake.
    #[must_use]
    pub fn is_constant(&self, at: usize) -> bool {
        let column = self.column(at);
        !column.has_others && column.filled > 2 && column.filled * 10 >= self.rows * 9
    }

    pub fn look_at(&mut self, row: &Row) {
        self.rows += 1;
        self.hidden += u64::from(row.is_hidden);
        let Content::Cells(cells) = &row.content else {
            return;
        };
        let filled = cells.iter().enumerate();
        for (at, cell) in filled.filter(|(_, cell)| !cell.is_empty()) {
            let column = self.columns.get_mut(at);
            if let Some(column) = column.filter(|column| !column.header.is_empty()) {
                column.look_at(cell);
            } else {
                self.beside += 1;
                let first = || (row.line, cell.clone());
                self.beside_first.get_or_insert_with(first);
            }
        }
        for number in &row.numbers {
            let column = self.columns.get_mut(number.column);
            if let Some((column, cell)) = column.zip(cells.get(number.column)) {
                column.rounded += u64::from(is_rounded(cell));
                if let Some(shown) = &number.shown {
                    column.shown += 1;
                    let first = || (cell.clone(), shown.clone());
                    column.shown_first.get_or_insert_with(first);
                }
            }
        }
    }
}

/// Returns whether a number of a spreadsheet can be no code: it has more digits than are kept, or a fraction.
#[must_use]
pub fn is_rounded(number: &str) -> bool {
    number.len() > DIGITS_MAX && number.bytes().filter(u8::is_ascii_digit).count() > DIGITS_MAX
        || number.contains('.')
}

impl Facts {
    fn look_at(&mut self, cell: &str) {
        let example = self.example.get_or_insert_with(|| cell.to_owned());
        self.has_others |= example != cell;
        self.filled += 1;
        self.is_hex = self.is_hex
            && cell.len() > 3
            && cell
                .bytes()
                .all(|byte| byte.is_ascii_hexdigit() || byte == b' ');
        if !cell.is_ascii() || cell.starts_with(['\'', '=']) {
            for (is_code, mended) in [false, true].into_iter().zip(&mut self.mended) {
                if let Ok(clean) = clean(cell, is_code) {
                    let all = mended.iter_mut().zip(clean.mended);
                    all.for_each(|(count, one)| *count += one);
                }
            }
        } else if cell.contains(['+', '-']) {
            self.scientific += u64::from(is_scientific(cell));
        }
        if let Some(orders) = dates::orders(cell) {
            let first = self.dates.entry(orders);
            first.or_insert_with(|| cell.to_owned());
        }
        if let Some(manner) = self.manner
            && let Some(kind) = status::not_good(manner, &self.header, cell)
        {
            *self.not_good.entry(kind).or_default() += 1;
        }
        if self.is_checked_in {
            self.yes += u64::from(values::flag(cell) != Some(false));
        }
    }

    /// The mended cells of a kind.
    #[must_use]
    pub fn mended(&self, mending: Mending, is_code: bool) -> u64 {
        self.mended[usize::from(is_code)][mending as usize]
    }

    /// The one order that all dates of the column fit; none where there are several, or none.
    #[must_use]
    pub fn order(&self) -> Option<Order> {
        let fits_all = |order: &&Order| self.dates.keys().all(|orders| orders.contains(order));
        let fitting: Vec<_> = Order::ALL.iter().filter(fits_all).collect();
        match fitting[..] {
            [one] => Some(*one),
            _ => None,
        }
    }
}
