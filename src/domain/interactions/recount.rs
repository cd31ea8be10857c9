//! Holds the counts of those inside against the interactions that they follow from, and mends what
//! differs.

use super::{days, everybody_out, judge::DeviceCache, presence};
use crate::{
    db::{Store, Tx, counters},
    identity::App,
    types::{Day, DeviceId, Timestamp, error::Result},
};
use rusqlite::Connection;
use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};
use tokio::sync::Mutex;

/// By how much the count of those inside a device is off, for each device where it is. What gates
/// record meanwhile does not change that: they count up and down by one. To be called on one state
/// of the file.
pub fn drift(connection: &Connection) -> Result<Vec<(DeviceId, i64)>> {
    let device_cache = DeviceCache::default();
    let mut off: BTreeMap<DeviceId, i64> = BTreeMap::new();
    let mut inside = |history: &presence::History| {
        for device in history.inside(connection, &device_cache)? {
            *off.entry(device).or_default() -= 1;
        }
        Ok(())
    };
    presence::each_history(connection, &device_cache, |_, history| inside(history))?;
    presence::each_unknown(connection, &device_cache, |_, history| inside(history))?;
    let mut statement = connection.prepare("SELECT device_id, inside FROM occupancy")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        *off.entry(row.get(0)?).or_default() += row.get::<_, i64>(1)?;
    }
    off.retain(|_, off| *off != 0);
    Ok(off.into_iter().collect())
}

/// Takes back by how much a count is off.
pub fn correct(tx: &Tx<'_>, device: DeviceId, off: i64) -> Result<()> {
    tx.add_people(device, -off)
}

/// Returns whether devices were moved, deleted or restored since all was counted, so that counts of those inside may be
/// off.
pub fn is_due(connection: &Connection) -> Result<bool> {
    Ok(connection
        .prepare_cached(
            "SELECT 1 FROM counters WHERE name = 'moves'
                 AND value IS NOT (SELECT value FROM counters WHERE name = 'moves_counted')",
        )?
        .exists([])?)
}

/// The time between two looks whether devices were moved.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// Between two counts passes so many times what one takes.
const PART: u32 = 2;

/// Counts anew who is inside where whenever devices were moved or a day begins, beside gates that go
/// on, until it is dropped.
pub async fn follow(app: &App) {
    let store = &app.store;
    let mut known: Option<(u64, Day)> = None;
    loop {
        let begun = Instant::now();
        let (epoch, now) = (store.epoch(), Timestamp::now());
        let is_known = |(of, day): (u64, Day)| of == epoch && day.contains(now);
        if !known.is_some_and(is_known) {
            everybody_out::follow::where_due(app).await;
            match days::turn(store, now).await {
                Ok(day) => known = Some((epoch, day)),
                Err(cause) => tracing::warn!("beginning the day: {cause}"),
            }
        }
        match store.look_up(is_due) {
            Ok(true) => {
                if let Err(cause) = where_due(store).await {
                    tracing::warn!("counting who is inside where: {cause}");
                }
            }
            Ok(false) => {}
            Err(cause) => tracing::debug!("whether devices were moved: {cause}"),
        }
        tokio::time::sleep(LOOK_EVERY.max(begun.elapsed() * PART)).await;
    }
}

/// One at a time counts: two would both take back what is off.
static TURN: Mutex<()> = Mutex::const_new(());

/// Counts anew where that is due: at the start, before anybody is judged by what an upgrade or moves of the
/// last run left; and after the end of a rehearsal.
pub async fn where_due(store: &Store) -> Result<()> {
    let _turn = TURN.lock().await;
    days::turn(store, Timestamp::now()).await?;
    if !store.look_up(is_due)? {
        return Ok(());
    }
    let (moves, drift) = store
        .read(|connection| {
            let moves = counters::get(connection, "moves")?.unwrap_or_default();
            Ok((moves, drift(connection)?))
        })
        .await?;
    store
        .write(move |tx| {
            for (device, off) in &drift {
                correct(tx, *device, *off)?;
            }
            counters::set(tx, "moves_counted", moves)
        })
        .await
}
