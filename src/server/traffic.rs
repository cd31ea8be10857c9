//! How many requests each operation had, how they ended and how long they took. Operations are
//! counted by their pattern, never by what stood in their place: so there are only so many.

use crate::{
    types::observe::{DURATIONS, Exposition, Histogram},
    web::RequestTrace,
};
use poem::{Endpoint, Request, Result, http::StatusCode};
use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

/// The counted operations.
pub struct Traffic(Vec<Operation>);

struct Operation {
    /// Prometheus labels: `method="GET",route="/delegate/list"`.
    labels: String,
    /// By the first digit of the status, from 1.
    by_class: [AtomicU64; 5],
    took: Histogram,
}

impl Operation {
    fn new(method: &str, route: &str) -> Self {
        Self {
            labels: format!("method=\"{method}\",route=\"{route}\""),
            by_class: Default::default(),
            took: Histogram::new(DURATIONS),
        }
    }
}

impl Default for Traffic {
    /// Only what is no operation yet: number 0.
    fn default() -> Self {
        Self(vec![Operation::new("", "other")])
    }
}

impl Traffic {
    /// The number of an operation, known before or new.
    pub fn operation(&mut self, method: &str, route: &str) -> usize {
        let new = Operation::new(method, route);
        let known = self.0.iter().position(|known| known.labels == new.labels);
        known.unwrap_or_else(|| {
            self.0.push(new);
            self.0.len() - 1
        })
    }

    /// Counts an answer; `took` is the time until it began.
    pub fn answered(&self, operation: usize, status: StatusCode, took: Duration) {
        let Some(operation) = self.0.get(operation) else {
            return;
        };
        let class = usize::from(status.as_u16() / 100).clamp(1, 5);
        operation.by_class[class - 1].fetch_add(1, Relaxed);
        operation.took.record_duration(took);
    }

    /// Writes what was counted; operations without a request are left out.
    pub fn expose(&self, page: &mut Exposition) {
        let used = || {
            self.0
                .iter()
                .filter(|operation| operation.took.cumulated().1 > 0)
        };
        page.about(
            "gatepost_http_requests_total",
            "counter",
            "Requests answered, by operation and class of status.",
        );
        for operation in used() {
            for (class, count) in operation.by_class.iter().enumerate() {
                let count = count.load(Relaxed);
                if count > 0 {
                    let labels = format!("{},status=\"{}xx\"", operation.labels, class + 1);
                    page.sample("gatepost_http_requests_total", &labels, count);
                }
            }
        }
        page.about(
            "gatepost_http_request_duration_seconds",
            "histogram",
            "Time from a request's head to the beginning of its answer.",
        );
        for operation in used() {
            page.durations(
                "gatepost_http_request_duration_seconds",
                &operation.labels,
                &operation.took,
            );
        }
    }
}

/// An endpoint that is one of the counted operations.
pub struct Counted<E> {
    inner: E,
    operation: usize,
}

impl<E> Counted<E> {
    /// Names an endpoint's operation.
    pub fn new(inner: E, operation: usize) -> Self {
        Self { inner, operation }
    }
}

impl<E: Endpoint> Endpoint for Counted<E> {
    type Output = E::Output;

    async fn call(&self, request: Request) -> Result<Self::Output> {
        if let Some(trace) = RequestTrace::of(&request) {
            trace.reached(self.operation);
        }
        self.inner.call(request).await
    }
}
