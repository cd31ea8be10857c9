//! Damage that a start does not see is found by the check beside the gates, and told everywhere.

use super::process::until;
use crate::harness::{Server, has};
use gatepost::db::integrity::Condition;
use reqwest::Method;
use serde_json::json;

fn text(server: &Server, path: &str) -> String {
    let answer = server.request(Method::GET, path).send().expect("an answer");
    assert_eq!(answer.status(), 200, "{path}");
    answer.text().expect("text")
}

#[test]
fn damage_that_the_start_passes_over_is_found_and_told() {
    let mut server = Server::start();
    let api = server.caller_with_all();
    for number in 0..50 {
        api.delegate(&json!({"barcode": format!("B-{number}")}));
    }
    let checked = |server: &Server| {
        let integrity = server.app.store.integrity();
        until("it is checked", || {
            integrity.condition() != Condition::Unchecked
        });
        integrity.condition()
    };
    assert!(matches!(checked(&server), Condition::Sound(_)));
    has(text(&server, "/metrics"), "gatepost_database_damaged 0");
    // An index that lacks an entry: every page is whole, so a quick look finds nothing.
    server.restart_after(|server| {
        server.sql(
            "PRAGMA writable_schema = 1;
             UPDATE sqlite_schema SET sql = replace(sql, 'WHERE', 'WHERE barcode <> ''B-7'' AND') WHERE name = 'delegates_barcode';
             PRAGMA writable_schema = RESET; REINDEX delegates_barcode;
             PRAGMA writable_schema = 1;
             UPDATE sqlite_schema SET sql = replace(sql, 'WHERE barcode <> ''B-7'' AND', 'WHERE') WHERE name = 'delegates_barcode';",
        );
    });
    let Condition::Damaged(_, lines) = checked(&server) else {
        panic!("{:?}", server.app.store.integrity())
    };
    assert!(
        lines[0].contains("missing from index delegates_barcode"),
        "{lines:?}"
    );
    let metrics = text(&server, "/metrics");
    has(&metrics, "gatepost_database_damaged 1");
    has(&metrics, "gatepost_database_checked_timestamp_seconds");
    // Gates go on.
    text(&server, "/health/ready");
    server.caller_with_all().delegate(&json!({"barcode": "C"}));
    let html = server.viewer().get("/console").shown();
    has(&html, "The database file is damaged");
}

#[test]
fn a_check_ends_with_the_server() {
    let server = Server::start();
    let integrity = server.app.store.integrity();
    integrity.end();
    let before = integrity.condition();
    integrity.check().expect("nothing to do");
    assert_eq!(integrity.condition(), before);
}
