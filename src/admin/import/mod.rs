//! Imports: upload a list, look at it, check it, import it; and the history, from which an import can be
//! completed or taken back.

mod batches;

pub(super) use batches::work_on_batch;

mod upload;
mod wizard;

use super::{
    Layout, RequestContext, Route, answer,
    engine::{Choice, Input},
    route::{OPERATOR, VIEWER},
};
use crate::{
    domain::devices::Offer,
    ops::import::uploads::{Phase, Work},
    types::error::{Error, Kind, Result},
};
use askama::Template;
use poem::Response;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/console/import", OPERATOR, upload::show),
        Route::post("/console/import", OPERATOR, upload::upload),
        Route::get("/console/import/:id", OPERATOR, wizard::show),
        Route::get("/console/import/:id/progress", OPERATOR, progress),
        Route::get("/console/import/:id/bad", OPERATOR, wizard::bad_rows),
        Route::post("/console/import/:id/sheet", OPERATOR, wizard::sheet),
        Route::post("/console/import/:id/try", OPERATOR, wizard::check),
        Route::post("/console/import/:id/import", OPERATOR, wizard::import),
        Route::post("/console/import/:id/resume", OPERATOR, wizard::resume),
        Route::post("/console/import/:id/cancel", OPERATOR, cancel),
        Route::post("/console/import/:id/discard", OPERATOR, wizard::discard),
        Route::get("/console/import/batches", VIEWER, batches::list),
        Route::get("/console/import/batches/:id", VIEWER, batches::show),
        Route::get("/console/import/batches/:id/progress", VIEWER, progress),
        Route::post("/console/import/batches/:id/undo", OPERATOR, batches::undo),
        Route::post("/console/import/batches/:id/join", OPERATOR, batches::join),
        Route::post("/console/import/batches/:id/cancel", OPERATOR, cancel),
    ]
}

/// The page of an uploaded list.
fn list_path(id: i64) -> String {
    format!("/console/import/{id}")
}

/// The page of an import, or of something done to many attendees.
pub(super) fn page_of_batch(id: i64) -> String {
    batch_path(id)
}

/// The page of an import.
fn batch_path(id: i64) -> String {
    format!("/console/import/batches/{id}")
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
    /// The work that is done on the list or batch of a page.
    fn of(request: &RequestContext, path: String) -> Option<Self> {
        let work = request.console.imports.work().filter(|work| {
            let of_list = work.upload.is_some_and(|id| list_path(id) == path);
            of_list || work.batch.is_some_and(|id| batch_path(id) == path)
        })?;
        let layout = request.layout("", None);
        Some(Self {
            stoppable: layout.operates(),
            layout,
            work,
            path,
        })
    }

    fn title(&self) -> &'static str {
        match self.work.phase {
            Phase::Checking => "Checking rows",
            Phase::Writing => "Importing rows",
            Phase::TakingBack => "Taking the import back",
            Phase::Joining => "Registering attendees",
            Phase::Acting => "Working through the attendees",
        }
    }

    fn is_action(&self) -> bool {
        self.work.phase == Phase::Acting
    }

    fn percent(&self) -> i64 {
        let percent = (self.work.done * 100).checked_div(self.work.total);
        percent.unwrap_or(100).min(100)
    }
}

/// The page that a request for a part of it came from.
fn page_of(request: &RequestContext) -> String {
    let path = request.uri_path();
    path.rsplit_once('/')
        .map_or(path, |(page, _)| page)
        .to_owned()
}

/// The progress as a part of its page, or the page once the work is done.
async fn progress(request: RequestContext) -> Result<Response> {
    let page = page_of(&request);
    match Progress::of(&request, page.clone()) {
        Some(progress) => answer::page(&progress),
        None => Ok(answer::go_whole(&request, &page)),
    }
}

async fn cancel(request: RequestContext) -> Result<Response> {
    let page = page_of(&request);
    if let Some(progress) = Progress::of(&request, page.clone()) {
        progress.work.stop.stop();
        request.flash("The work stops at the next row.");
    }
    Ok(answer::go(&page))
}

/// The sentence that a page shows of a failure; a defect is no page's.
fn failure(cause: Error) -> Result<String> {
    if cause.kind == Kind::Defect {
        return Err(cause);
    }
    Ok(match cause.field.first() {
        // The name of a file stays as it is.
        Some(name) if name.contains('.') => format!("{cause}."),
        _ => answer::sentence(&cause),
    })
}

/// A choice of devices, or `none` of them.
fn device_input(
    name: &'static str,
    label: &'static str,
    none: &str,
    devices: &[Offer],
    chosen: Option<i64>,
) -> Input {
    let chosen = chosen.map_or_else(String::new, |id| id.to_string());
    let devices = devices.iter();
    let devices =
        devices.map(|device| Choice::named(device.id.to_string(), device.with_type(), false));
    let all = std::iter::once(Choice::from(("", none))).chain(devices);
    let mut input = Input::select(name, label, all);
    input.fill(&chosen.into());
    input
}
