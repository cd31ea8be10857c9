//! The gate app in a real browser: it is added by its digits, scans, goes on without the server, and loses
//! nothing on the way.

use super::window::Browser;
use super::{become_administrator, open_first_run};
use crate::faults::process::{Served, until};
use rusqlite::Connection;
use serde_json::json;
use std::path::Path;

fn count(db: &Path, sql: &str) -> i64 {
    let connection = Connection::open(db).expect("the file");
    connection.query_row(sql, [], |row| row.get(0)).expect(sql)
}

/// Types a code as a scanner does: all keys at once, with Enter at the end.
fn scan(gate: &Browser, code: &str) {
    gate.run(
        "const key = (key) => new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true });
        for (const event of [...arguments[0], 'Enter'].map(key)) document.dispatchEvent(event);",
        &[json!(code)],
    );
}

/// Waits until the verdict that is shown has these words.
#[track_caller]
fn shows(gate: &Browser, words: &[&str]) {
    gate.until(&format!("the verdict says {words:?}"), || {
        let text = gate.run(
            "const verdict = document.getElementById('verdict');
             return verdict.hidden ? '' : verdict.innerText;",
            &[],
        );
        let text = text.as_str().unwrap_or_default().to_lowercase();
        words.iter().all(|word| text.contains(&word.to_lowercase()))
    });
}

#[test]
fn a_gate_is_added_scans_and_goes_on_without_the_server() {
    let folder = tempfile::tempdir().expect("a folder");
    let db = folder.path().join("event.db");
    let served = Served::start(&db);
    let console = super::open(&served);
    open_first_run(&console, &served);
    become_administrator(&console);
    {
        let file = folder.path().join("list.csv");
        std::fs::write(
            &file,
            "barcode,firstName,lastName\nT-1,Ada,Lovelace\nT-2,Bob,Builder\nT-3,Carl,Cook\n",
        )
        .expect("a file");
        let imported = crate::faults::process::gatepost(
            &db,
            &["import", "delegates", file.to_str().expect("a name")],
        );
        assert!(imported.status.success(), "{imported:?}");
    }
    console.go("/console/discovery");

    let gate = Browser::open_here(&super::origin(&served));
    gate.go("/gate");
    gate.until("it shows its digits", || {
        let script = "const form = document.getElementById('setup-form');
            if (!form.hidden && form.onsubmit) form.requestSubmit();
            return document.getElementById('setup-digits').innerText";
        let digits = gate.run(script, &[]);
        digits
            .as_str()
            .is_some_and(|digits| digits.trim().len() >= 4)
    });
    console.until("the request is there", || {
        console.run("return document.body.innerText.includes('G-')", &[]) == json!(true)
    });
    console.press("Add");
    gate.until("it is ready", || {
        gate.has("body[data-screen=readiness], body[data-screen=scan]")
    });
    gate.until("the list is complete", || {
        gate.run("return document.body.innerText.includes('3')", &[]) == json!(true)
    });
    gate.run("if (document.body.dataset.screen === 'readiness') document.getElementById('ready-continue').click()", &[]);
    gate.until("people can scan", || gate.has("body[data-screen=scan]"));

    scan(&gate, "T-1");
    shows(&gate, &["Welcome", "Ada Lovelace"]);
    scan(&gate, "nobody");
    shows(&gate, &["Stop"]);
    assert_eq!(
        count(
            &db,
            "SELECT count(*) FROM interactions WHERE interaction_type = 'check-in'"
        ),
        1
    );

    // The server goes away in the middle of the morning.
    let address = served.address;
    served.stop();
    scan(&gate, "T-2");
    shows(&gate, &["Welcome", "Bob Builder"]);
    scan(&gate, "nobody");
    shows(&gate, &["Stop"]);
    let waiting = gate.run(
        "return document.getElementById('status-queue').innerText",
        &[],
    );
    assert!(
        waiting.as_str().is_some_and(|text| text.contains('1')),
        "{waiting}"
    );
    let served = Served::start_at(&db, address);
    until("what was scanned meanwhile is stored", || {
        count(
            &db,
            "SELECT count(*) FROM interactions WHERE interaction_type = 'check-in'",
        ) == 2
    });
    let admitted = "SELECT count(*) FROM interactions WHERE admitted = 1";
    assert_eq!(count(&db, admitted), 1);
    gate.until("the queue is empty", || gate.has("#status-queue[hidden]"));
    scan(&gate, "T-3");
    shows(&gate, &["Welcome", "Carl Cook"]);
    assert_eq!(
        count(
            &db,
            "SELECT count(DISTINCT first_delegate_id) FROM interactions"
        ),
        3
    );
    let complaints: Vec<String> = gate.complaints();
    assert!(
        complaints
            .iter()
            .all(|one| one.contains("ERR_CONNECTION_REFUSED")
                || one.contains("404")
                || one.contains("Failed to fetch")),
        "{complaints:?}"
    );
    served.stop();
}
