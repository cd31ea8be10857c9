//! Events: the devices that everything else is joined to, under names of their own (spec: Event;
//! contract §4).

pub mod api;

use crate::{
    core::{
        Context,
        records::{Attachments, Changes, Field, Resource, catalogue::searchable, write},
        search::Subject,
    },
    db::Tx,
    domain::devices::{self, MANAGER},
    identity::clients,
    types::{
        DeviceId, EventSelector, Timestamp, Zone,
        error::{self, Result},
    },
};
use rusqlite::{Connection, OptionalExtension};
use std::sync::{LazyLock, OnceLock};

/// Everything an event has.
pub const FIELDS: &[Field] = &[
    Field::id().about("Never changes; sending it has no effect."),
    Field::record_type().about("Always `event`."),
    Field::text("eventName", "name"),
    Field::code("eventExternalID", "external_id").about("Unique code."),
    Field::plain_time("eventStartAt", "start_at")
        .about("`yyyy-mm-dd hh:mm:ss` in the instance's time zone."),
    Field::plain_time("eventEndAt", "end_at"),
    MANAGER[0],
    MANAGER[1],
    Field::sources().about("Where the record came from."),
    Field::stamp("createdAt", "created_at"),
    Field::stamp("updatedAt", "updated_at"),
];

/// The fields that an event has as a device.
const OF_DEVICE: &[Field] = &[
    Field::reference("parent", "parent_id"),
    Field::code("code", "code"),
    Field::code("publicId", "public_id"),
    Field::code("rfid", "rfid"),
    Field::code("slug", "slug"),
    Field::text("shortName", "short_name"),
    Field::text("description", "description"),
    Field::text("deviceTags", "device_tags"),
    Field::text("category", "category"),
    Field::flag("available", "available"),
    Field::document(),
];

/// The events that can be searched: by their own properties, otherwise as the devices that they are.
pub static SEARCHED: LazyLock<Subject> = LazyLock::new(|| {
    let device = &devices::SEARCHED;
    Subject {
        name: RESOURCE.name,
        table: RESOURCE.table,
        alive: RESOURCE.alive,
        fields: searchable(FIELDS),
        text_index: None,
        kind: None,
        stretches: None,
        document: device.document,
        shared: None,
        counted: Some(devices::counted()),
        statements: true,
        messages: None,
        batches: device.batches,
    }
});

const LISTED_FIELDS: [Field; FIELDS.len() + OF_DEVICE.len()] = Field::joined(FIELDS, OF_DEVICE);

/// Events as lists have them, which are exported and imported: with what they have as devices, by
/// which everything else knows them.
pub static LISTED: Resource = records(&LISTED_FIELDS);

/// Events, as records of the devices' table.
pub static RESOURCE: Resource = records(FIELDS);

const fn records(fields: &'static [Field]) -> Resource {
    Resource {
        name: "event",
        table: "devices",
        alive: "device_type = 'event' AND deleted_at IS NULL",
        alive_index: None,
        fields,
        not_found: error::Kind::EventNotFound,
        check,
        after_write: |_, _, _| Ok(()),
        attach: |_, _, _, _| Ok(Attachments::default()),
        own: OnceLock::new(),
    }
}

fn check(tx: &Tx<'_>, id: Option<i64>, changes: &mut Changes) -> Result<()> {
    if id.is_none() {
        changes.set("device_type", "event".to_owned());
    }
    devices::check(tx, id, changes, ["eventStartAt", "eventEndAt"])
}

/// The id of the living event that a selector means.
///
/// # Errors
/// [`error::Kind::EventNotFound`].
pub fn find(connection: &Connection, selector: &EventSelector) -> Result<DeviceId> {
    let missing = || RESOURCE.missing(&selector.0);
    let id = devices::find(connection, &selector.0).map_err(|cause| match cause.kind {
        error::Kind::DeviceNotFound => missing(),
        _ => cause,
    })?;
    connection
        .prepare_cached("SELECT id FROM devices WHERE id = ?1 AND device_type = 'event'")?
        .query_row([id], |row| row.get(0))
        .optional()?
        .ok_or_else(missing)
}

/// Returns the day of the event that takes place now and the number of its days; of several events, of the first to
/// begin.
pub fn day(connection: &Connection, zone: &Zone, now: Timestamp) -> Result<Option<(i64, i64)>> {
    let mut statement = connection.prepare_cached(
        "SELECT start_at, max(start_at, coalesce(end_at, start_at)) FROM devices
         WHERE device_type = 'event' AND deleted_at IS NULL AND start_at IS NOT NULL ORDER BY start_at",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (start, end): (Timestamp, Timestamp) = (row.get(0)?, row.get(1)?);
        if zone.midnight(start) <= now && now < zone.day(end).1 {
            return Ok(Some((zone.days(start, now) + 1, zone.days(start, end) + 1)));
        }
    }
    Ok(None)
}

/// Deletes an event softly, and shuts out clients that are bound to it, as [`devices::delete`] does.
///
/// # Errors
/// [`error::Kind::EventNotFound`].
pub fn delete(tx: &Tx<'_>, ctx: &Context, event: DeviceId) -> Result<()> {
    write::delete(tx, ctx, &RESOURCE, event.0)?;
    clients::revoke_of_device(tx, ctx, event).map(|_| ())
}
