//! `ETag` and `If-Match`: who reads, changes and writes back loses nothing (contract §2).

use crate::harness::{Caller, Reply, Server, Whole, reply, whole};
use reqwest::Method;
use serde_json::{Value, json};

fn get(api: &Caller, path: &str) -> Whole {
    whole(api.request(Method::GET, path))
}

fn patch(api: &Caller, path: &str, version: &str, body: &Value) -> Whole {
    let request = api.request(Method::PATCH, path);
    whole(request.header("If-Match", version).json(body))
}

fn delete(api: &Caller, path: &str, version: &str) -> Reply {
    reply(
        api.request(Method::DELETE, path)
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
    let (_server, api) = Server::with_api();
    for (kind, property) in KINDS {
        let made = whole(
            api.request(Method::POST, &format!("/{kind}/new"))
                .json(&json!({property: "a"})),
        );
        let path = format!("/{kind}/id:{}", made.reply.id());
        let seen = get(&api, &path).header("etag").to_owned();
        assert!(seen.starts_with('"') && seen.ends_with('"'), "{seen}");
        assert_eq!(made.header("etag"), seen, "{kind}");
        // Whoever knows the version may change it, and gets the next one.
        let changed = patch(&api, &path, &seen, &json!({property: "b"}));
        assert_eq!(changed.reply.status, 200, "{changed:?}");
        let next = changed.header("etag");
        assert_ne!(next, seen, "{kind}");
        assert_eq!(get(&api, &path).header("etag"), next, "{kind}");
        // Somebody who saw the one before does not overwrite that.
        let late = patch(&api, &path, &seen, &json!({property: "c"})).reply;
        late.refused(412, 1111, kind);
        delete(&api, &path, &seen).refused(412, 1111, "If-Match");
        assert_eq!(get(&api, &path).reply.data()[property], "b");
        // A weak one matches nothing; one of several does, and any.
        let weak = patch(&api, &path, &format!("W/{next}"), &json!({property: "c"}));
        weak.reply.refused(412, 1111, "weak");
        let several = format!("W/\"0\", {next}");
        let changed = patch(&api, &path, &several, &json!({property: "d"}));
        assert_eq!(changed.reply.status, 200, "{changed:?}");
        let changed = patch(&api, &path, "*", &json!({property: "e"}));
        assert_eq!(changed.reply.status, 200, "{changed:?}");
        let last = changed.header("etag").to_owned();
        delete(&api, &path, &last).is(204);
        delete(&api, &path, &last).is(404);
    }
}

#[test]
fn changes_one_after_the_other_are_versions_of_their_own() {
    let (server, api) = Server::with_api();
    let path = format!("/delegate/id:{}", api.delegate(&json!({})));
    let mut versions = vec![get(&api, &path).header("etag").to_owned()];
    for number in 0..20 {
        let seen = versions.last().expect("a version").clone();
        let changed = patch(&api, &path, &seen, &json!({"company": number.to_string()}));
        assert_eq!(changed.reply.status, 200, "{changed:?}");
        versions.push(changed.header("etag").to_owned());
    }
    versions.sort_unstable();
    versions.dedup();
    assert_eq!(versions.len(), 21);
    // Within one millisecond, too: the record's time is that of the clock, or just ahead of it.
    let now_ms = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";
    server.sql(&format!("UPDATE delegates SET updated_at = {now_ms} + 900"));
    let ahead = get(&api, &path).header("etag").to_owned();
    let changed = patch(&api, &path, &ahead, &json!({"company": "x"}));
    assert_eq!(changed.reply.status, 200, "{changed:?}");
    assert_ne!(changed.header("etag"), ahead);
    // A clock that was put right is followed.
    server.sql(&format!(
        "UPDATE delegates SET updated_at = {now_ms} + 3600000"
    ));
    api.patch(&path, &json!({"company": "y"}));
    let late: bool = server.value(&format!(
        "SELECT updated_at > {now_ms} + 60000 FROM delegates"
    ));
    assert!(!late);
}

#[test]
fn interactions_and_an_empty_change_leave_the_version_alone() {
    let (_server, api) = Server::with_api();
    let delegate = api.delegate(&json!({}));
    let device = api.device(&json!({}));
    let paths = [
        format!("/delegate/id:{delegate}"),
        format!("/device/id:{device}"),
    ];
    let seen = paths
        .each_ref()
        .map(|path| get(&api, path).header("etag").to_owned());
    api.scan("check-in", delegate, device).id();
    for (path, seen) in paths.iter().zip(&seen) {
        assert_eq!(get(&api, path).header("etag"), seen);
        let same = patch(&api, path, seen, &json!({}));
        assert_eq!((same.reply.status, same.header("etag")), (200, &**seen));
    }
    // There is no 304, and a list has no version.
    let request = api.request(Method::GET, &paths[0]);
    let again = whole(request.header("If-None-Match", &seen[0]));
    assert_eq!(again.reply.status, 200);
    assert_eq!(get(&api, "/delegate/list").header("etag"), "");
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
    delete(&user, path, changed.header("etag")).is(204);
}

#[test]
fn a_version_that_cannot_be_read_changes_nothing() {
    let (_server, api) = Server::with_api();
    let path = format!("/device/id:{}", api.device(&json!({"name": "a"})));
    let twice = api
        .request(Method::PATCH, &path)
        .header("If-Match", "\"1\"")
        .header("If-Match", "\"2\"");
    reply(twice.json(&json!({"name": "b"}))).invalid("If-Match");
    let odd = api.request(Method::PATCH, &path).header("If-Match", "é");
    reply(odd.json(&json!({"name": "b"}))).invalid("If-Match");
    patch(&api, &path, " ", &json!({"name": "b"}))
        .reply
        .invalid("If-Match");
    for other in ["\"0\"", "0", "\"*\""] {
        patch(&api, &path, other, &json!({"name": "b"}))
            .reply
            .refused(412, 1111, "");
    }
    assert_eq!(get(&api, &path).reply.data()["name"], "a");
}

#[test]
fn an_interaction_has_a_version_of_its_own() {
    let (_server, api) = Server::with_api();
    let delegate = api.delegate(&json!({}));
    let scan = json!({"delegate": delegate, "data": {"a": 1}});
    let ids = [(); 2].map(|()| api.interact("lead", &scan).id());
    let [one, other] = ids.map(|id| {
        let shown = get(&api, &format!("/interaction/id:{id}"));
        shown.header("etag").to_owned()
    });
    assert_ne!(one, other);
    let path = format!("/interaction/{}", ids[0]);
    delete(&api, &path, &other).refused(412, 1111, "interaction");
    delete(&api, &path, &one).is(204);
    delete(&api, &path, &one).refused(404, 1504, "");
}
