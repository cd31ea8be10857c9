//! The upkeep of messages while the server runs: automations read the change feed, late messages end, and old ones are
//! removed.

use super::{automation_reader::AutomationReader, stored};
use crate::{
    identity::App,
    types::{Timestamp, error::Result},
};
use std::time::Duration;

const TICK: Duration = Duration::from_millis(300);
/// Ticks after which old messages are removed: an hour.
const THINNED_EVERY: u32 = 12_000;
/// The wait after the file could not be read or written.
const AFTER_FAILURE: Duration = Duration::from_secs(5);

pub struct Upkeep {
    app: App,
    automation_reader: AutomationReader,
}

impl Upkeep {
    pub fn new(app: App) -> Self {
        Self {
            automation_reader: AutomationReader::new(app.clone()),
            app,
        }
    }

    /// Ends what an earlier process was cut off in, and loads the automations' cursor. To be done before
    /// anything can be sent or come in.
    pub async fn recover(&self) {
        if let Err(cause) = self.app.store.write(stored::end_interrupted).await {
            tracing::error!("messages of the last run: {cause}");
        }
        if let Err(cause) = self.automation_reader.place().await {
            tracing::error!("automations: {cause}");
        }
    }

    /// Runs until the server stops.
    pub async fn run(&self) {
        let mut ticks = tokio::time::interval(TICK);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        for tick in 0_u32.. {
            ticks.tick().await;
            if tick % THINNED_EVERY == 0
                && let Err(cause) = stored::thin(&self.app.store, Timestamp::now()).await
            {
                tracing::warn!("old messages: {cause}");
            }
            let read = self.automation_reader.look().await;
            let expired = self.expire().await;
            for (what, outcome) in [("automations", read), ("late messages", expired)] {
                if let Err(cause) = outcome {
                    tracing::warn!("{what}: {cause}");
                    tokio::time::sleep(AFTER_FAILURE).await;
                }
            }
        }
    }

    async fn expire(&self) -> Result<()> {
        let store = &self.app.store;
        let now = Timestamp::now();
        if store.look_up(|connection| stored::is_any_expired(connection, now))? {
            store.write(stored::expire).await?;
        }
        Ok(())
    }
}
