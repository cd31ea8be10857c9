//! Reports: the lists that there are, one of them run and drawn, and for administrators the SQL
//! behind it.

mod chart;
mod edit;
mod show;

use super::{Area, Layout, RequestContext, Route, answer, route};
use crate::{
    domain::reports::{self, Report},
    types::error::{Error, Kind, Result},
};
use askama::Template;
use poem::Response;

const HERE: &str = "/console/reports";

pub(super) fn routes() -> Vec<Route> {
    let mut routes = vec![
        Route::get(HERE, route::VIEWER, list),
        Route::post("/console/reports/shipped", route::ADMINISTRATOR, put_back),
    ];
    routes.extend(show::routes());
    routes.extend(edit::routes());
    routes
}

fn layout(request: &RequestContext, title: &str) -> Layout {
    request.layout(title, Some(Area::Reports))
}

/// Where a report is shown.
fn path(report: &Report) -> String {
    format!("{HERE}/{}/{}", report.dashboard, report.id)
}

/// What is to be told beside a form, where it is something that the form can be mended by: a report
/// that takes too long is.
fn told(error: Error) -> Result<String> {
    match error.kind {
        Kind::Defect => Err(error),
        _ => Ok(answer::sentence(&error.message)),
    }
}

#[derive(Template)]
#[template(path = "reports/list.html")]
struct List {
    layout: Layout,
    dashboards: Vec<(String, Vec<Line>)>,
    /// Shipped reports that are not there any more.
    missing: Vec<Report>,
}

/// A report in the list.
struct Line {
    report: Report,
    path: String,
}

impl Line {
    fn of(report: Report) -> Self {
        Self {
            path: path(&report),
            report,
        }
    }

    fn is_for_all(&self) -> bool {
        self.report.api_clients.iter().any(|client| client == "*")
    }
}

async fn list(request: RequestContext) -> Result<Response> {
    let dashboards = request.look_up(reports::dashboards)?;
    let there = |report: &Report| {
        let mut all = dashboards.iter().flat_map(|(_, reports)| reports);
        all.any(|known| (&known.dashboard, &known.id) == (&report.dashboard, &report.id))
    };
    let mut missing = reports::shipped()?;
    missing.retain(|report| !there(report));
    let lines = |(name, reports): (String, Vec<Report>)| {
        (name, reports.into_iter().map(Line::of).collect())
    };
    answer::page(&List {
        layout: layout(&request, "Reports"),
        missing,
        dashboards: dashboards.into_iter().map(lines).collect(),
    })
}

/// Puts back the shipped reports that are not there any more.
async fn put_back(request: RequestContext) -> Result<Response> {
    let shipped = reports::shipped()?;
    request
        .write(move |tx, ctx| {
            for report in &shipped {
                match reports::find(tx, &report.dashboard, &report.id) {
                    Ok(_) => {}
                    Err(cause) if cause.kind == Kind::ReportNotFound => {
                        reports::create(tx, ctx, report)?;
                    }
                    Err(cause) => return Err(cause),
                }
            }
            Ok(())
        })
        .await?;
    request.done("The reports that came with Gatepost are there again.", HERE)
}
