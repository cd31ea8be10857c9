//! Latencies in logarithmic buckets: constant memory, recording costs nanoseconds, and every
//! quantile is told with an error below one percent.

use std::time::Duration;

/// Linear steps in each power of two, as a power of two: 128 steps.
const STEP_BITS: u32 = 7;
const STEPS: u64 = 1 << STEP_BITS;
const BUCKETS: usize = (64 - STEP_BITS as usize + 1) << STEP_BITS;

/// Counted latencies.
pub struct Histogram {
    buckets: Vec<u64>,
    total: u64,
    longest_ns: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self {
            buckets: vec![0; BUCKETS],
            total: 0,
            longest_ns: 0,
        }
    }
}

impl Histogram {
    pub fn record(&mut self, took: Duration) {
        let ns = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.buckets[bucket_of(ns)] += 1;
        self.total += 1;
        self.longest_ns = self.longest_ns.max(ns);
    }

    /// The latency that so many of a thousand do not exceed: `500` is the median.
    pub fn quantile(&self, per_mille: u64) -> Duration {
        let rank = (self.total * per_mille).div_ceil(1000).max(1);
        let mut counted = 0;
        for (bucket, count) in self.buckets.iter().enumerate() {
            counted += count;
            if counted >= rank {
                return Duration::from_nanos(upper_bound_ns(bucket).min(self.longest_ns));
            }
        }
        self.max()
    }

    pub fn max(&self) -> Duration {
        Duration::from_nanos(self.longest_ns)
    }
}

fn bucket_of(ns: u64) -> usize {
    let magnitude = (ns | 1).ilog2();
    let bucket = match magnitude.checked_sub(STEP_BITS) {
        None => ns,
        Some(shift) => u64::from(shift) * STEPS + (ns >> shift),
    };
    usize::try_from(bucket)
        .unwrap_or(usize::MAX)
        .min(BUCKETS - 1)
}

fn upper_bound_ns(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < STEPS {
        return bucket;
    }
    let shift = bucket / STEPS - 1;
    ((bucket % STEPS + STEPS + 1) << shift).wrapping_sub(1)
}
