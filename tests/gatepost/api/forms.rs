//! Forms and shared values (spec: Form answers convention; contract §6), as clients see them.

use crate::harness::{Agrees, Caller, Server, cases, has};
use serde_json::{Value, json};

fn lead(api: &Caller, data: &Value) -> Value {
    let delegate = api.delegate(&json!({}));
    let made = api.interacted("lead", &json!({"delegate": delegate, "data": data}));
    let list = api.read(&format!("/delegate/id:{delegate}"))["firstInteractions"].clone();
    assert_eq!(list, json!([made]));
    made["data"].clone()
}

#[test]
fn a_form_is_reshaped_and_kept_as_sent() {
    let (_server, api) = Server::with_api();
    let answers = json!([
        {"field": "contact.email", "answer": "a@example.org", "fieldLabel": "E-mail", "fieldType": "email"},
        {"field": "interests.0.name", "answer": "tea"},
        {"field": "interests.1.name", "answer": "coffee"},
        {"answer": "nobody asked"},
        {"field": "ok", "answer": true},
        {"field": "tags", "answer": "x"},
        {"field": "tags", "answer": "y"},
    ]);
    let stored = lead(
        &api,
        &json!({"form": "lead-1", "answers": answers, "note": "kept"}),
    );
    assert_eq!(
        stored,
        json!({
            "form": "lead-1", "answers": answers, "note": "kept",
            "answersData": {
                "contact": {"email": "a@example.org"}, "interests": [{"name": "tea"}, {"name": "coffee"}],
                "ok": true, "tags": ["x", "y"],
            },
            "reportData": {
                "E-mail": "a@example.org", "interests.0.name": "tea", "interests.1.name": "coffee", "ok": true,
                "tags": ["x", "y"],
            },
        })
    );
}

#[test]
fn what_is_no_form_stays_as_sent() {
    let (_server, api) = Server::with_api();
    for data in cases::<Value>(json!([
        {"answers": [{"field": "a", "answer": 1}]},
        {"form": "f", "answers": [{"field": "a", "answer": 1}], "answersData": {"mine": 1}},
        {"photo": {"$shared": 5}, "x": null},
    ])) {
        assert_eq!(lead(&api, &data), data);
    }
    let delegate = api.delegate(&json!({}));
    for (data, named) in cases::<(Value, &str)>(json!([
        [{"form": 1, "answers": []}, "data.form"],
        [{"form": "f"}, "data.answers"],
        [{"form": "f", "answers": {"a": 1}}, "data.answers"],
        [{"form": "f", "answers": ["a"]}, "data.answers[0]"],
        [{"form": "f", "answers": [{"field": ["a"]}]}, "data.answers[0].field"],
    ])) {
        api.interact("lead", &json!({"delegate": delegate, "data": data}))
            .refused(400, 1503, named);
    }
}

#[test]
fn every_source_of_interactions_reshapes_alike() {
    let (_server, api) = Server::with_api();
    let delegate = api.delegate(&json!({}));
    let data = json!({"form": "f", "answers": [{"field": "a.b", "answer": 1, "fieldLabel": "L"}]});
    let body = json!({"delegate": delegate, "data": data});
    let single = api.interacted("poll-vote", &body)["data"].clone();
    let tested = api.made("/interaction/test/poll-vote", &body)["data"].clone();
    let item = json!({"interactionType": "poll-vote", "delegate": delegate, "data": data});
    let batch = api.made("/interaction/batch", &json!({"interactions": {"k": item}}));
    single.agrees(&json!({"answersData": {"a": {"b": 1}}, "reportData": {"L": 1}}));
    assert_eq!((&tested, &batch[0]["data"]["data"]), (&single, &single));
}

#[test]
fn a_shared_value_is_stored_once_and_shown_in_full() {
    let (server, api) = Server::with_api();
    let delegate = api.delegate(&json!({}));
    let photo = "iVBORw0KGgo=".repeat(1000);
    let item = |data: Value| json!({"interactionType": "lead", "delegate": delegate, "data": data});
    let answers = api.post("/interaction/batch", &json!({
        "interactions": {
            "a": item(json!({"photo": {"$shared": "photo"}, "list": [{"x": {"$shared": "terms"}}, 1]})),
            "b": item(json!({"deep": {"a/b~c": {"$shared": "photo"}}, "not": {"$shared": "photo", "more": 1}})),
            "c": item(json!({"photo": {"$shared": "nope"}})),
            "d": item(json!({"form": "f", "answers": [{"field": "p", "answer": {"$shared": "photo"}}]})),
        },
        "sharedValues": {"photo": photo, "terms": {"v": [1, null]}, "unused": 1},
    }));
    let statuses: Vec<_> = answers
        .list()
        .iter()
        .map(|one| one["status"].clone())
        .collect();
    assert_eq!(statuses, [201, 201, 400, 201]);
    assert_eq!(answers.data()[2]["meta"]["error"]["internalCode"], 1503);
    let message = answers.data()[2]["meta"]["error"]["message"]
        .as_str()
        .unwrap_or_default();
    has(message, "nope");
    let list = api.read("/interaction/list");
    assert_eq!(
        list[0]["data"],
        json!({"photo": photo, "list": [{"x": {"v": [1, null]}}, 1]})
    );
    assert_eq!(
        list[1]["data"],
        json!({"deep": {"a/b~c": photo}, "not": {"$shared": "photo", "more": 1}})
    );
    list[2]["data"].agrees(&json!({"answersData": {"p": photo}, "reportData": {"p": photo}}));
    assert_eq!(list[2]["data"]["answers"][0]["answer"], json!(photo));
    assert_eq!(server.count("shared_values"), 2);
    assert!(server.value::<i64>("SELECT max(length(data)) FROM interactions") < 1000);
    // A later batch with the same value does not store it again.
    let again = json!({"interactions": {"e": item(json!({"p": {"$shared": "q"}}))}, "sharedValues": {"q": photo}});
    assert_eq!(
        api.post("/interaction/batch", &again).data()[0]["status"],
        201
    );
    assert_eq!(server.count("shared_values"), 2);
    // Outside a batch nothing is shared.
    let alone = json!({"delegate": delegate, "data": {"p": {"$shared": "photo"}}});
    api.interact("lead", &alone).refused(400, 1503, "photo");
}

#[test]
fn a_form_may_share_what_it_asks() {
    let (_server, api) = Server::with_api();
    let delegate = api.delegate(&json!({}));
    let item = |data: Value| json!({"interactionType": "lead", "delegate": delegate, "data": data});
    let shared = |name: &str| json!({"$shared": name});
    let answers = api.post("/interaction/batch", &json!({
        "interactions": {
            "form": item(json!({"form": shared("form"), "answers": [{"field": "a.0.b", "answer": shared("answer")}]})),
            "answers": item(json!({"form": "f", "answers": shared("answers")})),
            "one": item(json!({"form": "f", "answers": [shared("one")]})),
            "field": item(json!({"form": "f", "answers": [{"field": shared("field"), "answer": 5}]})),
            "whole": item(shared("whole")),
            "unknown": item(json!({"form": shared("nope"), "answers": []})),
        },
        "sharedValues": {
            "form": "f", "answer": 5, "field": "a.0.b",
            "one": {"field": "a.0.b", "answer": 5}, "answers": [{"field": "a.0.b", "answer": 5}],
            "whole": {"form": "f", "answers": [{"field": "a.0.b", "answer": 5}]},
        },
    }));
    for (at, status) in [201, 201, 201, 201, 201, 400].iter().enumerate() {
        assert_eq!(
            answers.data()[at]["status"],
            *status,
            "{}",
            answers.data()[at]
        );
    }
    for read in api.get("/interaction/list").list() {
        assert_eq!(
            read["data"]["answersData"],
            json!({"a": [{"b": 5}]}),
            "{read}"
        );
        assert_eq!(read["data"]["reportData"], json!({"a.0.b": 5}), "{read}");
    }
}

#[test]
fn what_is_shared_cannot_grow_into_more_than_a_record_holds() {
    let (_server, api) = Server::with_api();
    let delegate = api.delegate(&json!({"barcode": "X"}));
    let photo = "x".repeat(600_000);
    let item = |number: usize, references: usize| {
        let data = json!({"p": vec![json!({"$shared": "photo"}); references]});
        json!({"interactionType": "lead", "delegate": delegate, "data": data, "nonce": number.to_string()})
    };
    let mut items = serde_json::Map::new();
    for number in 0..20 {
        items.insert(number.to_string(), item(number, 1));
    }
    items.insert("twice".into(), item(20, 2));
    let batch = json!({"interactions": items, "sharedValues": {"photo": photo}});
    let first = api.post("/interaction/batch", &batch);
    let twice = &first.data()[20];
    assert_eq!(
        (&twice["status"], &twice["meta"]["error"]["internalCode"]),
        (&json!(413), &json!(1106)),
        "{twice}"
    );
    // Sent again it answers as it did, and not with twenty photographs.
    let again = api.post("/interaction/batch", &batch);
    for number in 0..20 {
        let (first, again) = (&first.data()[number], &again.data()[number]);
        assert_eq!(
            (&first["status"], &again["status"]),
            (&json!(201), &json!(200))
        );
        assert_eq!(first["data"], again["data"]);
    }
    // A delegate carries the newest of them, as far as they are not too many bytes.
    let found = api.get("/delegate/barcode:X");
    let shown = found.data()["firstInteractions"]
        .as_array()
        .expect("a list")
        .clone();
    assert!((7..=8).contains(&shown.len()), "{}", shown.len());
    let newest = api.get("/interaction/list").list().clone();
    assert_eq!(shown, newest[20 - shown.len()..]);
    let list = api.read("/delegate/list");
    assert_eq!(
        list[0]["firstInteractions"].as_array().map(Vec::len),
        Some(shown.len())
    );
}

#[test]
fn a_list_of_delegates_with_many_bytes_of_interactions_is_whole() {
    let (_server, api) = Server::with_api();
    let note = "x".repeat(900_000);
    for number in 0..6 {
        let delegate = api.delegate(&json!({"barcode": number.to_string()}));
        let body = json!({"delegate": delegate, "data": {"note": note}});
        api.interact("lead", &body).is(201);
    }
    let list = api.get("/delegate/list").list().clone();
    assert_eq!(list.len(), 6);
    for delegate in list {
        assert_eq!(
            delegate["firstInteractions"].as_array().map(Vec::len),
            Some(1)
        );
    }
}

/// Answers of a few bytes that would expand into a million nulls each.
fn bomb(count: usize) -> Value {
    let path = ".999".repeat(31);
    let answers: Vec<_> = (0..count)
        .map(|number| json!({"field": format!("k{number}{path}"), "answer": 1}))
        .collect();
    json!({"form": "f", "answers": answers})
}

#[test]
fn answers_expand_into_no_more_than_a_record_may_hold() {
    let (_server, api) = Server::with_api();
    let delegate = api.delegate(&json!({}));
    for count in [1, 300, 6_000] {
        let body = json!({"delegate": delegate, "data": bomb(count)});
        api.interact("lead", &body)
            .refused(400, 1503, "data.answers");
        api.post("/interaction/test/lead", &body)
            .refused(400, 1503, "data.answers");
        let item = json!({"interactionType": "lead", "delegate": delegate, "data": bomb(count)});
        let batch = api.post("/interaction/batch", &json!({"interactions": {"a": item}}));
        assert_eq!(batch.data()[0]["meta"]["error"]["internalCode"], 1503);
    }
    // A long form is none of that.
    let answers: Vec<_> = (0..4_900)
        .map(|number| json!({"field": format!("q{number}.text"), "answer": "yes"}))
        .collect();
    let body = json!({"delegate": delegate, "data": {"form": "f", "answers": answers}});
    api.interact("lead", &body).is(201);
}

#[test]
fn shared_values_that_refer_to_others_do_not_multiply() {
    let (_server, api) = Server::with_api();
    let delegate = api.delegate(&json!({}));
    let shared = |name: &str| json!({"$shared": name});
    let item = |data: Value| json!({"interactionType": "lead", "delegate": delegate, "data": data});
    // Each is small; the answers would be 2,000 times 600,000 bytes.
    let answers = api.post(
        "/interaction/batch",
        &json!({
            "interactions": {
                "whole": item(shared("whole")),
                "label": item(json!({"form": "f", "answers": shared("labelled")})),
                "kept": item(json!({"form": "f", "answers": shared("kept")})),
                "good": item(json!({"form": "f", "answers": [{"field": "p", "answer": shared("photo")}]})),
            },
            "sharedValues": {
                "photo": "x".repeat(600_000),
                "big": {"field": "a", "answer": "x".repeat(600_000)},
                "whole": {"form": "f", "answers": vec![shared("big"); 2_000]},
                "labelled": vec![json!({"field": "a", "fieldLabel": shared("photo")}); 2_000],
                "kept": (0..2_000).map(|number| json!({"field": format!("a{number}"), "answer": shared("photo")})).collect::<Vec<_>>(),
            },
        }),
    );
    for (at, status) in [413, 413, 413, 201].iter().enumerate() {
        let answer = &answers.data()[at];
        assert_eq!(answer["status"], *status, "{answer}");
    }
}

#[test]
fn what_a_batch_expands_into_has_a_bound_as_a_whole() {
    let (_server, api) = Server::with_api();
    let delegate = api.delegate(&json!({}));
    let answers: Vec<_> = (0..7)
        .map(|number| json!({"field": number.to_string(), "answer": "x".repeat(140_000)}))
        .collect();
    let items: serde_json::Map<_, _> = (0..60)
        .map(|number| {
            let item = json!({
                "interactionType": "lead", "delegate": delegate, "data": {"$shared": "form"}
            });
            (number.to_string(), item)
        })
        .collect();
    let batch =
        json!({"interactions": items, "sharedValues": {"form": {"form": "f", "answers": answers}}});
    let answers = api.post("/interaction/batch", &batch);
    let statuses: Vec<_> = (0..60)
        .map(|at| answers.data()[at]["status"].as_u64())
        .collect();
    // Each is stored three times as large as it was sent.
    let stored = statuses
        .iter()
        .filter(|status| **status == Some(201))
        .count();
    assert!((40..50).contains(&stored), "{statuses:?}");
    assert!(statuses[stored..].iter().all(|status| *status == Some(413)));
}

#[test]
fn a_shared_value_must_be_one_that_a_record_could_hold() {
    let (_server, api) = Server::with_api();
    let delegate = api.delegate(&json!({}));
    let post = |shared: &str, data: Value| {
        let item = json!({"interactionType": "lead", "delegate": delegate, "data": data});
        let body = format!("{{\"interactions\": {{\"a\": {item}}}, \"sharedValues\": {shared}}}");
        let request = api.request(reqwest::Method::POST, "/interaction/batch");
        let request = request.header("content-type", "application/json");
        crate::harness::reply(request.body(body))
    };
    let deep = format!("{{\"p\": {}{}}}", "[".repeat(70), "]".repeat(70));
    post(&deep, json!({})).invalid("64 levels");
    for (shared, told) in [
        (
            r#"{"p": {"a": 1, "a": 2}}"#,
            "sharedValues.p: \"a\" stands twice",
        ),
        (r#"{"p": 1, "p": 2}"#, "\"p\" stands twice"),
        ("[]", "sharedValues"),
    ] {
        post(shared, json!({})).invalid(told);
    }
    // One that is too long does no harm where nobody refers to it.
    let long = json!({"long": vec![0; 2_000_000], "p": 1}).to_string();
    let fine = post(&long, json!({"p": {"$shared": "p"}}));
    assert_eq!(fine.data()[0]["status"], 201, "{fine:?}");
    let refused = post(&long, json!({"p": {"$shared": "long"}}));
    assert_eq!(refused.data()[0]["meta"]["error"]["internalCode"], 1106);
}
