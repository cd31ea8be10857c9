//! The server is killed while it goes back to the snapshot of a rehearsal: the file is then what it
//! was, or what it was at the snapshot, and never between.

use super::{
    evidence,
    handled_files::{COPIED, is_copied},
    process::{Served, Site, findings, until},
};
use crate::{
    console::{Crew, between, commanded},
    harness::PASSWORD,
};
use reqwest::Method;
use rusqlite::Connection;
use std::time::{Duration, Instant};

const ROUNDS: u32 = 8;
const LEADS: i64 = 20_000;

const PAGE: &str = "/console/settings/rehearsal";

fn sign_in(served: &Served) -> Crew {
    let url = format!("http://{}", served.address);
    Crew::sign_in_at(&url, "ada@example.com", PASSWORD)
}

/// Sends a form; whether it was taken. Of a server that is killed meanwhile there is no answer.
fn post(crew: &Crew, what: &str, fields: &[(&str, &str)]) -> bool {
    let all = [&[("csrf", crew.csrf.as_str())], fields].concat();
    let request = crew.request(Method::POST, &format!("{PAGE}/{what}"));
    let sent = request.form(&all).send();
    sent.is_ok_and(|answer| answer.status() == 303)
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
    let administrator = [
        "user",
        "add",
        "ada@example.com",
        "--admin",
        "--password-stdin",
    ];
    assert!(commanded(&site.db, &administrator).status.success());
    let served = Served::start(&site.db);
    let crew = sign_in(&served);
    assert!(post(&crew, "snapshot", &[]));
    let html = crew.page(PAGE);
    let snapshot = between(&html, "name=\"snapshot\" value=\"", "\"");
    let form = [("snapshot", snapshot), ("words", "go back")];
    let at_snapshot = content(&site).1;
    rehearse(&site);
    let rehearsed = content(&site).1;
    assert_ne!(at_snapshot, rehearsed);
    // Undisturbed, it takes so long.
    let begun = Instant::now();
    assert!(post(&crew, "return", &form));
    let takes = begun.elapsed();
    let (leads, names, mut returns) = content(&site);
    assert_eq!((leads, &names, returns), (0, &at_snapshot, 1));
    // The file is in use as before, and a copy of it without its log says so.
    until("the log is copied", || is_copied(&site.db));
    let copy = site.folder.path().join("copy.db");
    std::fs::copy(&site.db, &copy).expect("copied");
    assert!(findings(&copy).contains(COPIED), "{}", findings(&copy));
    served.stop();
    assert!(!findings(&site.db).contains("are missing"));
    let mut seen = [false, false];
    for round in 0..ROUNDS {
        let mut served = Served::start(&site.db);
        let crew = sign_in(&served);
        if content(&site).0 == 0 {
            rehearse(&site);
        }
        // The first round is killed at once, the last one when it was over the first time.
        let after = takes * round / (ROUNDS - 1);
        std::thread::scope(|scope| {
            let asked = scope.spawn(|| post(&crew, "return", &form));
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
        drop(file);
        let found = findings(&site.db);
        assert!(!found.contains("are missing"), "{after:?}: {found}");
    }
    assert!(seen[0], "it was never killed in time");
}
