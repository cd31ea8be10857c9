//! Other commands at work on the file while the server runs on it: it follows what they change, and
//! neither stops the other (contract §10).

use super::{
    evidence,
    ledger::{self, Shape},
    load::Load,
    process::{GATEPOST, Served, Site, beside, gatepost, token, told, until},
    wire::get,
};
use crate::harness::has;
use rusqlite::Connection;
use serde_json::{Value, json};
use std::{path::Path, process::Command};

fn add_client(db: &Path) -> Value {
    told(db, &["client", "add", "gate", "--gate", "--json"])
}

fn ping(served: &Served, token: &str) -> u16 {
    served
        .wire()
        .call(&get("/ping", token))
        .expect("an answer")
        .status
}

#[test]
fn a_client_revoked_on_the_command_line_is_out() {
    let site = Site::prepare();
    let served = Served::start(&site.db);
    let client = add_client(&site.db);
    let token = token(&mut served.wire(), &client).expect("a token");
    // It is in the server's memory from here on.
    assert_eq!(ping(&served, &token), 200);
    let id = client["clientId"].as_str().expect("an id");
    let revoked = gatepost(&site.db, &["client", "revoke", id]);
    assert!(revoked.status.success(), "{revoked:?}");
    until("the client is out", || ping(&served, &token) == 401);
    // The control: others are not out.
    assert_eq!(ping(&served, &site.token), 200);
}

#[test]
fn a_secret_rotated_on_the_command_line_replaces_the_old_one() {
    let site = Site::prepare();
    let served = Served::start(&site.db);
    let old = add_client(&site.db);
    assert!(token(&mut served.wire(), &old).is_some());
    let id = old["clientId"].as_str().expect("an id");
    let new = told(&site.db, &["client", "rotate", id, "--json"]);
    assert_ne!(old["clientSecret"], new["clientSecret"]);
    // Not the old one first: a wrong secret counts as a guess.
    until("the new secret is good", || {
        token(&mut served.wire(), &new).is_some()
    });
    assert!(token(&mut served.wire(), &old).is_none());
}

/// Also in the moment after a clean start, when there is no log beside the file yet.
#[test]
fn commands_and_gates_do_not_stop_each_other() {
    let site = Site::prepare();
    let mut served = Served::start(&site.db);
    assert!(gatepost(&site.db, &["client", "list"]).status.success());
    let shapes = [(Shape::Single, 1), (Shape::Batch, 60), (Shape::Single, 1)];
    // A gate that is refused for once panics.
    let load = Load::start(served.address, &site, "x", &shapes);
    let mut clients = 0;
    for round in 0..8 {
        load.wait_for(round * 5);
        add_client(&site.db);
        clients += 1;
        let checked = gatepost(&site.db, &["migrate", "--check"]);
        assert!(checked.status.success(), "{checked:?}");
        let listed = told(&site.db, &["client", "list", "--json"]);
        // And the gate's own.
        assert_eq!(
            listed.as_array().map(Vec::len),
            Some(clients + 1),
            "{listed}"
        );
    }
    let book = load.finish();
    served.kill();
    let file = Connection::open(&site.db).expect("the file");
    assert_eq!(evidence::troubles(&file), Vec::<String>::new());
    assert_eq!(ledger::check(&book, &file), Vec::<String>::new());
    assert_eq!(
        json!(book.iter().filter(|entry| entry.answers.is_none()).count()),
        0
    );
}

/// Of a disk that nothing can be written to: a backup on a stick, the disk of another machine. Needs root.
#[cfg(target_os = "linux")]
#[test]
fn a_file_on_a_disk_that_is_read_only_is_exported_with_its_log() {
    let site = Site::prepare();
    let output = tempfile::tempdir().expect("a folder");
    let export = |name: &str| {
        let list = output.path().join(name);
        let script =
            r#"mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && shift && exec "$@""#;
        let exported = Command::new("unshare")
            .args(["-m", "sh", "-c", script, "sh"])
            .arg(site.folder.path())
            .args([GATEPOST, "export", "interactions", "--output"])
            .arg(&list)
            .arg("--db")
            .arg(&site.db)
            .output();
        (exported.expect("unshare"), list)
    };
    let rows = |name: &str| {
        let (exported, list) = export(name);
        assert!(exported.status.success(), "{exported:?}");
        std::fs::read_to_string(list)
            .expect("a list")
            .lines()
            .count()
            - 1
    };
    assert_eq!(rows("none.csv"), 0);
    let mut served = Served::start(&site.db);
    let load = Load::start(served.address, &site, "x", &[(Shape::Single, 1)]);
    load.wait_for(20);
    let book = load.finish();
    let (refused, _) = export("served.csv");
    assert_eq!(refused.status.code(), Some(1));
    has(
        String::from_utf8_lossy(&refused.stderr),
        "a server runs on it",
    );
    served.kill();
    let log = std::fs::metadata(beside(&site.db, "-wal")).expect("a log");
    assert!(log.len() > 0);
    assert_eq!(rows("with-log.csv"), book.len());
    // The index of the log is gone, as on a copy.
    std::fs::remove_file(beside(&site.db, "-shm")).expect("removed");
    assert_eq!(rows("without-index.csv"), book.len());
    Served::start(&site.db).stop();
    assert!(!beside(&site.db, "-wal").exists());
    assert_eq!(rows("without-log.csv"), book.len());
}
