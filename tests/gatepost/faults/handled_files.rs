//! What people do to files: they copy, empty, cut and overwrite them, in use or after a kill. Whatever that costs is
//! told, with numbers where they are known, and nothing is told that is not so.

use super::{
    process::{Served, Site, acknowledge, beside, findings, gatepost, told, until},
    wire::{Answer, Wire, get, post},
};
use rusqlite::Connection;
use serde_json::json;
use std::{
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant, SystemTime},
};

/// A page of the log with its header.
const FRAME: u64 = 24 + 2048;
pub const COPIED: &str = "was copied while it was in use, without its log";

fn check_in(wire: &mut Wire, site: &Site) -> Answer {
    let body = json!({"delegate": site.delegates[0], "device": site.devices[0]});
    let request = post("/interaction/new/seen", &site.token, &body);
    wire.call(&request).expect("an answer")
}

/// Records so many interactions.
pub fn record(served: &Served, site: &Site, count: usize) {
    let mut wire = served.wire();
    for _ in 0..count {
        check_in(&mut wire, site).is(201);
    }
}

/// Has another program copy the log into the file.
fn checkpoint(db: &Path) {
    let other = Connection::open(db).expect("the file");
    let copied = other.query_row("PRAGMA wal_checkpoint(RESTART)", [], |row| {
        row.get::<_, i64>(0)
    });
    assert_eq!(copied, Ok(0));
}

/// Whether the file has all of its log, as the log's index says.
pub fn is_copied(db: &Path) -> bool {
    let index = fs::read(beside(db, "-shm")).expect("an index");
    index[16..20] == index[96..100]
}

/// What a command prints as a warning.
fn warned(db: &Path, command: &[&str]) -> String {
    String::from_utf8_lossy(&gatepost(db, command).stderr).into_owned()
}

/// A copy of the file alone in a folder of its own.
fn copy_alone(site: &Site, name: &str) -> PathBuf {
    let folder = site.folder.path().join(name);
    fs::create_dir(&folder).expect("a folder");
    let copy = folder.join("copy.db");
    fs::copy(&site.db, &copy).expect("copied");
    copy
}

/// Copies a file over another, as `cp` does: the file is emptied, and filled.
fn overwrite(from: &Path, to: &Path) {
    let bytes = fs::read(from).expect("a file");
    let mut file = File::options()
        .write(true)
        .truncate(true)
        .open(to)
        .expect("a file");
    file.write_all(&bytes).expect("written");
}

#[test]
fn a_copy_without_its_log_says_so() {
    let site = Site::prepare();
    let mut served = Served::start(&site.db);
    record(&served, &site, 30);
    let in_use = copy_alone(&site, "in-use");
    served.kill();
    let after_kill = copy_alone(&site, "after-kill");
    for copy in [&in_use, &after_kill] {
        assert!(findings(copy).contains(COPIED), "{}", findings(copy));
        let restored = beside(copy, ".restored");
        for (db, command) in [
            (copy, &["export", "interactions", "--format", "csv"][..]),
            (copy, &["compact"]),
            (&restored, &["restore", copy.to_str().expect("a name")]),
        ] {
            let again = beside(copy, ".again");
            fs::copy(copy, &again).expect("copied");
            let db = if db == copy { &again } else { db };
            let warned = warned(db, command);
            assert!(warned.contains(COPIED), "{command:?}: {warned}");
            if command[0] == "compact" {
                assert!(findings(&again).contains(COPIED));
            }
            for suffix in ["", "-wal", "-shm", ".lock"] {
                let _ = fs::remove_file(beside(&again, suffix));
            }
        }
        assert!(findings(&restored).contains(COPIED));
        let backup = beside(copy, ".backup");
        let output = backup.to_str().expect("a name");
        told(copy, &["backup", "--json", "--output", output]);
        assert!(findings(&backup).contains(COPIED));
        Served::start(&backup).stop();
        assert!(findings(&backup).contains(COPIED));
        let server = Served::start(copy);
        // The dashboard has it, and so has `check`.
        assert!(findings(copy).contains(COPIED));
        server.stop();
        acknowledge(copy);
        assert_eq!(findings(copy), "");
    }
    // The controls: with its log it is whole, and after a clean stop it is everything.
    for suffix in ["", "-wal"] {
        let whole = beside(&site.folder.path().join("whole.db"), suffix);
        fs::copy(beside(&site.db, suffix), whole).expect("copied");
    }
    assert_eq!(findings(&site.folder.path().join("whole.db")), "");
    Served::start(&site.db).stop();
    assert_eq!(findings(&site.db), "");
    assert_eq!(findings(&copy_alone(&site, "stopped")), "");
}

#[test]
fn a_log_that_lost_something_is_told_with_the_numbers() {
    type Change = fn(&Path);
    let changes: [(&str, Change); 4] = [
        ("removed", |log| fs::remove_file(log).expect("removed")),
        ("emptied", |log| drop(File::create(log).expect("emptied"))),
        ("cut", |log| {
            let file = File::options().write(true).open(log).expect("a log");
            let frames = (file.metadata().expect("a file").len() - 32) / FRAME;
            file.set_len(32 + frames / 2 * FRAME).expect("cut");
        }),
        ("zeroed", |log| {
            let mut bytes = fs::read(log).expect("a log");
            let half = bytes.len() / 2;
            bytes[half..].fill(0);
            fs::write(log, bytes).expect("written");
        }),
    ];
    for (what, change) in changes {
        let site = Site::prepare();
        let before = interactions(&site.db);
        let mut served = Served::start(&site.db);
        record(&served, &site, 20);
        served.kill();
        assert_eq!(findings(&site.db), "", "{what}");
        change(&beside(&site.db, "-wal"));
        let found = findings(&site.db);
        let missing: Option<i64> = found
            .split(" interaction")
            .next()
            .and_then(|before| before.rsplit(['"', ' ']).next())
            .and_then(|count| count.parse().ok());
        // What a command does hides nothing.
        assert!(warned(&site.db, &["client", "list"]).contains("are missing in"));
        assert!(findings(&site.db).contains("are missing in"), "{what}");
        let served = Served::start(&site.db);
        let lost = 20 - (interactions(&site.db) - before);
        assert_eq!(missing, Some(lost), "{what}: {found}");
        assert!(lost > 0, "{what}");
        served.stop();
        assert!(findings(&site.db).contains("are missing in"), "{what}");
        acknowledge(&site.db);
        assert_eq!(findings(&site.db), "", "{what}");
    }
}

pub fn interactions(db: &Path) -> i64 {
    let file = Connection::open(db).expect("the file");
    let count = file.query_row("SELECT count(*) FROM interactions", [], |row| row.get(0));
    count.expect("a count")
}

#[test]
fn a_file_that_is_gone_with_its_log_is_told() {
    let site = Site::prepare();
    let mut served = Served::start(&site.db);
    record(&served, &site, 5);
    served.kill();
    for suffix in ["", "-wal", "-shm"] {
        fs::remove_file(beside(&site.db, suffix)).expect("removed");
    }
    Served::start(&site.db).stop();
    let found = findings(&site.db);
    assert!(
        found.contains("is gone with its log, and with it 5 interactions and "),
        "{found}"
    );
    acknowledge(&site.db);
    Served::start(&site.db).stop();
    assert_eq!(findings(&site.db), "");
}

#[test]
fn nothing_is_acknowledged_once_another_file_was_copied_over_this_one() {
    for what in [
        "older",
        "older with its time",
        "copied in use",
        "foreign",
        "further on",
    ] {
        let site = Site::prepare();
        let backup = site.folder.path().join("older.db");
        let old = SystemTime::now() - Duration::from_secs(86_400);
        let mut served = Served::start(&site.db);
        if what == "foreign" {
            Connection::open(&backup)
                .and_then(|file| {
                    file.execute_batch(
                        "CREATE TABLE a (b); INSERT INTO a VALUES (zeroblob(9000000))",
                    )
                })
                .expect("a file");
        } else if what == "further on" {
            let other = Site::prepare();
            let of_other = Served::start(&other.db);
            record(&of_other, &other, 60);
            of_other.stop();
            fs::copy(&other.db, &backup).expect("copied");
        } else {
            record(&served, &site, 3);
            told(
                &site.db,
                &[
                    "backup",
                    "--json",
                    "--output",
                    backup.to_str().expect("a name"),
                ],
            );
        }
        if what == "copied in use" {
            checkpoint(&site.db);
            fs::copy(&site.db, &backup).expect("copied");
        }
        record(&served, &site, 20);
        // What the server copies at the very moment may make the older file whole, with nothing lost: so all is copied.
        checkpoint(&site.db);
        let mut wire = served.wire();
        overwrite(&backup, &site.db);
        if what == "older with its time" {
            let file = File::options().write(true).open(&site.db).expect("a file");
            file.set_modified(old).expect("set back");
        }
        // Nobody knows better when it was looked at last.
        std::thread::sleep(Duration::from_millis(50));
        let refused = check_in(&mut wire, &site);
        assert_eq!(
            (refused.status, refused.code()),
            (503, 1108),
            "{what}: {refused:?}"
        );
        until("the log is put aside", || {
            beside(&site.db, "-wal.kept-1").exists()
        });
        served.ask("TERM");
        until("it ends", || !served.is_running());
        // What stands there now is as it was put there.
        assert!(
            fs::read(&site.db).expect("a file") == fs::read(&backup).expect("a file"),
            "{what}"
        );
        if what == "foreign" {
            continue;
        }
        let found = findings(&site.db);
        assert!(
            found.contains("overwritten") && found.contains("-wal.kept-1"),
            "{found}"
        );
        if what != "further on" {
            assert!(found.contains("\"20 interactions "), "{found}");
        }
        Served::start(&site.db).stop();
        acknowledge(&site.db);
        assert_eq!(findings(&site.db), "", "{what}");
    }
}

#[test]
fn nothing_is_acknowledged_once_an_older_index_was_copied_over_the_one_of_the_log() {
    for with_log in [false, true] {
        let site = Site::prepare();
        let before = interactions(&site.db);
        let mut served = Served::start(&site.db);
        record(&served, &site, 20);
        // Keeps the log from being begun anew.
        let reader = Connection::open(&site.db).expect("the file");
        reader
            .execute_batch("BEGIN; SELECT count(*) FROM interactions")
            .expect("a state");
        let [log, index] = ["-wal", "-shm"].map(|suffix| beside(&site.db, suffix));
        let [old_log, old_index] = [&log, &index].map(|path| fs::read(path).expect("a file"));
        record(&served, &site, 20);
        let mut wire = served.wire();
        if with_log {
            fs::write(&log, old_log).expect("written");
        }
        // Emptied first, as by `cp`, it may end the process.
        let file = File::options().write(true).open(&index);
        file.and_then(|mut file| file.write_all(&old_index))
            .expect("written");
        drop(reader);
        let refused = check_in(&mut wire, &site);
        assert_eq!((refused.status, refused.code()), (503, 1108), "{refused:?}");
        let health = wire.call(b"GET /health/ready HTTP/1.1\r\nHost: x\r\n\r\n");
        assert_eq!(health.expect("an answer").status, 503);
        served.ask("TERM");
        until("it ends", || !served.is_running());
        let found = findings(&site.db);
        assert!(
            found.contains("gatepost.db-") && found.contains("overwritten"),
            "{found}"
        );
        assert_eq!(found.contains("\"20 interactions "), with_log, "{found}");
        let lost = if with_log { 20 } else { 0 };
        Served::start(&site.db).stop();
        assert_eq!(interactions(&site.db), before + 40 - lost);
        acknowledge(&site.db);
        assert_eq!(findings(&site.db), "");
    }
}

/// The server copies its log into the file 200 ms after the last write; who overwrites it just then has a whole file, or
/// a mixture, of which it is told.
#[test]
fn a_file_that_is_overwritten_while_the_server_copies_its_log_is_whole_or_refused() {
    let site = Site::prepare();
    let backup = site.folder.path().join("older.db");
    told(
        &site.db,
        &[
            "backup",
            "--json",
            "--output",
            backup.to_str().expect("a name"),
        ],
    );
    let before = interactions(&site.db);
    for round in 0..8 {
        let db = site.folder.path().join(format!("{round}.db"));
        fs::copy(&backup, &db).expect("copied");
        let mut served = Served::start(&db);
        let mut wire = served.wire();
        if round % 2 == 1 {
            // Pages that the log will not have.
            let body = json!({"barcode": "another"});
            let made = wire.call(&post("/delegate/new", &site.token, &body));
            made.expect("an answer").is(201);
            until("the server has copied its log", || is_copied(&db));
        }
        record(&served, &site, 5);
        let begun = Instant::now();
        // Some of these are earlier than the server, some later.
        while begun.elapsed() < Duration::from_millis(197 + round) {
            std::thread::yield_now();
        }
        overwrite(&backup, &db);
        std::thread::sleep(Duration::from_millis(50));
        let answer = check_in(&mut wire, &site);
        if answer.status == 503 {
            until("the log is put aside", || {
                beside(&db, "-wal.kept-1").exists()
            });
            served.ask("TERM");
            until("it ends", || !served.is_running());
            assert!(findings(&db).contains("overwritten"));
        } else {
            answer.is(201);
            served.stop();
            assert_eq!(findings(&db), "", "{round}");
            assert_eq!(interactions(&db), before + 6, "{round}");
        }
    }
}

/// Copies a file and its log, as somebody would who knows that both are needed.
fn copy_with_log(site: &Site, name: &str) -> PathBuf {
    let copy = copy_alone(site, name);
    fs::copy(beside(&site.db, "-wal"), beside(&copy, "-wal")).expect("copied");
    copy
}

#[test]
fn a_file_and_a_log_of_different_moments_do_not_start() {
    let site = Site::prepare();
    let backup = site.folder.path().join("backup.db");
    let output = backup.to_str().expect("a name");
    told(&site.db, &["backup", "--json", "--output", output]);
    let mut served = Served::start(&site.db);
    record(&served, &site, 5);
    let older = copy_with_log(&site, "older");
    for _ in 0..2 {
        until("the log is copied", || is_copied(&site.db));
        record(&served, &site, 5);
    }
    let newer = copy_with_log(&site, "newer");
    served.kill();
    for (file, log, words) in [
        (&older, &newer, "is older than its log"),
        (&newer, &older, "-wal is older than"),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let mixed = folder.path().join("mixed.db");
        fs::copy(file, &mixed).expect("copied");
        fs::copy(beside(log, "-wal"), beside(&mixed, "-wal")).expect("copied");
        let before = [fs::read(&mixed), fs::read(beside(&mixed, "-wal"))].map(Result::unwrap);
        assert!(findings(&mixed).contains(words), "{}", findings(&mixed));
        for command in [
            &["serve", "--listen", "127.0.0.1:0", "--no-mdns"][..],
            &["client", "list"],
            &["compact"],
            &["export", "interactions", "--format", "csv"],
        ] {
            let refused = gatepost(&mixed, command);
            let told = String::from_utf8_lossy(&refused.stderr);
            assert!(
                !refused.status.success() && told.contains(words),
                "{command:?}: {told}"
            );
        }
        let after = [fs::read(&mixed), fs::read(beside(&mixed, "-wal"))].map(Result::unwrap);
        assert!(before == after, "{words}");
        // A backup takes its place, and what was there goes aside as it is.
        let restored = gatepost(&mixed, &["restore", output]);
        assert!(restored.status.success(), "{restored:?}");
        assert_eq!(findings(&mixed), "");
        let names = fs::read_dir(folder.path()).expect("a folder");
        let logs = names.filter_map(|entry| fs::read(entry.expect("a file").path()).ok());
        assert!(logs.into_iter().any(|log| log == before[1]), "{words}");
    }
    for whole in [&older, &newer] {
        Served::start(whole).stop();
        assert_eq!(findings(whole), "");
    }
    assert_eq!(interactions(&newer), 15);
}

/// Whatever a file lacks that its log has is no damage, and is not called one.
#[test]
fn pages_that_the_log_has_may_be_missing_in_the_file() {
    let site = Site::prepare();
    let before = interactions(&site.db);
    let mut served = Served::start(&site.db);
    record(&served, &site, 20);
    served.kill();
    let log = fs::read(beside(&site.db, "-wal")).expect("a log");
    let mut file = fs::read(&site.db).expect("a file");
    let frames = log[32..].chunks_exact(usize::try_from(FRAME).expect("few"));
    let pages = frames.map(|frame| u32::from_be_bytes([frame[0], frame[1], frame[2], frame[3]]));
    for page in pages.filter(|page| *page > 1) {
        let at = (page as usize - 1) * 2048;
        if at < file.len() {
            file[at..at + 2048].fill(0);
        }
    }
    fs::write(&site.db, file).expect("written");
    assert_eq!(findings(&site.db), "");
    let messages = beside(&site.db, ".log");
    fs::write(&messages, "").expect("written");
    Served::start(&site.db).stop();
    let messages = fs::read_to_string(&messages).expect("a log");
    assert!(
        !messages.contains("WARN") && !messages.contains("ERROR"),
        "{messages}"
    );
    assert_eq!(interactions(&site.db), before + 20);
}

#[test]
fn what_changes_a_file_lawfully_is_no_loss() {
    let site = Site::prepare();
    let served = Served::start(&site.db);
    let mut wire = served.wire();
    let list = site.folder.path().join("list.csv");
    for round in 0..40 {
        let file = File::options().write(true).open(&site.db).expect("a file");
        // It is another process that changes the file: this one has nothing to lose of its own.
        file.set_modified(SystemTime::now()).expect("touched");
        let permissions = file.metadata().expect("a file").permissions();
        file.set_permissions(permissions).expect("changed");
        drop(file);
        fs::read(&site.db).expect("read");
        if round % 10 == 0 {
            let rows = format!("Barcode,First name\nX{round},Ada\n");
            fs::write(&list, rows).expect("a list");
            let name = list.to_str().expect("a name");
            let imported = gatepost(&site.db, &["import", "delegates", name]);
            assert!(imported.status.success(), "{imported:?}");
        }
        for _ in 0..5 {
            check_in(&mut wire, &site).is(201);
            checkpoint(&site.db);
        }
    }
    // Ten thousand checkpoints of another process, and more while somebody writes beside them.
    thread::scope(|scope| {
        let writing = scope.spawn(|| {
            for _ in 0..200 {
                check_in(&mut wire, &site).is(201);
            }
        });
        let other = Connection::open(&site.db).expect("the file");
        let mut count = 0;
        while count < 10_000 || !writing.is_finished() {
            let mode = ["PASSIVE", "FULL", "RESTART", "TRUNCATE"][count % 4];
            let sql = format!("PRAGMA wal_checkpoint({mode})");
            other.query_row(&sql, [], |_| Ok(())).expect("done");
            count += 1;
        }
    });
    assert_eq!(findings(&site.db), "");
    served.stop();
    assert_eq!(findings(&site.db), "");
}

#[test]
fn whoever_leaves_a_file_leaves_it_without_a_false_alarm() {
    let site = Site::prepare();
    let path = |name: &str| {
        site.folder
            .path()
            .join(name)
            .to_str()
            .expect("a name")
            .to_owned()
    };
    fs::write(path("list.csv"), "Barcode,First name\nX1,Ada\n").expect("a list");
    let is_sound = |what: &str| {
        assert_eq!(findings(&site.db), "", "{what}");
        // So is a copy of it, which has no lock file beside it.
        let copy = copy_alone(&site, what);
        assert_eq!(findings(&copy), "", "a copy after {what}");
    };
    Served::start(&site.db).stop();
    is_sound("serve");
    for (number, command) in [
        &["backup", "--output", &path("backup.db")][..],
        &["import", "delegates", &path("list.csv")],
        &["export", "delegates", "--output", &path("out.csv")],
        &["check"],
        &["check", "--repair"],
        &["client", "list"],
        &["config", "export", "--output", &path("config.json")],
        &["migrate"],
        &["compact"],
        &["restore", &path("backup.db")],
    ]
    .into_iter()
    .enumerate()
    {
        let done = gatepost(&site.db, command);
        assert!(done.status.success(), "{command:?}: {done:?}");
        is_sound(&format!("{}-{number}", command[0]));
    }
    assert_eq!(findings(Path::new(&path("backup.db"))), "");
    // A backup of a file in use, put in place by hand and by the command, and one opened where it is.
    let mut served = Served::start(&site.db);
    record(&served, &site, 5);
    told(
        &site.db,
        &["backup", "--json", "--output", &path("live.db")],
    );
    let ready = get("/ping", &site.token);
    assert_eq!(served.wire().call(&ready).expect("an answer").status, 200);
    served.kill();
    assert_eq!(findings(Path::new(&path("live.db"))), "");
    // Killed, and its log taken in by another program.
    let other = Connection::open(&site.db).expect("the file");
    other
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        .expect("copied");
    drop(other);
    assert!(!beside(&site.db, "-wal").exists());
    assert_eq!(findings(&site.db), "");
    Served::start(&site.db).stop();
    is_sound("after-sqlite3");
    let restored = gatepost(&site.db, &["restore", &path("live.db")]);
    assert!(restored.status.success(), "{restored:?}");
    is_sound("restore-of-live");
    for command in [&["client", "list"][..], &["compact"]] {
        Served::start(&site.db).kill();
        assert!(gatepost(&site.db, command).status.success());
        is_sound(&format!("kill-and-{}", command[0]));
    }
}

#[test]
fn a_log_that_cannot_be_read_for_a_while_is_not_lost_for_good() {
    let site = Site::prepare();
    let mut served = Served::start(&site.db);
    record(&served, &site, 5);
    let mut wire = served.wire();
    let log = beside(&site.db, "-wal");
    let mut strace = Command::new("strace");
    strace.args(["-f", "-o", "/dev/null", "-P", log.to_str().expect("a name")]);
    strace.args(["-e", "trace=pread64", "-e", "inject=pread64:error=EIO"]);
    strace
        .args(["-p", &served.pid().to_string()])
        .stderr(Stdio::null());
    let mut failing = strace
        .spawn()
        .expect("strace is needed: apt-get install strace");
    until("the log cannot be read", || {
        let answer = check_in(&mut wire, &site);
        let told = answer.body["meta"]["error"]["message"].to_string();
        assert!(!told.contains("removed"), "{answer:?}");
        answer.status == 503
    });
    let asked = Command::new("kill").arg(failing.id().to_string()).status();
    assert!(asked.expect("kill").success());
    failing.wait().expect("it ends");
    until("it is stored again", || {
        check_in(&mut wire, &site).status == 201
    });
    let stored = interactions(&site.db);
    served.kill();
    assert_eq!(interactions(&site.db), stored);
    assert_eq!(findings(&site.db), "");
}
