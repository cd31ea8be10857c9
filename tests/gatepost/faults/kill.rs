//! `kill -9` at any moment under load loses nothing that was acknowledged and doubles nothing that
//! is sent again. `GATEPOST_KILL_ROUNDS` sets the number of rounds.

use super::{
    evidence::{self, copy},
    ledger::{self, Entry, Shape},
    load::Load,
    lying_server::LyingFront,
    process::{Served, Site, beside, until},
};
use rusqlite::Connection;
use std::time::Duration;

const ROUNDS: usize = 50;
/// A file is made anew after so many rounds, so that looking through it stays quick.
const ROUNDS_OF_FILE: usize = 50;
const MIX: &[(Shape, usize)] = &[
    (Shape::Single, 1),
    (Shape::Batch, 60),
    (Shape::Single, 1),
    (Shape::Keyed, 60),
    (Shape::Single, 1),
    (Shape::Single, 1),
];
/// Items of a batch that the writer records in several slices.
const LONG: usize = 1500;
/// Batches of each shape that must have been cut in two, and rounds in which that must happen.
const CUT_IN_TWO: usize = 3;
const CUT_ROUNDS: usize = 60;
/// Rounds in which the control must find a loss; one is usually enough.
const CONTROL_ROUNDS: usize = 20;

#[test]
fn what_was_acknowledged_survives_kill_9() {
    let rounds = std::env::var("GATEPOST_KILL_ROUNDS").map_or(ROUNDS, |rounds| {
        rounds.parse().expect("GATEPOST_KILL_ROUNDS: a number")
    });
    let mut done = 0;
    let mut unanswered = 0;
    while done < rounds {
        let of_file = ROUNDS_OF_FILE.min(rounds - done);
        unanswered += kill_again_and_again(of_file);
        done += of_file;
    }
    // Otherwise the kill never met a request on its way, and nothing was shown.
    assert!(
        unanswered >= rounds,
        "only {unanswered} requests were cut off in {rounds} rounds"
    );
}

/// Runs rounds on one file; how many requests a kill cut off.
fn kill_again_and_again(rounds: usize) -> usize {
    let site = Site::prepare();
    let mut book: Vec<Entry> = Vec::new();
    let mut unsure = 0;
    let mut cut_off = 0;
    for round in 0..rounds {
        let mut served = Served::start(&site.db);
        send_again(&served, &site, &mut book[unsure..]);
        let load = Load::start(served.address, &site, &format!("r{round}"), MIX);
        await_random_moment(&load);
        served.kill();
        unsure = book.len();
        book.extend(load.finish());
        cut_off += book[unsure..]
            .iter()
            .filter(|entry| entry.answers.is_none())
            .count();
        assert_eq!(faults(&site, &book), Vec::<String>::new(), "round {round}");
    }
    let mut served = Served::start(&site.db);
    send_again(&served, &site, &mut book[unsure..]);
    served.kill();
    assert_eq!(faults(&site, &book), Vec::<String>::new());
    assert!(book.iter().all(|entry| entry.answers.is_some()));
    cut_off
}

/// A batch is stored in slices; one that was stored in part is completed, not doubled.
#[test]
fn a_batch_that_a_kill_cuts_in_two_is_completed_by_its_resend() {
    for shape in [Shape::Batch, Shape::Keyed] {
        let site = Site::prepare();
        let mut book: Vec<Entry> = Vec::new();
        let mut cut = 0;
        for round in 0..CUT_ROUNDS {
            let mut served = Served::start(&site.db);
            let name = format!("r{round}");
            let load = Load::start(served.address, &site, &name, &[(shape, LONG)]);
            await_first_slice(&site);
            served.kill();
            let before = book.len();
            book.extend(load.finish());
            assert_eq!(faults(&site, &book), Vec::<String>::new(), "round {round}");
            let stored = book[book.len() - 1].stored(&file_of(&site));
            cut += usize::from(stored > 0 && stored < LONG);

            let mut served = Served::start(&site.db);
            send_again(&served, &site, &mut book[before..]);
            served.kill();
            assert_eq!(faults(&site, &book), Vec::<String>::new(), "round {round}");
            if cut == CUT_IN_TWO {
                break;
            }
        }
        assert_eq!(cut, CUT_IN_TWO, "{shape:?}");
    }
}

/// Waits until the log is written to, then for a moment.
fn await_first_slice(site: &Site) {
    let state = || {
        let log = std::fs::metadata(beside(&site.db, "-wal")).ok()?;
        Some((log.len(), log.modified().ok()?))
    };
    let before = state();
    until("something is stored", || state() != before);
    std::thread::sleep(Duration::from_micros(random(10_000) as u64));
}

/// Sends the last round's requests again, those that were answered and those that were not.
fn send_again(served: &Served, site: &Site, entries: &mut [Entry]) {
    let mut wire = served.wire();
    for entry in entries {
        let answer = wire.call(&entry.request(&site.token)).expect("an answer");
        entry
            .take(&answer, true)
            .expect("an answer as the first time");
    }
}

/// Some acknowledgements, then a moment that has nothing to do with them.
fn await_random_moment(load: &Load) {
    load.wait_for(10 + random(100));
    std::thread::sleep(Duration::from_micros(random(4000) as u64));
}

fn random(below: usize) -> usize {
    getrandom::u32().expect("a random number") as usize % below
}

/// Everything that is wrong with the file of a dead server.
fn faults(site: &Site, book: &[Entry]) -> Vec<String> {
    let file = file_of(site);
    let mut faults = evidence::troubles(&file);
    if faults.is_empty() {
        faults.extend(ledger::check(book, &file));
    }
    faults
}

fn file_of(site: &Site) -> Connection {
    Connection::open(copy(&site.db, site.folder.path())).expect("the copy")
}

#[test]
fn an_acknowledgement_before_the_commit_is_found_out() {
    let site = Site::prepare();
    let mut book: Vec<Entry> = Vec::new();
    for round in 0..CONTROL_ROUNDS {
        let mut served = Served::start(&site.db);
        let front = LyingFront::before(served.address);
        let name = format!("r{round}");
        let load = Load::start(front.address, &site, &name, &[(Shape::Single, 1); 6]);
        await_random_moment(&load);
        front.kill();
        served.kill();
        book.extend(load.finish());
        let faults = faults(&site, &book);
        if faults.iter().any(|fault| fault.starts_with("lost: ")) {
            return;
        }
    }
    panic!("the check finds no loss where there must be one");
}

/// The other half of the control: a file that was tampered with does not pass for what was sent.
#[test]
fn a_changed_doubled_or_invented_interaction_is_found_out() {
    let site = Site::prepare();
    let mut served = Served::start(&site.db);
    let load = Load::start(
        served.address,
        &site,
        "x",
        &[(Shape::Single, 1), (Shape::Batch, 60), (Shape::Keyed, 60)],
    );
    load.wait_for(30);
    let book = load.finish();
    served.kill();
    assert_eq!(faults(&site, &book), Vec::<String>::new());
    for (tampering, found) in [
        ("DELETE FROM interactions WHERE id = 7", "lost: "),
        (
            "UPDATE interactions SET first_device_id = 1 + first_device_id % 2 WHERE id = 7",
            "not as sent",
        ),
        (
            "UPDATE interactions SET first_delegate_id = 1 + first_delegate_id % 2 WHERE id = 7",
            "not as sent",
        ),
        (
            "UPDATE interactions SET recorded_at = recorded_at + 1 WHERE id = 7",
            "not as sent",
        ),
        (
            "UPDATE interactions SET data = json_set(data, '$.more', 1) WHERE id = 7",
            "not as sent",
        ),
        (
            "INSERT INTO interactions (interaction_type, recorded_at, created_at, data)
          SELECT interaction_type, recorded_at, created_at, data FROM interactions WHERE id = 7",
            "2 times: ",
        ),
        (
            "INSERT INTO interactions (interaction_type, recorded_at, created_at) VALUES ('x', 0, 0)",
            "nobody sent",
        ),
        ("DELETE FROM nonces", "nonce x-"),
    ] {
        let file = file_of(&site);
        file.execute_batch(tampering).expect(tampering);
        let faults = ledger::check(&book, &file).join(", ");
        assert!(faults.contains(found), "{tampering}: {faults}");
    }
}
