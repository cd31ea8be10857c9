//! Addresses at which an app can reach the server: what the QR code holds (contract §7). Never loopback, which on a
//! phone is the phone.

use crate::{core::settings::values, types::os};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Beginnings of the names of interfaces that lead to no network of people: bridges and tunnels to
/// virtual machines and containers.
const VIRTUAL: [&str; 9] = [
    "docker", "br-", "veth", "virbr", "vmnet", "vboxnet", "tun", "tap", "utun",
];

/// The address at which the server listens.
#[derive(Debug, Clone, Copy)]
pub struct Listening {
    pub address: SocketAddr,
    pub tls: bool,
}

/// An address of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub host: String,
    /// The network that it is on, as this machine names it; empty for a public address.
    pub network: String,
    pub base: String,
}

impl Place {
    /// The address to which an app sends its request: what the QR code holds.
    pub fn request_uri(&self) -> String {
        format!("{}/api/v5/device-request/new", self.base)
    }

    /// The address at which a device becomes a gate in its browser.
    pub fn gate_uri(&self) -> String {
        format!("{}/gate", self.base)
    }

    /// The address at which a device becomes a gate by a pairing code. The code stays in the browser: it is sent as the
    /// name of the gate.
    pub fn pair_uri(&self, code: &str) -> String {
        format!("{}/gate#pair={code}", self.base)
    }

    /// The address at which a device that does not trust the server yet gets its CA: over plain HTTP.
    pub fn trust_uri(&self) -> String {
        let rest = self.base.split_once("://").map_or("", |(_, rest)| rest);
        format!("http://{rest}/gate/trust")
    }
}

/// The reason why there is no address that a phone could reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// The server listens on this machine only.
    ListensOnLoopback,
    PublicIsLoopback,
    NoNetwork,
}

/// The addresses that a phone may reach, the likeliest first. `interfaces` are this machine's, by
/// name and address.
pub fn places(
    public_url: Option<&str>,
    listening: Option<Listening>,
    interfaces: &[(String, IpAddr)],
) -> Result<Vec<Place>, Trouble> {
    if let Some(url) = public_url {
        return public(url).map(|place| vec![place]);
    }
    let Some(Listening { address, tls }) = listening else {
        return Err(Trouble::ListensOnLoopback);
    };
    let (own, port) = (address.ip().to_canonical(), address.port());
    if own.is_loopback() {
        return Err(Trouble::ListensOnLoopback);
    }
    let mut found: Vec<&(String, IpAddr)> = interfaces
        .iter()
        .filter(|(_, address)| is_reachable(*address))
        .filter(|(_, address)| own == *address || takes(own, *address))
        .collect();
    found.sort_by_key(|(name, address)| {
        let is_virtual = VIRTUAL.iter().any(|start| name.starts_with(start));
        (is_virtual, address.is_ipv6(), !is_private(*address))
    });
    let mut places: Vec<Place> = Vec::new();
    for (network, address) in found {
        let host = address.to_string();
        if places.iter().all(|place| place.host != host) {
            places.push(place(*address, port, tls, network));
        }
    }
    // A single address that no interface names, such as one that is forwarded.
    if places.is_empty() && !own.is_unspecified() {
        places.push(place(own, port, tls, ""));
    }
    if places.is_empty() {
        Err(Trouble::NoNetwork)
    } else {
        Ok(places)
    }
}

fn place(address: IpAddr, port: u16, tls: bool, network: &str) -> Place {
    let scheme = if tls { "https" } else { "http" };
    let socket = SocketAddr::new(address, port);
    let base = match (tls, port) {
        (true, 443) | (false, 80) if address.is_ipv4() => format!("{scheme}://{address}"),
        _ => format!("{scheme}://{socket}"),
    };
    Place {
        host: address.to_string(),
        network: network.to_owned(),
        base,
    }
}

/// Returns whether a socket that listens on every address of a family takes this one.
fn takes(own: IpAddr, address: IpAddr) -> bool {
    match own {
        IpAddr::V4(own) => own.is_unspecified() && address.is_ipv4(),
        IpAddr::V6(own) => own.is_unspecified() && (address.is_ipv6() || os::IPV6_TAKES_IPV4),
    }
}

/// Returns whether another machine can reach the address without more than it: loopback is everybody's own, link-local
/// ones mean nothing without the network's name or are what a machine takes that is on no network.
fn is_reachable(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => {
            !(address.is_loopback() || address.is_link_local() || address.is_unspecified())
        }
        IpAddr::V6(address) => {
            !(address.is_loopback()
                || address.is_unicast_link_local()
                || address.is_unspecified()
                || address.is_multicast())
        }
    }
}

fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_private(),
        IpAddr::V6(address) => address.is_unique_local(),
    }
}

fn public(url: &str) -> Result<Place, Trouble> {
    let host = values::host(url).unwrap_or_default();
    let own = host.eq_ignore_ascii_case("localhost")
        || host.to_ascii_lowercase().ends_with(".localhost")
        || host
            .parse::<Ipv4Addr>()
            .is_ok_and(|address| address.is_loopback() || address.is_unspecified())
        || host.parse::<Ipv6Addr>().is_ok_and(|address| {
            let address = IpAddr::V6(address).to_canonical();
            address.is_loopback() || address.is_unspecified()
        });
    if own {
        return Err(Trouble::PublicIsLoopback);
    }
    Ok(Place {
        host: host.to_owned(),
        network: String::new(),
        base: url.trim_end_matches('/').to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(listen: &str, tls: bool) -> Listening {
        Listening {
            address: listen.parse().unwrap(),
            tls,
        }
    }

    fn interfaces() -> Vec<(String, IpAddr)> {
        [
            ("lo", "127.0.0.1"),
            ("lo", "::1"),
            ("docker0", "172.17.0.1"),
            ("wlan0", "fe80::1"),
            ("wlan0", "2001:db8::7"),
            ("wlan0", "192.168.1.7"),
            ("eth0", "203.0.113.9"),
            ("eth1", "169.254.3.4"),
        ]
        .map(|(name, address)| (name.to_owned(), address.parse().unwrap()))
        .to_vec()
    }

    fn bases(public_url: Option<&str>, listening: Listening) -> Result<Vec<String>, Trouble> {
        let places = places(public_url, Some(listening), &interfaces())?;
        Ok(places.into_iter().map(|place| place.base).collect())
    }

    #[test]
    fn a_phone_is_never_sent_to_itself() {
        assert_eq!(
            bases(None, at("0.0.0.0:8080", false)).unwrap(),
            [
                "http://192.168.1.7:8080",
                "http://203.0.113.9:8080",
                "http://172.17.0.1:8080"
            ]
        );
        assert_eq!(
            bases(None, at("[::]:443", true)).unwrap(),
            [
                "https://192.168.1.7",
                "https://203.0.113.9",
                "https://[2001:db8::7]:443",
                "https://172.17.0.1"
            ]
        );
        for (listen, base) in [
            ("192.168.1.7:80", "http://192.168.1.7"),
            ("10.9.9.9:8080", "http://10.9.9.9:8080"),
        ] {
            assert_eq!(bases(None, at(listen, false)).unwrap(), [base]);
        }
        for (public, listen, trouble) in [
            (None, "127.0.0.1:8080", Trouble::ListensOnLoopback),
            (None, "[::1]:8080", Trouble::ListensOnLoopback),
            (
                Some("http://localhost:8080"),
                "0.0.0.0:1",
                Trouble::PublicIsLoopback,
            ),
            (
                Some("https://127.0.0.1"),
                "0.0.0.0:1",
                Trouble::PublicIsLoopback,
            ),
            (
                Some("https://[::1]:8080/"),
                "0.0.0.0:1",
                Trouble::PublicIsLoopback,
            ),
        ] {
            assert_eq!(bases(public, at(listen, false)), Err(trouble), "{listen}");
        }
        assert_eq!(
            places(None, Some(at("0.0.0.0:1", false)), &interfaces()[..2]),
            Err(Trouble::NoNetwork)
        );
    }

    #[test]
    fn the_public_address_goes_before_all_others() {
        // Behind a proxy on the same machine.
        let found = places(
            Some("https://gate.example.org/"),
            Some(at("127.0.0.1:8080", false)),
            &[],
        );
        let found = found.unwrap();
        assert_eq!(
            found[0].request_uri(),
            "https://gate.example.org/api/v5/device-request/new"
        );
        assert_eq!(found[0].host, "gate.example.org");
    }
}
