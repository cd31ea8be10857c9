//! The names of devices, and the devices to choose from.

use super::{doors::joined_with_place, find};
use crate::{
    core::{reader, texts::say},
    db::Tx,
    types::{
        DeviceId, DeviceSelector,
        error::{Kind, Result},
    },
};
use rusqlite::{Connection, OptionalExtension, Row, ToSql};

/// The name of a device `d`, in SQL; NULL where an outer join found none.
pub const NAME: &str = "coalesce(nullif(d.name, ''), nullif(d.short_name, ''), d.code)";

/// The place of a door `d` and a comma, in front of its own name; empty for any other device.
const PLACE_OF_DOOR: &str = concat!(
    "coalesce((SELECT coalesce(nullif(p.name, ''), nullif(p.short_name, ''), p.code) || ', '
               FROM devices p WHERE ",
    joined_with_place!(),
    "), '')"
);

/// Devices that are offered at the most. A choice to pick from: it decides nothing else.
const OFFERED_MAX: i64 = 10_000;

/// Types of devices that are nothing but an app.
pub const APP_TYPES: [&str; 2] = ["regoapp", "mobileapp"];

/// The name of a device, deleted or not; `None` where it is gone.
pub fn name_of(connection: &Connection, device: DeviceId) -> Result<Option<String>> {
    Ok(connection
        .prepare_cached(&format!("SELECT {NAME} FROM devices d WHERE d.id = ?1"))?
        .query_row([device], |row| row.get(0))
        .optional()?)
}

/// As [`name_of`]; its number where it is gone.
pub fn called(connection: &Connection, device: DeviceId) -> Result<String> {
    Ok(name_of(connection, device)?.unwrap_or_else(|| format!("device {device}")))
}

/// As [`called`]; a door after its place.
pub fn called_at_place(connection: &Connection, device: DeviceId) -> Result<String> {
    let name: Option<String> = connection
        .prepare_cached(&format!(
            "SELECT {PLACE_OF_DOOR} || {NAME} FROM devices d WHERE d.id = ?1"
        ))?
        .query_row([device], |row| row.get(0))
        .optional()?;
    Ok(name.unwrap_or_else(|| format!("device {device}")))
}

/// A device to choose.
#[derive(Debug, Clone)]
pub struct Offer {
    pub id: i64,
    pub code: String,
    /// The name; that of a door after that of its place.
    pub name: String,
    /// Its type; empty where it has none.
    pub kind: String,
}

impl Offer {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: row.get(0)?,
            code: row.get(1)?,
            name: row.get(2)?,
            kind: row.get(3)?,
        })
    }

    /// The name, with the type where it has one.
    pub fn with_type(&self) -> String {
        if self.kind.is_empty() {
            self.name.clone()
        } else {
            format!("{} ({})", self.name, say(&self.kind))
        }
    }

    /// Returns whether people go there.
    pub fn is_place(&self) -> bool {
        is_place(&self.kind)
    }
}

/// Returns whether people go to devices of a type: it is that of neither apps nor readers nor what is sold.
fn is_place(kind: &str) -> bool {
    ![reader::DEVICE_TYPE, "product"].contains(&kind) && !APP_TYPES.contains(&kind)
}

/// Devices that are not deleted, events first, then by name.
pub fn offers(connection: &Connection) -> Result<Vec<Offer>> {
    offered(connection, "", "LIMIT ?1", OFFERED_MAX)
}

/// As [`offers`], those where people go.
pub fn places(connection: &Connection) -> Result<Vec<Offer>> {
    let mut offers = offers(connection)?;
    offers.retain(Offer::is_place);
    Ok(offers)
}

/// As [`offers`], those of some ids.
pub fn offers_of(connection: &Connection, ids: &[DeviceId]) -> Result<Vec<Offer>> {
    let ids = serde_json::json!(ids).to_string();
    let these = "AND d.id IN (SELECT value FROM json_each(?1))";
    offered(connection, these, "", ids)
}

fn offered(
    connection: &Connection,
    and: &str,
    limit: &str,
    bound: impl ToSql,
) -> Result<Vec<Offer>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT d.id, d.code, {PLACE_OF_DOOR} || {NAME} AS called, coalesce(d.device_type, '') FROM devices d
         WHERE d.deleted_at IS NULL {and}
         ORDER BY d.device_type IS NOT 'event', text_folded(called), d.id {limit}"
    ))?;
    let offers = statement.query_map([bound], Offer::read)?;
    Ok(offers.collect::<rusqlite::Result<_>>()?)
}

/// A living place with its unique codes, to be compared with any number of selectors.
pub struct PlaceCodes {
    id: DeviceId,
    /// In the order of [`DeviceCode::ALL`](crate::types::selector::DeviceCode::ALL).
    codes: [Option<String>; 5],
}

impl PlaceCodes {
    /// None where there is no such device any more, or it is no place.
    pub fn find(connection: &Connection, id: DeviceId) -> Result<Option<Self>> {
        let found = connection
            .prepare_cached(
                "SELECT coalesce(device_type, ''), code, public_id, external_id, rfid, slug
                 FROM devices WHERE id = ?1 AND deleted_at IS NULL",
            )?
            .query_row([id], |row| {
                let mut codes = [const { None }; 5];
                for (at, code) in codes.iter_mut().enumerate() {
                    *code = row.get(at + 1)?;
                }
                Ok((row.get::<_, String>(0)?, Self { id, codes }))
            })
            .optional()?;
        Ok(found
            .filter(|(kind, _)| is_place(kind))
            .map(|(_, place)| place))
    }

    /// Tells if a selector means the place.
    pub fn is_meant(&self, connection: &Connection, selector: &str) -> Result<bool> {
        Ok(match DeviceSelector::parse(selector) {
            Ok(DeviceSelector::Id(id)) => id == self.id,
            Ok(DeviceSelector::Code(code, value)) => {
                self.codes[code as usize].as_deref() == Some(&*value)
            }
            Ok(scanned @ DeviceSelector::Scanned(_)) => match find(connection, &scanned) {
                Err(cause) if cause.kind == Kind::DeviceNotFound => false,
                found => found? == self.id,
            },
            Err(_) => false,
        })
    }
}

/// The living device of a code.
pub fn with_code(connection: &Connection, code: &str) -> Result<Option<Offer>> {
    Ok(connection
        .prepare_cached(&format!(
            "SELECT d.id, d.code, {NAME}, coalesce(d.device_type, '') FROM devices d
             WHERE d.code = ?1 AND d.deleted_at IS NULL"
        ))?
        .query_row([code], Offer::read)
        .optional()?)
}

/// Devices whose name or code holds a folded text: those whose name begins with it first, of these the events.
pub fn matching(connection: &Connection, folded: &str, limit: usize) -> Result<Vec<Offer>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT d.id, d.code, {NAME} AS called, coalesce(d.device_type, '') FROM devices d
         WHERE d.deleted_at IS NULL AND (text_contains(d.name, ?1) OR text_contains(d.code, ?1)
               OR text_contains(d.short_name, ?1))
         ORDER BY NOT text_contains(substr({NAME}, 1, length(?1)), ?1),
             d.device_type IS NOT 'event', text_folded(called), d.id LIMIT ?2"
    ))?;
    let offers = statement.query_map((folded, limit), Offer::read)?;
    Ok(offers.collect::<rusqlite::Result<_>>()?)
}

/// The living devices that a text means: of this id or this code, otherwise of this name, two at the
/// most.
pub fn find_typed(connection: &Connection, id: &str, typed: &str) -> Result<Vec<i64>> {
    let find = |sql: &str, wanted: &str| -> Result<Vec<i64>> {
        let mut statement = connection.prepare_cached(sql)?;
        let ids = statement.query_map([wanted], |row| row.get(0))?;
        Ok(ids.collect::<rusqlite::Result<_>>()?)
    };
    for (sql, wanted) in [
        (
            "SELECT id FROM devices WHERE id = CAST(?1 AS INTEGER) AND CAST(id AS TEXT) = ?1
             AND deleted_at IS NULL",
            id,
        ),
        (
            "SELECT id FROM devices WHERE code = ?1 AND deleted_at IS NULL",
            typed,
        ),
    ] {
        let found = find(sql, wanted)?;
        if !found.is_empty() {
            return Ok(found);
        }
    }
    find(
        "SELECT id FROM devices WHERE name = ?1 COLLATE NOCASE AND deleted_at IS NULL LIMIT 2",
        typed,
    )
}

/// Places that an upgrade closed to people who are not registered, until [`forget_closed`].
pub fn closed_by_upgrade(connection: &Connection) -> Result<Vec<(i64, String)>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT d.id, {NAME} FROM closed_by_upgrade c
         JOIN devices d ON d.id = c.device_id WHERE d.deleted_at IS NULL ORDER BY d.id LIMIT 50"
    ))?;
    let places = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(places.collect::<rusqlite::Result<_>>()?)
}

/// An administrator has seen what the upgrade closed.
pub fn forget_closed(tx: &Tx<'_>) -> Result<usize> {
    Ok(tx.execute("DELETE FROM closed_by_upgrade", [])?)
}

/// Places that others may be in, at the most.
const HOLDERS_MAX: i64 = 200;

/// Places that others may be in, events first: neither sessions nor doors, stands, products or devices. One of them
/// always is `chosen`, if it is there.
pub fn holders(connection: &Connection, chosen: Option<i64>) -> Result<Vec<Offer>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT d.id, d.code, {NAME} AS called, coalesce(d.device_type, '') FROM devices d
         WHERE d.deleted_at IS NULL AND (d.id = ?1 OR coalesce(d.device_type, '') NOT IN
               ('session', 'door', 'entrance', 'sponsor', 'product', 'bookable', 'rfidreader', 'regoapp', 'mobileapp'))
         ORDER BY d.id IS NOT ?1, d.device_type IS NOT 'event', text_folded(called), d.id LIMIT ?2"
    ))?;
    let holders = statement.query_map((chosen, HOLDERS_MAX), Offer::read)?;
    Ok(holders.collect::<rusqlite::Result<_>>()?)
}

/// The event that was made last.
pub fn newest_event(connection: &Connection) -> Result<Option<i64>> {
    Ok(connection
        .prepare_cached(
            "SELECT max(id) FROM devices WHERE device_type = 'event' AND deleted_at IS NULL",
        )?
        .query_row([], |row| row.get(0))?)
}
