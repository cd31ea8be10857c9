//! What is written: a job in the writer's queue, which does its work in the transaction of a group and
//! is answered after that.

use super::{
    error,
    stats::Queued,
    tx::{Tx, caught, savepoint, undone},
};
use crate::types::error::{Error, Kind, Result};
use std::{path::PathBuf, time::Instant};
use tokio::sync::oneshot;

/// The name of the file that stands beside ours for a `Priority::ExclusiveWith`.
pub const ATTACHED: &str = "beside";

/// How a job stands in the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Priority {
    /// Somebody waits at a gate.
    Interactive,
    /// A slice of a batch or an import: after everybody who waits, one at a time.
    Background,
    /// Next, and with nobody else: it reads this other database file as [`ATTACHED`].
    ExclusiveWith(PathBuf),
    /// As that, without another file; with the log emptied before, unless somebody reads an old state.
    Exclusive,
}

/// How a job is kept from leaving half its work behind when it fails.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SavepointMode {
    /// The transaction is undone.
    Transaction,
    /// A savepoint is.
    Savepoint,
}

/// What a job does, and whether it can be done again after it was undone.
pub trait Work<T>: Send {
    /// Whether it can.
    const REPEATABLE: bool;

    /// Does it.
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
    fn waiting_since(&self) -> Instant;
    fn is_repeatable(&self) -> bool;
    /// Runs it in the open transaction.
    /// An error is what the writer must know of it; the job keeps the rest for its answer.
    fn run(&mut self, tx: &Tx<'_>, savepoint_mode: SavepointMode) -> Result<(), JobFailure>;
    /// Answers the caller: with what the job gave, or with why the group did not take place.
    fn answer(self: Box<Self>, lost: Option<&Error>);
}

/// Why a job failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobFailure {
    /// What was asked for cannot be done.
    Refused,
    Defect,
    /// The database file is damaged.
    Damage,
}

/// Work that gives a value.
pub struct JobOf<T, W> {
    priority: Priority,
    since: Instant,
    work: W,
    outcome: Option<Result<T>>,
    reply: oneshot::Sender<Result<T>>,
    _queued: Queued,
}

impl<T, W> JobOf<T, W> {
    /// A job that waits from now on; the receiver gets its outcome.
    pub fn queued(
        priority: Priority,
        work: W,
        queued: Queued,
    ) -> (Self, oneshot::Receiver<Result<T>>) {
        let (reply, outcome) = oneshot::channel();
        let job = Self {
            priority,
            since: Instant::now(),
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

    fn waiting_since(&self) -> Instant {
        self.since
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
            Err(cause) if error::is_damage(cause) => Err(JobFailure::Damage),
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
            (Some(cause), _) => Err(Error::unavailable(&cause.message)),
            (None, Some(outcome)) => outcome,
            (None, None) => Err(Error::unavailable("it waited too long for the writer")),
        };
        // The caller may be gone; the write stands all the same.
        let _ = self.reply.send(outcome);
    }
}
