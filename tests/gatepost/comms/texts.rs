//! Texts: what providers are called with, and what becomes of a call that is cut.

use super::{PASSWORD, Post, provider::Act};
use gatepost::domain::messages::gateways::presets::PRESETS;
use serde_json::{Value, json};

fn ask(post: &Post) -> Value {
    json!({"sms_code": "order-cleared", "delegate_id": post.ada})
}

#[test]
fn a_text_goes_to_the_provider() {
    let post = Post::open();
    assert_eq!(post.flags(&ask(&post)), (true, false));
    let calls = post.provider.wait_for(1);
    let call = &calls[0];
    assert_eq!(call.line.trim_end(), "POST /sms HTTP/1.1");
    assert_eq!(call.header("authorization"), format!("Bearer {PASSWORD}"));
    let body: Value = serde_json::from_str(&call.body).expect("JSON");
    assert_eq!(body["to"], "+4940123456");
    assert_eq!(body["text"], "Hello Ada, your order is ready. Summit");
}

#[test]
fn what_became_of_a_text_is_told_however_the_provider_behaves() {
    let post = Post::open();
    for (act, state, about) in [
        (Act::Answer(200, "{}"), "sent", ""),
        (Act::Answer(201, ""), "sent", ""),
        (Act::Answer(302, ""), "failed", "it has moved"),
        (
            Act::Answer(400, "{\"error\": \"no such number\"}"),
            "failed",
            "no such number",
        ),
        (
            Act::Answer(401, "bad key s3cret-of-the-gateway"),
            "failed",
            "sign in",
        ),
        (Act::Answer(403, ""), "failed", "sign in"),
        (Act::Answer(429, ""), "failed", "busy"),
        (Act::Answer(503, ""), "failed", "busy"),
        // The provider may have taken it before it failed.
        (Act::Answer(500, "oops"), "unknown", "oops"),
        (Act::Answer(502, ""), "unknown", "502"),
        (Act::GoneAtOnce, "unknown", "did not answer"),
        (Act::GoneInCall, "unknown", "did not answer"),
        (Act::GoneAfterCall, "unknown", "did not answer"),
        (Act::GoneInAnswer, "unknown", "did not answer"),
        (Act::Silent, "unknown", "did not answer"),
    ] {
        post.provider.act(std::slice::from_ref(&act));
        assert_eq!(post.flags(&ask(&post)), (state == "sent", false), "{act:?}");
        let (found, why) = post.newest();
        assert_eq!(found, state, "{act:?}: {why}");
        assert!(why.contains(about), "{act:?}: no {about:?} in {why:?}");
        assert!(!why.contains(PASSWORD), "{act:?}: {why}");
    }
}

#[test]
fn nobody_there_and_nowhere_to_go_are_certain() {
    let post = Post::open();
    let mut http = post.http("/sms");
    // A port that was free a moment ago, and on which nobody listens.
    let free = crate::loopback::listener();
    let port = free.local_addr().expect("an address").port();
    drop(free);
    http["url"] = json!(format!("http://127.0.0.1:{port}/sms"));
    post.set("sms", &http);
    assert_eq!(post.flags(&ask(&post)), (false, false));
    assert_eq!(post.newest().0, "failed");
    post.set("sms", &post.http("/sms"));
    post.server.settings(&json!({"outgoing": null}));
    assert_eq!(post.flags(&ask(&post)), (false, false));
    assert!(post.newest().1.contains("loopback"), "{:?}", post.newest());
    assert_eq!(
        post.provider.calls().len(),
        0,
        "it was not allowed to go there"
    );
    let mail = post.welcome();
    assert_eq!(
        post.flags(&json!({"email_id": mail, "delegate_id": post.ada})),
        (false, false)
    );
    assert!(post.newest().1.contains("loopback"), "{:?}", post.newest());
    assert_eq!(post.mail.connections(), 0, "nor may mail");
}

#[test]
fn an_answer_that_says_no_is_no_success() {
    let post = Post::open();
    let mut http = post.http("/sms");
    http["success"] = json!({"path": "messages.0.status", "equals": "0"});
    post.set("sms", &http);
    for (body, state) in [
        (r#"{"messages": [{"status": "0"}]}"#, "sent"),
        (r#"{"messages": [{"status": 0}]}"#, "sent"),
        (
            r#"{"messages": [{"status": "4", "error-text": "Bad Credentials"}]}"#,
            "failed",
        ),
        // It answers something else altogether: nobody knows.
        (r#"{"messages": []}"#, "unknown"),
        ("<html>", "unknown"),
        ("", "unknown"),
    ] {
        post.provider.usually(Act::Answer(200, body));
        assert_eq!(post.flags(&ask(&post)), (state == "sent", false), "{body}");
        assert_eq!(post.newest().0, state, "{body}");
    }
}

#[test]
fn what_a_record_says_stays_in_its_place_in_every_kind_of_body() {
    let post = Post::open();
    let hostile = "\", \"to\": \"+1999\" & to=+1999\r\nX-Evil: 1 {{ secret }} ü";
    let eve = post.server.caller_with_all().delegate(&json!({
        "firstName": hostile, "phone": "+49 40 999999",
    }));
    let ask = json!({"sms_code": "order-cleared", "delegate_id": eve});
    for (kind, body) in [
        (
            "application/json",
            r#"{"to": "{{ to }}", "text": "{{ text }}"}"#,
        ),
        (
            "application/x-www-form-urlencoded",
            "to={{ to }}&text={{ text }}",
        ),
    ] {
        let mut http = post.http("/sms?note={{ text }}");
        http["contentType"] = json!(kind);
        http["body"] = json!(body);
        http["headers"] = json!({"X-Text": "{{ title }}"});
        post.set("sms", &http);
        assert_eq!(post.flags(&ask), (true, false), "{kind}");
        let calls = post.provider.calls();
        let call = calls.last().expect("a call");
        assert!(!call.body.contains(PASSWORD), "{}", call.body);
        assert_eq!(call.header("x-evil"), "");
        assert!(!call.line.contains('"') && call.line.ends_with("HTTP/1.1\r\n"));
        let pairs: Vec<(String, String)> = if kind.ends_with("json") {
            let read: Value = serde_json::from_str(&call.body).expect("JSON");
            let read = read.as_object().expect("an object").clone();
            read.into_iter()
                .map(|(name, value)| (name, value.as_str().expect("text").to_owned()))
                .collect()
        } else {
            form_urlencoded::parse(call.body.as_bytes())
                .into_owned()
                .collect()
        };
        assert_eq!(pairs.len(), 2, "{pairs:?}");
        assert_eq!(pairs[0], ("to".to_owned(), "+4940999999".to_owned()));
        assert!(pairs[1].1.contains("{{ secret }} ü"), "{pairs:?}");
    }
}

/// Every preset against a provider on loopback: its own host is the one thing that is exchanged.
#[test]
fn presets_send_what_providers_ask_for() {
    let post = Post::open();
    for preset in &*PRESETS {
        let mut http = preset.http();
        let path = http.url.splitn(4, '/').nth(3).expect("a path").to_owned();
        http.url = format!("{}/{path}", post.provider.url());
        http.user = Some("AC123".into());
        http.from = Some("Summit".into());
        let mut definition = serde_json::to_value(&http).expect("JSON");
        definition["kind"] = json!("http");
        post.set("sms", &definition);
        let answer = match preset.name {
            "vonage" => r#"{"messages": [{"status": "0"}]}"#,
            "seven" => r#"{"success": "100"}"#,
            _ => "{}",
        };
        post.provider.usually(Act::Answer(201, answer));
        assert_eq!(post.flags(&ask(&post)), (true, false), "{}", preset.name);
        let calls = post.provider.calls();
        let call = calls.last().expect("a call");
        match preset.name {
            "twilio" => {
                assert!(
                    call.line.contains("/Accounts/AC123/Messages.json"),
                    "{}",
                    call.line
                );
                // "AC123:s3cret-of-the-gateway"
                assert_eq!(
                    call.header("authorization"),
                    "Basic QUMxMjM6czNjcmV0LW9mLXRoZS1nYXRld2F5"
                );
                assert!(
                    call.body
                        .starts_with("To=%2B4940123456&From=Summit&Body=Hello%20Ada")
                );
            }
            "vonage" => {
                let body: Value = serde_json::from_str(&call.body).expect("JSON");
                assert_eq!(body["api_secret"], PASSWORD);
                assert_eq!(body["to"], "4940123456");
            }
            "messagebird" => {
                assert_eq!(
                    call.header("authorization"),
                    format!("AccessKey {PASSWORD}")
                );
            }
            "seven" => assert_eq!(call.header("x-api-key"), PASSWORD),
            other => panic!("nobody knows what {other} asks for"),
        }
    }
}
