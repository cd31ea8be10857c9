//! The log of what was refused: what the crew looks at when a guest complains.

use super::filter::Filter;
use crate::{
    admin::{Area, Layout, RequestContext, answer},
    domain::{
        devices::{self, Offer},
        interactions::log::{find_refusals, lines::Line},
    },
    types::{
        Zone,
        error::{Error, Result},
        spreadsheet::guarded,
    },
};
use askama::Template;
use bytes::Bytes;
use futures_util::stream;
use poem::{Body, Response};

/// Lines on a page.
const PAGE: usize = 50;
/// Refusals that the export writes in one go.
const SLICE: usize = 1_000;

/// Codes of refusals, and what they mean.
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
    if page.failure.is_some() {
        answer::form_again(&page)
    } else {
        answer::page(&page)
    }
}

/// Everything that the filter finds, as CSV.
pub(super) async fn export(request: RequestContext) -> Result<Response> {
    let zone = request.console.settings().zone.clone();
    let (filter, failure) = Filter::read(&request.query, &zone);
    if let Some(failure) = failure {
        return Err(Error::invalid(failure));
    }
    let name = format!(
        "refusals-{}.csv",
        zone.plain(crate::types::Timestamp::now())
    );
    let state = (request, filter, zone, Some(None), true);
    let slices = stream::unfold(state, |(request, filter, zone, from, first)| async move {
        let from: Option<i64> = from?;
        let (asked, of_slice) = (filter.clone(), zone.clone());
        let written = request.read(move |connection| {
            let finder = asked.prepare(connection, &of_slice)?;
            let (lines, next) = find_refusals(connection, &finder, from, SLICE)?;
            Ok((csv(&lines, &of_slice, first)?, next))
        });
        match written.await {
            Ok((text, next)) => Some((
                Ok(Bytes::from(text)),
                (request, filter, zone, next.map(Some), false),
            )),
            Err(cause) => {
                // The connection breaks, so that nobody takes half of it for all.
                Some((
                    Err(std::io::Error::other(cause)),
                    (request, filter, zone, None, false),
                ))
            }
        }
    });
    Ok(answer::download(
        &name,
        "text/csv; charset=utf-8",
        Body::from_bytes_stream(slices),
    ))
}

fn csv(lines: &[Line], zone: &Zone, first: bool) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    if first {
        out.extend("\u{feff}".as_bytes());
    }
    let mut writer = csv::WriterBuilder::new()
        .terminator(csv::Terminator::CRLF)
        .from_writer(out);
    if first {
        writer
            .write_record([
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
            ])
            .map_err(Error::defect)?;
    }
    let id = |id: Option<i64>| id.map(|id| id.to_string()).unwrap_or_default();
    for line in lines {
        let cells = [
            zone.plain(line.at),
            zone.plain(line.recorded_at),
            line.kind.clone(),
            line.delegate.clone(),
            id(line.delegate_id),
            line.scanned.clone(),
            line.device.clone(),
            id(line.device_id),
            id(line.code),
            line.message.clone().unwrap_or_default(),
            line.sender.clone(),
        ];
        let guarded = cells.iter().map(|cell| guarded(cell).into_owned());
        writer
            .write_record(guarded.collect::<Vec<_>>())
            .map_err(Error::defect)?;
    }
    writer.into_inner().map_err(Error::defect)
}
