//! `kill -9` at any moment, and copies that follow the change feed: none misses what was acknowledged.

use super::process::{Served, Site, told};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead, BufReader},
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

const ROUNDS: usize = 4;
/// Writes that were acknowledged before the server is killed.
const WRITES: usize = 40;

/// A client that may read and write everything: its token.
fn client(db: &Path, served: &Served) -> String {
    let roles =
        ["delegate", "interaction"].map(|name| [format!("{name}-read"), format!("{name}-write")]);
    let mut arguments = vec!["client", "add", "copy", "--json", "--role", "gate"];
    for role in roles.as_flattened() {
        arguments.extend(["--role", role]);
    }
    let client = told(db, &arguments);
    super::process::token(&mut served.wire(), &client).expect("a token")
}

/// A copy; it keeps its cursor whatever becomes of the server.
#[derive(Default)]
struct Copy {
    records: BTreeMap<(String, i64), Value>,
    cursor: Option<String>,
}

impl Copy {
    /// Applies a page; whether there is more, or nobody answers.
    fn follow(&mut self, served: &Served, token: &str, limit: usize) -> Option<bool> {
        self.follow_at(served, token, &format!("/changes?limit={limit}"))
    }

    fn follow_at(&mut self, served: &Served, token: &str, path: &str) -> Option<bool> {
        let since = self
            .cursor
            .as_ref()
            .map_or_else(String::new, |cursor| format!("&since={cursor}"));
        let url = format!("http://{}/api/v5{path}{since}", served.address);
        let answer = crate::harness::plain()
            .get(url)
            .bearer_auth(token)
            .send()
            .ok()?;
        let body: Value = answer.json().ok()?;
        for change in body["data"].as_array()? {
            if change["action"] == "reset" {
                self.records.clear();
                continue;
            }
            let key = (change["type"].as_str()?.to_owned(), change["id"].as_i64()?);
            if change["action"] == "upsert" {
                self.records.insert(key, change["data"].clone());
            } else {
                self.records.remove(&key);
            }
        }
        self.cursor = Some(body["meta"]["cursor"].as_str()?.to_owned());
        body["meta"]["more"].as_bool()
    }
}

/// Records, changes and deletes until the server is gone.
fn write(site: &Site, served: &Served, token: &str, done: &AtomicUsize) {
    let http = crate::harness::plain();
    let base = format!("http://{}/api/v5", served.address);
    for n in 0_usize.. {
        let person = site.delegates[n % site.delegates.len()];
        let call = match n % 4 {
            0 => http
                .patch(format!("{base}/delegate/id:{person}"))
                .json(&json!({"firstName": format!("N{n}")})),
            1 => http
                .post(format!("{base}/delegate/new"))
                .json(&json!({"lastName": format!("New {n}")})),
            _ => http
                .post(format!("{base}/interaction/new/seen"))
                .json(&json!({"delegate": person})),
        };
        let Ok(answer) = call.bearer_auth(token).send() else {
            break;
        };
        let Ok(body) = answer.json::<Value>() else {
            break;
        };
        done.fetch_add(1, Ordering::SeqCst);
        if n % 8 == 3 {
            let id = &body["data"]["id"];
            let _ = http
                .delete(format!("{base}/interaction/id:{id}"))
                .bearer_auth(token)
                .send();
        }
    }
}

/// What the lists show of attendees and interactions, as the feed does.
fn lists(served: &Served, token: &str) -> BTreeMap<(String, i64), Value> {
    let mut lists = BTreeMap::new();
    for name in ["delegate", "interaction"] {
        let url = format!("http://{}/api/v5/{name}/list", served.address);
        let answer = crate::harness::plain()
            .get(url)
            .bearer_auth(token)
            .send()
            .expect("a list");
        let body: Value = answer.json().expect("JSON");
        for record in body["data"].as_array().expect("a list") {
            let mut record = record.clone();
            for attached in [
                "children",
                "firstInteractions",
                "secondInteractions",
                "thirdInteractions",
            ] {
                record.as_object_mut().expect("a record").remove(attached);
            }
            lists.insert(
                (name.to_owned(), record["id"].as_i64().expect("an id")),
                record,
            );
        }
    }
    lists
}

#[test]
fn copies_at_two_speeds_equal_the_lists_over_kill_9() {
    let site = Site::prepare();
    let mut served = Served::start(&site.db);
    let token = client(&site.db, &served);
    let (mut quick, mut slow) = (Copy::default(), Copy::default());
    for round in 0..ROUNDS {
        let done = AtomicUsize::new(0);
        thread::scope(|scope| {
            let writing = scope.spawn(|| write(&site, &served, &token, &done));
            while done.load(Ordering::SeqCst) < WRITES + round {
                quick.follow(&served, &token, 7);
            }
            slow.follow(&served, &token, 3);
            super::process::kill_by_id(served.pid());
            writing.join().expect("writes");
        });
        served.kill();
        served = Served::start(&site.db);
    }
    let lists = lists(&served, &token);
    for (copy, limit) in [(&mut quick, 7), (&mut slow, 100)] {
        while copy.follow(&served, &token, limit).expect("an answer") {}
        assert_eq!(copy.records, lists);
    }
}

/// Adds attendees, and interactions of theirs.
fn add(served: &Served, token: &str, count: usize) {
    let base = format!("http://{}/api/v5", served.address);
    let post = |path: &str, body: Value| -> i64 {
        let request = crate::harness::plain().post(format!("{base}{path}"));
        let answer = request.bearer_auth(token).json(&body).send();
        let body: Value = answer.expect("an answer").json().expect("JSON");
        body["data"]["id"].as_i64().expect("an id")
    };
    for _ in 0..count {
        let person = post("/delegate/new", json!({"firstName": "Ada"}));
        post("/interaction/new/seen", json!({"delegate": person}));
    }
}

#[test]
fn copies_begin_anew_when_an_older_file_was_put_back_by_hand() {
    let site = Site::prepare();
    let kept = site.folder.path().join("kept.db");
    let served = Served::start(&site.db);
    let token = client(&site.db, &served);
    add(&served, &token, 2);
    // The key of its cursors is made when somebody asks for the first.
    Copy::default()
        .follow(&served, &token, 1)
        .expect("an answer");
    served.stop();
    fs::copy(&site.db, &kept).expect("a copy");

    // A copy that follows, one that is within its snapshot, and the list of a gate.
    let (mut quick, mut within, mut gate) = (Copy::default(), Copy::default(), Copy::default());
    let of_gate = format!("/gate/snapshot?place={}", site.devices[0]);
    let served = Served::start(&site.db);
    add(&served, &token, 4);
    while quick.follow(&served, &token, 7).expect("an answer") {}
    within.follow(&served, &token, 29).expect("an answer");
    while gate
        .follow_at(&served, &token, &of_gate)
        .expect("an answer")
    {}
    served.stop();

    // Others have taken the numbers by the time that they come back.
    fs::copy(&kept, &site.db).expect("the older file");
    let served = Served::start(&site.db);
    add(&served, &token, 6);
    let behind = quick.cursor.clone().expect("a cursor");
    while quick.follow(&served, &token, 7).expect("an answer") {}
    while within.follow(&served, &token, 7).expect("an answer") {}
    let lists = lists(&served, &token);
    assert_eq!(quick.records, lists);
    assert_eq!(within.records, lists);
    while gate
        .follow_at(&served, &token, &of_gate)
        .expect("an answer")
    {}
    let mut anew = Copy::default();
    while anew
        .follow_at(&served, &token, &of_gate)
        .expect("an answer")
    {}
    assert_eq!(gate.records, anew.records);

    let url = format!("http://{}/api/v5/changes/stream", served.address);
    let stream = crate::harness::plain().get(url).bearer_auth(&token);
    let stream = stream.header("Last-Event-ID", behind).send();
    let mut lines = BufReader::new(stream.expect("a stream")).lines();
    let first = lines.find_map(|line| Some(line.ok()?.strip_prefix("data: ")?.to_owned()));
    let first: Value = serde_json::from_str(&first.expect("a change")).expect("JSON");
    assert_eq!(
        (&first["action"], &first["kind"]),
        (&json!("reset"), &json!("restored"))
    );
    served.stop();
}
