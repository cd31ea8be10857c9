//! `Idempotency-Key`: what is sent again creates nothing twice (contract §6).

use crate::harness::{Caller, Reply, Server, reply};
use reqwest::Method;
use serde_json::{Value, json};

fn post(caller: &Caller<'_>, path: &str, key: &str, body: &Value) -> Reply {
    let request = caller.request(Method::POST, path);
    reply(request.header("Idempotency-Key", key).json(body))
}

const KINDS: [(&str, &str); 3] = [
    ("delegate", "company"),
    ("device", "category"),
    ("event", "eventName"),
];

#[test]
fn every_record_is_created_once_for_a_key() {
    let server = Server::start();
    let (caller, other) = (server.caller_with_all(), server.caller_with_all());
    for (kind, property) in KINDS {
        let path = format!("/{kind}/new");
        let body = json!({property: "a"});
        let key = format!("{kind}-1");
        let first = post(&caller, &path, &key, &body);
        assert_eq!(first.status, 201, "{first:?}");
        // As it was answered, whatever became of the record since.
        caller.patch(
            &format!("/{kind}/id:{}", first.id()),
            &json!({property: "b"}),
        );
        assert_eq!(post(&caller, &path, &key, &body), first, "{kind}");
        post(&caller, &path, &key, &json!({property: "c"})).refused(409, 1109, "Idempotency-Key");
        // It is of one operation and one client.
        assert_ne!(post(&other, &path, &key, &body).id(), first.id());
    }
    post(&caller, "/event/new", "device-1", &json!({})).refused(409, 1109, "");
}

#[test]
fn a_refusal_uses_no_key_up() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let taken = caller.device(&json!({"code": "x"}));
    let body = json!({"code": "x"});
    post(&caller, "/device/new", "k", &body).refused(409, 1105, "code");
    caller.delete(&format!("/device/id:{taken}"));
    assert_eq!(post(&caller, "/device/new", "k", &body).status, 201);
}

#[test]
fn a_key_that_cannot_be_kept_is_refused() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let paths = [
        "/delegate/new",
        "/device/new",
        "/event/new",
        "/interaction/new/lead",
        "/interaction/batch",
    ];
    for path in paths {
        for key in ["", "é", &"x".repeat(256)] {
            let body = match path {
                "/interaction/batch" => json!({"interactions": {}}),
                "/interaction/new/lead" => json!({"device": "code:x"}),
                _ => json!({}),
            };
            post(&caller, path, key, &body).refused(400, 1100, "Idempotency-Key");
        }
        let twice = caller.request(Method::POST, path);
        let twice = twice.header("Idempotency-Key", "a");
        let twice = twice.header("Idempotency-Key", "b");
        reply(twice.json(&json!({"interactions": {}}))).refused(400, 1100, "");
    }
    assert_eq!(server.value::<i64>("SELECT count(*) FROM devices"), 0);
}
