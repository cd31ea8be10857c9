//! One request and its answer: the request's body gets its time limit, the answer is compressed
//! where that helps, and both are counted and, if wished, logged.

use super::{
    access::Line,
    body::{Arriving, Departing},
    connection_state::ConnectionState,
    traffic::Traffic,
};
use crate::web::{ClientAddress, RequestId, RequestTrace, request_id::REQUEST_ID};
use bytes::Bytes;
use http_body::Body as _;
use http_body_util::combinators::BoxBody;
use hyper::body::Incoming;
use poem::{
    Body, Endpoint, Request, RequestParts,
    endpoint::BoxEndpoint,
    http::{Extensions, HeaderMap, HeaderValue, StatusCode, Version, header, uri::Scheme},
    web::{LocalAddr, RemoteAddr},
};
use std::{
    convert::Infallible,
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

/// Shorter answers fit into one or two packets as they are. A look-up is never compressed.
const COMPRESSED_MIN_BYTES: u16 = 4096;

/// What answers requests.
pub struct Exchange {
    /// The server's endpoint.
    pub endpoint: BoxEndpoint<'static>,
    /// Where requests are counted.
    pub traffic: Arc<Traffic>,
    /// How long a body may take (see [`super::limits::Limits::body_time`]).
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
    /// What the connection is doing.
    pub connection_state: Arc<ConnectionState>,
}

impl Exchange {
    /// Answers a request.
    pub async fn answer(
        &self,
        request: hyper::Request<Incoming>,
        peer: &Peer,
    ) -> hyper::Response<Departing> {
        let begun = Instant::now();
        peer.connection_state.serving();
        let sent = RequestId::sent(request.headers());
        let trace = RequestTrace::start(sent.unwrap_or_else(RequestId::next));
        let client =
            ClientAddress::read(peer.remote.ip(), request.headers(), &self.trusted_proxies);
        let line = Line::wanted().then(|| Line::begin(&request, client.0, begun));
        let answered = service_fn(async |request| {
            let mut request = self.taken(request, peer, begun, &trace);
            request.set_data(Arc::clone(&trace));
            request.set_data(client);
            let response = self.endpoint.get_response(request).await;
            Ok::<hyper::Response<BoxBody<Bytes, io::Error>>, Infallible>(response.into())
        });
        let compressed = Compression::new(answered)
            .quality(CompressionLevel::Fastest)
            .compress_when(SizeAbove::new(COMPRESSED_MIN_BYTES).and(is_text));
        let Ok(mut response) = compressed.oneshot(request).await;
        self.traffic
            .answered(trace.operation(), response.status(), begun.elapsed());
        if let Ok(id) = HeaderValue::from_str(trace.id.as_str()) {
            response.headers_mut().insert(REQUEST_ID, id);
        }
        if peer.connection_state.must_close() {
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(header::CONNECTION, close);
        }
        let line = line.map(|line| line.answered(response.status(), &trace));
        let connection_state = Arc::clone(&peer.connection_state);
        response.map(|body| Departing::new(body, connection_state, line))
    }

    /// The request as poem takes it.
    fn taken(
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
            BoxBody::new(Arriving::new(
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

/// Whether an answer is of a kind that shrinks, and is not an endless stream of events.
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
