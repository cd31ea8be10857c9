//! One message: what it says, what became of it, and what a person may decide about it.

use super::{layout, tone};
use crate::{
    admin::{Layout, RequestContext, Route, answer, form::told, route},
    db::Tx,
    domain::messages::{
        Channel, State,
        list::{self, Whole},
        outbox,
    },
    types::error::{Error, Kind, Result},
};
use askama::Template;
use poem::Response;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/console/messages/:id", route::VIEWER, show),
        Route::get("/console/messages/:id/page", route::VIEWER, whole_page),
        Route::post("/console/messages/:id/resend", route::OPERATOR, resend),
        Route::post("/console/messages/:id/cancel", route::OPERATOR, cancel),
    ]
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

    /// Whether something happens to it by itself soon.
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

    /// What the address is.
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
            "there is no such message; it may have been erased with its attendee",
        )
    })
}

fn page(request: &RequestContext, failure: String) -> Result<Page> {
    let message = find(request)?;
    let noun = message.line.channel.noun();
    Ok(Page {
        layout: layout(request, &format!("{} {}", capital(noun), message.line.id)),
        tab: "Outbox",
        failure,
        message,
    })
}

fn capital(noun: &str) -> String {
    let mut letters = noun.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

async fn show(request: RequestContext) -> Result<Response> {
    answer::page(&page(&request, String::new())?)
}

/// The e-mail as its reader sees it, but for pictures from elsewhere.
async fn whole_page(request: RequestContext) -> Result<Response> {
    let html = find(&request)?.html.ok_or_else(|| {
        Error::new(
            Kind::NoSuchPath,
            "this message has no page that can be shown",
        )
    })?;
    Ok(answer::foreign(html))
}

async fn resend(request: RequestContext) -> Result<Response> {
    decide(request, "It is sent again.", outbox::resend).await
}

async fn cancel(request: RequestContext) -> Result<Response> {
    decide(
        request,
        "It was called back; nothing is sent.",
        outbox::cancel,
    )
    .await
}

async fn decide(
    request: RequestContext,
    done: &'static str,
    act: fn(&Tx<'_>, &crate::core::Context, i64) -> Result<()>,
) -> Result<Response> {
    let id = request.id("id")?;
    match request.write(move |tx, ctx| act(tx, ctx, id)).await {
        Ok(()) => request.done(done, &format!("/console/messages/{id}")),
        Err(cause) if cause.kind == Kind::Invalid => {
            answer::form_again(&page(&request, told(cause)?)?)
        }
        Err(cause) => Err(cause),
    }
}
