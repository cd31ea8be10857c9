//! A log that was damaged while nobody served the file: what is sound of it is kept, the rest is told
//! until somebody acknowledges it, and nothing is cut off without a word.

use super::{
    evidence,
    ledger::{self, Entry, Shape},
    load::Load,
    process::{Served, Site, acknowledge, beside, findings, gatepost},
    wire::get,
};
use rusqlite::Connection;
use std::{fs, path::PathBuf};

/// A page and what stands before it.
const FRAME: usize = 24 + 2048;

/// A file as a server leaves it that was killed under load, and what that had acknowledged.
fn killed() -> (Site, Vec<Entry>) {
    let site = Site::prepare();
    let mut served = Served::start(&site.db);
    let shapes = [(Shape::Single, 1), (Shape::Batch, 60)];
    let load = Load::start(served.address, &site, "x", &shapes);
    load.wait_for(30);
    served.kill();
    let book = load.finish();
    (site, book)
}

fn damage(site: &Site, change: impl FnOnce(&mut [u8])) {
    let path = beside(&site.db, "-wal");
    let mut log = fs::read(&path).expect("the log");
    change(&mut log);
    fs::write(&path, log).expect("written");
}

fn quarantined(site: &Site) -> Vec<PathBuf> {
    let entries = fs::read_dir(site.folder.path()).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths
        .filter(|path| path.to_string_lossy().contains("gatepost.db-wal.damaged-"))
        .collect()
}

#[test]
fn a_flipped_bit_in_the_log_is_told_and_the_log_is_kept() {
    let (site, book) = killed();
    assert_eq!(findings(&site.db), "");
    damage(&site, |log| {
        let frames = log.len() / FRAME / 2;
        log[32 + frames * FRAME + 24 + 1000] ^= 1;
    });
    let damaged = fs::read(beside(&site.db, "-wal")).expect("the log");
    let found = findings(&site.db);
    assert!(
        found.contains("gatepost.db-wal is damaged in frame"),
        "{found}"
    );
    // SQLite would cut the log off: no command opens the file.
    for command in [
        &["client", "list"][..],
        &["export", "delegates"],
        &["migrate"],
    ] {
        let refused = gatepost(&site.db, command);
        let told = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(1), "{command:?}: {told}");
        assert!(told.contains("`gatepost serve` keeps"), "{told}");
    }
    assert!(fs::read(beside(&site.db, "-wal")).expect("the log") == damaged);

    let served = Served::start(&site.db);
    let ready = served
        .wire()
        .call(b"GET /health/ready HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_eq!(ready.expect("an answer").status, 200);
    let [kept] = &quarantined(&site)[..] else {
        panic!("{:?}", quarantined(&site))
    };
    assert!(fs::read(kept).expect("the log") == damaged);
    let told = findings(&site.db);
    assert!(told.contains("is damaged in frame"), "{told}");
    assert!(told.contains("acknowledges it on the dashboard"), "{told}");
    served.stop();
    let log = fs::read_to_string(beside(&site.db, ".log")).expect("a log");
    assert!(
        log.contains("ERROR") && log.contains("is damaged in frame"),
        "{log}"
    );
    let file = Connection::open(&site.db).expect("the file");
    assert!(
        ledger::check(&book, &file)
            .iter()
            .all(|fault| is_lost(fault))
    );
    drop(file);
    acknowledge(&site.db);
    assert_eq!(findings(&site.db), "");
    // The control: a start after that finds nothing more.
    Served::start(&site.db).stop();
    assert_eq!(quarantined(&site).len(), 1);
}

#[test]
fn what_is_lost_behind_damage_is_counted_and_the_rest_is_whole() {
    let (site, book) = killed();
    damage(&site, |log| {
        let third = log.len() / 3;
        log[third..2 * third].fill(0xa5);
    });
    let found = findings(&site.db);
    assert!(found.contains("commits behind that are lost"), "{found}");
    let mut served = Served::start(&site.db);
    let ping = get("/ping", &site.token);
    assert_eq!(served.wire().call(&ping).expect("an answer").status, 200);
    let told = findings(&site.db);
    assert!(told.contains("commits behind that are lost"), "{told}");
    served.kill();
    let file = Connection::open(&site.db).expect("the file");
    assert_eq!(evidence::troubles(&file), Vec::<String>::new());
    let faults = ledger::check(&book, &file);
    assert!(!faults.is_empty());
    assert!(faults.iter().all(|fault| is_lost(fault)), "{faults:?}");
}

/// The checks of a damaged log and of what was salvaged of it count what is missing alike.
#[test]
fn what_a_log_lacks_that_was_cut_is_counted_before_and_after() {
    let (site, _) = killed();
    let log = fs::File::options()
        .write(true)
        .open(beside(&site.db, "-wal"))
        .expect("the log");
    let bytes = log.metadata().expect("a length").len();
    log.set_len(bytes / 2 / FRAME as u64 * FRAME as u64 + 100)
        .expect("cut");
    drop(log);
    let missing = |told: &str| {
        let (before, _) = told.split_once(" that were stored are missing")?;
        let begins = before.rfind([':', ';', '"']).map_or(0, |at| at + 1);
        Some(before[begins..].trim().to_owned())
    };
    let foretold = findings(&site.db);
    assert!(
        foretold.contains("all that can still be read of it is kept"),
        "{foretold}"
    );
    let expected = missing(&foretold).expect("a number");
    assert!(
        expected.contains("interactions") || expected.contains("changes"),
        "{expected}"
    );
    Served::start(&site.db).kill();
    let told = findings(&site.db);
    assert_eq!(missing(&told), Some(expected), "{foretold}\n{told}");
}

/// Of every gate the first entry stood before the damage.
fn is_lost(fault: &str) -> bool {
    fault.starts_with("lost: ") && !fault.ends_with("-0")
}

/// What the last run of the server did not bring into the file stood in its log alone.
#[test]
fn a_log_that_is_gone_after_a_kill_is_told() {
    let (site, _) = killed();
    fs::remove_file(beside(&site.db, "-wal")).expect("removed");
    let is_told = |told: &str| told.contains("are missing in") && told.contains("its log");
    let found = findings(&site.db);
    assert!(is_told(&found), "{found}");
    // A command warns, and what it does to the file hides nothing.
    let exported = gatepost(&site.db, &["export", "delegates"]);
    let warned = String::from_utf8_lossy(&exported.stderr);
    assert!(exported.status.success() && is_told(&warned), "{warned}");
    assert!(is_told(&findings(&site.db)));
    Served::start(&site.db).stop();
    acknowledge(&site.db);
    assert_eq!(findings(&site.db), "");
    // The controls: a log that had nothing to lose is no loss, after a clean end there is none, and after a kill another
    // command takes it in.
    Served::start(&site.db).kill();
    fs::remove_file(beside(&site.db, "-wal")).expect("removed");
    Served::start(&site.db).stop();
    Served::start(&site.db).kill();
    assert_eq!(
        gatepost(&site.db, &["client", "list"]).status.code(),
        Some(0)
    );
    // A command may end before all its connections are closed; whoever closes the file next removes the log.
    let file = Connection::open(&site.db).expect("the file");
    let opened = file.query_row("SELECT count(*) FROM clients", [], |row| {
        row.get::<_, i64>(0)
    });
    assert!(opened.is_ok_and(|clients| clients > 0));
    drop(file);
    assert!(!beside(&site.db, "-wal").exists());
    Served::start(&site.db).stop();
    assert_eq!(findings(&site.db), "");
}
