//! The outbox: deliveries to the outside, such as webhooks, e-mails, texts, push messages and
//! badges to print.
//!
//! A delivery goes to a destination, such as `webhook:3` or `email`, and points at the record that it is
//! about. Only pending deliveries have a row here; a destination that follows the change feed, as webhooks
//! do, gets one only for deliveries that failed and for those behind them with the same ordering key.
//! Deliveries of one destination run beside each other, those with the same ordering key one after the
//! other. A failed one is repeated with growing back-off; a destination that fails as a whole is tried
//! with one delivery at a time. An attempt with an unknown outcome is repeated by a person only, unless
//! its receiver recognises repetitions.
//!
//! # Layout
//!
//! - `pending`: rows of pending deliveries; `destination`: how far a destination is, and its health
//! - `runner`: which delivery comes next, and what an outcome means; pure
//! - `worker`: the task that serves all destinations

pub mod destination;
pub mod pending;
pub mod runner;
mod worker;

pub use destination::{Pause, State};
pub use pending::PendingDelivery;
pub use runner::{Outcome, Read, Step};
pub use worker::Worker;

use super::changes::Position;
use crate::{
    db::Tx,
    types::error::{Error, Result},
};
use futures_util::future::BoxFuture;
use rusqlite::Connection;
use std::{sync::Arc, time::Duration};

/// The table with the record that a delivery is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    Audit,
    Interaction,
    Message,
    Print,
}

impl Source {
    const ALL: [Self; 4] = [Self::Audit, Self::Interaction, Self::Message, Self::Print];

    pub fn name(self) -> &'static str {
        match self {
            Self::Audit => "audit",
            Self::Interaction => "interaction",
            Self::Message => "message",
            Self::Print => "print",
        }
    }

    pub fn parse(name: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|source| source.name() == name);
        found.ok_or_else(|| Error::invalid("unknown kind of delivery"))
    }
}

/// The record that a delivery is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ref {
    pub source: Source,
    pub id: i64,
}

/// A delivery to make. Those with one ordering key go out one after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    pub of: Ref,
    pub ordering_key: String,
    /// Attempts so far that the receiver refused.
    pub attempts: u32,
}

/// Stores what an attempt leaves beside its outcome. It may run twice.
pub type Completion = Arc<dyn Fn(&Tx<'_>) -> Result<()> + Send + Sync>;

/// An attempt that ended.
pub struct FinishedAttempt {
    pub outcome: Outcome,
    pub record: Option<Completion>,
}

/// Deliveries of one kind.
pub trait Kind: Send + Sync {
    /// The destinations that may get deliveries now.
    fn destinations(&self, connection: &Connection) -> Result<Vec<String>>;

    /// Attempts at a time for one destination.
    fn at_once(&self) -> usize;

    /// The longest wait before a destination that is down is tried again, in seconds, where ten minutes are too long.
    fn wait_max_s(&self) -> i64 {
        i64::MAX
    }

    /// The time for which a shutdown waits for running attempts.
    fn grace(&self) -> Duration;

    /// Reads what happened after a position, for a destination that follows the change feed.
    fn read(&self, _: &Connection, _destination: &str, _from: Position) -> Result<Read> {
        Ok(Read::default())
    }

    /// Makes an attempt.
    fn attempt(
        &self,
        destination: String,
        delivery: Delivery,
    ) -> BoxFuture<'static, FinishedAttempt>;
}
