//! One person: codes, details, note, what happened, what was refused, what was changed.

use super::{
    super::{
        Area, Layout, RequestContext, Route, answer,
        audit::{Change, changes, flatten},
        route,
    },
    badge::{Block, blocks},
    flag_meaning, label, list, name_of, passage, text,
};
use crate::{
    core::{
        audit::HistoryOf,
        records::{Kind, Selection},
    },
    domain::{
        delegates::{
            RESOURCE,
            note::{self, Level, Note},
            overview,
        },
        devices::Offer,
        interactions::{
            history::{self, Happening},
            refusals::{self, Refused},
        },
        sales,
    },
    types::{
        DelegateId, Timestamp, Zone,
        error::{Error, Result},
        json::pretty,
    },
};
use askama::Template;
use poem::Response;
use rusqlite::Connection;
use serde_json::{Map, Value};

/// Texts that the page's head shows.
const IN_HEAD: [&str; 4] = ["firstName", "lastName", "delegateType", "rawFlags"];
/// Lines of each list.
const LINES: usize = 20;
/// Refusals shown.
const REFUSALS: usize = 20;

pub(super) fn routes() -> Vec<Route> {
    vec![Route::get("/console/delegates/:id", route::VIEWER, show)]
}

#[derive(Template)]
#[template(path = "delegates/record.html")]
struct Page {
    layout: Layout,
    person: Person,
    /// What was just refused: why, the device, and what was tried.
    refused: Option<JustRefused>,
    /// What is wrong with the choice of the place.
    nowhere: Option<&'static str>,
    levels: &'static [Level],
}

/// A refusal that the page tells.
pub(super) struct JustRefused {
    /// Why.
    pub message: String,
    /// Where.
    pub device: i64,
    /// Whether a check-in was refused: somebody can be let in anyway.
    pub entering: bool,
}

struct Person {
    id: i64,
    name: String,
    kind: String,
    about: Vec<(&'static str, String)>,
    flags: Vec<(char, &'static str)>,
    codes: Vec<Code>,
    sections: Vec<Section>,
    relatives: Vec<(&'static str, i64, String)>,
    children: i64,
    /// Purchases that made a ticket of this record: id and code.
    purchases: Vec<(i64, String)>,
    note: Option<Note>,
    blocks: Vec<Block>,
    inside: Vec<(i64, String, Timestamp)>,
    devices: Vec<Offer>,
    device: Option<i64>,
    interactions: Vec<Happening>,
    interactions_next: Option<i64>,
    refusals: Vec<Refused>,
    changes: Vec<Change>,
    changes_next: Option<i64>,
    created_at: Timestamp,
    updated_at: Timestamp,
    deleted_at: Option<Timestamp>,
}

impl Person {
    fn read_interactions(&mut self, connection: &Connection, before: Option<i64>) -> Result<()> {
        let mut found = history::of_delegate(connection, self.id, before, LINES + 1)?;
        let more = found.len() > LINES;
        found.truncate(LINES);
        for one in &mut found {
            one.data = one.data.as_deref().map(pretty);
        }
        self.interactions_next = found.last().map(|last| last.id).filter(|_| more);
        self.interactions = found;
        Ok(())
    }

    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "templates give references"
    )]
    fn is_level(&self, level: &Level) -> bool {
        self.note.as_ref().is_some_and(|note| note.level == *level)
    }

    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "templates give references"
    )]
    fn has_device(&self, device: &i64) -> bool {
        self.device == Some(*device)
    }

    fn note_text(&self) -> &str {
        self.note.as_ref().map_or("", |note| &note.text)
    }

    /// How the note looks, as a notice.
    fn note_class(&self) -> &'static str {
        match self.note.as_ref().map(|note| note.level) {
            Some(Level::Stop) => "bad",
            Some(Level::Warning) => "warn",
            _ => "",
        }
    }
}

/// What a level means to whoever stands at the gate.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "templates give references"
)]
fn level_meaning(level: &Level) -> &'static str {
    match level {
        Level::Info => "For information",
        Level::Warning => "Take notice",
        Level::Stop => "Stop: hold the person and read it",
    }
}

struct Code {
    kind: &'static str,
    value: String,
}

impl Code {
    fn label(&self) -> &str {
        label(self.kind)
    }
}

/// A section of `data`, its values by path.
struct Section {
    name: String,
    values: Vec<(String, String)>,
}

async fn show(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    answer::page(&page(&request, id, None).await?)
}

/// The person's page, with a refusal.
pub(super) async fn refused(
    request: &RequestContext,
    id: i64,
    refused: JustRefused,
) -> Result<Response> {
    answer::form_again(&page(request, id, Some(refused)).await?)
}

/// The person's page, where the form did not say at which place.
pub(super) async fn nowhere(
    request: &RequestContext,
    id: i64,
    why: &'static str,
) -> Result<Response> {
    let mut page = page(request, id, None).await?;
    page.nowhere = Some(why);
    answer::form_again(&page)
}

async fn page(request: &RequestContext, id: i64, refused: Option<JustRefused>) -> Result<Page> {
    let zone = request.console.settings().zone.clone();
    let before = request.query.number("before")?;
    let changes_before = request.query.number("changes")?;
    let device = request.query.number("device").ok().flatten();
    let device = refused
        .as_ref()
        .map_or(device, |refused| Some(refused.device));
    let person = request
        .read(move |connection| {
            let mut person = read(connection, id, &zone)?;
            person.device = device;
            person.read_interactions(connection, before)?;
            (person.changes, person.changes_next) = changes_of(connection, id, changes_before)?;
            Ok(person)
        })
        .await?;
    Ok(Page {
        layout: request.layout(&person.name, Some(Area::Delegates)),
        person,
        refused,
        nowhere: None,
        levels: Level::ALL,
    })
}

/// The changes of a record, the newest first, and where older ones begin.
pub(super) fn changes_of(
    connection: &Connection,
    id: i64,
    before: Option<i64>,
) -> Result<(Vec<Change>, Option<i64>)> {
    let of = HistoryOf {
        types: [RESOURCE.name; 2],
        table: RESOURCE.table,
        id,
    };
    changes(connection, of, before, LINES)
}

/// The properties of a delegate that is there, deleted or not, as the API shows them.
pub(super) fn properties(
    connection: &Connection,
    id: i64,
    zone: &Zone,
) -> Result<Option<Map<String, Value>>> {
    let json = Selection::own_deleted_too(&RESOURCE).one(connection, "id", &id, zone)?;
    json.map(|json| serde_json::from_str(&json).map_err(Error::defect))
        .transpose()
}

fn read(connection: &Connection, id: i64, zone: &Zone) -> Result<Person> {
    let record = properties(connection, id, zone)?.ok_or_else(|| list::missing(id))?;
    let (created_at, updated_at, deleted_at) = overview::stamps(connection, id)?;
    let about = RESOURCE
        .fields
        .iter()
        .filter(|field| field.kind == Kind::Text && !IN_HEAD.contains(&field.name))
        .filter(|field| !text(&record, field.name).is_empty())
        .map(|field| (field.name, text(&record, field.name).to_owned()))
        .collect();
    let codes = RESOURCE
        .fields
        .iter()
        .filter(|property| property.kind == Kind::Code && record.contains_key(property.name))
        .map(|property| Code {
            kind: property.name,
            value: text(&record, property.name).to_owned(),
        })
        .collect();
    let flags = text(&record, "rawFlags").chars();
    Ok(Person {
        id,
        name: name_of(connection, id)?.unwrap_or_default(),
        kind: text(&record, "delegateType").to_owned(),
        about,
        flags: flags.map(|flag| (flag, flag_meaning(flag))).collect(),
        codes,
        sections: sections(&record),
        relatives: overview::relatives(connection, id)?,
        purchases: sales::of_delegate(connection, id)?,
        children: overview::count_children(connection, id)?,
        note: note::of(connection, DelegateId(id))?,
        blocks: blocks(connection, id)?,
        inside: history::inside(connection, DelegateId(id))?,
        devices: passage::places(connection)?,
        device: None,
        interactions: Vec::new(),
        interactions_next: None,
        refusals: refusals::of_delegate(connection, id, REFUSALS)?,
        changes: Vec::new(),
        changes_next: None,
        created_at,
        updated_at,
        deleted_at,
    })
}

fn sections(record: &Map<String, Value>) -> Vec<Section> {
    let Some(Value::Object(data)) = record.get("data") else {
        return Vec::new();
    };
    let section = |(name, value): (&String, &Value)| {
        let mut values = Vec::new();
        flatten("", value, &mut values);
        Section {
            name: if name == "Data" {
                "Details".to_owned()
            } else {
                name.clone()
            },
            values,
        }
    };
    data.iter().map(section).collect()
}
