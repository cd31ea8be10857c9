//! One request and its answer: the request's body gets its time limit, the answer is compressed where that
//! helps, and both are counted and, if wished, logged. The access log names neither tokens nor people: no
//! query strings, and of the codes in a path only their kind. A secret in an address must therefore be in the
//! query, or behind a colon.

use super::{
    body::{IncomingBody, OutgoingBody},
    connection_state::ConnectionState,
    metrics::Traffic,
};
use crate::web::{ClientAddress, RequestId, RequestTrace, request::REQUEST_ID};
use bytes::Bytes;
use http_body::Body as _;
use http_body_util::{BodyExt, combinators::BoxBody};
use hyper::body::Incoming;
use poem::{
    Body, Endpoint, Request, RequestParts,
    endpoint::BoxEndpoint,
    http::{
        Extensions, HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Version, header,
        uri::Scheme,
    },
    web::{LocalAddr, RemoteAddr},
};
use std::{
    convert::Infallible,
    future::ready,
    io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::{Duration, Instant},
};
use tower::{ServiceExt, service_fn};
use tower_http::{
    CompressionLevel,
    compression::{
        Compression,
        predicate::{Predicate, SizeAbove},
    },
};
use tracing::Level;

/// Shorter answers fit into one or two packets as they are. A look-up is never compressed.
const COMPRESSED_MIN_BYTES: u16 = 4096;

/// Headers of every answer: browsers guess no other type than the stated one, and pass no address on.
const ALWAYS: [(HeaderName, &str); 2] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
];

/// The service that answers requests.
pub struct Exchange {
    /// The server's endpoint.
    pub endpoint: BoxEndpoint<'static>,
    /// The counters of requests.
    pub traffic: Arc<Traffic>,
    /// The time that a body may take (see [`super::connections::Limits::body_time`]).
    pub body_time: Duration,
    /// From whom `X-Forwarded-For` counts.
    pub trusted_proxies: Vec<IpAddr>,
}

/// The other end of a connection.
pub struct Peer {
    /// Its address.
    pub remote: SocketAddr,
    /// The address that it reached.
    pub local: SocketAddr,
    /// `http` or `https`.
    pub scheme: Scheme,
    pub connection_state: Arc<ConnectionState>,
}

impl Exchange {
    /// Answers a request.
    pub async fn answer(
        &self,
        request: hyper::Request<Incoming>,
        peer: &Peer,
    ) -> hyper::Response<OutgoingBody> {
        let begun = Instant::now();
        peer.connection_state.serving();
        let sent = RequestId::sent(request.headers());
        let trace = RequestTrace::start(sent.unwrap_or_else(RequestId::next));
        let client =
            ClientAddress::read(peer.remote.ip(), request.headers(), &self.trusted_proxies);
        let line = AccessLine::is_enabled().then(|| AccessLine::begin(&request, client.0, begun));
        let codings = request.headers().get(header::ACCEPT_ENCODING).cloned();
        let mut request = self.poem_request(request, peer, begun, &trace);
        request.set_data(Arc::clone(&trace));
        request.set_data(client);
        let mut response: Answer = self.endpoint.get_response(request).await.into();
        // Around every answer, what compresses would be moved about with it.
        if is_compressible().should_compress(&response) {
            response = compress(response, codings).await;
        }
        self.traffic
            .answered(trace.operation(), response.status(), begun.elapsed());
        if let Ok(id) = HeaderValue::from_str(trace.id.as_str()) {
            response.headers_mut().insert(REQUEST_ID, id);
        }
        for (name, value) in ALWAYS {
            response
                .headers_mut()
                .insert(name, HeaderValue::from_static(value));
        }
        if peer.connection_state.must_close() {
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(header::CONNECTION, close);
        }
        let line = line.map(|line| line.answered(response.status(), &trace));
        let connection_state = Arc::clone(&peer.connection_state);
        response.map(|body| OutgoingBody::new(body, connection_state, line))
    }

    /// The request as poem takes it.
    fn poem_request(
        &self,
        request: hyper::Request<Incoming>,
        peer: &Peer,
        begun: Instant,
        trace: &Arc<RequestTrace>,
    ) -> Request {
        let (parts, body) = request.into_parts();
        let parts = RequestParts::from((
            parts,
            LocalAddr(peer.local.into()),
            RemoteAddr(peer.remote.into()),
            peer.scheme.clone(),
        ));
        let body = if body.is_end_stream() {
            Body::empty()
        } else {
            let connection_state = Arc::clone(&peer.connection_state);
            let trace = Arc::clone(trace);
            BoxBody::new(IncomingBody::new(
                body,
                connection_state,
                trace,
                begun,
                self.body_time,
            ))
            .into()
        };
        Request::from_parts(parts, body)
    }
}

/// An answer on its way.
type Answer = hyper::Response<BoxBody<Bytes, io::Error>>;

/// Compresses an answer by a coding that the client accepts, if there is one.
async fn compress(mut answer: Answer, codings: Option<HeaderValue>) -> Answer {
    let mut request = hyper::Request::new(());
    if let Some(codings) = codings {
        request
            .headers_mut()
            .insert(header::ACCEPT_ENCODING, codings);
    }
    let answered = service_fn(|_| ready(Ok::<_, Infallible>(std::mem::take(&mut answer))));
    let compressed = Compression::new(answered)
        .quality(CompressionLevel::Fastest)
        .compress_when(is_compressible());
    let Ok(compressed) = compressed.oneshot(request).await;
    compressed.map(|body| BoxBody::new(body.map_err(io::Error::other)))
}

fn is_compressible() -> impl Predicate {
    SizeAbove::new(COMPRESSED_MIN_BYTES).and(is_text)
}

/// Returns whether an answer is of a kind that shrinks, and is not an endless stream of events.
fn is_text(_: StatusCode, _: Version, headers: &HeaderMap, _: &Extensions) -> bool {
    let kind = headers
        .get(header::CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok())
        .unwrap_or_default();
    kind.starts_with("application/json")
        || kind.starts_with("application/x-ndjson")
        || kind.starts_with("application/javascript")
        || kind.starts_with("image/svg")
        || (kind.starts_with("text/") && !kind.starts_with("text/event-stream"))
}

/// The log's target, by which it is switched on.
pub const ACCESS_LOG: &str = "gatepost::access";
/// Longer paths are cut.
const PATH_MAX_CHARS: usize = 200;

/// A line of the log.
pub struct AccessLine {
    method: Method,
    path: String,
    address: IpAddr,
    begun: Instant,
    status: u16,
    trace: Option<Arc<RequestTrace>>,
}

impl AccessLine {
    /// Returns whether anybody reads the log.
    fn is_enabled() -> bool {
        tracing::enabled!(target: ACCESS_LOG, Level::INFO)
    }

    /// Begins the line with the facts of the request.
    fn begin<B>(request: &hyper::Request<B>, client: IpAddr, begun: Instant) -> Self {
        Self {
            method: request.method().clone(),
            path: shown(request.uri().path()),
            address: client,
            begun,
            status: 0,
            trace: None,
        }
    }

    /// Adds the facts of the answer.
    fn answered(mut self, status: StatusCode, trace: &Arc<RequestTrace>) -> Self {
        self.status = status.as_u16();
        self.trace = Some(Arc::clone(trace));
        self
    }

    /// Writes the line; `bytes` of the answer's body were sent.
    pub fn write(self, bytes: u64) {
        let Some(trace) = &self.trace else {
            return;
        };
        let client = trace.client();
        let duration_ms = (self.begun.elapsed().as_secs_f64() * 1e6).round() / 1e3;
        tracing::info!(
            target: ACCESS_LOG,
            method = %self.method,
            path = self.path,
            status = self.status,
            duration_ms,
            bytes,
            address = %self.address,
            client,
            request_id = trace.id.as_str(),
        );
    }
}

/// A path as the log shows it: codes are what tickets are made of, so `barcode:AB12` becomes
/// `barcode:…`. An id tells nothing by itself.
fn shown(path: &str) -> String {
    let mut shown = String::new();
    for (n, segment) in path.split('/').enumerate() {
        if n > 0 {
            shown.push('/');
        }
        let kind = segment.find(':').map(|colon| &segment[..colon]);
        let encoded = segment.to_ascii_lowercase().find("%3a");
        match (kind, encoded) {
            (Some("id"), None) => shown.push_str(segment),
            (Some(kind), _) if !kind.contains('%') => {
                shown.push_str(kind);
                shown.push_str(":…");
                // A code may hold slashes: whatever follows may belong to it.
                break;
            }
            (Some(_), _) | (None, Some(_)) => {
                shown.push('…');
                break;
            }
            (None, None) => shown.push_str(segment),
        }
    }
    if shown.chars().count() > PATH_MAX_CHARS {
        shown = shown.chars().take(PATH_MAX_CHARS).collect();
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_shown_without_its_codes() {
        for (path, expected) in [
            ("/api/v5/delegate/list", "/api/v5/delegate/list"),
            ("/api/v5/delegate/id:7", "/api/v5/delegate/id:7"),
            (
                "/api/v5/delegate/barcode:AB12",
                "/api/v5/delegate/barcode:…",
            ),
            (
                "/api/v5/delegate/barcode:A/B:C",
                "/api/v5/delegate/barcode:…",
            ),
            ("/api/v5/delegate/barcode%3AAB12", "/api/v5/delegate/…"),
            ("/api/v5/delegate/id:7%3a/x", "/api/v5/delegate/id:…"),
            ("/", "/"),
        ] {
            assert_eq!(shown(path), expected, "{path}");
        }
        let long = shown(&"/a".repeat(5000));
        assert_eq!(long.chars().count(), 201);
    }
}
