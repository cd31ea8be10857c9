//! An invented event: two days, its rooms, sessions and sponsors, the people who came and what they
//! did there until noon of the first day, or until shortly before the first talk. One seed and date always make the same event; only secrets
//! are others each time, and the times at which the records are written are those of the clock.
//!
//! - `texts`: what everything is called; `people`: the delegates
//! - `programme`: the event and all other devices; `sales`: what was sold at the tills
//! - `story`: what the delegates did
//! - `fill`: writes all of it, and who works there

mod fill;
mod people;
mod programme;
mod sales;
mod story;
mod texts;

pub use fill::{Made, Operator, fill};

use crate::types::{Timestamp, random::SplitMix64};

const DELEGATES: usize = 2_000;
const INTERACTIONS: usize = 20_000;

/// Five past nine: many have come, and the first talk is yet to begin.
pub const MORNING_S: i64 = 9 * story::HOUR_S + 5 * 60;

/// The begin of a demo, and the present time in it.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    /// The begin of the first day.
    pub first_day: Timestamp,
    /// Seconds since then.
    now_s: i64,
}

impl Moment {
    /// Noon of a day.
    #[must_use]
    pub fn noon(first_day: Timestamp) -> Self {
        Self {
            first_day,
            now_s: story::NOON_S,
        }
    }

    /// [`MORNING_S`] is now, whatever clocks say.
    #[must_use]
    pub fn morning(now: Timestamp) -> Self {
        let five_minutes = 5 * 60_000;
        Self {
            first_day: Timestamp(now.0 - now.0.rem_euclid(five_minutes) - MORNING_S * 1000),
            now_s: MORNING_S,
        }
    }
}

/// Everything that a seed makes, before any of it is written.
struct Plan {
    programme: programme::Programme,
    people: Vec<people::Person>,
    /// Sales of passes, in the order of their people.
    passes: Vec<sales::Sale>,
    /// Sales at the shop, in the order of time.
    shop: Vec<sales::Sale>,
    /// In the order in which it happened.
    story: Vec<story::Happening>,
    /// Reads by readers: more than are needed to make the number full.
    seen: Vec<story::Happening>,
}

impl Plan {
    /// `first_day` is when the event's first day begins, in that year; it is `now_s` after that.
    fn new(seed: u64, first_day: Timestamp, year: i16, now_s: i64) -> Self {
        let mut random = Random::new(seed);
        let mut programme = programme::Programme::new(&mut random, first_day, year);
        let people = people::invent(&mut random, DELEGATES);
        // Numbers of their own: what is sold changes nothing else.
        let mut of_sales = Random::new(!seed);
        programme.add_products(&mut of_sales);
        let passes = sales::passes(&mut of_sales, &people);
        let shop = sales::shop(&mut of_sales);
        let bought = passes
            .iter()
            .flat_map(|sale| sale.people.iter().map(|one| (*one, sale.at_s)));
        let story = story::Story {
            random: &mut random,
            programme: &programme,
            people: &people,
            bought: bought.collect(),
            happenings: Vec::new(),
            now_s,
        };
        let (story, seen) = story.invent();
        Self {
            programme,
            people,
            passes,
            shop,
            story,
            seen,
        }
    }
}

/// The random numbers of a seed.
struct Random(SplitMix64);

impl Random {
    fn new(seed: u64) -> Self {
        Self(SplitMix64::new(seed))
    }

    fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `end`, which is more than 0.
    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).unwrap_or(0)
    }

    /// A number from `first` to `last`, both included.
    fn between(&mut self, first: i64, last: i64) -> i64 {
        let count = u64::try_from(last - first + 1).unwrap_or(1);
        first + i64::try_from(self.next() % count).unwrap_or(0)
    }

    /// True so many times in a hundred.
    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of several; there is at least one.
    fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            items.swap(at, self.below(at + 1));
        }
    }

    fn uuid(&mut self) -> String {
        let bits = u128::from(self.next()) << 64 | u128::from(self.next());
        let uuid = uuid::Builder::from_random_bytes(bits.to_be_bytes());
        uuid.into_uuid().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_within_their_bounds() {
        let mut random = Random::new(7);
        for _ in 0..1_000 {
            assert!(random.below(3) < 3);
            assert!((-2..=2).contains(&random.between(-2, 2)));
        }
        assert_eq!(random.between(5, 5), 5);
    }
}
