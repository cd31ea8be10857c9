//! `POST /device-request/new`: who may ask, what is answered, and how credentials are given out.

use super::{Server, asking};
use crate::{
    faults::process::until,
    harness::{Agrees, at_once, cases, has, keys, reply, whole},
};
use gatepost::{
    domain::discovery::{clear, list},
    identity::Role,
    types::Timestamp,
};
use reqwest::Method;
use serde_json::{Value, json};

const DAY_MS: i64 = 24 * 3600 * 1000;

#[test]
fn an_app_asks_is_added_and_signs_in() {
    let server = Server::start_with(Some("https://gate.example.org"));
    let body = json!({"code": "42", "secret": "5f0c8f0e9d3b4a1c", "preferredType": "checkin"});
    server.ask(&body).refused(503, 1001, "discovery is closed");
    server.open_discovery();
    let request = server
        .request(Method::POST, "/api/v5/device-request/new.json")
        .header("User-Agent", "GateApp/3.1")
        .json(&body);
    let first = whole(request);
    assert_eq!(first.reply.status, 201);
    assert_eq!(first.header("cache-control"), "no-store");
    let record = first.reply.data();
    assert_eq!(
        keys(record),
        "id _type code secret agent createdAt updatedAt apiUrl"
    );
    record.agrees(&json!({"apiUrl": "https://gate.example.org/api/v5", "agent": "GateApp/3.1"}));
    assert_eq!(record["secret"], body["secret"]);
    // It polls, also when the page is closed.
    server.ask(&body).is(200);
    server.console.discovery.window.close();
    assert_eq!(server.ask(&body).data(), record);
    let client_id = server.add(record["id"].as_i64().expect("an id"), false);
    let given = server.ask(&body);
    assert_eq!(given.status, 200);
    let given = given.data().clone();
    assert_eq!(given["clearedStatus"], "added");
    assert!(given["clearedAt"].is_string());
    assert_eq!(given["clientId"], json!(client_id.expect("added")));
    // As long as it is shown it is the same.
    assert_eq!(server.ask(&body).data(), &given);
    let text = |name: &str| given[name].as_str().expect(name);
    let app = server.caller_of(text("clientId"), text("clientSecret"));
    let device = server.caller_with_all();
    let device = device.get(&format!("/device/id:{}", given["deviceId"]));
    device
        .data()
        .agrees(&json!({"deviceType": "regoapp", "code": "42", "sources": ["discovery"]}));
    assert!(device.data()["deviceTags"].is_null());
    app.get("/device/code:42").is(200);
}

#[test]
fn what_is_given_is_what_the_preferred_type_needs() {
    use Role::{DelegateRead, DelegateWrite, DeviceRead, InteractionWrite};
    let server = Server::discovering();
    let gate = || vec![DelegateRead, DeviceRead, InteractionWrite];
    let upload = vec![InteractionWrite];
    let uploading = vec![DelegateWrite, InteractionWrite];
    let writing = vec![DelegateRead, DelegateWrite, DeviceRead, InteractionWrite];
    for (at, (preferred, write, device_type, tags, roles)) in [
        (None, false, "regoapp", None, gate()),
        (Some("checkin"), false, "regoapp", None, gate()),
        (Some("accesscontrol"), true, "regoapp", None, writing),
        (Some("upload"), false, "regoapp", None, upload),
        (Some("upload"), true, "regoapp", None, uploading),
        (Some("leads"), false, "mobileapp", Some("leads"), gate()),
    ]
    .into_iter()
    .enumerate()
    {
        let mut body = asking(&at.to_string());
        body["preferredType"] = json!(preferred);
        let client_id = server.add(server.ask(&body).id(), write).expect("it waits");
        let given = server.ask(&body).data().clone();
        let shown = server.caller_with_all().read(&format!("/device/code:{at}"));
        assert_eq!(
            (shown["deviceType"].as_str(), shown["deviceTags"].as_str()),
            (Some(device_type), tags)
        );
        let held: String = server.value(&format!(
            "SELECT roles FROM clients WHERE client_id = '{client_id}' AND device_id = {}",
            given["deviceId"]
        ));
        let names: Vec<_> = roles.iter().map(|role| role.name()).collect();
        assert_eq!(held, json!(names).to_string());
    }
}

#[test]
fn a_code_is_somebodys_until_it_is_free() {
    let server = Server::discovering();
    let stranger = |code: &str| json!({"code": code, "secret": "another one"});
    let taken = |code: &str| {
        server
            .ask(&json!({"code": code, "secret": "a third one"}))
            .refused(409, 1002, code);
    };
    // One that waits.
    let waiting = server.ask(&asking("1")).id();
    taken("1");
    // Dismissed: its app is told so, as often as it asks, and another may have the code.
    assert!(server.dismiss(waiting) && !server.dismiss(waiting));
    assert_eq!(
        server.ask(&asking("1")).data()["clearedStatus"],
        "dismissed"
    );
    server.ask(&stranger("1")).is(201);
    assert_eq!(
        server.ask(&asking("1")).data()["clearedStatus"],
        "dismissed"
    );
    server
        .ask(&json!({"code": "1", "secret": "a third one"}))
        .refused(409, 1002, "");
    // A day old.
    let old = server.ask(&asking("2")).id();
    server.sql(&format!(
        "UPDATE device_requests SET created_at = created_at - {DAY_MS} WHERE id = {old}"
    ));
    assert_eq!(server.add(old, false), None);
    server.ask(&stranger("2")).is(201);
    taken("2");
    // Added: until its client is revoked, when it may ask anew.
    let added = server.ask(&asking("3")).id();
    let client = server.add(added, false).expect("it waits");
    taken("3");
    server.revoke(&client);
    let again = server.ask(&asking("3"));
    assert_eq!(again.status, 201);
    assert_ne!(again.id(), added);
    taken("3");
    // It becomes the device that it was.
    server.add(again.id(), false).expect("it waits");
    assert_eq!(server.count("devices WHERE code = '3'"), 1);
}

#[test]
fn a_body_that_does_not_fit_is_refused_by_name() {
    let server = Server::discovering();
    for (body, named) in cases::<(Value, &str)>(json!([
        [{"secret": "a secret"}, "code"],
        [{"code": "1"}, "secret"],
        [{"code": "", "secret": "a secret"}, "code"],
        [{"code": "1", "secret": ""}, "secret"],
        // A person could guess it.
        [{"code": "1", "secret": "1234567"}, "secret: must have 8 to 255"],
        [{"code": "1", "secret": "\u{fc}".repeat(7)}, "secret: must have 8 to 255"],
        [{"code": "1", "secret": "s".repeat(256)}, "secret"],
        [{"code": 1, "secret": "a secret"}, "code"],
        [{"code": "1", "secret": "a secret", "preferredType": ""}, "preferredType"],
        [{"code": "x".repeat(256), "secret": "a secret"}, "code"],
        [{"code": "1", "secret": "a secret", "agent": "me"}, "agent"],
    ])) {
        server.ask(&body).invalid(named);
    }
    assert_eq!(server.count("device_requests"), 0);
}

#[test]
fn ten_wait_from_one_address_and_two_hundred_in_all() {
    let server = Server::discovering();
    for code in 0..10 {
        server.ask(&asking(&code.to_string())).is(201);
    }
    let full = whole(
        server
            .request(Method::POST, "/api/v5/device-request/new")
            .json(&asking("10")),
    );
    full.reply
        .refused(429, 1203, "10 requests from this address");
    assert_eq!(full.header("retry-after"), "60");
    // Who waits is still told how it stands.
    let first = server.ask(&asking("0"));
    assert_eq!(first.status, 200);
    // Room is made by a decision.
    server.dismiss(first.id());
    server.ask(&asking("10")).is(201);
    server.sql(
        "DELETE FROM device_requests;
         WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
         INSERT INTO device_requests (code, secret_hash, address, created_at, updated_at)
         SELECT 'n' || i, zeroblob(32), '10.0.0.' || i, unixepoch() * 1000, 1 FROM n",
    );
    server.ask(&asking("x")).refused(429, 1203, "200 requests");
    // Those that nobody added are gone after a day.
    server.sql(&format!(
        "UPDATE device_requests SET created_at = created_at - {DAY_MS}"
    ));
    server.ask(&asking("x")).is(201);
    assert_eq!(server.count("device_requests"), 1);
}

#[test]
fn guesses_at_secrets_are_throttled() {
    let server = Server::discovering();
    server.ask(&asking("42"));
    let guess =
        |guess: usize| server.ask(&json!({"code": "42", "secret": format!("guess no. {guess}")}));
    for at in 0..10 {
        guess(at).refused(409, 1002, "42");
    }
    guess(10).refused(429, 1203, "too many attempts");
    // Other codes are not held up.
    server.ask(&asking("43")).is(201);
}

#[test]
fn credentials_are_shown_for_ten_minutes_and_then_gone_for_good() {
    let mut server = Server::start();
    server.open_discovery();
    let body = asking("42");
    let id = server.ask(&body).id();
    server.add(id, false).expect("it waits");
    // Fetched the first time after a restart.
    server.restart();
    let given = server.ask(&body).data().clone();
    let secret = given["clientSecret"].as_str().expect("a secret").to_owned();
    let client = given["clientId"].as_str().expect("an id").to_owned();
    server.caller_of(&client, &secret);
    // Neither secret stands anywhere in the file, nor do they when the time is over.
    let whole_file = || {
        server.sql("PRAGMA wal_checkpoint(TRUNCATE)");
        std::fs::read(server.path()).expect("the file")
    };
    let bytes = whole_file();
    let holds = |text: &[u8]| bytes.windows(text.len()).any(|window| window == text);
    assert!(!holds(secret.as_bytes()) && !holds(b"secret of 42"));
    let salt: Vec<u8> = server.value("SELECT salt FROM device_requests");
    assert!(holds(&salt));
    server.sql("UPDATE device_requests SET shown_until = unixepoch() * 1000 - 1");
    let after = server.ask(&body);
    assert_eq!(after.status, 200);
    assert_eq!(after.data()["clearedStatus"], "added");
    for gone in ["clientId", "clientSecret", "deviceId"] {
        assert!(after.data()[gone].is_null(), "{gone}");
    }
    // What the secret was made of goes by itself, and leaves no trace.
    until("it is gone", || {
        let salt = server.value::<Option<Vec<u8>>>("SELECT salt FROM device_requests");
        salt.is_none()
    });
    let bytes = whole_file();
    assert!(!bytes.windows(salt.len()).any(|window| window == salt));
    server.restart();
    assert!(server.ask(&body).data()["clientSecret"].is_null());
    // The app goes on with what it has.
    server.caller_of(&client, &secret);
}

#[test]
fn a_clock_that_is_put_back_shows_no_credentials_for_longer() {
    let server = Server::discovering();
    let body = asking("42");
    server.add(server.ask(&body).id(), false).expect("it waits");
    assert!(server.ask(&body).data()["clientSecret"].is_string());
    // Added in what is the future now.
    server.sql("UPDATE device_requests SET updated_at = updated_at + 3600000, shown_until = shown_until + 3600000");
    assert!(server.ask(&body).data()["clientSecret"].is_null());
}

#[test]
fn credentials_that_were_missed_are_given_out_again_and_are_others() {
    let server = Server::discovering();
    let body = asking("42");
    let id = server.ask(&body).id();
    let client = server.add(id, false).expect("it waits");
    let first = server.ask(&body).data()["clientSecret"].clone();
    server.sql("UPDATE device_requests SET shown_until = 1, salt = NULL");
    assert!(server.ask(&body).data()["clientSecret"].is_null());
    let again = || server.write(move |tx, ctx| clear::give_again(tx, ctx, id));
    assert!(again().is_some_and(|until| until > Timestamp::now()));
    let second = server.ask(&body).data()["clientSecret"].clone();
    assert!(second.is_string() && second != first);
    server.caller_of(&client, second.as_str().expect("a secret"));
    let old = server
        .request(Method::POST, "/api/oauth/v2/token")
        .json(&json!({
            "grant_type": "client_credentials", "client_id": client, "client_secret": first,
        }));
    reply(old).is(401);
    server.revoke(&client);
    assert!(again().is_none());
}

#[test]
fn a_secret_that_was_rotated_meanwhile_is_not_overwritten() {
    let server = Server::discovering();
    let body = asking("42");
    let client = server.add(server.ask(&body).id(), false).expect("it waits");
    assert!(server.ask(&body).data()["clientSecret"].is_string());
    let id = client.clone();
    let rotated =
        server.write(move |tx, ctx| gatepost::identity::clients::rotate_secret(tx, ctx, &id));
    assert!(server.ask(&body).data()["clientSecret"].is_null());
    server.caller_of(&client, &rotated.client_secret);
}

#[test]
fn two_who_add_one_request_at_once_make_one_device() {
    let server = Server::discovering();
    let id = server.ask(&asking("42")).id();
    let added: Vec<_> = at_once(4, |_| server.add(id, false));
    assert_eq!(added.iter().flatten().count(), 1, "{added:?}");
    assert_eq!(server.count("devices"), 1);
    assert_eq!(server.count("clients"), 1);
    assert!(!server.dismiss(id));
}

#[test]
fn a_code_of_something_else_is_not_taken_over() {
    let (server, api) = Server::with_api();
    api.device(&json!({"code": "hall", "name": "Great hall", "deviceType": "room"}));
    server.open_discovery();
    let id = server.ask(&asking("hall")).id();
    let ctx = server.context();
    let refused = server
        .app
        .store
        .write(move |tx| clear::add(tx, &ctx, id, false))
        .wait();
    has(
        refused.expect_err("it is refused").to_string(),
        "Great hall",
    );
    assert_eq!(server.count("clients WHERE name LIKE 'App %'"), 0);
    // It still waits, and can be dismissed.
    assert!(server.dismiss(id));
}

#[test]
fn the_page_is_told_who_asks_and_who_got_what() {
    let server = Server::discovering();
    let body = json!({"code": "42", "secret": "gatepost", "preferredType": "leads"});
    let id = server.ask(&body).id();
    let waiting = || {
        server
            .app
            .store
            .look_up(|connection| list::waiting(connection, Timestamp::now()))
            .expect("a list")
    };
    let given = || {
        server
            .app
            .store
            .look_up(|connection| list::given_out(connection, Timestamp::now(), 10))
            .expect("a list")
    };
    let one = &waiting()[0];
    // As the document tells app authors.
    assert_eq!(one.digits, "1879");
    assert_eq!(
        (one.code.as_str(), one.address.as_str()),
        ("42", "127.0.0.1")
    );
    assert_eq!(one.preferred_type.as_deref(), Some("leads"));
    assert!(one.known.is_none());
    let client = server.add(id, false).expect("it waits");
    assert!(waiting().is_empty());
    let out = &given()[0];
    assert!(out.shown_until.is_some() && !out.fetched && !out.revoked);
    server.ask(&body);
    assert!(given()[0].fetched);
    server.revoke(&client);
    assert!(given()[0].revoked);
    server.ask(&body);
    assert_eq!(
        waiting()[0].known.as_ref().map(|known| known.1.as_str()),
        Some("42")
    );
}

#[test]
fn what_was_decided_is_audited_without_secrets() {
    let server = Server::discovering();
    let body = asking("42");
    server.add(server.ask(&body).id(), false).expect("it waits");
    let secret = server.ask(&body).data()["clientSecret"].clone();
    server.dismiss(server.ask(&asking("43")).id());
    let rows: String = server.value(
        "SELECT group_concat(record_type || ' ' || action || ' ' || coalesce(after, ''), char(10)) FROM (SELECT * FROM audit ORDER BY id)",
    );
    has(
        &rows,
        [
            "device create",
            "client create",
            "device-request add",
            "device-request dismiss",
        ],
    );
    assert!(!rows.contains(secret.as_str().expect("a secret")) && !rows.contains("secret of"));
}
