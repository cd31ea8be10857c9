//! The network address that a request comes from. Behind a trusted proxy (`--trusted-proxy`) it is the
//! one that the proxy names in `X-Forwarded-For`; from anybody else that header counts for nothing.

use poem::{
    Request,
    http::{HeaderMap, HeaderName},
};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The address of whoever sent a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientAddress(pub IpAddr);

impl ClientAddress {
    /// The address of a request's sender. A socket of the machine itself has none: that is loopback.
    #[must_use]
    pub fn of(request: &Request) -> IpAddr {
        if let Some(Self(address)) = request.data::<Self>() {
            return *address;
        }
        let remote = request.remote_addr().as_socket_addr();
        remote.map_or(Ipv4Addr::LOCALHOST.into(), |remote| {
            remote.ip().to_canonical()
        })
    }

    /// The rightmost address that is not a trusted proxy's: what stands left of it was written by
    /// somebody who is not trusted.
    #[must_use]
    pub fn read(peer: IpAddr, headers: &HeaderMap, trusted_proxies: &[IpAddr]) -> Self {
        let mut address = peer.to_canonical();
        let trusted = |address: &IpAddr| trusted_proxies.contains(address);
        let lines = headers.get_all(FORWARDED_FOR).iter().rev();
        let mut hops = lines.flat_map(|line| line.to_str().unwrap_or_default().rsplit(','));
        while trusted(&address) {
            match hops.next().and_then(forwarded) {
                Some(hop) => address = hop,
                None => break,
            }
        }
        Self(address)
    }
}

/// One entry of the header: an address, with or without a port.
fn forwarded(entry: &str) -> Option<IpAddr> {
    let entry = entry.trim();
    let bare = entry
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .unwrap_or(entry);
    let address = bare.parse::<IpAddr>();
    let address = address.or_else(|_| entry.parse::<SocketAddr>().map(|socket| socket.ip()));
    address.ok().map(|address| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;
    use poem::http::HeaderValue;

    #[test]
    fn the_rightmost_address_that_is_not_trusted_counts() {
        let proxies: Vec<IpAddr> = ["10.0.0.1", "10.0.0.2", "::1"]
            .map(|address| address.parse().unwrap())
            .into();
        for (peer, lines, expected) in [
            ("192.0.2.9", vec!["1.1.1.1"], "192.0.2.9"),
            ("10.0.0.1", vec![], "10.0.0.1"),
            ("10.0.0.1", vec!["192.0.2.7"], "192.0.2.7"),
            ("::ffff:10.0.0.1", vec!["192.0.2.7:443"], "192.0.2.7"),
            ("::1", vec!["[2001:db8::7]:443"], "2001:db8::7"),
            (
                "10.0.0.1",
                vec!["1.1.1.1, 192.0.2.7 , 10.0.0.2"],
                "192.0.2.7",
            ),
            (
                "10.0.0.1",
                vec!["1.1.1.1", "192.0.2.7", "10.0.0.2"],
                "192.0.2.7",
            ),
            ("10.0.0.1", vec!["10.0.0.2"], "10.0.0.2"),
            // What nobody can read is nobody's address.
            ("10.0.0.1", vec!["1.1.1.1, unknown"], "10.0.0.1"),
            ("10.0.0.1", vec!["unknown, 10.0.0.2"], "10.0.0.2"),
        ] {
            let mut headers = HeaderMap::new();
            for line in &lines {
                headers.append(FORWARDED_FOR, HeaderValue::from_static(line));
            }
            let read = ClientAddress::read(peer.parse().unwrap(), &headers, &proxies);
            assert_eq!(
                read.0,
                expected.parse::<IpAddr>().unwrap(),
                "{peer} {lines:?}"
            );
        }
    }
}
