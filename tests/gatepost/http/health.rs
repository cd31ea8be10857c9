//! `/health/live`, `/health/ready` and `/metrics`.

use super::Venue;
use crate::faults::process::until;
use crate::harness::has;
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn ready(venue: &Venue) -> (u16, Value) {
    let (status, text) = venue.text("/health/ready");
    (status, serde_json::from_str(&text).expect("JSON"))
}

#[test]
fn it_is_alive_and_ready() {
    let venue = Venue::open(&[]);
    assert_eq!(
        venue.text("/health/live"),
        (200, json!({"status": "live"}).to_string())
    );
    let checks = json!({"database": "ok", "disk": "ok", "writer": "ok", "file": "ok"});
    assert_eq!(
        ready(&venue),
        (200, json!({"status": "ready", "checks": checks}))
    );
}

#[test]
fn a_schema_that_is_not_ours_makes_it_unready_and_it_says_so() {
    let venue = Venue::open(&[]);
    let file = rusqlite::Connection::open(&venue.db).expect("the file");
    file.pragma_update(None, "user_version", 99).expect("set");
    let (status, body) = ready(&venue);
    assert_eq!(status, 503, "{body}");
    assert_eq!(body["status"], "not ready");
    let told = body["checks"]["database"].as_str().expect("text");
    has(told, "schema version 99");
    assert_eq!(body["checks"]["disk"], "ok");
    assert_eq!(venue.text("/health/live").0, 200);
}

#[test]
fn a_file_that_takes_no_writes_makes_it_unready_until_it_does() {
    let venue = Venue::open(&[]);
    let mut wire = venue.served.wire();
    let file = rusqlite::Connection::open(&venue.db).expect("the file");
    // Fails at the commit: an orphan that is looked for only then.
    file.execute_batch(
        "CREATE TABLE parent (id INTEGER PRIMARY KEY);
         CREATE TABLE child (of INTEGER REFERENCES parent (id) DEFERRABLE INITIALLY DEFERRED);
         CREATE TRIGGER broken AFTER INSERT ON delegates BEGIN INSERT INTO child VALUES (7); END;",
    )
    .expect("a trap");
    let refused = venue.post(&mut wire, "/delegate/new", &json!({"barcode": "A-1"}));
    assert_eq!((refused.status, refused.code()), (503, 1108));
    let (status, body) = ready(&venue);
    assert_eq!(status, 503, "{body}");
    let told = body["checks"]["writer"].as_str().expect("text");
    has(told, "does not take writes");
    assert!(venue.metric("gatepost_write_groups_lost_total") >= 1);
    file.execute_batch("DROP TRIGGER broken; DROP TABLE child; DROP TABLE parent;")
        .expect("undone");
    venue.delegate(&mut wire, "A-1");
    assert_eq!(ready(&venue).0, 200);
}

/// A sample's name, and the names of its labels.
fn sample(line: &str) -> (&str, Vec<&str>) {
    let Some((name, rest)) = line.split_once('{') else {
        return (line.split(' ').next().unwrap_or_default(), Vec::new());
    };
    let labels = rest.split(',').filter_map(|label| label.split_once("=\""));
    (name, labels.map(|(label, _)| label).collect())
}

/// Dashboards and alerts of others name these.
#[test]
fn names_of_metrics_stay() {
    let venue = Venue::open(&[]);
    let refused = venue.get(&mut venue.served.wire(), "/delegate/barcode:NONE");
    assert_eq!(refused.status, 404);
    let mut page = String::new();
    // Two of them come with the first check of the file's integrity.
    until("the file is checked", || {
        (_, page) = venue.text("/metrics");
        page.contains("gatepost_database_damaged")
    });
    let types = page.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    let mut types: Vec<String> = types
        .map(|line| {
            let (name, kind) = line.split_once(' ').expect("a type");
            let samples = page.lines().filter(|line| !line.starts_with('#'));
            let of_it = samples.map(sample).filter(|(sample, _)| {
                let end = sample.strip_prefix(name);
                end.is_some_and(|end| ["", "_bucket", "_count", "_sum"].contains(&end))
            });
            let labels: BTreeSet<&str> = of_it.flat_map(|(_, labels)| labels).collect();
            let labels: Vec<&str> = labels.into_iter().collect();
            format!("{name} {kind} {}", labels.join(","))
                .trim_end()
                .to_owned()
        })
        .collect();
    types.sort_unstable();
    insta::assert_snapshot!(types.join("\n"), @r"
    gatepost_build_info gauge version
    gatepost_check_ins_total counter
    gatepost_commit_duration_seconds histogram le
    gatepost_connections_ended_total counter reason
    gatepost_connections_open gauge
    gatepost_connections_refused_total counter
    gatepost_database_bytes gauge
    gatepost_database_checked_timestamp_seconds gauge
    gatepost_database_damaged gauge
    gatepost_database_in_place gauge
    gatepost_errors_total counter code
    gatepost_http_request_duration_seconds histogram le,method,route
    gatepost_http_requests_total counter method,route,status
    gatepost_readers_in_use gauge pool
    gatepost_wal_bytes gauge
    gatepost_write_group_jobs histogram le
    gatepost_write_groups_lost_total counter
    gatepost_write_queue_jobs gauge
    process_resident_memory_bytes gauge
    ");
}

#[test]
fn the_metrics_count_what_happened_and_name_nobody() {
    let venue = Venue::open(&[]);
    let mut wire = venue.served.wire();
    venue.delegate(&mut wire, "SECRET-1");
    let device = json!({"name": "Gate", "code": "gate-b", "data": {"Access": {"entry": "single"}}});
    venue.post(&mut wire, "/device/new", &device).is(201);
    let scan = json!({"delegate": "barcode:SECRET-1", "device": "code:gate-b"});
    let mut interact = |kind: &str| {
        let path = format!("/interaction/new/{kind}");
        venue.post(&mut wire, &path, &scan).status
    };
    assert_eq!(
        ["check-in", "check-in", "check-out", "check-in-override"].map(&mut interact),
        [201, 412, 201, 201]
    );
    let batch = json!({"interactions": {
        "a": {"interactionType": "check-out", "delegate": "barcode:SECRET-1", "device": "code:gate-b"},
        "b": {"interactionType": "check-in", "delegate": "barcode:SECRET-1", "device": "code:gate-b"},
        "c": {"interactionType": "check-in", "delegate": "barcode:SECRET-1", "device": "code:gate-b"},
    }});
    let batch = venue.post(&mut wire, "/interaction/batch", &batch);
    assert_eq!(batch.data()[1]["status"], 201, "{batch:?}");
    let lookup = venue.get(&mut wire, "/delegate/barcode:SECRET-1");
    assert_eq!(lookup.status, 200);
    let unknown = venue.get(&mut wire, "/delegate/barcode:SECRET-2");
    assert_eq!(unknown.code(), 1301);

    let requests = |route: &str, status: &str| {
        venue.metric(&format!(
            "gatepost_http_requests_total{{{route},status=\"{status}\"}}"
        ))
    };
    let new = "method=\"POST\",route=\"/interaction/new/{}\"";
    assert_eq!(requests(new, "2xx"), 3);
    assert_eq!(requests(new, "4xx"), 1);
    let one = "method=\"GET\",route=\"/delegate/{}\"";
    assert_eq!((requests(one, "2xx"), requests(one, "4xx")), (1, 1));
    let took = format!("gatepost_http_request_duration_seconds_count{{{new}}}");
    assert_eq!(venue.metric(&took), 4);
    assert_eq!(venue.metric("gatepost_check_ins_total"), 3);
    assert_eq!(venue.metric("gatepost_errors_total{code=\"740\"}"), 2);
    assert_eq!(venue.metric("gatepost_errors_total{code=\"1301\"}"), 1);
    until("no write waits", || {
        venue.metric("gatepost_write_queue_jobs") == 0
    });
    assert!(venue.metric("gatepost_write_group_jobs_sum") >= 7);
    assert!(venue.metric("gatepost_commit_duration_seconds_count") >= 7);
    assert!(venue.metric("gatepost_connections_open") >= 1);
    assert!(venue.metric("gatepost_database_bytes") > 10_000);
    let version = concat!(
        "gatepost_build_info{version=\"",
        env!("CARGO_PKG_VERSION"),
        "\"}"
    );
    assert_eq!(venue.metric(version), 1);
    assert!(venue.metric("process_resident_memory_bytes") > 1_000_000);

    let (_, page) = venue.text("/metrics");
    assert!(
        !page.contains("SECRET") && !page.contains(&venue.token),
        "{page}"
    );
    has(&page, "gatepost_wal_bytes ");
    has(&page, "gatepost_readers_in_use{pool=\"lookups\"} ");
    for line in page.lines().filter(|line| !line.starts_with('#')) {
        let (_, value) = line.rsplit_once(' ').expect("a value");
        assert!(value.parse::<f64>().is_ok(), "{line}");
    }
}
