//! A power failure takes nothing that was answered 2xx: what it promises was synced to the disk
//! before it went out. Seen in the server's system calls.

use super::{
    process::Site,
    trace::{self, Traced, Verdict, mark},
    wire::{Wire, post, request},
};
use serde_json::{Value, json};
use std::{collections::HashSet, path::Path, thread};

const SEQUENTIAL: usize = 40;
const GATES: usize = 8;
const EACH: usize = 12;

fn check_in(site: &Site, number: usize) -> Vec<u8> {
    let body = json!({
        "delegate": site.delegates[number % 24], "device": site.devices[number % 3],
        "nonce": format!("n-{number}"), "data": {"mark": mark(number)},
    });
    post("/interaction/new/check-in", &site.token, &body)
}

fn batch(site: &Site, numbers: std::ops::Range<usize>) -> Vec<u8> {
    let items: serde_json::Map<String, Value> = numbers
        .map(|number| {
            let item = json!({"interactionType": "check-out", "delegate": site.delegates[0],
                "device": site.devices[0], "data": {"mark": mark(number)}});
            (number.to_string(), item)
        })
        .collect();
    let key = "Idempotency-Key: k\r\n";
    let body = json!({"interactions": items}).to_string();
    request("POST", "/interaction/batch", key, &site.token, &body)
}

/// Whatever a client can be promised, one after the other on one connection; how many of the
/// answers carry a mark.
fn send_one_after_the_other(wire: &mut Wire, site: &Site) -> usize {
    let mut call = |request: &[u8]| {
        let answer = wire.call(request).expect("an answer");
        assert!((200..300).contains(&answer.status), "{answer:?}");
        answer.body["data"]["id"].as_i64()
    };
    for number in 0..SEQUENTIAL {
        call(&check_in(site, number));
    }
    call(&batch(site, SEQUENTIAL..SEQUENTIAL + 5));
    let last = SEQUENTIAL + 5;
    let id = call(&post(
        "/delegate/new",
        &site.token,
        &json!({"firstName": mark(last)}),
    ));
    let patch = json!({"lastName": mark(last + 1)}).to_string();
    let path = format!("/delegate/id:{}", id.expect("an id"));
    call(&request("PATCH", &path, "", &site.token, &patch));
    last + 2
}

fn send_at_once(served: &super::process::Served, site: &Site) -> usize {
    thread::scope(|scope| {
        for gate in 0..GATES {
            let mut wire = served.wire();
            scope.spawn(move || {
                for number in 0..EACH {
                    let answer = wire.call(&check_in(site, gate * EACH + number));
                    answer.expect("an answer").is(201);
                }
            });
        }
    });
    GATES * EACH
}

/// Every request that was sent is among the answers that were judged: otherwise the judge is blind.
fn assert_all_seen(verdict: &Verdict, count: usize) {
    let seen: HashSet<&str> = verdict.answered.iter().map(String::as_str).collect();
    for number in 0..count {
        assert!(
            seen.contains(&*mark(number)),
            "the answer to {number} is not in the trace"
        );
    }
}

#[test]
fn what_is_answered_is_on_the_disk() {
    let site = Site::prepare();
    let traced = Traced::start(&site.db, &[], &[]);
    let count = send_one_after_the_other(&mut traced.served.wire(), &site);
    let calls = traced.end();
    let by_mark = trace::judge_marks(&calls);
    assert_all_seen(&by_mark, count);
    assert_eq!(by_mark.broken, Vec::<String>::new());
    let all = trace::judge_all(&calls);
    // The batch has one answer for its five items.
    assert_eq!(all.answered.len(), count - 4);
    assert_eq!(all.broken, Vec::<String>::new());
    assert!(trace::folder_is_synced(&calls, &real(site.folder.path())));
}

#[test]
fn what_is_answered_to_many_at_once_is_on_the_disk() {
    let site = Site::prepare();
    let traced = Traced::start(&site.db, &[], &[]);
    let count = send_at_once(&traced.served, &site);
    let verdict = trace::judge_marks(&traced.end());
    assert_all_seen(&verdict, count);
    assert_eq!(verdict.broken, Vec::<String>::new());
}

/// The control: with less durability the same judges must find answers that went out too early.
#[test]
fn without_a_sync_at_each_commit_the_trace_says_so() {
    let site = Site::prepare();
    let traced = Traced::start(&site.db, &["--durability", "normal"], &[]);
    let count = send_one_after_the_other(&mut traced.served.wire(), &site);
    let calls = traced.end();
    let verdict = trace::judge_marks(&calls);
    assert_all_seen(&verdict, count);
    assert!(verdict.broken.len() > count / 2, "{:?}", verdict.broken);
    assert!(trace::judge_all(&calls).broken.len() > SEQUENTIAL / 2);
}

/// As the kernel calls it.
fn real(folder: &Path) -> std::path::PathBuf {
    folder.canonicalize().expect("the folder")
}

#[test]
fn without_a_sync_at_each_commit_the_trace_of_many_says_so() {
    let site = Site::prepare();
    let traced = Traced::start(&site.db, &["--durability", "normal"], &[]);
    let count = send_at_once(&traced.served, &site);
    let verdict = trace::judge_marks(&traced.end());
    assert_all_seen(&verdict, count);
    assert!(!verdict.broken.is_empty());
}
