//! Evacuations: everybody who is inside a place or the whole venue, ticked as they are seen outside. The list follows
//! who is inside; a tick stays, whoever made it on whichever screen, and is no check-out. Once it has ended, the list stays
//! as it was then.

use super::{
    inside::{self, Inside},
    judge::DeviceCache,
    presence::ANYWHERE,
};
use crate::{
    core::{
        Context,
        audit::{self, Change, actor_name},
    },
    db::{Priority, Store, Tx},
    domain::{delegates::NAME, devices},
    types::{
        DelegateId, DeviceId, DeviceSelector, Timestamp,
        error::{Error, Kind, Result},
        fold::fold,
    },
};
use rusqlite::{Connection, OptionalExtension, Row};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet, hash_map::Entry};

#[derive(Debug, Clone)]
pub struct Evacuation {
    pub id: i64,
    /// The place; none for the whole venue.
    pub place: Option<DeviceId>,
    pub started_at: Timestamp,
    pub ended_at: Option<Timestamp>,
}

impl Evacuation {
    const COLUMNS: &str = "id, device_id, started_at, ended_at FROM evacuations";

    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: row.get(0)?,
            place: row.get(1)?,
            started_at: row.get(2)?,
            ended_at: row.get(3)?,
        })
    }

    /// Returns whether it is of a place with this path to the top.
    fn covers(&self, path: &[DeviceId]) -> bool {
        self.place.is_none_or(|place| path.contains(&place))
    }

    /// Returns whether a tick of this time is for it.
    fn ran_at(&self, at: Timestamp) -> bool {
        self.started_at.0 - EARLY_MS <= at.0 && self.ended_at.is_none_or(|ended| at <= ended)
    }

    /// The name of what is evacuated.
    pub fn name(&self, connection: &Connection) -> Result<String> {
        match self.place {
            Some(place) => devices::called(connection, place),
            None => Ok("the whole venue".to_owned()),
        }
    }
}

/// Somebody on the list of an evacuation.
#[derive(Debug, Clone)]
pub struct Person {
    /// The attendee; none where a gate admitted a code that nobody has yet.
    pub id: Option<i64>,
    pub name: String,
    pub phone: String,
    pub company: String,
    /// The place of the last check-in; empty where they have left since.
    pub place: String,
    pub since: Option<Timestamp>,
    /// The time at which somebody saw them outside, and who.
    pub safe: Option<(Timestamp, String)>,
}

/// An evacuation.
///
/// # Errors
/// [`Kind::NoSuchPath`] where there is none of this id.
pub fn find(connection: &Connection, id: i64) -> Result<Evacuation> {
    let sql = format!("SELECT {} WHERE id = ?1", Evacuation::COLUMNS);
    let found = connection
        .prepare_cached(&sql)?
        .query_row([id], Evacuation::read);
    found
        .optional()?
        .ok_or_else(|| Error::new(Kind::NoSuchPath, format!("there is no evacuation {id}")))
}

/// The evacuations that have not ended, the newest first.
pub fn running(connection: &Connection) -> Result<Vec<Evacuation>> {
    let sql = format!(
        "SELECT {} WHERE ended_at IS NULL ORDER BY id DESC",
        Evacuation::COLUMNS
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let running = statement.query_map([], Evacuation::read)?;
    Ok(running.collect::<rusqlite::Result<_>>()?)
}

/// The evacuation of a place, or of the whole venue, that has not ended.
pub fn running_of(connection: &Connection, place: Option<DeviceId>) -> Result<Option<Evacuation>> {
    let running = running(connection)?;
    Ok(running.into_iter().find(|one| one.place == place))
}

/// The last evacuations that ended, the newest first.
pub fn ended(connection: &Connection, limit: usize) -> Result<Vec<Evacuation>> {
    let sql = format!(
        "SELECT {} WHERE ended_at IS NOT NULL ORDER BY id DESC LIMIT ?1",
        Evacuation::COLUMNS
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let ended = statement.query_map([limit], Evacuation::read)?;
    Ok(ended.collect::<rusqlite::Result<_>>()?)
}

/// The evacuation whose ticks hold at a place: the newest that runs there, at a place above it or in the whole venue.
pub fn running_at(connection: &Connection, place: DeviceId) -> Result<Option<Evacuation>> {
    let running = running(connection)?;
    if running.is_empty() {
        return Ok(None);
    }
    let path = DeviceCache::default().path(connection, place)?;
    Ok(running.into_iter().find(|one| one.covers(&path)))
}

/// Begins an evacuation with nobody ticked; its id, or that of the one of this place that has not ended.
///
/// # Errors
/// [`Kind::DeviceNotFound`].
pub fn start(tx: &Tx<'_>, ctx: &Context, place: Option<DeviceId>) -> Result<i64> {
    if let Some(place) = place {
        devices::find(tx, &DeviceSelector::Id(place))?;
    }
    match running_of(tx, place)? {
        Some(same) => Ok(same.id),
        None => begin(tx, ctx, place, tx.now()),
    }
}

fn begin(tx: &Tx<'_>, ctx: &Context, place: Option<DeviceId>, at: Timestamp) -> Result<i64> {
    tx.prepare_cached(
        "INSERT INTO evacuations (device_id, started_at, actor) VALUES (?1, ?2, ?3)",
    )?
    .execute((place, at, &ctx.actor))?;
    let id = tx.last_insert_rowid();
    note(tx, ctx, "create", id, json!({"device": place}))?;
    Ok(id)
}

/// People who are kept in one write.
const SLICE: usize = 500;

/// Ends an evacuation; its list stays as it is.
///
/// # Errors
/// [`Kind::NoSuchPath`] where there is none of this id.
pub async fn end(store: &Store, ctx: &Context, id: i64) -> Result<()> {
    let listed = move |connection: &Connection| {
        let evacuation = find(connection, id)?;
        inside::people(
            connection,
            evacuation.place.unwrap_or(ANYWHERE),
            None,
            usize::MAX,
        )
    };
    let inside = store.read(listed).await?;
    // Of an end that was cut off.
    let forget = move |tx: &Tx<'_>| {
        tx.prepare_cached(
            "DELETE FROM evacuation_inside WHERE evacuation_id IN
                 (SELECT id FROM evacuations WHERE id = ?1 AND ended_at IS NULL)",
        )?
        .execute([id])?;
        Ok(())
    };
    store.write_repeatable(Priority::Background, forget).await?;
    for slice in inside.chunks(SLICE) {
        let slice = slice.to_vec();
        let keep = move |tx: &Tx<'_>| keep(tx, id, &slice);
        store.write_repeatable(Priority::Background, keep).await?;
    }
    let ctx = ctx.clone();
    store.write(move |tx| close(tx, &ctx, id)).await
}

/// Keeps who is inside, unless the evacuation has ended.
fn keep(tx: &Tx<'_>, id: i64, inside: &[Inside]) -> Result<()> {
    let mut statement = tx.prepare_cached(
        "INSERT OR REPLACE INTO evacuation_inside (evacuation_id, delegate_id, device_id, since)
         SELECT e.id, p.id, (SELECT id FROM devices WHERE id = ?3), ?4 FROM evacuations e, delegates p
         WHERE e.id = ?1 AND e.ended_at IS NULL AND p.id = ?2",
    )?;
    for one in inside {
        statement.execute((id, one.delegate, one.device, one.since))?;
    }
    Ok(())
}

fn close(tx: &Tx<'_>, ctx: &Context, id: i64) -> Result<()> {
    let ended = tx
        .prepare_cached("UPDATE evacuations SET ended_at = ?2 WHERE id = ?1 AND ended_at IS NULL")?
        .execute((id, tx.now()))?;
    if ended > 0 {
        let safe: i64 = tx
            .prepare_cached("SELECT count(*) FROM evacuation_safe WHERE evacuation_id = ?1")?
            .query_row([id], |row| row.get(0))?;
        note(tx, ctx, "update", id, json!({"ended": true, "safe": safe}))?;
    }
    Ok(())
}

fn note(tx: &Tx<'_>, ctx: &Context, action: &'static str, id: i64, after: Value) -> Result<()> {
    audit::append(
        tx,
        ctx,
        &Change {
            action,
            record_type: "evacuation",
            record_id: Some(id),
            before: None,
            after: Some(after),
        },
    )
}

/// Ticks somebody as safe, or takes the tick back. A second tick changes nothing.
pub fn mark(tx: &Tx<'_>, ctx: &Context, id: i64, delegate: DelegateId, safe: bool) -> Result<()> {
    find(tx, id)?;
    put(tx, ctx, id, delegate, (safe, tx.now()))
}

/// Puts a tick, or takes away one that was made before.
fn put(
    tx: &Tx<'_>,
    ctx: &Context,
    id: i64,
    delegate: DelegateId,
    (safe, at): (bool, Timestamp),
) -> Result<()> {
    if safe {
        tx.prepare_cached(
            "INSERT INTO evacuation_safe (evacuation_id, delegate_id, at, actor)
             SELECT ?1, id, ?3, ?4 FROM delegates WHERE id = ?2 ON CONFLICT DO NOTHING",
        )?
        .execute((id, delegate, at, &ctx.actor))?;
    } else {
        tx.prepare_cached(
            "DELETE FROM evacuation_safe WHERE evacuation_id = ?1 AND delegate_id = ?2 AND at <= ?3",
        )?
        .execute((id, delegate, at))?;
    }
    Ok(())
}

/// The lead that a gate's tick may have over the console's start of an evacuation, in milliseconds.
const EARLY_MS: i64 = 30 * 60 * 1000;

/// A tick at a gate, which may have been offline.
#[derive(Debug, Clone, Copy)]
pub struct Tick {
    pub at: Timestamp,
    /// The person ticked; none where the gate only begins an evacuation.
    pub delegate: Option<DelegateId>,
    pub safe: bool,
}

/// Ticks people at a place: in every evacuation of it, of a place above it or of the whole venue that ran at the time.
/// Where none did, one of the place begins at that time. The same again changes nothing.
pub fn tick(tx: &Tx<'_>, ctx: &Context, place: DeviceId, ticks: &[Tick]) -> Result<()> {
    let path = DeviceCache::default().path(tx, place)?;
    let first = ticks.iter().map(|tick| tick.at).min();
    let mut known = since(tx, first.unwrap_or_else(|| tx.now()))?;
    known.retain(|one| one.covers(&path));
    for tick in ticks {
        let at = tick.at.min(tx.now());
        if !known.iter().any(|one| one.ran_at(at)) {
            let id = begin(tx, ctx, Some(place), at)?;
            known.push(find(tx, id)?);
        }
        let Some(delegate) = tick.delegate else {
            continue;
        };
        for one in known.iter().filter(|one| one.ran_at(at)) {
            put(tx, ctx, one.id, delegate, (tick.safe, at))?;
        }
    }
    Ok(())
}

/// The evacuations that had not ended at a time.
fn since(connection: &Connection, at: Timestamp) -> Result<Vec<Evacuation>> {
    let sql = format!(
        "SELECT {} WHERE ended_at IS NULL OR ended_at >= ?1",
        Evacuation::COLUMNS
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let found = statement.query_map([at], Evacuation::read)?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

/// Somebody inside: who, where, and since when. A place that was deleted for good since is none.
type Listed = (DelegateId, Option<DeviceId>, Timestamp);

/// Everybody who is inside, or was when the evacuation ended.
fn listed(connection: &Connection, evacuation: &Evacuation) -> Result<Vec<Listed>> {
    if evacuation.ended_at.is_none() {
        let place = evacuation.place.unwrap_or(ANYWHERE);
        let inside = inside::people(connection, place, None, usize::MAX)?.into_iter();
        return Ok(inside
            .map(|one| (one.delegate, Some(one.device), one.since))
            .collect());
    }
    let mut statement = connection.prepare_cached(
        "SELECT delegate_id, device_id, since FROM evacuation_inside WHERE evacuation_id = ?1",
    )?;
    let kept = statement.query_map([evacuation.id], |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?))
    })?;
    Ok(kept.collect::<rusqlite::Result<_>>()?)
}

/// Everybody who is inside, or was when it ended, and everybody who was ticked, by name.
pub fn people(connection: &Connection, evacuation: &Evacuation) -> Result<Vec<Person>> {
    let inside = listed(connection, evacuation)?;
    let mut safe = safe(connection, evacuation.id)?;
    let ticked: Vec<DelegateId> = safe.keys().copied().collect();
    let mut names: HashMap<DeviceId, String> = HashMap::new();
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {NAME}, coalesce(p.phone, ''), coalesce(p.company, '') FROM delegates p WHERE p.id = ?1"
    ))?;
    let mut place = |at: Option<DeviceId>| -> Result<String> {
        let Some(device) = at else {
            return Ok(String::new());
        };
        let name = match names.entry(device) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => unknown.insert(devices::called(connection, device)?),
        };
        Ok(name.clone())
    };
    let mut people = unnamed(connection, evacuation, &mut place)?;
    let mut person = |id: DelegateId, at: Option<DeviceId>, since| -> Result<Person> {
        let place = place(at)?;
        Ok(statement.query_row([id], |row| {
            Ok(Person {
                id: Some(id.0),
                name: row.get(0)?,
                phone: row.get(1)?,
                company: row.get(2)?,
                place,
                since,
                safe: safe.remove(&id),
            })
        })?)
    };
    let mut listed = HashSet::new();
    for (delegate, place, since) in inside {
        listed.insert(delegate);
        people.push(person(delegate, place, Some(since))?);
    }
    for delegate in ticked.into_iter().filter(|id| !listed.contains(id)) {
        people.push(person(delegate, None, None)?);
    }
    people.sort_by_cached_key(|person| fold(&person.name));
    Ok(people)
}

/// Everybody inside of whom only a code is known. They cannot be ticked, and are not kept when it ends.
fn unnamed(
    connection: &Connection,
    evacuation: &Evacuation,
    mut place: impl FnMut(Option<DeviceId>) -> Result<String>,
) -> Result<Vec<Person>> {
    if evacuation.ended_at.is_some() {
        return Ok(Vec::new());
    }
    let unnamed = inside::unnamed(connection, evacuation.place.unwrap_or(ANYWHERE))?;
    let person = |one: inside::Unnamed| {
        Ok(Person {
            id: None,
            name: format!("Unknown code {}", one.code),
            phone: String::new(),
            company: String::new(),
            place: place(Some(one.device))?,
            since: Some(one.since),
            safe: None,
        })
    };
    unnamed.into_iter().map(person).collect()
}

/// Lists the people who were ticked, when and by whom.
pub fn safe(connection: &Connection, id: i64) -> Result<HashMap<DelegateId, (Timestamp, String)>> {
    let mut statement = connection.prepare_cached(
        "SELECT delegate_id, at, actor FROM evacuation_safe WHERE evacuation_id = ?1",
    )?;
    let rows = statement.query_map([id], |row| {
        Ok((row.get(0)?, row.get(1)?, row.get::<_, String>(2)?))
    })?;
    let mut actors: HashMap<String, String> = HashMap::new();
    let mut safe = HashMap::new();
    for row in rows {
        let (delegate, at, actor) = row?;
        let name = match actors.entry(actor) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => {
                let name = actor_name(connection, unknown.key())?;
                unknown.insert(name)
            }
        };
        safe.insert(delegate, (at, name.clone()));
    }
    Ok(safe)
}
