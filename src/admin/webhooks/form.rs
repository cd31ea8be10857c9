//! What a webhook is, in a form.

use super::{layout, place, show_secret};
use crate::{
    admin::{
        Layout, RequestContext, Route, answer,
        form::{MEANWHILE, is_theirs},
        route,
    },
    domain::{
        interactions::USUAL_TYPES,
        webhooks::{CHANGES, NewWebhook, store},
    },
    types::{Timestamp, error::Result},
};
use askama::Template;
use poem::Response;
use rusqlite::Connection;
use std::collections::BTreeSet;

/// Devices that are offered; others by their code.
const DEVICES: i64 = 300;

pub(super) fn routes() -> Vec<Route> {
    let only = route::ADMINISTRATOR;
    vec![
        Route::get("/console/webhooks/new", only, blank),
        Route::post("/console/webhooks/new", only, make),
        Route::get("/console/webhooks/:id/edit", only, edit),
        Route::post("/console/webhooks/:id/edit", only, save),
    ]
}

#[derive(Template)]
#[template(path = "webhooks/form.html")]
struct Page {
    layout: Layout,
    failure: Option<String>,
    action: String,
    /// Where "Cancel" leads.
    back: String,
    new: bool,
    /// The state that the form was begun on.
    seen: i64,
    is: NewWebhook,
    /// Types that are none of the known ones.
    others: String,
    groups: Vec<Group>,
    devices: Vec<Offer>,
    /// Codes that are none of the offered ones.
    codes: String,
}

/// The changes of one kind of record.
struct Group {
    name: &'static str,
    changes: Vec<(&'static str, &'static str, bool)>,
}

/// A device to choose.
struct Offer {
    code: String,
    name: String,
    kind: String,
    on: bool,
}

impl Page {
    async fn read(
        request: &RequestContext,
        id: Option<i64>,
        is: NewWebhook,
        seen: i64,
    ) -> Result<Self> {
        let chosen = is.devices.clone().unwrap_or_default();
        let devices = request
            .console
            .store
            .read(move |connection| offers(connection, &chosen))
            .await?;
        let offered = |code: &String| devices.iter().any(|offer| offer.code == *code);
        let codes = is.devices.iter().flatten().filter(|code| !offered(code));
        let codes = codes.cloned().collect::<Vec<_>>().join("\n");
        let known = |kind: &&String| kind.as_str() != "*" && !USUAL_TYPES.contains(&kind.as_str());
        let others = is.interactions.iter().filter(known).cloned();
        let others = others.collect::<Vec<_>>().join(", ");
        let title = if id.is_some() {
            &is.name
        } else {
            "New webhook"
        };
        Ok(Self {
            layout: layout(request, title),
            failure: None,
            action: id.map_or("/console/webhooks/new".to_owned(), |id| {
                format!("{}/edit", place(id))
            }),
            back: id.map_or("/console/webhooks".to_owned(), place),
            new: id.is_none(),
            seen,
            others,
            groups: groups(&is),
            devices,
            codes,
            is,
        })
    }

    fn kinds(&self) -> impl Iterator<Item = (&'static str, bool)> {
        USUAL_TYPES
            .iter()
            .map(|kind| (*kind, self.is.interactions.contains(*kind)))
    }

    /// Which interactions: `all`, `some` or `none`.
    fn which(&self) -> &'static str {
        if self.is.interactions.contains("*") {
            "all"
        } else if self.is.interactions.is_empty() {
            "none"
        } else {
            "some"
        }
    }
}

fn groups(is: &NewWebhook) -> Vec<Group> {
    const NAMES: [(&str, &str); 6] = [
        ("delegate", "People"),
        ("device", "Rooms, sessions, gates and products"),
        ("event", "Events"),
        ("interaction", "Interactions"),
        ("import", "Imports"),
        ("rehearsal", "The rehearsal"),
    ];
    let of = |(of, name): &(&str, &'static str)| Group {
        name,
        changes: CHANGES
            .iter()
            .filter(|change| change.name.split('.').next() == Some(of))
            .map(|change| (change.name, change.about, is.wants_change(change.name)))
            .collect(),
    };
    NAMES.iter().map(of).collect()
}

fn offers(connection: &Connection, chosen: &BTreeSet<String>) -> Result<Vec<Offer>> {
    let mut statement = connection.prepare_cached(
        "SELECT code, coalesce(name, code), coalesce(device_type, '') FROM devices
         WHERE deleted_at IS NULL ORDER BY device_type IS NOT 'event', device_type, name, id LIMIT ?1",
    )?;
    let offers = statement.query_map([DEVICES], |row| {
        let code: String = row.get(0)?;
        Ok(Offer {
            on: chosen.contains(&code),
            code,
            name: row.get(1)?,
            kind: row.get(2)?,
        })
    })?;
    Ok(offers.collect::<rusqlite::Result<_>>()?)
}

/// What the form asks for.
fn typed(request: &RequestContext) -> NewWebhook {
    let form = &request.form;
    let split = |name: &str| -> Vec<String> {
        let parts = form.text(name).split([',', '\n', '\r']).map(str::trim);
        parts
            .filter(|part| !part.is_empty())
            .map(ToOwned::to_owned)
            .collect()
    };
    let ticked = |name: &str| form.all(name).map(ToOwned::to_owned).collect::<Vec<_>>();
    let interactions = match form.text("which") {
        "all" => BTreeSet::from(["*".to_owned()]),
        "some" => ticked("kind").into_iter().chain(split("others")).collect(),
        _ => BTreeSet::new(),
    };
    let devices = (form.text("where") == "some")
        .then(|| ticked("device").into_iter().chain(split("codes")).collect());
    NewWebhook {
        name: form.text("name").to_owned(),
        url: form.text("url").to_owned(),
        interactions,
        changes: ticked("change").into_iter().collect(),
        devices,
    }
}

async fn blank(request: RequestContext) -> Result<Response> {
    let usual = NewWebhook {
        interactions: BTreeSet::from(["check-in".to_owned()]),
        ..NewWebhook::default()
    };
    answer::page(&Page::read(&request, None, usual, 0).await?)
}

async fn make(request: RequestContext) -> Result<Response> {
    let new = typed(&request);
    let (ctx, wanted) = (request.context(), new.clone());
    let made = request
        .console
        .store
        .write(move |tx| store::create(tx, &ctx, &wanted, None))
        .await;
    match made {
        Ok((id, secret)) => show_secret(&request, id, new.name, new.url, secret),
        Err(error) if is_theirs(&error) => {
            let mut page = Page::read(&request, None, new, 0).await?;
            page.failure = Some(answer::sentence(&error.message));
            answer::form_again(&page)
        }
        Err(error) => Err(error),
    }
}

async fn edit(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let webhook = request
        .console
        .store
        .look_up(|connection| store::get(connection, id))?;
    let seen = webhook.updated_at.0;
    answer::page(&Page::read(&request, Some(id), webhook.is, seen).await?)
}

async fn save(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let (ctx, new) = (request.context(), typed(&request));
    let seen = Timestamp(request.form.number("seen")?.unwrap_or_default());
    let wanted = new.clone();
    let outcome = request
        .console
        .store
        .write(move |tx| {
            let there = store::get(tx, id)?;
            if there.updated_at != seen {
                return Ok(Some(there));
            }
            store::change(tx, &ctx, id, &wanted)?;
            Ok(None)
        })
        .await;
    let (is, seen, failure) = match outcome {
        Ok(None) => {
            request.flash(format!("{} saved.", new.name));
            return Ok(answer::go(&place(id)));
        }
        Ok(Some(there)) => (there.is, there.updated_at, MEANWHILE.to_owned()),
        Err(error) if is_theirs(&error) => (new, seen, answer::sentence(&error.message)),
        Err(error) => return Err(error),
    };
    let mut page = Page::read(&request, Some(id), is, seen.0).await?;
    page.failure = Some(failure);
    answer::form_again(&page)
}
