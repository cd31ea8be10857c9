//! The page of one device.

use super::{
    access::{self, Said},
    app::{State, state},
    edit,
    form::FIELDS,
    history,
    inside::{self, Person},
    record::Record,
    tree::{self, Node},
};
use crate::{
    admin::{Area, Layout, RequestContext, answer},
    core::settings::Settings,
    db::totals,
    domain::{
        apps::{self, configuration},
        devices::deleted,
    },
    identity::{App, Role},
    types::{DeviceId, Timestamp, error::Result},
};
use askama::Template;
use poem::Response;
use rusqlite::Connection;
use serde_json::json;

/// People inside and changes that the page shows; the rest has pages of its own.
const LINES: usize = 10;
/// Interactions that are looked through for joins.
const LOOKED_MAX: i64 = 20_000;

/// An app or system that signs in as the device.
struct Client {
    id: i64,
    client_id: String,
    name: String,
    roles: String,
    created_at: Timestamp,
    revoked_at: Option<Timestamp>,
}

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
    changes: Vec<history::Change>,
    kept_by: Vec<&'static str>,
    has_settings: bool,
}

impl Page {
    /// Its texts that have a value: label, text, and whether it is a code.
    fn properties(&self) -> Vec<(&'static str, &str, bool)> {
        FIELDS
            .iter()
            .filter(|field| field.name != "name" && !field.is_time())
            .map(|field| (field.label, self.record.text(field.column), field.is_code()))
            .filter(|(_, text, _)| !text.is_empty())
            .collect()
    }

    /// The search for who is joined with it, as a part of a link.
    fn joined_search(&self) -> String {
        let device = json!({"firstDevice": [self.record.id]});
        let search = json!({"or": [{"fi": ["join", device]}, {"fi": ["booking", device]}]});
        form_urlencoded::byte_serialize(search.to_string().as_bytes()).collect()
    }

    /// Whether it is nothing but an app: then that comes first.
    fn is_an_app(&self) -> bool {
        ["regoapp", "mobileapp"].contains(&self.record.kind())
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
        .console
        .store
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
            inside: totals::people(connection, id)?,
            people: inside::people(connection, id, None, LINES)?,
            children,
            children_all,
            joined: joined(connection, id)?,
            state: state(connection, app, id)?,
            clients: clients(connection, id)?,
            changes: history::changes(connection, id, None, LINES)?,
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

/// How many delegates are joined with a device itself, and whether that is all: where very much
/// happened, only a part of it is looked through.
fn joined(connection: &Connection, id: DeviceId) -> Result<(i64, bool)> {
    Ok(connection
        .prepare_cached(
            "WITH looked AS (SELECT id, moment, effect, first_delegate_id AS delegate_id
                             FROM interactions WHERE first_device_id = ?1 LIMIT ?2)
             SELECT (SELECT count(DISTINCT delegate_id) FROM looked j
                     WHERE effect = 2 AND NOT EXISTS (
                         SELECT 1 FROM (
                             SELECT moment, id FROM interactions
                             WHERE first_delegate_id = j.delegate_id AND first_device_id = ?1 AND effect = 3
                             ORDER BY moment DESC, id DESC LIMIT 1) l
                         WHERE (l.moment, l.id) > (j.moment, j.id))
                     AND NOT EXISTS (
                         SELECT 1 FROM (
                             SELECT moment, id FROM interactions
                             WHERE second_delegate_id = j.delegate_id AND first_device_id = ?1
                             AND interaction_type = 'uninvite'
                             ORDER BY moment DESC, id DESC LIMIT 1) u
                         WHERE (u.moment, u.id) > (j.moment, j.id))),
                    (SELECT count(*) FROM looked) < ?2",
        )?
        .query_row(rusqlite::params![id, LOOKED_MAX], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?)
}

fn clients(connection: &Connection, id: DeviceId) -> Result<Vec<Client>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, client_id, name, roles, created_at, revoked_at FROM clients
         WHERE device_id = ?1 ORDER BY revoked_at IS NOT NULL, id DESC",
    )?;
    let rows = statement.query_map([id], |row| {
        let roles = crate::identity::Roles::from_json(&row.get::<_, String>(3)?);
        let roles: Vec<_> = roles.iter().map(short).collect();
        Ok(Client {
            id: row.get(0)?,
            client_id: row.get(1)?,
            name: row.get(2)?,
            roles: roles.join(", "),
            created_at: row.get(4)?,
            revoked_at: row.get(5)?,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// A role as the command line has it: `device-write`.
fn short(role: Role) -> String {
    role.name()
        .trim_start_matches("ROLE_OAUTH2_")
        .to_lowercase()
        .replace('_', "-")
}

#[cfg(test)]
mod tests {
    use super::{super::inside, *};
    use crate::db::{connection::steps_of, migrate};

    /// What one person did there in one millisecond, again and again, and others joined.
    fn busy(count: i64) -> Connection {
        let file = Connection::open_in_memory().unwrap();
        migrate::create(&file).unwrap();
        file.execute_batch(
            "INSERT INTO delegates (id, public_id, sources, created_at, updated_at)
                 VALUES (1, 'a', '[]', 0, 0), (2, 'b', '[]', 0, 0), (3, 'c', '[]', 0, 0);
             INSERT INTO devices (id, code, public_id, sources, created_at, updated_at)
                 VALUES (9, 'c', 'p', '[]', 0, 0);
             INSERT INTO occupancy (device_id, inside) VALUES (9, 1);",
        )
        .unwrap();
        let mut insert = file
            .prepare(
                "INSERT INTO interactions (interaction_type, first_delegate_id, second_delegate_id,
                     first_device_id, recorded_at, created_at) VALUES (?1, ?2, ?3, 9, ?4, ?4)",
            )
            .unwrap();
        for _ in 0..count {
            for (kind, first, second) in [
                ("check-in", 1, None),
                ("check-out", 1, None),
                ("join", 1, None),
                ("cancel-booking", 1, None),
                ("join", 2, None),
                ("uninvite", 3, Some(2)),
            ] {
                insert.execute((kind, first, second, 5)).unwrap();
            }
        }
        for (kind, first) in [("check-in", 3), ("join", 3)] {
            insert.execute((kind, first, None::<i64>, 5)).unwrap();
        }
        drop(insert);
        file
    }

    #[test]
    fn a_busy_devices_page_costs_as_much_as_it_has_interactions() {
        let costs = [100, 400].map(|count| {
            let file = busy(count);
            steps_of(&file, || {
                let people = inside::people(&file, DeviceId(9), None, 50).unwrap();
                let ids: Vec<_> = people.iter().map(|person| person.id).collect();
                assert_eq!(ids, [3]);
                assert_eq!(joined(&file, DeviceId(9)).unwrap(), (1, true));
            })
        });
        assert!(costs[1] < costs[0] * 5, "{costs:?}");
    }
}
