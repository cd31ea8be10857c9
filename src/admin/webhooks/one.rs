//! One webhook: how it fares, what waits, what was tried last.

use super::{Fares, layout, place};
use crate::{
    admin::{Layout, RequestContext, Route, answer, route},
    domain::webhooks::{
        Waiting, Webhook,
        attempts::{self, Attempt, Came},
        held::{self, Held},
        state::{self, Pause, State},
        store::{self, origin},
        waiting,
    },
    types::{Timestamp, error::Result},
};
use askama::Template;
use poem::Response;
use rusqlite::{Connection, OptionalExtension};

/// Attempts on the page.
const ATTEMPTS: i64 = 50;
/// What fails that is on the page.
const FAILING: usize = 50;

pub(super) fn routes() -> Vec<Route> {
    vec![Route::get("/console/webhooks/:id", route::OPERATOR, show)]
}

#[derive(Template)]
#[template(path = "webhooks/one.html")]
struct Page {
    layout: Layout,
    webhook: Webhook,
    state: State,
    fares: Fares,
    waiting: Waiting,
    /// What was tried and not taken, the first of each record.
    failing: Vec<Held>,
    more_failing: bool,
    attempts: Vec<(i64, Attempt)>,
    /// Codes, each with the device's name while there is one.
    devices: Vec<Place>,
    action: String,
    overlaps_until: Option<Timestamp>,
}

impl Page {
    fn read(connection: &Connection, layout: Layout, id: i64) -> Result<Self> {
        let webhook = store::get(connection, id)?;
        let state = state::of(connection, id)?;
        let mut failing = held::all(connection, id)?;
        let held = i64::try_from(failing.len()).unwrap_or(i64::MAX);
        failing.retain(|held| held.attempts > 0);
        let more_failing = failing.len() > FAILING;
        failing.truncate(FAILING);
        let now = Timestamp::now();
        Ok(Self {
            fares: Fares::of(&state, held),
            waiting: waiting(connection, &webhook, &state)?,
            failing,
            more_failing,
            attempts: attempts::last(connection, id, ATTEMPTS)?,
            devices: devices(connection, &webhook)?,
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

    /// Why it does not go on, or not well.
    fn trouble(&self) -> Option<String> {
        let time = |at: &Timestamp| self.layout.clock(at);
        let failing = self.fares == Fares::Failing;
        match (
            self.state.paused,
            self.state.failing_since.filter(|_| failing),
        ) {
            (Some((at, Pause::Asked)), _) => Some(format!(
                "It is paused since {}. What happens meanwhile waits.",
                time(&at)
            )),
            (Some((at, Pause::Failing)), _) => Some(format!(
                "It was stopped at {}, as nothing was taken for three days. What happens waits. \
                 Look what is wrong at the receiver, then have it go on.",
                time(&at)
            )),
            (Some((at, Pause::Gone)), _) => Some(format!(
                "It was stopped at {}, as the receiver said that there is nobody any more (410). What \
                 happens waits. An administrator can give it another address. Then, or when somebody is \
                 there again, press Go on, with what waits.",
                time(&at)
            )),
            (None, Some(since)) => {
                let again = self.state.next_at.map_or_else(String::new, |at| {
                    format!(" The next try is at {}.", time(&at))
                });
                Some(format!("Nothing was taken since {}.{again}", time(&since)))
            }
            (None, None) => None,
        }
    }
}

/// The class of an attempt's outcome.
fn mark(attempt: &Attempt) -> &'static str {
    match attempt.came {
        Came::Delivered => "good",
        Came::Refused | Came::Failed => "bad",
    }
}

/// An attempt's outcome in a word or two.
fn outcome(attempt: &Attempt) -> String {
    match (attempt.came, attempt.status) {
        (Came::Delivered, Some(status)) => format!("taken ({status})"),
        (_, Some(status)) => format!("answered {status}"),
        (_, None) => "no answer".to_owned(),
    }
}

/// The address of the record that something is about, where the console has a page of it.
fn record(lane: &str) -> Option<String> {
    let (of, id) = lane.split_once(':')?;
    let area = match of {
        "delegate" => "delegates",
        "device" => "devices",
        "interaction" => "interactions",
        _ => return None,
    };
    Some(format!("/console/{area}/{id}"))
}

/// The code of a device; with the id and name of the device that has it, where there is one.
type Place = (String, Option<(i64, String)>);

fn devices(connection: &Connection, webhook: &Webhook) -> Result<Vec<Place>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, coalesce(name, code) FROM devices WHERE code = ?1 AND deleted_at IS NULL",
    )?;
    let codes = webhook.is.devices.iter().flatten();
    codes
        .map(|code| {
            let found = statement
                .query_row([code], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()?;
            Ok((code.clone(), found))
        })
        .collect()
}

async fn show(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let layout = layout(&request, "Webhook");
    let page = request
        .console
        .store
        .read(move |connection| Page::read(connection, layout, id))
        .await?;
    answer::page(&page)
}
