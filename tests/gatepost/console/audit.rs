//! The audit: found by who, what, which record and when, in pages and as a file, however much there
//! is of it.

use super::{Crew, access::between};
use crate::harness::Server;
use gatepost::identity::ConsoleRole;
use reqwest::{Method, header};
use serde_json::{Value, json};

/// What the export has of a query.
fn exported(crew: &Crew<'_>, query: &str) -> Vec<Value> {
    let text = crew
        .get(&format!("/console/audit/export?format=ndjson&{query}"))
        .shown();
    text.lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

/// `actor action type id` of what the page shows of a query, told by its export, which must have as
/// many changes as the page.
#[track_caller]
fn found(crew: &Crew<'_>, query: &str) -> Vec<String> {
    let html = crew.get(&format!("/console/audit?{query}")).shown();
    let lines = exported(crew, query);
    assert_eq!(
        html.matches("<li id=\"change-").count(),
        lines.len(),
        "{query}"
    );
    lines
        .iter()
        .map(|line| {
            let text = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
            format!(
                "{} {} {} {}",
                text("who"),
                text("action"),
                text("recordType"),
                line["recordId"]
            )
        })
        .collect()
}

#[test]
fn a_change_shows_who_what_before_and_after() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Viewer);
    let all = server.caller_with_all();
    let id = all.delegate(&json!({"firstName": "Ada", "barcode": "A-1", "data": {"Data": {"meal": "vegan", "seat": "3"}}}));
    all.patch(
        &format!("/delegate/id:{id}"),
        &json!({"firstName": "<b>Ada</b>", "data": {"Data": {"meal": "fish"}}}),
    );
    let html = crew.get("/console/audit?action=update").shown();
    assert!(
        html.contains(&format!(
            "<a href=\"/console/delegates/{id}\">&#60;b&#62;Ada"
        )),
        "{html}"
    );
    assert!(html.contains("<strong>test</strong> changed attendee"));
    assert!(
        html.contains(
            "<th scope=\"row\">First name</th><td>Ada</td><td>&#60;b&#62;Ada&#60;/b&#62;</td>"
        ),
        "{html}"
    );
    assert!(
        html.contains("Data › Data › meal</th><td>vegan</td><td>fish</td>"),
        "{html}"
    );
    assert!(!html.contains("seat") && !html.contains("A-1"));
    // Pages of users are linked for those who may open them.
    let made = crew.get("/console/audit?type=user").shown();
    assert!(made.contains("viewer@example.com") && !made.contains("href=\"/console/access"));
    let administrator = server.crew(ConsoleRole::Administrator);
    let made = administrator.get("/console/audit?type=user").shown();
    assert!(made.contains("href=\"/console/access/users/1\""));
}

#[test]
fn changes_are_found_by_who_what_which_and_when() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Administrator);
    server.sql(
        "DELETE FROM audit;
         INSERT INTO clients (client_id, secret_hash, name, roles, scopes, created_at) VALUES ('gate-b-1', x'00', 'Gate B', '[]', '[]', 1);
         INSERT INTO audit (at, actor, action, record_type, record_id, before, after) VALUES
             (1795248120000, 'user:1', 'create', 'device', 5, NULL, '{\"name\": \"Hall\"}'),
             (1795248180000, 'user:1', 'update', 'device', 5, '{\"name\": \"Hall\"}', '{\"name\": \"Hall 1\"}'),
             (1795248240000, 'client:gate-b-1', 'update', 'delegate', 5, '{\"firstName\": \"A\"}', '{\"firstName\": \"B\"}'),
             (1795248300000, 'import:list.csv', 'create', 'delegate', 6, NULL, '{\"firstName\": \"C\"}'),
             (1795248360000, 'cli', 'delete', 'user', 9, '{\"email\": \"bob@example.com\"}', NULL),
             (1795248420000, 'user:9', 'revoke', 'client', 1, '{\"clientId\": \"gate-b-1\"}', NULL);",
    );
    let (ada, bob) = ("administrator@example.com", "bob@example.com (removed)");
    let rows = [
        format!("{ada} create device 5"),
        format!("{ada} update device 5"),
        "Gate B update delegate 5".to_owned(),
        "import of list.csv create delegate 6".to_owned(),
        "command line delete user 9".to_owned(),
        format!("{bob} revoke client 1"),
    ];
    for (query, expected) in [
        ("", vec![0, 1, 2, 3, 4, 5]),
        ("who=Administrator%40", vec![0, 1]),
        ("who=gate+b", vec![2]),
        ("who=client:gate-b-1", vec![2]),
        ("who=import", vec![3]),
        ("who=command+line", vec![4]),
        ("who=bob", vec![5]),
        ("who=nobody", vec![]),
        ("action=update", vec![1, 2]),
        ("type=device", vec![0, 1]),
        ("type=delegate&id=5", vec![2]),
        ("id=5", vec![0, 1, 2]),
        ("from=2026-11-21T08:03", vec![1, 2, 3, 4, 5]),
        ("to=2026-11-21T08:03", vec![0, 1]),
        ("from=2026-11-21T08:03&to=2026-11-21T08:04", vec![1, 2]),
        ("from=2027-01-01T00:00", vec![]),
        ("who=administrator&action=create&type=device&id=5", vec![0]),
    ] {
        let expected: Vec<String> = expected
            .iter()
            .map(|at: &usize| rows[*at].clone())
            .collect();
        assert_eq!(found(&crew, query), expected, "{query}");
    }
    server.settings(&json!({"timeZone": "Europe/Berlin"}));
    server.sql("DELETE FROM audit WHERE record_type = 'settings'");
    assert_eq!(found(&crew, "from=2026-11-21T09:07"), rows[5..].to_vec());
    for (query, about) in [
        ("from=yesterday", "from: must be"),
        ("id=x", "whole number"),
    ] {
        let refused = crew.get(&format!("/console/audit?{query}"));
        assert_eq!(refused.status, 422);
        assert!(refused.html.to_lowercase().contains(about), "{refused:?}");
    }
    let nothing = crew.get("/console/audit?who=nobody").shown();
    assert!(nothing.contains("No matches"));
    assert_eq!(crew.get("/console/audit/export?format=exe").status, 400);
}

#[test]
fn the_file_for_a_spreadsheet_runs_nothing() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Viewer);
    server.sql(
        "DELETE FROM audit;
         INSERT INTO audit (at, actor, action, record_type, record_id, before, after, request_id)
             VALUES (1795248120000, '=cmd()', 'update', 'delegate', 5, '{\"a\": \"x, \\\"y\\\"\"}', '{\"a\": 1}', 'r-1')",
    );
    let answer = crew
        .request(Method::GET, "/console/audit/export?format=csv")
        .send()
        .expect("an answer");
    let named = answer.headers()[header::CONTENT_DISPOSITION]
        .to_str()
        .expect("text");
    assert_eq!(named, "attachment; filename=\"audit.csv\"");
    let text = answer.text().expect("text");
    let expected =
        "\u{feff}id,time,who,actor,action,recordType,recordId,before,after,requestId\r\n";
    assert!(text.starts_with(expected), "{text}");
    let mut reader = csv::Reader::from_reader(text.trim_start_matches('\u{feff}').as_bytes());
    let row = reader.records().next().expect("a row").expect("CSV");
    let cells: Vec<&str> = row.iter().skip(1).collect();
    let expected = [
        "2026-11-21T08:02:00+00:00",
        "'=cmd()",
        "'=cmd()",
        "update",
        "delegate",
        "5",
        "{\"a\":\"x, \\\"y\\\"\"}",
        "{\"a\":1}",
        "r-1",
    ];
    assert_eq!(cells, expected);
    let line = &exported(&crew, "")[0];
    let keys = line.as_object().expect("an object").keys();
    let keys: Vec<&str> = keys.map(String::as_str).collect();
    insta::assert_snapshot!(keys.join(","), @"id,time,who,actor,action,recordType,recordId,before,after,requestId");
}

#[test]
fn a_long_audit_is_paged_searched_in_bounded_time_and_exported_whole() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Viewer);
    server.sql(
        "DELETE FROM audit;
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000)
         INSERT INTO audit (id, at, actor, action, record_type, record_id, after)
         SELECT i, 1795248120000 + i, iif(i = 7, 'user:1', 'cli'), 'create', 'delegate', i % 1000, '{\"n\":' || i || '}' FROM n;",
    );
    let mut path = "/console/audit?type=delegate&id=3".to_owned();
    let (mut seen, mut pages) = (0, 0);
    loop {
        let html = crew.get(&path).shown();
        let lines = html.matches("<li id=\"change-").count();
        assert!(lines <= 50);
        (seen, pages) = (seen + lines, pages + 1);
        let Some(rest) = html
            .split(">Older<")
            .next()
            .filter(|_| html.contains(">Older<"))
        else {
            break;
        };
        let link = rest.rsplit("<a href=\"").next().expect("a link");
        path = link
            .split('"')
            .next()
            .expect("a path")
            .replace("&#38;", "&");
    }
    assert_eq!((seen, pages), (300, 6));
    // The one change of somebody stands at the very beginning: each step looks for a while and says
    // how far it came.
    let mut path = "/console/audit?who=user:1".to_owned();
    loop {
        let html = crew.get(&path).shown();
        if html.contains("id=\"change-7\"") {
            break;
        }
        assert!(html.contains("Searched back"), "{html}");
        let below = between(&html, "below=", "\"");
        path = format!("/console/audit?who=user:1&below={below}");
    }
    // A file of many slices, but not so many that reading it takes most of the test.
    server.sql("DELETE FROM audit WHERE id > 60000");
    let lines = exported(&crew, "");
    assert_eq!(lines.len(), 60_000);
    for (at, line) in lines.iter().enumerate() {
        assert_eq!(line["id"], json!(at + 1));
    }
    assert_eq!(exported(&crew, "who=user:1").len(), 1);
    assert_eq!(exported(&crew, "type=delegate&id=3").len(), 60);
}
