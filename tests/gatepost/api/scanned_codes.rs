//! Codes as scanners send them: the exact text first, then without what scanners add, then in any case (contract §1).

use super::gate::Venue;
use crate::harness::{Caller, Server};
use gatepost::identity::ConsoleRole;
use serde_json::{Value, json};

const URL: &str = "https://tickets.example/c/(*)";

/// A hall, and somebody with two tickets.
fn venue() -> (Server, Caller, i64, i64) {
    let (server, all) = Server::with_api();
    let hall = all.device(&json!({"name": "Hall", "code": "Hall-1"}));
    let ada = json!({"firstName": "Ada", "barcode": "T7XQ2-AB", "rfid": "zq7w4e2x9v6b"});
    let ada = all.delegate(&ada);
    (server, all, hall, ada)
}

fn scan(all: &Caller, code: &str, hall: i64) -> crate::harness::Reply {
    all.scan("check-in", format!("scan:{code}"), hall)
}

#[test]
fn a_ticket_counts_however_its_scanner_sends_it() {
    let (server, all, hall, ada) = venue();
    let found = |code: &str| scan(&all, code, hall).data()["firstDelegate"]["id"].clone();
    for code in [
        "T7XQ2-AB",
        "]Q1T7XQ2-AB",
        "]C1T7XQ2-AB",
        "t7xq2-ab",
        "ZQ7W4E2X9V6B",
        "T7XQ2-AB ",
        "T7XQ2-AB\r\n",
        "\u{feff}T7XQ2-AB",
    ] {
        assert_eq!(found(code), ada, "{code:?}");
    }
    all.get("/delegate/scan:%5DQ1t7xq2-ab%0D%0A")
        .shows("id", ada);
    // A selector that names its kind is compared exactly.
    all.get("/delegate/barcode:t7xq2-ab")
        .refused(404, 1301, "t7xq2-ab");
    // Places are scanned as well, as stands are for leads.
    let at = json!({"firstDelegate": ada, "firstDevice": "scan:]Q1hall-1\n"});
    assert_eq!(all.interacted("check-in", &at)["firstDevice"]["id"], hall);
    for code in [
        "https://tickets.example/c/T7XQ2-AB",
        "{\"ticket\":\"T7XQ2-AB\"}",
    ] {
        scan(&all, code, hall).refused(404, 1301, "unknown code");
    }
    server.settings(&json!({"scans": {"code": URL}}));
    assert_eq!(found("https://tickets.example/c/t7xq2-ab?utm=1"), ada);
    assert_eq!(found("]Q1T7XQ2-AB"), ada);
    server.settings(&json!({"scans": {"code": "\"ticket\":*\"(*)\""}}));
    assert_eq!(found("{\"ticket\": \"T7XQ2-AB\"}"), ada);
    server.settings(&json!({"scans": null}));
    scan(&all, "{\"ticket\":\"T7XQ2-AB\"}", hall).refused(404, 1301, "unknown code");
}

#[test]
fn the_exact_text_comes_first_and_what_is_not_one_persons_is_nobodys() {
    let (server, all, hall, _) = venue();
    let exact = all.delegate(&json!({"firstName": "Bo", "barcode": "]Q1T7XQ2-AB"}));
    let reply = scan(&all, "]Q1T7XQ2-AB", hall);
    assert_eq!(reply.data()["firstDelegate"]["id"], exact);
    for code in ["aBc9", "AbC9"] {
        all.delegate(&json!({"firstName": code, "barcode": code}));
    }
    assert_eq!(scan(&all, "AbC9", hall).status, 201);
    scan(&all, "ABC9", hall).refused(404, 1301, "unknown code ABC9: more than one person");
    // Nobody may come in with a code that is blocked, however it is written.
    let crew = server.crew(ConsoleRole::Operator);
    let eve = all.delegate(&json!({"firstName": "Eve", "barcode": "LOST-7"}));
    let sent = [
        ("kind", "barcode"),
        ("reason", "reported lost"),
        ("new", ""),
    ];
    crew.post(&format!("/console/delegates/{eve}/badge/barcode"), &sent);
    server.sql(&format!(
        "INSERT OR IGNORE INTO blocked_codes (kind, value, delegate_id, reason, actor, at)
         VALUES ('barcode', 'LOST-7', {eve}, 'reported lost', 'test', 0);
         UPDATE delegates SET barcode = NULL WHERE id = {eve}"
    ));
    scan(&all, "]Q1lost-7", hall).refused(404, 1301, "this badge was reported lost");
    let refused = format!("refusals WHERE delegate_id = {eve} AND code = 1301");
    assert_eq!(server.count(&refused), 1);
    // A deleted ticket that a gate let in is a conflict of its holder.
    let gone = all.delegate(&json!({"firstName": "Gus", "barcode": "GONE-7"}));
    all.delete(&format!("/delegate/id:{gone}")).is(204);
    let admitted =
        json!({"firstDelegate": "scan:gone-7\r\n", "firstDevice": hall, "admitted": true});
    assert_eq!(
        all.interacted("check-in", &admitted)["firstDelegate"]["id"],
        gone
    );
    assert_eq!(server.count("conflicts"), 1);
}

#[test]
fn an_admitted_scan_waits_for_its_code_however_it_was_sent() {
    let (server, all, hall, _) = venue();
    server.settings(&json!({"scans": {"code": URL}}));
    for (at, code) in [
        "]Q1late-9\r\n",
        "LATE-9",
        "https://tickets.example/c/late-9",
    ]
    .iter()
    .enumerate()
    {
        let scan = json!({
            "firstDelegate": format!("scan:{code}"), "firstDevice": hall, "admitted": true, "nonce": format!("n{at}"),
        });
        let reply = all.interact("check-in", &scan);
        assert_eq!(
            (reply.status, &reply.body["meta"]["unknown"]),
            (201, &json!(true))
        );
        // The same scan again is the same scan.
        assert_eq!(
            all.interact("check-in", &scan).body["meta"]["unknown"],
            true
        );
    }
    let late = all.delegate(&json!({"firstName": "Lea", "barcode": "LATE-9"}));
    let search = json!({"search": {"==": ["firstDelegate", late]}});
    assert_eq!(all.post("/interaction/list", &search).list().len(), 3);
    assert_eq!(server.count("refusals"), 0);
    let inside = format!("SELECT inside FROM occupancy WHERE device_id = {hall}");
    assert_eq!(server.value::<i64>(&inside), 1);
    server.done(&["check"]);
}

#[test]
fn gates_are_told_the_part_that_is_the_code_and_kiosks_read_what_is_typed() {
    let venue = Venue::new();
    let ada = venue
        .all
        .delegate(&json!({"firstName": "Ada", "barcode": "T7XQ2-AB", "externalId": "4711"}));
    let find = |code: &str| -> Vec<Value> {
        let body = json!({"place": venue.room, "code": code});
        let found = venue.gate.post("/gate/find", &body);
        found
            .list()
            .iter()
            .map(|person| person["id"].clone())
            .collect()
    };
    assert_eq!(find("]Q1t7xq2-ab "), [ada]);
    // Other codes are no proof, however they are scanned.
    assert_eq!(find("]Q14711"), [0; 0]);
    assert_eq!(venue.gate.read("/gate")["scans"], Value::Null);
    venue.server.settings(&json!({"scans": {"code": URL}}));
    assert_eq!(venue.gate.read("/gate")["scans"], json!({"code": URL}));
    assert_eq!(find("https://tickets.example/c/T7XQ2-AB"), [ada]);
    let search = |q: &str| {
        let path = format!("/gate/search?place={}&q={q}", venue.room);
        venue.gate.get(&path).list().len()
    };
    assert_eq!((search("%5DQ1t7xq2-ab"), search("%5DQ1t7xq2-ac")), (1, 0));
}

#[test]
fn the_part_that_is_the_code_is_checked() {
    let (server, ..) = venue();
    let file = |name: &str, scans: &Value| {
        server.file(name, &json!({"settings": {"scans": scans}}).to_string())
    };
    let good = json!({"code": URL});
    server.done(&["config", "apply", &file("good.json", &good)]);
    let exported: Value = serde_json::from_str(&server.done(&["config", "export"])).expect("JSON");
    assert_eq!(exported["settings"]["scans"], good);
    let changed = "audit WHERE record_type = 'settings' AND after ->> '$.scans.code' IS NOT NULL";
    assert_eq!(server.count(changed), 1);
    for (bad, about) in [
        (
            json!({"code": "https://x/"}),
            "scans.code: must have (*) once",
        ),
        (json!({"code": "(*)"}), "scans.code: must have text"),
        (json!(URL), "scans: must be"),
        (json!({"code": URL, "more": 1}), "scans: must be"),
    ] {
        let checked =
            gatepost::core::settings::check(json!({"scans": bad}).as_object().expect("settings"));
        let cause = checked.expect_err("it is no pattern").to_string();
        assert!(cause.contains(about), "{cause}");
    }
}
