//! One report: its parameters as a form, its first rows as a table and, where they can be drawn, a
//! chart; and all of it as a file.

use super::{
    super::{Layout, RequestContext, Route, answer, route},
    chart::{self, Chart},
    layout, path, told,
};
use crate::{
    domain::reports::{self, Format, Output, ParameterKind, Preview, Report, Stored, Values},
    types::error::{Error, Result},
};
use askama::Template;
use poem::{Body, Response};

/// Rows that a page shows; the file has all of them.
const ROWS_MAX: usize = 500;
/// What the names of a report's parameters begin with here, so that they meet none of the page's own.
const PREFIX: &str = "p.";

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/console/reports/:dashboard/:id", route::VIEWER, show),
        Route::get("/console/reports/:dashboard/:id/file", route::VIEWER, file),
    ]
}

#[derive(Template)]
#[template(path = "reports/show.html")]
struct Page {
    layout: Layout,
    report: Report,
    path: String,
    fields: Vec<Field>,
    failure: String,
    /// Its rows, once it was run.
    made: Option<Preview>,
    chart: Option<Chart>,
    /// How it can be drawn.
    offers: chart::Offers,
    /// The values that it was run with, for the links to its files.
    query: String,
}

/// A parameter in the form.
struct Field {
    name: String,
    label: String,
    value: String,
    placeholder: &'static str,
    input_mode: &'static str,
}

pub(super) async fn find(request: &RequestContext) -> Result<Stored> {
    let (dashboard, id) = (request.path("dashboard")?, request.path("id")?);
    request.look_up(|connection| reports::find(connection, &dashboard, &id))
}

/// What the page's address gives the report.
fn sent(request: &RequestContext, report: &Report) -> Vec<(String, String)> {
    let value = |name: &str| request.query.text(&format!("{PREFIX}{name}")).to_owned();
    let asked = report.asked();
    asked
        .map(|asked| (asked.name.clone(), value(&asked.name)))
        .collect()
}

fn fields(report: &Report, sent: &[(String, String)]) -> Vec<Field> {
    let field = |(asked, (_, value)): (&reports::Parameter, &(String, String))| Field {
        name: format!("{PREFIX}{}", asked.name),
        label: asked.shown().to_owned(),
        value: value.clone(),
        placeholder: if asked.optional { "all" } else { "" },
        input_mode: match asked.kind {
            ParameterKind::Number => "decimal",
            ParameterKind::Text => "",
        },
    };
    report.asked().zip(sent).map(field).collect()
}

async fn show(request: RequestContext) -> Result<Response> {
    let Stored { report, .. } = find(&request).await?;
    let sent = sent(&request, &report);
    let given = request
        .query
        .iter()
        .any(|(name, _)| name.starts_with(PREFIX));
    // What needs no answer is not waited for.
    let runs = given || report.asked().all(|asked| asked.optional);
    let mut page = Page {
        layout: layout(&request, &report.label),
        path: path(&report),
        fields: fields(&report, &sent),
        failure: String::new(),
        made: None,
        chart: None,
        offers: chart::Offers::default(),
        query: query(&sent),
        report,
    };
    if !runs {
        return answer::page(&page);
    }
    let made = match Values::read(&page.report.parameters, &page.report.fixed, &sent) {
        Ok(values) => reports::preview(request.console.app(), &page.report, values, ROWS_MAX).await,
        Err(cause) => Err(cause),
    };
    match made {
        Err(cause) => {
            page.failure = told(cause)?;
            answer::form_again(&page)
        }
        Ok(made) => {
            page.offers = chart::Offers::of(&made);
            page.chart = Chart::draw(
                &made,
                &page.offers,
                request.query.text("chart"),
                request.query.text("value"),
            );
            page.made = Some(made);
            answer::page(&page)
        }
    }
}

fn query(sent: &[(String, String)]) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    for (name, value) in sent {
        query.append_pair(&format!("{PREFIX}{name}"), value);
    }
    query.finish()
}

async fn file(request: RequestContext) -> Result<Response> {
    let Stored { report, .. } = find(&request).await?;
    let (format, extension, kind) = match request.query.text("format") {
        "csv" | "" => (
            Format::Csv { marked: true },
            "csv",
            "text/csv; charset=utf-8",
        ),
        "json" => (Format::Json, "json", "application/json"),
        _ => return Err(Error::invalid("format: must be csv or json")),
    };
    let values = Values::read(&report.parameters, &report.fixed, &sent(&request, &report))?;
    let body = match reports::run(request.console.app(), &report, values, format).await? {
        Output::Whole(bytes) => Body::from_bytes(bytes),
        Output::Coming(rest) => Body::from_bytes_stream(rest.pieces()),
    };
    Ok(answer::download(
        &format!("{}.{extension}", report.id),
        kind,
        body,
    ))
}
