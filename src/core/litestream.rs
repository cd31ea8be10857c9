//! Litestream's control socket: is all of the log in the replica, which version is it. One small request a connection.

use crate::types::{os, text::shortened_to};
use serde_json::{Value, json};
use std::{
    io::{Read, Write},
    path::{Path, PathBuf},
    time::Duration,
};

/// The oldest version that goes on when the server keeps its own checkpoints.
const OLDEST: [u32; 3] = [0, 5, 17];
/// The longest wait for a replica.
const SYNC_MAX: Duration = Duration::from_secs(30);
/// Characters of a reason that are told.
const TOLD_MAX: usize = 300;
/// The longest answer.
const ANSWER_MAX_BYTES: u64 = 1 << 20;

/// A Litestream that replicates the file.
#[derive(Debug, Clone)]
pub struct Litestream {
    socket: PathBuf,
    database: String,
}

type Answer = std::result::Result<Value, String>;

impl Litestream {
    /// The one behind a control socket, for a database file.
    pub fn new(socket: &Path, database: &Path) -> Self {
        let database = std::path::absolute(database).unwrap_or_else(|_| database.to_owned());
        Self {
            socket: socket.to_owned(),
            database: database.to_string_lossy().into_owned(),
        }
    }

    /// Waits until the replica has all that was committed before the call.
    ///
    /// # Errors
    /// A sentence on why Litestream does not say so.
    pub fn sync(&self) -> std::result::Result<(), String> {
        let seconds = SYNC_MAX.as_secs();
        let told = self.ask(
            "POST /sync",
            &json!({"path": self.database, "wait": true, "timeout": seconds}),
        )?;
        if told["replicated_txid"].is_null() || told["replicated_txid"] != told["txid"] {
            return Err(format!(
                "Litestream has not sent everything: {}",
                shortened_to(&told.to_string(), TOLD_MAX)
            ));
        }
        Ok(())
    }

    /// Does `work` while Litestream has let go of the log, which it holds back from being emptied otherwise.
    ///
    /// # Errors
    /// A sentence on why it cannot be stopped or started.
    pub fn without_it<T>(&self, work: impl FnOnce() -> T) -> std::result::Result<T, String> {
        let path = json!({"path": self.database, "timeout": SYNC_MAX.as_secs()});
        self.ask("POST /stop", &path)?;
        let done = work();
        self.ask("POST /start", &path)?;
        Ok(done)
    }

    /// The version.
    ///
    /// # Errors
    /// A sentence: it does not answer, or is too old.
    pub fn check_version(&self) -> std::result::Result<String, String> {
        let told = self.ask("GET /info", &Value::Null)?;
        let version = told["version"]
            .as_str()
            .unwrap_or("without a version")
            .to_owned();
        let parts: Vec<u32> = version
            .trim_start_matches('v')
            .split(['.', '-'])
            .map_while(|part| part.parse().ok())
            .collect();
        if parts.len() >= 3 && parts[..3] < OLDEST[..] {
            return Err(format!(
                "Litestream {version} is too old: it stops without a word beside Gatepost. Install 0.5.17 or newer"
            ));
        }
        Ok(version)
    }

    fn ask(&self, what: &str, body: &Value) -> Answer {
        let socket = self.socket.display();
        let answer = self.exchange(what, body).map_err(|cause| {
            format!(
                "Litestream does not answer at {socket} ({cause}): start version 0.5.17 or newer, or look at its log"
            )
        })?;
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        let told: Value = serde_json::from_str(body).unwrap_or_default();
        if head.split(' ').nth(1) == Some("200") {
            return Ok(told);
        }
        let why = told["error"].as_str().unwrap_or(body);
        Err(format!(
            "Litestream at {socket} answers: {}",
            shortened_to(why.trim(), TOLD_MAX)
        ))
    }

    fn exchange(&self, what: &str, body: &Value) -> std::io::Result<String> {
        let mut stream = os::connect_socket(&self.socket, SYNC_MAX + Duration::from_secs(5))?;
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        let length = body.len();
        // HTTP/1.0: the answer comes in one piece, and its end is that of the connection.
        write!(
            stream,
            "{what} HTTP/1.0\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        )?;
        let mut answer = String::new();
        stream.take(ANSWER_MAX_BYTES).read_to_string(&mut answer)?;
        Ok(answer)
    }
}
