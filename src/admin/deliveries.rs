//! Pending and failed deliveries of all kinds: what is stuck, why, and what to do about it.

use super::{
    Area, Layout, RequestContext, Route, answer,
    route::{ADMINISTRATOR, OPERATOR, Routes},
};
use crate::{
    core::outbox::{
        Source,
        destination::{self, Pause, StuckDestination},
        pending::{self, ListedDelivery},
        runner::DOWN_AFTER,
    },
    domain::{
        messages::{self, Channel, list},
        printing::{
            CHECK_INS, Printer,
            jobs::{self, Decision},
            printers,
        },
        webhooks,
    },
    types::{
        Timestamp,
        error::{Error, Kind, Result},
    },
};
use askama::Template;
use poem::Response;
use rusqlite::Connection;
use std::collections::BTreeMap;

const HERE: &str = "/console/deliveries";
/// Pending deliveries on a page.
const PAGE: usize = 50;
/// Failed messages on the page.
const FAILED: usize = 20;

pub(super) fn routes() -> Vec<Route> {
    Routes::access(OPERATOR)
        .get(HERE, show)
        .post("/console/deliveries/retry", retry)
        .then(ADMINISTRATOR)
        .post("/console/deliveries/:id/cancel", cancel)
        .into_iter()
        .collect()
}

/// A destination that people should look at, in words.
pub(super) struct Problem {
    pub destination: String,
    pub label: String,
    pub path: String,
    /// The trouble, and what happens next.
    pub text: String,
}

/// The name of each destination.
struct Labels {
    webhooks: BTreeMap<i64, String>,
    printers: Vec<Printer>,
}

impl Labels {
    fn read(connection: &Connection) -> Result<Self> {
        let webhooks = webhooks::store::all(connection)?.into_iter();
        let names = webhooks.map(|webhook| (webhook.id, webhook.is.name));
        Ok(Self {
            webhooks: names.collect(),
            printers: printers::all(connection)?,
        })
    }

    fn label(&self, destination: &str) -> String {
        if let Some(id) = webhooks::store::id_of(destination) {
            return match self.webhooks.get(&id) {
                Some(name) => format!("Webhook {name}"),
                None => format!("Webhook {id}"),
            };
        }
        if destination == CHECK_INS {
            return "Badges at check-ins".to_owned();
        }
        if let Some(id) = printers::id_of(destination) {
            let found = self.printers.iter().find(|printer| printer.id == id);
            return found.map_or_else(
                || format!("Printer {id}"),
                |printer| format!("Printer {}", printer.is.name),
            );
        }
        let (channel, users) = match destination.split_once(':') {
            Some((channel, _)) => (channel, " to users"),
            None => (destination, ""),
        };
        let noun = Channel::named(channel).map_or("message", Channel::noun);
        answer::capital(&format!("{noun}s{users}"))
    }
}

fn path(destination: &str) -> String {
    if printers::id_of(destination).is_some() || destination == CHECK_INS {
        return "/console/printing".to_owned();
    }
    match webhooks::store::id_of(destination) {
        Some(id) => format!("/console/webhooks/{id}"),
        None => "/console/messages/gateways".to_owned(),
    }
}

/// The destinations that fail or do not send.
pub(super) fn problems(connection: &Connection, layout: &Layout) -> Result<Vec<Problem>> {
    let labels = Labels::read(connection)?;
    let stuck = destination::stuck(connection, Timestamp::now())?.into_iter();
    let problem = |stuck: StuckDestination| Problem {
        label: labels.label(&stuck.name),
        path: path(&stuck.name),
        text: describe(&stuck, layout),
        destination: stuck.name,
    };
    Ok(stuck.map(problem).collect())
}

fn describe(stuck: &StuckDestination, layout: &Layout) -> String {
    let state = &stuck.state;
    let why = stuck
        .why
        .as_ref()
        .map_or_else(String::new, |why| format!(": {why}"));
    let begins = match (state.paused, state.failing_since) {
        (Some((at, Pause::Gone)), _) => {
            format!("Stopped at {}: the receiver is gone", layout.clock(&at))
        }
        (Some((at, _)), _) => format!("Stopped at {}{why}", layout.clock(&at)),
        (None, Some(since)) if state.failures >= DOWN_AFTER => {
            format!("Every delivery failed since {}{why}", layout.clock(&since))
        }
        (None, _) if stuck.why.is_some() => format!("Some deliveries fail{why}"),
        (None, _) => "Deliveries wait".to_owned(),
    };
    let pending = match stuck.pending {
        0 => String::new(),
        1 => " 1 delivery is pending.".to_owned(),
        count => format!(" {count} deliveries are pending."),
    };
    let next = match state.next_at.filter(|_| state.paused.is_none()) {
        Some(at) => format!(" Next attempt at {}.", layout.clock(&at)),
        None => String::new(),
    };
    format!("{begins}.{pending}{next}")
}

#[derive(Template)]
#[template(path = "deliveries.html")]
struct Page {
    layout: Layout,
    problems: Vec<Problem>,
    /// The destination that is shown alone; empty for all.
    destination: String,
    /// Destinations to choose from, each with its label.
    destinations: Vec<(String, String)>,
    lines: Vec<Line>,
    next: Option<i64>,
    failed: Vec<list::Line>,
}

struct Line {
    listed: ListedDelivery,
    label: String,
    /// The next attempt; none while the destination is paused.
    next_at: Option<Timestamp>,
    /// The page of the record that it is about, where there is one.
    path: Option<String>,
}

impl Line {
    /// The record that it is about, as people call it, such as `attendee 7`.
    fn about(&self) -> String {
        let key = &self.listed.pending.delivery.ordering_key;
        let (of, id) = key.split_once(':').unwrap_or((key, ""));
        let noun = match of {
            "delegate" => "attendee",
            "interaction" => "activity",
            other => other,
        };
        format!("{noun} {id}").trim_end().to_owned()
    }
}

/// The page of the record that an ordering key names, where the console has one.
pub(super) fn record_path(ordering_key: &str) -> Option<String> {
    let (of, id) = ordering_key.split_once(':')?;
    let area = match of {
        "delegate" => "delegates",
        "device" => "devices",
        "interaction" => "interactions",
        "message" => "messages",
        _ => return None,
    };
    Some(format!("/console/{area}/{id}"))
}

impl Page {
    fn read(
        connection: &Connection,
        layout: Layout,
        destination: String,
        after: i64,
    ) -> Result<Self> {
        let labels = Labels::read(connection)?;
        let wanted = Some(destination.as_str()).filter(|wanted| !wanted.is_empty());
        let listed = pending::list(connection, wanted, after, PAGE)?;
        let next = listed.last().filter(|_| listed.len() == PAGE);
        let next = next.map(|last| last.id);
        let destinations = destination::all(connection)?;
        let lines = listed.into_iter().map(|listed| {
            let state = destinations.get(&listed.destination);
            let not_before = state.and_then(|state| state.next_at);
            Line {
                next_at: match state.and_then(|state| state.paused) {
                    Some(_) => None,
                    None => not_before.max(Some(listed.pending.next_at)),
                },
                label: labels.label(&listed.destination),
                path: record_path(&listed.pending.delivery.ordering_key),
                listed,
            }
        });
        Ok(Self {
            problems: problems(connection, &layout)?,
            lines: lines.collect(),
            destinations: destinations
                .keys()
                .map(|name| (name.clone(), labels.label(name)))
                .collect(),
            next,
            failed: list::undelivered(connection, FAILED)?,
            destination,
            layout,
        })
    }
}

async fn show(request: RequestContext) -> Result<Response> {
    let layout = request.layout("Deliveries", Some(Area::Deliveries));
    let destination = request.query.text("destination").to_owned();
    let after = request.query.number("after").ok().flatten().unwrap_or(0);
    let page = request
        .read(move |connection| Page::read(connection, layout, destination, after))
        .await?;
    answer::page(&page)
}

/// Makes everything pending of a destination due at once; one that was stopped resumes.
async fn retry(request: RequestContext) -> Result<Response> {
    let name = request.form.text("destination").to_owned();
    request
        .write(move |tx, ctx| match webhooks::store::id_of(&name) {
            Some(id) => webhooks::decisions::resume(tx, ctx, id),
            None if destination::all(tx)?.contains_key(&name) => destination::retry(tx, &name),
            None => Err(Error::new(Kind::NoSuchPath, "there is no such destination")),
        })
        .await?;
    request.done("Pending deliveries are sent now.", HERE)
}

async fn cancel(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    request
        .write(move |tx, ctx| {
            let found = pending::get(tx, id)?.ok_or_else(|| {
                Error::new(Kind::NoSuchPath, "this delivery is not pending any more")
            })?;
            let of = found.pending.delivery.of;
            match (of.source, webhooks::store::id_of(&found.destination)) {
                (Source::Message, _) => messages::stored::cancel(tx, ctx, of.id),
                (Source::Print, _) => jobs::decide(tx, ctx, of.id, Decision::Cancel),
                (_, Some(webhook)) => webhooks::decisions::cancel(tx, ctx, webhook, of),
                (_, None) => pending::remove(tx, &found.destination, of),
            }
        })
        .await?;
    request.done("Delivery cancelled. Later deliveries continue.", HERE)
}
