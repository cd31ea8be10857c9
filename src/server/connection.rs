//! One connection: its handshake under TLS, then HTTP/1.1 on it until either side has enough.

use super::{
    connection_state::ConnectionState,
    connections::Place,
    exchange::{Exchange, Peer},
    tls::Tls,
};
use hyper::{server::conn::http1, service::service_fn};
use hyper_util::{rt::TokioIo, server::graceful::Watcher};
use poem::http::uri::Scheme;
use std::{
    convert::Infallible,
    io,
    net::SocketAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};

/// The most a request's head may take, and what is read ahead of a body. A search stands in the
/// request line, which may take 64 KiB of it.
const HEAD_MAX_BYTES: usize = 80 * 1024;

/// What connections lead to.
pub struct ConnectionService {
    /// Answers requests.
    pub exchange: Arc<Exchange>,
    /// Shakes hands; none for plain HTTP.
    pub tls: Option<Tls>,
}

/// Serves a connection until it ends or is ended.
pub async fn serve(
    stream: TcpStream,
    remote: SocketAddr,
    place: Place,
    service: Arc<ConnectionService>,
    watcher: Watcher,
) {
    let connection_state = Arc::clone(&place.connection_state);
    let local = stream.local_addr().unwrap_or(remote);
    let stream = Watched {
        stream,
        connection_state: Arc::clone(&connection_state),
    };
    let peer = |scheme| Peer {
        remote,
        local,
        scheme,
        connection_state: Arc::clone(&connection_state),
    };
    let served = async {
        match &service.tls {
            None => speak(stream, peer(Scheme::HTTP), &service, watcher).await,
            Some(tls) => match tls.acceptor().accept(stream).await {
                Ok(stream) => {
                    connection_state.greeted();
                    speak(stream, peer(Scheme::HTTPS), &service, watcher).await;
                }
                Err(cause) => tracing::debug!(address = %remote.ip(), "handshake: {cause}"),
            },
        }
    };
    tokio::select! {
        () = served => {}
        () = connection_state.ended() => {}
    }
}

async fn speak<S>(stream: S, peer: Peer, service: &ConnectionService, watcher: Watcher)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let exchange = Arc::clone(&service.exchange);
    let remote = peer.remote;
    let peer = Arc::new(peer);
    let service = service_fn(move |request| {
        let (exchange, peer) = (Arc::clone(&exchange), Arc::clone(&peer));
        async move { Ok::<_, Infallible>(exchange.answer(request, &peer).await) }
    });
    let connection = http1::Builder::new()
        .max_buf_size(HEAD_MAX_BYTES)
        .serve_connection(TokioIo::new(stream), service);
    if let Err(cause) = watcher.watch(connection).await {
        tracing::debug!(address = %remote.ip(), "connection: {cause}");
    }
}

/// A stream that tells the state of its connection what goes through it.
struct Watched {
    stream: TcpStream,
    connection_state: Arc<ConnectionState>,
}

impl Watched {
    fn sending(&self, poll: &Poll<io::Result<usize>>) {
        match poll {
            Poll::Ready(Ok(_)) => self.connection_state.sent(),
            Poll::Ready(Err(_)) => {}
            Poll::Pending => self.connection_state.blocked(),
        }
    }
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let poll = Pin::new(&mut self.stream).poll_read(cx, buffer);
        if poll.is_ready() {
            self.connection_state.received();
        }
        poll
    }
}

impl AsyncWrite for Watched {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.sending(&poll);
        poll
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.stream).poll_write_vectored(cx, parts);
        self.sending(&poll);
        poll
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
