//! How long apps may ask to be let in: while the console's Discovery page is in use. In memory, by a
//! clock that nobody can set: a restart closes it.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// How long the window is open from when the page was opened or refreshed (contract §7).
pub const OPEN: Duration = Duration::from_mins(10);

/// The window.
#[derive(Default)]
pub struct Window(Mutex<Option<Instant>>);

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
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = until;
    }

    /// How long it is still open; `None` when it is closed.
    #[must_use]
    pub fn left(&self, now: Instant) -> Option<Duration> {
        let until = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        until?
            .checked_duration_since(now)
            .filter(|left| !left.is_zero())
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
}
