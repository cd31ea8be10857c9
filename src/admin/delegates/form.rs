//! The form of an attendee.

use super::flag_meaning;
use crate::admin::prelude::*;
use crate::{
    admin::{
        engine::{Document, RecordDraft},
        route,
    },
    core::{
        records::{Field, Kind, write},
        settings,
    },
    domain::delegates::{self, FIELDS, RESOURCE, merge::record},
    types::{DelegateId, DelegateSelector, json},
};
use serde::Serialize;
use serde_json::{Map, Value};

/// Flags that have a meaning of their own.
const FLAGS: &str = "abcdefkpsv";

pub(super) fn routes() -> Vec<Route> {
    engine::routes::<Attendees>(
        "/console/delegates/new",
        "/console/delegates/:id/edit",
        route::OPERATOR,
    )
}

struct Attendees;

#[derive(Clone, Serialize)]
struct Draft {
    name: String,
    values: RecordDraft,
}

fn fields(kind: Kind) -> impl Iterator<Item = &'static Field> {
    let fields = FIELDS.iter().filter(move |field| field.kind == kind);
    fields.filter(|field| field.name != "rawFlags")
}

fn texts_and_codes() -> impl Iterator<Item = &'static Field> {
    fields(Kind::Text).chain(fields(Kind::Code))
}

fn sorted(flags: impl Iterator<Item = char>) -> String {
    let flags: std::collections::BTreeSet<char> =
        flags.filter(|flag| !flag.is_whitespace()).collect();
    flags.into_iter().collect()
}

impl Editor for Attendees {
    type Key = i64;
    type Draft = Draft;
    type Created = i64;
    const LIST: &'static str = "/console/delegates";
    const NOUN: &'static str = "delegate";
    const AREA: Area = Area::Delegates;

    fn blank(_: &RequestContext) -> Draft {
        Draft {
            name: String::new(),
            values: RecordDraft::default(),
        }
    }

    fn noun(_draft: &Draft) -> &'static str {
        "attendee"
    }

    fn find(connection: &Connection, id: &i64) -> Result<Draft> {
        let id = *id;
        let zone = settings::load(connection)?.zone;
        let stored = record(connection, DelegateId(id), &zone)?;
        let mut values = RecordDraft::default();
        for field in FIELDS {
            match stored.get(field.name) {
                Some(Value::String(text)) => {
                    values.set(field.name, &text.replace(['\n', '\r'], ""));
                }
                Some(Value::Object(other)) if field.kind == Kind::Reference => {
                    values.set(field.name, &other["id"].to_string());
                }
                _ => {}
            }
        }
        values.document = Document::new(stored.get("data").unwrap_or(&Value::Null), "");
        let name = delegates::name_of(connection, id)?.unwrap_or_default();
        Ok(Draft { name, values })
    }

    fn name(draft: &Draft) -> String {
        draft.name.clone()
    }

    fn groups(connection: &Connection, _: Option<&i64>, draft: &Draft) -> engine::Groups {
        let values = &draft.values;
        let types = delegates::types(connection)?;
        let texts = fields(Kind::Text).map(|field| match field.name {
            "email" => Input::line("email", field.name, field.label).value(values.get(field.name)),
            "phone" => Input::line("tel", field.name, field.label).value(values.get(field.name)),
            "firstName" => values.input(field).attribute("autofocus", ""),
            "delegateType" => values.input(field).offered(&types),
            _ => values.input(field),
        });
        let flags = values.get("rawFlags");
        let known = FLAGS.chars().map(|flag| {
            Choice::new(
                flag,
                format!("{flag}: {}", flag_meaning(flag)),
                flags.contains(flag),
            )
        });
        let others: String = flags
            .chars()
            .filter(|flag| !FLAGS.contains(*flag))
            .collect();
        let references = fields(Kind::Reference).map(|field| {
            values
                .input(field)
                .placeholder("an attendee's number, or barcode:ABC")
        });
        let relations = [
            Input::checks("flag", "Flags", known),
            Input::text("flags", "Other flags, single letters")
                .value(&others)
                .wide(),
        ];
        Ok(vec![
            Group::new("Person", texts.collect()),
            Group::new("Codes", fields(Kind::Code).map(|field| values.input(field)).collect())
                .help(
                    "Each code is unique. An empty public ID is generated. If a badge is lost, block its \
                     code on the attendee's page, so that no gate accepts it.",
                ),
            engine::document_group(
                &values.document,
                "Whatever the event wants to know, such as a meal or a shirt size. To remove a value, \
                 empty it. Save to get more lines.",
                "{\"Travel\": {\"hotel\": \"Berg\"}}",
            ),
            Group::new("Flags and relations", relations.into_iter().chain(references).collect()),
        ])
    }

    fn typed(_: &[Group], form: &Fields) -> Result<Draft> {
        let mut values = RecordDraft::typed(form, texts_and_codes().chain(fields(Kind::Reference)));
        let flags = form.all("flag").chain(form.all("flags"));
        let flags = flags.flat_map(str::chars).flat_map(char::to_lowercase);
        values.set("rawFlags", &sorted(flags));
        let names = [values.get("firstName"), values.get("lastName")];
        let name = match names.join(" ").trim() {
            "" => "Attendee".to_owned(),
            name => name.to_owned(),
        };
        Ok(Draft { name, values })
    }

    fn create(tx: &Tx<'_>, ctx: &Context, draft: &Draft) -> Result<i64> {
        let body = changes(tx, &draft.values, &RecordDraft::default(), &Map::new())?;
        if body.is_empty() {
            return Err(Error::invalid("enter a name or a code at least"));
        }
        write::create(tx, ctx, &RESOURCE, body)
    }

    fn update(tx: &Tx<'_>, ctx: &Context, id: &i64, draft: &Draft) -> Result<()> {
        let id = *id;
        let before = Self::find(tx, &id)?.values;
        let stored = record(tx, DelegateId(id), &ctx.settings.zone)?;
        let body = changes(tx, &draft.values, &before, &stored)?;
        if body.is_empty() {
            return Ok(());
        }
        write::patch(tx, ctx, &RESOURCE, id, body)
    }

    fn created(request: &RequestContext, _draft: Draft, id: i64) -> Result<Response> {
        request.done("Attendee added.", &Self::page(&id))
    }
}

/// Returns the changes as the body of a PATCH.
fn changes(
    connection: &Connection,
    typed: &RecordDraft,
    before: &RecordDraft,
    stored: &Map<String, Value>,
) -> Result<Map<String, Value>> {
    let mut body = typed.changes(before, texts_and_codes());
    for field in fields(Kind::Reference).filter(|field| typed.differs(before, field.name)) {
        let id = referenced(connection, field, typed.get(field.name))?;
        body.insert(field.name.to_owned(), id.into());
    }
    if typed.differs(before, "rawFlags") {
        body.insert("rawFlags".to_owned(), typed.value("rawFlags"));
    }
    let stored = stored
        .get("data")
        .cloned()
        .unwrap_or_else(|| Map::new().into());
    let data = typed.document.joined(&stored)?;
    if let Some(patch) = json::difference(&stored, &data.into()) {
        body.insert("data".to_owned(), patch);
    }
    Ok(body)
}

/// The delegate of a number or of a code such as `barcode:ABC`.
fn referenced(connection: &Connection, field: &Field, typed: &str) -> Result<Option<i64>> {
    if typed.is_empty() {
        return Ok(None);
    }
    if let Ok(id) = typed.parse() {
        return Ok(Some(id));
    }
    let found = match DelegateSelector::parse(typed) {
        Ok(selector) => delegates::find(connection, &selector),
        Err(_) => Err(Error::invalid(
            "must be a delegate's number or a code such as barcode:ABC",
        )),
    };
    let id = found.map_err(|cause| Error::field(field.name, cause))?;
    Ok(Some(id.0))
}
