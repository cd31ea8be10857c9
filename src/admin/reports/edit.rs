//! The form of a report, which can be run before it is saved.

use super::{PAGE, layout, path, show};
use crate::{
    admin::{
        Fields, Layout, RequestContext, answer,
        engine::{Choice, Form, Group, Input, choices},
        form::mark,
    },
    core::audit,
    db::sandbox::View,
    domain::reports::{self, Fixed, Parameter, ParameterKind, Preview, Report, Stored, Values},
    identity::{Scope, clients},
    types::error::{Kind, Result},
};
use askama::Template;
use poem::Response;
use rusqlite::Connection;
use serde_json::Value;

/// Rows of a report that is tried.
const TRIED_MAX: usize = 20;
/// Empty rows for parameters.
const SPARE_ROWS: usize = 2;
/// Clients that are offered.
const CLIENTS_MAX: usize = 200;

#[derive(Template)]
#[template(path = "reports/edit.html")]
struct Editor {
    layout: Layout,
    form: Form,
    rows: Vec<ParameterRow>,
    tried: Option<Preview>,
    views: Vec<View>,
    /// The page of the report, where it exists.
    page: Option<String>,
}

/// A parameter as the form has it.
#[derive(Debug, Clone, Default, PartialEq)]
struct ParameterRow {
    name: String,
    label: String,
    /// `ask`, `may` or `fixed`.
    kind: String,
    /// `text` or `number`.
    sort: String,
    value: String,
}

/// The form of a report, and of its parameters.
fn form(request: &RequestContext, report: &Report) -> Result<Form> {
    let (dashboards, clients) = request.look_up(|connection| {
        let dashboards = reports::dashboards(connection)?.into_iter();
        let dashboards: Vec<String> = dashboards.map(|(name, _)| name).collect();
        Ok((dashboards, client_choices(connection, &report.api_clients)?))
    })?;
    let exposed = match report.api_clients.as_slice() {
        [] => "none",
        all if all.iter().any(|client| client == "*") => "all",
        _ => "some",
    };
    let some = if clients.is_empty() {
        "these clients (none has the scope yet)"
    } else {
        "these clients"
    };
    let exposed_choices = [
        ("none", "no client"),
        ("all", "every client that has the scope"),
        ("some", some),
    ];
    let address = "Part of the address for API clients: letters, digits, - and _.";
    let about = vec![
        Input::text("label", "Name").value(&report.label)
            .max(200)
            .placeholder("Attendees by type")
            .wide(),
        Input::text("dashboard", "Dashboard").value(&report.dashboard)
            .max(64)
            .offered(dashboards)
            .help(address),
        Input::text("id", "Id").value(&report.id)
            .max(64)
            .placeholder("by-type")
            .help(address),
        Input::area("query", "SQL", 14).value(&report.query)
            .code()
            .wide()
            .help(
                "One SELECT, which reads the views listed beside and never writes. :name stands for a parameter.",
            ),
    ];
    let mut access = vec![Input::radios(
        "exposed",
        "API access",
        choices(exposed_choices, exposed),
    )];
    if !clients.is_empty() {
        access.push(Input::checks("client", "Clients", clients));
    }
    Ok(Form {
        action: request.target(),
        version: mark(report),
        groups: vec![
            Group::new("Report", about),
            Group::new("API access", access),
        ],
        ..Form::default()
    })
}

impl Editor {
    fn new(
        request: &RequestContext,
        was: Option<&Report>,
        form: Form,
        mut rows: Vec<ParameterRow>,
    ) -> Result<Self> {
        rows.extend(std::iter::repeat_n(ParameterRow::default(), SPARE_ROWS));
        Ok(Self {
            layout: layout(request, was.map_or("New report", |was| &was.label)),
            form,
            rows,
            tried: None,
            views: reports::views(request.console.store.path())?,
            page: was.map(path),
        })
    }
}

/// Clients that may read reports, and those that are named.
fn client_choices(connection: &Connection, named: &[String]) -> Result<Vec<Choice>> {
    let mut choices: Vec<Choice> = Vec::new();
    for client in clients::list(connection)?.into_iter().rev() {
        let on = named.contains(&client.client_id);
        let reads = !client.scopes.is_empty() && client.revoked_at.is_none();
        if on || (reads && choices.len() < CLIENTS_MAX) {
            let trusted = client.scopes.contains(&Scope::Trusted);
            let name = match (client.revoked_at.is_some(), trusted, reads) {
                (true, ..) => format!("{} (revoked)", client.name),
                (_, true, _) => format!("{} (may do everything)", client.name),
                (_, _, false) => format!("{} (lacks the scope)", client.name),
                _ => client.name,
            };
            choices.push(Choice::new(&client.client_id, name, on).help(&client.client_id));
        }
    }
    for client in named.iter().filter(|client| *client != "*") {
        if !choices.iter().any(|known| known.value == *client) {
            choices.push(Choice::new(client, "Unknown client", true).help(client));
        }
    }
    Ok(choices)
}

fn rows(report: &Report) -> Vec<ParameterRow> {
    let asked = report.asked().map(|asked| ParameterRow {
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
    let fixed = report.fixed.iter().map(|fixed| ParameterRow {
        name: fixed.name.clone(),
        kind: "fixed".to_owned(),
        value: text(&fixed.value),
        ..ParameterRow::default()
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

/// A fixed value as it was typed: one that did not change keeps its type.
fn typed_value(typed: &str, was: Option<&Value>) -> Value {
    match was {
        Some(was) if text(was) == typed => was.clone(),
        _ if typed.is_empty() => Value::Null,
        _ => match typed.parse::<serde_json::Number>() {
            Ok(number) if number.to_string() == typed => number.into(),
            _ => typed.into(),
        },
    }
}

pub(super) async fn blank(request: RequestContext) -> Result<Response> {
    let report = Report {
        dashboard: "event".to_owned(),
        id: String::new(),
        label: String::new(),
        query: reports::EXAMPLE.to_owned(),
        parameters: Vec::new(),
        fixed: Vec::new(),
        api_clients: Vec::new(),
    };
    let form = form(&request, &report)?;
    answer::page(&Editor::new(&request, None, form, Vec::new())?)
}

pub(super) async fn edit(request: RequestContext) -> Result<Response> {
    let Stored { report, .. } = show::find(&request)?;
    let form = form(&request, &report)?;
    answer::page(&Editor::new(&request, Some(&report), form, rows(&report))?)
}

fn typed_rows(form: &Fields) -> Vec<ParameterRow> {
    let column = |name: &'static str| form.all(name).map(|text| text.trim().to_owned());
    let names = column("name").zip(column("title"));
    let kinds = column("kind").zip(column("sort"));
    let rows = names.zip(kinds).zip(column("value"));
    rows.map(|(((name, label), (kind, sort)), value)| ParameterRow {
        name,
        label,
        kind,
        sort,
        value,
    })
    .filter(|row| !row.name.is_empty())
    .collect()
}

fn typed(form: &Fields, rows: &[ParameterRow], was: Option<&Report>) -> Report {
    let parameter = |row: &ParameterRow| Parameter {
        name: row.name.clone(),
        label: Some(row.label.clone()).filter(|label| !label.is_empty()),
        optional: row.kind == "may",
        kind: match row.sort.as_str() {
            "number" => ParameterKind::Number,
            _ => ParameterKind::Text,
        },
    };
    let fixed = |row: &ParameterRow| {
        let known = was.and_then(|was| was.fixed.iter().find(|fixed| fixed.name == row.name));
        Fixed {
            name: row.name.clone(),
            value: typed_value(&row.value, known.map(|fixed| &fixed.value)),
        }
    };
    let (fixed_rows, asked): (Vec<&ParameterRow>, Vec<&ParameterRow>) =
        rows.iter().partition(|row| row.kind == "fixed");
    Report {
        dashboard: form.text("dashboard").to_owned(),
        id: form.text("id").to_owned(),
        label: form.text("label").to_owned(),
        query: form.text("query").replace("\r\n", "\n"),
        parameters: asked.into_iter().map(parameter).collect(),
        fixed: fixed_rows.into_iter().map(fixed).collect(),
        api_clients: match form.text("exposed") {
            "all" => vec!["*".to_owned()],
            "some" => form.all("client").map(ToOwned::to_owned).collect(),
            _ => Vec::new(),
        },
    }
}

/// What came of saving or running a report.
enum Saved {
    Done,
    Tried(Preview),
    /// Somebody else saved it meanwhile.
    Stale(Stored),
}

pub(super) async fn save(request: RequestContext) -> Result<Response> {
    let was = match request.path("dashboard") {
        Ok(_) => Some(show::find(&request)?),
        Err(_) => None,
    };
    let was_report = was.as_ref().map(|was| &was.report);
    let rows = typed_rows(&request.form);
    let report = typed(&request.form, &rows, was_report);
    let saved = if request.form.text("do") == "try" {
        try_out(&request, &report, &rows).await.map(Saved::Tried)
    } else {
        store(&request, &report, was.clone()).await
    };
    let mut shown = form(&request, &report)?;
    let mut tried = None;
    match saved {
        Ok(Saved::Done) => return request.done("Report saved.", &path(&report)),
        Ok(Saved::Tried(preview)) => {
            shown.refill(&request.form);
            tried = Some(preview);
        }
        Ok(Saved::Stale(now)) => {
            let who = request.look_up(|connection| {
                audit::last_actor(connection, "report", Some(now.number), &[])
            })?;
            shown.warn(&request.form, &who, form(&request, &now.report)?);
            if self::rows(&now.report) != rows {
                let names = self::rows(&now.report).into_iter().map(|row| row.name);
                let names = names.collect::<Vec<_>>().join(", ");
                shown.meanwhile.push(("Parameters".to_owned(), names));
            }
        }
        Err(cause) if cause.kind != Kind::Defect => {
            shown.reject(&request.form, &cause);
        }
        Err(cause) => return Err(cause),
    }
    let mut page = Editor::new(&request, was_report, shown, rows)?;
    page.tried = tried;
    answer::form_page(page.tried.is_none(), &page)
}

/// Runs a report that is not saved, with the values of its rows.
async fn try_out(
    request: &RequestContext,
    report: &Report,
    rows: &[ParameterRow],
) -> Result<Preview> {
    let mut tried = report.clone();
    for name in [&mut tried.dashboard, &mut tried.id, &mut tried.label] {
        if name.is_empty() {
            "new".clone_into(name);
        }
    }
    tried.check(request.console.store.path())?;
    let value = |asked: &Parameter| {
        let row = rows.iter().find(|row| row.name == asked.name);
        let value = row.map_or_else(String::new, |row| row.value.clone());
        (asked.name.clone(), value)
    };
    let sent: Vec<(String, String)> = tried.asked().map(value).collect();
    let values = Values::read(&tried.parameters, &tried.fixed, &sent)?;
    reports::preview(request.console.app(), &tried, values, TRIED_MAX).await
}

async fn store(request: &RequestContext, report: &Report, was: Option<Stored>) -> Result<Saved> {
    report.check(request.console.store.path())?;
    let begun_on = request.form.text("version").to_owned();
    let report = report.clone();
    request
        .write(move |tx, ctx| {
            let Some(was) = was else {
                reports::create(tx, ctx, &report)?;
                return Ok(Saved::Done);
            };
            let now = reports::find(tx, &was.report.dashboard, &was.report.id)?;
            if mark(&now.report) != begun_on {
                return Ok(Saved::Stale(now));
            }
            reports::change(tx, ctx, &now, &report)?;
            Ok(Saved::Done)
        })
        .await
}

pub(super) async fn remove(request: RequestContext) -> Result<Response> {
    let Stored { report, .. } = show::find(&request)?;
    let done = format!("{} removed.", report.label);
    request
        .write(move |tx, ctx| {
            let now = reports::find(tx, &report.dashboard, &report.id)?;
            reports::remove(tx, ctx, &now)
        })
        .await?;
    request.done(done, PAGE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_fixed_value_keeps_its_type() {
        for (typed, was, value) in [
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
            assert_eq!(typed_value(typed, was.as_ref()), value, "{typed}");
        }
    }
}
