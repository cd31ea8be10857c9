//! What becomes known of a request on its way in, for the log and the metrics: its id, the
//! operation that it reached, and who made it.

use super::RequestId;
use poem::Request;
use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
};

/// Goes with a request through every part of the server.
pub struct RequestTrace {
    /// The request's id.
    pub id: RequestId,
    operation: AtomicUsize,
    body_timeout_disabled: AtomicBool,
    client: OnceLock<String>,
}

impl RequestTrace {
    /// The trail of a new request.
    #[must_use]
    pub fn start(id: RequestId) -> Arc<Self> {
        Arc::new(Self {
            id,
            operation: AtomicUsize::new(0),
            body_timeout_disabled: AtomicBool::new(false),
            client: OnceLock::new(),
        })
    }

    /// The trail of a request that came in through the server.
    #[must_use]
    pub fn of(request: &Request) -> Option<&Arc<Self>> {
        request.data::<Arc<Self>>()
    }

    /// The request reached an operation, by its number in the metrics.
    pub fn reached(&self, operation: usize) {
        self.operation.store(operation, Relaxed);
    }

    /// The operation that the request reached; 0 for none.
    #[must_use]
    pub fn operation(&self) -> usize {
        self.operation.load(Relaxed)
    }

    /// The request's body is a long file from somebody who may send one: it may take as long as it
    /// takes, as long as something of it comes.
    pub fn disable_body_timeout(&self) {
        self.body_timeout_disabled.store(true, Relaxed);
    }

    /// Whether the request's body may take as long as it takes.
    #[must_use]
    pub fn is_body_timeout_disabled(&self) -> bool {
        self.body_timeout_disabled.load(Relaxed)
    }

    /// The request's token is valid, and was issued to this client.
    pub fn made_by(&self, client: &str) {
        let _ = self.client.set(client.to_owned());
    }

    /// The client that made the request, once its token was looked at.
    #[must_use]
    pub fn client(&self) -> Option<&str> {
        self.client.get().map(String::as_str)
    }
}
