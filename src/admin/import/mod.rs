//! Imports: upload a list, look at it, check it, import it; and the history, from which an import can be
//! completed or taken back.

mod batches;
mod upload;
mod wizard;

use super::{
    Layout, RequestContext, Route, answer,
    route::{ADMINISTRATOR, OPERATOR, VIEWER},
};
use crate::{
    ops::import::uploads::{Phase, Work},
    types::error::Result,
};
use askama::Template;
use poem::Response;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/console/import", OPERATOR, upload::show),
        Route::post("/console/import", OPERATOR, upload::upload),
        Route::get("/console/import/:id", OPERATOR, wizard::show),
        Route::get("/console/import/:id/progress", OPERATOR, wizard::progress),
        Route::get("/console/import/:id/bad", OPERATOR, wizard::bad_rows),
        Route::post("/console/import/:id/sheet", OPERATOR, wizard::sheet),
        Route::post("/console/import/:id/try", OPERATOR, wizard::check),
        Route::post("/console/import/:id/import", OPERATOR, wizard::import),
        Route::post("/console/import/:id/resume", OPERATOR, wizard::resume),
        Route::post("/console/import/:id/cancel", OPERATOR, wizard::cancel),
        Route::post("/console/import/:id/discard", OPERATOR, wizard::discard),
        Route::get("/console/import/batches", VIEWER, batches::list),
        Route::get("/console/import/batches/:id", VIEWER, batches::show),
        Route::get(
            "/console/import/batches/:id/progress",
            VIEWER,
            batches::progress,
        ),
        Route::post(
            "/console/import/batches/:id/undo",
            ADMINISTRATOR,
            batches::undo,
        ),
        Route::post("/console/import/batches/:id/join", OPERATOR, batches::join),
        Route::post(
            "/console/import/batches/:id/cancel",
            OPERATOR,
            batches::cancel,
        ),
    ]
}

/// The progress of work on a list or a batch, which replaces itself.
#[derive(Template)]
#[template(path = "import/progress.html")]
struct Progress {
    layout: Layout,
    work: Work,
    /// The page that shows the result.
    path: String,
    stoppable: bool,
}

impl Progress {
    /// The work that is done, if `is_meant`.
    fn new(
        request: &RequestContext,
        path: &str,
        is_meant: impl FnOnce(&Work) -> bool,
    ) -> Option<Self> {
        let layout = request.layout("", None);
        let work = request.console.imports.work().filter(is_meant)?;
        Some(Self {
            stoppable: layout.operates(),
            layout,
            work,
            path: path.to_owned(),
        })
    }

    fn title(&self) -> &'static str {
        match self.work.phase {
            Phase::Checking => "Checking rows",
            Phase::Writing => "Importing rows",
            Phase::TakingBack => "Taking the import back",
            Phase::Joining => "Registering attendees",
        }
    }

    fn percent(&self) -> i64 {
        let percent = (self.work.done * 100).checked_div(self.work.total);
        percent.unwrap_or(100).min(100)
    }
}

/// The progress as a part of its page, or the page once the work is done.
fn progress(request: &RequestContext, progress: Option<Progress>, path: &str) -> Result<Response> {
    match progress {
        Some(progress) => answer::page(&progress),
        None => Ok(answer::go_whole(request, path)),
    }
}

fn cancel(request: &RequestContext, progress: Option<Progress>, path: &str) -> Response {
    if let Some(progress) = progress {
        progress.work.stop.stop();
        request.flash("The work stops at the next row.");
    }
    answer::go(path)
}
