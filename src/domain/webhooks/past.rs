//! Records as they were. A receiver that was away for many changes of one record gets each of them from the
//! one before, in one step, and not by a walk back from what the record is now.

use super::content::Teller;
use crate::{
    core::{
        audit::{HistoryOf, Past, Properties},
        records::{Kind, Resource, Selection},
    },
    domain::{delegates, devices, erasure::noted, events},
    types::{Timestamp, Zone, error::Result},
};
use rusqlite::Connection;
use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// So much is held of records; with more it begins anew.
const HELD_MAX_BYTES: usize = 8 * 1024 * 1024;

/// A webhook, the table of a record, and the record.
type Key = (i64, &'static str, i64);

/// The records that webhooks told of last and that had changed since, as they told of them.
#[derive(Default)]
pub struct Pasts(Mutex<Held>);

#[derive(Default)]
struct Held {
    pasts: HashMap<Key, Past>,
    bytes: usize,
    /// The number of people erased so far. What is held may quote the next one.
    erasures: i64,
}

impl Pasts {
    /// A delegate, device or event after a change that was made at a time; `None` where that went with a
    /// rehearsal.
    pub fn state(
        &self,
        teller: &Teller<'_>,
        name: &str,
        record: i64,
        (change, at): (i64, Timestamp),
    ) -> Result<Option<String>> {
        let Teller {
            connection, zone, ..
        } = *teller;
        let resource = resource(name);
        if is_rehearsed(connection, change)? {
            return Ok(None);
        }
        let key = (teller.webhook.0, resource.table, record);
        let erasures = noted::count(connection)?;
        let mut past = match self.held().get(key, erasures) {
            Some(past) => past,
            None => Past::now(Selection::own(resource).one(connection, "id", &record, zone)?),
        };
        let of = HistoryOf {
            types: match resource.table {
                "devices" => ["device", "event"],
                _ => [resource.name; 2],
            },
            table: resource.table,
            id: record,
        };
        let renamed = |record_type: &str, said| renamed(resource, record_type, said, zone);
        let passed = past.go_to(connection, of, (change, &zone.iso(at)), &renamed)?;
        if passed > 0 {
            self.held().keep(key, past.clone());
        }
        Ok(past.state)
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    fn get(&mut self, key: Key, erasures: i64) -> Option<Past> {
        if self.erasures != erasures {
            *self = Self {
                erasures,
                ..Self::default()
            };
        }
        self.pasts.get(&key).cloned()
    }

    fn keep(&mut self, key: Key, past: Past) {
        let bytes = |past: &Past| past.state.as_ref().map_or(0, String::len);
        if self.bytes + bytes(&past) > HELD_MAX_BYTES {
            self.pasts.clear();
            self.bytes = 0;
        }
        self.bytes += bytes(&past);
        let before = self.pasts.insert(key, past);
        self.bytes -= before.as_ref().map_or(0, bytes);
    }
}

fn resource(name: &str) -> &'static Resource {
    match name {
        "delegate" => &delegates::RESOURCE,
        "event" => &events::RESOURCE,
        _ => &devices::RESOURCE,
    }
}

/// Returns whether a delegate, device or event is in the file no more, not even as a deleted one.
pub fn is_gone(connection: &Connection, name: &str, record: i64) -> Result<bool> {
    let sql = format!("SELECT 1 FROM {} WHERE id = ?1", resource(name).table);
    Ok(!connection.prepare_cached(&sql)?.exists([record])?)
}

/// Returns whether a change was of a rehearsal that ended, or from before one.
fn is_rehearsed(connection: &Connection, change: i64) -> Result<bool> {
    Ok(connection
        .prepare_cached(
            "SELECT 1 FROM audit WHERE record_type = 'rehearsal' AND action = 'restore' AND id > ?1",
        )?
        .exists([change])?)
}

/// Returns what an entry of the audit says, under the names of a resource: an event may have been changed as the device
/// that it is, and the other way round.
fn renamed(
    resource: &'static Resource,
    record_type: &str,
    said: Properties,
    zone: &Zone,
) -> Properties {
    let source = match record_type {
        "delegate" => &delegates::RESOURCE,
        "event" => &events::LISTED,
        _ => &devices::LISTED,
    };
    let known = said.into_iter().filter_map(|(name, value)| {
        let from = source.property(&name)?;
        let mut fields = resource.fields.iter();
        let to = fields.find(|to| match from.kind {
            Kind::Type => to.kind == Kind::Type,
            _ => to.column == from.column,
        })?;
        let value = match (from.kind, to.kind) {
            (Kind::Type, _) => resource.name.into(),
            (Kind::Time, Kind::PlainTime) => zone.plain(zone.read(&name, &value).ok()?).into(),
            (Kind::PlainTime, Kind::Time) => zone.iso(zone.read(&name, &value).ok()?).into(),
            _ => value,
        };
        Some((to.name.to_owned(), value))
    });
    known.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        core::records::Expansion,
        db::{connection::steps_of, migrate},
    };

    /// Steps of SQLite's machine for telling of every change of a record that has so many, one after the
    /// other, as a receiver gets them that was away.
    fn steps(changes: i64) -> u64 {
        let connection = Connection::open_in_memory().unwrap();
        migrate::create(&connection).unwrap();
        connection
            .execute_batch(&format!(
                "INSERT INTO delegates (id, public_id, first_name, company, sources, created_at, updated_at)
                     VALUES (7, 'p', 'n{changes}', 'Engines', '[]', 0, {changes});
                 WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {changes})
                 INSERT INTO audit (id, at, actor, action, record_type, record_id, before, after)
                 SELECT i, i, 'cli', 'update', 'delegate', 7, json_object('firstName', 'n' || (i - 1)),
                     json_object('firstName', 'n' || i) FROM n"
            ))
            .unwrap();
        let (pasts, zone) = (Pasts::default(), Zone::default());
        let teller = Teller {
            connection: &connection,
            webhook: (1, "uid"),
            zone: &zone,
            now: Timestamp(0),
            pasts: &pasts,
            expansion: &Expansion::default(),
        };
        steps_of(&connection, || {
            for change in 1..=changes {
                let told = pasts.state(&teller, "delegate", 7, (change, Timestamp(change)));
                let told = told.unwrap().expect("a state");
                let name = format!("\"firstName\":\"n{change}\"");
                assert!(
                    told.contains(&name) && told.contains("Engines"),
                    "{change}: {told}"
                );
            }
        })
    }

    #[test]
    fn ten_times_as_many_changes_cost_ten_times_as_much() {
        let (few, many) = (steps(200), steps(2_000));
        assert!(many < few * 12, "{few} steps for 200, {many} for 2,000");
    }

    #[test]
    fn what_is_held_is_bounded_and_begins_anew_with_an_erasure() {
        let mut held = Held::default();
        let past = Past::now(Some("x".repeat(HELD_MAX_BYTES / 4)));
        for record in 0..100 {
            held.keep((1, "delegates", record), past.clone());
            held.keep((1, "delegates", record), past.clone());
            assert!(held.bytes <= HELD_MAX_BYTES);
            assert_eq!(held.bytes, held.pasts.len() * HELD_MAX_BYTES / 4);
        }
        assert!(held.get((1, "delegates", 99), 0).is_some());
        assert!(held.get((1, "delegates", 99), 1).is_none());
    }
}
