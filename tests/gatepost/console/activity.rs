//! Activity as sentences: in the order of what happened, folded, and with an undo for whoever may.

use super::Crew;
use crate::harness::{Caller, Server, has, lacks};
use serde_json::json;

/// Ada, Grace and a hall.
fn hall(gate: &Caller) -> (i64, i64) {
    let ada = gate.delegate(&json!({"barcode": "A-1", "firstName": "Ada", "lastName": "Lovelace"}));
    gate.delegate(&json!({"barcode": "B-1", "firstName": "Grace", "lastName": "Hopper"}));
    (ada, gate.device(&json!({"name": "Hall A", "code": "hall"})))
}

impl Crew {
    /// Checks somebody in at the desk.
    fn check_in(&self, place: i64, code: &str) {
        let form = [("place", &*place.to_string()), ("q", code)];
        self.post("/console/desk/check-in", &form).shown();
    }
}

#[test]
fn who_may_undo_is_offered_it_and_sees_who_did_it_when() {
    let server = Server::start();
    let gate = server.caller_with_all();
    let (ada, hall) = hall(&gate);
    let operator = server.operator();
    operator.check_in(hall, "A-1");
    gate.interact(
        "check-in",
        &json!({"delegate": "barcode:B-1", "device": hall}),
    );
    let person = format!("/console/delegates/{ada}");
    let (own, of_gate) = (
        "/console/interactions/1/undo",
        "/console/interactions/2/undo",
    );
    let page = operator.page("/console/interactions");
    has(&page, own);
    lacks(&page, of_gate);
    has(operator.page(&person), own);
    let viewer = server.viewer();
    for path in ["/console/interactions", &*person, "/console/interactions/1"] {
        lacks(viewer.page(path), "/undo\"");
    }
    viewer
        .post(own, &[])
        .refused(403, "needs the role operator");
    operator
        .post(of_gate, &[])
        .refused(403, "only what you recorded");
    let administrator = server.administrator();
    has(administrator.page("/console/interactions"), of_gate);
    // On the page of the attendee, it leads back there.
    let led = operator
        .post(own, &[("delegate", &*ada.to_string())])
        .taken();
    assert_eq!(led, format!("{person}?undone=1"));
    let page = operator.page(&led);
    has(&page, "Checked in at Hall A</del>");
    has(&page, "Undone by operator@example.com");
    has(&page, "autofocus");
    lacks(&page, own);
    // Twice is no failure, and nothing is deleted but that.
    operator.post(own, &[]).taken();
    administrator.post(of_gate, &[]).taken();
    assert_eq!(server.count("interactions"), 0);
    let page = operator.page("/console/interactions/undone");
    for told in [
        "Ada Lovelace",
        "Grace Hopper",
        "Undone by administrator@example.com",
    ] {
        has(&page, told);
    }
    assert_eq!(page.matches("<del>").count(), 2, "{page}");
    has(&page, "<span class=\"badge \">2");
    let page = operator.page("/console/interactions/undone?delegate=grace");
    assert_eq!(page.matches("<del>").count(), 1, "{page}");
}

#[test]
fn what_comes_late_stands_where_it_happened() {
    let server = Server::start();
    let gate = server.caller_with_all();
    let (_, hall) = hall(&gate);
    let at = |ago_s: i64| -> String {
        server.value(&format!(
            "SELECT strftime('%Y-%m-%dT%H:%M:%SZ', 'now', '-{ago_s} seconds')"
        ))
    };
    let scan = |code: &str, ago_s: i64| {
        let body =
            json!({"delegate": code, "device": hall, "admitted": true, "recordedAt": at(ago_s)});
        gate.interact("check-in", &body);
    };
    scan("barcode:A-1", 0);
    scan("barcode:B-1", 7200);
    scan("barcode:B-1", 3600);
    // A code that nobody has yet, in between.
    scan("barcode:LATE-1", 5400);
    let viewer = server.viewer();
    let page = viewer.page("/console/interactions");
    let names: Vec<&str> = page
        .split("<li id=\"")
        .skip(1)
        .map(|row| &row[..2])
        .collect();
    assert_eq!(names, ["i1", "i3", "r1", "i2"], "{page}");
    assert_eq!(page.matches("came in later").count(), 3, "{page}");
    // Each once, whatever the page begins with.
    let csv = viewer.page("/console/interactions/export");
    assert_eq!(csv.lines().count(), 5, "{csv}");
    let csv = viewer.page("/console/interactions/export?delegate=grace");
    assert_eq!(csv.lines().count(), 3, "{csv}");
}

#[test]
fn pages_lead_through_what_came_late_at_one_moment() {
    let server = Server::start();
    let gate = server.caller_with_all();
    let (_, hall) = hall(&gate);
    gate.interact(
        "check-in",
        &json!({"delegate": "barcode:A-1", "device": hall}),
    );
    server.sql(
        "WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 1300)
         INSERT INTO interactions (id, interaction_type, first_delegate_id, first_device_id, recorded_at, created_at, client_id)
         SELECT i, 'lead', first_delegate_id, first_device_id, recorded_at - 3600000, created_at, 1 FROM n, interactions WHERE id = 1",
    );
    let viewer = server.viewer();
    let csv = viewer.page("/console/interactions/export");
    assert_eq!(csv.lines().count(), 1301, "{}", &csv[..200]);
    let (mut path, mut rows) = ("/console/interactions".to_owned(), 0);
    loop {
        let page = viewer.page(&path);
        rows += page.matches("data-at=").count();
        let older = page.split("?before=").nth(1);
        let Some(older) = older.and_then(|rest| rest.split('"').next()) else {
            break;
        };
        path = format!("/console/interactions?before={older}");
    }
    assert_eq!(rows, 1300);
}

#[test]
fn what_machines_repeat_is_one_row_that_opens() {
    let server = Server::start();
    let gate = server.caller_with_all();
    let (_, hall) = hall(&gate);
    gate.interact(
        "check-in",
        &json!({"delegate": "barcode:A-1", "device": hall}),
    );
    for _ in 0..4 {
        gate.interact("seen", &json!({"delegate": "barcode:A-1", "device": hall}));
    }
    for (one, other) in [
        ("barcode:A-1", "barcode:B-1"),
        ("barcode:B-1", "barcode:A-1"),
    ] {
        gate.interact(
            "connect",
            &json!({"firstDelegate": one, "secondDelegate": other}),
        );
    }
    let viewer = server.viewer();
    let page = viewer.page("/console/interactions");
    // A run may lie across the end of five minutes.
    has(&page, "sightings</strong> at Hall A");
    has(&page, "connected with");
    lacks(&page, "asked for a connection");
    assert!(page.matches("data-at=").count() <= 6, "{page}");
    let all = viewer.page("/console/interactions?many=sightings");
    assert_eq!(all.matches("seen at").count(), 4, "{all}");
    assert_eq!(
        viewer
            .page("/console/interactions?type=seen")
            .matches("data-at=")
            .count(),
        4
    );
    let person = viewer.page("/console/delegates/1");
    has(&person, "4 sightings</strong> at Hall A");
    has(&person, "Checked in at");
}

#[test]
fn an_import_is_one_row() {
    let server = Server::start();
    hall(&server.caller_with_all());
    let list = server.file(
        "early.csv",
        "Type,Delegate barcode,Device code\ncheck-in,A-1,hall\ncheck-in,B-1,hall\n",
    );
    server.done(&["import", "interactions", &list]);
    let viewer = server.viewer();
    let page = viewer.page("/console/interactions");
    has(&page, "2 interactions</strong> imported from");
    assert_eq!(page.matches("data-at=").count(), 1, "{page}");
    // Where somebody is looked for, the rows are there.
    has(
        viewer.page("/console/interactions?delegate=ada"),
        "Ada Lovelace",
    );
}
