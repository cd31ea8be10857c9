//! The page of a device: who may enter, who is inside, what belongs to it, its app; and the changes that
//! are no form.

use super::{form, row::Row, tree};
use crate::admin::prelude::*;
use crate::{
    admin::engine::Document,
    core::{audit::HistoryOf, reader, records::Kind, rules::AccessRules},
    db::counters,
    domain::{
        apps::{
            self, configuration,
            state::{State, state},
        },
        delegates::overview::{self, Line},
        devices::{
            self, RESOURCE, deleted,
            doors::{self, Doors},
            into_doors,
            record::{Record, form_fields},
            rule_texts::{RuleText, in_words},
        },
        history::{self, Change},
        interactions::{
            inside::{self, Inside},
            judge::{self, DeviceCache},
            presence::{self, PresenceChange},
            types,
        },
    },
    identity::{
        Role,
        clients::{self, Client},
    },
    types::{ClientId, DeviceId, InteractionId, error},
};
use serde_json::json;
use std::sync::Arc;

/// People and changes that the page of a device shows.
const SHOWN: usize = 10;
/// People on a page of those inside.
const PEOPLE: usize = 50;
/// Changes on a page of the history.
const CHANGES: usize = 30;

#[derive(Template)]
#[template(path = "devices/show.html")]
struct Page {
    layout: Layout,
    about: &'static str,
    when: String,
    rules: Vec<RuleText>,
    /// The stored document, where its rules cannot be read.
    unreadable: Option<String>,
    capacity: Option<u32>,
    document: Document,
    /// Set where check-ins are counted over all days, though a ticket enters on each.
    limits_all_days: bool,
    inside: i64,
    people: Vec<Person>,
    /// People inside of whom only a code is known.
    unnamed: usize,
    children: Vec<Row>,
    children_all: i64,
    /// The number of people registered, and whether all were counted.
    registered: (i64, bool),
    state: Option<State>,
    clients: Vec<Client>,
    changes: Vec<Change>,
    /// The reasons why a deleted device cannot be deleted permanently.
    kept_by: Vec<&'static str>,
    has_settings: bool,
    /// The place that it is a door of: its number and name.
    door_of: Option<(i64, String)>,
    /// The device and its doors.
    entrances: Vec<DeviceId>,
    /// Places below that look like doors.
    like_doors: usize,
    record: Record,
}

/// Somebody who is inside.
struct Person {
    line: Line,
    entry: Inside,
}

impl Page {
    fn properties(&self) -> Vec<(&'static str, &str, bool)> {
        form_fields()
            .filter(|field| field.name != "name" && field.kind != Kind::Time)
            .map(|field| {
                let text = self.record.text(field.column);
                (field.label, text, field.kind == Kind::Code)
            })
            .filter(|(_, text, _)| !text.is_empty())
            .collect()
    }

    /// The search for everybody who is registered here.
    fn registered_search(&self) -> String {
        let device = json!({"firstDevice": self.entrances});
        let joined = types::names_of(PresenceChange::Join);
        let any: Vec<_> = joined.map(|kind| json!({"fi": [kind, device]})).collect();
        let search = json!({"or": any});
        form_urlencoded::byte_serialize(search.to_string().as_bytes()).collect()
    }

    fn is_an_app(&self) -> bool {
        devices::APP_TYPES.contains(&self.record.kind())
    }

    /// Returns whether doors may be added: to places that people go into.
    fn may_have_doors(&self) -> bool {
        let kind = self.record.kind();
        let is_place = !self.is_an_app() && ![reader::DEVICE_TYPE, "product"].contains(&kind);
        is_place && self.record.deleted_at.is_none() && doors::is_place_of_doors(Some(kind))
    }

    fn runs_an_app(&self) -> bool {
        self.is_an_app() || self.state.is_some() || !self.clients.is_empty()
    }
}

/// The rules that a device has where it sets none: of places above, and of the settings.
fn inherited(
    connection: &Connection,
    device: DeviceId,
    default: &AccessRules,
) -> Result<AccessRules> {
    match judge::in_force(connection, &DeviceCache::default(), device, default) {
        Ok(rules) => Ok(rules.unwrap_or_default()),
        // Those above cannot be read, which their own pages say.
        Err(cause) if matches!(cause.kind, error::Kind::Refused(_)) => Ok(default.clone()),
        Err(cause) => Err(cause),
    }
}

pub async fn show(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let settings = request.console.settings();
    let console = Arc::clone(&request.console);
    let read = move |connection: &Connection, mut layout: Layout| {
        let record = Record::find(connection, id)?;
        layout.title.clone_from(&record.name);
        let (device, kind) = (record.id, record.kind());
        let own = record.rules();
        let times = (record.start_at, record.end_at);
        let inherited = inherited(connection, device, &settings.access)?;
        let texts = own
            .as_ref()
            .map(|own| in_words(own, &inherited, times, &settings.zone));
        let in_force = own.map(|own| own.or(&inherited)).unwrap_or_default();
        let door_of = doors::place_of_door(connection, device)?;
        let mut rules = texts.unwrap_or_default();
        // What it does not set is for its place to say.
        rules.retain(|rule| rule.own || door_of.is_none());
        let (children, children_all) = tree::below(connection, &console, device)?;
        let about = super::TYPES.iter().find(|(known, _)| *known == kind);
        Ok(Page {
            about: about.map_or("", |(_, about)| about),
            when: record.when(&settings.zone),
            rules,
            door_of,
            entrances: Doors::read(connection)?.with_doors(device).collect(),
            like_doors: into_doors::candidates(connection, &record)?.len(),
            unreadable: form::unreadable(&record),
            capacity: in_force.capacity,
            limits_all_days: in_force.is_daily()
                && in_force.max_check_ins.is_some()
                && in_force.per.is_none(),
            document: Document::new(&record.document(), form::ACCESS),
            inside: counters::people(connection, device)?,
            people: people(connection, device, None, SHOWN)?,
            unnamed: inside::unnamed(connection, device)?.len(),
            children,
            children_all,
            registered: presence::count_joined(connection, device)?,
            state: state(connection, console.app(), device)?,
            clients: clients::of_device(connection, device)?,
            changes: changes(connection, device, None, SHOWN)?.0,
            kept_by: match record.deleted_at {
                Some(_) => deleted::kept_by(connection, device)?,
                None => Vec::new(),
            },
            has_settings: has_settings(connection, record.text("code"))?,
            layout,
            record,
        })
    };
    request.page("Device", Area::Devices, read).await
}

fn has_settings(connection: &Connection, code: &str) -> Result<bool> {
    let draft = configuration::draft(connection)?.map(|draft| draft.document);
    let published = configuration::published(connection)?.document;
    let names = |document: &apps::Document| document.by_device.contains_key(code);
    Ok(names(&published) || draft.as_ref().is_some_and(names))
}

fn roles(client: &Client) -> String {
    let short = |role: Role| {
        let name = role.name().trim_start_matches("ROLE_OAUTH2_");
        name.to_lowercase().replace('_', "-")
    };
    let roles: Vec<_> = client.roles.iter().map(short).collect();
    roles.join(", ")
}

fn people(
    connection: &Connection,
    device: DeviceId,
    before: Option<InteractionId>,
    limit: usize,
) -> Result<Vec<Person>> {
    let inside = inside::people(connection, device, before, limit)?;
    let ids: Vec<i64> = inside.iter().map(|entry| entry.delegate.0).collect();
    let lines = overview::lines(connection, &ids)?;
    let person = |entry: Inside| {
        let line = lines
            .iter()
            .find(|line| line.id == entry.delegate.0)?
            .clone();
        Some(Person { line, entry })
    };
    Ok(inside.into_iter().filter_map(person).collect())
}

fn changes(
    connection: &Connection,
    device: DeviceId,
    before: Option<i64>,
    limit: usize,
) -> Result<(Vec<Change>, Option<i64>)> {
    let of = HistoryOf {
        types: [RESOURCE.name, "event"],
        table: RESOURCE.table,
        id: device.0,
    };
    history::changes(connection, of, before, limit)
}

#[derive(Template)]
#[template(path = "devices/inside.html")]
struct InsidePage {
    layout: Layout,
    list: List,
    record: Record,
    count: i64,
    people: Vec<Person>,
    unnamed: usize,
}

pub async fn inside(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let before = request.query.number("before")?.map(InteractionId);
    let mut list = List::new(&request, Vec::new(), "before");
    let read = move |connection: &Connection, mut layout: Layout| {
        let record = Record::find(connection, id)?;
        layout.title = format!("Inside {}", record.name);
        let people = people(connection, record.id, before, PEOPLE)?;
        let last = people.last().filter(|_| people.len() == PEOPLE);
        list.next = last.map(|person| person.entry.interaction.to_string());
        Ok(InsidePage {
            count: counters::people(connection, record.id)?,
            unnamed: inside::unnamed(connection, record.id)?.len(),
            layout,
            list,
            record,
            people,
        })
    };
    request.page("Inside", Area::Devices, read).await
}

#[derive(Template)]
#[template(path = "devices/history.html")]
struct HistoryPage {
    layout: Layout,
    list: List,
    record: Record,
    changes: Vec<Change>,
}

pub async fn history(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let before = request.query.number("before")?;
    let mut list = List::new(&request, Vec::new(), "before");
    let read = move |connection: &Connection, mut layout: Layout| {
        let record = Record::find(connection, id)?;
        layout.title = tx("devices-changes-to-name")
            .with("name", &record.name)
            .to_string();
        let (changes, older) = changes(connection, record.id, before, CHANGES)?;
        list.next = older.map(|older| older.to_string());
        Ok(HistoryPage {
            layout,
            list,
            record,
            changes,
        })
    };
    request.page("Changes", Area::Devices, read).await
}

fn path(id: DeviceId) -> String {
    format!("/console/devices/{id}")
}

pub fn delete(tx: &Tx<'_>, ctx: &Context, action: &Action) -> Result<Done> {
    let Record { id, name, .. } = Record::find(tx, action.id)?;
    let app = match devices::delete(tx, ctx, id)? {
        0 => "",
        _ => " Its app is shut out.",
    };
    let message = format!("{name} deleted.{app} It can be restored from here.");
    Ok(Done::new(message, path(id)))
}

pub fn restore(tx: &Tx<'_>, ctx: &Context, action: &Action) -> Result<Done> {
    let Record { id, name, .. } = Record::find(tx, action.id)?;
    deleted::restore(tx, ctx, id)?;
    Ok(Done::new(format!("{name} restored."), path(id)))
}

pub fn erase(tx: &Tx<'_>, ctx: &Context, action: &Action) -> Result<Done> {
    let Record { id, name, .. } = Record::find(tx, action.id)?;
    deleted::erase(tx, ctx, id)?;
    let message = format!("{name} deleted permanently.");
    Ok(Done::new(message, "/console/devices?show=deleted"))
}

pub fn revoke(tx: &Tx<'_>, ctx: &Context, action: &Action) -> Result<Done> {
    let (id, client) = (DeviceId(action.id), ClientId(action.param("client")?));
    let mut own = clients::of_device(tx, id)?.into_iter();
    let own = own.find(|own| own.id == client);
    let client = own.ok_or_else(|| {
        Error::new(
            error::Kind::NoSuchPath,
            "this device has no such credentials",
        )
    })?;
    let about_pin = configuration::revoke_client(tx, ctx, &client)?;
    let message = format!(
        "Credentials of {} revoked. The app is shut out from now on.{about_pin}",
        client.name
    );
    Ok(Done::new(message, path(id)))
}
