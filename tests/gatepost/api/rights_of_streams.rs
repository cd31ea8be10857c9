//! Rights are those of the moment: what is held or streamed looks at them each time it sends something
//! (contract §9).

use super::gate::Venue;
use crate::{
    faults::{process::until, wire::PATIENCE},
    harness::{Caller, Reply, Server},
};
use gatepost::{
    core::Context,
    db::Tx,
    domain::delegates::property_names,
    identity::{
        Role,
        clients::{self, Client, NewClient},
    },
    types::{DeviceId, Timestamp, error::Result},
};
use reqwest::{Method, blocking::Response};
use serde_json::{Value, json};
use std::{
    io::{BufRead, BufReader},
    sync::mpsc::{Receiver, channel},
    thread,
    time::{Duration, Instant},
};

/// Changes a client as the console does.
fn change(tx: &Tx<'_>, ctx: &Context, id: &str, change: impl FnOnce(&mut Client)) -> Result<()> {
    let mut client = clients::find(tx, id)?;
    change(&mut client);
    let new = NewClient {
        name: client.name,
        roles: client.roles,
        scopes: client.scopes,
        device: client.device,
        visible_properties: client.visible_properties,
    };
    clients::change(tx, ctx, client.id, &new, &property_names())
}

type Taken = fn(&Tx<'_>, &Context, &str) -> Result<()>;

/// What a client is answered that waits for changes while something is taken from it, and somebody is added.
fn answered(venue: &Venue, of_gate: bool, taken: Taken) -> Reply {
    let server = &venue.server;
    let device = server.value::<i64>("SELECT id FROM devices WHERE code = 'app-1'");
    let (id, secret) = server.new_client(NewClient {
        roles: [Role::Gate, Role::DelegateRead].into_iter().collect(),
        device: Some(DeviceId(device)),
        ..NewClient::named("mirror")
    });
    let caller = server.caller_of(&id, &secret);
    let path = if of_gate {
        format!("/gate/snapshot?place={}", venue.room)
    } else {
        "/changes?types=delegate".to_owned()
    };
    let mut found = caller.get(&path).body;
    let path_of = |found: &Value| {
        let cursor = found["meta"]["cursor"].as_str().expect("a cursor");
        format!("{path}&since={cursor}")
    };
    while found["meta"]["more"] == true {
        found = caller.get(&path_of(&found)).body;
    }
    let path = format!("{}&wait=30", path_of(&found));
    thread::scope(|scope| {
        let waiting = scope.spawn(|| caller.get(&path));
        until("it waits", || server.app.changes.waiting() > 0);
        server.write(move |tx, ctx| taken(tx, ctx, &id));
        venue.all.delegate(&json!({"email": "secret@example.org"}));
        let answer = waiting.join().expect("an answer");
        until("nobody waits", || server.app.changes.waiting() == 0);
        answer
    })
}

#[test]
fn who_waits_is_answered_by_the_rights_of_the_moment() {
    let venue = Venue::new();
    let cases: [(Taken, u16, i64, &str); 4] = [
        (
            |tx, ctx, id| clients::revoke(tx, ctx, id),
            401,
            1204,
            "revoked",
        ),
        (
            |tx, ctx, id| clients::end_tokens(tx, ctx, id),
            401,
            1201,
            "token",
        ),
        (
            |tx, ctx, id| {
                change(tx, ctx, id, |client| {
                    client.roles = [Role::DeviceRead].into_iter().collect();
                })
            },
            403,
            1202,
            "ROLE_OAUTH2_",
        ),
        (
            |tx, ctx, id| change(tx, ctx, id, |client| client.name = "other".to_owned()),
            200,
            0,
            "",
        ),
    ];
    for (taken, status, code, about) in cases {
        for of_gate in [false, true] {
            let answer = answered(&venue, of_gate, taken);
            if status == 200 {
                assert_eq!(answer.list().len(), 1);
            } else {
                answer.refused(status, code, about);
            }
        }
    }
    // Bound to another device, whose gates do not stand at this place.
    venue
        .all
        .device(&json!({"code": "app-2", "deviceType": "regoapp"}));
    venue.server.publish(&json!({
        "default": {"places": ["code:room"]}, "byDevice": {"app-2": {"places": ["code:other"]}},
    }));
    let bound: Taken = |tx, ctx, id| {
        let device = tx.query_row("SELECT id FROM devices WHERE code = 'app-2'", [], |row| {
            row.get(0)
        })?;
        change(tx, ctx, id, |client| client.device = device)
    };
    answered(&venue, true, bound).refused(403, 1202, "not one of this gate's places");
    // Limited to a property: what it has is void.
    let limited: Taken = |tx, ctx, id| {
        change(tx, ctx, id, |client| {
            client.visible_properties = Some(vec!["firstName".to_owned()]);
        })
    };
    let answer = answered(&venue, false, limited);
    assert_eq!(answer.list().len(), 1);
    assert_eq!(
        (&answer.data()[0]["action"], &answer.data()[0]["kind"]),
        (&json!("reset"), &json!("view-changed"))
    );
}

#[test]
fn who_waited_in_vain_is_answered_by_the_rights_of_the_moment() {
    let (server, all) = Server::with_api();
    all.delegate(&json!({}));
    let (id, secret) = server.client(&[Role::DelegateRead], &[]);
    let caller = server.caller_of(&id, &secret);
    let first = caller.get("/changes");
    let cursor = first.body["meta"]["cursor"].as_str().expect("a cursor");
    let behind = caller.get(&format!("/changes?since={cursor}"));
    let cursor = behind.body["meta"]["cursor"].as_str().expect("a cursor");
    // The token ends while nothing happens that would wake anybody.
    let soon = Timestamp::now().0 + 1_500;
    server.sql(&format!("UPDATE tokens SET expires_at = {soon}"));
    let answer = caller.get(&format!("/changes?since={cursor}&wait=3"));
    answer.refused(401, 1201, "expired");
}

/// The changes that a stream sends, until it ends.
fn changes(stream: Response) -> Receiver<Value> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            let change = line.strip_prefix("data: ").map(serde_json::from_str);
            if let Some(Ok(change)) = change {
                let _ = sender.send(change);
            }
        }
    });
    receiver
}

fn opened(caller: &Caller) -> Receiver<Value> {
    let request = caller.request(Method::GET, "/changes/stream");
    changes(request.send().expect("a stream"))
}

#[test]
fn a_stream_shows_what_its_client_may_see_by_now_and_ends_with_its_rights() {
    let (server, all) = Server::with_api();
    let hall = all.device(&json!({"name": "Hall"}));
    let ada = all.delegate(&json!({"firstName": "Ada", "email": "ada@example.org"}));
    let (id, secret) = server.client(&[Role::DelegateRead, Role::DeviceRead], &[]);
    let stream = opened(&server.caller_of(&id, &secret));
    let next = || stream.recv_timeout(PATIENCE).expect("a change");
    assert_eq!(
        (&next()["id"], &next()["data"]["email"]),
        (&json!(hall), &json!("ada@example.org"))
    );
    let changed = |arguments: &[&str]| {
        server.done(&[&["client", "change", &id][..], arguments].concat());
    };

    changed(&["--visible", "firstName,barcode"]);
    assert_eq!(next()["kind"], "view-changed");
    assert_eq!(next()["id"], json!(hall));
    let person = json!({"id": ada, "_type": "delegate", "firstName": "Ada"});
    assert_eq!(next()["data"], person);
    all.patch(
        &format!("/delegate/id:{ada}"),
        &json!({"email": "love@example.org", "barcode": "A1"}),
    )
    .is(200);
    let person = json!({"id": ada, "_type": "delegate", "firstName": "Ada", "barcode": "A1"});
    assert_eq!(next()["data"], person);

    changed(&["--no-role", "delegate-read"]);
    assert_eq!(next()["kind"], "view-changed");
    assert_eq!(next()["id"], json!(hall));
    all.patch(&format!("/delegate/id:{ada}"), &json!({"firstName": "Lin"}))
        .is(200);
    all.patch(
        &format!("/device/id:{hall}"),
        &json!({"name": "Great hall"}),
    )
    .is(200);
    assert_eq!(next()["data"]["name"], "Great hall");

    changed(&["--no-role", "device-read"]);
    let begun = Instant::now();
    assert!(stream.recv_timeout(PATIENCE).is_err());
    // Nothing had to happen for it: sooner than a stream looks that is silent.
    assert!(
        begun.elapsed() < Duration::from_secs(4),
        "{:?}",
        begun.elapsed()
    );
    let audited = server.count("audit WHERE record_type = 'client' AND action = 'update'");
    assert_eq!(audited, 3);
    changed(&["--role", "delegate-read", "--visible", "all"]);
    let told = server.done(&["client", "list", "--json"]);
    let clients: Value = serde_json::from_str(&told).expect("JSON");
    let of = |client: &&Value| client["clientId"] == *id;
    let client = clients
        .as_array()
        .expect("clients")
        .iter()
        .find(of)
        .expect("the client");
    assert_eq!(client["roles"], json!(["ROLE_OAUTH2_DELEGATE_READ"]));
    assert_eq!(client["visibleProperties"], Value::Null);
}
