//! Reports: the lists that there are, one of them run and drawn, and for administrators the SQL
//! behind it.

mod edit;
mod show;

use super::{
    Area, Layout, RequestContext, Route, answer,
    route::{ADMINISTRATOR, VIEWER},
};
use crate::{
    domain::reports::{self, Report},
    types::error::{Kind, Result},
};
use askama::Template;
use poem::Response;

const PAGE: &str = "/console/reports";

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get(PAGE, VIEWER, list),
        Route::post("/console/reports/shipped", ADMINISTRATOR, put_back),
        Route::get("/console/reports/new", ADMINISTRATOR, edit::blank),
        Route::post("/console/reports/new", ADMINISTRATOR, edit::save),
        Route::get("/console/reports/:dashboard/:id", VIEWER, show::show),
        Route::get("/console/reports/:dashboard/:id/file", VIEWER, show::file),
        Route::get(
            "/console/reports/:dashboard/:id/edit",
            ADMINISTRATOR,
            edit::edit,
        ),
        Route::post(
            "/console/reports/:dashboard/:id/edit",
            ADMINISTRATOR,
            edit::save,
        ),
        Route::post(
            "/console/reports/:dashboard/:id/remove",
            ADMINISTRATOR,
            edit::remove,
        ),
    ]
}

fn layout(request: &RequestContext, title: &str) -> Layout {
    request.layout(title, Some(Area::Reports))
}

/// The page of a report.
fn path(report: &Report) -> String {
    format!("{PAGE}/{}/{}", report.dashboard, report.id)
}

#[derive(Template)]
#[template(path = "reports/list.html")]
struct List {
    layout: Layout,
    dashboards: Vec<(String, Vec<Report>)>,
    /// Shipped reports that were removed.
    missing: Vec<Report>,
}

fn is_for_all(report: &Report) -> bool {
    report.api_clients.iter().any(|client| client == "*")
}

async fn list(request: RequestContext) -> Result<Response> {
    let dashboards = request.look_up(reports::dashboards)?;
    let exists = |report: &Report| {
        let mut all = dashboards.iter().flat_map(|(_, reports)| reports);
        all.any(|known| (&known.dashboard, &known.id) == (&report.dashboard, &report.id))
    };
    let mut missing = reports::shipped()?;
    missing.retain(|report| !exists(report));
    answer::page(&List {
        layout: layout(&request, "Reports"),
        missing,
        dashboards,
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
    request.done("Shipped reports restored.", PAGE)
}
