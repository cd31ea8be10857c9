//! Taking an import back beside a server: what was changed or used since stays.

use super::{lines, run};
use crate::harness::{Agrees, Server, has};
use serde_json::{Value, json};

#[test]
fn what_was_changed_or_used_since_stays() {
    let (server, api) = Server::with_api();
    let hall = api.device(&json!({"name": "Hall", "code": "hall"}));
    let gate = api.device(&json!({"name": "Gate", "code": "gate"}));
    let known = api.delegate(&json!({"barcode": "K", "company": "Before"}));
    let list = server.folder.path().join("list.csv");
    let rows = lines(20, |n| format!("T{n},New"));
    std::fs::write(&list, format!("barcode,company\nK,New\n{rows}")).expect("a list");
    let list = list.to_str().expect("a name");
    let db = server.path();
    let output = run(
        &db,
        &[
            "import",
            "delegates",
            list,
            "--key",
            "barcode",
            "--join",
            "code:hall",
            "--json",
        ],
    );
    let told: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(told["imported"], json!(21), "{output:?}");
    let batch = told["batch"].to_string();
    // Another list names one of them, and is taken back: the audit tells of it.
    let more = server.file("more.csv", "barcode,company\nT5,Whispered\n");
    let output = run(
        &db,
        &["import", "delegates", &more, "--key", "barcode", "--json"],
    );
    let told: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let told = told["batch"].to_string();
    assert!(run(&db, &["import", "--undo", &told]).status.success());
    let traces = "audit WHERE after LIKE '%Whispered%' OR before LIKE '%Whispered%'";
    assert!(server.count(traces) > 0);
    api.patch("/delegate/barcode:T1", &json!({"company": "Changed"}))
        .is(200);
    api.scan("check-in", "barcode:T2", gate).is(201);
    api.delete("/delegate/barcode:T3").is(204);

    let output = run(&db, &["import", "--undo", &batch, "--json"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let told: Value = serde_json::from_str(
        String::from_utf8_lossy(&output.stdout)
            .lines()
            .next()
            .expect("a line"),
    )
    .expect("JSON");
    told.agrees(&json!({"removed": 17, "restored": 1, "left": 3}));
    let reasons = told["leftAsTheyAre"].to_string();
    has(
        &reasons,
        [
            "line 5: delegate 4 was used since",
            "line 4: delegate 3 was changed since",
            "line 6: delegate 5 was changed since",
        ],
    );
    api.get("/delegate/barcode:T1")
        .shows("company", json!("Changed"));
    api.get("/delegate/barcode:T2").is(200);
    api.get("/delegate/barcode:T4").refused(404, 1301, "T4");
    let restored = api.get(&format!("/delegate/id:{known}"));
    restored
        .data()
        .agrees(&json!({"company": "Before", "sources": ["api"]}));
    assert!(
        restored.data().get("firstInteractions").is_none(),
        "its join is gone"
    );
    let joins = format!("SELECT count(*) FROM interactions WHERE first_device_id = {hall}");
    assert_eq!(server.value::<i64>(&joins), 3);
    // Nothing tells of those who are gone for good.
    api.get("/delegate/barcode:T5").refused(404, 1301, "T5");
    assert_eq!(server.count(traces), 0);
    // Once nobody needs what was left, the rest can go too.
    server.sql("DELETE FROM interactions WHERE interaction_type = 'check-in'");
    let output = run(&db, &["import", "--undo", &batch, "--json"]);
    let told: Value = serde_json::from_str(
        String::from_utf8_lossy(&output.stdout)
            .lines()
            .next()
            .expect("a line"),
    )
    .expect("JSON");
    assert_eq!((&told["removed"], &told["left"]), (&json!(1), &json!(2)));
}

#[test]
fn devices_and_interactions_are_taken_back() {
    let site = super::Site::new();
    site.import("delegates", "delegates.csv", "barcode\nA\nB\n", &[]);
    let before = site.dump();
    site.import(
        "devices",
        "devices.csv",
        "code,parent\nhall,\nroom,code:hall\n",
        &[],
    );
    let with_devices = site.dump();
    site.import("interactions", "scans.csv",
        "type,delegate,second delegate,device\ncheck-in,barcode:A,,code:room\njoin,barcode:A,,code:room\nconnect,barcode:A,barcode:B,\nconnect,barcode:B,barcode:A,\n", &[]);
    assert_eq!(site.rows("interactions"), 5);
    let told = site.refused(&["import", "--undo", "2"]);
    has(
        &told,
        [
            "device 2 was used since",
            "device 1 is referred to by device 2",
        ],
    );
    site.done(&["import", "--undo", "3"]);
    assert_eq!(site.dump(), with_devices);
    site.done(&["import", "--undo", "2"]);
    assert_eq!(site.dump(), before);
    has(
        site.refused(&["import", "--undo", "9"]),
        "there is no import 9",
    );
}

/// Gates go on while a list goes in.
#[test]
fn gates_scan_while_a_list_goes_in() {
    let (server, api) = Server::with_api();
    let gate = api.device(&json!({"name": "Gate"}));
    let guest = api.delegate(&json!({"barcode": "G"}));
    let rows = lines(3_000, |n| format!("T{n},Name {n}"));
    let list = server.folder.path().join("list.csv");
    std::fs::write(&list, format!("barcode,First name\n{rows}")).expect("a list");
    let mut child = super::start(
        &server.path(),
        &["import", "delegates", list.to_str().expect("a name")],
    );
    let mut scans = 0;
    while child.try_wait().expect("a child").is_none() {
        let answer = api.scan("check-in", guest, gate);
        assert_eq!(answer.status, 201, "{answer:?}");
        scans += 1;
    }
    assert!(child.wait().expect("a child").success());
    assert!(scans > 10, "{scans}");
    assert_eq!(server.count("delegates"), 3_001);
    let export = run(
        &server.path(),
        &["export", "delegates", "--format", "ndjson"],
    );
    assert_eq!(
        String::from_utf8_lossy(&export.stdout).lines().count(),
        3_001
    );
}
