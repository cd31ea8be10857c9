//! `/report/...`, sentence by sentence of the spec and the contract.

use super::{report, with};
use crate::harness::{Server, whole};
use gatepost::identity::{Role, Scope};
use reqwest::Method;
use serde_json::json;
use std::io::Read;

const JSON: &str = "/report/test/export/r/data.json";
const CSV: &str = "/report/test/export/r/data.csv";

#[test]
fn a_report_is_fetched_as_json_and_as_csv() {
    let server = Server::start();
    let all = server.caller_with_all();
    all.delegate(&json!({"firstName": "Ada", "company": "=cmd()", "barcode": "A"}));
    all.delegate(&json!({"firstName": "Zoë, \"Z\"", "barcode": "0049"}));
    server.put(&report(
        "SELECT id, first_name AS \"firstName\", company, barcode, id / 2.0 AS half FROM delegates ORDER BY id",
    ));
    let reader = server.reader();
    let answer = whole(reader.request(Method::GET, JSON));
    assert_eq!(answer.header("content-type"), "application/json");
    assert_eq!(
        answer.reply.body,
        json!({"data": [
            {"id": 1, "firstName": "Ada", "company": "=cmd()", "barcode": "A", "half": 0.5},
            {"id": 2, "firstName": "Zoë, \"Z\"", "company": null, "barcode": "0049", "half": 1.0},
        ], "meta": {}})
    );
    let keys = answer.reply.body["data"][0]
        .as_object()
        .expect("a row")
        .keys();
    let keys: Vec<&String> = keys.collect();
    assert_eq!(keys, ["id", "firstName", "company", "barcode", "half"]);
    let answer = whole(reader.request(Method::GET, CSV));
    assert_eq!(answer.header("content-type"), "text/csv; charset=utf-8");
    assert_eq!(
        answer.header("content-disposition"),
        "attachment; filename=\"r.csv\""
    );
    assert_eq!(
        answer.text,
        "\u{feff}id,firstName,company,barcode,half\r\n1,Ada,'=cmd(),A,0.5\r\n2,\"Zoë, \"\"Z\"\"\",,0049,1.0\r\n"
    );
    // Under the other prefix too, and never under another ending.
    let older = format!("/api/5{CSV}");
    let older = whole(
        server
            .request(Method::GET, &older)
            .bearer_auth(&reader.token),
    );
    assert_eq!(older.text, answer.text);
    for ending in ["data", "data.xml", "data.csv.json.json", "data.CSV", ""] {
        let path = format!("/report/test/export/r/{ending}");
        reader.get(&path).refused(404, 1103, "");
    }
}

#[test]
fn nothing_found_is_an_empty_list_and_a_header() {
    let server = Server::start();
    server.put(&report("SELECT id, barcode FROM delegates"));
    let reader = server.reader();
    assert_eq!(reader.get(JSON).body, json!({"data": [], "meta": {}}));
    assert_eq!(
        whole(reader.request(Method::GET, CSV)).text,
        "\u{feff}id,barcode\r\n"
    );
}

#[test]
fn scope_and_membership_are_both_needed() {
    let server = Server::start();
    let (named, named_secret) = server.client(&[], &[Scope::ReportRead]);
    let (other, other_secret) = server.client(&[], &[Scope::ReportRead]);
    let (bare, bare_secret) = server.client(Role::ALL, &[Scope::ReportList]);
    let (trusted, trusted_secret) = server.client(&[], &[Scope::Trusted]);
    let base = report("SELECT 1 AS one");
    let calls = || {
        [
            server.caller_of(&named, &named_secret).get(JSON),
            server.caller_of(&other, &other_secret).get(CSV),
            server.caller_of(&bare, &bare_secret).get(JSON),
            server.caller_of(&trusted, &trusted_secret).get(JSON),
        ]
    };
    server.put(&with(&base, json!({"api_clients": [named, bare]})));
    let [one, two, three, four] = calls();
    assert_eq!(one.data(), &json!([{"one": 1}]));
    two.refused(403, 1702, &other);
    three.refused(403, 1202, "REPORT_READ");
    // To be trusted with everything is not to be named.
    four.refused(403, 1702, &trusted);
    server.put(&with(&base, json!({"api_clients": []})));
    for (call, code) in calls().iter().zip([1702, 1702, 1202, 1702]) {
        call.refused(403, code, "");
    }
    server.put(&base);
    let [one, two, three, four] = calls();
    assert_eq!((one.status, two.status, four.status), (200, 200, 200));
    three.refused(403, 1202, "REPORT_READ");
}

#[test]
fn what_is_not_there_is_told() {
    let server = Server::start();
    server.put(&report("SELECT 1"));
    let reader = server.reader();
    for path in [
        "/report/test/export/other/data.json",
        "/report/other/export/r/data.csv",
        "/report/%00/export/%F0%9F%8E%AB/data.csv",
        "/report/test/export/R/data.json",
    ] {
        reader.get(path).refused(404, 1701, "there is no report");
    }
}

#[test]
fn the_list_shows_what_is_exposed_to_the_client_of_a_user() {
    let server = Server::start();
    let (id, secret) = server.client(&[], &[Scope::ReportList]);
    server.user("ada@example.org", &[], None);
    let user = server.sign_in(&id, &secret, "ada@example.org");
    let base = report("SELECT 1 WHERE :day IS NOT :room AND :kind");
    let asking = json!({
        "parameters": ["day", {"name": "room", "label": "Room", "optional": true}],
        "fixed": [{"name": "kind", "value": true}],
    });
    server.put(&with(&with(&base, asking), json!({"label": "B"})));
    let plain = report("SELECT 1");
    server.put(&with(
        &plain,
        json!({"id": "one", "label": "A", "api_clients": [id]}),
    ));
    server.put(&with(
        &plain,
        json!({"id": "two", "label": "C", "api_clients": ["other"]}),
    ));
    server.put(&with(
        &plain,
        json!({"id": "none", "label": "D", "api_clients": []}),
    ));
    for path in ["/report/test/list.json", "/report/test/list"] {
        assert_eq!(
            user.get(path).body,
            json!({"data": [
                {"id": "one", "label": "A", "parameters": []},
                {"id": "r", "label": "B", "parameters": ["day", "room"], "optional": ["room"]},
            ], "meta": {}})
        );
    }
    // A dashboard of which nothing is exposed, and one that there is not.
    assert_eq!(user.get("/report/event/list.json").data(), &json!([]));
    user.get("/report/nothing/list.json")
        .refused(404, 1701, "nothing");
    let client = server.caller_of(&id, &secret);
    client
        .get("/report/test/list.json")
        .refused(403, 1202, "user");
    // What the client lost is lost to its users.
    server.sql("UPDATE clients SET scopes = '[]'");
    let again = server.sign_in(&id, &secret, "ada@example.org");
    again
        .get("/report/test/list.json")
        .refused(403, 1202, "REPORT_LIST");
}

#[test]
fn parameters_come_from_the_query_string() {
    let server = Server::start();
    let all = server.caller_with_all();
    for name in ["Ada", "Bo", "'; DROP TABLE delegates; --", "100%"] {
        all.delegate(&json!({"firstName": name}));
    }
    let base = report(
        "SELECT first_name FROM delegates
         WHERE (:name IS NULL OR first_name = :name) AND id > :after AND id <= :most",
    );
    let asking = json!({
        "parameters": ["name", {"name": "after", "optional": true}, "most"],
        "fixed": [{"name": "most", "value": 4}],
    });
    server.put(&with(&base, asking));
    let reader = server.reader();
    let found = |query: &str| -> Vec<String> {
        let reply = reader.get(&format!("{JSON}?{query}"));
        let rows = reply.data().as_array().expect("rows").iter();
        rows.map(|row| row["first_name"].as_str().expect("text").to_owned())
            .collect()
    };
    assert_eq!(found("name=Ada&after=0"), ["Ada"]);
    assert_eq!(
        found("name=&after=2"),
        ["'; DROP TABLE delegates; --", "100%"]
    );
    assert_eq!(
        found("name=%27%3B+DROP+TABLE+delegates%3B+--&after=0"),
        ["'; DROP TABLE delegates; --"]
    );
    assert_eq!(found("after=0&name=100%25"), ["100%"]);
    // Left out it is NULL, and nothing is greater than that.
    assert!(found("name=Ada").is_empty());
    for (query, about) in [
        ("", "name: is missing"),
        ("after=1", "name: is missing"),
        ("name=Ada&most=99", "most: is fixed"),
        (
            "name=Ada&limit=5",
            "\"limit\": the parameters of this report are name, after",
        ),
        ("name=Ada&name=Bo", "name: is in the query string twice"),
    ] {
        reader
            .get(&format!("{JSON}?{query}"))
            .refused(400, 1100, about);
    }
    let broken = whole(reader.request(Method::GET, &format!("{JSON}?name=%ff")));
    broken.reply.refused(400, 1100, "query string");
}

#[test]
fn a_parameter_is_a_number_where_the_report_says_so_and_a_text_otherwise() {
    let server = Server::start();
    let all = server.caller_with_all();
    for (barcode, company) in [("012", "A"), ("12", "A"), ("13", "B")] {
        all.delegate(&json!({"barcode": barcode, "company": company}));
    }
    let reader = server.reader();
    let found = |query: &str, kind: &str, sent: &str| -> String {
        let asking = json!({"parameters": [{"name": "it", "type": kind}]});
        server.put(&with(&report(query), asking));
        let reply = reader.get(&format!("{JSON}?it={sent}"));
        let rows = reply.data().as_array().expect("rows").iter();
        let texts: Vec<&str> = rows.map(|row| row["x"].as_str().expect("text")).collect();
        texts.join(" ")
    };
    // What is counted or worked out is a number, and every text is greater than that.
    let counted = "SELECT company AS x FROM delegates GROUP BY company HAVING count(*) >= :it";
    assert_eq!(found(counted, "number", "2"), "A");
    assert_eq!(found(counted, "number", "1.5"), "A");
    assert_eq!(found(counted, "text", "2"), "");
    // A code is a text, also where SQLite does not know it for one; a column knows what it is.
    let worked_out = "SELECT barcode AS x FROM delegates WHERE trim(barcode) = :it";
    assert_eq!(found(worked_out, "text", "012"), "012");
    assert_eq!(found(worked_out, "text", "12"), "12");
    assert_eq!(found(worked_out, "number", "12"), "");
    let column = "SELECT barcode AS x FROM delegates WHERE barcode = :it";
    assert_eq!(found(column, "text", "012"), "012");
    assert_eq!(found(column, "number", "012"), "12");
    reader
        .get(&format!("{JSON}?it=twelve"))
        .refused(400, 1100, "it: must be a number");
    assert_eq!(reader.get(&format!("{JSON}?it=")).data(), &json!([]));
}

#[test]
fn a_report_that_fails_is_told_before_and_broken_off_after_its_beginning() {
    let server = Server::start();
    let counting = |most: i64| {
        format!(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {most})
             SELECT i, CASE WHEN i = {most} THEN abs(-9223372036854775807 - 1) ELSE i END AS x FROM n"
        )
    };
    let reader = server.reader();
    server.put(&report(&counting(100)));
    for path in [JSON, CSV] {
        reader.get(path).refused(400, 1100, "integer overflow");
    }
    server.put(&report(&counting(100_000)));
    for path in [JSON, CSV] {
        for coding in ["identity", "gzip"] {
            let request = reader.request(Method::GET, path);
            let request = request.header("Accept-Encoding", coding);
            let mut answer = request.send().expect("a beginning");
            assert_eq!(answer.status(), 200);
            let mut begun = Vec::new();
            let ended = answer.read_to_end(&mut begun);
            assert!(ended.is_err(), "{path} in {coding} looks whole");
            assert!(begun.len() > 1000, "{}", begun.len());
        }
    }
    // Whoever comes next is served.
    server.put(&report("SELECT 1 AS one"));
    assert_eq!(reader.get(JSON).data(), &json!([{"one": 1}]));
}

#[test]
fn values_that_do_not_fit_the_statement_are_the_callers_fault() {
    let server = Server::start();
    let base = report("SELECT id FROM delegates LIMIT :most");
    server.put(&with(&base, json!({"parameters": ["most"]})));
    let reader = server.reader();
    assert_eq!(reader.get(&format!("{JSON}?most=5")).status, 200);
    reader
        .get(&format!("{JSON}?most=many"))
        .refused(400, 1100, "the report fails");
}

#[test]
fn times_are_shown_in_the_zone_of_the_instance() {
    let server = Server::start();
    server.settings(&json!({"timeZone": "Australia/Adelaide"}));
    let all = server.caller_with_all();
    let (delegate, device) = (all.delegate(&json!({})), all.device(&json!({})));
    let body =
        json!({"delegate": delegate, "device": device, "recordedAt": "2026-07-01T12:00:00Z"});
    all.interact("check-in", &body);
    server.put(&report(
        "SELECT recorded_at, local_time(recorded_at) AS local FROM interactions",
    ));
    assert_eq!(
        server.reader().get(JSON).data(),
        &json!([{"recorded_at": "2026-07-01 12:00:00", "local": "2026-07-01 21:30:00"}])
    );
}
