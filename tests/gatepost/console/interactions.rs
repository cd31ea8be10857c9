//! What happened, as the console shows it: live, back through history, refused, and in conflict.

use super::Crew;
use crate::harness::{Caller, Server, has, lacks};
use reqwest::{Method, blocking::Response};
use serde_json::json;
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
        let html = self.page(&format!("/console/interactions{query}"));
        html.matches("data-name=\"What\"").count()
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
    let (server, crew) = Server::with_viewer();
    let gate = server.caller_with_all();
    event_with(&gate);
    let html = crew.page("/console/interactions");
    has(&html, "Nothing yet");
    let mut stream = crew.stream_of(&html);
    let mut leads = crew.stream_of(&crew.page("/console/interactions?type=lead"));
    gate.scan("check-in", "barcode:A-1", "code:hall");
    let told = event(&mut stream);
    assert!(told.starts_with("event: lines\n"), "{told}");
    has(&told, ["Ada Lovelace", "Hall A"]);
    gate.scan("check-in", "barcode:B-1", "code:stage");
    let told = event(&mut stream);
    let (refused, first) = (
        told.find("refused").expect("it"),
        told.find("Ada").expect("it"),
    );
    assert!(refused < first, "the newest first: {told}");
    assert_eq!(told.matches("data-name=\"What\"").count(), 2, "{told}");
    // A page made now has both: a stream that goes on from it begins with what is new.
    let html = crew.page("/console/interactions");
    let mut later = crew.stream_of(&html);
    gate.scan("lead", "barcode:B-1", "code:hall");
    let told = event(&mut later);
    assert_eq!(told.matches("data-name=\"What\"").count(), 3, "{told}");
    // The filtered one slept through the rest.
    let told = event(&mut leads);
    assert_eq!(told.matches("data-name=\"What\"").count(), 1, "{told}");
    has(&told, "lead");
    lacks(&told, "check-in");
}

#[test]
fn filters_narrow_the_list_and_pages_lead_all_the_way_back() {
    let (server, crew) = Server::with_viewer();
    let gate = server.caller_with_all();
    let (hall, stage) = event_with(&gate);
    for _ in 0..60 {
        gate.scan("check-in", "barcode:A-1", hall);
    }
    gate.interact(
        "lead",
        &json!({"delegate": "barcode:B-1", "device": hall, "data": {"visit": {"stars": 5}}}),
    );
    for _ in 0..3 {
        gate.scan("check-in", "barcode:B-1", stage);
    }
    gate.scan("check-in", "barcode:NOBODY", hall);
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
        let html = crew.page(&path);
        for line in html.split("data-name=\"Time\">").skip(1) {
            seen.push(line.split("</td>").next().expect("a cell").to_owned());
        }
        let older = html.split("before=").nth(1);
        let Some(older) = older.and_then(|rest| rest.split('"').next()) else {
            break;
        };
        path = format!("/console/interactions?before={older}");
    }
    assert_eq!(seen.len(), 65);
    let linked: std::collections::BTreeSet<_> =
        seen.iter().filter(|cell| cell.contains("id=\"i")).collect();
    assert_eq!(linked.len(), 61);
}

#[test]
fn refusals_are_found_by_reason_device_and_time_and_taken_away_as_csv() {
    let (server, crew) = Server::with_viewer();
    let gate = server.caller_with_all();
    let (_, stage) = event_with(&gate);
    gate.scan("check-in", "barcode:A-1", stage);
    gate.scan("check-in", "barcode:=1+1", stage);
    server.sql("UPDATE refusals SET at = at - 86400000 WHERE code = 1301");
    let lines = |query: &str| {
        let html = crew.page(&format!("/console/interactions/refusals{query}"));
        html.matches("data-name=\"Why\"").count()
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
    let csv = crew.page("/console/interactions/refusals/export?code=1301");
    let rows: Vec<&str> = csv.lines().collect();
    assert_eq!(rows.len(), 2, "{csv}");
    insta::assert_snapshot!(rows[0].trim_start_matches('\u{feff}'), @"at,recordedAt,type,delegate,delegateId,scanned,device,deviceId,code,reason,sentBy");
    assert!(
        rows[1].contains("barcode:=1+1") && rows[1].contains(",1301,"),
        "{csv}"
    );
    let all = crew.page("/console/interactions/refusals/export");
    assert_eq!(all.lines().count(), 3, "{all}");
}

#[test]
fn conflicts_say_what_the_gate_did_and_what_the_rules_say() {
    let (server, crew) = Server::with_viewer();
    crew.sees("/console/interactions/conflicts", "No conflicts");
    let gate = server.caller_with_all();
    event_with(&gate);
    let body = json!({"delegate": "barcode:A-1", "device": "code:stage", "admitted": true});
    let id = gate.interact("check-in", &body).id();
    let html = crew.page("/console/interactions/conflicts");
    has(
        &html,
        [
            "let in",
            "refused",
            "Not joined",
            "Ada Lovelace",
            "/console/delegates/1",
        ],
    );
    let html = crew.page(&format!("/console/interactions/{id}"));
    has(&html, "the rules would have refused it");
    has(&html, "the gate, before it asked");
}

#[test]
fn an_interaction_shows_its_answers_and_shared_values_and_who_sent_it() {
    let (server, crew) = Server::with_operator();
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
    let html = crew.page(&path);
    has(
        &html,
        [
            "<dt>Interested in</dt><dd>&#60;b&#62;looms&#60;/b&#62;</dd>",
            "a picture of a loom",
            "<dd>test</dd>",
            "Ada Lovelace",
            "Hall A",
        ],
    );
    lacks(&html, "Delete");
    crew.post(&format!("{path}/delete"), &[])
        .refused(403, "needs the role administrator");
    let ada = server.administrator();
    ada.press(&format!("{path}/delete"));
    ada.get(&path).refused(404, "may have been deleted");
    ada.post(&format!("{path}/delete"), &[])
        .refused(404, "There is no interaction");
    let audited: i64 = server.value(&format!(
        "SELECT count(*) FROM audit WHERE record_type = 'interaction' AND record_id = {id}
         AND action = 'delete' AND actor LIKE 'user:%'"
    ));
    assert_eq!(audited, 1);
}
