//! The list of purchases.

use super::{amount, filter::Filter, money};
use crate::{
    admin::{Area, Layout, RequestContext, answer, engine::Input, export as file},
    domain::sales::{
        find::{self, Choices, Line, Place},
        inconsistencies,
        sums::Whole,
    },
    ops::export::{What, Which},
    types::error::{Error, Result},
};
use askama::Template;
use poem::Response;

#[derive(Template)]
#[template(path = "sales/list.html")]
struct Page {
    layout: Layout,
    filter: Filter,
    inputs: Vec<Input>,
    lines: Vec<Line>,
    whole: Whole,
    waiting: i64,
    /// The query of the next page.
    next: Option<String>,
    newest: bool,
    /// There are no purchases at all.
    nothing: bool,
}

/// Where a page begins: the time and the id of a purchase.
pub(super) fn from(text: Option<&str>) -> Option<Place> {
    let (at, id) = text?.split_once('.')?;
    Some((at.parse().ok()?, id.parse().ok()?))
}

pub(super) async fn show(request: RequestContext) -> Result<Response> {
    let filter = Filter::read(&request.query, &request.console.settings().zone);
    let from = from(request.query.filled("from"));
    let layout = request.layout("Sales", Some(Area::Sales));
    let page = request
        .read(move |connection| {
            let (lines, next) = find::find(connection, &filter.wanted, from)?;
            let next = next.map(|(at, id)| filter.typed.with("from", &format!("{at}.{id}")));
            Ok(Page {
                layout,
                lines,
                next,
                newest: from.is_none(),
                inputs: filter.inputs(&Choices::read(connection)?),
                whole: Whole::read(connection, &filter.wanted.conditions())?,
                waiting: inconsistencies::waiting(connection)?,
                nothing: !find::is_any(connection)?,
                filter,
            })
        })
        .await?;
    answer::form_page(page.filter.failure.is_some(), &page)
}

pub(super) async fn export(request: RequestContext) -> Result<Response> {
    let format = file::format(request.query.text("format"))?;
    let zone = request.console.settings().zone.clone();
    let filter = Filter::read(&request.query, &zone);
    if let Some(failure) = filter.failure {
        return Err(Error::invalid(failure));
    }
    let which = if filter.typed.is_empty() {
        Which::All
    } else {
        let found = request
            .read(move |connection| find::ids(connection, &filter.wanted))
            .await?;
        Which::Ids(found)
    };
    let app = request.console.app();
    Ok(file::sent(app, What::Transactions, which, zone, format))
}
