//! The access log: one line a request, when its answer is through. It names neither tokens nor
//! people: no query strings, and of the codes in a path only their kind. A secret in an address must
//! therefore stand in the query, or behind a colon.

use crate::web::RequestTrace;
use poem::http::{Method, StatusCode};
use std::{net::IpAddr, sync::Arc, time::Instant};
use tracing::Level;

/// The log's target, by which it is switched on.
pub const TARGET: &str = "gatepost::access";
/// Longer paths are cut.
const PATH_MAX_CHARS: usize = 200;

/// A line of the log.
pub struct Line {
    method: Method,
    path: String,
    address: IpAddr,
    begun: Instant,
    status: u16,
    trace: Option<Arc<RequestTrace>>,
}

impl Line {
    /// Whether anybody reads the log.
    pub fn wanted() -> bool {
        tracing::enabled!(target: TARGET, Level::INFO)
    }

    /// What the request tells.
    pub fn begin<B>(request: &hyper::Request<B>, client: IpAddr, begun: Instant) -> Self {
        Self {
            method: request.method().clone(),
            path: shown(request.uri().path()),
            address: client,
            begun,
            status: 0,
            trace: None,
        }
    }

    /// What its answer adds.
    pub fn answered(mut self, status: StatusCode, trace: &Arc<RequestTrace>) -> Self {
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
            target: TARGET,
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
