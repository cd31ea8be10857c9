//! What comes in and is no request (an address that is too long, a head that is, what is not HTTP) is
//! refused by hyper, with an empty body, before anything of ours sees it. Here its refusal gets what
//! every answer has (contract §2): the envelope, a request id, a line in the log, its count.

use super::exchange::{Exchange, Peer};
use poem::http::StatusCode;
use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The length that hyper tells of its own refusals.
const EMPTY: &[u8] = b"\r\ncontent-length: 0\r\n";

/// A stream whose refusals by hyper are answers of ours.
pub struct Unread<S> {
    stream: S,
    exchange: Arc<Exchange>,
    peer: Arc<Peer>,
    /// What is left to send of the answer; nothing comes after it.
    answer: Vec<u8>,
}

impl<S> Unread<S> {
    /// The stream on which `exchange` answers `peer`.
    pub fn new(stream: S, exchange: Arc<Exchange>, peer: Arc<Peer>) -> Self {
        Self {
            stream,
            exchange,
            peer,
            answer: Vec::new(),
        }
    }
}

impl<S: AsyncWrite + Unpin> Unread<S> {
    /// Takes a refusal of hyper's and keeps our answer in its place; false for anything else.
    fn took(&mut self, bytes: &[u8]) -> bool {
        let refusal = if self.peer.connection_state.is_serving() {
            None
        } else {
            Refusal::read(bytes)
        };
        let Some(refusal) = refusal else {
            return false;
        };
        let (id, body) = self.exchange.unread(refusal.status, &self.peer);
        self.answer = refusal.with_body(&id, &body);
        true
    }

    fn send_answer(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.answer.is_empty() {
            let sent = ready!(Pin::new(&mut self.stream).poll_write(cx, &self.answer))?;
            if sent == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.answer.drain(..sent);
        }
        Poll::Ready(Ok(()))
    }
}

/// An answer with nothing but a head, as hyper writes it on its own.
struct Refusal<'a> {
    status: StatusCode,
    before_length: &'a [u8],
    after_length: &'a [u8],
}

impl<'a> Refusal<'a> {
    /// `None` for other bytes.
    fn read(bytes: &'a [u8]) -> Option<Self> {
        let status = bytes.strip_prefix(b"HTTP/1.1 4")?.get(..2)?;
        let status = match status {
            b"00" => StatusCode::BAD_REQUEST,
            b"14" => StatusCode::URI_TOO_LONG,
            b"31" => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            _ => return None,
        };
        let length = bytes
            .windows(EMPTY.len())
            .position(|window| window == EMPTY)?;
        let (before_length, rest) = bytes.split_at(length + 2);
        let whole = bytes.windows(4).position(|window| window == b"\r\n\r\n")? + 4 == bytes.len();
        whole.then_some(Self {
            status,
            before_length,
            after_length: &rest[EMPTY.len() - 2..],
        })
    }

    fn with_body(&self, id: &str, body: &str) -> Vec<u8> {
        let headers = format!(
            "content-type: application/json\r\nx-request-id: {id}\r\ncontent-length: {}\r\n",
            body.len()
        );
        [
            self.before_length,
            headers.as_bytes(),
            self.after_length,
            body.as_bytes(),
        ]
        .concat()
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Unread<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Unread<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        ready!(self.send_answer(cx))?;
        if self.took(bytes) {
            return Poll::Ready(Ok(bytes.len()));
        }
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if let [bytes] = parts {
            return self.poll_write(cx, bytes);
        }
        ready!(self.send_answer(cx))?;
        Pin::new(&mut self.stream).poll_write_vectored(cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.send_answer(cx))?;
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.send_answer(cx))?;
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_known_by_its_whole_head() {
        let refusal = b"HTTP/1.1 414 URI Too Long\r\nconnection: close\r\ncontent-length: 0\r\ndate: x\r\n\r\n";
        let read = Refusal::read(refusal).unwrap();
        assert_eq!(read.status, StatusCode::URI_TOO_LONG);
        assert_eq!(
            String::from_utf8(read.with_body("7", "{}")).unwrap(),
            "HTTP/1.1 414 URI Too Long\r\nconnection: close\r\ncontent-type: application/json\r\n\
             x-request-id: 7\r\ncontent-length: 2\r\ndate: x\r\n\r\n{}"
        );
        for other in [
            &b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"[..],
            b"HTTP/1.1 400 Bad Request\r\ncontent-length: 2\r\n\r\n{}",
            b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\nmore",
            b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n",
            b"HTTP/1.1 4",
            b"",
        ] {
            assert!(Refusal::read(other).is_none());
        }
    }
}
