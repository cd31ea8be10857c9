//! Finding attendees by what somebody types: `POST /delegate/find`, and what gates and kiosks make of it.

use super::gate::Venue;
use crate::harness::{Caller, Server};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

fn people(api: &Caller) -> [i64; 4] {
    [
        json!({"firstName": "Jürgen", "lastName": "Müller", "company": "Nordwind", "email": "jm@nord.example", "barcode": "T-1"}),
        json!({"firstName": "Anna", "lastName": "Mueller", "phone": "+49 30 5550014", "barcode": "T-2"}),
        json!({"firstName": "Anna", "lastName": "Mullerin", "barcode": "T-3", "rfid": "E200"}),
        json!({"firstName": "明", "lastName": "李", "company": "Müller AG"}),
    ]
    .map(|body| api.delegate(&body))
}

fn ids(found: &[Value]) -> Vec<i64> {
    found.iter().filter_map(|one| one["id"].as_i64()).collect()
}

#[test]
fn delegates_are_found_the_likeliest_first() {
    let (server, api) = Server::with_api();
    let [jurgen, anna, mullerin, li] = people(&api);
    let found = |query: &str| {
        let body = json!({"query": query, "fields": "id"});
        ids(api.post("/delegate/find", &body).list())
    };
    for (query, expected) in [
        ("muller", vec![jurgen, li, mullerin, anna]),
        ("Müller, Jürgen", vec![jurgen]),
        ("mueller anna", vec![anna, mullerin]),
        ("mulelr jurgen", vec![jurgen]),
        ("030 5550014", vec![anna]),
        ("0014", vec![anna]),
        ("E200", vec![mullerin]),
        ("nord.ex", vec![jurgen]),
        ("李明", vec![li]),
        ("王", vec![]),
    ] {
        assert_eq!(found(query), expected, "{query}");
    }
    let shown = api.post(
        "/delegate/find",
        &json!({"query": "T-2", "limit": 1, "fields": ["lastName"]}),
    );
    assert_eq!(
        shown.data(),
        &json!([{"id": anna, "_type": "delegate", "lastName": "Mueller"}])
    );
    for (body, about) in [
        (json!({}), "query"),
        (json!({"query": "x"}), "query"),
        (json!({"query": "x".repeat(501)}), "query"),
        (json!({"query": "anna", "limit": 0}), "limit"),
        (json!({"query": "anna", "limit": 101}), "limit"),
        (json!({"query": "anna", "fields": "shoe"}), "shoe"),
        (json!({"query": "anna", "words": 1}), "words"),
    ] {
        api.post("/delegate/find", &body).invalid(about);
    }
    api.delete(&format!("/delegate/id:{jurgen}")).is(204);
    assert!(found("muller jurgen").is_empty());
    server.has_indexed_everybody();
}

#[test]
fn a_client_finds_by_the_properties_that_it_sees() {
    let (server, api) = Server::with_api();
    let [jurgen, ..] = people(&api);
    let narrow = server.caller_seeing(&["firstName", "barcode"]);
    let found = |query: &str| {
        let reply = narrow.post("/delegate/find", &json!({"query": query}));
        reply.list().clone()
    };
    assert_eq!(
        found("jurgen"),
        [json!({"id": jurgen, "_type": "delegate", "firstName": "Jürgen", "barcode": "T-1"})]
    );
    assert_eq!(ids(&found("T-1")), [jurgen]);
    for hidden in [
        "muller",
        "nordwind",
        "jm@nord.example",
        "0014",
        "E200",
        "jurgen muller",
    ] {
        assert_eq!(found(hidden), Vec::<Value>::new(), "{hidden}");
    }
}

#[test]
fn whom_another_program_writes_is_found_as_well() {
    let (server, api) = Server::with_api();
    let [jurgen, ..] = people(&api);
    server.sql(&format!(
        "UPDATE delegates SET last_name = 'Żółw' WHERE id = {jurgen}"
    ));
    let found = |query: &str| ids(api.post("/delegate/find", &json!({"query": query})).list());
    // The server notices while nobody writes.
    let begun = Instant::now();
    let found_both = || {
        assert_eq!(found("zolw"), [jurgen]);
        assert!(found("muller jurgen").is_empty());
    };
    found_both();
    while server.count("delegates_search_pending") > 0 && begun.elapsed() < Duration::from_secs(20)
    {
        std::thread::sleep(Duration::from_millis(20));
    }
    found_both();
    server.has_indexed_everybody();
}

#[test]
fn gates_find_names_companies_and_codes_and_one_person_by_contact() {
    let venue = Venue::new();
    let [jurgen, anna, mullerin, li] = people(&venue.all);
    let search = |words: &str| {
        let words: String = form_urlencoded::byte_serialize(words.as_bytes()).collect();
        venue
            .gate
            .get(&format!("/gate/search?place={}&q={words}", venue.room))
    };
    for (words, expected) in [
        ("muller", vec![jurgen, li, mullerin, anna]),
        ("nordwind", vec![jurgen]),
        ("T-3", vec![mullerin]),
        ("李", vec![li]),
        ("jm@nord.example", vec![jurgen]),
        ("nord.example", vec![jurgen]),
        ("555 0014", vec![anna]),
        ("an", vec![]),
    ] {
        assert_eq!(ids(search(words).list()), expected, "{words}");
    }
    venue
        .all
        .delegate(&json!({"firstName": "Second", "email": "second@nord.example"}));
    assert_eq!(search("nord.example").list().len(), 1);
    assert_eq!(search("nordwind").list()[0]["company"], "Nordwind");
    let claim = json!({"place": venue.room, "name": "MUELLER Juergen", "email": "JM@nord.example"});
    assert_eq!(ids(venue.gate.post("/gate/find", &claim).list()), [jurgen]);
    let other = json!({"place": venue.room, "name": "Mull", "email": "JM@nord.example"});
    assert_eq!(venue.gate.post("/gate/find", &other).list().len(), 0);
}
