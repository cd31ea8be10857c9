//! Reports: the lists that there are, one of them run and drawn, one put together without SQL, and for administrators
//! the SQL behind it; certificates of attendance.

mod access;
mod builder;
mod certificates;
mod edit;
mod show;

use crate::admin::prelude::*;
use crate::{
    domain::reports::{self, Report},
    identity::ConsoleRole,
};

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
        .with(engine::routes::<access::Exposure>(
            "/console/reports/:dashboard/:id/access",
            "/console/reports/:dashboard/:id/access",
            ADMINISTRATOR,
        ))
        .then(OPERATOR)
        .get(builder::PAGE, builder::begin)
        .post(builder::PAGE, engine::submit::<builder::Builder>)
        .get(
            "/console/reports/:dashboard/:id/build",
            engine::show::<builder::Builder>,
        )
        .post(
            "/console/reports/:dashboard/:id/build",
            engine::submit::<builder::Builder>,
        )
        .get(certificates::PAGE, certificates::show)
        .get("/console/reports/certificates/pdf", certificates::file)
        .post("/console/reports/certificates/mail", certificates::mail)
        .action("/console/reports/:dashboard/:id/remove", remove)
        .then(ADMINISTRATOR)
        .action("/console/reports/shipped", put_back)
        .all()
}

fn layout(request: &RequestContext, title: &str) -> Layout {
    request.layout(title, Some(Area::Reports))
}

/// The page of a report.
fn path(report: &Report) -> String {
    page(&report.dashboard, &report.id)
}

fn page(dashboard: &str, id: &str) -> String {
    format!("{PAGE}/{dashboard}/{id}")
}

/// Returns whether somebody may change a report: those that nobody wrote in SQL and no client fetches are the crew's.
fn may_edit(layout: &Layout, report: &Report) -> bool {
    layout.administers() || (layout.operates() && is_of_crew(report))
}

fn is_of_crew(report: &Report) -> bool {
    report.built.is_some() && report.api_clients.is_empty()
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

fn remove(tx: &Tx<'_>, ctx: &Context, action: &Action) -> Result<Done> {
    let now = reports::find(tx, action.text("dashboard"), action.text("id"))?;
    if action.by.role < ConsoleRole::Administrator && !is_of_crew(&now.report) {
        let message = "an administrator may delete this report";
        return Err(Error::new(Kind::Forbidden, message));
    }
    reports::remove(tx, ctx, &now)?;
    Ok(Done::new(format!("{} deleted.", now.report.name()), PAGE))
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
