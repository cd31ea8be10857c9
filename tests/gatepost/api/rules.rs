//! The rules of entry, judged over HTTP (contract §3, §6): who is let in, who is not, and what the
//! steward tells the guest.

use super::{gate, refusals};
use crate::harness::{Caller, Reply, Server};
use serde_json::{Value, json};

/// 2020-06-01 09:02:00 UTC, long past.
const NINE_TWO: i64 = 1_591_002_120;

fn scan(caller: &Caller<'_>, kind: &str, delegate: i64, device: i64) -> Reply {
    caller.interact(kind, &json!({"delegate": delegate, "device": device}))
}

fn scan_at(caller: &Caller<'_>, kind: &str, who: (i64, i64), at: i64) -> Reply {
    caller.interact(
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
    let server = Server::start();
    let caller = server.caller_with_all();
    let a = caller.delegate(&json!({}));
    for access in [json!({}), json!({"ruleSet": "open", "entry": "multiple"})] {
        let device = gate(&caller, &access);
        for kind in ["check-in", "check-in", "check-out", "check-out", "check-in"] {
            passes(&scan(&caller, kind, a, device));
        }
    }
    // Without a delegate or a device there is nothing to judge.
    passes(&caller.interact("check-in", &json!({"delegate": a})));
    passes(&caller.interact(
        "check-out",
        &json!({"device": gate(&caller, &json!({"capacity": 0}))}),
    ));
}

/// What a gate's last check-in was judged by is remembered for the next, until it is changed.
#[test]
fn a_change_of_a_device_binds_the_very_next_scan() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let a = caller.delegate(&json!({}));
    let above = gate(&caller, &json!({}));
    let door = gate(&caller, &json!({}));
    let path = format!("/device/id:{door}");
    let edit = |change: &Value| assert_eq!(caller.patch(&path, change).status, 200);
    let code = |code: &str| json!({"delegate": a, "device": format!("code:{code}")});
    edit(&json!({"code": "door", "parent": above}));
    passes(&caller.interact("check-in", &code("door")));
    passes(&caller.interact("check-in", &code("door")));

    edit(&json!({"data": {"Access": {"maxCheckIns": 2}}}));
    caller
        .interact("check-in", &code("door"))
        .refused(412, 740, "");
    edit(&json!({"data": null}));
    passes(&caller.interact("check-in", &code("door")));

    // By another process, such as an import.
    let file = rusqlite::Connection::open(server.path()).expect("the file");
    let set = |sql: &str| file.execute(sql, [door]).expect("a write");
    set("UPDATE devices SET available = 0 WHERE id = ?1");
    caller
        .interact("check-in", &code("door"))
        .refused(412, 743, "is not available");
    set("UPDATE devices SET available = 1 WHERE id = ?1");
    passes(&caller.interact("check-in", &code("door")));

    // A join above counts as long as what is above is there.
    let simple = json!({"data": {"Access": {"ruleSet": "simple"}}});
    edit(&simple);
    passes(&scan(&caller, "join", a, above));
    passes(&caller.interact("check-in", &code("door")));
    caller.delete(&format!("/device/id:{above}"));
    caller
        .interact("check-in", &code("door"))
        .refused(412, 741, "");
    edit(&json!({"data": null}));

    edit(&json!({"code": "gate"}));
    caller
        .interact("check-in", &code("door"))
        .refused(404, 1401, "");
    passes(&caller.interact("check-in", &code("gate")));
    caller.delete(&path);
    caller
        .interact("check-in", &code("gate"))
        .refused(404, 1401, "");
}

#[test]
fn simple_acl_needs_a_join_or_booking_here_or_above() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let simple = json!({"ruleSet": "simple"});
    let event = caller
        .post("/event/new", &json!({"eventName": "Summit"}))
        .id();
    let room = gate(&caller, &simple);
    let session = gate(&caller, &simple);
    caller.patch(&format!("/device/id:{room}"), &json!({"parent": event}));
    caller.patch(&format!("/device/id:{session}"), &json!({"parent": room}));
    for joined in ["join", "booking"] {
        for place in [event, room, session] {
            let a = caller.delegate(&json!({}));
            let stranger = caller.delegate(&json!({}));
            scan(&caller, "check-in", a, session).refused(412, 741, "not registered for Gate");
            passes(&scan(&caller, joined, a, place));
            passes(&scan(&caller, "check-in", a, session));
            scan(&caller, "check-in", stranger, session).refused(412, 741, "not registered");
            passes(&scan(&caller, "check-out", stranger, session));
        }
    }
    // A join below, or with another device, or as the second delegate, is none.
    let (a, b) = (caller.delegate(&json!({})), caller.delegate(&json!({})));
    passes(&scan(&caller, "join", a, session));
    scan(&caller, "check-in", a, room).refused(412, 741, "");
    let second =
        json!({"delegate": a, "secondDelegate": b, "device": room, "secondDevice": session});
    passes(&caller.interact("join", &second));
    scan(&caller, "check-in", b, room).refused(412, 741, "");
}

#[test]
fn an_uninvite_or_cancelled_booking_takes_a_join_back() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let event = caller.post("/event/new", &json!({})).id();
    let door = gate(&caller, &json!({"ruleSet": "simple"}));
    caller.patch(&format!("/device/id:{door}"), &json!({"parent": event}));
    for (given, taken) in [
        ("join", "uninvite"),
        ("booking", "cancel-booking"),
        ("join", "cancel-booking"),
    ] {
        for place in [event, door] {
            let a = caller.delegate(&json!({}));
            passes(&scan(&caller, given, a, place));
            passes(&scan(&caller, "check-in", a, door));
            passes(&scan(&caller, taken, a, place));
            scan(&caller, "check-in", a, door).refused(412, 741, "");
            passes(&scan(&caller, given, a, place));
            passes(&scan(&caller, "check-in", a, door));
        }
    }
    // One with another device takes nothing back.
    let a = caller.delegate(&json!({}));
    passes(&scan(&caller, "join", a, door));
    passes(&scan(&caller, "uninvite", a, event));
    passes(&scan(&caller, "check-in", a, door));
    // A host uninvites a guest; that nobody ever did is remembered from the check-in before.
    let host = caller.delegate(&json!({}));
    passes(&scan(&caller, "join", host, door));
    passes(&scan(&caller, "check-in", a, door));
    passes(&caller.interact(
        "uninvite",
        &json!({"delegate": host, "secondDelegate": a, "device": door}),
    ));
    scan(&caller, "check-in", a, door).refused(412, 741, "");
    passes(&scan(&caller, "check-in", host, door));
    // What was taken back before it was given stays given.
    let b = caller.delegate(&json!({}));
    passes(&scan_at(&caller, "join", (b, door), NINE_TWO));
    passes(&scan_at(&caller, "uninvite", (b, door), NINE_TWO - 60));
    passes(&scan(&caller, "check-in", b, door));
}

#[test]
fn single_entry_needs_a_check_out_between() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let door = gate(&caller, &json!({"entry": "single"}));
    let other_door = gate(&caller, &json!({"entry": "single"}));
    let (a, b) = (caller.delegate(&json!({})), caller.delegate(&json!({})));
    scan(&caller, "check-out", a, door).refused(412, 745, "not checked in at Gate");
    passes(&scan_at(&caller, "check-in", (a, door), NINE_TWO));
    scan(&caller, "check-in", a, door).refused(
        412,
        740,
        "already used at Gate at 09:02 on 2020-06-01",
    );
    passes(&scan(&caller, "check-in", b, door));
    passes(&scan(&caller, "check-in", a, other_door));
    passes(&scan(&caller, "check-out", a, door));
    scan(&caller, "check-out", a, door).refused(412, 745, "");
    passes(&scan(&caller, "check-in", a, door));
}

#[test]
fn max_check_ins_counts_each_delegate() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let (a, b) = (caller.delegate(&json!({})), caller.delegate(&json!({})));
    let once = gate(&caller, &json!({"maxCheckIns": 1}));
    passes(&scan_at(&caller, "check-in", (a, once), NINE_TWO));
    passes(&scan(&caller, "check-out", a, once));
    let told = "already checked in once at Gate, the most allowed; last at 09:02 on 2020-06-01";
    scan(&caller, "check-in", a, once).refused(412, 740, told);
    passes(&scan(&caller, "check-in", b, once));
    let thrice = gate(&caller, &json!({"maxCheckIns": 3}));
    let made = [0; 3].map(|_| passes(&scan(&caller, "check-in", a, thrice)));
    scan(&caller, "check-in", a, thrice).refused(412, 740, "3 times");
    caller.delete(&format!("/interaction/id:{}", made[0]));
    passes(&scan(&caller, "check-in", a, thrice));
    scan(&caller, "check-in", a, thrice).refused(412, 740, "3 times");
    let never = gate(&caller, &json!({"maxCheckIns": 0}));
    scan(&caller, "check-in", a, never).refused(412, 740, "");
}

#[test]
fn capacity_counts_who_is_inside_now() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let door = gate(&caller, &json!({"capacity": 2}));
    let [a, b, c] = [0; 3].map(|_| caller.delegate(&json!({})));
    passes(&scan(&caller, "check-in", a, door));
    passes(&scan(&caller, "check-in", a, door));
    passes(&scan(&caller, "check-in", b, door));
    scan(&caller, "check-in", c, door).refused(412, 744, "Gate is full: 2 of 2 inside");
    // Who is inside may come again.
    passes(&scan(&caller, "check-in", a, door));
    passes(&scan(&caller, "check-out", a, door));
    let third = passes(&scan(&caller, "check-in", c, door));
    scan(&caller, "check-in", a, door).refused(412, 744, "2 of 2");
    caller.delete(&format!("/interaction/id:{third}"));
    passes(&scan(&caller, "check-in", a, door));
    // An override and an admission count as being inside.
    passes(&scan(&caller, "check-in-override", c, door));
    passes(&scan(&caller, "check-out", b, door));
    let d = caller.delegate(&json!({}));
    scan(&caller, "check-in", d, door).refused(412, 744, "2 of 2");
    passes(&caller.interact(
        "check-in",
        &json!({"delegate": d, "device": door, "admitted": true}),
    ));
    scan(&caller, "check-in", b, door).refused(412, 744, "3 of 2");
    let closed = gate(&caller, &json!({"capacity": 0}));
    scan(&caller, "check-in", a, closed).refused(412, 744, "0 of 0");
}

#[test]
fn the_window_opens_and_closes_around_start_and_end() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let a = caller.delegate(&json!({}));
    let access = json!({"opensBefore": 15, "closesAfter": 10});
    let talk = caller.device(&json!({
        "name": "Talk", "startAt": NINE_TWO, "endAt": NINE_TWO + 3600, "data": {"Access": access},
    }));
    let at = |seconds: i64| scan_at(&caller, "check-in", (a, talk), NINE_TWO + seconds);
    at(-15 * 60 - 1).refused(412, 742, "Talk opens at 08:47 on 2020-06-01");
    passes(&at(-15 * 60));
    passes(&at(3600 + 600));
    at(3600 + 601).refused(412, 742, "Talk has been closed since 10:12 on 2020-06-01");
    scan(&caller, "check-in", a, talk).refused(412, 742, "closed since");
    // A clock that runs ahead does not open a door: it is now that counts.
    caller.patch(
        &format!("/device/id:{talk}"),
        &json!({"startAt": 4_102_444_800_i64, "endAt": null}),
    );
    at(0).refused(412, 742, "opens at 23:45 on 2099-12-31");
    scan_at(&caller, "check-in", (a, talk), 4_102_444_800).refused(412, 742, "opens at");
    // Leaving is not bound to a time, and a window needs both a rule and a time.
    passes(&scan(&caller, "check-out", a, talk));
    caller.patch(&format!("/device/id:{talk}"), &json!({"startAt": null}));
    passes(&scan(&caller, "check-in", a, talk));
    let unruled = caller.device(&json!({"startAt": 0, "endAt": 1}));
    passes(&scan(&caller, "check-in", a, unruled));
    // Times are told in the instance's zone.
    caller.patch(&format!("/device/id:{talk}"), &json!({"endAt": NINE_TWO}));
    server.settings(&json!({"timeZone": "Asia/Kolkata"}));
    scan(&caller, "check-in", a, talk).refused(412, 742, "closed since 14:42 on 2020-06-01");
}

#[test]
fn a_device_that_is_not_available_lets_out_but_not_in() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let a = caller.delegate(&json!({}));
    let door = caller.device(&json!({"name": "Gate", "available": false}));
    scan(&caller, "check-in", a, door).refused(412, 743, "Gate is not available");
    passes(&scan(&caller, "check-out", a, door));
    passes(&scan(&caller, "join", a, door));
    caller.patch(&format!("/device/id:{door}"), &json!({"available": true}));
    passes(&scan(&caller, "check-in", a, door));
}

#[test]
fn unreadable_rules_close_the_gate_and_nothing_else() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let a = caller.delegate(&json!({}));
    let healthy = gate(&caller, &json!({}));
    let door = gate(&caller, &json!({"entry": "single"}));
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
        scan(&caller, "check-in", a, door).refused(412, 743, "rules of Gate cannot be read");
        let test = json!({"delegate": a, "device": door});
        caller
            .post("/interaction/test/check-in", &test)
            .refused(412, 743, "data.Access");
        passes(&scan(&caller, "check-in-override", a, door));
        passes(&scan(&caller, "check-out", a, door));
        passes(&scan(&caller, "check-in", a, healthy));
        // Reading goes on, and a PATCH mends it.
        let listed = caller.get("/device/list");
        assert_eq!(
            listed.body["meta"]["pagination"]["totalItems"], 2,
            "{broken}: {listed:?}"
        );
        assert_eq!(caller.get(&path).id(), door, "{broken}");
        let mended = caller.patch(&path, &json!({"data": {"Access": null}}));
        assert_eq!(mended.status, 200, "{broken}: {mended:?}");
        passes(&scan(&caller, "check-in", a, door));
    }
}

#[test]
fn an_override_is_never_refused() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let a = caller.delegate(&json!({}));
    for access in [
        json!({"ruleSet": "simple"}),
        json!({"capacity": 0}),
        json!({"maxCheckIns": 0}),
        json!({"entry": "single"}),
        json!({"closesAfter": 0}),
    ] {
        let door = gate(&caller, &access);
        let change = json!({"available": false, "startAt": 0, "endAt": 1});
        caller.patch(&format!("/device/id:{door}"), &change);
        for _ in 0..2 {
            passes(&scan(&caller, "check-in-override", a, door));
        }
    }
    assert_eq!(refusals(&server), Vec::<Value>::new());
    assert_eq!(server.value::<i64>("SELECT count(*) FROM conflicts"), 0);
    // It counts as being inside.
    let door = gate(&caller, &json!({"entry": "single"}));
    passes(&scan(&caller, "check-in-override", a, door));
    scan(&caller, "check-in", a, door).refused(412, 740, "already used");
    passes(&scan(&caller, "check-out", a, door));
    // An unknown code is unknown for it too.
    caller
        .interact(
            "check-in-override",
            &json!({"delegate": 999, "device": door}),
        )
        .refused(404, 1301, "");
}

#[test]
fn order_is_by_the_earlier_of_recording_and_arrival() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let door = gate(&caller, &json!({"entry": "single"}));
    let new = || (caller.delegate(&json!({})), door);
    // A check-out that arrives late does not undo a newer check-in.
    let who = new();
    passes(&scan_at(&caller, "check-in", who, NINE_TWO));
    passes(&scan_at(&caller, "check-out", who, NINE_TWO + 600));
    passes(&scan_at(&caller, "check-in", who, NINE_TWO + 1200));
    passes(&scan_at(&caller, "check-out", who, NINE_TWO + 900));
    scan(&caller, "check-in", who.0, door).refused(412, 740, "at 09:22");
    // In one and the same second it is the id that decides.
    let who = new();
    passes(&scan_at(&caller, "check-in", who, NINE_TWO));
    passes(&scan_at(&caller, "check-out", who, NINE_TWO));
    passes(&scan_at(&caller, "check-in", who, NINE_TWO));
    scan_at(&caller, "check-in", who, NINE_TWO).refused(412, 740, "");
    // A recordedAt in the future counts as now, so that a check-out after it lets in again.
    let who = new();
    passes(&scan_at(&caller, "check-in", who, 4_102_444_800));
    passes(&scan(&caller, "check-out", who.0, door));
    passes(&scan(&caller, "check-in", who.0, door));
}

#[test]
fn deleted_interactions_do_not_count() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let door = gate(
        &caller,
        &json!({"ruleSet": "simple", "entry": "single", "capacity": 1}),
    );
    let (a, b) = (caller.delegate(&json!({})), caller.delegate(&json!({})));
    let delete = |id: i64| assert_eq!(caller.delete(&format!("/interaction/id:{id}")).status, 204);
    let join = passes(&scan(&caller, "join", a, door));
    let check_in = passes(&scan(&caller, "check-in", a, door));
    passes(&scan(&caller, "join", b, door));
    scan(&caller, "check-in", b, door).refused(412, 744, "");
    delete(check_in);
    let of_b = passes(&scan(&caller, "check-in", b, door));
    scan(&caller, "check-in", a, door).refused(412, 744, "");
    delete(of_b);
    passes(&scan(&caller, "check-in", a, door));
    let check_out = passes(&scan(&caller, "check-out", a, door));
    delete(check_out);
    scan(&caller, "check-in", a, door).refused(412, 740, "");
    passes(&scan(&caller, "check-out", a, door));
    delete(join);
    scan(&caller, "check-in", a, door).refused(412, 741, "");
    // An uninvite that is deleted takes nothing back any more.
    passes(&scan(&caller, "join", a, door));
    let uninvite = passes(&scan(&caller, "uninvite", a, door));
    scan(&caller, "check-in", a, door).refused(412, 741, "");
    delete(uninvite);
    passes(&scan(&caller, "check-in", a, door));
}

#[test]
fn only_the_first_delegate_at_the_first_device_is_judged() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let (open, closed) = (
        gate(&caller, &json!({})),
        gate(&caller, &json!({"capacity": 0})),
    );
    let (a, b) = (caller.delegate(&json!({})), caller.delegate(&json!({})));
    let body = json!({"delegate": a, "secondDelegate": b, "device": open, "secondDevice": closed});
    passes(&caller.interact("check-in", &body));
    for kind in ["seen", "entered", "join", "lead", "order", "our-own"] {
        passes(&scan(&caller, kind, a, closed));
    }
    scan(&caller, "check-in", a, closed).refused(412, 744, "");
}
