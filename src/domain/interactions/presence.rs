//! The presence of a delegate at a device, as the rules need it, read from one index of interactions
//! (`interactions_first_delegate`): in it stands together what the first delegate did at one device, by effect and in
//! order, so that a decision costs the same however many interactions the file has. Only how many are inside is kept
//! beside it (`occupancy`), counted up and down.
//!
//! Somebody is inside a device from a check-in there, or at anything below it, until a check-out there
//! or at anything above it, or until they enter another room where one counts at a time
//! (`one_at_a_time`; contract §6).

mod one_at_a_time;

use super::{judge::DeviceCache, types};
use crate::{
    core::rules::{Position, PresenceState},
    db::Tx,
    domain::devices::doors::{self, Doors},
    types::{Day, DelegateId, DeviceId, Timestamp, error::Result},
};
use rusqlite::{Connection, OptionalExtension, Row, ToSql, types::ToSqlOutput};
use std::cell::RefCell;

/// The change that an interaction makes to presence (`types`); the numbers are those of the column `effect`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PresenceChange {
    /// The first delegate entered.
    Enter = 0,
    /// The first delegate left.
    Exit = 1,
    /// The first delegate is allowed in.
    Join = 2,
    /// The first delegate is no longer allowed in.
    Leave = 3,
    /// The second delegate is no longer allowed in; nothing happens to the first.
    LeaveSecond = 4,
}

impl ToSql for PresenceChange {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok((*self as i64).into())
    }
}

impl PresenceChange {
    /// Returns whether it changes who is inside.
    pub fn is_passage(self) -> bool {
        matches!(self, Self::Enter | Self::Exit)
    }

    /// The effect on the first delegate of a number in the file.
    fn of_number(number: i64) -> Option<Self> {
        [Self::Enter, Self::Exit, Self::Join, Self::Leave]
            .into_iter()
            .find(|change| *change as i64 == number)
    }

    /// The first delegate's state after it.
    pub fn after(self, mut state: PresenceState, moment: Position) -> PresenceState {
        let latest = match self {
            Self::Enter => &mut state.last_in,
            Self::Exit => &mut state.last_out,
            Self::Join => &mut state.last_join,
            Self::Leave => &mut state.last_leave,
            Self::LeaveSecond => return state,
        };
        *latest = (*latest).max(Some(moment));
        state
    }
}

fn moment(row: &Row<'_>) -> rusqlite::Result<Position> {
    Ok(Position {
        at: row.get(0)?,
        id: row.get(1)?,
    })
}

/// So many earlier ones of an effect are stepped over; then the next effect is looked for.
const STEPS_MAX: usize = 4;

/// The history of one delegate: the last passages at each place, its doors included, and with it where they are inside.
#[derive(Debug, Clone, Default)]
pub struct History {
    places: Vec<(DeviceId, PresenceState)>,
    /// The places and doors of the check-ins that were read.
    entrances: Vec<DeviceId>,
    /// The times of the interactions that somebody asked about, by their ids.
    happened: RefCell<Vec<(i64, Timestamp)>>,
}

impl History {
    /// Reads what a delegate did, from the index alone.
    pub fn of(
        connection: &Connection,
        device_cache: &DeviceCache,
        delegate: DelegateId,
    ) -> Result<Self> {
        let doors = device_cache.doors(connection)?;
        let mut statement = connection.prepare_cached(
            "SELECT moment, id, first_device_id, effect FROM interactions
             WHERE first_delegate_id = ?1 AND (first_device_id, effect) <= (?2, ?3)
             ORDER BY first_device_id DESC, effect DESC, moment DESC, id DESC",
        )?;
        let mut history = Self::default();
        let (mut last, mut steps) = (None, 0);
        let mut rows = statement.query((delegate, i64::MAX, i64::MAX))?;
        while let Some(row) = rows.next()? {
            let (device, effect): (i64, Option<i64>) = (row.get(2)?, row.get(3)?);
            if last != Some((device, effect)) {
                (last, steps) = (Some((device, effect)), 0);
                if let Some(change) = effect.and_then(PresenceChange::of_number) {
                    history.read(&doors, DeviceId(device), change, moment(row)?);
                }
            } else if steps < STEPS_MAX {
                steps += 1;
            } else {
                // SQLite seeks what equals the two at the most, and steps over it where it is not
                // wanted: so the two are those of the next. Most types have no effect (NULL); those rows
                // come last at a device.
                let next = match effect {
                    Some(effect) if effect > 0 => (device, effect - 1),
                    _ => (device - 1, i64::MAX),
                };
                drop(rows);
                rows = statement.query((delegate, next.0, next.1))?;
            }
        }
        Ok(history)
    }

    /// Reads what somebody did of whom a code is known alone, which nobody has yet (`late_codes`).
    pub fn of_code(
        connection: &Connection,
        device_cache: &DeviceCache,
        code: &str,
    ) -> Result<Self> {
        let doors = device_cache.doors(connection)?;
        let mut statement = connection.prepare_cached(
            "SELECT min(recorded_at, at), id, device_id, interaction_type
             FROM refusals INDEXED BY refusals_admitted
             WHERE admitted = 1 AND substr(delegate, instr(delegate, ':') + 1) = ?1",
        )?;
        let mut rows = statement.query([code])?;
        let mut history = Self::default();
        while let Some(row) = rows.next()? {
            if let Some(change) = types::passage_effect(&row.get::<_, String>(3)?) {
                history.read(&doors, row.get(2)?, change, moment(row)?);
            }
        }
        Ok(history)
    }

    fn read(&mut self, doors: &Doors, device: DeviceId, change: PresenceChange, moment: Position) {
        if change == PresenceChange::Enter && !self.entrances.contains(&device) {
            self.entrances.push(device);
        }
        self.record(doors.place_of(device), change, moment);
    }

    /// A place and its doors, as far as the delegate checked in there.
    fn entrances<'a>(
        &'a self,
        doors: &'a Doors,
        place: DeviceId,
    ) -> impl Iterator<Item = DeviceId> + 'a {
        let is_known = |device: &DeviceId| self.entrances.contains(device);
        doors.with_doors(place).filter(is_known)
    }

    /// Adds something the delegate did at a place; what happens at a door counts as at its place.
    pub fn record(&mut self, device: DeviceId, change: PresenceChange, moment: Position) {
        let at = self.places.iter().rposition(|(at, _)| *at == device);
        let at = at.unwrap_or_else(|| {
            self.places.push((device, PresenceState::default()));
            self.places.len() - 1
        });
        self.places[at].1 = change.after(self.places[at].1, moment);
    }

    /// As [`History::record`], of an interaction that is known to have happened at a time.
    pub fn record_happened(
        &mut self,
        device: DeviceId,
        change: PresenceChange,
        moment: Position,
        happened: Timestamp,
    ) {
        self.happened.get_mut().push((moment.id, happened));
        self.record(device, change, moment);
    }

    /// Returns when an interaction of this history happened, looked up once.
    pub fn happened_at(&self, connection: &Connection, position: Position) -> Result<Timestamp> {
        let mut known = self.happened.borrow_mut();
        if let Some((_, at)) = known.iter().find(|(id, _)| *id == position.id) {
            return Ok(*at);
        }
        let at = happened_at(connection, position)?;
        known.push((position.id, at));
        Ok(at)
    }

    /// Returns what the delegate last did at a place itself, by whatever door.
    pub fn at(&self, device: DeviceId) -> PresenceState {
        let found = self.places.iter().find(|(at, _)| *at == device);
        found.map_or_else(PresenceState::default, |(_, state)| *state)
    }

    /// The position of the last check-in or check-out anywhere.
    pub fn latest_passage(&self) -> Option<Timestamp> {
        let passages = self
            .places
            .iter()
            .map(|(_, at)| at.last_in.max(at.last_out));
        passages.max().flatten().map(|moment| moment.at)
    }

    /// As [`History::at`], but leaving a place above means leaving this one too.
    pub fn state(
        &self,
        connection: &Connection,
        device_cache: &DeviceCache,
        device: DeviceId,
    ) -> Result<PresenceState> {
        let mut state = self.at(device);
        if state.last_in.is_some() {
            for above in device_cache.path(connection, device)?.iter().skip(1) {
                state.last_out = state.last_out.max(self.at(*above).last_out);
            }
        }
        Ok(state)
    }

    /// Devices that hold the delegate, by a check-in at each, and since when: a daily one holds nobody from a
    /// day before.
    pub fn entered(
        &self,
        connection: &Connection,
        device_cache: &DeviceCache,
    ) -> Result<Vec<(DeviceId, Position)>> {
        let mut entered = Vec::new();
        for (device, since) in self.not_left(connection, device_cache)? {
            let happened = || self.happened_at(connection, since);
            if !device_cache.is_over(connection, device, since, happened)? {
                entered.push((device, since));
            }
        }
        self.leave_other_rooms(connection, device_cache, &mut entered)?;
        Ok(entered)
    }

    /// Returns whether the delegate checked in at a device, or at anything below it, and did not check out since, on
    /// whatever day; they may have entered another room.
    pub fn is_not_left(
        &self,
        connection: &Connection,
        device_cache: &DeviceCache,
        device: DeviceId,
    ) -> Result<bool> {
        let not_left = self.not_left(connection, device_cache)?;
        Ok(!device_cache
            .within(connection, not_left, device)?
            .is_empty())
    }

    /// Returns whether the delegate checked out of a device, or of anything below it, from a time on.
    pub fn has_left_since(
        &self,
        connection: &Connection,
        device_cache: &DeviceCache,
        device: DeviceId,
        since: Timestamp,
    ) -> Result<bool> {
        for (at, own) in &self.places {
            if own.last_in.is_none() || !device_cache.path(connection, *at)?.contains(&device) {
                continue;
            }
            let state = self.state(connection, device_cache, *at)?;
            if state.last_out.is_some_and(|out| out.at >= since) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Devices at which the delegate checked in and did not check out since, on whatever day, and since
    /// when. A deleted device holds nobody.
    pub fn not_left(
        &self,
        connection: &Connection,
        device_cache: &DeviceCache,
    ) -> Result<Vec<(DeviceId, Position)>> {
        let mut entered = Vec::new();
        for (device, own) in &self.places {
            if !own.is_inside() || !device_cache.get(connection, *device)?.alive {
                continue;
            }
            let state = self.state(connection, device_cache, *device)?;
            if let Some(since) = state.last_in.filter(|_| state.is_inside()) {
                entered.push((*device, since));
            }
        }
        Ok(entered)
    }

    /// Every device the delegate is inside of: where they entered, everything above it, and
    /// [`ANYWHERE`]; in order.
    pub fn inside(
        &self,
        connection: &Connection,
        device_cache: &DeviceCache,
    ) -> Result<Vec<DeviceId>> {
        let mut inside = Vec::new();
        for (device, _) in self.entered(connection, device_cache)? {
            inside.extend_from_slice(&device_cache.path(connection, device)?);
        }
        if !inside.is_empty() {
            inside.push(ANYWHERE);
            inside.sort_unstable();
            inside.dedup();
        }
        Ok(inside)
    }
}

/// Stands for the whole venue where people inside are counted; no device has this id.
pub const ANYWHERE: DeviceId = DeviceId(0);

/// Counts a delegate's entries to a place (overrides included), by whatever door, up to `most`.
pub fn entries(
    connection: &Connection,
    doors: &Doors,
    history: &History,
    delegate: DelegateId,
    place: DeviceId,
    most: u32,
) -> Result<u32> {
    let mut statement = connection.prepare_cached(
        "SELECT count(*) FROM (
             SELECT 1 FROM interactions
             WHERE first_delegate_id = ?1 AND first_device_id = ?2 AND effect = ?3 LIMIT ?4)",
    )?;
    let mut count = 0;
    for device in history.entrances(doors, place) {
        let bound = (delegate, device, PresenceChange::Enter, most - count);
        count += statement.query_row(bound, |row| row.get::<_, u32>(0))?;
    }
    Ok(count)
}

/// The check-ins of a delegate at a place on one day, by whatever door and overrides included: the last one, and how
/// many there are, counted up to `most`. The day of a check-in is that of the earlier of its recording and its arrival,
/// and its position is never before that.
pub fn entries_on(
    connection: &Connection,
    doors: &Doors,
    history: &History,
    delegate: DelegateId,
    place: DeviceId,
    day: Day,
    most: u32,
) -> Result<(Option<Position>, u32)> {
    let mut statement = connection.prepare_cached(
        "SELECT moment, id FROM interactions
         WHERE first_delegate_id = ?1 AND first_device_id = ?2 AND effect = ?3 AND moment >= ?4
             AND min(recorded_at, created_at) >= ?4 AND min(recorded_at, created_at) < ?5
         ORDER BY moment DESC, id DESC LIMIT ?6",
    )?;
    let (mut last, mut count) = (None, 0);
    for device in history.entrances(doors, place) {
        let bound = (
            delegate,
            device,
            PresenceChange::Enter,
            day.begins,
            day.ends,
            most.max(1),
        );
        for position in statement.query_map(bound, moment)? {
            last = last.max(Some(position?));
            count += 1;
        }
    }
    Ok((last, count))
}

/// Returns when an interaction happened: the earlier of its recording and its arrival, which its position may come
/// after. Of a code that nobody has yet, the position is that.
fn happened_at(connection: &Connection, position: Position) -> Result<Timestamp> {
    let found = connection
        .prepare_cached(
            "SELECT min(recorded_at, created_at) FROM interactions WHERE id = ?1 AND moment = ?2",
        )?
        .query_row((position.id, position.at), |row| row.get(0))
        .optional()?;
    Ok(found.unwrap_or(position.at))
}

/// Check-ins of a delegate at a place before another one there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repeat {
    /// The number of them, up to [`REPEAT_MAX`].
    pub count: u32,
    /// The time at which the first of them was recorded.
    pub first_at: Timestamp,
}

/// Earlier check-ins are counted so far: it is done while others wait for the writer.
pub const REPEAT_MAX: u32 = 100;

/// The check-ins of a delegate at a place so far, by whatever door, if there are any.
pub fn repeat(
    connection: &Connection,
    doors: &Doors,
    history: &History,
    delegate: DelegateId,
    place: DeviceId,
) -> Result<Option<Repeat>> {
    if history.at(place).last_in.is_none() {
        return Ok(None);
    }
    let mut statement = connection.prepare_cached(
        "SELECT moment, id, recorded_at FROM interactions
         WHERE first_delegate_id = ?1 AND first_device_id = ?2 AND effect = ?3
         ORDER BY moment, id LIMIT 1",
    )?;
    let mut first: Option<(Position, Timestamp)> = None;
    for device in history.entrances(doors, place) {
        let found = statement
            .query_row((delegate, device, PresenceChange::Enter), |row| {
                Ok((moment(row)?, row.get(2)?))
            })
            .optional()?;
        first = first.into_iter().chain(found).min();
    }
    let Some((_, first_at)) = first else {
        return Ok(None);
    };
    Ok(Some(Repeat {
        count: entries(connection, doors, history, delegate, place, REPEAT_MAX)?,
        first_at,
    }))
}

/// Returns when an interaction was recorded. People are told this time, not the position in the order of events, which
/// differs once a clock was put right.
///
/// # Errors
/// When it cannot be read.
pub fn recorded_at(connection: &Connection, position: Position) -> Result<Timestamp> {
    recorded_where(connection, position).map(|(at, _)| at)
}

/// As [`recorded_at`], with the first device, which may be a door.
///
/// # Errors
/// When it cannot be read.
pub fn recorded_where(
    connection: &Connection,
    position: Position,
) -> Result<(Timestamp, DeviceId)> {
    Ok(connection
        .prepare_cached("SELECT recorded_at, first_device_id FROM interactions WHERE id = ?1")?
        .query_row([position.id], |row| Ok((row.get(0)?, row.get(1)?)))?)
}

/// Returns whether there is an interaction of the effect [`PresenceChange::LeaveSecond`] at all.
pub fn is_any_uninvite(connection: &Connection) -> Result<bool> {
    Ok(connection
        .prepare_cached("SELECT 1 FROM interactions WHERE effect = 4 LIMIT 1")?
        .exists([])?)
}

/// Returns whether a delegate of this standing is joined or booked with a place itself, and not taken back since. An
/// `uninvite` takes back its second delegate, where there is one, otherwise its first.
pub fn is_joined(
    connection: &Connection,
    doors: &Doors,
    delegate: DelegateId,
    place: DeviceId,
    state: &PresenceState,
) -> Result<bool> {
    if state.last_join <= state.last_leave {
        return Ok(false);
    }
    let mut statement = connection.prepare_cached(
        "SELECT moment, id FROM interactions
         WHERE second_delegate_id = ?1 AND first_device_id = ?2 AND effect = 4
         ORDER BY moment DESC, id DESC LIMIT 1",
    )?;
    let mut uninvited = None;
    for device in doors.with_doors(place) {
        let found = statement.query_row((delegate, device), moment).optional()?;
        uninvited = uninvited.max(found);
    }
    Ok(state.last_join > uninvited)
}

/// Interactions that are looked through for joins.
const LOOKED_MAX: i64 = 20_000;

/// Counts the delegates joined with a place itself, and tells whether that is all: where very much happened, only a
/// part of it is looked through.
pub fn count_joined(connection: &Connection, place: DeviceId) -> Result<(i64, bool)> {
    Ok(connection
        .prepare_cached(concat!(
            "WITH entrances (id) AS MATERIALIZED (
                 SELECT ?1 UNION ALL SELECT d.id FROM devices p JOIN devices d ON ",
            doors::joined_with_place!(),
            " WHERE p.id = ?1),
             looked AS (SELECT i.id, i.moment, i.effect, i.first_delegate_id AS delegate_id
                        FROM entrances e CROSS JOIN interactions i ON i.first_device_id = e.id LIMIT ?2)
             SELECT (SELECT count(DISTINCT delegate_id) FROM looked j
                     WHERE effect = 2 AND NOT EXISTS (
                         SELECT 1 FROM entrances e WHERE (j.moment, j.id) < (
                             SELECT moment, id FROM interactions
                             WHERE first_delegate_id = j.delegate_id AND first_device_id = e.id AND effect = 3
                             ORDER BY moment DESC, id DESC LIMIT 1))
                     AND NOT EXISTS (
                         SELECT 1 FROM entrances e WHERE (j.moment, j.id) < (
                             SELECT moment, id FROM interactions
                             WHERE second_delegate_id = j.delegate_id AND first_device_id = e.id
                             AND effect = 4
                             ORDER BY moment DESC, id DESC LIMIT 1))),
                    (SELECT count(*) FROM looked) < ?2",
        ))?
        .query_row((place, LOOKED_MAX), |row| Ok((row.get(0)?, row.get(1)?)))?)
}

/// Calls back with every delegate's history; goes through all interactions.
pub fn each_history(
    connection: &Connection,
    device_cache: &DeviceCache,
    mut found: impl FnMut(DelegateId, &History) -> Result<()>,
) -> Result<()> {
    let doors = device_cache.doors(connection)?;
    // In the order of the index, and out of it alone.
    let mut statement = connection.prepare_cached(
        "SELECT moment, id, first_delegate_id, first_device_id, effect FROM interactions
         WHERE first_delegate_id IS NOT NULL AND first_device_id IS NOT NULL AND effect <= 1
         ORDER BY first_delegate_id, first_device_id",
    )?;
    let mut rows = statement.query([])?;
    let mut current: Option<(DelegateId, History)> = None;
    while let Some(row) = rows.next()? {
        let delegate = row.get(2)?;
        if current.as_ref().is_none_or(|(of, _)| *of != delegate)
            && let Some((of, history)) = current.replace((delegate, History::default()))
        {
            found(of, &history)?;
        }
        if let (Some((_, history)), Some(change)) =
            (&mut current, PresenceChange::of_number(row.get(4)?))
        {
            history.read(&doors, row.get(3)?, change, moment(row)?);
        }
    }
    current.map_or(Ok(()), |(of, history)| found(of, &history))
}

/// Calls back with every code that nobody has yet, and its history.
pub fn each_unknown(
    connection: &Connection,
    device_cache: &DeviceCache,
    mut found: impl FnMut(&str, &History) -> Result<()>,
) -> Result<()> {
    let mut statement = connection.prepare_cached(
        "SELECT DISTINCT substr(delegate, instr(delegate, ':') + 1)
         FROM refusals INDEXED BY refusals_admitted WHERE admitted = 1",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let code: String = row.get(0)?;
        found(&code, &History::of_code(connection, device_cache, &code)?)?;
    }
    Ok(())
}

/// Counts somebody in and out who was inside some devices before and is inside others now, both in
/// order.
pub fn count(tx: &Tx<'_>, before: &[DeviceId], after: &[DeviceId]) -> Result<()> {
    let differ = |these: &[DeviceId], those: &[DeviceId], step: i64| -> Result<()> {
        for device in these {
            if those.binary_search(device).is_err() {
                tx.add_people(*device, step)?;
            }
        }
        Ok(())
    };
    differ(before, after, -1)?;
    differ(after, before, 1)
}

/// The places where delegates were inside before interactions of theirs are taken out or moved, so that they can be
/// counted afterwards.
#[derive(Debug)]
pub struct Before(Vec<(Who, Vec<DeviceId>)>);

/// The people who may be inside.
#[derive(Debug)]
enum Who {
    Delegate(DelegateId),
    /// The holder of a code that is unknown.
    Code(String),
}

impl Who {
    fn inside(&self, connection: &Connection, device_cache: &DeviceCache) -> Result<Vec<DeviceId>> {
        let history = match self {
            Self::Delegate(delegate) => History::of(connection, device_cache, *delegate),
            Self::Code(code) => History::of_code(connection, device_cache, code),
        };
        history?.inside(connection, device_cache)
    }
}

impl Before {
    /// Remembers where delegates are inside.
    pub fn of(
        connection: &Connection,
        delegates: impl IntoIterator<Item = DelegateId>,
    ) -> Result<Self> {
        Self::of_all(connection, delegates.into_iter().map(Who::Delegate))
    }

    /// Remembers where whoever has an unknown code is inside.
    pub fn of_code(connection: &Connection, code: &str) -> Result<Self> {
        Self::of_all(connection, [Who::Code(code.to_owned())])
    }

    fn of_all(connection: &Connection, all: impl IntoIterator<Item = Who>) -> Result<Self> {
        let device_cache = DeviceCache::default();
        let inside = |who: Who| {
            let inside = who.inside(connection, &device_cache)?;
            Ok((who, inside))
        };
        all.into_iter().map(inside).collect::<Result<_>>().map(Self)
    }

    /// Counts who came in or went out by it.
    pub fn count(self, tx: &Tx<'_>) -> Result<()> {
        let device_cache = DeviceCache::default();
        for (who, before) in self.0 {
            count(tx, &before, &who.inside(tx, &device_cache)?)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
