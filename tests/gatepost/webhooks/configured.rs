//! Webhooks in the configuration document (contract §10).

use crate::faults::process::{gatepost, told};
use serde_json::{Value, json};
use std::path::Path;

fn apply(folder: &Path, document: &Value, more: &[&str]) -> std::process::Output {
    let file = folder.join("config.json");
    std::fs::write(&file, document.to_string()).expect("a file");
    let file = file.to_str().expect("a name");
    gatepost(
        &folder.join("event.db"),
        &[&["config", "apply", file], more].concat(),
    )
}

#[track_caller]
fn applied(folder: &Path, document: &Value, more: &[&str]) {
    let output = apply(folder, document, more);
    assert!(output.status.success(), "{output:?}");
}

fn exported(folder: &Path) -> Value {
    told(&folder.join("event.db"), &["config", "export"])["webhooks"].clone()
}

fn value<T: rusqlite::types::FromSql>(folder: &Path, sql: &str) -> T {
    let file = rusqlite::Connection::open(folder.join("event.db")).expect("the file");
    file.query_row(sql, [], |row| row.get(0)).expect(sql)
}

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

#[test]
fn webhooks_go_round_and_their_secrets_stay_where_they_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let crm = json!({
        "name": "CRM", "url": "https://crm.example.org/in", "interactions": ["check-in", "lead"],
        "changes": ["delegate.*"], "devices": ["hall", "not-there-yet"], "active": false,
    });
    let chat = json!({"name": "Chat", "url": "http://192.168.1.9/x", "interactions": ["*"], "changes": [], "active": true});
    let with_secret = {
        let mut crm = crm.clone();
        crm["secret"] = json!(SECRET);
        crm
    };
    applied(
        folder,
        &json!({"webhooks": [with_secret, chat]}),
        &["--dry-run"],
    );
    assert_eq!(value::<i64>(folder, "SELECT count(*) FROM webhooks"), 0);
    applied(folder, &json!({"webhooks": [with_secret, chat]}), &[]);
    let out = exported(folder);
    assert_eq!(out, json!([crm, chat]));
    assert!(!out.to_string().contains("whsec"));
    let secrets = "SELECT group_concat(secret) FROM webhooks";
    let before: String = value(folder, secrets);
    assert!(before.contains(SECRET));
    // Again: nothing changes, and nothing is audited.
    let audited = "SELECT count(*) FROM audit";
    let count: i64 = value(folder, audited);
    applied(folder, &json!({"webhooks": out}), &[]);
    applied(folder, &json!({"webhooks": [with_secret]}), &[]);
    assert_eq!(value::<i64>(folder, audited), count);
    assert_eq!(value::<String>(folder, secrets), before);
    let mut moved = crm.clone();
    moved["url"] = json!("https://other.example.org/");
    moved["active"] = json!(true);
    applied(folder, &json!({"webhooks": [moved]}), &[]);
    assert_eq!(exported(folder), json!([moved, chat]));
    assert_eq!(value::<String>(folder, secrets), before);
    applied(folder, &json!({"settings": {"name": "X"}}), &[]);
    assert_eq!(
        exported(folder),
        json!([moved, chat]),
        "absent is left alone"
    );
    // Pruned by a document that names everything else.
    let mut whole = told(&folder.join("event.db"), &["config", "export"]);
    whole["webhooks"] = json!([moved]);
    applied(folder, &whole, &["--prune"]);
    assert_eq!(exported(folder), json!([moved]));
    whole
        .as_object_mut()
        .expect("a document")
        .remove("webhooks");
    applied(folder, &whole, &["--prune"]);
    assert_eq!(exported(folder), json!([]));
    for table in ["webhooks", "outbox_destinations", "outbox"] {
        assert_eq!(
            value::<i64>(folder, &format!("SELECT count(*) FROM {table}")),
            0
        );
    }
}

#[test]
fn one_wrong_webhook_changes_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let fine = json!({"name": "A", "url": "https://a.example/", "interactions": ["*"]});
    applied(folder, &json!({}), &[]);
    for (wrong, about) in [
        (json!({"name": "B"}), "url"),
        (
            json!({"name": "B", "url": "x", "interactions": ["*"]}),
            "webhooks: B: url",
        ),
        (
            json!({"name": "B", "url": "http://127.0.0.1/", "interactions": ["*"]}),
            "allowLocal",
        ),
        (
            json!({"name": "B", "url": "http://169.254.169.254/", "interactions": ["*"]}),
            "cloud",
        ),
        (
            json!({"name": "B", "url": "https://b.example/"}),
            "nothing would be sent",
        ),
        (
            json!({"name": "B", "url": "https://b.example/", "changes": ["user.created"]}),
            "changes",
        ),
        (
            json!({"name": "B", "url": "https://b.example/", "interactions": ["*"], "secret": "12345"}),
            "secret",
        ),
        (
            json!({"name": "B", "url": "https://b.example/", "interactions": ["*"], "more": 1}),
            "more",
        ),
        (
            json!({"name": "A", "url": "https://b.example/", "interactions": ["*"]}),
            "stands twice",
        ),
    ] {
        let output = apply(
            folder,
            &json!({"settings": {"name": "New"}, "webhooks": [fine, wrong]}),
            &[],
        );
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            !output.status.success() && told.contains(about),
            "{about}: {told}"
        );
        assert!(!told.contains("12345"));
        assert_eq!(
            value::<i64>(folder, "SELECT count(*) FROM webhooks"),
            0,
            "{about}"
        );
        assert_eq!(
            value::<i64>(folder, "SELECT count(*) FROM settings"),
            0,
            "{about}"
        );
    }
    // The same document may allow what it needs.
    let local = json!({
        "settings": {"outgoing": {"allowLocal": true}},
        "webhooks": [{"name": "B", "url": "http://127.0.0.1/", "interactions": ["*"]}],
        "printers": [{"name": "B", "address": "127.0.0.1"}],
    });
    applied(folder, &local, &[]);
}
