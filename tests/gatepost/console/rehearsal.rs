//! Back to the snapshot from before the rehearsal: what goes, what stays, and that no scan is lost
//! on the way.

use super::{Crew, settings::hidden};
use crate::faults::process::until;
use crate::harness::{Caller, Server, has};
use gatepost::{
    db::tables::{self, Table},
    identity::{Role, clients},
    ops::backup::ledger,
    types::DeviceId,
};
use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    path::PathBuf,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

const HERE: &str = "/console/settings/rehearsal";

pub fn take_snapshot(crew: &Crew) {
    crew.press(&format!("{HERE}/snapshot"));
}

#[track_caller]
pub fn go_back(crew: &Crew) {
    let action = format!("{HERE}/return");
    let id = hidden(&crew.page(HERE), &action, "snapshot");
    let fields = [("snapshot", id.as_str()), ("words", "go back")];
    // The log that is emptied after somebody was erased may come between: then it is to be tried again.
    let mut answer = crew.post(&action, &fields);
    for _ in 0..50 {
        if answer.status != 503 {
            break;
        }
        answer = crew.post(&action, &fields);
    }
    answer.taken();
}

fn open(path: &PathBuf) -> Connection {
    Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).expect("a file")
}

/// Every row of the tables that go back, as text.
fn rows(connection: &Connection) -> Vec<String> {
    let mut all = Vec::new();
    for Table { name: table, .. } in tables::restored() {
        let mut statement = connection
            .prepare(&format!("SELECT * FROM {table} ORDER BY 1, 2"))
            .expect(table);
        let width = statement.column_count();
        let rows = statement.query_map([], |row| {
            let values: Vec<_> = (0..width)
                .map(|at| format!("{:?}", row.get_ref(at)))
                .collect();
            Ok(format!("{table}: {}", values.join(" ")))
        });
        all.extend(rows.expect(table).map(|row| row.expect(table)));
    }
    // A count of nobody is as good as none.
    all.retain(|row| !(row.starts_with("occupancy") && row.ends_with("Ok(Integer(0))")));
    all
}

/// The newest backup: after a return, the one that was made before it.
fn safety(server: &Server) -> PathBuf {
    let newest = server
        .app
        .store
        .look_up(|connection| ledger::newest(connection, 1));
    let entry = newest.expect("a list").pop().expect("a backup");
    has(entry.file_name(), "before-return");
    entry.path
}

fn scan(api: &Caller, barcode: &str, nonce: &str) -> crate::harness::Reply {
    let body = json!({"firstDelegate": format!("barcode:{barcode}"), "firstDevice": "code:hall", "nonce": nonce});
    api.interact("check-in", &body)
}

fn tells_what_goes(crew: &Crew) {
    let shown = crew.page(HERE);
    for (what, count) in [
        ("Interactions that go", 2),
        ("Attendees made since", 2),
        ("Devices and events made since", 1),
    ] {
        let line = shown
            .split(what)
            .nth(1)
            .and_then(|rest| rest.split("</li>").next())
            .unwrap_or_default();
        assert!(
            line.contains(&format!("<strong>{count}</strong>")),
            "{what}: {line}"
        );
    }
}

/// How many delegates a search finds by a part of their first name.
fn found(api: &Caller, name: &str) -> usize {
    let search = json!({"*=": ["firstName", name]}).to_string();
    let search: String = form_urlencoded::byte_serialize(search.as_bytes()).collect();
    let page = api.get(&format!("/delegate/list?search={search}"));
    page.data().as_array().map_or(0, Vec::len)
}

/// How many a list tells that there are.
fn total(api: &Caller, list: &str) -> Option<i64> {
    api.get(&format!("/{list}/list")).body["meta"]["pagination"]["totalItems"].as_i64()
}

#[test]
fn who_left_with_everybody_in_a_rehearsal_is_back() {
    let (server, crew) = Server::with_administrator();
    let api = server.caller_with_all();
    let moment = (jiff::Timestamp::now().as_second() - 300) / 60 * 60;
    let at = |seconds: i64| {
        let time = jiff::Timestamp::from_second(moment + seconds).expect("a time");
        json!({"data": {"Access": {"everybodyOutAt": time.strftime("%H:%M").to_string()}}})
    };
    let hall = api.device(&json!({"name": "Hall", "code": "hall"}));
    api.patched("/device/code:hall", &at(6 * 3600));
    let ada = api.delegate(&json!({"barcode": "A"}));
    let scan = json!({"firstDelegate": ada, "firstDevice": hall, "recordedAt": moment - 60, "admitted": true});
    api.interact("check-in", &scan).is(201);
    let rule = || server.text("SELECT device_id || ' ' || since FROM everybody_out");
    let inside = || server.value::<i64>("SELECT sum(inside) FROM occupancy WHERE device_id > 0");
    let before = rule();
    take_snapshot(&crew);
    api.patched("/device/code:hall", &at(0));
    server.sql(
        "UPDATE everybody_out SET since = since - 172800000, handled_to = handled_to - 7200000",
    );
    until("everybody left", || inside() == 0);
    go_back(&crew);
    until("people are counted anew", || inside() == 1);
    assert_eq!(rule(), before);
    assert_eq!(server.count("interactions"), 1);
    server.done(&["check"]);
}

#[test]
fn everything_of_the_event_is_as_it_was() {
    let (server, crew) = Server::with_administrator();
    let api = server.caller_with_all();
    server.settings(&json!({"name": "Nordlicht"}));
    let hall = api.device(&json!({"name": "Hall", "code": "hall"}));
    let parent = api.delegate(&json!({"barcode": "P"}));
    let ada = api.delegate(&json!({"barcode": "A", "firstName": "Ada", "parent": parent}));
    let bob = api.delegate(
        &json!({"barcode": "B", "firstName": "Bob", "data": {"Data": {"meal": "vegan"}}}),
    );
    let before = scan(&api, "P", "before");
    assert_eq!(before.status, 201);
    let snapshot_of = rows(&open(&server.path()));
    take_snapshot(&crew);
    // The rehearsal: everything that can happen to a record.
    for nonce in ["one", "two"] {
        scan(&api, "A", nonce).is(201);
    }
    scan(&api, "nobody", "x").refused(404, 1301, "");
    let made = api.delegate(&json!({"barcode": "C", "firstName": "Cid"}));
    // Two who change their codes for each other's, and a child that changes its parent.
    api.patch(
        &format!("/delegate/id:{ada}"),
        &json!({"barcode": "tmp", "parent": made}),
    );
    api.patch(
        &format!("/delegate/id:{bob}"),
        &json!({"barcode": "A", "data": {"Data": {"meal": "fish"}}}),
    );
    api.patch(
        &format!("/delegate/id:{ada}"),
        &json!({"barcode": "B", "firstName": "Eve"}),
    );
    api.delete(&format!("/delegate/id:{parent}")).is(204);
    api.delegate(&json!({"barcode": "P", "firstName": "Impostor"}));
    api.delete(&format!("/interaction/id:{}", before.id()))
        .is(204);
    api.patch(&format!("/device/id:{hall}"), &json!({"code": "moved"}));
    let other = api.device(&json!({"code": "hall", "name": "Other"}));
    server.settings(&json!({"name": "Rehearsal", "access": {"entry": "single"}}));
    server.sql("INSERT INTO sections (record_type, name, schema) VALUES ('delegate', 'X', '{}'); INSERT INTO statements VALUES ('s', 'delegate', NULL, 'SELECT 1');
        INSERT INTO gate_notes VALUES (1, 'info', 'x', 'y', 1); INSERT INTO logo VALUES (1, 'image/png', x'00', 1);");
    tells_what_goes(&crew);
    let rehearsed = rows(&open(&server.path()));
    go_back(&crew);
    assert_eq!(rows(&open(&server.path())), snapshot_of);
    assert_eq!(rows(&open(&safety(&server))), rehearsed);
    // Caches follow, searches too, and nobody is signed out.
    assert_eq!(server.app.settings().name(), "Nordlicht");
    assert_eq!(api.get("/delegate/barcode:A").id(), ada);
    assert_eq!(api.get("/delegate/barcode:P").id(), parent);
    let found = |name: &str| found(&api, name);
    assert_eq!(
        (found("Ada"), found("Eve"), found("Cid"), found("Impostor")),
        (1, 0, 0, 0)
    );
    assert_eq!(
        (total(&api, "delegate"), total(&api, "interaction")),
        (Some(3), Some(1))
    );
    crew.sees(HERE, "2 interactions of the rehearsal are gone");
    server.has_indexed_everybody();
    assert_eq!(server.count("pragma_foreign_key_check"), 0);
    // No id ever means somebody else.
    assert!(api.delegate(&json!({"barcode": "new"})) > made + 1);
    assert!(api.device(&json!({"code": "new"})) > other);
    let third = scan(&api, "A", "three");
    assert_eq!(third.status, 201);
    assert!(third.id() > 3);
    // A scan of the rehearsal that is sent again does not come to life.
    let again = scan(&api, "A", "one");
    assert_eq!((again.status, again.data()), (200, &json!({})));
    assert_eq!(again.body["meta"]["replayed"], json!(true));
    let audited: String = server
        .value("SELECT after FROM audit WHERE action = 'restore' AND record_type = 'rehearsal'");
    let audited: Value = serde_json::from_str(&audited).expect("JSON");
    assert_eq!(audited["interactionsGone"], json!(2));
    // And once more, to the same snapshot.
    go_back(&crew);
    assert_eq!(rows(&open(&server.path())), snapshot_of);
}

#[test]
fn who_may_come_in_stays_as_it_is() {
    let (server, crew) = Server::with_administrator();
    let api = server.caller_with_all();
    let (stolen, _) = server.client(&[Role::DelegateRead], &[]);
    take_snapshot(&crew);
    // A phone is connected, another is revoked, a user comes, a person is erased.
    let phone = api.device(&json!({"name": "Phone", "deviceType": "regoapp"}));
    let lost = api.device(&json!({"name": "Lost", "deviceType": "regoapp"}));
    let (id, secret) = server.new_client(clients::NewClient {
        roles: Role::ALL.iter().copied().collect(),
        device: Some(DeviceId(phone)),
        ..clients::NewClient::named("phone")
    });
    let (lost_id, _) = server.new_client(clients::NewClient {
        device: Some(DeviceId(lost)),
        ..clients::NewClient::named("lost")
    });
    let of_phone = server.caller_of(&id, &secret);
    for revoked in [&stolen, &lost_id] {
        server.sql(&format!(
            "UPDATE clients SET revoked_at = 1 WHERE client_id = '{revoked}'"
        ));
    }
    let guest = api.delegate(&json!({"firstName": "Guest"}));
    server.user("guest@example.com", &[], Some(guest));
    go_back(&crew);
    assert_eq!(of_phone.get(&format!("/device/id:{phone}")).id(), phone);
    api.get(&format!("/device/id:{lost}"))
        .refused(404, 1401, "");
    let revoked = "SELECT count(*) FROM clients WHERE revoked_at IS NOT NULL AND device_id IS NULL";
    assert_eq!(server.value::<i64>(revoked), 2);
    assert_eq!(
        server.count("users WHERE email = 'guest@example.com' AND delegate_id IS NULL"),
        1
    );
    crew.get(HERE).is(200);
}

#[test]
fn who_was_erased_does_not_come_back() {
    let (server, crew) = Server::with_administrator();
    let api = server.caller_with_all();
    api.device(&json!({"code": "hall"}));
    let gone = api.delegate(&json!({"barcode": "G", "firstName": "Gone"}));
    let child = api.delegate(&json!({"barcode": "K", "parent": gone}));
    for (barcode, nonce) in [("G", "1"), ("K", "2")] {
        scan(&api, barcode, nonce).is(201);
    }
    take_snapshot(&crew);
    server.sql(&format!(
        "UPDATE delegates SET parent_id = NULL WHERE parent_id = {gone};
         DELETE FROM interactions WHERE first_delegate_id = {gone};
         UPDATE occupancy SET inside = 1; DELETE FROM delegates WHERE id = {gone};"
    ));
    go_back(&crew);
    let trace = format!(
        "SELECT (SELECT count(*) FROM delegates WHERE id = {gone}) + (SELECT count(*) FROM interactions WHERE first_delegate_id = {gone})"
    );
    assert_eq!(server.value::<i64>(&trace), 0);
    assert_eq!(server.value::<i64>("SELECT inside FROM occupancy"), 1);
    assert_eq!(
        server.value::<Option<i64>>(&format!(
            "SELECT parent_id FROM delegates WHERE id = {child}"
        )),
        None
    );
}

#[test]
fn what_was_erased_after_the_snapshot_comes_back_in_no_form() {
    let (server, crew) = Server::with_administrator();
    let api = server.caller_with_all();
    let hall = api.device(&json!({"code": "hall"}));
    let body = json!({"code": "P-1", "context": hall, "items": [{"code": "P-10000", "quantity": 1, "unitAmount": 1, "totalAmount": 1,
        "delegates": [{"product": hall, "description": "Ticket", "barcode": "quetzal-ticket"}]}]});
    let gone = api.post("/tx/new", &body).data()["delegates"][0]["id"]
        .as_i64()
        .expect("an id");
    api.patch(
        &format!("/delegate/id:{gone}"),
        &json!({"barcode": "quetzal-new", "lastName": "Quetzalcoatl"}),
    )
    .data();
    // Scanned by a code that is theirs no more: the refusal names nobody but by that.
    api.scan("check-in", "barcode:quetzal-ticket", hall)
        .refused(404, 1301, "");
    api.interact(
        "feedback",
        &json!({"delegate": gone, "data": {"said": "Quetzalcoatl"}}),
    )
    .id();
    let stays = api.delegate(&json!({"barcode": "K", "parent": gone}));
    take_snapshot(&crew);
    crew.erase(gone);
    // Its code is somebody else's by now.
    api.patch(
        &format!("/delegate/id:{stays}"),
        &json!({"barcode": "quetzal-new"}),
    )
    .data();
    go_back(&crew);
    for left in [
        format!("delegates WHERE id = {gone}"),
        format!("transaction_delegates WHERE delegate_id = {gone}"),
        format!("interactions WHERE first_delegate_id = {gone}"),
        "refusals".to_owned(),
    ] {
        let count = server.count(&left);
        assert_eq!(count, 0, "{left}");
    }
    let found = server.count("delegates_search WHERE delegates_search MATCH 'que'");
    assert_eq!(found, 0);
    assert_eq!(
        api.get("/delegate/barcode:K").id(),
        stays,
        "it has the code that it had"
    );
    server.has_indexed_everybody();
}

#[test]
fn apps_get_the_snapshots_configuration_as_a_new_version() {
    let (server, crew) = Server::with_administrator();
    let publish = |version: i64, document: &str| {
        server.sql(&format!(
            "INSERT INTO app_config VALUES ({version}, '{document}', 'x', 1)"
        ));
    };
    publish(1, "{\"a\": 1}");
    take_snapshot(&crew);
    let newest =
        || server.text("SELECT version || document FROM app_config ORDER BY version DESC LIMIT 1");
    go_back(&crew);
    assert_eq!(newest(), "1{\"a\": 1}");
    publish(2, "{\"a\": 2}");
    go_back(&crew);
    assert_eq!(newest(), "3{\"a\": 1}");
}

#[test]
fn open_doors_lock_the_way_back() {
    let (server, crew) = Server::with_administrator();
    let action = format!("{HERE}/return");
    crew.post(&action, &[("snapshot", "1"), ("words", "go back")])
        .refused(422, "another snapshot");
    take_snapshot(&crew);
    let id = hidden(&crew.page(HERE), &action, "snapshot");
    crew.post(&action, &[("snapshot", &id), ("words", "yes")])
        .refused(422, "go back");
    crew.post(&action, &[("snapshot", "999"), ("words", "go back")])
        .refused(422, "another snapshot");
    crew.post(&format!("{HERE}/doors"), &[("doors", "open")])
        .taken();
    let shown = crew.page(HERE);
    assert!(shown.contains("doors are open since") && !shown.contains(&action));
    crew.post(&action, &[("snapshot", &id), ("words", "go back")])
        .refused(422, "doors are open");
    crew.post(&format!("{HERE}/snapshot"), &[])
        .refused(422, "doors are open");
    // How far the event has come is no part of how it is set up.
    let stored = server
        .app
        .store
        .look_up(gatepost::core::settings::stored)
        .expect("settings");
    assert!(stored.is_empty(), "{stored:?}");
    crew.post(&format!("{HERE}/doors"), &[("doors", "closed")])
        .taken();
    crew.post(&action, &[("snapshot", &id), ("words", " Go Back ")])
        .taken();
    assert_eq!(server.count("audit WHERE record_type = 'doors'"), 2);
}

#[test]
fn a_snapshot_that_is_damaged_or_gone_leads_nowhere() {
    let (server, crew) = Server::with_administrator();
    let api = server.caller_with_all();
    take_snapshot(&crew);
    api.delegate(&json!({"barcode": "A"}));
    let action = format!("{HERE}/return");
    let id = hidden(&crew.page(HERE), &action, "snapshot");
    let entry = server
        .app
        .store
        .look_up(ledger::snapshot)
        .expect("a list")
        .expect("a snapshot");
    let mut bytes = std::fs::read(&entry.path).expect("the snapshot");
    let middle = bytes.len() / 2;
    bytes[middle..middle + 20_000].fill(0xa5);
    std::fs::write(&entry.path, bytes).expect("damaged");
    crew.post(&action, &[("snapshot", &id), ("words", "go back")])
        .refused(422, "damaged");
    std::fs::remove_file(&entry.path).expect("gone");
    crew.post(&action, &[("snapshot", &id), ("words", "go back")])
        .refused(422, "not there any more");
    crew.sees(HERE, "take a new snapshot");
    api.get("/delegate/barcode:A").is(200);
}

/// Gates scan without a pause while the file goes back: whatever was acknowledged is in the safety
/// backup or in the file, and what was acknowledged after the return is in the file.
#[test]
fn no_acknowledged_scan_is_lost_while_gates_go_on() {
    const GATES: usize = 4;
    let (server, crew) = Server::with_administrator();
    let api = server.caller_with_all();
    api.device(&json!({"code": "hall"}));
    for gate in 0..GATES {
        api.delegate(&json!({"barcode": format!("G{gate}")}));
    }
    take_snapshot(&crew);
    let (stop, back) = (AtomicBool::new(false), AtomicBool::new(false));
    // The id of each scan that was acknowledged, and whether it was sent after the return.
    let acknowledged = Mutex::new(Vec::<(i64, bool)>::new());
    std::thread::scope(|scope| {
        for gate in 0..GATES {
            let (api, stop, back, acknowledged) = (api.clone(), &stop, &back, &acknowledged);
            scope.spawn(move || {
                let mut count = 0;
                while !stop.load(Ordering::Acquire) {
                    let after = back.load(Ordering::Acquire);
                    count += 1;
                    let reply = scan(&api, &format!("G{gate}"), &format!("{gate}-{count}"));
                    if reply.status == 201 {
                        acknowledged
                            .lock()
                            .expect("a list")
                            .push((reply.id(), after));
                    } else {
                        assert_eq!(reply.status, 503, "{reply:?}");
                    }
                }
            });
        }
        let so_many = |count: usize, after: bool| {
            while acknowledged
                .lock()
                .expect("a list")
                .iter()
                .filter(|(_, sent)| *sent == after)
                .count()
                < count
            {
                std::thread::yield_now();
            }
        };
        so_many(100, false);
        go_back(&crew);
        back.store(true, Ordering::Release);
        so_many(100, true);
        stop.store(true, Ordering::Release);
    });
    let ids = |path: &PathBuf| -> BTreeSet<i64> {
        let connection = open(path);
        let mut statement = connection
            .prepare("SELECT id FROM interactions")
            .expect("a table");
        let ids = statement.query_map([], |row| row.get(0)).expect("ids");
        ids.map(|id| id.expect("an id")).collect()
    };
    let (before, now) = (ids(&safety(&server)), ids(&server.path()));
    assert!(before.is_disjoint(&now), "an id was given twice");
    let acknowledged = acknowledged.into_inner().expect("a list");
    for (id, after) in &acknowledged {
        assert!(
            now.contains(id) || (!after && before.contains(id)),
            "{id} is nowhere"
        );
    }
    let unique: BTreeSet<i64> = acknowledged.iter().map(|(id, _)| *id).collect();
    assert_eq!(unique.len(), acknowledged.len());
    let inside: i64 = server.value("SELECT inside FROM occupancy");
    assert_eq!(usize::try_from(inside).expect("a count"), GATES);
}

#[test]
fn keys_of_a_rehearsal_make_records_anew_and_scans_never_again() {
    let server = Server::start();
    let api = server.caller_with_all();
    let crew = server.crew(gatepost::identity::ConsoleRole::Administrator);
    let send = |path: &str, key: &str, body: &Value| {
        let request = api.request(reqwest::Method::POST, path);
        crate::harness::reply(request.header("Idempotency-Key", key).json(body))
    };
    let old = json!({"firstName": "Before", "barcode": "B"});
    let before = send("/delegate/new", "before", &old);
    take_snapshot(&crew);
    let person = json!({"firstName": "During", "barcode": "D"});
    let many = json!({"delegates": {"a": {"barcode": "M"}}});
    let scan = json!({"delegate": before.id()});
    let scans = json!({"interactions": {
        "a": {"interactionType": "lead", "delegate": before.id()},
        "b": {"interactionType": "lead", "delegate": 999},
    }});
    let made = send("/delegate/new", "during", &person);
    send("/delegate/batch", "many", &many).is(200);
    send("/interaction/new/lead", "scan", &scan).is(201);
    send("/interaction/batch", "scans", &scans).is(200);
    assert_eq!(send("/delegate/new", "during", &person).id(), made.id());
    go_back(&crew);
    send("/delegate/new", "before", &old).repeats(&before);
    let anew = send("/delegate/new", "during", &person);
    assert_eq!(anew.status, 201);
    assert_eq!(api.get("/delegate/barcode:D").id(), anew.id());
    assert_ne!(anew.id(), made.id());
    let many = send("/delegate/batch", "many", &many);
    assert_eq!(many.list()[0]["status"], 201);
    let id = &many.list()[0]["data"]["id"];
    assert_eq!(api.get("/delegate/barcode:M").id(), *id);
    let again = send("/interaction/new/lead", "scan", &scan);
    let gone = json!({"data": {}, "meta": {"replayed": true}});
    assert_eq!((again.status, again.body), (200, gone));
    let again = send("/interaction/batch", "scans", &scans);
    let list = again.list();
    assert_eq!(
        (&list[0]["status"], &list[0]["data"]),
        (&json!(200), &json!({}))
    );
    assert_eq!(
        (&list[1]["status"], &list[1]["key"]),
        (&json!(404), &json!("b"))
    );
    assert_eq!(server.count("interactions"), 0);
}
