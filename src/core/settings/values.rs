//! Values of settings: the server's own address, origins that browsers may call from, whether messages go
//! to delegates (spec: send-comm, rule 7), and who may have one-time passwords (contract §8, OTP).

use crate::types::{
    error::{Error, Result},
    text::shortened,
};
use serde_json::Value;

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
        "\"{}\" is no address such as https://gate.example.org or http://192.168.1.20:8080",
        shortened(text)
    ))
    .at("publicUrl"))
}

/// The host of an address such as `https://gate.example.org:8443`, without the brackets of an IPv6
/// address; `None` where it has none.
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
        "\"{}\" is no origin such as https://gate.example.org, without a path or a slash at its end",
        shortened(origin)
    ))
    .at("corsOrigins"))
}

/// A host with an optional port; no user, no white space.
fn is_authority(text: &str) -> bool {
    let (host, port) = match text.rsplit_once(':') {
        // An IPv6 address contains colons, and is in brackets.
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

/// Switches for messages to delegates. Messages to users, such as one-time passwords, have none.
#[expect(
    clippy::struct_excessive_bools,
    reason = "switches that have nothing to do with each other"
)]
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Communications {
    /// Set where any are sent.
    pub enabled: bool,
    /// Set where e-mails are sent.
    pub email: bool,
    /// Set where texts are sent.
    pub sms: bool,
    /// Set where push messages are sent.
    pub push: bool,
    /// The country of phone numbers without a country code, as its calling code, such as `+49`; without
    /// it they cannot be reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub country_code: Option<String>,
}

impl Default for Communications {
    fn default() -> Self {
        Self {
            enabled: true,
            email: true,
            sms: true,
            push: true,
            country_code: None,
        }
    }
}

impl Communications {
    pub(super) fn parse(value: &Value) -> Result<Self> {
        if !value.is_object() {
            return Err(Error::field("communications", "must be an object"));
        }
        let read: Self = serde_json::from_value(value.clone())
            .map_err(|cause| Error::field("communications", cause))?;
        if let Some(code) = &read.country_code {
            let digits = code.strip_prefix('+').unwrap_or_default();
            let right = (1..=3).contains(&digits.len())
                && digits.bytes().all(|byte| byte.is_ascii_digit())
                && !digits.starts_with('0');
            if !right {
                return Err(Error::field(
                    "communications.countryCode",
                    "must be such as +49",
                ));
            }
        }
        Ok(read)
    }
}

/// The people who may have a one-time password.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OneTimePasswords {
    /// Nobody.
    Off,
    /// People who are users already.
    #[default]
    Users,
    /// Users, and whose e-mail address exactly one delegate has: they become users as they sign in.
    Delegates,
    /// Anybody with an e-mail address: they become users as they sign in.
    Anyone,
}

impl OneTimePasswords {
    /// Every choice, the strictest first.
    pub const ALL: [Self; 4] = [Self::Off, Self::Users, Self::Delegates, Self::Anyone];

    /// Its name in the configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Users => "users",
            Self::Delegates => "delegates",
            Self::Anyone => "anyone",
        }
    }

    pub(super) fn parse(value: &Value) -> Result<Self> {
        let named = |name: &str| Self::ALL.into_iter().find(|choice| choice.name() == name);
        value.as_str().and_then(named).ok_or_else(|| {
            Error::field(
                "oneTimePasswords",
                "must be off, users, delegates or anyone",
            )
        })
    }
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

#[cfg(test)]
mod communications_tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_not_said_is_on() {
        let read = Communications::parse(&json!({"sms": false, "countryCode": "+49"})).unwrap();
        assert!(read.enabled && read.email && read.push && !read.sms);
        assert_eq!(
            Communications::parse(&json!({})).unwrap(),
            Communications::default()
        );
        for wrong in [
            json!({"sms": "no"}),
            json!({"letters": true}),
            json!({"countryCode": "49"}),
            json!({"countryCode": "+0"}),
            json!({"countryCode": "+4900"}),
            json!([]),
        ] {
            assert!(Communications::parse(&wrong).is_err(), "{wrong}");
        }
    }
}
