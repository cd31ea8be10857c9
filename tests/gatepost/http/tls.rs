//! HTTPS: certificates from files, which are followed, and the server's own.

use super::prepare;
use crate::faults::{
    process::{GATEPOST, Served, beside, gatepost, until},
    wire::{Message, PATIENCE, read_message},
};
use crate::harness::has;
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned,
    crypto::ring,
    pki_types::{CertificateDer, ServerName},
};
use serde_json::{Value, json};
use std::{
    io::{self, BufReader, Write},
    net::{SocketAddr, TcpStream},
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};

/// A certificate for a name, with its files' text.
struct Made {
    der: CertificateDer<'static>,
    certificate: String,
    key: String,
}

fn make(name: &str) -> Made {
    let made = rcgen::generate_simple_self_signed([name.to_owned()]).expect("a certificate");
    Made {
        der: made.cert.der().clone(),
        certificate: made.cert.pem(),
        key: made.signing_key.serialize_pem(),
    }
}

/// Sends a request over TLS, trusting one certificate alone. The request's head ends the connection.
fn ask(
    address: SocketAddr,
    trusted: &CertificateDer<'static>,
    name: &str,
    request: &str,
) -> io::Result<Message> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.clone()).map_err(io::Error::other)?;
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from(name.to_owned()).map_err(io::Error::other)?;
    let session = ClientConnection::new(Arc::new(config), name).map_err(io::Error::other)?;
    let stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut stream = StreamOwned::new(session, stream);
    stream.write_all(request.as_bytes())?;
    read_message(&mut BufReader::new(stream))
}

fn is_served(address: SocketAddr, trusted: &CertificateDer<'static>, name: &str) -> bool {
    let request = "GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    ask(address, trusted, name, request).is_ok_and(|answer| answer.start.contains(" 200 "))
}

struct Files {
    certificate: PathBuf,
    key: PathBuf,
}

impl Files {
    fn of(folder: &Path, made: &Made) -> Self {
        let files = Self {
            certificate: folder.join("cert.pem"),
            key: folder.join("key.pem"),
        };
        files.write(made);
        files
    }

    fn write(&self, made: &Made) {
        std::fs::write(&self.certificate, &made.certificate).expect("written");
        std::fs::write(&self.key, &made.key).expect("written");
    }

    fn arguments(&self) -> [&str; 4] {
        [
            "--tls-cert",
            self.certificate.to_str().expect("a name"),
            "--tls-key",
            self.key.to_str().expect("a name"),
        ]
    }
}

#[test]
fn certificates_from_files_are_followed_and_broken_ones_are_not() {
    let (folder, db, _) = prepare();
    let (old, new) = (make("old.example.org"), make("new.example.org"));
    let files = Files::of(folder.path(), &old);
    let served = Served::start_by(Command::new(GATEPOST), &db, &files.arguments());
    let address = served.address;
    assert!(is_served(address, &old.der, "old.example.org"));
    assert!(!is_served(address, &new.der, "new.example.org"));
    // The control: a name that is not in the certificate is noticed.
    assert!(!is_served(address, &old.der, "new.example.org"));

    let log = || std::fs::read_to_string(beside(&db, ".log")).expect("a log");
    for (broken, told) in [
        (
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
            "cannot be used",
        ),
        ("", "there is no certificate in it"),
        (new.certificate.as_str(), "do not belong together"),
    ] {
        std::fs::write(&files.certificate, broken).expect("written");
        until(told, || log().contains(told));
        assert!(is_served(address, &old.der, "old.example.org"));
    }
    std::fs::remove_file(&files.certificate).expect("removed");
    let told = format!("stays: {}:", files.certificate.display());
    until("that it is gone", || log().contains(&told));
    assert!(is_served(address, &old.der, "old.example.org"));
    files.write(&new);
    until("the new certificate is shown", || {
        is_served(address, &new.der, "new.example.org")
    });
    assert!(!is_served(address, &old.der, "old.example.org"));
    has(log(), "the certificate is now ");
    served.stop();
}

#[test]
fn files_that_cannot_be_used_are_refused_at_the_start() {
    let (folder, db, _) = prepare();
    let made = make("old.example.org");
    let files = Files::of(folder.path(), &made);
    std::fs::write(&files.key, make("other.example.org").key).expect("written");
    let mut arguments = vec!["serve", "--listen", "127.0.0.1:0"];
    arguments.extend(files.arguments());
    let output = gatepost(&db, &arguments);
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8_lossy(&output.stderr);
    has(&told, "do not belong together");
    let half = gatepost(&db, &["serve", "--tls-cert", "cert.pem"]);
    assert_eq!(half.status.code(), Some(2));
}

fn own(db: &Path) -> CertificateDer<'static> {
    let file = rusqlite::Connection::open(db).expect("the file");
    let sql = "SELECT certificate FROM tls_certificate";
    let der: Vec<u8> = file.query_row(sql, [], |row| row.get(0)).expect("one");
    CertificateDer::from(der)
}

#[test]
fn its_own_certificate_fits_this_machine_and_stays() {
    let (_folder, db, _) = prepare();
    let arguments = [
        "--tls-self-signed",
        "--public-url",
        "https://gate.example.org",
    ];
    let start = || Served::start_by(Command::new(GATEPOST), &db, &arguments);
    let served = start();
    let first = served.announced.clone();
    assert!(
        first["url"]
            .as_str()
            .is_some_and(|url| url.starts_with("https://"))
    );
    let fingerprint = first["certificateSha256"].as_str().expect("a fingerprint");
    assert_eq!(fingerprint.len(), 32 * 3 - 1);
    let certificate = own(&db);
    for name in ["127.0.0.1", "localhost", "gate.example.org"] {
        assert!(is_served(served.address, &certificate, name), "{name}");
    }
    assert!(!is_served(
        served.address,
        &certificate,
        "other.example.org"
    ));
    served.stop();
    let again = start();
    assert_eq!(
        again.announced["certificateSha256"],
        first["certificateSha256"]
    );
    assert!(is_served(again.address, &certificate, "127.0.0.1"));
}

#[test]
fn links_say_https_when_the_connection_does() {
    let (_folder, db, client) = prepare();
    let served = Served::start_by(Command::new(GATEPOST), &db, &["--tls-self-signed"]);
    let certificate = own(&db);
    let call = |line: &str, headers: &str, body: &str| -> Value {
        let head = format!("{line} HTTP/1.1\r\nHost: gate.example.org:1\r\nConnection: close\r\n");
        let length = body.len();
        let request = format!("{head}{headers}Content-Length: {length}\r\n\r\n{body}");
        let answer = ask(served.address, &certificate, "localhost", &request).expect("an answer");
        serde_json::from_slice(&answer.body).expect("JSON")
    };
    let body = json!({
        "grant_type": "client_credentials",
        "client_id": client["clientId"], "client_secret": client["clientSecret"],
    });
    let json = "Content-Type: application/json\r\n";
    let token = call("POST /api/oauth/v2/token", json, &body.to_string());
    let token = token["access_token"].as_str().expect("a token").to_owned();
    let headers = format!("{json}Authorization: Bearer {token}\r\n");
    for barcode in ["A-1", "A-2"] {
        let body = json!({"barcode": barcode}).to_string();
        call("POST /api/v5/delegate/new", &headers, &body);
    }
    let list = call("GET /api/v5/delegate/list?limit=1", &headers, "");
    let next = list["meta"]["pagination"]["next"].as_str().expect("a link");
    assert!(
        next.starts_with("https://gate.example.org:1/api/5/delegate/list?"),
        "{next}"
    );
}

/// Who does not shake hands is ended by the limit, and holds up nobody meanwhile.
#[test]
fn a_stalled_handshake_holds_up_nobody() {
    let (_folder, db, _) = prepare();
    let arguments = ["--tls-self-signed", "--header-time", "1"];
    let served = Served::start_by(Command::new(GATEPOST), &db, &arguments);
    let certificate = own(&db);
    let stalled: Vec<_> = (0..50)
        .map(|n| {
            let mut stream = TcpStream::connect(served.address).expect("a connection");
            stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
            // Nothing, or the beginning of a handshake record.
            stream.write_all(&[0x16, 3, 1][..n % 4]).expect("sent");
            stream
        })
        .collect();
    assert!(is_served(served.address, &certificate, "localhost"));
    for stream in stalled {
        assert_eq!(super::rest(stream), b"");
    }
    // Plain HTTP at a port that speaks TLS is no request, and does no harm.
    let mut plain = TcpStream::connect(served.address).expect("a connection");
    plain.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    plain
        .write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        .expect("sent");
    assert!(!super::rest(plain).starts_with(b"HTTP"));
    assert!(is_served(served.address, &certificate, "localhost"));
}
