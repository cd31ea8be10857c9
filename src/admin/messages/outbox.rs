//! The outbox: everything that was sent, or is to be.

use super::{hindrance, layout, tone};
use crate::{
    admin::{Fields, Layout, RequestContext, Route, answer, layout::number, route},
    domain::messages::{
        Channel, State,
        list::{self, Filter, Line},
    },
    types::error::Result,
};
use askama::Template;
use poem::Response;
use std::collections::HashMap;

const HERE: &str = "/console/messages";
/// Lines on a page.
const PAGE: usize = 50;

pub(super) fn routes() -> Vec<Route> {
    vec![Route::get(HERE, route::VIEWER, show)]
}

#[derive(Template)]
#[template(path = "messages/outbox.html")]
struct Page {
    layout: Layout,
    tab: &'static str,
    hindrance: Option<&'static str>,
    state: String,
    channel: String,
    to: String,
    template: String,
    any: bool,
    counts: HashMap<State, i64>,
    lines: Vec<Line>,
    query: String,
    next: Option<String>,
    newest: bool,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "templates pass references"
)]
impl Page {
    fn states() -> &'static [State] {
        State::ALL
    }

    fn channels() -> &'static [Channel] {
        Channel::ALL
    }

    fn count(&self, state: &State) -> String {
        number(self.counts.get(state).copied().unwrap_or_default())
    }

    fn tone(state: &State) -> &'static str {
        tone(*state)
    }
}

fn filter(query: &Fields) -> Filter {
    let filled = |name: &str| query.filled(name).map(ToOwned::to_owned);
    Filter {
        state: query.filled("state").and_then(State::named),
        channel: query
            .filled("channel")
            .and_then(|name| Channel::named(name).ok()),
        template: filled("template"),
        delegate: query.number("delegate").ok().flatten(),
        to: filled("to"),
    }
}

fn written(query: &Fields) -> String {
    let mut text = form_urlencoded::Serializer::new(String::new());
    for name in ["state", "channel", "template", "delegate", "to"] {
        if let Some(value) = query.filled(name) {
            text.append_pair(name, value);
        }
    }
    text.finish()
}

async fn show(request: RequestContext) -> Result<Response> {
    let (asked, from) = (
        filter(&request.query),
        request.query.number("from").ok().flatten(),
    );
    let any = asked.is_any();
    let (lines, next, counts) = request
        .read(move |connection| {
            let (lines, next) = list::page(connection, &asked, from, PAGE)?;
            Ok((lines, next, list::counts(connection)?))
        })
        .await?;
    let query = written(&request.query);
    let text = |name: &str| request.query.text(name).to_owned();
    answer::page(&Page {
        layout: layout(&request, "Messages"),
        tab: "Outbox",
        hindrance: hindrance(&request)?,
        state: text("state"),
        channel: text("channel"),
        to: text("to"),
        template: text("template"),
        any,
        counts,
        next: next.map(|next| {
            let separator = if query.is_empty() { "" } else { "&" };
            format!("{HERE}?{query}{separator}from={next}")
        }),
        query,
        lines,
        newest: from.is_none(),
    })
}
