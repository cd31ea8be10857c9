//! One webhook: its health, what waits, the last attempts.

use super::{Health, layout, place};
use crate::{
    admin::{Layout, RequestContext, Route, answer, deliveries::record_path, route},
    core::outbox::{Pause, State, destination, pending},
    domain::{
        devices::{self, Offer},
        webhooks::{
            self, Waiting, Webhook,
            attempts::{self, Attempt, AttemptResult},
            store::{self, origin},
            waiting,
        },
    },
    types::{Timestamp, error::Result},
};
use askama::Template;
use poem::Response;
use rusqlite::Connection;

/// Attempts on the page.
const ATTEMPTS: usize = 50;

pub(super) fn routes() -> Vec<Route> {
    vec![Route::get("/console/webhooks/:id", route::OPERATOR, show)]
}

#[derive(Template)]
#[template(path = "webhooks/one.html")]
struct Page {
    layout: Layout,
    webhook: Webhook,
    state: State,
    health: Health,
    waiting: Waiting,
    /// The number of deliveries that failed, or wait behind one that did.
    pending: i64,
    destination: String,
    attempts: Vec<(i64, Attempt)>,
    /// Codes, each with the device's name while there is one.
    devices: Vec<Place>,
    action: String,
    overlaps_until: Option<Timestamp>,
}

impl Page {
    fn read(connection: &Connection, layout: Layout, id: i64) -> Result<Self> {
        let webhook = store::get(connection, id)?;
        let destination = webhooks::destination(id);
        let state = destination::get(connection, &destination)?;
        let pending = pending::count(connection, &destination)?;
        let now = Timestamp::now();
        Ok(Self {
            health: Health::of(&state, pending),
            waiting: waiting(connection, &webhook, &state)?,
            pending,
            destination,
            attempts: attempts::last(connection, id, ATTEMPTS)?,
            devices: places(connection, &webhook)?,
            action: place(id),
            overlaps_until: webhook.previous_until.filter(|until| *until > now),
            layout,
            webhook,
            state,
        })
    }

    fn origin(&self) -> &str {
        origin(&self.webhook.is.url)
    }

    /// Tells what is wrong, and what to do about it.
    fn trouble(&self) -> Option<String> {
        let time = |at: &Timestamp| self.layout.clock(at);
        let failing = self.health == Health::Failing;
        match (
            self.state.paused,
            self.state.failing_since.filter(|_| failing),
        ) {
            (Some((at, Pause::Asked)), _) => Some(format!(
                "Paused since {}. Events wait until you resume.",
                time(&at)
            )),
            (Some((at, Pause::Failing)), _) => Some(format!(
                "Stopped at {}: every delivery failed for three days. Events wait. Repair the \
                 receiver, then press Resume.",
                time(&at)
            )),
            (Some((at, Pause::Gone)), _) => Some(format!(
                "Stopped at {}: the receiver answered that it is gone for good (410). Events wait. \
                 Change the address or restore the receiver, then press Resume.",
                time(&at)
            )),
            (None, Some(since)) => {
                let again = self
                    .state
                    .next_at
                    .map_or_else(String::new, |at| format!(" Next attempt at {}.", time(&at)));
                Some(format!(
                    "Every delivery failed since {}.{again}",
                    time(&since)
                ))
            }
            (None, None) => None,
        }
    }
}

/// The class of an attempt's outcome.
fn mark(attempt: &Attempt) -> &'static str {
    match attempt.result {
        AttemptResult::Delivered => "good",
        AttemptResult::Refused | AttemptResult::Failed => "bad",
    }
}

/// An attempt's outcome in a word or two.
fn outcome(attempt: &Attempt) -> String {
    match (attempt.result, attempt.status) {
        (AttemptResult::Delivered, Some(status)) => format!("delivered ({status})"),
        (_, Some(status)) => format!("answered {status}"),
        (_, None) => "no answer".to_owned(),
    }
}

/// The code of a device; with the id and name of the device that has it, where there is one.
type Place = (String, Option<Offer>);

fn places(connection: &Connection, webhook: &Webhook) -> Result<Vec<Place>> {
    let codes = webhook.is.devices.iter().flatten();
    codes
        .map(|code| Ok((code.clone(), devices::with_code(connection, code)?)))
        .collect()
}

async fn show(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let layout = layout(&request, "Webhook");
    let page = request
        .read(move |connection| Page::read(connection, layout, id))
        .await?;
    answer::page(&page)
}
