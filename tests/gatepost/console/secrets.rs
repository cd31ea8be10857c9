//! A secret is shown once, to whom it is for. After that it stands in no page, no part of one, no
//! export, no address and no line of the log: the real binary, its log at its loudest, and every route
//! that shows something, asked by an administrator and by a viewer.

use super::{Crew, access::between, browser, page};
use crate::{
    faults::{
        process::{Served, beside, gatepost},
        wire::PATIENCE,
    },
    harness::{Reply, has, lacks, reply, typed},
};
use gatepost::admin;
use reqwest::{Method, header};
use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    io::Read,
    path::Path,
    time::{Duration, SystemTime},
};
use totp_rs::{Builder, Secret};

const PASSWORD: &str = "the password of Ada";
/// What a part of a path may be; the event is small.
const PARTS: [&str; 7] = ["1", "2", "3", "4", "barcode", "publicId", "nothing"];
/// Streams never end: what they tell within this is looked at.
const STREAMED: Duration = Duration::from_millis(1_500);

/// Secrets, each with what it is.
#[derive(Default)]
struct Secrets(Vec<(String, String)>);

impl Secrets {
    fn keep(&mut self, what: &str, secret: &str) {
        assert!(secret.len() >= 6, "{what}: {secret:?}");
        self.0.push((what.to_owned(), secret.to_owned()));
    }

    /// Whether a text has any of them, as it is or as addresses write it.
    fn found_in<'a>(&'a self, text: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter_map(move |(what, secret)| {
            let encoded: String = form_urlencoded::byte_serialize(secret.as_bytes()).collect();
            let found = text.contains(secret.as_str()) || text.contains(&encoded);
            found.then_some(what.as_str())
        })
    }
}

/// Goes through everything that makes a secret.
fn make_all(served: &Served, folder: &Path) -> (Crew, Secrets) {
    let mut secrets = Secrets::default();
    let link = served.announced["setup"].as_str().expect("a link");
    let token = link.split("token=").nth(1).expect("a token");
    secrets.keep("the link of the first run", token);
    secrets.keep("a password that was typed", PASSWORD);
    let form = [
        ("token", token),
        ("timeZone", "UTC"),
        ("email", "ada@example.com"),
        ("password", PASSWORD),
        ("again", PASSWORD),
    ];
    let setup = format!("http://{}/console/setup", served.address);
    let answer = browser().post(setup).form(&form).send();
    let url = format!("http://{}", served.address);
    let ada = Crew::answered(&url, &answer.expect("an answer"));
    let cookie = |person: &Crew| person.cookie.split_once('=').expect("a value").1.to_owned();
    secrets.keep("Ada's cookie", &cookie(&ada));
    // Records, a backup and a configuration, so that pages have something to show.
    std::fs::write(
        folder.join("list.csv"),
        "Barcode,First name\nB-1,Ada\nB-2,Bo\n",
    )
    .expect("a list");
    let list = folder.join("list.csv").display().to_string();
    let db = folder.join("gatepost.db");
    let imported = gatepost(&db, &["import", "delegates", &list]);
    assert!(imported.status.success(), "{imported:?}");
    ada.press("/console/settings/backups/now");

    let (client, user) = made(&ada, &mut secrets);
    tokens(&ada, &client, &user, &mut secrets);
    app(&ada, &mut secrets);
    second_factor(&ada, &mut secrets);
    let viewer = Crew::sign_in_at(&url, "bo@example.com", &user);
    secrets.keep("Bo's cookie", &cookie(&viewer));
    // What is wrong is told without what was sent.
    let wrong = "not the password of Ada";
    secrets.keep("a wrong password", wrong);
    let form = [("email", "ada@example.com"), ("password", wrong)];
    page(
        browser()
            .post(format!("{}/console/sign-in", ada.url))
            .form(&form),
    )
    .refused(422, "");
    (ada, secrets)
}

/// A client and a user, made in the console: the client's id and secret, the user's password.
fn made(ada: &Crew, secrets: &mut Secrets) -> ((String, String), String) {
    let roles = typed("role=ROLE_OAUTH2_DELEGATE_READ&role=ROLE_OAUTH2_DEVICE_WRITE");
    let client = [&[("name", "A gate")], &roles[..]].concat();
    let shown = |led: &str| {
        let html = ada.page(led);
        let id = between(&html, "id=\"made-id\">", "<").to_owned();
        (id, between(&html, "id=\"made-secret\">", "<").to_owned())
    };
    let client = shown(&ada.post("/console/access/clients/new", &client).taken());
    secrets.keep("a client's secret", &client.1);
    let user = typed("email=bo@example.com&how=made&console=viewer");
    let user = [&user, &roles[..]].concat();
    let (_, password) = shown(&ada.post("/console/access/users/new", &user).taken());
    secrets.keep("a password that was made", &password);
    (client, password)
}

fn tokens(ada: &Crew, client: &(String, String), password: &str, secrets: &mut Secrets) {
    let granted = |body: Value| -> Value {
        let url = format!("{}/api/oauth/v2/token", ada.url);
        let answer = ada.http.post(url).json(&body).send();
        answer.expect("an answer").json().expect("JSON")
    };
    let (id, secret) = client;
    let of_client = granted(
        json!({"grant_type": "client_credentials", "client_id": id, "client_secret": secret}),
    );
    let of_user = granted(
        json!({"grant_type": "password", "client_id": id, "client_secret": secret,
        "username": "bo@example.com", "password": password}),
    );
    for (what, granted, name) in [
        ("a client's token", &of_client, "access_token"),
        ("a user's token", &of_user, "access_token"),
        ("a refresh token", &of_user, "refresh_token"),
    ] {
        let token = granted[name].as_str();
        let token = token.unwrap_or_else(|| panic!("{what}: {granted}"));
        secrets.keep(what, token);
        // It is used, rightly and wrongly.
        for path in ["/device/list", "/no/such/path", "/tx/new"] {
            let url = format!("{}/api/v5{path}", ada.url);
            reply(ada.http.get(url).bearer_auth(token));
        }
    }
}

/// An app that asked to be let in and was.
fn app(ada: &Crew, secrets: &mut Secrets) {
    let secret = "5f0c8f0e9d3b4a1c8e7d6f5a4b3c2d1e";
    secrets.keep("an app's own secret", secret);
    let ask = || -> Reply {
        let url = format!("{}/api/v5/device-request/new", ada.url);
        reply(
            ada.http
                .post(url)
                .json(&json!({"code": "42", "secret": secret})),
        )
    };
    ada.page("/console/discovery");
    let id = ask().id();
    ada.press(&format!("/console/discovery/{id}/add"));
    let given = ask().data()["clientSecret"].clone();
    secrets.keep("an app's credentials", given.as_str().expect("a secret"));
}

fn second_factor(ada: &Crew, secrets: &mut Secrets) {
    let path = "/console/account/second-factor";
    ada.post(path, &[("password", PASSWORD)]).taken();
    let html = ada.page(path);
    let shown = between(&html, "id=\"key\">", "<");
    secrets.keep("the authenticator app's key as it is shown", shown);
    let key = shown.replace(' ', "");
    secrets.keep("the authenticator app's key", &key);
    let app = Secret::try_from_base32(&key).expect("base 32");
    let app = Builder::new().with_secret(app).build().expect("an app");
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let code = app.generate(now.expect("a clock").as_secs()).to_string();
    let led = ada.post(&format!("{path}/confirm"), &[("code", &code)]);
    let html = ada.page(&led.taken());
    let codes: Vec<&str> = html
        .split("<li><code>")
        .skip(1)
        .filter_map(|rest| rest.split('<').next())
        .collect();
    assert_eq!(codes.len(), 10);
    for code in codes {
        secrets.keep("a recovery code", code);
    }
}

/// Paths of every route that shows something, with what may stand in them.
fn paths() -> BTreeSet<String> {
    let shows = admin::routes().into_iter();
    let shows = shows.filter(|route| route.method == Method::GET);
    let mut paths = BTreeSet::new();
    for route in shows {
        let mut filled = vec![String::new()];
        for part in route.path.split('/').skip(1) {
            let open = part.starts_with([':', '*']);
            filled = filled
                .iter()
                .flat_map(|begun| {
                    let parts = if open { &PARTS[..] } else { &[""] };
                    parts
                        .iter()
                        .map(move |value| format!("{begun}/{}", if open { value } else { part }))
                })
                .collect();
        }
        paths.extend(filled);
    }
    paths.insert("/console/audit?type=client".to_owned());
    paths.insert("/console/audit?type=user".to_owned());
    paths
}

/// What a path shows, its headers included; of a stream what it begins with.
fn shown(person: &Crew, path: &str) -> (u16, String) {
    let answer = person.request(Method::GET, path).timeout(PATIENCE).send();
    let mut answer = answer.expect("an answer");
    let status = answer.status().as_u16();
    let mut text = format!("{:?}", answer.headers());
    let kind = answer.headers().get(header::CONTENT_TYPE);
    let streams = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
    if streams {
        drop(answer);
        let begun = person.request(Method::GET, path).timeout(STREAMED).send();
        let mut bytes = Vec::new();
        if let Ok(mut stream) = begun {
            // It ends with the time that it was given.
            let _ = stream.read_to_end(&mut bytes);
        }
        text += &String::from_utf8_lossy(&bytes);
    } else {
        let mut bytes = Vec::new();
        answer.read_to_end(&mut bytes).expect("a page");
        text += &String::from_utf8_lossy(&bytes);
    }
    (status, text)
}

#[test]
fn no_secret_stands_anywhere_after_it_was_shown_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let db = folder.path().join("gatepost.db");
    let mut command = std::process::Command::new(crate::faults::process::GATEPOST);
    command.env_remove("GATEPOST_LOG");
    let arguments = ["--access-log", "--log-level", "trace"];
    let served = Served::start_by(command, &db, &arguments);
    let (ada, secrets) = make_all(&served, folder.path());
    assert!(secrets.0.len() > 20);
    let bo = secrets
        .0
        .iter()
        .find(|(what, _)| what == "a password that was made");
    let bo = Crew::sign_in_at(&ada.url, "bo@example.com", &bo.expect("it").1);

    let mut faults = Vec::new();
    let mut seen = 0;
    for path in paths() {
        // A backup is the whole file; what is in there is looked at below.
        let is_file = path.ends_with("/file");
        for person in [&ada, &bo] {
            let (status, text) = shown(person, &path);
            seen += usize::from(status == 200);
            if !is_file {
                let found = secrets.found_in(&text);
                faults.extend(found.map(|what| format!("{what} at {path}")));
            }
        }
    }
    assert!(seen > 100, "{seen} pages are there");
    for arguments in [["config", "export"].as_slice(), &["client", "list"]] {
        let output = gatepost(&db, arguments);
        assert!(output.status.success(), "{output:?}");
        let told = String::from_utf8_lossy(&output.stdout);
        faults.extend(
            secrets
                .found_in(&told)
                .map(|what| format!("{what} in {arguments:?}")),
        );
    }
    let log = std::fs::read_to_string(beside(&db, ".log")).expect("a log");
    has(&log, "/console/delegates/1");
    lacks(&log, &ada.csrf);
    faults.extend(
        secrets
            .found_in(&log)
            .map(|what| format!("{what} in the log")),
    );
    // In the file, too, but hashed or not at all; the second factor's key has to be there.
    served.stop();
    let bytes = std::fs::read(&db).expect("the file");
    let bytes = String::from_utf8_lossy(&bytes);
    faults.extend(
        secrets
            .found_in(&bytes)
            .map(|what| format!("{what} in the file")),
    );
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_secret_that_stands_somewhere_is_found() {
    let mut secrets = Secrets::default();
    secrets.keep("one", "a b/c+d=");
    for text in [
        "<p>a b/c+d=</p>",
        "GET /x?y=a+b%2Fc%2Bd%3D",
        "{\"s\":\"a b/c+d=\"}",
    ] {
        assert_eq!(secrets.found_in(text).count(), 1, "{text}");
    }
    assert_eq!(secrets.found_in("a b").count(), 0);
}
