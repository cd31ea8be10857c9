//! Looking through a table backwards, range by range, for a bounded time.

use super::{find::REPEATED_MAX, heads::Head};
use crate::types::error::Result;
use std::{
    ops::RangeInclusive,
    time::{Duration, Instant},
};

/// The longest time of looking in one go.
const TIME: Duration = Duration::from_millis(60);
/// The longest time of one stretch, as far as it can be guessed.
const STRETCH_TIME: Duration = Duration::from_millis(10);
/// Ids of the first stretch.
const STRETCH_FIRST: i64 = 2_000;
/// The most ids of a stretch.
const STRETCH_MAX: i64 = 200_000;

#[derive(Debug, PartialEq, Eq)]
pub struct FoundHeads {
    /// The newest first.
    pub heads: Vec<Head>,
    /// Below this id was not looked any more; none where there is nothing below.
    pub reached: Option<i64>,
}

/// Looks for `most` entries up to `from`, beside those that machines repeat; `find` gives those of a stretch, the
/// newest first, as many as it is told at the most.
pub fn look_back(
    from: i64,
    most: usize,
    end: Instant,
    mut find: impl FnMut(&RangeInclusive<i64>, usize) -> Result<Vec<Head>>,
) -> Result<FoundHeads> {
    let (mut high, mut stretch) = (from, STRETCH_FIRST);
    let (mut heads, mut singles) = (Vec::new(), 0);
    while high > 0 {
        let low = (high - stretch + 1).max(1);
        let begun = Instant::now();
        let found = find(&(low..=high), most - singles)?;
        let is_cut = found.len() >= REPEATED_MAX;
        singles += found.iter().filter(|head| head.repeated.is_none()).count();
        heads.extend(found);
        if singles >= most || is_cut || heads.len() >= REPEATED_MAX {
            let reached = if singles >= most || is_cut {
                heads.last().map(|head: &Head| head.key.id())
            } else {
                Some(low)
            };
            return Ok(FoundHeads {
                heads,
                reached: reached.filter(|id| *id > 1),
            });
        }
        high = low - 1;
        if Instant::now() > end && high > 0 {
            return Ok(FoundHeads {
                heads,
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
    Ok(FoundHeads {
        heads,
        reached: None,
    })
}

/// The time until which may be looked.
pub fn deadline() -> Instant {
    Instant::now() + TIME
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::interactions::log::heads::Key;

    #[test]
    fn every_id_is_looked_at_once() {
        let mut seen = Vec::new();
        let found = look_back(10_000, 5, deadline(), |range, most| {
            let ids = range.clone().rev().filter(|id| id % 4_000 == 1).take(most);
            let heads: Vec<_> = ids
                .map(|id| Head::single(Key::Interaction(id), id))
                .collect();
            seen.extend(heads.iter().map(|head| head.key.id()));
            Ok(heads)
        });
        let found = found.unwrap();
        assert_eq!(seen, [8_001, 4_001, 1]);
        assert_eq!(found.heads.len(), 3);
        assert_eq!(found.reached, None);
    }

    #[test]
    fn a_full_page_tells_where_to_go_on() {
        let all = |range: &RangeInclusive<i64>, most| {
            let ids = range.clone().rev().take(most);
            Ok(ids
                .map(|id| Head::single(Key::Interaction(id), id))
                .collect())
        };
        let found = look_back(100, 3, deadline(), all).unwrap();
        assert_eq!(found.heads.len(), 3);
        assert_eq!(found.reached, Some(98));
    }

    #[test]
    fn what_takes_too_long_is_left_for_the_next_page() {
        let found = look_back(1_000_000_000, 3, deadline(), |_, _| {
            std::thread::sleep(TIME * 2);
            Ok(Vec::new())
        });
        let found = found.unwrap();
        assert_eq!(found.heads, []);
        assert_eq!(found.reached, Some(1_000_000_000 - STRETCH_FIRST + 1));
    }
}
