//! A write: a job in the writer's queue, which does its work in the transaction of a group and is answered
//! after the commit.

use super::{
    stats::Queued,
    tx::{Tx, caught, savepoint, undone},
    writer,
};
use crate::types::error::{Error, Kind, Result};
use pin_project_lite::pin_project;
use std::{
    path::PathBuf,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};
use tokio::{
    sync::oneshot,
    time::{self, Sleep, sleep_until},
};

/// The name of the attached database of a `Priority::ExclusiveWith`.
pub const ATTACHED: &str = "beside";

/// The order of jobs in the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Priority {
    /// Somebody waits at a gate.
    Interactive,
    /// A slice of a batch or an import: after everybody who waits, one at a time.
    Background,
    /// Next, and with nobody else: it reads this other database file as [`ATTACHED`].
    ExclusiveWith(PathBuf),
    /// Alone as well, without another file; with the log emptied before, unless somebody reads an old state.
    Exclusive,
}

/// The protection from half of a job's work being left behind when it fails.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SavepointMode {
    /// The transaction is undone.
    Transaction,
    Savepoint,
}

/// The work of a job, and whether it can be done again after it was undone.
pub trait Work<T>: Send {
    /// True if it can be done again after it was undone.
    const REPEATABLE: bool;

    fn run(&mut self, tx: &Tx<'_>) -> Result<T>;
}

/// Work that can be done once.
pub struct Once<F>(Option<F>);

impl<F> Once<F> {
    pub fn new(work: F) -> Self {
        Self(Some(work))
    }
}

/// Work that can be done again.
pub struct Repeatable<F>(pub F);

impl<T, F: FnOnce(&Tx<'_>) -> Result<T> + Send> Work<T> for Once<F> {
    const REPEATABLE: bool = false;

    fn run(&mut self, tx: &Tx<'_>) -> Result<T> {
        let work = self.0.take();
        work.ok_or_else(|| Error::defect("a write ran twice"))?(tx)
    }
}

impl<T, F: Fn(&Tx<'_>) -> Result<T> + Send> Work<T> for Repeatable<F> {
    const REPEATABLE: bool = true;

    fn run(&mut self, tx: &Tx<'_>) -> Result<T> {
        (self.0)(tx)
    }
}

/// Work in the queue.
pub trait Job: Send {
    fn priority(&self) -> &Priority;
    /// Takes it up, before it is run for the first time; false where its caller is told by now that it
    /// waited too long.
    fn take_up(&self) -> bool;
    fn is_repeatable(&self) -> bool;
    /// Runs it in the open transaction.
    /// An error is what the writer must know of it; the job keeps the rest for its answer.
    fn run(&mut self, tx: &Tx<'_>, savepoint_mode: SavepointMode) -> Result<(), JobFailure>;
    /// Answers the caller: with what the job gave, or with why the group did not take place.
    fn answer(self: Box<Self>, lost: Option<&Error>);
}

/// The reason why a job failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobFailure {
    /// The request cannot be met.
    Refused,
    Defect,
    /// The database file is damaged.
    Damage,
}

/// The time that a job waits for the writer.
const QUEUED_MAX: Duration = Duration::from_secs(10);

fn waited_too_long() -> Error {
    Error::unavailable("it waited too long for the writer")
}

/// The moment when a job has waited too long. Either the writer takes it up before, or the clock refuses it, even
/// while the writer is busy: never both.
#[derive(Clone)]
struct Deadline {
    at: time::Instant,
    settled: Arc<AtomicBool>,
}

impl Deadline {
    fn new() -> Self {
        Self {
            at: time::Instant::now() + QUEUED_MAX,
            settled: Arc::default(),
        }
    }

    /// Claims the job; returns whether nobody had claimed it before.
    fn settle(&self) -> bool {
        !self.settled.swap(true, Ordering::AcqRel)
    }
}

pin_project! {
    /// A write that is queued. Await its outcome, or [`Write::wait`] for it on a thread without a runtime.
    #[must_use = "a write may fail"]
    pub struct Write<T> {
        receiver: oneshot::Receiver<Result<T>>,
        deadline: Deadline,
        // From when the outcome is awaited.
        #[pin]
        clock: Option<Sleep>,
    }
}

impl<T> Write<T> {
    fn queued() -> (Self, oneshot::Sender<Result<T>>) {
        let (reply, receiver) = oneshot::channel();
        let write = Self {
            receiver,
            deadline: Deadline::new(),
            clock: None,
        };
        (write, reply)
    }

    /// A write that could not be queued.
    pub fn refused(cause: Error) -> Self {
        let (write, reply) = Self::queued();
        let _ = reply.send(Err(cause));
        write
    }

    /// Waits for the outcome without a runtime. The writer alone says here that it waited too long.
    pub fn wait(self) -> Result<T> {
        let answered = self.receiver.blocking_recv();
        answered.unwrap_or_else(|_| Err(writer::stopped()))
    }
}

impl<T> Future for Write<T> {
    type Output = Result<T>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<T>> {
        let mut this = self.project();
        if let Poll::Ready(answered) = Pin::new(this.receiver).poll(context) {
            return Poll::Ready(answered.unwrap_or_else(|_| Err(writer::stopped())));
        }
        if this.clock.is_none() {
            this.clock.set(Some(sleep_until(this.deadline.at)));
        }
        if let Some(clock) = this.clock.as_pin_mut() {
            ready!(clock.poll(context));
        }
        if this.deadline.settle() {
            Poll::Ready(Err(waited_too_long()))
        } else {
            // It is being done.
            Poll::Pending
        }
    }
}

/// Work that gives a value.
pub struct JobOf<T, W> {
    priority: Priority,
    deadline: Deadline,
    work: W,
    outcome: Option<Result<T>>,
    reply: oneshot::Sender<Result<T>>,
    _queued: Queued,
}

impl<T, W> JobOf<T, W> {
    /// A job that waits from now on, and the write that gets its outcome.
    pub fn queued(priority: Priority, work: W, queued: Queued) -> (Self, Write<T>) {
        let (write, reply) = Write::queued();
        let job = Self {
            priority,
            deadline: write.deadline.clone(),
            work,
            outcome: None,
            reply,
            _queued: queued,
        };
        (job, write)
    }
}

impl<T: Send, W: Work<T>> Job for JobOf<T, W> {
    fn priority(&self) -> &Priority {
        &self.priority
    }

    fn take_up(&self) -> bool {
        time::Instant::now() < self.deadline.at && self.deadline.settle()
    }

    fn is_repeatable(&self) -> bool {
        W::REPEATABLE
    }

    fn run(&mut self, tx: &Tx<'_>, savepoint_mode: SavepointMode) -> Result<(), JobFailure> {
        let work = || self.work.run(tx);
        let outcome = tx.counting(|| match savepoint_mode {
            SavepointMode::Transaction => caught(tx.connection, work).flatten(),
            SavepointMode::Savepoint => savepoint(tx.connection, "job", work),
        });
        let told = match &outcome {
            Ok(_) => Ok(()),
            Err(cause) if cause.kind == Kind::Damaged => Err(JobFailure::Damage),
            Err(cause) if cause.kind == Kind::Defect => Err(JobFailure::Defect),
            Err(_) => Err(JobFailure::Refused),
        };
        self.outcome = Some(outcome);
        told
    }

    fn answer(self: Box<Self>, lost: Option<&Error>) {
        let outcome = match (lost, self.outcome) {
            // The cause of a defect is for the log alone.
            (Some(cause), _) if cause.kind == Kind::Defect => Err(undone()),
            (Some(cause), _) => Err(Error::unavailable(cause)),
            (None, Some(outcome)) => outcome,
            (None, None) => Err(waited_too_long()),
        };
        // The caller may be gone; the write stands all the same.
        let _ = self.reply.send(outcome);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::{Durability, Store};
    use std::sync::mpsc::channel;

    fn store() -> (tempfile::TempDir, Store) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("a.db"), Durability::Normal).unwrap();
        (folder, store)
    }

    const PUT: &str = "REPLACE INTO settings (name, value) VALUES ('a', '1')";

    #[tokio::test]
    async fn a_write_is_refused_by_the_clock_while_the_writer_is_busy() {
        let (_folder, store) = store();
        let (busy, is_busy) = tokio::sync::oneshot::channel();
        let (end, ended) = channel::<()>();
        let slow = store.write(move |_| {
            let _ = busy.send(());
            // It ends when the other end of the channel is gone.
            Ok(ended.recv().is_err())
        });
        let gate = async {
            is_busy.await.unwrap();
            time::pause();
            let refused = store.write(|tx| Ok(tx.execute(PUT, [])?)).await;
            time::resume();
            drop(end);
            refused.unwrap_err()
        };
        let (done, refused) = tokio::join!(slow, gate);
        assert_eq!(refused.kind, Kind::Unavailable);
        // What the writer had taken up by then is done, however long it takes; what was refused never is.
        assert!(done.unwrap());
        let count = |connection: &rusqlite::Connection| {
            let count = "SELECT count(*) FROM settings";
            Ok(connection.query_row(count, [], |row| row.get::<_, i64>(0))?)
        };
        store.write(|_| Ok(())).await.unwrap();
        assert_eq!(store.look_up(count).unwrap(), 0);
    }
}
