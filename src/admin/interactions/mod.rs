//! Activity: the live list with its undo, refusals, conflicts, and the page of an interaction.

pub(super) mod activity;
mod conflicts;
mod export;
mod filter;
mod live;
mod one;
pub(super) mod refusals;
mod undo;

pub(super) use activity::write_activity;
pub(super) use export::write_lines;

use crate::admin::prelude::*;

pub(super) fn routes() -> Vec<Route> {
    Routes::access(VIEWER)
        .get("/console/interactions", activity::show)
        .get("/console/interactions/export", activity::export)
        .get("/console/interactions/undone", activity::undone)
        .get(
            "/console/interactions/undone/export",
            activity::export_undone,
        )
        .get("/console/interactions/stream", live::stream)
        .get("/console/interactions/refusals", refusals::list)
        .get("/console/interactions/refusals/export", refusals::export)
        .get("/console/interactions/conflicts", conflicts::list)
        .get("/console/interactions/:id", one::show)
        .then(OPERATOR)
        .post("/console/interactions/refusals/late", refusals::record_late)
        .post("/console/interactions/:id/undo", undo::take_back)
        .then(ADMINISTRATOR)
        .action("/console/interactions/:id/delete", one::delete)
        .all()
}
