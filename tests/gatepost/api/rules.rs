//! The rules of entry, judged over HTTP (contract §3, §6): who is let in, who is not, and what the
//! steward tells the guest.

use super::{gate, refusals};
use crate::harness::{Caller, Reply, Server, cases};
use serde_json::{Value, json};

/// 2020-06-01 09:02:00 UTC, long past.
const NINE_TWO: i64 = 1_591_002_120;

fn scan_at(api: &Caller, kind: &str, who: (i64, i64), at: i64) -> Reply {
    api.interact(
        kind,
        &json!({"delegate": who.0, "device": who.1, "recordedAt": at}),
    )
}

#[track_caller]
fn passes(reply: &Reply) -> i64 {
    assert_eq!(reply.status, 201, "{reply:?}");
    reply.id()
}

#[test]
fn an_open_door_lets_everybody_in_again_and_again() {
    let (_server, api) = Server::with_api();
    let a = api.delegate(&json!({}));
    for access in [json!({}), json!({"ruleSet": "open", "entry": "multiple"})] {
        let device = gate(&api, &access);
        for kind in ["check-in", "check-in", "check-out", "check-out", "check-in"] {
            passes(&api.scan(kind, a, device));
        }
    }
    // Without a delegate or a device there is nothing to judge.
    passes(&api.interact("check-in", &json!({"delegate": a})));
    passes(&api.interact(
        "check-out",
        &json!({"device": gate(&api, &json!({"capacity": 0}))}),
    ));
}

/// What a gate's last check-in was judged by is remembered for the next, until it is changed.
#[test]
fn a_change_of_a_device_binds_the_very_next_scan() {
    let (server, api) = Server::with_api();
    let a = api.delegate(&json!({}));
    let above = gate(&api, &json!({}));
    let door = gate(&api, &json!({}));
    let path = format!("/device/id:{door}");
    let edit = |change: &Value| api.patch(&path, change).is(200);
    let code = |code: &str| json!({"delegate": a, "device": format!("code:{code}")});
    edit(&json!({"code": "door", "parent": above}));
    passes(&api.interact("check-in", &code("door")));
    passes(&api.interact("check-in", &code("door")));

    edit(&json!({"data": {"Access": {"maxCheckIns": 2}}}));
    api.interact("check-in", &code("door"))
        .refused(412, 740, "");
    edit(&json!({"data": null}));
    passes(&api.interact("check-in", &code("door")));

    // By another process, such as an import.
    let file = rusqlite::Connection::open(server.path()).expect("the file");
    let set = |sql: &str| file.execute(sql, [door]).expect("a write");
    set("UPDATE devices SET available = 0 WHERE id = ?1");
    api.interact("check-in", &code("door"))
        .refused(412, 743, "is not available");
    set("UPDATE devices SET available = 1 WHERE id = ?1");
    passes(&api.interact("check-in", &code("door")));

    // A join above counts as long as what is above is there.
    let simple = json!({"data": {"Access": {"ruleSet": "simple"}}});
    edit(&simple);
    passes(&api.scan("join", a, above));
    passes(&api.interact("check-in", &code("door")));
    api.delete(&format!("/device/id:{above}"));
    api.interact("check-in", &code("door"))
        .refused(412, 741, "");
    edit(&json!({"data": null}));

    edit(&json!({"code": "gate"}));
    api.interact("check-in", &code("door"))
        .refused(404, 1401, "");
    passes(&api.interact("check-in", &code("gate")));
    api.delete(&path);
    api.interact("check-in", &code("gate"))
        .refused(404, 1401, "");
}

#[test]
fn simple_acl_needs_a_join_or_booking_here_or_above() {
    let (_server, api) = Server::with_api();
    let simple = json!({"ruleSet": "simple"});
    let event = api.event(&json!({"eventName": "Summit"}));
    let room = gate(&api, &simple);
    let session = gate(&api, &simple);
    api.patch(&format!("/device/id:{room}"), &json!({"parent": event}));
    api.patch(&format!("/device/id:{session}"), &json!({"parent": room}));
    for joined in ["join", "booking"] {
        for place in [event, room, session] {
            let a = api.delegate(&json!({}));
            let stranger = api.delegate(&json!({}));
            api.scan("check-in", a, session)
                .refused(412, 741, "not registered for Gate");
            passes(&api.scan(joined, a, place));
            passes(&api.scan("check-in", a, session));
            api.scan("check-in", stranger, session)
                .refused(412, 741, "not registered");
            passes(&api.scan("check-out", stranger, session));
        }
    }
    // A join below, or with another device, or as the second delegate, is none.
    let (a, b) = (api.delegate(&json!({})), api.delegate(&json!({})));
    passes(&api.scan("join", a, session));
    api.scan("check-in", a, room).refused(412, 741, "");
    let second =
        json!({"delegate": a, "secondDelegate": b, "device": room, "secondDevice": session});
    passes(&api.interact("join", &second));
    api.scan("check-in", b, room).refused(412, 741, "");
}

#[test]
fn an_uninvite_or_cancelled_booking_takes_a_join_back() {
    let (_server, api) = Server::with_api();
    let event = api.event(&json!({}));
    let door = gate(&api, &json!({"ruleSet": "simple"}));
    api.patch(&format!("/device/id:{door}"), &json!({"parent": event}));
    for (given, taken) in [
        ("join", "uninvite"),
        ("booking", "cancel-booking"),
        ("join", "cancel-booking"),
    ] {
        for place in [event, door] {
            let a = api.delegate(&json!({}));
            passes(&api.scan(given, a, place));
            passes(&api.scan("check-in", a, door));
            passes(&api.scan(taken, a, place));
            api.scan("check-in", a, door).refused(412, 741, "");
            passes(&api.scan(given, a, place));
            passes(&api.scan("check-in", a, door));
        }
    }
    // One with another device takes nothing back.
    let a = api.delegate(&json!({}));
    passes(&api.scan("join", a, door));
    passes(&api.scan("uninvite", a, event));
    passes(&api.scan("check-in", a, door));
    // A host uninvites a guest; that nobody ever did is remembered from the check-in before.
    let host = api.delegate(&json!({}));
    passes(&api.scan("join", host, door));
    passes(&api.scan("check-in", a, door));
    passes(&api.interact(
        "uninvite",
        &json!({"delegate": host, "secondDelegate": a, "device": door}),
    ));
    api.scan("check-in", a, door).refused(412, 741, "");
    passes(&api.scan("check-in", host, door));
    // What was taken back before it was given stays given.
    let b = api.delegate(&json!({}));
    passes(&scan_at(&api, "join", (b, door), NINE_TWO));
    passes(&scan_at(&api, "uninvite", (b, door), NINE_TWO - 60));
    passes(&api.scan("check-in", b, door));
}

#[test]
fn single_entry_needs_a_check_out_between() {
    let (_server, api) = Server::with_api();
    let door = gate(&api, &json!({"entry": "single"}));
    let other_door = gate(&api, &json!({"entry": "single"}));
    let (a, b) = (api.delegate(&json!({})), api.delegate(&json!({})));
    api.scan("check-out", a, door)
        .refused(412, 745, "not checked in at Gate");
    passes(&scan_at(&api, "check-in", (a, door), NINE_TWO));
    api.scan("check-in", a, door)
        .refused(412, 740, "already used at Gate at 09:02 on 2020-06-01");
    passes(&api.scan("check-in", b, door));
    passes(&api.scan("check-in", a, other_door));
    passes(&api.scan("check-out", a, door));
    api.scan("check-out", a, door).refused(412, 745, "");
    passes(&api.scan("check-in", a, door));
}

#[test]
fn max_check_ins_counts_each_delegate() {
    let (_server, api) = Server::with_api();
    let (a, b) = (api.delegate(&json!({})), api.delegate(&json!({})));
    let once = gate(&api, &json!({"maxCheckIns": 1}));
    passes(&scan_at(&api, "check-in", (a, once), NINE_TWO));
    passes(&api.scan("check-out", a, once));
    let told = "already checked in once at Gate, the most allowed; last at 09:02 on 2020-06-01";
    api.scan("check-in", a, once).refused(412, 740, told);
    passes(&api.scan("check-in", b, once));
    let thrice = gate(&api, &json!({"maxCheckIns": 3}));
    let made = [0; 3].map(|_| passes(&api.scan("check-in", a, thrice)));
    api.scan("check-in", a, thrice).refused(412, 740, "3 times");
    api.delete(&format!("/interaction/id:{}", made[0]));
    passes(&api.scan("check-in", a, thrice));
    api.scan("check-in", a, thrice).refused(412, 740, "3 times");
    let never = gate(&api, &json!({"maxCheckIns": 0}));
    api.scan("check-in", a, never).refused(412, 740, "");
}

#[test]
fn capacity_counts_who_is_inside_now() {
    let (_server, api) = Server::with_api();
    let door = gate(&api, &json!({"capacity": 2}));
    let [a, b, c] = [0; 3].map(|_| api.delegate(&json!({})));
    passes(&api.scan("check-in", a, door));
    passes(&api.scan("check-in", a, door));
    passes(&api.scan("check-in", b, door));
    api.scan("check-in", c, door)
        .refused(412, 744, "Gate is full: 2 of 2 inside");
    // Who is inside may come again.
    passes(&api.scan("check-in", a, door));
    passes(&api.scan("check-out", a, door));
    let third = passes(&api.scan("check-in", c, door));
    api.scan("check-in", a, door).refused(412, 744, "2 of 2");
    api.delete(&format!("/interaction/id:{third}"));
    passes(&api.scan("check-in", a, door));
    // An override and an admission count as being inside.
    passes(&api.scan("check-in-override", c, door));
    passes(&api.scan("check-out", b, door));
    let d = api.delegate(&json!({}));
    api.scan("check-in", d, door).refused(412, 744, "2 of 2");
    passes(&api.interact(
        "check-in",
        &json!({"delegate": d, "device": door, "admitted": true}),
    ));
    api.scan("check-in", b, door).refused(412, 744, "3 of 2");
    let closed = gate(&api, &json!({"capacity": 0}));
    api.scan("check-in", a, closed).refused(412, 744, "0 of 0");
}

#[test]
fn the_window_opens_and_closes_around_start_and_end() {
    let (server, api) = Server::with_api();
    let a = api.delegate(&json!({}));
    let access = json!({"opensBefore": 15, "closesAfter": 10});
    let talk = api.device(&json!({
        "name": "Talk", "startAt": NINE_TWO, "endAt": NINE_TWO + 3600, "data": {"Access": access},
    }));
    let at = |seconds: i64| scan_at(&api, "check-in", (a, talk), NINE_TWO + seconds);
    at(-15 * 60 - 1).refused(412, 742, "Talk opens at 08:47 on 2020-06-01");
    passes(&at(-15 * 60));
    passes(&at(3600 + 600));
    at(3600 + 601).refused(412, 742, "Talk has been closed since 10:12 on 2020-06-01");
    api.scan("check-in", a, talk)
        .refused(412, 742, "closed since");
    // A clock that runs ahead does not open a door: it is now that counts.
    api.patch(
        &format!("/device/id:{talk}"),
        &json!({"startAt": 4_102_444_800_i64, "endAt": null}),
    );
    at(0).refused(412, 742, "opens at 23:45 on 2099-12-31");
    scan_at(&api, "check-in", (a, talk), 4_102_444_800).refused(412, 742, "opens at");
    // Leaving is not bound to a time, and a window needs both a rule and a time.
    passes(&api.scan("check-out", a, talk));
    api.patch(&format!("/device/id:{talk}"), &json!({"startAt": null}));
    passes(&api.scan("check-in", a, talk));
    let unruled = api.device(&json!({"startAt": 0, "endAt": 1}));
    passes(&api.scan("check-in", a, unruled));
    // Times are told in the instance's zone.
    api.patch(&format!("/device/id:{talk}"), &json!({"endAt": NINE_TWO}));
    server.settings(&json!({"timeZone": "Asia/Kolkata"}));
    api.scan("check-in", a, talk)
        .refused(412, 742, "closed since 14:42 on 2020-06-01");
}

#[test]
fn a_device_that_is_not_available_lets_out_but_not_in() {
    let (_server, api) = Server::with_api();
    let a = api.delegate(&json!({}));
    let door = api.device(&json!({"name": "Gate", "available": false}));
    api.scan("check-in", a, door)
        .refused(412, 743, "Gate is not available");
    passes(&api.scan("check-out", a, door));
    passes(&api.scan("join", a, door));
    api.patch(&format!("/device/id:{door}"), &json!({"available": true}));
    passes(&api.scan("check-in", a, door));
}

#[test]
fn unreadable_rules_close_the_gate_and_nothing_else() {
    let (server, api) = Server::with_api();
    let a = api.delegate(&json!({}));
    let healthy = gate(&api, &json!({}));
    let door = gate(&api, &json!({"entry": "single"}));
    let path = format!("/device/id:{door}");
    for broken in [
        r#"{"Access": {"entry": "sometimes"}}"#,
        r#"{"Access": {"entri": "single"}}"#,
        r#"{"Access": {"capacity": -1}}"#,
        r#"{"Access": {"capacity": null}}"#,
        r#"{"Access": []}"#,
        r#"{"Access": ["simple"]}"#,
        r#"{"Access": "open"}"#,
        r#"{"Access": {"entry": "single"}, "Access": {}}"#,
        r#"{"Access": "#,
        r"{not json",
        r"[]",
        r"[null]",
        r#""text""#,
        "",
    ] {
        server.sql(&format!(
            "UPDATE devices SET data = '{broken}' WHERE id = {door}"
        ));
        api.scan("check-in", a, door)
            .refused(412, 743, "rules of Gate cannot be read");
        let test = json!({"delegate": a, "device": door});
        api.post("/interaction/test/check-in", &test)
            .refused(412, 743, "data.Access");
        passes(&api.scan("check-in-override", a, door));
        passes(&api.scan("check-out", a, door));
        passes(&api.scan("check-in", a, healthy));
        // Reading goes on, and a PATCH mends it.
        let listed = api.get("/device/list");
        assert_eq!(
            listed.body["meta"]["pagination"]["totalItems"], 2,
            "{broken}: {listed:?}"
        );
        assert_eq!(api.get(&path).id(), door, "{broken}");
        let mended = api.patch(&path, &json!({"data": {"Access": null}}));
        assert_eq!(mended.status, 200, "{broken}: {mended:?}");
        passes(&api.scan("check-in", a, door));
    }
}

#[test]
fn an_override_is_never_refused() {
    let (server, api) = Server::with_api();
    let a = api.delegate(&json!({}));
    for access in cases::<Value>(json!([
        {"ruleSet": "simple"}, {"capacity": 0}, {"maxCheckIns": 0}, {"entry": "single"}, {"closesAfter": 0},
    ])) {
        let door = gate(&api, &access);
        let change = json!({"available": false, "startAt": 0, "endAt": 1});
        api.patch(&format!("/device/id:{door}"), &change);
        for _ in 0..2 {
            passes(&api.scan("check-in-override", a, door));
        }
    }
    assert_eq!(refusals(&server), Vec::<Value>::new());
    assert_eq!(server.count("conflicts"), 0);
    // It counts as being inside.
    let door = gate(&api, &json!({"entry": "single"}));
    passes(&api.scan("check-in-override", a, door));
    api.scan("check-in", a, door)
        .refused(412, 740, "already used");
    passes(&api.scan("check-out", a, door));
    // An unknown code is unknown for it too.
    api.scan("check-in-override", 999, door)
        .refused(404, 1301, "");
}

#[test]
fn order_is_by_the_earlier_of_recording_and_arrival() {
    let (_server, api) = Server::with_api();
    let door = gate(&api, &json!({"entry": "single"}));
    let new = || (api.delegate(&json!({})), door);
    // A check-out that arrives late does not undo a newer check-in.
    let who = new();
    passes(&scan_at(&api, "check-in", who, NINE_TWO));
    passes(&scan_at(&api, "check-out", who, NINE_TWO + 600));
    passes(&scan_at(&api, "check-in", who, NINE_TWO + 1200));
    passes(&scan_at(&api, "check-out", who, NINE_TWO + 900));
    api.scan("check-in", who.0, door)
        .refused(412, 740, "at 09:22");
    // In one and the same second it is the id that decides.
    let who = new();
    passes(&scan_at(&api, "check-in", who, NINE_TWO));
    passes(&scan_at(&api, "check-out", who, NINE_TWO));
    passes(&scan_at(&api, "check-in", who, NINE_TWO));
    scan_at(&api, "check-in", who, NINE_TWO).refused(412, 740, "");
    // A recordedAt in the future counts as now, so that a check-out after it lets in again.
    let who = new();
    passes(&scan_at(&api, "check-in", who, 4_102_444_800));
    passes(&api.scan("check-out", who.0, door));
    passes(&api.scan("check-in", who.0, door));
}

#[test]
fn deleted_interactions_do_not_count() {
    let (_server, api) = Server::with_api();
    let door = gate(
        &api,
        &json!({"ruleSet": "simple", "entry": "single", "capacity": 1}),
    );
    let (a, b) = (api.delegate(&json!({})), api.delegate(&json!({})));
    let delete = |id: i64| api.delete(&format!("/interaction/id:{id}")).is(204);
    let join = passes(&api.scan("join", a, door));
    let check_in = passes(&api.scan("check-in", a, door));
    passes(&api.scan("join", b, door));
    api.scan("check-in", b, door).refused(412, 744, "");
    delete(check_in);
    let of_b = passes(&api.scan("check-in", b, door));
    api.scan("check-in", a, door).refused(412, 744, "");
    delete(of_b);
    passes(&api.scan("check-in", a, door));
    let check_out = passes(&api.scan("check-out", a, door));
    delete(check_out);
    api.scan("check-in", a, door).refused(412, 740, "");
    passes(&api.scan("check-out", a, door));
    delete(join);
    api.scan("check-in", a, door).refused(412, 741, "");
    // An uninvite that is deleted takes nothing back any more.
    passes(&api.scan("join", a, door));
    let uninvite = passes(&api.scan("uninvite", a, door));
    api.scan("check-in", a, door).refused(412, 741, "");
    delete(uninvite);
    passes(&api.scan("check-in", a, door));
}

#[test]
fn only_the_first_delegate_at_the_first_device_is_judged() {
    let (_server, api) = Server::with_api();
    let (open, closed) = (gate(&api, &json!({})), gate(&api, &json!({"capacity": 0})));
    let (a, b) = (api.delegate(&json!({})), api.delegate(&json!({})));
    let body = json!({"delegate": a, "secondDelegate": b, "device": open, "secondDevice": closed});
    passes(&api.interact("check-in", &body));
    for kind in ["seen", "entered", "join", "lead", "order", "our-own"] {
        passes(&api.scan(kind, a, closed));
    }
    api.scan("check-in", a, closed).refused(412, 744, "");
}
