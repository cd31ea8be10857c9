//! Inconsistencies of purchases, which are settled with a note.

use super::amount;
use crate::{
    admin::{Area, Layout, RequestContext, answer},
    domain::sales::inconsistencies::{self, Line, Purchase, find_open, find_settled, waiting},
    types::error::{Error, Kind, Result},
};
use askama::Template;
use poem::Response;

pub const NOTE_MAX_CHARS: usize = inconsistencies::NOTE_MAX_CHARS;

#[derive(Template)]
#[template(path = "sales/open.html")]
struct OpenPage {
    layout: Layout,
    purchases: Vec<Purchase>,
    waiting: i64,
    next: Option<i64>,
    newest: bool,
    failure: Option<String>,
}

pub(super) async fn open(request: RequestContext) -> Result<Response> {
    answer::page(&open_page(&request, None).await?)
}

async fn open_page(request: &RequestContext, failure: Option<String>) -> Result<OpenPage> {
    let from = request.query.number("from").ok().flatten();
    let (purchases, next, waiting) = request
        .read(move |connection| {
            let (purchases, next) = find_open(connection, from.unwrap_or(i64::MAX))?;
            Ok((purchases, next, waiting(connection)?))
        })
        .await?;
    Ok(OpenPage {
        layout: request.layout("Inconsistencies", Some(Area::Sales)),
        purchases,
        waiting,
        next,
        newest: from.is_none(),
        failure,
    })
}

#[derive(Template)]
#[template(path = "sales/settled.html")]
struct SettledPage {
    layout: Layout,
    lines: Vec<Line>,
    waiting: i64,
    next: Option<String>,
    newest: bool,
}

pub(super) async fn settled(request: RequestContext) -> Result<Response> {
    let from = super::list::from(request.query.filled("from"));
    let (lines, next, waiting) = request
        .read(move |connection| {
            let (lines, next) = find_settled(connection, from.unwrap_or((i64::MAX, i64::MAX)))?;
            Ok((lines, next, waiting(connection)?))
        })
        .await?;
    answer::page(&SettledPage {
        layout: request.layout("Settled inconsistencies", Some(Area::Sales)),
        lines,
        waiting,
        next: next.map(|(at, id)| format!("{at}.{id}")),
        newest: from.is_none(),
    })
}

/// Settles the chosen inconsistencies, and returns to the page of the form.
pub(super) async fn settle(request: RequestContext) -> Result<Response> {
    let purchase = request.id("id")?;
    let chosen: Vec<i64> = request
        .form
        .all("inconsistency")
        .filter_map(|id| id.parse().ok())
        .collect();
    let note = request.form.text("note").to_owned();
    let done = request
        .write(move |tx, ctx| inconsistencies::settle(tx, ctx, purchase, &chosen, &note))
        .await;
    let back = match request.form.text("back") {
        "receipt" => format!("/console/sales/{purchase}#inconsistencies"),
        _ => "/console/sales/inconsistencies".to_owned(),
    };
    match done {
        Ok(count) => request.done(
            match count {
                1 => "1 inconsistency settled.".to_owned(),
                count => format!("{count} inconsistencies settled."),
            },
            &back,
        ),
        Err(cause) if cause.kind == Kind::Invalid => again(&request, &cause).await,
        Err(cause) => Err(cause),
    }
}

/// The open inconsistencies, with what is wrong.
async fn again(request: &RequestContext, cause: &Error) -> Result<Response> {
    let failure = answer::sentence(&cause.message);
    answer::form_again(&open_page(request, Some(failure)).await?)
}

pub(super) async fn reopen(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let purchase = request
        .write(move |tx, ctx| inconsistencies::reopen(tx, ctx, id))
        .await?;
    request.done(
        "Inconsistency reopened.",
        &format!("/console/sales/{purchase}#inconsistencies"),
    )
}
