//! Other commands at work on the file while the server runs on it: it follows what they change, and
//! neither stops the other (contract §10).

use super::{
    evidence,
    ledger::{self, Shape},
    load::Load,
    process::{Served, Site, gatepost, token, told, until},
    wire::get,
};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::path::Path;

fn add_client(db: &Path) -> Value {
    told(db, &["client", "add", "gate", "--gate", "--json"])
}

fn ping(served: &Served, token: &str) -> u16 {
    served
        .wire()
        .call(&get("/ping", token))
        .expect("an answer")
        .status
}

#[test]
fn a_client_revoked_on_the_command_line_is_out() {
    let site = Site::prepare();
    let served = Served::start(&site.db);
    let client = add_client(&site.db);
    let token = token(&mut served.wire(), &client).expect("a token");
    // It is in the server's memory from here on.
    assert_eq!(ping(&served, &token), 200);
    let id = client["clientId"].as_str().expect("an id");
    let revoked = gatepost(&site.db, &["client", "revoke", id]);
    assert!(revoked.status.success(), "{revoked:?}");
    until("the client is out", || ping(&served, &token) == 401);
    // The control: others are not out.
    assert_eq!(ping(&served, &site.token), 200);
}

#[test]
fn a_secret_rotated_on_the_command_line_replaces_the_old_one() {
    let site = Site::prepare();
    let served = Served::start(&site.db);
    let old = add_client(&site.db);
    assert!(token(&mut served.wire(), &old).is_some());
    let id = old["clientId"].as_str().expect("an id");
    let new = told(&site.db, &["client", "rotate", id, "--json"]);
    assert_ne!(old["clientSecret"], new["clientSecret"]);
    // Not the old one first: a wrong secret counts as a guess.
    until("the new secret is good", || {
        token(&mut served.wire(), &new).is_some()
    });
    assert!(token(&mut served.wire(), &old).is_none());
}

/// Also in the moment after a clean start, when there is no log beside the file yet.
#[test]
fn commands_and_gates_do_not_stop_each_other() {
    let site = Site::prepare();
    let mut served = Served::start(&site.db);
    assert!(gatepost(&site.db, &["client", "list"]).status.success());
    let shapes = [(Shape::Single, 1), (Shape::Batch, 60), (Shape::Single, 1)];
    // A gate that is refused for once panics.
    let load = Load::start(served.address, &site, "x", &shapes);
    let mut clients = 0;
    for round in 0..8 {
        load.wait_for(round * 5);
        add_client(&site.db);
        clients += 1;
        let checked = gatepost(&site.db, &["migrate", "--check"]);
        assert!(checked.status.success(), "{checked:?}");
        let listed = told(&site.db, &["client", "list", "--json"]);
        // And the gate's own.
        assert_eq!(
            listed.as_array().map(Vec::len),
            Some(clients + 1),
            "{listed}"
        );
    }
    let book = load.finish();
    served.kill();
    let file = Connection::open(&site.db).expect("the file");
    assert_eq!(evidence::troubles(&file), Vec::<String>::new());
    assert_eq!(ledger::check(&book, &file), Vec::<String>::new());
    assert_eq!(
        json!(book.iter().filter(|entry| entry.answers.is_none()).count()),
        0
    );
}
