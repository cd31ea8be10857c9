//! The frame of every request: its id, the optional `.json`, CORS, and an envelope for whatever
//! goes wrong, panics included (contract §1, §2).

use super::routes::{self, Table};
use crate::{
    admin::{self, Console},
    core::Services,
    identity::App,
    types::error::{Error, Kind},
    web::{
        RequestId, RequestTrace,
        error::{of_poem, respond},
    },
};
use futures_util::FutureExt;
use poem::{
    Endpoint, IntoResponse, Request, Response, Result,
    http::{HeaderValue, Method, StatusCode, Uri, Version, header, uri::PathAndQuery},
    web::Redirect,
};
use std::{panic::AssertUnwindSafe, sync::Arc};

/// The endpoint that every request passes.
pub struct ErrorMiddleware<E> {
    inner: E,
    table: Table,
    console: Arc<Console>,
}

impl<E> ErrorMiddleware<E> {
    /// Wraps `inner`, which serves the paths of `table`.
    pub fn new(inner: E, table: Table, console: &Arc<Console>) -> Self {
        Self {
            inner,
            table,
            console: Arc::clone(console),
        }
    }
}

impl<E: Endpoint> Endpoint for ErrorMiddleware<E> {
    type Output = Response;

    async fn call(&self, mut request: Request) -> Result<Response> {
        let app = self.console.app();
        request.set_data(app.clone());
        request.set_data(Services::clone(app));
        let request_id =
            RequestTrace::of(&request).map_or_else(RequestId::next, |trace| trace.id.clone());
        let in_api = is_in_api(request.uri());
        let is_shared = is_shared(request.uri());
        let origin = allowed_origin(&request);
        let mut response = if is_preflight(&request) {
            self.preflight(&request)
        } else {
            self.answer(request, &request_id).await
        };
        let headers = response.headers_mut();
        if let Some(origin) = origin {
            headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
            headers.insert(
                header::ACCESS_CONTROL_EXPOSE_HEADERS,
                HeaderValue::from_static(
                    "Allow, ETag, Gatepost-Epoch, Gatepost-Epoch-Unproven, Location, Retry-After, X-Request-Id",
                ),
            );
        }
        if is_shared {
            headers.append(header::VARY, HeaderValue::from_static("Origin"));
        }
        if in_api {
            // Nearly all of it is about people, and none of it may outlive a token in a cache.
            headers
                .entry(header::CACHE_CONTROL)
                .or_insert(HeaderValue::from_static("no-store"));
        }
        Ok(response)
    }
}

impl<E: Endpoint> ErrorMiddleware<E> {
    async fn answer(&self, mut request: Request, request_id: &RequestId) -> Response {
        let refused = check_encoding(request.uri()).and_then(|()| check_host(&request));
        if is_of_console(request.uri()) {
            if let Err(error) = refused.and_then(|()| self.check_method(&request)) {
                return self.page_of(error, request);
            }
        } else if let Err(error) = refused {
            return respond(&error, request_id);
        } else if is_qr_in_browser(&request) {
            return Redirect::see_other("/gate").into_response();
        }
        if let Some(uri) = without_json(request.uri()) {
            *request.uri_mut() = uri;
        }
        let (path, method) = (request.uri().path().to_owned(), request.method().clone());
        let outcome = AssertUnwindSafe(self.inner.call(request))
            .catch_unwind()
            .await;
        let cause = match outcome {
            Ok(Ok(response)) => return response.into_response(),
            Ok(Err(cause)) if cause.is_from_response() => return cause.into_response(),
            Ok(Err(cause)) => of_poem(cause),
            Err(panic) => Error::defect(crate::types::error::panic_text(panic.as_ref())),
        };
        match cause.kind {
            Kind::MethodNotAllowed => self.other_method(&method, &path, request_id),
            Kind::NoSuchPath if path.starts_with("/api/") => {
                let hint = routes::nearest(&self.table, &path);
                let told = hint.map(|hint| Error::new(cause.kind, format!("{cause}; {hint}")));
                respond(told.as_ref().unwrap_or(&cause), request_id)
            }
            _ => respond(&cause, request_id),
        }
    }

    /// Refuses a method, and names those that the path knows.
    fn other_method(&self, method: &Method, path: &str, request_id: &RequestId) -> Response {
        let allow = self.allow(path);
        let cause = Error::new(
            Kind::MethodNotAllowed,
            format!("this path does not know {method}; it knows {allow}"),
        );
        let mut response = respond(&cause, request_id);
        if let Ok(allow) = HeaderValue::from_str(&allow) {
            response.headers_mut().insert(header::ALLOW, allow);
        }
        response
    }

    /// People get a page where programs get an envelope.
    fn page_of(&self, error: Error, request: Request) -> Response {
        let allow =
            (error.kind == Kind::MethodNotAllowed).then(|| self.allow(request.uri().path()));
        let mut response = admin::route::refuse(&self.console, request, error);
        if let Some(Ok(allow)) = allow.as_deref().map(HeaderValue::from_str) {
            response.headers_mut().insert(header::ALLOW, allow);
        }
        response
    }

    /// Checks that a path of the console knows the request's method.
    fn check_method(&self, request: &Request) -> Result<(), Error> {
        let method = match request.method() {
            &Method::HEAD => &Method::GET,
            method => method,
        };
        match routes::methods(&self.table, request.uri().path()) {
            Some(methods) if !methods.contains(method) => Err(Error::new(
                Kind::MethodNotAllowed,
                format!("this page does not know {}", request.method()),
            )),
            None if method != Method::GET => {
                Err(Error::new(Kind::NoSuchPath, "there is no such page"))
            }
            _ => Ok(()),
        }
    }

    fn allow(&self, path: &str) -> String {
        let methods = routes::methods(&self.table, path).unwrap_or_default();
        let mut names: Vec<&str> = methods.iter().map(Method::as_str).collect();
        if methods.contains(&Method::GET) {
            names.push(Method::HEAD.as_str());
        }
        names.sort_unstable();
        names.join(", ")
    }

    /// Answers a browser's question before it calls from another origin.
    fn preflight(&self, request: &Request) -> Response {
        let shorter = without_json(request.uri());
        let path = shorter.as_ref().unwrap_or(request.uri()).path();
        Response::builder()
            .status(StatusCode::NO_CONTENT)
            .header(header::ACCESS_CONTROL_ALLOW_METHODS, self.allow(path))
            .header(
                header::ACCESS_CONTROL_ALLOW_HEADERS,
                "Authorization, Content-Type, Gatepost-Epoch, Idempotency-Key, If-Match, Last-Event-ID, X-Request-Id",
            )
            .header(header::ACCESS_CONTROL_MAX_AGE, "600")
            .finish()
    }
}

fn is_in_api(uri: &Uri) -> bool {
    uri.path().starts_with("/api/")
}

/// Returns whether pages of other origins may read what stands there: the API, and the document that describes it.
fn is_shared(uri: &Uri) -> bool {
    is_in_api(uri) || uri.path() == "/openapi.json"
}

/// Returns whether a browser opens the address in the console's QR: an app would POST to it, but a phone's own camera
/// shows it in the browser, where the gate app is.
fn is_qr_in_browser(request: &Request) -> bool {
    let accepted = request.header(header::ACCEPT).unwrap_or_default();
    request.method() == Method::GET
        && accepted.contains("text/html")
        && request.uri().path().ends_with("/device-request/new")
}

fn is_of_console(uri: &Uri) -> bool {
    let path = uri.path();
    path == "/console" || path.starts_with("/console/")
}

fn is_preflight(request: &Request) -> bool {
    request.method() == Method::OPTIONS
        && request
            .headers()
            .contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}

/// The value of `Access-Control-Allow-Origin`, where the API is called from an origin that may.
fn allowed_origin(request: &Request) -> Option<HeaderValue> {
    let origin = request.headers().get(header::ORIGIN)?;
    if !is_shared(request.uri()) {
        return None;
    }
    let settings = request.data::<App>()?.settings();
    let allowed = settings.cors_origins.as_ref().is_none_or(|origins| {
        origins
            .iter()
            .any(|known| known.as_bytes() == origin.as_bytes())
    });
    allowed.then(|| origin.clone())
}

/// The address without one `.json` at the end of its last path segment (contract §1). A report's
/// `data.json` keeps its own.
fn without_json(uri: &Uri) -> Option<Uri> {
    let path = uri.path();
    let shorter = path.strip_suffix(".json")?;
    if !path.starts_with("/api/") || shorter.ends_with('/') || shorter.ends_with("/data") {
        return None;
    }
    let target = match uri.query() {
        Some(query) => format!("{shorter}?{query}"),
        None => shorter.to_owned(),
    };
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(target.parse::<PathAndQuery>().ok()?);
    Uri::from_parts(parts).ok()
}

/// An address that cannot be decoded would silently be read as another.
fn check_encoding(uri: &Uri) -> Result<(), Error> {
    for (part, text) in [
        ("path", uri.path()),
        ("query string", uri.query().unwrap_or_default()),
    ] {
        if !is_decodable(text.as_bytes()) {
            return Err(Error::invalid(format!(
                "the {part} is not valid percent-encoded UTF-8"
            )));
        }
    }
    Ok(())
}

/// Links are made of the host, so it has to be one (RFC 9112 section 3.2).
fn check_host(request: &Request) -> Result<(), Error> {
    let mut hosts = request.headers().get_all(header::HOST).iter();
    let plain = |host: &HeaderValue| {
        let bytes = host.as_bytes();
        !bytes.is_empty()
            && bytes
                .iter()
                .all(|byte| byte.is_ascii_alphanumeric() || b".-_:[]%".contains(byte))
    };
    match (hosts.next(), hosts.next()) {
        (Some(host), None) if plain(host) => Ok(()),
        (None, _) if request.version() == Version::HTTP_10 => Ok(()),
        _ => Err(Error::field(
            "Host",
            "must be there once, a name or an address with a port",
        )),
    }
}

fn is_decodable(text: &[u8]) -> bool {
    let hex = |at: usize| text.get(at).is_some_and(u8::is_ascii_hexdigit);
    let mut escapes = text.iter().enumerate().filter(|(_, byte)| **byte == b'%');
    let whole = escapes.all(|(at, _)| hex(at + 1) && hex(at + 2));
    whole && percent_encoding::percent_decode(text).decode_utf8().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_json_suffix_is_removed() {
        let shown = |uri: &str| without_json(&uri.parse().unwrap()).map(|uri| uri.to_string());
        assert_eq!(shown("/api/v5/ping.json").as_deref(), Some("/api/v5/ping"));
        assert_eq!(
            shown("/api/v5/delegate/list.json?limit=1").as_deref(),
            Some("/api/v5/delegate/list?limit=1")
        );
        assert_eq!(
            shown("/api/5/delegate/barcode:A.json.json").as_deref(),
            Some("/api/5/delegate/barcode:A.json")
        );
        assert_eq!(shown("/api/v5/report/x/export/1/data.json"), None);
        assert_eq!(shown("/openapi.json"), None);
        assert_eq!(shown("/api/v5/ping"), None);
    }

    #[test]
    fn broken_percent_encoding_is_refused() {
        for (query, fine) in [
            ("", true),
            ("a=%20b", true),
            ("a=%2", false),
            ("a=%zz", false),
            ("a=%ff", false),
        ] {
            assert_eq!(is_decodable(query.as_bytes()), fine, "{query}");
        }
    }
}
