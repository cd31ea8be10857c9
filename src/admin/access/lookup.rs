//! Attendees and devices found by a text: for the fields of forms that name one.

use crate::admin::prelude::*;
use crate::{
    core::records::Brief,
    domain::{
        delegates::{self, People, people},
        devices,
    },
    types::text::fold,
};

/// The most choices offered.
const MOST: usize = 8;

pub(super) fn routes() -> Routes {
    Routes::access(ADMINISTRATOR)
        .get("/console/access/find/delegate", |request| {
            offer(request, "delegate", find_delegates)
        })
        .get("/console/access/find/device", |request| {
            offer(request, "device", find_devices)
        })
}

fn choice(brief: Brief) -> Choice {
    Choice::from((brief.id.to_string(), brief.name, brief.about))
}

/// The choice of a record that was chosen before; it may be deleted by now.
pub(super) fn delegate(connection: &Connection, id: i64) -> Result<Option<Choice>> {
    Ok(delegates::brief(connection, id)?.map(choice))
}

pub(super) fn device(connection: &Connection, id: i64) -> Result<Option<Choice>> {
    Ok(devices::brief(connection, id)?.map(choice))
}

pub(super) fn find_delegates(connection: &Connection, text: &str) -> Result<Vec<Choice>> {
    let found = people::find(connection, &People::new(text), MOST)?.ids;
    let found = found.into_iter().map(|id| delegate(connection, id));
    found.filter_map(Result::transpose).collect()
}

pub(super) fn find_devices(connection: &Connection, text: &str) -> Result<Vec<Choice>> {
    let found = devices::matching(connection, &fold(text), MOST)?;
    let found = found.into_iter().map(|found| device(connection, found.id));
    found.filter_map(Result::transpose).collect()
}

#[derive(Template)]
#[template(path = "access/found.html")]
struct Part {
    field: &'static str,
    found: Vec<Choice>,
}

#[derive(Template)]
#[template(path = "access/found_page.html")]
struct Page {
    layout: Layout,
    field: &'static str,
    found: Vec<Choice>,
}

async fn offer(
    request: RequestContext,
    field: &'static str,
    find: fn(&Connection, &str) -> Result<Vec<Choice>>,
) -> Result<Response> {
    let found = match request.query.filled("find").map(ToOwned::to_owned) {
        Some(text) => {
            request
                .read(move |connection| find(connection, &text))
                .await?
        }
        None => Vec::new(),
    };
    if request.is_part() {
        return answer::page(&Part { field, found });
    }
    answer::page(&Page {
        layout: request.layout("Found", Some(Area::Access)),
        field,
        found,
    })
}
