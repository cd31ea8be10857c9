//! Derives who is where from tag reads: a pure function of the layout and the reads in order of time, so that
//! a recorded log gives the same result again.
//!
//! - `layout`: which antenna watches which place, and by which rules
//! - `person`: what is known of one tag: rooms and doorways by level, portals by their clearer side
//!
//! Reads wait for two seconds, so that readers with delays of their own come in order.

mod layout;
mod pass;
mod person;
#[cfg(test)]
mod tests;

pub use layout::{AntennaPlace, Layout};

use person::Person;
use std::collections::{HashMap, HashSet};

/// The time for which reads wait for earlier ones.
pub const WAIT_MS: i64 = 2_000;
/// Times are cut to some 100,000 years, so that they can be added up.
const LATEST_MS: i64 = 1 << 52;
/// Reads that wait at the most; then the oldest are dropped.
const WAITING_MAX: usize = 400_000;
/// The number of reads that are dropped at a time.
const DROPPED: usize = WAITING_MAX / 10;

/// A read of an attendee's tag.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TagRead {
    /// The person whose tag it is.
    pub tag: i64,
    pub reader: i64,
    pub antenna: u16,
    pub rssi_dbm: f32,
    pub at_ms: i64,
}

/// The kind of thing that somebody was noticed doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DerivedKind {
    Exited,
    Seen,
    Entered,
}

/// The place where somebody was before a restart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Restored {
    pub tag: i64,
    pub place: i64,
    pub since_ms: i64,
    /// The reader that heard them when they entered, and how well it did.
    pub reader: i64,
    pub antenna: u16,
    pub rssi_dbm: f32,
    pub reads: u32,
    /// The last time at which they may have been heard.
    pub heard_ms: i64,
}

/// Something that follows from reads.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Derived {
    pub kind: DerivedKind,
    pub tag: i64,
    pub place: i64,
    /// The reader that heard the tag last, and how well it did.
    pub reader: i64,
    pub antenna: u16,
    pub rssi_dbm: f32,
    /// Reads since it was first heard there.
    pub reads: u32,
    pub at_ms: i64,
}

/// The places of all people.
#[derive(Debug)]
pub struct Presence {
    layout: Layout,
    waiting: Vec<TagRead>,
    people: HashMap<i64, Person>,
    /// The time up to which reads are worked off.
    done_ms: i64,
    dropped: u64,
}

impl Default for Presence {
    fn default() -> Self {
        Self::new(Layout::default())
    }
}

impl Presence {
    pub fn new(layout: Layout) -> Self {
        Self {
            layout,
            waiting: Vec::new(),
            people: HashMap::new(),
            done_ms: -LATEST_MS,
            dropped: 0,
        }
    }

    /// Goes on with other antennas, places or rules. Who is where stays, but for places that nobody hears any more.
    pub fn set_layout(&mut self, mut layout: Layout) {
        layout.down_until = std::mem::take(&mut self.layout.down_until);
        self.layout = layout;
        for person in self.people.values_mut() {
            person.follow(&self.layout, self.done_ms);
        }
    }

    /// Notes which readers are out of order: whom one of them heard last stays until it works again.
    pub fn set_down(&mut self, readers: &HashSet<i64>, now_ms: i64) {
        self.layout.set_down(readers, now_ms);
    }

    /// Goes on with people who were somewhere before. They have as long as anybody to be heard again.
    pub fn restore(&mut self, stays: impl IntoIterator<Item = Restored>, now_ms: i64) {
        for stay in stays {
            let person = self.people.entry(stay.tag).or_default();
            person.restore(&stay, now_ms, &self.layout);
        }
    }

    /// Takes a read. Before it counts, [`Presence::advance`] has to come by its time.
    pub fn push(&mut self, read: TagRead) {
        if !self.layout.knows(&read) {
            return;
        }
        if self.waiting.len() >= WAITING_MAX {
            self.waiting.sort_unstable_by_key(|read| read.at_ms);
            self.waiting.drain(..DROPPED);
            self.dropped += DROPPED as u64;
        }
        let at_ms = read.at_ms.clamp(-LATEST_MS, LATEST_MS);
        self.waiting.push(TagRead { at_ms, ..read });
    }

    /// Derives what follows from the reads up to two seconds before `now_ms`.
    pub fn advance(&mut self, now_ms: i64, derived: &mut Vec<Derived>) {
        self.work_off(now_ms.saturating_sub(WAIT_MS), derived);
    }

    /// Derives what follows from all reads, and lets as much time go by as it takes until everybody who is
    /// not read any more has left.
    pub fn finish(&mut self, derived: &mut Vec<Derived>) {
        let newest = self.waiting.iter().map(|read| read.at_ms).max();
        let until = newest.unwrap_or(self.done_ms).max(self.done_ms);
        self.work_off(until.saturating_add(self.layout.longest_ms()), derived);
    }

    fn work_off(&mut self, until_ms: i64, derived: &mut Vec<Derived>) {
        let until_ms = until_ms.min(LATEST_MS);
        if until_ms <= self.done_ms {
            return;
        }
        let begun = derived.len();
        let order = |read: &TagRead| (read.at_ms, read.tag, read.reader, read.antenna);
        let (mut due, waiting): (Vec<_>, Vec<_>) = std::mem::take(&mut self.waiting)
            .into_iter()
            .partition(|read| read.at_ms <= until_ms);
        self.waiting = waiting;
        due.sort_unstable_by(|one, other| {
            order(one)
                .cmp(&order(other))
                .then(one.rssi_dbm.total_cmp(&other.rssi_dbm))
        });
        for read in due {
            // What comes later than that counts as of now.
            let at_ms = read.at_ms.max(self.done_ms);
            let Some(spot) = self.layout.spot(&read) else {
                continue;
            };
            let person = self.people.entry(read.tag).or_default();
            person.pass_time(at_ms, read.tag, &self.layout, derived);
            person.hear(&TagRead { at_ms, ..read }, spot);
        }
        let layout = &self.layout;
        self.people.retain(|tag, person| {
            person.pass_time(until_ms, *tag, layout, derived);
            !person.is_gone()
        });
        self.done_ms = until_ms;
        derived[begun..].sort_by_key(|one| (one.at_ms, one.tag));
    }

    /// Returns where somebody is.
    pub fn place(&self, tag: i64) -> Option<i64> {
        self.people.get(&tag)?.place()
    }

    /// Lists where everybody is who is somewhere: tag and place.
    pub fn stays(&self) -> impl Iterator<Item = (i64, i64)> {
        let people = self.people.iter();
        people.filter_map(|(tag, person)| Some((*tag, person.place()?)))
    }

    /// Counts the people who are somewhere.
    pub fn len(&self) -> usize {
        self.stays().count()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reads that had to make room.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }
}
