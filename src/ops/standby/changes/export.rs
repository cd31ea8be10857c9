//! The changes of a machine since a mark, as lines of JSON.

use super::{Line, Record, Scan, position};
use crate::{
    core::{
        changes::{self, What},
        records::{Resource, Selection},
        standby::Standby,
    },
    db::{counters, usage::FILE},
    domain::{delegates, devices, interactions::rows},
    types::{
        Zone,
        error::{Error, Result},
    },
};
use rusqlite::{Connection, OptionalExtension};
use serde_json::{Map, Value};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    io::Write,
};

/// Changes read at a time.
const SLICE: usize = 500;

/// Writes the changes since a mark; how many lines.
pub fn export(
    connection: &Connection,
    since: i64,
    zone: &Zone,
    out: &mut impl Write,
) -> Result<usize> {
    let found = Standby::find(connection)?;
    let epoch = found.map_or(0, |found| found.epoch);
    let from = position(connection, since)?;
    let mut nonces = nonces_after(connection, from.interaction)?;
    let (mut lines, mut records, mut left_out) = (Vec::new(), BTreeSet::new(), BTreeMap::new());
    let mut to = from;
    loop {
        let read = changes::read(connection, to, SLICE)?;
        for change in &read.changes {
            to = change.to;
            match &change.what {
                What::Recorded(recorded) => {
                    lines.extend(recorded_line(connection, recorded.id, &mut nonces)?);
                }
                What::Changed(changed) => match (changed.record_type.as_str(), changed.record) {
                    ("interaction", Some(id)) if id <= from.interaction => {
                        if rows::find_stored(connection, id)?.is_none() {
                            lines.push(Line::Deleted { id });
                        }
                    }
                    ("interaction", _) => {}
                    ("delegate", Some(id)) => _ = records.insert((1, id)),
                    ("device" | "event", Some(id)) => _ = records.insert((0, id)),
                    (other, _) => *left_out.entry(other.to_owned()).or_insert(0) += 1,
                },
            }
        }
        if !read.more {
            break;
        }
    }
    let mut file = vec![Line::Changes {
        file: counters::get(connection, FILE)?.unwrap_or_default(),
        epoch,
        from: since,
        left_out,
    }];
    for (kind, id) in records {
        file.push(match kind {
            0 => Line::Device(record_state(connection, &devices::RESOURCE, id, zone)?),
            _ => Line::Delegate(record_state(connection, &delegates::RESOURCE, id, zone)?),
        });
    }
    file.extend(lines);
    file.extend(waiting(connection)?.into_iter().map(Line::Recorded));
    for line in &file {
        let text = serde_json::to_string(line).map_err(Error::defect)?;
        writeln!(out, "{text}").map_err(Error::invalid_cause)?;
    }
    Ok(file.len() - 1)
}

type Nonces = HashMap<i64, (i64, String, [u8; 16])>;

fn nonces_after(connection: &Connection, interaction: i64) -> Result<Nonces> {
    let mut statement =
        connection.prepare("SELECT interaction_id, client_id, nonce, fingerprint FROM nonces WHERE interaction_id > ?1")?;
    let found = statement.query_map([interaction], |row| {
        Ok((row.get(0)?, (row.get(1)?, row.get(2)?, row.get(3)?)))
    })?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

fn recorded_line(connection: &Connection, id: i64, nonces: &mut Nonces) -> Result<Option<Line>> {
    let Some(found) = rows::find(connection, id)? else {
        return Ok(None);
    };
    let (client, user) = connection
        .prepare_cached("SELECT client_id, user_id FROM interactions WHERE id = ?1")?
        .query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let named = |table: &str, id: Option<i64>| public_id(connection, table, id);
    let mut delegates = [None, None, None];
    let mut places = [None, None, None];
    for at in 0..3 {
        delegates[at] = named("delegates", found.delegates[at].map(|id| id.0))?;
        places[at] = named("devices", found.devices[at].map(|id| id.0))?;
    }
    let nonce = nonces.remove(&id);
    Ok(Some(Line::Recorded(Scan {
        id,
        kind: found.kind,
        delegates,
        devices: places,
        data: found.data,
        recorded_at: found.recorded_at.0,
        client,
        user,
        fingerprint: nonce.as_ref().map(|(_, _, fingerprint)| *fingerprint),
        nonce: nonce.map(|(_, nonce, _)| nonce),
    })))
}

/// Scans that wait for somebody who has their code.
fn waiting(connection: &Connection) -> Result<Vec<Scan>> {
    let mut statement = connection.prepare(
        "SELECT -r.id, interaction_type, delegate, device_id, data, recorded_at, r.client_id, user_id, r.nonce, n.fingerprint
         FROM refusals r LEFT JOIN nonces n ON n.client_id = r.client_id AND n.nonce = r.nonce
         WHERE admitted = 1 ORDER BY r.id",
    )?;
    let found = statement.query_map([], |row| {
        let place: Option<i64> = row.get(3)?;
        Ok((
            place,
            Scan {
                id: row.get(0)?,
                kind: row.get(1)?,
                delegates: [row.get(2)?, None, None],
                devices: [None, None, None],
                data: row.get(4)?,
                recorded_at: row.get(5)?,
                client: row.get(6)?,
                user: row.get(7)?,
                nonce: row.get(8)?,
                fingerprint: row.get(9)?,
            },
        ))
    })?;
    let found: Vec<_> = found.collect::<rusqlite::Result<_>>()?;
    found
        .into_iter()
        .map(|(place, mut scan)| {
            scan.devices[0] = public_id(connection, "devices", place)?;
            Ok(scan)
        })
        .collect()
}

/// A record as a selector that means the same on another machine.
fn public_id(connection: &Connection, table: &str, id: Option<i64>) -> Result<Option<String>> {
    let Some(id) = id else {
        return Ok(None);
    };
    let sql = format!("SELECT public_id FROM {table} WHERE id = ?1");
    let known: Option<Option<String>> = connection
        .prepare_cached(&sql)?
        .query_row([id], |row| row.get(0))
        .optional()?;
    Ok(Some(known.flatten().map_or_else(
        || format!("id:{id}"),
        |code| format!("publicId:{code}"),
    )))
}

fn record_state(
    connection: &Connection,
    resource: &'static Resource,
    id: i64,
    zone: &Zone,
) -> Result<Record> {
    let sql = format!("SELECT public_id FROM {} WHERE id = ?1", resource.table);
    let known: Option<Option<String>> = connection
        .prepare_cached(&sql)?
        .query_row([id], |row| row.get(0))
        .optional()?;
    let json = Selection::own(resource).one(connection, "id", &id, zone)?;
    let mut properties = json
        .map(|json| serde_json::from_str::<Map<String, Value>>(&json))
        .transpose()
        .map_err(Error::defect)?;
    if let Some(property) = &mut properties {
        for field in resource.references() {
            if let Some(to) = property.get_mut(field.name)
                && let Some(target) = public_id(connection, resource.table, to["id"].as_i64())?
            {
                *to = target.into();
            }
        }
    }
    Ok(Record {
        id,
        is_erased: known.is_none(),
        public_id: known.flatten(),
        properties,
    })
}
