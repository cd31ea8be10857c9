//! The list of webhooks.

use super::{Health, layout};
use crate::{
    admin::{Layout, RequestContext, Route, answer, route},
    core::outbox::{State, destination, pending},
    domain::webhooks::{
        self, Waiting, Webhook,
        store::{self, origin},
        waiting,
    },
    types::{Timestamp, error::Result},
};
use askama::Template;
use poem::Response;
use rusqlite::Connection;

pub(super) fn routes() -> Vec<Route> {
    vec![Route::get("/console/webhooks", route::OPERATOR, show)]
}

#[derive(Template)]
#[template(path = "webhooks/list.html")]
struct Page {
    layout: Layout,
    lines: Vec<Line>,
}

struct Line {
    webhook: Webhook,
    state: State,
    health: Health,
    waiting: Waiting,
}

impl Line {
    fn read(connection: &Connection, webhook: Webhook) -> Result<Self> {
        let name = webhooks::destination(webhook.id);
        let state = destination::get(connection, &name)?;
        let pending = pending::count(connection, &name)?;
        Ok(Self {
            health: Health::of(&state, pending),
            waiting: waiting(connection, &webhook, &state)?,
            webhook,
            state,
        })
    }

    fn origin(&self) -> &str {
        origin(&self.webhook.is.url)
    }

    /// Since when every delivery fails.
    fn failing_since(&self) -> Option<Timestamp> {
        let fails = self.health == Health::Failing;
        self.state.failing_since.filter(|_| fails)
    }

    /// Tells in a few words what it subscribes to.
    fn subscribed(&self) -> String {
        let is = &self.webhook.is;
        let some = |entries: &std::collections::BTreeSet<String>, all: &str, many: &str| {
            if entries.contains("*") {
                return Some(all.to_owned());
            }
            match entries.len() {
                0 => None,
                1..=3 => Some(entries.iter().cloned().collect::<Vec<_>>().join(", ")),
                count => Some(format!("{count} {many}")),
            }
        };
        let parts = [
            some(
                &is.interactions,
                "all interactions",
                "types of interactions",
            ),
            some(&is.changes, "all changes", "kinds of changes"),
        ];
        let mut subscribed = parts.into_iter().flatten().collect::<Vec<_>>().join("; ");
        if let Some(devices) = &is.devices {
            let at = match devices.len() {
                1 => "; at one device".to_owned(),
                count => format!("; at {count} devices"),
            };
            subscribed.push_str(&at);
        }
        subscribed
    }
}

async fn show(request: RequestContext) -> Result<Response> {
    let lines = request
        .read(|connection| {
            let webhooks = store::all(connection)?.into_iter();
            webhooks
                .map(|webhook| Line::read(connection, webhook))
                .collect::<Result<Vec<_>>>()
        })
        .await?;
    answer::page(&Page {
        layout: layout(&request, "Webhooks"),
        lines,
    })
}
