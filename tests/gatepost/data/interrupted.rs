//! Imports whose rows refer to each other, killed or met by another command while they go on.

use super::{Site, kill_when};
use crate::faults::process::until;
use serde_json::json;
use std::fmt::Write;

const ROWS: i64 = 3_000;

/// A list in which every other row stands under the next.
fn prepared() -> (Site, String) {
    let site = Site::new();
    site.done(&["client", "add", "gate", "--gate"]);
    let mut list = String::from("barcode,parent\n");
    for n in 0..ROWS {
        let parent = if n % 2 == 0 {
            format!("barcode:{}", n + 1)
        } else {
            String::new()
        };
        let _ = writeln!(list, "{n},{parent}");
    }
    let list = site.file("list.csv", list);
    (site, list)
}

/// Kills an import when all rows are written and some of them are linked.
fn kill_while_linking(site: &Site, list: &str) {
    let child = site.start(&["import", "delegates", list]);
    let linked = site.watch("SELECT count(*) FROM delegates WHERE parent_id IS NOT NULL");
    kill_when(child, || linked() > 0);
}

#[test]
fn an_import_that_was_killed_while_it_linked_is_completed_or_taken_back() {
    let links = "SELECT count(*) FROM delegates d JOIN delegates p ON p.id = d.parent_id
                 WHERE CAST(p.barcode AS INTEGER) = CAST(d.barcode AS INTEGER) + 1";
    let (site, list) = prepared();
    kill_while_linking(&site, &list);
    let half = ROWS / 2;
    assert!(site.count(links) < half, "it was killed too late");
    // What somebody set since stays.
    let own = site.file("own.csv", "barcode,parent\n2998,barcode:1\n");
    site.done(&["import", "delegates", &own, "--key", "barcode"]);
    let told = site.told(&["import", "--resume", "1"]);
    assert_eq!(told["imported"], json!(0), "{told}");
    assert_eq!(site.count(links), half - 1);
    // Each was linked once.
    let linked = "SELECT count(*) FROM audit WHERE action = 'update'";
    assert_eq!(site.count(linked), half);
    site.told(&["import", "--undo", "2"]);
    let told = site.told(&["import", "--undo", "1"]);
    assert_eq!(told["left"], json!(0), "{told}");
    assert_eq!(site.count("SELECT count(*) FROM delegates"), 0);

    let (site, list) = prepared();
    kill_while_linking(&site, &list);
    let told = site.told(&["import", "--undo", "1"]);
    assert_eq!(told["left"], json!(0), "{told}");
    assert_eq!(site.count("SELECT count(*) FROM delegates"), 0);
}

#[test]
fn a_record_that_another_import_changed_before_it_was_linked_stays_changed() {
    let (site, list) = prepared();
    kill_while_linking(&site, &list);
    // Of the rows that are not linked yet.
    let waits = "SELECT barcode FROM delegates d JOIN batch_rows r ON r.record_id = d.id
                 WHERE unlinked IS NOT NULL ORDER BY d.id DESC LIMIT 1";
    let barcode = site.text(waits);
    let other = site.file("other.csv", format!("barcode,lastName\n{barcode},Meyer\n"));
    site.done(&["import", "delegates", &other, "--key", "barcode"]);
    site.done(&["import", "--resume", "1"]);
    let parent = format!("SELECT count(parent_id) FROM delegates WHERE barcode = '{barcode}'");
    assert_eq!(site.count(&parent), 1);
    // Neither takes away what the other one wrote.
    for id in ["2", "1"] {
        let told = site.refused(&["import", "--undo", id]);
        assert!(told.contains("was changed since"), "{told}");
    }
    let name = format!("SELECT last_name FROM delegates WHERE barcode = '{barcode}'");
    assert_eq!(site.text(&name), "Meyer");
}

#[test]
fn a_completed_import_leaves_out_what_was_bad_when_it_began() {
    let site = Site::new();
    site.done(&["client", "add", "gate", "--gate"]);
    let mut list = String::from("barcode,owner,available\n");
    let _ = writeln!(list, "\"bad\0\",,");
    for n in 0..ROWS {
        let _ = writeln!(list, "{n},,");
    }
    list.push_str("last,barcode:0,\n");
    let list = site.file("list.csv", list);
    let child = site.start(&["import", "delegates", &list, "--skip-bad"]);
    let written = site.watch("SELECT count(*) FROM delegates");
    kill_when(child, || written() > 0);
    // It was told then.
    let told = site.told(&["import", "--resume", "1"]);
    assert_eq!(told["badRows"], json!(0), "{told}");
    assert_eq!(site.count("SELECT count(*) FROM delegates"), ROWS + 1);
}

#[test]
fn an_import_that_is_taken_back_while_it_goes_on_ends() {
    let (site, list) = prepared();
    let written = site.watch("SELECT count(*) FROM delegates");
    let child = site.start(&["import", "delegates", &list]);
    until("something is written", || written() > 0);
    site.told(&["import", "--undo", "1"]);
    let output = child.wait_with_output().expect("it ends");
    // Unless it was through before.
    if !output.status.success() {
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(told.contains("is being taken back"), "{told}");
    }
    assert_eq!(written(), 0);
}

#[test]
fn two_commands_do_not_go_on_with_one_import() {
    let (site, list) = prepared();
    let written = site.watch("SELECT count(*) FROM delegates");
    let child = site.start(&["import", "delegates", &list]);
    until("something is written", || written() > 0);
    let other = site.run(&["import", "--resume", "1"]);
    let outputs = [child.wait_with_output().expect("it ends"), other];
    // One of them ends, or the first one was through before.
    assert!(outputs.iter().any(|output| output.status.success()));
    for output in outputs.iter().filter(|output| !output.status.success()) {
        let told = String::from_utf8_lossy(&output.stderr);
        let expected = ["another command goes on with", "is complete"];
        assert!(expected.iter().any(|one| told.contains(one)), "{told}");
    }
    assert_eq!(written(), ROWS);
    let linked = "SELECT count(*) FROM delegates WHERE parent_id IS NOT NULL";
    assert_eq!(site.count(linked), ROWS / 2);
}
