//! The apps that run on devices (spec: Device configuration, Device endpoints; contract §7): what
//! they are to do, whether they do, and whether they are there.
//!
//! # Layout
//!
//! - `parameters`: the settings that apps know; `values`: what they hold; `pin`: the supervisors' PIN
//! - `document`: the settings of all apps; `configuration`: which document is in force, the draft, who
//!   has it; `gate_settings`: what they say to a gate
//! - `local`: what an app set by itself
//! - `ping`: stores pings; `history`: thins old ones; `presence`: whether a device is online;
//!   `state`: what the console shows

pub mod api;
pub mod configuration;
pub mod document;
mod gate_settings;
pub mod history;
pub mod local;
pub mod parameters;
pub mod pin;
pub mod ping;
pub mod presence;
pub mod scope;
pub(crate) mod state;
pub mod values;
pub mod versions;

pub use configuration::PublishedCache;
pub use document::{Document, Settings};
pub use gate_settings::{GateSettings, Kiosk, OfflinePolicy, not_its_place, place_of};

use crate::{identity::App, types::Timestamp};
use std::time::Duration;

/// The time between two writes of when devices were last seen.
const SEEN_EVERY: Duration = Duration::from_secs(30);
/// The history is thinned once in so many of those.
const THINNED_EVERY: u32 = 20;

/// Sees to what apps leave behind, until it is dropped: when they were last seen is written down,
/// and the history of their pings is thinned.
pub async fn upkeep(app: &App) {
    let mut written = presence::Written::default();
    let mut ticks = tokio::time::interval(SEEN_EVERY);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    for round in 0_u32.. {
        ticks.tick().await;
        if let Err(cause) = presence::write_down(&app.store, &app.last_seen, &mut written).await {
            tracing::warn!("when devices were seen: {cause}");
        }
        if round % THINNED_EVERY == 0
            && let Err(cause) = history::thin(&app.store, Timestamp::now()).await
        {
            tracing::warn!("the history of pings: {cause}");
        }
    }
}

/// Writes down, before the end, when devices were last seen.
pub async fn at_the_end(app: &App) {
    if let Err(cause) = presence::write_down(
        &app.store,
        &app.last_seen,
        &mut presence::Written::default(),
    )
    .await
    {
        tracing::warn!("when devices were seen: {cause}");
    }
}
