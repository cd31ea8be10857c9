//! Device discovery (spec: Device request; contract §7): apps ask to be let in, administrators add
//! or dismiss them, and whoever is added gets what it signs in with.
//!
//! # Layout
//!
//! - `window`: how long apps may ask; `ask`: they ask; `clear`: somebody decides
//! - `credentials`: how an app gets its client's secret, which is stored nowhere
//! - `pairing`: codes that let one app in as a gate of a place
//! - `list`: what the page shows; `places`: where an app can reach the server

pub mod api;
pub mod ask;
pub mod clear;
pub mod credentials;
pub mod list;
pub mod pairing;
pub mod places;
pub mod window;

pub use pairing::{Pairing, Pairings};
pub use places::{Listening, Place, Trouble};
pub use window::Window;

use crate::{
    identity::App,
    types::{Timestamp, error::Result},
};
use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

/// The time for which a request waits, and holds its code.
const DAY_MS: i64 = 24 * 3600 * 1000;
/// The time for which an app is shown its credentials after it was added.
const SHOWN_MS: i64 = 10 * 60 * 1000;
/// The time between two looks whether that is over.
const FORGET_EVERY: Duration = Duration::from_secs(5);

/// Discovery in a running server.
pub struct Discovery {
    app: App,
    pub window: Window,
    pub pairings: Pairings,
    listening: OnceLock<Listening>,
}

impl Discovery {
    /// Discovery, closed.
    pub fn new(app: App) -> Arc<Self> {
        Arc::new(Self {
            app,
            window: Window::default(),
            pairings: Pairings::default(),
            listening: OnceLock::new(),
        })
    }

    /// The server listens now.
    pub fn listens(&self, listening: Listening) {
        let _ = self.listening.set(listening);
    }

    /// Lists the addresses at which an app can reach the server now: they follow this machine from network to network.
    pub fn places(&self) -> Result<Vec<Place>, Trouble> {
        let interfaces: Vec<_> = if_addrs::get_if_addrs()
            .unwrap_or_default()
            .into_iter()
            .map(|interface| (interface.name.clone(), interface.ip()))
            .collect();
        let public_url = self.app.public_url();
        places::places(
            public_url.as_deref(),
            self.listening.get().copied(),
            &interfaces,
        )
    }

    /// Removes what credentials are made of when their time is over, until it is dropped.
    pub async fn upkeep(&self) {
        let mut ticks = tokio::time::interval(FORGET_EVERY);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            if let Err(cause) = self.forget().await {
                tracing::warn!("credentials that were shown: {cause}");
            }
        }
    }

    async fn forget(&self) -> Result<()> {
        let due = self.app.store.look_up(|connection| {
            Ok(connection
                .prepare_cached(
                    "SELECT 1 FROM device_requests
                     WHERE salt IS NOT NULL AND (shown_until <= ?1 OR updated_at > ?1)",
                )?
                .exists([Timestamp::now()])?)
        })?;
        if due {
            self.app.store.write(clear::forget_salts).await?;
        }
        Ok(())
    }
}
