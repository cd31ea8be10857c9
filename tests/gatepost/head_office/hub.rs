//! A hub that a test plays: it keeps what a venue pushes as the protocol says, hands down what the test gives it, and
//! fails in the ways that the test wants.

use crate::{
    faults::{
        process::until,
        wire::{header, read_message},
    },
    loopback,
};
use flate2::read::GzDecoder;
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    io::{self, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
    sync::{Arc, Mutex, MutexGuard},
    time::{Duration, Instant},
};

/// What becomes of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    Answer,
    /// The connection ends before anything is kept.
    Cut,
    /// It ends after what came was kept: the answer is lost.
    Mute,
    /// No answer comes.
    Hang,
    Status(u16),
}

/// Records by type and id.
pub type Records = BTreeMap<(String, i64), Value>;

/// What the hub has of its venue.
#[derive(Clone, Default)]
pub struct Kept {
    pub cursor: Option<String>,
    pub records: Records,
    /// Snapshots that began.
    pub generations: usize,
    pub is_complete: bool,
}

pub struct State {
    pub venue: Kept,
    pub pushes: Vec<Value>,
    /// Answers to `GET /hub/down`, the first to a venue without a cursor.
    pub down: Vec<Value>,
    pub down_asked: usize,
    pub act: Box<dyn FnMut() -> Act + Send>,
    pub hubs: Vec<String>,
    /// The number of its file.
    pub office: u32,
    code: String,
}

#[derive(Clone)]
pub struct Hub {
    pub address: SocketAddr,
    state: Arc<Mutex<State>>,
}

impl Hub {
    pub fn start() -> Self {
        let listener = loopback::listener();
        let hub = Self {
            address: listener.local_addr().expect("an address"),
            state: Arc::new(Mutex::new(State {
                venue: Kept::default(),
                pushes: Vec::new(),
                down: Vec::new(),
                down_asked: 0,
                act: Box::new(|| Act::Answer),
                hubs: Vec::new(),
                office: 1,
                code: "ABCD-EFGH".to_owned(),
            })),
        };
        let of_threads = hub.clone();
        loopback::serve(listener, move |stream| of_threads.serve(stream));
        hub
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("a lock")
    }

    /// From now on does this with requests.
    pub fn acts(&self, act: impl FnMut() -> Act + Send + 'static) {
        self.state().act = Box::new(act);
    }

    /// Waits until this is so.
    #[track_caller]
    pub fn wait(&self, what: &str, mut is_so: impl FnMut(&State) -> bool) {
        until(what, || is_so(&self.state()));
    }

    fn serve(&self, mut stream: TcpStream) -> io::Result<()> {
        let mut reader = BufReader::new(stream.try_clone()?);
        loop {
            let message = read_message(&mut reader)?;
            let path = message
                .start
                .split(' ')
                .nth(1)
                .unwrap_or_default()
                .to_owned();
            let mut text = String::new();
            if header(&message.headers, "content-encoding").is_some() {
                GzDecoder::new(&*message.body).read_to_string(&mut text)?;
            }
            let act = (self.state().act)();
            if act == Act::Cut {
                return Ok(());
            }
            if act == Act::Hang {
                return reader.read(&mut [0; 1]).map(drop);
            }
            let (status, body) = match act {
                Act::Status(status) => (
                    status,
                    json!({"data": {}, "meta": {"error": {"message": "no"}}}),
                ),
                _ if path.starts_with("/hub/pair") => self.pair(&text),
                _ if header(&message.headers, "authorization") != Some("Bearer let-me-in") => (
                    401,
                    json!({"data": {}, "meta": {"error": {"message": "who?"}}}),
                ),
                _ if path.starts_with("/hub/down") => self.hand_down(&path),
                _ => self.keep(&text),
            };
            if act == Act::Mute {
                return Ok(());
            }
            let body = body.to_string();
            let length = body.len();
            let answer = format!("HTTP/1.1 {status} X\r\nContent-Length: {length}\r\n\r\n{body}");
            stream.write_all(answer.as_bytes())?;
        }
    }

    fn pair(&self, text: &str) -> (u16, Value) {
        let asked: Value = serde_json::from_str(text).expect("JSON");
        let state = self.state();
        if asked["code"] != json!(state.code) {
            return (
                400,
                json!({"data": {}, "meta": {"error": {"message": "this code is unknown"}}}),
            );
        }
        (
            200,
            json!({"venue": 7, "name": "Hall West", "secret": "let-me-in", "hubs": state.hubs, "office": state.office.to_string()}),
        )
    }

    fn keep(&self, text: &str) -> (u16, Value) {
        let push: Value = serde_json::from_str(text).expect("JSON");
        let mut state = self.state();
        let hubs = state.hubs.clone();
        let (from, to) = (push["from"].as_str(), push["to"].as_str());
        if let Some(to) = to {
            let begins = from.is_none();
            if !begins && from != state.venue.cursor.as_deref() {
                return (409, json!({"cursor": state.venue.cursor, "hubs": hubs}));
            }
            if begins {
                state.venue.records.clear();
                state.venue.generations += 1;
                state.venue.is_complete = false;
            }
            state.venue.cursor = Some(to.to_owned());
            state.venue.is_complete |= push["complete"] == true;
            for item in push["items"].as_array().expect("items") {
                let kind = item["type"].as_str().expect("a type").to_owned();
                let key = (kind, item["id"].as_i64().expect("an id"));
                match item["action"].as_str() {
                    Some("upsert") => drop(state.venue.records.insert(key, item["data"].clone())),
                    Some("delete") => drop(state.venue.records.remove(&key)),
                    other => panic!("{other:?} is no action of a push"),
                }
            }
        }
        let answer = json!({"cursor": state.venue.cursor, "hubs": hubs});
        state.pushes.push(push);
        (200, answer)
    }

    fn hand_down(&self, path: &str) -> (u16, Value) {
        let since = path
            .split("since=")
            .nth(1)
            .and_then(|rest| rest.split('&').next());
        let at: usize = since.map_or(0, |since| since.parse().expect("a number"));
        self.state().down_asked += 1;
        let until = Instant::now() + Duration::from_secs(1);
        while self.state().down.len() <= at && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        let state = self.state();
        let mut answer = json!({
            "cursor": at.to_string(), "more": false, "reset": false, "items": [], "configuration": null, "sentBack": null,
        });
        if let Some(page) = state.down.get(at) {
            answer["cursor"] = (at + 1).to_string().into();
            for (name, value) in page.as_object().expect("an object") {
                answer[name] = value.clone();
            }
        }
        (200, answer)
    }
}
