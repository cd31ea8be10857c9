//! How much is not told yet, for people to see.

use super::{held, state::State, wanted, webhook::Webhook};
use crate::types::error::Result;
use rusqlite::Connection;

/// Slices of what happened that are looked through: enough to see whether it is much.
const SLICES: usize = 5;

/// How much waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Waiting {
    /// So many, at least.
    pub count: i64,
    /// Whether there may be more.
    pub more: bool,
}

impl std::fmt::Display for Waiting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.more, self.count) {
            (true, count) => write!(f, "{count} or more"),
            (false, count) => write!(f, "{count}"),
        }
    }
}

/// How much of what happened a webhook was not told yet.
pub fn waiting(connection: &Connection, webhook: &Webhook, state: &State) -> Result<Waiting> {
    let mut count = held::count(connection, webhook.id)?;
    let mut from = state.cursor;
    for _ in 0..SLICES {
        let read = wanted::read(connection, webhook, from)?;
        let told = read.steps.iter().filter(|step| step.event.is_some());
        count += i64::try_from(told.count()).unwrap_or(i64::MAX);
        if !read.more {
            return Ok(Waiting { count, more: false });
        }
        from = read.steps.last().map_or(from, |step| step.to);
    }
    Ok(Waiting { count, more: true })
}
