//! Requests that wait for changes: each client has a share at each address, and whoever has more requests is
//! never told that the server is gone (contract §12).

use crate::harness::{Caller, Server, reply, whole};
use gatepost::identity::Role;
use reqwest::{Method, blocking::RequestBuilder};
use serde_json::json;
use std::{
    sync::mpsc,
    time::{Duration, Instant},
};

const SHARE: usize = 8;
const BUSY: Duration = Duration::from_secs(3);

fn stream(caller: &Caller, cursor: &str) -> RequestBuilder {
    caller.request(Method::GET, &format!("/changes/stream?since={cursor}"))
}

/// The cursor behind everything, of the feed or of the list of a place.
fn cursor(caller: &Caller, path: &str) -> String {
    let mut since = String::new();
    loop {
        let page = caller.get(&format!("{path}{since}"));
        let cursor = page.body["meta"]["cursor"].as_str().expect("a cursor");
        if page.body["meta"]["more"] == false {
            return cursor.to_owned();
        }
        since = format!("&since={cursor}");
    }
}

#[test]
fn over_its_share_a_client_gets_slow_empty_answers_and_others_are_served() {
    let server = Server::start_behind(vec!["127.0.0.1".parse().expect("an address")]);
    let greedy = server.caller_with_all();
    let hall = greedy.device(&json!({"code": "hall"}));
    for name in ["Ada", "Bob", "Lin"] {
        greedy.delegate(&json!({"firstName": name}));
    }
    let (feed, list) = (
        "/changes?limit=2",
        format!("/gate/snapshot?place={hall}&limit=2"),
    );
    let [of_feed, of_list] = [feed, &list].map(|path| cursor(&greedy, path));
    let open = || stream(&greedy, &of_feed).send().expect("an answer");
    let mut streams: Vec<_> = (0..SHARE).map(|_| open()).collect();
    assert!(streams.iter().all(|stream| stream.status() == 200));
    let refused = whole(stream(&greedy, &of_feed));
    refused.reply.refused(429, 1203, "wait for changes already");
    assert_eq!(refused.header("retry-after"), "3");
    // Something is new, and is not looked for.
    greedy.delegate(&json!({"firstName": "Eve"}));
    for (path, since) in [(feed, &of_feed), (&list, &of_list)] {
        let begun = Instant::now();
        let held = greedy.get(&format!("{path}&wait=30&since={since}"));
        assert!(begun.elapsed() >= BUSY, "{path}");
        assert_eq!(held.data(), &json!([]), "{path}");
        assert_eq!(held.body["meta"]["cursor"], json!(since), "{path}");
        assert_eq!(held.body["meta"]["more"], false, "{path}");
        // Who does not ask to be held is answered as ever; a list that begins is never empty.
        assert_eq!(
            greedy.get(&format!("{path}&since={since}")).list().len(),
            1,
            "{path}"
        );
        let first = greedy.get(&format!("{path}&wait=30"));
        assert_eq!(first.list().len(), 2, "{path}");
        let within = first.body["meta"]["cursor"].as_str().expect("a cursor");
        let second = greedy.get(&format!("{path}&wait=30&since={within}"));
        assert!(!second.list().is_empty(), "{path}");
    }
    // Another client, and this one elsewhere, have shares of their own.
    let other = server.caller(&[Role::DelegateRead]);
    let of_other = cursor(&other, feed);
    assert_eq!(
        stream(&other, &of_other).send().expect("a stream").status(),
        200
    );
    let elsewhere = || stream(&greedy, &of_feed).header("x-forwarded-for", "192.0.2.7");
    assert_eq!(elsewhere().send().expect("a stream").status(), 200);
    // A place is given up with its stream.
    streams.pop();
    let begun = Instant::now();
    while open().status() != 200 {
        assert!(
            begun.elapsed() < Duration::from_secs(30),
            "no place is given up"
        );
    }
}

/// Readers of long lists have all their connections in use: whoever follows changes has others.
#[test]
fn followers_do_not_wait_for_lists() {
    let (server, caller) = Server::with_api();
    caller.delegate(&json!({"firstName": "Ada"}));
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let (begin, begun) = mpsc::channel();
    let mut ends = Vec::new();
    for _ in 0..4 {
        let (end, ended) = mpsc::channel::<()>();
        ends.push(end);
        let (app, begin) = (server.app.clone(), begin.clone());
        runtime.spawn(async move {
            let read = app.store.read(move |_| {
                let _ = begin.send(());
                let _ = ended.recv();
                Ok(())
            });
            read.await
        });
    }
    begun.iter().take(4).for_each(drop);
    assert_eq!(caller.get("/changes?types=delegate").list().len(), 1);
    drop(ends);
}

/// Many at once queue; none is refused.
#[test]
fn hundreds_may_begin_at_once() {
    let (server, caller) = Server::with_api();
    let hall = caller.device(&json!({"code": "hall"}));
    for number in 0..200 {
        caller.delegate(&json!({"firstName": "Ada", "barcode": format!("A{number}")}));
    }
    let callers: Vec<_> = (0..10).map(|_| server.caller_with_all()).collect();
    std::thread::scope(|scope| {
        let asked: Vec<_> = (0..200)
            .map(|number| {
                let caller = &callers[number % callers.len()];
                let path = format!("/gate/snapshot?place={hall}&wait=30");
                scope.spawn(move || reply(caller.request(Method::GET, &path)))
            })
            .collect();
        for answer in asked {
            assert_eq!(answer.join().expect("an answer").list().len(), 200);
        }
    });
}
