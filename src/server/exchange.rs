//! One request and its answer: the request's body gets its time limit, the answer is compressed
//! where that helps, and both are counted and, if wished, logged.

use super::{
    access::{self, Line},
    body::{Arriving, Departing},
    connection_state::ConnectionState,
    gzip,
    traffic::Traffic,
};
use crate::{
    types::error::{Error, Kind},
    web::{self, ClientAddress, RequestId, RequestTrace, request_id::REQUEST_ID},
};
use http_body::Body as _;
use http_body_util::combinators::BoxBody;
use hyper::body::Incoming;
use poem::{
    Body, Endpoint, Request, RequestParts,
    endpoint::BoxEndpoint,
    http::{HeaderValue, StatusCode, header, uri::Scheme},
    web::{LocalAddr, RemoteAddr},
};
use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::{Duration, Instant},
};

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
        let accepted = request.headers().get(header::ACCEPT_ENCODING).cloned();
        let mut request = self.taken(request, peer, begun, &trace);
        request.set_data(Arc::clone(&trace));
        request.set_data(client);
        let response = self.endpoint.get_response(request).await;
        let mut response: hyper::Response<BoxBody<_, _>> = response.into();
        self.traffic
            .answered(trace.operation(), response.status(), begun.elapsed());
        if let Ok(id) = HeaderValue::from_str(trace.id.as_str()) {
            response.headers_mut().insert(REQUEST_ID, id);
        }
        if peer.connection_state.must_close() {
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(header::CONNECTION, close);
        }
        let compressed = gzip::prepare(&mut response, accepted.as_ref());
        let line = line.map(|line| line.answered(response.status(), &trace));
        let connection_state = Arc::clone(&peer.connection_state);
        response.map(|body| Departing::new(body, compressed, connection_state, line))
    }

    /// What is told of something that was no request, with the id under which it is logged.
    pub fn unread(&self, status: StatusCode, peer: &Peer) -> (String, String) {
        let error = match status {
            StatusCode::URI_TOO_LONG => Error::new(
                Kind::AddressTooLong,
                "the address may have at most 64 KiB, escapes included",
            ),
            StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => Error::new(
                Kind::HeadTooLarge,
                "address and headers may have at most 80 KiB, and 100 headers",
            ),
            _ => Error::invalid("the request line or a header is not valid HTTP/1.1"),
        };
        let trace = RequestTrace::start(RequestId::next());
        let body = web::error::body(&error, &trace.id);
        self.traffic
            .answered(trace.operation(), status, Duration::ZERO);
        access::unread(peer.remote, status, body.len(), &trace);
        (trace.id.to_string(), body)
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
