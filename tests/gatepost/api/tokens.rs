//! The token endpoint (spec: Authentication; RFC 6749; contract §9).

use crate::harness::{Agrees, Caller, PASSWORD, Server, Whole, cases, keys, reply, whole, words};
use gatepost::identity::Scope;
use reqwest::{Method, blocking::RequestBuilder};
use serde_json::{Value, json};

const PATHS: [&str; 6] = [
    "/api/oauth/v2/token",
    "/api/v5/oauth/v2/token",
    "/api/5/oauth/v2/token",
    "/api/oauth/v2/token.json",
    "/api/v5/oauth/v2/token.json",
    "/api/5/oauth/v2/token.json",
];

/// A server with a client: its id and secret.
pub fn with_client() -> (Server, String, String) {
    let server = Server::start();
    let (id, secret) = server.client(&[], &[]);
    (server, id, secret)
}

fn endpoint(server: &Server) -> RequestBuilder {
    server.request(Method::POST, PATHS[0])
}

pub fn ask(server: &Server, body: &Value) -> Whole {
    checked(whole(endpoint(server).json(body)))
}

fn ask_form(server: &Server, body: impl Into<String>) -> RequestBuilder {
    let request = endpoint(server).header("Content-Type", "application/x-www-form-urlencoded");
    request.body(body.into())
}

/// Whatever the answer, it is JSON without an envelope that nobody may store.
fn checked(answer: Whole) -> Whole {
    assert_eq!(
        answer.header("content-type"),
        "application/json",
        "{answer:?}"
    );
    assert_eq!(answer.header("cache-control"), "no-store", "{answer:?}");
    assert_eq!(answer.header("pragma"), "no-cache", "{answer:?}");
    for key in ["data", "meta"] {
        assert_eq!(answer.reply.body.get(key), None, "{answer:?}");
    }
    answer
}

#[track_caller]
pub fn refused(answer: &Whole, status: u16, error: &str, about: &str) {
    let body = &answer.reply.body;
    assert_eq!(
        (answer.reply.status, &body["error"]),
        (status, &json!(error)),
        "{answer:?}"
    );
    let description = body["error_description"].as_str().unwrap_or_default();
    assert!(description.contains(about), "no {about:?} in {answer:?}");
    let names = keys(body);
    let names = names.trim_end_matches(" internalCode");
    assert_eq!(names, "error error_description", "{answer:?}");
}

pub fn granted(answer: &Whole) -> &Value {
    assert_eq!(answer.reply.status, 200, "{answer:?}");
    &answer.reply.body
}

pub fn of_client(id: &str, secret: &str) -> Value {
    json!({"grant_type": "client_credentials", "client_id": id, "client_secret": secret})
}

/// The body for `grant_type`, with these parameters changed or, where they are null, left out.
pub fn with(body: &Value, changes: &Value) -> Value {
    let mut body = body.clone();
    gatepost::types::json::merge_patch(&mut body, changes.clone());
    body
}

pub fn works(server: &Server, token: &Value) -> bool {
    let api = Caller::with_token(server, token.as_str().expect("a token"));
    let status = api.get("/ping").status;
    assert!([200, 401].contains(&status), "{status}");
    status == 200
}

#[test]
fn a_client_gets_a_token_for_an_hour_at_every_address() {
    let (server, id, secret) = with_client();
    for path in PATHS {
        let request = server
            .request(Method::POST, path)
            .json(&of_client(&id, &secret));
        let answer = checked(whole(request));
        let body = granted(&answer);
        assert_eq!(keys(body), "access_token expires_in token_type scope");
        body.agrees(&json!({"expires_in": 3600, "token_type": "bearer"}));
        assert_eq!(body["scope"], Value::Null);
        assert!(works(&server, &body["access_token"]), "{path}");
    }
    let whole = whole(server.request(Method::GET, PATHS[0]));
    assert_eq!((whole.reply.status, whole.header("allow")), (405, "POST"));
}

#[test]
fn credentials_come_in_json_in_a_form_or_by_basic() {
    let (server, id, secret) = with_client();
    let form = format!("grant_type=client_credentials&client_id={id}&client_secret={secret}");
    let json = json!({"grant_type": "client_credentials"});
    let basic = |request: RequestBuilder| request.basic_auth(&id, Some(&secret));
    let with_basic = |more: Value| basic(endpoint(&server).json(&with(&json, &more)));
    for request in [
        ask_form(&server, &*form),
        basic(ask_form(&server, "grant_type=client_credentials")),
        with_basic(json!({})),
        // The id may stand beside Basic, another or a second secret may not.
        with_basic(json!({"client_id": id})),
        // An old bearer token that an app sends along is passed over.
        endpoint(&server)
            .json(&of_client(&id, &secret))
            .bearer_auth("old"),
    ] {
        granted(&checked(whole(request)));
    }
    for both in [
        json!({"client_secret": secret}),
        json!({"client_id": "other"}),
    ] {
        let answer = checked(whole(with_basic(both)));
        refused(&answer, 400, "invalid_request", "not both");
    }
}

#[test]
fn a_wrong_client_is_invalid_client() {
    let (server, id, secret) = with_client();
    let (other, _) = server.client(&[], &[]);
    for (id, secret) in [
        (&*id, "wrong"),
        ("nobody", &*secret),
        (&*other, &*secret),
        ("'; --", "'; --"),
    ] {
        let answer = ask(&server, &of_client(id, secret));
        refused(&answer, 401, "invalid_client", "");
        assert_eq!(answer.header("www-authenticate"), "");
        let by_basic =
            ask_form(&server, "grant_type=client_credentials").basic_auth(id, Some(secret));
        let answer = checked(whole(by_basic));
        refused(&answer, 401, "invalid_client", "");
        assert!(
            answer.header("www-authenticate").starts_with("Basic "),
            "{answer:?}"
        );
    }
    let broken =
        ask_form(&server, "grant_type=client_credentials").header("Authorization", "Basic %%%");
    refused(&checked(whole(broken)), 401, "invalid_client", "");
    let revoked = id.clone();
    server.write(move |tx, ctx| gatepost::identity::clients::revoke(tx, ctx, &revoked));
    // Whoever has the right secret is told, and nobody else.
    for (secret, about, code) in [
        (&*secret, "was revoked", json!(1204)),
        ("wrong", "unknown or revoked", json!(null)),
    ] {
        let answer = ask(&server, &of_client(&id, secret));
        refused(&answer, 401, "invalid_client", about);
        assert_eq!(answer.reply.body["internalCode"], code, "{answer:?}");
    }
}

#[test]
fn a_client_that_does_not_say_who_it_is_is_invalid_client() {
    let (server, id, secret) = with_client();
    let fine = of_client(&id, &secret);
    for (changes, about) in [
        (json!({"client_id": null}), "client_id is missing"),
        (json!({"client_secret": null}), "client_secret is missing"),
        (json!({"client_secret": ""}), "client_secret is missing"),
    ] {
        let answer = ask(&server, &with(&fine, &changes));
        refused(&answer, 401, "invalid_client", about);
    }
    let broken = ask_form(&server, "grant_type=client_credentials").basic_auth(&id, Some("%ff"));
    refused(&checked(whole(broken)), 401, "invalid_client", "");
}

#[test]
fn unknown_parameters_are_ignored() {
    let (server, id, secret) = with_client();
    let form = format!("grant_type=client_credentials&client_id={id}&client_secret={secret}");
    for unknown in words("audience=a resource=a&resource=b x=%ff&%ff=y&=&z token_type_hint=") {
        granted(&checked(whole(ask_form(
            &server,
            format!("{form}&{unknown}"),
        ))));
    }
    let body = with(&of_client(&id, &secret), &json!({"x": [{"y": 1}], "z": 7}));
    granted(&ask(&server, &body));
    // In the address, too.
    let path = format!("{}?audience=a&audience=b", PATHS[1]);
    let request = server
        .request(Method::POST, &path)
        .json(&of_client(&id, &secret));
    granted(&checked(whole(request)));
}

#[test]
fn a_compressed_request_is_invalid() {
    let (server, id, secret) = with_client();
    let request = endpoint(&server)
        .json(&of_client(&id, &secret))
        .header("Content-Encoding", "gzip");
    let answer = checked(whole(request));
    refused(&answer, 400, "invalid_request", "Content-Encoding");
}

#[test]
fn the_metadata_says_where_everything_is() {
    let server = Server::start();
    let path = "/.well-known/oauth-authorization-server";
    let answer = whole(
        server
            .request(Method::GET, path)
            .header("Origin", "https://a.example"),
    );
    assert_eq!(answer.header("content-type"), "application/json");
    assert_eq!(answer.header("access-control-allow-origin"), "*");
    let metadata = &answer.reply.body;
    metadata.agrees(&json!({"issuer": server.url(), "response_types_supported": []}));
    // What it names is there.
    let (id, secret) = server.client(&[], &[]);
    for endpoint in ["token_endpoint", "revocation_endpoint"] {
        let url = metadata[endpoint].as_str().expect("an address");
        let body = with(&of_client(&id, &secret), &json!({"token": "x"}));
        assert_eq!(
            reply(server.request(Method::POST, url).json(&body)).status,
            200,
            "{url}"
        );
    }
    assert_eq!(whole(server.request(Method::POST, path)).reply.status, 405);
    let public = Server::start_with(Some("https://gate.example.org"));
    let metadata = reply(public.request(Method::GET, path)).body;
    assert_eq!(metadata["issuer"], "https://gate.example.org");
    let token = &metadata["token_endpoint"];
    assert_eq!(token, "https://gate.example.org/api/oauth/v2/token");
}

#[test]
fn a_token_is_given_back() {
    let (server, id, secret) = with_client();
    let client = of_client(&id, &secret);
    server.user("ada@example.org", &[], None);
    let password =
        json!({"grant_type": "password", "username": "ada@example.org", "password": PASSWORD});
    let sign_in = || granted(&ask(&server, &with(&client, &password))).clone();
    let give_back = |path: &str, client: &Value, token: &Value| {
        let body = with(client, &json!({"token": token, "token_type_hint": "x"}));
        checked(whole(server.request(Method::POST, path).json(&body)))
    };
    for path in PATHS {
        let path = path.replace("/token", "/revoke");
        let (one, two) = (sign_in(), sign_in());
        granted(&give_back(&path, &client, &one["access_token"]));
        assert!(!works(&server, &one["access_token"]), "{path}");
        granted(&give_back(&path, &client, &two["refresh_token"]));
        assert!(!works(&server, &two["access_token"]), "{path}");
        for (issued, status) in [(&one, 200), (&two, 400)] {
            let refresh =
                json!({"grant_type": "refresh_token", "refresh_token": issued["refresh_token"]});
            let answer = ask(&server, &with(&client, &refresh));
            assert_eq!(answer.reply.status, status, "{path}");
        }
    }
    let path = PATHS[0].replace("/token", "/revoke");
    granted(&give_back(&path, &client, &json!("unknown")));
    let own = sign_in();
    let (other, other_secret) = server.client(&[], &[]);
    let answer = give_back(
        &path,
        &of_client(&other, &other_secret),
        &own["access_token"],
    );
    refused(&answer, 400, "invalid_grant", "another client");
    assert!(works(&server, &own["access_token"]));
    let answer = give_back(&path, &of_client(&id, "wrong"), &own["access_token"]);
    refused(&answer, 401, "invalid_client", "");
    refused(
        &give_back(&path, &client, &Value::Null),
        400,
        "invalid_request",
        "token",
    );
}

#[test]
fn a_malformed_request_is_told_by_what_is_missing() {
    let (server, id, secret) = with_client();
    let fine = of_client(&id, &secret);
    for (changes, error, about) in cases::<(Value, &str, &str)>(json!([
        [{"grant_type": null}, "invalid_request", "grant_type"],
        [{"grant_type": ""}, "invalid_request", "grant_type"],
        [{"grant_type": "password", "password": "x"}, "invalid_request", "username"],
        [{"grant_type": "password", "username": "x"}, "invalid_request", "password"],
        [{"grant_type": "refresh_token"}, "invalid_request", "refresh_token"],
        [{"grant_type": "authorization_code"}, "unsupported_grant_type", "grant_type"],
        [{"grant_type": "Password"}, "unsupported_grant_type", "grant_type"],
        [{"client_secret": 7}, "invalid_request", "client_secret"],
        [{"client_id": ["x"]}, "invalid_request", "client_id"],
        [{"scope": "\u{0}"}, "invalid_scope", "scope"],
    ])) {
        refused(&ask(&server, &with(&fine, &changes)), 400, error, about);
    }
    let form = format!("grant_type=client_credentials&client_id={id}&client_secret={secret}");
    for body in [
        format!("{form}&grant_type=password"),
        format!("{form}&client_secret=%ff"),
        String::new(),
        "x".into(),
        format!("{form}&x={}", "x".repeat(70_000)),
    ] {
        refused(
            &checked(whole(ask_form(&server, body))),
            400,
            "invalid_request",
            "",
        );
    }
    let send = |kind: &str, body: &str| {
        let request = endpoint(&server).header("Content-Type", kind);
        checked(whole(request.body(body.to_owned())))
    };
    let twice = r#"{"grant_type": "a", "grant_type": "b"}"#;
    for body in ["", "{", "[]", "null", "\"x\"", twice] {
        refused(&send("application/json", body), 400, "invalid_request", "");
    }
    for other in [
        "text/plain",
        "multipart/form-data; boundary=x",
        "application/xml",
    ] {
        refused(
            &send(other, &form),
            400,
            "invalid_request",
            "application/json",
        );
    }
}

#[test]
fn scopes_are_granted_whether_named_or_not() {
    let server = Server::start();
    let (id, secret) = server.client(&[], &[Scope::ReportRead, Scope::Trusted]);
    let fine = of_client(&id, &secret);
    for named in cases::<Value>(json!([null, "TRUSTED", "TRUSTED REPORT_READ", ""])) {
        let answer = ask(&server, &with(&fine, &json!({"scope": named})));
        assert_eq!(granted(&answer)["scope"], "REPORT_READ TRUSTED", "{named}");
    }
    for lacking in [
        "REPORT_LIST",
        "TRUSTED REPORT_LIST",
        "trusted",
        "ROLE_OAUTH2_DELEGATE_READ",
    ] {
        refused(
            &ask(&server, &with(&fine, &json!({"scope": lacking}))),
            400,
            "invalid_scope",
            "scope",
        );
    }
    // TRUSTED never comes to a user; REPORT_LIST stands for it.
    server.user("ada@example.org", &[], None);
    let user = with(
        &fine,
        &json!({"grant_type": "password", "username": "ada@example.org", "password": PASSWORD}),
    );
    let answer = ask(&server, &user);
    assert_eq!(granted(&answer)["scope"], "REPORT_READ REPORT_LIST");
    granted(&ask(
        &server,
        &with(&user, &json!({"scope": "REPORT_LIST"})),
    ));
    let lacking = with(&user, &json!({"scope": "TRUSTED"}));
    refused(&ask(&server, &lacking), 400, "invalid_scope", "scope");
}
