//! Reports in the console: looked at by everybody, made and changed by administrators.

use super::{report, with};
use crate::{
    console::{Crew, Page},
    harness::Server,
};
use gatepost::{
    domain::reports,
    identity::{ConsoleRole, Scope},
};
use reqwest::Method;
use serde_json::json;

const NEW: &str = "/console/reports/new";
const EDIT: &str = "/console/reports/test/r/edit";

/// The form of an editor's page, as a browser would send it.
fn fields(changes: &[(&str, &str)]) -> Vec<(String, String)> {
    let mut fields: Vec<(String, String)> = [
        ("dashboard", "test"),
        ("id", "r"),
        ("label", "Delegates"),
        ("query", "SELECT id, first_name FROM delegates ORDER BY id"),
        ("exposed", "none"),
        ("do", "save"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .to_vec();
    for (name, value) in changes {
        fields.retain(|(known, _)| known != name);
        fields.push(((*name).to_owned(), (*value).to_owned()));
    }
    fields
}

fn parameter(fields: &mut Vec<(String, String)>, line: [&str; 5]) {
    let at = fields.iter().filter(|(name, _)| name.starts_with("name"));
    let at = at.count();
    for (name, value) in ["name", "title", "kind", "sort", "value"].iter().zip(line) {
        fields.push((format!("{name}{at}"), value.to_owned()));
    }
}

fn send(crew: &Crew, path: &str, fields: &[(String, String)]) -> Page {
    let fields: Vec<(&str, &str)> = fields
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    crew.post(path, &fields)
}

/// The version that an editor begins on.
fn version(crew: &Crew) -> String {
    crew.get(EDIT).version()
}

fn stored(server: &Server, dashboard: &str, id: &str) -> Option<reports::Report> {
    let found = server
        .app
        .store
        .look_up(|connection| reports::find(connection, dashboard, id));
    found.ok().map(|stored| stored.report)
}

#[test]
fn a_report_is_made_tried_run_and_fetched() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Administrator);
    let all = server.caller_with_all();
    for name in ["Ada <b>", "Bo"] {
        all.delegate(&json!({"firstName": name}));
    }
    let (client, _) = server.client(&[], &[Scope::ReportRead]);
    let html = crew.get(NEW).shown();
    for part in ["transaction_payments", "first_delegate_id", &client] {
        assert!(html.contains(part), "no {part}");
    }
    let mut form = fields(&[
        (
            "query",
            "SELECT id, first_name FROM delegates WHERE id > :after\r\nAND id < :below ORDER BY id",
        ),
        ("exposed", "some"),
        ("client", &client),
        ("do", "try"),
    ]);
    parameter(
        &mut form,
        ["after", "Only those after", "ask", "number", "1"],
    );
    parameter(&mut form, ["below", "", "fixed", "text", "10"]);
    parameter(&mut form, ["", "", "ask", "text", ""]);
    let tried = send(&crew, NEW, &form).shown();
    assert!(tried.contains("Bo") && !tried.contains("Ada"), "{tried}");
    assert!(stored(&server, "test", "r").is_none());
    form.retain(|(name, _)| name != "do");
    assert_eq!(send(&crew, NEW, &form).taken(), "/console/reports/test/r");
    let made = stored(&server, "test", "r").expect("it is stored");
    assert_eq!(
        json!(made),
        json!({
            "dashboard": "test", "id": "r", "label": "Delegates",
            "query": "SELECT id, first_name FROM delegates WHERE id > :after\nAND id < :below ORDER BY id",
            "parameters": [{"name": "after", "label": "Only those after", "type": "number"}],
            "fixed": [{"name": "below", "value": 10}], "api_clients": [client],
        })
    );
    // It is asked for what it needs before it is run.
    let viewer = server.crew(ConsoleRole::Viewer);
    let html = viewer.get("/console/reports/test/r").shown();
    assert!(
        html.contains("Only those after") && !html.contains("<table"),
        "{html}"
    );
    assert!(!html.contains("/edit"), "a viewer changes nothing");
    let html = viewer.get("/console/reports/test/r?p.after=0").shown();
    assert!(
        html.contains("Ada &#60;b&#62;") && html.contains("2 rows"),
        "{html}"
    );
    let html = crew.get(EDIT).shown();
    assert!(
        html.contains("<option value=\"number\" selected>"),
        "{html}"
    );
    let refused = viewer.get("/console/reports/test/r?p.after=some");
    refused.refused(422, "After: must be a number");
    assert!(
        refused.html.contains("value=\"some\""),
        "what was typed is lost"
    );
    let file = |format: &str| {
        let path = format!("/console/reports/test/r/file?format={format}&p.after=1");
        let answer = viewer.request(Method::GET, &path).send().expect("a file");
        let named = answer.headers()["content-disposition"]
            .to_str()
            .expect("text")
            .to_owned();
        assert!(named.contains(&format!("r.{format}")), "{named}");
        answer.text().expect("text")
    };
    assert_eq!(file("csv"), "\u{feff}id,first_name\r\n2,Bo\r\n");
    assert!(file("json").contains("\"first_name\":\"Bo\""));
    assert!(crew.get("/console/reports").shown().contains("Delegates"));
    let audit = crew.get("/console/audit?type=report").shown();
    assert!(audit.contains("Delegates"), "{audit}");
}

#[test]
fn what_is_wrong_is_told_beside_the_form_and_nothing_is_lost() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Administrator);
    server.put(&report("SELECT 1"));
    for (changes, about) in [
        (
            [("query", "SELECT secret_hash FROM clients")].as_slice(),
            "prohibited",
        ),
        (
            &[("query", "SELECT nowhere FROM delegates")],
            "No such column: nowhere (line 1, column 8)",
        ),
        (&[("query", "SELECT :name")], ":name is neither"),
        (&[("label", "")], "id=\"label-error\">Must have"),
        (&[("id", "a b")], "id=\"id-error\">Must have"),
        (&[("id", "r")], "There is a report r"),
        (
            &[
                ("query", "SELECT abs(-9223372036854775807 - 1)"),
                ("do", "try"),
            ],
            "nteger overflow",
        ),
    ] {
        let mut all = vec![("id", "other")];
        all.extend_from_slice(changes);
        let refused = send(&crew, NEW, &fields(&all));
        refused.refused(422, about);
        let typed = changes[0].1;
        assert!(
            refused.html.contains(typed),
            "what was typed is lost: {typed}"
        );
    }
    assert!(stored(&server, "test", "other").is_none());
}

#[test]
fn two_who_change_one_report_are_told() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Administrator);
    server.put(&report("SELECT 1"));
    let both_saw = version(&crew);
    let mine = fields(&[("query", "SELECT 2"), ("version", &both_saw)]);
    send(&crew, EDIT, &mine).taken();
    let other = fields(&[("query", "SELECT 3"), ("version", &both_saw)]);
    let refused = send(&crew, EDIT, &other);
    refused.refused(422, "<dt>SQL is now</dt><dd>SELECT 2</dd>");
    assert!(refused.html.contains("SELECT 3"));
    assert_eq!(
        stored(&server, "test", "r").expect("a report").query,
        "SELECT 2"
    );
    // Under another name, too.
    let renamed = fields(&[("id", "new"), ("version", &version(&crew))]);
    assert_eq!(
        send(&crew, EDIT, &renamed).taken(),
        "/console/reports/test/new"
    );
    crew.get("/console/reports/test/r")
        .refused(404, "no report");
    assert_eq!(
        crew.post("/console/reports/test/new/remove", &[]).taken(),
        "/console/reports"
    );
    assert!(stored(&server, "test", "new").is_none());
}

#[test]
fn shipped_reports_are_there_and_come_back_when_asked_for() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Administrator);
    let html = crew.get("/console/reports").shown();
    assert!(html.contains("Attendance by session") && !html.contains("Restore<"));
    crew.post("/console/reports/event/attendance/remove", &[])
        .taken();
    let html = crew.get("/console/reports").shown();
    assert!(!html.contains("/console/reports/event/attendance") && html.contains("Restore<"));
    crew.post("/console/reports/shipped", &[]).taken();
    assert!(
        crew.get("/console/reports")
            .shown()
            .contains("/console/reports/event/attendance")
    );
    assert_eq!(server.value::<i64>("SELECT count(*) FROM reports"), 8);
}

#[test]
fn times_are_drawn_as_a_line_and_names_as_bars() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Viewer);
    let times =
        "SELECT '2026-11-21 09:' || column1 || ':00' AS at, column2 AS people, -column2 AS less
        FROM (VALUES ('00', 3), ('15', 9), ('45', 6))";
    server.put(&report(times));
    let html = crew.get("/console/reports/test/r").shown();
    assert!(
        html.contains("<polyline points=\"0.0,66.7 200.0,0.0 600.0,33.3\""),
        "{html}"
    );
    assert!(
        html.contains("aria-label=\"People by At, 3 of them: at most 9 at 2026-11-21 09:15:00"),
        "{html}"
    );
    let html = crew
        .get("/console/reports/test/r?chart=bar&value=less")
        .shown();
    assert!(
        html.contains("<rect") && html.contains("<title>-9, 2026-11-21 09:15:00</title>"),
        "{html}"
    );
    let html = crew.get("/console/reports/test/r?chart=none").shown();
    assert!(
        !html.contains("<polyline") && !html.contains("<rect"),
        "{html}"
    );
    server.put(&report(
        "SELECT column1 AS product, column2 AS sold FROM (VALUES ('Day', 3), ('Week', 9), (NULL, 4))",
    ));
    let html = crew.get("/console/reports/test/r").shown();
    assert!(
        html.contains("named-bars") && html.contains("<span>Week</span>"),
        "{html}"
    );
    assert!(html.contains("<span>–</span>"), "{html}");
    server.put(&report("SELECT 1 AS one, 2 AS two"));
    assert!(
        !crew
            .get("/console/reports/test/r")
            .shown()
            .contains("class=\"chart\"")
    );
}

#[test]
fn a_page_shows_the_first_rows_of_many_and_the_file_has_all() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Viewer);
    server.put(&report(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) SELECT i, hex(zeroblob(40)) AS x FROM n",
    ));
    let html = crew.get("/console/reports/test/r").shown();
    assert!(html.contains("The first 500 rows") && html.matches("<tr>").count() == 501);
    let file = crew.get("/console/reports/test/r/file?format=csv").shown();
    assert_eq!(file.lines().count(), 20_001);
    // One that is endless has first rows too.
    server.put(&report(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n",
    ));
    assert!(
        crew.get("/console/reports/test/r")
            .shown()
            .contains("The first 500 rows")
    );
}

#[test]
fn who_may_fetch_is_chosen_among_clients_and_nobody_is_forgotten() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Administrator);
    let (reads, _) = server.client(&[], &[Scope::ReportRead]);
    let (bare, _) = server.client(&[], &[]);
    server.put(&with(
        &report("SELECT 1"),
        json!({"api_clients": ["of-another-instance"]}),
    ));
    let html = crew.get(EDIT).shown();
    assert!(html.contains(&reads) && !html.contains(&bare), "{html}");
    assert!(
        html.contains("value=\"of-another-instance\" checked"),
        "{html}"
    );
    let mut form = fields(&[("exposed", "some"), ("version", &version(&crew))]);
    for client in ["of-another-instance", &reads] {
        form.push(("client".into(), client.into()));
    }
    send(&crew, EDIT, &form).taken();
    let now = stored(&server, "test", "r").expect("a report");
    assert_eq!(now.api_clients, ["of-another-instance".to_owned(), reads]);
    let form = fields(&[("exposed", "all"), ("version", &version(&crew))]);
    send(&crew, EDIT, &form).taken();
    assert_eq!(
        stored(&server, "test", "r").expect("a report").api_clients,
        ["*"]
    );
}
