//! What a run gives: a rate and latencies, for people and as JSON.

use crate::histogram::Histogram;
use serde_json::{Value, json};
use std::{collections::BTreeMap, fmt, time::Duration};

/// The outcome of a run.
pub struct Report {
    pub name: String,
    pub connections: usize,
    pub duration: Duration,
    pub latencies: Histogram,
    pub units: u64,
    pub errors: BTreeMap<String, (u64, String)>,
}

impl Report {
    /// Acknowledged units of work a second.
    pub fn rate(&self) -> f64 {
        per_second(self.units, self.duration)
    }

    pub fn p50(&self) -> Duration {
        self.latencies.quantile(500)
    }

    pub fn p99(&self) -> Duration {
        self.latencies.quantile(990)
    }

    pub fn failures(&self) -> u64 {
        self.errors.values().map(|(times, _)| times).sum()
    }

    pub fn to_json(&self) -> Value {
        json!({
            "name": self.name,
            "connections": self.connections,
            "seconds": self.duration.as_secs_f64(),
            "acknowledged": self.units,
            "perSecond": self.rate(),
            "p50Ms": ms(self.p50()),
            "p95Ms": ms(self.latencies.quantile(950)),
            "p99Ms": ms(self.p99()),
            "maxMs": ms(self.latencies.max()),
            "errors": self.errors.iter().map(|(kind, (times, sample))| {
                json!({"kind": kind, "times": times, "sample": sample})
            }).collect::<Vec<_>>(),
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {}/s over {} s at {} connection{}; p50 {:.2} ms, p95 {:.2} ms, p99 {:.2} ms, max {:.2} ms; errors {}",
            self.name,
            grouped(self.rate()),
            self.duration.as_secs(),
            self.connections,
            if self.connections == 1 { "" } else { "s" },
            ms(self.p50()),
            ms(self.latencies.quantile(950)),
            ms(self.p99()),
            ms(self.latencies.max()),
            self.failures(),
        )?;
        for (kind, (times, sample)) in &self.errors {
            write!(f, "\n  {times} × {kind}; the first: {sample}")?;
        }
        Ok(())
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^52")]
pub fn per_second(count: u64, took: Duration) -> f64 {
    count as f64 / took.as_secs_f64()
}

/// The middle of at least one number.
pub fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    let middle = numbers.len() / 2;
    if numbers.len().is_multiple_of(2) {
        f64::midpoint(numbers[middle - 1], numbers[middle])
    } else {
        numbers[middle]
    }
}

pub fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

/// `15,234`.
pub fn grouped(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
