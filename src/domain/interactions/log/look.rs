//! Looking back through a table by id, the newest first, in bounded time: stretch by stretch, each
//! as long as the last ones were quick. What is rare may not be found in one go; then it is told
//! how far was looked, and one can go on from there.

use crate::types::error::Result;
use std::{
    ops::RangeInclusive,
    time::{Duration, Instant},
};

/// How long is looked in one go.
const TIME: Duration = Duration::from_millis(60);
/// How long one stretch may take, as far as it can be guessed.
const STRETCH_TIME: Duration = Duration::from_millis(10);
/// Ids of the first stretch.
const STRETCH_FIRST: i64 = 2_000;
/// The most ids of a stretch.
const STRETCH_MAX: i64 = 200_000;

/// What was found.
#[derive(Debug, PartialEq, Eq)]
pub struct Found {
    /// The ids, the newest first.
    pub ids: Vec<i64>,
    /// Below this one was not looked any more; none where there is nothing below.
    pub reached: Option<i64>,
}

/// Looks for `most` ids up to `from`; `find` gives those of a stretch, the newest first, as many as
/// it is told at the most.
pub fn back(
    from: i64,
    most: usize,
    mut find: impl FnMut(RangeInclusive<i64>, usize) -> Result<Vec<i64>>,
) -> Result<Found> {
    let end = Instant::now() + TIME;
    let (mut high, mut stretch) = (from, STRETCH_FIRST);
    let mut ids = Vec::new();
    while high > 0 {
        let low = (high - stretch + 1).max(1);
        let begun = Instant::now();
        ids.extend(find(low..=high, most - ids.len())?);
        if ids.len() >= most {
            let last = ids.last().copied();
            return Ok(Found { ids, reached: last });
        }
        high = low - 1;
        if Instant::now() > end && high > 0 {
            return Ok(Found {
                ids,
                reached: Some(low),
            });
        }
        let took = begun.elapsed();
        stretch = if took < STRETCH_TIME / 4 {
            stretch * 4
        } else if took > STRETCH_TIME {
            stretch / 2
        } else {
            stretch
        }
        .clamp(STRETCH_FIRST / 4, STRETCH_MAX);
    }
    Ok(Found { ids, reached: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_is_looked_at_once() {
        let mut seen = Vec::new();
        let found = back(10_000, 5, |range, most| {
            let ids: Vec<i64> = range
                .rev()
                .filter(|id| id % 4_000 == 1)
                .take(most)
                .collect();
            seen.extend(ids.iter().copied());
            Ok(ids)
        });
        let found = found.unwrap();
        assert_eq!(found.ids, [8_001, 4_001, 1]);
        assert_eq!(found.reached, None);
        assert_eq!(seen, found.ids);
    }

    #[test]
    fn a_full_page_tells_where_to_go_on() {
        let all = |range: RangeInclusive<i64>, most| Ok(range.rev().take(most).collect());
        let found = back(100, 3, all).unwrap();
        assert_eq!(found.ids, [100, 99, 98]);
        assert_eq!(found.reached, Some(98));
    }

    #[test]
    fn what_takes_too_long_is_left_for_the_next_page() {
        let found = back(1_000_000_000, 3, |_, _| {
            std::thread::sleep(TIME * 2);
            Ok(Vec::new())
        });
        let found = found.unwrap();
        assert_eq!(found.ids, Vec::<i64>::new());
        assert_eq!(found.reached, Some(1_000_000_000 - STRETCH_FIRST + 1));
    }
}
