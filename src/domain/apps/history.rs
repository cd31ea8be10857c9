//! The history of pings: as they came for a day, after that one an hour. It is thinned in small
//! slices that wait for everybody else.

use crate::{
    db::{Store, Tx},
    types::{DeviceId, Timestamp, error::Result},
};
use rusqlite::{Connection, params};

/// The time for which pings are kept as they came.
const WHOLE_MS: i64 = 24 * 3600 * 1000;
const HOUR_MS: i64 = 3600 * 1000;
/// Rows removed in one write, which takes a few milliseconds.
const SLICE: usize = 500;

/// Thins the whole history; the number of pings removed.
pub async fn thin(store: &Store, now: Timestamp) -> Result<usize> {
    let before = Timestamp(now.0 - WHOLE_MS);
    let superfluous = store
        .read(move |connection| superfluous(connection, before))
        .await?;
    for slice in superfluous.chunks(SLICE) {
        let slice = slice.to_vec();
        store.write_bulk(move |tx| remove(tx, &slice)).await?;
    }
    Ok(superfluous.len())
}

/// The pings before a time that are not the first of their hour.
fn superfluous(connection: &Connection, before: Timestamp) -> Result<Vec<(DeviceId, Timestamp)>> {
    let mut statement = connection.prepare_cached(
        "SELECT device_id, at FROM device_pings WHERE at < ?1 AND EXISTS (
             SELECT 1 FROM device_pings AS earlier
             WHERE earlier.device_id = device_pings.device_id AND earlier.at < device_pings.at
             AND earlier.at >= device_pings.at - device_pings.at % ?2)",
    )?;
    let pings = statement.query_map(params![before, HOUR_MS], |row| {
        Ok((row.get(0)?, row.get(1)?))
    })?;
    Ok(pings.collect::<rusqlite::Result<_>>()?)
}

fn remove(tx: &Tx<'_>, pings: &[(DeviceId, Timestamp)]) -> Result<()> {
    let mut statement =
        tx.prepare_cached("DELETE FROM device_pings WHERE device_id = ?1 AND at = ?2")?;
    for (device, at) in pings {
        statement.execute(params![device, at])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::Durability;

    #[test]
    fn after_a_day_one_ping_an_hour_is_left_of_each_device() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("t.db"), Durability::Normal).unwrap();
        let now = Timestamp(1_795_248_120_000);
        let (hour, day) = (HOUR_MS, WHOLE_MS);
        store
            .write(move |tx| {
                for device in [1, 2] {
                    tx.execute(
                        "INSERT INTO devices (id, code, public_id, sources, created_at, updated_at)
                         VALUES (?1, ?1, ?1, '[]', 1, 1)",
                        [device],
                    )?;
                    // Two days, a ping every two minutes.
                    for ping in 0..2 * 24 * 30 {
                        tx.execute(
                            "INSERT INTO device_pings VALUES (?1, ?2, '{}', 0)",
                            [device, now.0 - ping * 120_000],
                        )?;
                    }
                }
                Ok(())
            })
            .wait()
            .unwrap();
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let gone = runtime.block_on(thin(&store, now)).unwrap();
        assert!(gone > 2 * SLICE / 2, "{gone}");
        assert_eq!(runtime.block_on(thin(&store, now)).unwrap(), 0);
        let (young, old, hours): (i64, i64, i64) = store
            .look_up(|connection| {
                Ok(connection.query_row(
                    "SELECT count(*) FILTER (WHERE at >= ?1), count(*) FILTER (WHERE at < ?1),
                         count(DISTINCT device_id || '-' || (at / ?2)) FILTER (WHERE at < ?1)
                     FROM device_pings",
                    [now.0 - day, hour],
                    |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
                )?)
            })
            .unwrap();
        assert_eq!(young, 2 * (24 * 30 + 1));
        assert_eq!(old, hours);
        assert!((48..=50).contains(&old), "{old}");
    }
}
