//! The list of templates.

use super::{hindrance, layout};
use crate::{
    admin::{Layout, RequestContext, Route, answer, route},
    domain::messages::{
        Channel, automations,
        templates::{self, Template as Known},
    },
    types::error::Result,
};
use askama::Template;
use poem::Response;

pub(super) const HERE: &str = "/console/messages/templates";

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get(HERE, route::VIEWER, list),
        Route::post(
            "/console/messages/templates/:id/remove",
            route::ADMINISTRATOR,
            remove,
        ),
    ]
}

/// Templates of one way.
struct Group {
    title: &'static str,
    how: &'static str,
    channel: Channel,
    templates: Vec<(Known, Vec<String>)>,
}

#[derive(Template)]
#[template(path = "messages/templates.html")]
struct List {
    layout: Layout,
    tab: &'static str,
    hindrance: Option<&'static str>,
    failure: String,
    groups: Vec<Group>,
}

impl List {
    fn new(request: &RequestContext, failure: String) -> Result<Self> {
        let (known, users) = request.look_up(|connection| {
            Ok((templates::all(connection)?, automations::all(connection)?))
        })?;
        let with_users = |template: Known| {
            let uses = users.iter().filter(|automation| {
                (&automation.entry.channel, &automation.entry.template)
                    == (&template.entry.channel, &template.entry.slug)
            });
            let names = uses
                .map(|automation| automation.entry.name.clone())
                .collect();
            (template, names)
        };
        let groups = Channel::ALL.iter().map(|channel| {
            let (title, how) = match channel {
                Channel::Email => ("E-mails", "Apps name them by their number (email_id)."),
                Channel::Sms => ("Texts", "Apps name them by their slug (sms_code)."),
                Channel::Push => (
                    "Push messages",
                    "They go to every app in which the attendee has registered.",
                ),
            };
            let of_channel = known
                .iter()
                .filter(|template| template.entry.channel == channel.name());
            Group {
                title,
                how,
                channel: *channel,
                templates: of_channel.cloned().map(with_users).collect(),
            }
        });
        Ok(Self {
            layout: layout(request, "Templates"),
            tab: "Templates",
            hindrance: hindrance(request)?,
            failure,
            groups: groups.collect(),
        })
    }
}

async fn list(request: RequestContext) -> Result<Response> {
    answer::page(&List::new(&request, String::new())?)
}

async fn remove(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let removed = request.write(move |tx, ctx| templates::remove(tx, ctx, id));
    match removed.await {
        Ok(()) => request.done("The template is gone; what was sent by it stays.", HERE),
        Err(cause) if cause.kind == crate::types::error::Kind::Invalid => {
            answer::form_again(&List::new(&request, answer::sentence(&cause.message))?)
        }
        Err(cause) => Err(cause),
    }
}
