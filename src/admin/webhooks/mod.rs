//! Webhooks: who is told by HTTP what happens, how that fares, and what did not arrive. Operators
//! see it and have things sent again; administrators set it up.

mod actions;
mod form;
mod list;
mod one;

use super::{
    Area, Layout, RequestContext, Route,
    access::{self, Made},
};
use crate::{
    domain::webhooks::{runner::DOWN_AFTER, state::State},
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

/// How a webhook fares, as people see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fares {
    /// Nothing was to be told yet.
    New,
    Well,
    /// Some deliveries are not taken; others are, or may be.
    Held,
    /// Nothing is taken.
    Failing,
    /// A person paused it.
    Paused,
    /// It was paused because nothing was taken for days, or its receiver is no more.
    Stopped,
}

impl Fares {
    fn of(state: &State, held: i64) -> Self {
        use crate::domain::webhooks::state::Pause;
        match state.paused {
            Some((_, Pause::Asked)) => Self::Paused,
            Some(_) => Self::Stopped,
            None if state.failures >= DOWN_AFTER => Self::Failing,
            None if held > 0 => Self::Held,
            None if state.last_success_at.is_none() => Self::New,
            None => Self::Well,
        }
    }

    fn tag(self) -> &'static str {
        match self {
            Self::New => "",
            Self::Well => "good",
            Self::Held | Self::Failing | Self::Paused => "warn",
            Self::Stopped => "bad",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::New => "no deliveries yet",
            Self::Well => "working",
            Self::Held => "partly failing",
            Self::Failing => "failing",
            Self::Paused => "paused",
            Self::Stopped => "stopped",
        }
    }
}
