//! A venue: how it is, what it is sent, its pairing code, what it lost and which values it kept.

use super::{HERE, note, venues::inputs};
use crate::{
    admin::prelude::*,
    hub::{
        Hub, lost,
        venues::{self, KeptValue, Venue},
    },
};
use poem::http::header;
use serde_json::json;
use std::sync::Arc;

/// Kept values that a page shows.
const KEPT: i64 = 200;

#[derive(Template)]
#[template(path = "hub/venue.html")]
struct Page {
    layout: Layout,
    venue: Venue,
    form: Form,
    lost: Vec<(String, i64, i64)>,
    kept: Vec<KeptValue>,
    now: Timestamp,
}

impl Page {
    fn lost_interactions(&self) -> i64 {
        let own = self
            .lost
            .iter()
            .find(|(record_type, ..)| record_type == "interaction");
        own.map_or(0, |(_, count, sent)| count - sent)
    }

    fn is_lost(&self) -> bool {
        !self.lost.is_empty()
    }

    /// Records of a type, in words.
    fn named(record_type: &str, count: &i64) -> String {
        let one = match record_type {
            "delegate" => "attendee",
            "device" => "place",
            "transaction" => "purchase",
            "blocked-code" => "blocked code",
            other => other,
        };
        let s = if *count == 1 { "" } else { "s" };
        format!("{} {one}{s}", crate::admin::layout::number(*count))
    }
}

async fn page(hub: &Hub, request: &RequestContext, failure: Option<&Error>) -> Result<Response> {
    let id = request.id("id")?;
    let read = move |sql: &mut dyn crate::hub::store::Sql| {
        let venue = Venue::find(sql, id)?;
        if id == venues::OFFICE {
            return Err(Error::new(Kind::NoSuchPath, "there is no such venue"));
        }
        let events = venues::events(sql)?;
        Ok((
            venue,
            events,
            lost::counts(sql, id)?,
            venues::kept(sql, id, KEPT)?,
        ))
    };
    let (venue, events, lost, kept) = hub.store.read(read).await?;
    let mut form = Form {
        action: format!("{HERE}/{id}/edit"),
        submit: "Save".to_owned(),
        groups: vec![Group::new("Settings", inputs(&venue, events))],
        ..Form::default()
    };
    if let Some(failure) = failure {
        form.reject(&request.form, failure);
    }
    answer::form_page(
        failure.is_some(),
        &Page {
            layout: request.layout(&venue.name, Some(Area::Venues)),
            venue,
            form,
            lost,
            kept,
            now: Timestamp::now(),
        },
    )
}

pub(super) async fn show(hub: Arc<Hub>, request: RequestContext) -> Result<Response> {
    page(&hub, &request, None).await
}

pub(super) async fn edit(hub: Arc<Hub>, request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let (name, event) = (
        request.form.text("name").to_owned(),
        request.form.number("event")?,
    );
    let is_configured = request.form.ticked("configured");
    let after = json!({"name": name, "event": event, "configured": is_configured});
    let changed = hub
        .store
        .write(move |sql| venues::change(sql, id, &name, event, is_configured));
    match changed.await {
        Ok(()) => {
            note(&request, "update", id, after).await?;
            hub.wake();
            request.done("Venue saved.", &format!("{HERE}/{id}"))
        }
        Err(cause) if is_theirs(&cause) => page(&hub, &request, Some(&cause)).await,
        Err(cause) => Err(cause),
    }
}

#[derive(Template)]
#[template(path = "hub/code.html")]
struct Code {
    layout: Layout,
    venue: Venue,
    code: String,
    command: String,
    picture: String,
}

/// A page with a new code, which no other page shows.
pub(super) async fn show_code(hub: &Hub, request: &RequestContext, id: i64) -> Result<Response> {
    let make = move |sql: &mut dyn crate::hub::store::Sql| {
        let venue = Venue::find(sql, id)?;
        Ok((venues::make_code(sql, id, Timestamp::now())?, venue))
    };
    let (code, venue) = hub.store.write(make).await?;
    let own = || {
        let scheme = if request.console.reach.tls {
            "https"
        } else {
            "http"
        };
        format!(
            "{scheme}://{}",
            request.header(header::HOST.as_str()).unwrap_or_default()
        )
    };
    let address = hub.app.public_url().unwrap_or_else(own);
    let command = format!(
        "gatepost head-office join {} {code}",
        address.trim_end_matches('/')
    );
    answer::page(&Code {
        layout: request.layout(&format!("Pair {}", venue.name), Some(Area::Venues)),
        picture: answer::qr_data(&command)?,
        venue,
        code,
        command,
    })
}

pub(super) async fn code(hub: Arc<Hub>, request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    note(&request, "update", id, json!({"code": "made"})).await?;
    show_code(&hub, &request, id).await
}

pub(super) async fn revoke(hub: Arc<Hub>, request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    hub.store
        .write(move |sql| venues::revoke(sql, id, Timestamp::now()))
        .await?;
    note(&request, "revoke", id, json!({})).await?;
    hub.wake();
    request.done(
        "Venue revoked. Its key works no more; what it pushed stays.",
        &format!("{HERE}/{id}"),
    )
}

/// What a venue lost, as a file for `import changes`.
pub(super) async fn lost(hub: Arc<Hub>, request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let read = move |sql: &mut dyn crate::hub::store::Sql| {
        let venue = Venue::find(sql, id)?;
        lost::download(sql, &venue)
    };
    let lines = hub.store.read(read).await?;
    Ok(answer::download(
        "lost-changes.ndjson",
        "application/x-ndjson",
        lines,
    ))
}

pub(super) async fn send_back(hub: Arc<Hub>, request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let count = hub.store.write(move |sql| lost::send_back(sql, id)).await?;
    note(&request, "update", id, json!({"sentBack": count})).await?;
    hub.wake();
    request.done(
        format!("{count} interactions are on their way back. The venue takes them as soon as it is connected."),
        &format!("{HERE}/{id}"),
    )
}

pub(super) async fn drop_lost(hub: Arc<Hub>, request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let count = hub.store.write(move |sql| lost::drop_all(sql, id)).await?;
    note(&request, "update", id, json!({"dropped": count})).await?;
    request.done(
        format!("{count} lost records dropped."),
        &format!("{HERE}/{id}"),
    )
}
