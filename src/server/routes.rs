//! The API's operations, once for each prefix they are served under.

use super::{ServiceApi, durable, metrics::Traffic, public, trust};
use crate::{
    admin::{self, Console},
    domain::{
        apps::{PublishedCache, api::AppsApi},
        badges::api::BadgesApi,
        content::api::ContentApi,
        delegates::api::DelegatesApi,
        devices::api::DevicesApi,
        discovery::api::DiscoveryApi,
        events::api::EventsApi,
        feed::api::FeedApi,
        gate::api::GateApi,
        interactions::api::InteractionsApi,
        messages::api::CommsApi,
        myself::api::MyselfApi,
        otp::api::OtpApi,
        printing::api::PrintingApi,
        readers::api::ReadersApi,
        reports::api::ReportsApi,
        sales::api::TransactionsApi,
        webhooks::api::WebhooksApi,
    },
    identity::{App, oauth::api::OAuthApi},
    types::{
        error::Error,
        text::{closest, shortened},
    },
    web::{Failure, RequestTrace, parameters::query_names},
};
use poem::{Endpoint, Request, Response, Route, RouteMethod, endpoint::BoxEndpoint, http::Method};
use poem_openapi::{OpenApi, registry::MetaParamIn};
use std::{collections::HashMap, sync::Arc};

/// The prefixes under which the whole API is served; `/api/5` is the form that pagination links
/// carry.
pub const PREFIXES: &[&str] = &["/api/v5", "/api/5"];

/// Every operation of the API.
pub fn operations(console: &Console) -> impl OpenApi + use<> {
    let app = || console.app().clone();
    let published = Arc::<PublishedCache>::default();
    (
        OAuthApi { app: app() },
        OtpApi { app: app() },
        (
            DelegatesApi { app: app() },
            MyselfApi { app: app() },
            BadgesApi { app: app() },
            PrintingApi {
                app: app(),
                published: Arc::clone(&published),
            },
        ),
        DevicesApi { app: app() },
        AppsApi { app: app() },
        DiscoveryApi {
            app: app(),
            discovery: Arc::clone(&console.discovery),
        },
        EventsApi { app: app() },
        InteractionsApi {
            app: app(),
            published: Arc::clone(&published),
        },
        TransactionsApi { app: app() },
        (FeedApi { app: app() }, WebhooksApi { app: app() }),
        GateApi {
            app: app(),
            published,
            places: Arc::default(),
            tickets: Arc::default(),
        },
        ReadersApi {
            app: app(),
            readers: Arc::clone(&console.readers),
        },
        ReportsApi { app: app() },
        CommsApi::new(app()),
        ContentApi { app: app() },
        ServiceApi { app: app() },
    )
}

/// The API under each of its prefixes, and what signs somebody in and out under `/api` too.
pub(super) fn api(console: &Console, traffic: &mut Traffic) -> Route {
    let route = PREFIXES.iter().fold(Route::new(), |route, prefix| {
        routed(route, prefix, operations(console), traffic)
    });
    let app = || console.app().clone();
    let signing_in = (OAuthApi { app: app() }, OtpApi { app: app() });
    routed(route, "/api", signing_in, traffic)
}

/// Adds operations under a prefix. poem-openapi's own assembly would turn every error into plain text at
/// once; this one leaves them to the error middleware. One router finds them all: each router, and each
/// endpoint around another, is a future within the one before, and they are copied when they begin.
fn routed<O: OpenApi>(route: Route, prefix: &str, operations: O, traffic: &mut Traffic) -> Route {
    let mut paths = HashMap::new();
    operations.add_routes(&mut paths);
    let mut parameters = parameters::<O>();
    paths.into_iter().fold(route, |route, (path, methods)| {
        let methods = methods
            .into_iter()
            .fold(RouteMethod::new(), |all, (method, endpoint)| {
                let path = label(&path);
                let is_oauth = path.starts_with("/oauth/");
                let number = traffic.operation(method.as_str(), &path);
                let known = parameters.remove(&(method.clone(), path));
                let known = known.unwrap_or_else(|| Some(Arc::default()));
                let operation = Operation {
                    endpoint,
                    number,
                    // There unknown parameters are ignored (RFC 6749 section 3.2).
                    parameters: known.filter(|_| !is_oauth),
                };
                all.method(method, operation)
            });
        route.at(format!("{prefix}{path}"), methods)
    })
}

/// An operation, counted, with its query parameters checked.
struct Operation {
    endpoint: BoxEndpoint<'static>,
    /// Its number in the metrics.
    number: usize,
    /// The query parameters that it knows; none where it takes any.
    parameters: Option<Arc<[String]>>,
}

impl Endpoint for Operation {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        if let Some(trace) = RequestTrace::of(&request) {
            trace.reached(self.number);
        }
        if let Some(known) = &self.parameters {
            check_query(&request, known)?;
        }
        let app = request.data::<App>().cloned();
        let asked = match &app {
            Some(app) => durable::Asked::read(app, &request).await,
            None => None,
        };
        let response = self.endpoint.call(request).await?;
        match (asked, app) {
            (Some(asked), Some(app)) => asked.answer(&app, response).await,
            _ => Ok(response),
        }
    }
}

/// The names of each operation's query parameters; none where it takes any (see [`query_names`]).
fn parameters<O: OpenApi>() -> HashMap<(Method, String), Option<Arc<[String]>>> {
    let paths = O::meta().into_iter().flat_map(|api| api.paths);
    let operations = paths.flat_map(|path| {
        let label = label(&path.path);
        path.operations
            .into_iter()
            .map(move |operation| (label.clone(), operation))
    });
    operations
        .map(|(path, operation)| {
            let query = operation
                .params
                .into_iter()
                .filter(|parameter| parameter.in_type == MetaParamIn::Query);
            let names: Option<Vec<_>> = query.map(query_names).collect();
            let names = names.map(|names| names.into_iter().flatten().collect());
            ((operation.method, path), names)
        })
        .collect()
}

/// A path without the names of its parameters: poem-openapi numbers them in one place and names them
/// in the other.
fn label(path: &str) -> String {
    let segments = path.split('/');
    let named = segments.map(|segment| {
        if segment.starts_with([':', '{']) {
            "{}"
        } else {
            segment
        }
    });
    named.collect::<Vec<_>>().join("/")
}

/// Refuses a query parameter that the operation does not know, which would be passed over, and the second
/// of a repeated one (contract §3, 1100).
fn check_query(request: &Request, known: &[String]) -> poem::Result<()> {
    let query = request.uri().query().unwrap_or_default();
    let query = form_urlencoded::parse(query.as_bytes()).into_owned();
    // One more than there are has one that is unknown, or one twice.
    let query: Vec<(String, String)> = query.take(known.len() + 1).collect();
    for (at, (name, _)) in query.iter().enumerate() {
        let shown = shortened(name);
        let fault = if known.contains(name) {
            let twice = query[..at].iter().any(|(earlier, _)| earlier == name);
            twice.then(|| format!("{shown}: stands twice in the query string"))
        } else {
            Some(match known {
                [] => format!("\"{shown}\": there are no query parameters here"),
                known => {
                    let meant = closest(name, known.iter().map(String::as_str));
                    let meant = meant.map(|meant| format!("did you mean {meant}? "));
                    format!(
                        "\"{shown}\": {}the query parameters here are {}",
                        meant.unwrap_or_default(),
                        known.join(", ")
                    )
                }
            })
        };
        if let Some(fault) = fault {
            return Err(Failure(Error::invalid(fault)).into());
        }
    }
    Ok(())
}

/// Which methods a path knows: full path patterns, with `:name` for a parameter.
pub type Table = Vec<(String, Vec<Method>)>;

/// The table of every path that is served.
pub fn table(console: &Console) -> Table {
    let mut paths = HashMap::new();
    operations(console).add_routes(&mut paths);
    let pages = [
        "/",
        "/docs",
        "/openapi.json",
        "/health/live",
        "/health/ready",
        "/metrics",
        "/logo",
        "/o/:name",
        "/t/:name",
        "/otp/style.css",
        "/otp/icon.svg",
        "/handbook",
        "/handbook/search",
        "/handbook/:name",
        public::METADATA,
    ];
    let mut table: Table = pages.map(|path| (path.into(), vec![Method::GET])).into();
    table.extend(trust::PATHS.map(|path| (path.into(), vec![Method::GET])));
    table.push(("/otp".into(), vec![Method::GET, Method::POST]));
    for path in ["oauth/v2/token", "oauth/v2/revoke", "otp/send"] {
        table.push((format!("/api/{path}"), vec![Method::POST]));
    }
    for route in admin::routes() {
        add(&mut table, route.path, route.method);
    }
    for (path, methods) in &paths {
        let methods: Vec<Method> = methods.keys().cloned().collect();
        for prefix in PREFIXES {
            table.push((format!("{prefix}{path}"), methods.clone()));
        }
    }
    sort(&mut table);
    table
}

/// Has a literal path be found before one with parameters.
pub(super) fn sort(table: &mut Table) {
    table.sort_by_key(|(path, _)| path.matches(':').count());
}

/// Adds a method of a path.
pub(super) fn add(table: &mut Table, path: &str, method: Method) {
    let path = path.replace('*', ":");
    match table.iter_mut().find(|(known, _)| *known == path) {
        Some((_, methods)) => methods.push(method),
        None => table.push((path, vec![method])),
    }
}

/// The methods of the path that a request's path matches.
pub fn methods<'a>(table: &'a Table, path: &str) -> Option<&'a [Method]> {
    table
        .iter()
        .find(|(pattern, _)| admin::route::is_path_of(pattern, path))
        .map(|(_, methods)| methods.as_slice())
}

/// Segments before those of an operation: nothing, `api`, and the version.
const API_SEGMENTS: usize = 3;

/// Tells what was probably meant by an address of the API that leads nowhere: one whose code has a `/`, or the nearest
/// path.
pub fn nearest(table: &Table, path: &str) -> Option<String> {
    let segments: Vec<&str> = path.split('/').collect();
    if let Some(at) = segments.iter().position(|segment| segment.contains(':')) {
        let whole = (at + 1..segments.len()).find_map(|end| {
            let code = segments[at..=end].join("%2F");
            let rest = segments[..at].iter().copied().chain([&*code]);
            let rest: Vec<&str> = rest.chain(segments[end + 1..].iter().copied()).collect();
            let whole = rest.join("/");
            methods(table, &whole).is_some().then_some(whole)
        });
        if let Some(whole) = whole {
            return Some(format!(
                "a / within a code is written %2F: {}",
                shortened(&whole)
            ));
        }
    }
    let filled = table.iter().filter_map(|(pattern, _)| {
        let parts: Vec<&str> = pattern.split('/').collect();
        let both = parts.iter().copied().zip(segments.iter().copied());
        // What stands for a parameter says nothing of the path.
        let words = both.clone().filter(|(part, _)| !part.starts_with(':'));
        let (known, sent): (Vec<&str>, Vec<&str>) = words.skip(API_SEGMENTS).unzip();
        let is_near = pattern.starts_with("/api/")
            && parts.len() == segments.len()
            && closest(&sent.join("/"), [&*known.join("/")]).is_some();
        let filled = both.map(|(part, segment)| match part {
            part if part.starts_with(':') => segment,
            part => part,
        });
        is_near.then(|| filled.collect::<Vec<_>>().join("/"))
    });
    let filled: Vec<String> = filled.collect();
    let meant = closest(path, filled.iter().map(String::as_str))?;
    Some(format!("did you mean {}?", shortened(meant)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leads_nowhere_is_told_what_was_probably_meant() {
        let path = |path: &str| (format!("/api/v5{path}"), vec![Method::GET]);
        let table = [
            "/delegate/list",
            "/delegate/new",
            "/delegate/:s",
            "/delegate/:s/note",
        ];
        let table: Table = table.map(path).into();
        for (sent, told) in [
            (
                "/api/v5/delegates/list",
                Some("did you mean /api/v5/delegate/list?"),
            ),
            (
                "/api/v5/delegat/barcode:A",
                Some("did you mean /api/v5/delegate/barcode:A?"),
            ),
            (
                "/api/v5/delegate/barcode:A/7",
                Some("a / within a code is written %2F: /api/v5/delegate/barcode:A%2F7"),
            ),
            (
                "/api/v5/delegate/barcode:A/7/note",
                Some("a / within a code is written %2F: /api/v5/delegate/barcode:A%2F7/note"),
            ),
            ("/api/v5/weather/tomorrow", None),
            ("/api/v5/delegate/list/x/y/z", None),
        ] {
            assert_eq!(nearest(&table, sent).as_deref(), told, "{sent}");
        }
    }

    #[test]
    fn a_literal_path_goes_before_a_selector() {
        let table = vec![
            ("/d/list".to_owned(), vec![Method::GET]),
            ("/d/:s".to_owned(), vec![Method::DELETE]),
        ];
        assert_eq!(methods(&table, "/d/list"), Some([Method::GET].as_slice()));
        assert_eq!(
            methods(&table, "/d/id:1"),
            Some([Method::DELETE].as_slice())
        );
        assert_eq!(methods(&table, "/d/id:1/x"), None);
    }
}
