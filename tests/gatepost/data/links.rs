//! Rows that refer to others of their list, wherever those stand.

use super::Site;
use serde_json::{Value, json};
use std::{fmt::Write, time::Duration};

/// Delegates who refer to each other in every direction: to who stands above, below, beside
/// themselves, and in a ring.
fn entangled() -> Value {
    json!([
        {"barcode": "A", "parent": "barcode:C", "previous": "barcode:B"},
        {"barcode": "B", "previous": "barcode:A", "owner": "barcode:B"},
        {"barcode": "C", "parent": "externalId:last"},
        {"barcode": "D", "externalId": "last", "owner": "barcode:A"},
    ])
}

#[test]
fn a_row_may_refer_to_any_other_of_its_list() {
    let site = Site::new();
    let list = site.file("list.json", entangled().to_string());
    site.done(&["import", "delegates", &list]);
    let references =
        "SELECT group_concat(concat_ws(' ', barcode, parent_id, previous_id, owner_id), '; ')
                      FROM delegates";
    assert_eq!(site.text(references), "A 3 2; B 1 2; C 4; D 1");
    // Linking is part of the import: nothing was changed since.
    let ring = site.refused(&["import", "--undo", "1"]);
    assert!(ring.contains("was used since"), "{ring}");
    site.open()
        .execute_batch("UPDATE delegates SET previous_id = NULL, owner_id = NULL")
        .expect("a change");
    site.told(&["import", "--undo", "1"]);
    assert_eq!(site.count("SELECT count(*) FROM delegates"), 0);
}

#[test]
fn a_record_of_the_file_is_meant_before_one_of_the_list_is_looked_for() {
    let site = Site::new();
    let first = site.file("first.csv", "code,name\nhall,Hall\n");
    site.done(&["import", "devices", &first]);
    let second = site.file(
        "second.csv",
        "code,name,parent\nroom,Room,code:hall\nhall,New hall,code:house\nhouse,House,\n",
    );
    site.done(&["import", "devices", &second, "--key", "code"]);
    let names = "SELECT group_concat(concat_ws(' ', d.name, p.name), '; ')
                 FROM devices d LEFT JOIN devices p ON p.id = d.parent_id";
    assert_eq!(site.text(names), "New hall House; Room New hall; House");
    let told = site.told(&["import", "--undo", "2"]);
    assert_eq!(
        (&told["removed"], &told["restored"]),
        (&json!(2), &json!(1))
    );
    assert_eq!(site.text(names), "Hall");
}

#[test]
fn what_stands_nowhere_or_above_itself_is_told_before_anything_is_written() {
    let site = Site::new();
    let list = site.file(
        "list.csv",
        "barcode,parent,owner\nA,barcode:B,\nB,barcode:X,\nC,barcode:D,\nD,,barcode:C\n\
         E,barcode:F,\nF,barcode:G,\nG,barcode:E,\n",
    );
    let told = site.refused(&["import", "delegates", &list]);
    for expected in [
        "line 2, column \"parent\": parent: there is no delegate barcode:B, nor in this list",
        "line 3, column \"parent\": parent: there is no delegate barcode:X, nor in this list",
        "line 6, column \"parent\": parent: is this row itself or stands below it",
        "line 7, column \"parent\": parent: is this row itself or stands below it",
    ] {
        assert!(told.contains(expected), "{expected}: {told}");
    }
    assert_eq!(told.matches("line ").count(), 4, "{told}");
    assert_eq!(site.count("SELECT count(*) FROM delegates"), 0);

    // G is good by itself, and is left out with what it refers to.
    let told = site.refused(&["import", "delegates", &list, "--skip-bad"]);
    assert!(told.contains("line 8, column \"parent\""), "{told}");
    assert_eq!(
        site.text("SELECT group_concat(barcode, '') FROM delegates"),
        "CD"
    );
    let linked = "SELECT count(*) FROM delegates WHERE barcode = 'C' AND parent_id = 2";
    assert_eq!(site.count(linked), 1);
}

const ROWS: usize = 3_000;

/// A list in which every other row stands under the next.
fn prepared() -> (Site, String) {
    let site = Site::new();
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
    let mut child = site.start(&["import", "delegates", list]);
    let file = site.open();
    file.busy_timeout(Duration::from_secs(5))
        .expect("a timeout");
    let linked = || -> rusqlite::Result<i64> {
        let sql = "SELECT count(*) FROM delegates WHERE parent_id IS NOT NULL";
        file.query_row(sql, [], |row| row.get(0))
    };
    // The file is made by the command.
    while !linked().is_ok_and(|linked| linked > 0) {
        assert!(
            child.try_wait().expect("a child").is_none(),
            "it ended too early"
        );
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().expect("killed");
    child.wait().expect("gone");
}

#[test]
fn an_import_that_was_killed_while_it_linked_is_completed_or_taken_back() {
    let links = "SELECT count(*) FROM delegates d JOIN delegates p ON p.id = d.parent_id
                 WHERE CAST(p.barcode AS INTEGER) = CAST(d.barcode AS INTEGER) + 1";
    let (site, list) = prepared();
    kill_while_linking(&site, &list);
    let half = i64::try_from(ROWS / 2).expect("a number");
    assert!(site.count(links) < half, "it was killed too late");
    let told = site.told(&["import", "--resume", "1"]);
    assert_eq!(told["imported"], json!(0), "{told}");
    assert_eq!(site.count(links), half);
    // Each was linked once.
    let linked = "SELECT count(*) FROM audit WHERE action = 'update'";
    assert_eq!(site.count(linked), half);
    let told = site.told(&["import", "--undo", "1"]);
    assert_eq!(told["left"], json!(0), "{told}");
    assert_eq!(site.count("SELECT count(*) FROM delegates"), 0);

    let (site, list) = prepared();
    kill_while_linking(&site, &list);
    let told = site.told(&["import", "--undo", "1"]);
    assert_eq!(told["left"], json!(0), "{told}");
    assert_eq!(site.count("SELECT count(*) FROM delegates"), 0);
}
