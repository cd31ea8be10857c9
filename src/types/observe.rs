//! Counters of the running server, for `/metrics`: plain atomics, so that counting takes a few nanoseconds
//! and never waits; and the text format that Prometheus reads (0.0.4). Nothing personal is counted by: no names,
//! codes or addresses.

use std::{
    collections::BTreeMap,
    fmt::{Display, Write},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

/// Errors reported to callers, by internal code (contract §3). Many places report them, and they belong
/// to the process rather than to one of its parts.
static ERRORS: Mutex<BTreeMap<i64, u64>> = Mutex::new(BTreeMap::new());

/// Counts an error that is reported to a caller.
pub fn count_error(code: i64) {
    let mut errors = ERRORS.lock().unwrap_or_else(PoisonError::into_inner);
    *errors.entry(code).or_default() += 1;
}

/// Returns how often each internal code was reported.
pub fn errors_by_code() -> BTreeMap<i64, u64> {
    ERRORS
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clone()
}

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
    pub fn sum(&self) -> u64 {
        self.sum.load(Relaxed)
    }
}

/// Microseconds of a second: durations are counted in the one and shown in the other.
const MICROSECONDS: f64 = 1_000_000.0;

/// A page of metrics that is being written.
#[derive(Default)]
pub struct Exposition(String);

impl Exposition {
    /// The page.
    pub fn text(self) -> String {
        self.0
    }

    /// Announces a metric; its samples follow. `kind` is `counter`, `gauge` or `histogram`.
    pub fn about(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    /// A sample. `labels` are `name="value"` separated by commas, or empty.
    pub fn sample(&mut self, name: &str, labels: &str, value: impl Display) {
        let _ = if labels.is_empty() {
            writeln!(self.0, "{name} {value}")
        } else {
            writeln!(self.0, "{name}{{{labels}}} {value}")
        };
    }

    /// A metric of one sample without labels.
    pub fn single(&mut self, name: &str, kind: &str, help: &str, value: impl Display) {
        self.about(name, kind, help);
        self.sample(name, "", value);
    }

    /// The samples of a histogram of durations, in seconds.
    pub fn durations(&mut self, name: &str, labels: &str, histogram: &Histogram) {
        self.histogram(name, labels, histogram, MICROSECONDS);
    }

    /// The samples of a histogram of plain numbers.
    pub fn numbers(&mut self, name: &str, labels: &str, histogram: &Histogram) {
        self.histogram(name, labels, histogram, 1.0);
    }

    #[expect(clippy::cast_precision_loss, reason = "a figure to look at")]
    fn histogram(&mut self, name: &str, labels: &str, histogram: &Histogram, scale: f64) {
        let comma = if labels.is_empty() { "" } else { "," };
        let (bounded, all) = histogram.cumulated();
        let bucket = format!("{name}_bucket");
        for (bound, count) in bounded {
            let bound = bound as f64 / scale;
            self.sample(&bucket, &format!("{labels}{comma}le=\"{bound}\""), count);
        }
        self.sample(&bucket, &format!("{labels}{comma}le=\"+Inf\""), all);
        self.sample(
            &format!("{name}_sum"),
            labels,
            histogram.sum() as f64 / scale,
        );
        self.sample(&format!("{name}_count"), labels, all);
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

#[cfg(test)]
mod text_tests {
    use super::*;

    #[test]
    fn it_is_written_as_prometheus_reads_it() {
        let histogram = Histogram::new(&[1_000, 500_000]);
        histogram.record(900);
        histogram.record(2_000_000);
        let mut page = Exposition::default();
        page.single("up", "gauge", "Whether it runs.", 1);
        page.about("took_seconds", "histogram", "How long.");
        page.durations("took_seconds", "route=\"/a\"", &histogram);
        insta::assert_snapshot!(page.text(), @r#"
        # HELP up Whether it runs.
        # TYPE up gauge
        up 1
        # HELP took_seconds How long.
        # TYPE took_seconds histogram
        took_seconds_bucket{route="/a",le="0.001"} 1
        took_seconds_bucket{route="/a",le="0.5"} 1
        took_seconds_bucket{route="/a",le="+Inf"} 2
        took_seconds_sum{route="/a"} 2.0009
        took_seconds_count{route="/a"} 2
        "#);
    }
}
