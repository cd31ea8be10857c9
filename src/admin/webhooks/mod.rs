//! Webhooks: settings, health, pending and failed deliveries. Operators see them and send again;
//! administrators set them up.

mod actions;
mod form;
mod list;
mod one;

use super::{
    Area, Layout, RequestContext, Route,
    access::{self, Made},
};
use crate::{
    core::outbox::{Pause, State, runner::DOWN_AFTER},
    types::error::Result,
};
use poem::Response;

pub(super) fn routes() -> Vec<Route> {
    [
        list::routes(),
        form::routes(),
        one::routes(),
        actions::routes(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn layout(request: &RequestContext, title: &str) -> Layout {
    request.layout(title, Some(Area::Webhooks))
}

fn place(id: i64) -> String {
    format!("/console/webhooks/{id}")
}

/// Shows a secret, once.
fn show_secret(
    request: &RequestContext,
    id: i64,
    name: String,
    url: String,
    secret: String,
) -> Result<Response> {
    access::show_once(
        request,
        Made {
            what: "Signing secret",
            secret,
            id: ("Address", url),
            back: place(id),
            name,
        },
    )
}

/// The health of a webhook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Health {
    New,
    Well,
    /// Some deliveries fail.
    PartlyFailing,
    /// Every delivery fails.
    Failing,
    /// A person paused it.
    Paused,
    /// Paused because every delivery failed for days, or the receiver is gone.
    Stopped,
}

impl Health {
    fn of(state: &State, pending: i64) -> Self {
        match state.paused {
            Some((_, Pause::Asked)) => Self::Paused,
            Some(_) => Self::Stopped,
            None if state.failures >= DOWN_AFTER => Self::Failing,
            None if pending > 0 => Self::PartlyFailing,
            None if state.last_success_at.is_none() => Self::New,
            None => Self::Well,
        }
    }

    fn tag(self) -> &'static str {
        match self {
            Self::New => "",
            Self::Well => "good",
            Self::PartlyFailing | Self::Failing | Self::Paused => "warn",
            Self::Stopped => "bad",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::New => "no deliveries yet",
            Self::Well => "working",
            Self::PartlyFailing => "partly failing",
            Self::Failing => "failing",
            Self::Paused => "paused",
            Self::Stopped => "stopped",
        }
    }
}
