//! The reports that every file begins with: what they show of an event, and that they stay away once
//! they are removed.

use super::with;
use crate::{
    faults::process::{Served, gatepost, told},
    harness::{Agrees, Caller, Server, has},
};
use gatepost::{domain::reports, identity::Scope};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Everything shipped is exposed to whoever reads; answers its rows.
fn rows(server: &Server, reader: &Caller, id: &str, query: &str) -> Vec<Value> {
    let shipped = server
        .app
        .store
        .look_up(|connection| reports::find(connection, "event", id));
    let report = shipped.expect("a shipped report").report;
    server.put(&with(&report, json!({"api_clients": ["*"]})));
    let reply = reader.get(&format!("/report/event/export/{id}/data.json?{query}"));
    reply.list().clone()
}

#[test]
fn attendance_no_shows_and_quarter_hours_are_what_happened() {
    let server = Server::start();
    server.settings(&json!({"timeZone": "Asia/Kathmandu"}));
    let all = server.caller_with_all();
    let people: Vec<i64> = ["Ada", "Bo", "Cy", "Di"]
        .iter()
        .map(|name| all.delegate(&json!({"firstName": name, "lastName": "X"})))
        .collect();
    let room = all.device(&json!({"name": "Hall", "deviceType": "room"}));
    let session = all.device(&json!({
        "name": "Keynote", "deviceType": "session", "parent": room, "startAt": "2026-11-21T03:15:00Z",
    }));
    all.device(&json!({"name": "Empty", "deviceType": "session"}));
    let happens = |kind: &str, who: i64, at: &str| {
        let body = json!({"delegate": who, "device": session, "recordedAt": at});
        all.interact(kind, &body).is(201);
    };
    for who in &people[..3] {
        happens("join", *who, "2026-11-20T10:00:00Z");
    }
    happens("uninvite", people[2], "2026-11-20T11:00:00Z");
    happens("check-in", people[0], "2026-11-21T03:14:59Z");
    happens("check-out", people[0], "2026-11-21T03:16:00Z");
    happens("check-in", people[0], "2026-11-21T03:20:00Z");
    happens("check-in", people[3], "2026-11-21T03:29:59Z");
    let reader = server.reader();
    assert_eq!(
        rows(&server, &reader, "attendance", ""),
        [
            json!({"session": "Empty", "room": null, "starts": null, "attended": 0, "joined": 0,
                "percent_of_joined": null, "inside_now": 0, "check_ins": 0}),
            json!({"session": "Keynote", "room": "Hall", "starts": "2026-11-21 09:00:00", "attended": 2,
                "joined": 2, "percent_of_joined": 50.0, "inside_now": 2, "check_ins": 3}),
        ]
    );
    let quarters = [
        json!({"quarter_hour": "2026-11-21 08:45:00", "check_ins": 1, "people": 1}),
        json!({"quarter_hour": "2026-11-21 09:00:00", "check_ins": 2, "people": 2}),
    ];
    assert_eq!(rows(&server, &reader, "check-ins", ""), quarters);
    let at = format!("device={session}");
    assert_eq!(rows(&server, &reader, "check-ins", &at), quarters);
    let at = format!("device={room}");
    assert!(rows(&server, &reader, "check-ins", &at).is_empty());
    let names = |rows: Vec<Value>| -> Vec<String> {
        let name = |row: &Value| row["first_name"].as_str().expect("a name").to_owned();
        rows.iter().map(name).collect()
    };
    assert_eq!(names(rows(&server, &reader, "no-shows", "")), ["Bo", "Cy"]);
    let of = format!("session={session}");
    assert_eq!(names(rows(&server, &reader, "no-shows", &of)), ["Bo"]);
}

#[test]
fn time_spent_counts_within_the_session_and_heat_by_the_hour() {
    let (server, all) = Server::with_api();
    let [ada, bo] = ["Ada", "Bo"].map(|name| all.delegate(&json!({"firstName": name})));
    let session = all.device(&json!({
        "name": "Keynote", "deviceType": "session",
        "startAt": "2026-11-21T09:00:00Z", "endAt": "2026-11-21T10:00:00Z",
    }));
    let happens = |kind: &str, who: i64, at: &str| {
        let at = format!("2026-11-21T{at}:00Z");
        let body = json!({"delegate": who, "device": session, "recordedAt": at});
        all.interact(kind, &body).is(201);
    };
    // Early, out for a while, and there to the end; by readers, and checked in by a gate besides.
    happens("entered", ada, "08:50");
    happens("check-in", ada, "08:51");
    happens("exited", ada, "09:20");
    happens("entered", ada, "09:30");
    happens("exited", ada, "10:05");
    happens("entered", bo, "09:30");
    happens("exited", bo, "09:45");
    let reader = server.reader();
    let spent = |query: &str| -> Vec<(Value, Value, Value)> {
        let rows = rows(&server, &reader, "time-spent", query);
        let told =
            |row: &Value| ["minutes", "percent", "certificate"].map(|name| row[name].clone());
        let told = rows.iter().map(told);
        told.map(|[minutes, percent, certificate]| (minutes, percent, certificate))
            .collect()
    };
    // The event itself is no session.
    let event = all.device(&json!({
        "deviceType": "event", "startAt": "2026-11-21T08:00:00Z", "endAt": "2026-11-21T18:00:00Z",
    }));
    for (kind, at) in [("check-in", "10:30"), ("check-out", "10:40")] {
        let at = format!("2026-11-21T{at}:00Z");
        let body = json!({"delegate": bo, "device": event, "recordedAt": at});
        all.interact(kind, &body).is(201);
    }
    let short = (json!(15), json!(25.0), json!("no"));
    assert_eq!(
        spent(""),
        [(json!(50), json!(83.3), json!("yes")), short.clone()]
    );
    assert_eq!(
        spent("percent=90"),
        [(json!(50), json!(83.3), json!("no")), short]
    );
    assert!(spent(&format!("session={}", session + 1)).is_empty());
    let heat: Vec<_> = rows(&server, &reader, "heat", "")
        .iter()
        .map(|row| (row["hour"].clone(), row["people"].clone()))
        .collect();
    let hour =
        |hour: u8, people: i64| (json!(format!("2026-11-21 {hour:02}:00:00")), json!(people));
    assert_eq!(heat, [hour(8, 1), hour(9, 2), hour(10, 1), hour(10, 1)]);
}

#[test]
fn time_that_readers_notice_in_a_room_counts_for_its_sessions() {
    let (server, all) = Server::with_api();
    let [ada, bo] = ["Ada", "Bo"].map(|name| all.delegate(&json!({"firstName": name})));
    let place = |kind: &str, parent: Option<i64>| {
        all.device(&json!({"deviceType": kind, "parent": parent}))
    };
    let event = place("event", None);
    let hall = place("room", Some(event));
    let room = place("room", Some(hall));
    let session = |name: &str, hours: [Option<&str>; 2]| {
        let at = hours.map(|hour| hour.map(|hour| format!("2026-11-21T{hour}:00:00Z")));
        all.device(&json!({
            "name": name, "deviceType": "session", "parent": room, "startAt": at[0], "endAt": at[1],
        }))
    };
    let early = session("Early", [Some("09"), Some("10")]);
    let late = session("Late", [Some("11"), Some("12")]);
    session("Without an end", [Some("09"), None]);
    session("Without a start", [None, Some("10")]);
    let happens = |kind: &str, who: i64, place: i64, at: &str| {
        let at = format!("2026-11-21T{at}:00Z");
        let body = json!({"delegate": who, "device": place, "recordedAt": at});
        all.interact(kind, &body).is(201);
    };
    for (kind, place, at) in [
        // Two readers and a gate at once: 9:10 to 9:30, and from 9:50 on to the end; the hall is too far away.
        ("entered", room, "09:10"),
        ("check-in", early, "09:15"),
        ("check-out", early, "09:20"),
        ("entered", hall, "09:15"),
        ("exited", room, "09:30"),
        ("exited", hall, "09:40"),
        ("entered", early, "09:50"),
        ("exited", early, "10:20"),
        ("entered", room, "11:45"),
    ] {
        happens(kind, ada, place, at);
    }
    // Who comes in through the entrances of the event and of the room is in no session yet.
    happens("entered", bo, event, "08:00");
    happens("check-in", bo, room, "08:05");
    happens("check-out", bo, room, "18:00");
    let reader = server.reader();
    let spent = |query: &str| -> Vec<(Value, Value, Value)> {
        let rows = rows(&server, &reader, "time-spent", query);
        let told = rows.iter().map(|row| {
            (
                row["session"].clone(),
                row["minutes"].clone(),
                row["certificate"].clone(),
            )
        });
        told.collect()
    };
    let line = |name: &str, minutes: i64, told: Value| (json!(name), json!(minutes), told);
    let [no, yes] = ["no", "yes"].map(|told| json!(told));
    let of_early = line("Early", 30, no.clone());
    // Without an exit: to the end of the session.
    assert_eq!(spent(""), [of_early.clone(), line("Late", 15, no.clone())]);
    assert_eq!(spent(&format!("session={early}")), [of_early]);
    let of_late = |percent: &str| spent(&format!("session={late}&percent={percent}"));
    assert_eq!(of_late("25"), [line("Late", 15, yes)]);
    assert_eq!(of_late("25.1"), [line("Late", 15, no)]);
    assert!(spent(&format!("session={room}")).is_empty());
    for (query, message) in [
        ("session=Early", "session: must be a number"),
        ("percent=many", "percent: must be a number"),
    ] {
        let path = format!("/report/event/export/time-spent/data.json?{query}");
        reader.get(&path).refused(400, 1100, message);
    }
}

#[test]
fn a_stay_that_a_gate_began_ends_with_whatever_tells_of_its_end() {
    let (server, all) = Server::with_api();
    let place = |kind: &str, parent: Option<i64>| {
        all.device(&json!({"deviceType": kind, "parent": parent}))
    };
    let event = place("event", None);
    let [building, booth] = ["location", "sponsor"].map(|kind| place(kind, Some(event)));
    let [hall, other_hall] = [(); 2].map(|()| place("room", Some(building)));
    let session = |hall: i64| {
        all.device(&json!({
            "deviceType": "session", "parent": hall, "startAt": "2026-11-21T10:00:00Z", "endAt": "2026-11-21T11:00:00Z",
        }))
    };
    let (session, parallel) = (session(hall), session(other_hall));
    let cases = [
        ("stays to the end", 60, vec![("check-in", session, "10:00")]),
        (
            "a reader of the hall sees them leave",
            15,
            vec![("check-in", session, "10:00"), ("exited", hall, "10:15")],
        ),
        (
            "and come back",
            55,
            vec![
                ("check-in", session, "10:00"),
                ("exited", hall, "10:15"),
                ("entered", hall, "10:20"),
            ],
        ),
        (
            "a gate of the building sees them leave",
            15,
            vec![
                ("check-in-override", session, "10:00"),
                ("check-out", building, "10:15"),
            ],
        ),
        (
            "another session sees them come",
            20,
            vec![
                ("check-in", session, "10:00"),
                ("check-in", parallel, "10:20"),
            ],
        ),
        (
            "a booth tells nothing of the session",
            60,
            vec![("check-in", session, "10:00"), ("check-in", booth, "10:20")],
        ),
        (
            "a reader hears them beyond the check-out",
            55,
            vec![
                ("check-in", session, "10:00"),
                ("entered", session, "10:05"),
                ("check-out", session, "10:10"),
                ("exited", session, "10:55"),
            ],
        ),
        (
            "a reader hears them throughout though a gate scans again",
            60,
            vec![
                ("entered", session, "09:55"),
                ("check-in", session, "09:58"),
                ("check-in", session, "10:30"),
                ("exited", session, "11:05"),
            ],
        ),
        (
            "in the building is not in the session",
            0,
            vec![
                ("entered", building, "09:00"),
                ("exited", building, "17:00"),
            ],
        ),
    ];
    for (name, _, happens) in &cases {
        let who = all.delegate(&json!({"firstName": name}));
        for (kind, place, at) in happens {
            let at = format!("2026-11-21T{at}:00Z");
            let body = json!({"delegate": who, "device": place, "recordedAt": at});
            all.interact(kind, &body).is(201);
        }
    }
    let reader = server.reader();
    let rows = rows(
        &server,
        &reader,
        "time-spent",
        &format!("session={session}"),
    );
    for (name, minutes, _) in cases {
        let row = rows.iter().find(|row| row["first_name"] == name);
        let told = row.map_or(0, |row| row["minutes"].as_i64().expect("minutes"));
        assert_eq!(told, minutes, "{name}");
    }
}

#[test]
fn who_checks_in_again_the_next_day_left_in_between() {
    let (server, all) = Server::with_api();
    let ada = all.delegate(&json!({"firstName": "Ada"}));
    let session = all.device(&json!({
        "deviceType": "session", "startAt": "2025-11-21T10:00:00Z", "endAt": "2025-11-21T11:00:00Z",
    }));
    for at in ["2025-11-21T10:30:00Z", "2025-11-22T09:00:00Z"] {
        let body = json!({"delegate": ada, "device": session, "recordedAt": at});
        all.interact("check-in", &body).is(201);
    }
    let reader = server.reader();
    let heat = rows(&server, &reader, "heat", "");
    let hours: Vec<&Value> = heat.iter().map(|row| &row["hour"]).collect();
    assert_eq!(hours, ["2025-11-21 10:00:00", "2025-11-22 09:00:00"]);
}

#[test]
fn who_did_not_leave_a_session_is_there_to_its_end() {
    let (server, all) = Server::with_api();
    let [ada, bo] = ["Ada", "Bo"].map(|name| all.delegate(&json!({"firstName": name})));
    let session = all.device(&json!({
        "name": "Keynote", "deviceType": "session",
        "startAt": "2025-11-21T09:00:00Z", "endAt": "2025-11-21T11:00:00Z",
    }));
    let hall = all.device(&json!({"name": "Hall", "deviceType": "room"}));
    let enters = |who: i64, place: i64, at: &str| {
        let body = json!({"delegate": who, "device": place, "recordedAt": at});
        all.interact("entered", &body).is(201);
    };
    enters(ada, session, "2025-11-21T09:30:00Z");
    let reader = server.reader();
    let hours = || -> Vec<Value> {
        let rows = rows(&server, &reader, "heat", "");
        rows.iter().map(|row| row["hour"].clone()).collect()
    };
    assert_eq!(hours(), ["2025-11-21 09:00:00", "2025-11-21 10:00:00"]);
    server.settings(&json!({"timeZone": "Asia/Kolkata"}));
    assert_eq!(hours(), ["2025-11-21 15:00:00", "2025-11-21 16:00:00"]);
    server.settings(&json!({"timeZone": "UTC"}));
    enters(bo, session, "2025-11-21T15:00:00Z");
    assert_eq!(hours().len(), 3);
    enters(ada, hall, "2025-11-22T00:00:00Z");
    assert_eq!(hours().len(), 3 + 24);
}

#[test]
fn leads_come_with_their_answers() {
    let (server, all) = Server::with_api();
    let seller = all.delegate(&json!({"firstName": "Sam", "lastName": "Seller"}));
    let guest =
        all.delegate(&json!({"firstName": "Gil", "lastName": "Guest", "email": "g@example.org"}));
    let sponsor = all.device(&json!({"name": "Acme", "deviceType": "sponsor"}));
    let form = json!({"form": "lead", "answers": [
        {"field": "interest", "answer": "A demo", "fieldLabel": "Interested in"},
        {"field": "rating", "answer": 5, "fieldLabel": "Rating"},
        {"field": "topics", "answer": ["a", "b"], "fieldLabel": "Topics"},
    ]});
    let at = "2026-11-21T09:00:00Z";
    all.interact("lead", &json!({"firstDelegate": seller, "secondDelegate": guest, "firstDevice": sponsor, "recordedAt": at, "data": form}));
    all.interact("lead", &json!({"delegate": guest, "device": sponsor, "recordedAt": "2026-11-21T10:00:00Z", "data": {"note": "x"}}));
    all.interact(
        "lead",
        &json!({"delegate": guest, "recordedAt": "2026-11-21T11:00:00Z"}),
    );
    let reader = server.reader();
    let leads = rows(&server, &reader, "leads", "");
    assert_eq!(leads.len(), 3);
    let one = leads
        .iter()
        .find(|row| row["taken_by"] == "Sam Seller")
        .expect("his lead");
    one.agrees(&json!({
        "sponsor": "Acme", "lead": "Gil Guest",
        "answers": "Interested in: A demo; Rating: 5; Topics: [\"a\",\"b\"]",
    }));
    let other = leads
        .iter()
        .find(|row| row["recorded_at"] == "2026-11-21 10:00:00");
    let other = other.expect("the other lead");
    other.agrees(&json!({"lead": "Gil Guest", "taken_by": "", "answers": "{\"note\":\"x\"}"}));
    let of = format!("sponsor={sponsor}");
    assert_eq!(rows(&server, &reader, "leads", &of).len(), 2);
}

#[test]
fn sales_count_nothing_twice() {
    let (server, all) = Server::with_api();
    let event = all.device(&json!({"name": "Event", "deviceType": "event"}));
    let ticket = all.device(&json!({"name": "Day ticket", "deviceType": "product"}));
    let sell = |code: &str, quantity: i64, payments: Value| {
        let total = quantity * 2500;
        let body = json!({
            "context": event, "code": code, "totalAmount": total, "createdAt": 1_790_000_000, "transactions": payments,
            "items": [{"code": format!("{code}0000"), "product": ticket, "quantity": quantity, "description": "Day ticket",
                "unitAmount": 2500, "totalAmount": total, "discountAmount": null, "delegates": []}],
        });
        all.post("/tx/new", &body).is(201);
    };
    sell("A", 1, json!([{"paymentMethod": "cash", "amount": 2500}]));
    sell(
        "B",
        2,
        json!([{"paymentMethod": "card", "amount": 5000, "transactionId": "1"}]),
    );
    sell(
        "C",
        3,
        json!([{"paymentMethod": "cash", "amount": 2500}, {"paymentMethod": "card", "amount": 5000, "transactionId": "2"}]),
    );
    sell(
        "D",
        1,
        json!([{"paymentMethod": "cash", "amount": 1000}, {"paymentMethod": "cash", "amount": 1500}]),
    );
    let reader = server.reader();
    let line = |method: &str, quantity: i64, amount: f64, purchases: i64| json!({"product": "Day ticket", "method": method, "quantity": quantity, "amount": amount, "discount": 0.0, "purchases": purchases});
    assert_eq!(
        rows(&server, &reader, "sales", ""),
        [
            line("card", 2, 50.0, 1),
            line("card + cash", 3, 75.0, 1),
            line("cash", 2, 50.0, 2),
        ]
    );
}

#[test]
fn what_a_report_adds_up_of_payments_is_what_the_console_shows() {
    let (server, all) = Server::with_api();
    // Handed over, and less the change already.
    for (code, amount) in [("A", 5000), ("B", 2500)] {
        let body = json!({"code": code, "totalAmount": 2500, "createdAt": 1_790_000_000,
            "transactions": [{"paymentMethod": "cash", "amount": amount, "change": 2500}]});
        all.post("/tx/new", &body).is(201);
    }
    server.put(&super::report(
        "SELECT method, sum(net) AS kept FROM transaction_payments GROUP BY 1",
    ));
    let rows = server.reader().get("/report/test/export/r/data.json");
    assert_eq!(*rows.data(), json!([{"method": "cash", "kept": 5000}]));
    let crew = server.crew(gatepost::identity::ConsoleRole::Viewer);
    let csv = crew.page("/console/sales/totals/export?by=method");
    has(&csv, ",Cash,2,50.00,5000");
    let list = crew.page("/console/sales/export?format=json");
    assert_eq!(list.matches("\"cash\":2500").count(), 2, "{list}");
}

#[test]
fn devices_are_shown_as_they_pinged() {
    let server = Server::start();
    let device = server
        .caller_with_all()
        .device(&json!({"name": "Gate A", "code": "a"}));
    let (id, secret) = server.new_client(gatepost::identity::clients::NewClient {
        device: Some(gatepost::types::DeviceId(device)),
        scopes: vec![Scope::ReportRead],
        ..gatepost::identity::clients::NewClient::named("a")
    });
    let app = server.caller_of(&id, &secret);
    let now = gatepost::types::Timestamp::now().0 / 1000;
    let ping = json!({"localTime": now, "configVersion": 0, "battery": 42, "network": "venue", "failedUploads": 3, "status": "foreground"});
    app.post("/device/ping", &ping).is(200);
    let found = rows(&server, &app, "devices", "");
    assert_eq!(found.len(), 1);
    for (column, value) in [
        ("device", json!("Gate A")),
        ("state", json!("online")),
        ("battery", json!(42)),
        ("network", json!("venue")),
        ("failed_uploads", json!(3)),
        ("app", json!("foreground")),
    ] {
        assert_eq!(found[0][column], value, "{column}");
    }
}

#[test]
fn every_shipped_report_runs_on_an_event_and_on_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut columns = BTreeSet::new();
    for (name, full) in [("full.db", true), ("empty.db", false)] {
        let db = folder.path().join(name);
        if full {
            // At noon, when a talk is over.
            let made = gatepost(&db, &["demo", "--date", "2026-11-21"]);
            assert!(made.status.success(), "{made:?}");
        }
        let store = gatepost::db::Store::open(&db, gatepost::db::Durability::Normal);
        let app = gatepost::identity::App::new(store.expect("a file"), None);
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        for report in reports::shipped().expect("reports") {
            report.check(&db).expect("a report that can be stored");
            let values = reports::Values::read(&report.parameters, &report.fixed, &[]);
            let made = reports::preview(&app, &report, values.expect("values"), 100);
            let made = runtime.block_on(made).expect("rows");
            assert_eq!(!made.rows.is_empty(), full, "{}", report.id);
            columns.insert(format!("{}: {}", report.id, made.columns.join(",")));
        }
    }
    let columns: Vec<String> = columns.into_iter().collect();
    insta::assert_snapshot!(columns.join("\n"), @r"
    attendance: session,room,starts,attended,joined,percent_of_joined,inside_now,check_ins
    check-ins: quarter_hour,check_ins,people
    devices: device,type,state,battery,last_seen,network,app,failed_uploads,clock_skew_s,config_version,confirmed,code
    heat: hour,place,people
    leads: sponsor,recorded_at,lead,company,job_title,email,phone,answers,taken_by
    no-shows: id,barcode,first_name,last_name,company,delegate_type,email,phone
    sales: product,method,quantity,amount,discount,purchases
    time-spent: session,starts,barcode,first_name,last_name,minutes,percent,certificate
    ");
}

#[test]
fn what_was_removed_stays_away() {
    let folder = tempfile::tempdir().expect("a folder");
    let db = folder.path().join("gatepost.db");
    told(&db, &["client", "add", "gate", "--json"]);
    let ids = || -> Vec<String> {
        let document = told(&db, &["config", "export"]);
        let all = document["reports"].as_array().expect("reports").iter();
        all.map(|report| report["id"].as_str().expect("an id").to_owned())
            .collect()
    };
    assert_eq!(
        ids(),
        [
            "attendance",
            "check-ins",
            "devices",
            "leads",
            "no-shows",
            "heat",
            "sales",
            "time-spent"
        ]
    );
    let kept = folder.path().join("config.json");
    let mut document = told(&db, &["config", "export"]);
    let reports = document["reports"].as_array_mut().expect("reports");
    reports.retain(|report| report["id"] == "leads");
    std::fs::write(&kept, document.to_string()).expect("written");
    let kept = kept.to_str().expect("a name");
    assert!(
        gatepost(&db, &["config", "apply", kept, "--prune"])
            .status
            .success()
    );
    assert_eq!(ids(), ["leads"]);
    Served::start(&db).stop();
    Served::start(&db).stop();
    assert_eq!(ids(), ["leads"]);
}

#[test]
fn reports_count_who_came_by_doors_at_their_place() {
    let server = Server::start();
    let all = server.caller_with_all();
    let hall = all.device(&json!({
        "name": "Keynote", "deviceType": "session", "startAt": "2026-11-21T09:00:00Z", "endAt": "2026-11-21T10:00:00Z",
    }));
    let [north, south] = ["North", "South"]
        .map(|name| all.device(&json!({"name": name, "deviceType": "door", "parent": hall})));
    let a = all.delegate(&json!({"firstName": "Ada"}));
    let happens = |kind: &str, device: i64, at: &str| {
        let body = json!({"delegate": a, "device": device, "recordedAt": at});
        all.interact(kind, &body).is(201);
    };
    happens("join", south, "2026-11-21T08:00:00Z");
    happens("check-in", north, "2026-11-21T09:00:00Z");
    happens("check-in", hall, "2026-11-21T09:10:00Z");
    happens("check-out", south, "2026-11-21T09:30:00Z");
    let reader = server.reader();
    let attendance = &rows(&server, &reader, "attendance", "")[0];
    for (column, count) in [
        ("check_ins", 2),
        ("attended", 1),
        ("joined", 1),
        ("inside_now", 0),
    ] {
        assert_eq!(attendance[column], count, "{attendance}");
    }
    for (device, count) in [(hall, 2), (north, 1), (south, 0)] {
        let quarters = rows(&server, &reader, "check-ins", &format!("device={device}"));
        let counted: i64 = quarters
            .iter()
            .filter_map(|row| row["check_ins"].as_i64())
            .sum();
        assert_eq!(counted, count, "{quarters:?}");
    }
    let spent = &rows(&server, &reader, "time-spent", "")[0];
    assert_eq!(
        (&spent["session"], &spent["minutes"]),
        (&json!("Keynote"), &json!(30))
    );
    let heat = rows(&server, &reader, "heat", "");
    assert!(heat.iter().all(|row| row["place"] == "Keynote"), "{heat:?}");
}
