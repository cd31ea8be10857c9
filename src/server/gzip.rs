//! Answers in gzip, for clients that ask for it and where it saves more than it costs. A list is
//! compressed as it streams, in pieces between which others get their turn.

use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use http_body::{Body, Frame};
use http_body_util::combinators::BoxBody;
use poem::http::{HeaderMap, HeaderValue, header};
use std::{
    io::{self, Write},
    pin::Pin,
    task::{Context, Poll},
};

/// Shorter answers fit into one or two packets as they are. A look-up is never compressed.
const WORTH_BYTES: u64 = 4096;
/// Compressed at once, a fraction of a millisecond, before another task may have its turn.
const PIECE_BYTES: usize = 32 * 1024;

/// Decides whether an answer is compressed, and sets its headers accordingly.
pub fn prepare<B: Body>(response: &mut hyper::Response<B>, accepted: Option<&HeaderValue>) -> bool {
    let size = response.body().size_hint().exact();
    if size.is_some_and(|size| size < WORTH_BYTES) || !is_text(response.headers()) {
        return false;
    }
    let headers = response.headers_mut();
    headers.append(header::VARY, HeaderValue::from_static("Accept-Encoding"));
    let wanted = accepted
        .and_then(|accepted| accepted.to_str().ok())
        .is_some_and(accepts_gzip);
    if wanted {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        headers.remove(header::CONTENT_LENGTH);
    }
    wanted
}

/// Whether the answer is of a kind that shrinks and is not compressed yet.
fn is_text(headers: &HeaderMap) -> bool {
    let kind = headers
        .get(header::CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok())
        .unwrap_or_default();
    let shrinks = kind.starts_with("application/json")
        || kind.starts_with("application/x-ndjson")
        || kind.starts_with("application/javascript")
        || kind.starts_with("image/svg")
        || (kind.starts_with("text/") && !kind.starts_with("text/event-stream"));
    shrinks && !headers.contains_key(header::CONTENT_ENCODING)
}

/// Whether an `Accept-Encoding` takes gzip: named, or by `*`, and not with a weight of 0.
fn accepts_gzip(accepted: &str) -> bool {
    let mut any = false;
    for coding in accepted.split(',') {
        let mut parts = coding.split(';').map(str::trim);
        let name = parts.next().unwrap_or_default();
        let refused = parts.any(|part| {
            let weight = part.strip_prefix("q=").or_else(|| part.strip_prefix("Q="));
            weight.is_some_and(|weight| weight.parse() == Ok(0.0_f32))
        });
        if name.eq_ignore_ascii_case("gzip") || name.eq_ignore_ascii_case("x-gzip") {
            return !refused;
        }
        any |= name == "*" && !refused;
    }
    any
}

/// A body in gzip.
pub struct Gzip {
    inner: BoxBody<Bytes, io::Error>,
    /// What came from `inner` and is not compressed yet.
    piece: Bytes,
    /// Nothing once the end is written.
    encoder: Option<GzEncoder<Vec<u8>>>,
    rests: bool,
}

impl Gzip {
    /// Compresses a body.
    pub fn new(inner: BoxBody<Bytes, io::Error>) -> Self {
        Self {
            inner,
            piece: Bytes::new(),
            encoder: Some(GzEncoder::new(Vec::new(), Compression::fast())),
            rests: false,
        }
    }

    /// Compresses the next piece; what there is to send by then.
    fn compress(&mut self) -> io::Result<Vec<u8>> {
        let piece = self.piece.split_to(self.piece.len().min(PIECE_BYTES));
        self.rests = piece.len() == PIECE_BYTES;
        let Some(encoder) = &mut self.encoder else {
            return Ok(Vec::new());
        };
        encoder.write_all(&piece)?;
        Ok(std::mem::take(encoder.get_mut()))
    }
}

impl Body for Gzip {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let framed = |bytes: Vec<u8>| Poll::Ready(Some(Ok(Frame::data(bytes.into()))));
        loop {
            if std::mem::take(&mut self.rests) {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            if !self.piece.is_empty() {
                match self.compress() {
                    Ok(bytes) if bytes.is_empty() => continue,
                    Ok(bytes) => return framed(bytes),
                    Err(cause) => return Poll::Ready(Some(Err(cause))),
                }
            }
            if self.encoder.is_none() {
                return Poll::Ready(None);
            }
            match Pin::new(&mut self.inner).poll_frame(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Some(Ok(frame))) => self.piece = frame.into_data().unwrap_or_default(),
                Poll::Ready(Some(Err(cause))) => return Poll::Ready(Some(Err(cause))),
                Poll::Ready(None) => {
                    let Some(encoder) = self.encoder.take() else {
                        return Poll::Ready(None);
                    };
                    return match encoder.finish() {
                        Ok(bytes) => framed(bytes),
                        Err(cause) => Poll::Ready(Some(Err(cause))),
                    };
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_sent_to_whom_it_suits() {
        for (accepted, wanted) in [
            ("gzip", true),
            ("deflate, gzip;q=0.5, br", true),
            ("GZIP", true),
            ("*", true),
            ("gzip;q=0, *", false),
            ("gzip; q=0.000", false),
            ("*;q=0", false),
            ("br, deflate", false),
            ("identity", false),
            ("", false),
        ] {
            assert_eq!(accepts_gzip(accepted), wanted, "{accepted}");
        }
    }
}
