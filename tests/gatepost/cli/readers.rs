//! `gatepost readers`, by the real binary: what is set up, and a simulated reader tested, recorded and replayed.

use crate::{data::Site, harness::has};
use serde_json::{Value, json};
use std::{
    io::{BufRead, BufReader},
    process::Child,
};

/// A hall, a reader there, and one that is switched off.
fn venue() -> Site {
    let site = Site::new();
    site.done(&["client", "add", "Nobody", "--role", "gate"]);
    let file = site.open();
    let add = |code: &str, kind: &str, available: bool, data: &Value| {
        file.execute(
            "INSERT INTO devices (code, public_id, name, device_type, available, parent_id, data, sources, created_at, updated_at)
             VALUES (?1, ?1, upper(?1), ?2, ?3, (SELECT id FROM devices WHERE code = 'hall'), ?4, '[]', 1, 1)",
            (code, kind, available, data.to_string()),
        )
        .expect("a device");
    };
    add("hall", "room", true, &json!({}));
    let llrp = json!({"Reader": {"protocol": "llrp", "address": "192.0.2.9", "antennas": [
        {"antenna": 1}, {"antenna": 2, "place": "code:nowhere", "zone": "door"}, {"antenna": 3, "zone": "inside"},
    ]}});
    add("ceiling", "rfidreader", true, &llrp);
    add("spare", "rfidreader", false, &json!({}));
    site
}

/// A simulated reader, until it is dropped.
struct Simulated {
    process: Child,
    address: String,
}

impl Simulated {
    fn start(site: &Site) -> Self {
        let listen = [
            "readers",
            "simulate",
            "--listen",
            "127.0.0.1:0",
            "--people",
            "30",
        ];
        let mut process = site.start(&listen);
        let mut line = String::new();
        let mut output = BufReader::new(process.stdout.take().expect("output"));
        output.read_line(&mut line).expect("a line");
        let address = line.trim().strip_prefix("reader 1: ").expect(&line);
        Self {
            address: address.to_owned(),
            process,
        }
    }
}

impl Drop for Simulated {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn readers_are_listed_with_what_is_wrong() {
    let site = venue();
    let told = site.done(&["readers", "list"]);
    has(
        &told,
        [
            "CEILING  llrp  192.0.2.9",
            "at HALL",
            "antenna 1: HALL",
            "problem: Antenna 2",
            "problem: Antenna 3: nothing hears the outer side of its portal",
            "SPARE  switched off",
        ],
    );
    let told = site.told(&["readers", "list"]);
    assert_eq!(
        (&told[0]["protocol"], &told[0]["parent"]),
        (&json!("llrp"), &json!("HALL"))
    );
    assert_eq!(told[1]["switchedOff"], true);
}

#[test]
fn a_simulated_reader_is_tested_recorded_and_replayed() {
    let site = venue();
    let reader = Simulated::start(&site);
    let told = site.told(&["readers", "test", &reader.address, "--seconds", "4"]);
    assert_eq!(told["connected"], true);
    assert_eq!(told["firmware"], "Gatepost emulator");
    assert!(told["tags"].as_u64() > Some(10), "{told}");
    assert!(told["heard"][0]["reads"].as_u64() > Some(10), "{told}");
    let log = site.path("walk.ndjson");
    let record = [
        "readers",
        "record",
        &reader.address,
        "--output",
        &log,
        "--seconds",
        "4",
    ];
    let told = site.told(&record);
    assert!(told["reads"].as_u64() > Some(10), "{told}");
    // A recording is not written over.
    has(site.refused(&record), ["walk.ndjson is there already"]);
    drop(reader);
    let replayed = site.done(&["readers", "replay", &log, "--reader", "code:ceiling"]);
    has(&replayed, ["entered", "exited", "E7E7", "HALL"]);
    // The same log gives the same.
    let again = site.done(&["readers", "replay", &log, "--reader", "code:ceiling"]);
    assert_eq!(again, replayed);
    for (log, reader, about) in [
        (log.as_str(), "code:hall", "rfidreader"),
        (&log, "code:spare", "rfidreader"),
        (
            &site.file("empty.ndjson", "\n"),
            "code:ceiling",
            "there are no reads in it",
        ),
        (
            &site.file("bad.ndjson", "{\"epc\": 7}\n"),
            "code:ceiling",
            "line 1",
        ),
        (&site.path("none.ndjson"), "code:ceiling", "none.ndjson"),
    ] {
        has(
            site.refused(&["readers", "replay", log, "--reader", reader]),
            [about],
        );
    }
    let one = site.file("one.ndjson", "{\"epc\": \"3034\"}\n");
    has(
        site.done(&["readers", "replay", &one, "--reader", "code:ceiling"]),
        ["Nothing follows"],
    );
    // Where nothing was recorded there is no file, and the next try may have its name.
    let missed = site.path("missed.ndjson");
    let record = ["readers", "record", "127.0.0.1:1", "--output", &missed];
    has(
        site.refused(&record),
        ["127.0.0.1:1 refused the connection"],
    );
    assert!(!std::path::Path::new(&missed).exists());
    let nobody = site.run(&["readers", "test", "127.0.0.1:1", "--seconds", "2", "--json"]);
    assert_eq!(nobody.status.code(), Some(1));
    let told: Value = serde_json::from_slice(&nobody.stdout).expect("JSON");
    assert_eq!(told["connected"], false);
}
