//! The list: searched as one types, filtered, paged by id.
//!
//! - `filters`: what is looked for; `found`: finding it

mod filters;
mod found;

pub(super) use crate::domain::delegates::types;
pub(super) use filters::Filters;
pub(super) use found::missing;

use super::super::{Area, Layout, RequestContext, Route, answer, route};
use crate::{
    domain::{delegates::overview::holder, interactions::inside::places},
    types::error::{Kind, Result},
};
use askama::Template;
use filters::{EXAMPLES, Example};
use found::{Found, look, part};
use poem::Response;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/console/delegates", route::VIEWER, show),
        Route::get("/console/delegates/count", route::VIEWER, count),
    ]
}

#[derive(Template)]
#[template(path = "delegates/list.html")]
struct Page {
    layout: Layout,
    filters: Filters,
    types: Vec<String>,
    devices: Vec<(i64, String)>,
    examples: &'static [Example],
    found: Found,
}

#[derive(Template)]
#[template(path = "delegates/found.html")]
struct FoundPart<'a> {
    layout: &'a Layout,
    filters: &'a Filters,
    found: &'a Found,
}

async fn show(request: RequestContext) -> Result<Response> {
    let filters = Filters::read(&request.query);
    // A scanner types the code and presses Enter, which is the button: straight to the person.
    if request.query.ticked("go")
        && let Some(holder) = request.look_up(|connection| holder(connection, &filters.q))?
    {
        return Ok(answer::go(&format!("/console/delegates/{}", holder.id)));
    }
    let zone = request.console.settings().zone.clone();
    let part = part(&request.query)?;
    let is_part = request.is_part();
    let asked = filters.clone();
    let outcome = request
        .read(move |connection| {
            let found = match look(connection, &asked, &zone, part) {
                Err(cause) if matches!(cause.kind, Kind::InvalidSearch | Kind::Unavailable) => {
                    Found {
                        // As it is: it begins with a path in the expression.
                        fault: Some(cause.message),
                        ..Found::default()
                    }
                }
                outcome => outcome?,
            };
            let (types, devices) = if is_part {
                (Vec::new(), Vec::new())
            } else {
                (types(connection)?, places(connection)?)
            };
            Ok((found, types, devices))
        })
        .await?;
    let (found, types, devices) = outcome;
    let layout = request.layout("Attendees", Some(Area::Delegates));
    let faulty = found.fault.is_some();
    if is_part {
        let part = FoundPart {
            layout: &layout,
            filters: &filters,
            found: &found,
        };
        return if faulty {
            answer::form_again(&part)
        } else {
            answer::page(&part)
        };
    }
    let page = Page {
        layout,
        filters,
        types,
        devices,
        examples: &EXAMPLES,
        found,
    };
    if faulty {
        answer::form_again(&page)
    } else {
        answer::page(&page)
    }
}

/// Counts all that is found, however many.
async fn count(request: RequestContext) -> Result<Response> {
    let filters = Filters::read(&request.query);
    let (asked, zone) = (filters.clone(), request.console.settings().zone.clone());
    let count = request
        .read(move |connection| {
            let search = asked.search(connection, &zone)?;
            search.count(connection, u64::MAX >> 1)
        })
        .await?;
    let count = crate::admin::layout::number(i64::try_from(count).unwrap_or(i64::MAX));
    if request.is_part() {
        return Ok(Response::builder()
            .content_type("text/plain; charset=utf-8")
            .body(count));
    }
    request.done(
        format!("{count} delegates are found."),
        &format!("/console/delegates?{}", filters.query()),
    )
}
