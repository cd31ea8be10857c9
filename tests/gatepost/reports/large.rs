//! Large reports and slow ones: memory stays flat, a slow reader holds nothing up, and whoever asks
//! for too much is told.

use super::report;
use crate::{
    faults::process::{Served, gatepost, told, until},
    harness::{Server, has, http},
};
use gatepost::domain::reports;
use serde_json::json;
use std::{collections::BTreeSet, ffi::OsString, io::Read, path::Path, time::Duration};

const ROWS: usize = 1_000_000;

/// Resident memory of a process, in KiB.
fn resident(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("its status");
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .expect("its memory");
    let number = line.split_whitespace().nth(1).expect("a number");
    number.parse().expect("a number")
}

/// What lies in a folder, but for locks.
fn names(folder: &Path) -> BTreeSet<OsString> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    entries
        .map(|entry| entry.expect("an entry").file_name())
        .filter(|name| !name.to_string_lossy().ends_with(".lock"))
        .collect()
}

/// A file with so many interactions, and a client that may read reports: its id and secret.
fn fill(db: &Path, query: &str) -> (String, String) {
    let client = told(
        db,
        &[
            "client",
            "add",
            "reader",
            "--scope",
            "REPORT_READ",
            "--json",
        ],
    );
    let document = json!({"reports": [report(query)]});
    let file = db.with_extension("json");
    std::fs::write(&file, document.to_string()).expect("written");
    let applied = gatepost(db, &["config", "apply", file.to_str().expect("a name")]);
    assert!(applied.status.success(), "{applied:?}");
    let connection = rusqlite::Connection::open(db).expect("the file");
    connection
        .execute_batch(&format!(
            "INSERT INTO interactions (interaction_type, recorded_at, created_at)
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {ROWS})
             SELECT 'check-in', 1795248120000 + i, 1795248120000 FROM n"
        ))
        .expect("rows");
    let text = |name: &str| client[name].as_str().expect("text").to_owned();
    (text("clientId"), text("clientSecret"))
}

#[test]
fn a_million_rows_are_sent_in_constant_memory_to_a_slow_reader() {
    let folder = tempfile::tempdir().expect("a folder");
    let db = folder.path().join("gatepost.db");
    let (id, secret) = fill(
        &db,
        "SELECT id, interaction_type AS kind, admitted, first_delegate_id AS delegate FROM interactions",
    );
    let served = Served::start(&db);
    let http = http().timeout(None).build().expect("a client");
    let url = format!("http://{}/api", served.address);
    let token: serde_json::Value = http
        .post(format!("{url}/oauth/v2/token"))
        .json(
            &json!({"grant_type": "client_credentials", "client_id": id, "client_secret": secret}),
        )
        .send()
        .and_then(reqwest::blocking::Response::json)
        .expect("a token");
    let token = token["access_token"].as_str().expect("a token");
    let before = resident(served.pid());
    let lay_there = names(folder.path());
    let path = format!("{url}/v5/report/test/export/r/data.csv");
    let mut answer = http.get(path).bearer_auth(token).send().expect("an answer");
    assert_eq!(answer.status(), 200);
    let (mut most, mut rows, mut pieces) = (before, 0, 0);
    let mut piece = vec![0; 64 * 1024];
    loop {
        let read = answer.read(&mut piece).expect("it goes on");
        if read == 0 {
            break;
        }
        rows += piece[..read].iter().filter(|byte| **byte == b'\n').count();
        pieces += 1;
        // A slow reader: what it is sent waits for it.
        if pieces % 8 == 0 {
            std::thread::sleep(Duration::from_millis(5));
            most = most.max(resident(served.pid()));
        }
    }
    assert_eq!(rows, ROWS + 1);
    let grown = most - before;
    assert!(
        grown < 32 * 1024,
        "it grew by {grown} KiB from {before} KiB"
    );
    // Nothing of it is left beside the file.
    assert_eq!(names(folder.path()), lay_there);
    served.stop();
}

const ENDLESS: &str =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) AS most FROM n";

#[test]
fn endless_reports_end_after_30_s_and_stop_no_gate() {
    let server = Server::start();
    server.put(&report(ENDLESS));
    let all = server.caller_with_all();
    let (delegate, device) = (all.delegate(&json!({})), all.device(&json!({})));
    let reader = server.reader();
    let fetch = || reader.get("/report/test/export/r/data.json");
    std::thread::scope(|scope| {
        let two = [scope.spawn(fetch), scope.spawn(fetch)];
        until("both run", || server.app.report_semaphore.running() == 2);
        let third = scope.spawn(fetch);
        let body = json!({"delegate": delegate, "device": device});
        for _ in 0..5 {
            all.interact("check-in", &body).is(201);
        }
        assert_eq!(server.app.report_semaphore.running(), 2, "beside the gates");
        for one in two {
            let refused = one.join().expect("an answer");
            refused.refused(503, 1108, "longer than 30 s");
        }
        let refused = third.join().expect("an answer");
        refused.refused(503, 1108, "too many reports");
    });
}

#[test]
fn whoever_goes_away_stops_the_report() {
    let server = Server::start();
    server.put(&report(ENDLESS));
    let reader = server.reader();
    let url = format!("{}/api/v5/report/test/export/r/data.json", server.url());
    let hasty = http()
        .timeout(Duration::from_millis(500))
        .build()
        .expect("a client");
    for _ in 0..4 {
        let gone = hasty.get(&url).bearer_auth(&reader.token).send();
        assert!(gone.is_err(), "{gone:?}");
    }
    // Two would run for 30 s, and no other could.
    until("nothing runs", || {
        server.app.report_semaphore.running() == 0
    });
    server.put(&report("SELECT 1 AS one"));
    reader.get("/report/test/export/r/data.json").is(200);
}

#[test]
fn a_page_holds_a_bounded_number_of_cells_and_a_grid_adds_up_more_rows_than_it_shows() {
    let server = Server::start();
    let crew = server.administrator();
    let numbers = "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 1200)";
    let columns: Vec<String> = (0..200).map(|at| format!("n AS c{at}")).collect();
    let wide = report(&format!("{numbers} SELECT {} FROM n", columns.join(", ")));
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let values = reports::Values::read(&wide.parameters, &wide.fixed, &[]);
    let made = reports::preview(&server.app, &wide, values.expect("values"), 5_000);
    let made = runtime.block_on(made).expect("rows");
    assert_eq!((made.rows.len(), made.more), (500, true));
    // 100 hours of 12 places: the table has 500 of the 1,200 rows, the grid all.
    let grid = "SELECT datetime((n - 1) / 12 * 3600, 'unixepoch') AS hour, 'Place ' || (n % 12) AS place, n AS people FROM n";
    server.put(&report(&format!("{numbers} {grid}")));
    let page = crew.page("/console/reports/test/r");
    has(&page, "The first 500 rows");
    assert_eq!(page.matches("<th scope=\"row\">").count(), 100);
}
