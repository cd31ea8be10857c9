//! A reader's clock against ours. A reader's message takes some time to us, so arrival minus the reader's
//! time is never below the true difference, and the smallest of many is nearest to it.

use super::decode::ReaderTime;
use std::{
    collections::VecDeque,
    time::{Duration, SystemTime, UNIX_EPOCH},
};
use tokio::time::Instant;

/// Reads are never older than this: no connection holds them back for longer.
pub const AGE_MAX_MS: i64 = 10_000;
/// Differences are kept for a minute, so that a clock may drift or step.
const SLICE: Duration = Duration::from_secs(10);
const SLICES: u32 = 6;

/// Unix microseconds by our clock.
pub fn now_us() -> i64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}

/// The time of an arrival by our clocks.
#[derive(Debug, Clone, Copy)]
pub struct Arrival {
    pub us: i64,
    pub instant: Instant,
}

impl Arrival {
    pub fn now() -> Self {
        Self {
            us: now_us(),
            instant: Instant::now(),
        }
    }
}

/// The two clocks of a reader; most have one of them.
#[derive(Debug, Default)]
pub struct ReaderClock {
    utc: Difference,
    uptime: Difference,
}

/// Our clock minus one of the reader's, in microseconds: the smallest in each slice of time.
#[derive(Debug, Default, Clone)]
pub struct Difference {
    slices: VecDeque<(Instant, i64)>,
}

impl ReaderClock {
    /// Learns from a time that the reader sent, and gives it by our clock in Unix milliseconds: not after
    /// the arrival, and at most [`AGE_MAX_MS`] before.
    pub fn correct(&mut self, time: Option<ReaderTime>, arrival: Arrival) -> i64 {
        let arrival_ms = arrival.us.div_euclid(1000);
        let (difference, reader_us) = match time {
            Some(ReaderTime::Utc(us)) => (&mut self.utc, us),
            Some(ReaderTime::Uptime(us)) => (&mut self.uptime, us),
            None => return arrival_ms,
        };
        let reader_us = i64::try_from(reader_us).unwrap_or(i64::MAX);
        let smallest = difference.learn(arrival.us.saturating_sub(reader_us), arrival.instant);
        let at_ms = reader_us.saturating_add(smallest).div_euclid(1000);
        at_ms.clamp(arrival_ms - AGE_MAX_MS, arrival_ms)
    }

    /// The reader's UTC clock minus ours, in milliseconds. `None` before it sent a time of that clock.
    pub fn offset_ms(&self) -> Option<i64> {
        self.utc
            .smallest()
            .map(|us| us.saturating_neg().div_euclid(1000))
    }
}

impl Difference {
    /// Learns a difference, and gives the smallest of the last minute.
    pub fn learn(&mut self, us: i64, now: Instant) -> i64 {
        match self.slices.back_mut() {
            Some((start, smallest)) if now < *start + SLICE => *smallest = us.min(*smallest),
            _ => {
                self.slices.push_back((now, us));
                let kept = now.checked_sub(SLICE * SLICES);
                self.slices
                    .retain(|(start, _)| kept.is_none_or(|kept| *start > kept));
            }
        }
        self.smallest().unwrap_or(us)
    }

    fn smallest(&self) -> Option<i64> {
        self.slices.iter().map(|(_, smallest)| *smallest).min()
    }
}
