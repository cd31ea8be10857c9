use super::*;
use crate::{db::in_transaction, server::tls::provider};
use rusqlite::Connection;
use rustls::{
    RootCertStore,
    client::{WebPkiServerVerifier, danger::ServerCertVerifier},
    pki_types::{ServerName, UnixTime},
};

fn names(of: &[&str]) -> BTreeSet<String> {
    of.iter().map(ToString::to_string).collect()
}

fn file() -> Connection {
    let file = Connection::open_in_memory().unwrap();
    crate::db::migrate::create(&file).unwrap();
    file
}

fn kept(file: &Connection, now: Timestamp, of: &[&str]) -> Stored {
    in_transaction(file, now, |tx| load_or_make(tx, &names(of))).unwrap()
}

/// Returns whether a client that trusts the CA alone takes the certificate for this name.
fn is_trusted(ca: &Ca, certificate: &CertificateDer<'_>, name: &str) -> bool {
    let mut roots = RootCertStore::empty();
    roots.add(ca.certificate.clone()).unwrap();
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider());
    let name = ServerName::try_from(name.to_owned()).unwrap();
    verifier
        .build()
        .unwrap()
        .verify_server_cert(certificate, &[], &name, &[], UnixTime::now())
        .is_ok()
}

#[test]
fn the_ca_stays_while_the_certificate_follows_names_and_time() {
    let (file, now) = (file(), Timestamp::now());
    let first = kept(&file, now, &["localhost", "10.0.0.7", "laptop"]);
    let same = kept(&file, now, &["localhost"]);
    assert_eq!(same.leaf.certificate, first.leaf.certificate);
    let moved = kept(
        &file,
        now,
        &["192.168.1.9", "gatepost-x.local", "fd00::7", "laptop"],
    );
    assert_eq!(moved.ca.certificate, first.ca.certificate);
    assert_eq!(moved.leaf.key, first.leaf.key);
    for name in ["192.168.1.9", "gatepost-x.local", "fd00::7", "laptop"] {
        assert!(
            is_trusted(&first.ca, &moved.leaf.certificate, name),
            "{name}"
        );
    }
    assert!(!is_trusted(&first.ca, &moved.leaf.certificate, "10.0.0.7"));
    // Names that the CA may not sign for do not spoil the others.
    let other = [
        "localhost",
        "other.example.org",
        "203.0.113.7",
        "2001:db8::1",
    ];
    let other = kept(&file, now, &other);
    assert_eq!(other.ca.certificate, first.ca.certificate);
    assert!(is_trusted(&first.ca, &other.leaf.certificate, "localhost"));
    assert_eq!(other.leaf.names, names(&["localhost"]));

    let later_on = later(now, CERTIFICATE_DAYS - RENEWED_DAYS + 1);
    let renewed = kept(&file, later_on, &["localhost"]);
    assert_ne!(renewed.leaf.certificate, other.leaf.certificate);
    assert_eq!(renewed.ca.certificate, first.ca.certificate);
    // The clock was put back.
    let corrected = kept(&file, now, &["localhost"]);
    assert_ne!(corrected.leaf.certificate, renewed.leaf.certificate);
    let years_later = kept(
        &file,
        later(now, CA_DAYS - CERTIFICATE_DAYS),
        &["localhost"],
    );
    assert_ne!(years_later.ca.certificate, first.ca.certificate);
}

/// Somebody has the file, and with it the CA's key.
#[test]
fn clients_refuse_foreign_names_that_the_ca_signed() {
    let all = ["localhost", "gate.example.org", "laptop", "198.51.100.7"];
    let Stored { ca, leaf } = kept(&file(), Timestamp::now(), &all);
    for name in all {
        assert!(is_trusted(&ca, &leaf.certificate, name), "{name}");
    }
    for foreign in [
        "www.example.com",
        "example.org",
        "notlocal",
        "local.example.com",
        "8.8.8.8",
        "198.51.100.8",
        "172.32.0.1",
        "2001:db8::1",
    ] {
        let key = KeyPair::generate().unwrap();
        let params = server_params(&names(&[foreign])).unwrap();
        let signed = ca.sign(&params, &key).unwrap();
        assert!(!is_trusted(&ca, &signed, foreign), "{foreign}");
        assert_eq!(ca.allowed(foreign), None);
    }
    // Nor may its certificates sign others (pathLenConstraint 0), and clients must mind the constraints.
    let has = |part: &[u8]| ca.certificate.windows(part.len()).any(|at| at == part);
    assert!(has(&[
        0x55, 0x1d, 0x13, 1, 1, 0xff, 4, 8, 0x30, 6, 1, 1, 0xff, 2, 1, 0
    ]));
    assert!(has(&[0x55, 0x1d, 0x1e, 1, 1, 0xff]));
}

#[test]
fn a_file_of_an_earlier_version_gets_a_ca() {
    let file = file();
    file.execute_batch(
        "INSERT INTO tls_certificate (id, certificate, private_key, names, created_at, expires_at)
         VALUES (1, x'C0FFEE', x'5EC2E7', '[\"localhost\"]', 1000, 99000000000000)",
    )
    .unwrap();
    let Stored { ca, leaf } = kept(&file, Timestamp::now(), &["localhost"]);
    assert!(is_trusted(&ca, &leaf.certificate, "localhost"));
}

#[test]
fn names_that_clients_do_not_understand_are_left_out() {
    for good in ["laptop", "a-b.example.org", "10.0.0.7", "fd00::7"] {
        assert!(is_name(good), "{good}");
    }
    for bad in ["", "a..b", "-a", "bücher.de", "a b", "a_b", ".local"] {
        assert!(!is_name(bad), "{bad}");
    }
}
