//! Conflicts: check-ins that a gate admitted and the rules would have refused.

use crate::admin::prelude::*;
use crate::domain::interactions::log::{Conflict, conflicts};

/// Conflicts on a page.
const PAGE: usize = 50;

#[derive(Template)]
#[template(path = "interactions/conflicts.html")]
struct Page {
    layout: Layout,
    list: List,
    conflicts: Vec<Conflict>,
}

fn meaning(code: &i64) -> String {
    super::refusals::CODES
        .iter()
        .find(|(known, _)| known == code)
        .map_or_else(
            || format!("code {code}"),
            |(_, meaning)| (*meaning).to_owned(),
        )
}

pub(super) async fn list(request: RequestContext) -> Result<Response> {
    let from = request.query.number("from")?;
    let mut list = List::new(&request, Vec::new(), "from");
    let read = move |connection: &Connection, layout| {
        let (conflicts, next) = conflicts(connection, from, PAGE)?;
        list.next = next.map(|next| next.to_string());
        Ok(Page {
            layout,
            list,
            conflicts,
        })
    };
    request.page("Conflicts", Area::Interactions, read).await
}
