//! What holds for whatever is sent.

use super::Venue;
use proptest::{
    collection::{btree_map, vec},
    prelude::*,
    test_runner::{Config, TestRunner},
};
use serde_json::{Map, Value, json};

fn runner(cases: u32) -> TestRunner {
    TestRunner::new(Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    })
}

fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e9..1e9f64).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        Just(json!("x".repeat(100))),
    ]
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof!["[a-c]", any::<String>()]
}

/// Any JSON of a few levels.
fn document() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map(key(), inner, 0..4)
                .prop_map(|object| Value::Object(object.into_iter().collect())),
        ]
    })
}

fn object() -> impl Strategy<Value = Value> {
    btree_map(key(), document(), 0..4)
        .prop_map(|object| Value::Object(object.into_iter().collect()))
}

/// RFC 7396, as its pseudocode says.
fn merged(target: Option<Value>, patch: &Value) -> Value {
    let Value::Object(patch) = patch else {
        return patch.clone();
    };
    let mut target = match target {
        Some(Value::Object(target)) => target,
        _ => Map::new(),
    };
    for (name, value) in patch {
        let old = target.remove(name);
        if !value.is_null() {
            target.insert(name.clone(), merged(old, value));
        }
    }
    Value::Object(target)
}

/// The document with its keys in another order.
fn reordered(value: &Value) -> Value {
    match value {
        Value::Object(object) => object
            .iter()
            .rev()
            .map(|(key, value)| (key.clone(), reordered(value)))
            .collect(),
        Value::Array(items) => items.iter().map(reordered).collect(),
        other => other.clone(),
    }
}

#[test]
fn what_was_patched_is_what_is_got() {
    let venue = Venue::new();
    let texts = (any::<String>(), any::<String>()).prop_filter("no NUL", |(one, other)| {
        !one.contains('\0') && !other.contains('\0')
    });
    let strategy = (vec(object(), 1..4), texts);
    let outcome = runner(60).run(&strategy, |(patches, (first, company))| {
        let id = venue.all.delegate(&json!({}));
        let path = format!("/delegate/id:{id}");
        let mut expected = Value::Null;
        for patch in patches {
            let reply = venue.all.patch(
                &path,
                &json!({"data": {"Law": patch}, "firstName": first, "company": company}),
            );
            prop_assert_eq!(reply.status, 200, "{:?}", reply);
            expected = merged(Some(expected), &patch);
            let got = venue.all.read(&path);
            prop_assert_eq!(&got, reply.data());
            let shown = got.pointer("/data/Law").cloned().unwrap_or(json!({}));
            prop_assert_eq!(shown, expected.clone());
            for (name, sent) in [("firstName", &first), ("company", &company)] {
                let shown = got.get(name).and_then(Value::as_str).unwrap_or_default();
                prop_assert_eq!(shown, sent);
            }
        }
        Ok(())
    });
    outcome.expect("the law holds");
}

#[test]
fn what_was_created_is_found_by_each_of_its_codes() {
    let venue = Venue::new();
    let code = "[^\0]{1,40}";
    let strategy = (vec(code, 7), any::<bool>());
    let outcome = runner(60).run(&strategy, |(values, as_device)| {
        let (kind, names): (_, &[&str]) = if as_device {
            (
                "device",
                &["code", "publicId", "externalId", "rfid", "slug"],
            )
        } else {
            (
                "delegate",
                &[
                    "barcode",
                    "rfid",
                    "externalId",
                    "publicId",
                    "code",
                    "uhfId",
                    "slug",
                ],
            )
        };
        let body: Value = names
            .iter()
            .zip(&values)
            .map(|(name, value)| ((*name).to_owned(), json!(value)))
            .collect();
        let made = venue.all.post(&format!("/{kind}/new"), &body);
        if made.code() == 1105 {
            return Ok(());
        }
        prop_assert_eq!(made.status, 201, "{:?}", made);
        for (name, value) in names.iter().zip(&values) {
            let value =
                percent_encoding::utf8_percent_encode(value, percent_encoding::NON_ALPHANUMERIC);
            let path = format!("/{kind}/{name}:{value}");
            let found = venue.all.get(&path);
            prop_assert_eq!(found.data(), made.data(), "{}", path);
        }
        Ok(())
    });
    outcome.expect("the law holds");
}

#[test]
fn an_equal_resend_never_creates_and_another_is_refused() {
    let venue = Venue::new();
    let gates = ["code:gate", "id:1"];
    let strategy = ("[^\0]{1,60}", object(), object(), any::<bool>(), 0..2usize);
    let outcome = runner(60).run(&strategy, |(nonce, data, other, by_key, gate)| {
        let nonce = format!("{nonce}{}", venue.written());
        let before = venue.server.count("interactions");
        let send = |data: &Value| {
            let mut body = json!({"delegate": "barcode:A", "device": gates[gate], "data": data});
            if !by_key {
                body["nonce"] = json!(nonce);
            }
            let text = serde_json::to_string_pretty(&reordered(&body)).expect("JSON");
            let request = venue
                .all
                .request(reqwest::Method::POST, "/interaction/new/seen");
            let request = request.header("Content-Type", "application/json");
            let key = format!("{}{}", before, nonce.len());
            let request = if by_key {
                request.header("Idempotency-Key", key)
            } else {
                request
            };
            crate::harness::reply(request.body(text))
        };
        let made = send(&data);
        if made.status == 400 {
            // A form that is none, or a `$shared` that means nothing here.
            prop_assert_eq!(made.code(), 1503);
            return Ok(());
        }
        prop_assert_eq!(made.status, 201, "{:?}", made);
        for same in [data.clone(), reordered(&data)] {
            let again = send(&same);
            prop_assert_eq!(again.status, if by_key { 201 } else { 200 });
            prop_assert_eq!(again.data(), made.data());
        }
        if other != data {
            prop_assert_eq!(send(&other).code(), 1109);
        }
        prop_assert_eq!(venue.server.count("interactions"), before + 1);
        Ok(())
    });
    outcome.expect("the law holds");
}

/// The value at a path of segments, in objects and arrays.
fn at<'a>(mut value: &'a Value, path: &[&str]) -> Option<&'a Value> {
    for segment in path {
        value = match value {
            Value::Array(items) => items.get(segment.parse::<usize>().ok()?)?,
            other => other.get(segment)?,
        };
    }
    Some(value)
}

#[test]
fn reshaping_a_form_never_loses_an_answer() {
    let venue = Venue::new();
    let segment = prop_oneof![
        "[ab]",
        "[0-2]",
        Just("10".to_owned()),
        Just("01".to_owned()),
        "[^.\0]{1,4}"
    ];
    let field = vec(segment, 1..4).prop_map(|segments| segments.join("."));
    let label = prop_oneof![Just(Value::Null), "[A-C]".prop_map(Value::from)];
    let answer = (field, leaf(), label);
    let outcome = runner(80).run(&vec(answer, 0..7), |answers| {
        let sent: Vec<Value> = answers
            .iter()
            .map(|(field, answer, label)| json!({"field": field, "answer": answer, "fieldLabel": label}))
            .collect();
        let data = json!({"form": "f", "answers": sent});
        let made = venue.all.interact("lead", &json!({"delegate": "barcode:A", "data": data}));
        prop_assert_eq!(made.status, 201, "{:?}", made);
        let stored = &made.data()["data"];
        prop_assert_eq!(&stored["form"], "f");
        prop_assert_eq!(&stored["answers"], &json!(sent));
        for (field, _, _) in &answers {
            let given: Vec<&Value> =
                answers.iter().filter(|(other, ..)| other == field).map(|(_, answer, _)| answer).collect();
            let expected = if given.len() == 1 { given[0].clone() } else { json!(given) };
            // Where one field lies within another they collide, and the later wins.
            let collides = answers.iter().any(|(other, ..)| {
                other.starts_with(&format!("{field}.")) || field.starts_with(&format!("{other}."))
            });
            if !collides {
                let path: Vec<&str> = field.split('.').collect();
                prop_assert_eq!(at(&stored["answersData"], &path), Some(&expected), "{} in {}", field, stored);
            }
        }
        Ok(())
    });
    outcome.expect("the law holds");
}
