//! How many people are inside now, each counted once wherever they are. All interactions in the file are
//! gone through for it, which takes the longer the more there are: so it is done the more seldom, and
//! check-ins pay nothing for it.

use crate::{error::Result, interactions::presence};
use rusqlite::Connection;
use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// What counting takes is at most this part of the time.
const PART: u32 = 50;

/// The people inside, as they were counted last.
#[derive(Default)]
pub struct People(Mutex<Known>);

#[derive(Default)]
struct Known {
    counted: Option<Counted>,
    /// Somebody counts just now.
    counting: bool,
}

#[derive(Clone, Copy)]
struct Counted {
    people: i64,
    at: Instant,
    took: Duration,
}

impl Known {
    /// The count that is good enough still.
    fn good(&self, now: Instant) -> Option<i64> {
        let counted = self.counted?;
        let age = now.saturating_duration_since(counted.at);
        (self.counting || age < counted.took * PART).then_some(counted.people)
    }
}

impl People {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many people are inside anywhere.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn inside(&self, connection: &Connection) -> Result<i64> {
        let begun = Instant::now();
        {
            let mut known = self.known();
            if let Some(people) = known.good(begun) {
                return Ok(people);
            }
            known.counting = true;
        }
        let people = presence::people_inside(connection);
        let mut known = self.known();
        known.counting = false;
        let people = people?;
        let at = Instant::now();
        known.counted = Some(Counted {
            people,
            at,
            took: at - begun,
        });
        Ok(people)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_long_is_counted_seldom() {
        let at = Instant::now();
        let mut known = Known {
            counted: Some(Counted {
                people: 7,
                at,
                took: Duration::from_millis(100),
            }),
            counting: false,
        };
        let after = |ms| at + Duration::from_millis(ms);
        assert_eq!(known.good(after(4_999)), Some(7));
        assert_eq!(known.good(after(5_000)), None);
        // While somebody counts, the others do not.
        known.counting = true;
        assert_eq!(known.good(after(9_000)), Some(7));
        assert_eq!(Known::default().good(at), None);
    }
}
