//! Bad luck, with a real hub and real venues: a file that is copied and started twice, a full disk, a hub of yesterday, a
//! certificate of the hub's own.

use super::{join_at, line, postgresql::Postgres, up::people};
use crate::{
    faults::{
        process::{GATEPOST, Served, Site, beside, gatepost, token, told, until},
        wire::post,
    },
    harness::*,
};
use rusqlite::Connection;
use serde_json::json;
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// A hub in a folder of its own, and its address for venues.
struct Office {
    folder: tempfile::TempDir,
    db: PathBuf,
}

impl Office {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let db = folder.path().join("hub.db");
        Self { folder, db }
    }

    /// Adds a venue; its pairing code.
    fn add(&self, name: &str) -> String {
        let added = told(&self.db, &["hub", "venue", "add", name, "--json"]);
        added["code"].as_str().expect("a code").to_owned()
    }

    fn number(&self, sql: &str) -> i64 {
        let file = Connection::open(&self.db).expect("the hub's file");
        file.query_row(sql, [], |row| row.get(0)).expect("a number")
    }

    /// Waits until venues have so many records of a type here.
    #[track_caller]
    fn wait(&self, record_type: &str, count: i64) {
        let sql = format!(
            "SELECT count(*) FROM hub_records AS r JOIN hub_venues AS v ON v.id = r.venue AND v.current = r.generation
             WHERE v.id > 0 AND v.coming IS NULL AND r.type = '{record_type}' AND NOT r.deleted"
        );
        until(&format!("{count} {record_type}"), || {
            self.number(&sql) == count
        });
    }

    fn lost(&self) -> i64 {
        self.number("SELECT count(*) FROM hub_records WHERE lost")
    }
}

fn url(hub: &Served) -> String {
    format!("http://{}", hub.address)
}

fn join_file(db: &Path, url: &str, code: &str) {
    let joined = gatepost(db, &["head-office", "join", url, code]);
    assert!(joined.status.success(), "{joined:?}");
}

fn check_in(served: &Served, site: &Site, delegate: usize) {
    let body = json!({"delegate": site.delegates[delegate], "device": site.devices[0]});
    let scan = post("/interaction/new/check-in", &site.token, &body);
    let answer = served.wire().call(&scan).expect("an answer");
    assert_eq!(answer.status, 201, "{answer:?}");
}

fn log(db: &Path) -> String {
    fs::read_to_string(beside(db, ".log")).unwrap_or_default()
}

#[test]
fn of_two_servers_with_copies_of_a_file_one_is_refused_and_nothing_is_lost_in_silence() {
    let office = Office::new();
    let hub = Served::start_hub(&office.db);
    let site = Site::prepare();
    join_file(&site.db, &url(&hub), &office.add("North"));
    let first = Served::start(&site.db);
    office.wait("delegate", 24);
    first.stop();
    let copy = site.folder.path().join("copy.db");
    fs::copy(&site.db, &copy).expect("a copy");

    let first = Served::start(&site.db);
    check_in(&first, &site, 0);
    office.wait("interaction", 1);
    let mut second = Served::start(&copy);
    check_in(&second, &site, 1);
    check_in(&second, &site, 2);
    check_in(&first, &site, 3);
    office.wait("interaction", 2);
    until("the hub says so", || {
        office.number("SELECT count(*) FROM hub_codes WHERE hash LIKE 'copy %'") == 1
    });
    until("the second one says so", || {
        log(&copy).contains("another server runs with a copy of this venue's file")
    });
    assert!(
        !log(&site.db).contains("another server"),
        "{}",
        log(&site.db)
    );
    assert_eq!(office.lost(), 0);

    // The first one is given up; a minute later the second one may go on.
    first.stop();
    second.kill();
    let file = Connection::open(&office.db).expect("the hub's file");
    file.busy_timeout(std::time::Duration::from_secs(10))
        .expect("a timeout");
    let later = "UPDATE hub_codes SET expires_at = 0 WHERE hash LIKE 'run %'";
    assert_eq!(file.execute(later, []).expect("a minute"), 1);
    let second = Served::start(&copy);
    until("what the first one had is listed", || office.lost() == 2);
    office.wait("interaction", 2);
    // Somebody sends it back: both have all, and nothing is listed any more.
    file.execute("UPDATE hub_records SET kind = 'sent-back' WHERE lost", [])
        .expect("sent back");
    office.wait("interaction", 4);
    until("it is back", || office.lost() == 0);
    let copied = Connection::open(&copy).expect("the copy");
    let count = copied.query_row(
        "SELECT count(DISTINCT first_delegate_id) FROM interactions",
        [],
        |row| row.get(0),
    );
    assert_eq!(count, Ok(4));
    drop((hub, second));
}

#[test]
fn when_the_hubs_disk_is_full_venues_keep_what_they_have_and_send_it_later() {
    let office = Office::new();
    let mut shell = Command::new("sh");
    // The signal would end the process; a full disk sends none.
    let script = "trap '' XFSZ; shift; exec \"$0\" hub \"$@\"";
    shell.args(["-c", script, GATEPOST]);
    let hub = Served::start_by(shell, &office.db, &[]);
    let limit = |bytes: &str| {
        let mut limited = Command::new("prlimit");
        limited.args(["--pid", &hub.pid().to_string(), bytes]);
        assert!(
            limited.status().is_ok_and(|status| status.success()),
            "prlimit (util-linux)"
        );
    };
    let (server, api) = Server::with_api();
    join_at(&server, &url(&hub), &office.add("North"));
    let hall = api.device(&json!({"code": "hall", "name": "Hall"}));
    people(&api, 0, 5);
    office.wait("delegate", 5);
    limit("--fsize=4096:");
    people(&api, 5, 5);
    api.scan("check-in", "barcode:P7", hall).is(201);
    until("the venue says so", || {
        let trouble = line(&server).trouble[0].clone().unwrap_or_default();
        trouble.contains("503") && trouble.contains("could not")
    });
    api.scan("check-in", "barcode:P8", hall).is(201);
    let ready = hub
        .wire()
        .call(&get_page("/health/ready"))
        .expect("an answer");
    assert_eq!(ready.status, 503, "{ready:?}");
    limit("--fsize=unlimited:");
    office.wait("delegate", 10);
    office.wait("interaction", 2);
    until("the line is up", || line(&server).cut_since.is_none());
    drop(hub);
}

fn get_page(path: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").into_bytes()
}

#[test]
fn a_hub_of_yesterday_is_sent_what_it_lacks_and_its_reports_are_right() {
    let office = Office::new();
    let backup = office.folder.path().join("yesterday.db");
    let backup = backup.to_str().expect("a name");
    let hub = Served::start_hub(&office.db);
    let address = hub.address;
    let venues = ["North", "South"].map(|name| {
        let (server, api) = Server::with_api();
        join_at(&server, &url(&hub), &office.add(name));
        let hall = api.device(&json!({"code": "hall", "name": "Hall", "deviceType": "session"}));
        people(&api, 0, 4);
        api.scan("check-in", "barcode:P0", hall).is(201);
        (server, api, hall)
    });
    office.wait("interaction", 2);
    let made = gatepost(&office.db, &["backup", "--output", backup]);
    assert!(made.status.success(), "{made:?}");
    for (_, api, hall) in &venues {
        people(api, 4, 2);
        api.scan("check-in", "barcode:P4", *hall).is(201);
        let gone = api.get("/delegate/barcode:P3").id();
        api.delete(&format!("/delegate/id:{gone}")).is(204);
    }
    office.wait("interaction", 4);
    office.wait("delegate", 10);
    hub.stop();
    let restored = gatepost(&office.db, &["restore", backup]);
    assert!(restored.status.success(), "{restored:?}");
    office.wait("interaction", 2);
    let hub = Served::start_hub_at(&office.db, &address.to_string(), &[]);
    for (_, api, hall) in &venues {
        api.scan("check-in", "barcode:P5", *hall).is(201);
    }
    office.wait("interaction", 6);
    office.wait("delegate", 10);
    let rows = told(&office.db, &["hub", "report", "attendance", "--json"]);
    let rows = rows.as_array().expect("rows");
    assert_eq!(rows.len(), 2, "{rows:?}");
    let table = gatepost(&office.db, &["hub", "report", "attendance"]);
    let table = String::from_utf8(table.stdout).expect("a text");
    let widths: Vec<_> = table.lines().map(|line| line.split('\t').count()).collect();
    assert_eq!(widths.len(), 3, "{table}");
    assert!(widths.iter().all(|width| *width == widths[0]), "{table}");
    assert!(
        rows.iter().all(|row| row
            .as_object()
            .is_some_and(|row| row.values().any(|value| *value == json!(3)))),
        "{rows:?}"
    );
    assert_eq!(office.lost(), 0);
    // One generation: they went on where it was.
    assert_eq!(
        office.number("SELECT max(current) FROM hub_venues WHERE id > 0"),
        1
    );
    drop(hub);
}

#[test]
fn a_hub_with_an_authority_of_its_own_is_joined_by_that() {
    let office = Office::new();
    let hub = Served::start_hub_at(&office.db, "127.0.0.1:0", &["--tls-self-signed"]);
    let url = format!("https://{}", hub.address);
    let folder = tempfile::tempdir().expect("a folder");
    let (db, ca) = (folder.path().join("venue.db"), folder.path().join("ca.crt"));
    told(
        &db,
        &[
            "client",
            "add",
            "gate",
            "--json",
            "--role",
            "delegate-write",
        ],
    );
    let page = crate::harness::plain().get(format!("http://{}/gate/trust/ca.crt", hub.address));
    let file = page
        .send()
        .expect("an answer")
        .bytes()
        .expect("a certificate");
    fs::write(&ca, &file).expect("a file");
    let code = office.add("North");
    let refused = gatepost(&db, &["head-office", "join", &url, &code]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        !refused.status.success() && said.contains("certificate"),
        "{said}"
    );
    let ca = ca.to_str().expect("a name");
    let joined = gatepost(&db, &["head-office", "join", &url, &code, "--ca", ca]);
    assert!(joined.status.success(), "{joined:?}");
    let _venue = Served::start(&db);
    until("it pushes", || {
        office.number("SELECT count(*) FROM hub_venues WHERE current IS NOT NULL AND id > 0") == 1
    });
    drop(hub);
}

#[cfg(target_os = "linux")]
#[test]
fn a_venue_whose_clock_is_hours_ahead_is_told_and_its_times_stay() {
    let office = Office::new();
    let hub = Served::start_hub(&office.db);
    let site = Site::prepare();
    let client = ["client", "add", "ahead", "--json", "--gate"];
    let client = told(&site.db, &client);
    join_file(&site.db, &url(&hub), &office.add("North"));
    let libraries = ["x86_64-linux-gnu", "aarch64-linux-gnu"]
        .map(|machine| format!("/usr/lib/{machine}/faketime/libfaketime.so.1"));
    let library = libraries.iter().find(|path| Path::new(path).exists());
    let library = library.expect("libfaketime: `tests/run` installs it");
    let mut command = Command::new(GATEPOST);
    command.env("LD_PRELOAD", library).env("FAKETIME", "+5h");
    command.env("DONT_FAKE_MONOTONIC", "1");
    let venue = Served::start_by(command, &site.db, &[]);
    let token = token(&mut venue.wire(), &client).expect("a token");
    let body = json!({"delegate": site.delegates[0], "device": site.devices[0]});
    let scan = post("/interaction/new/check-in", &token, &body);
    assert_eq!(venue.wire().call(&scan).expect("an answer").status, 201);
    office.wait("interaction", 1);
    let ahead = office.number("SELECT clock_ms / 60000 FROM hub_venues WHERE id = 1");
    assert!((298..=301).contains(&ahead), "{ahead}");
    assert!(office.number("SELECT behind_ms FROM hub_venues WHERE id = 1") < 60_000);
    let recorded =
        "SELECT abs(r.at - v.clock_ms - v.seen_at) FROM hub_records AS r, hub_venues AS v
         WHERE v.id = 1 AND r.venue = 1 AND r.type = 'interaction'";
    assert!(office.number(recorded) < 60_000);
    drop((hub, venue));
}

/// A certificate of a PostgreSQL server, in PEM, and its key.
fn identity() -> (String, String) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    (made.cert.pem(), made.signing_key.serialize_pem())
}

#[test]
fn postgresql_is_spoken_to_by_tls_with_a_certificate_that_is_trusted() {
    let folder = tempfile::Builder::new().prefix("gp").tempdir_in("/tmp");
    let folder = folder.expect("a folder with a short path");
    let (certificate, key) = identity();
    let server = Postgres::start_with_tls(&folder.path().join("one"), &certificate, &key);
    let (server, port) = server.expect("a server");
    let [own, other] = ["own.pem", "other.pem"].map(|name| folder.path().join(name));
    fs::write(&own, &certificate).expect("a file");
    fs::write(&other, identity().0).expect("a file");
    let address = format!("postgres://gatepost@localhost:{port}/gatepost?sslmode=require");
    let db = folder.path().join("hub.db");
    told(
        &db,
        &[
            "client",
            "add",
            "gate",
            "--json",
            "--role",
            "delegate-write",
        ],
    );
    let mut number = 0;
    let mut add = |address: &str, trusted: &Path| {
        number += 1;
        let name = format!("Venue {number}");
        let mut command = Command::new(GATEPOST);
        command.args([
            "hub", "venue", "add", &name, "--json", "--store", address, "--db",
        ]);
        command
            .arg(&db)
            .env("SSL_CERT_FILE", trusted)
            .env_remove("SSL_CERT_DIR");
        let done = command.output().expect("it runs");
        (
            done.status.success(),
            String::from_utf8_lossy(&done.stderr).into_owned(),
        )
    };
    let (is_done, said) = add(&address, &other);
    assert!(
        !is_done && said.contains("its certificate is not trusted here"),
        "{said}"
    );
    assert_eq!(add(&address, &own), (true, String::new()));
    let named = format!(
        "{address}&sslrootcert={}",
        own.display().to_string().replace('/', "%2F")
    );
    assert_eq!(add(&named, &other), (true, String::new()));
    let listed = format!(
        "host=localhost port={port} user=gatepost dbname=gatepost sslrootcert={} sslmode=require",
        own.display()
    );
    assert_eq!(add(&listed, &other), (true, String::new()));
    let (is_done, said) = add(&format!("{address}&sslrootcert=/nowhere.pem"), &other);
    assert!(
        !is_done && said.contains("sslrootcert=/nowhere.pem"),
        "{said}"
    );
    let venues = server
        .ask("gatepost", "SELECT count(*) FROM hub_venues")
        .expect("an answer");
    assert_eq!(venues, "3");
    // Tables of a newer Gatepost are left alone.
    server
        .ask("gatepost", "UPDATE hub_schema SET version = 99")
        .expect("done");
    let (is_done, said) = add(&address, &own);
    assert!(
        !is_done && said.contains("made by a newer Gatepost"),
        "{said}"
    );
    let venues = server
        .ask("gatepost", "SELECT count(*) FROM hub_venues")
        .expect("an answer");
    assert_eq!(venues, "3");
}
