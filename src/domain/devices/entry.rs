//! Which types of attendees may enter each place, and when: what a place sets itself, and what it has from above.

use super::{APP_TYPES, NAME, RESOURCE};
use crate::{
    core::{Context, reader, records::write, rules::AccessRules},
    db::Tx,
    types::{
        DeviceId,
        error::{Error, Result},
    },
};
use rusqlite::{Connection, OptionalExtension, Row};
use serde_json::{Value, json};
use std::collections::HashMap;

/// Places that are looked through at the most.
const LOOKED_AT: i64 = 10_000;
/// Places above a place that are looked at.
const DEPTH_MAX: usize = 64;

/// A place with its rules for types of attendees.
#[derive(Debug, Clone)]
pub struct EntryRow {
    pub id: DeviceId,
    pub name: String,
    /// Its type; empty where it has none.
    pub kind: String,
    /// The levels below the first place of the list.
    pub depth: usize,
    /// The rules that it sets; `None` where they cannot be read.
    pub own: Option<AccessRules>,
    /// The rules that it would have without its own; `None` where those above cannot be read.
    pub inherited: Option<AccessRules>,
}

impl EntryRow {
    /// The rules in force; `None` where they cannot be read.
    pub fn rules(&self) -> Option<AccessRules> {
        below(self.own.as_ref(), self.inherited.as_ref())
    }

    /// Returns whether it says itself which types may enter.
    pub fn is_own(&self) -> bool {
        self.own.as_ref().is_some_and(AccessRules::states_types)
    }

    /// The rules that a form was begun on.
    pub fn seen(&self) -> Value {
        let types = |rules: &Option<AccessRules>| {
            let rules = rules.as_ref().map(AccessRules::to_json);
            rules.map(|rules| json!([rules["types"], rules["typeTimes"]]))
        };
        json!([types(&self.own), types(&self.inherited)])
    }
}

/// The rules of a place for those below it.
fn below(own: Option<&AccessRules>, inherited: Option<&AccessRules>) -> Option<AccessRules> {
    let mut rules = own?.clone();
    if !rules.states_types() {
        rules.inherit_types(inherited?);
    }
    Some(rules)
}

struct Known {
    id: i64,
    parent: Option<i64>,
    name: String,
    kind: String,
    own: Option<AccessRules>,
}

impl Known {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let data = row.get_ref(4)?.as_str_or_null();
        Ok(Self {
            id: row.get(0)?,
            parent: row.get(1)?,
            name: row.get(2)?,
            kind: row.get(3)?,
            own: data.ok().and_then(AccessRules::of_stored),
        })
    }

    fn with(self, depth: usize, inherited: Option<AccessRules>) -> EntryRow {
        EntryRow {
            id: DeviceId(self.id),
            name: self.name,
            kind: self.kind,
            depth,
            own: self.own,
            inherited,
        }
    }

    fn is_place(&self) -> bool {
        self.kind != reader::DEVICE_TYPE && !APP_TYPES.contains(&&*self.kind)
    }
}

/// Living devices, each with the one that it belongs to if that lives.
fn select() -> String {
    format!(
        "SELECT d.id, p.id, {NAME} AS called, coalesce(d.device_type, ''), d.data
         FROM devices d LEFT JOIN devices p ON p.id = d.parent_id AND p.deleted_at IS NULL
         WHERE d.deleted_at IS NULL"
    )
}

/// One place.
///
/// # Errors
/// [`crate::types::error::Kind::DeviceNotFound`].
pub fn row(connection: &Connection, id: DeviceId, default: &AccessRules) -> Result<EntryRow> {
    let mut statement = connection.prepare_cached(&format!("{} AND d.id = ?1", select()))?;
    let mut path: Vec<Known> = Vec::new();
    let mut next = Some(id.0);
    while let Some(at) = next.filter(|_| path.len() < DEPTH_MAX) {
        let known = statement.query_row([at], Known::read).optional()?;
        let known = known.ok_or_else(|| RESOURCE.missing(&at))?;
        next = known.parent;
        path.push(known);
    }
    let mut inherited = Some(default.clone());
    for above in path.iter().skip(1).rev() {
        inherited = below(above.own.as_ref(), inherited.as_ref());
    }
    let place = path.into_iter().next();
    let place = place.ok_or_else(|| RESOURCE.missing(&id))?;
    Ok(place.with(0, inherited))
}

/// Every place, each before those below it.
pub fn rows(connection: &Connection, default: &AccessRules) -> Result<Vec<EntryRow>> {
    let mut statement = connection.prepare_cached(&format!(
        "{} ORDER BY d.device_type IS NOT 'event', coalesce(d.start_at, 0), text_folded(called), d.id LIMIT ?1",
        select()
    ))?;
    let known = statement.query_map([LOOKED_AT], Known::read)?;
    let known = known.collect::<rusqlite::Result<Vec<_>>>()?;
    let mut children: HashMap<Option<i64>, Vec<Known>> = HashMap::new();
    for one in known.into_iter().rev().filter(Known::is_place) {
        children.entry(one.parent).or_default().push(one);
    }
    let mut rows = Vec::new();
    let top = children.remove(&None).unwrap_or_default().into_iter();
    let mut waiting: Vec<_> = top.map(|one| (0, one, Some(default.clone()))).collect();
    while let Some((depth, one, inherited)) = waiting.pop() {
        let row = one.with(depth, inherited);
        let rules = row.rules();
        let below = children.remove(&Some(row.id.0)).unwrap_or_default();
        waiting.extend(
            below
                .into_iter()
                .map(|child| (depth + 1, child, rules.clone())),
        );
        rows.push(row);
    }
    Ok(rows)
}

/// A place and those below it, of all places.
///
/// # Errors
/// [`crate::types::error::Kind::DeviceNotFound`].
pub fn with_below(rows: &[EntryRow], id: DeviceId) -> Result<&[EntryRow]> {
    let first = rows.iter().position(|row| row.id == id);
    let first = first.ok_or_else(|| RESOURCE.missing(&id))?;
    let below = rows[first + 1..].iter();
    let below = below.take_while(|row| row.depth > rows[first].depth);
    Ok(&rows[first..=first + below.count()])
}

/// Sets which types may enter a place, and when; `None` takes a rule away.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`] for a list that is none.
pub fn set(
    tx: &Tx<'_>,
    ctx: &Context,
    id: DeviceId,
    types: Option<Value>,
    times: Option<Value>,
) -> Result<()> {
    let access = json!({"types": types, "typeTimes": times});
    let Value::Object(body) = json!({"data": {"Access": access}}) else {
        return Err(Error::defect("a patch is an object"));
    };
    write::patch(tx, ctx, &RESOURCE, id.0, body)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(value: Value) -> Option<AccessRules> {
        AccessRules::parse("rules", &value).ok()
    }

    #[test]
    fn types_and_times_come_together_from_the_nearest_that_says_either() {
        let crew = rules(json!({"types": ["Crew"]}));
        let late =
            rules(json!({"typeTimes": [{"types": ["VIP"], "from": "18:00", "until": "22:00"}]}));
        let none = rules(json!({"capacity": 3}));
        let shown = |rules: Option<AccessRules>| {
            let json = rules.map(|rules| rules.to_json());
            json.map(|json| json!([json["types"], json["typeTimes"].is_array()]))
        };
        for (own, inherited, expected) in [
            (&none, &crew, Some(json!([["Crew"], false]))),
            (&late, &crew, Some(json!([null, true]))),
            (&none, &none, Some(json!([null, false]))),
            (&None, &crew, None),
            (&none, &None, None),
            (&crew, &None, Some(json!([["Crew"], false]))),
        ] {
            assert_eq!(shown(below(own.as_ref(), inherited.as_ref())), expected);
        }
    }
}
