//! What makes a resend safe: nonces and idempotency keys (contract §6).

use crate::harness::{Agrees, Caller, Reply, Server, cases, reply};
use reqwest::Method;
use serde_json::{Value, json};

fn interactions(server: &Server) -> i64 {
    server.value("SELECT count(*) FROM interactions")
}

fn keyed(api: &Caller, path: &str, key: &str, body: &Value) -> Reply {
    reply(
        api.request(Method::POST, path)
            .header("Idempotency-Key", key)
            .json(body),
    )
}

fn item(answer: &Reply, index: usize) -> Value {
    answer.data()[index].clone()
}

#[test]
fn a_second_create_with_a_nonce_gives_the_first_one() {
    let (server, api) = Server::with_api();
    let a = api.delegate(&json!({"barcode": "A"}));
    let gate = api.device(&json!({"code": "gate", "data": {"Access": {"entry": "single"}}}));
    let body = json!({"delegate": "barcode:A", "device": gate, "nonce": "n", "recordedAt": 1000, "data": {"x": 1, "y": [1, 2]}});
    let made = api.interact("check-in", &body);
    assert_eq!(made.status, 201);
    // Before any rule: the ticket is used by now.
    let again = api.interact("check-in", &body);
    assert_eq!((again.status, again.data()), (200, made.data()));
    assert_eq!(again.body["meta"], json!({"replayed": true}));
    // Compared as parsed.
    for same in cases::<Value>(json!([
        {"data": {"y": [1, 2], "x": 1}, "recordedAt": 1000, "nonce": "n", "device": gate, "delegate": "barcode:A"},
        {"firstDelegate": "barcode:A", "firstDevice": gate, "nonce": "n", "recordedAt": 1000, "data": {"x": 1, "y": [1, 2]}, "secondDelegate": null},
        {"delegate": "barcode:A", "device": gate, "nonce": "n", "recordedAt": "1970-01-01T00:16:40Z", "data": {"x": 1, "y": [1, 2]}},
    ])) {
        assert_eq!(api.interact("check-in", &same), again, "{same}");
    }
    for (kind, name, value) in [
        ("check-in", "data", json!({"x": 2, "y": [1, 2]})),
        ("check-in", "data", json!({"x": 1, "y": [2, 1]})),
        ("check-in", "data", json!({"x": 1.5, "y": [1, 2]})),
        ("check-in", "data", Value::Null),
        ("check-in", "recordedAt", json!(1001)),
        ("check-in", "recordedAt", Value::Null),
        ("check-in", "device", Value::Null),
        ("check-in", "delegate", json!("barcode:B")),
        ("check-in", "secondDelegate", json!(a)),
        ("check-out", "nonce", json!("n")),
    ] {
        let mut other = body.clone();
        other[name] = value;
        api.interact(kind, &other).refused(409, 1109, "nonce");
    }
    assert_eq!(interactions(&server), 1);
}

#[test]
fn a_nonce_is_a_clients_own_and_outlives_its_interaction() {
    let server = Server::start();
    let (api, other) = (server.caller_with_all(), server.caller_with_all());
    let a = api.delegate(&json!({}));
    let body = json!({"delegate": a, "nonce": "n"});
    let made = api.interact("lead", &body).id();
    let others = other.interact("lead", &body);
    assert_eq!(others.status, 201);
    assert_ne!(others.id(), made);
    api.delete(&format!("/interaction/id:{made}"));
    let replayed = api.interact("lead", &body);
    assert_eq!((replayed.status, replayed.data()), (200, &json!({})));
    assert_eq!(replayed.body["meta"], json!({"replayed": true}));
    assert_eq!(interactions(&server), 1);
    // The delegate's deletion does not undo it either.
    api.delete(&format!("/delegate/id:{a}"));
    assert_eq!(other.interact("lead", &body).id(), others.id());
}

#[test]
fn only_a_success_uses_a_nonce_up_and_a_test_ignores_it() {
    let (_server, api) = Server::with_api();
    let body = json!({"delegate": "barcode:A", "device": "code:gate", "nonce": "n"});
    api.interact("check-in", &body).refused(404, 1401, "gate");
    let gate = api.device(&json!({"code": "gate", "available": false}));
    api.interact("check-in", &body).refused(404, 1301, "A");
    api.delegate(&json!({"barcode": "A"}));
    api.interact("check-in", &body).refused(412, 743, "");
    api.interact("check-in", &json!({"nonce": "n"}))
        .refused(400, 1502, "");
    api.post("/interaction/test/lead", &body).is(200);
    api.patch(&format!("/device/id:{gate}"), &json!({"available": true}));
    api.interact("check-in", &body).is(201);
    api.post("/interaction/test/lead", &body).is(200);
    let longest = "é".repeat(128);
    for nonce in ["'; --", " ", &*longest] {
        api.interact("lead", &json!({"delegate": "barcode:A", "nonce": nonce}))
            .is(201);
    }
    for bad in cases::<Value>(json!(["", "x".repeat(129), "a\u{0}", 1, []])) {
        api.interact("lead", &json!({"delegate": "barcode:A", "nonce": bad}))
            .invalid("nonce");
    }
}

#[test]
fn batch_and_single_share_nonces() {
    let (server, api) = Server::with_api();
    let a = api.delegate(&json!({}));
    let single = |nonce: &str, data: &Value| {
        api.interact(
            "lead",
            &json!({"delegate": a, "nonce": nonce, "data": data}),
        )
    };
    let batch = |nonce: &str, data: &Value, shared: &Value| {
        let item = json!({"interactionType": "lead", "delegate": a, "nonce": nonce, "data": data});
        api.post(
            "/interaction/batch",
            &json!({"interactions": {"k": item}, "sharedValues": shared}),
        )
    };
    let data = json!({"photo": "x".repeat(200)});
    let first = single("s", &data);
    let answer = item(&batch("s", &data, &json!({})), 0);
    answer.agrees(&json!({"status": 200, "meta": {"replayed": true}}));
    assert_eq!(&answer["data"], first.data());
    let made = item(&batch("b", &data, &json!({})), 0);
    assert_eq!(made["status"], 201);
    let again = single("b", &data);
    assert_eq!((again.status, again.data()), (200, &made["data"]));
    let differs = item(&batch("s", &json!({}), &json!({})), 0);
    assert_eq!(
        (
            &differs["status"],
            &differs["meta"]["error"]["internalCode"]
        ),
        (&json!(409), &json!(1109))
    );
    // Shared or carried, a value is the same.
    let shared = batch(
        "s",
        &json!({"photo": {"$shared": "p"}}),
        &json!({"p": data["photo"]}),
    );
    assert_eq!(item(&shared, 0)["meta"], json!({"replayed": true}));
    // Twice in one batch.
    let one = json!({"interactionType": "lead", "delegate": a, "nonce": "twice"});
    let twice = api.post(
        "/interaction/batch",
        &json!({"interactions": {"x": one, "y": one}}),
    );
    assert_eq!(
        (&item(&twice, 0)["status"], &item(&twice, 1)["status"]),
        (&json!(201), &json!(200))
    );
    assert_eq!(interactions(&server), 3);
}

#[test]
fn an_idempotency_key_records_an_interaction_once() {
    let server = Server::start();
    let (api, other) = (server.caller_with_all(), server.caller_with_all());
    let a = api.delegate(&json!({}));
    let gate = api.device(&json!({"data": {"Access": {"entry": "single"}}}));
    let body = json!({"delegate": a, "device": gate});
    let made = keyed(&api, "/interaction/new/check-in", "k", &body);
    assert_eq!(made.status, 201);
    keyed(&api, "/interaction/new/check-in", "k", &body).repeats(&made);
    keyed(&api, "/interaction/new/check-in.json", "k", &body).repeats(&made);
    for (path, changed) in [
        (
            "/interaction/new/check-in",
            json!({"delegate": a, "device": gate, "recordedAt": 1}),
        ),
        ("/interaction/new/check-out", body.clone()),
        ("/interaction/batch", json!({"interactions": {}})),
        ("/delegate/new", json!({})),
    ] {
        keyed(&api, path, "k", &changed).refused(409, 1109, "Idempotency-Key");
    }
    // Only a stored success is given again: what is refused is judged anew.
    keyed(&other, "/interaction/new/check-in", "k", &body).refused(412, 740, "");
    keyed(
        &other,
        "/interaction/new/check-in",
        "k",
        &json!({"typo": 1}),
    )
    .invalid("typo");
    api.interact("check-out", &body).is(201);
    keyed(&other, "/interaction/new/check-in", "k", &body).is(201);
    assert_eq!(interactions(&server), 3);
}

#[test]
fn an_idempotency_key_records_a_batch_once() {
    let (server, api) = Server::with_api();
    let a = api.delegate(&json!({}));
    let items: serde_json::Map<String, Value> = (0..300)
        .map(|index| {
            let delegate = if index == 7 { 999 } else { a };
            (
                index.to_string(),
                json!({"interactionType": "lead", "delegate": delegate}),
            )
        })
        .collect();
    let body = json!({"interactions": items});
    let made = keyed(&api, "/interaction/batch", "k", &body);
    assert_eq!((made.status, &made.data()[7]["status"]), (200, &json!(404)));
    keyed(&api, "/interaction/batch", "k", &body).repeats(&made);
    assert_eq!(interactions(&server), 299);
    keyed(
        &api,
        "/interaction/batch",
        "k",
        &json!({"interactions": {}}),
    )
    .refused(409, 1109, "Idempotency-Key");
}
