//! Activity: the live list, refusals, conflicts, and the page of an interaction.

mod conflicts;
mod filter;
mod live;
mod one;
mod refusals;
mod tail;

use crate::admin::prelude::*;

pub(super) fn routes() -> Vec<Route> {
    Routes::access(VIEWER)
        .get("/console/interactions", tail::show)
        .get("/console/interactions/stream", live::stream)
        .get("/console/interactions/refusals", refusals::list)
        .get("/console/interactions/refusals/export", refusals::export)
        .get("/console/interactions/conflicts", conflicts::list)
        .get("/console/interactions/:id", one::show)
        .then(OPERATOR)
        .post("/console/interactions/refusals/late", refusals::record_late)
        .then(ADMINISTRATOR)
        .action("/console/interactions/:id/delete", one::delete)
        .all()
}
