//! What the primary alone has is taken over, as often as somebody likes.

use super::{Primary, mark, scan};
use crate::faults::{
    process::{Served, findings, gatepost, told},
    wire::request,
};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::path::Path;

fn call(served: &Served, method: &str, path: &str, token: &str, body: &Value) -> Value {
    let answer = served
        .wire()
        .call(&request(method, path, "", token, &body.to_string()))
        .expect("an answer");
    assert!(
        (200..300).contains(&answer.status),
        "{method} {path}: {answer:?}"
    );
    answer.body["data"].clone()
}

/// Does what the primary alone will have, and deletes an interaction that both have; returns the attendee that it made.
fn happen_alone(primary: &Primary, undone: &Value) -> Value {
    let (token, site, alone) = (&primary.site.token, &primary.site, &primary.served);
    primary.check_in("alone", 2).is(201);
    primary.check_in("resent", 3).is(201);
    let seen = json!({"delegate": site.delegates[4], "device": site.devices[1]});
    call(alone, "POST", "/interaction/new/seen", token, &seen);
    let newcomer = json!({"barcode": "NEW", "firstName": "Ada", "parent": site.delegates[1]});
    let made = call(alone, "POST", "/delegate/new", token, &newcomer);
    let scan = json!({"delegate": "barcode:NEW", "device": site.devices[0]});
    call(alone, "POST", "/interaction/new/check-in", token, &scan);
    for (delegate, name) in [(5, "There"), (6, "There alone")] {
        rename(alone, primary, delegate, name);
    }
    call(
        alone,
        "DELETE",
        &format!("/interaction/id:{undone}"),
        token,
        &json!({}),
    );
    let unknown = json!({"delegate": "barcode:NOBODY", "device": site.devices[0], "admitted": true, "nonce": "unknown"});
    call(alone, "POST", "/interaction/new/check-in", token, &unknown);
    made
}

fn rename(served: &Served, primary: &Primary, delegate: usize, name: &str) {
    let path = format!("/delegate/id:{}", primary.site.delegates[delegate]);
    call(
        served,
        "PATCH",
        &path,
        &primary.site.token,
        &json!({"firstName": name}),
    );
}

fn count(db: &Path, sql: &str) -> i64 {
    let file = Connection::open(db).expect("the file");
    file.query_row(&format!("SELECT count(*) FROM {sql}"), [], |row| row.get(0))
        .expect("a number")
}

#[test]
fn what_the_primary_alone_has_is_taken_over_once() {
    let Some(primary) = Primary::start() else {
        return;
    };
    let (token, site) = (primary.site.token.clone(), &primary.site);
    primary.check_in("before", 1).is(201);
    let undone = primary.check_in("undone", 7);
    primary.until_covered(mark(&undone));
    primary.freeze();
    let undone = undone.data()["id"].clone();
    let made = happen_alone(&primary, &undone);
    let (db, done, second) = primary.take_over();
    // A gate has sent one again, another machine changed a record as well, and gave ids of its own.
    let mut again = scan(site, "resent", 3);
    again["admitted"] = true.into();
    call(&second, "POST", "/interaction/new/check-in", &token, &again);
    rename(&second, &primary, 5, "Here");
    let other = call(
        &second,
        "POST",
        "/delegate/new",
        &token,
        &json!({"barcode": "OTHER"}),
    );
    assert_ne!(other["id"], made["id"]);

    let file = primary.path("changes.ndjson");
    let file = file.to_str().expect("a name").to_owned();
    let since = done["mark"].to_string();
    let export = |since: &str| {
        told(
            &site.db,
            &[
                "export", "changes", "--json", "--since", since, "--output", &file,
            ],
        );
    };
    export(&since);
    let taken = told(&db, &["import", "changes", &file, "--json"]);
    let conflicts = taken["conflicts"].to_string();
    assert!(
        conflicts.matches("changed on both machines").count() == 1,
        "{taken}"
    );
    assert_eq!(
        taken["conflicts"].as_array().map(Vec::len),
        Some(1),
        "{taken}"
    );
    let seen = format!(
        "interactions WHERE interaction_type = 'seen' AND first_delegate_id = {}",
        site.delegates[4]
    );
    let waiting = "refusals WHERE admitted = 1";
    for (sql, expected) in [
        (
            "nonces n JOIN interactions i ON i.id = n.interaction_id WHERE nonce IN ('alone', 'resent', 'before')",
            3,
        ),
        ("delegates WHERE first_name IN ('Here', 'There alone')", 2),
        (
            "delegates d JOIN delegates p ON p.id = d.parent_id JOIN interactions i ON i.first_delegate_id = d.id WHERE d.barcode = 'NEW' AND d.first_name = 'Ada'",
            1,
        ),
        (waiting, 1),
        (&format!("interactions WHERE id = {undone}"), 0),
        (&seen, 1),
    ] {
        assert_eq!(count(&db, sql), expected, "{sql}");
    }
    // Again, and from an earlier mark: nothing more.
    let all = count(&db, "interactions");
    for since in [&since, "0"] {
        export(since);
        let taken = told(&db, &["import", "changes", &file, "--json"]);
        assert_eq!(taken["taken"], 0, "{since}: {taken}");
        assert_eq!((count(&db, "interactions"), count(&db, waiting)), (all, 1));
    }
    second.stop();
    let findings = findings(&db);
    assert!(
        findings.contains("Changes taken over from another machine contradict"),
        "{findings}"
    );
    assert!(findings.matches("\"what\"").count() <= 1, "{findings}");
}

#[test]
fn changes_of_another_event_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let [one, other] = ["one.db", "other.db"].map(|name| folder.path().join(name));
    for db in [&one, &other] {
        told(db, &["client", "add", "gate", "--json"]);
    }
    let file = folder.path().join("changes.ndjson");
    let file = file.to_str().expect("a name");
    told(
        &one,
        &[
            "export", "changes", "--json", "--since", "0", "--output", file,
        ],
    );
    let output = gatepost(&other, &["import", "changes", file]);
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("another event"),
        "{output:?}"
    );
    let output = gatepost(
        &other,
        &["import", "changes", other.to_str().expect("a name")],
    );
    assert_eq!(output.status.code(), Some(1));
}
