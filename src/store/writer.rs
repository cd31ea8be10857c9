//! The one writer: a thread that owns the only writing connection and commits in groups.
//!
//! It drains its queue, opens one transaction, runs every job in a savepoint of its own, commits,
//! and only then answers, so that one fsync serves the whole group and nothing is acknowledged
//! before it is durable.

use super::{Durability, checkpoint::Checkpointer};
use crate::{
    error::{Error, Result, panic_text},
    types::Timestamp,
};
use rusqlite::Connection;
use std::{
    cell::Cell,
    ops::Deref,
    panic::{AssertUnwindSafe, catch_unwind},
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

/// What a write runs in: the open transaction and the one time of this group.
pub struct Tx<'a> {
    connection: &'a Connection,
    now: Timestamp,
    stale: &'a Cell<bool>,
}

impl Tx<'_> {
    /// The time at which the group was begun; `created_at` and `updated_at` of all it writes.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// Tells, once this write is committed, every cache of settings, clients and tokens that it is
    /// out of date (see [`super::Store::epoch`]).
    pub fn outdate_caches(&self) {
        self.stale.set(true);
    }

    /// Runs `work` in a savepoint of its own: what it wrote is undone when it fails.
    ///
    /// # Errors
    /// What `work` fails with, or SQLite.
    pub fn nested<T>(&self, work: impl FnOnce(&Tx<'_>) -> Result<T>) -> Result<T> {
        savepoint(self.connection, "nested", || work(self))
    }
}

impl Deref for Tx<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection
    }
}

/// Runs `work` as the only job of a transaction on a connection that nobody else uses, such as the
/// one of a test.
///
/// # Errors
/// What `work` fails with, or SQLite.
pub fn in_transaction<T>(
    connection: &Connection,
    now: Timestamp,
    work: impl FnOnce(&Tx<'_>) -> Result<T>,
) -> Result<T> {
    let stale = Cell::new(false);
    savepoint(connection, "alone", || {
        work(&Tx {
            connection,
            now,
            stale: &stale,
        })
    })
}

fn savepoint<T>(
    connection: &Connection,
    name: &str,
    work: impl FnOnce() -> Result<T>,
) -> Result<T> {
    execute(connection, &format!("SAVEPOINT {name}"))?;
    let outcome = catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|panic| Err(Error::defect(panic_text(panic.as_ref()))));
    if connection.is_autocommit() {
        let why = outcome.err().map_or_else(String::new, |cause| cause.message);
        return Err(Error::unavailable(format!(
            "the store could not take it; the whole group was undone {why}"
        )));
    }
    let close = || {
        if outcome.is_err() {
            execute(connection, &format!("ROLLBACK TO {name}"))?;
        }
        execute(connection, &format!("RELEASE {name}"))
    };
    if let Err(cause) = close() {
        // What the work wrote can be told apart from its neighbours' no more: all of it goes.
        connection.execute_batch("ROLLBACK")?;
        return Err(cause);
    }
    outcome
}

fn execute(connection: &Connection, statement: &str) -> Result<()> {
    connection.prepare_cached(statement)?.execute([])?;
    Ok(())
}

trait Job: Send {
    fn waiting_since(&self) -> Instant;
    fn run(&mut self, tx: &Tx<'_>);
    /// Answers the caller: with what the job gave, or with why the group did not take place.
    fn answer(self: Box<Self>, lost: Option<&str>);
}

struct JobOf<T, F> {
    since: Instant,
    work: Option<F>,
    outcome: Option<Result<T>>,
    reply: oneshot::Sender<Result<T>>,
}

impl<T: Send, F: FnOnce(&Tx<'_>) -> Result<T> + Send> Job for JobOf<T, F> {
    fn waiting_since(&self) -> Instant {
        self.since
    }

    fn run(&mut self, tx: &Tx<'_>) {
        if let Some(work) = self.work.take() {
            self.outcome = Some(savepoint(tx.connection, "job", || work(tx)));
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
}

impl Writer {
    /// Starts the thread on its connection.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub fn start(connection: Connection, checkpointer: Checkpointer) -> Result<Self> {
        let (queue, jobs) = sync_channel(QUEUE_MAX_JOBS);
        let epoch = Arc::new(AtomicU64::new(1));
        let shared_epoch = Arc::clone(&epoch);
        let thread = std::thread::Builder::new()
            .name("writer".into())
            .spawn(move || Loop::new(connection, checkpointer, shared_epoch).run(&jobs))
            .map_err(Error::defect)?;
        Ok(Self {
            queue: Some(queue),
            thread: Some(thread),
            epoch,
        })
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
        work: impl FnOnce(&Tx<'_>) -> Result<T> + Send + 'static,
    ) -> Result<oneshot::Receiver<Result<T>>> {
        let (reply, outcome) = oneshot::channel();
        let job = Box::new(JobOf {
            since: Instant::now(),
            work: Some(work),
            outcome: None,
            reply,
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

struct Loop {
    connection: Connection,
    checkpointer: Checkpointer,
    epoch: Arc<AtomicU64>,
    stale: Cell<bool>,
    data_version: i64,
    polled: Instant,
}

impl Loop {
    fn new(connection: Connection, checkpointer: Checkpointer, epoch: Arc<AtomicU64>) -> Self {
        Self {
            data_version: data_version(&connection).unwrap_or_default(),
            connection,
            checkpointer,
            epoch,
            stale: Cell::new(false),
            polled: Instant::now(),
        }
    }

    fn run(mut self, jobs: &Receiver<Box<dyn Job>>) {
        loop {
            match jobs.recv_timeout(FOREIGN_POLL) {
                Ok(first) => self.group(first, jobs),
                Err(RecvTimeoutError::Timeout) => self.checkpointer.idle(&self.connection),
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if self.polled.elapsed() >= FOREIGN_POLL {
                self.notice_other_processes();
            }
        }
    }

    /// Runs one group from its first job on: begin, jobs, commit, answers.
    fn group(&mut self, first: Box<dyn Job>, jobs: &Receiver<Box<dyn Job>>) {
        let mut done: Vec<Box<dyn Job>> = Vec::with_capacity(64);
        self.stale.set(false);
        let lost = match execute(&self.connection, "BEGIN IMMEDIATE") {
            Ok(()) => {
                let lost = self.run_jobs(first, jobs, &mut done);
                lost.or_else(|| self.commit())
            }
            Err(cause) => {
                done.push(first);
                Some(cause.message)
            }
        };
        if let Some(why) = &lost {
            tracing::error!(jobs = done.len(), "a group of writes was lost: {why}");
            if !self.connection.is_autocommit() {
                let _ = self.connection.execute_batch("ROLLBACK");
            }
        } else if self.stale.get() {
            self.epoch.fetch_add(1, Ordering::AcqRel);
        }
        for job in done {
            job.answer(lost.as_deref());
        }
        self.checkpointer.after_commit(&self.connection);
    }

    /// Why the transaction is gone, when it is. A savepoint does not save from everything: a full
    /// disk, an I/O error or an interrupt can end the whole transaction, earlier jobs included.
    fn run_jobs(
        &self,
        first: Box<dyn Job>,
        jobs: &Receiver<Box<dyn Job>>,
        done: &mut Vec<Box<dyn Job>>,
    ) -> Option<String> {
        let begun = Instant::now();
        let tx = Tx {
            connection: &self.connection,
            now: Timestamp::now(),
            stale: &self.stale,
        };
        let mut next = Some(first);
        while let Some(mut job) = next {
            if job.waiting_since().elapsed() < WAIT_MAX {
                job.run(&tx);
            }
            done.push(job);
            if self.connection.is_autocommit() {
                return Some("the store could not take it; the whole group was undone".into());
            }
            let room = done.len() < GROUP_MAX_JOBS && begun.elapsed() < GROUP_MAX;
            next = if room { jobs.try_recv().ok() } else { None };
        }
        None
    }

    fn commit(&self) -> Option<String> {
        execute(&self.connection, "COMMIT")
            .err()
            .map(|cause| cause.message)
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

/// Sets the writing connection up.
///
/// # Errors
/// When SQLite refuses a pragma.
pub fn prepare(connection: &Connection, durability: Durability) -> Result<()> {
    super::connection::prepare(connection)?;
    // Checkpoints are the checkpointer's: one inside a commit would make a gate wait for it.
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    // FULL syncs the log at every commit: an acknowledged write survives power loss.
    let synchronous = match durability {
        Durability::Full => "FULL",
        Durability::Normal => "NORMAL",
    };
    connection.pragma_update(None, "synchronous", synchronous)?;
    // 48 MiB: the pages that check-ins of a large event touch again and again.
    connection.pragma_update(None, "cache_size", -49_152)?;
    // Deleted content is overwritten (contract §8, erasure).
    connection.pragma_update(None, "secure_delete", true)?;
    Ok(())
}
