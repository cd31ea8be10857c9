//! A real hub: what strangers send to it is bounded.

use crate::faults::{
    process::{Served, gatepost, told, until},
    wire::{Answer, Wire},
};
use flate2::{Compression, write::GzEncoder};
use serde_json::{Value, json};
use std::io::Write;

fn packed(text: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(text).expect("packed");
    packed.finish().expect("packed")
}

/// Sends a packed body to the hub, on a connection of its own.
fn send(hub: &Served, path: &str, bearer: &str, body: &[u8]) -> Answer {
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {bearer}\r\nContent-Encoding: gzip\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let mut wire = Wire::open(hub.address).expect("a connection");
    let request = [head.as_bytes(), body].concat();
    wire.call(&request).expect("an answer")
}

#[test]
fn what_strangers_send_to_a_hub_is_bounded() {
    let folder = tempfile::tempdir().expect("a folder");
    let db = folder.path().join("hub.db");
    let hub = Served::start_hub(&db);
    let added = gatepost(&db, &["hub", "venue", "add", "North", "--json"]);
    let added: Value = serde_json::from_slice(&added.stdout).expect("JSON");
    let pair = |code: &Value| {
        let asked = json!({"code": code, "file": "17", "epoch": 0, "version": "1"});
        send(&hub, "/hub/pair", "", &packed(asked.to_string().as_bytes()))
    };
    let paired = pair(&added["code"]);
    assert_eq!(paired.status, 200, "{paired:?}");
    let secret = paired.body["secret"].as_str().expect("a secret").to_owned();
    // A code is good once.
    assert_eq!(pair(&added["code"]).status, 401);
    // A megabyte that unpacks to more than a hub holds, and nothing of it for who is nobody.
    let bomb = packed(&vec![b' '; (16 << 20) + 1]);
    assert_eq!(send(&hub, "/hub/changes", &secret, &bomb).status, 413);
    assert_eq!(send(&hub, "/hub/changes", "nobody", &bomb).status, 401);
    let large = vec![b'x'; (4 << 20) + 1];
    assert_eq!(send(&hub, "/hub/changes", &secret, &large).status, 413);
    assert_eq!(send(&hub, "/hub/pair", "", &bomb).status, 413);
    // Codes cannot be guessed for long.
    let refused = (0..200).map(|_| pair(&"AAAA-AAAA-AAAA".into()));
    let refused: Vec<Answer> = refused.take_while(|answer| answer.status == 401).collect();
    assert!(refused.len() < 200);
    let held = pair(&"AAAA-AAAA-AAAA".into());
    assert_eq!(held.status, 429, "{held:?}");
    assert!(held.header("retry-after").is_some(), "{held:?}");
    hub.stop();
}

#[test]
fn a_hub_that_ends_lets_venues_go_that_wait() {
    let folder = tempfile::tempdir().expect("a folder");
    let db = folder.path().join("hub.db");
    let hub = Served::start_hub(&db);
    let added: Value = told(&db, &["hub", "venue", "add", "North", "--json"]);
    let asked = json!({"code": added["code"], "file": "17", "epoch": 0, "version": "1"});
    let paired = send(&hub, "/hub/pair", "", &packed(asked.to_string().as_bytes()));
    let secret = paired.body["secret"].as_str().expect("a secret").to_owned();
    let ask = |query: &str| {
        let path = format!("/hub/down?{query}");
        format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {secret}\r\n\r\n")
    };
    // Until there is nothing more to be told, an answer comes at once.
    let mut wire = hub.wire();
    let mut since = String::new();
    until("all is told", || {
        let answer = wire
            .call(ask(&format!("{since}wait=0")).as_bytes())
            .expect("an answer");
        let is_all = answer.body["items"] == json!([]) && answer.body["configuration"].is_null();
        since = format!(
            "since={}&",
            answer.body["cursor"].as_str().expect("a cursor")
        );
        is_all && answer.body["reset"] == false
    });
    let waiting = ask(&format!("{since}wait=30"));
    let answer = std::thread::spawn(move || wire.call(waiting.as_bytes()));
    // By the time that a shorter wait is over, the longer one is under way.
    let shorter = ask(&format!("{since}wait=1"));
    hub.wire().call(shorter.as_bytes()).expect("an answer");
    hub.stop();
    let answer = answer.join().expect("a thread").expect("an answer");
    assert_eq!(answer.status, 200, "{answer:?}");
}
