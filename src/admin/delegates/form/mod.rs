//! Making and changing a record. A change carries the time of what it is a change of, and how that
//! was: when somebody else was faster, nothing is written, and the second is shown what is there now
//! where they changed nothing, and told where they did.
//!
//! - `draft`: what stands in the form; `meanwhile`: two who changed one record

mod draft;
mod meanwhile;

use super::{
    super::{Area, Layout, RequestContext, Route, answer, route},
    label, list,
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
    updated_at: i64,
    draft: Draft,
    types: Vec<String>,
    failure: Option<String>,
    /// What somebody else wrote meanwhile: the property, what is there now.
    meanwhile: Vec<(String, String)>,
    /// How the record was when the form was opened.
    seen: String,
}

impl Page {
    fn new(request: &RequestContext, id: Option<i64>, draft: Draft) -> Result<Self> {
        let (name, types) = request.console.store.look_up(|connection| {
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
            updated_at: 0,
            draft,
            types,
            failure: None,
            meanwhile: Vec::new(),
            seen: String::new(),
        };
        let spare = std::iter::repeat_n(Detail::default(), SPARE_LINES);
        page.draft.details.extend(spare);
        Ok(page)
    }

    /// The form for the second of two: what they touched is theirs and marked, the rest is as it is
    /// now.
    fn stale(
        request: &RequestContext,
        id: i64,
        typed: Draft,
        now: &Draft,
        updated_at: i64,
    ) -> Result<Self> {
        let recalled = meanwhile::recalled(request.form.text("seen"), &typed);
        let (draft, meanwhile) = if let Some(seen) = recalled {
            (
                meanwhile::merged(&seen, &typed, now),
                meanwhile::differing(&seen, now),
            )
        } else {
            let differing = meanwhile::differing(&typed, now);
            (typed, differing)
        };
        let mut page = Self::new(request, Some(id), draft)?;
        page.updated_at = updated_at;
        page.seen = meanwhile::remembered(now);
        page.meanwhile = meanwhile;
        page.failure = Some(
            "Somebody else changed this record while you did; nothing of yours is saved yet. The form \
             shows what is there now, and what you changed, which is marked. Save again what is to stay."
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
    let (ctx, typed) = (request.context(), draft.clone());
    let done = request
        .console
        .store
        .write_prepared(move |tx| {
            let body = typed.changes(tx, &Map::new())?;
            if body.is_empty() {
                return Err(Error::invalid("enter a name or a code at least"));
            }
            write::create(tx, &ctx, &RESOURCE, body)
        })
        .await;
    match done {
        Ok(id) => {
            request.flash("Attendee added.");
            Ok(answer::go(&format!("/console/delegates/{id}")))
        }
        Err(cause) => again(&request, None, draft, cause, 0),
    }
}

async fn edit(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let zone = request.console.settings().zone.clone();
    let (current, updated_at) = request
        .console
        .store
        .look_up(|connection| stored(connection, id, &zone))?;
    let draft = Draft::of(&current);
    let seen = meanwhile::remembered(&draft);
    let mut page = Page::new(&request, Some(id), draft)?;
    page.updated_at = updated_at;
    page.seen = seen;
    answer::page(&page)
}

/// What became of a change.
enum Saved {
    Done,
    /// Somebody was faster: what is there now, and since when.
    Stale(Map<String, Value>, i64),
}

async fn save(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let draft = Draft::typed(&request.form);
    let seen = request.form.number("updated_at")?.unwrap_or_default();
    let (ctx, typed) = (request.context(), draft.clone());
    let done = request
        .console
        .store
        .write_prepared(move |tx| change(tx, &ctx, id, &typed, seen))
        .await;
    match done {
        Ok(Saved::Done) => {
            request.flash("Saved.");
            Ok(answer::go(&format!("/console/delegates/{id}")))
        }
        Ok(Saved::Stale(now, updated_at)) => {
            let page = Page::stale(&request, id, draft, &Draft::of(&now), updated_at)?;
            answer::form_again(&page)
        }
        Err(cause) => again(&request, Some(id), draft, cause, seen),
    }
}

fn change(
    tx: &Tx<'_>,
    ctx: &crate::core::Context,
    id: i64,
    typed: &Draft,
    seen: i64,
) -> Result<Saved> {
    let (current, updated_at) = stored(tx, id, &ctx.settings.zone)?;
    if updated_at != seen {
        return Ok(Saved::Stale(current, updated_at));
    }
    let body = typed.changes(tx, &current)?;
    if !body.is_empty() {
        write::patch(tx, ctx, &RESOURCE, id, body)?;
    }
    Ok(Saved::Done)
}

fn stored(connection: &Connection, id: i64, zone: &Zone) -> Result<(Map<String, Value>, i64)> {
    let current = record(connection, DelegateId(id), zone)?;
    let updated_at = connection
        .prepare_cached("SELECT updated_at FROM delegates WHERE id = ?1")?
        .query_row([id], |row| row.get(0))?;
    Ok((current, updated_at))
}

/// The form with what was typed and what is wrong with it.
fn again(
    request: &RequestContext,
    id: Option<i64>,
    draft: Draft,
    cause: Error,
    updated_at: i64,
) -> Result<Response> {
    if !matches!(cause.kind, Kind::Invalid | Kind::CodeTaken) {
        return Err(cause);
    }
    let mut page = Page::new(request, id, draft)?;
    page.updated_at = updated_at;
    request.form.text("seen").clone_into(&mut page.seen);
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
