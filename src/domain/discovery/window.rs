//! The window in which apps may ask to be let in: while the console's Discovery page is in use. In memory, by a clock
//! that nobody can set: a restart closes it.

use crate::types::Timestamp;
use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// The time for which the window is open after the page was opened or refreshed (contract §7).
pub const OPEN: Duration = Duration::from_mins(10);

/// The most that the clock on the wall may drift from the other before the time shown follows it.
const DRIFT_MS: i64 = 1500;

/// The window.
#[derive(Default)]
pub struct Window(Mutex<Option<Open>>);

#[derive(Clone, Copy)]
struct Open {
    until: Instant,
    /// The same on the clock on the wall, as it was shown last.
    shown: Option<Timestamp>,
}

impl Window {
    /// Opens the window, or keeps it open, until ten minutes from now.
    pub fn extend(&self, now: Instant) {
        self.set(Some(now + OPEN));
    }

    /// Closes the window at once.
    pub fn close(&self) {
        self.set(None);
    }

    fn set(&self, until: Option<Instant>) {
        *self.open() = until.map(|until| Open { until, shown: None });
    }

    fn open(&self) -> MutexGuard<'_, Option<Open>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The time for which it is still open; `None` when it is closed.
    pub fn left(&self, now: Instant) -> Option<Duration> {
        let until = self.open().as_ref()?.until;
        until
            .checked_duration_since(now)
            .filter(|left| !left.is_zero())
    }

    /// The time until which it is open by the clock on the wall, the same each time unless that is put
    /// forward or back; `None` when it is closed.
    pub fn until(&self, now: Instant, wall: Timestamp) -> Option<Timestamp> {
        let left = self.left(now)?;
        let fresh = Timestamp(wall.0 + i64::try_from(left.as_millis()).unwrap_or(i64::MAX));
        let mut open = self.open();
        let shown = &mut open.as_mut()?.shown;
        let kept = shown.filter(|shown| (shown.0 - fresh.0).abs() <= DRIFT_MS);
        *shown = Some(kept.unwrap_or(fresh));
        *shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_open_for_ten_minutes_from_the_last_refresh() {
        let (window, start) = (Window::default(), Instant::now());
        let after = |seconds| start + Duration::from_secs(seconds);
        assert_eq!(window.left(start), None);
        window.extend(start);
        assert_eq!(window.left(after(599)), Some(Duration::from_secs(1)));
        assert_eq!(window.left(after(600)), None);
        window.extend(after(300));
        assert_eq!(window.left(after(600)), Some(Duration::from_secs(300)));
        window.close();
        assert_eq!(window.left(after(301)), None);
    }

    #[test]
    fn the_time_shown_stays_until_the_clock_is_put_elsewhere() {
        let (window, start) = (Window::default(), Instant::now());
        let until = |seconds: u64, wall_ms| {
            let now = start + Duration::from_secs(seconds);
            window.until(now, Timestamp(wall_ms)).map(|until| until.0)
        };
        assert_eq!(until(0, 0), None);
        window.extend(start);
        assert_eq!(until(0, 0), Some(600_000));
        assert_eq!(until(10, 10_007), Some(600_000));
        assert_eq!(until(20, 3_620_000), Some(4_200_000));
        assert_eq!(until(600, 600_000), None);
    }
}
