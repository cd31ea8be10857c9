//! Events: the devices that everything else is joined to, under names of their own (spec: Event;
//! contract §4).

pub mod api;

use crate::{
    core::{
        Context,
        records::{Attachments, Changes, Kind, Property, Resource, catalogue::searchable, write},
        search::Subject,
    },
    db::Tx,
    domain::devices::{self, MANAGER},
    identity::clients,
    types::{
        DeviceId, EventSelector,
        error::{self, Result},
    },
};
use rusqlite::{Connection, OptionalExtension};
use std::sync::{LazyLock, OnceLock};

/// Everything an event has.
#[rustfmt::skip]
pub const PROPERTIES: &[Property] = &[
    Property::new("id", "id", Kind::Id, "Never changes; sending it has no effect."),
    Property::new("_type", "", Kind::Type, "Always `event`."),
    Property::new("eventName", "name", Kind::Text, ""),
    Property::new("eventExternalID", "external_id", Kind::Code, "Unique code."),
    Property::new("eventStartAt", "start_at", Kind::PlainTime, "`yyyy-mm-dd hh:mm:ss` in the instance's time zone."),
    Property::new("eventEndAt", "end_at", Kind::PlainTime, ""),
    MANAGER[0],
    MANAGER[1],
    Property::new("sources", "sources", Kind::Sources, "Where the record came from."),
    Property::new("createdAt", "created_at", Kind::Stamp, ""),
    Property::new("updatedAt", "updated_at", Kind::Stamp, ""),
];

/// What an event has as a device.
#[rustfmt::skip]
const OF_DEVICE: &[Property] = &[
    Property::new("parent", "parent_id", Kind::Reference, ""),
    Property::new("code", "code", Kind::Code, ""),
    Property::new("publicId", "public_id", Kind::Code, ""),
    Property::new("rfid", "rfid", Kind::Code, ""),
    Property::new("slug", "slug", Kind::Code, ""),
    Property::new("shortName", "short_name", Kind::Text, ""),
    Property::new("description", "description", Kind::Text, ""),
    Property::new("deviceTags", "device_tags", Kind::Text, ""),
    Property::new("category", "category", Kind::Text, ""),
    Property::new("available", "available", Kind::Flag, ""),
    Property::new("data", "data", Kind::Document, ""),
];

/// What can be searched: an event by its own properties, otherwise as the device that it is.
pub static SEARCHED: LazyLock<Subject> = LazyLock::new(|| {
    let device = &devices::SEARCHED;
    Subject {
        name: RESOURCE.name,
        table: RESOURCE.table,
        alive: RESOURCE.alive,
        fields: searchable(PROPERTIES, &[]),
        text_index: None,
        beginnings: &[],
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

const LISTED_PROPERTIES: [Property; PROPERTIES.len() + OF_DEVICE.len()] =
    Property::joined(PROPERTIES, OF_DEVICE);

/// Events as lists have them, which are exported and imported: with what they have as devices, by
/// which everything else knows them.
pub static LISTED: Resource = records(&LISTED_PROPERTIES);

/// Events, as records of the devices' table.
pub static RESOURCE: Resource = records(PROPERTIES);

const fn records(properties: &'static [Property]) -> Resource {
    Resource {
        name: "event",
        table: "devices",
        alive: "device_type = 'event' AND deleted_at IS NULL",
        alive_index: None,
        total: None,
        properties,
        not_found: error::Kind::EventNotFound,
        check,
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

/// Deletes an event softly, and shuts out clients that are bound to it, as [`devices::delete`] does.
///
/// # Errors
/// [`error::Kind::EventNotFound`].
pub fn delete(tx: &Tx<'_>, ctx: &Context, event: DeviceId) -> Result<()> {
    write::delete(tx, ctx, &RESOURCE, event.0)?;
    clients::revoke_of_device(tx, ctx, event).map(|_| ())
}
