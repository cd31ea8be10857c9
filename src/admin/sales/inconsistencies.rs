//! Inconsistencies of purchases, which are settled with a note.

use super::{
    amount,
    list::{from, shown},
    receipt,
};
use crate::admin::prelude::*;
use crate::domain::sales::inconsistencies::{
    self, Line, Purchase, find_open, find_settled, waiting,
};

const OPEN: &str = "/console/sales/inconsistencies";
pub const NOTE_MAX_CHARS: usize = inconsistencies::NOTE_MAX_CHARS;

#[derive(Template)]
#[template(path = "sales/open.html")]
struct OpenPage {
    layout: Layout,
    purchases: Vec<Purchase>,
    waiting: i64,
    list: List,
}

pub(super) async fn open(request: RequestContext) -> Result<Response> {
    let from = request.query.number("from").ok().flatten();
    let mut list = List::new(&request, Vec::new(), "from");
    let read = move |connection: &Connection, layout| {
        let (purchases, next) = find_open(connection, from.unwrap_or(i64::MAX))?;
        list.next = next.map(|next| next.to_string());
        Ok(OpenPage {
            layout,
            list,
            purchases,
            waiting: waiting(connection)?,
        })
    };
    request.page("Inconsistencies", Area::Sales, read).await
}

#[derive(Template)]
#[template(path = "sales/settled.html")]
struct SettledPage {
    layout: Layout,
    lines: Vec<Line>,
    waiting: i64,
    list: List,
}

pub(super) async fn settled(request: RequestContext) -> Result<Response> {
    let from = from(&request).unwrap_or((i64::MAX, i64::MAX));
    let mut list = List::new(&request, Vec::new(), "from");
    let read = move |connection: &Connection, layout| {
        let (lines, next) = find_settled(connection, from)?;
        list.next = next.map(shown);
        Ok(SettledPage {
            layout,
            list,
            lines,
            waiting: waiting(connection)?,
        })
    };
    let title = "Settled inconsistencies";
    request.page(title, Area::Sales, read).await
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
    let of_receipt = request.form.text("back") == "receipt";
    match done {
        Ok(count) => {
            let message = tx("sales-inconsistencies-settled").with("count", count);
            let receipt = format!("/console/sales/{purchase}#inconsistencies");
            request.done(
                message.to_string(),
                if of_receipt { &receipt } else { OPEN },
            )
        }
        Err(cause) if of_receipt => request.failed(cause, receipt::show).await,
        Err(cause) => request.failed(cause, open).await,
    }
}

pub(super) fn reopen(tx: &Tx<'_>, ctx: &Context, action: &Action) -> Result<Done> {
    let purchase = inconsistencies::reopen(tx, ctx, action.id)?;
    let path = format!("/console/sales/{purchase}#inconsistencies");
    Ok(Done::new("Inconsistency reopened.", path))
}
