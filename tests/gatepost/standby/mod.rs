//! A second machine takes over (contract §14), with the real Litestream: both programs of the primary are killed, it comes
//! back, its disk or Litestream fails, two machines are promoted.

mod changes;
mod takeover;
mod trouble;

use crate::faults::{
    litestream,
    process::{GATEPOST, Served, Site, gatepost, told, until},
    wire::{Answer, Wire, post, request},
};
use serde_json::{Value, json};
use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
};

/// A primary whose log goes to a folder.
struct Primary {
    site: Site,
    program: PathBuf,
    litestream: Option<Child>,
    served: Served,
}

impl Primary {
    /// Starts both programs; `None` where Litestream is not installed.
    fn start() -> Option<Self> {
        let Some(program) = litestream::program() else {
            eprintln!("not run: `tests/run` installs Litestream, which takes python3 with venv");
            return None;
        };
        let site = Site::prepare();
        let replica = site.folder.path().join("replica");
        told(
            &site.db,
            &["standby", "init", "--json", "--replica", replica.to_str()?],
        );
        let mut primary = Self {
            served: serve(&site.db),
            site,
            program,
            litestream: None,
        };
        primary.replicate();
        Some(primary)
    }

    fn config(&self) -> PathBuf {
        self.site
            .folder
            .path()
            .join("gatepost.db.standby/litestream.yml")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.site.folder.path().join(name)
    }

    /// Starts Litestream, and waits until it has everything.
    fn replicate(&mut self) {
        let mut command = Command::new(&self.program);
        command.args(["replicate", "-config"]).arg(self.config());
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        self.litestream = Some(child.expect("it runs"));
        let before = self.check_in("begin", 0);
        self.until_covered(mark(&before));
    }

    fn check_in(&self, nonce: &str, delegate: usize) -> Answer {
        let body = scan(&self.site, nonce, delegate);
        self.served
            .wire()
            .call(&post("/interaction/new/check-in", &self.site.token, &body))
            .expect("an answer")
    }

    fn until_covered(&self, mark: i64) {
        let mut wire = self.served.wire();
        until("the replica has it", || {
            durable(&mut wire, &self.site.token)["covered"]
                .as_i64()
                .expect("a mark")
                >= mark
        });
    }

    /// Stops Litestream where it is, without an end.
    fn freeze(&self) {
        signal(self.litestream.as_ref().expect("it runs"), "STOP");
    }

    /// `kill -9` of both.
    fn kill(&mut self) {
        if let Some(child) = &mut self.litestream {
            child.kill().expect("killed");
            child.wait().expect("gone");
        }
        self.litestream = None;
        self.served.kill();
    }

    fn promote(&self, db: &Path) -> Output {
        fs::create_dir_all(db.parent().expect("a folder")).expect("made");
        let (config, program) = (self.config(), self.program.clone());
        let arguments = [
            "promote",
            "--json",
            "--config",
            config.to_str().expect("a name"),
            "--litestream",
            program.to_str().expect("a name"),
        ];
        gatepost(db, &arguments)
    }

    /// Promotes a second machine, and starts its server.
    fn take_over(&self) -> (PathBuf, Value, Served) {
        let db = self.path("second/gatepost.db");
        let output = self.promote(&db);
        assert!(output.status.success(), "{output:?}");
        let done = serde_json::from_slice(&output.stdout).expect("JSON");
        let served = Served::start(&db);
        (db, done, served)
    }
}

impl Drop for Primary {
    fn drop(&mut self) {
        if let Some(child) = &mut self.litestream {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn serve(db: &Path) -> Served {
    let socket = crate::faults::process::beside(db, ".litestream.sock");
    Served::start_by(
        Command::new(GATEPOST),
        db,
        &["--replicated", socket.to_str().expect("a name")],
    )
}

fn signal(child: &Child, name: &str) {
    let asked = Command::new("kill")
        .args(["-s", name, &child.id().to_string()])
        .status();
    assert!(asked.expect("kill").success());
}

fn scan(site: &Site, nonce: &str, delegate: usize) -> Value {
    json!({"delegate": site.delegates[delegate], "device": site.devices[0], "nonce": nonce, "recordedAt": 1_795_262_400})
}

fn mark(answer: &Answer) -> i64 {
    answer.body["meta"]["durable"]["mark"]
        .as_i64()
        .unwrap_or_else(|| panic!("{answer:?}"))
}

/// What `/ping` says of the second machine.
fn durable(wire: &mut Wire, token: &str) -> Value {
    let answer = wire
        .call(&request("GET", "/ping", "", token, ""))
        .expect("an answer");
    answer.data()["durable"].clone()
}

/// A plain page, such as `/health/ready`: its status and text.
fn page(served: &Served, path: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(served.address).expect("a connection");
    let asked = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    stream.write_all(asked.as_bytes()).expect("sent");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("an answer");
    let status = text
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok());
    (status.expect("a status"), text)
}
