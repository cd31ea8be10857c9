//! The programme: the sessions of a day, their rooms, and those that are in one room at once.

use super::{EVENT, NAME, RESOURCE};
use crate::{
    core::{Context, records::write},
    db::Tx,
    types::{
        Timestamp, Zone,
        error::{Error, Result},
    },
};
use rusqlite::{Connection, OptionalExtension};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// Sessions whose days are looked for.
const SESSIONS_MAX: usize = 20_000;
/// Rooms that are shown, and more where sessions take place in more.
const ROOMS_MAX: usize = 60;
/// The length of a session without an end, in milliseconds.
const USUAL_LENGTH: i64 = 30 * 60 * 1_000;

/// A session of the day.
#[derive(Debug, Clone)]
pub struct Session {
    pub id: i64,
    pub name: String,
    /// The room that it belongs to; none where that is the event.
    pub room: Option<i64>,
    pub starts: Timestamp,
    pub ends: Timestamp,
    /// The names of other sessions in its room at the same time.
    pub overlaps: Vec<String>,
}

/// The sessions of a day.
#[derive(Debug)]
pub struct Programme {
    /// The beginnings of the days that have sessions.
    pub days: Vec<Timestamp>,
    pub day: Timestamp,
    /// Ids and names of rooms.
    pub rooms: Vec<(i64, String)>,
    /// In the order of their beginnings.
    pub sessions: Vec<Session>,
}

impl Programme {
    /// Reads a day; without one, today or the next that has sessions, otherwise the last.
    pub fn read(
        connection: &Connection,
        zone: &Zone,
        day: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<Self> {
        let mut statement = connection.prepare_cached(
            "SELECT start_at FROM devices WHERE device_type = 'session' AND deleted_at IS NULL AND start_at IS NOT NULL
             LIMIT ?1",
        )?;
        let starts = statement.query_map([SESSIONS_MAX], |row| row.get::<_, Timestamp>(0))?;
        let days = starts.map(|at| Ok(zone.midnight(at?)));
        let days: Vec<_> = days
            .collect::<rusqlite::Result<BTreeSet<_>>>()?
            .into_iter()
            .collect();
        let today = zone.midnight(now);
        let next = days.iter().find(|day| **day >= today).or(days.last());
        let day = zone.midnight(day.or(next.copied()).unwrap_or(today));
        let mut sessions = sessions(connection, day, zone.day(day).1)?;
        find_overlaps(&mut sessions);
        Ok(Self {
            rooms: rooms(connection, &sessions)?,
            days,
            day,
            sessions,
        })
    }
}

fn sessions(connection: &Connection, from: Timestamp, to: Timestamp) -> Result<Vec<Session>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT d.id, {NAME}, iif(p.device_type IS ?3, NULL, p.id), d.start_at, coalesce(d.end_at, d.start_at + ?4)
         FROM devices d LEFT JOIN devices p ON p.id = d.parent_id AND p.deleted_at IS NULL
         WHERE d.device_type = 'session' AND d.deleted_at IS NULL AND d.start_at >= ?1 AND d.start_at < ?2
         ORDER BY d.start_at, d.id LIMIT {SESSIONS_MAX}"
    ))?;
    let found = statement.query_map((from, to, EVENT, USUAL_LENGTH), |row| {
        Ok(Session {
            id: row.get(0)?,
            name: row.get(1)?,
            room: row.get(2)?,
            starts: row.get(3)?,
            ends: row.get(4)?,
            overlaps: Vec::new(),
        })
    })?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

/// Finds the sessions among some that share a room with others at the same time.
pub fn overlapping(connection: &Connection, ids: &BTreeSet<i64>) -> Result<Vec<Session>> {
    let mut all = sessions(connection, Timestamp(i64::MIN), Timestamp(i64::MAX))?;
    find_overlaps(&mut all);
    all.retain(|one| !one.overlaps.is_empty() && ids.contains(&one.id));
    Ok(all)
}

/// The rooms of these sessions, and others as long as there is space for them, by name.
fn rooms(connection: &Connection, sessions: &[Session]) -> Result<Vec<(i64, String)>> {
    let used: BTreeSet<i64> = sessions.iter().filter_map(|one| one.room).collect();
    let most = ROOMS_MAX.max(used.len());
    let used = json!(used).to_string();
    let mut statement = connection.prepare_cached(&format!(
        "SELECT id, name FROM (SELECT d.id, {NAME} AS name FROM devices d
             WHERE d.deleted_at IS NULL AND (d.device_type = 'room' OR d.id IN (SELECT value FROM json_each(?1)))
             ORDER BY d.id NOT IN (SELECT value FROM json_each(?1)), d.id LIMIT ?2)
         ORDER BY text_folded(name), id"
    ))?;
    let rooms = statement.query_map((used, most), |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rooms.collect::<rusqlite::Result<_>>()?)
}

fn find_overlaps(sessions: &mut [Session]) {
    for at in 0..sessions.len() {
        let (before, rest) = sessions.split_at_mut(at + 1);
        let Some(one) = before.last_mut() else { break };
        for other in rest.iter_mut().take_while(|other| other.starts < one.ends) {
            if one.room.is_some() && other.room == one.room {
                one.overlaps.push(other.name.clone());
                other.overlaps.push(one.name.clone());
            }
        }
    }
}

/// Moves a session into a room, to begin at another time; it stays as long as it was. Returns its name, and those of the
/// sessions that it overlaps there.
pub fn move_to(
    tx: &Tx<'_>,
    ctx: &Context,
    id: i64,
    room: i64,
    starts: Timestamp,
) -> Result<(String, Vec<String>)> {
    let mut statement = tx.prepare_cached(
        "SELECT start_at, end_at FROM devices WHERE id = ?1 AND device_type = 'session' AND deleted_at IS NULL",
    )?;
    let times = statement.query_row([id], |row| Ok((row.get(0)?, row.get(1)?)));
    let times: Option<(Option<i64>, Option<i64>)> = times.optional()?;
    let (before, ended) = times.ok_or_else(|| RESOURCE.missing(&id))?;
    let length = ended.zip(before).map(|(ended, before)| ended - before);
    let seconds = |at: i64| Value::from(at / 1_000);
    let mut body = Map::new();
    body.insert("parent".to_owned(), room.into());
    body.insert("startAt".to_owned(), seconds(starts.0));
    if let Some(length) = length {
        body.insert("endAt".to_owned(), seconds(starts.0 + length));
    }
    write::patch(tx, ctx, &RESOURCE, id, body)?;
    let ends = Timestamp(starts.0 + length.unwrap_or(USUAL_LENGTH));
    let day_before = Timestamp(starts.0 - 24 * 3_600 * 1_000);
    let mut near = sessions(tx, day_before, ends)?;
    find_overlaps(&mut near);
    let moved = near.into_iter().find(|one| one.id == id);
    let moved = moved.ok_or_else(|| Error::defect("a session that was moved is gone"))?;
    Ok((moved.name, moved.overlaps))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_overlap_that_are_in_one_room_at_once() {
        let session = |id: i64, room: Option<i64>, from: i64, to: i64| Session {
            id,
            name: id.to_string(),
            room,
            starts: Timestamp(from),
            ends: Timestamp(to),
            overlaps: Vec::new(),
        };
        let mut all = [
            session(1, Some(7), 0, 100),
            session(2, Some(8), 10, 30),
            session(3, Some(7), 50, 60),
            session(4, None, 50, 60),
            session(5, None, 50, 60),
            session(6, Some(7), 100, 120),
        ];
        find_overlaps(&mut all);
        let told: Vec<String> = all.iter().map(|one| one.overlaps.join(",")).collect();
        assert_eq!(told, ["3", "", "1", "", "", ""]);
    }
}
