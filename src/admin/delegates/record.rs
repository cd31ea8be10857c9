//! The record of an attendee: everything that is known, and what is done by hand.

use super::{
    flag_meaning, missing, name_of, text,
    timeline::{self, Row, Timeline},
};
use crate::admin::prelude::*;
use crate::{
    core::{
        audit::{HistoryOf, actor_name},
        records::{Field, Kind, Selection},
    },
    domain::{
        delegates::{
            RESOURCE,
            blocked::{self, Blocked},
            note::{self, Level, NOTE_MAX_CHARS, Note},
            overview,
        },
        devices::{self, Offer},
        history::{Change, changes},
        interactions::{history, undo::Caller},
        printing::printers,
        sales, tickets,
    },
    types::{
        DelegateId,
        json::{flatten, pretty},
    },
};
use serde_json::{Map, Value};

/// Properties that the head of the page shows.
const IN_HEAD: [&str; 4] = ["firstName", "lastName", "delegateType", "rawFlags"];
/// Changes on a page.
const PAGE: usize = 20;

#[derive(Template)]
#[template(path = "delegates/record.html")]
struct Page {
    layout: Layout,
    person: Person,
    refused: Option<JustRefused>,
    place: Input,
    note: [Input; 2],
    /// There is a printer.
    prints: bool,
    /// The address of the ticket, where it has one.
    ticket: Option<String>,
}

/// A check-in or check-out by hand that the rules refused.
pub(super) struct JustRefused {
    pub message: String,
    pub device: i64,
    pub entering: bool,
}

struct Person {
    id: i64,
    name: String,
    kind: String,
    /// Texts by name, with their labels.
    about: Vec<(&'static str, &'static str, String)>,
    flags: Vec<(char, &'static str)>,
    /// Codes by name, with their labels.
    codes: Vec<(&'static str, &'static str, String)>,
    sections: Vec<(String, Vec<(String, String)>)>,
    relatives: Vec<(&'static str, i64, String)>,
    children: i64,
    purchases: Vec<(i64, String)>,
    note: Option<Note>,
    /// Blocked codes, and by whom.
    blocked: Vec<(Blocked, String)>,
    inside: Vec<(i64, String, Timestamp)>,
    places: Vec<Offer>,
    timeline: Timeline,
    changes: Vec<Change>,
    changes_next: Option<i64>,
    created_at: Timestamp,
    updated_at: Timestamp,
    deleted_at: Option<Timestamp>,
}

impl Person {
    fn note_class(&self) -> &'static str {
        match self.note.as_ref().map(|note| note.level) {
            Some(Level::Stop) => "bad",
            Some(Level::Warning) => "warn",
            _ => "",
        }
    }
}

fn level_meaning(level: Level) -> &'static str {
    match level {
        Level::Info => "For information",
        Level::Warning => "Take notice",
        Level::Stop => "Stop: hold the person and read it",
    }
}

pub(super) async fn show(request: RequestContext) -> Result<Response> {
    answer::page(&page(&request, None).await?)
}

/// The record after a check-in by hand that was refused.
pub(super) async fn refused(request: &RequestContext, refused: JustRefused) -> Result<Response> {
    answer::form_again(&page(request, Some(refused)).await?)
}

/// The record after a check-in by hand without a place.
pub(super) async fn without_place(request: &RequestContext, why: &str) -> Result<Response> {
    let mut page = page(request, None).await?;
    page.place.error = Some(why.to_owned());
    answer::form_again(&page)
}

async fn page(request: &RequestContext, refused: Option<JustRefused>) -> Result<Page> {
    let id = request.id("id")?;
    let settings = request.console.settings();
    let zone = settings.zone.clone();
    let [before, changes, undone] =
        ["before", "changes", "undone"].map(|name| request.query.number(name));
    let (asked_for, caller) = ([before?, changes?, undone?], request.caller()?);
    let asked = request.query.number("device").ok().flatten();
    let device = refused.as_ref().map(|refused| refused.device).or(asked);
    let person = request
        .read(move |connection| Person::read(connection, id, &zone, asked_for, caller))
        .await?;
    let places = person.places.iter();
    let places = places
        .map(|place| Choice::named(place.id.to_string(), &place.name, device == Some(place.id)));
    let choose = Choice::new("", "Choose …", device.is_none());
    let places = std::iter::once(choose).chain(places).collect::<Vec<_>>();
    let level = person.note.as_ref().map_or(Level::Info, |note| note.level);
    let levels = Level::ALL
        .iter()
        .map(|known| Choice::new(known.name(), level_meaning(*known), *known == level));
    let note = person.note.as_ref().map_or("", |note| &note.text);
    Ok(Page {
        place: Input::select("device", "Where", places).required(),
        note: [
            Input::area("note", "What gates show at a scan", 3)
                .value(note)
                .max(NOTE_MAX_CHARS)
                .placeholder("VIP, expected by Ms Berg. Allergic to nuts."),
            Input::radios("level", "How", levels),
        ],
        layout: request.layout(&person.name, Some(Area::Delegates)),
        ticket: request
            .look_up(|connection| tickets::url(connection, &settings, DelegateId(id)))?,
        person,
        refused,
        prints: !request.look_up(printers::all)?.is_empty(),
    })
}

/// The properties of an attendee, also of a deleted one.
pub(super) fn properties(
    connection: &Connection,
    id: i64,
    zone: &Zone,
) -> Result<Map<String, Value>> {
    let json = Selection::own_deleted_too(&RESOURCE).one(connection, "id", &id, zone)?;
    let json = json.ok_or_else(|| missing(id))?;
    serde_json::from_str(&json).map_err(Error::defect)
}

impl Person {
    fn read(
        connection: &Connection,
        id: i64,
        zone: &Zone,
        [before, changes_before, undone]: [Option<i64>; 3],
        caller: Caller,
    ) -> Result<Self> {
        let record = properties(connection, id, zone)?;
        let (created_at, updated_at, deleted_at) = overview::stamps(connection, id)?;
        let filled = |kind| {
            let fields = RESOURCE
                .fields
                .iter()
                .filter(move |field| field.kind == kind);
            fields.filter(|field| !text(&record, field.name).is_empty())
        };
        let about = filled(Kind::Text).filter(|field| !IN_HEAD.contains(&field.name));
        let named = |field: &'static Field| {
            let value = text(&record, field.name).to_owned();
            (field.name, field.label, value)
        };
        let (about, codes) = (about.map(named), filled(Kind::Code).map(named));
        let flags = text(&record, "rawFlags").chars();
        let of = HistoryOf {
            types: [RESOURCE.name; 2],
            table: RESOURCE.table,
            id,
        };
        let (changes, changes_next) = changes(connection, of, changes_before, PAGE)?;
        let places = devices::places(connection)?;
        let blocked = blocked::of(connection, id)?.into_iter().map(|blocked| {
            let by = actor_name(connection, &blocked.actor)?;
            Ok((blocked, by))
        });
        Ok(Self {
            id,
            name: name_of(connection, id)?.unwrap_or_default(),
            kind: text(&record, "delegateType").to_owned(),
            about: about.collect(),
            flags: flags.map(|flag| (flag, flag_meaning(flag))).collect(),
            codes: codes.collect(),
            sections: sections(&record),
            relatives: overview::relatives(connection, id)?,
            children: overview::count_children(connection, id)?,
            purchases: sales::of_delegate(connection, id)?,
            note: note::of(connection, DelegateId(id))?,
            blocked: blocked.collect::<Result<_>>()?,
            inside: history::inside(connection, DelegateId(id))?,
            places,
            timeline: Timeline::read(connection, id, before, undone, caller, zone)?,
            changes,
            changes_next,
            created_at,
            updated_at,
            deleted_at,
        })
    }
}

fn sections(record: &Map<String, Value>) -> Vec<(String, Vec<(String, String)>)> {
    let sections = record.get("data").and_then(Value::as_object);
    let section = |(name, value): (&String, &Value)| {
        let mut values = Vec::new();
        flatten("", value, &mut values);
        let name = match name.as_str() {
            "Data" => "Details",
            name => name,
        };
        (name.to_owned(), values)
    };
    sections.into_iter().flatten().map(section).collect()
}
