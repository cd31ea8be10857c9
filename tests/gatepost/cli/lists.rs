//! Lists in, by `gatepost import`.

use crate::{
    data::Site,
    faults::process::told,
    harness::{Server, has, lacks},
};
use serde_json::{Value, json};

const IMPORT: [&str; 3] = ["import", "delegates", "list.csv"];

/// A folder with a list in it.
fn with_list(list: &str) -> Site {
    let site = Site::new();
    site.file("list.csv", list);
    site
}

#[test]
fn the_sample_list_goes_in_by_its_headers_alone() {
    let site = Site::new();
    let list = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/attendees.csv");
    site.done(&["import", "delegates", list]);
    let text = std::fs::read_to_string(list).expect("the sample");
    let rows = i64::try_from(text.lines().count() - 1).expect("few");
    assert_eq!(site.rows("delegates"), rows);
    let incomplete =
        "delegates WHERE barcode IS NULL OR first_name IS NULL OR sources != '[\"import\"]'";
    assert_eq!(site.rows(incomplete), 0);
    // One row for all of them, and each has a number among the changes.
    assert_eq!(site.rows("audit WHERE action = 'create'"), 1);
    assert_eq!(
        site.count("SELECT count(DISTINCT change_id) FROM batch_rows"),
        rows
    );
}

#[test]
fn bad_rows_are_told_by_line_and_nothing_is_written() {
    let site = with_list("Barcode,First name\nA-1,Ada\nA-1,Bob\n,\nA-4,Dan,more\nA-5,Eve\n");
    let told = site.refused(&IMPORT);
    has(&told, ["line 3", "line 5"]);
    lacks(&told, "line 4");
    assert!(!site.db.exists() || site.rows("delegates") == 0);
    site.done(&[&IMPORT[..], &["--skip-bad"]].concat());
    assert_eq!(site.rows("delegates"), 2);
}

#[test]
fn a_tag_belongs_to_one_attendee_in_any_case() {
    let site = with_list("First name,uhfId\nAda,BEEF01\nBob,beef01\n");
    let check = [&IMPORT[..], &["--dry-run"]].concat();
    has(site.refused(&check), ["line 3", "uhfId"]);
    site.file("list.csv", "First name,uhfId\nAda,BEEF01\n");
    site.done(&IMPORT);
    site.file("list.csv", "First name,uhfId\nBob,beef01\n");
    has(site.refused(&check), ["line 2", "uhfId"]);
}

#[test]
fn whatever_comes_of_it_the_answer_in_json_is_one_document() {
    let site = with_list("Barcode,First name\nA-1,Ada\nA-1,Bob\n");
    let told = |args: &[&str], code: i32| -> Value {
        let output = site.run(&[args, &["--json"]].concat());
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        serde_json::from_slice(&output.stdout).expect("one document")
    };
    let refused = told(&IMPORT, 1);
    assert_eq!(
        (&refused["bad"][0]["line"], &refused["imported"]),
        (&json!(3), &json!(0))
    );
    has(
        refused["error"].as_str().expect("a sentence"),
        "1 of 2 rows are bad",
    );
    let taken = told(&[&IMPORT[..], &["--skip-bad"]].concat(), 0);
    assert_eq!((&taken["imported"], taken.get("error")), (&json!(1), None));
    told(&["import", "--resume", "99"], 1);

    told(&["user", "add", "ada@example.org"], 0);
    let removed = told(&["user", "remove", "ada@example.org"], 0);
    assert_eq!(removed["removed"]["email"], "ada@example.org");
    let again = told(&["user", "remove", "ada@example.org"], 1);
    assert!(again["error"].is_string());
}

#[test]
fn a_dry_run_writes_nothing() {
    let site = with_list("Ticket code;E-mail\nA-1;ada@example.org\n");
    has(
        site.done(&[&IMPORT[..], &["--dry-run"]].concat()),
        "barcode",
    );
    assert!(!site.db.exists());
}

#[test]
fn headers_are_mapped_and_unknown_columns_kept() {
    let site = with_list("Nummer,Wer,Menü\nA-1,Ada,vegan\n");
    let map = |more: &[&'static str]| [&IMPORT[..], &["--map"], more].concat();
    site.done(&map(&["Nummer=barcode", "--map", "Wer=firstName"]));
    let kept = "delegates WHERE barcode = 'A-1' AND first_name = 'Ada' AND data ->> '$.Data.Menü' = 'vegan'";
    assert_eq!(site.rows(kept), 1);
    let unknown = site.run(&map(&["Nummer=barcod"]));
    assert!(!unknown.status.success());
    has(String::from_utf8_lossy(&unknown.stderr), "barcod");
}

#[test]
fn the_same_list_goes_in_twice_only_when_that_is_said() {
    let site = with_list("First name\nAda\nBob\n");
    site.done(&IMPORT);
    has(site.refused(&IMPORT), "--again");
    // Another name is the same list.
    site.file("other.csv", "First name\nAda\nBob\n");
    site.refused(&["import", "delegates", "other.csv"]);
    assert_eq!(site.rows("delegates"), 2);
    site.done(&[&IMPORT[..], &["--again"]].concat());
    assert_eq!((site.rows("delegates"), site.rows("batches")), (4, 2));
}

#[test]
fn an_import_is_seen_by_a_server_on_the_file() {
    let (server, api) = Server::with_api();
    let rules = json!({"Access": {"ruleSet": "simple"}});
    let device = api.device(&json!({"name": "Hall", "code": "hall", "data": rules}));
    let list = server.folder.path().join("list.csv");
    std::fs::write(&list, "Barcode\nA-1\n").expect("a list");
    let import = [
        "import",
        "delegates",
        list.to_str().expect("a name"),
        "--join",
        "code:hall",
        "--json",
    ];
    told(&server.path(), &import);
    let scan = json!({"delegate": "barcode:A-1", "device": device});
    api.interact("check-in", &scan).is(201);
}
