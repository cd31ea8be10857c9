//! The log of refusals, to find out why a guest was turned away.

use super::{export, filter::Filter};
use crate::admin::prelude::*;
use crate::domain::{
    devices,
    interactions::{
        late_codes,
        log::{Counts, Entry, find_refusals},
    },
};

const PATH: &str = "/console/interactions/refusals";
/// Lines on a page.
const PAGE: usize = 50;
/// Refusals that the export reads at a time.
const SLICE: usize = 1_000;

/// Codes of refusals with their meanings.
pub const CODES: [(i64, &str); 8] = [
    (740, "Ticket used already, or too many check-ins"),
    (741, "Not joined"),
    (742, "Too early or too late"),
    (743, "Not available"),
    (744, "Full"),
    (745, "Check-out without a check-in"),
    (746, "Wrong type of attendee"),
    (1301, "Unknown code"),
];

#[derive(Template)]
#[template(path = "interactions/refusals.html")]
struct Page {
    layout: Layout,
    list: List,
    entries: Vec<Entry>,
    /// Scans of codes that attendees have by now.
    late: usize,
    counts: Counts,
}

pub(super) async fn list(request: RequestContext) -> Result<Response> {
    let ctx = request.context();
    let zone = ctx.settings.zone.clone();
    let (filter, failure) = Filter::read(&request.query, &zone);
    let from = request.query.number("from").ok().flatten();
    let devices = request.look_up(devices::offers)?.into_iter();
    let devices = devices.map(|device| Choice::named(device.id.to_string(), device.name, false));
    let codes = CODES.iter();
    let codes = codes
        .map(|(code, meaning)| Choice::from((code.to_string(), format!("{meaning} ({code})"))));
    let all = || std::iter::once(Choice::from(("", "all")));
    let inputs = vec![
        Input::select("code", "Reason", all().chain(codes)),
        Input::select("device", "Device", all().chain(devices)),
        Input::text("delegate", "Attendee").placeholder("Name, company or code"),
        Input::line("datetime-local", "since", "From"),
        Input::line("datetime-local", "until", "Until"),
    ];
    let mut list = List::new(&request, inputs, "from");
    list.failure = failure;
    let layout = request.layout("Refusals", Some(Area::Interactions));
    let read = move |connection: &Connection| {
        let finder = filter.prepare(connection, &zone)?;
        let (lines, next) = find_refusals(connection, &finder, from, PAGE)?;
        list.next = next.map(|next| next.to_string());
        Ok(Page {
            layout,
            list,
            entries: lines.into_iter().map(Entry::One).collect(),
            late: late_codes::find(connection)?.len(),
            counts: super::activity::counts(connection, &ctx)?,
        })
    };
    let page = request.read(read).await?;
    answer::form_page(page.list.failure.is_some(), &page)
}

/// Records the scans of codes that attendees have by now.
pub(super) async fn record_late(request: RequestContext) -> Result<Response> {
    let late = request.read(late_codes::find).await?;
    let mut recorded = 0;
    for slice in late.chunks(late_codes::SLICE) {
        let slice = slice.to_vec();
        recorded += request
            .write(move |tx, ctx| late_codes::record_all(tx, ctx, &slice))
            .await?;
    }
    let scans = if recorded == 1 { "scan" } else { "scans" };
    request.done(format!("{recorded} {scans} recorded."), PATH)
}

/// Everything that the filter finds, as CSV.
pub(super) async fn export(request: RequestContext) -> Result<Response> {
    export::send(
        &request,
        "refusals",
        |_| {},
        |connection, finder, from, _| find_refusals(connection, finder, from, SLICE),
    )
}
