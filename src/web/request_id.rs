//! The id of a request, under which the log has what happened to it: the client's own
//! (`X-Request-Id`), or one that the server makes.

use super::RequestTrace;
use poem::{
    FromRequest, Request, RequestBody,
    http::{HeaderMap, HeaderName},
};
use std::{
    fmt,
    sync::{
        LazyLock,
        atomic::{AtomicU64, Ordering},
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
    #[must_use]
    pub fn next() -> Self {
        static PROCESS: LazyLock<u32> = LazyLock::new(|| getrandom::u32().unwrap_or_default());
        static COUNT: AtomicU64 = AtomicU64::new(1);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        Self(format!("{:08x}-{count:x}", *PROCESS))
    }

    /// The id that a client sent, if it can be kept: 1 to 64 characters of `[A-Za-z0-9._-]`, which
    /// harm no log.
    #[must_use]
    pub fn sent(headers: &HeaderMap) -> Option<Self> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        let id = headers.get(REQUEST_ID)?.to_str().ok()?;
        let kept = (1..=SENT_MAX_CHARS).contains(&id.len()) && id.bytes().all(plain);
        kept.then(|| Self(id.to_owned()))
    }

    /// The id as text.
    #[must_use]
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
