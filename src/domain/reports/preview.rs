//! The first rows of a report, to be looked at.

use super::{Report, Values, run::RUN_MAX, write::shown};
use crate::{
    db::sandbox::{QueryLimits, Sandbox},
    identity::App,
    types::error::{Error, Result},
};
use rusqlite::types::ValueRef;
use std::ops::ControlFlow;

/// The longest text of a cell, in characters; the download has all of it.
const CELL_MAX_CHARS: usize = 400;

/// The first rows of a report.
#[derive(Debug, Clone, PartialEq)]
pub struct Preview {
    /// Its columns.
    pub columns: Vec<String>,
    /// Its rows.
    pub rows: Vec<Vec<Cell>>,
    /// Whether there are more rows than these.
    pub more: bool,
}

impl Preview {
    /// Whether a column has numbers, to be set flush right.
    #[must_use]
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
    let unwanted = Unwanted(query_limits.clone());
    let made = tokio::task::spawn_blocking(move || {
        let made = read(&path, &query, &values, most, &query_limits);
        drop(permit);
        made
    });
    let made = made.await.map_err(Error::defect)?;
    drop(unwanted);
    made
}

struct Unwanted(QueryLimits);

impl Drop for Unwanted {
    fn drop(&mut self) {
        self.0.pull();
    }
}

fn read(
    path: &std::path::Path,
    query: &str,
    values: &Values,
    most: usize,
    query_limits: &QueryLimits,
) -> Result<Preview> {
    let sandbox = Sandbox::open(path)?;
    sandbox.hold(RUN_MAX, query_limits)?;
    let mut columns = Vec::new();
    let mut rows = Vec::new();
    let mut more = false;
    let ran = sandbox.rows(
        query,
        |name| values.get(name),
        |named| {
            named.clone_into(&mut columns);
            Ok(())
        },
        |row| {
            if rows.len() == most {
                more = true;
                return Ok(ControlFlow::Break(()));
            }
            rows.push(row.iter().map(|value| cell(*value)).collect());
            Ok(ControlFlow::Continue(()))
        },
    );
    ran.map_err(|cause| query_limits.stopped().map_or(cause, Error::from))?;
    Ok(Preview {
        columns,
        rows,
        more,
    })
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
