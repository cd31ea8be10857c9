//! What is sent to people: the outbox with each message, what templates say, which are sent by
//! themselves, and by which gateways all of it leaves.

mod automations;
mod gateway;
mod gateways;
mod one;
mod outbox;
mod template;
mod templates;
mod tried;

use super::{Area, Layout, RequestContext, Route};
use crate::domain::messages::{State, gateways as ways};

/// The pages beside each other.
const TABS: &[(&str, &str)] = &[
    ("Outbox", "/console/messages"),
    ("Templates", "/console/messages/templates"),
    ("Automations", "/console/messages/automations"),
    ("Gateways", "/console/messages/gateways"),
];

pub(super) fn routes() -> Vec<Route> {
    [
        outbox::routes(),
        templates::routes(),
        template::routes(),
        automations::routes(),
        gateways::routes(),
        gateway::routes(),
        // Last, as its paths have a parameter where the others have names.
        one::routes(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn layout(request: &RequestContext, title: &str) -> Layout {
    request.layout(title, Some(Area::Messages))
}

/// How a state is coloured.
fn tone(state: State) -> &'static str {
    match state {
        State::Sent => "good",
        State::Failed => "bad",
        State::Unknown => "warn",
        State::Waiting | State::Sending | State::Cancelled => "",
    }
}

/// What keeps messages from going, to be said above every page: what it is and where it is mended.
fn hindrance(request: &RequestContext) -> crate::types::error::Result<Option<&'static str>> {
    let settings = request.console.settings();
    if !settings.communications.enabled {
        return Ok(Some(
            "Messages to attendees are switched off: nothing goes to them until an administrator switches them on under Gateways.",
        ));
    }
    let none = request.look_up(|connection| {
        Ok(ways::open(connection, &settings.communications)?
            .any
            .is_empty())
    })?;
    Ok(none.then_some(
        "There is no gateway yet: an administrator says under Gateways by which mail server e-mails go, and by which provider texts and push messages.",
    ))
}
