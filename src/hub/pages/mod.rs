//! The pages of the head office: the venues, each of them, attendees and reports over all of them, a wall display.

#![expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "templates pass references"
)]

mod report;
mod venue;
mod venues;
mod wall;

use super::Hub;
use crate::admin::{
    Access,
    prelude::*,
    route::{Answer, WALL_OF_VENUES},
};
use std::sync::Arc;

const HERE: &str = "/console/venues";

/// A handler of a page that needs the hub.
fn with<R: Answer>(
    hub: &Arc<Hub>,
    show: fn(Arc<Hub>, RequestContext) -> R,
) -> impl Fn(RequestContext) -> R + Send + Sync + 'static {
    let hub = Arc::clone(hub);
    move |request| show(Arc::clone(&hub), request)
}

/// Every page of a hub.
pub fn routes(hub: &Arc<Hub>) -> Vec<Route> {
    Routes::access(VIEWER)
        .get(HERE, with(hub, venues::list))
        .get("/console/venues/attendees", with(hub, venues::find))
        .get("/console/venues/reports/:name", with(hub, report::show))
        .get(
            "/console/venues/reports/:name/file",
            with(hub, report::file),
        )
        .get("/console/venues/:id", with(hub, venue::show))
        .then(Access::Wall)
        .get(WALL_OF_VENUES, with(hub, wall::show))
        .then(ADMINISTRATOR)
        .get("/console/venues/new", with(hub, venues::new))
        .post("/console/venues/new", with(hub, venues::add))
        .post("/console/venues/:id/edit", with(hub, venue::edit))
        .post("/console/venues/:id/code", with(hub, venue::code))
        .post("/console/venues/:id/revoke", with(hub, venue::revoke))
        .get("/console/venues/:id/lost", with(hub, venue::lost))
        .post("/console/venues/:id/lost/send", with(hub, venue::send_back))
        .post("/console/venues/:id/lost/drop", with(hub, venue::drop_lost))
        .all()
}

/// How far a venue's clock is from the hub's, in words.
pub fn clock(ahead_ms: &i64) -> String {
    let way = if *ahead_ms > 0 { "ahead of" } else { "behind" };
    let far = match ahead_ms.saturating_abs() / 1_000 {
        ..=2 => return "agrees with the head office".to_owned(),
        seconds @ ..120 => format!("{seconds} s"),
        seconds @ ..7_200 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3_600),
    };
    format!("{far} {way} the head office")
}

/// Writes into the audit what somebody did with a venue.
async fn note(
    request: &RequestContext,
    action: &'static str,
    venue: i64,
    after: serde_json::Value,
) -> Result<()> {
    let change = crate::core::audit::Change {
        action,
        record_type: "venue",
        record_id: Some(venue),
        before: None,
        after: Some(after),
    };
    request
        .write(move |tx, ctx| crate::core::audit::append(tx, ctx, &change))
        .await
}
