//! Many gates in the same moment: one ticket enters once, one nonce is one interaction, and a room
//! for ten holds ten. Every request has a connection of its own, opened before, and all start
//! together.

use super::{
    evidence,
    wire::{Answer, Wire, post, request},
};
use crate::harness::{Caller, Server};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::{collections::HashMap, sync::Barrier, thread};

const CLIENTS: usize = 50;
const ROUNDS: i64 = 5;

/// Sends all requests at once; the answers are in the order of the requests.
fn at_once(server: &Server, requests: &[Vec<u8>]) -> Vec<Answer> {
    let start = Barrier::new(requests.len());
    thread::scope(|scope| {
        let clients: Vec<_> = requests
            .iter()
            .map(|request| {
                let start = &start;
                scope.spawn(move || {
                    let mut wire = Wire::open(server.address()).expect("a connection");
                    start.wait();
                    wire.call(request).expect("an answer")
                })
            })
            .collect();
        clients
            .into_iter()
            .map(|client| client.join().expect("a client"))
            .collect()
    })
}

/// How many answers of each status and internal code there are.
fn tally(answers: &[Answer]) -> HashMap<(u16, i64), usize> {
    let mut tally = HashMap::new();
    for answer in answers {
        *tally.entry((answer.status, answer.code())).or_default() += 1;
    }
    tally
}

fn check_in(gate: &Caller, body: &Value) -> Vec<u8> {
    post("/interaction/new/check-in", &gate.token, body)
}

fn assert_whole(server: &Server) {
    let file = Connection::open(server.path()).expect("the file");
    assert_eq!(evidence::troubles(&file), Vec::<String>::new());
}

#[test]
fn a_ticket_scanned_fifty_times_at_once_enters_once() {
    let (server, gate) = Server::with_api();
    let room = gate.device(&json!({"name": "Hall", "data": {"Access": {"entry": "single"}}}));
    for round in 0..ROUNDS {
        let barcode = format!("T-{round}");
        gate.delegate(&json!({"barcode": barcode}));
        let scan = json!({"delegate": format!("barcode:{barcode}"), "device": room});
        let answers = at_once(&server, &vec![check_in(&gate, &scan); CLIENTS]);
        assert_eq!(
            tally(&answers),
            HashMap::from([((201, 0), 1), ((412, 740), CLIENTS - 1)])
        );
        let stored = server.count("interactions");
        let refused = server.count("refusals WHERE code = 740");
        assert_eq!((stored, refused), (round + 1, (round + 1) * 49));
    }
    assert_whole(&server);
}

/// The control: where nothing forbids it, all fifty enter, so that it is the rule that keeps them
/// out above and not the way they are sent.
#[test]
fn without_a_rule_fifty_scans_at_once_enter_fifty_times() {
    let (server, gate) = Server::with_api();
    let room = gate.device(&json!({"name": "Hall"}));
    let delegate = gate.delegate(&json!({"barcode": "T"}));
    let scan = json!({"delegate": delegate, "device": room});
    let answers = at_once(&server, &vec![check_in(&gate, &scan); CLIENTS]);
    assert_eq!(tally(&answers), HashMap::from([((201, 0), CLIENTS)]));
    assert_eq!(server.count("interactions"), 50);
    assert_whole(&server);
}

#[test]
fn a_nonce_sent_fifty_times_at_once_is_one_interaction() {
    let (server, gate) = Server::with_api();
    let room = gate.device(&json!({"name": "Hall"}));
    let delegate = gate.delegate(&json!({"barcode": "T"}));
    for round in 0..ROUNDS {
        let scan = json!({"delegate": delegate, "device": room, "nonce": format!("n-{round}"),
            "data": {"round": round}});
        let answers = at_once(&server, &vec![check_in(&gate, &scan); CLIENTS]);
        assert_eq!(
            tally(&answers),
            HashMap::from([((201, 0), 1), ((200, 0), CLIENTS - 1)])
        );
        for answer in &answers {
            assert_eq!(answer.data(), answers[0].data());
            assert_eq!(
                answer.body["meta"]["replayed"] == true,
                answer.status == 200
            );
        }
        let stored = server.count("interactions");
        assert_eq!(stored, round + 1);
    }
    assert_whole(&server);
}

#[test]
fn a_key_sent_fifty_times_at_once_is_one_batch() {
    let (server, gate) = Server::with_api();
    let delegate = gate.delegate(&json!({"barcode": "T"}));
    let item = json!({"interactionType": "scan", "delegate": delegate});
    let items: serde_json::Map<String, Value> = (0..20)
        .map(|number| (number.to_string(), item.clone()))
        .collect();
    let body = json!({"interactions": items}).to_string();
    let key = "Idempotency-Key: once\r\n";
    let batch = request("POST", "/interaction/batch", key, &gate.token, &body);
    let answers = at_once(&server, &vec![batch; CLIENTS]);
    let records = |answer: &Answer| -> Vec<Value> {
        let records = answer.list().iter();
        records.map(|item| item["data"].clone()).collect()
    };
    for answer in &answers {
        assert_eq!(records(answer), records(&answers[0]));
    }
    assert_eq!(server.count("interactions"), 20);
}

#[test]
fn two_gates_that_scan_one_ticket_at_once_never_both_succeed() {
    let server = Server::start();
    let gates = [server.caller_with_all(), server.caller_with_all()];
    let rules = json!({"Access": {"maxCheckIns": 1}});
    let room = gates[0].device(&json!({"name": "Hall", "data": rules}));
    for round in 0..20 {
        let delegate = gates[0].delegate(&json!({"barcode": format!("T-{round}")}));
        let scan = json!({"delegate": delegate, "device": room});
        let answers = at_once(&server, &gates.each_ref().map(|gate| check_in(gate, &scan)));
        assert_eq!(
            tally(&answers),
            HashMap::from([((201, 0), 1), ((412, 740), 1)])
        );
    }
    assert_whole(&server);
}

/// In a batch as alone: whichever of them comes first.
#[test]
fn batches_and_gates_that_scan_one_ticket_at_once_let_it_in_once() {
    let (server, gate) = Server::with_api();
    let room = gate.device(&json!({"name": "Hall", "data": {"Access": {"maxCheckIns": 1}}}));
    let mut scans = Vec::new();
    for ticket in 0..5 {
        let delegate = gate.delegate(&json!({"barcode": format!("T-{ticket}")}));
        scans.push(json!({"delegate": delegate, "device": room}));
    }
    let items: serde_json::Map<String, Value> = scans
        .iter()
        .enumerate()
        .map(|(ticket, scan)| {
            let mut item = scan.clone();
            item["interactionType"] = json!("check-in");
            (ticket.to_string(), item)
        })
        .collect();
    let batch = post(
        "/interaction/batch",
        &gate.token,
        &json!({"interactions": items}),
    );
    let mut requests = vec![batch; 10];
    requests.extend(
        scans
            .iter()
            .cycle()
            .take(40)
            .map(|scan| check_in(&gate, scan)),
    );
    let answers = at_once(&server, &requests);
    let of_items = answers[..10].iter().flat_map(super::wire::Answer::list);
    let statuses: Vec<u64> = of_items
        .map(|item| item["status"].as_u64().expect("a status"))
        .chain(answers[10..].iter().map(|answer| answer.status.into()))
        .collect();
    assert_eq!(statuses.iter().filter(|status| **status == 201).count(), 5);
    assert_eq!(
        statuses.iter().filter(|status| **status == 412).count(),
        10 * 5 + 40 - 5
    );
    let twice: i64 =
        server.value("SELECT count(*) - count(DISTINCT first_delegate_id) FROM interactions");
    assert_eq!((twice, server.count("interactions")), (0, 5));
    assert_whole(&server);
}

#[test]
fn a_room_for_ten_holds_ten_of_fifty_who_come_at_once() {
    let (server, gate) = Server::with_api();
    for round in 0..ROUNDS {
        let rules = json!({"Access": {"capacity": 10}});
        let room = gate.device(&json!({"name": format!("Room {round}"), "data": rules}));
        let scans: Vec<_> = (0..CLIENTS)
            .map(|n| {
                let delegate = gate.delegate(&json!({"barcode": format!("{round}-{n}")}));
                check_in(&gate, &json!({"delegate": delegate, "device": room}))
            })
            .collect();
        let answers = at_once(&server, &scans);
        assert_eq!(
            tally(&answers),
            HashMap::from([((201, 0), 10), ((412, 744), CLIENTS - 10)])
        );
        let inside = format!("SELECT inside FROM occupancy WHERE device_id = {room}");
        assert_eq!(server.value::<i64>(&inside), 10);
    }
    assert_whole(&server);
}
