//! Sections of data: which of them have a schema, in a form of fields or as JSON.

use super::{Frame, frame, layout, mark, told};
use crate::{
    admin::{Fields, Layout, RequestContext, Route, answer, route},
    core::sections::{
        self, Kind, Schema, Survey,
        simple::{Field, Holds, Simple},
    },
    types::error::{Error, Kind as Failure, Result},
};
use askama::Template;
use poem::Response;
use serde_json::{Map, Value};

/// Rows of the form that are empty, to be filled.
const ROWS_EMPTY: usize = 3;
/// Rows of the form at the most.
const ROWS_MAX: usize = 60;
const HERE: &str = "/console/settings/sections";

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get(HERE, route::ADMINISTRATOR, list),
        Route::get(
            "/console/settings/sections/edit",
            route::ADMINISTRATOR,
            edit,
        ),
        Route::post(
            "/console/settings/sections/edit",
            route::ADMINISTRATOR,
            save,
        ),
        Route::post(
            "/console/settings/sections/remove",
            route::ADMINISTRATOR,
            remove,
        ),
    ]
}

#[derive(Template)]
#[template(path = "settings/sections.html")]
struct List {
    layout: Layout,
    frame: Frame,
    sections: Vec<Line>,
}

struct Line {
    kind: &'static str,
    name: String,
    fields: String,
    query: String,
}

async fn list(request: RequestContext) -> Result<Response> {
    let all = request.look_up(sections::all)?;
    let lines = all.iter().flat_map(|(kind, sections)| {
        sections.iter().map(|(name, schema)| Line {
            kind: kind.name(),
            name: name.clone(),
            fields: fields_of(schema),
            query: query(*kind, name),
        })
    });
    answer::page(&List {
        layout: layout(&request, "Data sections"),
        frame: frame("Data sections"),
        sections: lines.collect(),
    })
}

fn query(kind: Kind, name: &str) -> String {
    form_urlencoded::Serializer::new(String::new())
        .append_pair("kind", kind.name())
        .append_pair("name", name)
        .finish()
}

/// The fields that a schema names, for the list.
fn fields_of(schema: &Value) -> String {
    let properties = schema.get("properties").and_then(Value::as_object);
    let names: Vec<&str> = properties
        .into_iter()
        .flat_map(Map::keys)
        .map(String::as_str)
        .collect();
    if names.is_empty() {
        "as its JSON Schema says".into()
    } else {
        names.join(", ")
    }
}

/// The editor of one section.
#[derive(Template)]
#[template(path = "settings/section.html")]
struct Editor {
    layout: Layout,
    frame: Frame,
    failure: String,
    kind: String,
    name: String,
    is_new: bool,
    seen: String,
    as_json: bool,
    rows: Vec<Row>,
    closed: bool,
    json: String,
    survey: Option<Survey>,
    /// So many records would not fit: is it to be saved all the same?
    anyway: Option<i64>,
    query: String,
}

/// A row of the form.
#[derive(Default)]
struct Row {
    at: usize,
    name: String,
    holds: String,
    choices: String,
    required: bool,
}

impl Row {
    fn of(at: usize, field: &Field) -> Self {
        let choices = match &field.holds {
            Holds::Choice(choices) => choices.join(", "),
            _ => String::new(),
        };
        Self {
            at,
            name: field.name.clone(),
            holds: field.holds.name().into(),
            choices,
            required: field.required,
        }
    }

    fn is(&self, holds: &str) -> bool {
        self.holds == holds
    }

    /// The number that people call it by.
    fn number(&self) -> usize {
        self.at + 1
    }
}

fn rows_of(fields: &[Field], empty: usize) -> Vec<Row> {
    let mut rows: Vec<Row> = fields
        .iter()
        .enumerate()
        .map(|(at, field)| Row::of(at, field))
        .collect();
    add_empty(&mut rows, empty);
    rows
}

fn add_empty(rows: &mut Vec<Row>, empty: usize) {
    let filled = rows.len();
    for at in filled..(filled + empty).min(ROWS_MAX) {
        rows.push(Row {
            at,
            ..Row::default()
        });
    }
}

async fn edit(request: RequestContext) -> Result<Response> {
    let query_of = &request.query;
    let kind = Kind::parse(query_of.filled("kind").unwrap_or("delegate"))?;
    let name = query_of.text("name").to_owned();
    let stored = if name.is_empty() {
        None
    } else {
        let find = |connection: &rusqlite::Connection| sections::find(connection, kind, &name);
        let found = request.look_up(find)?;
        Some(found.ok_or_else(|| {
            Error::new(
                Failure::NoSuchPath,
                format!("{name} has no schema any more"),
            )
        })?)
    };
    let simple = stored
        .as_ref()
        .map_or_else(|| Some(Simple::default()), Simple::of);
    let wanted = query_of.text("as") == "json";
    answer::page(&Editor {
        layout: layout(
            &request,
            if stored.is_some() {
                &name
            } else {
                "New section"
            },
        ),
        frame: frame("Data sections"),
        failure: String::new(),
        kind: kind.name().into(),
        query: query(kind, &name),
        is_new: stored.is_none(),
        seen: mark(&stored),
        as_json: wanted || simple.is_none(),
        closed: simple.as_ref().is_some_and(|simple| simple.closed),
        rows: rows_of(&simple.unwrap_or_default().fields, ROWS_EMPTY),
        json: pretty(
            &stored.unwrap_or_else(|| serde_json::json!({"type": "object", "properties": {}})),
        ),
        survey: None,
        anyway: None,
        name,
    })
}

fn pretty(schema: &Value) -> String {
    serde_json::to_string_pretty(schema).unwrap_or_default()
}

/// The rows of a form as they were typed.
fn typed_rows(form: &Fields) -> Vec<Row> {
    (0..ROWS_MAX)
        .filter(|at| form.sent(&format!("name{at}")).is_some())
        .map(|at| Row {
            at,
            name: form.text(&format!("name{at}")).to_owned(),
            holds: form.text(&format!("holds{at}")).to_owned(),
            choices: form.text(&format!("choices{at}")).to_owned(),
            required: form.ticked(&format!("required{at}")),
        })
        .collect()
}

fn schema_of(form: &Fields) -> Result<Value> {
    if form.text("mode") == "json" {
        let text = form.sent("json").unwrap_or_default();
        crate::types::json::check_limits(text.as_bytes())?;
        return serde_json::from_str(text).map_err(|cause| {
            Error::invalid(format!("this {}", crate::types::json::fault(&cause)))
        });
    }
    let fields = typed_rows(form)
        .into_iter()
        .filter(|row| !row.name.is_empty())
        .map(|row| {
            let choices = row.choices.split([',', '\n']).map(str::trim);
            let holds = match row.holds.as_str() {
                "number" => Holds::Number,
                "yes-no" => Holds::YesNo,
                "date" => Holds::Date,
                "choice" => Holds::Choice(
                    choices
                        .filter(|choice| !choice.is_empty())
                        .map(ToOwned::to_owned)
                        .collect(),
                ),
                _ => Holds::Text,
            };
            Field {
                name: row.name,
                holds,
                required: row.required,
            }
        })
        .collect();
    let simple = Simple {
        fields,
        closed: form.ticked("closed"),
    };
    simple.schema()
}

/// What a form asks to be stored.
struct Wanted {
    kind: Kind,
    name: String,
    schema: Value,
    survey: Survey,
}

/// Checks what was typed, and counts what of the stored records would not fit.
async fn wanted(request: &RequestContext) -> Result<Wanted> {
    let form = &request.form;
    let kind = Kind::parse(form.text("kind"))?;
    let name = form.text("name").to_owned();
    let schema = schema_of(form)?;
    sections::check_one(kind, &name, &schema)?;
    let compiled = Schema::of(&schema.to_string())?;
    let of_survey = name.clone();
    let survey = request
        .read(move |connection| sections::survey(connection, kind, &of_survey, Some(&compiled)))
        .await?;
    Ok(Wanted {
        kind,
        name,
        schema,
        survey,
    })
}

fn again(request: &RequestContext) -> Editor {
    let form = &request.form;
    let mut rows = typed_rows(form);
    let empty = rows.iter().filter(|row| row.name.is_empty()).count();
    if form.text("do") == "more" {
        add_empty(&mut rows, 5);
    } else if empty == 0 {
        add_empty(&mut rows, ROWS_EMPTY);
    }
    let is_new = form.ticked("new");
    Editor {
        layout: layout(
            request,
            if is_new {
                "New section"
            } else {
                form.text("name")
            },
        ),
        frame: frame("Data sections"),
        failure: String::new(),
        kind: form.text("kind").to_owned(),
        name: form.text("name").to_owned(),
        is_new,
        seen: form.text("seen").to_owned(),
        as_json: form.text("mode") == "json",
        rows,
        closed: form.ticked("closed"),
        json: form.sent("json").unwrap_or_default().to_owned(),
        survey: None,
        anyway: None,
        query: String::new(),
    }
}

async fn save(request: RequestContext) -> Result<Response> {
    if request.form.text("do") == "more" {
        return answer::page(&again(&request));
    }
    let wanted = match wanted(&request).await {
        Ok(wanted) => wanted,
        Err(cause) => {
            let mut page = again(&request);
            page.failure = told(cause)?;
            return answer::form_again(&page);
        }
    };
    if request.form.text("do") == "check" {
        let mut page = again(&request);
        page.survey = Some(wanted.survey);
        return answer::page(&page);
    }
    if wanted.survey.misfits > 0 && request.form.text("do") != "anyway" {
        let mut page = again(&request);
        page.anyway = Some(wanted.survey.misfits);
        page.survey = Some(wanted.survey);
        return answer::form_again(&page);
    }
    let name = wanted.name.clone();
    match store(&request, wanted).await {
        Ok(()) => request.done(
            format!("{name} is checked from now on whenever it is written."),
            HERE,
        ),
        Err(cause) => {
            let mut page = again(&request);
            page.failure = told(cause)?;
            answer::form_again(&page)
        }
    }
}

async fn store(request: &RequestContext, wanted: Wanted) -> Result<()> {
    let seen = request.form.text("seen").to_owned();
    let is_new = request.form.ticked("new");
    request
        .write(move |tx, ctx| {
            let Wanted {
                kind, name, schema, ..
            } = wanted;
            let stored = sections::find(tx, kind, &name)?;
            if mark(&stored) != seen {
                let now = stored.map_or_else(
                    || "it has no schema any more".to_owned(),
                    |schema| format!("it is now {schema}"),
                );
                return Err(Error::invalid(if is_new {
                    format!("{name} has a schema already; edit that one")
                } else {
                    format!(
                        "somebody else changed {name} meanwhile: {now}. Nothing of yours was saved"
                    )
                }));
            }
            let named = [(kind, [(name, schema)].into_iter().collect())].into();
            sections::save(tx, ctx, &named, false)
        })
        .await
}

async fn remove(request: RequestContext) -> Result<Response> {
    let kind = Kind::parse(request.form.text("kind"))?;
    let name = request.form.text("name").to_owned();
    let said = format!("{name} takes anything again; what is stored stays.");
    request
        .write(move |tx, ctx| {
            let named = [(kind, [(name, Value::Null)].into_iter().collect())].into();
            sections::save(tx, ctx, &named, false)
        })
        .await?;
    request.done(said, HERE)
}
