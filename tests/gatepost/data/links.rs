//! Rows that refer to others of their list, wherever those stand: what is written, what is told.

use super::Site;
use crate::harness::{Agrees, has};
use serde_json::{Value, json};
use std::fmt::Write;

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
    // Records in a circle are left, each with one that refers to it.
    let told = site.refused(&["import", "--undo", "1"]);
    for (line, other) in [(1, "[24]"), (2, "1"), (3, "1"), (4, "3")] {
        let expected = format!("line {line}: delegate {line} is referred to by delegate ");
        let (_, after) = told.split_once(&expected).expect(&told);
        assert!(other.contains(&after[..1]), "{line}: {told}");
    }
    // Linking is part of the import: nothing was changed since.
    site.open()
        .execute_batch("UPDATE delegates SET parent_id = NULL, previous_id = NULL, owner_id = NULL")
        .expect("no references");
    let told = site.told(&["import", "--undo", "1"]);
    assert_eq!((&told["removed"], &told["left"]), (&json!(4), &json!(0)));
    assert_eq!(site.rows("delegates"), 0);

    // Somebody used one of them: what it refers to stays with it.
    site.done(&["import", "delegates", &list]);
    site.open()
        .execute_batch(
            "INSERT INTO interactions (interaction_type, first_delegate_id, recorded_at, created_at)
             SELECT 'seen', id, 0, 0 FROM delegates WHERE barcode = 'C'",
        )
        .expect("an interaction");
    site.refused(&["import", "--undo", "2"]);
    let left = "SELECT group_concat(barcode, '') FROM delegates";
    assert_eq!(site.text(left), "ABCD");
}

#[test]
fn a_record_of_the_file_is_meant_before_one_of_the_list_is_looked_for() {
    let site = Site::new();
    site.import("devices", "first.csv", "code,name\nhall,Hall\n", &[]);
    site.import(
        "devices",
        "second.csv",
        "code,name,parent\nroom,Room,code:hall\nhall,New hall,code:house\nhouse,House,\n",
        &["--key", "code"],
    );
    let names = "SELECT group_concat(concat_ws(' ', d.name, p.name), '; ')
                 FROM devices d LEFT JOIN devices p ON p.id = d.parent_id";
    assert_eq!(site.text(names), "New hall House; Room New hall; House");
    let told = site.told(&["import", "--undo", "2"]);
    told.agrees(&json!({"removed": 2, "restored": 1}));
    assert_eq!(site.text(names), "Hall");
}

#[test]
fn a_record_that_has_a_reference_gets_the_new_one() {
    let site = Site::new();
    site.import(
        "delegates",
        "first.csv",
        "barcode,previous\nold,\nx,barcode:old\n",
        &[],
    );
    site.import(
        "delegates",
        "second.csv",
        "barcode,previous\nx,barcode:new\nnew,\n",
        &["--key", "barcode"],
    );
    let previous = "SELECT p.barcode FROM delegates d JOIN delegates p ON p.id = d.previous_id";
    assert_eq!(site.text(previous), "new");
    // Taken back in one go, rings with what was there before as well.
    site.import(
        "delegates",
        "ring.csv",
        "barcode,previous\na,barcode:x\nx,barcode:a\n",
        &["--key", "barcode"],
    );
    for id in ["3", "2"] {
        let told = site.told(&["import", "--undo", id]);
        assert_eq!(told["left"], json!(0), "{told}");
    }
    assert_eq!(site.text(previous), "old");
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
    has(
        &told,
        [
            "line 2, column \"parent\": parent: stands in line 3, which is bad",
            "line 3, column \"parent\": parent: there is no delegate barcode:X, nor in this list",
            "line 6, column \"parent\": parent: a row cannot stand below itself",
            "line 7, column \"parent\": parent: a row cannot stand below itself",
            "line 8, column \"parent\": parent: a row cannot stand below itself",
        ],
    );
    assert_eq!(told.matches("bad: line ").count(), 5, "{told}");
    assert_eq!(site.rows("delegates"), 0);
    let told = site.told(&["import", "delegates", &list, "--skip-bad"]);
    assert_eq!((&told["created"], &told["badRows"]), (&json!(2), &json!(5)));
    assert_eq!(
        site.text("SELECT group_concat(barcode, '') FROM delegates"),
        "CD"
    );
    let linked = "SELECT count(*) FROM delegates WHERE barcode = 'C' AND parent_id = 2";
    assert_eq!(site.count(linked), 1);
}

#[test]
fn who_stands_below_a_bad_row_is_bad_too() {
    let site = Site::new();
    let list = site.file(
        "list.csv",
        "barcode,parent\nC,barcode:B\nA,barcode:X\nB,barcode:A\nD,barcode:C\nE,\n",
    );
    let told = site.told(&["import", "delegates", &list, "--dry-run", "--skip-bad"]);
    assert_eq!(told["badRows"], json!(4), "{told}");
    let told = site.told(&["import", "delegates", &list, "--skip-bad"]);
    assert_eq!((&told["created"], &told["badRows"]), (&json!(1), &json!(4)));
}

#[test]
fn a_hundred_generations_may_stand_above_a_row() {
    let chain = |rows: usize| -> Vec<String> {
        let row = |n: usize| match n {
            0 => "0,".to_owned(),
            n => format!("{n},barcode:{}", n - 1),
        };
        (0..rows).map(row).collect()
    };
    for (rows, bad) in [(101, 0), (102, 1)] {
        for reversed in [false, true] {
            let site = Site::new();
            let mut lines = chain(rows);
            if reversed {
                lines.reverse();
            }
            let list = site.file(
                "list.csv",
                format!("barcode,parent\n{}\n", lines.join("\n")),
            );
            if bad == 0 {
                let told = site.told(&["import", "delegates", &list]);
                assert_eq!(told["created"], json!(rows), "{reversed}");
            } else {
                let told = site.refused(&["import", "delegates", &list, "--dry-run"]);
                assert!(
                    told.contains("more than 100 generations"),
                    "{reversed}: {told}"
                );
            }
        }
    }
}

/// Delegates `0` to `rows - 1`, each below the one before; the first below `top`, where there is one.
fn chain(rows: usize, top: &str) -> String {
    let mut list = format!("barcode,parent\n0,{top}\n");
    for n in 1..rows {
        let _ = writeln!(list, "{n},barcode:{}", n - 1);
    }
    list
}

#[test]
fn generations_of_the_file_count_with_those_of_the_list() {
    let site = Site::new();
    site.import("delegates", "first.csv", chain(60, ""), &[]);
    for (rows, bad) in [(41, 0), (42, 1)] {
        let below = chain(rows, "barcode:59").replace('\n', "\nx");
        let below = below.trim_end_matches('x').replace("barcode:", "barcode:x");
        let below = below.replacen("barcode:x59", "barcode:59", 1);
        let list = site.file(&format!("{rows}.csv"), below);
        let told = site.told(&["import", "delegates", &list, "--dry-run", "--skip-bad"]);
        assert_eq!(told["badRows"], json!(bad), "{rows}: {told}");
        let told = site.told(&["import", "delegates", &list, "--skip-bad"]);
        assert_eq!(told["created"], json!(41), "{rows}: {told}");
        site.told(&["import", "--undo", &told["batch"].to_string()]);
    }
}

#[test]
fn what_the_list_says_of_a_parent_counts_and_not_what_the_file_still_does() {
    let site = Site::new();
    site.import(
        "delegates",
        "first.csv",
        "barcode,parent\nB,\nA,barcode:B\n",
        &[],
    );
    // Both ways at once would be a ring.
    let ring = site.file("ring.csv", "barcode,parent\nA,barcode:B\nB,barcode:A\n");
    let told = site.refused(&["import", "delegates", &ring, "--key", "barcode"]);
    has(&told, "cannot stand below itself");
    let turned = r#"[{"barcode": "A", "parent": null}, {"barcode": "B", "parent": "barcode:A"}]"#;
    site.import("delegates", "turned.json", turned, &["--key", "barcode"]);
    let parents = "SELECT group_concat(concat_ws(' ', barcode, parent_id), ',') FROM delegates";
    assert_eq!(site.text(parents), "B 2,A");
    // Whichever stands further up.
    let again = r#"[{"barcode": "B", "parent": null}, {"barcode": "A", "parent": "barcode:B"}]"#;
    let mut rows: Vec<Value> = serde_json::from_str(again).expect("JSON");
    rows.reverse();
    let again = site.file("again.json", Value::from(rows).to_string());
    let told = site.told(&["import", "delegates", &again, "--key", "barcode"]);
    assert_eq!(told["updated"], json!(2), "{told}");
    assert_eq!(site.text(parents), "B,A 1");
    site.told(&["import", "--undo", "3"]);
    assert_eq!(site.text(parents), "B 2,A");
    // However the parent is named.
    let by_id = r#"[{"barcode": "A", "parent": {"id": 1}}, {"barcode": "B", "parent": null}]"#;
    let by_id = site.file("by_id.json", by_id);
    site.told(&["import", "delegates", &by_id, "--key", "barcode"]);
    assert_eq!(site.text(parents), "B,A 1");
}

#[test]
fn the_check_sees_what_the_file_says_where_the_list_is_silent() {
    let site = Site::new();
    let first = "barcode,externalId,parent\nB,old,\nA,,barcode:B\n";
    site.import("delegates", "first.csv", first, &[]);
    let list = r#"[
        {"barcode": "B", "externalId": "new", "parent": "barcode:A"},
        {"barcode": "A", "firstName": "Ann"},
        {"barcode": "C", "owner": "externalId:old"},
        {"barcode": "D", "owner": "externalId:new"},
        {"barcode": "E", "owner": "barcode:C"}
    ]"#;
    let list = site.file("list.json", list);
    let told = site.refused(&["import", "delegates", &list, "--key", "barcode"]);
    for expected in [
        // A stands below B in the file, and the list leaves it there.
        "line 1: parent: a row cannot stand below itself",
        // That row changes the code.
        "line 3: owner: there is no delegate externalId:old, nor in this list",
        // The code comes with a row that is bad.
        "line 4: owner: stands in line 1, which is bad",
        "line 5: owner: stands in line 3, which is bad",
    ] {
        assert!(told.contains(expected), "{expected}: {told}");
    }
    let args = [
        "import",
        "delegates",
        &list,
        "--key",
        "barcode",
        "--skip-bad",
    ];
    let dry = site.told(&[&args[..], &["--dry-run"]].concat());
    let told = site.told(&args);
    assert_eq!(
        (&told["updated"], &told["badRows"]),
        (&json!(1), &json!(4)),
        "{told}"
    );
    assert_eq!(dry["badRows"], told["badRows"]);
}

#[test]
fn bad_rows_that_leave_others_without_a_place_one_after_the_other_are_all_told() {
    let site = Site::new();
    let (mut first, mut second) = (String::from("barcode,parent\n"), String::new());
    // Each bad row leaves one record where it is, which makes a ring with the next.
    for n in 0..60 {
        let _ = write!(first, "r{n},\nc{n},barcode:r{n}\n");
        let wanted = match n {
            0 => "nowhere".to_owned(),
            n => format!("x{}", n - 1),
        };
        let _ = write!(
            second,
            "c{n},barcode:root,externalId:{wanted},\nr{n},barcode:c{n},,x{n}\n"
        );
    }
    site.import("delegates", "first.csv", first, &[]);
    let second = format!("barcode,parent,previous,externalId\n{second}root,,,\n");
    let second = site.file("second.csv", second);
    let args = [
        "import",
        "delegates",
        &second,
        "--key",
        "barcode",
        "--skip-bad",
    ];
    let dry = site.told(&[&args[..], &["--dry-run"]].concat());
    assert_eq!(dry["badRows"], json!(120), "{dry}");
    let told = dry["bad"].to_string();
    has(&told, "cannot be told before the other bad rows are mended");
    let told = site.told(&args);
    told.agrees(&json!({"created": 1, "badRows": 120}));
}
