//! Accepts connections until the server stops, then lets accepted requests finish. Each connection is a task:
//! its handshake under TLS, then HTTP/1.1 on it. A port that speaks TLS answers plain HTTP with little
//! (see `trust`).

use super::{
    connection_state::ConnectionState,
    connections::Limits,
    connections::{Connections, Place},
    exchange::{Exchange, Peer},
    tls::Tls,
};
use hyper::{server::conn::http1, service::service_fn};
use hyper_util::{
    rt::TokioIo,
    server::graceful::{GracefulShutdown, Watcher},
};
use poem::http::uri::Scheme;
use std::{
    convert::Infallible,
    future::Future,
    io,
    net::SocketAddr,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll},
    time::{Duration, Instant},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream},
};

/// The rest after which accepting goes on when the system has nothing left for another connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// The least time between closing two idle connections to make room: where files run out for another reason,
/// that does not help.
const ROOM_EVERY: Duration = Duration::from_secs(1);
/// The same failure is logged this often at most.
const LOG_EVERY: Duration = Duration::from_secs(10);

/// Serves until `shutdown` is done, then finishes what was accepted, as long as the limits allow.
pub async fn serve(
    listener: TcpListener,
    service: ConnectionService,
    connections: Arc<Connections>,
    limits: &Limits,
    shutdown: impl Future<Output = ()>,
) {
    let graceful = GracefulShutdown::new();
    let service = Arc::new(service);
    let mut sweep = pin!(connections.sweep());
    let accept = async {
        let mut failures = AcceptFailures::default();
        loop {
            let Some((stream, peer, place)) = next(&listener, &connections, &mut failures).await
            else {
                continue;
            };
            let watcher = graceful.watcher();
            tokio::spawn(serve_connection(
                stream,
                peer,
                place,
                Arc::clone(&service),
                watcher,
            ));
        }
    };
    tokio::select! {
        () = accept => {}
        () = &mut sweep => {}
        () = shutdown => {}
    }
    drop(listener);
    connections.shut_down();
    let open = connections.open();
    tracing::info!(open, "stopping: finishing what was accepted");
    tokio::select! {
        () = graceful.shutdown() => {}
        () = &mut sweep => {}
        () = tokio::time::sleep(limits.stop_time.duration()) => {
            let open = connections.open();
            tracing::warn!(open, "stopped before everything was finished");
        }
    }
}

/// The next connection with its place; `None` when there was none.
async fn next(
    listener: &TcpListener,
    connections: &Arc<Connections>,
    failures: &mut AcceptFailures,
) -> Option<(TcpStream, SocketAddr, Place)> {
    let (stream, peer) = match listener.accept().await {
        Ok(accepted) => accepted,
        Err(cause) => {
            failures.wait_out(&cause, connections).await;
            return None;
        }
    };
    // A gate waits for each answer: packets are sent at once.
    let _ = stream.set_nodelay(true);
    let place = connections.admit(peer.ip()).await;
    if place.is_none() {
        tracing::debug!(address = %peer.ip(), "too many connections from one address");
    }
    Some((stream, peer, place?))
}

/// Accepting has failed before.
#[derive(Default)]
struct AcceptFailures {
    logged_at: Option<Instant>,
    made_room_at: Option<Instant>,
}

impl AcceptFailures {
    /// Waits out a failure to accept. One of the connection itself is over at once; files or memory
    /// that ran out come back when a connection closes, so an idle one is closed.
    async fn wait_out(&mut self, cause: &io::Error, connections: &Connections) {
        use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted};
        if let ConnectionAborted | ConnectionReset | Interrupted = cause.kind() {
            return;
        }
        if self
            .logged_at
            .is_none_or(|logged_at| logged_at.elapsed() > LOG_EVERY)
        {
            self.logged_at = Some(Instant::now());
            let open = connections.open();
            tracing::warn!(
                open,
                "no more connections can be accepted just now: {cause}"
            );
        }
        if self
            .made_room_at
            .is_none_or(|made| made.elapsed() > ROOM_EVERY)
        {
            self.made_room_at = Some(Instant::now());
            connections.make_room();
        }
        tokio::time::sleep(ACCEPT_PAUSE).await;
    }
}

/// The most a request's head may take, and what is read ahead of a body. A search is in the
/// request line, which may take 64 KiB of it.
const HEAD_MAX_BYTES: usize = 80 * 1024;

/// The services that connections lead to.
pub struct ConnectionService {
    /// Answers requests.
    pub exchange: Arc<Exchange>,
    /// Answers requests that came over plain HTTP where TLS is spoken.
    pub plain: Arc<Exchange>,
    /// Shakes hands; none for plain HTTP.
    pub tls: Option<Tls>,
}

/// The first byte of a TLS handshake; no HTTP request begins with it.
const HANDSHAKE: u8 = 0x16;

/// Serves a connection until it ends or is ended.
async fn serve_connection(
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
        let (exchange, plain) = (Arc::clone(&service.exchange), Arc::clone(&service.plain));
        match &service.tls {
            None => serve_http(stream, peer(Scheme::HTTP), exchange, watcher).await,
            Some(_) if stream.begins_with_text().await => {
                serve_http(stream, peer(Scheme::HTTP), plain, watcher).await;
            }
            Some(tls) => match tls.acceptor().accept(stream).await {
                Ok(stream) => {
                    connection_state.handshake_done();
                    serve_http(stream, peer(Scheme::HTTPS), exchange, watcher).await;
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

async fn serve_http<S>(stream: S, peer: Peer, exchange: Arc<Exchange>, watcher: Watcher)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let remote = peer.remote;
    let peer = Arc::new(peer);
    let service = service_fn(move |request| {
        let (exchange, peer) = (Arc::clone(&exchange), Arc::clone(&peer));
        async move { Ok::<_, Infallible>(exchange.answer(request, &peer).await) }
    });
    let connection = http1::Builder::new()
        .max_buf_size(HEAD_MAX_BYTES)
        // The buffer alone lets a head pass that came with one large read.
        .max_header_size(HEAD_MAX_BYTES)
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
    /// Returns whether the client sends something other than a handshake. Waits for the first byte, and leaves it.
    async fn begins_with_text(&self) -> bool {
        let mut first = [0];
        matches!(self.stream.peek(&mut first).await, Ok(1) if first[0] != HANDSHAKE)
    }

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
