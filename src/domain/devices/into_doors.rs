//! Turns places that stand for the entrances of another into doors of it, with the rules that they had, so that no entry
//! rule is lost. It is offered where they look like doors; nothing changes by itself.

use super::{
    RESOURCE,
    doors::{DOOR, is_place_of_doors},
    record::Record,
    tree,
};
use crate::{
    core::{
        Context,
        door_words::is_called_like_a_door,
        reader,
        records::write,
        rules::{AccessRules, Entry},
    },
    db::Tx,
    types::{
        DeviceId,
        error::{Error, Result},
    },
};
use rusqlite::Connection;
use serde_json::{Map, Value, json};

/// Places of one parent that are looked at.
const PLACES_MAX: i64 = tree::PAGE;

/// A place that may be a door of another.
#[derive(Debug, Clone)]
pub struct Candidate {
    pub id: i64,
    pub name: String,
    pub kind: String,
    /// The rules that it sets.
    pub rules: AccessRules,
}

/// The places below another that may be its doors: two or more that have single or daily entry each, or are called like doors.
/// Those with places below, and those whose rules cannot be read, are none.
pub fn candidates(connection: &Connection, place: &Record) -> Result<Vec<Candidate>> {
    let kind = Some(place.kind()).filter(|kind| !kind.is_empty());
    if !is_place_of_doors(kind) || place.deleted_at.is_some() {
        return Ok(Vec::new());
    }
    let mut statement = connection.prepare_cached(
        "SELECT d.id FROM devices d WHERE d.parent_id = ?1 AND d.deleted_at IS NULL
             AND coalesce(d.device_type, '') NOT IN (?2, 'event', 'regoapp', 'mobileapp', 'product', ?3)
             AND NOT EXISTS (SELECT 1 FROM devices c WHERE c.parent_id = d.id AND c.deleted_at IS NULL)
         ORDER BY d.id LIMIT ?4",
    )?;
    let bound = (place.id, DOOR, reader::DEVICE_TYPE, PLACES_MAX);
    let ids = statement.query_map(bound, |row| row.get(0))?;
    let mut found = Vec::new();
    for id in ids.collect::<rusqlite::Result<Vec<i64>>>()? {
        let record = Record::find(connection, id)?;
        let Some(rules) = record.rules() else {
            continue;
        };
        let candidate = Candidate {
            id,
            name: record.name.clone(),
            kind: record.kind().to_owned(),
            rules,
        };
        if candidate.is_likely() {
            found.push(candidate);
        }
    }
    if found.len() < 2 {
        found.clear();
    }
    Ok(found)
}

impl Candidate {
    fn is_likely(&self) -> bool {
        // A session with single entry, or a daily one, is where people go, not the way in.
        is_called_like_a_door(&self.name)
            || self.kind != "session"
                && matches!(self.rules.entry, Some(Entry::Single | Entry::Daily))
    }

    /// Rules that count at a place, as they are stored.
    pub fn counted(&self) -> Map<String, Value> {
        let names = self.rules.not_of_doors();
        match self.rules.to_json() {
            Value::Object(rules) => {
                let counted = rules.into_iter();
                counted
                    .filter(|(name, _)| names.contains(&name.as_str()) || name == "per")
                    .collect()
            }
            _ => Map::new(),
        }
    }
}

/// Makes doors of places in one step. `rules` are what the place gets in their stead, by name; `null` removes one.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`] for a device that is no candidate any more, and for rules that are none.
pub fn turn(
    tx: &Tx<'_>,
    ctx: &Context,
    place: i64,
    doors: &[i64],
    rules: Map<String, Value>,
) -> Result<()> {
    let known = candidates(tx, &Record::find(tx, place)?)?;
    let patch = |id: i64, body: Value| match body {
        Value::Object(body) => write::patch(tx, ctx, &RESOURCE, id, body),
        _ => Ok(()),
    };
    if doors.is_empty() {
        return Err(Error::invalid("choose the places that are doors"));
    }
    patch(place, json!({"data": {"Access": rules}}))?;
    for door in doors {
        let Some(candidate) = known.iter().find(|candidate| candidate.id == *door) else {
            let message = format!("device {} was changed meanwhile", DeviceId(*door));
            return Err(Error::invalid(message));
        };
        let names = candidate.counted();
        let cleared: Map<_, _> = names
            .into_iter()
            .map(|(name, _)| (name, Value::Null))
            .collect();
        let mut body = json!({"deviceType": DOOR});
        if !cleared.is_empty() {
            body["data"] = json!({"Access": cleared});
        }
        patch(*door, body)?;
    }
    Ok(())
}
