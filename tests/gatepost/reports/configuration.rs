//! Reports prepared at the office: `gatepost config` and what a report must be.

use crate::faults::process::{gatepost, told};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

struct Office {
    folder: tempfile::TempDir,
    db: PathBuf,
}

impl Office {
    fn open() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let db = folder.path().join("gatepost.db");
        Self { folder, db }
    }

    fn apply(&self, document: &Value, options: &[&str]) -> std::process::Output {
        let file = self.folder.path().join("config.json");
        std::fs::write(&file, document.to_string()).expect("written");
        let file = file.to_str().expect("a name");
        gatepost(
            &self.db,
            &[&["config", "apply", file][..], options].concat(),
        )
    }

    #[track_caller]
    fn refused(&self, document: &Value) -> String {
        let output = self.apply(document, &[]);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        String::from_utf8(output.stderr).expect("text")
    }
}

fn reports(db: &Path) -> Vec<Value> {
    let document = told(db, &["config", "export"]);
    document["reports"].as_array().expect("reports").clone()
}

fn audit(db: &Path) -> Vec<String> {
    let connection = rusqlite::Connection::open(db).expect("the file");
    let mut statement = connection
        .prepare("SELECT action FROM audit WHERE record_type = 'report' ORDER BY id")
        .expect("a statement");
    let rows = statement.query_map([], |row| row.get(0)).expect("rows");
    rows.map(|row| row.expect("a row")).collect()
}

fn full() -> Value {
    json!({
        "dashboard": "board", "id": "people-1", "label": "People",
        "query": "SELECT id FROM delegates WHERE id > :after AND delegate_type IS :kind LIMIT :most",
        "parameters": ["after", {"name": "kind", "label": "Of the type", "optional": true}],
        "fixed": [{"name": "most", "value": 100}],
        "api_clients": ["gate-b-1234", "*"],
    })
}

#[test]
fn reports_go_round_through_the_configuration() {
    let office = Office::open();
    told(&office.db, &["client", "add", "gate", "--json"]);
    let mut first = told(&office.db, &["config", "export"]);
    first["reports"] = json!([full()]);
    assert!(office.apply(&first, &["--prune"]).status.success());
    assert_eq!(reports(&office.db), [full()]);
    let another = Office::open();
    let document = told(&office.db, &["config", "export"]);
    assert!(another.apply(&document, &["--prune"]).status.success());
    assert_eq!(reports(&another.db), [full()]);
    let before = audit(&another.db).len();
    // The same again changes nothing; what is not named stays without --prune.
    assert!(another.apply(&document, &[]).status.success());
    assert!(another.apply(&json!({"reports": []}), &[]).status.success());
    assert_eq!(
        (reports(&another.db), audit(&another.db).len()),
        (vec![full()], before)
    );
    let mut changed = full();
    changed["label"] = json!("Guests");
    assert!(
        another
            .apply(&json!({"reports": [changed]}), &["--dry-run"])
            .status
            .success()
    );
    assert_eq!(reports(&another.db), [full()]);
    assert!(
        another
            .apply(&json!({"reports": [changed]}), &[])
            .status
            .success()
    );
    assert_eq!(reports(&another.db), [changed]);
    first["reports"] = json!([]);
    assert!(another.apply(&first, &["--prune"]).status.success());
    assert!(reports(&another.db).is_empty());
    assert_eq!(audit(&another.db)[before..], ["update", "delete"]);
}

#[test]
fn what_cannot_be_run_is_not_stored_and_nothing_beside_it() {
    let office = Office::open();
    for (changes, about) in [
        (json!({"query": "SELECT email FROM users"}), "prohibited"),
        (json!({"query": "DELETE FROM delegates"}), "it is a view"),
        (json!({"query": "SELECT 1; SELECT 2"}), "one statement"),
        (
            json!({"query": "SELECT id,\n  oops FROM delegates"}),
            "no such column: oops (line 2, column 3)",
        ),
        (json!({"query": ""}), "query:"),
        (
            json!({"query": "SELECT id, id FROM delegates LIMIT :most"}),
            "two columns are called id",
        ),
        (json!({"query": "SELECT :after, :most"}), ":kind"),
        (json!({"fixed": []}), ":most is neither"),
        (
            json!({"query": "SELECT ?1"}),
            "?1: parameters are written as :name",
        ),
        (
            json!({"query": "SELECT @after"}),
            "@after: parameters are written as :name",
        ),
        (
            json!({"parameters": ["after", "kind", "after"]}),
            "after is there twice",
        ),
        (
            json!({"parameters": ["after", "no name", "kind"]}),
            "no name",
        ),
        (json!({"parameters": "after"}), "reports[0].parameters"),
        (json!({"parameters": [5]}), "must be a name"),
        (
            json!({"fixed": [{"name": "most", "value": [1]}]}),
            "most: must be a text",
        ),
        (
            json!({"fixed": [{"name": "most", "value": 1, "kind": "x"}]}),
            "reports[0].fixed[0]",
        ),
        (json!({"dashboard": "a b"}), "dashboard: must have"),
        (json!({"dashboard": ""}), "dashboard: must have"),
        (json!({"id": "../x"}), "id: must have"),
        (json!({"label": ""}), "label: must have"),
        (json!({"api_clients": "*"}), "reports[0].api_clients"),
        (json!({"api_clients": [""]}), "client ids"),
        (json!({"chart": "line"}), "chart"),
    ] {
        let mut bad = full();
        for (key, value) in changes.as_object().expect("an object") {
            bad[key] = value.clone();
        }
        let document = json!({"settings": {"name": "Other"}, "reports": [bad]});
        let refused = office.refused(&document);
        assert!(refused.contains(about), "no {about:?} in {refused}");
        // The name that the file goes by in the sandbox is nobody's business.
        assert!(!refused.contains("file_"), "{refused}");
    }
    let twice = office.refused(&json!({"reports": [full(), full()]}));
    assert!(
        twice.contains("board/people-1: stands there twice"),
        "{twice}"
    );
    assert_eq!(reports(&office.db).len(), 8);
    assert_eq!(
        told(&office.db, &["config", "export"])["settings"],
        json!({})
    );
}
