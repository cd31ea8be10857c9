//! The outbox: every message that was sent or is to be sent, and the page of one.

use super::{hindrance, layout, page, tone};
use crate::{
    admin::{
        Fields, Layout, RequestContext, answer,
        form::told,
        layout::number,
        route::{OPERATOR, Routes, VIEWER},
    },
    core::Context,
    db::Tx,
    domain::messages::{
        Channel, State,
        list::{self, Filter, Line, Whole},
        pictures, stored,
    },
    ops::{import::batches, mailing},
    types::error::{Error, Kind, Result},
};
use askama::Template;
use poem::Response;
use std::collections::HashMap;

const HERE: &str = "/console/messages";
/// Messages on a page of the list.
const PAGE: usize = 50;

pub(super) fn routes() -> Routes {
    Routes::access(VIEWER).get(HERE, list)
}

pub(super) fn routes_of_one() -> Routes {
    Routes::access(VIEWER)
        .get("/console/messages/:id", show)
        .get("/console/messages/:id/page", whole_page)
        .then(OPERATOR)
        .post("/console/messages/:id/resend", resend)
        .post("/console/messages/:id/cancel", cancel)
}

#[derive(Template)]
#[template(path = "messages/outbox.html")]
struct List {
    layout: Layout,
    tab: &'static str,
    hindrance: Option<&'static str>,
    state: String,
    channel: String,
    to: String,
    template: String,
    /// The batch of a message to a list.
    of_list: String,
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
impl List {
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
        of_list: None,
    }
}

fn written(query: &Fields) -> String {
    let mut text = form_urlencoded::Serializer::new(String::new());
    for name in ["state", "channel", "template", "delegate", "to", "list"] {
        if let Some(value) = query.filled(name) {
            text.append_pair(name, value);
        }
    }
    text.finish()
}

async fn list(request: RequestContext) -> Result<Response> {
    let (mut asked, from) = (
        filter(&request.query),
        request.query.number("from").ok().flatten(),
    );
    if let Some(id) = request.query.number("list").ok().flatten() {
        let batch = request.look_up(|connection| batches::find(connection, id))?;
        let after = batch.options.after_message.unwrap_or_default();
        asked.of_list = Some((mailing::origin(id), after));
    }
    let any = asked.is_any();
    let (lines, next, counts) = request
        .read(move |connection| {
            let (lines, next) = list::page(connection, &asked, from, PAGE)?;
            Ok((lines, next, list::counts(connection)?))
        })
        .await?;
    let query = written(&request.query);
    let text = |name: &str| request.query.text(name).to_owned();
    answer::page(&List {
        layout: layout(&request, "Messages"),
        tab: "Outbox",
        hindrance: hindrance(&request)?,
        state: text("state"),
        channel: text("channel"),
        to: text("to"),
        template: text("template"),
        of_list: text("list"),
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

#[derive(Template)]
#[template(path = "messages/one.html")]
struct Page {
    layout: Layout,
    tab: &'static str,
    failure: String,
    message: Whole,
}

impl Page {
    fn tone(&self) -> &'static str {
        tone(self.message.line.state)
    }

    /// Returns whether something happens to it by itself soon.
    fn moves(&self) -> bool {
        matches!(self.message.line.state, State::Waiting | State::Sending)
    }

    fn can_be_resent(&self) -> bool {
        let ended = matches!(
            self.message.line.state,
            State::Failed | State::Unknown | State::Cancelled
        );
        let says = self
            .message
            .body
            .as_deref()
            .is_some_and(|body| !body.is_empty());
        ended && says && self.layout.operates()
    }

    fn can_be_cancelled(&self) -> bool {
        self.message.line.state == State::Waiting && self.layout.operates()
    }

    /// Returns the name of the address.
    fn address_name(&self) -> &'static str {
        match self.message.line.channel {
            Channel::Email => "Address",
            Channel::Sms => "Phone",
            Channel::Push => "App",
        }
    }

    fn origin(&self) -> String {
        match self.message.origin.split_once(':') {
            Some(("automation", name)) => format!("the automation “{name}”"),
            Some(("certificate", _)) => "Reports, Certificates".to_owned(),
            Some(("list", id)) => format!("message {id} to a list"),
            _ => match self.message.origin.as_str() {
                "api" => "the API (send-comm)".to_owned(),
                "console" => "somebody of the crew".to_owned(),
                "test" => "a test from the console".to_owned(),
                "" => "not known".to_owned(),
                other => other.to_owned(),
            },
        }
    }
}

fn find(request: &RequestContext) -> Result<Whole> {
    let id = request.id("id")?;
    let found = request.look_up(|connection| list::one(connection, id))?;
    found.ok_or_else(|| {
        Error::new(
            Kind::NoSuchPath,
            "no such message; it may have been erased with its attendee",
        )
    })
}

fn page_of(request: &RequestContext, failure: String) -> Result<Page> {
    let message = find(request)?;
    let noun = message.line.channel.noun();
    Ok(Page {
        layout: layout(
            request,
            &format!("{} {}", answer::capital(noun), message.line.id),
        ),
        tab: "Outbox",
        failure,
        message,
    })
}

async fn show(request: RequestContext) -> Result<Response> {
    answer::page(&page_of(&request, String::new())?)
}

/// The e-mail as its reader sees it, but for pictures from elsewhere.
async fn whole_page(request: RequestContext) -> Result<Response> {
    let html = find(&request)?.html.ok_or_else(|| {
        Error::new(
            Kind::NoSuchPath,
            "this message has no page that can be shown",
        )
    })?;
    Ok(answer::foreign(pictures::shown(&html)?))
}

async fn resend(request: RequestContext) -> Result<Response> {
    decide(request, "Message queued again.", stored::resend).await
}

async fn cancel(request: RequestContext) -> Result<Response> {
    decide(request, "Message cancelled.", stored::cancel).await
}

async fn decide(
    request: RequestContext,
    done: &'static str,
    act: fn(&Tx<'_>, &Context, i64) -> Result<()>,
) -> Result<Response> {
    let id = request.id("id")?;
    match request.write(move |tx, ctx| act(tx, ctx, id)).await {
        Ok(()) => request.done(done, &page(id)),
        Err(cause) if cause.kind == Kind::Invalid => {
            answer::form_again(&page_of(&request, told(cause)?)?)
        }
        Err(cause) => Err(cause),
    }
}
