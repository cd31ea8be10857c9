//! Doors: devices of the type `door` whose living parent is a place. What happens at a door counts as at that place
//! (contract §6); any other device of the type is an ordinary place.

use super::{EVENT, NAME};
use crate::{
    core::{records::Changes, rules::AccessRules},
    db::Tx,
    types::{
        DeviceId,
        error::{Error, Result},
        json::merge_patch,
    },
};
use rusqlite::{Connection, OptionalExtension, types::Value as Sql};
use serde_json::Value;
use std::{collections::HashMap, iter};

/// The type of a door.
pub const DOOR: &str = "door";

/// Joins a door `d` with the place `p` that it is an entrance of, in SQL. The deletion of a door changes nothing for
/// those who came in by it.
macro_rules! joined_with_place {
    () => {
        "d.device_type = 'door' AND p.id = d.parent_id AND p.deleted_at IS NULL
         AND coalesce(p.device_type, '') NOT IN ('event', 'door')"
    };
}
pub(crate) use joined_with_place;

/// Every door of the file, by door and by place.
#[derive(Debug, Default)]
pub struct Doors {
    places: HashMap<DeviceId, DeviceId>,
    doors: HashMap<DeviceId, Vec<DeviceId>>,
}

impl Doors {
    /// Reads all doors.
    pub fn read(connection: &Connection) -> Result<Self> {
        let mut statement = connection.prepare_cached(concat!(
            "SELECT d.id, p.id FROM devices d JOIN devices p ON ",
            joined_with_place!()
        ))?;
        let mut rows = statement.query([])?;
        let mut doors = Self::default();
        while let Some(row) = rows.next()? {
            let (door, place) = (row.get(0)?, row.get(1)?);
            doors.places.insert(door, place);
            doors.doors.entry(place).or_default().push(door);
        }
        Ok(doors)
    }

    /// The place that a device counts for: that of a door, otherwise the device itself.
    pub fn place_of(&self, device: DeviceId) -> DeviceId {
        self.places.get(&device).copied().unwrap_or(device)
    }

    /// A place and its doors, deleted ones included.
    pub fn with_doors(&self, place: DeviceId) -> impl Iterator<Item = DeviceId> {
        let doors = self.doors.get(&place).into_iter().flatten();
        iter::once(place).chain(doors.copied())
    }
}

/// The place that a device is a door of: its number and name.
pub fn place_of_door(connection: &Connection, device: DeviceId) -> Result<Option<(i64, String)>> {
    Ok(connection
        .prepare_cached(&format!(
            "SELECT p.id, coalesce(nullif(p.name, ''), nullif(p.short_name, ''), p.code)
             FROM devices d JOIN devices p ON {} WHERE d.id = ?1",
            joined_with_place!()
        ))?
        .query_row([device], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?)
}

/// Returns whether a device of this type may have doors.
pub fn is_place_of_doors(kind: Option<&str>) -> bool {
    !matches!(kind, Some(EVENT | DOOR))
}

/// Checks that a change leaves a door without rules that count at its place.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`], naming them.
pub fn check(tx: &Tx<'_>, id: Option<i64>, changes: &Changes) -> Result<()> {
    let sent = changes.data.as_ref().and_then(|data| data.get("Access"));
    let moved = [("device_type", "deviceType"), ("parent_id", "parent")]
        .into_iter()
        .find(|(column, _)| changes.get(column).is_some());
    if sent.is_none() && moved.is_none() {
        return Ok(());
    }
    let stored: Option<(Sql, Sql, Option<String>)> = tx
        .prepare_cached("SELECT device_type, parent_id, data FROM devices WHERE id = ?1")?
        .query_row([id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    let (kind, parent, data) = stored.unwrap_or((Sql::Null, Sql::Null, None));
    let kind = changes.get("device_type").unwrap_or(&kind);
    let parent = changes.get("parent_id").unwrap_or(&parent);
    if *kind != Sql::Text(DOOR.to_owned()) {
        return Ok(());
    }
    let Some(place) = place_called(tx, parent)? else {
        return Ok(());
    };
    let data: Value = data
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default();
    let mut access = data.get("Access").cloned().unwrap_or_default();
    if let Some(sent) = sent {
        merge_patch(&mut access, sent.clone());
    }
    let Ok(rules) = AccessRules::parse("data.Access", &access) else {
        return Ok(());
    };
    let names = rules.not_of_doors();
    let is_sent = |name: &&&str| sent.is_some_and(|sent| sent.get(**name).is_some());
    let field = match (names.iter().find(is_sent), moved) {
        (Some(name), _) => format!("data.Access.{name}"),
        (None, Some((_, property))) => property.to_owned(),
        (None, None) => return Ok(()),
    };
    has_none(&names, &place).map_or(Ok(()), |why| Err(Error::field(field, why)))
}

/// Names the rules of a door that count at its place instead, if there are any.
fn has_none(names: &[&str], place: &str) -> Option<String> {
    let (last, others) = names.split_last()?;
    let names = match others {
        [] => (*last).to_owned(),
        others => format!("{} and {last}", others.join(", ")),
    };
    Some(format!(
        "a door has no {names} of its own; set them at its place, {place}"
    ))
}

/// The name of a living device that may have doors.
fn place_called(connection: &Connection, place: &Sql) -> Result<Option<String>> {
    let found = connection
        .prepare_cached(&format!(
            "SELECT {NAME}, device_type FROM devices d WHERE id = ?1 AND deleted_at IS NULL"
        ))?
        .query_row([place], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    Ok(found
        .filter(|(_, kind): &(_, Option<String>)| is_place_of_doors(kind.as_deref()))
        .map(|(name, _)| name))
}

/// Checks that a device that was written, and those that are doors of it now, have no rules that count at the place of
/// a door.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`], naming them.
pub fn check_written(tx: &Tx<'_>, device: DeviceId) -> Result<()> {
    let mut statement = tx.prepare_cached(&format!(
        "SELECT {NAME}, coalesce(nullif(p.name, ''), nullif(p.short_name, ''), p.code), d.data
         FROM devices d JOIN devices p ON {} WHERE (d.id = ?1 OR d.parent_id = ?1) AND d.deleted_at IS NULL",
        joined_with_place!()
    ))?;
    let mut rows = statement.query([device])?;
    while let Some(row) = rows.next()? {
        let (door, place): (String, String) = (row.get(0)?, row.get(1)?);
        let data: Option<String> = row.get(2)?;
        let rules = AccessRules::of_stored(data.as_deref());
        if let Some(why) = has_none(&rules.unwrap_or_default().not_of_doors(), &place) {
            let message = format!("{door} would be a door of {place}, and {why}");
            return Err(Error::field("deviceType", message));
        }
    }
    Ok(())
}
