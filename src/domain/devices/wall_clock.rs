//! Times of places that stay as they are on the clock when the time zone becomes another: lists that were read before
//! it was set mean the clock of the venue.

use super::RESOURCE;
use crate::{
    core::{Context, records::write},
    db::Store,
    types::{
        Timestamp, Zone,
        error::{Error, Result},
    },
};
use rusqlite::Connection;
use serde_json::{Map, Value};
use std::sync::Arc;

/// Places that are changed in one write.
const SLICE: usize = 50;

/// A place with its times.
type Timed = (i64, Option<Timestamp>, Option<Timestamp>);

/// The places that have times, and their version: the newest change of one of them.
pub fn timed(connection: &Connection) -> Result<(Vec<Timed>, i64)> {
    let mut statement = connection.prepare_cached(
        "SELECT id, start_at, end_at, updated_at FROM devices
         WHERE deleted_at IS NULL AND (start_at IS NOT NULL OR end_at IS NOT NULL) ORDER BY id",
    )?;
    let found = statement.query_map([], |row| {
        Ok((
            (row.get(0)?, row.get(1)?, row.get(2)?),
            row.get::<_, i64>(3)?,
        ))
    })?;
    let found = found.collect::<rusqlite::Result<Vec<(Timed, i64)>>>()?;
    let version = found.iter().map(|(_, updated_at)| *updated_at).max();
    let timed = found.into_iter().map(|(timed, _)| timed).collect();
    Ok((timed, version.unwrap_or_default()))
}

/// Has the times of places be in one zone what they are on the clock of another; the number of places.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`] where places were changed since this version.
pub async fn keep(
    store: &Store,
    ctx: Arc<Context>,
    (from, to): (Zone, Zone),
    version: i64,
) -> Result<usize> {
    let (timed, now) = store.read(timed).await?;
    if now != version {
        return Err(Error::invalid(
            "places were changed meanwhile; look at their times, and change them one by one",
        ));
    }
    let moved = move |at: Option<Timestamp>| {
        let there = to.read_text(&from.plain(at?))?;
        Some(Value::from(to.iso(there)))
    };
    let bodies: Vec<(i64, Map<String, Value>)> = timed
        .into_iter()
        .map(|(id, start, end)| {
            let times = [("startAt", moved(start)), ("endAt", moved(end))];
            let times = times.into_iter();
            let body = times.filter_map(|(name, at)| Some((name.to_owned(), at?)));
            (id, body.collect())
        })
        .collect();
    let count = bodies.len();
    for slice in bodies.chunks(SLICE) {
        let (slice, ctx) = (slice.to_vec(), Arc::clone(&ctx));
        let work = move |tx: &crate::db::Tx<'_>| {
            let mut slice = slice.iter();
            slice.try_for_each(|(id, body)| write::patch(tx, &ctx, &RESOURCE, *id, body.clone()))
        };
        store.write_bulk(work).await?;
    }
    Ok(count)
}
