//! What is kept of those who were not let in, of those whom a gate let in before it asked, and what
//! happens at once (contract §3, §6).

use super::{gate, refusals};
use crate::harness::{Reply, Server};
use gatepost::identity::Role;
use serde_json::{Value, json};

#[test]
fn a_refusal_is_kept_with_who_where_when_by_which_client_and_why() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let a = caller.delegate(&json!({"barcode": "A"}));
    let door = gate(&caller, &json!({"entry": "single"}));
    caller.patch(&format!("/device/id:{door}"), &json!({"code": "gate"}));
    let scan = json!({"delegate": "barcode:A", "device": "code:gate", "recordedAt": 1_591_002_120});
    assert_eq!(caller.interact("check-in", &scan).status, 201);
    let again = caller.interact("check-in", &scan);
    again.refused(412, 740, "");
    let unknown = caller.interact("lead", &json!({"delegate": "barcode:NOPE", "device": door}));
    unknown.refused(404, 1301, "NOPE");
    let second = caller.interact("lead", &json!({"delegate": a, "secondDelegate": 999}));
    second.refused(404, 1301, "999");
    let client: i64 = server.value("SELECT max(id) FROM clients");
    let row = |kind: &str,
               delegate: Value,
               delegate_id: Value,
               device: Value,
               device_id: Value,
               reply: &Reply| {
        json!({
            "kind": kind, "delegate": delegate, "delegateId": delegate_id, "device": device, "deviceId": device_id,
            "client": client, "user": null, "code": reply.code(), "message": reply.message(),
        })
    };
    let null = Value::Null;
    let kept = refusals(&server);
    assert_eq!(
        kept,
        [
            row(
                "check-in",
                json!("barcode:A"),
                json!(a),
                json!("code:gate"),
                json!(door),
                &again
            ),
            row(
                "lead",
                json!("barcode:NOPE"),
                null.clone(),
                json!(format!("id:{door}")),
                json!(door),
                &unknown
            ),
            row(
                "lead",
                json!(format!("id:{a}")),
                json!(a),
                null.clone(),
                null,
                &second
            ),
        ]
    );
    assert_eq!(
        server.value::<i64>("SELECT recorded_at FROM refusals ORDER BY id LIMIT 1"),
        1_591_002_120_000
    );
    assert!(server.value::<i64>("SELECT min(at) FROM refusals") > 1_591_002_120_000);
    assert_eq!(server.value::<i64>("SELECT count(*) FROM interactions"), 1);
}

#[test]
fn what_is_malformed_or_at_an_unknown_device_is_not_a_refusal() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let a = caller.delegate(&json!({}));
    caller
        .interact("check-in", &json!({"delegate": a, "device": 999}))
        .refused(404, 1401, "");
    caller
        .interact("check-in", &json!({"delegate": a, "typo": 1}))
        .refused(400, 1100, "");
    caller
        .interact("Bad", &json!({"delegate": a}))
        .refused(400, 1501, "");
    caller
        .interact("check-in", &json!({}))
        .refused(400, 1502, "");
    assert!(refusals(&server).is_empty());
}

#[test]
fn a_users_refusal_names_the_user() {
    let server = Server::start();
    let user = server.caller_as_user("crew@example.org", &[Role::InteractionWrite], None);
    user.interact("check-in", &json!({"delegate": "barcode:NOPE"}))
        .refused(404, 1301, "");
    let kept = refusals(&server);
    assert_eq!(kept[0]["user"], 1);
    assert!(kept[0]["client"].is_i64());
}

#[test]
fn what_a_gate_admitted_is_stored_and_makes_a_conflict_where_rules_say_no() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let a = caller.delegate(&json!({}));
    let conflicts = || server.value::<i64>("SELECT count(*) FROM conflicts");
    let door = gate(&caller, &json!({"entry": "single"}));
    let admitted =
        json!({"delegate": a, "device": door, "admitted": true, "recordedAt": 1_591_002_120});
    // Two offline gates admit one ticket: two check-ins, one conflict.
    assert_eq!(caller.interact("check-in", &admitted).status, 201);
    assert_eq!(conflicts(), 0);
    let second = caller.interact("check-in", &admitted);
    assert_eq!(second.status, 201);
    assert_eq!(conflicts(), 1);
    let kept: String =
        server.value("SELECT interaction_id || ' ' || code || ' ' || message FROM conflicts");
    assert_eq!(
        kept,
        format!(
            "{} 740 already used at Gate at 09:02 on 2020-06-01",
            second.id()
        )
    );
    assert_eq!(
        server.value::<i64>("SELECT count(*) FROM interactions WHERE admitted"),
        2
    );
    // It counts as being inside.
    caller
        .interact("check-in", &json!({"delegate": a, "device": door}))
        .refused(412, 740, "");
    for (access, code) in [
        (json!({"ruleSet": "simple"}), 741),
        (json!({"capacity": 0}), 744),
        (json!({"maxCheckIns": 0}), 740),
    ] {
        let door = gate(&caller, &access);
        let body = json!({"delegate": a, "device": door, "admitted": true});
        assert_eq!(caller.interact("check-in", &body).status, 201, "{access}");
        assert_eq!(
            server.value::<i64>("SELECT code FROM conflicts ORDER BY id DESC LIMIT 1"),
            code
        );
    }
    let door = gate(&caller, &json!({"entry": "single"}));
    let out = json!({"delegate": a, "device": door, "admitted": true});
    assert_eq!(caller.interact("check-out", &out).status, 201);
    assert_eq!(
        server.value::<i64>("SELECT code FROM conflicts ORDER BY id DESC LIMIT 1"),
        745
    );
    server.sql(&format!("UPDATE devices SET data = '[]' WHERE id = {door}"));
    assert_eq!(caller.interact("check-in", &out).status, 201);
    assert_eq!(
        server.value::<i64>("SELECT code FROM conflicts ORDER BY id DESC LIMIT 1"),
        743
    );
    assert_eq!(conflicts(), 6);
    assert_eq!(refusals(&server).len(), 1);
    // Somebody unknown cannot be stored, and a deleted interaction takes its conflict along.
    let unknown = json!({"delegate": 999, "device": door, "admitted": true});
    caller.interact("check-in", &unknown).refused(404, 1301, "");
    caller.delete(&format!("/interaction/id:{}", second.id()));
    assert_eq!(conflicts(), 5);
}

#[test]
fn fifty_gates_redeem_one_ticket_at_once_and_one_succeeds() {
    let server = Server::start();
    let caller = server.caller_with_all();
    caller.delegate(&json!({"barcode": "A"}));
    let door = gate(&caller, &json!({"entry": "single"}));
    let scan = json!({"delegate": "barcode:A", "device": door});
    let gates: Vec<_> = (0..50)
        .map(|_| server.caller(&[Role::InteractionWrite]))
        .collect();
    let replies: Vec<Reply> = std::thread::scope(|scope| {
        let threads: Vec<_> = gates
            .iter()
            .map(|gate| scope.spawn(|| gate.interact("check-in", &scan)))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("an answer"))
            .collect()
    });
    assert_eq!(
        replies.iter().filter(|reply| reply.status == 201).count(),
        1
    );
    assert_eq!(
        replies.iter().filter(|reply| reply.code() == 740).count(),
        49
    );
    assert_eq!(server.value::<i64>("SELECT count(*) FROM interactions"), 1);
    assert_eq!(refusals(&server).len(), 49);
}

#[test]
fn the_last_place_is_taken_once() {
    let server = Server::start();
    let caller = server.caller_with_all();
    let door = gate(&caller, &json!({"capacity": 3}));
    let guests: Vec<i64> = (0..20).map(|_| caller.delegate(&json!({}))).collect();
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let enter = |guest: &i64| {
            let (caller, body) = (caller.clone(), json!({"delegate": guest, "device": door}));
            scope.spawn(move || caller.interact("check-in", &body).status)
        };
        let threads: Vec<_> = guests.iter().map(enter).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("an answer"))
            .collect()
    });
    assert_eq!(statuses.iter().filter(|status| **status == 201).count(), 3);
    assert_eq!(server.value::<i64>("SELECT inside FROM occupancy"), 3);
}
