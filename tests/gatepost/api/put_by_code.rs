//! `PUT` by a unique code (contract §2): a program that keeps records in step sends each as it is.

use crate::harness::{Caller, Server, Whole, whole};
use reqwest::Method;
use serde_json::{Value, json};
use std::thread;

/// A kind of record: a code of it and a property.
const KINDS: [(&str, &str, &str); 2] = [
    ("delegate", "externalId", "company"),
    ("device", "code", "category"),
];

fn put(api: &Caller, path: &str, body: &Value) -> Whole {
    whole(api.request(Method::PUT, path).json(body))
}

#[test]
fn a_record_is_created_and_then_changed_by_its_code() {
    let (_server, api) = Server::with_api();
    for (kind, code, property) in KINDS {
        let path = format!("/{kind}/{code}:a%2F1");
        let made = put(&api, &path, &json!({property: "one", "slug": "s"}));
        assert_eq!(made.reply.status, 201, "{made:?}");
        let id = made.reply.id();
        assert_eq!(made.header("location"), format!("/api/v5/{kind}/id:{id}"));
        assert_eq!(made.reply.data()[code], "a/1");
        // Absent stays, null clears, and the code may be said again.
        let changed = put(
            &api,
            &path,
            &json!({property: "two", "slug": null, code: "a/1"}),
        );
        assert_eq!(
            (changed.reply.status, changed.header("location")),
            (200, "")
        );
        assert_eq!(
            (changed.reply.id(), &changed.reply.data()[property]),
            (id, &json!("two"))
        );
        let record = api.get(&path);
        assert_eq!(record.data().get("slug"), None);
        assert_eq!(
            changed.header("etag"),
            whole(api.request(Method::GET, &path)).header("etag")
        );
        api.put(&path, &json!({code: "b"})).invalid(code);
        api.put(&path, &json!({code: null})).invalid(code);
        api.put(&format!("/{kind}/id:{id}"), &json!({}))
            .refused(400, 1101, "unique code");
        api.put(&format!("/{kind}/scan:a"), &json!({}))
            .refused(400, 1101, "unique code");
        // A deleted holder is not revived.
        api.delete(&path).is(204);
        assert_ne!(put(&api, &path, &json!({})).reply.id(), id);
    }
}

#[test]
fn a_version_of_what_is_not_there_is_refused() {
    let (_server, api) = Server::with_api();
    let put = |version: &str| {
        let request = api.request(Method::PUT, "/delegate/barcode:A");
        whole(request.header("If-Match", version).json(&json!({}))).reply
    };
    put("*").refused(412, 1111, "no such delegate");
    api.put("/delegate/barcode:A", &json!({})).is(201);
    put("\"0\"").refused(412, 1111, "changed");
    put("*").is(200);
}

#[test]
fn many_at_once_make_one_record() {
    let (_server, api) = Server::with_api();
    let made = thread::scope(|scope| {
        let callers: Vec<_> = (0..8)
            .map(|number| {
                let body = json!({"company": number.to_string()});
                let api = &api;
                scope.spawn(move || api.put("/delegate/barcode:ONE", &body))
            })
            .collect();
        let answers = callers
            .into_iter()
            .map(|caller| caller.join().expect("an answer"));
        answers.filter(|answer| answer.status == 201).count()
    });
    assert_eq!(made, 1);
    assert_eq!(
        api.get("/delegate/list").data().as_array().map(Vec::len),
        Some(1)
    );
}

#[test]
fn what_changes_nothing_is_no_change() {
    let (server, api) = Server::with_api();
    for (kind, code, property) in KINDS {
        let path = format!("/{kind}/{code}:same");
        let body = json!({property: "one", "data": {"Data": {"a": 1, "b": [2.5, "x"]}}});
        put(&api, &path, &body);
        let before = whole(api.request(Method::GET, &path));
        let told = || server.count("audit") + server.count("changes");
        let changes = told();
        let turned = json!({"data": {"Data": {"b": [2.5, "x"], "a": 1}}, property: "one"});
        for body in [&body, &turned, &json!({}), &json!({"slug": null})] {
            put(&api, &path, body).reply.is(200);
            api.patch(&path, body).is(200);
            let mut item = body.clone();
            item[code] = "same".into();
            let batch = json!({format!("{kind}s"): {"a": item}});
            assert_eq!(
                api.post(&format!("/{kind}/batch"), &batch).list()[0]["status"],
                200
            );
        }
        assert_eq!(told(), changes, "{kind}");
        let after = whole(api.request(Method::GET, &path));
        assert_eq!(after.reply, before.reply);
        assert_eq!(after.header("etag"), before.header("etag"));
        // One value that differs is a change.
        api.patch(&path, &json!({"data": {"Data": {"a": 2}}}))
            .is(200);
        assert_eq!(told(), changes + 1);
    }
}
