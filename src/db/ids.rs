//! Ids of interactions, none of which is ever given twice: a resend, a webhook or an export may still
//! speak of one that was deleted.
//!
//! SQLite's AUTOINCREMENT does the same, but looks the last id up and writes it with every row, for some
//! eight thousand instructions. Here it is done once a transaction, in the same table
//! (`sqlite_sequence`).

use super::counters;
use crate::types::{
    Timestamp,
    error::{Error, Result},
};
use rusqlite::Connection;
use std::cell::Cell;

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
            None => counters::get(connection, ORDER)?.unwrap_or_default(),
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
            Some(order_at) => counters::set(connection, ORDER, order_at),
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
