//! The history of pings: as they came for a day, after that one an hour. It is thinned in small
//! slices that wait for everybody else.

use crate::{
    db::{Store, Tx},
    types::{DeviceId, Timestamp, error::Result},
};
use rusqlite::{Connection, params};

/// How long pings are kept as they came.
const WHOLE_MS: i64 = 24 * 3600 * 1000;
const HOUR_MS: i64 = 3600 * 1000;
/// Rows looked at in a slice; those that go are removed in a write of a few milliseconds.
const SLICE: usize = 500;

/// Where the next slice begins.
type Place = (i64, i64);

struct Slice {
    superfluous: Vec<(DeviceId, Timestamp)>,
    next: Option<Place>,
}

/// Thins the whole history once; how many pings went.
pub async fn thin(store: &Store, now: Timestamp) -> Result<usize> {
    let mut place = Some((i64::MIN, i64::MIN));
    let mut gone = 0;
    while let Some(from) = place {
        let Slice { superfluous, next } = store
            .read(move |connection| slice(connection, from, Timestamp(now.0 - WHOLE_MS)))
            .await?;
        gone += superfluous.len();
        if !superfluous.is_empty() {
            store.write_bulk(move |tx| remove(tx, &superfluous)).await?;
        }
        place = next;
    }
    Ok(gone)
}

/// The pings of a slice that are not the first of their hour.
fn slice(connection: &Connection, from: Place, before: Timestamp) -> Result<Slice> {
    let mut statement = connection.prepare_cached(
        "SELECT device_id, at, EXISTS (SELECT 1 FROM device_pings AS earlier
             WHERE earlier.device_id = device_pings.device_id AND earlier.at < device_pings.at
             AND earlier.at >= device_pings.at - device_pings.at % ?4)
         FROM device_pings WHERE (device_id, at) > (?1, ?2) AND at < ?3
         ORDER BY device_id, at LIMIT ?5",
    )?;
    let rows = statement
        .query_map(
            params![
                from.0,
                from.1,
                before,
                HOUR_MS,
                i64::try_from(SLICE).unwrap_or(i64::MAX)
            ],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )?
        .collect::<rusqlite::Result<Vec<(DeviceId, Timestamp, bool)>>>()?;
    let last = rows.last().map(|(device, at, _)| (device.0, at.0));
    Ok(Slice {
        next: last.filter(|_| rows.len() == SLICE),
        superfluous: rows
            .into_iter()
            .filter_map(|(device, at, superfluous)| superfluous.then_some((device, at)))
            .collect(),
    })
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
            .write_blocking(move |tx| {
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
