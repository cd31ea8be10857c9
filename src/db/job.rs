//! A write: a job in the writer's queue, which does its work in the transaction of a group and is answered
//! after the commit. Work without a bound that it needs, such as validating against a schema, is done
//! outside of the writer's transaction, while others write.

use super::{
    stats::Queued,
    tx::{Tx, caught, savepoint, undone},
    writer,
};
use crate::types::error::{Error, Kind, Result};
use std::{
    cell::RefCell,
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::{
    sync::{Semaphore, oneshot},
    time::{self, timeout_at},
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

/// The receiver of a job's outcome.
pub struct Outcome<T> {
    receiver: oneshot::Receiver<Result<T>>,
    deadline: Deadline,
}

impl<T> Outcome<T> {
    /// Waits for it, for a caller that the clock may refuse.
    pub async fn wait(mut self) -> Result<T> {
        let answered = timeout_at(self.deadline.at, &mut self.receiver).await;
        let answered = match answered {
            Ok(answered) => answered,
            Err(_) if self.deadline.settle() => return Err(waited_too_long()),
            // It is being done.
            Err(_) => self.receiver.await,
        };
        answered.unwrap_or_else(|_| Err(writer::stopped()))
    }

    /// Waits for it without a runtime.
    pub fn wait_blocking(self) -> Result<T> {
        let answered = self.receiver.blocking_recv();
        answered.unwrap_or_else(|_| Err(writer::stopped()))
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
    /// A job that waits from now on, and what gets its outcome.
    pub fn queued(priority: Priority, work: W, queued: Queued) -> (Self, Outcome<T>) {
        let (reply, receiver) = oneshot::channel();
        let deadline = Deadline::new();
        let outcome = Outcome {
            receiver,
            deadline: deadline.clone(),
        };
        let job = Self {
            priority,
            deadline,
            work,
            outcome: None,
            reply,
            _queued: queued,
        };
        (job, outcome)
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

/// The time that a write waits for such work.
const WAIT_MAX: Duration = Duration::from_secs(5);
/// The number of writes that may have it done at once: the processor is for gates.
const AT_ONCE_MAX: usize = 2;

static AT_ONCE: Semaphore = Semaphore::const_new(AT_ONCE_MAX);

/// Work that a write needs done before it is tried again.
pub type Prerequisite = Box<dyn FnOnce() + Send>;

/// The place where a transaction may have such work done.
#[derive(Clone, Copy)]
pub(super) enum Place<'a> {
    /// Right there: nobody waits for that transaction.
    Within,
    /// Nowhere: somebody does.
    Nowhere,
    /// After it failed.
    After(&'a RefCell<Vec<Prerequisite>>),
}

/// The work that an attempt needs done before the next one.
#[derive(Clone, Default)]
pub(super) struct Needs(Arc<Mutex<Vec<Prerequisite>>>);

impl Needs {
    /// Runs `work` such that it fails where it put something off, and keeps that.
    pub fn attempt<T>(&self, tx: &Tx<'_>, work: impl FnOnce(&Tx<'_>) -> Result<T>) -> Result<T> {
        let put_off = RefCell::default();
        let outcome = work(&tx.with_place(Place::After(&put_off)));
        let put_off = put_off.into_inner();
        if put_off.is_empty() {
            return outcome;
        }
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = put_off;
        Err(not_yet())
    }

    /// Takes the work that was put off.
    pub fn take(&self) -> Vec<Prerequisite> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The error of a write whose prerequisites are not done.
pub(super) fn not_yet() -> Error {
    Error::unavailable("its data could not be validated beside the writer")
}

/// The moment at which a write that begins now has waited too long.
pub(super) fn deadline() -> Instant {
    Instant::now() + WAIT_MAX
}

/// Does what was put off, on a thread of its own.
pub(super) async fn run(work: Vec<Prerequisite>, deadline: Instant) -> Result<()> {
    let late = |_| {
        let seconds = WAIT_MAX.as_secs();
        Error::unavailable(format!(
            "validating the data took longer than {seconds} s; nothing was written"
        ))
    };
    let place = timeout_at(deadline.into(), AT_ONCE.acquire());
    let place = place.await.map_err(late)?.map_err(Error::defect)?;
    let done = tokio::task::spawn_blocking(move || {
        let _place = place;
        for one in work {
            one();
        }
    });
    timeout_at(deadline.into(), done)
        .await
        .map_err(late)?
        .map_err(Error::defect)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::{Durability, Store};
    use std::sync::{atomic::AtomicUsize, mpsc::channel};

    fn store() -> (tempfile::TempDir, Store) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("a.db"), Durability::Normal).unwrap();
        (folder, store)
    }

    const PUT: &str = "REPLACE INTO settings (name, value) VALUES ('a', '1')";

    #[tokio::test(flavor = "multi_thread")]
    async fn a_write_is_tried_again_once_its_prerequisite_is_done() {
        let (_folder, store) = store();
        let done = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&done);
        let attempts = store
            .write_prepared(move |tx| {
                tx.execute(PUT, [])?;
                let attempt = seen.load(Ordering::SeqCst);
                if attempt < 2 {
                    let seen = Arc::clone(&seen);
                    // Caught or not, the attempt is undone.
                    let _ = tx.put_off(move || {
                        seen.fetch_add(1, Ordering::SeqCst);
                    });
                }
                Ok(attempt)
            })
            .await
            .unwrap();
        assert_eq!((attempts, done.load(Ordering::SeqCst)), (2, 2));
        let elsewhere = store.write(|tx| Err::<(), _>(tx.put_off(|| ()))).await;
        assert_eq!(
            elsewhere.unwrap_err().kind,
            crate::types::error::Kind::Unavailable
        );
    }

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

    #[tokio::test(flavor = "multi_thread")]
    async fn a_write_that_waits_too_long_is_refused_and_nobody_else_waits() {
        let (_folder, store) = store();
        let (end, ended) = channel::<()>();
        let ended = Arc::new(Mutex::new(ended));
        let slow = store.write_prepared(move |tx| {
            tx.execute(PUT, [])?;
            let ended = Arc::clone(&ended);
            // It ends when the other end of the channel is gone.
            Err::<(), _>(tx.put_off(move || drop(ended.lock().map(|ended| ended.recv()))))
        });
        let others = async {
            for _ in 0..5 {
                store
                    .write(|tx| Ok(tx.execute("DELETE FROM settings WHERE name = 'b'", [])?))
                    .await
                    .unwrap();
            }
            std::time::Instant::now()
        };
        let (refused, others_done) = tokio::join!(slow, others);
        assert!(others_done.elapsed() > Duration::from_millis(1));
        assert_eq!(
            refused.unwrap_err().kind,
            crate::types::error::Kind::Unavailable
        );
        let count = |connection: &rusqlite::Connection| {
            Ok(connection.query_row(
                "SELECT count(*) FROM settings WHERE name = 'a'",
                [],
                |row| row.get::<_, i64>(0),
            )?)
        };
        assert_eq!(store.look_up(count).unwrap(), 0);
        drop(end);
    }
}
