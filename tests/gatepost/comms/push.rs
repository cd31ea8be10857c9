//! Push messages: by FCM, to every app of a delegate, and by a service of one's own.

use super::{Post, provider::Act};
use crate::{console::Crew, faults::process::until};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use gatepost::identity::ConsoleRole;
use serde_json::{Value, json};

/// A key of no account.
const KEY: &str = include_str!("account.pem");

fn account(post: &Post) -> String {
    json!({
        "type": "service_account", "project_id": "summit-2026", "client_email": "push@summit.example",
        "private_key_id": "k1", "private_key": KEY, "token_uri": format!("{}/token", post.provider.url()),
    })
    .to_string()
}

/// Sends a push template to Ada, as somebody of the crew does.
fn push(post: &Post, template: i64) {
    let crew = post.server.crew(ConsoleRole::Operator);
    crew.post(
        &format!("/console/messages/templates/{template}"),
        &[
            ("type", "push"),
            ("delegate", "barcode:ADA-1"),
            ("do", "send"),
        ],
    )
    .taken();
}

fn template(post: &Post) -> i64 {
    post.template(&json!({
        "type": "push", "slug": "news", "subject": "News from {{ settings.name }}", "content": "Doors open, {{ delegate.firstName }}",
    }))
}

#[test]
fn every_app_of_a_delegate_gets_a_push_message_by_fcm() {
    let post = Post::open();
    let caller = post.server.caller_with_all();
    caller
        .patch(
            &format!("/delegate/id:{}", post.ada),
            &json!({"data": {"Data": {"pushTokens": ["phone", "tablet", "phone"]}}}),
        )
        .data();
    post.set_with(
        "push",
        &json!({"kind": "fcm", "url": post.provider.url()}),
        &account(&post),
    );
    post.provider.act(&[Act::Answer(
        200,
        r#"{"access_token": "ya29.token", "expires_in": 3599, "token_type": "Bearer"}"#,
    )]);
    let id = template(&post);
    push(&post, id);
    let calls = post.provider.wait_for(3);
    let asked: Vec<(String, String)> = form_urlencoded::parse(calls[0].body.as_bytes())
        .into_owned()
        .collect();
    assert!(
        calls[0].line.starts_with("POST /token "),
        "{}",
        calls[0].line
    );
    assert_eq!(asked[0].1, "urn:ietf:params:oauth:grant-type:jwt-bearer");
    let claims = asked[1].1.split('.').nth(1).expect("claims");
    let claims = URL_SAFE_NO_PAD.decode(claims).expect("base 64");
    let claims: Value = serde_json::from_slice(&claims).expect("JSON");
    assert_eq!(claims["iss"], "push@summit.example");
    assert_eq!(claims["aud"], format!("{}/token", post.provider.url()));
    let mut tokens = Vec::new();
    for call in &calls[1..] {
        assert!(
            call.line
                .starts_with("POST /v1/projects/summit-2026/messages:send ")
        );
        assert_eq!(call.header("authorization"), "Bearer ya29.token");
        let message: Value = serde_json::from_str(&call.body).expect("JSON");
        assert_eq!(
            message["message"]["notification"],
            json!({"body": "Doors open, Ada", "title": "News from Summit"})
        );
        let token = message["message"]["token"].as_str().expect("a token");
        tokens.push(token.to_owned());
    }
    tokens.sort();
    assert_eq!(tokens, ["phone", "tablet"]);
    until("both are sent", || {
        post.server
            .value::<i64>("SELECT count(*) FROM messages WHERE state = 'sent' AND channel = 'push'")
            == 2
    });
    // One app is gone, the other is not: each has an outcome of its own. The token is used again.
    post.provider
        .act(&[Act::Answer(404, r#"{"error": {"status": "NOT_FOUND"}}"#)]);
    push_again(&post, id);
    until("both have ended", || {
        post.server
            .value::<String>("SELECT group_concat(state) FROM (SELECT state FROM messages WHERE id > 2 ORDER BY state)")
            == "failed,sent"
    });
    assert_eq!(post.provider.calls().len(), 5);
    let kept: i64 = post
        .server
        .value("SELECT count(*) FROM delegates WHERE data ->> '$.Data.pushTokens[1]' = 'tablet'");
    assert_eq!(kept, 1, "tokens are the apps' own");
}

fn push_again(post: &Post, template: i64) {
    let crew = Crew::sign_in(&post.server, "operator@example.com");
    crew.post(
        &format!("/console/messages/templates/{template}"),
        &[
            ("type", "push"),
            ("delegate", &post.ada.to_string()),
            ("do", "send"),
        ],
    )
    .taken();
}

#[test]
fn without_an_access_token_nothing_is_sent_and_it_is_tried_again() {
    let post = Post::open();
    post.set_with(
        "push",
        &json!({"kind": "fcm", "url": post.provider.url()}),
        &account(&post),
    );
    post.provider.act(&[
        Act::Answer(400, r#"{"error": "invalid_grant"}"#),
        Act::GoneAfterCall,
        Act::Answer(200, r#"{"access_token": "ya29.token", "expires_in": 3599}"#),
    ]);
    let id = template(&post);
    push(&post, id);
    post.until(1, "sent");
    let lines: Vec<bool> = post
        .provider
        .calls()
        .iter()
        .map(|call| call.line.contains("/token"))
        .collect();
    assert_eq!(lines, [true, true, true, false]);
}

#[test]
fn a_service_of_ones_own_takes_push_messages_too() {
    let post = Post::open();
    post.set("push", &post.http("/push"));
    let id = template(&post);
    push(&post, id);
    let calls = post.provider.wait_for(1);
    let body: Value = serde_json::from_str(&calls[0].body).expect("JSON");
    assert_eq!(
        body,
        json!({"to": "phone-of-ada", "text": "Doors open, Ada", "title": "News from Summit"})
    );
    post.until(1, "sent");
}
