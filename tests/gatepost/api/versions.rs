//! `ETag` and `If-Match`: who reads, changes and writes back loses nothing (contract §2).

use crate::harness::{Caller, Reply, Server, Whole, reply, whole};
use reqwest::Method;
use serde_json::{Value, json};

fn get(caller: &Caller<'_>, path: &str) -> Whole {
    whole(caller.request(Method::GET, path))
}

fn patch(caller: &Caller<'_>, path: &str, version: &str, body: &Value) -> Whole {
    let request = caller.request(Method::PATCH, path);
    whole(request.header("If-Match", version).json(body))
}

fn delete(caller: &Caller<'_>, path: &str, version: &str) -> Reply {
    reply(
        caller
            .request(Method::DELETE, path)
            .header("If-Match", version),
    )
}

/// A kind of record: where it is created and found, and a property of its own.
const KINDS: [(&str, &str); 3] = [
    ("delegate", "company"),
    ("device", "category"),
    ("event", "eventName"),
];

#[test]
fn a_change_of_what_somebody_else_changed_is_refused() {
    let server = Server::start();
    let caller = server.caller_with_all();
    for (kind, property) in KINDS {
        let made = whole(
            caller
                .request(Method::POST, &format!("/{kind}/new"))
                .json(&json!({property: "a"})),
        );
        let path = format!("/{kind}/id:{}", made.reply.id());
        let seen = get(&caller, &path).header("etag").to_owned();
        assert!(seen.starts_with('"') && seen.ends_with('"'), "{seen}");
        assert_eq!(made.header("etag"), seen, "{kind}");
        // Whoever knows the version may change it, and gets the next one.
        let changed = patch(&caller, &path, &seen, &json!({property: "b"}));
        assert_eq!(changed.reply.status, 200, "{changed:?}");
        let next = changed.header("etag");
        assert_ne!(next, seen, "{kind}");
        assert_eq!(get(&caller, &path).header("etag"), next, "{kind}");
        // Somebody who saw the one before does not overwrite that.
        let late = patch(&caller, &path, &seen, &json!({property: "c"})).reply;
        late.refused(412, 1111, kind);
        delete(&caller, &path, &seen).refused(412, 1111, "If-Match");
        assert_eq!(get(&caller, &path).reply.data()[property], "b");
        // One of several, a weak one by a proxy, and any.
        let several = format!("\"0\", W/{next}");
        let changed = patch(&caller, &path, &several, &json!({property: "d"}));
        assert_eq!(changed.reply.status, 200, "{changed:?}");
        let changed = patch(&caller, &path, "*", &json!({property: "e"}));
        assert_eq!(changed.reply.status, 200, "{changed:?}");
        let last = changed.header("etag").to_owned();
        assert_eq!(delete(&caller, &path, &last).status, 204);
        assert_eq!(delete(&caller, &path, &last).status, 404);
    }
}

#[test]
fn changes_one_after_the_other_are_versions_of_their_own() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let path = format!("/delegate/id:{}", caller.delegate(&json!({})));
    let mut versions = vec![get(&caller, &path).header("etag").to_owned()];
    for number in 0..20 {
        let seen = versions.last().expect("a version").clone();
        let changed = patch(
            &caller,
            &path,
            &seen,
            &json!({"company": number.to_string()}),
        );
        assert_eq!(changed.reply.status, 200, "{changed:?}");
        versions.push(changed.header("etag").to_owned());
    }
    versions.sort_unstable();
    versions.dedup();
    assert_eq!(versions.len(), 21);
    // Within one millisecond, too: the record's time is that of the clock, or just ahead of it.
    let now_ms = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";
    server.sql(&format!("UPDATE delegates SET updated_at = {now_ms} + 900"));
    let ahead = get(&caller, &path).header("etag").to_owned();
    let changed = patch(&caller, &path, &ahead, &json!({"company": "x"}));
    assert_eq!(changed.reply.status, 200, "{changed:?}");
    assert_ne!(changed.header("etag"), ahead);
    // A clock that was put right is followed.
    server.sql(&format!(
        "UPDATE delegates SET updated_at = {now_ms} + 3600000"
    ));
    caller.patch(&path, &json!({"company": "y"}));
    let late: bool = server.value(&format!(
        "SELECT updated_at > {now_ms} + 60000 FROM delegates"
    ));
    assert!(!late);
}

#[test]
fn interactions_and_an_empty_change_leave_the_version_alone() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let delegate = caller.delegate(&json!({}));
    let device = caller.device(&json!({}));
    let paths = [
        format!("/delegate/id:{delegate}"),
        format!("/device/id:{device}"),
    ];
    let seen = paths
        .each_ref()
        .map(|path| get(&caller, path).header("etag").to_owned());
    caller
        .interact("check-in", &json!({"delegate": delegate, "device": device}))
        .id();
    for (path, seen) in paths.iter().zip(&seen) {
        assert_eq!(get(&caller, path).header("etag"), seen);
        let same = patch(&caller, path, seen, &json!({}));
        assert_eq!((same.reply.status, same.header("etag")), (200, &**seen));
    }
    // There is no 304, and a list has no version.
    let request = caller.request(Method::GET, &paths[0]);
    let again = whole(request.header("If-None-Match", &seen[0]));
    assert_eq!(again.reply.status, 200);
    assert_eq!(get(&caller, "/delegate/list").header("etag"), "");
}

#[test]
fn a_user_changes_its_own_record_by_its_version() {
    let server = Server::start();
    let own = server.caller_with_all().delegate(&json!({}));
    let user = server.caller_as_user("ada@example.org", &[], Some(own));
    let path = "/delegate/myself";
    let seen = get(&user, path).header("etag").to_owned();
    let changed = patch(&user, path, &seen, &json!({"company": "a"}));
    assert_eq!(changed.reply.status, 200, "{changed:?}");
    patch(&user, path, &seen, &json!({"company": "b"}))
        .reply
        .refused(412, 1111, "");
    delete(&user, path, &seen).refused(412, 1111, "");
    assert_eq!(delete(&user, path, changed.header("etag")).status, 204);
}

#[test]
fn a_version_that_cannot_be_read_changes_nothing() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let path = format!("/device/id:{}", caller.device(&json!({"name": "a"})));
    let twice = caller
        .request(Method::PATCH, &path)
        .header("If-Match", "\"1\"")
        .header("If-Match", "\"2\"");
    reply(twice.json(&json!({"name": "b"}))).refused(400, 1100, "If-Match");
    let odd = caller.request(Method::PATCH, &path).header("If-Match", "é");
    reply(odd.json(&json!({"name": "b"}))).refused(400, 1100, "If-Match");
    patch(&caller, &path, " ", &json!({"name": "b"}))
        .reply
        .refused(400, 1100, "If-Match");
    for other in ["\"0\"", "0", "\"*\""] {
        patch(&caller, &path, other, &json!({"name": "b"}))
            .reply
            .refused(412, 1111, "");
    }
    assert_eq!(get(&caller, &path).reply.data()["name"], "a");
}

#[test]
fn an_interaction_has_a_version_of_its_own() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let delegate = caller.delegate(&json!({}));
    let scan = json!({"delegate": delegate, "data": {"a": 1}});
    let ids = [(); 2].map(|()| caller.interact("lead", &scan).id());
    let [one, other] = ids.map(|id| {
        let shown = get(&caller, &format!("/interaction/id:{id}"));
        shown.header("etag").to_owned()
    });
    assert_ne!(one, other);
    let path = format!("/interaction/{}", ids[0]);
    delete(&caller, &path, &other).refused(412, 1111, "interaction");
    assert_eq!(delete(&caller, &path, &one).status, 204);
    delete(&caller, &path, &one).refused(404, 1504, "");
}
