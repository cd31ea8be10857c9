//! Conflicts: check-ins that a gate admitted and the rules would have refused.

use crate::admin::prelude::*;
use crate::domain::interactions::log::{Counts, Entry, conflicts};

/// Conflicts on a page.
const PAGE: usize = 50;

#[derive(Template)]
#[template(path = "interactions/conflicts.html")]
struct Page {
    layout: Layout,
    list: List,
    entries: Vec<Entry>,
    counts: Counts,
}

pub(super) async fn list(request: RequestContext) -> Result<Response> {
    let from = request.query.number("from")?;
    let mut list = List::new(&request, Vec::new(), "from");
    let (ctx, caller) = (request.context(), request.caller()?);
    let read = move |connection: &Connection, layout| {
        let (lines, next) = conflicts(connection, from, PAGE)?;
        list.next = next.map(|next| next.to_string());
        let mut entries: Vec<_> = lines.into_iter().map(Entry::One).collect();
        super::activity::offer_undo(&mut entries, caller);
        Ok(Page {
            layout,
            list,
            entries,
            counts: super::activity::counts(connection, &ctx)?,
        })
    };
    request.page("Conflicts", Area::Interactions, read).await
}
