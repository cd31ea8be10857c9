//! Attendees who are likely to be one person, to be compared and merged.

use crate::admin::prelude::*;
use crate::domain::delegates::duplicates::{Group as Doubles, find, tell_apart};

pub(super) const PAGE: &str = "/console/delegates/duplicates";

/// Groups that the page shows.
const SHOWN_MAX: usize = 100;

#[derive(Template)]
#[template(path = "delegates/doubles.html")]
struct Page {
    layout: Layout,
    groups: Vec<Doubles>,
    count: i64,
    batch: Option<i64>,
}

pub(super) async fn show(request: RequestContext) -> Result<Response> {
    let batch = request.query.number("batch")?;
    let read = move |connection: &Connection, layout| {
        let (groups, count) = find(connection, batch, SHOWN_MAX)?;
        Ok(Page {
            layout,
            groups,
            count: i64::try_from(count).unwrap_or(i64::MAX),
            batch,
        })
    };
    request.page("Duplicates", Area::Delegates, read).await
}

/// Remembers that the attendees of a group are different people.
pub(super) async fn apart(request: RequestContext) -> Result<Response> {
    let ids = request.form.all("id").map(|id| {
        let id = crate::types::text::whole(id);
        id.map_err(|fault| Error::field("id", fault))
    });
    let ids: Vec<i64> = ids.collect::<Result<_>>()?;
    request
        .write(move |tx, ctx| tell_apart(tx, ctx, &ids))
        .await?;
    let page = match request.form.number("batch")? {
        Some(batch) => format!("{PAGE}?batch={batch}"),
        None => PAGE.to_owned(),
    };
    request.done("Remembered: they are not shown as duplicates again.", &page)
}
