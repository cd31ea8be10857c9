//! The gate app in a real browser: it is added by its digits, scans, goes on without the server, and loses
//! nothing on the way.

mod access;
mod camera;
mod codes;
mod day;
mod evacuation;
mod german;
mod kiosk;
mod network;
mod people;
mod storage;
pub mod venue;
mod verdicts;

use super::{become_administrator, open_first_run, window::Browser};
use crate::faults::process::{Served, gatepost, until};
use rusqlite::Connection;
use serde_json::json;
use std::{fmt::Write, path::Path};

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

/// Imports attendees with the codes `T-1`, `T-2` and so on.
fn import(db: &Path, people: usize) {
    let file = db.with_file_name("list.csv");
    let mut list = String::from("barcode,firstName,lastName\n");
    for n in 1..=people {
        let name = ["Ada,Lovelace", "Bob,Builder", "Carl,Cook"][(n - 1) % 3];
        writeln!(list, "T-{n},{name}").expect("text");
    }
    std::fs::write(&file, list).expect("a file");
    let file = file.to_str().expect("a name");
    let imported = gatepost(db, &["import", "delegates", file]);
    assert!(imported.status.success(), "{imported:?}");
}

/// Adds a gate in the console by its digits, and brings it to the screen where people scan.
fn add(gate: &Browser, console: &Browser, people: usize) {
    console.go("/console/discovery");
    gate.until("the app has begun", || gate.has("#setup:not([hidden])"));
    let name = "return document.getElementById('setup-name').value";
    assert_eq!(gate.run(name, &[]), json!(""));
    gate.fill_in("#setup-name", "G-north");
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
    gate.until("people can scan", || {
        let script = "if (document.body.dataset.screen === 'readiness')
            document.getElementById('ready-continue').click();";
        gate.run(script, &[]);
        gate.has("body[data-screen=scan]")
    });
    gate.until("the list is complete", || {
        let script = "return document.getElementById('numbers').innerText.includes(arguments[0])";
        gate.run(script, &[format!("of {people} arrived").into()]) == json!(true)
    });
}

/// Waits until a gate whose client is revoked has forgotten everybody.
fn forgets(gate: &Browser, db: &Path) {
    let client: String = {
        let connection = Connection::open(db).expect("the file");
        let sql = "SELECT client_id FROM clients WHERE roles LIKE '%GATE%'";
        let id = connection.query_row(sql, [], |row| row.get(0));
        id.expect("the gate's client")
    };
    let revoked = gatepost(db, &["client", "revoke", &client]);
    assert!(revoked.status.success(), "{revoked:?}");
    gate.until("it asks for access anew", || {
        gate.has("body[data-screen=setup]")
    });
    let kept = gate.run_until_told(
        "const tell = arguments[0];
         indexedDB.databases().then(([{ name }]) => {
            indexedDB.open(name).onsuccess = ({ target }) => {
                const people = target.result.transaction('people').objectStore('people');
                people.count().onsuccess = ({ target }) => tell(target.result);
            };
         });",
    );
    assert_eq!(kept, json!(0));
}

#[test]
fn a_gate_is_added_scans_and_goes_on_without_the_server() {
    let folder = tempfile::tempdir().expect("a folder");
    let db = folder.path().join("event.db");
    let served = Served::start(&db);
    let console = super::open(&served);
    open_first_run(&console, &served);
    become_administrator(&console);
    import(&db, 3);
    let gate = Browser::open_here(&super::origin(&served));
    gate.go("/gate");
    add(&gate, &console, 3);

    let check_ins = "SELECT count(*) FROM interactions WHERE interaction_type = 'check-in'";
    scan(&gate, "T-1");
    shows(&gate, &["Welcome", "Ada Lovelace"]);
    scan(&gate, "nobody");
    shows(&gate, &["Stop"]);
    assert_eq!(count(&db, check_ins), 1);
    // A slow answer may be overtaken by the gate's own.
    gate.until("nothing waits", || gate.has("#status-queue[hidden]"));

    // The server goes away in the middle of the morning.
    let address = served.address;
    served.stop();
    scan(&gate, "]Q1t-2");
    shows(&gate, &["Welcome", "Bob Builder"]);
    // The server's last answer may still be on its way through the page.
    venue::is_offline(&gate);
    scan(&gate, "nobody");
    shows(&gate, &["Stop"]);
    let waiting = "return document.getElementById('status-queue').innerText";
    let waiting = gate.run(waiting, &[]);
    assert!(
        waiting.as_str().is_some_and(|text| text.contains('1')),
        "{waiting}"
    );
    let served = Served::start_at(&db, address);
    until("what was scanned meanwhile is stored", || {
        count(&db, check_ins) == 2
    });
    let admitted = "SELECT count(*) FROM interactions WHERE admitted = 1";
    assert_eq!(count(&db, admitted), 1);
    gate.until("the queue is empty", || gate.has("#status-queue[hidden]"));
    scan(&gate, "T-3");
    shows(&gate, &["Welcome", "Carl Cook"]);
    let people = "SELECT count(DISTINCT first_delegate_id) FROM interactions";
    assert_eq!(count(&db, people), 3);
    forgets(&gate, &db);
    let expected = ["ERR_CONNECTION_REFUSED", "404", "401", "Failed to fetch"];
    for complaint in gate.complaints() {
        assert!(
            expected.iter().any(|known| complaint.contains(known)),
            "{complaint}"
        );
    }
    served.stop();
}
