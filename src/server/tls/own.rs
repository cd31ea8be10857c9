//! A certificate that the server signs for itself, for a LAN without names. It is kept in the
//! database file, so that it stays the same over restarts and goes along when the file moves to
//! another laptop: a gate that trusts its fingerprint goes on doing so.

use super::{Tls, certified};
use crate::{
    db::{Store, Tx},
    types::{
        Timestamp,
        error::{Error, Result},
    },
};
use jiff::{ToSpan, Zoned};
use rcgen::{
    CertificateParams, DnType, ExtendedKeyUsagePurpose, KeyPair, KeyUsagePurpose, date_time_ymd,
};
use rusqlite::{OptionalExtension, params};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use std::collections::BTreeSet;

/// Days that a certificate lasts; phones take none that lasts more than 825.
const LASTS_DAYS: i64 = 800;
/// Days before its end at which it is replaced: no event ends in the middle of it.
const RENEWED_DAYS: i64 = 30;
/// Names in a certificate at the most; those of today go before those of other venues.
const NAMES_MAX: usize = 64;

/// The stored certificate.
struct Kept {
    certificate: Vec<u8>,
    key: Vec<u8>,
    names: BTreeSet<String>,
    expires_at: Timestamp,
}

impl Tls {
    /// The file's own certificate; made when there is none, and made anew, with the same key, when
    /// it is about to end or lacks one of the names this machine has now. `extra` is a name beside
    /// those, such as the host of `--public-url`.
    pub fn own(store: &Store, extra: Option<&str>) -> Result<Self> {
        let names = local_names(extra);
        let kept = store.write_blocking(move |tx| keep(tx, &names))?;
        let chain = vec![CertificateDer::from(kept.certificate)];
        let key = PrivatePkcs8KeyDer::from(kept.key).into();
        Self::showing(certified(chain, key).map_err(Error::defect)?)
    }
}

/// What clients on the LAN may call this machine.
fn local_names(extra: Option<&str>) -> BTreeSet<String> {
    let mut names: BTreeSet<String> = ["localhost", "127.0.0.1", "::1"].map(Into::into).into();
    names.extend(extra.map(ToOwned::to_owned));
    let host = gethostname::gethostname()
        .to_string_lossy()
        .to_ascii_lowercase();
    let plain = |host: &str| {
        let known = |letter: char| letter.is_ascii_alphanumeric() || "-.".contains(letter);
        !host.is_empty() && host.chars().all(known)
    };
    if plain(&host) {
        if !host.contains('.') {
            names.insert(format!("{host}.local"));
        }
        names.insert(host);
    }
    for interface in if_addrs::get_if_addrs().unwrap_or_default() {
        let address = interface.ip();
        let link_local = match address {
            std::net::IpAddr::V4(address) => address.is_link_local(),
            std::net::IpAddr::V6(address) => address.is_unicast_link_local(),
        };
        // Nobody types those, and they change.
        if !link_local {
            names.insert(address.to_string());
        }
    }
    names
}

fn keep(tx: &Tx<'_>, names: &BTreeSet<String>) -> Result<Kept> {
    let kept = kept(tx)?;
    let renewed_at = later(tx.now(), RENEWED_DAYS);
    let known = match kept {
        Some(kept) if names.is_subset(&kept.names) && kept.expires_at > renewed_at => {
            return Ok(kept);
        }
        known => known,
    };
    let made = make(known.as_ref(), names)?;
    tx.execute("DELETE FROM tls_certificate", [])?;
    tx.execute(
        "INSERT INTO tls_certificate (id, certificate, private_key, names, created_at, expires_at)
         VALUES (1, ?1, ?2, ?3, ?4, ?5)",
        params![
            made.certificate,
            made.key,
            serde_json::json!(made.names).to_string(),
            tx.now(),
            made.expires_at,
        ],
    )?;
    if known.is_some() {
        tracing::info!("a new certificate was made: names or time of the old one did not suffice");
    }
    Ok(made)
}

fn later(at: Timestamp, days: i64) -> Timestamp {
    Timestamp(at.0 + days * 24 * 60 * 60 * 1000)
}

fn kept(tx: &Tx<'_>) -> Result<Option<Kept>> {
    let kept = tx
        .prepare_cached(
            "SELECT certificate, private_key, names, expires_at FROM tls_certificate WHERE id = 1",
        )?
        .query_row([], |row| {
            let names: String = row.get(2)?;
            Ok(Kept {
                certificate: row.get(0)?,
                key: row.get(1)?,
                names: serde_json::from_str(&names).unwrap_or_default(),
                expires_at: row.get(3)?,
            })
        })
        .optional()?;
    Ok(kept)
}

/// A certificate for `names`, with the key and the names of the one before.
fn make(before: Option<&Kept>, names: &BTreeSet<String>) -> Result<Kept> {
    let mut all = names.clone();
    let earlier = before.into_iter().flat_map(|before| &before.names);
    all.extend(earlier.take(NAMES_MAX.saturating_sub(names.len())).cloned());
    let key = match before {
        Some(before) => KeyPair::try_from(before.key.as_slice()),
        None => KeyPair::generate(),
    }
    .map_err(Error::defect)?;
    let list: Vec<String> = all.iter().cloned().collect();
    let mut params = CertificateParams::new(list).map_err(Error::defect)?;
    params
        .distinguished_name
        .push(DnType::CommonName, "Gatepost");
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let today = Zoned::now().with_time_zone(jiff::tz::TimeZone::UTC);
    // A gate's clock may be behind.
    let (begins, ends) = (
        today.saturating_sub(1.day()).date(),
        today.saturating_add(LASTS_DAYS.days()).date(),
    );
    let day = |date: jiff::civil::Date| {
        let number = |part: i8| u8::try_from(part).unwrap_or(1);
        date_time_ymd(date.year().into(), number(date.month()), number(date.day()))
    };
    (params.not_before, params.not_after) = (day(begins), day(ends));
    let certificate = params.self_signed(&key).map_err(Error::defect)?;
    Ok(Kept {
        certificate: certificate.der().to_vec(),
        key: key.serialize_der(),
        names: all,
        expires_at: later(Timestamp::now(), LASTS_DAYS),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::in_transaction;
    use rusqlite::Connection;

    fn names(of: &[&str]) -> BTreeSet<String> {
        of.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn it_stays_until_it_lacks_a_name_or_time() {
        let file = Connection::open_in_memory().unwrap();
        crate::db::migrate::create(&file).unwrap();
        let now = Timestamp::now();
        let at = |now, of: &[&str]| in_transaction(&file, now, |tx| keep(tx, &names(of))).unwrap();
        let first = at(now, &["localhost", "10.0.0.7"]);
        assert_eq!(at(now, &["localhost"]).certificate, first.certificate);
        let moved = at(now, &["localhost", "192.168.1.9"]);
        assert_ne!(moved.certificate, first.certificate);
        assert_eq!(moved.key, first.key);
        assert_eq!(
            moved.names,
            names(&["10.0.0.7", "192.168.1.9", "localhost"])
        );
        assert_eq!(
            at(now, &["localhost", "10.0.0.7"]).certificate,
            moved.certificate
        );
        let later = at(later(now, LASTS_DAYS - RENEWED_DAYS + 1), &["localhost"]);
        assert_ne!(later.certificate, moved.certificate);
        certified(
            vec![CertificateDer::from(later.certificate)],
            PrivatePkcs8KeyDer::from(later.key).into(),
        )
        .unwrap();
    }
}
