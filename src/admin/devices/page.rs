//! The page of one device.

use super::{
    access::{self, Said},
    edit, history,
    inside::{self, Person},
    tree,
};
use crate::{
    admin::{Area, Layout, RequestContext, answer, audit::Change},
    core::{records::Kind, settings::Settings},
    db::counters,
    domain::{
        apps::{
            self, configuration,
            state::{State, state},
        },
        devices::{
            self, deleted,
            record::{Record, form_fields},
            tree::Node,
        },
        interactions::{
            presence::{self, PresenceChange},
            types,
        },
    },
    identity::{
        App, Role,
        clients::{self, Client},
    },
    types::error::Result,
};
use askama::Template;
use poem::Response;
use rusqlite::Connection;
use serde_json::json;

/// People inside and changes that the page shows; the rest has pages of its own.
const LINES: usize = 10;

#[derive(Template)]
#[template(path = "devices/show.html")]
struct Page {
    layout: Layout,
    record: Record,
    about: &'static str,
    when: String,
    said: Vec<Said>,
    unreadable: Option<String>,
    capacity: Option<u32>,
    document: Vec<(String, String)>,
    rest: String,
    seen: Seen,
}

/// What the file knows of the device.
struct Seen {
    inside: i64,
    people: Vec<Person>,
    children: Vec<Node>,
    children_all: i64,
    joined: (i64, bool),
    state: Option<State>,
    clients: Vec<Client>,
    changes: Vec<Change>,
    kept_by: Vec<&'static str>,
    has_settings: bool,
}

impl Page {
    /// Its texts that have a value: label, text, and whether it is a code.
    fn properties(&self) -> Vec<(&'static str, &str, bool)> {
        form_fields()
            .filter(|field| field.name != "name" && field.kind != Kind::Time)
            .map(|field| {
                (
                    field.label,
                    self.record.text(field.column),
                    field.kind == Kind::Code,
                )
            })
            .filter(|(_, text, _)| !text.is_empty())
            .collect()
    }

    /// The search for who is joined with it, as a part of a link.
    fn joined_search(&self) -> String {
        let device = json!({"firstDevice": [self.record.id]});
        let joined = types::names_of(PresenceChange::Join);
        let any: Vec<_> = joined.map(|kind| json!({"fi": [kind, device]})).collect();
        let search = json!({"or": any});
        form_urlencoded::byte_serialize(search.to_string().as_bytes()).collect()
    }

    /// Whether it is nothing but an app: then that comes first.
    fn is_an_app(&self) -> bool {
        devices::APP_TYPES.contains(&self.record.kind())
    }

    /// Whether an app runs on it.
    fn runs_an_app(&self) -> bool {
        self.is_an_app() || self.seen.state.is_some() || !self.seen.clients.is_empty()
    }
}

pub async fn show(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let settings = request.console.settings();
    let app = request.console.app().clone();
    let (record, seen) = request
        .read(move |connection| {
            let record = Record::find(connection, id)?;
            let seen = Seen::read(connection, &record, &app)?;
            Ok((record, seen))
        })
        .await?;
    answer::page(&page(&request, &settings, record, seen))
}

fn page(request: &RequestContext, settings: &Settings, record: Record, seen: Seen) -> Page {
    let own = record.rules();
    let times = (record.start_at, record.end_at);
    let kind = record.kind();
    let about = super::TYPES
        .iter()
        .find(|(known, _)| *known == kind)
        .map_or("", |(_, about)| about);
    let document = super::document::Document::of(&record.document());
    Page {
        layout: request.layout(&record.name, Some(Area::Devices)),
        about,
        when: record.when(&settings.zone),
        said: own
            .map(|own| access::in_words(own, settings.access, times, &settings.zone))
            .unwrap_or_default(),
        unreadable: edit::unreadable(&record),
        capacity: own.and_then(|own| own.or(settings.access).capacity),
        document: document.rows,
        rest: document.rest,
        seen,
        record,
    }
}

impl Seen {
    fn read(connection: &Connection, record: &Record, app: &App) -> Result<Self> {
        let id = record.id;
        let (children, children_all) = tree::children(connection, id.0, app)?;
        Ok(Self {
            inside: counters::people(connection, id)?,
            people: inside::people(connection, id, None, LINES)?,
            children,
            children_all,
            joined: presence::count_joined(connection, id)?,
            state: state(connection, app, id)?,
            clients: clients::of_device(connection, id)?,
            changes: history::changes(connection, id, None, LINES)?.0,
            kept_by: if record.deleted_at.is_some() {
                deleted::kept_by(connection, id)?
            } else {
                Vec::new()
            },
            has_settings: has_settings(connection, record.text("code"))?,
        })
    }
}

/// Whether a device has settings of its own, in force or in the draft.
fn has_settings(connection: &Connection, code: &str) -> Result<bool> {
    let draft = configuration::draft(connection)?.map(|draft| draft.document);
    let published = configuration::published(connection)?.document;
    let names = |document: &apps::Document| document.by_device.contains_key(code);
    Ok(names(&published) || draft.as_ref().is_some_and(names))
}

/// A client's roles as the command line has them: `device-write`.
fn roles(client: &Client) -> String {
    let short = |role: Role| {
        let name = role.name().trim_start_matches("ROLE_OAUTH2_");
        name.to_lowercase().replace('_', "-")
    };
    let roles: Vec<_> = client.roles.iter().map(short).collect();
    roles.join(", ")
}
