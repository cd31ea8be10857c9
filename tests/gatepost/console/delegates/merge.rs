//! Two records of one person become one.

use super::{fields, send, set};
use crate::harness::{Server, has};
use serde_json::json;

#[test]
fn two_records_become_one_with_all_that_both_did() {
    let (server, api) = Server::with_api();
    let ada = api.delegate(
        &json!({"firstName": "Ada", "barcode": "T-1", "email": "ada@old.example",
        "data": {"Data": {"meal": "vegan"}}, "rawFlags": "p"}),
    );
    let double = api.delegate(
        &json!({"firstName": "Ada", "lastName": "Lovelace", "barcode": "T-2", "rfid": "E-2",
        "email": "ada@new.example", "data": {"Data": {"size": "M"}}, "rawFlags": "s"}),
    );
    let child = api.delegate(&json!({"firstName": "Byron", "parent": double}));
    let hall = api.device(&json!({"name": "Hall", "data": {"Access": {"entry": "single"}}}));
    let foyer = api.device(
        &json!({"name": "Foyer", "data": {"Access": {"ruleSet": "simple", "entry": "single"}}}),
    );
    for (kind, delegate, device) in [
        ("check-in", ada, hall),
        ("check-in", double, hall),
        ("join", double, foyer),
        ("check-in", double, foyer),
    ] {
        api.scan(kind, delegate, device).id();
    }
    let inside = |device: i64| {
        server.value::<i64>(&format!(
            "SELECT inside FROM occupancy WHERE device_id = {device}"
        ))
    };
    assert_eq!((inside(hall), inside(foyer)), (2, 1));
    let crew = server.operator();
    crew.post(
        &format!("/console/delegates/{double}/note"),
        &[("note", "VIP"), ("level", "warning")],
    )
    .taken();
    let path = format!("/console/delegates/{ada}/merge");
    let html = crew.page(&format!("{path}?q=lovelace"));
    has(&html, &format!("{path}?with={double}"));
    assert!(
        !crew.page(&format!("{path}?q=T-1")).contains("?with="),
        "not itself"
    );
    let html = crew.page(&format!("{path}?with={double}"));
    has(&html, ["Barcode T-2", "3 interactions"]);
    let mut form = fields(&html, "/merge");
    set(&mut form, "take-email", "other");
    send(&crew, &path, &form).taken();

    let kept = api.get(&format!("/delegate/id:{ada}"));
    let kept = kept.data();
    for (name, value) in [
        ("lastName", json!("Lovelace")),
        ("email", json!("ada@new.example")),
        ("barcode", json!("T-1")),
        ("rfid", json!("E-2")),
        ("rawFlags", json!("ps")),
        ("data", json!({"Data": {"meal": "vegan", "size": "M"}})),
        ("children", json!([{"id": child, "_type": "delegate"}])),
    ] {
        assert_eq!(kept[name], value, "{name}");
    }
    assert_eq!(kept["firstInteractions"].as_array().map(Vec::len), Some(4));
    api.get(&format!("/delegate/id:{double}"))
        .refused(404, 1301, "there is no delegate");
    api.get("/delegate/barcode:T-2")
        .refused(404, 1301, "merged with another of the same person");
    let previous = format!("SELECT previous_id FROM delegates WHERE id = {ada}");
    assert_eq!(server.value::<i64>(&previous), double);
    // One person is inside once, and what the other record was allowed the kept one is.
    assert_eq!((inside(hall), inside(foyer)), (1, 1));
    api.scan("check-in", ada, foyer)
        .refused(412, 740, "already used at Foyer");
    api.scan("check-out", ada, foyer).id();
    api.scan("check-in", ada, foyer).id();
    assert_eq!(inside(foyer), 1);
    let left = format!("SELECT count(*) FROM interactions WHERE first_delegate_id = {double}");
    assert_eq!(server.value::<i64>(&left), 0);
    let html = crew.page(&format!("/console/delegates/{ada}"));
    has(&html, ["VIP", "<strong>Merged</strong>"]);
    server.done(&["check"]);
}

#[test]
fn the_badge_that_stays_valid_can_be_chosen() {
    let (server, api) = Server::with_api();
    let ada = api.delegate(&json!({"firstName": "Ada", "barcode": "T-1"}));
    let double = api.delegate(&json!({"firstName": "Ada", "barcode": "T-2"}));
    let crew = server.operator();
    let path = format!("/console/delegates/{ada}/merge");
    let mut form = fields(&crew.page(&format!("{path}?with={double}")), "/merge");
    set(&mut form, "take-barcode", "other");
    // Somebody changes one of them meanwhile.
    api.patch(
        &format!("/delegate/id:{double}"),
        &json!({"company": "Nordwind"}),
    )
    .data();
    send(&crew, &path, &form).refused(422, "nothing is merged");
    let mut form = fields(&crew.page(&format!("{path}?with={double}")), "/merge");
    set(&mut form, "take-barcode", "other");
    send(&crew, &path, &form).taken();
    assert_eq!(api.get("/delegate/barcode:T-2").id(), ada);
    api.get("/delegate/barcode:T-1")
        .refused(404, 1301, "this badge was merged");
    crew.get(&format!("{path}?with={ada}"))
        .refused(400, "this is the same one");
    crew.post(&format!("/console/delegates/{double}/restore"), &[])
        .refused(422, "T-2");
}
