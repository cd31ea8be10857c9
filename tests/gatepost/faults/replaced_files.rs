//! File and log are removed, renamed, replaced, overwritten or cut short under a server that runs: it says so within a second,
//! and acknowledges nothing more until it is started again.

use super::{
    process::{Served, Site, beside, gatepost, until},
    wire::{Answer, PATIENCE, Wire, post},
};
use rusqlite::Connection;
use serde_json::json;
use std::{
    fs::{self, File},
    path::Path,
    time::Duration,
};

const READY: &[u8] = b"GET /health/ready HTTP/1.1\r\nHost: x\r\n\r\n";

/// How often the writer looks whether its files are in their places.
const LOOK_EVERY: Duration = Duration::from_millis(5);

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

fn empty(path: &Path) {
    shorten(path, 0);
}

fn halve(path: &Path) {
    shorten(path, fs::metadata(path).expect("a file").len() / 2);
}

fn shorten(path: &Path, length: u64) {
    let file = File::options().write(true).open(path).expect("a file");
    file.set_len(length).expect("shortened");
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
        ("", empty),
        ("", halve),
    ] {
        let site = Site::prepare();
        let mut served = Served::start(&site.db);
        let mut wire = served.wire();
        check_in(&mut wire, &site).is(201);
        change(&beside(&site.db, suffix));
        // A look is this long ago at most, when the next one comes.
        std::thread::sleep(LOOK_EVERY);
        let refused = check_in(&mut wire, &site);
        assert_eq!((refused.status, refused.code()), (503, 1108), "{refused:?}");
        let ready = wire.call(READY).expect("an answer");
        assert_eq!(ready.status, 503, "{ready:?}");
        let told = ready.body["checks"]["file"].as_str().unwrap_or_default();
        assert!(
            told.contains("removed, renamed, replaced, overwritten or cut short"),
            "{ready:?}"
        );
        // Not even when it is put back: the server may have written elsewhere meanwhile.
        if suffix.is_empty() && beside(&site.db, ".away").exists() {
            fs::rename(beside(&site.db, ".away"), &site.db).expect("put back");
        }
        check_in(&mut wire, &site).is(503);
        until("it is logged", || {
            let log = fs::read_to_string(beside(&site.db, ".log")).expect("a log");
            log.contains("was removed, renamed, replaced, overwritten or cut short")
        });
        assert!(served.is_running());
    }
}

#[test]
fn a_server_that_nobody_writes_to_notices_by_itself() {
    let site = Site::prepare();
    let served = Served::start(&site.db);
    let mut wire = served.wire();
    wire.call(READY).expect("an answer").is(200);
    remove(&site.db);
    until("it is noticed", || {
        wire.call(READY).expect("an answer").status != 200
    });
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
        check_in(&mut wire, &site).is(201);
    }
    remove(&beside(&site.db, "-wal"));
    std::thread::sleep(LOOK_EVERY);
    check_in(&mut wire, &site).is(503);
    until("the log is copied", || {
        let log = fs::read_to_string(beside(&site.db, ".log")).expect("a log");
        log.contains("was copied into the database file")
    });
    served.kill();
    let file = Connection::open(&site.db).expect("the file");
    let kept: i64 = file
        .query_row("SELECT count(*) FROM interactions", [], |row| row.get(0))
        .expect("a count");
    assert!(kept >= 20, "{kept}");
}

/// The log was emptied right before the server is asked to end: what was copied into the file before
/// stays readable, and nothing of the log's rest is copied over it.
#[test]
fn a_log_that_was_emptied_does_not_ruin_the_file() {
    let site = Site::prepare();
    let served = Served::start(&site.db);
    let mut wire = served.wire();
    for _ in 0..20 {
        check_in(&mut wire, &site).is(201);
    }
    empty(&beside(&site.db, "-wal"));
    served.ask("TERM");
    assert_eq!(served.ended().code(), Some(1));
    let checked = gatepost(&site.db, &["check"]);
    let told = String::from_utf8_lossy(&checked.stdout);
    assert!(
        told.contains("20 interactions that were stored are missing")
            && told.contains("2 findings"),
        "{checked:?}"
    );
}

/// What other programs may lawfully do to a file that is in use.
#[test]
fn a_file_that_another_program_makes_smaller_is_not_lost() {
    let site = Site::prepare();
    let served = Served::start(&site.db);
    let mut wire = served.wire();
    let other = Connection::open(&site.db).expect("the file");
    let busy = other.busy_timeout(PATIENCE);
    busy.expect("patience");
    for sql in [
        "PRAGMA wal_checkpoint(TRUNCATE)",
        "CREATE TABLE other AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
         SELECT i, randomblob(500) AS filler FROM n",
        "PRAGMA wal_checkpoint(TRUNCATE)",
        "DROP TABLE other",
        "VACUUM",
        "PRAGMA wal_checkpoint(TRUNCATE)",
        "PRAGMA wal_checkpoint(RESTART)",
    ] {
        other.execute_batch(sql).expect(sql);
        for _ in 0..3 {
            let answer = check_in(&mut wire, &site);
            assert_eq!(answer.status, 201, "{sql}: {answer:?}");
        }
    }
    wire.call(READY).expect("an answer").is(200);
}

/// Another file is written over this one. What SQLite then says of it is for the log alone.
#[test]
fn damage_that_a_write_comes_upon_is_told() {
    let site = Site::prepare();
    let served = Served::start(&site.db);
    let mut wire = served.wire();
    check_in(&mut wire, &site).is(201);
    let length = fs::metadata(&site.db).expect("a file").len();
    // The log is copied into the file when the server is idle, and pages are read from there again.
    let garbage = vec![0xa5; usize::try_from(length).expect("a length")];
    let file = File::options().write(true).open(&site.db).expect("a file");
    std::os::unix::fs::FileExt::write_all_at(&file, &garbage[4096..], 4096).expect("written");
    let mut number = 0;
    until("damage is found", || {
        number += 1;
        let body = json!({"barcode": format!("N-{number}")});
        let answer = wire.call(&post("/delegate/new", &site.token, &body));
        let answer = answer.expect("an answer");
        if answer.status == 201 {
            return false;
        }
        assert_eq!((answer.status, answer.code()), (503, 1108), "{answer:?}");
        let message = answer.body["meta"]["error"]["message"].to_string();
        assert!(
            message.contains("the database file is damaged"),
            "{answer:?}"
        );
        let ready = wire.call(READY).expect("an answer");
        assert_eq!(ready.status, 503, "{ready:?}");
        true
    });
}

/// The log is cut short while it has what the file lacks, as somebody still reads an older state.
#[test]
fn a_log_that_is_cut_short_takes_no_write() {
    for change in [empty as fn(&Path), halve] {
        let site = Site::prepare();
        let served = Served::start(&site.db);
        let reader = Connection::open(&site.db).expect("the file");
        reader
            .execute_batch("BEGIN; SELECT count(*) FROM delegates")
            .expect("a state");
        let mut wire = served.wire();
        check_in(&mut wire, &site).is(201);
        change(&beside(&site.db, "-wal"));
        std::thread::sleep(LOOK_EVERY);
        check_in(&mut wire, &site).is(503);
        wire.call(READY).expect("an answer").is(503);
    }
}

/// Threads that a start leaves behind hold the file for a moment; the end waits for them.
#[test]
fn a_clean_stop_leaves_no_log() {
    let site = Site::prepare();
    for _ in 0..8 {
        Served::start(&site.db).stop();
        let left = fs::metadata(beside(&site.db, "-wal")).map_or(0, |log| log.len());
        assert_eq!(left, 0);
    }
}

/// SQLite has the index of the log mapped into memory: the system may end a process that reads what was cut off.
#[test]
fn a_server_whose_index_of_the_log_is_cut_short_loses_nothing() {
    let site = Site::prepare();
    let mut served = Served::start(&site.db);
    let mut wire = served.wire();
    let body = json!({"delegate": site.delegates[0], "device": site.devices[0]});
    let request = post("/interaction/new/check-in", &site.token, &body);
    let mut stored = 0;
    until("the server ends, or refuses", || {
        if stored == 20 {
            empty(&beside(&site.db, "-shm"));
        }
        let answer = wire.call(&request);
        let is_stored = answer.is_ok_and(|answer| answer.status == 201);
        stored += i64::from(is_stored);
        !is_stored
    });
    assert!(stored >= 20, "{stored}");
    served.kill();
    Served::start(&site.db).stop();
    let file = Connection::open(&site.db).expect("the file");
    let kept = file.query_row("SELECT count(*) FROM interactions", [], |row| {
        row.get::<_, i64>(0)
    });
    assert!(kept.expect("a count") >= stored);
    let sound = file.query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0));
    assert_eq!(sound.expect("a line"), "ok");
}
