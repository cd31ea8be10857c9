//! One request and its answer: the request's body gets its time limit, the answer is compressed
//! where that helps, and both are counted and, if wished, logged.

use super::{
    access::{self, Line},
    body::{Arriving, Departing},
    gzip,
    pulse::Pulse,
    traffic::Traffic,
};
use crate::{
    types::error::{Error, Kind},
    web::{self, ClientAddress, RequestId, Trail, request_id::REQUEST_ID},
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
    pub pulse: Arc<Pulse>,
}

impl Exchange {
    /// Answers a request.
    pub async fn answer(
        &self,
        request: hyper::Request<Incoming>,
        peer: &Peer,
    ) -> hyper::Response<Departing> {
        let begun = Instant::now();
        peer.pulse.serving();
        let sent = RequestId::sent(request.headers());
        let trail = Trail::start(sent.unwrap_or_else(RequestId::next));
        let client =
            ClientAddress::read(peer.remote.ip(), request.headers(), &self.trusted_proxies);
        let line = Line::wanted().then(|| Line::begin(&request, client.0, begun));
        let accepted = request.headers().get(header::ACCEPT_ENCODING).cloned();
        let mut request = self.taken(request, peer, begun, &trail);
        request.set_data(Arc::clone(&trail));
        request.set_data(client);
        let response = self.endpoint.get_response(request).await;
        let mut response: hyper::Response<BoxBody<_, _>> = response.into();
        self.traffic
            .answered(trail.operation(), response.status(), begun.elapsed());
        if let Ok(id) = HeaderValue::from_str(trail.id.as_str()) {
            response.headers_mut().insert(REQUEST_ID, id);
        }
        if peer.pulse.spoilt() {
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(header::CONNECTION, close);
        }
        let compressed = gzip::prepare(&mut response, accepted.as_ref());
        let line = line.map(|line| line.answered(response.status(), &trail));
        let pulse = Arc::clone(&peer.pulse);
        response.map(|body| Departing::new(body, compressed, pulse, line))
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
        let trail = Trail::start(RequestId::next());
        let body = web::error::body(&error, &trail.id);
        self.traffic
            .answered(trail.operation(), status, Duration::ZERO);
        access::unread(peer.remote, status, body.len(), &trail);
        (trail.id.to_string(), body)
    }

    /// The request as poem takes it.
    fn taken(
        &self,
        request: hyper::Request<Incoming>,
        peer: &Peer,
        begun: Instant,
        trail: &Arc<Trail>,
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
            let pulse = Arc::clone(&peer.pulse);
            let trail = Arc::clone(trail);
            BoxBody::new(Arriving::new(body, pulse, trail, begun, self.body_time)).into()
        };
        Request::from_parts(parts, body)
    }
}
