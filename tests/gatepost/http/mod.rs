//! The server as its network sees it: limits, TLS, compression, health, logs, and how it stops. The
//! real binary runs here, with limits of a second or two where a test has to wait for them.

mod compression;
mod files;
mod headers;
mod health;
mod hostile;
mod log;
mod stop;
mod tickets;
mod tls;
mod upload;

use crate::faults::{
    process::{GATEPOST, Served, token, told},
    wire::{Answer, Wire, get, post},
};
use serde_json::{Value, json};
use std::{
    io::{self, Read},
    path::PathBuf,
    process::Command,
};

/// A served file with a client of every role that these tests need.
struct Venue {
    served: Served,
    token: String,
    db: PathBuf,
    folder: tempfile::TempDir,
}

impl Venue {
    fn open(arguments: &[&str]) -> Self {
        Self::open_by(Command::new(GATEPOST), arguments)
    }

    fn open_by(command: Command, arguments: &[&str]) -> Self {
        let (folder, db, client) = prepare();
        let served = Served::start_by(command, &db, arguments);
        let token = token(&mut served.wire(), &client).expect("a token");
        Self {
            served,
            token,
            db,
            folder,
        }
    }

    fn post(&self, wire: &mut Wire, path: &str, body: &Value) -> Answer {
        let request = post(path, &self.token, body);
        wire.call(&request).expect("an answer")
    }

    fn get(&self, wire: &mut Wire, path: &str) -> Answer {
        wire.call(&get(path, &self.token)).expect("an answer")
    }

    fn delegate(&self, wire: &mut Wire, barcode: &str) {
        let made = self.post(wire, "/delegate/new", &json!({"barcode": barcode}));
        assert_eq!(made.status, 201, "{made:?}");
    }

    /// A page that is no JSON.
    fn text(&self, path: &str) -> (u16, String) {
        let url = format!("http://{}{path}", self.served.address);
        let response = crate::harness::plain().get(url).send().expect("an answer");
        (response.status().as_u16(), response.text().expect("text"))
    }

    /// The value of a metric; 0 for one that is not there.
    fn metric(&self, name: &str) -> u64 {
        let (status, page) = self.text("/metrics");
        assert_eq!(status, 200);
        let mut lines = page.lines();
        let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        value.map_or(0, |value| value.parse().expect("a number"))
    }

    /// What the server has logged by now.
    fn log(&self) -> String {
        std::fs::read_to_string(crate::faults::process::beside(&self.db, ".log")).expect("a log")
    }
}

/// A fresh file and a client's credentials.
fn prepare() -> (tempfile::TempDir, PathBuf, Value) {
    let folder = tempfile::tempdir().expect("a folder");
    let db = folder.path().join("gatepost.db");
    let add = ["client", "add", "gate", "--json", "--gate"];
    let roles = ["--role", "delegate-write", "--role", "device-write"];
    let client = told(&db, &[&add[..], &roles[..]].concat());
    (folder, db, client)
}

/// Reads until the other side closes, which it must; a reset closes too.
fn rest(mut stream: impl Read) -> Vec<u8> {
    let mut rest = Vec::new();
    match stream.read_to_end(&mut rest) {
        Err(cause) if cause.kind() != io::ErrorKind::ConnectionReset => {
            panic!("the server does not close: {cause}")
        }
        _ => rest,
    }
}
