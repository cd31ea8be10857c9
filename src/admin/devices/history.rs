//! Who changed a device, when, and what.

use crate::{
    admin::{
        Area, Layout, RequestContext, answer,
        audit::{self, Change},
    },
    core::audit::HistoryOf,
    domain::devices::{RESOURCE, record::Record},
    types::{DeviceId, error::Result},
};
use askama::Template;
use poem::Response;
use rusqlite::Connection;

/// Changes on a page.
const PAGE: usize = 30;

#[derive(Template)]
#[template(path = "devices/history.html")]
struct Page {
    layout: Layout,
    record: Record,
    changes: Vec<Change>,
    first: bool,
    older: Option<i64>,
}

pub async fn show(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let before = request.query.number("before")?;
    let (record, (changes, older)) = request
        .read(move |connection| {
            let record = Record::find(connection, id)?;
            let changes = changes(connection, record.id, before, PAGE)?;
            Ok((record, changes))
        })
        .await?;
    answer::page(&Page {
        layout: request.layout(&format!("Changes to {}", record.name), Some(Area::Devices)),
        record,
        first: before.is_none(),
        older,
        changes,
    })
}

/// Changes to a device before a row of the audit, at most `limit`, the last first, and where older ones
/// begin. An event is a device under another name.
pub fn changes(
    connection: &Connection,
    device: DeviceId,
    before: Option<i64>,
    limit: usize,
) -> Result<(Vec<Change>, Option<i64>)> {
    let of = HistoryOf {
        types: [RESOURCE.name, "event"],
        table: RESOURCE.table,
        id: device.0,
    };
    audit::changes(connection, of, before, limit)
}
