//! Long writes in slices: no slice holds the lock of the file for long, and others write between two
//! of them, gates of a `serve` in another process included.

use crate::{
    db::{Store, Tx, newest_interaction},
    types::error::{Error, Result},
};
use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

/// The time that a slice is to hold the writer, from its first step until it is committed; single slices take half as
/// much again.
const SLICE: Duration = Duration::from_millis(5);
/// The same while gates of this process scan: whoever does meanwhile waits for as long.
const SLICE_BESIDE_GATES: Duration = Duration::from_millis(2);
/// Steps of the first slice, before it is known how long one takes.
const FIRST_STEPS: u32 = 32;
/// The fewest steps of a slice.
const STEPS_MIN: u32 = 4;
/// The pause after a slice. SQLite's lock is not fair: who waits for it asks now and then, and has
/// to find it free.
const PAUSE: Duration = Duration::from_millis(2);
/// The pause while other processes write to the file.
const BUSY_PAUSE: Duration = Duration::from_millis(30);
/// The addition to that pause for every interaction a second that others record. A slice of ours puts all
/// pages that a server has in its cache out of date, and what it needs to read them anew is the
/// longer the more gates wait: at 8,000 a second they have nine tenths of the time.
const BUSY_PAUSE_PER_RATE: Duration = Duration::from_micros(20);
/// The longest pause.
const BUSY_PAUSE_MAX: Duration = Duration::from_millis(400);
/// For how long after a write of others they are taken to go on writing.
const BUSY_FOR: Duration = Duration::from_secs(1);
/// The time for which a slice is retried while others hold the lock.
const WAIT_MAX: Duration = Duration::from_secs(120);

/// A long piece of work.
pub trait Steps: Send + 'static {
    /// Does the next step in the transaction of its slice; false when all is done.
    fn step(&mut self, tx: &Tx<'_>) -> Result<bool>;

    /// Prepares the next slice, outside of its transaction.
    fn prepare(&mut self, _: &Store) -> Result<()> {
        Ok(())
    }

    /// Returns whether the next step must be prepared first.
    fn is_unprepared(&self) -> bool {
        false
    }

    /// Begins a slice.
    fn open(&mut self, _: &Tx<'_>) -> Result<()> {
        Ok(())
    }

    /// Ends a slice, and stores the progress of the work.
    fn close(&mut self, _: &Tx<'_>) -> Result<()> {
        Ok(())
    }
}

/// Does all of the work; `on_progress` is called after each slice, when that is committed.
pub fn write<W: Steps>(store: &Store, work: W, mut on_progress: impl FnMut(&W)) -> Result<W> {
    let mut progress = Progress {
        work,
        begun: false,
        version: None,
        others_wrote: None,
        left: None,
        others_rate: 0,
        steps_max: FIRST_STEPS,
        steps: 0,
        held: Duration::ZERO,
    };
    loop {
        progress.work.prepare(store)?;
        let goes_on;
        (progress, goes_on) = slice(store, progress)?;
        on_progress(&progress.work);
        if !goes_on {
            return Ok(progress.work);
        }
        std::thread::sleep(progress.pause());
    }
}

/// The work between two slices, and how busy other writers are.
struct Progress<W> {
    work: W,
    /// The slice has taken steps, so that it must not be retried.
    begun: bool,
    version: Option<i64>,
    others_wrote: Option<Instant>,
    /// The time when the last slice ended, and the newest interaction by then.
    left: Option<(Instant, i64)>,
    /// The number of interactions a second that others recorded since.
    others_rate: u32,
    /// The most steps of the next slice.
    steps_max: u32,
    /// The steps of the last slice, and how long it held the writer.
    steps: u32,
    held: Duration,
}

impl<W: Steps> Progress<W> {
    fn run(&mut self, tx: &Tx<'_>) -> Result<bool> {
        self.begun = true;
        let version = tx
            .prepare_cached("PRAGMA data_version")?
            .query_row([], |row| row.get(0))?;
        let begun = Instant::now();
        if self
            .version
            .replace(version)
            .is_some_and(|known| known != version)
        {
            self.others_wrote = Some(begun);
        }
        if let Some((left, newest)) = self.left {
            let recorded = u128::try_from(newest_interaction(tx)? - newest).unwrap_or(0);
            let rate = recorded * 1000 / left.elapsed().as_millis().max(1);
            self.others_rate = u32::try_from(rate).unwrap_or(u32::MAX);
        }
        self.work.open(tx)?;
        let mut goes_on = true;
        self.steps = 0;
        while goes_on
            && !self.work.is_unprepared()
            && self.steps < self.steps_max
            && begun.elapsed() <= self.slice()
        {
            goes_on = self.work.step(tx)?;
            self.steps += 1;
        }
        self.work.close(tx)?;
        self.left = Some((Instant::now(), newest_interaction(tx)?));
        Ok(goes_on)
    }

    /// Has the next slice take as many steps as fit, going by the last one. What ends a slice, such as the
    /// index for searching and the commit, takes as long as its steps and more.
    fn adapt(&mut self, held: Duration) {
        self.held = held;
        self.steps_max = fitting(self.steps_max, self.steps, held, self.slice());
    }

    /// The time that a slice is to hold the writer.
    fn slice(&self) -> Duration {
        // Other processes pay for each slice with their caches, and are better off with few.
        if self.others_rate > 0 && !self.is_busy() {
            SLICE_BESIDE_GATES
        } else {
            SLICE
        }
    }

    fn pause(&self) -> Duration {
        if !self.is_busy() {
            // Gates of this process have half of the time.
            return if self.others_rate > 0 {
                self.held.clamp(PAUSE, SLICE)
            } else {
                PAUSE
            };
        }
        let for_gates = BUSY_PAUSE_PER_RATE.saturating_mul(self.others_rate);
        (BUSY_PAUSE + for_gates).min(BUSY_PAUSE_MAX)
    }

    fn is_busy(&self) -> bool {
        self.others_wrote.is_some_and(|at| at.elapsed() < BUSY_FOR)
    }
}

/// The most steps of the next slice, where the last one had `steps` of `most` and held the writer for so
/// long, and the next one may for as long as `slice`.
fn fitting(most: u32, steps: u32, held: Duration, slice: Duration) -> u32 {
    if steps < most && held <= slice {
        // It ended for another reason.
        return most;
    }
    let fitting = u128::from(steps) * slice.as_micros() / held.as_micros().max(1);
    let fitting = u32::try_from(fitting).unwrap_or(u32::MAX);
    let next = if held > slice {
        fitting
    } else {
        // Not all at once: after a slice that was cheap comes a dear one.
        fitting.midpoint(most).min(most.saturating_mul(2))
    };
    next.max(STEPS_MIN)
}

/// Writes one slice. It is retried where the lock was not available, as nothing has begun then.
fn slice<W: Steps>(store: &Store, mut progress: Progress<W>) -> Result<(Progress<W>, bool)> {
    progress.begun = false;
    let shared = Arc::new(Mutex::new(Some(progress)));
    let deadline = Instant::now() + WAIT_MAX;
    loop {
        let in_job = Arc::clone(&shared);
        let outcome = store
            .write_bulk(move |tx| {
                let mut progress = in_job.lock().unwrap_or_else(PoisonError::into_inner);
                let progress = progress
                    .as_mut()
                    .ok_or_else(|| Error::defect("a slice went missing"))?;
                progress.run(tx)
            })
            .wait();
        let mut held = shared.lock().unwrap_or_else(PoisonError::into_inner);
        let begun = held.as_ref().is_none_or(|progress| progress.begun);
        match outcome {
            Err(cause) if cause.kind.is_of_store() && !begun && Instant::now() < deadline => {}
            outcome => {
                let mut progress = held
                    .take()
                    .ok_or_else(|| Error::defect("a slice went missing"))?;
                progress.adapt(store.stats().last_slice());
                return Ok((progress, outcome?));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::Durability;
    use rusqlite::Connection;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Goes on until somebody else had some turns, but not for ever.
    struct Until {
        turns: Arc<AtomicUsize>,
        end: Instant,
    }

    const TURNS: usize = 6;

    impl Steps for Until {
        fn step(&mut self, tx: &Tx<'_>) -> Result<bool> {
            tx.execute("REPLACE INTO settings (name, value) VALUES ('a', '1')", [])?;
            Ok(self.turns.load(Ordering::Relaxed) < TURNS && Instant::now() < self.end)
        }
    }

    #[test]
    fn a_slice_has_as_many_steps_as_fit() {
        for (most, steps, slices_held, next) in [
            (32, 32, 2.0, 16),
            (32, 32, 1.0, 32),
            (32, 32, 0.5, 48),
            (32, 32, 0.0, 64),
            (32, 16, 4.0, STEPS_MIN),
            (1_000, 3, 0.5, 1_000),
            (u32::MAX, u32::MAX, 0.0, u32::MAX),
        ] {
            let found = fitting(most, steps, SLICE.mul_f64(slices_held), SLICE);
            assert_eq!(found, next, "{most} {steps} {slices_held}");
        }
    }

    #[test]
    fn others_get_their_turn_between_slices() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let store = Store::open(&path, Durability::Normal).unwrap();
        let turns = Arc::new(AtomicUsize::new(0));
        let had = Arc::clone(&turns);
        let other = std::thread::spawn(move || {
            let connection = Connection::open(path).unwrap();
            let ask_again = |asked| {
                std::thread::sleep(Duration::from_millis(1));
                asked < 60_000
            };
            connection.busy_handler(Some(ask_again)).unwrap();
            while had.load(Ordering::Relaxed) < TURNS {
                connection
                    .execute("REPLACE INTO settings (name, value) VALUES ('b', '2')", [])
                    .unwrap();
                had.fetch_add(1, Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        let end = Instant::now() + Duration::from_secs(60);
        let mut slices = 0;
        let until = Until {
            turns: Arc::clone(&turns),
            end,
        };
        write(&store, until, |_| slices += 1).unwrap();
        assert!(
            Instant::now() < end,
            "{} turns",
            turns.load(Ordering::Relaxed)
        );
        other.join().unwrap();
        assert!(slices > 1, "{slices} slices");
    }
}
