//! Bodies and connections that break off, and batches with an item that cannot be: nothing is half
//! applied, and what was on its way can be sent again.

use super::wire::{Wire, post, request};
use crate::harness::{Agrees, Caller, Server, cases};
use serde_json::{Map, Value, json};

const ITEMS: usize = 10_000;
const ALL_OTHERS: i64 = 9_999;

fn stored(server: &Server) -> i64 {
    server.value("SELECT count(*) FROM interactions")
}

fn wire(server: &Server) -> Wire {
    Wire::open(server.address()).expect("a connection")
}

/// A delegate and a device to send interactions of.
fn site(gate: &Caller) -> (i64, i64) {
    let delegate = gate.delegate(&json!({"barcode": "T"}));
    (delegate, gate.device(&json!({"name": "Gate"})))
}

fn items(count: usize, item: impl Fn(usize) -> Value) -> Value {
    let items: Map<String, Value> = (0..count).map(|n| (n.to_string(), item(n))).collect();
    json!({"interactions": items})
}

/// Each kind of item that fails, in its own place: before it reaches the store, looked up in vain,
/// refused by a rule, and in conflict with another item's nonce.
#[test]
fn a_batch_with_one_bad_item_stores_all_others() {
    for (poison, status, code) in cases::<(Value, u16, i64)>(json!([
        [{"interactionType": "Bad Type", "device": 1}, 400, 1501],
        [{"interactionType": "check-in", "delegate": 1, "device": 999}, 404, 1401],
        [{"interactionType": "check-in", "delegate": "barcode:NO", "device": 1}, 404, 1301],
        [{"interactionType": "check-out", "delegate": 1, "device": 2}, 412, 745],
        [{"interactionType": "check-in", "delegate": 1, "device": 1, "nonce": "0"}, 409, 1109],
    ])) {
        let (server, gate) = Server::with_api();
        site(&gate);
        gate.device(&json!({"name": "Single", "data": {"Access": {"entry": "single"}}}));
        let place = 4321;
        let body = items(ITEMS, |n| {
            if n == place {
                return poison.clone();
            }
            json!({"interactionType": "scan", "delegate": 1, "device": 1, "nonce": n.to_string()})
        });
        let answer = wire(&server).call(&post("/interaction/batch", &gate.token, &body));
        let answer = answer.expect("an answer");
        let answers = answer.list();
        assert_eq!(answers.len(), ITEMS);
        for (n, answer) in answers.iter().enumerate() {
            let expected = if n == place { status } else { 201 };
            answer.agrees(&json!({"key": n.to_string(), "status": expected}));
        }
        assert_eq!(answers[place]["meta"]["error"]["internalCode"], code);
        assert_eq!(stored(&server), ALL_OTHERS);
        assert_eq!(server.count("nonces"), ALL_OTHERS);
    }
}

/// An item that fails after it wrote something, as a bug or a broken row would make it: what it
/// wrote is undone, and nothing else is.
#[test]
fn an_item_that_fails_halfway_leaves_nothing_behind() {
    let (server, gate) = Server::with_api();
    let (delegate, device) = site(&gate);
    server.sql(
        "CREATE TRIGGER poison BEFORE INSERT ON nonces WHEN new.nonce = '123'
         BEGIN SELECT raise(ABORT, 'poison'); END",
    );
    let body = items(300, |n| {
        let kind = ["check-in", "check-out"][n % 2];
        json!({"interactionType": kind, "delegate": delegate, "device": device, "nonce": n.to_string()})
    });
    let answer = wire(&server).call(&post("/interaction/batch", &gate.token, &body));
    let answer = answer.expect("an answer");
    for (n, item) in answer.list().iter().enumerate() {
        assert_eq!(item["status"], if n == 123 { 500 } else { 201 }, "{item}");
    }
    assert_eq!(stored(&server), 299);
    server.sql("DROP TRIGGER poison");
    let file = rusqlite::Connection::open(server.path()).expect("the file");
    assert_eq!(super::evidence::troubles(&file), Vec::<String>::new());
    // Its nonce is not used up: it can be sent again, when it can be.
    let again = wire(&server)
        .call(&post("/interaction/batch", &gate.token, &body))
        .expect("an answer");
    assert_eq!(again.data()[123]["status"], 201);
    assert_eq!(stored(&server), 300);
}

/// The head of a request with a body that is announced one way or the other.
fn head(path: &str, token: &str, length: &str) -> Vec<u8> {
    let whole = request("POST", path, "", token, "");
    let head = String::from_utf8(whole).expect("text");
    head.replace("Content-Length: 0\r\n", &format!("{length}\r\n"))
        .into_bytes()
}

#[test]
fn a_body_that_breaks_off_stores_nothing() {
    let (server, gate) = Server::with_api();
    let (delegate, device) = site(&gate);
    let single = json!({"delegate": delegate, "device": device}).to_string();
    let batch = items(
        50,
        |_| json!({"interactionType": "scan", "delegate": delegate}),
    )
    .to_string();
    for (path, body) in [
        ("/interaction/new/check-in", &single),
        ("/interaction/batch", &batch),
    ] {
        for sent in [0, 1, body.len() / 2, body.len() - 1, body.len()] {
            // One byte more than there will be: also where all of the JSON has come.
            let length = format!("Content-Length: {}", body.len() + 1);
            let mut cut = wire(&server);
            cut.write(&head(path, &gate.token, &length)).expect("sent");
            cut.write(&body.as_bytes()[..sent]).expect("sent");
            assert_no_success(&cut.end());

            let mut cut = wire(&server);
            cut.write(&head(path, &gate.token, "Transfer-Encoding: chunked"))
                .expect("sent");
            if sent > 0 {
                let chunk = format!("{sent:x}\r\n{}\r\n", &body[..sent]);
                cut.write(chunk.as_bytes()).expect("sent");
            }
            // The last chunk, which ends the body, never comes.
            assert_no_success(&cut.end());
        }
    }
    assert_eq!(
        (
            stored(&server),
            server.value("SELECT count(*) FROM refusals")
        ),
        (0, 0)
    );
    // The control: the same bytes, complete.
    for (path, body) in [
        ("/interaction/new/check-in", single),
        ("/interaction/batch", batch),
    ] {
        let mut whole = wire(&server);
        whole
            .write(&head(path, &gate.token, "Transfer-Encoding: chunked"))
            .expect("sent");
        whole
            .write(format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len()).as_bytes())
            .expect("sent");
        whole.answer().expect("an answer").data();
    }
    assert_eq!(stored(&server), 51);
}

fn assert_no_success(answer: &[u8]) {
    let answer = String::from_utf8_lossy(answer);
    assert!(
        answer.is_empty() || answer.starts_with("HTTP/1.1 4"),
        "{answer}"
    );
}

/// The client is gone before the answer; it cannot know what was stored, sends all of it again, and
/// each item is there once.
#[test]
fn a_batch_whose_client_is_gone_can_be_sent_again() {
    let (server, gate) = Server::with_api();
    let (delegate, device) = site(&gate);
    for round in 0..8 {
        let body = |nonce: bool| {
            items(500, |n| {
                let mark = format!("{round}-{n}-{nonce}");
                let mut item = json!({"interactionType": "scan", "delegate": delegate,
                    "device": device, "data": {"mark": mark}});
                if nonce {
                    item["nonce"] = json!(mark);
                }
                item
            })
        };
        let key = format!("Idempotency-Key: k-{round}\r\n");
        let text = body(false).to_string();
        for batch in [
            post("/interaction/batch", &gate.token, &body(true)),
            request("POST", "/interaction/batch", &key, &gate.token, &text),
        ] {
            let mut gone = wire(&server);
            gone.write(&batch).expect("sent");
            // Some leave at once, some while the batch is being recorded.
            if round % 2 == 0 {
                let before = stored(&server);
                super::process::until("the batch has begun", || stored(&server) > before);
            }
            drop(gone);
            let answer = wire(&server).call(&batch).expect("an answer");
            let answers = answer.list();
            assert_eq!(answers.len(), 500);
            let fine = |item: &Value| item["status"] == 201 || item["meta"]["replayed"] == true;
            assert!(answers.iter().all(fine), "{answer:?}");
        }
    }
    let marks = "SELECT count(DISTINCT json_extract(data, '$.mark')) FROM interactions";
    assert_eq!((stored(&server), server.value::<i64>(marks)), (8000, 8000));
}
