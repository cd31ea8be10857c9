//! Webhooks set up by a program: `/webhook/...` (contract §8).

use super::{
    receiver::{Act, Receiver},
    server,
};
use crate::{
    faults::process::until,
    harness::{Caller, Server, keys, reply, whole},
};
use gatepost::identity::Role;
use reqwest::Method;
use serde_json::{Value, json};

/// A secret that was agreed on with a receiver.
const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// A program that may set up webhooks, and read what they send.
fn program(server: &Server) -> Caller {
    server.caller(&[
        Role::WebhookWrite,
        Role::DelegateRead,
        Role::DeviceRead,
        Role::EventRead,
        Role::InteractionRead,
    ])
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
    let again = send();
    again.is(201);
    assert_eq!(server.count("webhooks"), 2);
    // All of it but the secret, which is kept nowhere else.
    let mut without_secret = first.body.clone();
    let data = without_secret["data"].as_object_mut().expect("an object");
    let secret = data.remove("secret").expect("a secret");
    assert_eq!(again.body, without_secret);
    let secret = secret.as_str().expect("a text");
    let kept = format!("idempotency_parts WHERE instr(body, '{secret}') > 0");
    assert_eq!(server.count(&kept), 0);
    assert_eq!(server.count("idempotency_parts"), 1);
}

#[test]
fn a_webhook_sends_what_its_program_may_read() {
    let server = Server::start();
    let sent = |name: &str, changes: &Value| {
        let mut sent = json!({"name": name, "url": "https://example.org/in"});
        let own = sent.as_object_mut().expect("an object");
        own.extend(changes.as_object().expect("an object").clone());
        sent
    };
    let alone = server.caller(&[Role::WebhookWrite]);
    let full = program(&server);
    let check_ins = json!({"interactions": ["check-in"]});
    let made = full.post("/webhook/new", &sent("A", &check_ins));
    let path = format!("/webhook/{}", made.id());
    let kinds = server.caller(&[Role::WebhookWrite, Role::InteractionRead]);
    for (of, changes, role) in [
        (
            &alone,
            json!({"interactions": ["check-in"]}),
            "INTERACTION_READ",
        ),
        (
            &kinds,
            json!({"expand": ["firstDelegate"]}),
            "DELEGATE_READ",
        ),
        (&kinds, json!({"expand": ["thirdDevice"]}), "DEVICE_READ"),
        (&kinds, json!({"changes": ["delegate.*"]}), "DELEGATE_READ"),
        (
            &kinds,
            json!({"changes": ["delegate.merged"]}),
            "DELEGATE_READ",
        ),
        (
            &kinds,
            json!({"changes": ["device.updated"]}),
            "DEVICE_READ",
        ),
        (&kinds, json!({"changes": ["event.updated"]}), "EVENT_READ"),
        (&kinds, json!({"changes": ["*"]}), "DELEGATE_READ"),
        (
            &alone,
            json!({"changes": ["interaction.deleted"]}),
            "INTERACTION_READ",
        ),
    ] {
        of.post("/webhook/new", &sent("B", &changes))
            .refused(403, 1202, role);
        // Nor is one that is there turned into it, or to another receiver.
        if changes != check_ins {
            of.patch(&path, &changes).refused(403, 1202, role);
        }
    }
    alone
        .patch(&path, &json!({"url": "https://example.com/"}))
        .refused(403, 1202, "INTERACTION_READ");
    alone.patch(&path, &json!({"active": false})).is(200);
    kinds
        .patch(&path, &json!({"url": "https://example.com/"}))
        .is(200);
    kinds
        .post(
            "/webhook/new",
            &sent("C", &json!({"changes": ["import.undone"]})),
        )
        .is(201);
}

#[test]
fn a_client_that_is_shown_some_properties_sets_up_no_webhook() {
    let server = Server::start();
    let narrow = server.caller_seeing(&["barcode"]);
    let sent = json!({"name": "A", "url": "https://example.org/in", "changes": ["delegate.*"]});
    narrow
        .post("/webhook/new", &sent)
        .refused(403, 1202, "every property");
    let path = format!(
        "/webhook/{}",
        program(&server).post("/webhook/new", &sent).id()
    );
    narrow
        .patch(&path, &json!({"url": "https://example.com/"}))
        .refused(403, 1202, "every property");
}

#[test]
fn a_webhook_is_changed_by_who_saw_it_last() {
    let server = Server::start();
    let api = program(&server);
    let sent = json!({"name": "A", "url": "https://example.org/in", "changes": ["*"]});
    let path = format!("/webhook/{}", api.post("/webhook/new", &sent).id());
    let version = || {
        let answer = whole(api.request(Method::GET, &path));
        answer.header("ETag").to_owned()
    };
    let change = |method: Method, version: &str, body: Value| {
        let request = api.request(method, &path).header("If-Match", version);
        whole(request.json(&body))
    };
    for body in [
        json!({"name": "B"}),
        json!({"active": false}),
        json!({"secret": SECRET}),
    ] {
        let before = version();
        let changed = change(Method::PATCH, &before, body.clone());
        changed.reply.is(200);
        assert_eq!(changed.header("ETag"), version());
        assert_ne!(version(), before, "{body}");
        change(Method::PATCH, &before, json!({"name": "C"}))
            .reply
            .refused(412, 1111, "the webhook has changed since");
        change(Method::DELETE, &before, json!({})).reply.refused(
            412,
            1111,
            "the webhook has changed since",
        );
    }
    assert_eq!(api.read(&path)["name"], "B");
    change(Method::DELETE, &version(), json!({})).reply.is(204);
}

#[test]
fn a_secret_is_replaced() {
    let (server, receiver) = (server(), Receiver::start());
    let api = program(&server);
    let sent = json!({"name": "A", "url": receiver.url(), "changes": ["delegate.created"]});
    let made = api.post("/webhook/new", &sent);
    let path = format!("/webhook/{}", made.id());
    let rotate = format!("{path}/rotate");
    let first = made.data()["secret"].as_str().expect("a secret").to_owned();
    let mut count = 0;
    let mut replace = |body: Value| {
        let rotated = api.post(&rotate, &body);
        rotated.is(200);
        assert_eq!(rotated.data()["name"], "A");
        let secret = rotated.data()["secret"].as_str().expect("a secret");
        api.post(&format!("{path}/test"), &json!({})).is(200);
        count += 1;
        let came = receiver.wait_for(count);
        (secret.to_owned(), came[count - 1].clone())
    };
    let (fresh, delivery) = replace(json!({}));
    assert_eq!(delivery.signed_by(&[&first, &fresh]), [true, true]);
    // One that was agreed on, and the same again: the one before still signs.
    for _ in 0..2 {
        let (agreed, delivery) = replace(json!({"secret": SECRET}));
        assert_eq!(agreed, SECRET);
        assert_eq!(delivery.signed_by(&[&fresh, SECRET]), [true, true]);
    }
    let (last, delivery) = replace(json!({"atOnce": true}));
    assert_eq!(delivery.signed_by(&[SECRET, &last]), [false, true]);
    api.post(&rotate, &json!({"secret": "short"}))
        .invalid("secret");
    api.post(&rotate, &json!({"atonce": true}))
        .invalid("atOnce");
    api.post("/webhook/999999/rotate", &json!({}))
        .refused(404, 1103, "no such webhook");
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
