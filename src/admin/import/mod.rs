//! The import wizard and what was imported: a list is uploaded, looked at, tried, imported in the
//! background, and taken back.
//!
//! - `receive`: the upload as it comes; `glance`: what is recognised of it; `choice`: how it is to
//!   be imported
//! - `uploads`: what waits, and the one piece of work at a time; `work`: that work
//! - `start`, `wizard`, `batches`: the pages

mod batches;
mod choice;
mod glance;
mod receive;
mod start;
mod uploads;
mod wizard;
mod work;

pub use choice::Choice;
pub use glance::Glance;
pub use uploads::UploadStore;
pub use work::{Outcome, Report};

use uploads::{Upload, Work};

use super::{Route, route};

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/console/import", route::OPERATOR, start::show),
        Route::post("/console/import", route::OPERATOR, start::upload),
        Route::get("/console/import/:id", route::OPERATOR, wizard::show),
        Route::get(
            "/console/import/:id/progress",
            route::OPERATOR,
            wizard::progress,
        ),
        Route::get("/console/import/:id/bad", route::OPERATOR, wizard::bad),
        Route::post("/console/import/:id/sheet", route::OPERATOR, wizard::sheet),
        Route::post("/console/import/:id/try", route::OPERATOR, wizard::try_out),
        Route::post(
            "/console/import/:id/import",
            route::OPERATOR,
            wizard::import,
        ),
        Route::post(
            "/console/import/:id/resume",
            route::OPERATOR,
            wizard::resume,
        ),
        Route::post(
            "/console/import/:id/cancel",
            route::OPERATOR,
            wizard::cancel,
        ),
        Route::post(
            "/console/import/:id/discard",
            route::OPERATOR,
            wizard::discard,
        ),
        Route::get("/console/import/batches", route::VIEWER, batches::list),
        Route::get("/console/import/batches/:id", route::VIEWER, batches::show),
        Route::get(
            "/console/import/batches/:id/progress",
            route::VIEWER,
            batches::progress,
        ),
        Route::post(
            "/console/import/batches/:id/undo",
            // What an import made is removed for good.
            route::ADMINISTRATOR,
            batches::undo,
        ),
        Route::post(
            "/console/import/batches/:id/join",
            route::OPERATOR,
            batches::join,
        ),
        Route::post(
            "/console/import/batches/:id/cancel",
            route::OPERATOR,
            batches::cancel,
        ),
    ]
}
