//! Holds the server against its own document: schemathesis sends every operation of `/openapi.json`
//! what it allows and what it does not, and checks each answer's status, headers and body. The same
//! requests each time.
//!
//! One check is left out: that whatever fits a body's shape is accepted. A shape cannot say that a
//! code is taken, that a parent does not exist, or that a guest is not on the list. And at the till
//! that whatever does not fit is refused: a purchase is always accepted, and of a batch each item
//! fails alone.

use crate::harness::{Caller, Server};
use gatepost::{
    domain::{
        content::{self, Draft},
        messages::{Channel, gateways},
    },
    identity::{Role, Scope},
};
use serde_json::json;
use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

/// Several times what it takes on a slow machine.
const PATIENCE: Duration = Duration::from_secs(600);

/// Where `tests/run` installs it: beside the build's profiles.
fn installed() -> PathBuf {
    let binary = Path::new(env!("CARGO_BIN_EXE_gatepost"));
    let target = binary.ancestors().nth(2).expect("the target folder");
    let found = target.join("schemathesis/bin/schemathesis");
    assert!(
        found.exists(),
        "{} is missing: `tests/run` installs it, which takes python3 with venv and the network",
        found.display()
    );
    found
}

const SETTINGS: &str = r#"
[checks]
positive_data_acceptance.enabled = false
# A change of a version that is not there, and a body that is too large, are refused before they are read.
negative_data_rejection.expected-statuses = ["400", "401", "403", "404", "405", "409", "412", "413", "415", "429", "5xx"]

[[operations]]
include-path = "/tx/new"
checks.negative_data_rejection.enabled = false

[[operations]]
include-path-regex = "/batch$"
checks.negative_data_rejection.enabled = false
"#;

/// Records, so that not every answer is a 404.
fn fill(server: &Server, api: &Caller) {
    set_mail_up(server);
    let device = api.device(&json!({"name": "Gate B", "code": "gate-b"}));
    for number in 1..=20 {
        let barcode = format!("TICKET-{number:04}");
        let delegate = api.delegate(&json!({"barcode": barcode, "firstName": "Ada"}));
        let body = json!({"delegate": delegate, "device": device, "data": {"a": number}});
        api.interact("check-in", &body).id();
    }
    api.event(&json!({"eventName": "Summit"}));
    for (path, content) in [
        ("/api/delegate-info", "{{ delegate.firstName }}"),
        ("/api/device-info", "{{ device.name }}"),
    ] {
        let region = Draft {
            path: path.into(),
            content: content.into(),
            tags: vec!["welcome".into()],
            references: vec![],
            published_from: None,
            published_to: None,
        };
        let region = region.check().expect("a good draft");
        let (ctx, store) = (server.context(), &server.app.store);
        store
            .write(move |tx| content::create(tx, &ctx, &region))
            .wait()
            .expect("a region");
    }
}

/// A gateway for e-mail, without which no code could be sent; nobody is there to take any.
fn set_mail_up(server: &Server) {
    let gateway = json!({"kind": "smtp", "host": "127.0.0.1", "port": 9, "security": "none",
        "from": "Summit <summit@example.org>"});
    let gateway: gateways::Definition = serde_json::from_value(gateway).expect("a definition");
    server.write(move |tx, ctx| {
        let secret = gateways::Secret::Keep;
        gateways::save(tx, ctx, Channel::Email, Some(&gateway), &secret)
    });
}

/// Runs it with a token on all operations but some; tells what it found, when that is anything.
fn run(server: &Server, token: &str, but: &[&str]) -> Result<String, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let output = folder.path().join("output");
    std::fs::write(folder.path().join("schemathesis.toml"), SETTINGS).expect("written");
    let file = std::fs::File::create(&output).expect("a file");
    let mut child = Command::new(installed())
        .args(["run", "--no-color", "--max-examples", "60"])
        .args(["--generation-deterministic"])
        .args(["--request-timeout", "30", "--warnings", "off", "--url"])
        .arg(format!("{}/api/v5", server.url()))
        .args(["-H", &format!("Authorization: Bearer {token}")])
        // A stream goes on; tests of its own look at it.
        .args(["--exclude-operation-id", "streamChanges"])
        .args(but.iter().flat_map(|id| ["--exclude-operation-id", id]))
        .arg(format!("{}/openapi.json", server.url()))
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .stdout(file.try_clone().expect("a file"))
        .stderr(file)
        .spawn()
        .expect("it runs");
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("a child") {
            break Some(status);
        }
        if begun.elapsed() > PATIENCE {
            child.kill().expect("killed");
            child.wait().expect("gone");
            break None;
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    let told = std::fs::read_to_string(&output).unwrap_or_default();
    match status {
        Some(status) if status.success() => Ok(told),
        Some(status) => Err(format!("{status}\n{told}")),
        None => Err(format!("it did not end within {PATIENCE:?}\n{told}")),
    }
}

fn assert_conforms(server: &Server, token: &str, but: &[&str]) {
    let told = run(server, token, but).unwrap_or_else(|found| panic!("{found}"));
    // Nothing else was left out.
    let document: serde_json::Value = server
        .request(reqwest::Method::GET, "/openapi.json")
        .send()
        .and_then(reqwest::blocking::Response::json)
        .expect("the document");
    let paths = document["paths"].as_object().expect("paths").values();
    let methods = ["get", "post", "put", "patch", "delete"];
    let operations: usize = paths
        .map(|path| {
            methods
                .iter()
                .filter(|method| path.get(method).is_some())
                .count()
        })
        .sum();
    assert!(operations > 20, "{operations} operations");
    // The stream is left out, too.
    let tested = operations - but.len() - 1;
    for line in [
        format!("Selected: {tested}/{operations}"),
        format!("Tested: {tested}"),
    ] {
        assert!(told.contains(&line), "no {line:?} in\n{told}");
    }
}

#[test]
fn every_answer_to_a_client_is_as_the_document_says() {
    let server = Server::start();
    server.console.discovery.window.extend(Instant::now());
    fill(&server, &server.caller_with_all());
    let (id, secret) = server.client(Role::ALL, Scope::ALL);
    let token = server.caller_of(&id, &secret).token;
    assert_conforms(&server, &token, &[]);
}

#[test]
fn every_answer_to_a_user_is_as_the_document_says() {
    let (server, api) = Server::with_api();
    server.console.discovery.window.extend(Instant::now());
    fill(&server, &api);
    let delegate = api.delegate(&json!({"barcode": "OWN"}));
    let roles = [
        Role::DelegateRead,
        Role::DeviceRead,
        Role::InteractionWrite,
        Role::OwnRead,
    ];
    let user = server.caller_as_user("ada@example.org", &roles, Some(delegate));
    // With that one the user would be gone, and its token.
    assert_conforms(&server, &user.token, &["deleteMyself"]);
    user.get("/delegate/myself").is(200);
}
