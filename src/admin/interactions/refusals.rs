//! The log of refusals, to find out why a guest was turned away.

use super::filter::Filter;
use crate::{
    admin::{Area, Layout, RequestContext, answer, export::slices},
    domain::{
        devices::{self, Offer},
        interactions::log::{find_refusals, lines::Line},
    },
    types::{
        Timestamp, Zone,
        error::{Error, Result},
        spreadsheet::csv_bytes,
    },
};
use askama::Template;
use poem::Response;
use rusqlite::Connection;

/// Lines on a page.
const PAGE: usize = 50;
/// Refusals that the export reads at a time.
const SLICE: usize = 1_000;

/// Codes of refusals with their meanings.
pub const CODES: [(i64, &str); 7] = [
    (740, "Ticket used already, or too many check-ins"),
    (741, "Not joined"),
    (742, "Too early or too late"),
    (743, "Not available"),
    (744, "Full"),
    (745, "Check-out without a check-in"),
    (1301, "Unknown code"),
];

#[derive(Template)]
#[template(path = "interactions/refusals.html")]
struct Page {
    layout: Layout,
    filter: Filter,
    failure: Option<String>,
    codes: [(i64, &'static str); 7],
    devices: Vec<Offer>,
    lines: Vec<Line>,
    next: Option<String>,
    newest: bool,
    export: String,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "templates pass references"
)]
impl Page {
    fn is_code(&self, code: &i64) -> bool {
        self.filter.code == Some(*code)
    }
}

pub(super) async fn list(request: RequestContext) -> Result<Response> {
    let zone = request.console.settings().zone.clone();
    let (filter, failure) = Filter::read(&request.query, &zone);
    let from = request.query.number("from").ok().flatten();
    let asked = filter.clone();
    let ((lines, next), devices) = request
        .read(move |connection| {
            let finder = asked.prepare(connection, &zone)?;
            let found = find_refusals(connection, &finder, from, PAGE)?;
            Ok((found, devices::offers(connection)?))
        })
        .await?;
    let query = filter.query();
    let page = Page {
        layout: request.layout("Refusals", Some(Area::Interactions)),
        codes: CODES,
        devices,
        lines,
        next: next.map(|next| {
            let separator = if query.is_empty() { "" } else { "&" };
            format!("?{query}{separator}from={next}")
        }),
        newest: from.is_none(),
        export: format!("/console/interactions/refusals/export?{query}"),
        failure,
        filter,
    };
    answer::form_page(page.failure.is_some(), &page)
}

/// Everything that the filter finds, as CSV.
pub(super) async fn export(request: RequestContext) -> Result<Response> {
    let zone = request.console.settings().zone.clone();
    let (filter, failure) = Filter::read(&request.query, &zone);
    if let Some(failure) = failure {
        return Err(Error::invalid(failure));
    }
    let name = format!("refusals-{}.csv", zone.plain(Timestamp::now()));
    let rest = Rest {
        filter,
        zone,
        from: None,
        is_first: true,
        is_done: false,
    };
    Ok(slices(
        request.console.app(),
        &name,
        "text/csv; charset=utf-8",
        rest,
        Rest::next,
    ))
}

/// The part of the export that is not sent yet.
struct Rest {
    filter: Filter,
    zone: Zone,
    from: Option<i64>,
    is_first: bool,
    is_done: bool,
}

impl Rest {
    fn next(mut self, connection: &Connection) -> Result<Option<(Vec<u8>, Self)>> {
        if self.is_done {
            return Ok(None);
        }
        let finder = self.filter.prepare(connection, &self.zone)?;
        let (lines, next) = find_refusals(connection, &finder, self.from, SLICE)?;
        let head = self.is_first.then_some(&COLUMNS);
        let bytes = csv_bytes(head, lines.into_iter().map(|line| cells(line, &self.zone)))?;
        self.is_first = false;
        self.is_done = next.is_none();
        self.from = next;
        Ok(Some((bytes, self)))
    }
}

const COLUMNS: [&str; 11] = [
    "at",
    "recordedAt",
    "type",
    "delegate",
    "delegateId",
    "scanned",
    "device",
    "deviceId",
    "code",
    "reason",
    "sentBy",
];

fn cells(line: Line, zone: &Zone) -> [String; COLUMNS.len()] {
    let id = |id: Option<i64>| id.map(|id| id.to_string()).unwrap_or_default();
    [
        zone.plain(line.at),
        zone.plain(line.recorded_at),
        line.kind,
        line.delegate,
        id(line.delegate_id),
        line.scanned,
        line.device,
        id(line.device_id),
        id(line.code),
        line.message.unwrap_or_default(),
        line.sender,
    ]
}
