//! Sections of data: which of them have a schema, in a form of fields or as JSON.

use super::TABS;
use crate::admin::prelude::*;
use crate::{
    core::{
        audit,
        sections::{
            self, Kind, Schema, Survey,
            simple::{Field, Holds, Simple},
        },
    },
    types::{error::Kind as Failure, json},
};
use serde_json::{Map, Value};

/// Rows of the form that are empty, to be filled.
const ROWS_EMPTY: usize = 3;
/// Rows of the form at the most.
const ROWS_MAX: usize = 60;
const HERE: &str = "/console/settings/sections";

pub(super) fn routes() -> Routes {
    let edit = "/console/settings/sections/edit";
    Routes::access(ADMINISTRATOR)
        .get(HERE, list)
        .get(edit, engine::show::<Sections>)
        .post(edit, engine::submit::<Sections>)
        .action("/console/settings/sections/remove", remove)
}

#[derive(Template)]
#[template(path = "settings/sections.html")]
struct SectionList {
    layout: Layout,
    sections: Vec<Line>,
}

struct Line {
    kind: &'static str,
    name: String,
    fields: String,
    is_unchecked: bool,
}

async fn list(request: RequestContext) -> Result<Response> {
    let read = |connection: &Connection, layout| {
        let mut sections = Vec::new();
        let unchecked = sections::unchecked(connection)?;
        let is_unchecked =
            |kind, name: &String| unchecked.iter().any(|(of, one)| (of, one) == (kind, name));
        for (kind, all) in &sections::all(connection)? {
            sections.extend(all.iter().map(|(name, schema)| Line {
                kind: kind.name(),
                name: name.clone(),
                fields: field_names(schema),
                is_unchecked: is_unchecked(kind, name),
            }));
        }
        Ok(SectionList { layout, sections })
    };
    request.page("Data sections", Area::Settings, read).await
}

fn field_names(schema: &Value) -> String {
    let properties = schema.get("properties").and_then(Value::as_object);
    let names = properties.into_iter().flat_map(Map::keys);
    let names: Vec<&str> = names.map(String::as_str).collect();
    if names.is_empty() {
        "as its JSON Schema says".into()
    } else {
        names.join(", ")
    }
}

struct Sections;

/// A section, as the address names it.
#[derive(Clone)]
struct Section(Kind, String);

impl Key for Section {
    fn of(request: &RequestContext) -> Result<Option<Self>> {
        let kind = kind(request)?;
        let name = request.query.filled("name");
        Ok(name.map(|name| Self(kind, name.to_owned())))
    }
}

fn kind(request: &RequestContext) -> Result<Kind> {
    Kind::parse(request.query.filled("kind").unwrap_or("delegate"))
}

#[derive(Clone, serde::Serialize)]
struct Draft {
    kind: Kind,
    name: String,
    schema: Value,
    #[serde(skip)]
    typed: Typed,
}

/// A schema in the form.
#[derive(Clone)]
enum Typed {
    Rows(Simple),
    Json(String),
}

impl Typed {
    fn json(schema: &Value) -> Self {
        Self::Json(serde_json::to_string_pretty(schema).unwrap_or_default())
    }

    fn schema(&self) -> Result<Value> {
        match self {
            Self::Rows(simple) => simple.schema(),
            Self::Json(text) => {
                json::check_limits(text.as_bytes())?;
                serde_json::from_str(text)
                    .map_err(|cause| Error::field("json", json::fault(&cause)))
            }
        }
    }
}

#[derive(Template)]
#[template(path = "settings/section.html")]
struct Aside {
    /// The address of the form as JSON, of a form of fields.
    as_json: Option<String>,
}

#[derive(Template)]
#[template(path = "settings/survey.html")]
struct Checked<'a> {
    layout: &'a Layout,
    kind: &'static str,
    survey: Survey,
}

impl Editor for Sections {
    type Key = Section;
    type Draft = Draft;
    type Created = ();
    const LIST: &'static str = HERE;
    const NOUN: &'static str = "section";
    const AREA: Area = Area::Settings;

    fn tabs(_: &Layout) -> Tabs {
        (TABS, "Data sections")
    }

    fn blank(request: &RequestContext) -> Draft {
        Draft {
            kind: kind(request).unwrap_or(Kind::Delegate),
            name: String::new(),
            schema: Value::Null,
            typed: Typed::Rows(Simple::default()),
        }
    }

    fn find(connection: &Connection, Section(kind, name): &Section) -> Result<Draft> {
        let found = sections::find(connection, *kind, name)?;
        let gone = || {
            Error::new(
                Failure::NoSuchPath,
                format!("{name} has no schema any more"),
            )
        };
        let schema = found.ok_or_else(gone)?;
        Ok(Draft {
            kind: *kind,
            name: name.clone(),
            typed: Simple::of(&schema).map_or_else(|| Typed::json(&schema), Typed::Rows),
            schema,
        })
    }

    fn opened(request: &RequestContext, stored: Draft) -> Draft {
        let typed = match request.query.text("as") {
            "json" => Typed::json(&stored.schema),
            _ => stored.typed,
        };
        Draft { typed, ..stored }
    }

    fn name(draft: &Draft) -> String {
        draft.name.clone()
    }

    fn groups(_: &Connection, key: Option<&Section>, draft: &Draft) -> Groups {
        let kinds = [
            (Kind::Delegate, "attendees"),
            (Kind::Device, "devices and events"),
        ];
        let kinds = kinds.into_iter().map(|(kind, label)| (kind.name(), label));
        let kinds = kinds.filter(|(kind, _)| key.is_none() || *kind == draft.kind.name());
        let name = Input::text("name", "Name of the section")
            .required()
            .max(64);
        let name = match key {
            Some(_) => name.attribute("readonly", ""),
            None => name,
        };
        let mode = match &draft.typed {
            Typed::Rows(_) => "fields",
            Typed::Json(_) => "json",
        };
        let section = vec![
            Input::hidden("mode", mode),
            name,
            Input::select("kind", "Of", kinds),
        ];
        let mut groups = engine::filled(vec![Group::new("Section", section)], draft)?;
        let mut last = vec![
            Input::flag("anyway", "Save even if stored records do not fit")
                .wide()
                .help("They stay as they are, and are refused when the section is next changed."),
        ];
        match &draft.typed {
            Typed::Json(text) => last.insert(
                0,
                Input::area("json", "JSON Schema", 18).wide().code().value(text).help(
                    "Any draft from 4 on; 2020-12 where it does not say. Nothing is fetched from \
                     elsewhere, and references ($ref) are not supported. Patterns have no look-around.",
                ),
            ),
            Typed::Rows(simple) => {
                let fields = simple.fields.iter().map(Some);
                let fields = fields.chain([None; ROWS_EMPTY]).take(ROWS_MAX);
                let rows = fields.enumerate().flat_map(|(at, field)| row(at, field));
                groups.push(
                    Group::new("Fields", rows.collect())
                        .rows_of(4)
                        .help(
                            "A row without a name is left out. Choices are separated by commas. Dates \
                             are written 2026-11-21.",
                        ),
                );
                let closed = Input::flag("closed", "Refuse anything that is not in this list");
                last.insert(0, closed.wide().value(if simple.closed { "1" } else { "" }));
            }
        }
        groups.push(Group::new("", last));
        Ok(groups)
    }

    fn typed(_: &[Group], sent: &Fields) -> Result<Draft> {
        let typed = match sent.text("mode") {
            "json" => Typed::Json(sent.sent("json").unwrap_or_default().to_owned()),
            _ => Typed::Rows(Simple {
                fields: (0..ROWS_MAX).filter_map(|at| typed_row(at, sent)).collect(),
                closed: sent.ticked("closed"),
            }),
        };
        Ok(Draft {
            kind: Kind::parse(sent.text("kind"))?,
            name: sent.text("name").to_owned(),
            schema: Value::Null,
            typed,
        })
    }

    async fn prepare(at: At<'_, Self>, draft: Draft) -> Result<Draft> {
        let (schema, survey) = survey(at.request, &draft).await?;
        if survey.misfits > 0 && !at.request.form.ticked("anyway") {
            let first = survey.first.first().map_or("", |(_, fault)| fault.as_str());
            return Err(Error::invalid(format!(
                "{} of {} stored records would not fit, the first because of {first}",
                survey.misfits, survey.having
            ))
            .at("anyway"));
        }
        Ok(Draft { schema, ..draft })
    }

    fn create(tx: &Tx<'_>, ctx: &Context, draft: &Draft) -> Result<()> {
        if sections::find(tx, draft.kind, &draft.name)?.is_some() {
            return Err(Error::field(
                "name",
                "this section has a schema already; edit that one",
            ));
        }
        put(tx, ctx, draft.kind, &draft.name, draft.schema.clone())
    }

    fn update(tx: &Tx<'_>, ctx: &Context, key: &Section, draft: &Draft) -> Result<()> {
        put(tx, ctx, key.0, &key.1, draft.schema.clone())
    }

    fn created(request: &RequestContext, draft: Draft, (): ()) -> Result<Response> {
        let message = format!("{} saved. It is checked from now on.", draft.name);
        request.done(message, HERE)
    }

    fn last_actor(connection: &Connection, _: &Section) -> Result<String> {
        audit::last_actor(connection, "sections", None, &[])
    }

    fn buttons(_: Option<&Section>, draft: &Draft) -> Vec<Button> {
        let check = Button::new("check", "Check stored records").shows();
        match draft.typed {
            Typed::Rows(_) => vec![check, Button::new("more", "More rows")],
            Typed::Json(_) => vec![check],
        }
    }

    async fn press(at: At<'_, Self>, draft: Draft, button: &str) -> Result<Outcome> {
        if button == "more" {
            return Ok(Outcome::Shown(String::new()));
        }
        let (_, survey) = survey(at.request, &draft).await?;
        Outcome::shown(&Checked {
            layout: at.layout,
            kind: draft.kind.name(),
            survey,
        })
    }

    async fn aside(at: At<'_, Self>) -> Result<String> {
        let draft = Self::opened(at.request, at.stored.clone());
        let is_rows = matches!(draft.typed, Typed::Rows(_));
        let as_json = format!("{}&as=json", at.request.target());
        answer::part(&Aside {
            as_json: at.key.filter(|_| is_rows).map(|_| as_json),
        })
    }
}

/// The fields of a row of the form.
fn row(at: usize, field: Option<&Field>) -> [Input; 4] {
    let holds = field.map_or("text", |field| field.holds.name());
    let kinds = [
        ("text", "Text"),
        ("number", "a number"),
        ("yes-no", "yes or no"),
        ("choice", "one of these choices"),
        ("date", "a date"),
    ];
    let kinds = kinds.map(|(value, label)| engine::Choice::new(value, label, value == holds));
    let choices = match field.map(|field| &field.holds) {
        Some(Holds::Choice(choices)) => choices.join(", "),
        _ => String::new(),
    };
    let is_required = field.is_some_and(|field| field.required);
    [
        Input::text(format!("name{at}"), "Name").value(field.map_or("", |field| &field.name)),
        Input::select(format!("holds{at}"), "Type", kinds),
        Input::text(format!("choices{at}"), "Choices").value(choices),
        Input::flag(format!("required{at}"), "Required").value(if is_required { "1" } else { "" }),
    ]
}

fn typed_row(at: usize, sent: &Fields) -> Option<Field> {
    let name = sent.filled(&format!("name{at}"))?.to_owned();
    let holds = match sent.text(&format!("holds{at}")) {
        "number" => Holds::Number,
        "yes-no" => Holds::YesNo,
        "date" => Holds::Date,
        "choice" => {
            let choices = sent.text(&format!("choices{at}"));
            let choices = choices.split(',').map(str::trim);
            let choices = choices.filter(|choice| !choice.is_empty());
            Holds::Choice(choices.map(ToOwned::to_owned).collect())
        }
        _ => Holds::Text,
    };
    Some(Field {
        name,
        holds,
        required: sent.ticked(&format!("required{at}")),
    })
}

/// The schema of a draft, checked, and how many of the stored records fit it.
async fn survey(request: &RequestContext, draft: &Draft) -> Result<(Value, Survey)> {
    let schema = draft.typed.schema()?;
    sections::check_one(draft.kind, &draft.name, &schema)?;
    let compiled = Schema::of(&schema.to_string())?;
    let (kind, name) = (draft.kind, draft.name.clone());
    let count =
        move |connection: &Connection| sections::survey(connection, kind, &name, Some(&compiled));
    Ok((schema, request.read(count).await?))
}

/// Stores the schema of a section; null removes it.
fn put(tx: &Tx<'_>, ctx: &Context, kind: Kind, name: &str, schema: Value) -> Result<()> {
    let named = [(kind, [(name.to_owned(), schema)].into_iter().collect())].into();
    sections::save(tx, ctx, &named, false)
}

fn remove(tx: &Tx<'_>, ctx: &Context, action: &Action) -> Result<Done> {
    let name = action.form.text("name");
    put(
        tx,
        ctx,
        Kind::parse(action.form.text("kind"))?,
        name,
        Value::Null,
    )?;
    let message =
        format!("Schema of {name} removed. The section takes anything; stored data stays.");
    Ok(Done::new(message, HERE))
}
