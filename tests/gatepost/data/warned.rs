//! What an import warns about and does for people: doubtful columns and addresses, lists without names or
//! codes, codes that are made, and joining everybody afterwards.

use super::{Site, lines};
use crate::harness::{Agrees, has};
use serde_json::json;

#[test]
fn what_is_doubtful_is_told_and_keeps_no_row_out() {
    let site = Site::new();
    let list = site.file(
        "list.csv",
        "Nachname/Familienname,Mail Adresse (privat),Handy privat?,Newsletter e-mail\n\
         Lovelace,ada@example.org,0170 1,yes\nBabbage,charles@,,no\n,eve@example.org,,\n",
    );
    let told = site.told(&["import", "delegates", &list, "--dry-run"]);
    let columns = json!([
        {"header": "Nachname/Familienname", "property": "lastName"},
        {"header": "Mail Adresse (privat)", "property": "email"},
        {"header": "Handy privat?", "property": "phone"},
        {"header": "Newsletter e-mail", "property": "data.Data.Newsletter e-mail"},
    ]);
    assert_eq!(told["columns"], columns);
    told.agrees(&json!({"encoding": "UTF-8", "badRows": 0}));
    let warnings = told["warnings"].to_string();
    has(
        &warnings,
        [
            "no column is a ticket code",
            "1 of 3 new attendees have no name",
            "1 e-mail addresses are not valid",
        ],
    );
    told["doubtful"][0].agrees(&json!({"line": 3, "column": "Mail Adresse (privat)"}));
    // The guest comes in all the same.
    site.done(&["import", "delegates", &list]);
    assert_eq!(site.exported("delegates")[1]["email"], json!("charles@"));

    let list = site.file(
        "other.csv",
        "barcode,Newsletter e-mail,Ticket code\nA,yes,B\n",
    );
    let told = site.done(&["import", "delegates", &list, "--dry-run"]);
    has(
        &told,
        [
            "warning: the column \"Newsletter e-mail\" goes into other data; if it is the email",
            "warning: the column \"Ticket code\" goes into other data; \"barcode\" is the barcode already",
            "warning: no column is a first name or a last name",
        ],
    );
}

#[test]
fn a_tag_that_no_reader_can_send_is_warned_about() {
    let site = Site::new();
    let list = site.file("list.csv", "barcode,uhfId\nA,E2 80\nB,E280\nC,\n");
    let told = site.told(&["import", "delegates", &list]);
    let warnings = told["warnings"].to_string();
    has(&warnings, ["1 tags (uhfId) are not hexadecimal"]);
}

#[test]
fn a_good_list_and_what_was_exported_are_warned_about_nothing() {
    let site = Site::new();
    let list = site.file("list.csv", "barcode,Name,E-Mail\nA,Ada,ada@example.org\n");
    let told = site.told(&["import", "delegates", &list]);
    assert_eq!(told["warnings"], json!([]));
    for format in ["csv", "json"] {
        let exported = site.path(&format!("exported.{format}"));
        site.done(&[
            "export",
            "delegates",
            "--format",
            format,
            "--output",
            &exported,
        ]);
        let told = site.told(&["import", "delegates", &exported, "--key", "barcode"]);
        assert_eq!(told["warnings"], json!([]), "{format}");
    }
    // A row that changes somebody needs no name.
    let key = site.file("key.csv", "barcode,company\nA,Engines\n");
    let told = site.told(&["import", "delegates", &key, "--key", "barcode"]);
    assert_eq!(
        told["warnings"],
        json!(["no column is a first name or a last name"])
    );
}

#[test]
fn a_code_is_made_for_everybody_without_one() {
    let site = Site::new();
    let rows = lines(200, |n| {
        format!("N{n},{}", if n == 7 { "OWN-7" } else { "" })
    });
    let list = site.file("list.csv", format!("Name,barcode\n{rows}"));
    let told = site.told(&["import", "delegates", &list, "--make-codes"]);
    told.agrees(&json!({"created": 200, "warnings": []}));
    assert_eq!(
        site.count("SELECT count(DISTINCT barcode) FROM delegates"),
        200
    );
    assert_eq!(
        site.text("SELECT barcode FROM delegates WHERE last_name = 'N7'"),
        "OWN-7"
    );
    let made = site.text("SELECT barcode FROM delegates WHERE last_name = 'N9'");
    let checked = site.told(&["barcode", "check", &made]);
    checked.agrees(&json!({"valid": true, "base": "B1", "sequence": 9}));
    // Searches find it, and taking the import back leaves none.
    let found = site.told(&["import", "--undo", "1"]);
    assert_eq!(found["removed"], json!(200));
    // Those who are there and have none get one; those who have one keep it.
    let list = site.file("first.csv", "externalId,Name,barcode\nx1,Ada,\nx2,Bob,B\n");
    site.done(&["import", "delegates", &list]);
    let key = [
        "import",
        "delegates",
        &list,
        "--key",
        "externalId",
        "--make-codes",
    ];
    site.done(&key);
    let codes = "SELECT count(barcode) + sum(barcode = 'B') FROM delegates";
    assert_eq!(site.count(codes), 3);
    let refused = site.refused(&["import", "devices", &list, "--make-codes"]);
    has(&refused, "only delegates have ticket codes");
}

#[test]
fn everybody_can_be_joined_with_an_event_that_is_made_later() {
    let site = Site::new();
    site.import(
        "delegates",
        "list.csv",
        format!("barcode,Name\n{}", lines(300, |n| format!("C{n},N{n}"))),
        &[],
    );
    site.import(
        "devices",
        "events.csv",
        "code,name,deviceType\ncongress,Congress,event\n",
        &[],
    );
    // Somebody is joined already.
    let one = site.file("one.csv", "barcode\nC5\n");
    let with = ["--key", "barcode", "--join", "code:congress"];
    site.done(&[&["import", "delegates", &one][..], &with].concat());
    let told = site.told(&["import", "--join", "code:congress", "--of", "1"]);
    told.agrees(&json!({"joined": 299, "skipped": 1}));
    let joins = "SELECT count(*) FROM interactions WHERE interaction_type = 'join'";
    assert_eq!(site.count(joins), 300);
    let again = site.told(&["import", "--join", "code:congress", "--of", "1"]);
    assert_eq!(again["joined"], json!(0));
    for (args, told) in [
        (["code:nowhere", "1"], "there is no device"),
        (["code:congress", "2"], "only delegates can be joined"),
        (["code:congress", "9"], "there is no import 9"),
    ] {
        let found = site.refused(&["import", "--join", args[0], "--of", args[1]]);
        assert!(found.contains(told), "{found}");
    }
    // Taken back, the import leaves no join behind.
    site.done(&["import", "--undo", "3"]);
    let undone = site.told(&["import", "--undo", "1"]);
    undone.agrees(&json!({"removed": 300, "left": 0}));
    assert_eq!(site.count(joins), 0);
    let found = site.refused(&["import", "--join", "code:congress", "--of", "1"]);
    has(&found, "is taken back");
}
