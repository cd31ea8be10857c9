//! Users' tokens: signing in, refreshing, expiry, and guesses (RFC 6749; contract §9).

use super::tokens::{ask, granted, of_client, refused, with, with_client, works};
use crate::harness::{Caller, PASSWORD, Whole};
use gatepost::identity::Role;
use serde_json::{Value, json};

/// The body by which a user signs in.
fn by_password() -> Value {
    json!({"grant_type": "password", "username": "ada@example.org", "password": PASSWORD})
}

#[track_caller]
fn not_granted(answer: &Whole) {
    refused(answer, 400, "invalid_grant", "");
}

#[test]
fn a_user_signs_in_by_password() {
    let (server, id, secret) = with_client();
    server.user("Ada@Example.org", &[Role::DelegateRead], None);
    let fine = with(&of_client(&id, &secret), &by_password());
    let answer = ask(&server, &fine);
    let keys: Vec<&String> = granted(&answer)
        .as_object()
        .expect("an object")
        .keys()
        .collect();
    assert_eq!(
        keys,
        [
            "access_token",
            "expires_in",
            "token_type",
            "scope",
            "refresh_token"
        ]
    );
    let token = granted(&answer)["access_token"].as_str().expect("a token");
    Caller::with_token(&server, token)
        .get("/delegate/list")
        .is(200);
    let wrong = ask(&server, &with(&fine, &json!({"password": "wrong horse"})));
    not_granted(&wrong);
    // Who does not exist is told in the same words.
    let nobody = ask(
        &server,
        &with(&fine, &json!({"username": "nobody@example.org"})),
    );
    assert_eq!(nobody.reply, wrong.reply);
    refused(
        &ask(&server, &with(&fine, &json!({"client_secret": "x"}))),
        401,
        "invalid_client",
        "",
    );
}

#[test]
fn a_refresh_token_is_good_once_and_its_reuse_ends_the_family() {
    let (server, id, secret) = with_client();
    server.user("ada@example.org", &[], None);
    let client = of_client(&id, &secret);
    let sign_in = || granted(&ask(&server, &with(&client, &by_password()))).clone();
    let refresh = |token: &Value| {
        ask(
            &server,
            &with(
                &client,
                &json!({"grant_type": "refresh_token", "refresh_token": token}),
            ),
        )
    };
    let first = sign_in();
    let second = granted(&refresh(&first["refresh_token"])).clone();
    assert_ne!(second["refresh_token"], first["refresh_token"]);
    assert!(works(&server, &first["access_token"]) && works(&server, &second["access_token"]));
    let third = granted(&refresh(&second["refresh_token"])).clone();
    let elsewhere = sign_in();
    // Somebody uses a copy of the first.
    not_granted(&refresh(&first["refresh_token"]));
    for ended in [&first, &second, &third] {
        assert!(!works(&server, &ended["access_token"]));
        not_granted(&refresh(&ended["refresh_token"]));
    }
    assert!(works(&server, &elsewhere["access_token"]));
    // One kind of token is not the other, and one client's is not another's.
    not_granted(&refresh(&elsewhere["access_token"]));
    assert!(!works(&server, &elsewhere["refresh_token"]));
    let (other, other_secret) = server.client(&[], &[]);
    let stolen =
        json!({"grant_type": "refresh_token", "refresh_token": elsewhere["refresh_token"]});
    not_granted(&ask(
        &server,
        &with(&of_client(&other, &other_secret), &stolen),
    ));
    granted(&refresh(&elsewhere["refresh_token"]));
    not_granted(&refresh(&json!("garbage")));
}

#[test]
fn tokens_end_when_they_expire() {
    let (server, id, secret) = with_client();
    server.user("ada@example.org", &[], None);
    let client = of_client(&id, &secret);
    let issued = granted(&ask(&server, &with(&client, &by_password()))).clone();
    let lasts = |kind: &str| -> i64 {
        server.value(&format!(
            "SELECT (expires_at - issued_at) / 1000 FROM tokens WHERE kind = '{kind}'"
        ))
    };
    assert_eq!((lasts("access"), lasts("refresh")), (3600, 30 * 24 * 3600));
    // Neither the token nor the secret is in the file.
    for hidden in [
        &issued["access_token"],
        &issued["refresh_token"],
        &json!(secret),
    ] {
        let text = hidden.as_str().expect("text").as_bytes();
        let file = std::fs::read(server.path().with_extension("db-wal")).expect("the log");
        assert!(!file.windows(text.len()).any(|window| window == text));
    }
    server.sql("UPDATE tokens SET expires_at = 1000");
    assert!(!works(&server, &issued["access_token"]));
    let refresh = json!({"grant_type": "refresh_token", "refresh_token": issued["refresh_token"]});
    not_granted(&ask(&server, &with(&client, &refresh)));
}

#[test]
fn an_answer_that_was_lost_is_had_again_for_half_a_minute() {
    let (server, id, secret) = with_client();
    server.user("ada@example.org", &[], None);
    let client = of_client(&id, &secret);
    let refresh = |client: &Value, token: &Value| {
        let grant = json!({"grant_type": "refresh_token", "refresh_token": token});
        ask(&server, &with(client, &grant))
    };
    let first = granted(&ask(&server, &with(&client, &by_password()))).clone();
    granted(&refresh(&client, &first["refresh_token"]));
    let (other, other_secret) = server.client(&[], &[]);
    let stranger = of_client(&other, &other_secret);
    let answer = refresh(&stranger, &first["refresh_token"]);
    not_granted(&answer);
    let again = granted(&refresh(&client, &first["refresh_token"])).clone();
    assert!(works(&server, &again["access_token"]));
    let last = granted(&refresh(&client, &again["refresh_token"])).clone();
    assert!(works(&server, &last["access_token"]));
    // Half a minute later it is a copy that somebody uses.
    let next = granted(&refresh(&client, &last["refresh_token"])).clone();
    server.sql("UPDATE tokens SET used_at = used_at - 31000 WHERE used_at > 0");
    let answer = refresh(&client, &last["refresh_token"]);
    not_granted(&answer);
    assert!(!works(&server, &next["access_token"]));
}
