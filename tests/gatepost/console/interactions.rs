//! What happened, as the console shows it: live, back through history, refused, and in conflict.

use super::Crew;
use crate::harness::{Caller, Server, has};
use gatepost::{
    domain::interactions::late_codes,
    identity::{ConsoleRole, Role},
};
use reqwest::{Method, blocking::Response};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};

/// The next event of a stream.
fn event(stream: &mut BufReader<Response>) -> String {
    let mut text = String::new();
    loop {
        let mut line = String::new();
        assert!(stream.read_line(&mut line).expect("a line") > 0, "{text}");
        if line == "\n" {
            return text;
        }
        text += &line;
    }
}

impl Crew {
    /// The stream that a page listens to.
    fn stream_of(&self, html: &str) -> BufReader<Response> {
        let path = html
            .split("sse-connect=\"")
            .nth(1)
            .and_then(|rest| rest.split('"').next())
            .expect("a stream")
            .replace("&#38;", "&");
        let response = self.request(Method::GET, &path).send();
        BufReader::new(response.expect("a stream"))
    }

    fn lines(&self, query: &str) -> usize {
        let html = self.get(&format!("/console/interactions{query}")).shown();
        html.matches("data-at=").count()
    }
}

/// Two delegates, a hall, and a stage that lets nobody in who did not join.
fn event_with(gate: &Caller) -> (i64, i64) {
    gate.delegate(&json!({"barcode": "A-1", "firstName": "Ada", "lastName": "Lovelace"}));
    gate.delegate(
        &json!({"barcode": "B-1", "firstName": "Grace", "lastName": "Hopper", "company": "Navy"}),
    );
    let hall = gate.device(&json!({"name": "Hall A", "code": "hall"}));
    let stage = gate.device(&json!({
        "name": "Stage", "code": "stage", "data": {"Access": {"ruleSet": "simple"}}
    }));
    (hall, stage)
}

#[test]
fn the_tail_shows_what_comes_in_and_nothing_twice() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Viewer);
    let gate = server.caller_with_all();
    event_with(&gate);
    let html = crew.get("/console/interactions").shown();
    assert!(html.contains("Nothing yet"), "{html}");
    let mut stream = crew.stream_of(&html);
    let mut leads = crew.stream_of(&crew.get("/console/interactions?type=lead").shown());
    gate.interact(
        "check-in",
        &json!({"delegate": "barcode:A-1", "device": "code:hall"}),
    );
    let told = event(&mut stream);
    assert!(told.starts_with("event: rows\n"), "{told}");
    assert!(
        told.contains("Ada Lovelace") && told.contains("Hall A"),
        "{told}"
    );
    gate.interact(
        "check-in",
        &json!({"delegate": "barcode:B-1", "device": "code:stage"}),
    );
    // Only what is new, and a refusal with its reason.
    let told = event(&mut stream);
    assert!(told.contains("refused") && !told.contains("Ada"), "{told}");
    assert_eq!(told.matches("data-at=").count(), 1, "{told}");
    // A page made now has both: a stream that goes on from it begins with what is new.
    let html = crew.get("/console/interactions").shown();
    let mut later = crew.stream_of(&html);
    gate.interact(
        "lead",
        &json!({"delegate": "barcode:B-1", "device": "code:hall"}),
    );
    let told = event(&mut later);
    assert_eq!(told.matches("data-at=").count(), 1, "{told}");
    // The filtered one slept through the rest.
    let told = event(&mut leads);
    assert_eq!(told.matches("data-at=").count(), 1, "{told}");
    assert!(told.contains("gave a contact"), "{told}");
}

#[test]
fn filters_narrow_the_list_and_pages_lead_all_the_way_back() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Viewer);
    let gate = server.caller_with_all();
    let (hall, stage) = event_with(&gate);
    for _ in 0..60 {
        gate.interact(
            "check-in",
            &json!({"delegate": "barcode:A-1", "device": hall}),
        );
    }
    gate.interact(
        "lead",
        &json!({"delegate": "barcode:B-1", "device": hall, "data": {"visit": {"stars": 5}}}),
    );
    for _ in 0..3 {
        gate.interact(
            "check-in",
            &json!({"delegate": "barcode:B-1", "device": stage}),
        );
    }
    gate.interact(
        "check-in",
        &json!({"delegate": "barcode:NOBODY", "device": hall}),
    );
    assert_eq!(crew.lines(""), 50);
    assert_eq!(crew.lines("?refused=on"), 4);
    assert_eq!(crew.lines("?type=lead"), 1);
    assert_eq!(crew.lines(&format!("?device={stage}")), 3);
    assert_eq!(crew.lines("?delegate=grace+hop"), 4);
    assert_eq!(crew.lines("?delegate=g"), 4, "short texts, too");
    assert_eq!(crew.lines("?delegate=navy&type=lead"), 1);
    assert_eq!(crew.lines("?delegate=nobody"), 1, "a code that nobody has");
    assert_eq!(crew.lines("?delegate=zuse"), 0);
    assert_eq!(
        crew.lines(r#"?search={"==":["interactionType","lead"]}"#),
        1
    );
    assert_eq!(
        crew.lines(r#"?search={"ud":["visit.stars",">=",4]}&type=lead"#),
        1
    );
    crew.get(r#"/console/interactions?search={"==":["colour",1]}"#)
        .refused(422, "colour");
    crew.get("/console/interactions?device=x")
        .refused(422, "whole number");
    // Each line once, on one page or the next.
    let mut path = "/console/interactions".to_owned();
    let mut seen = Vec::new();
    loop {
        let html = crew.get(&path).shown();
        for line in html.split("<li id=\"").skip(1) {
            seen.push(line.split('"').next().expect("a name").to_owned());
        }
        let older = html.split("?before=").nth(1);
        let Some(older) = older.and_then(|rest| rest.split('"').next()) else {
            break;
        };
        path = format!("/console/interactions?before={older}");
    }
    assert_eq!(seen.len(), 65);
    let linked: std::collections::BTreeSet<_> =
        seen.iter().filter(|name| name.starts_with('i')).collect();
    assert_eq!(linked.len(), 61);
}

#[test]
fn refusals_are_found_by_reason_device_and_time_and_taken_away_as_csv() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Viewer);
    let gate = server.caller_with_all();
    let (_, stage) = event_with(&gate);
    gate.interact(
        "check-in",
        &json!({"delegate": "barcode:A-1", "device": stage}),
    );
    gate.interact(
        "check-in",
        &json!({"delegate": "barcode:=1+1", "device": stage}),
    );
    server.sql("UPDATE refusals SET at = at - 86400000 WHERE code = 1301");
    let lines = |query: &str| {
        let html = crew
            .get(&format!("/console/interactions/refusals{query}"))
            .shown();
        html.matches("data-at=").count()
    };
    assert_eq!(lines(""), 2);
    assert_eq!(lines("?code=741"), 1);
    assert_eq!(lines("?code=744"), 0);
    assert_eq!(lines(&format!("?device={stage}")), 2);
    assert_eq!(lines("?delegate=lovelace"), 1);
    let noon = |ago_s: i64| -> String {
        server.value(&format!(
            "SELECT strftime('%Y-%m-%dT%H:%M', 'now', '-{ago_s} seconds')"
        ))
    };
    assert_eq!(lines(&format!("?since={}", noon(3600))), 1);
    assert_eq!(lines(&format!("?until={}", noon(3600))), 1);
    crew.get("/console/interactions/refusals?since=yesterday")
        .refused(422, "since");
    let csv = crew
        .get("/console/interactions/refusals/export?code=1301")
        .shown();
    let rows: Vec<&str> = csv.lines().collect();
    assert_eq!(rows.len(), 2, "{csv}");
    insta::assert_snapshot!(rows[0].trim_start_matches('\u{feff}'), @"at,recordedAt,type,delegate,delegateId,scanned,device,deviceId,code,reason,sentBy");
    assert!(
        rows[1].contains("barcode:=1+1") && rows[1].contains(",1301,"),
        "{csv}"
    );
    let all = crew.get("/console/interactions/refusals/export").shown();
    assert_eq!(all.lines().count(), 3, "{all}");
}

#[test]
fn scans_of_codes_that_came_later_are_recorded_by_an_operator() {
    let server = Server::start();
    let operator = server.crew(ConsoleRole::Operator);
    let gate = server.caller_with_all();
    let (hall, _) = event_with(&gate);
    let steward = server.caller_as_user("steward@example.com", Role::ALL, None);
    steward
        .scan("check-in", "barcode:LATE-1", hall)
        .refused(404, 1301, "LATE-1");
    // Who gets an id later is not whom a gate meant by it.
    let next: i64 = server.value("SELECT coalesce(max(id), 0) + 1 FROM delegates");
    let by_id = format!("id:{next}");
    steward.scan("check-in", by_id, hall).refused(404, 1301, "");
    let here = "/console/interactions/refusals";
    let offered = |crew: &Crew| crew.get(here).shown().contains("Record 1 scan");
    assert!(!offered(&operator));
    let eve = gate.delegate(&json!({"firstName": "Eve", "barcode": "LATE-1"}));
    assert_eq!(eve, next);
    assert!(offered(&operator));
    let viewer = server.crew(ConsoleRole::Viewer);
    assert!(!offered(&viewer));
    viewer.post(&format!("{here}/late"), &[]).refused(403, "");
    // Two who press the button at once have found the same scans.
    let other = server.app.store.look_up(late_codes::find).expect("scans");
    operator.post(&format!("{here}/late"), &[]).taken();
    assert!(!offered(&operator));
    let again = server.write(move |tx, ctx| late_codes::record_all(tx, ctx, &other));
    assert_eq!(again, 0);
    let recorded = format!(
        "interactions i JOIN users u ON u.id = i.user_id
         WHERE interaction_type = 'check-in' AND first_delegate_id = {eve} AND u.email = 'operator@example.com'"
    );
    assert_eq!(server.count(&recorded), 1);
    assert_eq!(
        server.count(&format!("interactions WHERE first_delegate_id = {eve}")),
        1
    );
    let left: String = server.value("SELECT delegate FROM refusals WHERE code = 1301");
    assert_eq!(left, format!("id:{next}"));
}

#[test]
fn an_import_on_the_command_line_tells_of_scans_that_came_before_it() {
    let server = Server::start();
    let gate = server.caller_with_all();
    let (hall, _) = event_with(&gate);
    for code in ["barcode:LATE-1", "barcode:LATE-1", "barcode:NEVER"] {
        gate.scan("check-in", code, hall).refused(404, 1301, "");
    }
    let list = server.file("late.csv", "Barcode,First name\nLATE-1,Eve\n");
    let import = ["import", "delegates", &list];
    let json = |more: &[&str]| -> Value {
        let told = server.done(&[&import[..], &["--json"], more].concat());
        serde_json::from_str(&told).expect("JSON")
    };
    assert_eq!(json(&["--dry-run"])["lateScans"], Value::Null);
    has(
        server.done(&import),
        "gates refused 2 scans of codes that are known by now",
    );
    assert_eq!(json(&["--again", "--key", "barcode"])["lateScans"], 2);
}

#[test]
fn conflicts_say_what_the_gate_did_and_what_the_rules_say() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Viewer);
    assert!(
        crew.get("/console/interactions/conflicts")
            .shown()
            .contains("No conflicts")
    );
    let gate = server.caller_with_all();
    event_with(&gate);
    let body = json!({"delegate": "barcode:A-1", "device": "code:stage", "admitted": true});
    let id = gate.interact("check-in", &body).id();
    let html = crew.get("/console/interactions/conflicts").shown();
    for told in [
        "The gate let these people in",
        "Conflict: ",
        "Stage",
        "Ada Lovelace",
        "/console/delegates/1",
    ] {
        assert!(html.contains(told), "no {told} in {html}");
    }
    let html = crew.get(&format!("/console/interactions/{id}")).shown();
    assert!(html.contains("the rules would have refused it"), "{html}");
    assert!(html.contains("the gate, offline"), "{html}");
}

#[test]
fn an_interaction_shows_its_answers_and_shared_values_and_who_sent_it() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    let gate = server.caller_with_all();
    event_with(&gate);
    let batch = json!({
        "interactions": {"a": {
            "interactionType": "lead", "firstDelegate": "barcode:A-1", "firstDevice": "code:hall",
            "data": {
                "form": "lead", "photo": {"$shared": "p"},
                "answers": [{"field": "interest", "fieldLabel": "Interested in", "answer": "<b>looms</b>"}]
            }
        }},
        "sharedValues": {"p": "a picture of a loom"}
    });
    let made = gate.post("/interaction/batch", &batch);
    let id = made.data()[0]["data"]["id"].as_i64().expect("an id");
    let path = format!("/console/interactions/{id}");
    let html = crew.get(&path).shown();
    for told in [
        "<dt>Interested in</dt><dd>&#60;b&#62;looms&#60;/b&#62;</dd>",
        "a picture of a loom",
        "<dd>test</dd>",
        "Ada Lovelace",
        "Hall A",
    ] {
        assert!(html.contains(told), "no {told} in {html}");
    }
    assert!(
        !html.contains("Delete"),
        "an operator deletes nothing: {html}"
    );
    crew.post(&format!("{path}/delete"), &[])
        .refused(403, "needs the role administrator");
    let ada = server.crew(ConsoleRole::Administrator);
    ada.post(&format!("{path}/delete"), &[]).taken();
    ada.get(&path).refused(404, "may have been deleted");
    ada.post(&format!("{path}/delete"), &[])
        .refused(404, "There is no interaction");
    let audited: i64 = server.value(&format!(
        "SELECT count(*) FROM audit WHERE record_type = 'interaction' AND record_id = {id}
         AND action = 'delete' AND actor LIKE 'user:%'"
    ));
    assert_eq!(audited, 1);
}
