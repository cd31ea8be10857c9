//! Checks the integrity of the file after the start, and looks once in a while whether a backup of the
//! plan is due.

use crate::{
    db::integrity::Integrity,
    identity::App,
    ops::backup::{run, schedule},
    types::Timestamp,
};
use std::{sync::Arc, time::Duration};

/// The time between two looks: backups are due by the minute.
const EVERY: Duration = Duration::from_secs(5);

/// Runs until the server stops.
pub(super) async fn follow(app: &App) {
    let of_start = app.clone();
    let begun = run::on_thread(move || run::end_interrupted(&of_start.store, Timestamp::now()));
    if let Err(cause) = begun.await {
        tracing::warn!("backups of the last run: {cause}");
    }
    let integrity = Arc::clone(app.store.integrity());
    tokio::spawn(check(integrity));
    let mut ticks = tokio::time::interval(EVERY);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let settings = app.settings();
        let due = schedule::due(&app.store, &settings, Timestamp::now());
        if !due.is_ok_and(|plan| plan.is_some()) {
            continue;
        }
        // Damage is reported before the backup that would fail because of it.
        check(Arc::clone(app.store.integrity())).await;
        let app = app.clone();
        let made = run::on_thread(move || schedule::tick(&app.store, &settings, Timestamp::now()));
        match made.await {
            Ok(true) => tracing::info!("a backup of the plan was made"),
            Ok(false) => {}
            Err(cause) => tracing::warn!("the backup that is due: {cause}"),
        }
    }
}

/// Looks for damage in the file, beside gates.
async fn check(integrity: Arc<Integrity>) {
    if let Err(cause) = run::on_thread(move || integrity.check()).await {
        tracing::warn!("the integrity of the database file could not be checked: {cause}");
    }
}
