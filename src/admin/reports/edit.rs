//! The form of a report, which can be run before it is saved.

use super::{PAGE, page, path};
use crate::{
    admin::prelude::*,
    core::audit,
    db::sandbox::View,
    domain::reports::{
        self, Fixed, Parameter, ParameterKind, Preview, Report, Values, chart::Chart,
    },
};
use serde_json::Value;

/// Rows of a report that is tried.
const TRIED_MAX: usize = 20;
/// Empty rows for parameters.
const SPARE_ROWS: usize = 2;
/// Rows for parameters at the most.
const ROWS_MAX: usize = 40;

pub(super) struct Reports;

/// The dashboard and the id of a report, as the address has them.
#[derive(Clone)]
pub(super) struct Address(pub(super) String, pub(super) String);

impl Key for Address {
    fn of(request: &RequestContext) -> Result<Option<Self>> {
        let Ok(dashboard) = request.path("dashboard") else {
            return Ok(None);
        };
        Ok(Some(Self(dashboard, request.path("id")?)))
    }
}

#[derive(Template)]
#[template(path = "reports/edit.html")]
struct Aside {
    views: Vec<View>,
}

#[derive(Template)]
#[template(path = "reports/tried.html")]
pub(super) struct Tried {
    pub(super) made: Preview,
    pub(super) chart: Option<Chart>,
}

/// A parameter as the form has it.
#[derive(Default)]
struct ParameterRow {
    name: String,
    label: String,
    /// `ask`, `may` or `fixed`.
    kind: &'static str,
    /// `text`, `number` or `place`.
    sort: ParameterKind,
    value: String,
}

impl ParameterRow {
    fn all(report: &Report) -> Vec<Self> {
        let asked = report.asked().map(|asked| Self {
            name: asked.name.clone(),
            label: asked.label.clone().unwrap_or_default(),
            kind: if asked.optional { "may" } else { "ask" },
            sort: asked.kind,
            value: String::new(),
        });
        let fixed = report.fixed.iter().map(|fixed| Self {
            name: fixed.name.clone(),
            kind: "fixed",
            value: text(&fixed.value),
            ..Self::default()
        });
        asked.chain(fixed).collect()
    }

    fn typed(at: usize, sent: &Fields) -> Option<Self> {
        let field = |name| sent.text(&format!("{name}{at}")).to_owned();
        Some(Self {
            name: Some(field("name")).filter(|name| !name.is_empty())?,
            label: field("title"),
            kind: match &*field("kind") {
                "fixed" => "fixed",
                "may" => "may",
                _ => "ask",
            },
            sort: match &*field("sort") {
                "number" => ParameterKind::Number,
                "place" => ParameterKind::Place,
                _ => ParameterKind::Text,
            },
            value: field("value"),
        })
    }

    fn inputs(self, at: usize) -> [Input; 5] {
        let kinds = [("ask", "required"), ("may", "optional"), ("fixed", "fixed")];
        let sorts = [
            ("text", t("reports-a-text")),
            ("number", say("a number")),
            ("place", say("a place")),
        ];
        let sort = match self.sort {
            ParameterKind::Text => "text",
            ParameterKind::Number => "number",
            ParameterKind::Place => "place",
        };
        [
            Input::text(format!("name{at}"), "Name")
                .value(self.name)
                .max(64),
            Input::text(format!("title{at}"), "Label").value(self.label),
            Input::select(format!("kind{at}"), "Value is", choices(kinds, self.kind)),
            Input::select(format!("sort{at}"), "Type", choices(sorts, sort)),
            Input::text(format!("value{at}"), "Value").value(self.value),
        ]
    }
}

fn typed_rows(sent: &Fields) -> impl Iterator<Item = ParameterRow> {
    (0..ROWS_MAX).filter_map(|at| ParameterRow::typed(at, sent))
}

impl Editor for Reports {
    type Key = Address;
    type Draft = Report;
    type Created = ();
    const LIST: &'static str = PAGE;
    const NOUN: &'static str = "report";
    const AREA: Area = Area::Reports;

    fn blank(_: &RequestContext) -> Report {
        Report {
            dashboard: "event".to_owned(),
            id: String::new(),
            label: String::new(),
            query: reports::EXAMPLE.to_owned(),
            parameters: Vec::new(),
            fixed: Vec::new(),
            api_clients: Vec::new(),
            built: None,
        }
    }

    fn find(connection: &Connection, Address(dashboard, id): &Address) -> Result<Report> {
        Ok(reports::find(connection, dashboard, id)?.report)
    }

    /// The SQL of a report that was built, which it is when it is saved here.
    fn opened(_: &RequestContext, stored: Report) -> Report {
        Report {
            built: None,
            ..stored
        }
    }

    fn name(draft: &Report) -> String {
        draft.label.clone()
    }

    fn groups(connection: &Connection, _: Option<&Address>, report: &Report) -> Groups {
        let [dashboard, id] = super::access::address(connection)?;
        let about = vec![
            Input::text("label", "Name").max(200).placeholder("Attendees by type").wide(),
            dashboard,
            id,
            Input::area("query", "SQL", 14).code().wide().help(
                "One SELECT, which reads the views listed beside and never writes. :name stands for a \
                 parameter.",
            ),
        ];
        let mut groups = engine::filled(vec![Group::new("Report", about)], report)?;
        let rows = ParameterRow::all(report).into_iter();
        let spare = std::iter::repeat_with(ParameterRow::default).take(SPARE_ROWS);
        let rows = rows
            .chain(spare)
            .enumerate()
            .flat_map(|(at, row)| row.inputs(at));
        groups.push(Group::new("Parameters", rows.collect()).rows_of(5).help(
            "Each :name of the SQL. A parameter that is not fixed is asked for when the report runs; empty \
             is no value (NULL). Choose “a number” where SQL compares it with a number: a text is greater \
             than any number; “a place” is the id of a place, which is chosen by name. Codes, names and times are texts. To run the report here, fill in all values.",
        ));
        groups.push(super::access::group(connection, &report.api_clients)?);
        Ok(groups)
    }

    fn typed(_: &[Group], form: &Fields) -> Result<Report> {
        let parameter = |row: ParameterRow| Parameter {
            name: row.name,
            label: Some(row.label).filter(|label| !label.is_empty()),
            optional: row.kind == "may",
            kind: row.sort,
        };
        let (fixed, asked): (Vec<_>, Vec<_>) =
            typed_rows(form).partition(|row| row.kind == "fixed");
        let fixed = fixed.into_iter().map(|row| Fixed {
            value: typed_value(&row.value, None),
            name: row.name,
        });
        Ok(Report {
            dashboard: form.text("dashboard").to_owned(),
            id: form.text("id").to_owned(),
            label: form.text("label").to_owned(),
            query: form.text("query").replace("\r\n", "\n"),
            parameters: asked.into_iter().map(parameter).collect(),
            fixed: fixed.collect(),
            api_clients: super::access::typed(form),
            built: None,
        })
    }

    async fn prepare(at: At<'_, Self>, draft: Report) -> Result<Report> {
        let draft = with_stored_types(draft, at.stored);
        draft.check(at.request.console.store.path())?;
        Ok(draft)
    }

    fn create(tx: &Tx<'_>, ctx: &Context, draft: &Report) -> Result<()> {
        reports::create(tx, ctx, draft)
    }

    fn update(tx: &Tx<'_>, ctx: &Context, key: &Address, draft: &Report) -> Result<()> {
        reports::change(tx, ctx, &reports::find(tx, &key.0, &key.1)?, draft)
    }

    fn created(request: &RequestContext, draft: Report, (): ()) -> Result<Response> {
        request.done("Report saved.", &path(&draft))
    }

    fn saved(request: &RequestContext, _: &Address, draft: &Report) -> Result<Response> {
        request.done("Report saved.", &path(draft))
    }

    fn page(Address(dashboard, id): &Address) -> String {
        page(dashboard, id)
    }

    fn last_actor(connection: &Connection, key: &Address) -> Result<String> {
        let number = reports::find(connection, &key.0, &key.1)?.number;
        audit::last_actor(connection, Self::NOUN, Some(number), &[])
    }

    fn buttons(_: Option<&Address>, _: &Report) -> Vec<Button> {
        vec![Button::new("try", "Run").shows()]
    }

    async fn press(at: At<'_, Self>, draft: Report, _: &str) -> Result<Outcome> {
        match try_out(at.request, with_stored_types(draft, at.stored)).await {
            Ok(made) => Outcome::shown(&Tried { made, chart: None }),
            Err(cause) if cause.kind == Kind::Defect => Err(cause),
            Err(cause) => Err(Error {
                kind: Kind::Invalid,
                ..cause
            }),
        }
    }

    async fn aside(at: At<'_, Self>) -> Result<String> {
        answer::part(&Aside {
            views: reports::views(at.request.console.store.path())?,
        })
    }
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

/// The report with fixed values of the types that they have where they are stored.
fn with_stored_types(mut draft: Report, stored: &Report) -> Report {
    for fixed in &mut draft.fixed {
        let known = stored.fixed.iter().find(|known| known.name == fixed.name);
        fixed.value = typed_value(&text(&fixed.value), known.map(|known| &known.value));
    }
    draft
}

/// Runs a report that is not saved, with the values of its rows.
async fn try_out(request: &RequestContext, mut tried: Report) -> Result<Preview> {
    for name in [&mut tried.dashboard, &mut tried.id, &mut tried.label] {
        if name.is_empty() {
            "new".clone_into(name);
        }
    }
    tried.check(request.console.store.path())?;
    let rows = typed_rows(&request.form).filter(|row| row.kind != "fixed");
    let sent: Vec<(String, String)> = rows.map(|row| (row.name, row.value)).collect();
    let values = Values::read(&tried.parameters, &tried.fixed, &sent)?;
    reports::preview(request.console.app(), &tried, values, TRIED_MAX).await
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
