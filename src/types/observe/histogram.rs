//! How values spread: how many were at most so large. Counting takes three additions.

use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

/// Bounds of durations, in microseconds: from a look-up to a request that ran into its limit.
pub const DURATIONS: &[u64] = &[
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000,
    1_000_000, 2_500_000, 10_000_000,
];

/// Whole numbers by size; durations count in microseconds.
#[derive(Debug)]
pub struct Histogram {
    bounds: &'static [u64],
    counts: Box<[AtomicU64]>,
    sum: AtomicU64,
}

impl Histogram {
    /// A histogram with these upper bounds, which must grow; one bucket more takes the rest.
    #[must_use]
    pub fn new(bounds: &'static [u64]) -> Self {
        Self {
            bounds,
            counts: (0..=bounds.len()).map(|_| AtomicU64::new(0)).collect(),
            sum: AtomicU64::new(0),
        }
    }

    /// Counts a value.
    pub fn record(&self, value: u64) {
        let bucket = self.bounds.partition_point(|bound| *bound < value);
        self.counts[bucket].fetch_add(1, Relaxed);
        self.sum.fetch_add(value, Relaxed);
    }

    /// Counts a duration, in microseconds.
    pub fn record_duration(&self, duration: Duration) {
        self.record(u64::try_from(duration.as_micros()).unwrap_or(u64::MAX));
    }

    /// Each bound with how many values were at most that, then how many there were in all.
    #[must_use]
    pub fn cumulated(&self) -> (Vec<(u64, u64)>, u64) {
        let mut total = 0;
        let mut counts = self.counts.iter().map(|count| {
            total += count.load(Relaxed);
            total
        });
        let bounded = self.bounds.iter().copied().zip(&mut counts).collect();
        let all = counts.next().unwrap_or_default();
        (bounded, all)
    }

    /// The sum of all values.
    #[must_use]
    pub fn sum(&self) -> u64 {
        self.sum.load(Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_counts_for_every_bound_it_does_not_exceed() {
        let histogram = Histogram::new(&[1, 10, 100]);
        for value in [0, 1, 2, 10, 11, 1000] {
            histogram.record(value);
        }
        assert_eq!(histogram.cumulated(), (vec![(1, 2), (10, 4), (100, 5)], 6));
        assert_eq!(histogram.sum(), 1024);
    }
}
