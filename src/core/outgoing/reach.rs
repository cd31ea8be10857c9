//! Which addresses may be called.

use crate::types::{
    error::{Error, Result},
    text::shortened,
};
use reqwest::Url;
use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// The longest address, in bytes.
const URL_MAX_BYTES: usize = 2_000;

/// The reach of calls: the addresses that may be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reach {
    /// The network, but not this machine or link-local addresses.
    #[default]
    Network,
    /// The network, this machine and link-local addresses: the setting `outgoing.allowLocal`.
    Local,
}

/// The sort of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    Network,
    /// A machine that is cabled straight to this one.
    Link,
    Local(&'static str),
    Never(&'static str),
}

/// The addresses at which clouds tell a machine its own secrets.
const METADATA_V4: [Ipv4Addr; 3] = [
    Ipv4Addr::new(169, 254, 169, 254),
    // Of containers (AWS), and of Alibaba Cloud.
    Ipv4Addr::new(169, 254, 170, 2),
    Ipv4Addr::new(100, 100, 100, 200),
];
const METADATA_V6: [Ipv6Addr; 2] = [
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254),
];

/// Returns an error unless an address may be called.
pub fn judge(address: IpAddr, reach: Reach) -> Result<(), String> {
    judge_beside(address, reach, false, is_own)
}

/// Checks an address of a reader as [`judge`] does, but admits readers that are cabled straight to this machine.
pub fn judge_reader(address: IpAddr, reach: Reach) -> Result<(), String> {
    judge_beside(address, reach, true, is_own)
}

/// As [`judge`], with the machine's own addresses given; `links`: also to link-local ones.
fn judge_beside(
    address: IpAddr,
    reach: Reach,
    links: bool,
    is_own: impl Fn(IpAddr) -> bool,
) -> Result<(), String> {
    let address = embedded_in(address);
    let sort = match sort(address) {
        Sort::Link if !links => Sort::Local("a link-local address"),
        Sort::Network | Sort::Link if reach == Reach::Network && is_own(address) => {
            Sort::Local("this machine itself (an address of its own)")
        }
        sort => sort,
    };
    match (sort, reach) {
        (Sort::Network | Sort::Link, _) | (Sort::Local(_), Reach::Local) => Ok(()),
        (Sort::Local(what), _) => Err(format!(
            "{what}; Settings say whether calls may go there (outgoing.allowLocal)"
        )),
        (Sort::Never(what), _) => Err(format!("{what}; calls never go there, whatever is set")),
    }
}

fn sort(address: IpAddr) -> Sort {
    match address {
        IpAddr::V4(address) => sort_v4(address),
        IpAddr::V6(address) => sort_v6(address),
    }
}

/// The address that packets end at.
fn embedded_in(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(v6) => embedded(v6).map_or(address, IpAddr::V4),
        IpAddr::V4(_) => address,
    }
}

fn sort_v4(address: Ipv4Addr) -> Sort {
    if METADATA_V4.contains(&address) {
        Sort::Never("an address at which a cloud keeps secrets")
    } else if address.is_multicast() || address.octets()[0] >= 240 {
        Sort::Never("no address of one machine")
    } else if address.is_loopback() {
        Sort::Local("this machine itself (loopback)")
    } else if address.octets()[0] == 0 {
        Sort::Local("this machine itself (unspecified)")
    } else if address.is_link_local() {
        Sort::Link
    } else {
        Sort::Network
    }
}

fn sort_v6(address: Ipv6Addr) -> Sort {
    let first = address.segments()[0];
    if METADATA_V6.contains(&address) {
        Sort::Never("an address at which a cloud keeps secrets")
    } else if address.is_multicast() {
        Sort::Never("no address of one machine")
    } else if address.is_loopback() {
        Sort::Local("this machine itself (loopback)")
    } else if address.is_unspecified() {
        Sort::Local("this machine itself (unspecified)")
    } else if first & 0xffc0 == 0xfe80 || first & 0xffc0 == 0xfec0 {
        Sort::Link
    } else {
        Sort::Network
    }
}

/// The IPv4 address that packets to an IPv6 address may end at: mapped, compatible, by NAT64 or by
/// 6to4.
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let parts = address.segments();
    let of = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        Some(Ipv4Addr::new(a, b, c, d))
    };
    match parts {
        // `::` and `::1` are no IPv4 addresses.
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => None,
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] => of(high, low),
        // IPv4-translated (RFC 2765).
        [0, 0, 0, 0, 0xffff, 0, high, low] => of(high, low),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => of(high, low),
        [0x64, 0xff9b, 1, _, _, _, high, low] => of(high, low),
        [0x2002, high, low, ..] => of(high, low),
        _ => None,
    }
}

/// Checks an address that an administrator gives, before it is stored: `field` is what it is called
/// there. Where a name leads is judged when it is called; an address in digits is judged here, too.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`], saying what would be right.
pub fn check_url(field: &str, text: &str, reach: Reach) -> Result<()> {
    let url =
        parse(text).map_err(|why| Error::field(field, format!("\"{}\" {why}", shortened(text))))?;
    match digits(&url).map(|address| judge(address, reach)) {
        None | Some(Ok(())) => Ok(()),
        Some(Err(what)) => Err(Error::field(
            field,
            format!("{} is {what}", url.host_str().unwrap_or_default()),
        )),
    }
}

/// As [`check_url`], for an address to which secrets and people's data go: in plain HTTP they are read on the way, so that
/// is for this machine and private networks alone.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`], saying what would be right.
pub fn check_private_url(field: &str, text: &str) -> Result<()> {
    check_url(field, text, Reach::Local)?;
    let url = parse(text).map_err(|why| Error::field(field, why))?;
    let is_near = match digits(&url).map(embedded_in) {
        Some(IpAddr::V4(address)) => {
            address.is_private() || address.is_loopback() || address.is_link_local()
        }
        Some(IpAddr::V6(address)) => {
            address.is_loopback() || address.is_unique_local() || address.is_unicast_link_local()
        }
        None => {
            let host = url.host_str().unwrap_or_default();
            host == "localhost" || host.rsplit('.').next() == Some("local")
        }
    };
    if url.scheme() == "https" || is_near {
        return Ok(());
    }
    Err(Error::field(
        field,
        "must begin with https:// (plain http:// is for this machine and its own network alone)",
    ))
}

/// Checks the address of a reader, a host with or without a port, as [`check_url`] checks those of others.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`], saying what would be right.
pub fn check_reader(field: &str, text: &str, reach: Reach) -> Result<()> {
    let is_bare = !text.starts_with('[') && text.matches(':').count() > 1;
    let host = if is_bare {
        format!("[{text}]")
    } else {
        text.to_owned()
    };
    let url = Url::parse(&format!("http://{host}")).ok();
    let is_short = |host: &str| host.len() <= 253 && host.split('.').all(|label| label.len() <= 63);
    let url = url.filter(|url| url.port() != Some(0) && url.host_str().is_some_and(is_short));
    let Some(url) = url else {
        return Err(Error::invalid(format!(
            "\"{}\" is no address of a machine; give its name or IP address, such as 192.0.2.9:5084",
            shortened(text)
        ))
        .at(field));
    };
    match digits(&url).map(|address| judge_reader(address, reach)) {
        None | Some(Ok(())) => Ok(()),
        Some(Err(what)) => Err(Error::field(
            field,
            format!("{} is {what}", shortened(text)),
        )),
    }
}

/// An address that can be called: a whole one, HTTP or HTTPS, without a user.
pub(super) fn parse(text: &str) -> Result<Url, &'static str> {
    const WRONG: &str = "is no address such as https://hooks.example.org/gate";
    if text.len() > URL_MAX_BYTES {
        return Err("is longer than 2,000 characters");
    }
    let strange = |letter: char| letter.is_whitespace() || letter.is_control() || letter == '\\';
    let (scheme, rest) = text.split_once("://").ok_or(WRONG)?;
    let web = ["http", "https"]
        .iter()
        .any(|known| scheme.eq_ignore_ascii_case(known));
    // The parser mends `http:///host` and more; what is stored should be what is called.
    if !web || rest.starts_with('/') || text.contains(strange) {
        return Err(WRONG);
    }
    let url = Url::parse(text).map_err(|_| WRONG)?;
    if !url.has_host() {
        return Err(WRONG);
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(
            "has a user or a password in it; that would be shown to everybody who sees the address",
        );
    }
    if url.port() == Some(0) {
        return Err(WRONG);
    }
    Ok(url)
}

/// The address that a URL has in place of a name, whatever its notation: the parser turns
/// `0x7f.1` and `2130706433` into `127.0.0.1`.
pub(super) fn digits(url: &Url) -> Option<IpAddr> {
    let host = url.host_str()?;
    let bare = host
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .unwrap_or(host);
    bare.parse().ok()
}

/// The time for which the machine's addresses are believed: cables and wireless networks come and go.
const KEPT: Duration = Duration::from_secs(2);

/// The addresses of this machine, and when they were looked up.
static KNOWN: Mutex<Option<(Instant, Vec<IpAddr>)>> = Mutex::new(None);

/// Returns whether an address is one of this machine's own.
fn is_own(address: IpAddr) -> bool {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if known.as_ref().is_none_or(|(at, _)| at.elapsed() >= KEPT) {
        match if_addrs::get_if_addrs() {
            Ok(found) => {
                let found = found.iter().map(if_addrs::Interface::ip).collect();
                *known = Some((Instant::now(), found));
            }
            // Those known before still count.
            Err(cause) => tracing::warn!("the addresses of this machine: {cause}"),
        }
    }
    known
        .as_ref()
        .is_some_and(|(_, found)| found.contains(&address))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_reached_only_where_it_is_allowed() {
        for address in [
            "127.0.0.1",
            "127.8.9.10",
            "0.0.0.0",
            "0.1.2.3",
            "169.254.1.1",
            "::1",
            "::",
            "fe80::1",
            "febf::1",
            "fec0::1",
            "::ffff:127.0.0.1",
            "::ffff:0.0.0.0",
            "::ffff:169.254.7.7",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::7f00:1",
            "2002:7f00:1::1",
            "::ffff:0:127.0.0.1",
        ] {
            let parsed = address.parse().unwrap();
            let why = judge(parsed, Reach::Network).unwrap_err();
            assert!(why.contains("outgoing.allowLocal"), "{address}: {why}");
            assert_eq!(judge(parsed, Reach::Local), Ok(()), "{address}");
        }
    }

    #[test]
    fn some_addresses_are_never_called() {
        for address in [
            "169.254.169.254",
            "169.254.170.2",
            "100.100.100.200",
            "::ffff:169.254.169.254",
            "64:ff9b::a9fe:a9fe",
            "2002:a9fe:a9fe::1",
            "fd00:ec2::254",
            "fd20:ce::254",
            "224.0.0.251",
            "255.255.255.255",
            "240.0.0.1",
            "ff02::1",
        ] {
            let parsed = address.parse().unwrap();
            // What would not help is not named.
            for reach in [Reach::Network, Reach::Local] {
                let why = judge(parsed, reach).unwrap_err();
                assert!(
                    why.ends_with("calls never go there, whatever is set"),
                    "{why}"
                );
                assert!(!why.contains("allowLocal"), "{address}: {why}");
            }
        }
    }

    #[test]
    fn this_machine_is_not_reached_by_the_addresses_of_its_interfaces() {
        let own: [IpAddr; 2] = ["192.168.1.20", "2001:db8::7"].map(|text| text.parse().unwrap());
        let is_own = |address| own.contains(&address);
        for address in [
            "192.168.1.20",
            "2001:db8::7",
            "::ffff:192.168.1.20",
            "64:ff9b::c0a8:114",
        ] {
            let parsed = address.parse().unwrap();
            let why = judge_beside(parsed, Reach::Network, false, is_own).unwrap_err();
            assert!(why.contains("outgoing.allowLocal"), "{address}: {why}");
            assert_eq!(judge_beside(parsed, Reach::Local, false, is_own), Ok(()));
        }
        let neighbour = "192.168.1.21".parse().unwrap();
        assert_eq!(
            judge_beside(neighbour, Reach::Network, false, is_own),
            Ok(())
        );
        // Whatever is set, and were it this machine's own.
        let metadata = "169.254.169.254".parse().unwrap();
        assert!(judge_beside(metadata, Reach::Local, false, |_| true).is_err());
        // Those that it really has.
        for interface in if_addrs::get_if_addrs().unwrap() {
            assert!(judge(interface.ip(), Reach::Network).is_err());
        }
    }

    #[test]
    fn the_internet_and_the_venues_network_are_always_reached() {
        for address in [
            "93.184.216.34",
            "10.0.0.7",
            "172.16.3.4",
            "192.168.1.20",
            "100.64.0.1",
            "2606:2800:220:1::1",
            "fd12:3456::7",
            "::ffff:192.168.1.20",
            "64:ff9b::5db8:d822",
        ] {
            // One of them may be this machine's own.
            let judged = judge_beside(address.parse().unwrap(), Reach::Network, false, |_| false);
            assert_eq!(judged, Ok(()), "{address}");
        }
    }

    #[test]
    fn addresses_are_told_from_what_is_none() {
        for (text, taken) in [
            ("https://hooks.example.org/gate?key=1", true),
            ("http://192.168.1.20:8080", true),
            ("HTTPS://Example.ORG/", true),
            ("http://[2001:db8::1]/x", true),
            ("", false),
            ("hooks.example.org", false),
            ("ftp://hooks.example.org/", false),
            ("file:///etc/passwd", false),
            ("gopher://x/", false),
            ("http:example.org", false),
            ("http:///example.org", false),
            ("http://", false),
            ("https://u:p@example.org/", false),
            ("https://u@example.org/", false),
            ("https://exa mple.org/", false),
            ("https:\\\\example.org/", false),
            ("https://example.org\\@127.0.0.1/", false),
            ("https://example.org/\n", false),
            ("https://example.org:0/", false),
            ("https://example.org:99999/", false),
            ("javascript:alert(1)", false),
            // Notations of this machine.
            ("http://127.0.0.1/", false),
            ("http://127.1/", false),
            ("http://2130706433/", false),
            ("http://0x7f000001/", false),
            ("http://0177.0.0.1/", false),
            ("http://127.0.0.1./", false),
            ("http://①②⑦.0.0.1/", false),
            ("http://0/", false),
            ("http://[::1]/", false),
            ("http://[::ffff:127.0.0.1]/", false),
            ("http://[::ffff:7f00:1]/", false),
            ("http://[0:0:0:0:0:0:0:1]:80/", false),
            ("http://169.254.169.254/latest/meta-data/", false),
            ("http://[fe80::1]/", false),
        ] {
            assert_eq!(
                check_url("url", text, Reach::Network).is_ok(),
                taken,
                "{text}"
            );
        }
        assert!(check_url("url", "http://127.1:9/", Reach::Local).is_ok());
        assert!(check_url("url", "http://169.254.169.254/", Reach::Local).is_err());
    }

    #[test]
    fn readers_may_be_cabled_straight_to_this_machine_and_nothing_else_is_different() {
        for (address, taken, taken_locally) in [
            ("192.0.2.9", true, true),
            ("192.0.2.9:5084", true, true),
            ("reader-1.local", true, true),
            ("169.254.7.7", true, true),
            ("fe80::1", true, true),
            ("[fe80::1]:5084", true, true),
            ("127.0.0.1:5084", false, true),
            ("127.1", false, true),
            ("2130706433", false, true),
            ("0x7f.1:5084", false, true),
            ("::1", false, true),
            ("[::ffff:127.0.0.1]:5084", false, true),
            ("169.254.169.254", false, false),
            ("[::ffff:169.254.169.254]:80", false, false),
            ("fd00:ec2::254", false, false),
            ("100.100.100.200", false, false),
            ("224.0.0.251", false, false),
            ("ff02::1", false, false),
            ("255.255.255.255", false, false),
            ("192.0.2.9:0", false, false),
            ("1.2.3.4.5", false, false),
        ] {
            let fits = |reach| check_reader("address", address, reach).is_ok();
            assert_eq!(fits(Reach::Network), taken, "{address}");
            assert_eq!(fits(Reach::Local), taken_locally, "{address}");
        }
        let long = format!("{}.local", "a".repeat(64));
        assert!(check_reader("address", &long, Reach::Local).is_err());
        assert!(check_reader("address", &"a.".repeat(130), Reach::Local).is_err());
        let own: IpAddr = "169.254.7.7".parse().unwrap();
        let judged = judge_beside(own, Reach::Network, true, |address| address == own);
        assert!(judged.unwrap_err().contains("this machine itself"));
    }
}
