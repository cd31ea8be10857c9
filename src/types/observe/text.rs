//! The text format that Prometheus reads (exposition format 0.0.4). Written by hand: it is a few
//! lines, and a registry of boxed metrics would cost more where check-ins are counted.

use super::Histogram;
use std::fmt::{Display, Write};

/// Microseconds of a second: durations are counted in the one and shown in the other.
const MICROSECONDS: f64 = 1_000_000.0;

/// A page of metrics that is being written.
#[derive(Default)]
pub struct Exposition(String);

impl Exposition {
    /// The page.
    #[must_use]
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
