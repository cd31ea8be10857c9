//! An import that is killed at any slice is completed by `--resume`, or taken back by `--undo`, as
//! if it had never been.

use super::{Site, kill_when};
use crate::harness::has;
use serde_json::json;
use std::{fmt::Write, io::ErrorKind, time::Duration};

const ROWS: i64 = 4_000;
const ROUNDS: usize = 4;

/// A file in which half of the list's delegates are there already, some of them joined.
fn prepared() -> (Site, String) {
    let site = Site::new();
    site.import("devices", "devices.csv", "code,name\nhall,Hall\n", &[]);
    let mut first = String::from("barcode,First name,Diet\n");
    let mut list = String::from("barcode,First name,Last name,Diet\n");
    for n in 0..ROWS {
        if n % 2 == 0 {
            let _ = writeln!(first, "T{n:05},Name {n},vegan");
        }
        let _ = writeln!(list, "T{n:05},,Last {n},diet {n}");
    }
    site.import("delegates", "first.csv", first, &[]);
    let list = site.file("list.csv", list);
    (site, list)
}

const OPTIONS: [&str; 4] = ["--key", "barcode", "--join", "code:hall"];

/// Starts the import and kills it after some slices; how many rows were done with by then.
fn kill_one(site: &Site, list: &str) -> i64 {
    let child = site.start(&[&["import", "delegates", list][..], &OPTIONS].concat());
    let after = i64::from(getrandom::u32().expect("a number")) % (ROWS * 3 / 4);
    // -1 before it began.
    let done =
        site.watch("SELECT coalesce(max(done), -1) FROM batches WHERE file_name = 'list.csv'");
    kill_when(child, || done() >= after);
    done()
}

/// Rows without what differs from run to run: ids made at random, and times.
fn content(site: &Site) -> Vec<String> {
    let connection = site.open();
    let mut content = super::rows_of(
        &connection,
        "delegates",
        "SELECT id, barcode, first_name, last_name, data, sources FROM delegates ORDER BY id",
    );
    content.extend(super::rows_of(
        &connection,
        "interactions",
        "SELECT id, interaction_type, first_delegate_id, first_device_id, admitted FROM interactions ORDER BY id",
    ));
    content.extend(super::rows_of(
        &connection,
        "rows",
        "SELECT batch_id, line, record_id, before IS NULL, interaction_id FROM batch_rows ORDER BY 1, 2",
    ));
    content.extend(super::rows_of(
        &connection,
        "audit",
        "SELECT actor, action, record_type, record_id FROM audit ORDER BY id",
    ));
    content
}

/// A copy of a file that nobody has open, its log included.
fn copy(site: &Site) -> Site {
    let copy = Site::new();
    for suffix in ["", "-wal"] {
        let name = |site: &Site| site.path(&format!("event.db{suffix}"));
        match std::fs::copy(name(site), name(&copy)) {
            Err(cause) if cause.kind() != ErrorKind::NotFound => panic!("{cause}"),
            _ => {}
        }
    }
    copy
}

#[test]
fn an_import_that_was_killed_is_completed_or_taken_back() {
    let (site, list) = prepared();
    let before = site.dump();
    let whole = copy(&site);
    let import = [&["import", "delegates", &list][..], &OPTIONS].concat();
    whole.done(&import);
    let expected = content(&whole);
    let mut killed = None;
    for _ in 0..ROUNDS {
        let site = copy(&site);
        let done = kill_one(&site, &list);
        assert!(done < ROWS);
        let undone = copy(&site);
        let told = site.told(&["import", "--resume", "3"]);
        assert_eq!(told["imported"], json!(ROWS - done));
        assert_eq!(content(&site), expected);
        let told = undone.told(&["import", "--undo", "3"]);
        assert_eq!(told["left"], json!(0), "{told}");
        let [removed, restored] = ["removed", "restored"].map(|count| told[count].as_i64());
        assert_eq!(removed.zip(restored).map(|(a, b)| a + b), Some(done));
        assert_eq!(undone.dump(), before);
        if done > 0 {
            killed = Some((site, undone));
        }
    }
    let (resumed, undone) = killed.expect("a round that killed it between its slices");
    let resume = ["import", "--resume", "3"];
    has(resumed.refused(&resume), "is complete");
    has(undone.refused(&resume), "was taken back");
    let told = undone.refused(&["import", "--undo", "3"]);
    has(&told, "taken back already");
    // And it can go in anew.
    undone.done(&import);
}

#[test]
fn an_import_that_was_killed_says_how_it_goes_on() {
    let (site, list) = prepared();
    kill_one(&site, &list);
    let told = site.refused(&["import", "delegates", &list, "--join", "1"]);
    has(&told, "--resume 3");
    let database = site.db.to_str().expect("a name");
    let other = site.file("other.csv", "barcode\nX\n");
    for (file, about) in [(database, "is a database"), (&other, "is not the file")] {
        let told = site.refused(&["import", "--resume", "3", "--file", file]);
        assert!(told.contains(about), "{told}");
    }
}

#[test]
fn an_undoing_that_was_killed_is_completed() {
    let (site, list) = prepared();
    let before = site.dump();
    site.done(&[&["import", "delegates", &list][..], &OPTIONS].concat());
    let mut child = site.start(&["import", "--undo", "3"]);
    let rows = "SELECT count(*) FROM batch_rows WHERE batch_id = 3";
    while site.count(rows) > ROWS * 2 / 3 {
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().expect("killed");
    child.wait().expect("gone");
    assert!(site.count(rows) > 0, "it was over too soon");
    site.done(&["import", "--undo", "3"]);
    assert_eq!(site.dump(), before);
}
