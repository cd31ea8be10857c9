//! Deleting for good leaves nothing.

use crate::harness::{Server, reply};
use gatepost::identity::{ConsoleRole, Role};
use reqwest::Method;
use serde_json::{Value, json};

/// Words that nobody else has.
const WORDS: [&str; 7] = [
    "Quetzalcoatl",
    "Xochimilco",
    "zyxw-badge-1",
    "zyxw-badge-2",
    "zyxw-nonce",
    "Peanut allergy",
    "zyxw@example.com",
];

#[test]
#[expect(clippy::too_many_lines, reason = "one story, told in one go")]
fn who_is_deleted_for_good_is_gone_from_everything() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let make = |body: &Value| {
        let request = caller
            .request(Method::POST, "/delegate/new")
            .header("Idempotency-Key", "make")
            .json(body);
        reply(request)
    };
    let body = json!({"firstName": "Quetzalcoatl", "lastName": "Old", "barcode": "zyxw-badge-1", "email": "zyxw@example.com"});
    let id = make(&body).id();
    let other = caller.delegate(&json!({"firstName": "Grace", "parent": id}));
    caller
        .patch(
            &format!("/delegate/id:{id}"),
            &json!({"lastName": "Xochimilco"}),
        )
        .data();
    let hall = caller.device(&json!({"name": "Hall", "data": {"Access": {"maxCheckIns": 1}}}));
    let crew = server.crew(ConsoleRole::Administrator);
    let at = |end: &str| format!("/console/delegates/{id}{end}");
    crew.post(
        &at("/note"),
        &[("note", "Peanut allergy"), ("level", "info")],
    )
    .taken();
    let scan = json!({"delegate": "barcode:zyxw-badge-1", "device": hall, "nonce": "zyxw-nonce", "data": {"photo": "Xochimilco"}});
    caller.interact("check-in", &scan).id();
    caller
        .interact(
            "check-in",
            &json!({"delegate": "barcode:zyxw-badge-1", "device": hall}),
        )
        .refused(412, 740, "already checked in");
    let batch = json!({
        "sharedValues": {"face": "Quetzalcoatl"},
        "interactions": {
            "a": {"interactionType": "lead", "delegate": other, "secondDelegate": id, "data": {"face": {"$shared": "face"}}},
            "b": {"interactionType": "check-in", "delegate": id, "device": hall},
            "c": {"interactionType": "lead", "delegate": other},
        }
    });
    let send_batch = || {
        let request = caller
            .request(Method::POST, "/interaction/batch")
            .header("Idempotency-Key", "batch")
            .json(&batch);
        reply(request)
    };
    let first = send_batch();
    let gone = caller
        .interact(
            "lead",
            &json!({"delegate": id, "data": {"said": "Xochimilco"}}),
        )
        .id();
    assert_eq!(
        caller.delete(&format!("/interaction/id:{gone}")).status,
        204
    );
    crew.post(
        &at("/badge/barcode"),
        &[
            ("value", "zyxw-badge-1"),
            ("reason", "reported lost"),
            ("new", "zyxw-badge-2"),
        ],
    )
    .taken();
    caller
        .interact(
            "check-in",
            &json!({"delegate": "barcode:zyxw-badge-1", "device": hall}),
        )
        .refused(404, 1301, "reported lost");
    server.user("zyxw@example.com", &[Role::DelegateRead], Some(id));
    assert_eq!(server.traces(&WORDS), WORDS, "all of it is there");

    let page = crew.get(&at("/erase")).shown();
    assert!(page.contains(&format!("Type the number {id}")));
    crew.post(&at("/erase"), &[("confirm", "yes")])
        .refused(422, "nothing is deleted");
    assert_eq!(caller.get(&format!("/delegate/id:{id}")).id(), id);
    assert_eq!(
        crew.post(&at("/erase"), &[("confirm", &id.to_string())])
            .taken(),
        "/console/delegates"
    );
    assert_eq!(server.traces(&WORDS), Vec::<&str>::new());
    for table in [
        "gate_notes",
        "blocked_codes",
        "messages",
        "batch_rows",
        "shared_values",
        "nonces",
    ] {
        assert_eq!(
            server.value::<i64>(&format!("SELECT count(*) FROM {table}")),
            0,
            "{table}"
        );
    }
    let inside = format!("SELECT inside FROM occupancy WHERE device_id = {hall}");
    assert_eq!(server.value::<i64>(&inside), 0);
    let told = format!(
        "SELECT group_concat(action) FROM audit WHERE record_type = 'delegate' AND record_id = {id}"
    );
    assert_eq!(server.value::<String>(&told), "erase");
    server.has_indexed_everybody();
    crew.get(&at("")).refused(404, "it may have been erased");
    assert_eq!(
        caller
            .get(&format!("/delegate/id:{other}"))
            .data()
            .get("parent"),
        None
    );

    // What is sent again is still known, and makes nobody anew.
    let again = caller.interact("check-in", &scan);
    assert_eq!(
        (again.status, &again.body),
        (200, &json!({"data": {}, "meta": {"replayed": true}}))
    );
    let mut differing = scan.clone();
    differing["data"] = json!({});
    caller
        .interact("check-in", &differing)
        .refused(409, 1109, "nonce");
    assert_eq!(
        make(&body).body,
        json!({"data": {}, "meta": {"replayed": true}})
    );
    let second = send_batch();
    assert_eq!(second.data()[0]["data"], json!({}));
    assert_eq!(second.data()[1]["data"], json!({}));
    assert_eq!(
        second.data()[2]["data"],
        first.data()[2]["data"],
        "others' answers stay"
    );
    assert_eq!(server.value::<i64>("SELECT count(*) FROM delegates"), 1);
    // A nonce that is new goes on as ever.
    let fresh = json!({"delegate": other, "device": hall, "nonce": "another"});
    caller.interact("check-in", &fresh).id();
}

#[test]
fn a_merged_record_goes_with_the_person() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let id = caller.delegate(&json!({"firstName": "Quetzalcoatl"}));
    let double = caller.delegate(&json!({"firstName": "Xochimilco", "barcode": "zyxw-badge-1"}));
    let crew = server.crew(ConsoleRole::Administrator);
    let path = format!("/console/delegates/{id}/merge");
    let form = crate::console::delegates::fields(
        &crew.get(&format!("{path}?other={double}")).shown(),
        "/merge",
    );
    crate::console::delegates::send(&crew, &path, &form).taken();
    let confirmed = [("confirm", &*id.to_string())];
    crew.post(&format!("/console/delegates/{id}/erase"), &confirmed)
        .taken();
    assert_eq!(server.value::<i64>("SELECT count(*) FROM delegates"), 0);
    assert_eq!(server.traces(&WORDS), Vec::<&str>::new());
}

#[test]
fn only_an_administrator_deletes_for_good() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let id = caller.delegate(&json!({"firstName": "Ada"}));
    let crew = server.crew(ConsoleRole::Operator);
    let path = format!("/console/delegates/{id}/erase");
    crew.get(&path).refused(403, "needs the role");
    crew.post(&path, &[("confirm", &id.to_string())])
        .refused(403, "needs the role");
    assert_eq!(caller.get(&format!("/delegate/id:{id}")).id(), id);
}
