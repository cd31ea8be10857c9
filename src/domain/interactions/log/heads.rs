//! The streams that activity is merged from: interactions, refusals, what was taken back, and imports. Each is in
//! an order of its own, by its ids or, where something came in late, by when it happened. What is not looked
//! through yet holds up what happened before it.

use super::{
    find::{Finder, ON_TIME, REPEATED_MAX, newest},
    look::{deadline, look_back},
};
use crate::types::error::Result;
use rusqlite::Connection;
use std::{collections::VecDeque, ops::RangeInclusive, time::Instant};

/// The key of an entry: each kind is numbered by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Key {
    Interaction(i64),
    Refusal(i64),
    /// An interaction that was taken back, by the number of that change.
    Undone(i64),
    Import(i64),
}

impl Key {
    pub fn id(self) -> i64 {
        match self {
            Self::Interaction(id) | Self::Refusal(id) | Self::Undone(id) | Self::Import(id) => id,
        }
    }
}

/// An entry, as far as its place in the list needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    pub key: Key,
    /// Its position in time, in milliseconds.
    pub at: i64,
    /// The name of many of its kind, where machines repeat it.
    pub repeated: Option<&'static str>,
    pub device: Option<i64>,
}

impl Head {
    pub fn single(key: Key, at: i64) -> Self {
        Self {
            key,
            at,
            repeated: None,
            device: None,
        }
    }
}

/// A position in all streams: entries up to these come next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    pub interaction: i64,
    /// By time, then by id.
    late: (i64, i64),
    pub refusal: i64,
    late_refusal: (i64, i64),
    pub undone: i64,
    pub import: i64,
}

/// A position above everything that came late.
const ALL_LATE: (i64, i64) = (i64::MAX, i64::MAX);
/// A position below it.
const NONE_LATE: (i64, i64) = (i64::MIN, 0);

impl Position {
    pub fn newest(connection: &Connection) -> Result<Self> {
        Ok(Self {
            interaction: newest(connection, "interactions")?,
            late: ALL_LATE,
            refusal: newest(connection, "refusals")?,
            late_refusal: ALL_LATE,
            undone: newest(connection, "audit")?,
            import: newest(connection, "batches")?,
        })
    }

    /// The position from interactions of an id on, and nothing else.
    pub fn of_interactions(id: i64) -> Self {
        Self {
            interaction: id,
            late: NONE_LATE,
            refusal: 0,
            late_refusal: NONE_LATE,
            undone: 0,
            import: 0,
        }
    }

    /// Reads what [`Position::shown`] writes.
    pub fn parse(text: &str) -> Option<Self> {
        let numbers: Option<Vec<i64>> = text.split('_').map(|part| part.parse().ok()).collect();
        let [
            interaction,
            at,
            late,
            refusal,
            refused_at,
            late_refusal,
            undone,
            import,
        ] = numbers?[..]
        else {
            return None;
        };
        Some(Self {
            interaction,
            late: (at, late),
            refusal,
            late_refusal: (refused_at, late_refusal),
            undone,
            import,
        })
    }

    pub fn shown(self) -> String {
        let ((at, late), (refused_at, late_refusal)) = (self.late, self.late_refusal);
        let numbers = [
            self.interaction,
            at,
            late,
            self.refusal,
            refused_at,
            late_refusal,
            self.undone,
            self.import,
        ];
        numbers.map(|number| number.to_string()).join("_")
    }

    fn has_more(self) -> bool {
        self.interaction > 0
            || self.late > NONE_LATE
            || self.refusal > 0
            || self.late_refusal > NONE_LATE
            || self.undone > 0
            || self.import > 0
    }
}

/// One of the streams, as far as it was looked through.
#[derive(Default)]
pub struct Stream {
    heads: VecDeque<Head>,
    /// The time and id at which to go on, and the time of the last that was looked at; none at the end.
    rest: Option<((i64, i64), i64)>,
}

impl Stream {
    /// The time and id at which the next page goes on; none at the end.
    fn next(&self) -> Option<(i64, i64)> {
        let rest = || self.rest.map(|(rest, _)| rest);
        self.heads
            .front()
            .map(|head| (head.at, head.key.id()))
            .or_else(rest)
    }
}

/// All of them, from a position on.
pub struct Streams([Stream; 6]);

impl Streams {
    /// Looks through them for so many entries each, until a time.
    pub fn look(
        connection: &Connection,
        finder: &Finder,
        from: Position,
        most: usize,
    ) -> Result<Self> {
        let reader = StreamReader {
            connection,
            most,
            end: deadline(),
        };
        let mut streams = Self(Default::default());
        let [on_time, late, refusals, late_refusals, undone, imports] = &mut streams.0;
        if finder.wants_interactions() {
            *on_time = reader.by_id(INTERACTION_TIME, from.interaction, |ids, most| {
                finder.interactions(connection, ids, ON_TIME, most)
            })?;
            *late = reader.by_time(&LATE_INTERACTIONS, from.late, |ids| {
                finder.late_interactions(connection, ids)
            })?;
        }
        if finder.wants_refusals() {
            *refusals = reader.by_id(REFUSAL_TIME, from.refusal, |ids, most| {
                finder.refusals(connection, ids, "at - recorded_at <= 60000", most)
            })?;
            *late_refusals = reader.by_time(&LATE_REFUSALS, from.late_refusal, |ids| {
                finder.late_refusals(connection, ids)
            })?;
        }
        if finder.wants_undone() {
            *undone = reader.by_id(CHANGE_TIME, from.undone, |ids, most| {
                finder.undone(connection, ids, most)
            })?;
        }
        if finder.wants_imports() {
            *imports = reader.by_id(IMPORT_TIME, from.import, |ids, most| {
                imports_within(connection, ids, most)
            })?;
        }
        Ok(streams)
    }

    /// The next entry: what happened last. None as soon as a stream is not looked through that far.
    pub fn next(&mut self) -> Option<Head> {
        let unknown = self.0.iter().filter(|stream| stream.heads.is_empty());
        let unknown = unknown
            .filter_map(|stream| stream.rest)
            .map(|(_, floor)| floor)
            .max();
        let first = |stream: &Stream| stream.heads.front().map(|head| head.at);
        let at = self.0.iter().filter_map(first).max()?;
        if unknown.is_some_and(|floor| at < floor) {
            return None;
        }
        // Of the same moment, the kinds in their order.
        self.0
            .iter_mut()
            .find(|stream| first(stream) == Some(at))?
            .heads
            .pop_front()
    }

    /// The entry that comes next, without taking it.
    pub fn peek(&self) -> Option<&Head> {
        let heads = self.0.iter().filter_map(|stream| stream.heads.front());
        heads.rev().max_by_key(|head| head.at)
    }

    /// The position at which the next page begins; none where there is nothing more.
    pub fn position(&self) -> Option<Position> {
        let [on_time, late, refusals, late_refusals, undone, imports] =
            self.0.each_ref().map(Stream::next);
        let id = |next: Option<(i64, i64)>| next.map_or(0, |(_, id)| id);
        let position = Position {
            interaction: id(on_time),
            late: late.unwrap_or(NONE_LATE),
            refusal: id(refusals),
            late_refusal: late_refusals.unwrap_or(NONE_LATE),
            undone: id(undone),
            import: id(imports),
        };
        position.has_more().then_some(position)
    }
}

/// Imports of a stretch of ids, the newest first.
pub fn imports_within(
    connection: &Connection,
    ids: &RangeInclusive<i64>,
    most: usize,
) -> Result<Vec<Head>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, created_at FROM batches WHERE id BETWEEN ?1 AND ?2 ORDER BY id DESC LIMIT ?3",
    )?;
    let found = statement.query_map((ids.start(), ids.end(), most), |row| {
        Ok(Head::single(Key::Import(row.get(0)?), row.get(1)?))
    })?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

/// The time of the first row from an id on, of each table whose rows are in the order of their ids.
const INTERACTION_TIME: &str =
    "SELECT created_at FROM interactions WHERE id >= ?1 ORDER BY id LIMIT 1";
const REFUSAL_TIME: &str = "SELECT at FROM refusals WHERE id >= ?1 ORDER BY id LIMIT 1";
const CHANGE_TIME: &str = "SELECT at FROM audit WHERE id >= ?1 ORDER BY id LIMIT 1";
const IMPORT_TIME: &str = "SELECT created_at FROM batches WHERE id >= ?1 ORDER BY id LIMIT 1";

/// Rows of a table that came in late, in the order of an index: those of a moment, and those before it.
struct Late {
    of_moment: &'static str,
    before: &'static str,
}

const LATE_INTERACTIONS: Late = Late {
    of_moment: "SELECT id, moment FROM interactions INDEXED BY interactions_late
        WHERE created_at - moment > 60000 AND moment = ?1 AND id <= ?2 ORDER BY id DESC LIMIT ?3",
    before: "SELECT id, moment FROM interactions INDEXED BY interactions_late
        WHERE created_at - moment > 60000 AND moment < ?1 AND ?2 IS NOT NULL ORDER BY moment DESC, id DESC LIMIT ?3",
};
const LATE_REFUSALS: Late = Late {
    of_moment: "SELECT id, recorded_at FROM refusals INDEXED BY refusals_late
        WHERE at - recorded_at > 60000 AND recorded_at = ?1 AND id <= ?2 ORDER BY id DESC LIMIT ?3",
    before: "SELECT id, recorded_at FROM refusals INDEXED BY refusals_late
        WHERE at - recorded_at > 60000 AND recorded_at < ?1 AND ?2 IS NOT NULL
        ORDER BY recorded_at DESC, id DESC LIMIT ?3",
};
/// Rows that came in late and are looked at together.
const LATE_SLICE: usize = 500;

/// Reads streams: so many entries of each, until a time.
struct StreamReader<'a> {
    connection: &'a Connection,
    most: usize,
    end: Instant,
}

impl StreamReader<'_> {
    /// Reads a stream by its ids; `time` is the query for the time of the first row from an id on.
    fn by_id(
        &self,
        time: &str,
        from: i64,
        find: impl FnMut(&RangeInclusive<i64>, usize) -> Result<Vec<Head>>,
    ) -> Result<Stream> {
        let found = look_back(from, self.most, self.end, find)?;
        let rest = match found.reached {
            Some(reached) => {
                let floor = self.time_from(time, reached)?;
                Some(((floor, reached - 1), floor))
            }
            None => None,
        };
        Ok(Stream {
            heads: found.heads.into(),
            rest,
        })
    }

    fn time_from(&self, time: &str, id: i64) -> Result<i64> {
        let mut statement = self.connection.prepare_cached(time)?;
        let mut rows = statement.query([id])?;
        Ok(match rows.next()? {
            Some(row) => row.get(0)?,
            None => i64::MAX,
        })
    }

    /// Reads a stream of what came in late.
    fn by_time(
        &self,
        late: &Late,
        mut from: (i64, i64),
        mut find: impl FnMut(&[i64]) -> Result<Vec<Head>>,
    ) -> Result<Stream> {
        let mut stream = Stream::default();
        let mut singles = 0;
        loop {
            let slice = self.late_slice(late, from)?;
            let ids: Vec<i64> = slice.iter().map(|(_, id)| *id).collect();
            let found = find(&ids)?;
            singles += found.iter().filter(|head| head.repeated.is_none()).count();
            stream.heads.extend(found);
            let Some(last) = slice.last().filter(|_| slice.len() == LATE_SLICE) else {
                return Ok(stream);
            };
            from = (last.0, last.1 - 1);
            let is_enough = singles >= self.most || stream.heads.len() >= REPEATED_MAX;
            if is_enough || Instant::now() > self.end {
                stream.rest = Some((from, last.0));
                return Ok(stream);
            }
        }
    }

    /// The next rows that came in late, from a position on: their times and ids.
    fn late_slice(&self, late: &Late, from: (i64, i64)) -> Result<Vec<(i64, i64)>> {
        let mut slice = Vec::new();
        for sql in [late.of_moment, late.before] {
            let mut statement = self.connection.prepare_cached(sql)?;
            let rows = statement.query_map((from.0, from.1, LATE_SLICE - slice.len()), |row| {
                Ok((row.get(1)?, row.get(0)?))
            })?;
            slice.extend(rows.collect::<rusqlite::Result<Vec<_>>>()?);
        }
        Ok(slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(heads: &[(Key, i64)], rest: Option<((i64, i64), i64)>) -> Stream {
        Stream {
            heads: heads
                .iter()
                .map(|(key, at)| Head::single(*key, *at))
                .collect(),
            rest,
        }
    }

    fn all(streams: &mut Streams) -> Vec<Key> {
        std::iter::from_fn(|| streams.next().map(|head| head.key)).collect()
    }

    #[test]
    fn everything_is_told_in_the_order_it_happened() {
        let mut streams = Streams([
            stream(
                &[(Key::Interaction(100), 50), (Key::Interaction(99), 10)],
                None,
            ),
            stream(&[(Key::Interaction(98), 30)], None),
            stream(&[(Key::Refusal(10), 20)], None),
            Stream::default(),
            stream(&[(Key::Undone(7), 60)], None),
            stream(&[(Key::Import(1), 5)], None),
        ]);
        let expected = [
            Key::Undone(7),
            Key::Interaction(100),
            Key::Interaction(98),
            Key::Refusal(10),
            Key::Interaction(99),
            Key::Import(1),
        ];
        assert_eq!(all(&mut streams), expected);
        assert_eq!(streams.position(), None);
    }

    #[test]
    fn one_kind_waits_for_where_another_was_not_looked_yet() {
        let mut streams = Streams([
            stream(&[(Key::Interaction(90), 50)], Some(((40, 79), 40))),
            Stream::default(),
            stream(&[(Key::Refusal(10), 45), (Key::Refusal(9), 30)], None),
            Stream::default(),
            Stream::default(),
            Stream::default(),
        ]);
        assert_eq!(all(&mut streams), [Key::Interaction(90), Key::Refusal(10)]);
        let next = streams.position().expect("more");
        assert_eq!((next.interaction, next.refusal, next.undone), (79, 9, 0));
        assert_eq!(Position::parse(&next.shown()), Some(next));
    }
}
