//! Reports: the lists that there are, one of them run and drawn, and for administrators the SQL
//! behind it; certificates of attendance.

mod certificates;
mod edit;
mod show;

use crate::admin::prelude::*;
use crate::domain::reports::{self, Report};

const PAGE: &str = "/console/reports";

pub(super) fn routes() -> Vec<Route> {
    let edit = "/console/reports/:dashboard/:id/edit";
    Routes::access(VIEWER)
        .get(PAGE, list)
        .get("/console/reports/:dashboard/:id", show::show)
        .get("/console/reports/:dashboard/:id/file", show::file)
        .with(engine::routes::<edit::Reports>(
            "/console/reports/new",
            edit,
            ADMINISTRATOR,
        ))
        .then(OPERATOR)
        .get(certificates::PAGE, certificates::show)
        .get("/console/reports/certificates/pdf", certificates::file)
        .post("/console/reports/certificates/mail", certificates::mail)
        .then(ADMINISTRATOR)
        .action("/console/reports/shipped", put_back)
        .action("/console/reports/:dashboard/:id/remove", edit::remove)
        .all()
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
fn put_back(tx: &Tx<'_>, ctx: &Context, _: &Action) -> Result<Done> {
    for report in &reports::shipped()? {
        match reports::find(tx, &report.dashboard, &report.id) {
            Ok(_) => {}
            Err(cause) if cause.kind == Kind::ReportNotFound => reports::create(tx, ctx, report)?,
            Err(cause) => return Err(cause),
        }
    }
    Ok(Done::new("Shipped reports restored.", PAGE))
}
