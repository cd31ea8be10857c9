//! What many failures do, and to whom (contract §9): a whole venue may share one address.

use super::tokens::{ask, granted, of_client, refused, with};
use crate::{
    console::{browser, page},
    harness::{PASSWORD, Server, Whole, whole},
};
use gatepost::identity::{
    ConsoleRole,
    throttle::{Account, Endpoint},
};
use reqwest::Method;
use serde_json::{Value, json};
use std::{
    net::{IpAddr, Ipv4Addr},
    time::Instant,
};

const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

fn password(client: &Value, username: &str, password: &str) -> Value {
    let grant = json!({"grant_type": "password", "username": username, "password": password});
    with(client, &grant)
}

#[track_caller]
fn throttled(answer: &Whole) {
    refused(answer, 429, "temporarily_unavailable", "seconds");
    let wait: u32 = answer.header("retry-after").parse().expect("seconds");
    assert!((1..=61).contains(&wait), "{wait}");
}

#[test]
fn failures_of_others_never_shut_a_correct_secret_out() {
    let server = Server::start();
    let (id, secret) = server.client(&[], &[]);
    server.user("ada@example.org", &[], None);
    server.console_user("crew@example.org", ConsoleRole::Viewer);
    let wrong = |at: usize| match at % 2 {
        0 => of_client(&format!("invented-{at}"), "wrong"),
        _ => of_client(&id, "wrong"),
    };
    for at in 0..100 {
        refused(&ask(&server, &wrong(at)), 401, "invalid_client", "");
    }
    // Only who fails is slowed down.
    for at in 0..5 {
        throttled(&ask(&server, &wrong(at)));
    }
    let client = of_client(&id, &secret);
    granted(&ask(&server, &client));
    granted(&ask(
        &server,
        &password(&client, "ada@example.org", PASSWORD),
    ));
    let revoked = server.request(Method::POST, "/api/oauth/v2/revoke");
    let body = with(&client, &json!({"token": "x"}));
    assert_eq!(whole(revoked.json(&body)).reply.status, 200);
    let form = [("email", "crew@example.org"), ("password", PASSWORD)];
    let console = browser().post(format!("{}/console/sign-in", server.url()));
    assert_eq!(page(console.form(&form)).taken(), "/console");
}

#[test]
fn guesses_at_a_password_shut_that_user_out_at_that_door_alone() {
    let server = Server::start();
    let (id, secret) = server.client(&[], &[]);
    let client = of_client(&id, &secret);
    server.console_user("ada@example.org", ConsoleRole::Viewer);
    server.user("bob@example.org", &[], None);
    for _ in 0..10 {
        let answer = ask(
            &server,
            &password(&client, "ada@example.org", "wrong horse"),
        );
        refused(&answer, 400, "invalid_grant", "");
    }
    throttled(&ask(
        &server,
        &password(&client, "ADA@example.org", PASSWORD),
    ));
    granted(&ask(
        &server,
        &password(&client, "bob@example.org", PASSWORD),
    ));
    granted(&ask(&server, &client));
    let form = [("email", "ada@example.org"), ("password", PASSWORD)];
    let console = browser().post(format!("{}/console/sign-in", server.url()));
    assert_eq!(page(console.form(&form)).taken(), "/console");
}

#[test]
fn guesses_at_nobody_shut_nobody_out() {
    let server = Server::start();
    let (id, secret) = server.client(&[], &[]);
    let client = of_client(&id, &secret);
    server.console_user("ada@example.org", ConsoleRole::Viewer);
    let throttle = &server.app.throttle;
    for endpoint in [Endpoint::UserPassword, Endpoint::ConsolePassword] {
        for _ in 0..100 {
            let _ = throttle.failed(Account::unknown(endpoint), HERE, Instant::now());
        }
    }
    let sign_in = |email: &str, password: &str| {
        let form = [("email", email), ("password", password)];
        page(
            browser()
                .post(format!("{}/console/sign-in", server.url()))
                .form(&form),
        )
    };
    // Nothing is hashed for them any more; a code is a password here.
    for guess in [PASSWORD, "123456"] {
        throttled(&ask(
            &server,
            &password(&client, "nobody@example.org", guess),
        ));
    }
    sign_in("nobody@example.org", PASSWORD).refused(429, "Too many attempts");
    // A guess at somebody tells as little.
    throttled(&ask(
        &server,
        &password(&client, "ada@example.org", "wrong horse"),
    ));
    sign_in("ada@example.org", "wrong horse").refused(429, "Too many attempts");
    granted(&ask(
        &server,
        &password(&client, "ada@example.org", PASSWORD),
    ));
    assert_eq!(sign_in("ada@example.org", PASSWORD).taken(), "/console");
}

#[test]
fn only_a_trusted_proxy_says_who_sent_a_request() {
    for (proxies, told) in [(vec![], false), (vec![HERE], true)] {
        let server = Server::start_behind(proxies);
        let (id, secret) = server.client(&[], &[]);
        let client = of_client(&id, &secret);
        server.user("ada@example.org", &[], None);
        let tried = |forwarded: &str, guess: &str| {
            let request = server.request(Method::POST, "/api/oauth/v2/token");
            let request = request.header("X-Forwarded-For", forwarded);
            whole(request.json(&password(&client, "ada@example.org", guess)))
        };
        for at in 0..10 {
            // What a client writes itself stands left of what the proxy adds.
            let answer = tried(&format!("198.51.100.{at}, 192.0.2.1"), "wrong horse");
            refused(&answer, 400, "invalid_grant", "");
        }
        throttled(&tried("192.0.2.1", PASSWORD));
        let elsewhere = tried("192.0.2.1, 192.0.2.2", PASSWORD);
        if told {
            granted(&elsewhere);
        } else {
            throttled(&elsewhere);
        }
    }
}

#[test]
fn a_proxy_on_this_machine_opens_the_console_to_nobody_else() {
    let server = Server::start_behind(vec![HERE]);
    let tried = |forwarded: &str| {
        let request = browser().get(format!("{}/console/sign-in", server.url()));
        page(request.header("X-Forwarded-For", forwarded)).status
    };
    assert_eq!((tried("192.0.2.1"), tried("127.0.0.1")), (403, 200));
    // One that speaks HTTPS to the browser does.
    server.settings(&json!({"publicUrl": "https://gate.example.org"}));
    assert_eq!(tried("192.0.2.1"), 200);
}
