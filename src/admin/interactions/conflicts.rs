//! Conflicts: check-ins that a gate admitted and the rules would have refused.

use crate::{
    admin::{Area, Layout, RequestContext, answer},
    domain::interactions::log::{Conflict, conflicts},
    types::error::Result,
};
use askama::Template;
use poem::Response;

/// Conflicts on a page.
const PAGE: usize = 50;

#[derive(Template)]
#[template(path = "interactions/conflicts.html")]
struct Page {
    layout: Layout,
    conflicts: Vec<Conflict>,
    next: Option<i64>,
    newest: bool,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "templates pass references"
)]
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
    let (conflicts, next) = request
        .read(move |connection| conflicts(connection, from, PAGE))
        .await?;
    answer::page(&Page {
        layout: request.layout("Conflicts", Some(Area::Interactions)),
        conflicts,
        next,
        newest: from.is_none(),
    })
}
