//! One message: what it says, what became of it, and what a person may decide about it.

use super::{shell, tone};
use crate::{
    admin::{Route, Shell, Visit, answer, form::told, route},
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
    shell: Shell,
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
        ended && says && self.shell.operates()
    }

    fn can_be_cancelled(&self) -> bool {
        self.message.line.state == State::Waiting && self.shell.operates()
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

fn find(visit: &Visit) -> Result<Whole> {
    let id = visit.id("id")?;
    let found = visit
        .console
        .store
        .look_up(|connection| list::one(connection, id))?;
    found.ok_or_else(|| {
        Error::new(
            Kind::NoSuchPath,
            "there is no such message; it may have been erased with its delegate",
        )
    })
}

fn page(visit: &Visit, failure: String) -> Result<Page> {
    let message = find(visit)?;
    let noun = message.line.channel.noun();
    Ok(Page {
        shell: shell(visit, &format!("{} {}", capital(noun), message.line.id)),
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

async fn show(visit: Visit) -> Result<Response> {
    answer::page(&page(&visit, String::new())?)
}

/// The e-mail as its reader sees it, but for pictures from elsewhere.
async fn whole_page(visit: Visit) -> Result<Response> {
    let html = find(&visit)?.html.ok_or_else(|| {
        Error::new(
            Kind::NoSuchPath,
            "this message has no page that can be shown",
        )
    })?;
    Ok(answer::foreign(html))
}

async fn resend(visit: Visit) -> Result<Response> {
    decide(visit, "It is sent again.", outbox::resend).await
}

async fn cancel(visit: Visit) -> Result<Response> {
    decide(
        visit,
        "It was called back; nothing is sent.",
        outbox::cancel,
    )
    .await
}

async fn decide(
    visit: Visit,
    done: &'static str,
    act: fn(&Tx<'_>, &crate::core::Context, i64) -> Result<()>,
) -> Result<Response> {
    let (id, ctx) = (visit.id("id")?, visit.context());
    match visit.console.store.write(move |tx| act(tx, &ctx, id)).await {
        Ok(()) => {
            visit.flash(done);
            Ok(answer::go(&format!("/console/messages/{id}")))
        }
        Err(cause) if cause.kind == Kind::Invalid => {
            answer::form_again(&page(&visit, told(cause)?)?)
        }
        Err(cause) => Err(cause),
    }
}
