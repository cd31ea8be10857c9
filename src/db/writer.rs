//! The one writer: a thread that owns the only writing connection and commits in groups.
//!
//! It drains its queue, opens one transaction, runs every job such that its failure undoes nothing but
//! its own work, commits, and only then answers, so that one fsync serves the whole group and nothing
//! is acknowledged before it is durable. A slice of bulk work is a group of its own, after one that
//! left nobody waiting: so who came before it need not wait for it. So is a write that is to be alone:
//! what was acknowledged by then was committed before it.
//!
//! A savepoint has SQLite copy every page before its first change. So jobs that can be run again, as
//! those of gates can, run without: when one fails after it had begun to write, the transaction is rolled
//! back, and those before it run again in savepoints and are committed. It hardly ever happens, as what
//! the rules refuse is no failure. The same is done after a defect: once SQLite came upon a damaged page,
//! it commits nothing before a rollback.

use super::{
    checkpoint::{self, Checkpointer},
    job::{ATTACHED, Job, JobFailure, JobOf, Priority, SavepointMode, Work, Write},
    moments, search_index,
    stats::{Queued, Stats},
    tx::{BEGIN, Group, Tx, execute, savepoint, undone},
    usage::{Position, Usage},
    watch::{self, Watch},
};
use crate::types::{
    Timestamp,
    error::{Error, Kind, Result},
};
use rusqlite::Connection;
use std::{
    cell::Cell,
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

/// Jobs waiting for the writer; one more is refused at once (contract: 1108).
const QUEUE_MAX_JOBS: usize = 4096;
/// Jobs committed together at the most.
const GROUP_MAX_JOBS: usize = 512;
/// No group takes a job after this.
const GROUP_MAX: Duration = Duration::from_millis(20);
/// The time between two looks at a commit whether the files are in their places: a look costs more than a tenth of a
/// small commit.
const LOOK_EVERY: Duration = Duration::from_millis(5);
/// The time between two looks at the lock file: where locks do not lock, another server may have written there.
const LOCK_EVERY: Duration = Duration::from_secs(10);
/// The time between two looks whether another process changed the file.
const FOREIGN_POLL: Duration = Duration::from_millis(200);

/// A handle to the writer thread.
pub struct Writer {
    queue: Option<SyncSender<Box<dyn Job>>>,
    thread: Option<JoinHandle<()>>,
    epoch: Arc<AtomicU64>,
    stats: Arc<Stats>,
    watch: Arc<Watch>,
}

impl Writer {
    /// Starts the thread on its connection.
    pub fn start(
        connection: Connection,
        checkpointer: Checkpointer,
        watch: Arc<Watch>,
        usage: Arc<Usage>,
    ) -> Result<Self> {
        let (queue, jobs) = sync_channel(QUEUE_MAX_JOBS);
        let epoch = Arc::new(AtomicU64::new(1));
        let stats = Arc::new(Stats::default());
        let shared = (Arc::clone(&epoch), Arc::clone(&stats), Arc::clone(&watch));
        let thread = std::thread::Builder::new()
            .name("writer".into())
            .spawn(move || Loop::new(connection, checkpointer, usage, shared).run(&jobs))
            .map_err(Error::defect)?;
        Ok(Self {
            queue: Some(queue),
            thread: Some(thread),
            epoch,
            stats,
            watch,
        })
    }

    /// Returns the figures of the writer.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// Grows whenever something that caches hold may have changed.
    pub fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// Queues a job; its outcome comes after the commit.
    pub fn submit<T: Send + 'static>(
        &self,
        priority: Priority,
        work: impl Work<T> + 'static,
    ) -> Write<T> {
        if self.watch.lost().is_some() {
            return Write::refused(Error::unavailable(watch::REFUSED));
        }
        if let Some(why) = self.stats.stopped() {
            return Write::refused(Error::unavailable(why));
        }
        let (job, write) = JobOf::queued(priority, work, Queued::take(&self.stats));
        let Some(queue) = &self.queue else {
            return Write::refused(stopped());
        };
        match queue.try_send(Box::new(job)) {
            Ok(()) => write,
            Err(TrySendError::Full(_)) => {
                Write::refused(Error::unavailable("the write queue is full"))
            }
            Err(TrySendError::Disconnected(_)) => Write::refused(stopped()),
        }
    }
}

impl Drop for Writer {
    /// Finishes what was queued.
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

pub(super) fn stopped() -> Error {
    Error::unavailable("the store is closing")
}

struct Loop {
    connection: Connection,
    checkpointer: Checkpointer,
    epoch: Arc<AtomicU64>,
    waiting: Waiting,
    group: Group,
    stats: Arc<Stats>,
    watch: Arc<Watch>,
    usage: Arc<Usage>,
    /// The time of the last look whether the files are in their places.
    looked_at: Cell<Instant>,
    /// The time of the last look whether another server has the file, too.
    lock_looked_at: Cell<Option<Instant>>,
    /// True if a job came upon damage since the last commit.
    found_damage: Cell<bool>,
    /// The index for searching could not be written: it is damaged, and left until it is made anew.
    is_index_lost: Cell<bool>,
    /// None while it is not known.
    data_version: Option<i64>,
    /// The progress of the file by the last commit that this one knows of, and that without its log, as noted.
    committed: Cell<Position>,
    noted: Cell<Position>,
}

/// The jobs taken from the queue and not run yet.
#[derive(Default)]
struct Waiting {
    alone: VecDeque<Box<dyn Job>>,
    soon: VecDeque<Box<dyn Job>>,
    bulk: VecDeque<Box<dyn Job>>,
}

impl Waiting {
    fn put(&mut self, job: Box<dyn Job>) {
        match job.priority() {
            Priority::Interactive => self.soon.push_back(job),
            Priority::Background => self.bulk.push_back(job),
            Priority::ExclusiveWith(_) | Priority::Exclusive => self.alone.push_back(job),
        }
    }

    /// Takes what is queued by now, as long as that does not make a group too large.
    fn take_from(&mut self, jobs: &Receiver<Box<dyn Job>>) {
        while self.soon.len() < GROUP_MAX_JOBS
            && let Ok(job) = jobs.try_recv()
        {
            self.put(job);
        }
    }

    fn is_empty(&self) -> bool {
        self.alone.is_empty() && self.soon.is_empty() && self.bulk.is_empty()
    }
}

impl Loop {
    fn new(
        connection: Connection,
        checkpointer: Checkpointer,
        usage: Arc<Usage>,
        (epoch, stats, watch): (Arc<AtomicU64>, Arc<Stats>, Arc<Watch>),
    ) -> Self {
        let position = Position::read(&connection).unwrap_or_default();
        stats.reached(position);
        Self {
            data_version: data_version(&connection).ok(),
            committed: Cell::new(position),
            noted: Cell::default(),
            connection,
            checkpointer,
            epoch,
            waiting: Waiting::default(),
            group: Group::default(),
            stats,
            watch,
            usage,
            looked_at: Cell::new(Instant::now()),
            lock_looked_at: Cell::new(None),
            found_damage: Cell::new(false),
            is_index_lost: Cell::new(false),
        }
    }

    fn run(mut self, jobs: &Receiver<Box<dyn Job>>) {
        loop {
            self.stats.beat();
            if self.waiting.is_empty() {
                match jobs.recv_timeout(FOREIGN_POLL) {
                    Ok(job) => self.waiting.put(job),
                    Err(RecvTimeoutError::Timeout) => {
                        if self.in_place().is_ok() {
                            self.watch.copying(|| self.usage.mark(&self.connection));
                            self.checkpointer.idle(&self.connection);
                            if self.notice_other_processes() && self.take_position().is_ok() {
                                self.usage.committed(self.committed.get());
                            }
                            self.index_others();
                        }
                    }
                    Err(RecvTimeoutError::Disconnected) => return self.end(),
                }
            }
            self.waiting.take_from(jobs);
            if let Some(job) = self.waiting.alone.pop_front() {
                self.guarded(|run| run.alone(job));
            } else {
                if !self.waiting.soon.is_empty() {
                    self.guarded(|run| run.group(jobs));
                }
                if self.waiting.soon.is_empty()
                    && let Some(slice) = self.waiting.bulk.pop_front()
                {
                    self.guarded(|run| run.single(slice));
                }
            }
        }
    }

    fn end(&self) {
        let end = || {
            self.take_position()?;
            self.usage.end(&self.connection)
        };
        if self.watch.lost().is_none()
            && let Err(cause) = end()
        {
            tracing::warn!("the end of the use could not be noted in the file: {cause}");
        }
    }

    /// Runs one group. A panic outside its jobs, as from a log that cannot be written, costs this
    /// group at the most and never the writer; who is not answered by then gets a 1108.
    fn guarded(&mut self, group: impl FnOnce(&mut Self)) {
        let finished = catch_unwind(AssertUnwindSafe(|| group(self)));
        if finished.is_err() {
            let _ = self.roll_back();
        }
    }

    /// Runs one group: begin, jobs, commit, answers.
    fn group(&mut self, jobs: &Receiver<Box<dyn Job>>) {
        let mut done: Vec<Box<dyn Job>> = Vec::with_capacity(64);
        let lost = match self.begin() {
            Ok(()) => {
                let ran = self.run_jobs(jobs, &mut done);
                ran.and_then(|()| self.commit(done.len())).err()
            }
            Err(cause) => {
                done.extend(self.waiting.soon.drain(..));
                Some(cause)
            }
        };
        self.settle(done, lost);
    }

    /// Runs a group of one job.
    fn single(&mut self, mut job: Box<dyn Job>) {
        if !job.take_up() {
            return job.answer(None);
        }
        let lost = self.begin().and_then(|()| {
            let begun = Instant::now();
            if self.run_job(&mut *job, SavepointMode::Transaction).is_ok() {
                self.commit(1)?;
                self.stats.slice(begun.elapsed());
                return Ok(());
            }
            self.still_open()?;
            self.roll_back()
        });
        self.settle(vec![job], lost.err());
    }

    /// Runs a job on its own, with another file beside ours or an empty log.
    fn alone(&mut self, job: Box<dyn Job>) {
        // Left there by one that panicked; where there is none, nothing happens.
        let _ = self.detach();
        let attached = match job.priority() {
            Priority::ExclusiveWith(other) => self.attach(other),
            Priority::Exclusive => self
                .in_place()
                .and_then(|()| self.checkpointer.empty(&self.connection)),
            _ => Ok(()),
        };
        match attached {
            Ok(()) => self.single(job),
            Err(cause) => self.settle(vec![job], Some(cause)),
        }
        if let Err(cause) = self.detach() {
            tracing::debug!("the file beside ours: {cause}");
        }
    }

    fn attach(&self, other: &Path) -> Result<()> {
        let address = super::open::read_only_address(other);
        self.connection
            .execute(&format!("ATTACH ?1 AS {ATTACHED}"), [address])?;
        Ok(())
    }

    fn detach(&self) -> Result<()> {
        // What was prepared over it would keep it.
        self.connection.flush_prepared_statement_cache();
        Ok(self
            .connection
            .execute_batch(&format!("DETACH {ATTACHED}"))?)
    }

    fn begin(&mut self) -> Result<()> {
        if self.watch.lost().is_some() {
            return Err(Error::unavailable(watch::REFUSED));
        }
        // What was queued before is not acknowledged either.
        if let Some(why) = self.stats.stopped() {
            return Err(Error::unavailable(why));
        }
        self.group = Group {
            cache: std::mem::take(&mut self.group.cache),
            ..Group::default()
        };
        execute(&self.connection, BEGIN)?;
        // Another process may lawfully make the file smaller: that is noted before this one writes. A
        // log that was cut short is noticed before a write makes it longer again.
        // What the file lost is seen best before this begins the log anew.
        let looked_at = self.looked_at.get();
        let changed = self.notice_other_processes();
        if changed
            || self.watch.may_be_cut(checkpoint::log_pages())
            || looked_at.elapsed() >= LOOK_EVERY
        {
            self.in_place()?;
            // The commit looks again.
            self.looked_at.set(looked_at);
        }
        if changed {
            self.take_position()
        } else {
            Ok(())
        }
    }

    /// Takes the position that the file has by now, which others may have moved on.
    ///
    /// # Errors
    /// When it is behind the last commit that this one knows of: SQLite reads an older state.
    fn take_position(&self) -> Result<()> {
        let position = Position::read(&self.connection)?;
        if position.reaches(self.committed.get()) {
            self.committed.set(position);
            self.stats.reached(position);
            return Ok(());
        }
        self.watch.lose_index();
        self.tell_of_loss();
        Err(Error::unavailable(watch::REFUSED))
    }

    fn roll_back(&self) -> Result<()> {
        self.group.cache.forget();
        if !self.connection.is_autocommit() {
            self.connection.execute_batch("ROLLBACK")?;
        }
        Ok(())
    }

    /// The end of a group: its answers, and what follows from it.
    fn settle(&mut self, done: Vec<Box<dyn Job>>, lost: Option<Error>) {
        let jobs_done = done.len();
        if let Some(cause) = &lost {
            self.stats.lost();
            if cause.kind == Kind::Damaged {
                self.stats.found_damage();
            }
            let _ = self.roll_back();
        } else if self.group.stale.get() {
            self.epoch.fetch_add(1, Ordering::AcqRel);
        }
        for job in done {
            job.answer(lost.as_ref());
        }
        // After the answers: a log on the same full disk may fail to take it.
        if let Some(cause) = &lost {
            tracing::error!(jobs = jobs_done, "a group of writes was lost: {cause}");
        }
        if self.watch.lost().is_none() {
            self.checkpointer.after_commit(&self.connection);
        }
    }

    fn run_job(&self, job: &mut dyn Job, savepoint_mode: SavepointMode) -> Result<(), JobFailure> {
        let cache = &self.group.cache;
        let tx = Tx {
            connection: &self.connection,
            now: Timestamp::now(),
            group: &self.group,
            cache: job.is_repeatable().then_some(cache),
        };
        let ran = job.run(&tx, savepoint_mode);
        if !job.is_repeatable() {
            cache.forget();
        }
        if ran == Err(JobFailure::Damage) {
            self.found_damage.set(true);
            self.stats.found_damage();
        }
        ran
    }

    /// Runs what waits and what comes meanwhile.
    fn run_jobs(
        &mut self,
        jobs: &Receiver<Box<dyn Job>>,
        done: &mut Vec<Box<dyn Job>>,
    ) -> Result<()> {
        let begun = Instant::now();
        // Whether all that was done can be done again.
        let mut repeatable = true;
        while done.len() < GROUP_MAX_JOBS && begun.elapsed() < GROUP_MAX {
            self.waiting.take_from(jobs);
            let Some(mut job) = self.waiting.soon.pop_front() else {
                break;
            };
            if !job.take_up() {
                job.answer(None);
                continue;
            }
            let savepoint_mode = if done.is_empty() || (repeatable && job.is_repeatable()) {
                SavepointMode::Transaction
            } else {
                SavepointMode::Savepoint
            };
            if !job.is_repeatable() {
                self.group.count_people(&self.connection)?;
            }
            let changes = self.connection.total_changes();
            let ran = self.run_job(&mut *job, savepoint_mode);
            let wrote = self.connection.total_changes() != changes;
            let is_repeatable = job.is_repeatable();
            done.push(job);
            self.still_open()?;
            let left_behind = savepoint_mode == SavepointMode::Transaction && wrote;
            if let Err(failure) = ran
                && repeatable
                && (left_behind || failure != JobFailure::Refused)
            {
                return self.start_over(done);
            }
            repeatable &= is_repeatable;
        }
        Ok(())
    }

    /// Undoes the transaction because of the last job, and runs those before it again in another.
    fn start_over(&mut self, done: &mut [Box<dyn Job>]) -> Result<()> {
        self.roll_back()?;
        self.begin()?;
        let (_failed, before) = done.split_last_mut().unzip();
        for job in before.into_iter().flatten() {
            // It keeps its own outcome.
            let _ = self.run_job(&mut **job, SavepointMode::Savepoint);
            self.still_open()?;
        }
        Ok(())
    }

    fn still_open(&self) -> Result<()> {
        if self.connection.is_autocommit() {
            return Err(undone());
        }
        Ok(())
    }

    /// Indexes what another program wrote, a slice at a time while nobody waits.
    fn index_others(&mut self) {
        let is_behind = search_index::is_behind(&self.connection);
        if is_behind.is_ok_and(|is_behind| is_behind) && !self.is_index_lost.get() {
            self.guarded(|run| {
                let indexed = run.begin().and_then(|()| run.commit(0));
                run.settle(Vec::new(), indexed.err());
            });
        }
    }

    /// Brings the index for searching up to what the group wrote, or a slice of it. A damaged one costs nobody their
    /// write.
    fn index(&self) -> Result<()> {
        if self.is_index_lost.get() || !search_index::is_behind(&self.connection)? {
            return Ok(());
        }
        let settled = savepoint(&self.connection, "indexed", || {
            search_index::settle(&self.connection, search_index::SLICE)
        });
        match settled {
            Err(cause) if cause.kind == Kind::Damaged && !self.connection.is_autocommit() => {
                self.is_index_lost.set(true);
                tracing::error!(
                    "the index for searching is damaged, run `gatepost check --repair`: {cause}"
                );
                Ok(())
            }
            settled => settled.map(drop),
        }
    }

    /// Commits so many jobs.
    fn commit(&self, jobs: usize) -> Result<()> {
        let begun = Instant::now();
        self.index()?;
        self.group.count_people(&self.connection)?;
        self.group.ids.keep(&self.connection)?;
        let position = Position::read(&self.connection)?;
        let before = self.committed.get();
        // This may begin the log anew.
        let notes = position != before && before != self.noted.get() && self.watch.is_log_copied();
        if notes {
            moments::note(&self.connection, before)?;
        }
        execute(&self.connection, "COMMIT")?;
        self.committed.set(position);
        self.stats.reached(position);
        if notes {
            self.noted.set(before);
        }
        // What went into a file that nobody finds again is not answered as done.
        if self.looked_at.get().elapsed() >= LOOK_EVERY {
            self.in_place()?;
        }
        self.usage.committed(position);
        self.watch.committed(position);
        let check_ins = self.group.check_ins.get();
        self.stats.committed(jobs, check_ins, begun.elapsed());
        if !self.found_damage.take() {
            self.stats.forget_damage();
        }
        Ok(())
    }

    /// Checks that file and log are in their places still. Once they are not, that is for good.
    fn in_place(&self) -> Result<()> {
        let now = Instant::now();
        self.looked_at.set(now);
        let known = self.watch.lost().is_some();
        if self
            .lock_looked_at
            .get()
            .is_none_or(|at| now - at >= LOCK_EVERY)
        {
            self.lock_looked_at.set(Some(now));
            if let Some(lock) = self.usage.taken() {
                self.watch.lose(lock);
            }
        }
        let looked = self.watch.look().map_err(|cause| {
            Error::unavailable(format!(
                "the file or its log cannot be looked at now ({cause}); send it again"
            ))
        })?;
        if looked.is_none() {
            return Ok(());
        }
        if !known {
            self.tell_of_loss();
        }
        Err(Error::unavailable(watch::REFUSED))
    }

    /// Reports a loss that was just found, and keeps what can be kept.
    fn tell_of_loss(&self) {
        let Some(lost) = self.watch.lost() else {
            return;
        };
        let _ = self.roll_back();
        let mut told = format!(
            "{} was removed, renamed, replaced, overwritten or cut short while the server ran; nothing is stored any more until it is started again. ",
            lost.display()
        );
        told += if self.watch.is_index_older() {
            "Its log is left as it is: keep a copy of the file and the log, and start the server again, which stores what the log has."
        } else {
            "Put the file back or restore a backup before that."
        };
        if self.watch.is_log_of_another() {
            told += &self.usage.put_log_aside();
        } else if self.watch.may_copy_log() && Checkpointer::copy_all(&self.connection) {
            // What was acknowledged may be in the log alone.
            told += " What was acknowledged before was copied into the database file.";
        }
        tracing::error!("{told}");
        self.usage.tell(&told);
    }

    /// Drops what was cached when another process has changed the file; returns whether it may have.
    fn notice_other_processes(&mut self) -> bool {
        let version = data_version(&self.connection).ok();
        let changed = version.is_none() || version != self.data_version;
        if changed {
            self.data_version = version;
            self.group.cache.forget();
            self.epoch.fetch_add(1, Ordering::AcqRel);
        }
        changed
    }
}

/// Changes with every commit of another connection, never with one of this.
fn data_version(connection: &Connection) -> rusqlite::Result<i64> {
    connection
        .prepare_cached("PRAGMA data_version")?
        .query_row([], |row| row.get(0))
}
