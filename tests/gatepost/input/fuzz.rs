//! Anything at all, at every address.

use super::{Venue, WRITES, told};
use crate::harness::{Server, whole};
use proptest::{
    collection::vec,
    prelude::*,
    sample::select,
    test_runner::{Config, TestRunner},
};
use reqwest::Method;
use serde_json::{Value, json};

fn runner(cases: u32) -> TestRunner {
    TestRunner::new(Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    })
}

const NAMES: [&str; 24] = [
    "id",
    "_type",
    "parent",
    "owner",
    "barcode",
    "publicId",
    "firstName",
    "rawFlags",
    "data",
    "delegate",
    "firstDelegate",
    "secondDelegate",
    "device",
    "thirdDevice",
    "recordedAt",
    "nonce",
    "admitted",
    "interactionType",
    "interactions",
    "sharedValues",
    "startAt",
    "available",
    "eventName",
    "deviceType",
];

/// Values such as somebody with the document in hand would try.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2i64..5).prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        select(vec![
            "barcode:A",
            "code:gate",
            "lead",
            "check-in",
            "id:1",
            "2026-11-21 09:02:00",
            "f"
        ])
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        let names = prop_oneof![
            select(NAMES.to_vec()).prop_map(str::to_owned),
            select(vec![
                "Access", "ruleSet", "capacity", "form", "answers", "field", "answer", "$shared",
                "k"
            ])
            .prop_map(str::to_owned),
            any::<String>(),
        ];
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((names, inner), 0..4).prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

#[test]
fn any_document_at_any_address_gets_an_answer_from_the_table() {
    let venue = Venue::new();
    let properties = vec((select(NAMES.to_vec()), value()), 0..5);
    let strategy = (select(WRITES.to_vec()), properties);
    let outcome = runner(400).run(&strategy, |(write, properties)| {
        let body: Value = properties
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect();
        venue.send_json(write, body.to_string());
        Ok(())
    });
    outcome.expect("an answer from the table");
    venue.all.get("/ping").is(200);
    for list in ["delegate", "device", "interaction"] {
        venue.all.get(&format!("/{list}/list")).is(200);
    }
}

#[test]
fn any_bytes_get_an_answer_from_the_table() {
    let venue = Venue::new();
    let fine = json!({"delegate": "barcode:A", "data": {"x": [1, "é", null]}})
        .to_string()
        .into_bytes();
    // A document with some of its bytes changed, or none at all.
    let changed = vec((0..fine.len(), any::<u8>()), 0..4).prop_map(move |changes| {
        let mut bytes = fine.clone();
        for (at, byte) in changes {
            bytes[at] = byte;
        }
        bytes
    });
    let strategy = (
        select(WRITES.to_vec()),
        prop_oneof![vec(any::<u8>(), 0..40), changed],
    );
    let outcome = runner(300).run(&strategy, |(write, bytes)| {
        venue.send_json(write, bytes);
        Ok(())
    });
    outcome.expect("an answer from the table");
    venue.all.get("/ping").is(200);
}

#[test]
fn any_address_gets_an_answer_from_the_table() {
    let venue = Venue::new();
    let part = prop_oneof![
        select(vec![
            "delegate",
            "device",
            "event",
            "interaction",
            "list",
            "new",
            "myself",
            "ping",
            "batch",
            "oauth",
            "v2"
        ])
        .prop_map(str::to_owned),
        (
            select(vec!["id", "barcode", "code", "externalId", "x"]),
            any::<String>()
        )
            .prop_map(|(id_type, value)| {
                format!(
                    "{id_type}:{}",
                    percent_encoding::utf8_percent_encode(
                        &value,
                        percent_encoding::NON_ALPHANUMERIC
                    )
                )
            }),
        "[a-zA-Z0-9:.,;=@!$&'()*+_~%-]{0,12}",
    ];
    let query = prop_oneof![
        Just(String::new()),
        "[a-z0-9=&%+,.-]{0,20}".prop_map(|query| format!("?{query}")),
        (
            select(vec!["limit", "offset", "fields"]),
            "[a-zA-Z0-9,%-]{0,12}"
        )
            .prop_map(|(name, value)| format!("?{name}={value}")),
    ];
    let methods = select(vec![
        Method::GET,
        Method::DELETE,
        Method::POST,
        Method::PATCH,
        Method::PUT,
    ]);
    let strategy = (methods, vec(part, 1..4), query);
    let outcome = runner(400).run(&strategy, |(method, parts, query)| {
        // The token endpoint answers in a form of its own.
        let path = format!("/{}{query}", parts.join("/"));
        if path.starts_with("/oauth/v2") {
            return Ok(());
        }
        let answer = whole(venue.all.request(method, &path));
        told(&answer);
        Ok(())
    });
    outcome.expect("an answer from the table");
    venue.all.get("/ping").is(200);
}

#[test]
fn any_token_request_is_answered_as_rfc_6749_says() {
    let server = Server::start();
    let (id, secret) = server.client(&[], &[]);
    let names = [
        "grant_type",
        "client_id",
        "client_secret",
        "username",
        "password",
        "refresh_token",
        "scope",
        "x",
    ];
    let values = prop_oneof![
        select(vec![
            "client_credentials".to_owned(),
            "refresh_token".to_owned(),
            id,
            secret,
            String::new()
        ]),
        any::<String>(),
    ];
    let pairs = vec((select(names.to_vec()), values), 0..5);
    let strategy = (pairs, any::<bool>());
    let outcome = runner(150).run(&strategy, |(pairs, as_json)| {
        let request = server.request(Method::POST, "/api/oauth/v2/token");
        let request = if as_json {
            let body: Value = pairs
                .into_iter()
                .map(|(name, value)| (name.to_owned(), json!(value)))
                .collect();
            request.json(&body)
        } else {
            let body = form_urlencoded::Serializer::new(String::new())
                .extend_pairs(pairs)
                .finish();
            request
                .header("Content-Type", "application/x-www-form-urlencoded")
                .body(body)
        };
        let answer = whole(request);
        prop_assert!(
            [200, 400, 401, 429].contains(&answer.reply.status),
            "{:?}",
            answer
        );
        let key = if answer.reply.status == 200 {
            "access_token"
        } else {
            "error"
        };
        prop_assert!(answer.reply.body[key].is_string(), "{:?}", answer);
        prop_assert_eq!(answer.header("cache-control"), "no-store");
        Ok(())
    });
    outcome.expect("an answer of the token endpoint");
}
