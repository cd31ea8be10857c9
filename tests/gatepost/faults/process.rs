//! The real binary as a child process: it can be killed, and its file looked at when it is dead.

use super::wire::{PATIENCE, Wire, post};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::{
    fs::File,
    io::{BufRead, BufReader},
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Output, Stdio},
    sync::OnceLock,
    time::Instant,
};

pub const GATEPOST: &str = env!("CARGO_BIN_EXE_gatepost");

/// A `gatepost serve` that runs; killed, if nobody did before, when this goes.
pub struct Served {
    child: Child,
    pub address: SocketAddr,
    /// What it printed when it had started.
    pub announced: Value,
}

impl Served {
    pub fn start(db: &Path) -> Self {
        Self::start_by(Command::new(GATEPOST), db, &[])
    }

    /// Starts the server on every address of this machine.
    pub fn start_for_all(db: &Path, arguments: &[&str]) -> Self {
        let mut command = Command::new(GATEPOST);
        command
            .args(arguments_listening(db, "0.0.0.0:0"))
            .args(arguments);
        Self::spawn(command, db)
    }

    /// Starts a head office.
    pub fn start_hub(db: &Path) -> Self {
        Self::start_hub_at(db, "127.0.0.1:0", &[])
    }

    pub fn start_hub_at(db: &Path, listen: &str, arguments: &[&str]) -> Self {
        let mut command = Command::new(GATEPOST);
        let common = arguments_listening(db, listen);
        command.arg("hub").args(&common[1..]).args(arguments);
        Self::spawn(command, db)
    }

    /// Starts the server at an address that it had before.
    pub fn start_at(db: &Path, address: SocketAddr) -> Self {
        let mut command = Command::new(GATEPOST);
        command.args(arguments_listening(db, &address.to_string()));
        Self::spawn(command, db)
    }

    /// Starts the server by a command in front of it, such as `strace … gatepost`, which must keep
    /// its process id. Its standard error goes to a file beside the database, as it would under a
    /// service manager that logs to the same disk.
    pub fn start_by(mut command: Command, db: &Path, arguments: &[&str]) -> Self {
        command.args(serve_arguments(db)).args(arguments);
        Self::spawn(command, db)
    }

    fn spawn(mut command: Command, db: &Path) -> Self {
        let log = beside(db, ".log");
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(
                File::options()
                    .create(true)
                    .append(true)
                    .open(&log)
                    .expect("a log"),
            )
            .spawn()
            .unwrap_or_else(|cause| {
                panic!("{} cannot be run: {cause}", command.get_program().display())
            });
        let mut line = String::new();
        let stdout = child.stdout.as_mut().expect("its output");
        BufReader::new(stdout).read_line(&mut line).expect("a line");
        let announced: Value = serde_json::from_str(&line).unwrap_or_else(|_| {
            let _ = child.kill();
            let told = std::fs::read_to_string(&log).unwrap_or_default();
            panic!("the server did not start: {line}{told}")
        });
        let listening = announced["listen"].as_str().expect("an address");
        let mut address: SocketAddr = listening.parse().expect("an address");
        if address.ip().is_unspecified() {
            address.set_ip(Ipv4Addr::LOCALHOST.into());
        }
        Self {
            child,
            address,
            announced,
        }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn wire(&self) -> Wire {
        Wire::open(self.address).expect("a connection")
    }

    /// `kill -9`, and waits until it is gone.
    pub fn kill(&mut self) {
        self.child.kill().expect("killed");
        self.child.wait().expect("gone");
    }

    /// Asks it to end, and waits until it has.
    pub fn stop(self) {
        self.ask("TERM");
        self.ended();
    }

    /// Sends a signal.
    pub fn ask(&self, signal: &str) {
        let mut kill = Command::new("kill");
        let asked = kill.args(["-s", signal, &self.pid().to_string()]).status();
        assert!(asked.expect("kill").success());
    }

    /// How it ended, once it has.
    pub fn ended(mut self) -> ExitStatus {
        let mut ended = None;
        until("the server ends", || {
            ended = self.child.try_wait().expect("a child");
            ended.is_some()
        });
        ended.expect("it has ended")
    }

    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().expect("a child").is_none()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `kill -9` by its process id, for a server that others hold; [`Served::kill`] waits for its end.
pub fn kill_by_id(pid: u32) {
    let killed = Command::new("kill").args(["-9", &pid.to_string()]).status();
    assert!(killed.expect("kill").success());
}

/// The arguments of a `serve` on a port of its own.
pub fn serve_arguments(db: &Path) -> Vec<String> {
    arguments_listening(db, "127.0.0.1:0")
}

fn arguments_listening(db: &Path, listen: &str) -> Vec<String> {
    let db = db.to_str().expect("a name").to_owned();
    let mut arguments = vec!["serve".to_owned(), "--db".to_owned(), db];
    arguments.extend(["--listen", listen, "--no-mdns", "--json"].map(ToOwned::to_owned));
    arguments
}

/// Runs a command on a file to its end.
pub fn gatepost(db: &Path, arguments: &[&str]) -> Output {
    Command::new(GATEPOST)
        .args(arguments)
        .arg("--db")
        .arg(db)
        .stdin(Stdio::null())
        .output()
        .expect("it runs")
}

/// Writes the demo's file; it is made once for all tests.
pub fn write_demo(db: &Path) {
    static DEMO: OnceLock<Vec<u8>> = OnceLock::new();
    let demo = DEMO.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let db = folder.path().join("demo.db");
        let made = gatepost(&db, &["demo"]);
        assert!(made.status.success(), "{made:?}");
        std::fs::read(&db).expect("the demo")
    });
    std::fs::write(db, demo).expect("a file");
}

/// What a command with `--json` prints; it must succeed.
pub fn told(db: &Path, arguments: &[&str]) -> Value {
    let output = gatepost(db, arguments);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// What `check` finds, as JSON; nothing in a sound file.
pub fn findings(db: &Path) -> String {
    let output = gatepost(db, &["check", "--json"]);
    let printed: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let clean = printed["clean"] == true;
    assert_eq!(output.status.code(), Some(i32::from(!clean)), "{output:?}");
    if clean {
        String::new()
    } else {
        printed["findings"].to_string()
    }
}

/// Acknowledges what the dashboard shows.
pub fn acknowledge(db: &Path) {
    let file = Connection::open(db).expect("the file");
    let done = file.execute("DELETE FROM settings WHERE name = 'notices'", []);
    done.expect("acknowledged");
}

/// Waits for something that must happen; asks again and again, because nothing announces it.
#[track_caller]
pub fn until(what: &str, mut happened: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !happened() {
        assert!(begun.elapsed() < PATIENCE, "it never happens: {what}");
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
}

/// The path of a companion file, such as `gatepost.db-wal`.
pub fn beside(db: &Path, suffix: &str) -> PathBuf {
    let mut name = db.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// A file with a gate's client, delegates and devices, made by the real binary.
pub struct Site {
    pub folder: tempfile::TempDir,
    pub db: PathBuf,
    pub token: String,
    pub delegates: Vec<i64>,
    pub devices: Vec<i64>,
}

impl Site {
    /// Makes the file; no server runs on it afterwards.
    pub fn prepare() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let db = folder.path().join("gatepost.db");
        let client = told(
            &db,
            &[
                "client",
                "add",
                "gate",
                "--json",
                "--gate",
                "--role",
                "delegate-write",
                "--role",
                "device-write",
                "--role",
                "interaction-read",
            ],
        );
        let served = Served::start(&db);
        let mut wire = served.wire();
        let token = token(&mut wire, &client).expect("a token");
        let mut made = |path: &str, body: Value| {
            let answer = wire.call(&post(path, &token, &body)).expect("an answer");
            answer.data()["id"].as_i64().expect("an id")
        };
        let delegates = (0..24)
            .map(|n| made("/delegate/new", json!({"barcode": format!("T-{n}")})))
            .collect();
        let devices = (0..3)
            .map(|n| made("/device/new", json!({"name": format!("Gate {n}")})))
            .collect();
        served.stop();
        Self {
            folder,
            db,
            token,
            delegates,
            devices,
        }
    }
}

/// A token for a client's credentials as the command line prints them; `None` when refused.
pub fn token(wire: &mut Wire, client: &Value) -> Option<String> {
    let body = json!({
        "grant_type": "client_credentials",
        "client_id": client["clientId"], "client_secret": client["clientSecret"],
    });
    let answer = wire
        .call(&post("/oauth/v2/token", "", &body))
        .expect("an answer");
    answer.body["access_token"].as_str().map(ToOwned::to_owned)
}
