//! `/interaction/test/...`, and what the server adds of itself to two `connect` (contract §6).

use crate::harness::{Caller, Server, words};
use serde_json::{Value, json};

/// Three delegates.
fn cast(api: &Caller) -> [i64; 3] {
    ["A", "B", "C"].map(|barcode| api.delegate(&json!({"barcode": barcode})))
}

fn of_type(id: i64, kind: &str) -> Value {
    json!({"id": id, "_type": kind})
}

#[test]
fn the_test_endpoint_tells_and_writes_nothing_at_all() {
    let (server, api) = Server::with_api();
    let [a, ..] = cast(&api);
    let single = api.device(&json!({"name": "Single", "data": {"Access": {"entry": "single"}}}));
    let dump = || -> String {
        let tables = [
            "interactions",
            "occupancy",
            "nonces",
            "idempotency_keys",
            "shared_values",
            "refusals",
            "conflicts",
            "audit",
        ];
        let counts = tables.map(|table| format!("(SELECT count(*) FROM {table})"));
        let last_ids = "(SELECT group_concat(name || seq) FROM sqlite_sequence)";
        server.value(&format!(
            "SELECT {last_ids} || {}",
            counts.join(" || ',' || ")
        ))
    };
    let before = dump();
    let body = json!({
        "delegate": "barcode:A", "device": single, "nonce": "n", "recordedAt": 1_700_000_000,
        "data": {"form": "f", "answers": [{"field": "a.b", "answer": 1}]},
    });
    let tested = api.post("/interaction/test/check-in", &body);
    assert_eq!((tested.status, &tested.body["meta"]), (200, &json!({})));
    let tested = tested.data().clone();
    assert_eq!(tested["id"], Value::Null);
    assert!(
        tested
            .as_object()
            .is_some_and(|tested| tested.contains_key("id"))
    );
    assert_eq!(tested["data"]["answersData"], json!({"a": {"b": 1}}));
    assert_eq!(dump(), before);
    // It is what is then created.
    let made = api.interact("check-in", &body);
    assert_eq!(made.status, 201);
    for name in words("_type firstDelegate firstDevice interactionType data recordedAt") {
        assert_eq!(made.data()[name], tested[name], "{name}");
    }
    let before = dump();
    // Refusals and unknown codes leave nothing either, and a nonce used up is none of its business.
    let again = api.post("/interaction/test/check-in", &body);
    again.refused(412, 740, "already used at Single at 22:13 on 2023-11-14");
    api.post(
        "/interaction/test/check-in",
        &json!({"delegate": "barcode:NOPE", "device": single}),
    )
    .refused(404, 1301, "NOPE");
    let admitted = json!({"delegate": a, "device": single, "admitted": true});
    api.post("/interaction/test/check-in", &admitted).is(200);
    let connect = json!({"delegate": a, "secondDelegate": "barcode:B"});
    api.post("/interaction/test/connect", &connect).is(200);
    assert_eq!(dump(), before);
}

#[test]
fn two_connects_make_one_connected() {
    let (_server, api) = Server::with_api();
    let [a, b, c] = cast(&api);
    let connected = || {
        let list = api.read("/interaction/list");
        let of = list
            .as_array()
            .expect("a list")
            .iter()
            .filter(|one| one["interactionType"] == "connected");
        of.cloned().collect::<Vec<_>>()
    };
    let connect = |from: i64, to: i64| {
        let made = api.interact("connect", &json!({"delegate": from, "secondDelegate": to}));
        assert_eq!(made.data()["interactionType"], "connect");
    };
    connect(a, b);
    connect(a, c);
    connect(a, b);
    assert!(connected().is_empty());
    connect(b, a);
    connect(b, a);
    connect(a, b);
    let made = connected();
    assert_eq!(made.len(), 1);
    let pair = [&made[0]["firstDelegate"], &made[0]["secondDelegate"]];
    assert!(pair.contains(&&of_type(a, "delegate")) && pair.contains(&&of_type(b, "delegate")));
    // With oneself, or with nobody, there is no connection.
    connect(c, c);
    connect(c, c);
    api.interact("connect", &json!({"delegate": c})).is(201);
    assert_eq!(connected().len(), 1);
    // A connect that was taken back does not count.
    let taken_back = api
        .interact("connect", &json!({"delegate": b, "secondDelegate": c}))
        .id();
    api.delete(&format!("/interaction/id:{taken_back}"));
    connect(c, b);
    assert_eq!(connected().len(), 1);
}
