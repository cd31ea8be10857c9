//! Users in the console: made, changed, signed out and removed at once; and one administrator who can
//! sign in always stays.

use super::{
    Crew,
    access::{PAGES, audit, between, change, commanded, field, form_of, send},
    browser, page,
};
use crate::harness::{Caller, PASSWORD, Server};
use gatepost::identity::{ConsoleRole, Role};
use serde_json::json;

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
            .contains("No matches")
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
    let told = crew.get("/console/audit?type=user").shown();
    assert!(told.contains(&format!("Béa Müller (no. {id})")), "{told}");
    let path = "/console/access/users/2";
    let form = form_of(&crew.get(path).shown());
    let form: Vec<_> = form
        .into_iter()
        .filter(|(name, _)| name != "delegate")
        .collect();
    send(&crew, path, &form, &[("console", &["operator"])]).taken();
    change(&crew, path, &[("delegate", &[""])]).taken();
    let tied = "SELECT count(*) FROM audit WHERE json_extract(before, '$.delegate') IS NOT NULL";
    assert_eq!(server.value::<i64>(tied), 1);
}

#[test]
fn what_is_no_user_is_refused_and_shown_again() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Administrator);
    server.console_user("bea@example.com", ConsoleRole::Viewer);
    for (bad, about) in [
        (
            vec![("email", "bea@example.com"), ("how", "made")],
            "There is a user",
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
            "Must have at least 8",
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
                ("console", "viewer"),
                ("how", "typed"),
                ("password", "12345678"),
                ("again", "12345678"),
            ],
            "too easy to guess",
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
    // Whoever signs in to apps alone may have one that is.
    let guest = [
        ("email", "guest@example.com"),
        ("how", "typed"),
        ("password", "12345678"),
        ("again", "12345678"),
    ];
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
    change(&crew, path, &[("console", &["viewer"])]).refused(422, "needs a new one");
    server.console_user("carol@example.com", ConsoleRole::Viewer);
    let (carol, path) = (
        Crew::sign_in(&server, "carol@example.com"),
        "/console/access/users/3",
    );
    crew.post(&format!("{path}/remove"), &[]).taken();
    assert!(
        carol
            .get("/console")
            .taken()
            .starts_with("/console/sign-in")
    );
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
        let crews: Vec<(String, Crew)> = ["ada", "bob"]
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
                    if round % 2 == 0 {
                        crew.post(&format!("{path}/remove"), &[]);
                        return;
                    }
                    let page = crew.get(&path);
                    if page.status == 200 {
                        send(crew, &path, &form_of(&page.html), &[("console", &[""])]);
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
