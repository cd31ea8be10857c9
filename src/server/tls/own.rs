//! The server's own certificate, for a LAN without public names. The database file holds a local certificate
//! authority (CA), which devices trust once, and a certificate that it signed for this machine's present names
//! and addresses. Both go along when the file moves to another laptop.
//!
//! The CA stays the same whatever this machine is called and wherever it is. Its name constraints allow private
//! addresses, `.local` and the names that it was made with, so that whoever steals the file cannot
//! impersonate a public website to the devices.

use super::{Source, Tls, certified, fingerprint};
use crate::{
    db::{Store, Tx},
    server::announce,
    types::{
        Timestamp,
        error::{Error, Result},
        secret,
    },
};
use jiff::{ToSpan, Zoned, tz::TimeZone};
use rcgen::{
    BasicConstraints, CertificateParams, CidrSubnet, DistinguishedName, DnType,
    ExtendedKeyUsagePurpose, GeneralSubtree, IsCa, Issuer, KeyPair, KeyUsagePurpose,
    NameConstraints, date_time_ymd,
};
use rusqlite::{OptionalExtension, params};
use rustls::{
    pki_types::{CertificateDer, PrivatePkcs8KeyDer},
    sign::CertifiedKey,
};
use sha2::{Digest, Sha256};
use std::{
    collections::BTreeSet,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

/// Days that a CA lasts.
const CA_DAYS: i64 = 3650;
/// Days that a certificate lasts from now on. It begins a day ago; clients accept at most 397 days in all.
const CERTIFICATE_DAYS: i64 = 395;
/// Days before its end at which a certificate is replaced: no event ends in the middle of it.
const RENEWED_DAYS: i64 = 30;
/// The most names in a certificate.
const NAMES_MAX: usize = 64;
/// The interval at which this machine's names and addresses are compared with those in the certificate.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// Address ranges that every CA may sign for: private, shared, link-local and loopback.
const RANGES: [(IpAddr, u8); 9] = [
    (IpAddr::V4(Ipv4Addr::new(10, 0, 0, 0)), 8),
    (IpAddr::V4(Ipv4Addr::new(172, 16, 0, 0)), 12),
    (IpAddr::V4(Ipv4Addr::new(192, 168, 0, 0)), 16),
    (IpAddr::V4(Ipv4Addr::new(100, 64, 0, 0)), 10),
    (IpAddr::V4(Ipv4Addr::new(169, 254, 0, 0)), 16),
    (IpAddr::V4(Ipv4Addr::new(127, 0, 0, 0)), 8),
    (IpAddr::V6(Ipv6Addr::new(0xfc00, 0, 0, 0, 0, 0, 0, 0)), 7),
    (IpAddr::V6(Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0)), 10),
    (IpAddr::V6(Ipv6Addr::LOCALHOST), 128),
];
/// Domains that every CA may sign for.
const DOMAINS: [&str; 2] = ["local", "localhost"];

/// The server's own certificate and the CA that signed it.
pub struct Own {
    /// Names beside this machine's: the host of `--public-url`, and the name of the machine that it took over from.
    extra: Vec<String>,
    stored: RwLock<Arc<Stored>>,
}

/// The row of `tls_certificate`.
struct Stored {
    ca: Ca,
    leaf: Leaf,
}

struct Ca {
    certificate: CertificateDer<'static>,
    key: Vec<u8>,
    /// Names that it may sign for beside [`RANGES`] and [`DOMAINS`].
    names: BTreeSet<String>,
    expires_at: Timestamp,
}

struct Leaf {
    certificate: CertificateDer<'static>,
    key: Vec<u8>,
    names: BTreeSet<String>,
    created_at: Timestamp,
    expires_at: Timestamp,
}

impl Tls {
    /// The file's own CA and certificate, made or renewed where needed. `extra` are names beside this machine's,
    /// such as the host of `--public-url`.
    pub fn own(store: &Store, extra: Vec<String>) -> Result<Self> {
        let names = local_names(&extra);
        let stored = store.write(move |tx| load_or_make(tx, &names)).wait()?;
        for extra in extra
            .iter()
            .filter(|extra| stored.ca.allowed(extra).is_none())
        {
            tracing::warn!(
                "the certificate is not valid for {extra}: this file's CA was made without that name; \
                 use {}, or a certificate of your own for that name (--tls-cert, --tls-key)",
                announce::host()
            );
        }
        let shown = stored.leaf.certified()?;
        let own = Own {
            extra,
            stored: RwLock::new(Arc::new(stored)),
        };
        Self::showing(shown, Source::Own(Arc::new(own)))
    }
}

impl Own {
    fn stored(&self) -> Arc<Stored> {
        Arc::clone(&self.stored.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The CA's certificate, which devices install.
    pub fn ca(&self) -> CertificateDer<'static> {
        self.stored().ca.certificate.clone()
    }

    /// The SHA-256 fingerprint of the CA.
    pub fn fingerprint(&self) -> String {
        fingerprint(&self.stored().ca.certificate)
    }

    /// Returns the name under which devices list the CA.
    pub fn ca_name(&self) -> Result<String> {
        Ok(ca_name(&key_pair(&self.stored().ca.key)?))
    }

    /// The names and addresses in the certificate.
    pub fn names(&self) -> BTreeSet<String> {
        self.stored().leaf.names.clone()
    }

    /// A certificate for the names and addresses of now, where the present one does not suffice.
    async fn renewed(&self, store: &Store) -> Result<Option<CertifiedKey>> {
        let names = local_names(&self.extra);
        let stored = self.stored();
        if stored.leaf.suffices(&stored.ca, &names, Timestamp::now()) {
            return Ok(None);
        }
        let stored = store.write(move |tx| load_or_make(tx, &names)).await?;
        let shown = stored.leaf.certified()?;
        *self.stored.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(stored);
        Ok(Some(shown))
    }

    /// Renews the certificate when needed, for as long as it is polled.
    pub(super) async fn follow(&self, store: &Store, shown: &super::Shown) {
        let mut has_failed = false;
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            match self.renewed(store).await {
                Ok(renewed) => {
                    if let Some(certificate) = renewed {
                        shown.change(certificate);
                    }
                    has_failed = false;
                }
                Err(cause) if !has_failed => {
                    tracing::warn!("the certificate cannot be renewed: {cause}");
                    has_failed = true;
                }
                Err(_) => {}
            }
        }
    }
}

/// Returns the names that clients on the LAN may call this machine; names before addresses.
fn local_names(extra: &[String]) -> BTreeSet<String> {
    let host = gethostname::gethostname()
        .to_string_lossy()
        .to_ascii_lowercase();
    let mut names = vec!["localhost".into(), "127.0.0.1".into(), "::1".into()];
    names.extend(extra.iter().map(|name| name.to_ascii_lowercase()));
    names.push(announce::host());
    if !host.contains('.') {
        names.push(format!("{host}.local"));
    }
    names.push(host);
    for interface in if_addrs::get_if_addrs().unwrap_or_default() {
        match interface.ip() {
            // Nobody types link-local addresses.
            IpAddr::V6(address) if address.is_unicast_link_local() => {}
            address => names.push(address.to_string()),
        }
    }
    names.retain(|name| is_name(name));
    names.into_iter().take(NAMES_MAX).collect()
}

/// Returns whether clients understand a certificate with this name or address.
fn is_name(name: &str) -> bool {
    let is_label = |label: &str| {
        let plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
        !label.is_empty() && label.chars().all(plain) && !label.starts_with('-')
    };
    name.parse::<IpAddr>().is_ok() || name.split('.').all(is_label)
}

/// The stored CA and certificate, where they suffice for `names`; otherwise with what is missing made and stored.
fn load_or_make(tx: &Tx<'_>, names: &BTreeSet<String>) -> Result<Stored> {
    let now = tx.now();
    let stored = stored(tx)?.filter(|stored| stored.ca.expires_at > later(now, CERTIFICATE_DAYS));
    let (ca, before) = match stored {
        Some(stored) if stored.leaf.suffices(&stored.ca, names, now) => return Ok(stored),
        Some(stored) => (stored.ca, Some(stored.leaf)),
        None => (Ca::make(names, now)?, None),
    };
    let leaf = Leaf::make(&ca, before.as_ref(), names, now)?;
    let replaced = tx.execute("DELETE FROM tls_certificate", [])?;
    tx.execute(
        "INSERT INTO tls_certificate
             (id, certificate, private_key, names, created_at, expires_at, ca, ca_key, ca_names, ca_expires_at)
         VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        params![
            leaf.certificate.as_ref(),
            leaf.key,
            serde_json::json!(leaf.names).to_string(),
            leaf.created_at,
            leaf.expires_at,
            ca.certificate.as_ref(),
            ca.key,
            serde_json::json!(ca.names).to_string(),
            ca.expires_at,
        ],
    )?;
    match (before, replaced) {
        (Some(_), _) => tracing::info!(
            "a new certificate was made, as names or time of the old one did not suffice; the CA is the same"
        ),
        (None, 0) => {
            tracing::info!("a CA was made; devices install it once, from /gate/trust");
        }
        (None, _) => tracing::warn!(
            "a new CA was made, as the old certificate has none or it ends; every device must install it from /gate/trust"
        ),
    }
    Ok(Stored { ca, leaf })
}

/// The row, where there is one with a CA; earlier versions stored none.
fn stored(tx: &Tx<'_>) -> Result<Option<Stored>> {
    let names = |text: String| serde_json::from_str(&text).unwrap_or_default();
    let stored = tx
        .prepare_cached(
            "SELECT certificate, private_key, names, created_at, expires_at, ca, ca_key, ca_names, ca_expires_at
             FROM tls_certificate WHERE ca IS NOT NULL",
        )?
        .query_row([], |row| {
            Ok(Stored {
                leaf: Leaf {
                    certificate: row.get::<_, Vec<u8>>(0)?.into(),
                    key: row.get(1)?,
                    names: names(row.get(2)?),
                    created_at: row.get(3)?,
                    expires_at: row.get(4)?,
                },
                ca: Ca {
                    certificate: row.get::<_, Vec<u8>>(5)?.into(),
                    key: row.get(6)?,
                    names: names(row.get(7)?),
                    expires_at: row.get(8)?,
                },
            })
        })
        .optional()?;
    Ok(stored)
}

impl Ca {
    /// A CA that may sign for private addresses, `.local`, and `names` beside those.
    fn make(names: &BTreeSet<String>, now: Timestamp) -> Result<Self> {
        let key = KeyPair::generate().map_err(Error::defect)?;
        let names: BTreeSet<String> = names
            .iter()
            .filter(|name| !is_always_allowed(name) && name.parse::<Ipv6Addr>().is_err())
            .cloned()
            .collect();
        let mut params = ca_params(&key);
        // The clocks of devices, and this machine's, may be wrong.
        set_validity(&mut params, (2025, 1, 1), day(CA_DAYS));
        let ranges = RANGES.map(|(address, bits)| CidrSubnet::from_addr_prefix(address, bits));
        let domains = DOMAINS.map(|domain| GeneralSubtree::DnsName(domain.into()));
        let own = names.iter().map(|name| match name.parse() {
            Ok(IpAddr::V4(address)) => {
                GeneralSubtree::IpAddress(CidrSubnet::from_addr_prefix(address.into(), 32))
            }
            _ => GeneralSubtree::DnsName(name.clone()),
        });
        params.name_constraints = Some(NameConstraints {
            permitted_subtrees: ranges
                .map(GeneralSubtree::IpAddress)
                .into_iter()
                .chain(domains)
                .chain(own)
                .collect(),
            excluded_subtrees: Vec::new(),
        });
        let certificate = params.self_signed(&key).map_err(Error::defect)?;
        Ok(Self {
            certificate: certificate.der().clone(),
            key: key.serialize_der(),
            names,
            expires_at: later(now, CA_DAYS),
        })
    }

    /// The name, where the CA may sign for it.
    fn allowed<'a>(&self, name: &'a str) -> Option<&'a str> {
        (is_always_allowed(name) || self.names.contains(name)).then_some(name)
    }

    /// Returns the names among `names` that it may sign for. Clients refuse a certificate with any other.
    fn all_allowed(&self, names: &BTreeSet<String>) -> BTreeSet<String> {
        let allowed = names.iter().filter_map(|name| self.allowed(name));
        allowed.map(ToOwned::to_owned).collect()
    }

    /// Signs a certificate.
    fn sign(&self, params: &CertificateParams, key: &KeyPair) -> Result<CertificateDer<'static>> {
        let own_key = key_pair(&self.key)?;
        let own = ca_params(&own_key);
        let issuer = Issuer::from_params(&own, &own_key);
        let signed = params.signed_by(key, &issuer).map_err(Error::defect)?;
        Ok(signed.der().clone())
    }
}

/// Returns whether every CA may sign for a name or an address.
fn is_always_allowed(name: &str) -> bool {
    match name.parse::<IpAddr>() {
        Ok(address) => RANGES.iter().any(|(range, bits)| match (range, address) {
            (IpAddr::V4(range), IpAddr::V4(address)) => {
                (range.to_bits() ^ address.to_bits()) >> (32 - bits) == 0
            }
            (IpAddr::V6(range), IpAddr::V6(address)) => {
                (range.to_bits() ^ address.to_bits()) >> (128 - bits) == 0
            }
            _ => false,
        }),
        Err(_) => DOMAINS.iter().any(|domain| {
            name.strip_suffix(domain)
                .is_some_and(|start| start.is_empty() || start.ends_with('.'))
        }),
    }
}

/// Returns the name of a CA with this key. Part of every certificate that it signs: it must not change.
fn ca_name(key: &KeyPair) -> String {
    let digest = Sha256::digest(key.public_key_raw());
    let short = secret::hex(&digest[..3]).to_uppercase();
    format!("Gatepost CA {short}")
}

/// Returns the parameters of a CA that its certificates repeat, whatever else is in it.
fn ca_params(key: &KeyPair) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    params
        .distinguished_name
        .push(DnType::CommonName, ca_name(key));
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params
}

impl Leaf {
    /// A certificate for those of `names` that the CA may sign for, with the key of the one before.
    fn make(
        ca: &Ca,
        before: Option<&Self>,
        names: &BTreeSet<String>,
        now: Timestamp,
    ) -> Result<Self> {
        let names = ca.all_allowed(names);
        let key = match before {
            Some(before) => key_pair(&before.key)?,
            None => KeyPair::generate().map_err(Error::defect)?,
        };
        let certificate = ca.sign(&server_params(&names)?, &key)?;
        Ok(Self {
            certificate,
            key: key.serialize_der(),
            names,
            created_at: now,
            expires_at: later(now, CERTIFICATE_DAYS),
        })
    }

    /// Returns whether it is good for those of `names` that the CA may sign for, and for a while yet. It is not where
    /// this machine's clock was ahead when it was made.
    fn suffices(&self, ca: &Ca, names: &BTreeSet<String>, now: Timestamp) -> bool {
        ca.all_allowed(names).is_subset(&self.names)
            && self.created_at <= now
            && self.expires_at > later(now, RENEWED_DAYS)
    }

    fn certified(&self) -> Result<CertifiedKey> {
        let key = PrivatePkcs8KeyDer::from(self.key.clone()).into();
        certified(vec![self.certificate.clone()], key).map_err(Error::defect)
    }
}

fn server_params(names: &BTreeSet<String>) -> Result<CertificateParams> {
    let list: Vec<String> = names.iter().cloned().collect();
    let mut params = CertificateParams::new(list).map_err(Error::defect)?;
    params.distinguished_name = DistinguishedName::new();
    params
        .distinguished_name
        .push(DnType::CommonName, "Gatepost");
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    params.use_authority_key_identifier_extension = true;
    set_validity(&mut params, day(-1), day(CERTIFICATE_DAYS));
    Ok(params)
}

fn key_pair(der: &[u8]) -> Result<KeyPair> {
    KeyPair::try_from(der).map_err(Error::defect)
}

fn later(at: Timestamp, days: i64) -> Timestamp {
    Timestamp(at.0 + days * 24 * 60 * 60 * 1000)
}

/// The day so many days from today.
fn day(days: i64) -> (i32, u8, u8) {
    let today = Zoned::now().with_time_zone(TimeZone::UTC);
    let date = today.saturating_add(days.days()).date();
    let number = |part: i8| u8::try_from(part).unwrap_or(1);
    (date.year().into(), number(date.month()), number(date.day()))
}

/// Sets the first and the last day of a certificate.
fn set_validity(params: &mut CertificateParams, from: (i32, u8, u8), to: (i32, u8, u8)) {
    params.not_before = date_time_ymd(from.0, from.1, from.2);
    params.not_after = date_time_ymd(to.0, to.1, to.2);
}

#[cfg(test)]
mod tests;
