//! Lists in, by `gatepost import`.

use super::{count, done, gatepost, text};
use crate::harness::{Server, has, lacks};
use serde_json::{Value, json};
use std::process::Command;
/// A folder with a list in it.
fn with_list(list: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("list.csv"), list).expect("a list");
    folder
}

#[test]
fn the_sample_list_goes_in_by_its_headers_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let list = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/attendees.csv");
    done(&gatepost(folder.path(), &["import", "delegates", list]));
    let rows = std::fs::read_to_string(list)
        .expect("the sample")
        .lines()
        .count()
        - 1;
    assert_eq!(
        count(folder.path(), "SELECT count(*) FROM delegates"),
        i64::try_from(rows).expect("few")
    );
    let complete = "SELECT count(*) FROM delegates WHERE barcode IS NULL OR first_name IS NULL OR sources != '[\"import\"]'";
    assert_eq!(count(folder.path(), complete), 0);
    // One row for all of them, and each has a number among the changes.
    let audited = "SELECT count(*) FROM audit WHERE action = 'create'";
    assert_eq!(count(folder.path(), audited), 1);
    let numbers = "SELECT count(DISTINCT change_id) FROM batch_rows";
    assert_eq!(
        count(folder.path(), numbers),
        i64::try_from(rows).expect("few")
    );
}

#[test]
fn bad_rows_are_told_by_line_and_nothing_is_written() {
    let folder = with_list("Barcode,First name\nA-1,Ada\nA-1,Bob\n,\nA-4,Dan,more\nA-5,Eve\n");
    let output = gatepost(folder.path(), &["import", "delegates", "list.csv"]);
    assert_eq!(output.status.code(), Some(1));
    let told = text(&output.stdout) + &text(&output.stderr);
    has(&told, ["line 3", "line 5"]);
    lacks(&told, "line 4");
    assert!(
        !folder.path().join("event.db").exists()
            || count(folder.path(), "SELECT count(*) FROM delegates") == 0
    );
    done(&gatepost(
        folder.path(),
        &["import", "delegates", "list.csv", "--skip-bad"],
    ));
    assert_eq!(count(folder.path(), "SELECT count(*) FROM delegates"), 2);
}

#[test]
fn whatever_comes_of_it_the_answer_in_json_is_one_document() {
    let folder = with_list("Barcode,First name\nA-1,Ada\nA-1,Bob\n");
    let told = |args: &[&str], code: i32| -> Value {
        let output = gatepost(folder.path(), &[args, &["--json"]].concat());
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        serde_json::from_slice(&output.stdout).expect("one document")
    };
    let refused = told(&["import", "delegates", "list.csv"], 1);
    assert_eq!(refused["bad"][0]["line"], 3);
    assert_eq!(refused["imported"], 0);
    let error = refused["error"].as_str().expect("a sentence");
    has(error, "1 of 2 rows are bad");
    let taken = told(&["import", "delegates", "list.csv", "--skip-bad"], 0);
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
    let folder = with_list("Ticket code;E-mail\nA-1;ada@example.org\n");
    let told = done(&gatepost(
        folder.path(),
        &["import", "delegates", "list.csv", "--dry-run"],
    ));
    has(&told, "barcode");
    assert!(!folder.path().join("event.db").exists());
}

#[test]
fn headers_are_mapped_and_unknown_columns_kept() {
    let folder = with_list("Nummer,Wer,Menü\nA-1,Ada,vegan\n");
    let map = [
        "import",
        "delegates",
        "list.csv",
        "--map",
        "Nummer=barcode",
        "--map",
        "Wer=firstName",
    ];
    done(&gatepost(folder.path(), &map));
    let kept = "SELECT count(*) FROM delegates WHERE barcode = 'A-1' AND first_name = 'Ada' AND data ->> '$.Data.Menü' = 'vegan'";
    assert_eq!(count(folder.path(), kept), 1);
    let unknown = gatepost(
        folder.path(),
        &["import", "delegates", "list.csv", "--map", "Nummer=barcod"],
    );
    assert_ne!(unknown.status.code(), Some(0));
    has(text(&unknown.stderr), "barcod");
}

#[test]
fn the_same_list_goes_in_twice_only_when_that_is_said() {
    let folder = with_list("First name\nAda\nBob\n");
    let import = ["import", "delegates", "list.csv"];
    let people = || count(folder.path(), "SELECT count(*) FROM delegates");
    done(&gatepost(folder.path(), &import));
    let refused = gatepost(folder.path(), &import);
    assert_eq!(refused.status.code(), Some(1));
    has(text(&refused.stderr), "--again");
    // Another name is the same list.
    let other = folder.path().join("other.csv");
    std::fs::copy(folder.path().join("list.csv"), other).expect("a copy");
    let renamed = gatepost(folder.path(), &["import", "delegates", "other.csv"]);
    assert_eq!((renamed.status.code(), people()), (Some(1), 2));
    done(&gatepost(
        folder.path(),
        &[&import[..], &["--again"]].concat(),
    ));
    assert_eq!(
        (
            people(),
            count(folder.path(), "SELECT count(*) FROM batches")
        ),
        (4, 2)
    );
}

#[test]
fn an_import_is_seen_by_a_server_on_the_file() {
    let (server, api) = Server::with_api();
    let device = api.device(
        &json!({"name": "Hall", "code": "hall", "data": {"Access": {"ruleSet": "simple"}}}),
    );
    std::fs::write(server.folder.path().join("list.csv"), "Barcode\nA-1\n").expect("a list");
    let output = Command::new(env!("CARGO_BIN_EXE_gatepost"))
        .arg("--db")
        .arg(server.path())
        .args(["import", "delegates"])
        .arg(server.folder.path().join("list.csv"))
        .args(["--join", "code:hall"])
        .output()
        .expect("the binary runs");
    done(&output);
    let entered = api.interact(
        "check-in",
        &json!({"delegate": "barcode:A-1", "device": device}),
    );
    assert_eq!(entered.status, 201, "{entered:?}");
}
