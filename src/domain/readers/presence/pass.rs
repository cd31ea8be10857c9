//! A pass through a portal: on which side a tag was heard, over time.

/// After so long without a read, the pass is over.
pub const SETTLED_MS: i64 = 1_500;
/// How far the side must have changed from the first to the last read: 2 is wholly from one side to the other.
const CHANGE_MIN: f64 = 0.6;
/// A pass that takes longer is judged by its last part.
const LONGEST_MS: i64 = 20_000;

/// The direction of a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    In,
    Out,
}

/// A pass that goes on: the sums of a straight line through sides (-1 outside, 1 inside) over time, where
/// near reads weigh more.
#[derive(Debug, Clone, Copy)]
pub struct Pass {
    first_ms: i64,
    pub last_ms: i64,
    weight: f64,
    time: f64,
    side: f64,
    time_time: f64,
    time_side: f64,
}

impl Pass {
    pub fn begin(at_ms: i64) -> Self {
        Self {
            first_ms: at_ms,
            last_ms: at_ms,
            weight: 0.0,
            time: 0.0,
            side: 0.0,
            time_time: 0.0,
            time_side: 0.0,
        }
    }

    /// Adds a read at one of the sides.
    pub fn add(&mut self, at_ms: i64, rssi_dbm: f32, is_inside: bool) {
        if at_ms - self.first_ms > LONGEST_MS {
            *self = Self::begin(at_ms);
        }
        self.last_ms = self.last_ms.max(at_ms);
        let weight = 10_f64.powf(f64::from(rssi_dbm.clamp(-100.0, 0.0) + 60.0) / 20.0);
        #[expect(clippy::cast_precision_loss, reason = "some seconds")]
        let time = (at_ms - self.first_ms) as f64 / 1000.0;
        let side = if is_inside { 1.0 } else { -1.0 };
        self.weight += weight;
        self.time += weight * time;
        self.side += weight * side;
        self.time_time += weight * time * time;
        self.time_side += weight * time * side;
    }

    /// Which way the tag went, if it changed sides.
    pub fn direction(&self) -> Option<Direction> {
        let spread = self.weight * self.time_time - self.time * self.time;
        let slope = (self.weight * self.time_side - self.time * self.side) / spread;
        #[expect(clippy::cast_precision_loss, reason = "some seconds")]
        let change = slope * ((self.last_ms - self.first_ms) as f64 / 1000.0);
        if !change.is_finite() || change.abs() < CHANGE_MIN {
            return None;
        }
        Some(if change > 0.0 {
            Direction::In
        } else {
            Direction::Out
        })
    }
}
