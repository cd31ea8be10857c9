//! The list of venues, a new one, and attendees across all of them.

use super::{HERE, note};
use crate::{
    admin::prelude::*,
    hub::{
        Hub, lost,
        reports::people::{self, Person},
        store::Sql,
        venues::{self, Venue},
    },
};
use serde_json::json;
use std::sync::Arc;

#[derive(Template)]
#[template(path = "hub/venues.html")]
struct Page {
    layout: Layout,
    /// Each with how many records it lost.
    venues: Vec<(Venue, i64)>,
}

impl Venue {
    /// The symbol and the words of its state.
    pub(super) fn state(&self, now: Timestamp) -> (&'static str, &'static str) {
        match self {
            Self {
                revoked_at: Some(_),
                ..
            } => ("block", "Revoked"),
            _ if !self.is_paired() => ("ring", "Not paired"),
            _ if self.is_copied(now) => ("warn", "Two servers"),
            _ if !self.is_connected(now) => ("offline", "Not connected"),
            Self { current: None, .. } => ("clock", "First snapshot"),
            Self {
                coming: Some(_), ..
            } => ("clock", "New snapshot"),
            Self { behind, .. } if *behind > 0 => ("clock", "Catching up"),
            _ if self.is_clock_off() => ("clock", "Clock differs"),
            _ => ("online", "Connected"),
        }
    }

    /// How long its oldest change has waited.
    pub(super) fn lag(&self) -> String {
        match (self.behind, self.behind_ms / 1_000) {
            (0, _) => "nothing".to_owned(),
            (behind, seconds @ ..120) => format!("{behind} changes, {seconds} s"),
            (behind, seconds) => format!("{behind} changes, {} min", seconds / 60),
        }
    }
}

pub(super) async fn list(hub: Arc<Hub>, request: RequestContext) -> Result<Response> {
    let with_lost = |sql: &mut dyn Sql| {
        let all = Venue::all(sql)?.into_iter();
        let lost = all.map(|venue| {
            let lost = lost::counts(sql, venue.id)?;
            Ok((venue, lost.iter().map(|(_, count, _)| count).sum()))
        });
        lost.collect::<Result<_>>()
    };
    answer::page(&Page {
        venues: hub.store.read(with_lost).await?,
        layout: request.layout("Venues", Some(Area::Venues)),
    })
}

/// The fields of a venue. Events are those of the hub's file.
pub(super) fn inputs(venue: &Venue, events: Vec<(i64, String)>) -> Vec<Input> {
    let events = events.into_iter().map(|(id, name)| (id.to_string(), name));
    let all = [(String::new(), "Everything".to_owned())].into_iter();
    let chosen = venue
        .event
        .map(|event| event.to_string())
        .unwrap_or_default();
    vec![
        Input::text("name", "Name").required().max(100).value(venue.name.clone()),
        Input::select("event", "Event", choices(all.chain(events), &chosen))
            .help("The venue gets this event's places and the attendees who are registered for it; those of no event, too."),
        Input::flag("configured", "Takes the configuration of the head office").on(venue.is_configured),
    ]
}

async fn form(hub: &Hub, failure: Option<&Error>, request: &RequestContext) -> Result<Response> {
    let events = hub.store.read(venues::events).await?;
    let fresh = Venue {
        is_configured: true,
        ..Venue::default()
    };
    let mut form = Form {
        action: "/console/venues/new".to_owned(),
        cancel: HERE.to_owned(),
        submit: "Add venue".to_owned(),
        groups: vec![Group::new("", inputs(&fresh, events))],
        ..Form::default()
    };
    if let Some(failure) = failure {
        form.reject(&request.form, failure);
    }
    engine::form_page(request, "Add venue", Area::Venues, form)
}

pub(super) async fn new(hub: Arc<Hub>, request: RequestContext) -> Result<Response> {
    form(&hub, None, &request).await
}

pub(super) async fn add(hub: Arc<Hub>, request: RequestContext) -> Result<Response> {
    let (name, event) = (
        request.form.text("name").to_owned(),
        request.form.number("event")?,
    );
    let is_configured = request.form.ticked("configured");
    let added = hub.store.write(move |sql| {
        let id = venues::add(sql, &name, event, Timestamp::now())?;
        venues::change(sql, id, &name, event, is_configured)?;
        Ok((id, name))
    });
    match added.await {
        Ok((id, name)) => {
            note(&request, "create", id, json!({"name": name})).await?;
            super::venue::show_code(&hub, &request, id).await
        }
        Err(cause) if is_theirs(&cause) => form(&hub, Some(&cause), &request).await,
        Err(cause) => Err(cause),
    }
}

#[derive(Template)]
#[template(path = "hub/attendees.html")]
struct Attendees {
    layout: Layout,
    list: List,
    people: Vec<Person>,
    is_asked: bool,
}

pub(super) async fn find(hub: Arc<Hub>, request: RequestContext) -> Result<Response> {
    let input = Input::line("search", "q", "Name, ticket or e-mail");
    let mut list = List::new(&request, vec![input], "from");
    let asked = request.query.filled("q").map(ToOwned::to_owned);
    let is_asked = asked.is_some();
    let mut people = Vec::new();
    if let Some(asked) = asked {
        people = hub.store.read(move |sql| people::find(sql, &asked)).await?;
    }
    if people.len() > people::FOUND_MAX {
        people.truncate(people::FOUND_MAX);
        list.failure = Some(format!(
            "Only the first {} are shown. Type more of the name.",
            people::FOUND_MAX
        ));
    }
    answer::page(&Attendees {
        layout: request.layout("Attendees of all venues", Some(Area::Venues)),
        list,
        people,
        is_asked,
    })
}
