//! Activity: the live list, refusals, conflicts, and the page of an interaction.

mod conflicts;
mod filter;
mod live;
mod one;
mod refusals;
mod tail;

use super::{Route, route};

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/console/interactions", route::VIEWER, tail::show),
        Route::get("/console/interactions/stream", route::VIEWER, live::stream),
        Route::get(
            "/console/interactions/refusals",
            route::VIEWER,
            refusals::list,
        ),
        Route::get(
            "/console/interactions/refusals/export",
            route::VIEWER,
            refusals::export,
        ),
        Route::get(
            "/console/interactions/conflicts",
            route::VIEWER,
            conflicts::list,
        ),
        Route::get("/console/interactions/:id", route::VIEWER, one::show),
        Route::post(
            "/console/interactions/:id/delete",
            route::ADMINISTRATOR,
            one::delete,
        ),
    ]
}
