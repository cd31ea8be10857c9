//! Limits of the feed and of lists, reached: what did not fit comes next, and nothing twice.

use crate::{
    faults::process::until,
    harness::{Caller, Server},
};
use gatepost::identity::Role;
use serde_json::{Map, Value, json};
use std::io::{BufRead, BufReader};

const LARGE: usize = 60;

/// Attendees of 150 KB: their ids.
fn large_attendees(api: &Caller) -> Vec<i64> {
    let data = json!({"photo": "x".repeat(90_000), "more": "y".repeat(60_000)});
    let made = (0..LARGE).map(|_| api.delegate(&json!({"data": {"Data": data}})));
    made.collect()
}

/// The ids of the records on each page of a feed, and its bytes.
fn pages(caller: &Caller, path: &str, since: &str) -> Vec<(Vec<i64>, usize)> {
    let (mut pages, mut since) = (Vec::new(), since.to_owned());
    loop {
        let answer = caller.get(&format!("{path}&since={since}"));
        let ids = answer.list().iter().map(|change| &change["id"]);
        let ids = ids.map(|id| id.as_i64().expect("an id")).collect();
        pages.push((ids, answer.data().to_string().len()));
        since = cursor(&answer.body);
        if answer.body["meta"]["more"] == false {
            return pages;
        }
    }
}

fn cursor(body: &Value) -> String {
    body["meta"]["cursor"]
        .as_str()
        .expect("a cursor")
        .to_owned()
}

/// The cursor behind everything by now.
fn end(caller: &Caller, path: &str) -> String {
    let mut body = caller.get(path).body;
    while body["meta"]["more"] == true {
        body = caller.get(&format!("{path}&since={}", cursor(&body))).body;
    }
    cursor(&body)
}

#[test]
fn a_page_of_the_feed_ends_at_4_mib_and_the_next_goes_on_behind_it() {
    let (server, api) = Server::with_api();
    let place = api.device(&json!({"name": "Hall"}));
    let gate = server.caller(&[Role::Gate]);
    let changes = "/changes?types=delegate".to_owned();
    let snapshot = format!("/gate/snapshot?place={place}");
    let behind = [end(&api, &changes), end(&gate, &snapshot)];
    let people = large_attendees(&api);
    for (caller, path, since) in [(&api, &changes, &behind[0]), (&gate, &snapshot, &behind[1])] {
        let first = caller.get(path);
        let begun = first.list().iter().map(|change| change["id"].as_i64());
        let begun: Vec<i64> = begun.map(|id| id.expect("an id")).collect();
        let size = first.data().to_string().len();
        let mut whole = vec![(begun, size)];
        whole.extend(pages(caller, path, &cursor(&first.body)));
        for pages in [whole, pages(caller, path, since)] {
            let told: Vec<i64> = pages.iter().flat_map(|(ids, _)| ids.clone()).collect();
            assert_eq!(told, people, "{path}");
            let (most, record) = (4 * 1024 * 1024, 160_000);
            assert!(pages[0].1 > most && pages.iter().all(|page| page.1 < most + record));
        }
    }
    let stream = api
        .request(reqwest::Method::GET, "/changes/stream?types=delegate")
        .header("Last-Event-ID", &behind[0])
        .send()
        .expect("a stream");
    let lines = BufReader::new(stream).lines();
    let events = lines.filter_map(|line| {
        let line = line.expect("a line");
        let change: Value = serde_json::from_str(line.strip_prefix("data: ")?).expect("JSON");
        change["id"].as_i64()
    });
    assert_eq!(events.take(LARGE).collect::<Vec<_>>(), people);
}

#[test]
fn large_records_are_listed_in_slices_that_leave_none_out() {
    let (_server, api) = Server::with_api();
    let people = large_attendees(&api);
    let guest = api.delegate(&json!({}));
    let note = json!({"delegate": guest, "data": {"note": "z".repeat(150_000)}});
    let leads: Vec<i64> = (0..LARGE)
        .map(|_| api.interact("lead", &note).id())
        .collect();
    let mut all = people.clone();
    all.push(guest);
    let above = json!({"search": {"!=": ["id", guest]}});
    for (listed, expected) in [
        (api.get("/delegate/list"), &all),
        (api.post("/delegate/list", &above), &people),
        (api.get("/interaction/list"), &leads),
        (
            api.post("/interaction/list", &json!({"search": {">": ["id", 0]}})),
            &leads,
        ),
    ] {
        let ids = listed.list().iter().map(|record| record["id"].as_i64());
        assert_eq!(ids.flatten().collect::<Vec<_>>(), *expected);
    }
}

#[test]
fn a_delegate_carries_the_newest_thousand_interactions() {
    let (_server, api) = Server::with_api();
    let guest = api.delegate(&json!({}));
    let lead = json!({"interactionType": "lead", "delegate": guest});
    let leads: Map<String, Value> = (0..1_001)
        .map(|at| (at.to_string(), lead.clone()))
        .collect();
    api.made("/interaction/batch", &json!({"interactions": leads}));
    let all = api.get("/interaction/list").list().clone();
    let shown = api.read(&format!("/delegate/id:{guest}"))["firstInteractions"].clone();
    let ids = |list: &[Value]| list.iter().map(|one| one["id"].clone()).collect::<Vec<_>>();
    assert_eq!(ids(shown.as_array().expect("a list")), ids(&all[1..]));
}

#[test]
fn a_page_without_a_limit_has_a_fixed_length_and_goes_on() {
    let (server, api) = Server::with_api();
    let place = api.device(&json!({"name": "Hall"}));
    let gate = server.caller(&[Role::Gate]);
    server.sql(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10001)
         INSERT INTO delegates (public_id, sources, created_at, updated_at)
         SELECT 'c' || i, '[\"import\"]', 0, 0 FROM n",
    );
    let snapshot = format!("/gate/snapshot?place={place}");
    for (caller, path, length) in [
        (&api, "/changes?types=delegate", 1_000),
        (&api, "/changes?types=delegate&limit=10000", 10_000),
        (&gate, &*snapshot, 2_000),
        (&gate, &*format!("{snapshot}&limit=10000"), 10_000),
    ] {
        let first = caller.get(path);
        assert_eq!(first.list().len(), length, "{path}");
        assert_eq!(first.body["meta"]["more"], true);
        let next = caller.get(&format!("{path}&since={}", cursor(&first.body)));
        let last = &first.list()[length - 1]["id"];
        assert_eq!(next.data()[0]["id"], last.as_i64().expect("an id") + 1);
    }
    let list = api.get("/delegate/list?fields=id");
    assert_eq!(list.list().len(), 5_000);
    let next = list.body["meta"]["pagination"]["next"].as_str();
    let next = api.follow(next.expect("a link"));
    let last = list.list()[4_999]["id"].as_i64().expect("an id");
    assert_eq!(next.data()[0]["id"], last + 1);
    for (more, about) in [
        ("limit=0", "limit"),
        ("limit=10001", "limit"),
        ("wait=61", "wait"),
        ("wait=-1", "wait"),
    ] {
        gate.get(&format!("{snapshot}&{more}")).invalid(about);
    }
}

#[test]
fn what_is_passed_over_is_bounded_and_no_change_behind_it_is_lost() {
    let (server, api) = Server::with_api();
    let place = api.device(&json!({"name": "Hall"}));
    let path = "/changes?types=delegate";
    let since = end(&api, path);
    // Of another type, more than are looked at for one page.
    server.sql(&format!(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 25000)
         INSERT INTO changes (id, at, action, record_type, record_id)
         SELECT (SELECT seq FROM sqlite_sequence WHERE name = 'audit') + i, 0, 'refresh', 'device', {place} FROM n;
         UPDATE sqlite_sequence SET seq = seq + 25000 WHERE name = 'audit'"
    ));
    let ada = api.delegate(&json!({"firstName": "Ada"}));
    let told = pages(&api, path, &since);
    let told: Vec<_> = told.into_iter().map(|(ids, _)| ids).collect();
    assert_eq!(told, [vec![], vec![ada]]);
}

#[test]
fn a_search_at_a_gate_finds_eight() {
    let (server, api) = Server::with_api();
    let place = api.device(&json!({"name": "Hall"}));
    for _ in 0..9 {
        api.delegate(&json!({"lastName": "Lovelace", "email": "ada@example.org"}));
    }
    let gate = server.caller(&[Role::Gate]);
    let found = gate.get(&format!("/gate/search?place={place}&q=lovelace"));
    assert_eq!(found.list().len(), 8);
    let claim = json!({"place": place, "name": "Lovelace", "email": "ada@example.org"});
    assert_eq!(gate.post("/gate/find", &claim).list().len(), 5);
}

#[test]
fn old_changes_go_however_many_they_are() {
    let mut server = Server::start();
    server.sql(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
         INSERT INTO changes (id, at, action, record_type, record_id) SELECT i, 0, 'delete', 'delegate', i FROM n",
    );
    server.restart();
    until("nothing old is left but the newest", || {
        server.count("changes WHERE at = 0") <= 1
    });
}
