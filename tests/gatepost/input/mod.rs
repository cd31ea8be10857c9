//! What bad input gets: an answer from the contract's error table, in the envelope, and a server
//! that goes on as if nothing had been.

mod addresses;
mod bodies;
mod corpora;
mod fuzz;
mod laws;
mod numbers;
mod sizes;
mod strings;

use crate::harness::{Caller, Server, Whole, lacks, whole};
use reqwest::Method;
use serde_json::{Value, json};
use std::{
    io::{Read, Write},
    net::{Shutdown, TcpStream},
    time::Duration,
};

/// The contract's error table, as far as a client can be at fault.
const TABLE: [(u16, &[i64]); 9] = [
    (400, &[1100, 1101, 1102, 1501, 1502, 1503]),
    (401, &[1201, 1204]),
    (403, &[1202, 1702]),
    (404, &[1103, 1301, 1401, 1504, 1601, 1701]),
    (405, &[1104]),
    (409, &[1105, 1109]),
    (412, &[740, 741, 742, 743, 744, 745, 746]),
    (413, &[1106]),
    (415, &[1107]),
];

/// Checks that an answer is a success, or an error of the table in its envelope.
#[track_caller]
fn told(answer: &Whole) {
    let status = answer.reply.status;
    if status == 204 {
        return;
    }
    assert_eq!(
        answer.header("content-type"),
        "application/json",
        "{answer:?}"
    );
    let body = &answer.reply.body;
    let keys: Option<Vec<&String>> = body.as_object().map(|body| body.keys().collect());
    assert_eq!(
        keys,
        Some(vec![&"data".to_owned(), &"meta".to_owned()]),
        "{answer:?}"
    );
    if (200..300).contains(&status) {
        return;
    }
    let row = TABLE.iter().find(|(known, _)| *known == status);
    let known = row.is_some_and(|(_, codes)| codes.contains(&answer.reply.code()));
    assert!(known, "not in the table: {answer:?}");
    answer.reply.refused(status, answer.reply.code(), "");
    let message = answer.reply.message();
    assert!(!message.is_empty() && message.len() < 1000, "{message}");
    lacks(message, ["sqlite", "SQLite", "panicked", "src/"]);
}

/// Everybody who is there to be asked for.
struct Venue {
    server: Server,
    all: Caller,
    user: Caller,
    delegate: i64,
}

/// What takes a body.
const WRITES: [(&str, &str); 10] = [
    ("POST", "/delegate/new"),
    ("PATCH", "/delegate/barcode:A"),
    ("PATCH", "/delegate/myself"),
    ("POST", "/device/new"),
    ("PATCH", "/device/code:gate"),
    ("POST", "/event/new"),
    ("PATCH", "/event/externalId:S"),
    ("POST", "/interaction/new/lead"),
    ("POST", "/interaction/test/lead"),
    ("POST", "/interaction/batch"),
];

impl Venue {
    fn new() -> Self {
        let (server, all) = Server::with_api();
        let delegate = all.delegate(&json!({"barcode": "A"}));
        all.device(&json!({"code": "gate"}));
        all.post("/event/new", &json!({"eventExternalID": "S"}));
        let user = server.caller_as_user("ada@example.org", &[], Some(delegate));
        Self {
            server,
            all,
            user,
            delegate,
        }
    }

    /// Sends a body as it is, with a content type or without one.
    fn send(
        &self,
        write: (&str, &str),
        content_type: Option<&str>,
        body: impl Into<Vec<u8>>,
    ) -> Whole {
        let api = if write.1.ends_with("/myself") {
            &self.user
        } else {
            &self.all
        };
        let method: Method = write.0.parse().expect("a method");
        let mut request = api.request(method, write.1);
        if let Some(content_type) = content_type {
            request = request.header("Content-Type", content_type);
        }
        let answer = whole(request.body(body.into()));
        told(&answer);
        answer
    }

    /// Sends a body as JSON.
    fn send_json(&self, write: (&str, &str), body: impl Into<Vec<u8>>) -> Whole {
        self.send(write, Some("application/json"), body)
    }

    /// A number that changes with everything that is written.
    fn written(&self) -> i64 {
        self.server.value(
            "SELECT (SELECT sum(seq) FROM sqlite_sequence) + (SELECT count(*) FROM occupancy)
                  + (SELECT count(*) FROM nonces) + (SELECT count(*) FROM idempotency_keys)
                  + (SELECT count(*) FROM shared_values) + (SELECT sum(updated_at) FROM delegates)
                  + (SELECT sum(updated_at) FROM devices)",
        )
    }

    /// Checks that the server answers as ever.
    #[track_caller]
    fn goes_on(&self) {
        let found = self.all.get("/delegate/barcode:A?fields=barcode");
        assert_eq!(
            found.data(),
            &json!({"id": self.delegate, "_type": "delegate", "barcode": "A"})
        );
        assert_eq!(
            self.all.get("/ping").body["meta"],
            Value::Object(serde_json::Map::new())
        );
    }
}

/// Sends bytes as they are and reads the answer: its status and its text from the head on. They must
/// ask for the connection to be closed; who hangs up sends nothing more, and what is missing never
/// comes.
fn send_bytes(server: &Server, bytes: &[u8], hang_up: bool) -> (u16, String) {
    let mut stream = TcpStream::connect(server.address()).expect("a connection");
    let limit = Some(Duration::from_secs(20));
    stream.set_read_timeout(limit).expect("a timeout");
    // A server that has refused may close before it has read everything.
    let _ = stream.write_all(bytes);
    if hang_up {
        let _ = stream.shutdown(Shutdown::Write);
    }
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let text = String::from_utf8_lossy(&answer).into_owned();
    let status = text.get(9..12).and_then(|status| status.parse().ok());
    (status.unwrap_or(0), text)
}
