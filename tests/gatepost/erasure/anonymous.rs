//! Anonymous attendees, so many days after the event: nothing tells who somebody was, and counts stay.

use super::{compacted, sample_person::fill, shown, traces, wiped, words_in};
use crate::harness::{Server, has, lacks};
use gatepost::{domain::erasure::anonymous, identity::ConsoleRole, types::Timestamp};
use serde_json::json;

const DAY: i64 = 24 * 3_600 * 1_000;

/// Looks whether something is due.
fn tick(server: &Server, now: i64) -> i64 {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let looked = runtime.block_on(anonymous::tick(&server.app, Timestamp(now)));
    looked.expect("a look")
}

/// Everything that is counted, as texts.
fn counts(server: &Server) -> Vec<String> {
    [
        "SELECT count(*) || ' ' || group_concat(DISTINCT delegate_type) FROM (SELECT * FROM delegates ORDER BY delegate_type)",
        "SELECT group_concat(interaction_type || ' ' || n) FROM (
             SELECT interaction_type, count(*) AS n FROM interactions GROUP BY 1 ORDER BY 1)",
        "SELECT count(*) || ' ' || sum(total_amount) FROM transactions",
        "SELECT count(*) || ' ' || sum(amount) || ' ' || group_concat(method) FROM (
             SELECT * FROM transaction_payments ORDER BY method)",
        "SELECT count(*) || ' ' || sum(code) FROM refusals",
        "SELECT count(*) || ' ' || sum(code) FROM conflicts",
        "SELECT count(*) || ' ' || group_concat(delegate_id) FROM (
             SELECT * FROM transaction_delegates ORDER BY delegate_id)",
        "SELECT group_concat(inside) FROM occupancy",
    ]
    .map(|sql| server.value::<Option<String>>(sql).unwrap_or_default())
    .to_vec()
}

#[test]
fn attendees_become_anonymous_so_many_days_after_the_event() {
    let server = Server::start();
    let person = fill(&server, "quokka");
    let (api, crew) = (
        server.caller_with_all(),
        server.crew_once(ConsoleRole::Administrator),
    );
    let now = Timestamp::now().0;
    let ended = Timestamp(now - DAY + 3_600_000);
    let zone = gatepost::types::Zone::default();
    api.event(&json!({"eventName": "Summit", "eventStartAt": zone.iso(ended), "eventEndAt": zone.iso(ended)}));
    let later = api.delegate(&json!({"firstName": "Later", "barcode": "LATER-1"}));
    let far = now + 30 * DAY;
    server.sql(&format!(
        "UPDATE delegates SET created_at = {far} WHERE id = {later}"
    ));
    // What was done to somebody since goes with them.
    server.sql(&format!(
        "UPDATE audit SET at = {far} WHERE record_type = 'delegate' AND record_id = {}",
        person.id
    ));
    server.sql(&format!(
        "UPDATE messages SET created_at = {far} WHERE delegate_id = {}",
        person.id
    ));
    let before = counts(&server);
    let cursor = api.get("/changes").body["meta"]["cursor"].clone();

    // Off unless set.
    assert_eq!(tick(&server, now + 90 * DAY), 0);
    lacks(crew.get("/console").shown(), ["become anonymous"]);
    has(
        crew.get("/console/settings/retention").shown(),
        "Never: no number of days is set.",
    );
    server.settings(&json!({"retention": {"anonymiseAfterDays": 1}}));
    has(crew.get("/console").shown(), "become anonymous");
    has(
        crew.get("/console/settings/retention").shown(),
        ["Attendees without names and codes", "Messages"],
    );

    // Its day may be long past, or the clock wrong: it is announced for a week.
    assert_eq!(tick(&server, now + 20 * DAY), 0);
    assert_eq!(tick(&server, now + 26 * DAY), 0);
    assert_eq!(counts(&server), before);
    assert!(!words_in(&shown(&server.path()), &person).is_empty());
    let people = server.count("delegates") - 1;
    assert_eq!(tick(&server, now + 28 * DAY), people);
    assert_eq!(tick(&server, now + 29 * DAY), 0, "once is enough");
    let ends = "audit WHERE action = 'anonymise'";
    assert_eq!(server.count(ends), 1);
    // Interrupted before its end, it goes on to it.
    server.sql("INSERT INTO counters (name, value) VALUES ('anonymous begun', 1)");
    assert_eq!(tick(&server, now + 29 * DAY), 0);
    assert_eq!(server.count("counters WHERE name = 'anonymous begun'"), 0);
    assert_eq!(server.count(ends), 2);

    assert_eq!(counts(&server), before);
    wiped(&server);
    assert_eq!(words_in(&shown(&server.path()), &person), [""; 0]);
    assert_eq!(traces(&compacted(&server), &person), [""; 0]);
    let record = api.read(&format!("/delegate/id:{}", person.id));
    assert_eq!(record["publicId"], format!("anonymous-{}", person.id));
    assert_eq!(record["firstName"], json!(null));
    assert_eq!(api.read("/delegate/barcode:LATER-1")["firstName"], "Later");
    lacks(
        crew.get("/console/settings/retention").shown(),
        ["Attendees without names"],
    );
    server.has_indexed_everybody();
    server.done(&["check"]);
    // Copies begin anew.
    let changed = api.read(&format!(
        "/changes?since={}",
        cursor.as_str().expect("a cursor")
    ));
    assert_eq!(changed[0]["action"], "reset", "{changed}");
    // One of the crew may have been an attendee, and signs in as before.
    assert_eq!(crew.get("/console").status, 200);
}

#[test]
fn an_announcement_is_taken_back_with_its_reason() {
    let server = Server::start();
    let api = server.caller_with_all();
    api.delegate(&json!({"firstName": "Ada"}));
    let now = Timestamp::now().0;
    server.settings(&json!({"retention": {"anonymiseAfterDays": 30}}));
    assert_eq!(tick(&server, now + 900 * DAY), 0, "nothing has an end");
    assert_eq!(
        server.count("counters WHERE name = 'anonymous announced'"),
        0
    );
    let zone = gatepost::types::Zone::default();
    let at = |days: i64| zone.iso(Timestamp(now + days * DAY));
    let event =
        api.event(&json!({"eventName": "Summit", "eventStartAt": at(0), "eventEndAt": at(1)}));
    assert_eq!(tick(&server, now + 23 * DAY), 0);
    assert_eq!(
        server.count("counters WHERE name = 'anonymous announced'"),
        0
    );
    assert_eq!(tick(&server, now + 25 * DAY), 0);
    assert_eq!(
        server.count("counters WHERE name = 'anonymous announced'"),
        1
    );
    // Another day of the event: nothing is due any more, and later it is announced anew.
    api.patched(&format!("/event/{event}"), &json!({"eventEndAt": at(60)}));
    assert_eq!(tick(&server, now + 40 * DAY), 0);
    assert_eq!(
        server.count("counters WHERE name = 'anonymous announced'"),
        0
    );
    assert_eq!(tick(&server, now + 91 * DAY), 0);
    assert_eq!(tick(&server, now + 99 * DAY), 1);
}

#[test]
fn only_whole_days_are_taken() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Administrator);
    for wrong in ["0", "3651", "x"] {
        let path = "/console/settings/retention";
        let version = crate::console::settings::hidden(&crew.get(path).shown(), path, "version");
        let fields = [("version", version.as_str()), ("anonymiseAfterDays", wrong)];
        assert_eq!(crew.post(path, &fields).status, 422, "{wrong}");
    }
    assert_eq!(server.count("settings WHERE name = 'retention'"), 0);
}
