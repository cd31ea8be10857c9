//! Rows that refer to others of their list, wherever those stand.

use super::{Site, kill_when};
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
    // Linking is part of the import: nothing was changed since. A ring goes as one.
    let told = site.told(&["import", "--undo", "1"]);
    assert_eq!((&told["removed"], &told["left"]), (&json!(4), &json!(0)));
    assert_eq!(site.count("SELECT count(*) FROM delegates"), 0);

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
    let list = site.file(
        "list.csv",
        format!("barcode,previous\n{}\n", list.join("\n")),
    );
    site.done(&["import", "delegates", &list]);
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
        let list = site.file(&format!("{n}.csv"), format!("barcode,firstName\n{rows}\n"));
        site.done(&["import", "delegates", &list, "--key", "barcode"]);
    }
    for id in ["3", "2"] {
        let told = site.told(&["import", "--undo", id]);
        assert_eq!(told["left"], json!(0), "{told}");
        assert_eq!(Some(site.exported("delegates")), dumps.pop(), "{id}");
    }
    site.told(&["import", "--undo", "1"]);
    assert_eq!(site.count("SELECT count(*) FROM delegates"), 0);
    // In another order: what is gone needs not be put back, and what was changed since is left.
    let first = site.file("first.csv", "barcode,firstName\nx1,A\ny1,B\n");
    let second = site.file("second.csv", "barcode,firstName\nx1,A2\ny1,B\n");
    site.done(&["import", "delegates", &first]);
    site.done(&["import", "delegates", &second, "--key", "barcode"]);
    assert!(
        site.refused(&["import", "--undo", "4"])
            .contains("was changed since")
    );
    assert!(
        site.done(&["import", "--list"])
            .contains("taken back in part")
    );
    site.done(&["import", "--undo", "5"]);
    site.done(&["import", "--undo", "4"]);
    assert_eq!(site.count("SELECT count(*) FROM delegates"), 0);
    assert!(!site.done(&["import", "--list"]).contains("in part"));
}

#[test]
fn what_cannot_be_put_back_is_left_and_named() {
    let site = Site::new();
    let import = |name: &str, rows: &str| {
        let list = site.file(name, rows);
        site.done(&["import", "delegates", &list, "--key", "barcode"]);
    };
    import("1.csv", "barcode,parent\nB,\nA,barcode:B\n");
    import("2.json", r#"[{"barcode": "A", "parent": null}]"#);
    import("3.json", r#"[{"barcode": "B", "parent": "barcode:A"}]"#);
    let told = site.refused(&["import", "--undo", "2"]);
    assert!(
        told.contains("referred to a record that is gone, or below it"),
        "{told}"
    );
    assert_eq!(
        site.count("SELECT count(*) FROM delegates WHERE parent_id IS NULL"),
        1
    );
    // A device that a till sold is used, and one that an import was made for is not any more when
    // that was taken back.
    let devices = site.file(
        "devices.csv",
        "code,name\nhall,Hall\nbeer,Beer\nwine,Wine\n",
    );
    site.done(&["import", "devices", &devices]);
    let list = site.file("list.csv", "barcode\nZ\n");
    site.done(&["import", "delegates", &list, "--device", "code:hall"]);
    site.open()
        .execute_batch(
            "INSERT INTO clients (client_id, secret_hash, name, roles, scopes, device_id, created_at)
             VALUES ('c', x'', 'c', '[]', '[]', (SELECT id FROM devices WHERE code = 'beer'), 0)",
        )
        .expect("a client");
    site.done(&["import", "--undo", "5"]);
    let told = site.refused(&["import", "--undo", "4"]);
    assert!(told.contains("was used since"), "{told}");
    assert_eq!(site.text("SELECT group_concat(code) FROM devices"), "beer");
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
fn a_record_that_has_a_reference_gets_the_new_one() {
    let site = Site::new();
    let first = site.file("first.csv", "barcode,previous\nold,\nx,barcode:old\n");
    site.done(&["import", "delegates", &first]);
    let second = site.file("second.csv", "barcode,previous\nx,barcode:new\nnew,\n");
    site.done(&["import", "delegates", &second, "--key", "barcode"]);
    let previous = "SELECT p.barcode FROM delegates d JOIN delegates p ON p.id = d.previous_id";
    assert_eq!(site.text(previous), "new");
    // Taken back in one go, rings with what was there before as well.
    let ring = site.file("ring.csv", "barcode,previous\na,barcode:x\nx,barcode:a\n");
    site.done(&["import", "delegates", &ring, "--key", "barcode"]);
    for id in ["3", "2"] {
        let told = site.told(&["import", "--undo", id]);
        assert_eq!(told["left"], json!(0), "{told}");
    }
    assert_eq!(site.text(previous), "old");
}

#[test]
fn an_import_that_is_taken_back_while_it_goes_on_ends() {
    let (site, list) = prepared();
    let file = site.open();
    file.busy_timeout(Duration::from_secs(5))
        .expect("a timeout");
    let written = || {
        let sql = "SELECT count(*) FROM delegates";
        file.query_row(sql, [], |row| row.get::<_, i64>(0))
            .expect(sql)
    };
    let child = site.start(&["import", "delegates", &list]);
    while written() == 0 {
        std::thread::sleep(Duration::from_millis(1));
    }
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
    let file = site.open();
    file.busy_timeout(Duration::from_secs(5))
        .expect("a timeout");
    let written = || {
        let sql = "SELECT count(*) FROM delegates";
        file.query_row(sql, [], |row| row.get::<_, usize>(0))
            .expect(sql)
    };
    let child = site.start(&["import", "delegates", &list]);
    while written() == 0 {
        std::thread::sleep(Duration::from_millis(1));
    }
    let other = site.run(&["import", "--resume", "1"]);
    let outputs = [child.wait_with_output().expect("it ends"), other];
    // One of them ends, or the first one was through before.
    assert!(outputs.iter().any(|output| output.status.success()));
    for output in outputs.iter().filter(|output| !output.status.success()) {
        let told = String::from_utf8_lossy(&output.stderr);
        let expected = ["is gone on with elsewhere", "is complete"];
        assert!(expected.iter().any(|one| told.contains(one)), "{told}");
    }
    assert_eq!(written(), ROWS);
    let linked = "SELECT count(*) FROM delegates WHERE parent_id IS NOT NULL";
    assert_eq!(
        site.count(linked),
        i64::try_from(ROWS / 2).expect("a number")
    );
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
        "line 2, column \"parent\": parent: stands in line 3, which is bad",
        "line 3, column \"parent\": parent: there is no delegate barcode:X, nor in this list",
        "line 6, column \"parent\": parent: is this row itself, stands below it",
        "line 7, column \"parent\": parent: is this row itself, stands below it",
        "line 8, column \"parent\": parent: is this row itself, stands below it",
    ] {
        assert!(told.contains(expected), "{expected}: {told}");
    }
    assert_eq!(told.matches("bad: line ").count(), 5, "{told}");
    assert_eq!(site.count("SELECT count(*) FROM delegates"), 0);
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
                    told.contains("at most 100 generations"),
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
    let first = site.file("first.csv", chain(60, ""));
    site.done(&["import", "delegates", &first]);
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
    let first = site.file("first.csv", "barcode,parent\nB,\nA,barcode:B\n");
    site.done(&["import", "delegates", &first]);
    // Both ways at once would be a ring.
    let ring = site.file("ring.csv", "barcode,parent\nA,barcode:B\nB,barcode:A\n");
    let told = site.refused(&["import", "delegates", &ring, "--key", "barcode"]);
    assert!(told.contains("stands below it"), "{told}");
    let turned = r#"[{"barcode": "A", "parent": null}, {"barcode": "B", "parent": "barcode:A"}]"#;
    let turned = site.file("turned.json", turned);
    site.done(&["import", "delegates", &turned, "--key", "barcode"]);
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
    let first = site.file("first.csv", first);
    site.done(&["import", "delegates", &first]);
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
        "line 1: parent: is this row itself, stands below it",
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
fn what_another_import_would_put_back_keeps_what_that_refers_to() {
    let site = Site::new();
    let first = site.file("first.csv", "barcode,parent\nP,\nA,barcode:P\nB,\n");
    let second = site.file("second.csv", "barcode,parent\nA,barcode:B\n");
    site.done(&["import", "delegates", &first]);
    site.done(&["import", "delegates", &second, "--key", "barcode"]);
    let told = site.refused(&["import", "--undo", "1"]);
    assert!(
        told.contains("line 2: delegate 1 is referred to by what another import can put back"),
        "{told}"
    );
    site.told(&["import", "--undo", "2"]);
    let told = site.told(&["import", "--undo", "1"]);
    assert_eq!((&told["removed"], &told["left"]), (&json!(3), &json!(0)));
}

#[test]
fn a_row_that_changed_nothing_puts_nothing_back() {
    let site = Site::new();
    for (name, rows) in [("1.csv", "A,Ann"), ("2.csv", "A,Anna"), ("3.csv", "A,Anna")] {
        let list = site.file(name, format!("barcode,firstName\n{rows}\n"));
        site.done(&["import", "delegates", &list, "--key", "barcode"]);
    }
    for (id, expected) in [("2", "Ann"), ("3", "Ann")] {
        let told = site.told(&["import", "--undo", id]);
        assert_eq!(told["left"], json!(0), "{told}");
        assert_eq!(site.text("SELECT first_name FROM delegates"), expected);
    }
    // But when it was changed.
    let changed = "SELECT updated_at FROM delegates";
    let before = site.count(changed);
    let list = site.file("4.csv", "barcode,firstName\nA,Ann\n");
    site.done(&["import", "delegates", &list, "--key", "barcode"]);
    assert_ne!(site.count(changed), before);
    site.told(&["import", "--undo", "4"]);
    assert_eq!(site.count(changed), before);
}

const ROWS: usize = 3_000;

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
    let file = site.open();
    file.busy_timeout(Duration::from_secs(5))
        .expect("a timeout");
    let linked = || {
        let sql = "SELECT count(*) FROM delegates WHERE parent_id IS NOT NULL";
        file.query_row(sql, [], |row| row.get::<_, i64>(0))
            .expect(sql)
    };
    kill_when(child, || linked() > 0);
}

#[test]
fn an_import_that_was_killed_while_it_linked_is_completed_or_taken_back() {
    let links = "SELECT count(*) FROM delegates d JOIN delegates p ON p.id = d.parent_id
                 WHERE CAST(p.barcode AS INTEGER) = CAST(d.barcode AS INTEGER) + 1";
    let (site, list) = prepared();
    kill_while_linking(&site, &list);
    let half = i64::try_from(ROWS / 2).expect("a number");
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
fn a_record_that_another_import_changed_before_it_was_linked_is_taken_back() {
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
    let told = site.told(&["import", "--undo", "2"]);
    assert_eq!(told["left"], json!(0), "{told}");
    assert_eq!(site.count(&parent), 1);
    let told = site.told(&["import", "--undo", "1"]);
    assert_eq!(told["left"], json!(0), "{told}");
    assert_eq!(site.count("SELECT count(*) FROM delegates"), 0);
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
    let file = site.open();
    file.busy_timeout(Duration::from_secs(5))
        .expect("a timeout");
    let written = || {
        let sql = "SELECT count(*) FROM delegates";
        file.query_row(sql, [], |row| row.get::<_, i64>(0))
            .expect(sql)
    };
    kill_when(child, || written() > 0);
    // It was told then.
    let told = site.told(&["import", "--resume", "1"]);
    assert_eq!(told["badRows"], json!(0), "{told}");
    assert_eq!(
        site.count("SELECT count(*) FROM delegates"),
        i64::try_from(ROWS).expect("a number") + 1
    );
}
