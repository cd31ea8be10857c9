//! The chart of arrivals: bars of five minutes, up to now.

use crate::types::{Timestamp, Zone};
use std::collections::BTreeMap;

/// Minutes of a bar.
const BAR: i64 = 5;
/// The labels of the axis are so many minutes apart.
const LABEL: i64 = 15;
/// The longest time that the chart shows, and the shortest, in minutes.
const LONGEST: i64 = 2 * 60;
const SHORTEST: i64 = 60;
const MINUTE_MS: i64 = 60_000;
/// Height of the chart, in its units; a bar is 10 wide with the space beside it.
const HEIGHT: i64 = 120;

/// People who arrived within five minutes.
pub struct Bar {
    /// The beginning of these minutes, such as `09:05`.
    pub from: String,
    pub count: i64,
    pub x: i64,
    pub y: i64,
    pub height: i64,
}

pub struct Chart {
    pub bars: Vec<Bar>,
    /// The rules of the chart, from the highest on: what each stands for, and where it is.
    pub rules: Vec<(i64, i64)>,
    /// The labels below it, from its beginning to its end.
    pub labels: Vec<String>,
    /// Bars from one label to the next.
    pub label_bars: i64,
    /// Its width.
    pub width: i64,
    /// The position of the present time.
    pub now: i64,
    /// People who arrived within the last five minutes.
    pub lately: i64,
    /// The most people within five minutes of the day, and when, if anybody came.
    pub peak: Option<(i64, String)>,
}

impl Chart {
    /// Makes the chart of people by minute since the epoch.
    pub fn new(by_minute: &BTreeMap<i64, i64>, zone: &Zone, now: Timestamp) -> Self {
        let minute = now.0.div_euclid(MINUTE_MS);
        let from = begins(by_minute, minute);
        let from = from - from.rem_euclid(LABEL);
        let until = minute - minute.rem_euclid(LABEL) + LABEL;
        let time =
            |minute: i64| zone.spoken(Timestamp(minute * MINUTE_MS), Timestamp(minute * MINUTE_MS));
        let count = |first: i64, until: i64| -> i64 {
            // A clock that was put back leaves arrivals in the future: they are the latest.
            let until = if until > minute { i64::MAX } else { until };
            by_minute.range(first..until).map(|(_, count)| count).sum()
        };
        let starts = (from..=minute).step_by(usize::try_from(BAR).unwrap_or(1));
        let mut bars: Vec<Bar> = starts
            .map(|first| Bar {
                from: time(first),
                count: count(first, first + BAR),
                x: (first - from) / BAR * 10,
                y: HEIGHT,
                height: 0,
            })
            .collect();
        let most = bars.iter().map(|bar| bar.count).max().unwrap_or_default();
        let (top, step) = scale(most);
        for bar in &mut bars {
            // One person stays visible.
            bar.height = (bar.count * HEIGHT / top).max(i64::from(bar.count > 0));
            bar.y = HEIGHT - bar.height;
        }
        let steps = (0..=top / step).rev().map(|at| at * step);
        let rules = steps.map(|value| (value, HEIGHT - value * HEIGHT / top));
        let labels = (from..=until).step_by(usize::try_from(LABEL).unwrap_or(1));
        Self {
            rules: rules.collect(),
            labels: labels.map(time).collect(),
            label_bars: LABEL / BAR,
            width: (until - from) / BAR * 10,
            now: (minute - from + 1) * 10 / BAR,
            lately: count(minute - BAR + 1, minute + 1),
            peak: peak(by_minute).map(|(count, first)| (count, time(first))),
            bars,
        }
    }
}

/// The minute from which on arrivals are shown.
fn begins(by_minute: &BTreeMap<i64, i64>, minute: i64) -> i64 {
    let first = by_minute.keys().next().copied().unwrap_or(minute);
    first.clamp(minute - LONGEST, minute - SHORTEST)
}

/// The most people within five minutes, and the minute at which these begin; the first of several.
fn peak(by_minute: &BTreeMap<i64, i64>) -> Option<(i64, i64)> {
    let mut bars: BTreeMap<i64, i64> = BTreeMap::new();
    for (minute, count) in by_minute {
        *bars.entry(minute - minute.rem_euclid(BAR)).or_default() += count;
    }
    let most = bars.into_iter().rev().max_by_key(|(_, count)| *count);
    most.map(|(first, count)| (count, first))
}

/// A round number that is not less than `most`, and a round step to it: three to five of them.
fn scale(most: i64) -> (i64, i64) {
    let most = most.max(3);
    let mut power = 1;
    loop {
        for step in [power, 2 * power, 4 * power, 5 * power] {
            if step * 5 >= most {
                return ((most + step - 1) / step * step, step);
            }
        }
        power *= 10;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(by_minute: &[(i64, i64)], minute: i64) -> Chart {
        let by_minute = by_minute.iter().copied().collect();
        let zone = Zone::named("UTC").unwrap();
        Chart::new(&by_minute, &zone, Timestamp(minute * MINUTE_MS + 30_000))
    }

    #[test]
    fn bars_begin_with_the_first_arrival_and_end_now() {
        // At 09:07; the first one came at 07:33.
        let chart = chart(
            &[(7 * 60 + 33, 2), (8 * 60 + 41, 104), (9 * 60 + 6, 3)],
            9 * 60 + 7,
        );
        assert_eq!(chart.labels.first().map(String::as_str), Some("07:30"));
        assert_eq!((chart.label_bars, chart.width), (3, 210));
        assert_eq!(chart.labels.last().map(String::as_str), Some("09:15"));
        assert_eq!(chart.bars.last().map(|bar| &*bar.from), Some("09:05"));
        assert_eq!(chart.bars.iter().map(|bar| bar.count).sum::<i64>(), 109);
        assert_eq!(
            (chart.lately, chart.peak),
            (3, Some((104, "08:40".to_owned())))
        );
        let rules: Vec<i64> = chart.rules.iter().map(|(value, _)| *value).collect();
        assert_eq!(rules, [120, 80, 40, 0]);
        assert_eq!(chart.rules.last().map(|(_, y)| *y), Some(HEIGHT));
    }

    #[test]
    fn nobody_and_people_of_the_future_are_shown_too() {
        let empty = chart(&[], 9 * 60);
        assert_eq!((empty.lately, empty.peak), (0, None));
        assert!(empty.bars.iter().all(|bar| bar.height == 0));
        let ahead = chart(&[(12 * 60, 7)], 9 * 60);
        assert_eq!(ahead.bars.last().map(|bar| bar.count), Some(7));
    }

    #[test]
    fn scales_are_round() {
        for (most, expected) in [
            (0, (3, 1)),
            (5, (5, 1)),
            (7, (8, 2)),
            (104, (120, 40)),
            (999, (1_000, 200)),
        ] {
            assert_eq!(scale(most), expected, "{most}");
        }
    }
}
