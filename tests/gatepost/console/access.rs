//! Users and clients: what an administrator makes, changes and takes away counts at once, and secrets
//! are shown once and stand nowhere else. Here are the clients, and what both share.

use super::{Crew, Page, browser, page};
use crate::{
    faults::process::{GATEPOST, Served, beside},
    harness::{Caller, PASSWORD, Server},
};
use gatepost::identity::ConsoleRole;
use reqwest::Method;
use serde_json::json;
use std::{
    io::Write,
    path::Path,
    process::{Command, Output, Stdio},
};

/// The text between two marks of a page.
#[track_caller]
pub fn between<'a>(html: &'a str, from: &str, to: &str) -> &'a str {
    html.split(from)
        .nth(1)
        .and_then(|rest| rest.split(to).next())
        .unwrap_or_else(|| panic!("no {from:?} in {html}"))
}

/// The value of a hidden or typed field.
#[track_caller]
pub fn field<'a>(html: &'a str, name: &str) -> &'a str {
    between(html, &format!("name=\"{name}\" value=\""), "\"")
}

/// Makes a client through its form: its path, id and secret.
fn client(crew: &Crew, fields: &[(&str, &str)]) -> (String, String, String) {
    let led = crew.post("/console/access/clients/new", fields).taken();
    assert_eq!(led, "/console/access/made");
    let html = crew.get(&led).shown();
    (
        between(&html, "class=\"button primary\" href=\"", "\"").to_owned(),
        between(&html, "id=\"made-id\">", "<").to_owned(),
        between(&html, "id=\"made-secret\">", "<").to_owned(),
    )
}

/// The form of a client as it stands, to be sent again with changes.
pub fn form_of(html: &str) -> Vec<(String, String)> {
    let mut fields = Vec::new();
    for input in html.split("<input ").skip(1) {
        let tag = input.split('>').next().unwrap_or_default();
        let of = |name: &str| {
            let value = tag.split(&format!("{name}=\"")).nth(1)?;
            value.split('"').next().map(ToOwned::to_owned)
        };
        let kind = of("type").unwrap_or_default();
        let ticked = tag.ends_with(" checked");
        let counts = match kind.as_str() {
            "checkbox" | "radio" => ticked,
            "search" => false,
            _ => true,
        };
        if let (Some(name), Some(value), true) = (of("name"), of("value"), counts) {
            fields.push((name, value));
        }
    }
    fields.retain(|(name, _)| {
        [
            "name", "version", "role", "scope", "see", "property", "device", "email", "console",
            "delegate",
        ]
        .contains(&name.as_str())
    });
    fields
}

/// Sends a record's form as it stands, but for the fields named, which are set to what is given.
pub fn change(crew: &Crew, path: &str, changes: &[(&str, &[&str])]) -> Page {
    let form = form_of(&crew.get(path).shown());
    send(crew, path, &form, changes)
}

pub fn send(
    crew: &Crew,
    path: &str,
    form: &[(String, String)],
    changes: &[(&str, &[&str])],
) -> Page {
    let mut fields: Vec<(&str, &str)> = form
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .filter(|(name, _)| !changes.iter().any(|(changed, _)| changed == name))
        .collect();
    for (name, values) in changes {
        fields.extend(values.iter().map(|value| (*name, *value)));
    }
    crew.post(path, &fields)
}

/// Everything that the audit says.
pub fn audit(server: &Server) -> String {
    server.value(
        "SELECT coalesce(group_concat(actor || ' ' || action || ' ' || record_type || coalesce(before, '') || coalesce(after, ''), char(10)), '') FROM audit",
    )
}

/// Runs a command that reads [`PASSWORD`] where it asks for one.
pub fn commanded(db: &Path, arguments: &[&str]) -> Output {
    let mut child = Command::new(GATEPOST)
        .args(arguments)
        .arg("--db")
        .arg(db)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    let mut input = child.stdin.take().expect("its input");
    // Whoever reads no password may have ended by now.
    let _ = writeln!(input, "{PASSWORD}");
    drop(input);
    child.wait_with_output().expect("it ends")
}

pub const PAGES: [&str; 7] = [
    "/console",
    "/console/access",
    "/console/access/clients?revoked=1",
    "/console/access/made",
    "/console/account",
    "/console/audit",
    "/console/audit/export?format=ndjson",
];

#[test]
fn a_client_is_made_and_its_secret_is_shown_once_and_nowhere_else() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Administrator);
    let fields = [
        ("name", "Gate <B>"),
        ("role", "ROLE_OAUTH2_DELEGATE_READ"),
        ("see", "all"),
        ("device", ""),
    ];
    let (path, id, secret) = client(&crew, &fields);
    assert_eq!(secret.len(), 64);
    assert!(!path.contains(&secret) && id.starts_with("gate-b-"));
    server.caller_of(&id, &secret);
    let again = crew.get("/console/access/made").shown();
    assert!(again.contains("shown once and is kept nowhere"));
    let listed = crew.get("/console/access/clients").shown();
    assert!(
        listed.contains("Gate &#60;B&#62;") && !listed.contains("Gate <B>"),
        "{listed}"
    );
    for page in PAGES.iter().copied().chain([path.as_str()]) {
        assert!(!crew.get(page).shown().contains(&secret), "{page}");
    }
    assert!(audit(&server).contains("create client") && !audit(&server).contains(&secret));
    let another = Crew::sign_in(&server, "administrator@example.com");
    client(&crew, &fields);
    assert!(
        another
            .get("/console/access/made")
            .shown()
            .contains("kept nowhere")
    );
    for (bad, about) in [
        (vec![("name", "")], "must have"),
        (vec![("name", "A"), ("role", "ROLE_ROOT")], "is not one of"),
        (
            vec![("name", "A"), ("device", "77")],
            "There is no device 77",
        ),
        (
            vec![("name", "A"), ("see", "some"), ("property", "password")],
            "is not a property",
        ),
    ] {
        let refused = crew.post("/console/access/clients/new", &bad);
        assert!([400, 422].contains(&refused.status), "{refused:?}");
        assert!(
            refused.html.to_lowercase().contains(&about.to_lowercase()),
            "{refused:?}"
        );
    }
}

#[test]
fn what_is_changed_of_a_client_counts_for_its_running_tokens_at_once() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Administrator);
    let all = server.caller_with_all();
    let id =
        all.delegate(&json!({"barcode": "A-1", "firstName": "Ada", "email": "ada@example.com"}));
    let device = all.device(&json!({"name": "Gate B"})).to_string();
    let (path, client_id, secret) = client(
        &crew,
        &[
            ("name", "Gate"),
            ("role", "ROLE_OAUTH2_DELEGATE_READ"),
            ("see", "all"),
        ],
    );
    let gate = server.caller_of(&client_id, &secret);
    let read = || gate.get(&format!("/delegate/id:{id}"));
    assert_eq!(read().data()["email"], "ada@example.com");

    let seen: &[&str] = &["id", "firstName"];
    change(&crew, &path, &[("see", &["some"]), ("property", seen)]).taken();
    assert_eq!(read().data()["firstName"], "Ada");
    assert_eq!(read().data().get("email"), None);
    change(&crew, &path, &[("role", &["ROLE_OAUTH2_DEVICE_READ"])]).taken();
    read().refused(403, 1202, "ROLE_OAUTH2_DELEGATE_READ");
    change(&crew, &path, &[("scope", &["TRUSTED"]), ("see", &["all"])]).taken();
    let trusted = server.caller_of(&client_id, &secret);
    let read = |caller: &Caller| caller.get(&format!("/delegate/id:{id}")).status;
    assert_eq!(read(&trusted), 200);
    change(
        &crew,
        &path,
        &[
            ("scope", &[]),
            ("name", &["Gate B"]),
            ("device", &[&device]),
        ],
    )
    .taken();
    assert_eq!(read(&trusted), 403);
    // Without a word about the device it stays.
    let form = form_of(&crew.get(&path).shown());
    let form: Vec<_> = form
        .into_iter()
        .filter(|(name, _)| name != "device")
        .collect();
    send(&crew, &path, &form, &[]).taken();
    let shown = crew.get(&path).shown();
    assert!(shown.contains("Gate B") && shown.contains(&format!("value=\"{device}\" checked")));

    let told = audit(&server);
    for expected in [
        "update client",
        "visibleProperties",
        "ROLE_OAUTH2_DEVICE_READ",
        "TRUSTED",
    ] {
        assert!(told.contains(expected), "{expected} in {told}");
    }
    crew.post(&format!("{path}/revoke"), &[]).taken();
    gate.get("/ping").refused(401, 1204, "revoked");
    trusted.get("/ping").refused(401, 1204, "revoked");
    let refused = server
        .request(Method::POST, "/api/oauth/v2/token")
        .json(&json!({
            "grant_type": "client_credentials", "client_id": client_id, "client_secret": secret,
        }));
    assert_eq!(refused.send().expect("an answer").status(), 401);
    let listed = |query: &str| crew.get(&format!("/console/access/clients{query}")).shown();
    assert!(!listed("").contains(&client_id) && listed("?revoked=1").contains(&client_id));
    assert!(crew.get(&path).shown().contains("revoked permanently"));
}

#[test]
fn a_new_secret_ends_running_tokens_only_if_asked() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Administrator);
    let (path, id, secret) = client(&crew, &[("name", "Gate"), ("see", "all")]);
    let gate = server.caller_of(&id, &secret);
    let rotated = |fields: &[(&str, &str)]| {
        let led = crew.post(&format!("{path}/secret"), fields).taken();
        let html = crew.get(&led).shown();
        between(&html, "id=\"made-secret\">", "<").to_owned()
    };
    let second = rotated(&[]);
    assert_eq!(gate.get("/ping").status, 200);
    assert!(
        crew.get(&path)
            .shown()
            .contains("<dt>Live tokens</dt><dd>1</dd>")
    );
    let third = rotated(&[("tokens", "1")]);
    assert_eq!(gate.get("/ping").status, 401);
    server.caller_of(&id, &third);
    for old in [&secret, &second] {
        let body =
            json!({"grant_type": "client_credentials", "client_id": id, "client_secret": old});
        let refused = server
            .request(Method::POST, "/api/oauth/v2/token")
            .json(&body);
        assert_eq!(refused.send().expect("an answer").status(), 401);
    }
    crew.post(&format!("{path}/tokens"), &[]).taken();
    assert!(
        crew.get(&path)
            .shown()
            .contains("<dt>Live tokens</dt><dd>0</dd>")
    );
    crew.post(&format!("{path}/revoke"), &[]).taken();
    assert_eq!(crew.post(&format!("{path}/secret"), &[]).status, 400);
    for secret in [secret, second, third] {
        assert!(!audit(&server).contains(&secret));
    }
}

#[test]
fn the_second_of_two_who_edit_one_record_is_told_and_writes_nothing() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Administrator);
    server.console_user("bob@example.com", ConsoleRole::Viewer);
    let (path, ..) = client(&crew, &[("name", "Gate"), ("see", "all")]);
    let begun = form_of(&crew.get(&path).shown());
    send(&crew, &path, &begun, &[("name", &["Gate 1"])]).taken();
    let second = send(&crew, &path, &begun, &[("name", &["Gate 2"])]);
    second.refused(422, "administrator@example.com changed this");
    second.refused(422, "<dt>Name is now</dt><dd>Gate 1</dd>");
    assert!(second.html.contains("value=\"Gate 2\""));
    // Saving again overwrites it.
    send(
        &crew,
        &path,
        &form_of(&second.html),
        &[("name", &["Gate 2"])],
    )
    .taken();

    let path = "/console/access/users/2";
    let begun = form_of(&crew.get(path).shown());
    send(&crew, path, &begun, &[("console", &["operator"])]).taken();
    let second = send(&crew, path, &begun, &[("email", &["rob@example.com"])]);
    second.refused(422, "<dt>In this console is now</dt><dd>operator</dd>");
    assert_eq!(
        server.value::<String>("SELECT email || console_role FROM users WHERE id = 2"),
        "bob@example.comoperator"
    );
}

#[test]
fn a_user_of_an_app_gets_into_the_console_with_a_new_password_alone() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Administrator);
    server.user("bob@example.com", &[], None);
    let path = "/console/access/users/2";
    let begun = form_of(&crew.get(path).shown());
    let promote = |password: &str| {
        let fields = [
            ("console", &["viewer"][..]),
            ("how", &["typed"]),
            ("password", &[password]),
            ("again", &[password]),
        ];
        send(&crew, path, &begun, &fields)
    };
    let refused = promote("");
    refused.refused(422, "needs a new one");
    assert!(refused.html.contains("aria-invalid=\"true\""));
    promote("12345678").refused(422, "too easy to guess");
    promote("correct horse battery").taken();
    // From then on another role needs none.
    let begun = form_of(&crew.get(path).shown());
    send(&crew, path, &begun, &[("console", &["operator"])]).taken();
}

#[test]
fn lists_are_searched_and_paged() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Administrator);
    server.sql(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 250)
         INSERT INTO users (email, roles, created_at, updated_at) SELECT 'guest' || i || '@example.com', '[]', 1, 1 FROM n;
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 250)
         INSERT INTO clients (client_id, secret_hash, name, roles, scopes, created_at)
             SELECT 'gate-' || i, x'00', 'Gate ' || i, '[]', '[]', 1 FROM n;",
    );
    for (path, word, all) in [
        ("/console/access", "guest", 251),
        ("/console/access/clients", "gate", 250),
    ] {
        let (mut next, mut lines, mut pages) = (path.to_owned(), 0, 0);
        loop {
            let html = crew.get(&next).shown();
            let rows = html.matches("<tr>").count() - 1;
            assert!(rows <= 100);
            (lines, pages) = (lines + rows, pages + 1);
            let Some((before, _)) = html.split_once("\">Older</a>") else {
                break;
            };
            let link = before.rsplit('"').next().expect("a link");
            next = link.replace("&#38;", "&");
        }
        assert_eq!((lines, pages), (all, 3), "{path}");
        let found = crew
            .get(&format!("{path}?q={}17", word.to_uppercase()))
            .shown();
        let expected = if word == "guest" { 11 } else { 0 };
        assert_eq!(
            found.matches(&format!(">{word}17")).count(),
            expected,
            "{path}"
        );
        let found = crew
            .get(&format!(
                "{path}?q={}",
                if word == "gate" { "gate-17" } else { "guest17" }
            ))
            .shown();
        assert_eq!(found.matches("<tr>").count(), 12, "{path}");
    }
    assert!(
        crew.get("/console/access?q=zzz")
            .shown()
            .contains("No matches")
    );
    assert_eq!(
        crew.get("/console/access?console=1")
            .shown()
            .matches("<tr>")
            .count(),
        2
    );
}

#[test]
fn what_is_not_there_is_a_page_that_says_so() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Administrator);
    for path in ["users/999", "users/x", "clients/999", "clients/x"] {
        crew.get(&format!("/console/access/{path}"))
            .refused(404, "Not found");
    }
    for path in [
        "users/999/remove",
        "users/999/sessions",
        "clients/999/revoke",
        "clients/999/secret",
    ] {
        assert_eq!(
            crew.post(&format!("/console/access/{path}"), &[]).status,
            404,
            "{path}"
        );
    }
}

#[test]
fn no_secret_stands_in_the_log() {
    let folder = tempfile::tempdir().expect("a folder");
    let db = folder.path().join("g.db");
    let add = [
        "user",
        "add",
        "ada@example.com",
        "--admin",
        "--password-stdin",
    ];
    assert!(commanded(&db, &add).status.success());
    let served = Served::start_by(
        Command::new(GATEPOST),
        &db,
        &["--access-log", "--log-level", "trace"],
    );
    let http = browser();
    let url = |path: &str| format!("http://{}{path}", served.address);
    let form = [("email", "ada@example.com"), ("password", PASSWORD)];
    let response = http
        .post(url("/console/sign-in"))
        .form(&form)
        .send()
        .expect("an answer");
    let cookie = response.headers()["set-cookie"]
        .to_str()
        .expect("text")
        .to_owned();
    let cookie = cookie.split(';').next().expect("a cookie").to_owned();
    let get = |path: &str| page(http.get(url(path)).header("cookie", &cookie));
    let csrf = field(&get("/console/account").shown(), "csrf").to_owned();
    let post = |path: &str, fields: &[(&str, &str)]| {
        let mut all = vec![("csrf", csrf.as_str())];
        all.extend_from_slice(fields);
        page(http.post(url(path)).header("cookie", &cookie).form(&all))
    };
    post(
        "/console/access/clients/new",
        &[("name", "Gate"), ("see", "all")],
    )
    .taken();
    let made = get("/console/access/made").shown();
    post(
        "/console/access/users/new",
        &[("email", "bob@example.com"), ("how", "made")],
    )
    .taken();
    let password = get("/console/access/made").shown();
    post("/console/account/second-factor", &[("password", PASSWORD)]).taken();
    let pairing = get("/console/account/second-factor").shown();
    get("/console/account/second-factor/picture").shown();
    let secrets = [
        between(&made, "id=\"made-secret\">", "<").to_owned(),
        between(&password, "id=\"made-secret\">", "<").to_owned(),
        between(&pairing, "id=\"key\">", "<").replace(' ', ""),
        between(&pairing, "id=\"key\">", "<").to_owned(),
        PASSWORD.to_owned(),
        csrf.clone(),
        cookie.split('=').nth(1).expect("a value").to_owned(),
    ];
    served.stop();
    let log = std::fs::read_to_string(beside(&db, ".log")).expect("a log");
    assert!(log.contains("/console/access/made"), "{log}");
    for secret in secrets {
        assert!(!log.contains(&secret), "{secret} in {log}");
    }
}
