//! Devices by their names, for lists that call rooms and parents by those. No index has them: they are read once, and
//! followed by the numbers of the audit from then on.

use crate::types::error::Result;
use rusqlite::{Connection, OptionalExtension};
use std::collections::{BTreeSet, HashMap};

const ALL: &str = "SELECT name, id FROM devices WHERE name IS NOT NULL";
const CHANGED: &str = "SELECT name, id FROM devices WHERE name IS NOT NULL AND id IN (
    SELECT record_id FROM audit WHERE id > ?1 AND +record_type IN ('device', 'event')
    UNION ALL SELECT record_id FROM changes WHERE id > ?1 AND +record_type IN ('device', 'event'))";

/// The names of the devices of a file, as of its newest change.
#[derive(Debug, Clone, Default)]
pub(super) struct DeviceNames {
    /// The number of that change; none before they are read.
    newest: Option<i64>,
    /// The ids of devices that have a name, or had it.
    ids: HashMap<String, BTreeSet<i64>>,
}

impl DeviceNames {
    /// Finds the living device of a name, a room before others, and the oldest of several.
    pub fn find(&mut self, connection: &Connection, name: &str) -> Result<Option<i64>> {
        self.catch_up(connection)?;
        let sql = "SELECT device_type IS NOT 'room', id FROM devices
                   WHERE id = ?1 AND name = ?2 AND deleted_at IS NULL";
        let mut statement = connection.prepare_cached(sql)?;
        let ids = self.ids.get(name).into_iter().flatten();
        let look_at = |id: &i64| {
            let found = statement.query_row((id, name), |row| Ok((row.get(0)?, row.get(1)?)));
            found.optional().transpose()
        };
        let found: Vec<(bool, i64)> = ids.filter_map(look_at).collect::<rusqlite::Result<_>>()?;
        Ok(found.into_iter().min().map(|(_, id)| id))
    }

    fn catch_up(&mut self, connection: &Connection) -> Result<()> {
        let sql = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'audit'";
        let newest = connection
            .prepare_cached(sql)?
            .query_row([], |row| row.get(0))?;
        let since = self.newest.replace(newest);
        if since == Some(newest) {
            return Ok(());
        }
        let sql = if since.is_some() { CHANGED } else { ALL };
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query(rusqlite::params_from_iter(since))?;
        while let Some(row) = rows.next()? {
            self.ids.entry(row.get(0)?).or_default().insert(row.get(1)?);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        core::{Context, changes, records::write},
        db::{in_transaction, migrate},
        domain::devices::LISTED,
        types::Timestamp,
    };
    use rusqlite::StatementStatus;
    use serde_json::json;
    use std::sync::Arc;

    #[test]
    fn devices_are_found_by_name_without_a_scan_for_each() {
        let connection = Connection::open_in_memory().unwrap();
        migrate::create(&connection).unwrap();
        // A statement that is prepared anew would count from 0.
        connection.set_prepared_statement_cache_capacity(1_000);
        let ctx = Context::of_command("import", Arc::default());
        let mut names = DeviceNames::default();
        in_transaction(&connection, Timestamp(0), |tx| {
            let body = |name: &str, kind: &str| {
                let body = json!({"name": name, "deviceType": kind});
                body.as_object().cloned().unwrap_or_default()
            };
            let make = |name: &str, kind: &str| {
                let id = write::insert(tx, &ctx, &LISTED, body(name, kind))?;
                changes::note(tx, changes::action::CREATE, LISTED.name, id).map(|_| id)
            };
            let mut find = |name: &str| names.find(tx, name);
            make("Before", "stand")?;
            assert_eq!(find("Hall")?, None);
            let stand = make("Hall", "stand")?;
            assert_eq!(find("Hall")?, Some(stand));
            let room = make("Hall", "room")?;
            make("Hall", "room")?;
            assert_eq!(find("Hall")?, Some(room));
            write::patch(tx, &ctx, &LISTED, room, body("Attic", "room"))?;
            assert_eq!(find("Attic")?, Some(room));
            write::delete(tx, &ctx, &LISTED, room)?;
            assert_eq!((find("Attic")?, find("Hall")?), (None, Some(room + 1)));
            for at in 0..100 {
                let id = make(&format!("Room {at}"), "room")?;
                assert_eq!(find(&format!("Room {at}"))?, Some(id));
            }
            let count = |sql, status| tx.prepare_cached(sql).map(|one| one.get_status(status));
            assert_eq!(count(ALL, StatementStatus::Run)?, 1);
            assert!(count(CHANGED, StatementStatus::Run)? > 100);
            assert_eq!(count(CHANGED, StatementStatus::FullscanStep)?, 0);
            Ok(())
        })
        .unwrap();
    }
}
