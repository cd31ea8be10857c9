//! Numbers that outlive a restart: counters by name (`schema.sql` lists them), how many people are inside
//! each place, and ids of interactions, none of which is ever given twice: a resend, a webhook or an export
//! may still name one that was deleted.
//!
//! SQLite's AUTOINCREMENT does the same, but looks the last id up and writes it with every row, for some
//! eight thousand instructions. Here it is done once a transaction, in the same table
//! (`sqlite_sequence`).

use crate::types::{
    DeviceId, Timestamp,
    error::{Error, Result},
};
use rusqlite::{Connection, OptionalExtension};
use std::cell::Cell;

/// The value of a counter; `None` where none was ever set.
pub fn get(connection: &Connection, name: &str) -> Result<Option<i64>> {
    Ok(connection
        .prepare_cached("SELECT value FROM counters WHERE name = ?1")?
        .query_row([name], |row| row.get(0))
        .optional()?)
}

/// Sets a counter.
pub fn set(connection: &Connection, name: &str, value: i64) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO counters (name, value) VALUES (?1, ?2)
             ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        )?
        .execute((name, value))?;
    Ok(())
}

/// Has all who are inside be counted anew, now or at the next start.
pub fn have_people_counted(connection: &Connection) -> Result<()> {
    let moves = get(connection, "moves")?.unwrap_or_default();
    set(connection, "moves", moves + 1)
}

/// Delegates inside a device now.
pub fn people(connection: &Connection, device: DeviceId) -> Result<i64> {
    let inside = connection
        .prepare_cached("SELECT inside FROM occupancy WHERE device_id = ?1")?
        .query_row([device], |row| row.get(0))
        .optional()?;
    Ok(inside.unwrap_or(0))
}

/// Adds to how many delegates are inside a device.
pub(super) fn add_people(connection: &Connection, device: DeviceId, more: i64) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO occupancy (device_id, inside) VALUES (?1, ?2)
             ON CONFLICT (device_id) DO UPDATE SET inside = inside + ?2",
        )?
        .execute((device, more))?;
    Ok(())
}

/// The counter of the position that was given last in the order of events.
const ORDER: &str = "order";

/// The ids that a transaction gives.
#[derive(Debug, Default)]
pub(super) struct Ids {
    /// The last one; unknown until one is asked for.
    last: Cell<Option<i64>>,
    /// The last position in the order of events; unknown until one is asked for.
    order_at: Cell<Option<i64>>,
}

impl Ids {
    /// The next one. It is used up, be what it was for undone.
    pub fn next(&self, connection: &Connection) -> Result<i64> {
        let next = self
            .newest(connection)?
            .checked_add(1)
            .ok_or_else(|| Error::unavailable("there is no id left for an interaction"))?;
        self.last.set(Some(next));
        Ok(next)
    }

    /// The newest one by now, with those of this transaction.
    pub fn newest(&self, connection: &Connection) -> Result<i64> {
        match self.last.get() {
            Some(last) => Ok(last),
            None => newest_interaction(connection),
        }
    }

    /// A position in the order of events for what arrives `now`.
    pub fn arrival(&self, connection: &Connection, now: Timestamp) -> Result<Timestamp> {
        let last = match self.order_at.get() {
            Some(last) => last,
            None => get(connection, ORDER)?.unwrap_or_default(),
        };
        let next = last.max(now.0);
        self.order_at.set(Some(next));
        Ok(Timestamp(next))
    }

    /// Writes down what was given; to be called before the transaction is committed.
    pub fn keep(&self, connection: &Connection) -> Result<()> {
        let Some(last) = self.last.get() else {
            return Ok(());
        };
        let changed = connection
            .prepare_cached("UPDATE sqlite_sequence SET seq = ?1 WHERE name = 'interactions'")?
            .execute([last])?;
        if changed == 0 {
            connection.execute(
                "INSERT INTO sqlite_sequence (name, seq) VALUES ('interactions', ?1)",
                [last],
            )?;
        }
        match self.order_at.get() {
            Some(order_at) => set(connection, ORDER, order_at),
            None => Ok(()),
        }
    }
}

/// The id of the newest interaction, be it deleted since; 0 when there was none.
pub fn newest_interaction(connection: &Connection) -> Result<i64> {
    Ok(connection
        .prepare_cached(
            "SELECT max(coalesce((SELECT max(id) FROM interactions), 0),
                        coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'interactions'), 0))",
        )?
        .query_row([], |row| row.get(0))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::{Tx, in_transaction, migrate};

    fn add(tx: &Tx<'_>) -> Result<i64> {
        let id = tx.new_interaction_id()?;
        tx.execute(
            "INSERT INTO interactions (id, interaction_type, recorded_at, created_at)
             VALUES (?1, 'x', 0, 0)",
            [id],
        )?;
        Ok(id)
    }

    #[test]
    fn an_id_is_never_given_twice() {
        let file = Connection::open_in_memory().unwrap();
        migrate::create(&file).unwrap();
        let run = |work: &dyn Fn(&Tx<'_>) -> Result<i64>| in_transaction(&file, Timestamp(1), work);
        assert_eq!(run(&|tx| add(tx).and(add(tx))).unwrap(), 2);
        file.execute("DELETE FROM interactions", []).unwrap();
        assert_eq!(run(&add).unwrap(), 3, "after the newest was deleted");
        let undone = |tx: &Tx<'_>| {
            let failed: Result<i64> = tx.nested(|tx| {
                add(tx)?;
                Err(Error::invalid("undone"))
            });
            assert!(failed.is_err());
            add(tx)
        };
        assert_eq!(run(&undone).unwrap(), 5, "after one was undone");
        file.execute("DELETE FROM interactions WHERE id = 5", [])
            .unwrap();
        assert!(run(&|tx| add(tx).and(Err(Error::invalid("all undone")))).is_err());
        assert_eq!(newest_interaction(&file).unwrap(), 5);
        // By somebody else, with SQLite's own id.
        file.execute_batch(
            "INSERT INTO interactions (interaction_type, recorded_at, created_at) VALUES ('x', 0, 0),
             ('x', 0, 0), ('x', 0, 0)",
        )
        .unwrap();
        assert_eq!(run(&add).unwrap(), 7, "three rows after 3, and one more");
    }
}
