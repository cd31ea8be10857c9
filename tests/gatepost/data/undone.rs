//! Imports that refer to records, and change them one over the other, taken back.

use super::Site;
use crate::harness::{has, lacks};
use serde_json::json;

#[test]
fn an_import_with_crossed_references_is_taken_back_in_a_moment() {
    let site = Site::new();
    // Each refers to the next one, which stands now above and now below it.
    let rows = 2_000_i64;
    let place = |n: i64| if n % 2 == 0 { n / 2 } else { rows - 1 - n / 2 };
    let mut list = vec![String::new(); usize::try_from(rows).expect("a number")];
    for n in 0..rows {
        let previous = if n == 0 {
            String::new()
        } else {
            format!("barcode:{}", n - 1)
        };
        list[usize::try_from(place(n)).expect("a place")] = format!("{n},{previous}");
    }
    site.import(
        "delegates",
        "list.csv",
        format!("barcode,previous\n{}\n", list.join("\n")),
        &[],
    );
    let told = site.told(&["import", "--undo", "1"]);
    assert_eq!((&told["removed"], &told["left"]), (&json!(rows), &json!(0)));
}

#[test]
fn imports_over_each_other_are_taken_back_one_after_the_other() {
    let site = Site::new();
    let mut dumps = Vec::new();
    for (n, rows) in ["d1,Ann\nd2,Bob", "d1,Anna\nd3,Cy", "d1,Anne\nd2,Bo"]
        .iter()
        .enumerate()
    {
        if n > 0 {
            dumps.push(site.exported("delegates"));
        }
        site.import(
            "delegates",
            &format!("{n}.csv"),
            format!("barcode,firstName\n{rows}\n"),
            &["--key", "barcode"],
        );
    }
    for id in ["3", "2"] {
        let told = site.told(&["import", "--undo", id]);
        assert_eq!(told["left"], json!(0), "{told}");
        assert_eq!(Some(site.exported("delegates")), dumps.pop(), "{id}");
    }
    let told = "audit WHERE record_type = 'delegate'";
    assert!(site.rows(told) > 0);
    site.told(&["import", "--undo", "1"]);
    assert_eq!((site.rows("delegates"), site.rows(told)), (0, 0));
    // In another order: what is gone needs not be put back, and what was changed since is left.
    let first = site.file("first.csv", "barcode,firstName\nx1,A\ny1,B\n");
    let second = site.file("second.csv", "barcode,firstName\nx1,A2\ny1,B\n");
    site.done(&["import", "delegates", &first]);
    site.done(&["import", "delegates", &second, "--key", "barcode"]);
    has(
        site.refused(&["import", "--undo", "4"]),
        "was changed since",
    );
    has(site.done(&["import", "--list"]), "taken back in part");
    site.done(&["import", "--undo", "5"]);
    site.done(&["import", "--undo", "4"]);
    assert_eq!(site.rows("delegates"), 0);
    lacks(site.done(&["import", "--list"]), "in part");
}

#[test]
fn what_cannot_be_put_back_is_left_and_named() {
    let site = Site::new();
    let import = |name: &str, rows: &str| {
        site.import("delegates", name, rows, &["--key", "barcode"]);
    };
    import("1.csv", "barcode,parent\nB,\nA,barcode:B\n");
    import("2.json", r#"[{"barcode": "A", "parent": null}]"#);
    import("3.json", r#"[{"barcode": "B", "parent": "barcode:A"}]"#);
    let told = site.refused(&["import", "--undo", "2"]);
    has(&told, "referred to a record that is gone, or below it");
    assert_eq!(site.rows("delegates WHERE parent_id IS NULL"), 1);
    // A device that a till sold is used, and one that an import was made for is not any more when
    // that was taken back.
    let devices = site.file(
        "devices.csv",
        "code,name\nhall,Hall\nbeer,Beer\nwine,Wine\n",
    );
    site.done(&["import", "devices", &devices]);
    site.import(
        "delegates",
        "list.csv",
        "barcode\nZ\n",
        &["--device", "code:hall"],
    );
    site.open()
        .execute_batch(
            "INSERT INTO clients (client_id, secret_hash, name, roles, scopes, device_id, created_at)
             VALUES ('c', x'', 'c', '[]', '[]', (SELECT id FROM devices WHERE code = 'beer'), 0)",
        )
        .expect("a client");
    site.done(&["import", "--undo", "5"]);
    has(site.refused(&["import", "--undo", "4"]), "was used since");
    assert_eq!(site.text("SELECT group_concat(code) FROM devices"), "beer");
}

#[test]
fn a_row_that_changed_nothing_puts_nothing_back() {
    let site = Site::new();
    for (name, rows) in [("1.csv", "A,Ann"), ("2.csv", "A,Anna"), ("3.csv", "A,Anna")] {
        site.import(
            "delegates",
            name,
            format!("barcode,firstName\n{rows}\n"),
            &["--key", "barcode"],
        );
    }
    for (id, expected) in [("2", "Ann"), ("3", "Ann")] {
        let told = site.told(&["import", "--undo", id]);
        assert_eq!(told["left"], json!(0), "{told}");
        assert_eq!(site.text("SELECT first_name FROM delegates"), expected);
    }
    // But when it was changed.
    let changed = "SELECT updated_at FROM delegates";
    let before = site.count(changed);
    site.import(
        "delegates",
        "4.csv",
        "barcode,firstName\nA,Bea\n",
        &["--key", "barcode"],
    );
    assert_ne!(site.count(changed), before);
    site.told(&["import", "--undo", "4"]);
    assert_eq!(site.count(changed), before);
}
