//! The change feed over HTTP (contract §12). That copies equal the file whatever happens is a law of its
//! own, in `domain/feed`.

use crate::{
    console::rehearsal::{go_back, take_snapshot},
    faults::process::{self, Served, until},
    harness::{Caller, Reply, Server, keys, reply, whole},
};
use gatepost::identity::{
    ConsoleRole,
    Role::{self, *},
};
use reqwest::Method;
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener},
    path::{Path, PathBuf},
    process::{Child, Command},
    time::{Duration, Instant},
};

fn page(caller: &Caller, since: &str, more: &str) -> Reply {
    let since = match since {
        "" => String::new(),
        cursor => format!("&since={cursor}"),
    };
    caller.get(&format!("/changes?{more}{since}"))
}

/// A copy of everything that a caller may read.
#[derive(Default, PartialEq, Debug)]
struct Copy {
    records: BTreeMap<(String, i64), Value>,
    cursor: String,
    resets: usize,
}

impl Copy {
    fn follow(&mut self, caller: &Caller, limit: usize) {
        loop {
            let found = page(caller, &self.cursor, &format!("limit={limit}"));
            for change in found.data().as_array().expect("changes") {
                let key = || {
                    let name = change["type"].as_str().expect("a type").to_owned();
                    (name, change["id"].as_i64().expect("an id"))
                };
                match change["action"].as_str() {
                    Some("reset") => {
                        self.records.clear();
                        self.resets += 1;
                    }
                    Some("upsert") => drop(self.records.insert(key(), change["data"].clone())),
                    _ => drop(self.records.remove(&key())),
                }
            }
            found.body["meta"]["cursor"]
                .as_str()
                .expect("a cursor")
                .clone_into(&mut self.cursor);
            if found.body["meta"]["more"] == false {
                break;
            }
        }
    }

    /// What the lists of the API show, without what other records tell.
    fn of_lists(caller: &Caller) -> BTreeMap<(String, i64), Value> {
        let mut records = BTreeMap::new();
        for name in ["delegate", "device", "interaction"] {
            for record in caller
                .get(&format!("/{name}/list"))
                .data()
                .as_array()
                .expect("a list")
            {
                let mut record = record.clone();
                for attached in [
                    "children",
                    "firstInteractions",
                    "secondInteractions",
                    "thirdInteractions",
                ] {
                    record.as_object_mut().expect("a record").remove(attached);
                }
                records.insert(
                    (name.to_owned(), record["id"].as_i64().expect("an id")),
                    record,
                );
            }
        }
        records
    }

    #[track_caller]
    fn equals_the_lists(&self, caller: &Caller) {
        let mut own = self.records.clone();
        own.retain(|(name, _), _| !["blocked-code", "transaction"].contains(&&**name));
        assert_eq!(own, Self::of_lists(caller));
    }

    fn kinds(&self) -> Vec<&str> {
        let mut kinds: Vec<_> = self.records.keys().map(|(name, _)| &**name).collect();
        kinds.dedup();
        kinds
    }
}

#[test]
fn a_copy_follows_whatever_changes_records() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let crew = server.crew(ConsoleRole::Administrator);
    let hall = caller.device(&json!({"name": "Hall", "code": "hall", "deviceType": "room"}));
    let ada =
        caller.delegate(&json!({"firstName": "Ada", "barcode": "AB1", "email": "ada@example.org"}));
    let mut copy = Copy::default();
    copy.follow(&caller, 1);
    copy.equals_the_lists(&caller);

    let scan = caller
        .interact("check-in", &json!({"delegate": ada, "device": hall}))
        .id();
    let event = caller
        .post("/event/new", &json!({"eventName": "Fair"}))
        .id();
    caller
        .patch(&format!("/device/id:{hall}"), &json!({"parent": event}))
        .data();
    let purchase = json!({"code": "P1", "totalAmount": 100, "items": [
        {"quantity": 1, "totalAmount": 100, "delegates": [{"barcode": "P1-1", "description": "Day"}]}]});
    let bought = caller.post("/tx/new", &purchase);
    copy.follow(&caller, 3);
    copy.equals_the_lists(&caller);
    let sale = &copy.records[&("transaction".to_owned(), bought.id())];
    assert_eq!(sale["delegates"][0]["barcode"], "P1-1");

    assert_eq!(
        caller.delete(&format!("/interaction/id:{scan}")).status,
        204
    );
    assert_eq!(caller.delete(&format!("/event/id:{event}")).status, 204);
    crew.post(
        &format!("/console/delegates/{ada}/badge/barcode"),
        &[
            ("value", "AB1"),
            ("reason", "reported lost"),
            ("new", "AB2"),
        ],
    )
    .taken();
    copy.follow(&caller, 1000);
    copy.equals_the_lists(&caller);
    assert!(!copy.records.contains_key(&("interaction".to_owned(), scan)));

    // An import, and its undoing.
    let list = server.folder.path().join("list.csv");
    std::fs::write(&list, "firstName,barcode\nGrace,G1\nLin,L1\n").expect("a list");
    import(
        &server,
        &[
            list.to_str().expect("a name"),
            "--key",
            "barcode",
            "--join",
            "code:hall",
        ],
    );
    copy.follow(&caller, 1000);
    copy.equals_the_lists(&caller);
    assert!(
        copy.records
            .values()
            .any(|record| record["firstName"] == "Grace")
    );
    import(&server, &["--undo", "1"]);
    copy.follow(&caller, 1000);
    copy.equals_the_lists(&caller);
    assert!(
        copy.records
            .values()
            .all(|record| record["firstName"] != "Grace")
    );

    // Erasure: no page from any cursor shows the name again.
    crew.post(
        &format!("/console/delegates/{ada}/erase"),
        &[("confirm", &ada.to_string())],
    )
    .taken();
    copy.follow(&caller, 1000);
    copy.equals_the_lists(&caller);
    let mut late = Copy::default();
    late.follow(&caller, 2);
    assert_eq!(late.records, copy.records);
}

fn import(server: &Server, args: &[&str]) {
    let mut all = vec!["import"];
    if !args.contains(&"--undo") {
        all.push("delegates");
    }
    all.extend(args);
    let path = server.path();
    all.extend(["--db", path.to_str().expect("a path")]);
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_gatepost"))
        .args(&all)
        .output()
        .expect("the binary");
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn the_end_of_a_rehearsal_resets_copies() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let crew = server.crew(ConsoleRole::Administrator);
    let ada = caller.delegate(&json!({"firstName": "Ada"}));
    take_snapshot(&crew);
    let bob = caller.delegate(&json!({"firstName": "Bob"}));
    let mut copy = Copy::default();
    copy.follow(&caller, 1000);
    assert!(copy.records.contains_key(&("delegate".to_owned(), bob)));
    go_back(&crew);
    copy.follow(&caller, 1000);
    assert_eq!(copy.resets, 1);
    copy.equals_the_lists(&caller);
    assert!(copy.records.contains_key(&("delegate".to_owned(), ada)));
}

#[test]
fn each_type_needs_its_role_and_users_do_not_read_the_feed() {
    let server = Server::start();
    let all = server.caller_with_all();
    all.device(&json!({"name": "Hall"}));
    all.delegate(&json!({"firstName": "Ada"}));
    for (role, types) in [
        (DelegateRead, &["delegate"][..]),
        (DeviceRead, &["device"]),
        (InteractionRead, &[]),
        (TxWrite, &[]),
    ] {
        let mut copy = Copy::default();
        copy.follow(&server.caller(&[role]), 1000);
        assert_eq!(copy.kinds(), types, "{role:?}");
    }
    let devices = server.caller(&[DeviceRead]);
    page(&devices, "", "types=device,delegate").refused(403, 1202, "DELEGATE_READ");
    page(&devices, "", "types=gadget").refused(400, 1100, "gadget");
    page(&server.caller(&[CommSend]), "", "").refused(403, 1202, "ROLE_OAUTH2_DELEGATE_READ");
    let user = server.caller_as_user("ada@example.org", Role::ALL, None);
    page(&user, "", "").refused(403, 1202, "client's own token");
    let narrow = server.caller_seeing(&["firstName"]);
    let shown = page(&narrow, "", "types=delegate,blocked-code");
    let id = &shown.data()[0]["id"];
    let record = json!({"id": id, "_type": "delegate", "firstName": "Ada"});
    assert_eq!(shown.data()[0]["data"], record);
    // Of a purchase, too, it sees of attendees what it was given.
    let sale = |code: &str| {
        json!({"code": code, "items": [{"code": format!("{code}0000"), "product": 1, "quantity": 1,
            "delegates": [{"product": 1, "barcode": format!("{code}-SECRET")}]}]})
    };
    let made = narrow.post("/tx/new", &sale("NARROW"));
    let (of_narrow, of_all) = (keys(&made.data()["delegates"][0]), |code| {
        let reply = server.caller_with_all().post("/tx/new", &sale(code));
        keys(&reply.data()["delegates"][0])
    });
    assert_eq!(
        (of_narrow.as_str(), of_all("WIDE").as_str()),
        ("id", "id barcode")
    );
    let seen = |caller: &Caller| {
        page(caller, "", "types=transaction").data()[0]["data"]["delegates"][0].clone()
    };
    assert!(seen(&narrow).get("barcode").is_none());
    assert_eq!(seen(&server.caller_with_all())["barcode"], "NARROW-SECRET");
}

#[test]
fn cursors_of_elsewhere_are_refused_and_another_view_begins_anew() {
    let server = Server::start();
    let caller = server.caller_with_all();
    caller.delegate(&json!({"firstName": "Ada"}));
    let mut copy = Copy::default();
    copy.follow(&caller, 1000);
    page(&caller, "nonsense", "").refused(400, 1100, "since");
    for (more, about) in [
        ("limit=0", "limit"),
        ("limit=10001", "limit"),
        ("wait=61", "wait"),
    ] {
        page(&caller, "", more).refused(400, 1100, about);
    }
    let found = page(&caller, &copy.cursor, "types=delegate");
    assert_eq!(found.data()[0]["action"], "reset");
    assert_eq!(found.data()[0]["kind"], "view-changed");
    let other = Server::start();
    page(&other.caller_with_all(), &copy.cursor, "").refused(410, 1112, "another file");

    // Deletions are forgotten once they are old.
    let batch = server.folder.path().join("list.csv");
    std::fs::write(&batch, "firstName\nGrace\nHedy\n").expect("a list");
    import(&server, &[batch.to_str().expect("a name")]);
    server.sql("UPDATE changes SET at = 0");
    let mut server = server;
    server.restart();
    let caller = server.caller_with_all();
    let begun = Instant::now();
    let gone = loop {
        let found = page(&caller, &copy.cursor, "");
        if found.status == 410 || begun.elapsed() > Duration::from_secs(30) {
            break found;
        }
        std::thread::yield_now();
    };
    gone.refused(410, 1112, "older");
}

#[test]
fn a_request_waits_until_something_changes() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let ada = caller.delegate(&json!({"firstName": "Ada"}));
    let mut copy = Copy::default();
    copy.follow(&caller, 1000);
    let cursor = copy.cursor.clone();
    let found = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| page(&caller, &cursor, "wait=30"));
        caller.patch(&format!("/delegate/id:{ada}"), &json!({"firstName": "Lin"}));
        waiting.join().expect("an answer")
    });
    assert_eq!(found.data()[0]["data"]["firstName"], "Lin");
    assert_eq!(found.data()[0]["kind"], "updated");
    let cursor = found.body["meta"]["cursor"]
        .as_str()
        .expect("a cursor")
        .to_owned();
    let begun = Instant::now();
    assert_eq!(page(&caller, &cursor, "wait=1").data(), &json!([]));
    assert!(begun.elapsed() >= Duration::from_secs(1));
}

#[test]
fn a_stream_goes_on_behind_the_last_event() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let ada = caller.delegate(&json!({"firstName": "Ada"}));
    let mut copy = Copy::default();
    copy.follow(&caller, 1000);
    let next = |last: &str| {
        let request = caller
            .request(Method::GET, "/changes/stream")
            .header("Last-Event-ID", last);
        let response = request.send().expect("a stream");
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        let mut lines = BufReader::new(response)
            .lines()
            .map(|line| line.expect("a line"));
        let id = lines
            .find(|line| line.starts_with("id: "))
            .expect("an event");
        let data = lines.next().expect("data");
        let data: Value = serde_json::from_str(data.trim_start_matches("data: ")).expect("JSON");
        (id.trim_start_matches("id: ").to_owned(), data)
    };
    caller.patch(&format!("/delegate/id:{ada}"), &json!({"firstName": "Lin"}));
    let (cursor, change) = next(&copy.cursor);
    assert_eq!(
        (&change["kind"], &change["data"]["firstName"]),
        (&json!("updated"), &json!("Lin"))
    );
    caller.delete(&format!("/delegate/id:{ada}"));
    let (_, change) = next(&cursor);
    assert_eq!(
        (&change["action"], &change["id"]),
        (&json!("delete"), &json!(ada))
    );
}

#[test]
fn a_stream_ends_with_its_token() {
    let server = Server::start();
    let (id, secret) = server.client(Role::ALL, &[]);
    let caller = server.caller_of(&id, &secret);
    caller.delegate(&json!({"firstName": "Ada"}));
    let stream = caller
        .request(Method::GET, "/changes/stream")
        .send()
        .expect("a stream");
    let ended = std::thread::spawn(move || BufReader::new(stream).lines().all(|line| line.is_ok()));
    let revoked = json!({"token": &*caller.token, "client_id": id, "client_secret": secret});
    let answer = whole(
        server
            .request(Method::POST, "/api/v5/oauth/v2/revoke")
            .json(&revoked),
    );
    assert_eq!(answer.reply.status, 200);
    ended.join().expect("the stream's end");
    assert_eq!(reply(caller.request(Method::GET, "/changes")).status, 401);
}

/// The program of the handbook, as a file in a folder.
fn mirror(folder: &Path) -> PathBuf {
    let page = include_str!("../../../assets/handbook/integrate.md");
    let program = page
        .split("```python\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next());
    let path = folder.join("mirror.py");
    std::fs::write(&path, program.expect("a program")).expect("a file");
    path
}

/// The first names in a copy, sorted; none while there is no copy.
fn mirrored(copy: &Path) -> Vec<String> {
    let copy = std::fs::read_to_string(copy).unwrap_or_else(|_| "{}".to_owned());
    let copy: Value = serde_json::from_str(&copy).expect("JSON");
    let records = copy["delegates"].as_object().into_iter().flatten();
    let mut names: Vec<String> = records
        .map(|(_, record)| record["firstName"].as_str().unwrap_or_default().to_owned())
        .collect();
    names.sort_unstable();
    names
}

#[test]
fn the_handbooks_mirror_keeps_a_copy_of_the_attendee_list() {
    let server = Server::start();
    let (id, secret) = server.client(&[DelegateRead, DelegateWrite], &[]);
    let caller = server.caller_of(&id, &secret);
    let path = mirror(server.folder.path());
    let copy = server.folder.path().join("copy.json");
    let mirrored = || {
        let run = Command::new("python3")
            .arg(&path)
            .args([&server.url(), &id, &secret])
            .arg(&copy)
            .arg("1")
            .output()
            .expect("python3");
        assert!(
            run.status.success(),
            "{}",
            String::from_utf8_lossy(&run.stderr)
        );
        mirrored(&copy)
    };
    let ada = caller.delegate(&json!({"firstName": "Ada"}));
    caller.delegate(&json!({"firstName": "Bob"}));
    assert_eq!(mirrored(), ["Ada", "Bob"]);
    caller.delete(&format!("/delegate/id:{ada}"));
    caller.delegate(&json!({"firstName": "Lin"}));
    assert_eq!(mirrored(), ["Bob", "Lin"]);
}

/// Answers every request at an address by 503, until so many came.
fn is_busy(address: SocketAddr, requests: usize) {
    let listener = TcpListener::bind(address).expect("the port of the server");
    for client in listener.incoming().take(requests) {
        let mut client = client.expect("a client");
        let _ = client.read(&mut [0; 4096]);
        let answer = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 0.1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        let _ = client.write_all(answer.as_bytes());
    }
}

#[test]
fn the_handbooks_mirror_survives_restarts_and_503() {
    struct Killed(Child);

    impl Drop for Killed {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    let folder = tempfile::tempdir().expect("a folder");
    let db = folder.path().join("event.db");
    let client = process::told(
        &db,
        &[
            "client",
            "add",
            "x",
            "--role",
            "delegate-read",
            "--role",
            "delegate-write",
            "--json",
        ],
    );
    let mut server = Served::start(&db);
    let address = server.address;
    let add = |name: &str| {
        let list = folder.path().join("list.csv");
        std::fs::write(&list, format!("firstName\n{name}\n")).expect("a list");
        let list = list.display().to_string();
        let done = process::gatepost(&db, &["import", "delegates", &list]);
        assert!(done.status.success(), "{done:?}");
    };
    let copy = folder.path().join("copy.json");
    let text = |name: &str| client[name].as_str().expect("a text").to_owned();
    let program = Command::new("python3")
        .arg(mirror(folder.path()))
        .args([
            format!("http://{address}"),
            text("clientId"),
            text("clientSecret"),
        ])
        .arg(&copy)
        .spawn();
    let mut program = Killed(program.expect("python3"));
    add("Ada");
    until("the copy", || mirrored(&copy) == ["Ada"]);
    for (round, name) in ["Bob", "Lin"].into_iter().enumerate() {
        server.kill();
        if round == 0 {
            is_busy(address, 3);
        }
        add(name);
        server = Served::start_at(&db, address);
        until("the copy to go on", || {
            mirrored(&copy).contains(&name.to_owned())
        });
        assert!(program.0.try_wait().expect("a state").is_none(), "it ended");
    }
    assert_eq!(mirrored(&copy), ["Ada", "Bob", "Lin"]);
}
