//! Interactions and refusals as people look through them: both in one list, the newest first, all the
//! way back. A table is read by id, range by range, each as long as the last ones were quick: what is rare
//! may not be found in one go, and the next page continues from there.
//!
//! - `find`: those of a range of ids
//! - `lines`: their names

use crate::types::{Timestamp, error::Result};
use find::{Finder, newest};
use lines::{Key, Line};
use rusqlite::Connection;
use std::{
    ops::RangeInclusive,
    time::{Duration, Instant},
};

pub mod find;
pub mod lines;

/// Lines on a page.
pub const PAGE: usize = 50;

/// A place in both tables: ids up to these come next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub interaction: i64,
    pub refusal: i64,
}

impl Place {
    /// Reads `123-45`.
    pub fn parse(text: &str) -> Option<Self> {
        let (interaction, refusal) = text.split_once('-')?;
        Some(Self {
            interaction: interaction.parse().ok()?,
            refusal: refusal.parse().ok()?,
        })
    }

    pub fn newest(connection: &Connection) -> Result<Self> {
        Ok(Self {
            interaction: newest(connection, "interactions")?,
            refusal: newest(connection, "refusals")?,
        })
    }

    /// The place as [`Place::parse`] reads it.
    pub fn shown(self) -> String {
        format!("{}-{}", self.interaction, self.refusal)
    }
}

/// One of the two kinds of lines, as far as it was looked for.
#[derive(Default)]
struct Half {
    lines: Vec<Line>,
    /// Below this one was not looked.
    reached: Option<i64>,
    /// When the last that was looked at came in: older lines of the other kind have to wait.
    floor: Option<i64>,
}

/// A page of lines and where the next one begins.
pub struct Found {
    pub lines: Vec<Line>,
    /// Where the next page begins.
    pub next: Option<Place>,
}

/// Looks for a page of lines from a place on.
pub fn find(connection: &Connection, finder: &Finder, from: Place) -> Result<Found> {
    let (mut interactions, mut refusals) = (Half::default(), Half::default());
    if finder.wants_interactions() {
        let found = look_back(from.interaction, PAGE, |ids, most| {
            finder.interactions(connection, ids, most)
        })?;
        interactions = Half {
            floor: floor(connection, found.reached, "interactions", "created_at")?,
            lines: lines::interactions(connection, &found.ids)?,
            reached: found.reached,
        };
    }
    if finder.wants_refusals() {
        let found = look_back(from.refusal, PAGE, |ids, most| {
            finder.refusals(connection, ids, most)
        })?;
        refusals = Half {
            floor: floor(connection, found.reached, "refusals", "at")?,
            lines: lines::refusals(connection, &found.ids)?,
            reached: found.reached,
        };
    }
    Ok(merged(interactions, refusals, from))
}

/// When the first row from an id on came in.
fn floor(
    connection: &Connection,
    reached: Option<i64>,
    table: &str,
    column: &str,
) -> Result<Option<i64>> {
    let Some(reached) = reached else {
        return Ok(None);
    };
    let sql = format!("SELECT {column} FROM {table} WHERE id >= ?1 ORDER BY id LIMIT 1");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([reached])?;
    Ok(match rows.next()? {
        Some(row) => Some(row.get(0)?),
        None => None,
    })
}

fn merged(interactions: Half, refusals: Half, from: Place) -> Found {
    let floor = interactions.floor.max(refusals.floor).unwrap_or(i64::MIN);
    let counts = (interactions.lines.len(), refusals.lines.len());
    let mut lines: Vec<Line> = interactions.lines;
    lines.extend(refusals.lines);
    // Stable: what came in at the same moment stays in the order of its kind.
    lines.sort_by_key(|line| std::cmp::Reverse(line.at));
    lines.retain(|line| line.at.0 >= floor);
    lines.truncate(PAGE);
    let (mut shown, mut next) = ((0, 0), from);
    for line in &lines {
        match line.key {
            Key::Interaction(id) => {
                shown.0 += 1;
                next.interaction = next.interaction.min(id - 1);
            }
            Key::Refusal(id) => {
                shown.1 += 1;
                next.refusal = next.refusal.min(id - 1);
            }
        }
    }
    // What was looked through and shown in full is left behind.
    let behind = |shown: usize, count: usize, reached: Option<i64>, next: i64| {
        if shown < count {
            next
        } else {
            reached.map_or(0, |reached| next.min(reached - 1))
        }
    };
    next.interaction = behind(shown.0, counts.0, interactions.reached, next.interaction);
    next.refusal = behind(shown.1, counts.1, refusals.reached, next.refusal);
    let more = next.interaction > 0 || next.refusal > 0;
    Found {
        lines,
        next: more.then_some(next),
    }
}

/// Refusals up to an id, as many as are wanted.
pub fn find_refusals(
    connection: &Connection,
    finder: &Finder,
    from: Option<i64>,
    most: usize,
) -> Result<(Vec<Line>, Option<i64>)> {
    let (high, low) = finder.span_of_refusals(connection)?;
    let from = from.map_or(high, |from| from.min(high));
    let found = look_back(from, most, |ids, most| {
        if *ids.end() < low {
            return Ok(Vec::new());
        }
        finder.refusals(connection, ids, most)
    })?;
    let next = found.reached.map(|reached| reached - 1);
    let lines = lines::refusals(connection, &found.ids)?;
    Ok((lines, next.filter(|next| *next >= low)))
}

/// What came in after a place, up to another: the newest of it, the newest first.
pub fn since(
    connection: &Connection,
    finder: &Finder,
    after: Place,
    upto: Place,
) -> Result<Vec<Line>> {
    let mut lines = Vec::new();
    if finder.wants_interactions() && upto.interaction > after.interaction {
        let ids = after.interaction + 1..=upto.interaction;
        let ids = finder.interactions(connection, ids, PAGE)?;
        lines.extend(lines::interactions(connection, &ids)?);
    }
    if finder.wants_refusals() && upto.refusal > after.refusal {
        let ids = after.refusal + 1..=upto.refusal;
        let ids = finder.refusals(connection, ids, PAGE)?;
        lines.extend(lines::refusals(connection, &ids)?);
    }
    lines.sort_by_key(|line| std::cmp::Reverse(line.at));
    lines.truncate(PAGE);
    Ok(lines)
}

/// An admitted check-in that the rules would have refused.
pub struct Conflict {
    /// The interaction.
    pub line: Line,
    /// The code of the refusal that was not.
    pub code: i64,
    pub message: String,
}

/// Conflicts up to an id, and where the next page begins.
pub fn conflicts(
    connection: &Connection,
    from: Option<i64>,
    limit: usize,
) -> Result<(Vec<Conflict>, Option<i64>)> {
    let mut statement = connection.prepare_cached(
        "SELECT id, interaction_id, code, message FROM conflicts WHERE id <= ?1 ORDER BY id DESC LIMIT ?2",
    )?;
    let rows = statement.query_map((from.unwrap_or(i64::MAX), limit + 1), |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
    })?;
    let mut rows = rows.collect::<rusqlite::Result<Vec<(i64, i64, i64, String)>>>()?;
    let next = rows.get(limit).map(|row| row.0);
    rows.truncate(limit);
    let ids: Vec<i64> = rows.iter().map(|row| row.1).collect();
    let lines = lines::interactions(connection, &ids)?;
    let of = |id: i64| lines.iter().find(|line| line.key == Key::Interaction(id));
    let conflicts = rows
        .into_iter()
        .filter_map(|(_, interaction, code, message)| {
            Some(Conflict {
                line: of(interaction)?.clone(),
                code,
                message,
            })
        });
    Ok((conflicts.collect(), next))
}

/// How many of the newest conflicts, [`COUNTED_MAX`] at the most, are of this time on.
pub fn conflicts_since(connection: &Connection, since: Timestamp) -> Result<i64> {
    Ok(connection
        .prepare_cached(
            "SELECT count(*) FROM (SELECT at FROM conflicts ORDER BY id DESC LIMIT ?1) WHERE at >= ?2",
        )?
        .query_row((COUNTED_MAX, since), |row| row.get(0))?)
}

/// Conflicts that are counted.
const COUNTED_MAX: i64 = 100;

/// How long is looked in one go.
const TIME: Duration = Duration::from_millis(60);
/// How long one stretch may take, as far as it can be guessed.
const STRETCH_TIME: Duration = Duration::from_millis(10);
/// Ids of the first stretch.
const STRETCH_FIRST: i64 = 2_000;
/// The most ids of a stretch.
const STRETCH_MAX: i64 = 200_000;

#[derive(Debug, PartialEq, Eq)]
struct FoundIds {
    /// The ids, the newest first.
    pub ids: Vec<i64>,
    /// Below this one was not looked any more; none where there is nothing below.
    pub reached: Option<i64>,
}

/// Looks for `most` ids up to `from`; `find` gives those of a stretch, the newest first, as many as
/// it is told at the most.
fn look_back(
    from: i64,
    most: usize,
    mut find: impl FnMut(RangeInclusive<i64>, usize) -> Result<Vec<i64>>,
) -> Result<FoundIds> {
    let end = Instant::now() + TIME;
    let (mut high, mut stretch) = (from, STRETCH_FIRST);
    let mut ids = Vec::new();
    while high > 0 {
        let low = (high - stretch + 1).max(1);
        let begun = Instant::now();
        ids.extend(find(low..=high, most - ids.len())?);
        if ids.len() >= most {
            let last = ids.last().copied();
            return Ok(FoundIds { ids, reached: last });
        }
        high = low - 1;
        if Instant::now() > end && high > 0 {
            return Ok(FoundIds {
                ids,
                reached: Some(low),
            });
        }
        let took = begun.elapsed();
        stretch = if took < STRETCH_TIME / 4 {
            stretch * 4
        } else if took > STRETCH_TIME {
            stretch / 2
        } else {
            stretch
        }
        .clamp(STRETCH_FIRST / 4, STRETCH_MAX);
    }
    Ok(FoundIds { ids, reached: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Timestamp;

    fn line(key: Key, at: i64) -> Line {
        Line {
            key,
            at: Timestamp(at),
            recorded_at: Timestamp(at),
            kind: "check-in".into(),
            delegate: String::new(),
            delegate_id: None,
            other: String::new(),
            device: String::new(),
            device_id: None,
            message: None,
            code: None,
            scanned: String::new(),
            sender: String::new(),
            waits: false,
        }
    }

    fn half(lines: Vec<Line>, reached: Option<i64>, floor: Option<i64>) -> Half {
        Half {
            lines,
            reached,
            floor,
        }
    }

    const FROM: Place = Place {
        interaction: 100,
        refusal: 10,
    };

    #[test]
    fn both_kinds_are_told_in_the_order_they_came_in() {
        let found = merged(
            half(
                vec![
                    line(Key::Interaction(100), 50),
                    line(Key::Interaction(99), 10),
                ],
                None,
                None,
            ),
            half(vec![line(Key::Refusal(10), 20)], None, None),
            FROM,
        );
        let order: Vec<_> = found.lines.iter().map(Line::name).collect();
        assert_eq!(order, ["i100", "r10", "i99"]);
        assert_eq!(found.next, None);
    }

    #[test]
    fn one_kind_waits_for_where_the_other_was_not_looked_yet() {
        let found = merged(
            half(vec![line(Key::Interaction(90), 50)], Some(80), Some(40)),
            half(
                vec![line(Key::Refusal(10), 45), line(Key::Refusal(9), 30)],
                None,
                None,
            ),
            FROM,
        );
        let order: Vec<_> = found.lines.iter().map(Line::name).collect();
        assert_eq!(order, ["i90", "r10"]);
        let next = Place {
            interaction: 79,
            refusal: 9,
        };
        assert_eq!(found.next, Some(next));
        assert_eq!(Place::parse(&next.shown()), Some(next));
    }

    #[test]
    fn a_look_in_vain_goes_on_below() {
        let found = merged(
            half(Vec::new(), Some(60), Some(7)),
            half(Vec::new(), None, None),
            FROM,
        );
        assert!(found.lines.is_empty());
        let next = Place {
            interaction: 59,
            refusal: 0,
        };
        assert_eq!(found.next, Some(next));
    }
}

#[cfg(test)]
mod look_tests {
    use super::*;

    #[test]
    fn every_id_is_looked_at_once() {
        let mut seen = Vec::new();
        let found = look_back(10_000, 5, |range, most| {
            let ids: Vec<i64> = range
                .rev()
                .filter(|id| id % 4_000 == 1)
                .take(most)
                .collect();
            seen.extend(ids.iter().copied());
            Ok(ids)
        });
        let found = found.unwrap();
        assert_eq!(found.ids, [8_001, 4_001, 1]);
        assert_eq!(found.reached, None);
        assert_eq!(seen, found.ids);
    }

    #[test]
    fn a_full_page_tells_where_to_go_on() {
        let all = |range: RangeInclusive<i64>, most| Ok(range.rev().take(most).collect());
        let found = look_back(100, 3, all).unwrap();
        assert_eq!(found.ids, [100, 99, 98]);
        assert_eq!(found.reached, Some(98));
    }

    #[test]
    fn what_takes_too_long_is_left_for_the_next_page() {
        let found = look_back(1_000_000_000, 3, |_, _| {
            std::thread::sleep(TIME * 2);
            Ok(Vec::new())
        });
        let found = found.unwrap();
        assert_eq!(found.ids, Vec::<i64>::new());
        assert_eq!(found.reached, Some(1_000_000_000 - STRETCH_FIRST + 1));
    }
}
