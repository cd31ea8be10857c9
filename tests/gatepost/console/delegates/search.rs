//! Finding people, and taking along what was found.

use super::super::{Crew, page};
use crate::harness::{Server, has, lacks};
use gatepost::identity::ConsoleRole;
use reqwest::Method;
use serde_json::json;

fn people(server: &Server) -> [i64; 4] {
    let api = server.caller_with_all();
    [
        json!({"firstName": "Ada", "lastName": "Lovelace", "company": "Analytical Engines", "email": "ada@engines.example", "barcode": "T-100", "rfid": "E200-1", "delegateType": "speaker", "rawFlags": "p"}),
        json!({"firstName": "Adam", "lastName": "Müller", "company": "Nordwind", "externalId": "R-7", "delegateType": "visitor"}),
        json!({"firstName": "Grace", "lastName": "Hopper", "company": "Nordwind", "phone": "+49 30 1234", "delegateType": "visitor", "data": {"Data": {"meal": "vegan"}}}),
        json!({"firstName": "Li", "lastName": "Na", "delegateType": "crew"}),
    ]
    .map(|body| api.delegate(&body))
}

/// The ids on a page of the list.
fn found(crew: &Crew, query: &str) -> Vec<i64> {
    ids(&crew.page(&format!("/console/delegates?{query}")))
}

fn ids(html: &str) -> Vec<i64> {
    let table = html.split("<tbody>").nth(1).unwrap_or_default();
    let links = table.split("href=\"/console/delegates/").skip(1);
    links
        .filter_map(|rest| rest.split('"').next()?.parse().ok())
        .collect()
}

#[test]
fn words_find_people_wherever_they_stand() {
    let server = Server::start();
    let [ada, adam, grace, li] = people(&server);
    let crew = server.viewer();
    for (query, expected) in [
        ("", vec![ada, adam, grace, li]),
        ("q=ada", vec![ada, adam]),
        ("q=MÜLL", vec![adam]),
        ("q=nordwind+grace", vec![grace]),
        ("q=grace+love", vec![]),
        ("q=analytical", vec![ada]),
        ("q=engines.example", vec![ada]),
        ("q=T-10", vec![ada]),
        ("q=R-7", vec![adam]),
        ("q=123+gr", vec![grace]),
        ("q=muller", vec![adam]),
        ("q=Mueller%2C+Adam", vec![adam]),
        ("q=lovelaec", vec![ada]),
        // Two letters: at the beginning. One finds nobody.
        ("q=li", vec![li]),
        ("q=l", vec![]),
        ("q=ov", vec![]),
        ("q=%25", vec![]),
        ("type=visitor", vec![adam, grace]),
        ("type=visitor&q=nord+ad", vec![adam]),
        ("flag=P", vec![ada]),
        ("company=NORD", vec![adam, grace]),
        ("company=nord&q=ada", vec![adam]),
        (
            "search=%7B%22ud%22%3A%5B%22Data.meal%22%2C%22%3D%3D%22%2C%22vegan%22%5D%7D",
            vec![grace],
        ),
    ] {
        assert_eq!(found(&crew, query), expected, "{query}");
    }
    crew.page("/console/delegates?q=grace+love")
        .find("No matches")
        .expect("it says so");
}

#[test]
fn a_scanned_code_of_any_kind_leads_straight_to_its_holder() {
    let server = Server::start();
    let [ada, ..] = people(&server);
    let crew = server.viewer();
    let record = format!("/console/delegates/{ada}");
    for code in ["T-100", "E200-1"] {
        let scanned = crew.get(&format!("/console/delegates?q={code}&go=1"));
        assert_eq!(scanned.taken(), record);
        let typed = crew.page(&format!("/console/delegates?q={code}"));
        assert!(typed.contains("of <a href=\"") && typed.contains(&record));
    }
    crew.sees("/console/delegates?q=E200-2&go=1", "No matches");
}

#[test]
fn as_one_types_only_what_is_found_is_sent() {
    let server = Server::start();
    let [ada, adam, ..] = people(&server);
    let crew = server.viewer();
    let part = page(
        crew.request(Method::GET, "/console/delegates?q=ada")
            .header("hx-request", "true"),
    )
    .shown();
    assert_eq!(ids(&part), [ada, adam]);
    lacks(&part, ["<html", "type=\"search\""]);
}

#[test]
fn who_was_at_a_device_and_who_was_deleted_can_be_filtered() {
    let server = Server::start();
    let [ada, adam, grace, li] = people(&server);
    let api = server.caller_with_all();
    let hall = api.device(&json!({"name": "Hall"}));
    api.scan("check-in", ada, hall).id();
    api.scan("check-in-override", grace, hall).id();
    api.delete(&format!("/delegate/id:{li}")).is(204);
    let crew = server.operator();
    assert_eq!(found(&crew, &format!("device={hall}")), [ada, grace]);
    assert_eq!(found(&crew, &format!("device={hall}&been=no")), [adam]);
    // Without a place it is about every place.
    let stage = api.device(&json!({"name": "Stage"}));
    assert_eq!(found(&crew, "been=no"), [adam]);
    assert_eq!(found(&crew, "been=yes"), [ada, grace]);
    assert_eq!(
        found(&crew, &format!("device={stage}&been=no")),
        [ada, adam, grace]
    );
    // A check-in counts at the places above, too, as on their pages.
    let booth = api.device(&json!({"name": "Booth", "parent": stage}));
    api.scan("check-in", adam, booth).id();
    assert_eq!(found(&crew, &format!("device={stage}")), [adam]);
    assert_eq!(
        found(&crew, &format!("device={stage}&been=no")),
        [ada, grace]
    );
    let speaker = api.delegate(&json!({"firstName": "Sue", "delegateType": "speaker"}));
    assert_eq!(found(&crew, "type=speaker&been=no&device="), [speaker]);
    let narrowed = crew.page("/console/delegates?been=no");
    has(&narrowed, "aria-current=\"page\">Not arrived</a>");
    api.delete(&format!("/delegate/id:{speaker}")).is(204);
    assert_eq!(found(&crew, "deleted=1"), [li, speaker]);
    assert_eq!(found(&crew, "deleted=1&q=ada"), Vec::<i64>::new());
}

#[test]
fn what_is_wrong_with_an_expression_is_told_with_its_place() {
    let server = Server::start();
    people(&server);
    let crew = server.viewer();
    let search = |expression: &str| {
        let query = form_urlencoded::Serializer::new(String::new())
            .append_pair("search", expression)
            .append_pair("q", "ada")
            .finish();
        crew.get(&format!("/console/delegates?{query}"))
    };
    search(r#"{"and": [{"==": ["firstName", "Ada"]}, {">=": ["createdAt", "soon"]}]}"#)
        .refused(422, "and[1].&#34;&#62;=&#34;[1]");
    search(r#"{"=="#).refused(422, "is not valid JSON");
    has(&search(r#"{"=="#).html, "{&#34;==</textarea>");
    for example in crew
        .page("/console/delegates")
        .split("href=\"/console/delegates?search=")
        .skip(1)
    {
        let example = example.split('"').next().expect("an address");
        crew.page(&format!("/console/delegates?search={example}"));
    }
}

#[test]
fn each_line_says_where_somebody_is() {
    let (server, api) = Server::with_api();
    let ada = api.delegate(&json!({"firstName": "Ada", "barcode": "T-1"}));
    let eva = api.delegate(&json!({"firstName": "Eva", "barcode": "T-2"}));
    let hall = api.device(&json!({"name": "Hall", "code": "hall", "deviceType": "room"}));
    api.interact("check-in", &json!({"delegate": ada, "device": hall}))
        .id();
    let page = server.viewer().page("/console/delegates");
    for (person, state) in [(ada, "Inside since "), (eva, "Not arrived")] {
        let row = page.split(&format!("/console/delegates/{person}\"")).nth(1);
        let row = row.and_then(|row| row.split("</tr>").next());
        has(row.expect("a line"), state);
    }
}

#[test]
fn pages_can_be_turned_there_and_back() {
    let server = Server::start();
    server.sql(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 120)
         INSERT INTO delegates (public_id, first_name, sources, created_at, updated_at)
         SELECT 'p' || i, 'Person ' || i, '[]', 0, 0 FROM n",
    );
    let crew = server.viewer();
    let link = |html: &str, rel: &str| {
        let rest = html.split(&format!("rel=\"{rel}\" href=\"")).nth(1)?;
        Some(rest.split('"').next()?.replace("&amp;", "&"))
    };
    for query in ["", "q=person"] {
        let first = crew.page(&format!("/console/delegates?{query}"));
        assert_eq!(ids(&first), (1..=50).collect::<Vec<_>>());
        has(&first, "120 attendees");
        assert_eq!(link(&first, "prev"), None);
        let second = crew.page(&link(&first, "next").expect("a link"));
        assert_eq!(ids(&second), (51..=100).collect::<Vec<_>>());
        let third = crew.page(&link(&second, "next").expect("a link"));
        assert_eq!(ids(&third), (101..=120).collect::<Vec<_>>());
        assert_eq!(link(&third, "next"), None);
        let back = crew.page(&link(&third, "prev").expect("a link"));
        assert_eq!(ids(&back), ids(&second));
        let back = crew.page(&link(&back, "prev").expect("a link"));
        assert_eq!(ids(&back), ids(&first));
        assert_eq!(link(&back, "prev"), None);
    }
}

#[test]
fn more_than_anybody_reads_is_counted_on_request() {
    let server = Server::start();
    server.sql(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2345)
         INSERT INTO delegates (public_id, first_name, sources, created_at, updated_at)
         SELECT 'p' || i, 'Person ' || i, '[]', 0, 0 FROM n",
    );
    let crew = server.viewer();
    crew.sees("/console/delegates?q=person", "More than 1,000 found");
    let count = crew
        .request(Method::GET, "/console/delegates/count?q=person")
        .header("hx-request", "true");
    assert_eq!(page(count).shown(), "2,345");
}

#[test]
fn an_export_holds_what_is_filtered() {
    let server = Server::start();
    let [_, adam, grace, _] = people(&server);
    let crew = server.viewer();
    let csv = crew.page("/console/delegates/export?format=csv&type=visitor");
    assert_eq!(csv.lines().count(), 3, "{csv}");
    has(&csv, ["Grace", "Müller"]);
    lacks(&csv, "Lovelace");
    let json: serde_json::Value =
        serde_json::from_str(&crew.page("/console/delegates/export?format=json&q=nordwind"))
            .expect("JSON");
    let exported: Vec<i64> = json
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|one| one["id"].as_i64())
        .collect();
    assert_eq!(exported, [adam, grace]);
    let answer = crew
        .request(Method::GET, "/console/delegates/export?format=xlsx")
        .send()
        .expect("an answer");
    has(
        answer.headers()["content-disposition"]
            .to_str()
            .expect("text"),
        "delegates.xlsx",
    );
    assert!(answer.bytes().expect("a body").starts_with(b"PK"));
    // As a browser asks for it.
    for format in ["csv", "json"] {
        let path = format!("/console/delegates/export?format={format}");
        let packed = crew.request(Method::GET, &path);
        let packed = packed.header("Accept-Encoding", "gzip, deflate, br");
        let packed = packed
            .send()
            .expect("an answer")
            .bytes()
            .expect("all of it");
        let mut text = String::new();
        let mut unpacked = flate2::read::GzDecoder::new(&packed[..]);
        std::io::Read::read_to_string(&mut unpacked, &mut text).expect("gzip");
        assert_eq!(text, crew.page(&path));
    }
    crew.get("/console/delegates/export?search=%7B")
        .refused(400, "is not valid JSON");
}

#[test]
fn a_viewer_is_shown_nothing_that_changes() {
    let server = Server::start();
    let [ada, ..] = people(&server);
    let shown = |role| {
        let crew = server.crew(role);
        let record = crew.page(&format!("/console/delegates/{ada}"));
        crew.page("/console/delegates") + &record
    };
    let html = shown(ConsoleRole::Viewer);
    lacks(&html, ["/edit\"", "/passage\"", "/new\""]);
    let html = shown(ConsoleRole::Operator);
    has(&html, "/edit\"");
    lacks(&html, "/erase\"");
    has(shown(ConsoleRole::Administrator), "/erase\"");
}
