//! An invented event: two days, its rooms, sessions and sponsors, the people who came and what they
//! did there until noon of the first day. One seed and date always make the same event; only secrets
//! are others each time, and the times at which the records are written are those of the clock.
//!
//! - `random`: the numbers behind it all
//! - `names`, `people`: the delegates
//! - `programme`: the event, its rooms, sessions and sponsors
//! - `sales`: what was sold at the box office and in the shop
//! - `story`: what the delegates did; `sessions`: who sat in which session
//! - `fill`: all of it to the file; `staff`: who works there

pub mod fill;
mod names;
mod people;
mod programme;
mod random;
mod sales;
mod sessions;
mod staff;
mod story;

pub use fill::{Made, fill};

use crate::types::Timestamp;
use random::Random;

/// How many delegates there are.
pub const DELEGATES: usize = 2_000;
/// How many interactions there are.
pub const INTERACTIONS: usize = 20_000;

/// Everything that a seed makes, before any of it is written.
struct Plan {
    programme: programme::Programme,
    people: Vec<people::Person>,
    sales: sales::Sales,
    /// In the order in which it happened.
    story: Vec<story::Happening>,
    /// What readers saw: more than is needed to make the number full.
    seen: Vec<story::Happening>,
}

impl Plan {
    /// Makes it up; `first_day` is when the event's first day begins, in that year.
    fn new(seed: u64, first_day: Timestamp, year: i16) -> Self {
        let mut random = Random::new(seed);
        let programme = programme::Programme::new(&mut random, first_day, year);
        let people = people::invent(&mut random, DELEGATES);
        // Numbers of their own: what is sold changes nothing else.
        let sales = sales::invent(&mut Random::new(!seed), &people);
        let (story, seen) = story::tell(&mut random, &programme, &people, &sales.bought());
        Self {
            programme,
            people,
            sales,
            story,
            seen,
        }
    }
}
