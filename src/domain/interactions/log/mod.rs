//! Activity: interactions, refusals, what was taken back and imports in one list, by when they happened, the newest
//! first, all the way back. What machines repeat is folded into one entry, an import is one. A table is read by id,
//! range by range, each as long as the last ones were quick: what is rare may not be found in one go, and the next
//! page continues from there.
//!
//! - `find`: those of a range of ids
//! - `heads`: their order
//! - `look`: looking back for a bounded time
//! - `lines`: their names

use crate::{
    core::{changes::action, texts::tx},
    domain::devices,
    types::{DeviceId, Timestamp, Zone, error::Result},
};
use find::Finder;
use heads::{Head, Key, Position, Streams, imports_within};
use lines::{Import, Line};
use look::{deadline, look_back};
use rusqlite::Connection;
use std::collections::{BTreeSet, HashMap};

pub mod find;
pub mod heads;
pub mod lines;
mod look;

/// Entries on a page.
pub const PAGE: usize = 50;
/// The time for which repeats of machines are folded into one.
const FOLDED_MS: i64 = 300_000;
/// Interactions that are looked through for the rest of an entry of many.
const SEEN_AGAIN: i64 = 20_000;
/// Devices that an entry of many names.
const NAMED_MAX: usize = 2;

/// An entry of the list.
#[derive(Debug, Clone)]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all of a page of fifty are single lines"
)]
pub enum Entry {
    One(Line),
    Many(Many),
    Import(Import),
}

impl Entry {
    /// The single line, if it is one.
    pub fn into_line(self) -> Option<Line> {
        match self {
            Self::One(line) => Some(line),
            _ => None,
        }
    }

    /// As [`Entry::into_line`], to change it where it stands.
    pub fn line_mut(&mut self) -> Option<&mut Line> {
        match self {
            Self::One(line) => Some(line),
            _ => None,
        }
    }
}

/// The interactions that machines repeated within some minutes.
#[derive(Debug, Clone)]
pub struct Many {
    /// The words for them.
    pub words: &'static str,
    pub count: i64,
    /// The newest interaction of them.
    pub newest: i64,
    pub first: Timestamp,
    pub last: Timestamp,
    devices: BTreeSet<i64>,
    /// The places where they were, by name.
    pub places: String,
}

impl Many {
    fn new(head: &Head, words: &'static str) -> Self {
        Self {
            words,
            count: 0,
            newest: head.key.id(),
            first: Timestamp(head.at),
            last: Timestamp(head.at),
            devices: BTreeSet::new(),
            places: String::new(),
        }
    }

    fn add(&mut self, head: &Head) {
        self.count += 1;
        self.newest = self.newest.max(head.key.id());
        self.first = self.first.min(Timestamp(head.at));
        self.last = self.last.max(Timestamp(head.at));
        self.devices.extend(head.device);
    }

    /// The name of the entry on the page: the same for all of these minutes.
    pub fn name(&self) -> String {
        let kind = self.words.split(' ').next_back().unwrap_or_default();
        format!("m{}{kind}", self.last.0 / FOLDED_MS)
    }

    /// The position of the newest of them, for a list of them one by one.
    pub fn position(&self) -> String {
        Position::of_interactions(self.newest).shown()
    }

    fn name_places(&mut self, connection: &Connection) -> Result<()> {
        let named = self.devices.iter().take(NAMED_MAX);
        let named = named.map(|id| devices::called(connection, DeviceId(*id)));
        self.places = named.collect::<Result<Vec<_>>>()?.join(", ");
        if self.devices.len() > NAMED_MAX {
            let places = std::mem::take(&mut self.places);
            self.places = tx("interactions-places-and-others")
                .with("places", places)
                .to_string();
        }
        Ok(())
    }
}

/// A page of entries and where the next one begins.
#[derive(Default)]
pub struct Found {
    pub entries: Vec<Entry>,
    /// The position at which the next page begins.
    pub next: Option<Position>,
}

/// Entries by their keys, before they are named.
#[derive(Default)]
struct Chosen {
    order: Vec<Result<Key, usize>>,
    many: Vec<Many>,
    /// The indexes among the entries of those of some minutes.
    folds: HashMap<(&'static str, i64), usize>,
}

impl Chosen {
    /// Tells if it becomes an entry of its own.
    fn is_new(&self, head: &Head) -> bool {
        head.repeated
            .is_none_or(|words| !self.folds.contains_key(&(words, head.at / FOLDED_MS)))
    }

    fn add(&mut self, head: &Head) {
        let Some(words) = head.repeated else {
            self.order.push(Ok(head.key));
            return;
        };
        let at = *self
            .folds
            .entry((words, head.at / FOLDED_MS))
            .or_insert_with(|| {
                self.many.push(Many::new(head, words));
                self.order.push(Err(self.many.len() - 1));
                self.many.len() - 1
            });
        self.many[at].add(head);
    }

    fn named(mut self, connection: &Connection, zone: &Zone) -> Result<Vec<Entry>> {
        // One alone is told by itself.
        for slot in &mut self.order {
            if let Err(at) = slot
                && self.many[*at].count == 1
            {
                *slot = Ok(Key::Interaction(self.many[*at].newest));
            }
        }
        let ids = |wanted: fn(i64) -> Key| -> Vec<i64> {
            let keys = self.order.iter().filter_map(|slot| slot.as_ref().ok());
            keys.filter(|key| wanted(key.id()) == **key)
                .map(|key| key.id())
                .collect()
        };
        let mut lines = lines::interactions(connection, &ids(Key::Interaction))?;
        lines.extend(lines::refusals(connection, &ids(Key::Refusal))?);
        lines.extend(lines::undone(connection, &ids(Key::Undone), zone)?);
        let imports = lines::imports(connection, &ids(Key::Import))?;
        let mut entries: HashMap<Key, Entry> = lines
            .into_iter()
            .map(|line| (line.key, Entry::One(line)))
            .collect();
        entries.extend(
            imports
                .into_iter()
                .map(|one| (Key::Import(one.id), Entry::Import(one))),
        );
        for many in &mut self.many {
            many.name_places(connection)?;
        }
        let mut many: Vec<_> = self.many.into_iter().map(Some).collect();
        let entry = |slot| match slot {
            Ok(key) => entries.remove(&key),
            Err(at) => many.get_mut::<usize>(at)?.take().map(Entry::Many),
        };
        Ok(self.order.into_iter().filter_map(entry).collect())
    }
}

/// Looks for so many entries from a position on.
pub fn find(
    connection: &Connection,
    finder: &Finder,
    from: Position,
    most: usize,
    zone: &Zone,
) -> Result<Found> {
    let mut streams = Streams::look(connection, finder, from, most)?;
    let mut chosen = Chosen::default();
    while streams
        .peek()
        .is_some_and(|head| chosen.order.len() < most || !chosen.is_new(head))
    {
        let Some(head) = streams.next() else { break };
        chosen.add(&head);
    }
    Ok(Found {
        entries: chosen.named(connection, zone)?,
        next: streams.position(),
    })
}

/// Lists what came in after a position, up to another: the newest of it, by when it happened. An entry of many has all
/// of its minutes.
pub fn since(
    connection: &Connection,
    finder: &Finder,
    after: Position,
    upto: Position,
    most: usize,
    zone: &Zone,
) -> Result<Vec<Entry>> {
    let mut heads = Vec::new();
    let ids = after.interaction + 1..=upto.interaction;
    if finder.wants_interactions() && !ids.is_empty() {
        heads.extend(finder.interactions(connection, &ids, "TRUE", most)?);
    }
    let folded = heads.iter().filter(|head| head.repeated.is_some());
    if let Some(first) = folded.map(|head| head.at).min() {
        heads.retain(|head| head.repeated.is_none());
        let ids = (upto.interaction - SEEN_AGAIN).max(1)..=upto.interaction;
        heads.extend(finder.repeated_since(connection, &ids, first / FOLDED_MS * FOLDED_MS)?);
    }
    let ids = after.refusal + 1..=upto.refusal;
    if finder.wants_refusals() && !ids.is_empty() {
        heads.extend(finder.refusals(connection, &ids, "TRUE", most)?);
    }
    let ids = after.undone + 1..=upto.undone;
    if finder.wants_undone() && !ids.is_empty() {
        heads.extend(finder.undone(connection, &ids, most)?);
    }
    let ids = after.import + 1..=upto.import;
    if finder.wants_imports() && !ids.is_empty() {
        heads.extend(imports_within(connection, &ids, most)?);
    }
    heads.sort_by_key(|head| std::cmp::Reverse(head.at));
    let mut chosen = Chosen::default();
    for head in &heads {
        if chosen.order.len() < most || !chosen.is_new(head) {
            chosen.add(head);
        }
    }
    chosen.named(connection, zone)
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
    let found = look_back(from, most, deadline(), |ids, most| {
        if *ids.end() < low {
            return Ok(Vec::new());
        }
        finder.refusals(connection, ids, "TRUE", most)
    })?;
    let next = found.reached.map(|reached| reached - 1);
    let ids: Vec<i64> = found.heads.iter().map(|head| head.key.id()).collect();
    let lines = lines::refusals(connection, &ids)?;
    Ok((lines, next.filter(|next| *next >= low)))
}

/// Admitted check-ins that the rules would have refused, up to the id of a conflict, and where the next page begins.
pub fn conflicts(
    connection: &Connection,
    from: Option<i64>,
    limit: usize,
) -> Result<(Vec<Line>, Option<i64>)> {
    let mut statement = connection.prepare_cached(
        "SELECT id, interaction_id FROM conflicts WHERE id <= ?1 ORDER BY id DESC LIMIT ?2",
    )?;
    let rows = statement.query_map((from.unwrap_or(i64::MAX), limit + 1), |row| {
        Ok((row.get(0)?, row.get(1)?))
    })?;
    let mut rows = rows.collect::<rusqlite::Result<Vec<(i64, i64)>>>()?;
    let next = rows.get(limit).map(|row| row.0);
    rows.truncate(limit);
    let ids: Vec<i64> = rows.iter().map(|row| row.1).collect();
    Ok((lines::interactions(connection, &ids)?, next))
}

/// Counts the conflicts from a time on, [`COUNTED_MAX`] at the most.
pub fn conflicts_since(connection: &Connection, since: Timestamp) -> Result<i64> {
    Ok(connection
        .prepare_cached(
            "SELECT count(*) FROM (SELECT at FROM conflicts ORDER BY id DESC LIMIT ?1) WHERE at >= ?2",
        )?
        .query_row((COUNTED_MAX, since), |row| row.get(0))?)
}

/// Conflicts that are counted.
pub const COUNTED_MAX: i64 = 100;

/// The number of entries of each view since a moment, each up to [`COUNTED_MAX`].
pub struct Counts {
    pub refused: i64,
    pub conflicts: i64,
    pub undone: i64,
}

impl Counts {
    /// The views with their paths, the titles of their pages, their names, counts and tones.
    pub fn views(&self) -> [(&'static str, &'static str, &'static str, i64, &'static str); 3] {
        [
            ("refusals", "Refusals", "Refused", self.refused, "bad"),
            (
                "conflicts",
                "Conflicts",
                "Conflicts",
                self.conflicts,
                "warn",
            ),
            ("undone", "Undone", "Undone", self.undone, ""),
        ]
    }

    pub fn since(connection: &Connection, since: Timestamp) -> Result<Self> {
        Self::up_to(COUNTED_MAX, connection, since)
    }

    /// As [`Self::since`], counted to the end, with what was undone for many at once.
    pub fn all_since(connection: &Connection, since: Timestamp) -> Result<Self> {
        let mut counts = Self::up_to(-1, connection, since)?;
        let of_many: i64 = connection
            .prepare_cached(
                "SELECT count(*) FROM changes WHERE action = ?1 AND record_type = 'interaction' AND at >= ?2",
            )?
            .query_row((action::UNDO, since), |row| row.get(0))?;
        counts.undone += of_many;
        Ok(counts)
    }

    fn up_to(most: i64, connection: &Connection, since: Timestamp) -> Result<Self> {
        let count = |newest: &str| -> Result<i64> {
            let sql = format!(
                "SELECT count(*) FROM ({newest} ORDER BY id DESC LIMIT {most}) WHERE at >= ?1"
            );
            Ok(connection
                .prepare_cached(&sql)?
                .query_row([since], |row| row.get(0))?)
        };
        Ok(Self {
            refused: count("SELECT at FROM refusals")?,
            conflicts: count("SELECT at FROM conflicts")?,
            undone: count(
                "SELECT at FROM audit INDEXED BY audit_undone_order
                 WHERE action = 'delete' AND record_type = 'interaction'",
            )?,
        })
    }
}
