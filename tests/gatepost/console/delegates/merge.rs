//! Two records of one person become one.

use super::{fields, send, set};
use crate::harness::Server;
use gatepost::identity::ConsoleRole;
use serde_json::json;

#[test]
#[expect(clippy::too_many_lines, reason = "one story, told in one go")]
fn two_records_become_one_with_all_that_both_did() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let ada = caller.delegate(
        &json!({"firstName": "Ada", "barcode": "T-1", "email": "ada@old.example",
        "data": {"Data": {"meal": "vegan"}}, "rawFlags": "p"}),
    );
    let double = caller.delegate(
        &json!({"firstName": "Ada", "lastName": "Lovelace", "barcode": "T-2", "rfid": "E-2",
        "email": "ada@new.example", "data": {"Data": {"size": "M"}}, "rawFlags": "s"}),
    );
    let child = caller.delegate(&json!({"firstName": "Byron", "parent": double}));
    let hall = caller.device(&json!({"name": "Hall", "data": {"Access": {"entry": "single"}}}));
    let foyer = caller.device(
        &json!({"name": "Foyer", "data": {"Access": {"ruleSet": "simple", "entry": "single"}}}),
    );
    for (kind, delegate, device) in [
        ("check-in", ada, hall),
        ("check-in", double, hall),
        ("join", double, foyer),
        ("check-in", double, foyer),
    ] {
        caller
            .interact(kind, &json!({"delegate": delegate, "device": device}))
            .id();
    }
    let inside = |device: i64| {
        server.value::<i64>(&format!(
            "SELECT inside FROM occupancy WHERE device_id = {device}"
        ))
    };
    assert_eq!((inside(hall), inside(foyer)), (2, 1));
    let crew = server.crew(ConsoleRole::Operator);
    crew.post(
        &format!("/console/delegates/{double}/note"),
        &[("note", "VIP"), ("level", "warning")],
    )
    .taken();
    let path = format!("/console/delegates/{ada}/merge");
    let html = crew.get(&format!("{path}?q=lovelace")).shown();
    assert!(html.contains(&format!("{path}?other={double}")));
    assert!(
        !crew
            .get(&format!("{path}?q=T-1"))
            .shown()
            .contains("?other="),
        "not itself"
    );
    let html = crew.get(&format!("{path}?other={double}")).shown();
    assert!(html.contains("Barcode T-2") && html.contains("3 interactions"));
    let mut form = fields(&html, "/merge");
    set(&mut form, "take-email", "other");
    send(&crew, &path, &form).taken();

    let kept = caller.get(&format!("/delegate/id:{ada}"));
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
    caller
        .get(&format!("/delegate/id:{double}"))
        .refused(404, 1301, "there is no delegate");
    caller.get("/delegate/barcode:T-2").refused(
        404,
        1301,
        "merged with another of the same person",
    );
    let previous = format!("SELECT previous_id FROM delegates WHERE id = {ada}");
    assert_eq!(server.value::<i64>(&previous), double);
    // One person is inside once, and what the other record was allowed the kept one is.
    assert_eq!((inside(hall), inside(foyer)), (1, 1));
    caller
        .interact("check-in", &json!({"delegate": ada, "device": foyer}))
        .refused(412, 740, "already used at Foyer");
    caller
        .interact("check-out", &json!({"delegate": ada, "device": foyer}))
        .id();
    caller
        .interact("check-in", &json!({"delegate": ada, "device": foyer}))
        .id();
    assert_eq!(inside(foyer), 1);
    let left = format!("SELECT count(*) FROM interactions WHERE first_delegate_id = {double}");
    assert_eq!(server.value::<i64>(&left), 0);
    let html = crew.get(&format!("/console/delegates/{ada}")).shown();
    assert!(html.contains("VIP") && html.contains("<strong>Merged</strong>"));
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_gatepost"))
        .args(["check", "--db"])
        .arg(server.path())
        .output()
        .expect("it runs");
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
}

#[test]
fn the_badge_that_stays_valid_can_be_chosen() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let ada = caller.delegate(&json!({"firstName": "Ada", "barcode": "T-1"}));
    let double = caller.delegate(&json!({"firstName": "Ada", "barcode": "T-2"}));
    let crew = server.crew(ConsoleRole::Operator);
    let path = format!("/console/delegates/{ada}/merge");
    let mut form = fields(
        &crew.get(&format!("{path}?other={double}")).shown(),
        "/merge",
    );
    set(&mut form, "take-barcode", "other");
    // Somebody changes one of them meanwhile.
    caller
        .patch(
            &format!("/delegate/id:{double}"),
            &json!({"company": "Nordwind"}),
        )
        .data();
    send(&crew, &path, &form).refused(422, "nothing is merged");
    let mut form = fields(
        &crew.get(&format!("{path}?other={double}")).shown(),
        "/merge",
    );
    set(&mut form, "take-barcode", "other");
    send(&crew, &path, &form).taken();
    assert_eq!(caller.get("/delegate/barcode:T-2").id(), ada);
    caller
        .get("/delegate/barcode:T-1")
        .refused(404, 1301, "this badge was merged");
    crew.get(&format!("{path}?other={ada}"))
        .refused(400, "this is the same one");
    crew.post(&format!("/console/delegates/{double}/restore"), &[])
        .refused(422, "T-2");
}
