//! How many delegates and interactions there are, without counting them: a page of a list tells it
//! each time, and a million rows take thirty milliseconds to count.
//!
//! And how many people are inside a place (`occupancy`), which check-ins count up and down.
//!
//! Triggers keep the table up with everything but new interactions: a gate's write has no time for one.
//! Those are added once a transaction (`keep`), and what was not yet is counted by who asks.

use super::Tx;
use crate::types::{DeviceId, error::Result};
use rusqlite::{Connection, OptionalExtension};

/// How many delegates there are that are not deleted.
pub fn delegates(connection: &Connection) -> Result<u64> {
    told(connection, "SELECT delegates FROM totals")
}

/// How many interactions there are.
pub fn interactions(connection: &Connection) -> Result<u64> {
    told(
        connection,
        "SELECT interactions + (SELECT count(*) FROM interactions WHERE id > counted_to) FROM totals",
    )
}

fn told(connection: &Connection, sql: &str) -> Result<u64> {
    Ok(connection
        .prepare_cached(sql)?
        .query_row([], |row| row.get(0))?)
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

/// The position that was given last in the order of events.
pub(super) fn last_order(connection: &Connection) -> Result<i64> {
    let last = connection
        .prepare_cached("SELECT order_at FROM totals")?
        .query_row([], |row| row.get(0))
        .optional()?;
    Ok(last.unwrap_or_default())
}

/// Adds the interactions up to the id `last`, the newest of this transaction, and notes the position
/// that was given last in the order of events.
pub(super) fn keep(connection: &Connection, last: i64, order_at: Option<i64>) -> Result<()> {
    connection
        .prepare_cached(
            "UPDATE totals SET counted_to = ?1, order_at = max(order_at, coalesce(?2, 0)),
                 interactions = interactions + (SELECT count(*) FROM interactions WHERE id > counted_to)",
        )?
        .execute((last, order_at))?;
    Ok(())
}

/// By how much the totals are off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Drift {
    /// Delegates told too many.
    pub delegates: i64,
    /// Interactions told too many.
    pub interactions: i64,
}

/// By how much the totals are off against the rows. What is written meanwhile does not change that. To
/// be called on one state of the file.
pub fn drift(connection: &Connection) -> Result<Drift> {
    Ok(connection.query_row(
        "SELECT coalesce((SELECT delegates FROM totals), 0)
                - (SELECT count(*) FROM delegates WHERE deleted_at IS NULL),
                coalesce((SELECT interactions FROM totals), 0)
                - (SELECT count(*) FROM interactions WHERE id <= coalesce((SELECT counted_to FROM totals), id))",
        [],
        |row| {
            Ok(Drift {
                delegates: row.get(0)?,
                interactions: row.get(1)?,
            })
        },
    )?)
}

/// Takes back by how much the totals are off, and makes them where they are gone.
pub fn correct(tx: &Tx<'_>, off: Drift) -> Result<()> {
    let corrected = tx.execute(
        "UPDATE totals SET delegates = delegates - ?1, interactions = interactions - ?2",
        [off.delegates, off.interactions],
    )?;
    if corrected == 0 {
        recount(tx)?;
    }
    Ok(())
}

/// Counts anew, which takes as long as the file is large. For who writes interactions with ids of their
/// own.
pub fn recount(connection: &Connection) -> Result<()> {
    connection.execute(
        "INSERT INTO totals (id, delegates, interactions, counted_to) SELECT 1,
             (SELECT count(*) FROM delegates WHERE deleted_at IS NULL),
             (SELECT count(*) FROM interactions), (SELECT coalesce(max(id), 0) FROM interactions)
         WHERE true ON CONFLICT (id) DO UPDATE SET delegates = excluded.delegates,
             interactions = excluded.interactions, counted_to = excluded.counted_to",
        [],
    )?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        db::{in_transaction, migrate},
        types::{Timestamp, error::Error},
    };
    use proptest::prelude::*;

    #[derive(Debug, Clone, Copy)]
    enum Step {
        Record,
        RecordAndFail,
        Delete(i64),
        Make { deleted: bool },
        DeleteSoftly(i64),
        Restore(i64),
        Erase(i64),
    }

    fn steps() -> impl Strategy<Value = Vec<Vec<Step>>> {
        let id = 1..12_i64;
        let step = prop_oneof![
            3 => Just(Step::Record),
            1 => Just(Step::RecordAndFail),
            2 => id.clone().prop_map(Step::Delete),
            2 => any::<bool>().prop_map(|deleted| Step::Make { deleted }),
            1 => id.clone().prop_map(Step::DeleteSoftly),
            1 => id.clone().prop_map(Step::Restore),
            1 => id.prop_map(Step::Erase),
        ];
        prop::collection::vec(prop::collection::vec(step, 0..6), 1..8)
    }

    fn record(tx: &Tx<'_>) -> Result<()> {
        tx.execute(
            "INSERT INTO interactions (id, interaction_type, recorded_at, created_at)
             VALUES (?1, 'x', 0, 0)",
            [tx.new_interaction_id()?],
        )?;
        Ok(())
    }

    fn take(tx: &Tx<'_>, step: Step) -> Result<()> {
        match step {
            Step::Record => record(tx)?,
            Step::RecordAndFail => {
                let failed: Result<()> = tx.nested(|tx| {
                    record(tx)?;
                    take(tx, Step::Make { deleted: false })?;
                    Err(Error::invalid("undone"))
                });
                assert!(failed.is_err());
            }
            Step::Delete(id) => {
                tx.execute("DELETE FROM interactions WHERE id = ?1", [id])?;
            }
            Step::Make { deleted } => {
                tx.execute(
                    "INSERT INTO delegates (public_id, sources, created_at, updated_at, deleted_at)
                     VALUES (hex(randomblob(8)), '[]', 0, 0, iif(?1, 5, NULL))",
                    [deleted],
                )?;
            }
            Step::DeleteSoftly(id) => {
                tx.execute("UPDATE delegates SET deleted_at = id WHERE id = ?1", [id])?;
            }
            Step::Restore(id) => {
                tx.execute("UPDATE delegates SET deleted_at = NULL WHERE id = ?1", [id])?;
            }
            Step::Erase(id) => {
                tx.execute("DELETE FROM delegates WHERE id = ?1", [id])?;
            }
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn totals_are_what_counting_gives(
            transactions in steps(),
            undone in any::<[bool; 8]>(),
            elsewhere in any::<[bool; 8]>(),
        ) {
            let file = Connection::open_in_memory().unwrap();
            migrate::create(&file).unwrap();
            for ((transaction, undone), elsewhere) in transactions.iter().zip(undone).zip(elsewhere) {
                if elsewhere {
                    file.execute_batch(
                        "INSERT INTO interactions (id, interaction_type, recorded_at, created_at)
                         SELECT 1 + max(counted_to, coalesce((SELECT max(id) FROM interactions), 0)), 'x', 0, 0
                         FROM totals",
                    )
                    .unwrap();
                }
                let done = in_transaction(&file, Timestamp(1), |tx| {
                    for step in transaction {
                        take(tx, *step)?;
                    }
                    if undone { Err(Error::invalid("all undone")) } else { Ok(()) }
                });
                prop_assert_eq!(done.is_err(), undone);
                let counted = |sql: &str| -> u64 { file.query_row(sql, [], |row| row.get(0)).unwrap() };
                let alive = counted("SELECT count(*) FROM delegates WHERE deleted_at IS NULL");
                prop_assert_eq!(delegates(&file).unwrap(), alive);
                let recorded = counted("SELECT count(*) FROM interactions");
                prop_assert_eq!(interactions(&file).unwrap(), recorded);
                prop_assert_eq!(drift(&file).unwrap(), Drift::default());
            }
        }
    }

    #[test]
    fn totals_that_are_off_are_told_and_counted_anew() {
        let file = Connection::open_in_memory().unwrap();
        migrate::create(&file).unwrap();
        in_transaction(&file, Timestamp(1), |tx| {
            (1..=3).try_for_each(|_| record(tx))
        })
        .unwrap();
        for damage in [
            "UPDATE totals SET delegates = 2, interactions = 1",
            "DELETE FROM totals",
            "INSERT INTO interactions (id, interaction_type, recorded_at, created_at)
             VALUES (-1, 'x', 0, 0)",
        ] {
            file.execute_batch(damage).unwrap();
            let off = drift(&file).unwrap();
            assert_ne!(off, Drift::default(), "{damage}");
            // Gates go on between the look and the correction.
            in_transaction(&file, Timestamp(1), |tx| {
                record(tx)?;
                tx.execute("DELETE FROM interactions WHERE id = 2", [])?;
                take(tx, Step::Make { deleted: false })
            })
            .unwrap();
            in_transaction(&file, Timestamp(1), |tx| correct(tx, off)).unwrap();
            assert_eq!(drift(&file).unwrap(), Drift::default(), "{damage}");
        }
        let sql = "SELECT count(*) FROM interactions";
        let counted: u64 = file.query_row(sql, [], |row| row.get(0)).unwrap();
        assert_eq!(interactions(&file).unwrap(), counted);
    }
}
