//! Messages to people: the outbox with each message, what templates say, which are sent by
//! themselves, and by which gateways all of it leaves.

mod automations;
mod gateway;
mod gateways;
mod new;
mod outbox;
mod templates;

use super::{Area, Layout, RequestContext, Route, engine::Input};
use crate::{
    domain::messages::{Channel, State, gateways as ways},
    types::error::Result,
};

/// The pages beside each other; the last is for administrators.
const TABS: &[(&str, &str)] = &[
    ("Outbox", "/console/messages"),
    ("Templates", "/console/messages/templates"),
    ("Automations", "/console/messages/automations"),
    ("Gateways", "/console/messages/gateways"),
];

fn tabs(layout: &Layout) -> &'static [(&'static str, &'static str)] {
    if layout.administers() {
        TABS
    } else {
        &TABS[..3]
    }
}

pub(super) fn routes() -> Vec<Route> {
    let named = outbox::routes().into_iter().chain(new::routes());
    let named = named.chain(templates::routes());
    let named = named.chain(automations::routes()).chain(gateways::routes());
    // Last, as its paths have a parameter where the others have names.
    named.chain(outbox::routes_of_one()).collect()
}

/// The fields of what is written for a channel, with the field of its text.
fn inputs(channel: Channel, content: Input) -> Vec<Input> {
    let content = content.wide().required();
    match channel {
        Channel::Email => {
            let subject =
                Input::text("subject", "Subject").placeholder("Welcome to {{ settings.name }}");
            let html = Input::area("html", "HTML, beside the text", 8).code().help(
                "Most people read this part. It also shows who opened the e-mail (flag e), if this \
                 server has a public address.",
            );
            vec![subject.wide(), content, html.wide()]
        }
        Channel::Push => vec![Input::text("subject", "Title").wide(), content],
        Channel::Sms => vec![content],
    }
}

/// The field of the address that a test goes to.
fn test_address(channel: Channel) -> Input {
    let label = match channel {
        Channel::Email => "E-mail address for a test",
        Channel::Sms => "Phone number for a test",
        Channel::Push => "Push token for a test",
    };
    Input::text("address", label).apart()
}

/// The page of a message.
fn page(message: i64) -> String {
    format!("/console/messages/{message}")
}

fn layout(request: &RequestContext, title: &str) -> Layout {
    request.layout(title, Some(Area::Messages))
}

/// Returns the colour of a state.
fn tone(state: State) -> &'static str {
    match state {
        State::Sent => "good",
        State::Failed => "bad",
        State::Unknown => "warn",
        State::Waiting | State::Sending | State::Cancelled => "",
    }
}

/// Tells what keeps messages from going, above every page: what it is and where it is mended.
fn hindrance(request: &RequestContext) -> Result<Option<&'static str>> {
    let settings = request.console.settings();
    if !settings.communications.enabled {
        return Ok(Some(
            "Messages to attendees are switched off: nothing goes to them until an administrator switches them on under Gateways.",
        ));
    }
    let any = request.look_up(ways::all)?;
    Ok(any.is_empty().then_some(
        "There is no gateway yet: an administrator says under Gateways by which mail server e-mails go, and by which provider texts and push messages.",
    ))
}
