//! Devices: rooms, sessions, readers, apps, products, and events, which are devices of the type
//! `event` (spec: Device; contract §4).

pub mod api;
pub mod deleted;
pub mod doors;
pub mod entry;
mod fields;
pub mod into_doors;
mod names;
pub mod programme;
pub(crate) mod record;
pub mod rule_texts;
pub(crate) mod tree;
pub mod upcoming;
pub mod wall_clock;

pub use fields::{FIELDS, MANAGER};
pub use names::{
    APP_TYPES, NAME, Offer, PlaceCodes, called, called_at_place, closed_by_upgrade, find_typed,
    forget_closed, holders, matching, name_of, newest_event, offers, offers_of, places, with_code,
};
pub use tree::has_open_rooms;

use crate::{
    core::{
        Context,
        outgoing::check_reader,
        presence::PlacePresence,
        reader::ReaderSetup,
        records::{
            Attachments, Brief, Changes, Field, Resource, Selection,
            catalogue::{attach_children, searchable},
            write,
        },
        rules::AccessRules,
        scanned::{self, Meaning},
        search::{Counted, Subject},
        settings,
    },
    db::{Tx, counters},
    domain::interactions::{late_codes, types::OWN},
    identity::{Principal, Role, clients, roles::lacking},
    types::{
        DeviceId, DeviceSelector, Zone,
        error::{self, Error, Result},
        selector::DeviceCode,
        text::fold,
    },
};
use rusqlite::{Connection, OptionalExtension, types::Value as Sql};
use serde_json::Value;
use std::sync::{LazyLock, OnceLock};

/// The type of an event.
pub const EVENT: &str = "event";

const LISTED_FIELDS: [Field; FIELDS.len() + MANAGER.len()] = Field::joined(FIELDS, &MANAGER);

/// Devices as lists have them, which are exported and imported: with what only events have.
pub static LISTED: Resource = records(&LISTED_FIELDS);

/// Devices, as records.
pub static RESOURCE: Resource = records(FIELDS);

const fn records(fields: &'static [Field]) -> Resource {
    Resource {
        name: "device",
        table: "devices",
        alive: "deleted_at IS NULL",
        alive_index: None,
        fields,
        not_found: error::Kind::DeviceNotFound,
        check: |tx, id, changes| check(tx, id, changes, ["startAt", "endAt"]),
        after_write: |tx, ctx, id| {
            doors::check_written(tx, DeviceId(id))?;
            late_codes::settle_at(tx, ctx, DeviceId(id))
        },
        attach,
        own: OnceLock::new(),
    }
}

/// The devices that can be searched.
pub static SEARCHED: LazyLock<Subject> = LazyLock::new(|| Subject {
    name: RESOURCE.name,
    table: RESOURCE.table,
    alive: RESOURCE.alive,
    fields: searchable(FIELDS),
    text_index: None,
    kind: None,
    stretches: None,
    document: "iif(json_valid(data), data, NULL)",
    shared: None,
    counted: Some(counted()),
    statements: true,
    messages: None,
    batches: Some(
        "id IN (SELECT record_id FROM batch_rows JOIN batches ON batches.id = batch_id
                WHERE kind = 'devices' AND undone_at IS NULL
                AND (:device IS NULL OR device_id = :device))",
    ),
});

/// The interactions that a search for devices counts.
pub(crate) fn counted() -> Counted {
    Counted {
        table: "interactions",
        kind: "interaction_type",
        own: ["first_device_id", "second_device_id", "third_device_id"],
        others: [
            ("firstDelegate", "first_delegate_id"),
            ("secondDelegate", "second_delegate_id"),
            ("thirdDelegate", "third_delegate_id"),
        ],
        shown_as: ["", "", ""],
    }
}

/// Completes and checks a change to a device, of an event too; `times` are what start and end are
/// called there.
///
/// # Errors
/// [`error::Kind::Invalid`] for access rules that are not, and for an end before the start.
pub fn check(tx: &Tx<'_>, id: Option<i64>, changes: &mut Changes, times: [&str; 2]) -> Result<()> {
    let creating = id.is_none();
    for code in ["code", "public_id"] {
        changes.set_default(code, creating, || {
            Sql::Text(uuid::Uuid::new_v4().to_string())
        });
    }
    changes.set_default("available", creating, || Sql::Integer(1));
    check_sections(tx, id, changes)?;
    doors::check(tx, id, changes)?;
    check_times(tx, id, changes, times)
}

/// The section that rules of entry stand in.
const ACCESS: &str = "Access";

/// Checks a section: its name, as it was, and as it will be.
type CheckSection = fn(&Tx<'_>, &str, &Value, &Value) -> Result<()>;

/// The sections of a device's `data` that the server reads, and how each is checked.
const SECTIONS: [(&str, CheckSection); 3] = [
    (ACCESS, |_, name, _, value| {
        AccessRules::parse(name, value).map(drop)
    }),
    ("Presence", |_, name, _, value| {
        PlacePresence::parse(name, value).map(drop)
    }),
    ("Reader", |tx, name, before, value| {
        let setup = ReaderSetup::parse(name, value)?;
        match &setup.address {
            Some(address) if before.get("address") != value.get("address") => {
                let reach = settings::load(tx)?.reach;
                check_reader(&format!("{name}.address"), address, reach)
            }
            _ => Ok(()),
        }
    }),
];

/// Sections that the server reads are checked as they will be after the merge.
fn check_sections(tx: &Tx<'_>, id: Option<i64>, changes: &Changes) -> Result<()> {
    let sent = |name: &str| match changes.data.as_ref()? {
        // Clearing all clears each.
        Value::Null => Some(Value::Null),
        data => data.get(name).cloned(),
    };
    let sent = SECTIONS.map(|(name, check)| (name, check, sent(name)));
    if sent.iter().all(|(_, _, patch)| patch.is_none()) {
        return Ok(());
    }
    let stored: Option<String> = match id {
        Some(id) => tx
            .prepare_cached("SELECT data FROM devices WHERE id = ?1")?
            .query_row([id], |row| row.get(0))?,
        None => None,
    };
    let mut stored: Value = stored
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default();
    for (name, check, patch) in sent {
        if let Some(patch) = patch {
            let before = stored.get_mut(name).map(Value::take).unwrap_or_default();
            let mut section = before.clone();
            crate::types::json::merge_patch(&mut section, patch);
            // Who is inside depends on whether stays end with the day.
            if name == ACCESS && id.is_some() && before.get("entry") != section.get("entry") {
                counters::have_people_counted(tx)?;
            }
            if !section.is_null() {
                check(tx, &format!("data.{name}"), &before, &section)?;
            }
        }
    }
    Ok(())
}

fn check_times(
    tx: &Tx<'_>,
    id: Option<i64>,
    changes: &Changes,
    [start, end]: [&str; 2],
) -> Result<()> {
    if changes.get("start_at").is_none() && changes.get("end_at").is_none() {
        return Ok(());
    }
    let stored: (Option<i64>, Option<i64>) = match id {
        Some(id) => tx
            .prepare_cached("SELECT start_at, end_at FROM devices WHERE id = ?1")?
            .query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))?,
        None => (None, None),
    };
    let after = |column, stored| match changes.get(column) {
        Some(Sql::Integer(time)) => Some(*time),
        Some(_) => None,
        None => stored,
    };
    match (after("start_at", stored.0), after("end_at", stored.1)) {
        (Some(start_at), Some(end_at)) if end_at < start_at => {
            Err(Error::field(end, format!("must not be before {start}")))
        }
        _ => Ok(()),
    }
}

fn attach(
    connection: &Connection,
    selection: &Selection,
    ids: &[i64],
    _: &Zone,
) -> Result<Attachments> {
    let mut attachments = Attachments::default();
    if selection.shows("children") {
        attach_children(connection, &RESOURCE, ids, &mut attachments)?;
    }
    Ok(attachments)
}

pub fn is_any_event(connection: &Connection) -> Result<bool> {
    Ok(connection
        .prepare_cached("SELECT 1 FROM devices WHERE device_type = 'event' AND deleted_at IS NULL")?
        .exists([])?)
}

/// The id of the living device that a selector means.
///
/// # Errors
/// [`error::Kind::DeviceNotFound`].
pub fn find(connection: &Connection, selector: &DeviceSelector) -> Result<DeviceId> {
    let id = match selector {
        DeviceSelector::Scanned(value) => {
            for code in DeviceCode::ALL {
                match find(connection, &DeviceSelector::Code(*code, value.clone())) {
                    Err(cause) if cause.kind == error::Kind::DeviceNotFound => {}
                    found => return found,
                }
            }
            match scanned::meaning(connection, DeviceSelector::SCANNED_SQL, value)? {
                Meaning::Match(found) => Ok(DeviceId(found.id)),
                Meaning::Several | Meaning::Unknown => Err(rusqlite::Error::QueryReturnedNoRows),
            }
        }
        DeviceSelector::Id(id) => connection
            .prepare_cached("SELECT id FROM devices WHERE id = ?1 AND deleted_at IS NULL")?
            .query_row([id], |row| row.get(0)),
        DeviceSelector::Code(code, value) => connection
            .prepare_cached(code.find_sql())?
            .query_row([value], |row| row.get(0)),
    };
    id.optional()?.ok_or_else(|| RESOURCE.missing(selector))
}

/// The newest living device that a text names: by id, a code, or a part of the name; any without a text.
pub fn newest_named(connection: &Connection, text: &str) -> Result<Option<DeviceId>> {
    Ok(connection
        .prepare_cached(
            "SELECT id FROM devices WHERE deleted_at IS NULL AND (?1 = '' OR id = ?1 OR code = ?1
                 OR external_id = ?1 OR public_id = ?1 OR rfid = ?1 OR slug = ?1
                 OR text_contains(coalesce(name, ''), ?2))
             ORDER BY id = ?1 DESC, id DESC LIMIT 1",
        )?
        .query_row([text, &fold(text)], |row| row.get(0))
        .optional()?)
}

/// Reads the name and details by which people know a device, a deleted one included.
pub fn brief(connection: &Connection, id: i64) -> Result<Option<Brief>> {
    let brief = connection
        .prepare_cached(&format!(
            "SELECT {NAME}, iif(name IS NULL, '', code),
                 iif(deleted_at IS NULL, device_type, 'deleted') FROM devices d WHERE id = ?1"
        ))?
        .query_row([id], |row| {
            Ok(Brief::new(id, row.get(0)?, [row.get(1)?, row.get(2)?]))
        });
    Ok(brief.optional()?)
}

/// Devices below a device that are looked for at the most.
const BELOW_MAX: usize = 10_000;

/// A device and those below it, deleted ones included.
///
/// # Errors
/// When they cannot be read.
pub fn with_below(connection: &Connection, device: DeviceId) -> Result<Vec<i64>> {
    let mut statement = connection.prepare_cached(
        "WITH RECURSIVE below (id) AS (
             SELECT ?1 UNION SELECT d.id FROM below JOIN devices d ON d.parent_id = below.id LIMIT ?2)
         SELECT id FROM below",
    )?;
    let ids = statement.query_map((device, BELOW_MAX), |row| row.get(0))?;
    Ok(ids.collect::<rusqlite::Result<_>>()?)
}

/// Deletes a device softly, and shuts out the apps that sign in as it: who deletes a lost phone means
/// that nobody gets in with it. How many clients were revoked.
///
/// # Errors
/// [`error::Kind::DeviceNotFound`].
pub fn delete(tx: &Tx<'_>, ctx: &Context, device: DeviceId) -> Result<usize> {
    write::delete(tx, ctx, &RESOURCE, device.0)?;
    clients::revoke_of_device(tx, ctx, device)
}

/// The device that a selector means, if the caller may read it: with the role all, otherwise those
/// that the caller's delegate owns through an `own` interaction (contract §9).
///
/// # Errors
/// [`error::Kind::DeviceNotFound`] or [`error::Kind::Forbidden`].
pub fn find_readable(
    connection: &Connection,
    selector: &DeviceSelector,
    caller: &Principal,
) -> Result<DeviceId> {
    let found = find(connection, selector);
    if caller.has(Role::DeviceRead) {
        return found;
    }
    let own = match (found, caller.delegate) {
        (Ok(id), Some(own)) => connection
            .prepare_cached(
                "SELECT 1 FROM interactions
                 WHERE first_delegate_id = ?1 AND first_device_id = ?2 AND interaction_type = ?3",
            )?
            .exists(rusqlite::params![own, id, OWN.name])?
            .then_some(id),
        _ => None,
    };
    own.ok_or_else(|| lacking(&[Role::DeviceRead]))
}
