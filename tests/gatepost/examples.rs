//! The examples, run as their README says.

use crate::{
    faults::process::GATEPOST,
    harness::{Server, has},
};
use gatepost::identity::{Role, Roles};
use serde_json::json;
use std::{
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::OnceLock,
};

/// An example's program; cargo has built it already where all tests run.
fn example(name: &str) -> PathBuf {
    static BUILT: OnceLock<()> = OnceLock::new();
    BUILT.get_or_init(|| {
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--locked", "--quiet", "--examples"]);
        if !cfg!(debug_assertions) {
            build.arg("--release");
        }
        let built = build.current_dir(env!("CARGO_MANIFEST_DIR")).status();
        assert!(built.expect("cargo").success());
    });
    let beside = Path::new(GATEPOST).parent().expect("a folder");
    beside.join("examples").join(name)
}

fn ran(output: &Output) -> (String, String) {
    let told = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (told(&output.stdout), told(&output.stderr));
    assert!(output.status.success(), "{out}{err}");
    (out, err)
}

/// A server with a door and a guest, and a client for a gate.
fn venue() -> (Server, String, String) {
    let (server, api) = Server::with_api();
    api.delegate(&json!({"barcode": "A 1/x", "firstName": "Ada", "lastName": "Byron"}));
    api.device(&json!({"code": "door", "name": "Door", "data": {"Access": {"entry": "single"}}}));
    let roles: Vec<Role> = Roles::gate().iter().collect();
    let (id, secret) = server.client(&roles, &[]);
    (server, id, secret)
}

fn stored(server: &Server) -> Vec<String> {
    let all: Option<String> = server.value(
        "SELECT group_concat(interaction_type || admitted, ' ') FROM (SELECT * FROM interactions ORDER BY id)",
    );
    all.unwrap_or_default()
        .split_whitespace()
        .map(ToOwned::to_owned)
        .collect()
}

#[cfg(unix)]
#[test]
fn the_gate_in_shell_checks_in_and_hands_a_batch_in() {
    let (server, id, secret) = venue();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/gate.sh");
    let output = Command::new("sh")
        .arg(script)
        .args(["A 1/x", "code:door", &server.url()])
        .env("GATE_CLIENT_ID", id)
        .env("GATE_CLIENT_SECRET", secret)
        .output()
        .expect("sh");
    let (out, _) = ran(&output);
    let statuses: Vec<_> = out.lines().filter(|line| line.len() == 3).collect();
    assert_eq!(statuses, ["200", "201", "200"], "{out}");
    has(&out, "Byron");
    assert_eq!(stored(&server), ["check-in0", "check-out0", "check-in1"]);
}

#[test]
fn the_gate_in_rust_goes_on_while_the_server_is_away() {
    let (server, id, secret) = venue();
    let folder = tempfile::tempdir().expect("a folder");
    let gate = |url: &str, scans: &str| {
        let mut gate = Command::new(example("gate"))
            .args(["--url", url, "--client-id", &id, "--device", "code:door"])
            .args(["--client-secret", &secret, "--offline-admit"])
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the gate");
        let mut input = gate.stdin.take().expect("its input");
        input.write_all(scans.as_bytes()).expect("scans");
        drop(input);
        ran(&gate.wait_with_output().expect("its output"))
    };
    // Nobody listens there.
    let (out, _) = gate("http://127.0.0.1:1", "A 1/x\n");
    has(&out, "let in offline");
    assert_eq!(stored(&server), [""; 0]);
    // What waited is handed in first, and so the guest is inside.
    let (out, err) = gate(&server.url(), "A 1/x\nnobody\n");
    has(&err, "delivered 1 scans");
    has(&out, ["already used at Door", "nobody"]);
    assert_eq!(stored(&server), ["check-in1"]);
    assert!(!folder.path().join("gate-queue.ndjson").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn the_example_of_a_second_machine_loses_nothing() {
    let Some(litestream) = crate::faults::litestream::program() else {
        eprintln!("not run: `tests/run` installs Litestream, which takes python3 with venv");
        return;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/standby/run.sh");
    let mut run = Command::new("sh");
    run.arg(script)
        .env("GATEPOST", GATEPOST)
        .env("GATEPOST_LITESTREAM", litestream);
    let (told, _) = ran(&run.output().expect("sh"));
    assert!(told.contains("8 of 8 are stored"), "{told}");
}

#[cfg(target_os = "linux")]
#[test]
fn the_example_of_a_head_office_has_three_venues() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/hub/run.sh");
    let mut run = Command::new("sh");
    let (told, _) = ran(&run
        .arg(script)
        .env("GATEPOST", GATEPOST)
        .output()
        .expect("sh"));
    assert!(told.contains("1 head office: done"), "{told}");
}
