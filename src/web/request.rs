//! Facts about a request: its id (`X-Request-Id`, or one that the server makes), the operation and the
//! client, for the log and the metrics, and the sender's network address. Behind a trusted proxy
//! (`--trusted-proxy`) that is the one that the proxy names in `X-Forwarded-For`; from anybody else the header
//! is ignored.

use crate::core::texts;
use poem::{
    FromRequest, Request, RequestBody,
    http::{HeaderMap, HeaderName, header},
};
use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::{
        Arc, LazyLock, OnceLock,
        atomic::{
            AtomicBool, AtomicU64, AtomicUsize,
            Ordering::{self, Relaxed},
        },
    },
};

/// The header that carries it.
pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// The longest id of a client that is kept.
const SENT_MAX_CHARS: usize = 64;

/// Made by the server, it is unique among the requests of every run: a random part of this process
/// and a counter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestId(String);

impl RequestId {
    /// The next id.
    pub fn next() -> Self {
        static PROCESS: LazyLock<u32> = LazyLock::new(|| getrandom::u32().unwrap_or_default());
        static COUNT: AtomicU64 = AtomicU64::new(1);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        Self(format!("{:08x}-{count:x}", *PROCESS))
    }

    /// The id that a client sent, if it can be kept: 1 to 64 characters of `[A-Za-z0-9._-]`, which
    /// harm no log.
    pub fn sent(headers: &HeaderMap) -> Option<Self> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        let id = headers.get(REQUEST_ID)?.to_str().ok()?;
        let kept = (1..=SENT_MAX_CHARS).contains(&id.len()) && id.bytes().all(plain);
        kept.then(|| Self(id.to_owned()))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'a> FromRequest<'a> for RequestId {
    async fn from_request(request: &'a Request, _: &mut RequestBody) -> poem::Result<Self> {
        Ok(RequestTrace::of(request).map_or_else(Self::next, |trace| trace.id.clone()))
    }
}

/// Goes with a request through every part of the server.
pub struct RequestTrace {
    /// The request's id.
    pub id: RequestId,
    operation: AtomicUsize,
    body_timeout_disabled: AtomicBool,
    client: OnceLock<String>,
}

impl RequestTrace {
    /// The trace of a new request.
    pub fn start(id: RequestId) -> Arc<Self> {
        Arc::new(Self {
            id,
            operation: AtomicUsize::new(0),
            body_timeout_disabled: AtomicBool::new(false),
            client: OnceLock::new(),
        })
    }

    /// The trace of a request that came in through the server.
    pub fn of(request: &Request) -> Option<&Arc<Self>> {
        request.data::<Arc<Self>>()
    }

    /// The request reached an operation, by its number in the metrics.
    pub fn reached(&self, operation: usize) {
        self.operation.store(operation, Relaxed);
    }

    /// The operation that the request reached; 0 for none.
    pub fn operation(&self) -> usize {
        self.operation.load(Relaxed)
    }

    /// The request's body is a long file from somebody who may send one: it may take as long as it
    /// takes, as long as something of it comes.
    pub fn disable_body_timeout(&self) {
        self.body_timeout_disabled.store(true, Relaxed);
    }

    /// Returns whether the request's body may take as long as it takes.
    pub fn is_body_timeout_disabled(&self) -> bool {
        self.body_timeout_disabled.load(Relaxed)
    }

    /// The request's token is valid, and was issued to this client.
    pub fn made_by(&self, client: &str) {
        let _ = self.client.set(client.to_owned());
    }

    /// The client that made the request, once its token was looked at.
    pub fn client(&self) -> Option<&str> {
        self.client.get().map(String::as_str)
    }
}

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The address of whoever sent a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientAddress(pub IpAddr);

impl ClientAddress {
    /// The address of a request's sender. A socket of the machine itself has none: that is loopback.
    pub fn of(request: &Request) -> IpAddr {
        if let Some(Self(address)) = request.data::<Self>() {
            return *address;
        }
        let remote = request.remote_addr().as_socket_addr();
        remote.map_or(Ipv4Addr::LOCALHOST.into(), |remote| {
            remote.ip().to_canonical()
        })
    }

    /// The rightmost address that is not a trusted proxy's: what stands left of it was written by
    /// somebody who is not trusted.
    pub fn read(peer: IpAddr, headers: &HeaderMap, trusted_proxies: &[IpAddr]) -> Self {
        let mut address = peer.to_canonical();
        let trusted = |address: &IpAddr| trusted_proxies.contains(address);
        let lines = headers.get_all(FORWARDED_FOR).iter().rev();
        let mut hops = lines.flat_map(|line| line.to_str().unwrap_or_default().rsplit(','));
        while trusted(&address) {
            match hops.next().and_then(forwarded) {
                Some(hop) => address = hop,
                None => break,
            }
        }
        Self(address)
    }
}

impl<'a> FromRequest<'a> for ClientAddress {
    async fn from_request(request: &'a Request, _: &mut RequestBody) -> poem::Result<Self> {
        Ok(Self(Self::of(request)))
    }
}

/// One entry of the header: an address, with or without a port.
fn forwarded(entry: &str) -> Option<IpAddr> {
    let entry = entry.trim();
    let bare = entry
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .unwrap_or(entry);
    let address = bare.parse::<IpAddr>();
    let address = address.or_else(|_| entry.parse::<SocketAddr>().map(|socket| socket.ip()));
    address.ok().map(|address| address.to_canonical())
}

/// The cookie with the language of the user who signed in last in a browser.
pub const LANGUAGE: &str = "gatepost_language";

/// A cookie of a request.
pub fn cookie<'r>(request: &'r Request, name: &str) -> Option<&'r str> {
    let cookies = request.headers().get(header::COOKIE)?.to_str().ok()?;
    cookies.split(';').find_map(|pair| {
        let (key, value) = pair.trim().split_once('=')?;
        (key == name).then_some(value)
    })
}

/// The language of the user who signed in last in the browser of a request, otherwise the first that it accepts and there is.
pub fn language(request: &Request) -> Option<&'static texts::Language> {
    let accepted = request.headers().get(header::ACCEPT_LANGUAGE);
    let accepted = accepted.and_then(|value| value.to_str().ok());
    texts::choose(cookie(request, LANGUAGE), accepted.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use poem::http::HeaderValue;

    #[test]
    fn the_rightmost_address_that_is_not_trusted_counts() {
        let proxies: Vec<IpAddr> = ["10.0.0.1", "10.0.0.2", "::1"]
            .map(|address| address.parse().unwrap())
            .into();
        for (peer, lines, expected) in [
            ("192.0.2.9", vec!["1.1.1.1"], "192.0.2.9"),
            ("10.0.0.1", vec![], "10.0.0.1"),
            ("10.0.0.1", vec!["192.0.2.7"], "192.0.2.7"),
            ("::ffff:10.0.0.1", vec!["192.0.2.7:443"], "192.0.2.7"),
            ("::1", vec!["[2001:db8::7]:443"], "2001:db8::7"),
            (
                "10.0.0.1",
                vec!["1.1.1.1, 192.0.2.7 , 10.0.0.2"],
                "192.0.2.7",
            ),
            (
                "10.0.0.1",
                vec!["1.1.1.1", "192.0.2.7", "10.0.0.2"],
                "192.0.2.7",
            ),
            ("10.0.0.1", vec!["10.0.0.2"], "10.0.0.2"),
            // What nobody can read is nobody's address.
            ("10.0.0.1", vec!["1.1.1.1, unknown"], "10.0.0.1"),
            ("10.0.0.1", vec!["unknown, 10.0.0.2"], "10.0.0.2"),
        ] {
            let mut headers = HeaderMap::new();
            for line in &lines {
                headers.append(FORWARDED_FOR, HeaderValue::from_static(line));
            }
            let read = ClientAddress::read(peer.parse().unwrap(), &headers, &proxies);
            assert_eq!(
                read.0,
                expected.parse::<IpAddr>().unwrap(),
                "{peer} {lines:?}"
            );
        }
    }
}
