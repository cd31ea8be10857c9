//! The page of a report: parameters, chart, first rows; and all rows as a file.

use super::{layout, may_edit, path};
use crate::admin::prelude::*;
use crate::domain::{
    devices::{self, Offer},
    reports::{
        self, Format, Output, ParameterKind, Preview, Report, Stored, Values,
        chart::{Chart, Offers},
    },
};
use poem::Body;

/// Rows that a page shows, and those that a grid adds up; the file has all of them.
const ROWS_MAX: usize = 500;
const GRID_ROWS_MAX: usize = 5_000;
/// Prefix of parameters in the query string, which distinguishes them from those of the page.
const PREFIX: &str = "p.";

#[derive(Template)]
#[template(path = "reports/show.html")]
struct Page {
    layout: Layout,
    report: Report,
    path: String,
    fields: Vec<Field>,
    failure: Option<String>,
    /// The rows, once the report ran.
    made: Option<Preview>,
    chart: Option<Chart>,
    /// The columns that can be drawn.
    offers: Offers,
    /// The values of the parameters, for the links to the files.
    query: String,
    /// The page that changes the report; empty where this user may not.
    edit: String,
}

/// A parameter in the form.
struct Field {
    name: String,
    label: String,
    value: String,
    placeholder: String,
    input_mode: &'static str,
    /// Of a place: those to choose from, by id.
    places: Vec<Choice>,
}

pub(super) fn find(request: &RequestContext) -> Result<Stored> {
    let (dashboard, id) = (request.path("dashboard")?, request.path("id")?);
    request.look_up(|connection| reports::find(connection, &dashboard, &id))
}

/// The parameters in the query string.
fn sent(request: &RequestContext, report: &Report) -> Vec<(String, String)> {
    let value = |name: &str| request.query.text(&format!("{PREFIX}{name}")).to_owned();
    let asked = report.asked();
    asked
        .map(|asked| (asked.name.clone(), value(&asked.name)))
        .collect()
}

fn fields(report: &Report, sent: &[(String, String)], places: &[Offer]) -> Vec<Field> {
    let places = |chosen: &str| {
        let known = places.iter().map(|place| {
            let id = place.id.to_string();
            let is_chosen = id == chosen;
            Choice::named(id, &place.name, is_chosen)
        });
        let any = Choice::new("", t("common-all"), chosen.is_empty());
        let mut choices: Vec<Choice> = std::iter::once(any).chain(known).collect();
        if !choices.iter().any(|choice| choice.chosen) {
            let number = tx("common-no-id").with("id", chosen);
            choices.push(Choice::new(chosen, number.to_string(), true));
        }
        choices
    };
    let field = |(asked, (_, value)): (&reports::Parameter, &(String, String))| Field {
        name: format!("{PREFIX}{}", asked.name),
        label: report.parameter_name(asked),
        value: value.clone(),
        placeholder: if asked.optional {
            say("optional")
        } else {
            String::new()
        },
        input_mode: match asked.kind {
            ParameterKind::Number | ParameterKind::Place => "decimal",
            ParameterKind::Text => "",
        },
        places: match asked.kind {
            ParameterKind::Place => places(value),
            _ => Vec::new(),
        },
    };
    report.asked().zip(sent).map(field).collect()
}

pub(super) async fn show(request: RequestContext) -> Result<Response> {
    let Stored { report, .. } = find(&request)?;
    let sent = sent(&request, &report);
    let given = request
        .query
        .iter()
        .any(|(name, _)| name.starts_with(PREFIX));
    // What needs no answer is not waited for.
    let runs = given || report.asked().all(|asked| asked.optional);
    let mut layout = layout(&request, "Reports");
    layout.title = report.name();
    let mut page = Page {
        edit: match (&report.built, may_edit(&layout, &report)) {
            (_, false) => String::new(),
            (Some(_), true) => format!("{}/build", path(&report)),
            (None, true) => format!("{}/edit", path(&report)),
        },
        layout,
        path: path(&report),
        fields: fields(&report, &sent, &request.look_up(devices::places)?),
        failure: None,
        made: None,
        chart: None,
        offers: Offers::default(),
        query: query(&sent),
        report,
    };
    if !runs {
        return answer::page(&page);
    }
    let made = match Values::read(&page.report.parameters, &page.report.fixed, &sent) {
        Ok(values) => {
            reports::preview(request.console.app(), &page.report, values, GRID_ROWS_MAX).await
        }
        Err(cause) => Err(cause),
    };
    match made {
        Err(cause) => {
            if cause.kind == Kind::Defect {
                return Err(cause);
            }
            page.failure = Some(answer::sentence(&cause));
            answer::form_again(&page)
        }
        Ok(mut made) => {
            page.offers = Offers::new(&made);
            let built = page.report.built.as_ref();
            let usual = built.map_or("", |built| built.chart.as_str());
            let kind = request.query.filled("chart").unwrap_or(usual);
            let value = request.query.text("value");
            // A grid adds up; others draw what the table shows.
            if !page.offers.is_grid {
                made.cut(ROWS_MAX);
            }
            page.chart = Chart::draw(&made, &page.offers, kind, value);
            made.cut(ROWS_MAX);
            made.read_well();
            page.made = Some(made);
            answer::page(&page)
        }
    }
}

/// The parameters that were sent, as a query string.
fn query(sent: &[(String, String)]) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    let pairs = sent.iter();
    query
        .extend_pairs(pairs.map(|(name, value)| (format!("{PREFIX}{name}"), value)))
        .finish()
}

pub(super) async fn file(request: RequestContext) -> Result<Response> {
    let Stored { report, .. } = find(&request)?;
    let (format, extension, kind) = match request.query.text("format") {
        "csv" | "" => (Format::Csv, "csv", "text/csv; charset=utf-8"),
        "json" => (Format::Json, "json", "application/json"),
        "xlsx" => return workbook(&request, &report).await,
        _ => return Err(Error::field("format", "must be csv, xlsx or json")),
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

async fn workbook(request: &RequestContext, report: &Report) -> Result<Response> {
    let values = Values::read(&report.parameters, &report.fixed, &sent(request, report))?;
    let book = reports::workbook(request.console.app(), report, values).await?;
    Ok(answer::download(
        &format!("{}.xlsx", report.id),
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        answer::file(book, None),
    ))
}
