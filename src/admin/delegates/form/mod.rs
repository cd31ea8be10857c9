//! Making and changing a record. A change carries the version of the record that it is a change of: when
//! somebody else was faster, nothing is written, and the second is told who changed what.
//!
//! - `draft`: what stands in the form

mod draft;

use super::{
    super::{Area, Layout, RequestContext, Route, answer, audit::Change, route},
    label, list,
    record::changes_of,
};
use crate::{
    core::records::write,
    db::Tx,
    domain::delegates::{RESOURCE, merge::record},
    types::{
        DelegateId, Zone,
        error::{Error, Kind, Result},
    },
};
use askama::Template;
use draft::{Detail, Draft, FLAGS};
use poem::Response;
use rusqlite::Connection;
use serde_json::{Map, Value};

/// Empty lines for more details.
const SPARE_LINES: usize = 3;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/console/delegates/new", route::OPERATOR, blank),
        Route::post("/console/delegates/new", route::OPERATOR, create),
        Route::get("/console/delegates/:id/edit", route::OPERATOR, edit),
        Route::post("/console/delegates/:id/edit", route::OPERATOR, save),
    ]
}

#[derive(Template)]
#[template(path = "delegates/form.html")]
struct Page {
    layout: Layout,
    /// The record; none for a new one.
    id: Option<i64>,
    version: i64,
    draft: Draft,
    types: Vec<String>,
    failure: Option<String>,
    /// What others changed since the form was opened.
    meanwhile: Vec<Change>,
}

impl Page {
    fn new(request: &RequestContext, id: Option<i64>, draft: Draft) -> Result<Self> {
        let (name, types) = request.look_up(|connection| {
            let name = match id {
                Some(id) => super::name_of(connection, id)?.ok_or_else(|| list::missing(id))?,
                None => String::new(),
            };
            Ok((name, list::types(connection)?))
        })?;
        let title = if id.is_some() {
            format!("Edit {name}")
        } else {
            "New delegate".to_owned()
        };
        let mut page = Self {
            layout: request.layout(&title, Some(Area::Delegates)),
            id,
            version: 0,
            draft,
            types,
            failure: None,
            meanwhile: Vec::new(),
        };
        let spare = std::iter::repeat_n(Detail::default(), SPARE_LINES);
        page.draft.details.extend(spare);
        Ok(page)
    }

    /// The form for the second of two, as they filled it in, with what others changed since.
    fn stale(
        request: &RequestContext,
        id: i64,
        typed: Draft,
        version: i64,
        now: i64,
    ) -> Result<Self> {
        let mut page = Self::new(request, Some(id), typed)?;
        page.version = now;
        let (changes, _) = request.look_up(|connection| changes_of(connection, id, None))?;
        let since = changes.into_iter().filter(|change| change.at.0 > version);
        page.meanwhile = since.collect();
        page.failure = Some(
            "Somebody else changed this record while you did. Nothing of yours is saved yet: the form has \
             what you entered. Take over what is to stay of their changes, and save again."
                .to_owned(),
        );
        Ok(page)
    }
}

async fn blank(request: RequestContext) -> Result<Response> {
    answer::page(&Page::new(&request, None, Draft::of(&Map::new()))?)
}

async fn create(request: RequestContext) -> Result<Response> {
    let draft = Draft::typed(&request.form);
    let typed = draft.clone();
    let done = request
        .write_prepared(move |tx, ctx| {
            let body = typed.changes(tx, &Map::new())?;
            if body.is_empty() {
                return Err(Error::invalid("enter a name or a code at least"));
            }
            write::create(tx, ctx, &RESOURCE, body)
        })
        .await;
    match done {
        Ok(id) => request.done("Attendee added.", &format!("/console/delegates/{id}")),
        Err(cause) => again(&request, None, draft, cause, 0),
    }
}

async fn edit(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let zone = request.console.settings().zone.clone();
    let (current, version) = request.look_up(|connection| stored(connection, id, &zone))?;
    let mut page = Page::new(&request, Some(id), Draft::of(&current))?;
    page.version = version;
    answer::page(&page)
}

/// What became of a change.
enum Saved {
    Done,
    /// Somebody was faster: the version that is there now.
    Stale(i64),
}

async fn save(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let draft = Draft::typed(&request.form);
    let version = request.form.number("version")?.unwrap_or_default();
    let typed = draft.clone();
    let done = request
        .write_prepared(move |tx, ctx| change(tx, ctx, id, &typed, version))
        .await;
    match done {
        Ok(Saved::Done) => request.done("Saved.", &format!("/console/delegates/{id}")),
        Ok(Saved::Stale(now)) => {
            answer::form_again(&Page::stale(&request, id, draft, version, now)?)
        }
        Err(cause) => again(&request, Some(id), draft, cause, version),
    }
}

fn change(
    tx: &Tx<'_>,
    ctx: &crate::core::Context,
    id: i64,
    typed: &Draft,
    version: i64,
) -> Result<Saved> {
    let (current, now) = stored(tx, id, &ctx.settings.zone)?;
    if now != version {
        return Ok(Saved::Stale(now));
    }
    let body = typed.changes(tx, &current)?;
    if !body.is_empty() {
        write::patch(tx, ctx, &RESOURCE, id, body)?;
    }
    Ok(Saved::Done)
}

fn stored(connection: &Connection, id: i64, zone: &Zone) -> Result<(Map<String, Value>, i64)> {
    let current = record(connection, DelegateId(id), zone)?;
    let version = write::updated_at(connection, &RESOURCE, id)?;
    Ok((current, version.ok_or_else(|| list::missing(id))?.0))
}

/// The form with what was typed and what is wrong with it.
fn again(
    request: &RequestContext,
    id: Option<i64>,
    draft: Draft,
    cause: Error,
    version: i64,
) -> Result<Response> {
    if !matches!(cause.kind, Kind::Invalid | Kind::CodeTaken) {
        return Err(cause);
    }
    let mut page = Page::new(request, id, draft)?;
    page.version = version;
    page.failure = Some(answer::sentence(&readable(&cause.message)));
    answer::form_again(&page)
}

/// A message with the property as the form calls it.
fn readable(message: &str) -> String {
    match message.split_once(": ") {
        Some((property, rest)) => format!("{}: {rest}", label(property)),
        None => message.to_owned(),
    }
}
