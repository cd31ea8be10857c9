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
use crate::{domain::webhooks::Health, types::error::Result};
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
