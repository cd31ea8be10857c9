//! What apps are to do: settings for all of them, for a type of device and for one device; a draft
//! that is published as a version, and who has that version.
//!
//! - `show`: what is in force, what a draft changes, who has it, live; `versions`: those before
//! - `edit`: the settings of one scope; `scope`: of what; `form`: as fields; `words`: as people say
//!   them
//! - `actions`: publishing, discarding, taking up a version again

mod actions;
mod edit;
mod form;
mod scope;
mod show;
mod versions;
mod words;

use super::route::{OPERATOR, Route};

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/console/configuration", OPERATOR, show::show),
        Route::get("/console/configuration/stream", OPERATOR, show::stream),
        Route::get("/console/configuration/edit", OPERATOR, edit::show),
        Route::post("/console/configuration/edit", OPERATOR, edit::save),
        Route::get(
            "/console/configuration/device/:id",
            OPERATOR,
            edit::of_device,
        ),
        Route::post("/console/configuration/publish", OPERATOR, actions::publish),
        Route::post("/console/configuration/discard", OPERATOR, actions::discard),
        Route::get("/console/configuration/versions", OPERATOR, versions::list),
        Route::get(
            "/console/configuration/versions/:version",
            OPERATOR,
            versions::show,
        ),
        Route::post(
            "/console/configuration/versions/:version/take",
            OPERATOR,
            actions::take,
        ),
    ]
}
