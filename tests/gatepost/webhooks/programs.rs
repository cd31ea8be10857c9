//! Webhooks set up by a program: `/webhook/...` (contract §8).

use super::{
    receiver::{Act, Receiver},
    server,
};
use crate::{
    faults::process::until,
    harness::{Caller, Server, keys, reply},
};
use gatepost::identity::Role;
use reqwest::Method;
use serde_json::{Value, json};

/// A program that may do nothing else.
fn program(server: &Server) -> Caller {
    server.caller(&[Role::WebhookWrite])
}

#[test]
fn a_webhook_is_created_changed_and_deleted() {
    let (server, receiver) = (server(), Receiver::start());
    let api = program(&server);
    let sent = json!({"name": "CRM", "url": receiver.url(), "interactions": ["check-in"], "changes": ["delegate.*"],
        "devices": ["hall"], "expand": ["firstDelegate"]});
    let made = api.post("/webhook/new", &sent);
    made.is(201);
    let made = made.data().clone();
    let (id, secret) = (made["id"].clone(), made["secret"].as_str().expect("one"));
    assert!(secret.starts_with("whsec_"), "{secret}");
    for (name, value) in sent.as_object().expect("an object") {
        assert_eq!(&made[name], value);
    }
    let path = format!("/webhook/id:{id}");
    let read = api.read(&path);
    assert_eq!(
        keys(&read),
        "id _type name url interactions changes devices expand active state pending createdAt updatedAt"
    );
    assert_eq!(
        (&read["active"], &read["state"]),
        (&json!(true), &json!("no deliveries yet"))
    );
    assert_eq!(api.read("/webhook/list"), json!([read]));
    assert_eq!(api.read(&format!("/webhook/{id}")), read);

    // What was read can be sent back; a list is replaced, null clears, what is absent stays.
    let same = api.patched(&path, &read);
    assert_eq!(same, read);
    let changed = api.patched(
        &path,
        &json!({"changes": ["device.created"], "devices": null, "active": false}),
    );
    assert_eq!(changed["interactions"], json!(["check-in"]));
    assert_eq!(changed["changes"], json!(["device.created"]));
    assert_eq!(
        (changed.get("devices"), &changed["state"]),
        (None, &json!("paused"))
    );
    let renamed = api.patched(&path, &json!({"name": "CRM 2"}));
    assert_eq!(
        (&renamed["name"], &renamed["active"]),
        (&json!("CRM 2"), &json!(false))
    );
    assert_eq!(api.patched(&path, &json!({"active": true}))["active"], true);
    // Nothing tells the secret again, the audit neither.
    assert_eq!(
        server.count(&format!("audit WHERE instr(after, '{secret}') > 0")),
        0
    );
    assert!(server.count("audit WHERE record_type = 'webhook'") >= 4);

    api.delete(&path).is(204);
    api.get(&path).refused(404, 1103, "no such webhook");
    assert_eq!(api.read("/webhook/list"), json!([]));
}

#[test]
fn what_the_console_would_refuse_is_refused_by_name() {
    let server = Server::start();
    let api = program(&server);
    let fine = json!({"name": "A", "url": "https://example.org/in", "changes": ["*"]});
    let with = |name: &str, value: Value| {
        let mut sent = fine.clone();
        sent[name] = value;
        sent
    };
    for (name, value) in [
        ("name", json!("")),
        ("name", Value::Null),
        ("url", json!("http://127.0.0.1/in")),
        ("url", json!("crm")),
        ("changes", json!(["delegate.eaten"])),
        ("changes", json!("*")),
        ("interactions", json!(["Check In"])),
        ("expand", json!(["children"])),
        ("devices", json!([])),
        ("secret", json!("short")),
        ("colour", json!("red")),
    ] {
        api.post("/webhook/new", &with(name, value)).invalid(name);
    }
    let made = api.post("/webhook/new", &fine);
    let path = format!("/webhook/{}", made.id());
    api.post("/webhook/new", &fine).refused(409, 1105, "name");
    api.patch(&path, &json!({"url": "x"})).invalid("url");
    api.get("/webhook/x").invalid("x");
    // A resend under a key is no second webhook.
    let send = || {
        let request = api.request(Method::POST, "/webhook/new");
        reply(
            request
                .header("Idempotency-Key", "k")
                .json(&with("name", json!("B"))),
        )
    };
    let first = send();
    first.is(201);
    assert_eq!(send().body, first.body);
    assert_eq!(server.count("webhooks"), 2);
}

#[test]
fn deliveries_are_tested_listed_and_sent_again() {
    let server = server();
    let mut fails = true;
    let receiver = Receiver::that(move |delivery| {
        let refuse = fails && delivery.kind() != "webhook.test";
        fails &= !refuse;
        if refuse {
            Act::Answer(503, "")
        } else {
            Act::Answer(204, "")
        }
    });
    let api = program(&server);
    let sent = json!({"name": "CRM", "url": receiver.url(), "interactions": ["*"], "changes": ["delegate.created"],
        "expand": ["firstDelegate", "parent"]});
    let path = format!("/webhook/{}", api.post("/webhook/new", &sent).id());
    let tested = api.post(&format!("{path}/test"), &json!({}));
    assert_eq!(
        tested.data(),
        &json!({"delivered": true, "message": "The receiver answered 204."})
    );

    let all = server.caller_with_all();
    let firm = all.delegate(&json!({"company": "Engines"}));
    until("the first is told, in the end", || {
        let list = api.read(&format!("{path}/deliveries"));
        let last = &list[0];
        last["type"] == "delegate.created" && last["result"] == "delivered"
    });
    let list = api.read(&format!("{path}/deliveries"));
    let told: Vec<_> = list.as_array().expect("a list").iter().collect();
    assert_eq!(told.len(), 3, "{list}");
    assert_eq!(
        (&told[1]["result"], &told[1]["status"]),
        (&json!("refused"), &json!(503))
    );
    assert_eq!(told[2]["type"], "webhook.test");
    assert_eq!(
        api.read(&format!("{path}/deliveries?limit=1")),
        json!([told[0]])
    );
    api.get(&format!("{path}/deliveries?limit=201"))
        .invalid("limit");

    // Again, under the same id; a test is no delivery.
    let resend =
        |delivery: &Value| api.post(&format!("{path}/resend"), &json!({"delivery": delivery}));
    assert_eq!(resend(&told[0]["id"]).data(), told[0]);
    let came = receiver.wait_for(4);
    assert_eq!(came[3].id(), came[1].id());
    resend(&told[2]["id"]).invalid("a test");
    resend(&json!(999_999)).invalid("not kept");
    api.post("/webhook/999999/resend", &json!({"delivery": 1}))
        .refused(404, 1103, "no such webhook");

    // Records within others are whole.
    let ada = all.delegate(&json!({"lastName": "Lovelace", "parent": firm}));
    all.interact("lead", &json!({"firstDelegate": ada})).is(201);
    let came = receiver.wait_for(6);
    let whole = &came[4..];
    let of = |kind: &str| {
        let delivery = whole.iter().find(|delivery| delivery.kind() == kind);
        delivery.expect(kind).data().clone()
    };
    assert_eq!(of("delegate.created")["parent"]["company"], "Engines");
    assert_eq!(
        of("interaction.created")["firstDelegate"]["lastName"],
        "Lovelace"
    );
    assert_eq!(api.read(&path)["state"], "working");
}
