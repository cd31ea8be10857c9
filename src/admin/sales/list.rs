//! The purchases, the newest first, and what those that are asked for come to.

use super::{amount, filter::Filter, money};
use crate::{
    admin::{Area, Layout, RequestContext, answer},
    domain::sales::{
        find::{self, Choices, Line, Place},
        inconsistencies,
        sums::Whole,
    },
    types::error::Result,
};
use askama::Template;
use poem::Response;

#[derive(Template)]
#[template(path = "sales/list.html")]
struct Page {
    layout: Layout,
    filter: Filter,
    failure: Option<String>,
    choices: Choices,
    lines: Vec<Line>,
    whole: Whole,
    waiting: i64,
    next: Option<String>,
    newest: bool,
    /// There is no purchase at all.
    nothing: bool,
}

/// Where a page is asked to begin.
pub(super) fn from(text: Option<&str>) -> Option<Place> {
    let (at, id) = text?.split_once('.')?;
    Some((at.parse().ok()?, id.parse().ok()?))
}

pub(super) async fn show(request: RequestContext) -> Result<Response> {
    let zone = request.console.settings().zone.clone();
    let (filter, failure) = Filter::read(&request.query, &zone);
    let from = from(request.query.filled("from"));
    let asked = filter.purchases();
    let (found, choices, whole, waiting, nothing) = request
        .read(move |connection| {
            Ok((
                find::find(connection, &asked, from)?,
                Choices::read(connection)?,
                Whole::read(connection, &asked.conditions())?,
                inconsistencies::waiting(connection)?,
                !find::is_any(connection)?,
            ))
        })
        .await?;
    let (lines, next) = found;
    let page = Page {
        layout: request.layout("Sales", Some(Area::Sales)),
        next: next.map(|(at, id)| filter.with("from", &format!("{at}.{id}"))),
        newest: from.is_none(),
        filter,
        failure,
        choices,
        lines,
        whole,
        waiting,
        nothing,
    };
    if page.failure.is_some() {
        answer::form_again(&page)
    } else {
        answer::page(&page)
    }
}
