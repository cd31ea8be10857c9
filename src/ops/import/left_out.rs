//! Rows of a table that are no records: totals, headers once more, and people who did not come.

use super::{
    Columns, What,
    bad::{Failure, Problem},
    columns::Column,
    headers::{CHECKED_IN, folded, has},
    values,
};

/// Words of a row with a total.
const TOTALS: &str = "total totals totaux subtotal sum summe gesamt gesamtsumme zwischensumme somme suma totale somma \
    totaal som grandtotal anzahl count";
/// The longest first cell of a row with a total.
const WORD_MAX_BYTES: usize = 40;

impl Columns {
    /// Returns whether a row repeats the header, as lists that were printed do on every page.
    pub(super) fn is_header(&self, cells: &[String]) -> bool {
        let mut pairs = self.columns.iter().zip(cells);
        cells.len() > 1 && pairs.all(|(column, cell)| column.header == *cell)
    }

    /// Returns whether a row is the total of others: a word for that, and beside it nothing but numbers. Where a code
    /// should be, it counts the rows: somebody may be called Sum.
    pub(super) fn is_total(&self, cells: &[String], line: u64) -> bool {
        let mut filled = cells.iter().filter(|cell| !cell.is_empty());
        let Some(first) = filled
            .next()
            .filter(|_| self.columns.len() > 1 && !self.is_ours)
        else {
            return false;
        };
        let is_number = |cell: &String| {
            let mut bytes = cell.bytes();
            bytes.all(|byte| byte.is_ascii_digit() || b".,' ".contains(&byte))
        };
        if first.len() > WORD_MAX_BYTES || !filled.all(is_number) {
            return false;
        }
        let word: String = folded(first)
            .chars()
            .filter(|letter| !letter.is_ascii_digit())
            .collect();
        let is_count = |cell: &str| cell.parse().is_ok_and(|count: u64| count <= line);
        let mut pairs = self
            .columns
            .iter()
            .zip(cells)
            .filter(|(_, cell)| !cell.is_empty());
        has(TOTALS, &word)
            && pairs
                .all(|(column, cell)| !column.target.is_code() || is_count(cell) || cell == first)
    }

    /// Returns whether a row of a shop's list, read as history, is of somebody who did not come.
    pub(super) fn is_not_checked_in(&self, cells: &[String]) -> bool {
        if self.what != What::Interactions {
            return false;
        }
        let is_time =
            |column: &Column| column.target.is_time() && has(CHECKED_IN, &folded(&column.header));
        let found = self.columns.iter().position(is_time);
        found.is_some_and(|at| {
            let cell = cells.get(at).map_or("", String::as_str);
            cell.is_empty() || values::flag(cell) == Some(false)
        })
    }
}

/// The reason why a total is no record; its word, or the column at fault.
pub(super) fn total(cells: &[String], at: usize) -> Failure {
    let word = cells.iter().find(|cell| !cell.is_empty());
    let word = word.map_or_else(
        || format!("column {}", at + 1),
        |word| format!("\"{word}\""),
    );
    Failure::LeftOut(Problem::of_row(format!("is a total: {word}")))
}
