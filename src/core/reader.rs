//! The reader's settings in `data.Reader` of a device of the type `rfidreader`: how its tag reads reach the server, and
//! which place each antenna watches.

use super::presence::Zone;
use crate::types::{
    DeviceSelector,
    error::{Error, Result},
    json::in_plain_words,
};
use serde::Deserialize;
use serde_json::Value;
use std::{
    fmt::Display,
    net::{IpAddr, SocketAddr},
};

/// The type of devices that are readers.
pub const DEVICE_TYPE: &str = "rfidreader";
/// Antennas of a reader at the most; hubs have 32.
const ANTENNAS_MAX: usize = 64;

/// The way in which a reader's tag reads reach the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// The server connects to the reader and configures it.
    Llrp,
    /// The reader posts to `/reader/impinj`.
    Impinj,
    /// The reader posts to `/reader/zebra`.
    Zebra,
    /// Somebody posts to `/reader/reads`.
    #[default]
    Push,
}

impl Protocol {
    /// As `data.Reader` says it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Llrp => "llrp",
            Self::Impinj => "impinj",
            Self::Zebra => "zebra",
            Self::Push => "push",
        }
    }
}

/// A reader as it is set up.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ReaderSetup {
    pub protocol: Protocol,
    /// `192.0.2.9:5084`; the port is optional.
    pub address: Option<String>,
    /// Tags whose EPC begins otherwise are ignored; hexadecimal.
    pub epc_prefix: Option<String>,
    /// Without any, the reader stands for its parent as a room.
    pub antennas: Vec<Antenna>,
}

/// An antenna and what it watches.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Antenna {
    pub antenna: u16,
    /// A selector of a device, such as `code:hall-1`; the reader's parent without it.
    #[serde(default)]
    pub place: Option<String>,
    #[serde(default)]
    pub zone: Zone,
    #[serde(default)]
    pub power_dbm: Option<f64>,
}

impl ReaderSetup {
    /// Reads a setup strictly; `name` is what messages call it.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`], with the path of what is wrong.
    pub fn parse(name: &str, value: &Value) -> Result<Self> {
        let setup: Self = serde_path_to_error::deserialize(value).map_err(|cause| {
            let fault = in_plain_words(&cause.inner().to_string());
            Error::field(format!("{name}.{}", cause.path()), fault)
        })?;
        setup.check().map_err(|cause| cause.below(name))?;
        Ok(setup)
    }

    fn check(&self) -> Result<()> {
        if self.protocol == Protocol::Llrp && self.address.as_deref().unwrap_or_default().is_empty()
        {
            return Err(Error::field(
                "address",
                "is missing; the server connects to it, such as 192.0.2.9:5084",
            ));
        }
        if let Some(address) = &self.address
            && !is_address(address)
        {
            return Err(Error::field(
                "address",
                "must be a name or an IP address, with a port if it is not 5084",
            ));
        }
        let prefix = self.epc_prefix.as_deref().unwrap_or_default();
        if prefix.len() > 124 || !prefix.bytes().all(|one| one.is_ascii_hexdigit()) {
            return Err(Error::field(
                "epcPrefix",
                "must be hexadecimal digits, such as 3034",
            ));
        }
        if self.antennas.len() > ANTENNAS_MAX {
            return Err(Error::field(
                "antennas",
                format!("must be at most {ANTENNAS_MAX}"),
            ));
        }
        for (at, one) in self.antennas.iter().enumerate() {
            let fault = |name: &str, what: &dyn Display| {
                Err(Error::field(format!("antennas[{at}].{name}"), what))
            };
            if one.antenna == 0 {
                return fault("antenna", &"must be 1 or more");
            }
            if self.antennas[..at]
                .iter()
                .any(|earlier| earlier.antenna == one.antenna)
            {
                return fault("antenna", &format!("{} stands twice", one.antenna));
            }
            if let Some(place) = &one.place
                && let Err(cause) = DeviceSelector::parse(place)
            {
                return fault("place", &cause);
            }
            if one
                .power_dbm
                .is_some_and(|power| !(0.0..=40.0).contains(&power))
            {
                return fault("powerDbm", &"must be from 0 to 40");
            }
        }
        Ok(())
    }
}

/// Returns whether this may be a host with or without a port: `reader-1`, `192.0.2.9:5084`, `[2001:db8::9]:5084`,
/// `fe80::9%eth0`.
fn is_address(text: &str) -> bool {
    let is_host = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    // An address that many networks have names the network.
    if let Some((address, rest)) = text.split_once('%') {
        let end = rest.find(']').unwrap_or(rest.len());
        let (network, rest) = rest.split_at(end);
        let is_v6 = address.contains(':') && !rest.contains('%');
        return is_v6
            && !network.is_empty()
            && network.bytes().all(is_host)
            && is_address(&format!("{address}{rest}"));
    }
    let bare = text
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'));
    if bare.unwrap_or(text).parse::<IpAddr>().is_ok() || text.parse::<SocketAddr>().is_ok() {
        return true;
    }
    let (host, port) = text.split_once(':').unwrap_or((text, "5084"));
    !host.is_empty() && host.bytes().all(is_host) && port.parse::<u16>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn addresses_are_hosts_with_or_without_a_port() {
        let parsed = |address: &str| {
            ReaderSetup::parse("Reader", &json!({"protocol": "llrp", "address": address})).is_ok()
        };
        for address in [
            "reader-1.local",
            "reader_1:5085",
            "192.0.2.9",
            "192.0.2.9:5084",
            "fe80::1",
            "[fe80::1]",
            "[2001:db8::9]:5084",
            "fe80::1%eth0",
            "[fe80::1%eth0]",
            "[fe80::1%2]:5084",
        ] {
            assert!(parsed(address), "{address}");
        }
        for address in [
            "",
            ":5084",
            "not an address",
            "http://reader",
            "192.0.2.9:99999",
            "192.0.2.9:",
            ":::",
            "reader/1",
            "reader%eth0",
            "fe80::1%",
            "fe80::1%a b",
            "[fe80::1%a%b]",
            "fe80::1%eth0]",
        ] {
            assert!(!parsed(address), "{address}");
        }
    }
}
