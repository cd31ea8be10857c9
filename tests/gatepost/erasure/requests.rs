//! Erasure (contract §8): by the person itself, and by the crew.

use super::{
    beside, compacted, gatepost,
    sample_person::{fill, keyed},
    shown, traces, wiped, words_in,
};
use crate::harness::{Caller, Server, at_once, has, lacks, reply, table, whole};
use gatepost::identity::{ConsoleRole, Role};
use reqwest::Method;
use serde_json::json;

/// Nothing is left of the person, and all is as it should be without them.
fn gone(server: &Server, person: &super::Person) {
    wiped(server);
    assert_eq!(words_in(&shown(&server.path()), person), [""; 0]);
    assert_eq!(traces(&compacted(server), person), [""; 0]);
    let id = person.id;
    for [table, of] in table(
        "delegates             | id = ?
         gate_notes            | delegate_id = ?
         blocked_codes         | delegate_id = ?
         refusals              | delegate_id = ?
         interactions          | ? IN (first_delegate_id, second_delegate_id, third_delegate_id)
         users                 | delegate_id = ?
         messages              | delegate_id = ?
         transaction_delegates | delegate_id = ?",
    ) {
        let of = of.replace('?', &id.to_string());
        let left = server.count(&format!("{table} WHERE {of}"));
        assert_eq!(left, 0, "{table}");
    }
    let told = format!(
        "SELECT group_concat(action) FROM audit WHERE record_type = 'delegate' AND record_id = {id}"
    );
    assert_eq!(server.text(&told), "erase");
    server.has_indexed_everybody();
    let other: i64 = server.value(&format!(
        "SELECT count(*) FROM interactions WHERE first_delegate_id = {}",
        person.other
    ));
    assert_eq!(other, 1, "what is only others' stays");
    assert_ne!(server.count("unknown_tags"), 0, "tags of nobody stay");
    server.done(&["check"]);
}

#[test]
fn who_deletes_itself_is_gone_from_everything() {
    let server = Server::start();
    let person = fill(&server, "xochitl");
    assert_eq!(
        traces(&server.path(), &person),
        person.words,
        "all of it is there"
    );
    let myself = Caller::with_token(&server, &person.token);
    let answer = whole(myself.request(Method::DELETE, "/delegate/myself"));
    assert_eq!((answer.reply.status, &*answer.text), (204, ""));
    // At once, in the cache of tokens as well.
    for request in [
        myself.request(Method::GET, "/delegate/myself"),
        myself.request(Method::GET, "/ping"),
        myself.request(Method::DELETE, "/delegate/myself"),
    ] {
        reply(request).refused(401, 1201, "");
    }
    let refreshed = reply(
        server
            .request(Method::POST, "/api/oauth/v2/token")
            .json(&person.refresh),
    );
    assert_eq!(
        (refreshed.status, &refreshed.body["error"]),
        (400, &json!("invalid_grant"))
    );
    gone(&server, &person);
}

#[test]
fn who_is_deleted_for_good_by_the_crew_is_gone_from_everything() {
    let server = Server::start();
    let person = fill(&server, "tlaloc");
    let crew = server.crew_once(ConsoleRole::Administrator);
    let path = format!("/console/delegates/{}/erase", person.id);
    crew.post(&path, &[("confirm", &person.id.to_string())])
        .taken();
    Caller::with_token(&server, &person.token)
        .get("/ping")
        .refused(401, 1201, "");
    gone(&server, &person);
}

#[test]
fn two_who_left_everything_take_nothing_of_each_other_along() {
    let server = Server::start();
    let stays = fill(&server, "centeotl");
    let goes = fill(&server, "chalchi");
    let myself = Caller::with_token(&server, &goes.token);
    myself.delete("/delegate/myself").is(204);
    gone(&server, &goes);
    assert_eq!(traces(&server.path(), &stays), stays.words);
    let inside = format!(
        "SELECT inside FROM occupancy WHERE device_id = {}",
        goes.hall
    );
    let counted = format!(
        "SELECT count(*) FROM (
             SELECT interaction_type, max(id) FROM interactions
             WHERE first_device_id = {} AND interaction_type IN ('check-in', 'check-out')
             GROUP BY first_delegate_id)
         WHERE interaction_type = 'check-in'",
        goes.hall
    );
    assert_eq!(server.value::<i64>(&inside), server.value::<i64>(&counted));
}

#[test]
fn a_file_is_compacted_while_nobody_else_has_it() {
    let (server, api) = Server::with_api();
    let id = api.delegate(&json!({"firstName": "Ada"}));
    let user = server.caller_as_user("ada@example.org", &[], Some(id));
    let crew = server.administrator();
    let page = || crew.page("/console/settings/backups");
    lacks(page(), "gatepost compact");
    user.delete("/delegate/myself").is(204);
    has(page(), "2 records were erased since");

    let refused = |told: &str| {
        let output = gatepost(&server.path(), &["compact"]);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && error.contains(told), "{error}");
    };
    refused("another program keeps the database file locked");
    let lock = gatepost::db::ServeLock::take(&server.path()).expect("the lock");
    refused("another `gatepost serve` runs on");
    drop(lock);
    let nowhere = gatepost(&server.path().with_file_name("none.db"), &["compact"]);
    assert!(!nowhere.status.success());

    let copy = compacted(&server);
    let done = gatepost(&copy, &["compact", "--json"]);
    let told: serde_json::Value = serde_json::from_slice(&done.stdout).expect("JSON");
    assert_eq!(told["erased"], json!(0), "{told}");
    let file = rusqlite::Connection::open(&copy).expect("the copy");
    let noted = "SELECT group_concat(after ->> '$.erased') FROM audit WHERE action = 'compact'";
    let noted: String = file.query_row(noted, [], |row| row.get(0)).expect(noted);
    assert_eq!(noted, "2,0");
    file.execute_batch("PRAGMA user_version = 1")
        .expect("older");
    drop(file);
    let older = gatepost(&copy, &["compact"]);
    let told = String::from_utf8_lossy(&older.stderr).into_owned();
    has(&told, "gatepost migrate");
}

#[test]
fn the_log_is_emptied_even_if_somebody_reads_an_old_state_for_a_while() {
    let (server, api) = Server::with_api();
    let id = api.delegate(&json!({"firstName": "Quetzalcoatl"}));
    let reader = rusqlite::Connection::open(server.path()).expect("the file");
    reader
        .execute_batch("BEGIN; SELECT count(*) FROM delegates")
        .expect("a look");
    let user = server.caller_as_user("ada@example.org", &[], Some(id));
    user.delete("/delegate/myself").is(204);
    // Gates are let in meanwhile.
    for at in 0..50 {
        api.delegate(&json!({"firstName": format!("Guest {at}")}));
    }
    let log = beside(&server.path(), "-wal");
    assert!(std::fs::metadata(&log).expect("a log").len() > 0);
    reader.execute_batch("COMMIT").expect("done");
    wiped(&server);
    assert_eq!(server.count("delegates"), 50);
}

#[test]
fn one_of_the_crew_goes_too_but_never_the_last_administrator() {
    let (server, api) = Server::with_api();
    let id = api.delegate(&json!({"firstName": "Ada"}));
    let ada = server.caller_as_user("ada@example.org", &[], Some(id));
    server.sql("UPDATE users SET console_role = 'administrator'");
    ada.delete("/delegate/myself")
        .refused(403, 1202, "last administrator");
    assert_eq!(ada.get("/delegate/myself").id(), id, "nothing has happened");
    server.console_user("eve@example.org", ConsoleRole::Administrator);
    ada.delete("/delegate/myself").is(204);
    ada.get("/ping").refused(401, 1201, "");
    assert_eq!(server.count("users"), 1);
    assert_eq!(
        server.count("audit WHERE record_type = 'user' AND record_id = 1"),
        0
    );
    // By the console one of the crew is only untied.
    let id = api.delegate(&json!({"firstName": "Bob"}));
    server.sql(&format!("UPDATE users SET delegate_id = {id}"));
    let crew = server.administrator();
    crew.erase(id);
    assert_eq!(server.count("users WHERE delegate_id IS NULL"), 2);
}

#[test]
fn only_a_user_with_a_delegate_deletes_itself() {
    let (server, api) = Server::with_api();
    api.delete("/delegate/myself").refused(401, 1201, "user");
    let lone = server.caller_as_user("lone@example.org", Role::ALL, None);
    lone.delete("/delegate/myself").refused(404, 1301, "");
    lone.get("/ping").is(200);
}

#[test]
fn of_two_who_ask_at_once_to_be_gone_each_is_told_the_truth() {
    let server = Server::start();
    let id = server
        .caller_with_all()
        .delegate(&json!({"firstName": "Ada"}));
    let ada = server.caller_as_user("ada@example.org", &[], Some(id));
    let statuses: Vec<u16> = at_once(4, |_| ada.delete("/delegate/myself").status);
    assert!(statuses.contains(&204), "{statuses:?}");
    assert!(
        statuses
            .iter()
            .all(|status| [204, 401, 404].contains(status)),
        "{statuses:?}"
    );
    assert_eq!(server.count("delegates"), 0);
    assert_eq!(server.count("users"), 0);
}

#[test]
fn only_copies_that_may_have_the_person_are_named() {
    let (server, api) = Server::with_api();
    let crew = server.administrator();
    let id = api.delegate(&json!({"firstName": "Ada"}));
    let made: i64 = server.value(&format!("SELECT created_at FROM delegates WHERE id = {id}"));
    for (path, finished) in [
        ("/stick/before.db", made - 1),
        ("/stick/since.db", made + 1),
    ] {
        server.sql(&format!(
            "INSERT INTO backups (kind, path, started_at, finished_at) VALUES ('manual', '{path}', 1, {finished})"
        ));
    }
    server.sql("INSERT INTO backups (kind, path, started_at, finished_at, failure) VALUES ('manual', '/stick/failed.db', 1, 9e15, 'x')");
    let aside = beside(&server.path(), ".v3.bak");
    std::fs::write(&aside, "x").expect("a copy");
    let page = crew.page(&format!("/console/delegates/{id}/erase"));
    has(&page, ["/stick/since.db", ".v3.bak"]);
    lacks(&page, ["before.db", "failed.db"]);
    let user = server.caller_as_user("ada@example.org", &[], Some(id));
    user.delete("/delegate/myself").is(204);
    let told: String = server.value("SELECT after FROM audit WHERE action = 'erase'");
    let told: serde_json::Value = serde_json::from_str(&told).expect("JSON");
    let copies = json!(["/stick/since.db", aside.display().to_string()]);
    assert_eq!(told, json!({"stillInCopies": copies}));
}

#[test]
fn what_a_till_sent_that_is_no_json_and_names_the_person_is_erased_as_a_whole() {
    let (server, api) = Server::with_api();
    let id = api.delegate(
        &json!({"firstName": "Zoë", "lastName": "Weiß", "phone": "+49 170 1234567", "barcode": "ZW-4711"}),
    );
    // As an old till writes it: Windows-1252, not UTF-8.
    let sent = b"RECEIPT 17;25,00;ZO\xcb WEISS;0170/123 45-67;zw-4711;Caf\xe9 \x80 3".to_vec();
    let request = api.request(Method::POST, "/tx/new").body(sent.clone());
    reply(request).is(201);
    let stored = || -> Vec<u8> { server.value("SELECT body FROM transaction_bodies") };
    assert_eq!(stored(), sent);
    let crew = server.administrator();
    let path = format!("/console/delegates/{id}/erase");
    crew.post(&path, &[("confirm", &id.to_string())]).taken();
    assert_eq!(stored(), b"[erased]");
    let bytes = std::fs::read(compacted(&server)).expect("the file");
    for word in [&b"WEISS"[..], b"0170/123", b"zw-4711"] {
        assert!(!super::memmem(&bytes, word), "{word:?}");
    }
}

/// What others recorded quotes the person, and is theirs otherwise.
#[test]
fn what_others_quote_of_the_person_goes_and_the_rest_stays() {
    let (server, api) = Server::with_api();
    let id = api.delegate(
        &json!({"firstName": "Zoë", "lastName": "Weiß", "email": "zoe@example.org",
        "phone": "+49 170 1234567", "barcode": "ZW-4711", "rfid": "7F"}),
    );
    let quote = json!({"note": "met Zoe@Example.org, +49 170 1234567 (ZW-4711)", "others": ["zoe@example.org.uk", "ZW-47110", "7F"],
        "zoe@example.org": 1});
    let left = json!({"note": "met [erased], [erased] ([erased])", "others": ["zoe@example.org.uk", "ZW-47110", "7F"],
        "[erased]": 1});
    let other = api.delegate(&json!({"lastName": "Other", "data": {"Data": quote}}));
    let hall = api.device(&json!({"data": {"Data": quote}}));
    let scan = |kind: &str, data: &serde_json::Value| {
        let body = json!({"delegate": other, "device": hall, "data": data});
        let made = api.interact(kind, &body);
        made.data()["id"].as_i64().expect("an id")
    };
    let lead = scan("lead", &quote);
    let long = json!({"pages": vec![quote.clone(); 3_000]});
    let long_lead = scan("lead", &long);
    let gone_lead = scan("lead", &quote);
    api.delete(&format!("/interaction/id:{gone_lead}")).is(204);
    let shared = json!({"sharedValues": {"photo": quote}, "interactions": {
        "a": {"interactionType": "lead", "delegate": other, "device": hall, "data": {"photo": {"$shared": "photo"}}}}});
    let batch = api.post("/interaction/batch", &shared);
    let of_batch = batch.data()[0]["data"]["id"].as_i64().expect("an id");
    // The code of the ticket was taken: no delegate is made for it.
    let purchase = json!({"code": "CLASH", "context": hall, "totalAmount": 1, "notes": "Zoë pays later", "transactions": [],
        "items": [{"product": hall, "quantity": 1, "totalAmount": 1, "delegates": [{"product": hall, "barcode": "ZW-4711"}]}]});
    let sold = api.post("/tx/new", &purchase);
    assert_ne!(sold.data()["inconsistencies"], json!([]), "{sold:?}");
    let resent = || {
        let body = json!({"barcode": "FRIEND-1", "data": {"Data": quote}});
        let friend = keyed(&api, "/delegate/new", "friend", &body);
        assert_eq!(friend.status, 201);
        friend.data()["data"]["Data"].clone()
    };
    assert_eq!(resent(), quote);
    let list = server.path().with_file_name("guests.csv");
    for guest_of in ["zoe@example.org", "nobody"] {
        let rows = format!("barcode,Guest of\nGUEST-1,{guest_of}\n");
        std::fs::write(&list, rows).expect("a list");
        let list = list.to_str().expect("a path");
        let import = ["import", "delegates", list, "--key", "barcode"];
        server.done(&import);
    }
    let crew = server.administrator();
    let path = format!("/console/delegates/{id}/erase");
    crew.post(&path, &[("confirm", &id.to_string())]).taken();

    assert_eq!(resent(), left);
    server.done(&["import", "--undo", "2"]);
    api.get("/delegate/barcode:GUEST-1")
        .shows("data", json!({"Data": {"Guest of": "[erased]"}}));
    let data = |path: &str| api.read(path)["data"].clone();
    assert_eq!(data(&format!("/delegate/id:{other}"))["Data"], left);
    assert_eq!(data(&format!("/device/id:{hall}"))["Data"], left);
    let listed = api.get(
        "/interaction/list?search=%7B%22%3D%3D%22%3A%5B%22interactionType%22%2C%22lead%22%5D%7D",
    );
    let of = |wanted: i64| {
        let items = listed.list().clone();
        let found = items.into_iter().find(|item| item["id"] == wanted);
        found.expect("it is there")["data"].clone()
    };
    assert_eq!(of(lead), left);
    assert_eq!(of(long_lead)["pages"][2_999], left);
    assert_eq!(of(of_batch)["photo"], left);
    let body: String = server.value("SELECT CAST(body AS TEXT) FROM transaction_bodies");
    lacks(&body, ["Zoë", "ZW-4711"]);
    let bytes = std::fs::read(compacted(&server)).expect("the file");
    for word in [&b"Zoe@Example.org"[..], b"170 1234567", b"(ZW-4711"] {
        assert!(!super::memmem(&bytes, word), "{word:?}");
    }
    api.get(&format!("/delegate/id:{other}"))
        .shows("lastName", "Other");
}

/// A number that is written in another way may be somebody else's: people look at it.
#[test]
fn other_ways_to_write_a_telephone_number_are_listed_for_review() {
    let (server, api) = Server::with_api();
    let person = |name: &str, phone: &str| {
        let id = api.delegate(&json!({"firstName": name, "phone": phone}));
        let said = json!({"delegate": id, "data": {"mine": "0170 123 4567"}});
        (id, api.interact("feedback", &said).id())
    };
    let (id, _) = person("Zoë", "+49 170 1234567");
    let (_, of_ada) = person("Ada", "0170/1234567");
    let quote = |number: &str| json!({"Data": {"note": format!("call {number}")}});
    let written = quote("+49 170 1234567, +491701234567");
    let same = api.delegate(&json!({"lastName": "Same", "data": written}));
    let other = api.delegate(&json!({"lastName": "Other", "data": quote("0170/123 45-67")}));
    let hall = api.device(&json!({"code": "hall", "data": quote("(0170) 1234567")}));
    let lead = |number: &str| {
        let body = json!({"delegate": other, "device": hall, "data": quote(number)});
        api.interact("lead", &body).id()
    };
    let (listed, _) = (lead("0049-170-1234567"), lead("0170 1234568"));
    let purchase = json!({"code": "T-1", "context": hall, "totalAmount": 1, "notes": "0170-1234567", "transactions": [], "items": []});
    api.post("/tx/new", &purchase).is(201);

    let crew = server.administrator();
    let path = format!("/console/delegates/{id}/erase");
    crew.post(&path, &[("confirm", &id.to_string())]).taken();
    let named = [
        "purchase T-1".to_owned(),
        format!("attendee {other}"),
        format!("place {hall}"),
        format!("interaction {of_ada}"),
        format!("interaction {listed}"),
    ];
    let told = crew.page("/console/delegates");
    has(told, [format!("Review {}", named.join(", "))]);
    let kept = server.text("SELECT after FROM audit WHERE action = 'erase'");
    let kept: serde_json::Value = serde_json::from_str(&kept).expect("JSON");
    let kept = kept["similarPhoneNumbersIn"].as_array().expect("a list");
    let (history, kept): (Vec<&str>, Vec<&str>) = kept
        .iter()
        .filter_map(|text| text.as_str())
        .partition(|text| text.starts_with("history entry"));
    assert_eq!(
        (kept, history.len()),
        (named.iter().map(String::as_str).collect(), 2)
    );

    let data = |path: &str| api.read(path)["data"].clone();
    assert_eq!(
        data(&format!("/delegate/id:{same}")),
        quote("[erased], [erased]")
    );
    assert_eq!(
        data(&format!("/delegate/id:{other}")),
        quote("0170/123 45-67")
    );
    has(
        server.text("SELECT CAST(body AS TEXT) FROM transaction_bodies"),
        "0170-1234567",
    );
}
