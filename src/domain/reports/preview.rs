//! The first rows of a report, to be looked at: with names and times as people read them.

use super::{Report, Values, chart::moment, run::read_rows, write::shown};
use crate::{
    core::texts::{self, say, tx},
    db::sandbox::QueryLimits,
    identity::App,
    types::error::{Error, Result},
};
use rusqlite::types::ValueRef;
use std::ops::ControlFlow;

/// The longest text of a cell, in characters; the download has all of it.
const CELL_MAX_CHARS: usize = 400;
/// Cells of a preview at most, so that wide rows are fewer.
const CELLS_MAX: usize = 100_000;

/// Parts of the names of columns of money.
const MONEY: [&str; 3] = ["amount", "discount", "net"];

/// The first rows of a report.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Preview {
    pub columns: Vec<String>,
    /// The columns as people read them.
    pub headings: Vec<String>,
    pub rows: Vec<Vec<Cell>>,
    pub more: bool,
}

impl Preview {
    /// Leaves so many rows.
    pub fn cut(&mut self, most: usize) {
        self.more |= self.rows.len() > most;
        self.rows.truncate(most);
    }

    /// Gives the columns their headings, and says what the server calls things, in the language of the page.
    fn translate(&mut self, report: &Report) {
        let heads: Vec<_> = self.columns.iter().map(|name| report.head(name)).collect();
        let of_words = heads.iter().enumerate().filter(|(_, (_, is))| *is);
        for (at, _) in of_words {
            for row in &mut self.rows {
                row[at].text = said(&row[at].text);
            }
        }
        self.headings = heads.into_iter().map(|(heading, _)| heading).collect();
    }

    /// Makes one column of first and last names, leaves out what is the same in each time, and gives the numbers of a
    /// column as many decimals. Files have all columns as they are.
    pub fn read_well(&mut self) {
        self.join_names();
        for at in 0..self.columns.len() {
            self.shorten_times(at);
            self.align_numbers(at);
        }
    }

    fn join_names(&mut self) {
        let place = |name: &str| self.columns.iter().position(|known| known == name);
        let (Some(first), Some(last)) = (place("first_name"), place("last_name")) else {
            return;
        };
        if last != first + 1 {
            return;
        }
        for row in &mut self.rows {
            let last = row.remove(last).text;
            let name = &mut row[first].text;
            format!("{name} {last}").trim().clone_into(name);
        }
        self.columns.remove(last);
        self.headings.remove(last);
        self.headings[first] = say("Name");
    }

    fn shorten_times(&mut self, at: usize) {
        let filled = |row: &&Vec<Cell>| !row[at].text.is_empty();
        let times = || self.rows.iter().filter(filled).map(|row| &*row[at].text);
        let Some(first) = times().next() else { return };
        if times().all(|time| time.len() == 10 && moment(time).is_some()) {
            for row in self.rows.iter_mut().filter(|row| !row[at].text.is_empty()) {
                row[at].text = texts::date(&row[at].text);
            }
            return;
        }
        if first.len() != 19 || !times().all(|time| time.len() == 19 && moment(time).is_some()) {
            return;
        }
        let seconds = if times().all(|time| time.ends_with(":00")) {
            3
        } else {
            0
        };
        let day = first[..11].to_owned();
        let is_one_day = times().all(|time| time.starts_with(&day));
        for row in &mut self.rows {
            let text = &mut row[at].text;
            if !text.is_empty() {
                text.truncate(text.len() - seconds);
                if is_one_day {
                    text.drain(..day.len());
                } else {
                    *text = in_digits(text);
                }
            }
        }
        if is_one_day {
            let heading = tx("reports-column-on-day").with("column", &self.headings[at]);
            self.headings[at] = heading.with("day", texts::date(day.trim())).to_string();
        }
    }

    fn align_numbers(&mut self, at: usize) {
        let name = &self.columns[at];
        if !self.counts(&at) || name == "id" || name.ends_with("_id") {
            return;
        }
        let is_money = MONEY.iter().any(|word| name.contains(word));
        let decimals = |cell: &Cell| {
            cell.text.split_once('.').map_or(0, |(_, rest)| match rest {
                "0" => 0,
                rest => rest.len(),
            })
        };
        let most = self.rows.iter().map(|row| decimals(&row[at])).max();
        let decimals = most.unwrap_or_default().max(if is_money { 2 } else { 0 });
        for row in &mut self.rows {
            if let Some(number) = row[at].number.filter(|_| decimals <= 2) {
                row[at].text = texts::decimal(number, decimals);
            }
        }
    }

    /// Returns whether a column has numbers, to be set flush right.
    pub fn counts(&self, at: &usize) -> bool {
        let mut cells = self.rows.iter().filter_map(|row| row.get(*at));
        let filled = |cell: &&Cell| !cell.text.is_empty();
        cells.find(filled).is_some_and(|cell| cell.number.is_some())
    }
}

/// A value of a row.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// As people read it; empty for no value.
    pub text: String,
    /// Of a number: the number.
    pub number: Option<f64>,
}

/// Runs a report as far as its first `most` rows.
pub async fn preview(app: &App, report: &Report, values: Values, most: usize) -> Result<Preview> {
    let permit = app.report_semaphore.run().await?;
    let (path, query) = (app.store.path().to_owned(), report.query.clone());
    let query_limits = QueryLimits::default();
    // Whoever closes the page stops the report.
    let _unwanted = Unwanted(query_limits.clone());
    let made = tokio::task::spawn_blocking(move || {
        let _permit = permit;
        let mut preview = Preview::default();
        let Preview {
            columns,
            rows,
            more,
            ..
        } = &mut preview;
        let named = |names: &[String]| {
            names.clone_into(columns);
            Ok(())
        };
        read_rows(&path, &query, &values, &query_limits, named, |row| {
            if rows.len() >= most.min(CELLS_MAX / row.len().max(1)) {
                *more = true;
                return Ok(ControlFlow::Break(()));
            }
            rows.push(row.iter().map(|value| cell(*value)).collect());
            Ok(ControlFlow::Continue(()))
        })?;
        Ok::<_, Error>(preview)
    });
    let mut preview = made.await.map_err(Error::defect)??;
    preview.translate(report);
    Ok(preview)
}

/// The words of a cell, each of several that are joined by themselves.
fn said(text: &str) -> String {
    let words = text.split(" + ").map(say);
    words.collect::<Vec<_>>().join(" + ")
}

/// A time with its day as the language writes it.
pub(super) fn in_digits(time: &str) -> String {
    match time.split_at_checked(10) {
        Some((day, rest)) => texts::date(day) + rest,
        None => time.to_owned(),
    }
}

struct Unwanted(QueryLimits);

impl Drop for Unwanted {
    fn drop(&mut self) {
        self.0.pull();
    }
}

#[expect(clippy::cast_precision_loss, reason = "it is drawn")]
fn cell(value: ValueRef<'_>) -> Cell {
    let text = shown(value);
    let mut letters = text.char_indices();
    Cell {
        number: match value {
            ValueRef::Integer(number) => Some(number as f64),
            ValueRef::Real(number) => Some(number).filter(|number| number.is_finite()),
            _ => None,
        },
        text: match letters.nth(CELL_MAX_CHARS) {
            Some((at, _)) => format!("{}…", &text[..at]),
            None => text,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn preview(columns: &[&str], rows: &[&[&str]]) -> Preview {
        let texts = |texts: &[&str]| texts.iter().map(ToString::to_string).collect::<Vec<_>>();
        let cell = |text: &&str| Cell {
            text: (*text).to_owned(),
            number: text.parse().ok(),
        };
        Preview {
            columns: texts(columns),
            headings: texts(columns),
            rows: rows
                .iter()
                .map(|row| row.iter().map(cell).collect())
                .collect(),
            more: false,
        }
    }

    fn read(columns: &[&str], rows: &[&[&str]]) -> (Vec<String>, Vec<Vec<String>>) {
        let mut preview = preview(columns, rows);
        preview.read_well();
        let rows = preview.rows.into_iter();
        let texts = rows.map(|row| row.into_iter().map(|cell| cell.text).collect());
        (preview.headings, texts.collect())
    }

    #[test]
    fn names_are_one_column_and_times_of_one_day_are_hours() {
        let (headings, rows) = read(
            &["at", "first_name", "last_name"],
            &[
                &["2026-11-21 09:00:00", "Ada", "Lovelace"],
                &["", "", "Noether"],
                &["2026-11-21 10:15:00", "Bo", ""],
            ],
        );
        assert_eq!(headings, ["at, 2026-11-21", "Name"]);
        assert_eq!(
            rows,
            [["09:00", "Ada Lovelace"], ["", "Noether"], ["10:15", "Bo"]]
        );
        let (headings, rows) = read(
            &["at"],
            &[&["2026-11-21 09:00:00"], &["2026-11-22 09:00:01"]],
        );
        assert_eq!(headings, ["at"]);
        assert_eq!(rows, [["2026-11-21 09:00:00"], ["2026-11-22 09:00:01"]]);
    }

    #[test]
    fn numbers_of_a_column_have_as_many_decimals() {
        let (_, rows) = read(
            &["amount", "percent", "people", "id", "mixed"],
            &[
                &["1234.5", "83.3", "12345", "12345", "1"],
                &["2.0", "100.0", "7", "7", "x"],
            ],
        );
        assert_eq!(rows[0], ["1,234.50", "83.3", "12,345", "12345", "1"]);
        assert_eq!(rows[1], ["2.00", "100.0", "7", "7", "x"]);
    }
}
