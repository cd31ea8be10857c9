//! A backup while gates write: it holds what was acknowledged before it began, is of one moment,
//! and is a whole file or none at all.

use super::{
    evidence,
    ledger::{self, Shape},
    load::Load,
    process::{GATEPOST, Served, Site, beside, gatepost, told},
};
use crate::harness::has;
use gatepost::db::{Durability, Store};
use rusqlite::Connection;
use serde_json::json;
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
};

/// The names in a folder that a backup may have left.
fn left(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).expect("a folder").map(|entry| {
        let name = entry.expect("an entry").file_name();
        name.into_string().expect("a name")
    });
    let mut left: Vec<_> = names
        .filter(|name| name.contains(".part") || name.starts_with("copy"))
        .collect();
    left.sort();
    left
}

fn make(db: &Path, target: &Path, more: &[&str]) -> std::process::Output {
    let target = target.to_str().expect("a name");
    gatepost(db, &[&["backup", "--output", target], more].concat())
}

#[test]
fn a_backup_under_load_holds_all_that_was_acknowledged_and_is_of_one_moment() {
    let site = Site::prepare();
    let mut served = Served::start(&site.db);
    let shapes = [(Shape::Single, 1), (Shape::Batch, 200), (Shape::Keyed, 60)];
    let mut before = Vec::new();
    for round in 0..3 {
        let load = Load::start(served.address, &site, &format!("a{round}"), &shapes);
        load.wait_for(20);
        before.extend(load.finish());
        let load = Load::start(served.address, &site, &format!("b{round}"), &shapes);
        load.wait_for(3);
        let target = site.folder.path().join(format!("copy-{round}.db"));
        let made = told(
            &site.db,
            &[
                "backup",
                "--json",
                "--output",
                target.to_str().expect("a name"),
            ],
        );
        let beside_it = load.finish();

        assert_eq!(
            made["bytes"],
            json!(fs::metadata(&target).expect("a copy").len())
        );
        let copy = Connection::open(&target).expect("the copy");
        assert_eq!(evidence::troubles(&copy), Vec::<String>::new());
        let mode = copy.query_row("PRAGMA journal_mode", [], |row| row.get::<_, String>(0));
        assert_eq!(mode.expect("a mode"), "delete", "one file is all of it");
        // What was acknowledged while it was made may be in it or not.
        let mut book = before;
        let known = book.len();
        book.extend(beside_it);
        let answers: Vec<_> = book[known..]
            .iter_mut()
            .map(|entry| entry.answers.take())
            .collect();
        assert_eq!(ledger::check(&book, &copy), Vec::<String>::new());
        for (entry, answers) in book[known..].iter_mut().zip(answers) {
            entry.answers = answers;
        }
        before = book;
    }
    assert_eq!(
        left(site.folder.path()),
        ["copy-0.db", "copy-1.db", "copy-2.db"]
    );
    served.kill();
    // It is a file like any other.
    let restored = site.folder.path().join("copy-2.db");
    Served::start(&restored).stop();
    let noted = "SELECT count(*) FROM audit WHERE record_type = 'backup' AND after ->> 'bytes' > 0";
    let file = Connection::open(&site.db).expect("the file");
    assert_eq!(file.query_row(noted, [], |row| row.get(0)), Ok(3));
}

/// The log is begun anew hundreds of times while each copy is made; all of a transaction or nothing
/// of it must be in every copy.
#[test]
fn a_backup_beside_a_log_that_never_rests_is_of_one_moment() {
    let folder = tempfile::tempdir().expect("a folder");
    let db = folder.path().join("gatepost.db");
    drop(Store::open(&db, Durability::Normal).expect("a file"));
    let writer = Connection::open(&db).expect("the file");
    writer
        .busy_timeout(super::wire::PATIENCE)
        .expect("a timeout");
    let fill = "INSERT INTO settings (name, value)
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
        SELECT printf('%05d', i), printf('%-400d', 0) FROM n";
    writer.execute_batch(fill).expect("rows");
    writer
        .execute_batch("PRAGMA wal_autocheckpoint = 40; PRAGMA synchronous = OFF")
        .expect("pragmas");
    let (enough, begun_anew) = (&AtomicBool::new(false), &AtomicUsize::new(0));
    let log = beside(&db, "-wal");
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut update = writer
.prepare("UPDATE settings SET value = printf('%-400d', value + ?1) WHERE name = printf('%05d', ?2)")
                .expect("a statement");
            let mut round = 0_i64;
            let mut known = None;
            while !enough.load(Ordering::Relaxed) {
                // What one row gains another loses: the sum of a copy of two moments is off.
                writer.execute_batch("BEGIN IMMEDIATE").expect("begun");
                for step in 0..20 {
                    let row = |seed: i64| (round * 20 + step) * seed % 3000 + 1;
                    update.execute([step + 1, row(7919)]).expect("written");
                    update.execute([-step - 1, row(104_729)]).expect("written");
                }
                writer.execute_batch("COMMIT").expect("committed");
                round += 1;
                let salt = fs::read(&log)
                    .ok()
                    .and_then(|log| log.get(16..24).map(<[u8]>::to_vec));
                if salt != known {
                    known = salt;
                    begun_anew.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
        for number in 0..6 {
            let target = folder.path().join(format!("copy-{number}.db"));
            let output = make(&db, &target, &[]);
            if !output.status.success() {
                enough.store(true, Ordering::Relaxed);
            }
            assert!(output.status.success(), "{output:?}");
            let copy = Connection::open(&target).expect("the copy");
            let sum = "SELECT sum(value + 0) FROM settings";
            let sum = copy.query_row(sum, [], |row| row.get::<_, i64>(0));
            if sum != Ok(0) {
                enough.store(true, Ordering::Relaxed);
            }
            assert_eq!(sum, Ok(0), "copy {number} is of more than one moment");
        }
        enough.store(true, Ordering::Relaxed);
    });
    let begun_anew = begun_anew.load(Ordering::Relaxed);
    assert!(
        begun_anew > 20,
        "the log was begun anew {begun_anew} times only"
    );
}

#[test]
fn a_copy_replaces_nothing_unless_it_is_told_to() {
    let site = Site::prepare();
    let target = site.folder.path().join("copy.db");
    fs::write(&target, "precious").expect("a file");
    let refused = |target: &Path, more: &[&str], told: &str| {
        let output = make(&site.db, target, more);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(message.contains(told), "{message}");
    };
    refused(&target, &[], "--force");
    assert_eq!(fs::read(&target).expect("it"), b"precious");
    assert!(make(&site.db, &target, &["--force"]).status.success());
    assert!(
        fs::read(&target)
            .expect("it")
            .starts_with(b"SQLite format 3")
    );

    let same = site.folder.path().join("same.db");
    std::os::unix::fs::symlink(&site.db, &same).expect("a link");
    for ours in [
        site.db.clone(),
        beside(&site.db, "-wal"),
        beside(&site.db, ".lock"),
        same,
    ] {
        refused(&ours, &["--force"], "the database file itself");
    }
    refused(&site.folder.path().join("none/copy.db"), &[], "its folder");
    let missing = site.folder.path().join("missing.db");
    let output = make(&missing, &site.folder.path().join("copy-2.db"), &[]);
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("does not exist"),
        "{output:?}"
    );
    assert_eq!(left(site.folder.path()), ["copy.db"]);

    // Without a name it gets one with the time in it, in the folder that is named or the file's.
    let folder = site.folder.path().join("copies");
    fs::create_dir(&folder).expect("a folder");
    for made in [
        told(&site.db, &["backup", "--json"]),
        told(
            &site.db,
            &[
                "backup",
                "--json",
                "--output",
                folder.to_str().expect("a name"),
            ],
        ),
    ] {
        let file = PathBuf::from(made["file"].as_str().expect("a file"));
        let name = file.file_name().expect("a name").to_str().expect("text");
        assert!(
            name.starts_with("gatepost-2") && name.len() == "gatepost-20261121-090200.db".len(),
            "{name}"
        );
        assert!(file.exists());
    }
    assert_eq!(fs::read_dir(&folder).expect("a folder").count(), 1);
}

#[test]
fn a_backup_of_what_a_killed_server_left_holds_its_log() {
    let site = Site::prepare();
    let mut served = Served::start(&site.db);
    let load = Load::start(served.address, &site, "x", &[(Shape::Batch, 60)]);
    load.wait_for(3);
    served.kill();
    let book = load.finish();
    assert!(fs::metadata(beside(&site.db, "-wal")).expect("a log").len() > 0);
    let target = site.folder.path().join("copy.db");
    assert!(make(&site.db, &target, &[]).status.success());
    let copy = Connection::open(&target).expect("the copy");
    assert_eq!(ledger::check(&book, &copy), Vec::<String>::new());
}

#[test]
fn a_copy_that_is_not_sound_or_finds_no_room_is_not_kept() {
    let site = Site::prepare();
    let target = site.folder.path().join("copy.db");
    // As on a full disk: no file may grow past a hundred blocks of 512 bytes.
    let output = Command::new("sh")
        .args([
            "-c",
            "trap '' XFSZ; ulimit -f 100; exec \"$0\" \"$@\"",
            GATEPOST,
        ])
        .args(["backup", "--json", "--output"])
        .arg(&target)
        .arg("--db")
        .arg(&site.db)
        .stdin(Stdio::null())
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let message = String::from_utf8_lossy(&output.stderr);
    has(&message, ["copy.db.part: ", "too large"]);
    assert_eq!(left(site.folder.path()), Vec::<String>::new());

    let file = Connection::open(&site.db).expect("the file");
    file.execute_batch("PRAGMA foreign_keys = OFF; INSERT INTO clients (client_id, secret_hash, name, roles, scopes, device_id, created_at) VALUES ('x', x'', 'x', '[]', '[]', 4711, 0)")
        .expect("damage");
    let output = make(&site.db, &target, &[]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let message = String::from_utf8_lossy(&output.stderr);
    has(&message, ["not sound", "clients"]);
    assert_eq!(left(site.folder.path()), Vec::<String>::new());
    // The control: mended, it is copied.
    file.execute_batch("DELETE FROM clients WHERE client_id = 'x'")
        .expect("mended");
    assert!(make(&site.db, &target, &[]).status.success());
}
