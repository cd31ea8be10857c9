//! File and log are removed, renamed or replaced under a server that runs: it says so within a second,
//! and acknowledges nothing more until it is started again.

use super::{
    process::{Served, Site, beside, until},
    wire::{Answer, PATIENCE, Wire, post},
};
use rusqlite::Connection;
use serde_json::json;
use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

const READY: &[u8] = b"GET /health/ready HTTP/1.1\r\nHost: x\r\n\r\n";

/// What is done to a name: removed, renamed, and replaced by another file.
fn remove(path: &Path) {
    fs::remove_file(path).expect("removed");
}

fn rename(path: &Path) {
    fs::rename(path, beside(path, ".away")).expect("renamed");
}

fn replace(path: &Path) {
    let other = beside(path, ".other");
    fs::copy(path, &other).expect("copied");
    fs::rename(&other, path).expect("replaced");
}

fn check_in(wire: &mut Wire, site: &Site) -> Answer {
    let body = json!({"delegate": site.delegates[0], "device": site.devices[0]});
    let request = post("/interaction/new/check-in", &site.token, &body);
    wire.call(&request).expect("an answer")
}

#[test]
fn nothing_is_acknowledged_that_went_into_a_file_that_is_gone() {
    for (suffix, change) in [
        ("", remove as fn(&Path)),
        ("", rename),
        ("", replace),
        ("-wal", remove),
        ("-wal", replace),
        ("-shm", remove),
    ] {
        let site = Site::prepare();
        let mut served = Served::start(&site.db);
        let mut wire = served.wire();
        assert_eq!(check_in(&mut wire, &site).status, 201);
        change(&beside(&site.db, suffix));
        // The very next one.
        let refused = check_in(&mut wire, &site);
        assert_eq!((refused.status, refused.code()), (503, 1108), "{refused:?}");
        let ready = wire.call(READY).expect("an answer");
        assert_eq!(ready.status, 503, "{ready:?}");
        let told = ready.body["checks"]["file"].as_str().unwrap_or_default();
        assert!(told.contains("removed, renamed or replaced"), "{ready:?}");
        // Not even when it is put back: the server may have written elsewhere meanwhile.
        if suffix.is_empty() && beside(&site.db, ".away").exists() {
            fs::rename(beside(&site.db, ".away"), &site.db).expect("put back");
        }
        assert_eq!(check_in(&mut wire, &site).status, 503);
        until("it is logged", || {
            let log = fs::read_to_string(beside(&site.db, ".log")).expect("a log");
            log.contains("was removed, renamed or replaced")
        });
        assert!(served.is_running());
    }
}

#[test]
fn a_server_that_nobody_writes_to_notices_within_a_second() {
    let site = Site::prepare();
    let served = Served::start(&site.db);
    let mut wire = served.wire();
    assert_eq!(wire.call(READY).expect("an answer").status, 200);
    remove(&site.db);
    let begun = Instant::now();
    while wire.call(READY).expect("an answer").status == 200 {
        assert!(begun.elapsed() < PATIENCE, "it is never noticed");
    }
    assert!(
        begun.elapsed() < Duration::from_secs(1),
        "{:?}",
        begun.elapsed()
    );
    // It ends when it is asked to, and says that something is wrong.
    served.ask("TERM");
    assert_eq!(served.ended().code(), Some(1));
}

/// The log alone is removed: the server has it open still, and copies what is in it into the file.
#[test]
fn what_was_acknowledged_before_the_log_went_is_kept() {
    let site = Site::prepare();
    let mut served = Served::start(&site.db);
    let mut wire = served.wire();
    for _ in 0..20 {
        assert_eq!(check_in(&mut wire, &site).status, 201);
    }
    remove(&beside(&site.db, "-wal"));
    assert_eq!(check_in(&mut wire, &site).status, 503);
    served.kill();
    let file = Connection::open(&site.db).expect("the file");
    let kept: i64 = file
        .query_row("SELECT count(*) FROM interactions", [], |row| row.get(0))
        .expect("a count");
    assert!(kept >= 20, "{kept}");
}
