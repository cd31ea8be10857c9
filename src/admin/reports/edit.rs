//! The SQL behind a report, and who may fetch it.

use super::{
    super::{Layout, RequestContext, Route, answer, form::mark, route},
    HERE, layout, path, show, told,
};
use crate::{
    db::sandbox::View,
    domain::reports::{self, Fixed, Parameter, ParameterKind, Preview, Report, Stored, Values},
    identity::{Scope, clients},
    types::error::{Error, Result},
};
use askama::Template;
use poem::Response;
use rusqlite::Connection;
use serde_json::Value;

/// Rows of a report that is tried.
const TRIED_MAX: usize = 20;
/// Lines of the form that are left to be filled in.
const LINES_FREE: usize = 2;
/// Clients that are offered.
const CLIENTS_MAX: usize = 200;

pub(super) fn routes() -> Vec<Route> {
    let only = route::ADMINISTRATOR;
    vec![
        Route::get("/console/reports/new", only, blank),
        Route::post("/console/reports/new", only, save),
        Route::get("/console/reports/:dashboard/:id/edit", only, edit),
        Route::post("/console/reports/:dashboard/:id/edit", only, save),
        Route::post("/console/reports/:dashboard/:id/remove", only, remove),
    ]
}

#[derive(Template)]
#[template(path = "reports/edit.html")]
struct Editor {
    layout: Layout,
    failure: String,
    action: String,
    /// Where the report is shown; empty for one that is yet to be made.
    shown: String,
    seen: String,
    dashboard: String,
    id: String,
    label: String,
    sql: String,
    lines: Vec<Line>,
    /// `none`, `all` or `some`.
    exposed: &'static str,
    clients: Vec<Choice>,
    dashboards: Vec<String>,
    tried: Option<Preview>,
    views: Vec<View>,
}

/// A parameter or a fixed value, as the form has it.
#[derive(Debug, Clone, Default, PartialEq)]
struct Line {
    name: String,
    label: String,
    /// `ask`, `may` or `fixed`.
    kind: String,
    /// `text` or `number`, of what is not fixed.
    sort: String,
    value: String,
}

/// A client that can be chosen.
struct Choice {
    id: String,
    name: String,
    on: bool,
}

impl Editor {
    fn of(
        request: &RequestContext,
        title: &str,
        report: &Report,
        lines: Vec<Line>,
    ) -> Result<Self> {
        let (dashboards, clients) = request.look_up(|connection| {
            let dashboards = reports::dashboards(connection)?.into_iter();
            Ok((
                dashboards.map(|(name, _)| name).collect(),
                choices(connection, &report.api_clients)?,
            ))
        })?;
        Ok(Self {
            layout: layout(request, title),
            failure: String::new(),
            action: request.target(),
            shown: String::new(),
            seen: String::new(),
            dashboard: report.dashboard.clone(),
            id: report.id.clone(),
            label: report.label.clone(),
            sql: report.query.clone(),
            lines: with_free(lines),
            exposed: match report.api_clients.as_slice() {
                [] => "none",
                all if all.iter().any(|client| client == "*") => "all",
                _ => "some",
            },
            clients,
            dashboards,
            tried: None,
            views: reports::views(request.console.store.path())?,
        })
    }
}

fn with_free(mut lines: Vec<Line>) -> Vec<Line> {
    lines.extend(std::iter::repeat_n(Line::default(), LINES_FREE));
    lines
}

/// Clients that may read reports at all, and those that are named, be they known here or not.
fn choices(connection: &Connection, named: &[String]) -> Result<Vec<Choice>> {
    let mut choices = Vec::new();
    for client in clients::list(connection)?.into_iter().rev() {
        let on = named.contains(&client.client_id);
        let reads = !client.scopes.is_empty() && client.revoked_at.is_none();
        if on || (reads && choices.len() < CLIENTS_MAX) {
            let trusted = client.scopes.contains(&Scope::Trusted);
            choices.push(Choice {
                name: match (client.revoked_at.is_some(), trusted, reads) {
                    (true, ..) => format!("{} (revoked)", client.name),
                    (_, true, _) => format!("{} (may do everything)", client.name),
                    (_, _, false) => format!("{} (lacks the scope)", client.name),
                    _ => client.name,
                },
                id: client.client_id,
                on,
            });
        }
    }
    for client in named.iter().filter(|client| *client != "*") {
        if !choices.iter().any(|known| known.id == *client) {
            choices.push(Choice {
                id: client.clone(),
                name: "not known here".to_owned(),
                on: true,
            });
        }
    }
    Ok(choices)
}

fn lines(report: &Report) -> Vec<Line> {
    let asked = report.asked().map(|asked| Line {
        name: asked.name.clone(),
        label: asked.label.clone().unwrap_or_default(),
        kind: if asked.optional { "may" } else { "ask" }.to_owned(),
        sort: match asked.kind {
            ParameterKind::Text => "text",
            ParameterKind::Number => "number",
        }
        .to_owned(),
        value: String::new(),
    });
    let fixed = report.fixed.iter().map(|fixed| Line {
        name: fixed.name.clone(),
        label: String::new(),
        kind: "fixed".to_owned(),
        sort: String::new(),
        value: text(&fixed.value),
    });
    asked.chain(fixed).collect()
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// What a fixed value's text means: what it meant before, where it is the same; a number where it is
/// one.
fn meant(text_now: &str, was: Option<&Value>) -> Value {
    match was {
        Some(was) if text(was) == text_now => was.clone(),
        _ if text_now.is_empty() => Value::Null,
        _ => match text_now.parse::<serde_json::Number>() {
            Ok(number) if number.to_string() == text_now => number.into(),
            _ => text_now.into(),
        },
    }
}

async fn blank(request: RequestContext) -> Result<Response> {
    let report = Report {
        dashboard: "event".to_owned(),
        id: String::new(),
        label: String::new(),
        query: reports::EXAMPLE.to_owned(),
        parameters: Vec::new(),
        fixed: Vec::new(),
        api_clients: Vec::new(),
    };
    answer::page(&Editor::of(&request, "New report", &report, Vec::new())?)
}

async fn edit(request: RequestContext) -> Result<Response> {
    let Stored { report, .. } = show::find(&request).await?;
    let mut page = Editor::of(&request, &report.label, &report, lines(&report))?;
    page.shown = path(&report);
    page.seen = mark(&report);
    answer::page(&page)
}

/// The lines of the form that are filled in.
fn typed_lines(request: &RequestContext) -> Vec<Line> {
    let form = &request.form;
    let column = |name: &'static str| form.all(name).map(|text| text.trim().to_owned());
    let names = column("name").zip(column("title"));
    let kinds = column("kind").zip(column("sort"));
    let lines = names.zip(kinds).zip(column("value"));
    let mut lines: Vec<Line> = lines
        .map(|(((name, label), (kind, sort)), value)| Line {
            name,
            label,
            kind,
            sort,
            value,
        })
        .collect();
    lines.retain(|line| !line.name.is_empty());
    lines
}

/// The report as the form has it; `was` is what it was, where it was.
fn typed(request: &RequestContext, lines: &[Line], was: Option<&Report>) -> Report {
    let form = &request.form;
    let parameter = |line: &Line| Parameter {
        name: line.name.clone(),
        label: Some(line.label.clone()).filter(|label| !label.is_empty()),
        optional: line.kind == "may",
        kind: match line.sort.as_str() {
            "number" => ParameterKind::Number,
            _ => ParameterKind::Text,
        },
    };
    let fixed = |line: &Line| {
        let known = was.and_then(|was| was.fixed.iter().find(|fixed| fixed.name == line.name));
        Fixed {
            name: line.name.clone(),
            value: meant(&line.value, known.map(|fixed| &fixed.value)),
        }
    };
    let (fixed_lines, asked): (Vec<&Line>, Vec<&Line>) =
        lines.iter().partition(|line| line.kind == "fixed");
    Report {
        dashboard: form.text("dashboard").to_owned(),
        id: form.text("id").to_owned(),
        label: form.text("label").to_owned(),
        query: form.text("sql").replace("\r\n", "\n"),
        parameters: asked.into_iter().map(parameter).collect(),
        fixed: fixed_lines.into_iter().map(fixed).collect(),
        api_clients: match form.text("exposed") {
            "all" => vec!["*".to_owned()],
            "some" => form.all("client").map(ToOwned::to_owned).collect(),
            _ => Vec::new(),
        },
    }
}

/// Saves what was typed, or tries it.
async fn save(request: RequestContext) -> Result<Response> {
    let is_new = request.path("dashboard").is_err();
    let was = if is_new {
        None
    } else {
        Some(show::find(&request).await?)
    };
    let lines = typed_lines(&request);
    let report = typed(&request, &lines, was.as_ref().map(|was| &was.report));
    let outcome = if request.form.text("do") == "try" {
        try_out(&request, &report, &lines).await.map(Some)
    } else {
        store(&request, &report, was.clone()).await.map(|()| None)
    };
    if let Ok(None) = outcome {
        return request.done("Report saved.", &path(&report));
    }
    let title = was.as_ref().map_or("New report", |was| &was.report.label);
    let mut page = Editor::of(&request, title, &report, lines)?;
    request.form.text("seen").clone_into(&mut page.seen);
    page.shown = was.map_or_else(String::new, |was| path(&was.report));
    match outcome {
        Ok(tried) => {
            page.tried = tried;
            answer::page(&page)
        }
        Err(cause) => {
            page.failure = told(cause)?;
            answer::form_again(&page)
        }
    }
}

/// The first rows, with the values of the form.
async fn try_out(request: &RequestContext, report: &Report, lines: &[Line]) -> Result<Preview> {
    let mut tried = report.clone();
    // What it is to be called does not matter yet.
    for name in [&mut tried.dashboard, &mut tried.id, &mut tried.label] {
        if name.is_empty() {
            "new".clone_into(name);
        }
    }
    tried.check(request.console.store.path())?;
    let value = |asked: &Parameter| {
        let line = lines.iter().find(|line| line.name == asked.name);
        let value = line.map_or_else(String::new, |line| line.value.clone());
        (asked.name.clone(), value)
    };
    let sent: Vec<(String, String)> = tried.asked().map(value).collect();
    let values = Values::read(&tried.parameters, &tried.fixed, &sent)?;
    reports::preview(request.console.app(), &tried, values, TRIED_MAX).await
}

async fn store(request: &RequestContext, report: &Report, was: Option<Stored>) -> Result<()> {
    report.check(request.console.store.path())?;
    let seen = request.form.text("seen").to_owned();
    let report = report.clone();
    request.write(move |tx, ctx| {
            let Some(was) = was else {
                return reports::create(tx, ctx, &report);
            };
            let now = reports::find(tx, &was.report.dashboard, &was.report.id)?;
            if mark(&now.report) != seen {
                return Err(Error::invalid(format!(
                    "somebody else changed this report meanwhile, and nothing of yours was saved; it is now: {}",
                    now.report.query
                )));
            }
            reports::change(tx, ctx, &now, &report)
        })
        .await
}

async fn remove(request: RequestContext) -> Result<Response> {
    let Stored { report, .. } = show::find(&request).await?;
    let said = format!("{} is gone.", report.label);
    request
        .write(move |tx, ctx| {
            let now = reports::find(tx, &report.dashboard, &report.id)?;
            reports::remove(tx, ctx, &now)
        })
        .await?;
    request.done(said, HERE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_fixed_value_keeps_its_kind() {
        for (text, was, value) in [
            ("5", None, json!(5)),
            ("5", Some(json!("5")), json!("5")),
            ("6", Some(json!("5")), json!(6)),
            ("0049", None, json!("0049")),
            ("1.50", None, json!("1.50")),
            ("1.5", None, json!(1.5)),
            ("true", Some(json!(true)), json!(true)),
            ("check-in", None, json!("check-in")),
            ("", None, json!(null)),
        ] {
            assert_eq!(meant(text, was.as_ref()), value, "{text}");
        }
    }
}
