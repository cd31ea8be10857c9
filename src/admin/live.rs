//! Live pages: one task follows the change feed, whatever number of pages is open, and wakes every stream
//! that waits. Pages that nobody looks at cost nothing.

use super::{Console, CurrentUser};
use crate::{
    core::texts,
    domain::interactions::{
        arrivals::{Arrivals, Arrived},
        history,
    },
    identity::{App, sessions, wall_link},
    types::{Timestamp, error::Result, secret::Digest},
};
use rusqlite::Connection;
use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};
use tokio::sync::watch;

/// The shortest time between two beats.
pub const TICK: Duration = Duration::from_millis(500);
/// The longest: refusals, batteries and times are not in the change feed.
const QUIET: Duration = Duration::from_secs(1);
/// The time between two looks at who has come while nobody asks.
const FOLLOW_EVERY: Duration = Duration::from_secs(10);
/// Minutes that check-ins are counted for.
pub const MINUTES: usize = 60;
const MINUTE_MS: i64 = 60_000;

/// The beat of the console.
pub struct Live {
    app: App,
    /// `None` when the server stops.
    beat: watch::Sender<Option<u64>>,
    minutes: Mutex<Minutes>,
    arrivals: Arc<Arrivals>,
}

/// Check-ins by minute.
#[derive(Default)]
struct Minutes {
    /// Minute since the epoch and check-ins in it, the oldest first.
    counts: VecDeque<(i64, u64)>,
    total: u64,
}

impl Live {
    pub(super) fn new(app: App) -> Self {
        Self {
            app,
            beat: watch::Sender::new(Some(0)),
            minutes: Mutex::default(),
            arrivals: Arc::default(),
        }
    }

    /// Runs until the server stops.
    pub async fn run(&self) {
        self.backfill().await;
        self.follow_arrivals().await;
        let mut followed = Instant::now();
        loop {
            tokio::time::sleep(TICK).await;
            self.count();
            if followed.elapsed() > FOLLOW_EVERY {
                self.follow_arrivals().await;
                followed = Instant::now();
            }
            if self.beat.receiver_count() == 0 {
                continue;
            }
            let mut feed = self.app.changes.subscribe();
            let _ = tokio::time::timeout(QUIET.saturating_sub(TICK), feed.changed()).await;
            self.beat.send_modify(|beat| {
                if let Some(beat) = beat {
                    *beat += 1;
                }
            });
        }
    }

    /// Ends every stream, so that the server can stop.
    pub fn stop(&self) {
        self.beat.send_replace(None);
    }

    /// The beats from now on.
    pub(super) fn beats(&self) -> watch::Receiver<Option<u64>> {
        self.beat.subscribe()
    }

    fn minutes(&self) -> std::sync::MutexGuard<'_, Minutes> {
        self.minutes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count(&self) {
        let total = self.app.store.stats().check_ins();
        let minute = Timestamp::now().0 / MINUTE_MS;
        let mut minutes = self.minutes();
        let new = total.saturating_sub(minutes.total);
        minutes.total = total;
        minutes.add(minute, new);
    }

    /// Check-ins of the last [`MINUTES`] minutes, this one last.
    pub fn check_ins(&self) -> Vec<u64> {
        let minute = Timestamp::now().0 / MINUTE_MS;
        let minutes = self.minutes();
        let first = minute - i64::try_from(MINUTES).unwrap_or_default() + 1;
        (first..=minute)
            .map(|wanted| {
                let of = |(at, count): &(i64, u64)| (*at == wanted).then_some(*count);
                minutes.counts.iter().filter_map(of).sum()
            })
            .collect()
    }

    /// Returns how many of how many have come by now.
    pub(super) fn arrived(&self, connection: &Connection, now: Timestamp) -> Result<Arrived> {
        self.arrivals
            .follow(connection, self.app.settings().day(now))?;
        Ok(self.arrivals.now())
    }

    /// Keeps who has come ready, so that nobody waits for a count of everybody.
    async fn follow_arrivals(&self) {
        let arrivals = Arc::clone(&self.arrivals);
        let day = self.app.settings().day(Timestamp::now());
        let follow = move |connection: &Connection| arrivals.follow(connection, day);
        if let Err(cause) = self.app.store.read(follow).await {
            tracing::warn!("who has arrived: {cause}");
        }
    }

    /// Reads the check-ins before this start.
    async fn backfill(&self) {
        let found = self.app.store.read(|connection| {
            let since = Timestamp::now().0 - MINUTE_MS * i64::try_from(MINUTES).unwrap_or_default();
            history::entries_by_minute(connection, Timestamp(since))
        });
        match found.await {
            Ok(rows) => {
                let mut minutes = self.minutes();
                for (minute, count) in rows {
                    minutes.add(minute, count);
                }
            }
            Err(cause) => tracing::warn!("check-ins before this start: {cause}"),
        }
    }
}

/// The beats that a stream waits for. It ends with the session that it was opened in.
pub struct Beats {
    beats: watch::Receiver<Option<u64>>,
    console: Arc<Console>,
    viewer: Viewer,
}

/// The viewer of a stream.
pub(super) enum Viewer {
    User(CurrentUser),
    /// A screen with the link of the wall display, which has this hash.
    Screen(Digest),
}

impl Viewer {
    /// Tells whether the viewer may still look.
    fn lasts(&self, connection: &Connection) -> Result<bool> {
        match self {
            Self::User(me) => sessions::lasts(connection, me.session, me.user, me.role),
            Self::Screen(hash) => wall_link::lasts(connection, hash),
        }
    }
}

impl Beats {
    pub(super) fn of(console: &Arc<Console>, viewer: Viewer) -> Self {
        Self {
            beats: console.live.beats(),
            console: Arc::clone(console),
            viewer,
        }
    }

    /// The next beat; `None` when the stream is to end.
    pub async fn next(&mut self) -> Option<u64> {
        self.beats.changed().await.ok()?;
        let goes_on = self
            .console
            .store
            .look_up(|connection| self.viewer.lasts(connection));
        // A store that is busy ends nobody's session.
        if let Ok(false) = goes_on {
            return None;
        }
        *self.beats.borrow_and_update()
    }
}

impl Minutes {
    fn add(&mut self, minute: i64, count: u64) {
        // A clock that was put back takes along what it counted: how long ago that is stays true.
        let ahead = self.counts.back().map_or(0, |(last, _)| last - minute);
        if ahead > 0 {
            for (at, _) in &mut self.counts {
                *at -= ahead;
            }
        }
        match self.counts.back_mut() {
            Some((last, counted)) if *last == minute => *counted += count,
            _ => self.counts.push_back((minute, count)),
        }
        while self.counts.len() > 2 * MINUTES {
            self.counts.pop_front();
        }
    }
}

/// What a stream shows, made for all who look at the same in one language at once, by the language's place.
pub struct Shared<T>(tokio::sync::Mutex<HashMap<usize, (u64, Arc<T>)>>);

impl<T> Default for Shared<T> {
    fn default() -> Self {
        Self(tokio::sync::Mutex::default())
    }
}

impl<T> Shared<T> {
    /// Returns what was made for this beat; the first who asks makes it, the others wait for that.
    pub async fn get(
        &self,
        beat: u64,
        make: impl Future<Output = Result<Arc<T>>>,
    ) -> Result<Arc<T>> {
        let mut kept = self.0.lock().await;
        let language = texts::index();
        if let Some((of, made)) = kept.get(&language)
            && *of == beat
        {
            return Ok(Arc::clone(made));
        }
        let made = make.await?;
        kept.insert(language, (beat, Arc::clone(&made)));
        Ok(made)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::error::Error;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn check_ins_are_counted_by_minute_whatever_the_clock_does() {
        let mut minutes = Minutes::default();
        for (minute, count) in [(10, 2), (10, 3), (12, 1)] {
            minutes.add(minute, count);
        }
        assert_eq!(minutes.counts, [(10, 5), (12, 1)]);
        // Put back by three minutes.
        minutes.add(9, 4);
        assert_eq!(minutes.counts, [(7, 5), (9, 5)]);
        minutes.add(13, 1);
        assert_eq!(minutes.counts, [(7, 5), (9, 5), (13, 1)]);
    }

    #[tokio::test]
    async fn what_many_look_at_is_made_once_a_beat() {
        let (shared, made) = (Shared::default(), AtomicUsize::new(0));
        let make = || async {
            let number = made.fetch_add(1, Ordering::Relaxed);
            tokio::task::yield_now().await;
            Ok(Arc::new(number))
        };
        for (beat, expected) in [(2, 0), (4, 1)] {
            let viewers = (0..20).map(|_| shared.get(beat, make()));
            for seen in futures_util::future::join_all(viewers).await {
                assert_eq!(*seen.unwrap(), expected);
            }
        }
        // A failure is nobody else's.
        let failed = shared.get(6, async { Err(Error::invalid("no")) });
        assert!(failed.await.is_err());
        assert_eq!(*shared.get(6, make()).await.unwrap(), 2);
    }
}
