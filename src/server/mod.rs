//! Assembly: which address serves what (contract §1), and what surrounds every request.
//!
//! From the outside in: `listener` accepts and speaks HTTP, `connections` and `connection_state` limit, `tls`
//! shakes hands, `exchange` counts, logs and compresses,
//! `error_middleware` gives errors their envelope, `routes` finds the operation.

mod announce;
mod body;
mod connection_state;
mod connections;
mod durable;
mod error_middleware;
mod exchange;
mod gate;
mod handbook;
mod health;
mod listener;
mod metrics;
pub mod openapi;
mod otp;
mod public;
pub mod routes;
mod schedule;
mod service;
mod tickets;
pub mod tls;
mod trust;

pub use announce::SERVICE;
pub use announce::host;
pub use connections::{Limits, Seconds};
pub use exchange::ACCESS_LOG;
pub use service::ServiceApi;
pub use tls::Tls;

use crate::{
    admin::{self, Console, route::Guarded},
    core::{
        head_office,
        outbox::{Kind, Worker},
        texts,
    },
    domain::{
        apps,
        discovery::Listening,
        erasure::anonymous,
        feed,
        interactions::{everybody_out, recount},
        messages::{self, Messages},
        printing::{self, Printing},
        webhooks::Webhooks,
    },
    hub::{self, Hub},
    identity::App,
    ops,
    types::error::Result,
    web::language,
};
use connections::Connections;
use durable::in_charge;
use metrics::{Sources, Traffic};
use poem::{
    Endpoint, EndpointExt, IntoResponse, Request, Response, Route, RouteMethod,
    endpoint::make_sync, error::IntoResult, get, http::Method, web::Redirect,
};
use std::{collections::BTreeMap, future::Future, sync::Arc};
use tokio::net::TcpListener;
use trust::Trust;

/// The settings of the server's network.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The limits of a connection.
    pub limits: Limits,
    /// TLS; none for plain HTTP.
    pub tls: Option<Tls>,
    /// True if the server is announced on the LAN.
    pub announced: bool,
    /// The head office over many venues, where this is one.
    pub hub: Option<Arc<Hub>>,
}

/// Serves until `shutdown` is done, then finishes what was accepted.
pub async fn run(
    console: Arc<Console>,
    listener: TcpListener,
    options: Options,
    shutdown: impl Future<Output = ()>,
) -> Result<()> {
    let app = console.app().clone();
    let listening = listener.local_addr().ok().map(|address| Listening {
        address,
        tls: options.tls.is_some(),
    });
    if let Some(listening) = listening {
        console.discovery.listens(listening);
    }
    let announced = listening.filter(|_| options.announced);
    let connections = Connections::new(options.limits.clone());
    let service = service(&console, &connections, &options)?;
    durable::stop(&app, None)?;
    if app.store.stats().stopped().is_none() {
        catch_up(&app).await;
    }
    let outbox = outbox(&app);
    resume_purchases(&app);
    let messages = messages::Upkeep::new(app.clone());
    messages.recover().await;
    let shutdown = async {
        shutdown.await;
        console.live.stop();
        app.changes.stop();
        console.imports.stop();
        if let Some(hub) = &options.hub {
            hub.stop();
        }
    };
    let served = listener::serve(listener, service, connections, &options.limits, shutdown);
    tokio::select! {
        () = served => {}
        () = follow_certificate(options.tls.as_ref(), &app) => {}
        () = console.live.run() => {}
        () = app.changes.run(&app.store) => {}
        () = announce::announce(&app, announced) => {}
        () = durable::follow(&app) => {}
        () = in_charge(&app, apps::upkeep(&app)) => {}
        () = in_charge(&app, feed::upkeep(&app)) => {}
        () = in_charge(&app, anonymous::follow(&app)) => {}
        () = Box::pin(in_charge(&app, ops::head_office::follow(&app))) => {}
        () = console.discovery.upkeep() => {}
        () = in_charge(&app, console.readers.run()) => {}
        () = in_charge(&app, schedule::follow(&app)) => {}
        () = in_charge(&app, recount::follow(&app)) => {}
        () = in_charge(&app, everybody_out::follow::follow(&app)) => {}
        () = in_charge(&app, outbox.run()) => {}
        () = in_charge(&app, messages.run()) => {}
        () = in_charge(&app, run_hub(options.hub.as_deref())) => {}
    }
    app.store.integrity().end();
    outbox.finish().await;
    apps::at_the_end(&app).await;
    Ok(())
}

/// Assembles what connections lead to: every address, and the answers to plain HTTP where TLS is spoken.
fn service(
    console: &Arc<Console>,
    connections: &Arc<Connections>,
    options: &Options,
) -> Result<listener::ConnectionService> {
    let mut traffic = Traffic::default();
    let api = routes::api(console, &mut traffic);
    let traffic = Arc::new(traffic);
    let sources = Sources {
        traffic: Arc::clone(&traffic),
        connections: Arc::clone(connections),
        readers: Arc::clone(&console.readers),
    };
    let exchange = |endpoint| {
        Arc::new(exchange::Exchange {
            endpoint,
            traffic: Arc::clone(&traffic),
            body_time: options.limits.body_time.duration(),
            trusted_proxies: options.limits.trusted_proxies.clone(),
        })
    };
    let trust = Trust::new(options.tls.as_ref());
    let whole = endpoint(console, api, sources, &trust, options.hub.as_ref())?.boxed();
    let plain = make_sync(move |request: Request| {
        texts::within(language(&request), || trust.answer_plain(&request))
    });
    let plain = plain.boxed();
    Ok(listener::ConnectionService {
        exchange: exchange(whole),
        plain: exchange(plain),
        tls: options.tls.clone(),
    })
}

/// Does what became due while no server ran, and counts anew who is inside where that was cut off.
async fn catch_up(app: &App) {
    if let Err(cause) = app.store.write(printing::jobs::end_interrupted).await {
        tracing::warn!("print jobs that were cut off: {cause}");
    }
    everybody_out::follow::where_due(app).await;
    if let Err(cause) = recount::where_due(&app.store).await {
        tracing::warn!("counting who is inside where: {cause}");
    }
}

/// The worker that sends webhooks and messages.
fn outbox(app: &App) -> Worker {
    let kinds: Vec<Arc<dyn Kind>> = vec![
        Arc::new(Webhooks::new(app.clone())),
        Arc::new(Messages::new(app.clone())),
        Arc::new(Printing::new(app.clone())),
    ];
    Worker::new(app, kinds)
}

/// What a hub does by itself; never ends.
async fn run_hub(hub: Option<&Hub>) {
    match hub {
        Some(hub) => Box::pin(hub.run()).await,
        None => std::future::pending().await,
    }
}

/// Makes the tickets of purchases that were cut off, beside everything else.
fn resume_purchases(app: &App) {
    let app = app.clone();
    tokio::spawn(async move {
        if let Err(cause) = crate::domain::sales::resume(&app.store).await {
            tracing::error!("purchases that were cut off: {cause}");
        }
    });
}

/// Reads the certificate anew whenever it changes; never ends.
async fn follow_certificate(tls: Option<&Tls>, app: &App) {
    match tls {
        Some(tls) => tls.follow(&app.store).await,
        None => std::future::pending().await,
    }
}

/// The whole server as one endpoint.
fn endpoint(
    console: &Arc<Console>,
    api: Route,
    sources: Sources,
    trust: &Trust,
    hub: Option<&Arc<Hub>>,
) -> Result<impl Endpoint<Output = Response> + 'static> {
    let app = console.app();
    let pages = pages(console, hub);
    let mut table = routes::table(console);
    if let Some(hub) = hub {
        table.extend(hub_table(hub));
        routes::sort(&mut table);
    }
    let document = openapi::document(console)?;
    let page = openapi::page(console, &document);
    let of_opened = app.clone();
    let of_hub = hub.cloned();
    let route = api
        .at(
            "/openapi.json",
            public::fixed("application/json", document, None),
        )
        .at("/docs", public::docs(page))
        .at(public::METADATA, get(public::metadata))
        .at("/health/live", get(with(app, |_, _| health::live())))
        .at(
            "/health/ready",
            get(with(app, move |app, _| {
                health::ready(app, of_hub.as_deref())
            })),
        )
        .at("/metrics", get(with(app, move |app, _| sources.page(app))))
        .at("/logo", get(with(app, public::logo)))
        .at(
            "/otp",
            get(with(app, |app, _| otp::show(app))).post(otp::Ask(app.clone())),
        )
        .at("/otp/style.css", get(with(app, |_, _| otp::style())))
        .at("/otp/icon.svg", get(with(app, |_, _| otp::icon())))
        .at("/gate", get(with(app, |_, request| gate::file(request))))
        .at(
            "/gate/*name",
            get(with(app, |_, request| gate::file(request))),
        )
        .at("/handbook", get(with(app, |_, _| handbook::contents())))
        .at("/handbook/search", get(with(app, handbook::search)))
        .at("/handbook/:name", get(with(app, handbook::show)))
        .at(
            "/o/:name",
            get(poem::endpoint::make(move |request| {
                let app = of_opened.clone();
                async move { public::opened(&app, &request).await }
            })),
        )
        .at("/t/:name", get(with(app, tickets::show)))
        .at("/", make_sync(|_| Redirect::see_other("/console")))
        .at("/console/", make_sync(|_| Redirect::see_other("/console")));
    let route = trust::PATHS.into_iter().fold(route, |route, path| {
        let trust = trust.clone();
        let answer =
            move |request: Request| texts::within(language(&request), || trust.answer(&request));
        route.at(path, get(make_sync(answer)))
    });
    let route = hub.into_iter().fold(route, hub_routes);
    let route = pages
        .into_iter()
        .fold(route, |route, (path, methods)| route.at(path, methods));
    Ok(error_middleware::ErrorMiddleware::new(
        route, table, console,
    ))
}

/// What venues ask of a hub.
fn hub_routes(route: Route, hub: &Arc<Hub>) -> Route {
    let asked = |ask: hub::api::Ask| hub::api::Asked(Arc::clone(hub), ask);
    route
        .at(head_office::PAIR, poem::post(asked(hub::api::Ask::Pair)))
        .at(head_office::PUSH, poem::post(asked(hub::api::Ask::Push)))
        .at(head_office::PULL, get(asked(hub::api::Ask::Pull)))
}

/// The paths of a hub, with their methods.
fn hub_table(hub: &Arc<Hub>) -> routes::Table {
    let asked = [
        (head_office::PAIR, Method::POST),
        (head_office::PUSH, Method::POST),
        (head_office::PULL, Method::GET),
    ];
    let pages = hub::pages::routes(hub)
        .into_iter()
        .map(|route| (route.path, route.method));
    let mut table = routes::Table::new();
    for (path, method) in asked.into_iter().chain(pages) {
        routes::add(&mut table, path, method);
    }
    table
}

fn with<F, T, R>(app: &App, show: F) -> impl Endpoint + use<F, T, R>
where
    F: Fn(&App, &Request) -> R + Send + Sync,
    T: IntoResponse + Sync,
    R: IntoResult<T>,
{
    let app = app.clone();
    make_sync(move |request: Request| texts::within(language(&request), || show(&app, &request)))
}

/// The console's paths, each with what answers its methods.
fn pages(console: &Arc<Console>, hub: Option<&Arc<Hub>>) -> BTreeMap<&'static str, RouteMethod> {
    let mut pages = BTreeMap::new();
    let of_hub = hub.map(hub::pages::routes).unwrap_or_default();
    for route in admin::routes().into_iter().chain(of_hub) {
        let (path, method) = (route.path, route.method.clone());
        let guarded = Guarded {
            console: Arc::clone(console),
            route,
        };
        let methods: RouteMethod = pages.remove(path).unwrap_or_default();
        pages.insert(path, methods.method(method, guarded));
    }
    pages
}
