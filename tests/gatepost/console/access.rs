//! Users and clients: what an administrator makes, changes and takes away counts at once, secrets are
//! shown once and stand nowhere else, and one administrator always stays.

use super::{Crew, Page, browser, page};
use crate::{
    harness::{Caller, PASSWORD, Server},
    luck::process::{GATEPOST, Served, beside},
};
use gatepost::auth::{ConsoleRole, Role};
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
fn client(crew: &Crew<'_>, fields: &[(&str, &str)]) -> (String, String, String) {
    let led = crew.post("/console/access/clients/new", fields).taken();
    assert_eq!(led, "/console/access/made");
    let html = crew.get(&led).shown();
    (
        between(&html, "class=\"button\" href=\"", "\"").to_owned(),
        between(&html, "id=\"made-id\">", "<").to_owned(),
        between(&html, "id=\"made-secret\">", "<").to_owned(),
    )
}

/// The form of a client as it stands, to be sent again with changes.
fn form_of(html: &str) -> Vec<(String, String)> {
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
            "name", "state", "role", "scope", "see", "property", "device", "email", "seen",
            "console", "delegate",
        ]
        .contains(&name.as_str())
    });
    fields
}

/// Sends a record's form as it stands, but for the fields named, which are set to what is given.
fn change(crew: &Crew<'_>, path: &str, changes: &[(&str, &[&str])]) -> Page {
    let form = form_of(&crew.get(path).shown());
    send(crew, path, &form, changes)
}

fn send(
    crew: &Crew<'_>,
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
fn audit(server: &Server) -> String {
    server.value(
        "SELECT coalesce(group_concat(actor || ' ' || action || ' ' || record_type || coalesce(before, '') || coalesce(after, ''), char(10)), '') FROM audit",
    )
}

/// Runs a command that reads [`PASSWORD`] where it asks for one.
fn commanded(db: &Path, arguments: &[&str]) -> Output {
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

const PAGES: [&str; 7] = [
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
        (vec![("name", "")], "name: must have"),
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
    let read = |caller: &Caller<'_>| caller.get(&format!("/delegate/id:{id}")).status;
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
    gate.get("/ping").refused(401, 1201, "cancelled");
    trusted.get("/ping").refused(401, 1201, "cancelled");
    let refused = server
        .request(Method::POST, "/api/oauth/v2/token")
        .json(&json!({
            "grant_type": "client_credentials", "client_id": client_id, "client_secret": secret,
        }));
    assert_eq!(refused.send().expect("an answer").status(), 401);
    let listed = |query: &str| crew.get(&format!("/console/access/clients{query}")).shown();
    assert!(!listed("").contains(&client_id) && listed("?revoked=1").contains(&client_id));
    assert!(crew.get(&path).shown().contains("revoked for good"));
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
    second.refused(422, "Somebody else changed this meanwhile");
    assert_eq!(field(&second.html, "name"), "Gate 1");
    // What it shows can be saved.
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
    second.refused(422, "Somebody else changed this meanwhile");
    assert!(second.html.contains("value=\"operator\" checked"));
    assert_eq!(
        server.value::<String>("SELECT email || console_role FROM users WHERE id = 2"),
        "bob@example.comoperator"
    );
}

#[test]
fn a_user_is_made_with_a_password_that_is_shown_once() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Administrator);
    let all = server.caller_with_all();
    let id = all
        .delegate(&json!({"firstName": "Béa", "lastName": "Müller", "barcode": "B-1"}))
        .to_string();
    let found = crew
        .get("/console/access/find/delegate?find=b%C3%A9a+MÜLL")
        .shown();
    assert!(
        found.contains("Béa Müller") && found.contains(&format!("value=\"{id}\"")),
        "{found}"
    );
    let found = crew.get("/console/access/users/new?find=b-1").shown();
    assert!(found.contains("Béa Müller"));
    assert!(
        crew.get("/console/access/find/delegate?find=zzz")
            .shown()
            .contains("Nothing is found")
    );
    let fields = [
        ("email", "bea@example.com"),
        ("how", "made"),
        ("console", "viewer"),
        ("role", "ROLE_OAUTH2_DEVICE_READ"),
        ("delegate", id.as_str()),
    ];
    let led = crew.post("/console/access/users/new", &fields).taken();
    let html = crew.get(&led).shown();
    let password = between(&html, "id=\"made-secret\">", "<").to_owned();
    for page in PAGES.iter().copied().chain(["/console/access/users/2"]) {
        assert!(!crew.get(page).shown().contains(&password), "{page}");
    }
    assert!(!audit(&server).contains(&password));
    let form = [
        ("email", "bea@example.com"),
        ("password", password.as_str()),
    ];
    let url = format!("{}/console/sign-in", server.url());
    assert_eq!(page(browser().post(url).form(&form)).taken(), "/console");
    assert!(crew.get("/console/access").shown().contains("Béa Müller"));

    for (bad, about) in [
        (
            vec![("email", "bea@example.com"), ("how", "made")],
            "there is a user",
        ),
        (
            vec![("email", "nobody"), ("how", "made")],
            "not an e-mail address",
        ),
        (
            vec![
                ("email", "c@example.com"),
                ("how", "typed"),
                ("password", "short"),
                ("again", "short"),
            ],
            "at least 8",
        ),
        (
            vec![
                ("email", "c@example.com"),
                ("how", "typed"),
                ("password", "long enough"),
                ("again", "another one"),
            ],
            "differ",
        ),
        (
            vec![
                ("email", "c@example.com"),
                ("how", "none"),
                ("console", "viewer"),
            ],
            "needs a password",
        ),
        (
            vec![
                ("email", "c@example.com"),
                ("how", "none"),
                ("delegate", "99"),
            ],
            "no delegate 99",
        ),
    ] {
        let refused = crew.post("/console/access/users/new", &bad);
        refused.refused(422, about);
        assert!(!refused.html.contains("long enough"));
    }
    let guest = [("email", "guest@example.com"), ("how", "none")];
    assert_eq!(
        crew.post("/console/access/users/new", &guest).taken(),
        "/console/access/users/3"
    );
}

#[test]
fn a_new_password_signs_out_everywhere() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Administrator);
    server.console_user("bob@example.com", ConsoleRole::Operator);
    let bob = Crew::sign_in(&server, "bob@example.com");
    let (id, secret) = server.client(Role::ALL, &[]);
    let token = server.token(&json!({
        "grant_type": "password", "client_id": id, "client_secret": secret,
        "username": "bob@example.com", "password": PASSWORD,
    }));
    let app = Caller::with_token(&server, token["access_token"].as_str().expect("a token"));
    assert_eq!(app.get("/ping").status, 200);
    let path = "/console/access/users/2";
    assert!(
        crew.get(path)
            .shown()
            .contains("<dt>Live tokens</dt><dd>1</dd>")
    );
    let fields = [
        ("how", "typed"),
        ("password", "another horse"),
        ("again", "another horse"),
    ];
    crew.post(&format!("{path}/password"), &fields).taken();
    assert!(bob.get("/console").taken().starts_with("/console/sign-in"));
    assert_eq!(app.get("/ping").status, 401);
    let url = format!("{}/console/sign-in", server.url());
    let form = [("email", "bob@example.com"), ("password", "another horse")];
    page(browser().post(url).form(&form)).taken();
    let made = crew
        .post(&format!("{path}/password"), &[("how", "made")])
        .taken();
    assert_eq!(made, "/console/access/made");
    assert!(audit(&server).contains("password user") && !audit(&server).contains("another horse"));
}

#[test]
fn sessions_of_a_user_are_listed_and_ended_at_once() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Administrator);
    server.console_user("bob@example.com", ConsoleRole::Operator);
    let bobs = [(); 3].map(|()| Crew::sign_in(&server, "bob@example.com"));
    let path = "/console/access/users/2";
    let html = crew.get(path).shown();
    assert_eq!(html.matches("name=\"session\"").count(), 3);
    // The newest stands first; another user's session cannot be ended through this one.
    let newest = field(&html, "session").to_owned();
    let own: i64 = server.value("SELECT min(id) FROM console_sessions");
    crew.post(
        &format!("{path}/sessions"),
        &[("session", &own.to_string())],
    )
    .taken();
    crew.get("/console").shown();
    crew.post(&format!("{path}/sessions"), &[("session", &newest)])
        .taken();
    assert!(
        bobs[2]
            .get("/console")
            .taken()
            .starts_with("/console/sign-in")
    );
    bobs[1].get("/console").shown();
    crew.post(&format!("{path}/sessions"), &[]).taken();
    for bob in &bobs {
        assert!(bob.get("/console").taken().starts_with("/console/sign-in"));
    }
    let bob = Crew::sign_in(&server, "bob@example.com");
    change(&crew, path, &[("console", &[""])]).taken();
    assert!(bob.get("/console").taken().starts_with("/console/sign-in"));
    change(&crew, path, &[("console", &["viewer"])]).taken();
    assert!(bob.get("/console").taken().starts_with("/console/sign-in"));
    let bob = Crew::sign_in(&server, "bob@example.com");
    crew.post(&format!("{path}/remove"), &[]).taken();
    assert!(bob.get("/console").taken().starts_with("/console/sign-in"));
    assert_eq!(crew.get(path).status, 404);
}

#[test]
fn the_last_administrator_stays_whoever_tries() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Administrator);
    server.console_user("bob@example.com", ConsoleRole::Operator);
    let own = "/console/access/users/1";
    for role in ["", "viewer", "operator"] {
        change(&crew, own, &[("console", &[role])]).refused(422, "the last administrator");
    }
    let removal = crew.post(&format!("{own}/remove"), &[]);
    removal.refused(422, "the last administrator");
    crew.get("/console/access").shown();
    // One who cannot sign in is no help.
    server.sql(
        "INSERT INTO users (email, roles, created_at, updated_at, console_role)
         VALUES ('nobody@example.com', '[]', 1, 1, 'administrator')",
    );
    change(&crew, own, &[("console", &["viewer"])]).refused(422, "the last administrator");
    change(
        &crew,
        "/console/access/users/2",
        &[("console", &["administrator"])],
    )
    .taken();
    assert_eq!(
        change(&crew, own, &[("console", &["viewer"])]).taken(),
        "/console"
    );
    crew.get("/console").shown();
    crew.get("/console/access").refused(403, "needs the role");
    let bob = Crew::sign_in(&server, "bob@example.com");
    let removal = bob.post("/console/access/users/2/remove", &[]);
    removal.refused(422, "the last administrator");
}

#[test]
fn of_two_administrators_who_take_each_others_role_away_one_stays() {
    let server = Server::start();
    for round in 0..6 {
        server.sql("DELETE FROM users");
        let crews: Vec<(String, Crew<'_>)> = ["ada", "bob"]
            .iter()
            .map(|name| {
                let email = format!("{name}{round}@example.com");
                server.console_user(&email, ConsoleRole::Administrator);
                let id: i64 =
                    server.value(&format!("SELECT id FROM users WHERE email = '{email}'"));
                (id.to_string(), Crew::sign_in(&server, &email))
            })
            .collect();
        std::thread::scope(|scope| {
            for (at, (_, crew)) in crews.iter().enumerate() {
                let (other, _) = &crews[1 - at];
                scope.spawn(move || {
                    let path = format!("/console/access/users/{other}");
                    match round % 2 {
                        0 => drop(crew.post(&format!("{path}/remove"), &[])),
                        _ => {
                            let page = crew.get(&path);
                            if page.status == 200 {
                                send(crew, &path, &form_of(&page.html), &[("console", &[""])]);
                            }
                        }
                    }
                });
            }
        });
        let left: i64 =
            server.value("SELECT count(*) FROM users WHERE console_role = 'administrator'");
        assert_eq!(left, 1);
    }
}

#[test]
fn an_administrator_turns_the_second_factor_of_somebody_off() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Administrator);
    server.console_user("bob@example.com", ConsoleRole::Operator);
    let hex = "00".repeat(20);
    server.sql(&format!(
        "INSERT INTO second_factors (user_id, secret, used_step, recovery, created_at) VALUES (2, x'{hex}', 0, '[]', 1)"
    ));
    let form = [("email", "bob@example.com"), ("password", PASSWORD)];
    let url = format!("{}/console/sign-in", server.url());
    let asked = page(browser().post(&url).form(&form)).shown();
    assert!(asked.contains("Code of your authenticator app"));
    let path = "/console/access/users/2";
    assert!(crew.get(path).shown().contains("on since"));
    crew.post(&format!("{path}/second-factor"), &[]).taken();
    assert_eq!(page(browser().post(&url).form(&form)).taken(), "/console");
    assert!(audit(&server).contains("second-factor user{\"secondFactor\":false}"));
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
            match html.split("class=\"pager\"><a href=\"").nth(1) {
                Some(rest) => {
                    next = rest
                        .split('"')
                        .next()
                        .expect("a link")
                        .replace("&#38;", "&")
                }
                None => break,
            }
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
            .contains("Nobody is like that")
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
fn the_command_line_keeps_the_last_administrator_and_lets_back_in_who_lost_the_phone() {
    let folder = tempfile::tempdir().expect("a folder");
    let db = folder.path().join("g.db");
    let run = |arguments: &[&str]| commanded(&db, arguments);
    let made = run(&[
        "user",
        "add",
        "ada@example.com",
        "--admin",
        "--password-stdin",
    ]);
    assert!(made.status.success(), "{made:?}");
    for arguments in [
        &["user", "remove", "ada@example.com"][..],
        &["user", "set", "ada@example.com", "--no-console"],
        &["user", "set", "ada@example.com", "--console", "viewer"],
    ] {
        let refused = run(arguments);
        assert_eq!(refused.status.code(), Some(1));
        let told = String::from_utf8_lossy(&refused.stderr);
        assert!(told.contains("the last administrator"), "{told}");
    }
    let connection = rusqlite::Connection::open(&db).expect("the file");
    connection
        .execute_batch(
            "INSERT INTO second_factors (user_id, secret, used_step, recovery, created_at)
             VALUES (1, zeroblob(20), 0, '[]', 1)",
        )
        .expect("a second factor");
    assert!(
        run(&["user", "set", "ada@example.com", "--no-second-factor"])
            .status
            .success()
    );
    let left: i64 = connection
        .query_row("SELECT count(*) FROM second_factors", [], |row| row.get(0))
        .expect("a count");
    assert_eq!(left, 0);
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
