//! The first rows of a report, to be looked at.

use super::{Report, Values, run::read_rows, write::shown};
use crate::{
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

/// The first rows of a report.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Preview {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<Cell>>,
    pub more: bool,
}

impl Preview {
    /// Leaves so many rows.
    pub fn cut(&mut self, most: usize) {
        self.more |= self.rows.len() > most;
        self.rows.truncate(most);
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
        Ok(preview)
    });
    made.await.map_err(Error::defect)?
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
