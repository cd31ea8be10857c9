//! Importing over what is there: `--key`, `--join`, and what searches and people see of a batch.

use super::{Site, lines};
use crate::harness::{Agrees, has};
use serde_json::json;

fn prepared() -> Site {
    let site = Site::new();
    site.import("devices", "devices.csv", "code,name\nhall,Hall\n", &[]);
    site.import(
        "delegates",
        "first.csv",
        "barcode,First name,Company,Diet,slug\nA,Ada,Analytical,vegan,a\nB,Bob,Builders,,b\n",
        &[],
    );
    site
}

#[test]
fn a_row_with_a_known_key_changes_that_record_and_empty_cells_change_nothing() {
    let site = prepared();
    let second = site.file(
        "second.csv",
        "barcode,First name,Company,Diet\nA,,Engines,\nC,Cy,,halal\n",
    );
    let told = site.refused(&["import", "delegates", &second]);
    has(
        &told,
        "line 2, column \"barcode\": barcode: already used by the delegate with id 1",
    );
    let told = site.told(&["import", "delegates", &second, "--key", "barcode"]);
    told.agrees(&json!({"created": 1, "updated": 1, "known": 1}));
    let found = site.exported("delegates");
    assert_eq!(found.len(), 3);
    assert_eq!(found[0]["firstName"], json!("Ada"));
    found[0].agrees(&json!({"company": "Engines", "data": {"Data": {"Diet": "vegan"}}}));
    // Who changed it, from what to what.
    let audited = site.text(
        "SELECT before || after FROM audit WHERE action = 'update' AND record_type = 'delegate'",
    );
    assert_eq!(audited, r#"{"company":"Analytical"}{"company":"Engines"}"#);
    assert_eq!(
        site.text("SELECT actor FROM audit ORDER BY id DESC LIMIT 1"),
        "import:second.csv"
    );
}

#[test]
fn a_key_that_cannot_match_is_refused() {
    let site = prepared();
    let list = site.file("list.csv", "barcode,slug\nA,b\n,x\n");
    for (key, told) in [
        ("barcode", "slug: already used by the delegate with id 2"),
        ("barcode", "line 3, column \"barcode\": barcode: is empty"),
        ("rfid", "no column is rfid"),
        ("firstName", "no unique code"),
    ] {
        let found = site.refused(&["import", "delegates", &list, "--key", key]);
        assert!(found.contains(told), "{key}: {found}");
    }
    let found = site.refused(&["import", "delegates", &list, "--join", "code:nowhere"]);
    has(&found, "--join: there is no device");
}

#[test]
fn everybody_is_joined_once() {
    let site = prepared();
    for round in 0..2 {
        site.import(
            "delegates",
            "list.csv",
            format!("barcode,First name\nA,\nB,\nC,C{round}\n"),
            &["--key", "barcode", "--join", "code:hall", "--device", "1"],
        );
        let joins = "SELECT count(*) FROM interactions WHERE interaction_type = 'join' AND first_device_id = 1";
        assert_eq!(site.count(joins), 3);
    }
    let batches = site.told(&["import", "--list"]);
    batches[0].agrees(&json!({"device": 1, "state": "complete"}));
    assert_eq!(batches.as_array().map(Vec::len), Some(4));
}

#[test]
fn good_rows_go_in_where_bad_ones_may_be_left_out() {
    let site = prepared();
    let rows = lines(300, |n| {
        format!("X{n},\n{},bad", if n < 150 { "A" } else { "" })
    });
    let list = site.file("list.csv", format!("barcode,slug\n{rows}"));
    let told = site.refused(&["import", "delegates", &list]);
    // Where nobody reads along, every one.
    assert_eq!(told.matches("bad: line ").count(), 299, "{told}");
    has(&told, "299 of 600 rows are bad");
    assert_eq!(site.rows("delegates"), 2);
    assert_eq!(site.rows("batches"), 2);
    let told = site.told(&["import", "delegates", &list, "--skip-bad"]);
    assert_eq!(told["created"], json!(301));
    assert_eq!(site.rows("delegates"), 303);
    assert_eq!(site.rows("batch_rows WHERE batch_id = 3"), 301);
}

#[test]
fn a_device_that_is_no_event_is_not_taken_for_one() {
    let site = Site::new();
    site.import(
        "devices",
        "first.csv",
        "code,name,deviceType\nhall,Hall,room\n",
        &[],
    );
    let second = site.file(
        "second.csv",
        "_type,code,eventName\nevent,hall,Big\nevent,new,New\n",
    );
    let told = site.refused(&["import", "devices", &second, "--key", "code"]);
    has(
        &told,
        "line 2, column \"code\": code: is that of device 1, which is no event",
    );
    assert_eq!(site.rows("devices"), 1);
}

#[test]
fn one_list_is_imported_once_also_by_two_commands_at_once() {
    let site = Site::new();
    site.done(&["client", "add", "gate", "--gate"]);
    let list = site.file(
        "list.csv",
        format!("firstName\n{}", lines(2_000, |n| format!("N{n}"))),
    );
    let both = [(); 2].map(|()| site.start(&["import", "delegates", &list]));
    let outputs = both.map(|child| child.wait_with_output().expect("it ends"));
    let (done, refused): (Vec<_>, Vec<_>) =
        outputs.iter().partition(|output| output.status.success());
    assert_eq!((done.len(), refused.len()), (1, 1), "{outputs:?}");
    let told = String::from_utf8_lossy(&refused[0].stderr);
    assert!(
        told.contains("an import of this file") || told.contains("imported already"),
        "{told}"
    );
    assert_eq!(site.rows("delegates"), 2_000);
}
