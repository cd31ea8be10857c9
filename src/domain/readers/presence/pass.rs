//! A pass through a portal: which side hears a tag clearly better first, and which last. In between somebody may
//! stand in the queue for as long as it takes.

/// After so long without a read, the pass is over: at the latest, and where reads are dense.
const SETTLED_MS: i64 = 1_500;
const SETTLED_DENSE_MS: i64 = 700;
/// Silence is so many times the mean time between two reads, which takes some reads to know.
const GAPS: i64 = 6;
const GAPS_KNOWN: i64 = 8;
/// The time after which somebody on the other side has passed, though still heard.
const TURNED_MS: i64 = 5_000;
/// The lead in level by which a side hears the tag clearly.
const CLEAR_DB: f32 = 7.0;
/// Nobody is on a side before this: the other side may not have had its turn.
const FIRST_MS: i64 = 500;
/// The time constant of a side's level.
const SMOOTHING_MS: f32 = 800.0;
/// A side that does not hear the tag for longer loses level, down to this below the weakest read that counts.
const SILENT_MS: i64 = 500;
const LOSS_DB_PER_MS: f32 = 0.02;
const UNHEARD_DB: f32 = 3.0;
/// The part of the pass by which the means of the sides' times must differ where no side was ever clear; each side must
/// have so many reads.
const ORDER_PARTS: i64 = 3;
const ORDER_READS: i64 = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Outside,
    Inside,
}

/// The reads of a side.
#[derive(Debug, Clone, Copy, Default)]
struct Heard {
    reads: i64,
    /// Smoothed, in dBm.
    level: f32,
    last_ms: i64,
    /// The times of its reads since the beginning, added up.
    times_ms: i64,
}

/// A pass that goes on.
#[derive(Debug, Clone, Copy)]
pub struct Pass {
    first_ms: i64,
    last_ms: i64,
    reads: i64,
    /// Outside and inside.
    heard: [Heard; 2],
    from: Option<Side>,
    to: Option<Side>,
    /// The time since which it is there.
    to_since: i64,
}

impl Pass {
    pub fn begin(at_ms: i64) -> Self {
        Self {
            first_ms: at_ms,
            last_ms: at_ms,
            reads: 0,
            heard: [Heard::default(); 2],
            from: None,
            to: None,
            to_since: at_ms,
        }
    }

    /// Adds a read at one of the sides, which comes no earlier than the others; `floor_dbm` is the weakest that counts.
    pub fn add(&mut self, at_ms: i64, rssi_dbm: f32, side: Side, floor_dbm: f32) {
        self.last_ms = at_ms;
        self.reads += 1;
        let silent_ms = self.silent_ms(SILENT_MS);
        self.heard[side as usize].note(at_ms, rssi_dbm, at_ms - self.first_ms);
        let [outside, inside] = self
            .heard
            .map(|heard| heard.level_at(at_ms - silent_ms, floor_dbm));
        if at_ms - self.first_ms < FIRST_MS || (inside - outside).abs() < CLEAR_DB {
            return;
        }
        let side = if inside > outside {
            Side::Inside
        } else {
            Side::Outside
        };
        self.from.get_or_insert(side);
        if self.to != Some(side) {
            (self.to, self.to_since) = (Some(side), at_ms);
        }
    }

    /// The length of a silence that is longer than the gaps between reads.
    fn silent_ms(&self, least_ms: i64) -> i64 {
        if self.reads < GAPS_KNOWN {
            return SETTLED_MS;
        }
        let gaps_ms = (self.last_ms - self.first_ms) * GAPS / (self.reads - 1);
        gaps_ms.clamp(least_ms, SETTLED_MS)
    }

    /// The time at which the pass is over unless another read comes before.
    pub fn end_ms(&self) -> i64 {
        self.last_ms + self.silent_ms(SETTLED_DENSE_MS)
    }

    /// The time at which it is to be judged: when it is over, or earlier if the tag stays on the other side.
    pub fn judged_ms(&self) -> i64 {
        match self.changed_to() {
            Some(_) => self.end_ms().min(self.to_since + TURNED_MS),
            None => self.end_ms(),
        }
    }

    /// The side to which the tag went, if it changed sides.
    pub fn direction(&self) -> Option<Side> {
        match self.from {
            Some(_) => self.changed_to(),
            None => self.by_order(),
        }
    }

    fn changed_to(&self) -> Option<Side> {
        self.to.filter(|to| self.from != Some(*to))
    }

    /// The side to which it went if it was too quick for levels: the one that heard it later.
    fn by_order(&self) -> Option<Side> {
        if self.heard.iter().any(|heard| heard.reads < ORDER_READS) {
            return None;
        }
        let [outside, inside] = self.heard.map(|heard| heard.times_ms / heard.reads);
        let later_ms = inside - outside;
        if later_ms.abs() * ORDER_PARTS < self.last_ms - self.first_ms {
            return None;
        }
        Some(if later_ms > 0 {
            Side::Inside
        } else {
            Side::Outside
        })
    }

    /// Goes on from the side where the tag is now.
    pub fn go_on(&mut self) {
        self.from = self.to;
    }
}

impl Heard {
    fn note(&mut self, at_ms: i64, rssi_dbm: f32, since_ms: i64) {
        #[expect(clippy::cast_precision_loss, reason = "some seconds")]
        let passed = (at_ms - self.last_ms).max(50) as f32;
        let weight = if self.reads == 0 {
            1.0
        } else {
            1.0 - (-passed / SMOOTHING_MS).exp()
        };
        self.level += weight * (rssi_dbm - self.level);
        self.last_ms = at_ms;
        self.reads += 1;
        self.times_ms = self.times_ms.saturating_add(since_ms);
    }

    /// The level, less what it lost in a silence that lasts until then.
    fn level_at(&self, until_ms: i64, floor_dbm: f32) -> f32 {
        let unheard = floor_dbm - UNHEARD_DB;
        if self.reads == 0 {
            return unheard;
        }
        #[expect(clippy::cast_precision_loss, reason = "some seconds")]
        let silent = (until_ms - self.last_ms).max(0) as f32;
        (self.level - silent * LOSS_DB_PER_MS).max(unheard)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Too quick for levels: the order of the sides alone tells.
    #[test]
    fn a_quick_pass_goes_to_the_side_that_heard_it_later() {
        for (first, last) in [(Side::Outside, Side::Inside), (Side::Inside, Side::Outside)] {
            let mut pass = Pass::begin(0);
            for at_ms in [0, 50, 100] {
                pass.add(at_ms, -50.0, first, -70.0);
            }
            for at_ms in [200, 250, 300] {
                pass.add(at_ms, -50.0, last, -70.0);
            }
            assert_eq!(pass.direction(), Some(last));
        }
    }
}
