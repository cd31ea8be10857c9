//! The one writer: a thread that owns the only writing connection and commits in groups.
//!
//! It drains its queue, opens one transaction, runs every job such that its failure undoes nothing but
//! its own work, commits, and only then answers, so that one fsync serves the whole group and nothing
//! is acknowledged before it is durable. A slice of bulk work is a group of its own, after one that
//! left nobody waiting: so who came before it need not wait for it, and it needs no savepoint, for which
//! SQLite copies every page before its first change. So is a write that is to be alone: what was
//! acknowledged by then was committed before it.

use super::{
    checkpoint::Checkpointer,
    stats::{Queued, Stats},
    tx::{BEGIN, Group, Tx, execute, first, savepoint},
};
use crate::{
    error::{Error, Result},
    types::Timestamp,
};
use rusqlite::Connection;
use std::{
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};
use tokio::sync::oneshot;

/// Jobs waiting for the writer; one more is refused at once (contract: 1108).
const QUEUE_MAX_JOBS: usize = 4096;
/// Jobs committed together at the most.
const GROUP_MAX_JOBS: usize = 512;
/// No group holds the lock longer than this, but for its last job.
const GROUP_MAX: Duration = Duration::from_millis(20);
/// A job that waited longer is not run any more: its caller has been told by then.
const WAIT_MAX: Duration = Duration::from_secs(10);
/// How often the file is asked whether another process changed it.
const FOREIGN_POLL: Duration = Duration::from_millis(200);

/// The name of the file that stands beside ours for a `Turn::Alone`.
pub const BESIDE: &str = "beside";

/// How a job stands in the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Turn {
    /// Somebody waits at a gate.
    Soon,
    /// A slice of a batch or an import: after everybody who waits, one at a time.
    Bulk,
    /// Next, and with nobody else: it reads this other database file as [`BESIDE`].
    Alone(PathBuf),
    /// As that, without another file; with the log emptied before, unless somebody reads an old state.
    Still,
}

/// What a transaction holds when a job is run in it.
#[derive(Clone, Copy)]
enum Before {
    Nothing,
    Jobs,
}

trait Job: Send {
    fn turn(&self) -> &Turn;
    fn waiting_since(&self) -> Instant;
    /// Runs it in the open transaction, which so far holds what `before` tells.
    fn run(&mut self, tx: &Tx<'_>, before: Before);
    /// Answers the caller: with what the job gave, or with why the group did not take place.
    fn answer(self: Box<Self>, lost: Option<&str>);
}

struct JobOf<T, F> {
    turn: Turn,
    since: Instant,
    work: Option<F>,
    outcome: Option<Result<T>>,
    reply: oneshot::Sender<Result<T>>,
    _queued: Queued,
}

impl<T: Send, F: FnOnce(&Tx<'_>) -> Result<T> + Send> Job for JobOf<T, F> {
    fn turn(&self) -> &Turn {
        &self.turn
    }

    fn waiting_since(&self) -> Instant {
        self.since
    }

    fn run(&mut self, tx: &Tx<'_>, before: Before) {
        if let Some(work) = self.work.take() {
            self.outcome = Some(tx.counting(|| match before {
                Before::Nothing => first(tx.connection, || work(tx)),
                Before::Jobs => savepoint(tx.connection, "job", || work(tx)),
            }));
        }
    }

    fn answer(self: Box<Self>, lost: Option<&str>) {
        let outcome = match (lost, self.outcome) {
            (Some(why), _) => Err(Error::unavailable(why)),
            (None, Some(outcome)) => outcome,
            (None, None) => Err(Error::unavailable("it waited too long for the writer")),
        };
        // The caller may be gone; the write stands all the same.
        let _ = self.reply.send(outcome);
    }
}

/// A handle to the writer thread.
pub struct Writer {
    queue: Option<SyncSender<Box<dyn Job>>>,
    thread: Option<JoinHandle<()>>,
    epoch: Arc<AtomicU64>,
    stats: Arc<Stats>,
}

impl Writer {
    /// Starts the thread on its connection.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub fn start(connection: Connection, checkpointer: Checkpointer) -> Result<Self> {
        let (queue, jobs) = sync_channel(QUEUE_MAX_JOBS);
        let epoch = Arc::new(AtomicU64::new(1));
        let stats = Arc::new(Stats::default());
        let mut run = Loop::new(connection, checkpointer);
        run.epoch = Arc::clone(&epoch);
        run.stats = Arc::clone(&stats);
        let thread = std::thread::Builder::new()
            .name("writer".into())
            .spawn(move || run.run(&jobs))
            .map_err(Error::defect)?;
        Ok(Self {
            queue: Some(queue),
            thread: Some(thread),
            epoch,
            stats,
        })
    }

    /// What it is doing.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// Grows whenever something that caches hold may have changed.
    pub fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// Queues a job; the receiver gets its outcome after the commit.
    ///
    /// # Errors
    /// [`crate::error::Kind::Unavailable`] at once when the queue is full.
    pub fn submit<T: Send + 'static>(
        &self,
        turn: Turn,
        work: impl FnOnce(&Tx<'_>) -> Result<T> + Send + 'static,
    ) -> Result<oneshot::Receiver<Result<T>>> {
        let (reply, outcome) = oneshot::channel();
        let job = Box::new(JobOf {
            turn,
            since: Instant::now(),
            work: Some(work),
            outcome: None,
            reply,
            _queued: Queued::take(&self.stats),
        });
        let queue = self.queue.as_ref().ok_or_else(stopped)?;
        match queue.try_send(job) {
            Ok(()) => Ok(outcome),
            Err(TrySendError::Full(_)) => Err(Error::unavailable("the write queue is full")),
            Err(TrySendError::Disconnected(_)) => Err(stopped()),
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

/// What the jobs of a group are told whose transaction is gone.
fn undone() -> String {
    "the store could not take it; the whole group was undone".into()
}

struct Loop {
    connection: Connection,
    checkpointer: Checkpointer,
    epoch: Arc<AtomicU64>,
    waiting: Waiting,
    group: Group,
    stats: Arc<Stats>,
    data_version: i64,
    polled: Instant,
}

/// What was taken from the queue and not run yet.
#[derive(Default)]
struct Waiting {
    alone: VecDeque<Box<dyn Job>>,
    soon: VecDeque<Box<dyn Job>>,
    bulk: VecDeque<Box<dyn Job>>,
}

impl Waiting {
    fn put(&mut self, job: Box<dyn Job>) {
        match job.turn() {
            Turn::Soon => self.soon.push_back(job),
            Turn::Bulk => self.bulk.push_back(job),
            Turn::Alone(_) | Turn::Still => self.alone.push_back(job),
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
    fn new(connection: Connection, checkpointer: Checkpointer) -> Self {
        Self {
            data_version: data_version(&connection).unwrap_or_default(),
            connection,
            checkpointer,
            epoch: Arc::default(),
            waiting: Waiting::default(),
            group: Group::default(),
            stats: Arc::default(),
            polled: Instant::now(),
        }
    }

    fn run(mut self, jobs: &Receiver<Box<dyn Job>>) {
        loop {
            self.stats.beat();
            if self.waiting.is_empty() {
                match jobs.recv_timeout(FOREIGN_POLL) {
                    Ok(job) => self.waiting.put(job),
                    Err(RecvTimeoutError::Timeout) => self.checkpointer.idle(&self.connection),
                    Err(RecvTimeoutError::Disconnected) => return,
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
            if self.polled.elapsed() >= FOREIGN_POLL {
                self.notice_other_processes();
            }
        }
    }

    /// Runs one group. A panic outside its jobs, as from a log that cannot be written, costs this
    /// group at the most and never the writer; who is not answered by then gets a 1108.
    fn guarded(&mut self, group: impl FnOnce(&mut Self)) {
        let finished = catch_unwind(AssertUnwindSafe(|| group(self)));
        if finished.is_err() && !self.connection.is_autocommit() {
            let _ = self.connection.execute_batch("ROLLBACK");
        }
    }

    /// Runs one group: begin, jobs, commit, answers.
    fn group(&mut self, jobs: &Receiver<Box<dyn Job>>) {
        let mut done: Vec<Box<dyn Job>> = Vec::with_capacity(64);
        let lost = match self.begin() {
            Ok(()) => {
                let lost = self.run_jobs(jobs, &mut done);
                lost.or_else(|| self.commit(done.len()))
            }
            Err(cause) => {
                done.extend(self.waiting.soon.drain(..));
                Some(cause.message)
            }
        };
        self.settle(done, lost);
    }

    /// Runs a group of one job.
    fn single(&mut self, mut job: Box<dyn Job>) {
        let lost = match self.begin() {
            Ok(()) => {
                self.run_job(&mut *job, Before::Nothing);
                let gone = self.connection.is_autocommit();
                gone.then(undone).or_else(|| self.commit(1))
            }
            Err(cause) => Some(cause.message),
        };
        self.settle(vec![job], lost);
    }

    /// As that, with another file beside ours or an empty log.
    fn alone(&mut self, job: Box<dyn Job>) {
        // Left there by one that panicked; where there is none, nothing happens.
        let _ = self.detach();
        let attached = match job.turn() {
            Turn::Alone(other) => self.attach(other),
            Turn::Still => self.checkpointer.empty(&self.connection),
            _ => Ok(()),
        };
        match attached {
            Ok(()) => self.single(job),
            Err(cause) => self.settle(vec![job], Some(cause.message)),
        }
        if let Err(cause) = self.detach() {
            tracing::debug!("the file beside ours: {cause}");
        }
    }

    fn attach(&self, other: &Path) -> Result<()> {
        let address = super::open::read_only_address(other);
        self.connection
            .execute(&format!("ATTACH ?1 AS {BESIDE}"), [address])?;
        Ok(())
    }

    fn detach(&self) -> Result<()> {
        // What was prepared over it would keep it.
        self.connection.flush_prepared_statement_cache();
        Ok(self.connection.execute_batch(&format!("DETACH {BESIDE}"))?)
    }

    fn begin(&mut self) -> Result<()> {
        self.group = Group::default();
        execute(&self.connection, BEGIN)
    }

    /// The end of a group: its answers, and what follows from it.
    fn settle(&mut self, done: Vec<Box<dyn Job>>, lost: Option<String>) {
        let jobs_done = done.len();
        if lost.is_some() {
            self.stats.lost();
            if !self.connection.is_autocommit() {
                let _ = self.connection.execute_batch("ROLLBACK");
            }
        } else if self.group.stale.get() {
            self.epoch.fetch_add(1, Ordering::AcqRel);
        }
        for job in done {
            job.answer(lost.as_deref());
        }
        // After the answers: a log on the same full disk may fail to take it.
        if let Some(why) = &lost {
            tracing::error!(jobs = jobs_done, "a group of writes was lost: {why}");
        }
        self.checkpointer.after_commit(&self.connection);
    }

    fn run_job(&self, job: &mut dyn Job, before: Before) {
        if job.waiting_since().elapsed() < WAIT_MAX {
            let tx = Tx {
                connection: &self.connection,
                now: Timestamp::now(),
                group: &self.group,
            };
            job.run(&tx, before);
        }
    }

    /// Why the transaction is gone, when it is. A savepoint does not save from everything: a full
    /// disk, an I/O error or an interrupt can end the whole transaction, earlier jobs included.
    fn run_jobs(
        &mut self,
        jobs: &Receiver<Box<dyn Job>>,
        done: &mut Vec<Box<dyn Job>>,
    ) -> Option<String> {
        let begun = Instant::now();
        while done.len() < GROUP_MAX_JOBS && begun.elapsed() < GROUP_MAX {
            self.waiting.take_from(jobs);
            let Some(mut job) = self.waiting.soon.pop_front() else {
                break;
            };
            let before = match done.as_slice() {
                [] => Before::Nothing,
                _ => Before::Jobs,
            };
            self.run_job(&mut *job, before);
            done.push(job);
            if self.connection.is_autocommit() {
                return Some(undone());
            }
        }
        None
    }

    /// Why the commit of so many jobs failed, when it did.
    fn commit(&self, jobs: usize) -> Option<String> {
        let begun = Instant::now();
        let kept = self.group.ids.keep(&self.connection);
        match kept.and_then(|()| execute(&self.connection, "COMMIT")) {
            Ok(()) => {
                let took = begun.elapsed();
                let check_ins = self.group.check_ins.get();
                self.stats.committed(jobs, check_ins, took);
                None
            }
            Err(cause) => Some(cause.message),
        }
    }

    fn notice_other_processes(&mut self) {
        self.polled = Instant::now();
        if let Ok(version) = data_version(&self.connection)
            && version != self.data_version
        {
            self.data_version = version;
            self.epoch.fetch_add(1, Ordering::AcqRel);
        }
    }
}

/// Changes with every commit of another connection, never with one of this.
fn data_version(connection: &Connection) -> rusqlite::Result<i64> {
    connection
        .prepare_cached("PRAGMA data_version")?
        .query_row([], |row| row.get(0))
}
