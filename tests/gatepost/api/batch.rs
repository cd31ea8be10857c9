//! `/interaction/batch` (spec: Interaction endpoints, rule 5; contract §6).

use crate::harness::{Server, cases, keys, reply};
use reqwest::Method;
use serde_json::{Value, json};

/// An item is within the limits of a body of its own, or fails alone: a gate's queue with one bad item
/// is not to stand still for ever.
#[test]
fn an_item_that_no_body_may_hold_fails_alone() {
    let (server, api) = Server::with_api();
    api.delegate(&json!({"barcode": "A"}));
    let item = |data: &str| {
        format!(r#"{{"interactionType":"lead","delegate":"barcode:A","data":{{"x":{data}}}}}"#)
    };
    let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    let items = [
        (item("1"), 201, 0),
        (item("9223372036854775808"), 400, 1100),
        (item(&nested(62)), 201, 0),
        (item(&nested(63)), 400, 1100),
        (item(&nested(100_000)), 400, 1100),
        (item("1e999"), 400, 1100),
        (item("2"), 201, 0),
    ];
    let listed: Vec<String> = items
        .iter()
        .enumerate()
        .map(|(at, (item, ..))| format!("\"{at}\":{item}"))
        .collect();
    let body = format!(r#"{{"interactions":{{{}}}}}"#, listed.join(","));
    let send = |key: &str| {
        let request = api
            .request(Method::POST, "/interaction/batch")
            .header("Content-Type", "application/json")
            .header("Idempotency-Key", key);
        reply(request.body(body.clone()))
    };
    let sent = send("1");
    let told: Vec<_> = sent
        .list()
        .iter()
        .map(|answer| {
            let code = &answer["meta"]["error"]["internalCode"];
            (answer["status"].as_i64(), code.as_i64().unwrap_or(0))
        })
        .collect();
    let expected = items
        .each_ref()
        .map(|(_, status, code)| (Some(*status), *code));
    assert_eq!(told, expected);
    send("1").repeats(&sent);
    assert_eq!(server.count("interactions"), 3);

    // What they share belongs to the whole.
    for value in ["9223372036854775808", &nested(64)] {
        let body = format!(
            r#"{{"interactions":{{"a":{}}},"sharedValues":{{"s":{value}}}}}"#,
            item("1")
        );
        let request = api
            .request(Method::POST, "/interaction/batch")
            .header("Content-Type", "application/json");
        reply(request.body(body)).invalid("sharedValues");
    }
}

#[test]
fn a_batch_answers_what_the_single_calls_would_in_order() {
    let (_server, api) = Server::with_api();
    let a = api.delegate(&json!({"barcode": "A"}));
    let gate = api
        .device(&json!({"name": "Gate", "code": "gate", "data": {"Access": {"entry": "single"}}}));
    let scan =
        json!({"interactionType": "check-in", "delegate": "barcode:A", "device": "code:gate"});
    let with = |name: &str, value: Value| {
        let mut item = scan.clone();
        item[name] = value;
        item
    };
    let batch = json!({"interactions": {
        "z first": scan,
        "1": scan,
        "out": with("interactionType", json!("check-out")),
        "": scan,
        "no delegate": with("delegate", json!("barcode:NOPE")),
        "no device": with("device", json!("code:NOPE")),
        "bad type": with("interactionType", json!("Bad")),
        "no type": with("interactionType", Value::Null),
        "bad time": with("recordedAt", json!("soon")),
        "typo": with("typo", json!(1)),
        "no object": [1],
        "é \" \\ \n": with("interactionType", json!("lead")),
    }});
    let answers = api.post("/interaction/batch", &batch);
    assert_eq!((answers.status, &answers.body["meta"]), (200, &json!({})));
    let answers = answers.list().clone();
    let listed: Vec<&Value> = answers.iter().map(|answer| &answer["key"]).collect();
    let sent: Vec<&String> = batch["interactions"]
        .as_object()
        .expect("an object")
        .keys()
        .collect();
    assert_eq!(json!(listed), json!(sent));
    let told: Vec<_> = answers
        .iter()
        .map(|answer| {
            (
                answer["status"].as_i64(),
                answer["meta"]["error"]["internalCode"].as_i64(),
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            (Some(201), None),
            (Some(412), Some(740)),
            (Some(201), None),
            (Some(201), None),
            (Some(404), Some(1301)),
            (Some(404), Some(1401)),
            (Some(400), Some(1501)),
            (Some(400), Some(1501)),
            (Some(400), Some(1503)),
            (Some(400), Some(1100)),
            (Some(400), Some(1100)),
            (Some(201), None),
        ]
    );
    for answer in &answers {
        assert_eq!(keys(answer), "key status data meta");
        if answer["status"] != 201 {
            assert_eq!(answer["data"], json!({}));
            assert_eq!(answer["meta"]["error"]["code"], answer["status"]);
        }
    }
    assert_eq!(answers[0]["data"]["firstDelegate"]["id"], json!(a));
    assert_eq!(answers[0]["data"]["firstDevice"]["id"], json!(gate));
    // What the single call says, word for word.
    let single = api.scan("check-in", "barcode:NOPE", "code:gate");
    assert_eq!(answers[4]["meta"], single.body["meta"]);
    let list = api.read("/interaction/list");
    let made: Vec<_> = answers
        .iter()
        .filter(|answer| answer["status"] == 201)
        .map(|answer| answer["data"].clone())
        .collect();
    assert_eq!(list, json!(made));
}

#[test]
fn a_key_that_stands_twice_is_refused() {
    let (_server, api) = Server::with_api();
    let a = api.delegate(&json!({}));
    let item = json!({"interactionType": "lead", "delegate": a});
    let body = format!("{{\"interactions\": {{\"k\": {item}, \"k\": {item}}}}}");
    let request = api
        .request(Method::POST, "/interaction/batch")
        .header("content-type", "application/json");
    reply(request.body(body)).invalid("k");
    assert_eq!(api.get("/interaction/list").data(), &json!([]));
}

#[test]
fn what_is_no_batch_is_refused_whole() {
    let (_server, api) = Server::with_api();
    for (body, named) in cases::<(Value, &str)>(json!([
        [{}, "interactions"],
        [{"interactions": null}, "interactions"],
        [{"interactions": [1]}, "interactions"],
        [{"interactions": "x"}, "interactions"],
        [{"interactions": {}, "sharedValues": [1]}, "sharedValues"],
        [{"interactions": {}, "typo": 1}, "typo"],
    ])) {
        api.post("/interaction/batch", &body).invalid(named);
    }
    assert_eq!(
        api.post("/interaction/batch", &json!({"interactions": {}}))
            .data(),
        &json!([])
    );
    let none = json!({"interactions": {}, "sharedValues": {}});
    assert_eq!(api.post("/interaction/batch", &none).data(), &json!([]));
}

#[test]
fn one_poison_item_of_ten_thousand_fails_alone_and_one_more_is_too_many() {
    let (server, api) = Server::with_api();
    let a = api.delegate(&json!({}));
    let mut items: serde_json::Map<String, Value> = (0..10_000)
        .map(|index| {
            (
                format!("k{index}"),
                json!({"interactionType": "lead", "delegate": a}),
            )
        })
        .collect();
    items["k5000"] = json!({"interactionType": "lead", "delegate": 999});
    let answers = api.post("/interaction/batch", &json!({"interactions": items}));
    let statuses = answers.list().iter().map(|answer| &answer["status"]);
    assert_eq!(
        statuses.clone().filter(|status| **status == 201).count(),
        9_999
    );
    assert_eq!(answers.data()[5000]["status"], 404);
    assert_eq!(server.count("interactions"), 9_999);
    items.insert(
        "more".into(),
        json!({"interactionType": "lead", "delegate": a}),
    );
    api.post("/interaction/batch", &json!({"interactions": items}))
        .invalid("10000");
    assert_eq!(server.count("interactions"), 9_999);
}

#[test]
fn items_are_judged_in_order_in_one_go() {
    let (server, api) = Server::with_api();
    let a = api.delegate(&json!({}));
    let gate = api.device(&json!({"data": {"Access": {"ruleSet": "simple", "maxCheckIns": 1}}}));
    let item = |kind: &str| json!({"interactionType": kind, "delegate": a, "device": gate});
    let batch = json!({"interactions": {"0": item("check-in"), "1": item("join"), "2": item("check-in"), "3": item("check-in")}});
    let answers = api.made("/interaction/batch", &batch);
    let codes: Vec<_> = (0..4)
        .map(|index| answers[index]["meta"]["error"]["internalCode"].as_i64())
        .collect();
    assert_eq!(codes, [Some(741), None, None, Some(740)]);
    assert_eq!(server.count("refusals"), 2);
}

#[test]
fn all_of_an_items_data_may_be_a_shared_value() {
    let (_server, api) = Server::with_api();
    let delegate = api.delegate(&json!({}));
    let item = |name: &str| json!({"interactionType": "lead", "delegate": delegate, "data": {"$shared": name}});
    let batch = json!({
        "sharedValues": {"card": {"k": [1]}, "text": "x"},
        "interactions": {"a": item("card"), "b": item("nope"), "c": item("text")},
    });
    let answers = api.post("/interaction/batch", &batch);
    let codes: Vec<_> = (0..3)
        .map(|at| answers.data()[at]["meta"]["error"]["internalCode"].clone())
        .collect();
    assert_eq!(codes, [json!(null), json!(1503), json!(1503)]);
    let listed = api.get("/interaction/list");
    assert_eq!(listed.data()[0]["data"], json!({"k": [1]}));
    // Whoever brings no shared values refers to none: what was meant would be lost.
    let alone = api.post(
        "/interaction/batch",
        &json!({"interactions": {"a": item("card")}}),
    );
    let code = &alone.data()[0]["meta"]["error"]["internalCode"];
    assert_eq!(*code, json!(1503), "{}", alone.body);
    let data = json!({"delegate": delegate, "data": {"$shared": "card"}});
    api.interact("lead", &data)
        .refused(400, 1503, "no shared value");
}
