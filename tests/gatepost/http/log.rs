//! The log: request ids, the access log, and that it never stands in the way.

use super::Venue;
use crate::faults::process::{GATEPOST, until};
use crate::harness::{Agrees, has, lacks, words};
use serde_json::{Value, json};
use std::process::Command;

/// The access log's line of a request.
fn line(venue: &Venue, request_id: &str) -> Value {
    let mut found = None;
    until("the request is in the log", || {
        let log = venue.log();
        let line = log.lines().find(|line| line.contains(request_id));
        found = line.and_then(|line| serde_json::from_str(line).ok());
        found.is_some()
    });
    found.expect("a line")
}

#[test]
fn every_request_is_a_line_without_secrets() {
    let venue = Venue::open(&["--access-log", "--log-format", "json"]);
    let mut wire = venue.served.wire();
    venue.delegate(&mut wire, "SECRET-1");
    venue.get(
        &mut wire,
        "/delegate/list?search=%7B%22*=%22:[%22email%22,%22SECRET-2%22]%7D",
    );
    let path = "/delegate/barcode:SECRET-1?fields=id,barcode";
    let found = venue.get(&mut wire, path);
    let id = found.header("x-request-id").expect("an id");
    let line_of = line(&venue, id);
    line_of.agrees(&json!({
            "method": "GET", "path": "/api/v5/delegate/barcode:…", "status": 200, "address": "127.0.0.1",
            "level": "INFO", "target": "gatepost::access",
        }));
    assert!(
        line_of["client"]
            .as_str()
            .is_some_and(|client| client.starts_with("gate-"))
    );
    assert!(
        line_of["duration_ms"]
            .as_f64()
            .is_some_and(|took| took > 0.0)
    );
    let length = found
        .header("content-length")
        .and_then(|length| length.parse().ok());
    assert_eq!(line_of["bytes"].as_u64(), length);

    let nobody = wire
        .call(b"GET /api/v5/delegate/list HTTP/1.1\r\nHost: x\r\n\r\n")
        .expect("an answer");
    assert_eq!(nobody.status, 401);
    let line_of = line(&venue, nobody.header("x-request-id").expect("an id"));
    assert_eq!(
        (&line_of["status"], &line_of["client"]),
        (&json!(401), &Value::Null)
    );

    let log = venue.log();
    lacks(&log, ["SECRET", "fields", venue.token.as_str(), "secret"]);
    // The token endpoint, the three requests, and the delegate.
    let lines = log.lines().filter(|line| line.contains("gatepost::access"));
    assert_eq!(lines.count(), 5, "{log}");
}

#[test]
fn a_text_log_is_for_people_and_has_no_secrets_either() {
    let venue = Venue::open(&["--access-log", "--log-format", "text"]);
    let mut wire = venue.served.wire();
    venue.delegate(&mut wire, "SECRET-1");
    let found = venue.get(&mut wire, "/delegate/barcode:SECRET-1?fields=id,barcode");
    let id = found.header("x-request-id").expect("an id").to_owned();
    until("the request is in the log", || venue.log().contains(&id));
    let log = venue.log();
    let line = log.lines().find(|line| line.contains(&id)).expect("a line");
    has(
        line,
        [
            "INFO gatepost::access: ",
            "method=GET",
            "path=\"/api/v5/delegate/barcode:…\"",
            "status=200",
            "address=127.0.0.1",
            "client=\"gate",
        ],
    );
    // One time stamp first, no colours in a file, no JSON.
    assert!(line.starts_with("20") && line.contains('Z'), "{line}");
    assert!(!log.contains('\u{1b}') && !log.contains('{'), "{log}");
    lacks(&log, ["SECRET", "fields", venue.token.as_str()]);
}

#[test]
fn without_asking_for_it_there_is_no_access_log_and_ids_are_there_all_the_same() {
    let venue = Venue::open(&["--log-level", "debug"]);
    let mut wire = venue.served.wire();
    venue.delegate(&mut wire, "A-1");
    let mut ids = Vec::new();
    for path in words("/delegate/barcode:A-1 /no/such/path /delegate/barcode:A-2") {
        let answer = venue.get(&mut wire, path);
        ids.push(answer.header("x-request-id").expect("an id").to_owned());
    }
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 3);
    let db = venue.db.clone();
    venue.served.stop();
    let log = std::fs::read_to_string(crate::faults::process::beside(&db, ".log")).expect("a log");
    has(&log, "stopping");
    lacks(&log, "gatepost::access");
}

/// What a listed page tells is complete only once it is through.
#[test]
fn a_streamed_answer_is_logged_with_all_its_bytes() {
    let venue = Venue::open(&["--access-log", "--log-format", "json"]);
    let response = crate::harness::plain()
        .get(format!("http://{}/docs", venue.served.address))
        .send();
    let response = response.expect("an answer");
    let id = response.headers()["x-request-id"]
        .to_str()
        .expect("text")
        .to_owned();
    let bytes = response.bytes().expect("bytes").len();
    assert_eq!(line(&venue, &id)["bytes"].as_u64(), Some(bytes as u64));
}

#[test]
fn a_log_that_cannot_be_written_stops_nobody() {
    for log in ["2>/dev/full", "2>&-"] {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("exec \"$0\" \"$@\" {log}"), GATEPOST]);
        let venue = Venue::open_by(shell, &["--access-log", "--log-level", "trace"]);
        let mut wire = venue.served.wire();
        for n in 0..100 {
            venue.delegate(&mut wire, &format!("A-{n}"));
        }
        assert_eq!(venue.text("/health/ready").0, 200);
        venue.served.ask("TERM");
        assert_eq!(venue.served.ended().code(), Some(0));
    }
}

/// Somebody reads the log, and stops reading: it fills up and waits for nobody.
#[test]
fn a_log_that_nobody_takes_stops_nobody() {
    let folder = tempfile::tempdir().expect("a folder");
    let pipe = folder.path().join("log");
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("mkfifo").success());
    // Held open for both, so that neither end waits for the other.
    let held = std::fs::File::options().read(true).write(true).open(&pipe);
    let _held = held.expect("the pipe");
    let mut shell = Command::new("sh");
    let redirected = format!("exec \"$0\" \"$@\" 2>'{}'", pipe.display());
    shell.args(["-c", &redirected, GATEPOST]);
    let venue = Venue::open_by(shell, &["--access-log"]);
    let mut wire = venue.served.wire();
    venue.delegate(&mut wire, "A-1");
    // A pipe holds 64 KiB, some 400 lines.
    for _ in 0..1500 {
        venue.get(&mut wire, "/delegate/barcode:A-1").is(200);
    }
}

#[test]
fn a_level_that_is_none_is_refused() {
    let (_folder, db, _) = super::prepare();
    let output = crate::faults::process::gatepost(&db, &["serve", "--log-level", "gatepost=loud"]);
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8_lossy(&output.stderr);
    has(&told, "--log-level gatepost=loud");
}
