//! Bodies on their way: a request's, which must arrive in time, and an answer's, which is counted
//! as it leaves. Neither is ever held as a whole.

use super::{connection_state::ConnectionState, exchange::AccessLine};
use crate::web::RequestTrace;
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::combinators::BoxBody;
use hyper::body::Incoming;
use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::{Duration, Instant},
};
use tokio::time::Sleep;

/// A body that keeps coming at this rate, in bytes a second, is not cut off.
const RATE_MIN: u64 = 64 * 1024;
/// A body without a time limit is cut off after this long without data: a laptop that
/// roams from one access point to the next is back by then.
const SILENCE_MAX: Duration = Duration::from_secs(120);

/// A request's body. It fails when it is too slow.
pub struct IncomingBody {
    inner: Incoming,
    connection_state: Arc<ConnectionState>,
    trace: Arc<RequestTrace>,
    begun: Instant,
    /// The time when something of it came last.
    received_at: Instant,
    time: Duration,
    received: u64,
    /// Made only for a body that is waited for: most are there with their head.
    timer: Option<Pin<Box<Sleep>>>,
}

impl IncomingBody {
    /// A body that may take `time` and a second more for every 64 KiB, or as long as it takes where
    /// the trace says so.
    pub fn new(
        inner: Incoming,
        connection_state: Arc<ConnectionState>,
        trace: Arc<RequestTrace>,
        begun: Instant,
        time: Duration,
    ) -> Self {
        Self {
            inner,
            connection_state,
            trace,
            begun,
            received_at: begun,
            time,
            received: 0,
            timer: None,
        }
    }

    fn deadline(&self) -> tokio::time::Instant {
        let deadline = if self.trace.is_body_timeout_disabled() {
            self.received_at + self.time.max(SILENCE_MAX)
        } else {
            self.begun + self.time + Duration::from_secs(self.received / RATE_MIN)
        };
        deadline.into()
    }

    fn poll_timeout(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let deadline = self.deadline();
        let timer = self
            .timer
            .get_or_insert_with(|| Box::pin(tokio::time::sleep_until(deadline)));
        if timer.deadline() != deadline {
            timer.as_mut().reset(deadline);
        }
        timer.as_mut().poll(cx).map(|()| {
            self.connection_state.close_after_answer();
            let seconds = self.begun.elapsed().as_secs();
            let message = format!("it was not all there after {seconds} s");
            Some(Err(io::Error::new(io::ErrorKind::TimedOut, message)))
        })
    }
}

impl Body for IncomingBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        match Pin::new(&mut self.inner).poll_frame(cx) {
            Poll::Ready(Some(Ok(frame))) => {
                self.received_at = Instant::now();
                self.received += frame.data_ref().map_or(0, |data| data.len() as u64);
                Poll::Ready(Some(Ok(frame)))
            }
            Poll::Ready(other) => Poll::Ready(other.map(|frame| frame.map_err(io::Error::other))),
            Poll::Pending => self.poll_timeout(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

/// An answer's body. When it goes, the answer was handed over, or given up.
pub struct OutgoingBody {
    content: BoxBody<Bytes, io::Error>,
    bytes: u64,
    connection_state: Arc<ConnectionState>,
    line: Option<Box<AccessLine>>,
}

impl OutgoingBody {
    /// A body, with the line that the log gets when it is through.
    pub fn new(
        body: BoxBody<Bytes, io::Error>,
        connection_state: Arc<ConnectionState>,
        line: Option<AccessLine>,
    ) -> Self {
        Self {
            content: body,
            bytes: 0,
            connection_state,
            line: line.map(Box::new),
        }
    }
}

impl Body for OutgoingBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let poll = Pin::new(&mut self.content).poll_frame(cx);
        if let Poll::Ready(Some(Ok(frame))) = &poll {
            self.bytes += frame.data_ref().map_or(0, |data| data.len() as u64);
        }
        poll
    }

    fn is_end_stream(&self) -> bool {
        self.content.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.content.size_hint()
    }
}

impl Drop for OutgoingBody {
    fn drop(&mut self) {
        self.connection_state.answered();
        if let Some(line) = self.line.take() {
            line.write(self.bytes);
        }
    }
}
