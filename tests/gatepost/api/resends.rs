//! `Idempotency-Key`: what is sent again creates nothing twice (contract §6).

use crate::harness::{Caller, Reply, Server, reply};
use reqwest::Method;
use serde_json::{Value, json};

fn post(api: &Caller, path: &str, key: &str, body: &Value) -> Reply {
    let request = api.request(Method::POST, path);
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
    let (api, other) = (server.caller_with_all(), server.caller_with_all());
    for (kind, property) in KINDS {
        let path = format!("/{kind}/new");
        let body = json!({property: "a"});
        let key = format!("{kind}-1");
        let first = post(&api, &path, &key, &body);
        assert_eq!(first.status, 201, "{first:?}");
        // As it was answered, whatever became of the record since.
        api.patch(
            &format!("/{kind}/id:{}", first.id()),
            &json!({property: "b"}),
        );
        post(&api, &path, &key, &body).repeats(&first);
        post(&api, &path, &key, &json!({property: "c"})).refused(409, 1109, "Idempotency-Key");
        // It is of one operation and one client.
        assert_ne!(post(&other, &path, &key, &body).id(), first.id());
    }
    post(&api, "/event/new", "device-1", &json!({})).refused(409, 1109, "");
    // Bodies are compared as parsed.
    let body = json!({"firstName": "Ada", "data": {"Data": {"a": 1, "b": 2}}});
    let made = post(&api, "/delegate/new", "k", &body);
    let reordered = json!({"data": {"Data": {"b": 2, "a": 1}}, "firstName": "Ada"});
    post(&api, "/delegate/new", "k", &reordered).repeats(&made);
    // The answer outlives the record; after seven days the key may be used anew.
    api.delete(&format!("/delegate/id:{}", made.id()));
    post(&api, "/delegate/new", "k", &body).repeats(&made);
    server.sql("UPDATE idempotency_keys SET created_at = created_at - 7 * 86400000 - 1");
    let anew = post(&api, "/delegate/new", "k", &json!({"firstName": "Eve"}));
    assert_ne!(anew.id(), made.id());
}

#[test]
fn a_refusal_uses_no_key_up() {
    let (_server, api) = Server::with_api();
    let taken = api.device(&json!({"code": "x"}));
    let body = json!({"code": "x"});
    post(&api, "/device/new", "k", &body).refused(409, 1105, "code");
    api.delete(&format!("/device/id:{taken}"));
    post(&api, "/device/new", "k", &body).is(201);
}

#[test]
fn a_key_that_cannot_be_kept_is_refused() {
    let (server, api) = Server::with_api();
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
            post(&api, path, key, &body).invalid("Idempotency-Key");
        }
        let twice = api.request(Method::POST, path);
        let twice = twice.header("Idempotency-Key", "a");
        let twice = twice.header("Idempotency-Key", "b");
        reply(twice.json(&json!({"interactions": {}}))).invalid("");
    }
    assert_eq!(server.count("devices"), 0);
}
