//! Figures of the writer and the readers, for whoever looks after the server.

use super::usage::Position;
use crate::types::observe::{DURATIONS, Histogram};
use std::{
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

/// Bounds of groups, in jobs.
const GROUPS: &[u64] = &[1, 2, 4, 8, 16, 32, 64, 128, 256, 512];

/// The writer's figures since the store was opened.
#[derive(Debug)]
pub struct Stats {
    opened: Instant,
    queued: AtomicUsize,
    groups: Histogram,
    commits: Histogram,
    groups_lost: AtomicU64,
    lost_at: Mutex<Option<Instant>>,
    /// SQLite found damage since the last commit, and at any time.
    damage_now: AtomicBool,
    damage: AtomicBool,
    check_ins: AtomicU64,
    /// The time that the last slice of bulk work held the writer, in microseconds.
    slice_us: AtomicU64,
    /// Milliseconds from `opened` to when the writer last showed that it runs.
    beat_ms: AtomicU64,
    /// The mark of the last commit.
    mark: AtomicI64,
    /// The reason why nothing is stored any more.
    stopped: OnceLock<String>,
}

impl Default for Stats {
    fn default() -> Self {
        Self {
            opened: Instant::now(),
            queued: AtomicUsize::new(0),
            groups: Histogram::new(GROUPS),
            commits: Histogram::new(DURATIONS),
            groups_lost: AtomicU64::new(0),
            lost_at: Mutex::new(None),
            damage_now: AtomicBool::new(false),
            damage: AtomicBool::new(false),
            check_ins: AtomicU64::new(0),
            slice_us: AtomicU64::new(0),
            beat_ms: AtomicU64::new(0),
            mark: AtomicI64::new(0),
            stopped: OnceLock::new(),
        }
    }
}

/// A job's place in the queue; given up when this goes, however the job ends.
pub(super) struct Queued(Arc<Stats>);

impl Queued {
    pub(super) fn take(stats: &Arc<Stats>) -> Self {
        stats.queued.fetch_add(1, Relaxed);
        Self(Arc::clone(stats))
    }
}

impl Drop for Queued {
    fn drop(&mut self) {
        self.0.queued.fetch_sub(1, Relaxed);
    }
}

impl Stats {
    /// Writes that wait for the writer or are being committed.
    pub fn queued(&self) -> usize {
        self.queued.load(Relaxed)
    }

    /// Jobs of each group that was committed.
    pub fn groups(&self) -> &Histogram {
        &self.groups
    }

    /// The durations of commits, fsync included.
    pub fn commits(&self) -> &Histogram {
        &self.commits
    }

    /// Groups that the file did not take.
    pub fn groups_lost(&self) -> u64 {
        self.groups_lost.load(Relaxed)
    }

    /// Returns how long ago the file last refused a group; `None` when it has taken one since.
    pub fn refusing_since(&self) -> Option<Duration> {
        let lost_at = self.lost_at.lock().unwrap_or_else(PoisonError::into_inner);
        lost_at.map(|at| at.elapsed())
    }

    /// Returns whether SQLite came upon damage of the file, and nothing was committed since.
    pub fn refuses_for_damage(&self) -> bool {
        self.damage_now.load(Relaxed)
    }

    /// Returns whether SQLite ever came upon damage of the file.
    pub fn has_damage(&self) -> bool {
        self.damage.load(Relaxed)
    }

    /// A group was committed without coming upon damage.
    pub(super) fn forget_damage(&self) {
        self.damage_now.store(false, Relaxed);
    }

    pub(super) fn found_damage(&self) {
        self.damage_now.store(true, Relaxed);
        self.damage.store(true, Relaxed);
    }

    /// Check-ins stored, overrides included.
    pub fn check_ins(&self) -> u64 {
        self.check_ins.load(Relaxed)
    }

    /// The time that the last slice of bulk work held the writer, its commit included.
    pub fn last_slice(&self) -> Duration {
        Duration::from_micros(self.slice_us.load(Relaxed))
    }

    pub(super) fn slice(&self, took: Duration) {
        let took = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.slice_us.store(took, Relaxed);
    }

    /// The time for which the writer has not shown that it runs; it does so several times a second.
    pub fn silent(&self) -> Duration {
        let beat = Duration::from_millis(self.beat_ms.load(Relaxed));
        self.opened.elapsed().saturating_sub(beat)
    }

    pub(super) fn beat(&self) {
        let since = self.opened.elapsed().as_millis();
        self.beat_ms
            .store(u64::try_from(since).unwrap_or(u64::MAX), Relaxed);
    }

    pub(super) fn committed(&self, jobs: usize, check_ins: u64, took: Duration) {
        self.groups.record(jobs as u64);
        self.commits.record_duration(took);
        self.check_ins.fetch_add(check_ins, Relaxed);
        if let Ok(mut lost_at) = self.lost_at.lock() {
            *lost_at = None;
        }
    }

    /// The mark that the file has reached, by the last commit that the writer knows of.
    pub fn mark(&self) -> i64 {
        self.mark.load(Relaxed)
    }

    pub(super) fn reached(&self, position: Position) {
        self.mark.store(position.mark(), Relaxed);
    }

    /// Has the writer store nothing more, for good, and say why.
    pub fn stop(&self, why: String) {
        let _ = self.stopped.set(why);
    }

    /// The reason why nothing is stored any more.
    pub fn stopped(&self) -> Option<&str> {
        self.stopped.get().map(String::as_str)
    }

    pub(super) fn lost(&self) {
        self.groups_lost.fetch_add(1, Relaxed);
        if let Ok(mut lost_at) = self.lost_at.lock() {
            *lost_at = Some(Instant::now());
        }
    }
}
