//! Accepts connections until the server stops, then lets what was accepted be finished. A slow
//! handshake or a slow head is a task of its own and holds up nobody.

use super::{
    connection::{self, ConnectionService},
    connections::{Connections, Place},
    limits::Limits,
};
use hyper_util::server::graceful::GracefulShutdown;
use std::{
    future::Future,
    io,
    net::SocketAddr,
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::net::{TcpListener, TcpStream};

/// How long accepting rests when the system has nothing left for another connection.
const REST: Duration = Duration::from_millis(100);
/// Somebody idle is asked for room once in so long: where files run out for another reason, that
/// does not help.
const ROOM_EVERY: Duration = Duration::from_secs(1);
/// The same trouble is told once in so long.
const TOLD_EVERY: Duration = Duration::from_secs(10);

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
        let mut trouble = Trouble::default();
        loop {
            let Some((stream, peer, place)) = next(&listener, &connections, &mut trouble).await
            else {
                continue;
            };
            let watcher = graceful.watcher();
            tokio::spawn(connection::serve(
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

/// The next connection with its place; `None` when there was none to be had.
async fn next(
    listener: &TcpListener,
    connections: &Arc<Connections>,
    trouble: &mut Trouble,
) -> Option<(TcpStream, SocketAddr, Place)> {
    let (stream, peer) = match listener.accept().await {
        Ok(accepted) => accepted,
        Err(cause) => {
            trouble.bear(&cause, connections).await;
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
struct Trouble {
    told: Option<Instant>,
    made_room: Option<Instant>,
}

impl Trouble {
    /// Waits out a failure to accept. One of the connection itself is over at once; files or memory
    /// that ran out come back when somebody leaves, so somebody idle is asked to.
    async fn bear(&mut self, cause: &io::Error, connections: &Connections) {
        use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted};
        if let ConnectionAborted | ConnectionReset | Interrupted = cause.kind() {
            return;
        }
        if self.told.is_none_or(|told| told.elapsed() > TOLD_EVERY) {
            self.told = Some(Instant::now());
            let open = connections.open();
            tracing::warn!(
                open,
                "no more connections can be accepted just now: {cause}"
            );
        }
        if self
            .made_room
            .is_none_or(|made| made.elapsed() > ROOM_EVERY)
        {
            self.made_room = Some(Instant::now());
            connections.make_room();
        }
        tokio::time::sleep(REST).await;
    }
}
