//! The wrong file at the start: a clear message, exit code 1, and the file byte for byte as it was.
//! And the right file in an unusual state, which is none of those.

use super::{
    process::{GATEPOST, Served, Site, beside, gatepost, serve_arguments, told, until},
    trace,
};
use crate::harness::has;
use rusqlite::Connection;
use std::{
    collections::BTreeMap,
    fs,
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

/// Every command opens the file as one of these does.
const COMMANDS: &[&[&str]] = &[
    &["serve"],
    &["migrate"],
    &["migrate", "--check"],
    &["client", "list"],
];

/// A file that must be refused.
pub struct Bad {
    pub what: &'static str,
    /// Part of the message.
    pub told: &'static str,
    pub bytes: Vec<u8>,
}

fn page_size(bytes: &[u8]) -> usize {
    u16::from_be_bytes([bytes[16], bytes[17]]).into()
}

pub fn bad_files(good: &[u8]) -> Vec<Bad> {
    let page = page_size(good);
    let cut = |length: usize| good[..length].to_vec();
    let with = |at: usize, new: &[u8]| {
        let mut bytes = good.to_vec();
        bytes[at..at + new.len()].copy_from_slice(new);
        bytes
    };
    let middle = good.len() / page / 2 * page;
    let mut foreign = with(68, b"OTHR");
    foreign.truncate(page);
    let text = b"Name,Barcode\nAda,A-1\n".repeat(30);
    let (garbage, zeros) = (vec![0xa5; page], vec![0; 2 * page]);
    let bad = |what, told, bytes| Bad { what, told, bytes };
    vec![
        bad("foreign", "another application", with(68, b"OTHR")),
        bad("foreign, cut off", "another application", foreign),
        bad("unmarked", "another application", with(68, &[0; 4])),
        bad("newer", "schema version 4096", with(60, &[0, 0, 16, 0])),
        bad("nothing", "is empty", Vec::new()),
        bad("text", "not a SQLite file", text),
        bad("short text", "cut off", b"hello".to_vec()),
        bad("one byte", "cut off", cut(1)),
        bad("50 bytes", "cut off", cut(50)),
        bad("the header alone", "cut off", cut(100)),
        bad("half a page", "cut off", cut(page / 2)),
        bad("one page", "cut off", cut(page)),
        bad("half of it", "cut off", cut(middle)),
        bad("the last page missing", "cut off", cut(good.len() - page)),
        bad("the last byte missing", "cut off", cut(good.len() - 1)),
        bad("garbage in the middle", "damaged", with(middle, &garbage)),
        bad(
            "garbage after the header",
            "damaged",
            with(100, &garbage[100..]),
        ),
        bad(
            "zeros at the end",
            "damaged",
            with(good.len() - 2 * page, &zeros),
        ),
    ]
}

/// A file as a server leaves it that was ended properly.
pub fn good_file() -> (Site, Vec<u8>) {
    let site = Site::prepare();
    assert!(!beside(&site.db, "-wal").exists(), "the log is left behind");
    let bytes = fs::read(&site.db).expect("the file");
    (site, bytes)
}

/// Everything in a folder but the lock file and the index of the log, which is made anew each time.
pub fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path());
    entries
        .filter(|path| {
            let name = path.to_str().expect("a name");
            !name.ends_with(".lock") && !name.ends_with("-shm")
        })
        .map(|path| (path.clone(), fs::read(&path).expect("a file")))
        .collect()
}

/// Runs a command that must end by itself.
fn run(db: &Path, command: &[&str]) -> Output {
    let mut process = Command::new(GATEPOST);
    if command == ["serve"] {
        process.args(serve_arguments(db));
    } else {
        process.args(command).arg("--db").arg(db);
    }
    let mut child = process
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    until("the command ends", || {
        child.try_wait().expect("a child").is_some()
    });
    child.wait_with_output().expect("its output")
}

/// Every command refuses what is at `db`, and leaves it and all beside it as it is.
fn assert_refused(what: &str, db: &Path, told: &str) {
    let folder = db.parent().expect("a folder");
    let before = contents(folder);
    for command in COMMANDS {
        let output = run(db, command);
        let message = String::from_utf8_lossy(&output.stderr);
        let name = db.to_str().expect("a name");
        assert_eq!(
            output.status.code(),
            Some(1),
            "{what}, {command:?}: {output:?}"
        );
        assert!(
            message.contains(told) && message.contains(name),
            "{what}, {command:?}: {message}"
        );
        assert!(
            !message.contains("panicked"),
            "{what}, {command:?}: {message}"
        );
        assert!(
            contents(folder) == before,
            "{what}: {command:?} changed something"
        );
    }
}

#[test]
fn what_is_no_file_of_ours_is_refused_and_left_as_it_is() {
    let (_site, good) = good_file();
    for bad in bad_files(&good) {
        let folder = tempfile::tempdir().expect("a folder");
        let db = folder.path().join("gatepost.db");
        fs::write(&db, &bad.bytes).expect("written");
        assert_refused(bad.what, &db, bad.told);
    }
    // The control: the good file is taken by the same commands.
    let folder = tempfile::tempdir().expect("a folder");
    let db = folder.path().join("gatepost.db");
    fs::write(&db, good).expect("written");
    for command in &COMMANDS[1..] {
        assert_eq!(run(&db, command).status.code(), Some(0), "{command:?}");
    }
    Served::start(&db).stop();
}

/// As after a kill: what counts stands in the log beside the file.
#[test]
fn a_log_beside_a_file_hides_no_damage() {
    let site = Site::prepare();
    let mut served = Served::start(&site.db);
    let load = super::load::Load::start(
        served.address,
        &site,
        "x",
        &[(super::ledger::Shape::Batch, 60)],
    );
    load.wait_for(3);
    served.kill();
    let book = load.finish();
    let file = fs::read(&site.db).expect("the file");
    let log = fs::read(beside(&site.db, "-wal")).expect("the log");
    assert!(!log.is_empty());
    let page = page_size(&file);
    let laid_out = |bytes: &[u8]| {
        let folder = tempfile::tempdir().expect("a folder");
        let db = folder.path().join("gatepost.db");
        fs::write(&db, bytes).expect("written");
        fs::write(beside(&db, "-wal"), &log).expect("written");
        (folder, db)
    };
    let garbage_from = |from: usize| {
        let mut bytes = file.clone();
        bytes[from..].fill(0xa5);
        bytes
    };
    for (what, bytes, told) in [
        ("cut to nothing", Vec::new(), "is empty"),
        ("cut to 50 bytes", file[..50].to_vec(), "cut off"),
        ("cut after two pages", file[..2 * page].to_vec(), "damaged"),
        ("garbage after two pages", garbage_from(2 * page), "damaged"),
        ("text", b"Name,Barcode\n".repeat(50), "not a SQLite file"),
    ] {
        let (_folder, db) = laid_out(&bytes);
        assert_refused(what, &db, told);
    }
    let (_folder, db) = laid_out(&file);
    fs::remove_file(&db).expect("removed");
    assert_refused("gone", &db, "is gone, and its log");
    // What the log says of itself counts, not what the file's first page said before.
    for (what, pragma, told) in [
        ("newer", "PRAGMA user_version = 4096", "schema version 4096"),
        (
            "foreign",
            "PRAGMA application_id = 1",
            "another application",
        ),
    ] {
        let (_folder, db) = laid_out(&file);
        let changed = Connection::open(&db).expect("the file");
        changed
            .execute_batch("PRAGMA wal_autocheckpoint = 0")
            .expect("a pragma");
        changed.execute_batch(pragma).expect("a pragma");
        // Copied while it is open: closing would move the log into the file.
        let copy = tempfile::tempdir().expect("a folder");
        let copied = super::evidence::copy(&db, copy.path());
        assert_refused(what, &copied, told);
    }
    // The control: file and log as they were left are taken, and everything is there.
    let (_folder, db) = laid_out(&file);
    Served::start(&db).stop();
    let healed = Connection::open(&db).expect("the file");
    assert_eq!(super::ledger::check(&book, &healed), Vec::<String>::new());
}

#[test]
fn a_folder_in_place_of_the_file_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let db = folder.path().join("gatepost.db");
    fs::create_dir(&db).expect("a folder");
    for command in COMMANDS {
        let output = run(&db, command);
        assert_eq!(output.status.code(), Some(1), "{command:?}: {output:?}");
        let message = String::from_utf8_lossy(&output.stderr);
        has(&message, ["gatepost.db", "directory"]);
    }
}

#[test]
fn a_second_serve_on_a_file_is_refused_and_the_first_goes_on() {
    let site = Site::prepare();
    let mut first = Served::start(&site.db);
    let second = run(&site.db, &["serve"]);
    assert_eq!(second.status.code(), Some(1));
    let message = String::from_utf8_lossy(&second.stderr);
    has(&message, "another `gatepost serve` runs on");
    assert!(
        message.contains(site.db.to_str().expect("a name")),
        "{message}"
    );
    let ping = super::wire::get("/ping", &site.token);
    first.wire().call(&ping).expect("an answer").is(200);
    // The control: once the first is gone, however it went, the file is free.
    first.kill();
    Served::start(&site.db).stop();
}

/// As a version that made files in place left one, when it was killed before the first page.
#[test]
fn a_making_that_was_cut_off_is_done_again_as_a_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut journal = vec![0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
    journal.resize(512, 0);
    journal[22] = 2;
    journal[26] = 16;
    for (name, there) in [("torn.db", true), ("gone.db", false)] {
        let db = folder.path().join(name);
        fs::write(beside(&db, "-journal"), &journal).expect("written");
        if there {
            fs::write(&db, []).expect("written");
        }
        for command in [
            &["client", "add", "gate", "--gate"][..],
            &["client", "list"],
            &["check"],
        ] {
            let output = gatepost(&db, command);
            assert_eq!(
                output.status.code(),
                Some(0),
                "{name}, {command:?}: {output:?}"
            );
        }
        Served::start(&db).stop();
    }
    // One with pages in it is of a file that was there.
    let db = folder.path().join("other.db");
    journal[19] = 7;
    fs::write(beside(&db, "-journal"), &journal).expect("written");
    assert_refused("its journal alone", &db, "is gone, and its log");
}

#[cfg(unix)]
#[test]
fn a_link_leads_to_where_the_file_is_made() {
    let folder = tempfile::tempdir().expect("a folder");
    let link = folder.path().join("link.db");
    std::os::unix::fs::symlink("other.db", &link).expect("a link");
    std::os::unix::fs::symlink("real.db", folder.path().join("other.db")).expect("a link");
    Served::start(&link).stop();
    assert!(folder.path().join("real.db").is_file());
    assert!(link.is_symlink());
    let output = gatepost(&folder.path().join("no/a.db"), &["client", "add", "gate"]);
    let told = String::from_utf8_lossy(&output.stderr);
    has(&told, "no/a.db: the folder is not there");
}

#[test]
fn an_address_that_is_taken_is_told_and_no_file_is_made() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    let folder = tempfile::tempdir().expect("a folder");
    let db = folder.path().join("gatepost.db");
    let output = gatepost(&db, &["serve", "--no-mdns", "--listen", &address]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(
        message.contains(&address) && message.contains("another program listens"),
        "{message}"
    );
    assert!(!db.exists());
}

#[test]
fn migrate_check_tells_by_its_exit_code_whether_a_file_is_behind() {
    let folder = tempfile::tempdir().expect("a folder");
    let db = folder.path().join("gatepost.db");
    let check = |expected: i32| {
        let before = contents(folder.path());
        let output = gatepost(&db, &["migrate", "--check"]);
        assert_eq!(output.status.code(), Some(expected), "{output:?}");
        assert!(
            contents(folder.path()) == before,
            "--check changed something"
        );
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    has(check(1), "does not exist");
    // A file of ours that none of the steps has reached yet.
    Connection::open(&db)
        .expect("a file")
        .execute_batch("PRAGMA application_id = 0x47415445; CREATE TABLE t (x); DROP TABLE t;")
        .expect("a pragma");
    has(check(1), "is behind: schema version 0");
    assert_eq!(gatepost(&db, &["migrate"]).status.code(), Some(0));
    check(0);
    assert!(beside(&db, ".v0.bak").exists(), "no copy was kept");
    assert_eq!(gatepost(&db, &["migrate", "--chek"]).status.code(), Some(2));
    // What came out is a file like any other.
    told(&db, &["client", "add", "gate", "--gate", "--json"]);
    Served::start(&db).stop();
}

/// A backup, or a start that was interrupted at the wrong moment, leaves a file without the mode
/// that lets readers and the writer work side by side.
#[test]
fn a_file_without_a_log_is_given_one() {
    let (site, _) = good_file();
    let mode = |sql: &str| {
        let file = Connection::open(&site.db).expect("the file");
        file.query_row(sql, [], |row| row.get::<_, String>(0))
            .expect(sql)
    };
    assert_eq!(mode("PRAGMA journal_mode = DELETE"), "delete");
    let served = Served::start(&site.db);
    assert_eq!(mode("PRAGMA journal_mode"), "wal");
    served.stop();
}

/// The first start makes the file; killed at any write, sync or removal on the way, it can simply be
/// done again.
#[test]
fn a_first_start_that_is_killed_can_be_done_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut torn = 0;
    for (calls, stride) in [
        ("pwrite64", 5),
        ("fdatasync,fsync,ftruncate,?unlink,unlinkat", 1),
    ] {
        let mut number = 1;
        while let Some(db) = kill_first_start(folder.path(), calls, number) {
            // Whether there was anything to repair; otherwise nothing is shown.
            torn += usize::from(!db.exists());
            // Twice: the first makes it, and the second finds a file like any other.
            for command in [
                &["client", "add", "gate", "--gate"][..],
                &["client", "list"],
            ] {
                let again = gatepost(&db, command);
                assert_eq!(again.status.code(), Some(0), "{calls} {number}: {again:?}");
            }
            let file = Connection::open(&db).expect("the file");
            assert_eq!(super::evidence::troubles(&file), Vec::<String>::new());
            let mode = file.query_row("PRAGMA journal_mode", [], |row| row.get::<_, String>(0));
            assert_eq!(mode.expect("a mode"), "wal", "{calls} {number}");
            number += stride;
        }
        assert!(number > 5, "no start was killed at its {calls}");
    }
    assert!(
        torn > 5,
        "only {torn} starts were killed while they made the file"
    );
}

/// Kills the making of a file at its so many-th call of some kind; `None` when it has fewer.
fn kill_first_start(folder: &Path, calls: &str, number: usize) -> Option<PathBuf> {
    let db = folder.join(format!("{}-{number}.db", &calls[..5]));
    let killing = format!("inject={calls}:signal=KILL:when={number}");
    let outcome = trace::strace(&folder.join("strace"))
        .args([
            "-e",
            &format!("trace={calls}"),
            "-e",
            &killing,
            GATEPOST,
            "client",
            "add",
            "gate",
            "--gate",
            "--db",
        ])
        .arg(&db)
        .stdin(Stdio::null())
        .output()
        .expect("it runs");
    if let Some(9) = outcome.status.signal() {
        Some(db)
    } else {
        assert!(outcome.status.success(), "{outcome:?}");
        None
    }
}

#[cfg(unix)]
#[test]
fn a_fresh_file_and_what_stands_beside_it_are_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let server = crate::harness::Server::start();
    server.caller_with_all().delegate(&serde_json::json!({}));
    for suffix in ["", "-wal", "-shm"] {
        let mut path = server.path().into_os_string();
        path.push(suffix);
        let mode = fs::metadata(&path).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{}", path.display());
    }
}
