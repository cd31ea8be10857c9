//! The change feed (contract §12): what changed after a cursor, for whoever keeps a copy of the data.
//!
//! Without a cursor it begins with a snapshot: all records, by type and id. Changes made meanwhile come
//! after it, so that a copy which applies everything in order equals the lists.

pub mod api;
mod cursor;
pub mod held;
mod read;
mod reader;
mod records;
#[cfg(test)]
mod tests;

pub use cursor::{Cursor, Place};
pub use read::{Action, Item, Page, kind, page};
pub use reader::{Reader, whole};
pub use records::{ChangeEffect, FeedView, View, expandable, fingerprint_of};

use crate::{
    core::{changes, settings},
    identity::{App, roles::Role},
    types::{Timestamp, error::Result},
};
use std::time::Duration;

/// The time between two removals of old changes.
const PRUNED_EVERY: Duration = Duration::from_secs(3_600);
/// Changes that are removed in one write.
const PRUNED_AT_ONCE: usize = 500;

/// Removes old changes now and then, until it is dropped.
pub async fn upkeep(app: &App) {
    let mut ticks = tokio::time::interval(PRUNED_EVERY);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        if let Err(cause) = prune(app).await {
            tracing::warn!("old changes: {cause}");
        }
    }
}

async fn prune(app: &App) -> Result<()> {
    let days = app
        .settings()
        .feed_kept_days
        .unwrap_or(settings::FEED_KEPT_DAYS);
    let until = Timestamp(Timestamp::now().0 - days * 24 * 3_600 * 1_000);
    let any = move |connection: &rusqlite::Connection| changes::is_any_before(connection, until);
    while app.store.look_up(any)? {
        let removed = app
            .store
            .write_bulk(move |tx| changes::prune(tx, until, PRUNED_AT_ONCE))
            .await?;
        if removed == 0 {
            break;
        }
    }
    Ok(())
}

/// The types of records that the feed tells of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RecordType {
    Delegate,
    Device,
    Interaction,
    BlockedCode,
    Transaction,
}

impl RecordType {
    /// In the order of a snapshot: a record comes after those that it refers to.
    pub const ALL: [Self; 5] = [
        Self::Device,
        Self::Delegate,
        Self::BlockedCode,
        Self::Transaction,
        Self::Interaction,
    ];

    /// Its name in the feed.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Delegate => "delegate",
            Self::Device => "device",
            Self::Interaction => "interaction",
            Self::BlockedCode => "blocked-code",
            Self::Transaction => "transaction",
        }
    }

    /// The table of its records.
    #[must_use]
    pub fn table(self) -> &'static str {
        match self {
            Self::Delegate => "delegates",
            Self::Device => "devices",
            Self::Interaction => "interactions",
            Self::BlockedCode => "blocked_codes",
            Self::Transaction => "transactions",
        }
    }

    /// The role that reads it.
    #[must_use]
    pub fn role(self) -> Role {
        match self {
            Self::Delegate | Self::BlockedCode => Role::DelegateRead,
            Self::Device => Role::DeviceRead,
            Self::Interaction => Role::InteractionRead,
            Self::Transaction => Role::TxWrite,
        }
    }

    /// The type of a record in the audit and among the changes; none for what is not in the feed.
    fn of_record(name: &str) -> Option<Self> {
        // An event is a device, by whichever name it was changed.
        let name = if name == "event" { "device" } else { name };
        Self::ALL.into_iter().find(|known| known.name() == name)
    }
}
