//! The state of one tag: where it was heard, and where its owner is.
//!
//! Rooms are told apart by level. Every half second each place that hears the tag gets a smoothed level;
//! the lead of another place over the current one adds up as evidence, and once that is enough, the
//! person moves. A single strong read, a reflection or a body in the way moves nobody. A doorway toggles. A
//! portal tells the direction by which side hears the tag better, first and last.

use super::{
    Derived, DerivedKind, Layout, Restored, TagRead,
    layout::Spot,
    pass::{Pass, Side},
};
use crate::core::presence::{PresenceSettings, Zone};

/// Levels are compared every half second.
const SLOT_MS: i64 = 500;
const SLOT_S: f32 = 0.5;
/// The weight of a slot's level: a time constant of two seconds.
const SMOOTHING: f32 = 0.221;
/// Reads within this are one.
const MERGED_MS: i64 = 250;
/// The time for which somebody who comes first into some room is heard before: the weaker antenna may read them first.
const FIRST_MS: i64 = 1_500;
/// A place that does not hear the tag for longer loses level.
const SILENT_MS: i64 = 2_000;
const LOSS_DB_PER_S: f32 = 2.0;
/// Seconds for which a lead of `moveDb` must last.
const MOVE_S: f32 = 10.0;
/// The part of `moveDb` that a lead must exceed to be evidence.
const DRIFT: f32 = 1.0 / 3.0;
/// A lead counts up to so many times `moveDb`: no single slot decides.
const LEAD_MAX: f32 = 2.0;
/// The time after which what is not heard is forgotten, where nothing else asks for it.
const FORGOTTEN_MS: i64 = 10_000;

/// A tag.
#[derive(Debug, Default)]
pub struct Person {
    heard: Vec<Heard>,
    passes: Vec<(i64, Pass, Last)>,
    stay: Option<Stay>,
    /// The time at which they entered or left last: what is found out later happened no earlier.
    changed_ms: i64,
    /// The time at which the current slot ends; 0 before the first read.
    slot_end: i64,
    /// The time at which it goes on after a restart: no silence before that counts.
    restored_ms: Option<i64>,
}

/// The stay of somebody at a place.
#[derive(Debug, Clone, Copy)]
struct Stay {
    place: i64,
    since_ms: i64,
    last: Last,
}

/// The last read at a place.
#[derive(Debug, Clone, Copy, Default)]
struct Last {
    reader: i64,
    antenna: u16,
    rssi_dbm: f32,
    at_ms: i64,
    /// Reads since it was first heard there.
    reads: u32,
}

impl Last {
    fn note(&mut self, read: &TagRead) {
        *self = Self {
            reader: read.reader,
            antenna: read.antenna,
            rssi_dbm: read.rssi_dbm,
            at_ms: read.at_ms,
            reads: self.reads.saturating_add(1),
        };
    }

    fn derived(&self, kind: DerivedKind, tag: i64, place: i64, at_ms: i64) -> Derived {
        Derived {
            kind,
            tag,
            place,
            reader: self.reader,
            antenna: self.antenna,
            rssi_dbm: self.rssi_dbm,
            reads: self.reads,
            at_ms,
        }
    }
}

/// A room, a doorway or a portal that hears the tag.
#[derive(Debug)]
struct Heard {
    place: i64,
    zone: Zone,
    /// The first read of this visit, and the last one.
    first_ms: i64,
    last: Last,
    /// The last reads that count, at most as many as a sighting takes.
    counted: Vec<i64>,
    /// Set while a sighting goes on, and once it was told.
    is_sighted: bool,
    is_told: bool,
    /// Smoothed, in dBm.
    level: f32,
    /// Set where the level is only assumed.
    is_assumed: bool,
    /// The strongest read of the current slot.
    slot_best: Option<f32>,
    /// Evidence that the person is here rather than at the current place, in dB and seconds.
    evidence: f32,
    /// A doorway tells nothing before this.
    dead_until: i64,
}

impl Heard {
    fn new(place: i64, zone: Zone, level: f32) -> Self {
        Self {
            place,
            zone,
            first_ms: i64::MAX,
            last: Last::default(),
            counted: Vec::new(),
            is_sighted: false,
            is_told: false,
            level,
            is_assumed: false,
            slot_best: None,
            evidence: 0.0,
            dead_until: i64::MIN,
        }
    }

    /// Returns whether it hears this place as a room.
    fn is_room(&self, place: i64) -> bool {
        self.zone == Zone::Room && self.place == place
    }

    fn note(&mut self, read: &TagRead, rules: &PresenceSettings) {
        let at = read.at_ms;
        if at - self.last.at_ms > i64::from(rules.gone_after_seconds) * 1000 {
            // Another visit.
            self.is_told = false;
            self.last.reads = 0;
        }
        if self.last.reads == 0 {
            self.first_ms = at;
        }
        self.last.note(read);
        self.slot_best = Some(
            self.slot_best
                .map_or(read.rssi_dbm, |best| best.max(read.rssi_dbm)),
        );
        if self
            .counted
            .last()
            .is_none_or(|last| at - last >= MERGED_MS)
        {
            self.counted.push(at);
            let needed = rules.min_reads.max(1) as usize;
            let excess = self.counted.len().saturating_sub(needed);
            self.counted.drain(..excess);
            self.is_sighted =
                self.counted.len() == needed && at - self.counted[0] <= i64::from(rules.window_ms);
        }
    }

    /// Ends a slot.
    fn end_slot(&mut self, slot_end: i64) {
        match self.slot_best.take() {
            Some(best) if self.is_assumed => (self.level, self.is_assumed) = (best, false),
            Some(best) => self.level += SMOOTHING * (best - self.level),
            None if slot_end - self.last.at_ms > SILENT_MS => {
                self.level -= LOSS_DB_PER_S * SLOT_S;
                // What follows a silence begins anew: a place that never heard the tag would lead otherwise.
                self.is_assumed = true;
                self.is_sighted = false;
            }
            None => {}
        }
    }
}

/// The reads at a place that antennas hear as a room.
fn room_of(heard: &[Heard], place: Option<i64>) -> Option<&Heard> {
    heard
        .iter()
        .find(|one| one.zone == Zone::Room && Some(one.place) == place)
}

impl Person {
    /// Goes on with a stay of before.
    pub fn restore(&mut self, stay: &Restored, now_ms: i64, layout: &Layout) {
        let (place, since_ms) = (stay.place, stay.since_ms);
        let last = Last {
            reader: stay.reader,
            antenna: stay.antenna,
            rssi_dbm: stay.rssi_dbm,
            at_ms: stay.heard_ms,
            reads: stay.reads,
        };
        self.stay = Some(Stay {
            place,
            since_ms,
            last,
        });
        if layout.has_room(place) {
            self.wait_for_reads(place, last, layout);
        }
        self.follow(layout, stay.heard_ms);
        self.changed_ms = since_ms;
        self.slot_end = slot_end(now_ms);
        self.restored_ms = Some(now_ms);
    }

    /// Goes on with another layout: who is where no antenna listens any more leaves like anybody who is not heard.
    pub fn follow(&mut self, layout: &Layout, now_ms: i64) {
        let Some(stay) = self.stay else {
            return;
        };
        if !layout.watches(stay.place) {
            let at_ms = stay.last.at_ms.max(now_ms);
            self.wait_for_reads(stay.place, Last { at_ms, ..stay.last }, layout);
        } else if !layout.has_room(stay.place) {
            // A portal hears them when they leave.
            self.heard.retain(|one| !one.is_room(stay.place));
        }
    }

    /// Waits for reads of the place where they are, as of a room.
    fn wait_for_reads(&mut self, place: i64, last: Last, layout: &Layout) {
        if !self.heard.iter().any(|one| one.is_room(place)) {
            let mut heard = Heard::new(place, Zone::Room, layout.rules(place).rssi_floor_dbm);
            heard.last = last;
            heard.is_told = true;
            heard.is_assumed = true;
            self.heard.push(heard);
        }
    }

    pub fn place(&self) -> Option<i64> {
        self.stay.map(|stay| stay.place)
    }

    /// Notes a read, after time has passed until then.
    pub fn hear(&mut self, read: &TagRead, spot: &Spot) {
        if spot.zone.is_side() {
            let at = self
                .passes
                .iter()
                .position(|(place, _, _)| *place == spot.place);
            let at = at.unwrap_or_else(|| {
                self.passes
                    .push((spot.place, Pass::begin(read.at_ms), Last::default()));
                self.passes.len() - 1
            });
            let (_, pass, last) = &mut self.passes[at];
            let side = if spot.zone == Zone::Inside {
                Side::Inside
            } else {
                Side::Outside
            };
            let floor_dbm = spot.rules.rssi_floor_dbm;
            pass.add(read.at_ms, read.rssi_dbm, side, floor_dbm);
            last.note(read);
        }
        // Both sides of a portal see somebody as one.
        let zone = if spot.zone.is_side() {
            Zone::Inside
        } else {
            spot.zone
        };
        let at = self
            .heard
            .iter()
            .position(|one| one.place == spot.place && one.zone == zone);
        let at = at.unwrap_or_else(|| {
            self.heard.push(Heard::new(spot.place, zone, read.rssi_dbm));
            self.heard.len() - 1
        });
        self.heard[at].note(read, &spot.rules);
    }

    /// Lets time pass, and derives what follows.
    pub fn pass_time(
        &mut self,
        until_ms: i64,
        tag: i64,
        layout: &Layout,
        derived: &mut Vec<Derived>,
    ) {
        if self.slot_end == 0 {
            self.slot_end = slot_end(until_ms);
        }
        loop {
            let passes = self.passes.iter().map(|(_, pass, _)| pass.judged_ms());
            let pass_end = passes.min().unwrap_or(i64::MAX);
            if pass_end.min(self.slot_end) > until_ms {
                break;
            }
            if self.heard.is_empty() && self.passes.is_empty() {
                self.slot_end = slot_end(until_ms);
                break;
            }
            if pass_end < self.slot_end {
                self.judge_passes(pass_end, tag, derived);
            } else {
                self.end_slot(tag, layout, derived);
                self.slot_end += SLOT_MS;
            }
        }
    }

    fn end_slot(&mut self, tag: i64, layout: &Layout, derived: &mut Vec<Derived>) {
        let now = self.slot_end;
        for one in &mut self.heard {
            one.end_slot(now);
            if one.is_sighted && !one.is_told {
                one.is_told = true;
                derived.push(
                    one.last
                        .derived(DerivedKind::Seen, tag, one.place, one.last.at_ms),
                );
            }
        }
        self.judge_passes(now, tag, derived);
        self.doors(tag, layout, derived);
        self.rooms(now, tag, layout, derived);
        let current = self.place();
        self.heard.retain(|one| {
            let kept_ms =
                FORGOTTEN_MS.max(i64::from(layout.rules(one.place).gone_after_seconds) * 1000);
            now - one.last.at_ms <= kept_ms
                || (Some(one.place) == current && one.zone == Zone::Room)
        });
    }

    fn judge_passes(&mut self, now: i64, tag: i64, derived: &mut Vec<Derived>) {
        let mut judged = Vec::new();
        self.passes.retain_mut(|(place, pass, last)| {
            if pass.judged_ms() <= now {
                judged.push((*place, pass.direction(), *last));
                pass.go_on();
            }
            pass.end_ms() > now
        });
        for (place, direction, last) in judged {
            match direction {
                Some(Side::Inside) => self.enter(place, last, tag, derived),
                Some(Side::Outside) if self.place() == Some(place) => {
                    self.leave(last, tag, derived);
                }
                _ => {}
            }
        }
    }

    fn doors(&mut self, tag: i64, layout: &Layout, derived: &mut Vec<Derived>) {
        for at in 0..self.heard.len() {
            let door = &mut self.heard[at];
            if door.zone != Zone::Door || !door.is_sighted {
                continue;
            }
            let (place, last) = (door.place, door.last);
            let is_due = last.at_ms >= door.dead_until;
            // Who lingers in the doorway passes once.
            let dead_ms = i64::from(layout.rules(place).door_dead_seconds) * 1000;
            door.dead_until = last.at_ms.saturating_add(dead_ms.max(1));
            if !is_due {
                continue;
            }
            if self.place() == Some(place) {
                self.leave(last, tag, derived);
            } else {
                self.enter(place, last, tag, derived);
            }
        }
    }

    fn rooms(&mut self, now: i64, tag: i64, layout: &Layout, derived: &mut Vec<Derived>) {
        if let Some(at_ms) = self.gone(now, layout) {
            self.exit(at_ms, tag, derived);
        }
        if let Some((place, last)) = self.best_room(now, layout) {
            self.enter(place, last, tag, derived);
        }
    }

    /// The time of the last read at their place, if that is so long ago that they are gone.
    fn gone(&mut self, now: i64, layout: &Layout) -> Option<i64> {
        let current = self.place();
        let own = room_of(&self.heard, current)?;
        self.stay.as_mut()?.last = own.last;
        let gone_ms = i64::from(layout.rules(own.place).gone_after_seconds) * 1000;
        // A reader that was out of order could not hear them.
        let heard_ms = Some(own.last.at_ms).max(self.restored_ms);
        let heard_ms = heard_ms.unwrap_or(own.last.at_ms);
        let silent_since = heard_ms.max(layout.down_until(own.last.reader));
        (now.saturating_sub(silent_since) > gone_ms).then_some(own.last.at_ms)
    }

    /// The room of the best level among those that there is enough evidence for; collects more evidence.
    fn best_room(&mut self, now: i64, layout: &Layout) -> Option<(i64, Last)> {
        let current = self.place();
        let level = room_of(&self.heard, current).map(|own| own.level);
        let is_first_over = self.is_first_over(now);
        let mut best: Option<(f32, i64, Last)> = None;
        for one in self
            .heard
            .iter_mut()
            .filter(|one| one.zone == Zone::Room && Some(one.place) != current)
        {
            let rules = layout.rules(one.place);
            let is_enough = if current.is_none() {
                is_first_over
            } else {
                // No antenna hears the current place as a room: any level there is a lead.
                let level = level.unwrap_or(rules.rssi_floor_dbm);
                let lead = one.level - level - rules.move_db * DRIFT;
                let lead = lead.min(rules.move_db * LEAD_MAX);
                one.evidence = (one.evidence + lead * SLOT_S).max(0.0);
                one.evidence >= rules.move_db * MOVE_S
            };
            // An entry counts as of the last read, which must not be long ago.
            let recent_ms = if current.is_none() {
                FIRST_MS + SLOT_MS
            } else {
                SLOT_MS
            };
            let is_read = one.is_sighted && now - one.last.at_ms <= recent_ms;
            if is_enough && is_read && best.is_none_or(|(level, _, _)| one.level > level) {
                best = Some((one.level, one.place, one.last));
            }
        }
        best.map(|(_, place, last)| (place, last))
    }

    /// Tells that the first sighting in any room was long enough ago to compare rooms.
    fn is_first_over(&self, now: i64) -> bool {
        let rooms = self.heard.iter().filter(|one| one.zone == Zone::Room);
        let sighted = rooms.filter(|one| one.is_sighted);
        let first_ms = sighted.map(|one| one.first_ms).min();
        first_ms.is_some_and(|first_ms| now - first_ms >= FIRST_MS)
    }

    fn enter(&mut self, place: i64, last: Last, tag: i64, derived: &mut Vec<Derived>) {
        if self.place() == Some(place) {
            return;
        }
        self.exit(last.at_ms, tag, derived);
        let since_ms = last.at_ms.max(self.changed_ms);
        derived.push(last.derived(DerivedKind::Entered, tag, place, since_ms));
        self.changed_ms = since_ms;
        self.stay = Some(Stay {
            place,
            since_ms,
            last,
        });
        self.heard.iter_mut().for_each(|one| one.evidence = 0.0);
    }

    /// Leaves where they are, by a read on the way out.
    fn leave(&mut self, last: Last, tag: i64, derived: &mut Vec<Derived>) {
        if let Some(stay) = &mut self.stay {
            stay.last = last;
        }
        self.exit(last.at_ms, tag, derived);
    }

    /// Leaves where they are: by the last read there if it is heard as a room, and at `at_ms` at the latest.
    fn exit(&mut self, at_ms: i64, tag: i64, derived: &mut Vec<Derived>) {
        if let Some(stay) = self.stay.take() {
            let left_ms = if self.heard.iter().any(|one| one.is_room(stay.place)) {
                stay.last.at_ms
            } else {
                at_ms
            };
            let at_ms = left_ms.clamp(stay.since_ms, at_ms.max(stay.since_ms));
            derived.push(
                stay.last
                    .derived(DerivedKind::Exited, tag, stay.place, at_ms),
            );
            self.changed_ms = at_ms;
        }
    }

    /// Returns whether nothing is left to know.
    pub fn is_gone(&self) -> bool {
        self.stay.is_none() && self.heard.is_empty() && self.passes.is_empty()
    }
}

/// The end of the slot that a time is in.
fn slot_end(at_ms: i64) -> i64 {
    at_ms
        .div_euclid(SLOT_MS)
        .saturating_add(1)
        .saturating_mul(SLOT_MS)
}
