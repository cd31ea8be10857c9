//! The second machine's disk is full, Litestream is old or gone, and somebody is erased while it replicates.

use super::{Primary, durable, mark, page, serve};
use crate::faults::{
    litestream,
    process::{Site, beside, findings, gatepost, token, told, until},
    wire::{post, request},
};
use rusqlite::Connection;
use serde_json::json;
use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    os::unix::net::UnixListener,
    path::Path,
    process::{Child, Command, Stdio},
};

fn run(program: &str, arguments: &[&str]) {
    let output = Command::new(program)
        .args(arguments)
        .output()
        .expect(program);
    assert!(
        output.status.success(),
        "{program} {arguments:?}: {output:?}"
    );
}

/// A small disk of its own; gone with this.
struct Disk(String);

impl Disk {
    fn mount(path: &Path) -> Self {
        fs::create_dir_all(path).expect("a folder");
        let path = path.to_str().expect("a name").to_owned();
        run("mount", &["-t", "tmpfs", "-o", "size=600k", "none", &path]);
        Self(path)
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").args(["-l", &self.0]).status();
    }
}

#[test]
fn a_full_disk_of_the_second_machine_stops_no_gate_and_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let disk = Disk::mount(&folder.path().join("disk"));
    let Some(mut primary) = Primary::start() else {
        return;
    };
    primary.kill();
    told(
        &primary.site.db,
        &["standby", "init", "--json", "--replica", &disk.0],
    );
    primary.served = serve(&primary.site.db);
    primary.replicate();
    let mut wire = primary.served.wire();
    let (mut last, mut seed) = (0, 7_u64);
    // No compression makes it small.
    for number in 1..60 {
        let filler: String = std::iter::repeat_with(|| {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(number);
            char::from(b'a' + u8::try_from((seed >> 33) % 26).unwrap_or(0))
        })
        .take(40_000)
        .collect();
        let body = json!({"device": primary.site.devices[0], "nonce": format!("n{number}"), "data": {"filler": filler}});
        let answer = wire
            .call(&post("/interaction/new/seen", &primary.site.token, &body))
            .expect("an answer");
        answer.is(201);
        last = mark(&answer);
    }
    until("it is told", || {
        page(&primary.served, "/health/ready")
            .1
            .contains("\"replica\":\"warning")
    });
    let (status, _) = page(&primary.served, "/health/ready");
    assert_eq!(status, 200);
    assert!(durable(&mut wire, &primary.site.token)["covered"].as_i64() < Some(last));
    run("mount", &["-o", "remount,size=64m", &disk.0]);
    primary.until_covered(last);
    until("it is well again", || {
        !page(&primary.served, "/health/ready").1.contains("replica")
    });
}

#[test]
fn a_litestream_that_is_gone_is_told_and_taken_up_again() {
    let Some(mut primary) = Primary::start() else {
        return;
    };
    let mut child = primary.litestream.take().expect("it runs");
    child.kill().expect("killed");
    child.wait().expect("gone");
    let answer = primary.check_in("alone", 1);
    answer.is(201);
    until("it is told", || {
        page(&primary.served, "/health/ready")
            .1
            .contains("Litestream does not answer")
    });
    assert!(
        page(&primary.served, "/metrics")
            .1
            .contains("gatepost_replica_lag_seconds")
    );
    let status = gatepost(&primary.site.db, &["standby", "status"]);
    assert_eq!(status.status.code(), Some(1), "{status:?}");
    primary.replicate();
    primary.until_covered(mark(&answer));
}

/// The second machine's SFTP account, on a network that goes and comes back.
struct Sftp {
    folder: tempfile::TempDir,
    port: u16,
    server: Option<Child>,
}

impl Sftp {
    fn start() -> Self {
        let mut account = Self {
            folder: tempfile::tempdir().expect("a folder"),
            port: 0,
            server: None,
        };
        account.up();
        account
    }

    fn up(&mut self) {
        let python = litestream::program()
            .expect("it is installed")
            .with_file_name("python3");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/litestream/sftp.py");
        let mut command = Command::new(python);
        command
            .arg(script)
            .arg(self.folder.path())
            .arg(self.port.to_string());
        let mut server = command.stdout(Stdio::piped()).spawn().expect("python3");
        let mut port = String::new();
        BufReader::new(server.stdout.take().expect("a pipe"))
            .read_line(&mut port)
            .expect("a line");
        self.port = port.trim().parse().expect("a port");
        self.server = Some(server);
    }

    /// Every connection is cut, and none is served.
    fn down(&mut self) {
        let mut server = self.server.take().expect("it runs");
        server.kill().expect("killed");
        server.wait().expect("gone");
    }
}

impl Drop for Sftp {
    fn drop(&mut self) {
        if self.server.is_some() {
            self.down();
        }
    }
}

#[test]
fn a_network_that_flaps_between_the_machines_loses_nothing() {
    let Some(mut primary) = Primary::start() else {
        return;
    };
    primary.kill();
    let mut account = Sftp::start();
    let replica = format!("sftp://gatepost@127.0.0.1:{}/replica", account.port);
    told(
        &primary.site.db,
        &["standby", "init", "--json", "--replica", &replica],
    );
    let key = |name: &str| account.folder.path().join(name);
    let host = fs::read_to_string(key("host.pub")).expect("a key");
    let config = fs::read_to_string(primary.config()).expect("the configuration");
    let config = config
        .replace(
            "# key-path: /etc/gatepost/standby-key",
            &format!("key-path: {}", key("client").display()),
        )
        .replace(
            "# host-key: ssh-ed25519 AAAA...",
            &format!("host-key: {}", host.trim()),
        );
    fs::write(primary.config(), config).expect("written");
    primary.served = serve(&primary.site.db);
    primary.replicate();
    let mut wire = primary.served.wire();
    let mut marks = Vec::new();
    for round in 0..4 {
        account.down();
        for scan in 0..5 {
            let answer = primary.check_in(&format!("away-{round}-{scan}"), scan);
            answer.is(201);
            marks.push(mark(&answer));
        }
        until("it is told", || {
            page(&primary.served, "/health/ready")
                .1
                .contains("\"replica\":\"warning")
        });
        assert!(
            durable(&mut wire, &primary.site.token)["covered"].as_i64() < marks.last().copied()
        );
        account.up();
        let back = primary.check_in(&format!("back-{round}"), 5);
        marks.push(mark(&back));
        primary.until_covered(mark(&back));
    }
    let program = primary.program.to_str().expect("a name").to_owned();
    let config = primary.config();
    let arguments = [
        "standby",
        "status",
        "--json",
        "--config",
        config.to_str().expect("a name"),
        "--litestream",
        &program,
    ];
    let status = gatepost(&primary.path("nothing.db"), &arguments);
    let status: serde_json::Value = serde_json::from_slice(&status.stdout).expect("JSON");
    assert!(status["newestTransaction"].is_string(), "{status}");
    primary.kill();
    let (db, _, served) = primary.take_over();
    served.stop();
    let file = Connection::open(&db).expect("the file");
    let kept: i64 = file
        .query_row(
            "SELECT count(*) FROM nonces WHERE nonce LIKE 'away-%' OR nonce LIKE 'back-%'",
            [],
            |row| row.get(0),
        )
        .expect("a number");
    assert_eq!(usize::try_from(kept), Ok(marks.len()));
}

#[test]
fn an_old_litestream_is_told_with_its_version() {
    let site = Site::prepare();
    told(&site.db, &["standby", "init", "--json"]);
    let socket = beside(&site.db, ".litestream.sock");
    let listener = UnixListener::bind(&socket).expect("a socket");
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let _ = stream.read(&mut [0; 4096]);
            let body = r#"{"version":"0.5.7"}"#;
            let _ = write!(
                stream,
                "HTTP/1.0 200 OK\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            );
        }
    });
    let served = serve(&site.db);
    until("it is told", || {
        page(&served, "/health/ready")
            .1
            .contains("Litestream 0.5.7 is too old")
    });
    assert_eq!(page(&served, "/health/ready").0, 200);
}

#[test]
fn who_is_erased_while_it_replicates_is_in_no_log() {
    let Some(primary) = Primary::start() else {
        return;
    };
    let site = &primary.site;
    let name = "Zebulonskaya";
    let body = json!({"lastName": name, "barcode": "GOES"});
    let made = primary
        .served
        .wire()
        .call(&post("/delegate/new", &site.token, &body))
        .expect("an answer");
    let id = made.data()["id"].as_i64().expect("an id");
    let user = Command::new("sh")
        .arg("-c")
        .arg(format!(
            "echo correct-horse-battery-9 | {} user add zebra@example.org --password-stdin --delegate id:{id} --db {}",
            super::GATEPOST,
            site.db.display()
        ))
        .output()
        .expect("sh");
    assert!(user.status.success(), "{user:?}");
    let client = told(
        &site.db,
        &["client", "add", "app", "--json", "--role", "own-read"],
    );
    assert!(token(&mut primary.served.wire(), &client).is_some());
    let grant = json!({
        "grant_type": "password", "client_id": client["clientId"], "client_secret": client["clientSecret"],
        "username": "zebra@example.org", "password": "correct-horse-battery-9",
    });
    let answer = primary
        .served
        .wire()
        .call(&post("/oauth/v2/token", "", &grant))
        .expect("an answer");
    let own = answer.body["access_token"]
        .as_str()
        .unwrap_or_else(|| panic!("{answer:?}"))
        .to_owned();
    primary.until_covered(mark(&made));
    let gone = primary
        .served
        .wire()
        .call(&request("DELETE", "/delegate/myself", "", &own, ""))
        .expect("an answer");
    assert!((200..300).contains(&gone.status), "{gone:?}");
    // Gates go on meanwhile.
    for number in 0..20 {
        primary.check_in(&format!("n{number}"), number).is(201);
    }
    let last = primary.check_in("last", 20);
    let has = |suffix: &str| {
        let bytes = fs::read(beside(&site.db, suffix)).unwrap_or_default();
        bytes
            .windows(name.len())
            .any(|window| window == name.as_bytes())
    };
    until("the log is emptied", || !has("-wal"));
    primary.until_covered(mark(&last));
    let file = Connection::open(&site.db).expect("the file");
    let named: i64 = file
        .query_row("SELECT count(*) FROM audit WHERE action = 'erase' AND after LIKE '%epoch-1 (the replica%'", [], |row| row.get(0))
        .expect("a number");
    assert_eq!(named, 1);
    drop(file);
    // What the replica has is what the file has.
    let count = |db: &Path| -> i64 {
        let file = Connection::open(db).expect("the file");
        file.query_row("SELECT count(*) FROM interactions", [], |row| row.get(0))
            .expect("a number")
    };
    let here = count(&site.db);
    let (db, _, second) = primary.take_over();
    second.stop();
    assert_eq!(count(&db), here);
    assert_eq!(findings(&db), "");
}
