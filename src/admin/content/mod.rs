//! Content regions: what there is and whether apps get it, the template with a preview against a
//! record, and every version of it.
//!
//! - `list`; `show`: one region; `versions`: what a save changed, and taking it up again
//! - `edit`: the form; `preview`: with which record, and what comes out
//! - `actions`: publishing, taking offline, removing

mod actions;
mod edit;
mod list;
mod preview;
mod show;
mod versions;

use super::{
    Area, Layout, RequestContext,
    route::{ADMINISTRATOR, OPERATOR, Route, VIEWER},
};
use crate::{
    domain::content::{Region, region::Publication},
    types::{
        Timestamp,
        error::{Error, Kind, Result},
    },
};

const HERE: &str = "/console/content";

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get(HERE, VIEWER, list::show),
        Route::get("/console/content/region", VIEWER, show::show),
        Route::get("/console/content/version", VIEWER, versions::show),
        Route::post("/console/content/restore", OPERATOR, versions::restore),
        Route::get("/console/content/edit", OPERATOR, edit::show),
        Route::post("/console/content/edit", OPERATOR, edit::save),
        Route::post("/console/content/publish", OPERATOR, actions::publish),
        Route::post("/console/content/remove", ADMINISTRATOR, actions::remove),
    ]
}

fn layout(request: &RequestContext, title: &str) -> Layout {
    request.layout(title, Some(Area::Content))
}

/// The address of a page about a region.
fn page(page: &str, path: &str) -> String {
    let query = form_urlencoded::Serializer::new(String::new())
        .append_pair("path", path)
        .finish();
    format!("{HERE}/{page}?{query}")
}

fn gone(path: &str) -> Error {
    Error::new(
        Kind::NoSuchPath,
        if path.is_empty() {
            "name a region".to_owned()
        } else {
            format!("there is no region {path} any more")
        },
    )
}

/// Whether apps get it, in words, with the colour of the tag.
fn standing(region: &Region, layout: &Layout) -> (&'static str, String) {
    let now = Timestamp::now();
    let time = |at: Option<Timestamp>| at.map(|at| layout.time(&at)).unwrap_or_default();
    match (region.now.standing(now), region.now.published_to) {
        (Publication::Published, None) => ("good", "published".to_owned()),
        (Publication::Published, to) => ("good", format!("published until {}", time(to))),
        (Publication::Later, _) => (
            "warn",
            format!("published from {}", time(region.now.published_from)),
        ),
        (Publication::Over, _) => ("", "offline".to_owned()),
    }
}

/// The region that a page is about.
fn found(request: &RequestContext, path: &str) -> Result<Region> {
    request
        .look_up(|connection| Region::find(connection, path))?
        .ok_or_else(|| gone(path))
}
