//! A report over all venues, on the page and as a file.

use crate::{
    admin::prelude::*,
    hub::{
        Hub,
        reports::{Cell, Report},
    },
    types::spreadsheet::guarded,
};
use std::sync::Arc;

/// Rows that a page shows.
const ROWS: usize = 2_000;

#[derive(Template)]
#[template(path = "hub/report.html")]
struct Page {
    layout: Layout,
    report: &'static Report,
    rows: Vec<Vec<String>>,
    more: bool,
}

impl Page {
    fn is_number(&self, at: &usize) -> bool {
        matches!(self.report.columns[*at].1, Cell::Number | Cell::Amount)
    }
}

fn named(request: &RequestContext) -> Result<&'static Report> {
    let missing = || Error::new(Kind::NoSuchPath, "there is no such report");
    Report::find(&request.path("name")?).ok_or_else(missing)
}

pub(super) async fn show(hub: Arc<Hub>, request: RequestContext) -> Result<Response> {
    let report = named(&request)?;
    let zone = request.console.settings().zone.clone();
    let rows = hub.store.read(|sql| report.rows(sql)).await?;
    answer::page(&Page {
        layout: request.layout(report.name, Some(Area::Venues)),
        more: rows.len() > ROWS,
        rows: rows
            .iter()
            .take(ROWS)
            .map(|row| report.cells(row, &zone))
            .collect(),
        report,
    })
}

pub(super) async fn file(hub: Arc<Hub>, request: RequestContext) -> Result<Response> {
    let report = named(&request)?;
    let zone = request.console.settings().zone.clone();
    let rows = hub.store.read(|sql| report.rows(sql)).await?;
    if request.query.text("format") == "json" {
        let rows: Vec<_> = rows.iter().map(|row| report.object(row, &zone)).collect();
        let text = serde_json::to_string(&rows).map_err(Error::defect)?;
        return Ok(answer::download(
            &format!("{}.json", report.id),
            "application/json",
            text,
        ));
    }
    let mut writer = csv::WriterBuilder::new()
        .terminator(csv::Terminator::CRLF)
        .from_writer("\u{feff}".as_bytes().to_vec());
    let names = report.columns.iter().map(|(name, _)| *name);
    writer.write_record(names).map_err(Error::defect)?;
    for row in &rows {
        let cells = report.cells(row, &zone);
        let cells = cells.iter().map(|cell| guarded(cell).into_owned());
        writer.write_record(cells).map_err(Error::defect)?;
    }
    let bytes = writer.into_inner().map_err(Error::defect)?;
    Ok(answer::download(
        &format!("{}.csv", report.id),
        "text/csv; charset=utf-8",
        bytes,
    ))
}
