//! UHF readers. What tests one module alone stands beside it in `src/domain/readers`.

mod encode;
mod ingest;
mod llrpkit;
mod presence;

use crate::harness::{Caller, Server};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Several times what anything here takes on a slow machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Asks again until there is an answer.
fn eventually<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(begun.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A hall that counts reads, a room beside it, a reader with an antenna in each, and an attendee with a tag.
struct Venue {
    server: Server,
    all: Caller,
    hall: i64,
    room: i64,
    reader: i64,
    ada: i64,
}

impl Venue {
    fn new() -> Self {
        let (server, all) = Server::with_api();
        let hall = all.device(&json!({
            "name": "Hall", "code": "hall", "data": {"Presence": {"counts": true, "goneAfterSeconds": 2}},
        }));
        let room = all.device(&json!({"name": "Room", "code": "room"}));
        let reader = all.device(&json!({
            "name": "Portal", "code": "portal-1", "deviceType": "rfidreader",
            "data": {"Reader": {"protocol": "push", "antennas": [
                {"antenna": 1, "place": "code:hall", "zone": "room"},
                {"antenna": 2, "place": "code:room", "zone": "room"},
            ]}},
        }));
        let ada = all.delegate(&json!({"firstName": "Ada", "barcode": "A-1", "uhfId": "3034ab01"}));
        let venue = Self {
            server,
            all,
            hall,
            room,
            reader,
            ada,
        };
        // Emulated readers are on this machine.
        venue
            .server
            .settings(&json!({"outgoing": {"allowLocal": true}}));
        venue
    }

    /// Has an antenna read a tag twice, 300 ms apart, until now.
    fn read(&self, epc: &str, antenna: u16) -> Value {
        let now = jiff::Timestamp::now();
        let read = |ago: i64| {
            let at = (now - jiff::SignedDuration::from_millis(ago)).to_string();
            json!({"epc": epc, "antenna": antenna, "rssi": -50, "at": at})
        };
        let body = json!({"reader": "code:portal-1", "reads": [read(300), read(0)]});
        let answer = self.all.post("/reader/reads", &body);
        answer.is(202);
        answer.data().clone()
    }

    /// The interactions of a type of Ada's, once there are some.
    fn interactions(&self, kind: &str) -> Vec<Value> {
        eventually(kind, || {
            let search = json!({"search": {"==": ["interactionType", kind]}});
            let list = self.all.post("/interaction/list", &search).list().clone();
            (!list.is_empty()).then_some(list)
        })
    }
}
