//! Assembly: which address serves what (contract §1), and what surrounds every request.

mod door;
mod listener;
pub mod openapi;
pub mod routes;
mod service;

pub use service::ServiceApi;

use crate::{app::App, error::Result};
use poem::{Endpoint, EndpointExt, Route, endpoint::make_sync, http::header};
use std::{future::Future, time::Duration};
use tokio::net::TcpListener;

/// How long a shutdown waits for the requests that were accepted.
const SHUTDOWN_MAX: Duration = Duration::from_secs(10);

/// Serves until `shutdown` is done, then finishes what was accepted.
///
/// # Errors
/// When the listener fails.
pub async fn run(
    app: App,
    listener: TcpListener,
    shutdown: impl Future<Output = ()>,
) -> std::io::Result<()> {
    let endpoint = endpoint(&app).map_err(|cause| std::io::Error::other(cause.message))?;
    poem::Server::new_with_acceptor(listener::Acceptor::new(listener)?)
        .run_with_graceful_shutdown(endpoint, shutdown, Some(SHUTDOWN_MAX))
        .await
}

/// The whole server as one endpoint.
///
/// # Errors
/// [`crate::error::Kind::Defect`] when the API's document cannot be made.
pub fn endpoint(app: &App) -> Result<impl Endpoint + 'static> {
    let table = routes::table(app);
    let document = openapi::document(app)?;
    let page = openapi::page(app, &document);
    let mut route = Route::new()
        .at("/openapi.json", served("application/json", document))
        .at("/docs", served("text/html; charset=utf-8", page))
        .at("/", make_sync(|_| poem::web::Redirect::see_other("/docs")));
    for prefix in routes::PREFIXES {
        route = route.nest(*prefix, routes::api(app));
    }
    route = route.nest("/api", routes::token(app));
    Ok(door::Door::new(route, table).data(app.clone()))
}

fn served(content_type: &'static str, text: String) -> impl Endpoint {
    make_sync(move |_| {
        poem::Response::builder()
            .content_type(content_type)
            .header(header::CACHE_CONTROL, "no-cache")
            .header(header::X_CONTENT_TYPE_OPTIONS, "nosniff")
            .body(text.clone())
    })
}
