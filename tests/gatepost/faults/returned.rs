//! The server is killed while it goes back to the snapshot of a rehearsal: the file is then what it
//! was, or what it was at the snapshot, and never between.

use super::{
    evidence,
    process::{GATEPOST, Served, Site},
};
use crate::{
    console::{browser, page},
    harness::PASSWORD,
};
use reqwest::{blocking::Client, header};
use rusqlite::Connection;
use std::{
    io::Write,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

const ROUNDS: u32 = 8;
const LEADS: i64 = 20_000;

fn add_administrator(site: &Site) {
    let mut child = Command::new(GATEPOST)
        .args([
            "user",
            "add",
            "ada@example.com",
            "--admin",
            "--password-stdin",
            "--db",
        ])
        .arg(&site.db)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("it runs");
    let mut input = child.stdin.take().expect("its input");
    writeln!(input, "{PASSWORD}").expect("written");
    drop(input);
    assert!(child.wait().expect("it ends").success());
}

/// Somebody who is signed in: cookie and CSRF token.
struct Crew {
    http: Client,
    url: String,
    cookie: String,
    csrf: String,
}

impl Crew {
    fn sign_in(served: &Served) -> Self {
        let (http, url) = (browser(), format!("http://{}", served.address));
        let form = [("email", "ada@example.com"), ("password", PASSWORD)];
        let answer = http
            .post(format!("{url}/console/sign-in"))
            .form(&form)
            .send();
        let answer = answer.expect("an answer");
        let cookie = answer.headers()[header::SET_COOKIE].to_str().expect("text");
        let cookie = cookie.split(';').next().expect("a cookie").to_owned();
        let mut crew = Self {
            http,
            url,
            cookie,
            csrf: String::new(),
        };
        crew.csrf = crew.field("csrf");
        crew
    }

    fn field(&self, name: &str) -> String {
        let request = self
            .http
            .get(format!("{}/console/settings/rehearsal", self.url));
        let html = page(request.header(header::COOKIE, &self.cookie)).shown();
        let field = html.split(&format!("name=\"{name}\" value=\"")).nth(1);
        let value = field.and_then(|rest| rest.split('"').next());
        value.expect("a field").to_owned()
    }

    /// Sends a form; whether it was taken. Of a server that is killed meanwhile there is no answer.
    fn post(&self, what: &str, fields: &[(&str, &str)]) -> bool {
        let mut all = vec![("csrf", self.csrf.as_str())];
        all.extend_from_slice(fields);
        let request = self
            .http
            .post(format!("{}/console/settings/rehearsal/{what}", self.url));
        let sent = request
            .header(header::COOKIE, &self.cookie)
            .form(&all)
            .send();
        sent.is_ok_and(|answer| answer.status() == 303)
    }
}

fn content(site: &Site) -> (i64, String, i64) {
    let file = Connection::open(&site.db).expect("the file");
    let told = |sql: &str| {
        file.query_row(sql, [], |row| row.get::<_, i64>(0))
            .expect(sql)
    };
    let names = "SELECT group_concat(coalesce(first_name, '-')) FROM (SELECT first_name FROM delegates ORDER BY id)";
    let names = file.query_row(names, [], |row| row.get(0)).expect(names);
    (
        told("SELECT count(*) FROM interactions"),
        names,
        told("SELECT count(*) FROM audit WHERE record_type = 'rehearsal'"),
    )
}

fn rehearse(site: &Site) {
    let file = Connection::open(&site.db).expect("the file");
    file.busy_timeout(Duration::from_secs(5))
        .expect("a timeout");
    file.execute_batch(&format!(
        "INSERT INTO interactions (interaction_type, first_delegate_id, recorded_at, created_at)
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {LEADS})
         SELECT 'lead', (SELECT min(id) FROM delegates), 1, 1 FROM n;
         UPDATE delegates SET first_name = 'Rehearsed';"
    ))
    .expect("a rehearsal");
}

#[test]
fn a_return_that_is_killed_has_happened_or_has_not() {
    let site = Site::prepare();
    add_administrator(&site);
    let served = Served::start(&site.db);
    let crew = Crew::sign_in(&served);
    assert!(crew.post("snapshot", &[]));
    let snapshot = crew.field("snapshot");
    let form = [("snapshot", snapshot.as_str()), ("words", "go back")];
    let at_snapshot = content(&site).1;
    rehearse(&site);
    let rehearsed = content(&site).1;
    assert_ne!(at_snapshot, rehearsed);
    // Undisturbed, it takes so long.
    let begun = Instant::now();
    assert!(crew.post("return", &form));
    let takes = begun.elapsed();
    let (leads, names, mut returns) = content(&site);
    assert_eq!((leads, &names, returns), (0, &at_snapshot, 1));
    served.stop();
    let mut seen = [false, false];
    for round in 0..ROUNDS {
        let mut served = Served::start(&site.db);
        let crew = Crew::sign_in(&served);
        if content(&site).0 == 0 {
            rehearse(&site);
        }
        // The first round is killed at once, the last one when it was over the first time.
        let after = takes * round / (ROUNDS - 1);
        std::thread::scope(|scope| {
            let asked = scope.spawn(|| crew.post("return", &form));
            std::thread::sleep(after);
            served.kill();
            let taken = asked.join().expect("an answer");
            let (leads, names, audited) = content(&site);
            match leads {
                0 => assert_eq!((&names, audited), (&at_snapshot, returns + 1), "{after:?}"),
                LEADS => {
                    assert!(!taken, "acknowledged and not done");
                    assert_eq!((&names, audited), (&rehearsed, returns), "{after:?}");
                }
                between => panic!("{between} interactions after {after:?}"),
            }
            returns = audited;
            seen[usize::from(leads == 0)] = true;
        });
        let file = Connection::open(&site.db).expect("the file");
        assert_eq!(evidence::troubles(&file), Vec::<String>::new());
    }
    assert!(seen[0], "it was never killed in time");
}
