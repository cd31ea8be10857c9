//! The list of purchases.

use super::{amount, behind, currency, filter, money};
use crate::{
    admin::{export as file, prelude::*},
    domain::sales::{
        find::{self, Line, Place, PurchaseFilter},
        inconsistencies,
        sums::Whole,
    },
    ops::export::{What, Which},
};

#[derive(Template)]
#[template(path = "sales/list.html")]
struct Page {
    layout: Layout,
    list: List,
    lines: Vec<Line>,
    whole: Whole,
    waiting: i64,
    currency: String,
    /// There are no purchases at all.
    nothing: bool,
}

/// Reads where a page begins: the time and the id of a purchase.
pub(super) fn from(request: &RequestContext) -> Option<Place> {
    let (at, id) = request.query.text("from").split_once('.')?;
    Some((at.parse().ok()?, id.parse().ok()?))
}

pub(super) fn shown((at, id): Place) -> String {
    format!("{at}.{id}")
}

pub(super) async fn show(request: RequestContext) -> Result<Response> {
    let (wanted, failure) = filter::wanted(&request);
    let from = from(&request);
    let mut list = filter::list(&request).await?;
    list.failure = failure;
    let layout = request.layout("Sales", Some(Area::Sales));
    let currency = currency(&request);
    let read = move |connection: &Connection| {
        let (lines, next) = find::find(connection, &wanted, from)?;
        list.next = next.map(shown);
        Ok(Page {
            layout,
            list,
            lines,
            currency,
            whole: Whole::read(connection, &wanted.conditions())?,
            waiting: inconsistencies::waiting(connection)?,
            nothing: !find::is_any(connection)?,
        })
    };
    let page = request.read(read).await?;
    answer::form_page(page.list.failure.is_some(), &page)
}

pub(super) async fn export(request: RequestContext) -> Result<Response> {
    let format = file::format(request.query.text("format"))?;
    let (wanted, failure) = filter::wanted(&request);
    if let Some(failure) = failure {
        return Err(Error::invalid(failure));
    }
    let which = if wanted == PurchaseFilter::default() {
        Which::All
    } else {
        Which::Ids(
            request
                .read(move |connection| find::ids(connection, &wanted))
                .await?,
        )
    };
    let zone = request.console.settings().zone.clone();
    let app = request.console.app();
    Ok(file::sent(app, What::Transactions, which, zone, format))
}
