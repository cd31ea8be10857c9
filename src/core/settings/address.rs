//! Addresses that an administrator gives: the server's own, and those that browsers may call from.

use crate::types::{
    error::{Error, Result},
    text::shortened,
};

/// The server's own address, without a trailing slash.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`], saying what would be right.
pub fn public_url(text: &str) -> Result<String> {
    let url = text.trim_end_matches('/');
    let right = url.split_once("://").is_some_and(|(scheme, rest)| {
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        matches!(scheme, "http" | "https")
            && is_authority(authority)
            && path.bytes().all(is_of_path)
    });
    if right {
        return Ok(url.to_owned());
    }
    Err(Error::invalid(format!(
        "publicUrl: \"{}\" is no address such as https://gate.example.org or http://192.168.1.20:8080",
        shortened(text)
    )))
}

/// The host of an address such as `https://gate.example.org:8443`, without the brackets of an IPv6
/// address; `None` where it has none.
#[must_use]
pub fn host(url: &str) -> Option<&str> {
    let authority = url.split_once("://")?.1.split(['/', '?', '#']).next()?;
    let host = match authority.strip_prefix('[') {
        Some(address) => address.split(']').next()?,
        None => authority.split(':').next()?,
    };
    (!host.is_empty()).then_some(host)
}

/// Checks an origin as browsers send it: scheme, host, port, and nothing behind.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`], saying what would be right.
pub fn check_origin(origin: &str) -> Result<()> {
    let right = origin.split_once("://").is_some_and(|(scheme, authority)| {
        let mut letters = scheme.bytes();
        letters
            .next()
            .is_some_and(|first| first.is_ascii_lowercase())
            && letters.all(|byte| {
                byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"+-.".contains(&byte)
            })
            && is_authority(authority)
    });
    if right {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "corsOrigins: \"{}\" is no origin such as https://gate.example.org, without a path or a slash at its end",
        shortened(origin)
    )))
}

/// A host with an optional port; no user, no white space.
fn is_authority(text: &str) -> bool {
    let (host, port) = match text.rsplit_once(':') {
        // An IPv6 address has colons of its own, and stands in brackets.
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (text, None),
    };
    let bracketed = host
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    let host_fits = match bracketed {
        Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
        None => {
            !host.is_empty()
                && host
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte))
        }
    };
    host_fits && port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port > 0))
}

fn is_of_path(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"/-._~%".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_told_from_what_is_none() {
        for (text, taken) in [
            (
                "https://gate.example.org/",
                Some("https://gate.example.org"),
            ),
            ("http://192.168.1.20:8080", Some("http://192.168.1.20:8080")),
            (
                "http://[2001:db8::1]:80/gate/",
                Some("http://[2001:db8::1]:80/gate"),
            ),
            ("gate.example.org", None),
            ("ftp://gate.example.org", None),
            ("https://", None),
            ("https://a b", None),
            ("https://u@host", None),
            ("https://host:99999", None),
            ("https://host/?x", None),
            ("javascript://x/%0aalert(1)", None),
        ] {
            assert_eq!(public_url(text).ok().as_deref(), taken, "{text}");
        }
    }

    #[test]
    fn the_host_of_an_address() {
        for (url, expected) in [
            ("https://gate.example.org", Some("gate.example.org")),
            ("https://gate.example.org:8443/x", Some("gate.example.org")),
            ("https://[2001:db8::1]:8443", Some("2001:db8::1")),
            ("https://", None),
            ("gate", None),
        ] {
            assert_eq!(host(url), expected, "{url}");
        }
    }

    #[test]
    fn an_origin_has_no_path() {
        for origin in [
            "https://a.example",
            "http://localhost:3000",
            "capacitor://localhost",
            "http://[::1]:5173",
        ] {
            assert!(check_origin(origin).is_ok(), "{origin}");
        }
        for other in [
            "https://a.example/",
            "a.example",
            "*",
            "null",
            "https://a.example, https://b.example",
            "",
        ] {
            assert!(check_origin(other).is_err(), "{other}");
        }
    }
}
