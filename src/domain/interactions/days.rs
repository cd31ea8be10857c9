//! The day of the event, at which daily entry ends every stay (contract §6). Which one it is stands in
//! the file, and all who ask who is inside go by that: so counts, lists and judgements change over
//! together. Nothing is recorded.

use super::judge::DeviceCache;
use crate::{
    core::settings,
    db::{Store, Tx, counters},
    types::{Day, DeviceId, Timestamp, error::Result},
};
use rusqlite::Connection;

const BEGINS: &str = "day_begins";
const ENDS: &str = "day_ends";

/// The day that the file goes by; none before a server had it.
pub fn current(connection: &Connection) -> Result<Option<Day>> {
    let begins = counters::get(connection, BEGINS)?.map(Timestamp);
    let ends = counters::get(connection, ENDS)?.map(Timestamp);
    Ok(begins.zip(ends).map(|(begins, ends)| Day { begins, ends }))
}

/// Has the file go by a day. Stays that end with the one before are taken out of the counts at once;
/// the places above daily ones are counted anew within a second.
pub fn begin(tx: &Tx<'_>, day: Day) -> Result<()> {
    let before = current(tx)?;
    if before == Some(day) {
        return Ok(());
    }
    counters::set(tx, BEGINS, day.begins.0)?;
    counters::set(tx, ENDS, day.ends.0)?;
    let Some(before) = before else {
        return Ok(());
    };
    if before.begins < day.begins {
        empty_daily(tx)?;
    }
    counters::have_people_counted(tx)
}

/// Empties places whose stays all end, which are daily themselves or below one that is.
fn empty_daily(tx: &Tx<'_>) -> Result<()> {
    let mut statement =
        tx.prepare_cached("SELECT device_id FROM occupancy WHERE inside <> 0 AND device_id > 0")?;
    let occupied = statement.query_map([], |row| row.get(0))?;
    let occupied = occupied.collect::<rusqlite::Result<Vec<DeviceId>>>()?;
    let device_cache = DeviceCache::default();
    for device in occupied {
        if device_cache.is_daily(tx, device)? {
            tx.add_people(device, -tx.people(device)?)?;
        }
    }
    Ok(())
}

/// Begins the day of `now`, if that is another one, and gives it.
pub async fn turn(store: &Store, now: Timestamp) -> Result<Day> {
    let look = |connection: &Connection| {
        let day = settings::load(connection)?.day(now);
        Ok((day, current(connection)? == Some(day)))
    };
    let (day, is_current) = store.look_up(look)?;
    if !is_current {
        store.write(move |tx| begin(tx, day)).await?;
    }
    Ok(day)
}
