//! The head office over many venues (contract §14): a Gatepost server on a file of its own that takes in what venues
//! push, shows it, and gives them what it owns.
//!
//! # Layout
//!
//! - `api`: what venues ask over HTTPS
//! - `ingest`: a push on its way into the store; `venues`, `runs`: who may push; `lost`: what venues lost
//! - `office`: the hub's own file on its way there; `down`: what a venue is told of it
//! - `retention`: anonymous attendees, in PostgreSQL
//! - `reports`: figures over all venues; `pages`: the console
//! - `store`: the file itself or PostgreSQL

pub mod api;
mod down;
mod ingest;
mod lost;
mod office;
pub mod pages;
mod reports;
mod retention;
mod runs;
mod store;
#[cfg(test)]
mod tests;
mod venues;

use crate::{
    db::counters,
    identity::App,
    types::{
        Timestamp,
        error::{Error, Result},
    },
};
use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};
use store::{Postgres, Store};
use tokio::sync::{Semaphore, watch};

/// Pushes that are unpacked and stored at a time: each may have 16 MiB.
const PUSHES_AT_ONCE: usize = 4;
/// The time between two signs of life, and two looks at what other hubs stored.
const BEAT: Duration = Duration::from_secs(2);
/// A store that does not answer for so long is gone.
const SILENT_MAX: Duration = Duration::from_secs(10);

/// The state of a hub.
pub struct Hub {
    app: App,
    store: Store,
    pushes: Semaphore,
    /// Changes with what venues are told.
    down: watch::Sender<(i64, i64, i64)>,
    stopped: AtomicBool,
    /// When the store answered last.
    answered: Mutex<Instant>,
}

/// Set in the file of a hub whose venues are in PostgreSQL.
const ELSEWHERE: &str = "hub store elsewhere";

impl Hub {
    /// A hub with its own file as the store, or PostgreSQL at this address.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`] where its venues are in the other one.
    pub async fn open(app: &App, address: Option<&str>) -> Result<Arc<Self>> {
        check_store(app, address.is_some()).await?;
        let store = match address {
            Some(address) => Store::Postgres(Arc::new(Postgres::open(address).await?)),
            None => Store::Sqlite(app.clone()),
        };
        Ok(Arc::new(Self {
            app: app.clone(),
            store,
            pushes: Semaphore::new(PUSHES_AT_ONCE),
            down: watch::Sender::new((0, 0, 0)),
            stopped: AtomicBool::new(false),
            answered: Mutex::new(Instant::now()),
        }))
    }

    /// Does what a hub does by itself; never ends.
    pub async fn run(&self) {
        tokio::join!(
            office::follow(self),
            office::follow_configuration(self),
            self.beat(),
            reports::figures::follow(self),
            retention::follow(self),
        );
    }

    /// Adds a venue: its number and its pairing code.
    pub async fn add_venue(&self, name: &str, event: Option<i64>) -> Result<(i64, String)> {
        let (name, now) = (name.to_owned(), Timestamp::now());
        let add = move |sql: &mut dyn store::Sql| {
            let venue = venues::add(sql, &name, event, now)?;
            Ok((venue, venues::make_code(sql, venue, now)?))
        };
        self.store.write(add).await
    }

    /// The rows of a report, as objects.
    pub async fn report(&self, name: &str) -> Result<Vec<serde_json::Value>> {
        let known = reports::REPORTS
            .iter()
            .map(|report| report.id)
            .collect::<Vec<_>>();
        let report = reports::Report::find(name).ok_or_else(|| {
            Error::invalid(format!(
                "there is no report {name}; there are {}",
                known.join(", ")
            ))
        })?;
        let zone = self.app.settings().zone.clone();
        let rows = self.store.read(|sql| report.rows(sql)).await?;
        Ok(rows.iter().map(|row| report.object(row, &zone)).collect())
    }

    /// Wakes all venues that wait: what they are to be told may have changed.
    pub fn wake(&self) {
        self.down.send_modify(|_| {});
    }

    /// Lets venues go that wait: the server ends.
    pub fn stop(&self) {
        self.stopped.store(true, Relaxed);
        self.wake();
    }

    /// Returns what is wrong with the store: whoever stands in front of several hubs asks another one then.
    pub fn trouble(&self) -> Option<String> {
        let answered = *self.answered.lock().unwrap_or_else(PoisonError::into_inner);
        let silent = answered.elapsed();
        (silent > SILENT_MAX).then(|| {
            format!(
                "the store of the venues has not answered for {} s",
                silent.as_secs()
            )
        })
    }

    async fn beat(&self) {
        loop {
            let url = self
                .app
                .public_url()
                .map(|url| url.trim_end_matches('/').to_owned());
            if let Some(url) = url {
                let beat =
                    move |sql: &mut dyn store::Sql| venues::beat(sql, &url, Timestamp::now());
                if let Err(cause) = self.store.write(beat).await {
                    tracing::warn!("the hub's sign of life: {cause}");
                }
            }
            match self.look_down().await {
                Ok(()) => {
                    *self.answered.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
                }
                Err(cause) => tracing::warn!("what venues are told: {cause}"),
            }
            tokio::time::sleep(BEAT).await;
        }
    }

    /// Wakes venues that wait, where there is something new.
    async fn look_down(&self) -> Result<()> {
        let newest = self.store.read(|sql| {
            let office =
                sql.query_one("SELECT current, sequence FROM hub_venues WHERE id = 0", &[])?;
            let configuration = sql.query_one("SELECT max(id) FROM hub_configuration", &[])?;
            let sent_back = sql.query_one(
                "SELECT count(*) FROM hub_records WHERE lost AND kind = 'sent-back'",
                &[],
            )?;
            let number =
                |row: &Option<store::Row>, at| row.as_ref().map_or(0, |row| row.number(at));
            Ok((
                number(&office, 0) + number(&sent_back, 0),
                number(&office, 1),
                number(&configuration, 0),
            ))
        });
        let newest = newest.await?;
        self.down
            .send_if_modified(|known| std::mem::replace(known, newest) != newest);
        Ok(())
    }
}

/// Keeps a hub from starting as if it had no venues, on the store where they are not.
async fn check_store(app: &App, is_elsewhere: bool) -> Result<()> {
    let (known, venues) = app.store.look_up(|file| {
        let venues = "SELECT count(*) FROM hub_venues WHERE id > 0";
        let venues: i64 = file.query_row(venues, [], |row| row.get(0))?;
        Ok((counters::get(file, ELSEWHERE)?, venues))
    })?;
    match (known, is_elsewhere) {
        (Some(_), false) => Err(Error::invalid(
            "the venues of this hub are in PostgreSQL: name it with --store",
        )),
        (None, true) if venues > 0 => Err(Error::invalid(format!(
            "the {venues} venues of this hub are in its own file, and PostgreSQL would not know them: leave --store out, or begin with a new file and pair the venues anew"
        ))),
        (None, true) => app.store.write(|tx| counters::set(tx, ELSEWHERE, 1)).await,
        _ => Ok(()),
    }
}

impl std::fmt::Debug for Hub {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hub").finish_non_exhaustive()
    }
}
