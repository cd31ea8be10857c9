//! Empties the outbox, for as long as the server runs: looks once in a while whether something is due,
//! and makes a few attempts at a time.

use super::{
    automation_reader::AutomationReader,
    deliver::Delivery,
    gateways,
    outbox::{self, Due},
};
use crate::{
    identity::App,
    types::{Timestamp, error::Result},
};
use std::{sync::Arc, time::Duration};
use tokio::{sync::Mutex, task::JoinSet};

/// How often is looked.
const TICK: Duration = Duration::from_millis(300);
/// Looks after which old messages are let go: an hour.
const THINNED_EVERY: u32 = 12_000;
/// How long is waited when the file cannot be read or written.
const AFTER_FAILURE: Duration = Duration::from_secs(5);
/// Attempts at a time.
const AT_ONCE_MAX: usize = 8;
/// How long the end waits for attempts: longer than one takes.
const END_MAX: Duration = Duration::from_secs(12);

/// The outbox at work.
pub struct Sender {
    delivery: Arc<Delivery>,
    automation_reader: AutomationReader,
    attempts: Mutex<JoinSet<()>>,
}

impl Sender {
    /// The sender of an application.
    pub fn new(app: App) -> Self {
        Self {
            automation_reader: AutomationReader::new(app.clone()),
            delivery: Arc::new(Delivery::new(app)),
            attempts: Mutex::default(),
        }
    }

    /// Ends what an earlier process was cut off in, and takes up the automations' place. To be done
    /// before anything can be sent or come in.
    pub async fn recover(&self) {
        let ended = self.delivery.app().store.write(outbox::end_interrupted);
        if let Err(cause) = ended.await {
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
        for round in 0_u32.. {
            ticks.tick().await;
            if round % THINNED_EVERY == 0
                && let Err(cause) = outbox::thin(&self.delivery.app().store, Timestamp::now()).await
            {
                tracing::warn!("old messages: {cause}");
            }
            let looked = self.automation_reader.look().await;
            let sent = self.round().await;
            for (what, outcome) in [("automations", looked), ("the outbox", sent)] {
                if let Err(cause) = outcome {
                    tracing::warn!("{what}: {cause}");
                    tokio::time::sleep(AFTER_FAILURE).await;
                }
            }
        }
    }

    /// Waits for the attempts that go on, so that their outcome is known.
    pub async fn finish(&self) {
        let mut attempts = self.attempts.lock().await;
        let all = async { while attempts.join_next().await.is_some() {} };
        if tokio::time::timeout(END_MAX, all).await.is_err() {
            tracing::warn!("some messages were still being sent at the end");
        }
    }

    async fn round(&self) -> Result<()> {
        let mut attempts = self.attempts.lock().await;
        while attempts.try_join_next().is_some() {}
        let room = AT_ONCE_MAX.saturating_sub(attempts.len());
        if room == 0 {
            return Ok(());
        }
        for due in self.claim(room).await? {
            let delivery = Arc::clone(&self.delivery);
            attempts.spawn(async move {
                delivery.attempt(&due, false).await;
            });
        }
        Ok(())
    }

    async fn claim(&self, room: usize) -> Result<Vec<Due>> {
        let app = self.delivery.app();
        let settings = app.settings();
        let open = app.store.look_up(|connection| {
            let open = gateways::open(connection, &settings.communications)?;
            let due = outbox::is_any_due(connection, &open, Timestamp::now())?;
            Ok(due.then_some(open))
        })?;
        let Some(open) = open else {
            return Ok(Vec::new());
        };
        app.store
            .write(move |tx| outbox::claim(tx, &open, room))
            .await
    }
}
