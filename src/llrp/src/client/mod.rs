//! Keeps a reader connected: connects, sets it up, passes its reads on, and connects again when it is lost.

mod connection;

use super::{Event, PORT, ReaderConfig, State};
use connection::Connection;
use std::{
    future::Future,
    io::{self, ErrorKind},
    net::IpAddr,
    pin::pin,
    time::Duration,
};
use tokio::{
    net::{TcpStream, lookup_host},
    time::{Instant, sleep, timeout},
};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// The time that a reader may take to stop at the end.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);
const RETRY_MIN: Duration = Duration::from_secs(1);
const RETRY_MAX: Duration = Duration::from_secs(30);

/// Keeps the reader connected until `stop` is ready; then stops its inventory, within a second. `judge` says which
/// addresses may be connected to, and otherwise what is wrong with one. `events` is called in order and must not
/// block.
pub async fn run(
    config: ReaderConfig,
    judge: impl Fn(IpAddr) -> Result<(), String> + Send + Sync + 'static,
    events: impl Fn(Event) + Send + Sync + 'static,
    stop: impl Future<Output = ()>,
) {
    let mut stop = pin!(stop);
    let mut retry = RETRY_MIN;
    loop {
        events(Event::State(State::Connecting));
        let started = Instant::now();
        let connected = tokio::select! {
            () = &mut stop => return,
            connected = connect(&config.address, &judge) => connected,
        };
        let reason = match connected {
            Err(reason) => reason,
            Ok(stream) => {
                let mut connection = Connection::new(stream, &events);
                let reason = tokio::select! {
                    () = &mut stop => None,
                    failure = connection.run(&config) => Some(failure),
                };
                let Some(reason) = reason else {
                    // The reader stops by itself when the connection ends.
                    let _ = timeout(CLOSE_TIMEOUT, connection.close()).await;
                    return;
                };
                reason
            }
        };
        if started.elapsed() > RETRY_MAX {
            retry = RETRY_MIN;
        }
        let retry_in = with_jitter(retry);
        retry = (retry * 2).min(RETRY_MAX);
        events(Event::State(State::Down { reason, retry_in }));
        tokio::select! {
            () = &mut stop => return,
            () = sleep(retry_in) => {}
        }
    }
}

async fn connect(
    address: &str,
    judge: impl Fn(IpAddr) -> Result<(), String>,
) -> Result<TcpStream, String> {
    let address = with_port(address);
    let stream = timeout(CONNECT_TIMEOUT, open(&address, judge))
        .await
        .map_err(|_| {
            format!(
                "{address} did not answer within {} s.",
                CONNECT_TIMEOUT.as_secs()
            )
        })??;
    // Only the delay of small messages depends on it.
    let _ = stream.set_nodelay(true);
    Ok(stream)
}

/// Connects to the first address of a name that answers and may be connected to.
async fn open(
    address: &str,
    judge: impl Fn(IpAddr) -> Result<(), String>,
) -> Result<TcpStream, String> {
    let failed = |error: io::Error| match error.kind() {
        ErrorKind::ConnectionRefused => format!("{address} refused the connection."),
        ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable => {
            format!("{address} is not on any network of this machine.")
        }
        _ => format!("Connecting to {address} failed: {error}."),
    };
    let (host, port) = host_and_port(address);
    let found = lookup_host((host, port)).await.map_err(failed)?;
    let (mut allowed, mut why) = (Vec::new(), "nowhere".to_owned());
    for one in found {
        match judge(one.ip()) {
            Ok(()) => allowed.push(one),
            Err(what) => why = what,
        }
    }
    if allowed.is_empty() {
        return Err(format!("{address} is {why}."));
    }
    TcpStream::connect(&allowed[..]).await.map_err(failed)
}

/// Adds the port of LLRP to an address without one.
pub fn with_port(address: &str) -> String {
    let bare_ipv6 = !address.starts_with('[') && address.matches(':').count() > 1;
    if bare_ipv6 {
        format!("[{address}]:{PORT}")
    } else if address.ends_with(']') || !address.contains(':') {
        format!("{address}:{PORT}")
    } else {
        address.into()
    }
}

/// The parts of an address with a port. The host is without brackets, as the system reads it where it names a
/// network, too (`fe80::1%eth0`).
fn host_and_port(address: &str) -> (&str, u16) {
    let (host, port) = address.rsplit_once(':').unwrap_or((address, ""));
    let bare = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    (bare.unwrap_or(host), port.parse().unwrap_or(PORT))
}

/// Up to a quarter more, so that readers that were lost together do not return together.
fn with_jitter(retry: Duration) -> Duration {
    retry + retry / 4 * (getrandom::u32().unwrap_or_default() % 1024) / 1024
}

#[cfg(test)]
mod tests {
    use super::{host_and_port, with_port};

    #[test]
    fn an_address_has_a_port_or_gets_one() {
        for (address, expected) in [
            ("reader.local", "reader.local:5084"),
            ("192.0.2.9", "192.0.2.9:5084"),
            ("192.0.2.9:6000", "192.0.2.9:6000"),
            ("fe80::1", "[fe80::1]:5084"),
            ("[fe80::1]", "[fe80::1]:5084"),
            ("fe80::1%eth0", "[fe80::1%eth0]:5084"),
            ("[fe80::1]:6000", "[fe80::1]:6000"),
        ] {
            assert_eq!(with_port(address), expected);
        }
        for (address, expected) in [
            ("reader.local:5084", ("reader.local", 5084)),
            ("[fe80::1%eth0]:6000", ("fe80::1%eth0", 6000)),
        ] {
            assert_eq!(host_and_port(&with_port(address)), expected);
        }
    }
}
