//! What an administrator's settings change for clients: default rules, zone, CORS (contract §1, §2,
//! §6).

use super::gate;
use crate::harness::{Server, Whole, whole, words};
use reqwest::Method;
use serde_json::{Value, json};

#[test]
fn default_rules_hold_where_a_device_has_none_of_its_own() {
    let (server, api) = Server::with_api();
    let plain = api.device(&json!({}));
    let own = gate(&api, &json!({"entry": "multiple"}));
    let limited = gate(&api, &json!({"maxCheckIns": 1}));
    let check_in = |device: i64, delegate: i64| api.scan("check-in", delegate, device).code();
    server.settings(&json!({"access": {"entry": "single"}}));
    let a = api.delegate(&json!({}));
    assert_eq!((check_in(plain, a), check_in(plain, a)), (0, 740));
    assert_eq!((check_in(own, a), check_in(own, a)), (0, 0));
    server.settings(&json!({"access": {"ruleSet": "simple"}}));
    assert_eq!(
        [plain, own, limited].map(|device| check_in(device, a)),
        [741; 3]
    );
    server.settings(&json!({"access": null}));
    assert_eq!(
        (
            check_in(plain, a),
            check_in(limited, a),
            check_in(limited, a)
        ),
        (0, 0, 740)
    );
}

#[test]
fn a_setting_that_is_none_is_refused_by_name() {
    let server = Server::start();
    for (changes, named) in [
        (json!({"access": {"entri": 1}}), "access.entri"),
        (json!({"access": []}), "access"),
        (json!({"timeZone": "Mars/Olympus"}), "timeZone"),
        (json!({"timezone": "UTC"}), "timezone"),
        (json!({"corsOrigins": "x"}), "corsOrigins"),
        (json!({"name": 1}), "name"),
    ] {
        let (ctx, sent) = (
            server.context(),
            changes.as_object().expect("an object").clone(),
        );
        let saved = server
            .app
            .store
            .write(move |tx| gatepost::core::settings::save(tx, &ctx, &sent))
            .wait();
        let message = saved.expect_err("it is refused").to_string();
        assert!(message.contains(named), "{changes}: {message}");
    }
    assert_eq!(server.count("settings"), 0);
}

#[test]
fn any_origin_may_call_unless_a_list_is_set() {
    let (server, api) = Server::with_api();
    let call = |path: &str, origin: &str| -> Whole {
        let request = server.request(Method::GET, path).bearer_auth(&api.token);
        whole(request.header("Origin", origin))
    };
    let allowed = |answer: &Whole| answer.header("access-control-allow-origin").to_owned();
    for path in words("/api/v5/ping /api/v5/nope /api/v5/delegate/id:1 /api/5/ping") {
        let answer = call(path, "https://app.example.org");
        assert!(
            ["*", "https://app.example.org"].contains(&&*allowed(&answer)),
            "{path}: {answer:?}"
        );
        assert_eq!(
            answer.header("access-control-allow-credentials"),
            "",
            "{path}"
        );
    }
    let token = server
        .request(Method::POST, "/api/oauth/v2/token")
        .header("Origin", "https://a.example");
    assert_ne!(allowed(&whole(token)), "");
    let document = call("/openapi.json", "https://app.example.org");
    assert_ne!(allowed(&document), "");
    // Without an origin, or outside the API, there is nothing to allow.
    assert_eq!(
        allowed(&whole(server.request(Method::GET, "/api/v5/ping"))),
        ""
    );
    assert_eq!(allowed(&call("/docs", "https://app.example.org")), "");
    server.settings(&json!({"corsOrigins": ["https://app.example.org"]}));
    assert_eq!(
        allowed(&call("/api/v5/ping", "https://app.example.org")),
        "https://app.example.org"
    );
    for other in words(
        "https://evil.example http://app.example.org https://app.example.org.evil.example null",
    ) {
        let answer = call("/api/v5/ping", other);
        assert_eq!(
            (allowed(&answer), answer.reply.status),
            (String::new(), 200),
            "{other}"
        );
    }
    assert_eq!(
        call("/api/v5/ping", "https://evil.example")
            .header("vary")
            .to_lowercase(),
        "origin"
    );
    server.settings(&json!({"corsOrigins": []}));
    assert_eq!(
        allowed(&call("/api/v5/ping", "https://app.example.org")),
        ""
    );
}

#[test]
fn a_browser_learns_before_it_calls_what_it_may_send() {
    let server = Server::start();
    let preflight = |path: &str| {
        let request = server
            .request(Method::OPTIONS, path)
            .header("Origin", "https://app.example.org");
        whole(
            request
                .header("Access-Control-Request-Method", "PATCH")
                .header("Access-Control-Request-Headers", "authorization"),
        )
    };
    for (path, methods) in [
        ("/api/v5/delegate/id:1", "DELETE, GET, HEAD, PATCH, PUT"),
        ("/api/5/delegate/new", "POST"),
        ("/api/v5/delegate/new.json", "POST"),
        ("/api/v5/interaction/batch", "POST"),
        ("/api/oauth/v2/token", "POST"),
    ] {
        let answer = preflight(path);
        assert_eq!((answer.reply.status, &*answer.text), (204, ""), "{path}");
        assert_eq!(
            answer.header("access-control-allow-methods"),
            methods,
            "{path}"
        );
        for sent in [
            "Authorization",
            "Content-Type",
            "Idempotency-Key",
            "Last-Event-ID",
        ] {
            assert!(
                answer.header("access-control-allow-headers").contains(sent),
                "{path}"
            );
        }
        assert_ne!(answer.header("access-control-allow-origin"), "", "{path}");
    }
    server.settings(&json!({"corsOrigins": ["https://other.example"]}));
    assert_eq!(
        preflight("/api/v5/delegate/new").header("access-control-allow-origin"),
        ""
    );
    // Any other OPTIONS is a method like the rest.
    let plain = whole(server.request(Method::OPTIONS, "/api/v5/ping"));
    plain.reply.refused(405, 1104, "");
    assert_ne!(plain.reply.body, Value::Null);
}
