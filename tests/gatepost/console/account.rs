//! One's own account: the password, the authenticator app with its recovery codes, and sessions.

use super::{Crew, Page, access::between, browser, page};
use crate::harness::{PASSWORD, Server, reply};
use gatepost::identity::ConsoleRole;
use reqwest::{Method, header};
use std::time::{SystemTime, UNIX_EPOCH};
use totp_rs::{Builder, Secret, Totp};

/// An authenticator app with the key that the page tells.
fn app(key: &str) -> Totp {
    let secret = Secret::try_from_base32(key.replace(' ', "")).expect("base 32");
    Builder::new().with_secret(secret).build().expect("an app")
}

fn seconds() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.expect("a clock").as_secs()
}

/// A code of the next step: taken as well as the present one, and later than it.
fn next_code(app: &Totp) -> String {
    app.generate(seconds() + 30).to_string()
}

/// Sets an authenticator app up: the app, the code that confirmed it, and the recovery codes.
fn set_up(crew: &Crew) -> (Totp, String, Vec<String>) {
    let begun = crew.post("/console/account/second-factor", &[("password", PASSWORD)]);
    assert_eq!(begun.taken(), "/console/account/second-factor");
    let html = crew.get("/console/account/second-factor").shown();
    let app = app(between(&html, "id=\"key\">", "<"));
    let code = app.generate(seconds()).to_string();
    let led = crew.post("/console/account/second-factor/confirm", &[("code", &code)]);
    let html = crew.get(&led.taken()).shown();
    let codes: Vec<String> = html
        .split("<li><code>")
        .skip(1)
        .map(|rest| rest.split('<').next().expect("a code").to_owned())
        .collect();
    assert_eq!(codes.len(), 10);
    (app, code, codes)
}

/// A sign-in up to the code: what its form carries.
fn waiting(server: &Server, email: &str) -> String {
    let html = sign_in(server, email, PASSWORD).shown();
    between(&html, "name=\"waiting\" value=\"", "\"").to_owned()
}

fn sign_in(server: &Server, email: &str, password: &str) -> Page {
    let form = [("email", email), ("password", password)];
    page(
        browser()
            .post(format!("{}/console/sign-in", server.url()))
            .form(&form),
    )
}

fn tell(server: &Server, waiting: &str, code: &str) -> Page {
    let form = [("waiting", waiting), ("code", code)];
    page(
        browser()
            .post(format!("{}/console/sign-in/code", server.url()))
            .form(&form),
    )
}

#[test]
fn an_authenticator_app_is_on_once_a_code_confirms_it() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Viewer);
    let path = "/console/account/second-factor";
    crew.post(path, &[("password", "wrong")])
        .refused(422, "Your password is wrong");
    assert_eq!(crew.get(&format!("{path}/picture")).status, 404);
    crew.post(&format!("{path}/confirm"), &[("code", "123456")])
        .refused(422, "begin once more");
    crew.post(path, &[("password", PASSWORD)]).taken();
    let picture = crew
        .request(Method::GET, &format!("{path}/picture"))
        .send()
        .expect("an answer");
    assert_eq!(picture.headers()[header::CONTENT_TYPE], "image/svg+xml");
    assert_eq!(picture.headers()[header::CACHE_CONTROL], "no-store");
    assert!(picture.text().expect("text").starts_with("<svg"));
    // Another session of the same user has no part in it.
    let other = Crew::sign_in(&server, "viewer@example.com");
    assert_eq!(other.get(&format!("{path}/picture")).status, 404);
    let html = crew.get(path).shown();
    let key = between(&html, "id=\"key\">", "<").to_owned();
    let app = app(&key);
    let late = app.generate(seconds() + 300).to_string();
    for wrong in ["", "12345", "abcdef", late.as_str()] {
        crew.post(&format!("{path}/confirm"), &[("code", wrong)])
            .refused(422, "code is wrong");
    }
    // Nothing is on yet.
    assert_eq!(
        sign_in(&server, "viewer@example.com", PASSWORD).taken(),
        "/console"
    );
    let code = app.generate(seconds()).to_string();
    let led = crew
        .post(&format!("{path}/confirm"), &[("code", &code)])
        .taken();
    assert_eq!(led, "/console/account/recovery");
    let shown = crew.get(&led).shown();
    let first = between(&shown, "<li><code>", "<").to_owned();
    assert!(
        crew.get(&led)
            .shown()
            .contains("Recovery codes are shown once")
    );
    sign_in(&server, "viewer@example.com", PASSWORD).shown();
    let told: String = server.value("SELECT group_concat(coalesce(after, '')) FROM audit");
    for page in ["/console/account", path, "/console/audit", "/console"] {
        let html = crew.get(page).shown();
        assert!(!html.contains(&key) && !html.contains(&first), "{page}");
    }
    assert!(told.contains("secondFactor") && !told.contains(&first));
    let stored: String = server.value("SELECT recovery FROM second_factors");
    assert!(!stored.contains(&first) && !stored.contains(&first.replace('-', "")));
    assert!(
        crew.get("/console/account")
            .shown()
            .contains("10 of 10 recovery codes are left")
    );
}

#[test]
fn a_code_opens_once_and_so_does_each_recovery_code() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Viewer);
    let (app, used, codes) = set_up(&crew);
    let email = "viewer@example.com";
    let key = waiting(&server, email);
    tell(&server, &key, &used).refused(422, "wrong or was used already");
    let code = next_code(&app);
    let spaced = format!("{} {}", &code[..3], &code[3..]);
    assert_eq!(tell(&server, &key, &spaced).taken(), "/console");
    // Neither the form nor the code works again.
    tell(&server, &key, &code).refused(422, "took too long");
    tell(&server, &waiting(&server, email), &code).refused(422, "used already");
    let typed = codes[4].to_uppercase().replace('-', " ");
    assert_eq!(
        tell(&server, &waiting(&server, email), &typed).taken(),
        "/console"
    );
    tell(&server, &waiting(&server, email), &codes[4]).refused(422, "used already");
    assert!(
        crew.get("/console/account")
            .shown()
            .contains("9 of 10 recovery codes are left")
    );
    let (actor, left): (String, String) = (
        server.value("SELECT actor FROM audit WHERE action = 'recovery'"),
        server.value("SELECT after FROM audit WHERE action = 'recovery'"),
    );
    assert_eq!((&*actor, &*left), ("user:1", "{\"recoveryCodesLeft\":9}"));
}

#[test]
fn an_app_asks_for_the_code_too() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Viewer);
    let (app, used, codes) = set_up(&crew);
    let (id, secret) = server.client(&[], &[]);
    let tried = |totp: Option<&str>, more: &[(&str, &str)]| {
        let mut form = vec![
            ("grant_type", "password"),
            ("client_id", &*id),
            ("client_secret", &*secret),
            ("username", "viewer@example.com"),
            ("password", PASSWORD),
        ];
        form.extend(totp.map(|totp| ("totp", totp)));
        form.extend_from_slice(more);
        let answer = server
            .request(Method::POST, "/api/oauth/v2/token")
            .form(&form);
        let answer = reply(answer);
        let error = answer.body["error"].as_str().unwrap_or_default().to_owned();
        (answer.status, error)
    };
    let refused = (400, "invalid_grant".to_owned());
    for totp in [
        None,
        Some(""),
        Some("000000"),
        Some("nonsense"),
        Some(&*used),
    ] {
        assert_eq!(tried(totp, &[]), refused, "{totp:?}");
    }
    // A code is not used up by what is refused otherwise.
    let code = next_code(&app);
    let scope = tried(Some(&code), &[("scope", "TRUSTED")]);
    assert_eq!(scope, (400, "invalid_scope".to_owned()));
    assert_eq!(tried(Some(&code), &[]).0, 200);
    assert_eq!(tried(Some(&code), &[]), refused);
    assert_eq!(tried(Some(&codes[0]), &[]).0, 200);
    assert_eq!(tried(Some(&codes[0]), &[]), refused);
    // Who has none needs none, and one that is sent all the same is ignored.
    server.sql("DELETE FROM second_factors");
    assert_eq!(tried(None, &[]).0, 200);
    assert_eq!(tried(Some("000000"), &[]).0, 200);
}

#[test]
fn guesses_at_codes_count_in_apps_and_in_the_console_together() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Viewer);
    let (app, ..) = set_up(&crew);
    let (id, secret) = server.client(&[], &[]);
    let tried = |totp: &str| {
        let form = [
            ("grant_type", "password"),
            ("client_id", &*id),
            ("client_secret", &*secret),
            ("username", "Viewer@example.com"),
            ("password", PASSWORD),
            ("totp", totp),
        ];
        reply(
            server
                .request(Method::POST, "/api/oauth/v2/token")
                .form(&form),
        )
        .status
    };
    for _ in 0..10 {
        assert_eq!(tried("nonsense"), 400);
    }
    assert_eq!(tried(&next_code(&app)), 429);
    let key = waiting(&server, "viewer@example.com");
    tell(&server, &key, &next_code(&app)).refused(429, "Too many attempts");
}

#[test]
fn a_new_password_of_the_crew_is_hard_to_guess() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Viewer);
    for weak in ["password", "12345678", "viewer@example.com"] {
        let fields = [("old", PASSWORD), ("password", weak), ("again", weak)];
        crew.post("/console/account/password", &fields)
            .refused(422, "too easy to guess");
    }
    sign_in(&server, "viewer@example.com", PASSWORD).taken();
}

#[test]
fn of_the_same_code_sent_many_times_at_once_one_opens() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Viewer);
    let (app, _, codes) = set_up(&crew);
    for code in [next_code(&app), codes[0].clone()] {
        let keys: Vec<String> = (0..6)
            .map(|_| waiting(&server, "viewer@example.com"))
            .collect();
        let opened: usize = std::thread::scope(|scope| {
            let tries: Vec<_> = keys
                .iter()
                .map(|key| scope.spawn(|| usize::from(tell(&server, key, &code).status == 303)))
                .collect();
            tries
                .into_iter()
                .map(|one| one.join().expect("an answer"))
                .sum()
        });
        assert_eq!(opened, 1);
    }
}

#[test]
fn guesses_at_codes_are_few_even_all_at_once() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Viewer);
    let (app, ..) = set_up(&crew);
    let key = waiting(&server, "viewer@example.com");
    let refusals: Vec<String> = std::thread::scope(|scope| {
        let tries: Vec<_> = (0..40)
            .map(|n| {
                let (server, key) = (&server, &key);
                scope.spawn(move || tell(server, key, &format!("x{n:05}")).html)
            })
            .collect();
        tries
            .into_iter()
            .map(|one| one.join().expect("an answer"))
            .collect()
    });
    let looked_at = refusals
        .iter()
        .filter(|html| html.contains("code is wrong"))
        .count();
    // Ten, and as many more as threads that asked at the same moment.
    assert!((10..=14).contains(&looked_at), "{looked_at}");
    tell(&server, &key, &next_code(&app)).refused(429, "Too many attempts");
}

#[test]
fn a_sign_in_that_waits_for_its_code_ends_with_the_old_password() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Viewer);
    let (app, ..) = set_up(&crew);
    let key = waiting(&server, "viewer@example.com");
    let fields = [
        ("old", PASSWORD),
        ("password", "another horse"),
        ("again", "another horse"),
    ];
    crew.post("/console/account/password", &fields).taken();
    tell(&server, &key, &next_code(&app)).refused(422, "The password was changed");
}

#[test]
fn recovery_codes_are_renewed_and_kept_as_a_file_by_their_owner_alone() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Viewer);
    let (_, _, old) = set_up(&crew);
    let renew = "/console/account/recovery";
    crew.post(renew, &[("password", "wrong")])
        .refused(422, "Your password is wrong");
    let led = crew.post(renew, &[("password", PASSWORD)]).taken();
    let html = crew.get(&led).shown();
    let new = between(&html, "<li><code>", "<").to_owned();
    let download = "/console/account/recovery/download";
    let file = crew.post(download, &[("code", &new)]).shown();
    assert!(
        file.contains(&new) && file.contains("viewer@example.com"),
        "{file}"
    );
    for other in [old[0].as_str(), "<script>", ""] {
        crew.post(download, &[("code", other)])
            .refused(400, "not your current recovery codes");
    }
    crew.post(download, &[])
        .refused(400, "not your current recovery codes");
    let email = "viewer@example.com";
    tell(&server, &waiting(&server, email), &old[1]).refused(422, "used already");
    tell(&server, &waiting(&server, email), &new).taken();
    let off = "/console/account/second-factor/off";
    crew.post(off, &[("password", "wrong")])
        .refused(422, "Your password is wrong");
    sign_in(&server, email, PASSWORD).shown();
    crew.post(off, &[("password", PASSWORD)]).taken();
    assert_eq!(sign_in(&server, email, PASSWORD).taken(), "/console");
    crew.post(renew, &[("password", PASSWORD)])
        .refused(422, "set one up first");
}

#[test]
fn ones_own_password_needs_the_old_one_and_ends_other_sessions() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Viewer);
    let other = Crew::sign_in(&server, "viewer@example.com");
    let path = "/console/account/password";
    let form = |old: &'static str, new: &'static str, again: &'static str| {
        [("old", old), ("password", new), ("again", again)]
    };
    crew.post(path, &form("wrong", "another horse", "another horse"))
        .refused(422, "Your password is wrong");
    crew.post(path, &form(PASSWORD, "another horse", "another house"))
        .refused(422, "differ");
    crew.post(path, &form(PASSWORD, "short", "short"))
        .refused(422, "at least 8");
    other.get("/console").shown();
    crew.post(path, &form(PASSWORD, "another horse", "another horse"))
        .taken();
    assert!(
        crew.get("/console/account")
            .shown()
            .contains("Your password is changed")
    );
    assert!(
        other
            .get("/console")
            .taken()
            .starts_with("/console/sign-in")
    );
    sign_in(&server, "viewer@example.com", PASSWORD).refused(422, "is wrong");
    assert_eq!(
        sign_in(&server, "viewer@example.com", "another horse").taken(),
        "/console"
    );
    // Guesses count together with those at the sign-in.
    for _ in 0..10 {
        crew.post(path, &form("wrong", "third horse", "third horse"));
    }
    crew.post(path, &form("another horse", "third horse", "third horse"))
        .refused(422, "Too many attempts");
    sign_in(&server, "viewer@example.com", "another horse").refused(429, "Too many attempts");
}

#[test]
fn ones_own_sessions_are_listed_and_ended() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Viewer);
    let bob = server.crew(ConsoleRole::Operator);
    let others = [(); 3].map(|()| Crew::sign_in(&server, "viewer@example.com"));
    let html = crew.get("/console/account").shown();
    assert_eq!(html.matches("name=\"session\"").count(), 3);
    assert_eq!(html.matches("this one").count(), 1);
    let newest = between(&html, "name=\"session\" value=\"", "\"").to_owned();
    let bobs: i64 = server.value("SELECT s.id FROM console_sessions s JOIN users u ON u.id = s.user_id WHERE u.email LIKE 'operator%'");
    let path = "/console/account/sessions";
    crew.post(path, &[("session", &bobs.to_string())]).taken();
    let told = crew.get(path.trim_end_matches("/sessions")).shown();
    assert!(told.contains("had ended already") && !told.contains("Session ended"));
    bob.get("/console").shown();
    crew.post(path, &[("session", &newest)]).taken();
    let told = crew.get(path.trim_end_matches("/sessions")).shown();
    assert!(told.contains("Session ended."));
    assert!(
        others[2]
            .get("/console")
            .taken()
            .starts_with("/console/sign-in")
    );
    others[0].get("/console").shown();
    crew.post(path, &[]).taken();
    for other in &others {
        assert!(
            other
                .get("/console")
                .taken()
                .starts_with("/console/sign-in")
        );
    }
    crew.get("/console").shown();
    bob.get("/console").shown();
}
