//! Other commands at work on the file while the server runs on it: it follows what they change
//! within a second, and neither stops the other (contract §10).

use super::{
    evidence,
    ledger::{self, Shape},
    load::Load,
    process::{Served, Site, gatepost, token, told, until},
    wire::get,
};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::{
    path::Path,
    time::{Duration, Instant},
};

/// Contract §10.
const FOLLOWS_WITHIN: Duration = Duration::from_secs(1);
/// A server that follows too late does so most times; a machine that was busy does once.
const SAMPLES: usize = 5;
const LATE_MAX: usize = 1;

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

/// Does something on the command line, and looks for its effect, several times.
fn assert_followed(what: &str, mut change: impl FnMut() -> Box<dyn FnMut() -> bool>) {
    let is_late = |_: &usize| {
        let mut is_seen = change();
        let done = Instant::now();
        until(what, &mut is_seen);
        done.elapsed() > FOLLOWS_WITHIN
    };
    let late = (0..SAMPLES).filter(is_late).count();
    assert!(
        late <= LATE_MAX,
        "{what}: {late} of {SAMPLES} times the server followed too late"
    );
}

#[test]
fn a_client_revoked_on_the_command_line_is_out_within_a_second() {
    let site = Site::prepare();
    let served = std::rc::Rc::new(Served::start(&site.db));
    assert_followed("client revoke", || {
        let client = add_client(&site.db);
        let token = token(&mut served.wire(), &client).expect("a token");
        // It is in the server's memory from here on.
        assert_eq!(ping(&served, &token), 200);
        let id = client["clientId"].as_str().expect("an id");
        assert!(
            gatepost(&site.db, &["client", "revoke", id])
                .status
                .success()
        );
        let served = std::rc::Rc::clone(&served);
        Box::new(move || ping(&served, &token) == 401)
    });
    // The control: others are not out.
    assert_eq!(ping(&served, &site.token), 200);
}

#[test]
fn a_secret_rotated_on_the_command_line_replaces_the_old_one_within_a_second() {
    let site = Site::prepare();
    let served = std::rc::Rc::new(Served::start(&site.db));
    assert_followed("client rotate", || {
        let old = add_client(&site.db);
        assert!(token(&mut served.wire(), &old).is_some());
        let id = old["clientId"].as_str().expect("an id");
        let new = told(&site.db, &["client", "rotate", id, "--json"]);
        assert_ne!(old["clientSecret"], new["clientSecret"]);
        let served = std::rc::Rc::clone(&served);
        Box::new(move || {
            // Not the old one first: a wrong secret counts as a guess.
            token(&mut served.wire(), &new).is_some() && token(&mut served.wire(), &old).is_none()
        })
    });
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
