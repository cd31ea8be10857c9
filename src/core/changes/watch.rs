//! Wakes whoever waits for changes: one task looks, however many wait.

use super::{Position, newest};
use crate::db::Store;
use std::time::Duration;
use tokio::{sync::watch, time::MissedTickBehavior};

/// The time between two looks at the file while somebody waits.
const TICK: Duration = Duration::from_millis(100);

/// The newest position, for those who wait; none once the server stops.
pub struct Watcher(watch::Sender<Option<Position>>);

impl Default for Watcher {
    fn default() -> Self {
        Self(watch::Sender::new(Some(Position::default())))
    }
}

impl Watcher {
    /// Changes from now on. The first may be one that the caller knows already.
    #[must_use]
    pub fn subscribe(&self) -> watch::Receiver<Option<Position>> {
        self.0.subscribe()
    }

    /// The number of those who wait.
    pub fn waiting(&self) -> usize {
        self.0.receiver_count()
    }

    /// Runs until it is dropped.
    pub async fn run(&self, store: &Store) {
        let mut ticks = tokio::time::interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut epoch = store.epoch();
        loop {
            ticks.tick().await;
            if self.waiting() == 0 {
                continue;
            }
            // Rights may have changed without a row, or before this process knew it.
            let is_new_epoch = std::mem::replace(&mut epoch, store.epoch()) != epoch;
            match store.look_up(newest) {
                Ok(position) => {
                    self.0.send_if_modified(|known| {
                        let is_new = known.is_some_and(|known| is_new_epoch || known != position);
                        if is_new {
                            *known = Some(position);
                        }
                        is_new
                    });
                }
                Err(cause) => tracing::warn!("changes: {cause}"),
            }
        }
    }

    /// Sends everybody away, so that the server can stop.
    pub fn stop(&self) {
        self.0.send_replace(None);
    }
}
