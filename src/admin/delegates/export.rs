//! What was found, as a file to take along.

use super::{
    super::{RequestContext, Route, export as file, route},
    list::Filters,
};
use crate::{
    ops::export::{What, Which},
    types::error::Result,
};
use poem::Response;
use rusqlite::Connection;
use std::time::Duration;

/// How long the search may take: nobody at a gate waits for it.
const SEARCH_MAX: Duration = Duration::from_mins(2);

pub(super) fn routes() -> Vec<Route> {
    vec![Route::get(
        "/console/delegates/export",
        route::VIEWER,
        export,
    )]
}

async fn export(request: RequestContext) -> Result<Response> {
    let format = file::format(request.query.text("format"))?;
    let filters = Filters::read(&request.query);
    let zone = request.console.settings().zone.clone();
    let which = if filters.narrow() {
        let found = {
            let zone = zone.clone();
            let find = move |connection: &Connection| {
                let search = filters.search(connection, &zone)?;
                search.ids(connection, SEARCH_MAX)
            };
            request.read(find).await?
        };
        Which::Ids(found)
    } else {
        Which::All
    };
    let app = request.console.app();
    Ok(file::sent(app, What::Delegates, which, zone, format))
}
