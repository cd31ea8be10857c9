//! HTTPS: certificates from files, which are followed, and the server's own.

use super::prepare;
use crate::faults::{
    process::{GATEPOST, Served, beside, gatepost, until},
    wire::{Message, PATIENCE, header, read_head, read_message},
};
use base64::{Engine, engine::general_purpose::STANDARD};
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
    let mut stream = connect(address, trusted, name)?;
    stream.write_all(request.as_bytes())?;
    read_message(&mut BufReader::new(stream))
}

/// Connects over TLS.
fn connect(
    address: SocketAddr,
    trusted: &CertificateDer<'static>,
    name: &str,
) -> io::Result<StreamOwned<ClientConnection, TcpStream>> {
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
    Ok(StreamOwned::new(session, stream))
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
    // The log is written by a thread of its own.
    until("the log tells of it", || {
        log().contains("the certificate is now ")
    });
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
    assert!(told.contains("do not belong together"), "{told}");
    let half = gatepost(&db, &["serve", "--tls-cert", "cert.pem"]);
    assert_eq!(half.status.code(), Some(2));
}

/// A column of the server's own certificate.
fn stored(db: &Path, column: &str) -> Vec<u8> {
    let file = rusqlite::Connection::open(db).expect("the file");
    let sql = format!("SELECT {column} FROM tls_certificate");
    file.query_row(&sql, [], |row| row.get(0)).expect("one")
}

/// The CA that devices install.
fn own_ca(db: &Path) -> CertificateDer<'static> {
    stored(db, "ca").into()
}

const PUBLIC: [&str; 3] = [
    "--tls-self-signed",
    "--public-url",
    "https://gate.example.org",
];

#[test]
fn its_own_certificate_fits_this_machine_and_its_ca_stays() {
    let (_folder, db, _) = prepare();
    let start = |arguments: &[&str]| Served::start_by(Command::new(GATEPOST), &db, arguments);
    let served = start(&PUBLIC);
    let first = served.announced.clone();
    assert!(
        first["url"]
            .as_str()
            .is_some_and(|url| url.starts_with("https://"))
    );
    for fingerprint in ["certificateSha256", "caSha256"] {
        let fingerprint = first[fingerprint].as_str().expect("a fingerprint");
        assert_eq!(fingerprint.len(), 32 * 3 - 1);
    }
    let ca = own_ca(&db);
    let names = stored(&db, "CAST(names AS BLOB)");
    let names: Vec<String> = serde_json::from_slice(&names).expect("names");
    for name in &names {
        assert!(is_served(served.address, &ca, name), "{name}");
    }
    let has = |name: &str| names.iter().any(|known| known == name);
    assert!(has("127.0.0.1") && has("localhost") && has("gate.example.org"));
    let announced = |name: &String| name.starts_with("gatepost") && name.ends_with(".local");
    assert!(names.iter().any(announced), "{names:?}");
    assert!(!is_served(served.address, &ca, "other.example.org"));
    served.stop();

    let again = start(&PUBLIC);
    for fingerprint in ["certificateSha256", "caSha256"] {
        assert_eq!(again.announced[fingerprint], first[fingerprint]);
    }
    again.stop();

    // The certificate is about to end, and the server has another name, for which its CA may not sign.
    let file = rusqlite::Connection::open(&db).expect("the file");
    file.execute("UPDATE tls_certificate SET expires_at = created_at", [])
        .expect("changed");
    let other = [PUBLIC[0], PUBLIC[1], "https://other.example.org"];
    let renewed = start(&other);
    assert_ne!(
        renewed.announced["certificateSha256"],
        first["certificateSha256"]
    );
    assert_eq!(renewed.announced["caSha256"], first["caSha256"]);
    assert!(is_served(renewed.address, &ca, "127.0.0.1"));
    assert!(!is_served(renewed.address, &ca, "other.example.org"));
    let log = || std::fs::read_to_string(beside(&db, ".log")).expect("a log");
    until("the log says so", || {
        log().contains("not valid for other.example.org")
    });
}

/// Starts the server as a machine of this name, on a network of its own. Needs root, and Debian's iproute2.
#[cfg(target_os = "linux")]
fn start_as(name: &str, db: &Path) -> Served {
    let mut command = Command::new("unshare");
    let script = r#"hostname "$1" && ip link set lo up && shift && exec "$@""#;
    command.args(["-n", "-u", "sh", "-c", script, "sh", name, GATEPOST]);
    Served::start_by(command, db, &["--tls-self-signed"])
}

#[cfg(target_os = "linux")]
#[test]
fn the_certificate_follows_a_running_server_from_address_to_address() {
    let (_folder, db, _) = prepare();
    let served = start_as("fair", &db);
    let (ca, key) = (own_ca(&db), stored(&db, "private_key"));
    let has = |name: &str| {
        let names = stored(&db, "CAST(names AS BLOB)");
        let names: Vec<String> = serde_json::from_slice(&names).expect("names");
        names.iter().any(|known| known == name)
    };
    assert!(has("gatepost-fair.local") && !has("10.99.0.7"));
    let pid = served.pid().to_string();
    let mut ip = Command::new("nsenter");
    ip.args(["-t", &pid, "-n"]);
    ip.args("ip address add 10.99.0.7/32 dev lo".split(' '));
    assert!(ip.status().expect("nsenter").success());
    until("the new address is in the certificate", || has("10.99.0.7"));
    assert_eq!(own_ca(&db), ca);
    served.stop();
    // Another laptop.
    let served = start_as("hall", &db);
    assert!(has("gatepost-hall.local") && has("hall.local"));
    // Its CA may not sign for that.
    assert!(!has("hall"));
    assert_eq!((own_ca(&db), stored(&db, "private_key")), (ca, key));
    served.stop();
}

/// Another client than rustls: curl, which uses OpenSSL or what the system has.
#[test]
fn curl_accepts_the_certificate_by_address_and_by_name() {
    let (folder, db, _) = prepare();
    let served = Served::start_by(Command::new(GATEPOST), &db, &["--tls-self-signed"]);
    let der = stored(&db, "ca");
    let pem = format!(
        "-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n",
        STANDARD.encode(der)
    );
    let path = folder.path().join("ca.pem");
    std::fs::write(&path, pem).expect("written");
    let curl = |host: &str, trusted: bool| {
        let port = served.address.port();
        let resolved = format!("{host}:{port}:127.0.0.1");
        let mut curl = Command::new("curl");
        curl.args(["-sS", "--noproxy", "*", "--resolve", &resolved]);
        if trusted {
            curl.arg("--cacert").arg(&path);
        }
        curl.arg(format!("https://{host}:{port}/health/live"));
        curl.output()
            .expect("curl: `tests/run` installs it")
            .status
            .code()
    };
    let name = stored(
        &db,
        "(SELECT CAST(value AS BLOB) FROM json_each(names) WHERE value LIKE 'gatepost%.local')",
    );
    let name = String::from_utf8(name).expect("a name");
    for host in ["127.0.0.1", "localhost", &name] {
        assert_eq!(curl(host, true), Some(0), "{host}");
        // The control: without the CA it is refused.
        assert_eq!(curl(host, false), Some(60), "{host}");
    }
    assert_eq!(curl("other.local", true), Some(60));
}

/// What a browser gets that was sent to `http://` by mistake, or to install the CA.
fn ask_plain(address: SocketAddr, request: &str) -> Message {
    let mut stream = TcpStream::connect(address).expect("a connection");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    let (line, body) = request.split_once('\n').unwrap_or((request, ""));
    let length = body.len();
    let head = format!(
        "{line} HTTP/1.1\r\nHost: 10.0.0.7:8080\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).expect("sent");
    stream.write_all(body.as_bytes()).expect("sent");
    read_message(&mut BufReader::new(stream)).expect("an answer")
}

#[test]
fn plain_http_gets_the_page_of_the_ca_and_nothing_else() {
    let (_folder, db, client) = prepare();
    let served = Served::start_by(Command::new(GATEPOST), &db, &["--tls-self-signed"]);
    let ask = |request: &str| ask_plain(served.address, request);
    let ca = own_ca(&db);
    let page = ask("GET /gate/trust");
    assert!(page.start.contains(" 200 "), "{}", page.start);
    let html = String::from_utf8_lossy(&page.body).into_owned();
    let fingerprint = served.announced["caSha256"].as_str().expect("one");
    assert!(html.contains(fingerprint));
    assert!(html.contains("data-url=\"https://10.0.0.7:8080/gate/trust/check\""));
    // This machine has no such address.
    assert!(html.contains("not valid for the address that you used"));
    let policy = header(&page.headers, "content-security-policy").expect("a policy");
    assert!(policy.contains("connect-src 'self' https://10.0.0.7:8080;"));
    for link in html.split("\"/gate/trust/").skip(1) {
        let path = link.split('"').next().expect("a link");
        let file = ask(&format!("GET /gate/trust/{path}"));
        assert!(
            file.start.contains(" 200 ") && !file.body.is_empty(),
            "{path}"
        );
    }
    let file = ask("GET /gate/trust/ca.crt");
    assert_eq!(file.body, ca.as_ref());
    let kind = header(&file.headers, "content-type");
    assert_eq!(kind, Some("application/x-x509-ca-cert"));
    let profile = ask("GET /gate/trust/ca.mobileconfig");
    let kind = header(&profile.headers, "content-type");
    assert_eq!(kind, Some("application/x-apple-aspen-config"));
    let profile = String::from_utf8(profile.body).expect("text");
    assert!(profile.contains(&STANDARD.encode(&ca)), "{profile}");

    for path in [
        "/",
        "/console",
        "/health/live",
        "/metrics",
        "/gate",
        "/gate/trust/",
        "/gate/trust/check",
        "/gate/trust/other",
        "/api/v5/ping?x=1",
    ] {
        let answer = ask(&format!("GET {path}"));
        assert!(answer.start.contains(" 307 "), "{path}: {}", answer.start);
        let target = format!("https://10.0.0.7:8080{path}");
        assert_eq!(header(&answer.headers, "location"), Some(&*target));
        assert!(answer.body.is_empty());
    }
    // Secrets that crossed the network unencrypted are not sent on as if nothing were.
    let body = json!({
        "grant_type": "client_credentials",
        "client_id": client["clientId"], "client_secret": client["clientSecret"],
    });
    for request in [
        format!("POST /api/oauth/v2/token\n{body}"),
        "POST /gate/trust\nx".into(),
    ] {
        let answer = ask(&request);
        assert!(answer.start.contains(" 400 "), "{}", answer.start);
        assert!(String::from_utf8_lossy(&answer.body).contains("speaks HTTPS"));
    }
    // Over HTTPS the check answers, and says that any page may ask.
    let request = "GET /gate/trust/check HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    let mut stream = connect(served.address, &ca, "localhost").expect("a connection");
    stream.write_all(request.as_bytes()).expect("sent");
    let (start, headers) = read_head(&mut BufReader::new(stream)).expect("an answer");
    assert!(start.contains(" 204 "), "{start}");
    let allowed = header(&headers, "access-control-allow-origin");
    assert_eq!(allowed, Some("*"));
}

/// With a certificate from files there is no CA to install, and plain HTTP is sent on.
#[test]
fn without_a_ca_of_its_own_there_is_none_to_install() {
    let (folder, db, _) = prepare();
    let made = make("gate.example.org");
    let files = Files::of(folder.path(), &made);
    let served = Served::start_by(Command::new(GATEPOST), &db, &files.arguments());
    assert!(served.announced["caSha256"].is_null());
    for path in ["/gate/trust", "/gate/trust/ca.crt"] {
        let answer = ask_plain(served.address, &format!("GET {path}"));
        assert!(answer.start.contains(" 307 "), "{}", answer.start);
    }
    let ask = |path: &str| {
        let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        ask(served.address, &made.der, "gate.example.org", &request).expect("an answer")
    };
    let page = ask("/gate/trust");
    assert!(String::from_utf8_lossy(&page.body).contains("Nothing to install"));
    assert!(ask("/gate/trust/ca.crt").start.contains(" 404 "));
}

#[test]
fn the_key_of_the_ca_leaves_the_file_nowhere() {
    let (_folder, db, _) = prepare();
    let arguments = ["--tls-self-signed", "--access-log", "--log-level", "trace"];
    let served = Served::start_by(Command::new(GATEPOST), &db, &arguments);
    let keys = [stored(&db, "ca_key"), stored(&db, "private_key")];
    let mut shown: Vec<(String, Vec<u8>)> = ["", "/ca.crt", "/ca.mobileconfig"]
        .iter()
        .map(|path| {
            let answer = ask_plain(served.address, &format!("GET /gate/trust{path}"));
            ((*path).into(), answer.body)
        })
        .collect();
    let commands: [&[&str]; 6] = [
        &["config", "export"],
        &["export", "all", "--format", "json"],
        &["backup", "--json"],
        &["check"],
        &["client", "list"],
        &["user", "list"],
    ];
    for command in commands {
        let output = gatepost(&db, command);
        shown.push((command.join(" "), [output.stdout, output.stderr].concat()));
    }
    shown.push(("start".into(), served.announced.to_string().into_bytes()));
    served.stop();
    let log = std::fs::read(beside(&db, ".log")).expect("a log");
    assert!(!log.is_empty());
    shown.push(("log".into(), log));
    for key in keys {
        // The secret part of a P-256 key in PKCS #8, in whole groups of base 64.
        let secret = &key[36..68];
        let hex = gatepost::types::secret::hex(secret);
        let base64 = STANDARD.encode(&key);
        let list = format!("{secret:?}").replace(' ', "");
        for (place, bytes) in &shown {
            let raw = bytes.windows(secret.len()).any(|part| part == secret);
            let text = String::from_utf8_lossy(bytes);
            let lower = text.to_ascii_lowercase().replace(' ', "");
            let told =
                raw || lower.contains(&hex) || text.contains(&base64) || lower.contains(&list);
            assert!(!told, "{place}");
        }
    }
}

#[test]
fn links_say_https_when_the_connection_does() {
    let (_folder, db, client) = prepare();
    let served = Served::start_by(Command::new(GATEPOST), &db, &["--tls-self-signed"]);
    let certificate = own_ca(&db);
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
    let certificate = own_ca(&db);
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
    // Something that is neither a handshake nor HTTP does no harm.
    let mut plain = TcpStream::connect(served.address).expect("a connection");
    plain.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    plain.write_all(b"\x00\xff\r\n\r\n").expect("sent");
    assert!(!super::rest(plain).starts_with(b"HTTP/1.1 200"));
    assert!(is_served(served.address, &certificate, "localhost"));
}
