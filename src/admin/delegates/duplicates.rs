//! Attendees who are likely to be one person, to be compared and merged.

use crate::admin::prelude::*;
use crate::domain::delegates::duplicates::{Group as Doubles, find};

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
