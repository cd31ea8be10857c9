//! Imports that are stopped and completed, lists that wait, and lists that are thrown away.

use super::{count, kept};
use crate::{
    console::{Crew, page},
    faults::process::until,
    harness::Server,
};
use gatepost::identity::ConsoleRole;
use std::{
    fmt::Write,
    sync::atomic::{AtomicBool, Ordering},
};

/// Many delegates: enough for several slices.
fn many(rows: usize) -> Vec<u8> {
    let mut list = String::from("Ticket code,First name,Last name,Company\n");
    for row in 0..rows {
        let company = row % 97;
        writeln!(
            list,
            "MANY-{row:06},Given{row},Family{row},Company {company}"
        )
        .expect("text");
    }
    list.into_bytes()
}

/// Ends what waits for it, even when a test fails.
struct Caught<'a>(&'a AtomicBool);

impl Drop for Caught<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn one_list_is_dealt_with_at_a_time_and_a_stopped_one_is_completed() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    server.console_user("bo@example.com", ConsoleRole::Operator);
    let bo = Crew::sign_in(&server, "bo@example.com");
    let content = many(20_000);
    let list = crew.uploaded("delegates", "many.csv", &content);
    let small = bo.uploaded("delegates", "small.csv", b"first name\nBo\n");
    // Somebody else writes, so that the import takes its time and is caught on its way.
    let caught = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !caught.load(Ordering::Relaxed) {
                server.sql("REPLACE INTO shared_values (id, digest, value) VALUES (1, x'00', '1')");
                std::thread::yield_now();
            }
        });
        let _end = Caught(&caught);
        crew.send(&list, "import", &[]).taken();
        // Until something is written: then it is stopped between two slices.
        until("something is written", || count(&server, "delegates") > 0);
        let running = crew.get(&list).shown();
        assert!(running.contains("<progress"), "{running}");
        bo.send(&small, "import", &[])
            .refused(422, "operator@example.com is importing many.csv");
        crew.post(&format!("{list}/cancel"), &[]).taken();
    });
    let html = crew.done(&list);
    assert!(html.contains("Stopped after row"), "{html}");
    let written = count(&server, "delegates");
    assert!(written > 0 && written < 20_000, "{written}");
    let batch: i64 = server.value("SELECT id FROM batches");
    let done: i64 = server.value("SELECT done FROM batches");
    assert_eq!(done, written);
    assert!(html.contains("Import the rest"), "{html}");
    assert_eq!(
        kept(&server),
        2,
        "the small one waits, and the rest of this"
    );
    let path = format!("/console/import/batches/{batch}");
    let html = crew.get(&path).shown();
    assert!(html.contains("interrupted"), "{html}");
    assert!(html.contains(&format!("href=\"{list}\"")), "{html}");
    // Thrown away, the file can be sent once more.
    crew.post(&format!("{list}/discard"), &[]).taken();
    assert_eq!(kept(&server), 1);
    let html = crew.get(&path).shown();
    assert!(
        html.contains(&format!("/console/import?batch={batch}")),
        "{html}"
    );
    bo.imported(&small, &[]);
    // The same file again: the rest is written.
    let wizard = format!("/console/import?batch={batch}");
    assert!(crew.get(&wizard).shown().contains("<strong>many.csv"));
    let other = crew.upload_to(&wizard, "delegates", "other.csv", b"first name\nBo\n");
    page(other).refused(422, "is not the file that import");
    let again = crew.uploaded("delegates", "many.csv", &content);
    let html = crew.get(&again).shown();
    assert!(html.contains(&format!("Complete import {batch}")), "{html}");
    crew.post(&format!("{again}/resume"), &[]).taken();
    let html = crew.done(&again);
    assert!(html.contains("20,000 rows done"), "{html}");
    assert_eq!(
        count(&server, "delegates WHERE barcode LIKE 'MANY-%'"),
        20_000
    );
    assert_eq!(count(&server, "batches"), 2);
}

#[test]
fn the_rest_of_a_stopped_import_is_written_from_the_file_that_was_kept() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Administrator);
    let stopped = |name: &str, content: &[u8]| {
        let list = crew.uploaded("delegates", name, content);
        let before = count(&server, "delegates");
        let caught = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !caught.load(Ordering::Relaxed) {
                    server.sql(
                        "REPLACE INTO shared_values (id, digest, value) VALUES (1, x'00', '1')",
                    );
                    std::thread::yield_now();
                }
            });
            let _end = Caught(&caught);
            crew.send(&list, "import", &[]).taken();
            until("something is written", || {
                count(&server, "delegates") > before
            });
            crew.post(&format!("{list}/cancel"), &[]).taken();
        });
        let html = crew.done(&list);
        assert!(html.contains("Stopped after row"), "{html}");
        list
    };
    let list = stopped("many.csv", &many(20_000));
    assert_eq!(kept(&server), 1);
    crew.post(&format!("{list}/resume"), &[]).taken();
    let html = crew.done(&list);
    assert!(html.contains("20,000 rows done"), "{html}");
    assert_eq!(count(&server, "delegates"), 20_000);
    assert_eq!((count(&server, "batches"), kept(&server)), (1, 0));
    // Taken back, it is not to be completed: its file goes.
    let other = String::from_utf8(many(20_000)).expect("text");
    let other = other.replace("MANY-", "OTHER-");
    let list = stopped("other.csv", other.as_bytes());
    assert_eq!(kept(&server), 1);
    let batch: i64 = server.value("SELECT max(id) FROM batches");
    let path = format!("/console/import/batches/{batch}");
    crew.post(&format!("{path}/undo"), &[]).taken();
    crew.done(&path);
    assert_eq!((kept(&server), count(&server, "delegates")), (0, 20_000));
    crew.get(&list).refused(404, "upload it again");
}

#[test]
fn a_list_that_is_thrown_away_is_gone() {
    let server = Server::start();
    let crew = server.crew(ConsoleRole::Operator);
    let list = crew.uploaded("delegates", "a.csv", b"first name\nAda\n");
    assert_eq!(kept(&server), 1);
    crew.post(&format!("{list}/discard"), &[]).taken();
    assert_eq!(kept(&server), 0);
    crew.get(&list).refused(404, "upload it again");
    // No more than a few wait, and files of one that is full are not kept.
    for _ in 0..5 {
        crew.uploaded("delegates", "a.csv", b"first name\nAda\n");
    }
    crew.upload("delegates", "a.csv", b"first name\nAda\n")
        .refused(422, "are waiting already");
    assert_eq!(kept(&server), 5);
}
