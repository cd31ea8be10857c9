//! One person: codes, details, note, what happened, what was refused, what was changed.

use super::{
    super::{Area, Layout, RequestContext, Route, answer, route},
    NAME,
    badge::{Block, blocks},
    flag_meaning,
    history::{self, Change},
    label, list, passage, text,
};
use crate::{
    core::records::{Kind, Selection},
    domain::{
        delegates::{
            RESOURCE,
            note::{self, Level, Note},
        },
        interactions::{device_cache::DeviceCache, presence},
    },
    types::{
        DelegateId, Timestamp, Zone,
        error::{Error, Result},
    },
};
use askama::Template;
use poem::Response;
use rusqlite::{Connection, OptionalExtension};
use serde_json::{Map, Value};
use std::cmp::Reverse;

/// Lines of each list.
const LINES: i64 = 20;
/// Refusals shown.
const REFUSALS: i64 = 20;
/// Children shown.
const CHILDREN: i64 = 50;

pub(super) fn routes() -> Vec<Route> {
    vec![Route::get("/console/delegates/:id", route::VIEWER, show)]
}

#[derive(Template)]
#[template(path = "delegates/record.html")]
struct Page {
    layout: Layout,
    person: Person,
    /// What was just refused: why, the device, and what was tried.
    refused: Option<Refused>,
    /// What is wrong with the choice of the place.
    nowhere: Option<&'static str>,
    levels: &'static [Level],
}

/// A refusal that the page tells.
pub(super) struct Refused {
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
    devices: Vec<passage::Place>,
    device: Option<i64>,
    interactions: Vec<Interaction>,
    interactions_next: Option<i64>,
    refusals: Vec<Refusal>,
    changes: Vec<Change>,
    changes_next: Option<i64>,
    created_at: Timestamp,
    updated_at: Timestamp,
    deleted_at: Option<Timestamp>,
}

impl Person {
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

struct Interaction {
    id: i64,
    kind: String,
    at: Timestamp,
    places: Vec<(i64, String)>,
    others: Vec<(i64, String)>,
    by: String,
    admitted: bool,
    data: Option<String>,
}

struct Refusal {
    at: Timestamp,
    kind: String,
    scanned: String,
    device: String,
    message: String,
}

async fn show(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    answer::page(&page(&request, id, None).await?)
}

/// The person's page, with a refusal.
pub(super) async fn refused(
    request: &RequestContext,
    id: i64,
    refused: Refused,
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

async fn page(request: &RequestContext, id: i64, refused: Option<Refused>) -> Result<Page> {
    let zone = request.console.settings().zone.clone();
    let before = request.query.number("before")?;
    let changes_before = request.query.number("changes")?;
    let device = request.query.number("device").ok().flatten();
    let device = refused
        .as_ref()
        .map_or(device, |refused| Some(refused.device));
    let person = request
        .console
        .store
        .read(move |connection| {
            let mut person = read(connection, id, &zone)?;
            person.device = device;
            (person.interactions, person.interactions_next) = interactions(connection, id, before)?;
            (person.changes, person.changes_next) =
                history::changes(connection, RESOURCE.name, id, changes_before)?;
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
    let stamps: (Timestamp, Timestamp, Option<Timestamp>) = connection
        .prepare_cached("SELECT created_at, updated_at, deleted_at FROM delegates WHERE id = ?1")?
        .query_row([id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let about = ["email", "phone", "jobTitle", "company"]
        .into_iter()
        .filter(|name| !text(&record, name).is_empty())
        .map(|name| (name, text(&record, name).to_owned()))
        .collect();
    let codes = RESOURCE
        .properties
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
        name: super::name_of(connection, id)?.unwrap_or_default(),
        kind: text(&record, "delegateType").to_owned(),
        about,
        flags: flags.map(|flag| (flag, flag_meaning(flag))).collect(),
        codes,
        sections: sections(&record),
        relatives: relatives(connection, id)?,
        purchases: purchases(connection, id)?,
        children: connection
            .prepare_cached(
                "SELECT count(*) FROM delegates WHERE parent_id = ?1 AND deleted_at IS NULL",
            )?
            .query_row([id], |row| row.get(0))?,
        note: note::of(connection, DelegateId(id))?,
        blocks: blocks(connection, id)?,
        inside: inside(connection, id)?,
        devices: passage::places(connection)?,
        device: None,
        interactions: Vec::new(),
        interactions_next: None,
        refusals: refusals(connection, id)?,
        changes: Vec::new(),
        changes_next: None,
        created_at: stamps.0,
        updated_at: stamps.1,
        deleted_at: stamps.2,
    })
}

fn sections(record: &Map<String, Value>) -> Vec<Section> {
    let Some(Value::Object(data)) = record.get("data") else {
        return Vec::new();
    };
    let section = |(name, value): (&String, &Value)| {
        let mut values = Vec::new();
        history::flatten("", value, &mut values);
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

/// The purchases that made a ticket of this record.
fn purchases(connection: &Connection, id: i64) -> Result<Vec<(i64, String)>> {
    let mut statement = connection.prepare_cached(
        "SELECT t.id, t.code FROM transaction_delegates d JOIN transactions t ON t.id = d.transaction_id
         WHERE d.delegate_id = ?1 ORDER BY t.id DESC LIMIT 10",
    )?;
    let purchases = statement.query_map([id], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(purchases.collect::<rusqlite::Result<_>>()?)
}

/// Whom the person belongs to, and the first of those who belong to the person.
fn relatives(connection: &Connection, id: i64) -> Result<Vec<(&'static str, i64, String)>> {
    let mut relatives = Vec::new();
    // Those that are deleted, too: a merged record can be looked at.
    let above: [Option<i64>; 3] = connection
        .prepare_cached("SELECT parent_id, owner_id, previous_id FROM delegates WHERE id = ?1")?
        .query_row([id], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?]))?;
    for (name, other) in ["parent", "owner", "previous"].into_iter().zip(above) {
        if let Some(other) = other
            && let Some(called) = super::name_of(connection, other)?
        {
            relatives.push((name, other, called));
        }
    }
    for (title, column) in [
        ("Has", "parent_id"),
        ("Owns", "owner_id"),
        ("Replaced by", "previous_id"),
    ] {
        let mut statement = connection.prepare_cached(&format!(
            "SELECT p.id, {NAME} FROM delegates p WHERE p.{column} = ?1 AND p.deleted_at IS NULL
             ORDER BY p.id LIMIT ?2"
        ))?;
        let mut rows = statement.query([id, CHILDREN])?;
        while let Some(row) = rows.next()? {
            relatives.push((title, row.get(0)?, row.get(1)?));
        }
    }
    Ok(relatives)
}

fn inside(connection: &Connection, id: i64) -> Result<Vec<(i64, String, Timestamp)>> {
    let history = presence::History::of(connection, DelegateId(id))?;
    let mut inside = history.entered(connection, &DeviceCache::default())?;
    inside.sort_unstable_by_key(|(_, since)| Reverse(*since));
    let mut name =
        connection.prepare_cached("SELECT coalesce(name, code) FROM devices WHERE id = ?1")?;
    inside
        .into_iter()
        .map(|(device, since)| {
            let name = name.query_row([device], |row| row.get(0))?;
            Ok((device.0, name, presence::recorded_at(connection, since)?))
        })
        .collect()
}

/// What happened, the newest first, and where older lines begin.
fn interactions(
    connection: &Connection,
    id: i64,
    before: Option<i64>,
) -> Result<(Vec<Interaction>, Option<i64>)> {
    let mut statement = connection.prepare_cached(
        "SELECT id, interaction_type, recorded_at, first_delegate_id, second_delegate_id, third_delegate_id,
             first_device_id, second_device_id, third_device_id, client_id, user_id, admitted, data
         FROM interactions
         WHERE (first_delegate_id = ?1 OR second_delegate_id = ?1 OR third_delegate_id = ?1) AND id < ?2
         ORDER BY id DESC LIMIT ?3",
    )?;
    let mut rows = statement.query([id, before.unwrap_or(i64::MAX), LINES + 1])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let mut others = Vec::new();
        for column in 3..6 {
            if let Some(other) = row
                .get::<_, Option<i64>>(column)?
                .filter(|other| *other != id)
            {
                others.push((
                    other,
                    super::name_of(connection, other)?.unwrap_or_default(),
                ));
            }
        }
        let mut places = Vec::new();
        for column in 6..9 {
            if let Some(device) = row.get::<_, Option<i64>>(column)? {
                places.push((device, passage::device_name(connection, device)?));
            }
        }
        found.push(Interaction {
            id: row.get(0)?,
            kind: row.get(1)?,
            at: row.get(2)?,
            places,
            others,
            by: origin(connection, row.get(9)?, row.get(10)?)?,
            admitted: row.get(11)?,
            data: row.get::<_, Option<String>>(12)?.map(|data| pretty(&data)),
        });
    }
    let more = found.len() > usize::try_from(LINES).unwrap_or_default();
    if more {
        found.pop();
    }
    let next = found.last().map(|last| last.id).filter(|_| more);
    Ok((found, next))
}

/// Who sent it: a client by its name, otherwise a user.
fn origin(connection: &Connection, client: Option<i64>, user: Option<i64>) -> Result<String> {
    let client: Option<String> = connection
        .prepare_cached("SELECT name FROM clients WHERE id = ?1")?
        .query_row([client], |row| row.get(0))
        .optional()?;
    let user: Option<String> = connection
        .prepare_cached("SELECT email FROM users WHERE id = ?1")?
        .query_row([user], |row| row.get(0))
        .optional()?;
    Ok(client.or(user).unwrap_or_default())
}

/// JSON on several lines; as it is where it is none.
fn pretty(json: &str) -> String {
    serde_json::from_str::<Value>(json)
        .and_then(|value| serde_json::to_string_pretty(&value))
        .unwrap_or_else(|_| json.to_owned())
}

fn refusals(connection: &Connection, id: i64) -> Result<Vec<Refusal>> {
    let mut statement = connection.prepare_cached(
        "SELECT r.at, r.interaction_type, coalesce(r.delegate, ''), coalesce(d.name, d.code, r.device, ''), r.message
         FROM refusals r LEFT JOIN devices d ON d.id = r.device_id
         WHERE r.delegate_id = ?1 ORDER BY r.id DESC LIMIT ?2",
    )?;
    let refusals = statement.query_map([id, REFUSALS], |row| {
        Ok(Refusal {
            at: row.get(0)?,
            kind: row.get(1)?,
            scanned: row.get(2)?,
            device: row.get(3)?,
            message: row.get(4)?,
        })
    })?;
    Ok(refusals.collect::<rusqlite::Result<_>>()?)
}
