//! States and what leads from one to another, on a file in memory.

use super::*;
use crate::db::{in_transaction, migrate};

const MINUTE_MS: i64 = 60_000;

fn file() -> Connection {
    let connection = Connection::open_in_memory().unwrap();
    migrate::create(&connection).unwrap();
    connection
}

fn at<T>(connection: &Connection, now: i64, work: impl FnOnce(&Tx<'_>) -> Result<T>) -> T {
    in_transaction(connection, Timestamp(now), work).unwrap()
}

fn mail(secret: bool) -> NewMessage {
    NewMessage {
        delegate: None,
        channel: Channel::Email,
        template: None,
        address: "ada@example.org".into(),
        subject: Some("Hello".into()),
        body: "Hello".into(),
        html: None,
        secret,
        origin: "test".into(),
    }
}

fn state(connection: &Connection, id: i64) -> (State, Option<i64>, Option<String>) {
    connection
        .query_row(
            "SELECT state, (SELECT next_at FROM outbox WHERE source_id = m.id), body
             FROM messages m WHERE id = ?1",
            [id],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )
        .unwrap()
}

#[test]
fn only_an_attempt_that_goes_on_can_end() {
    let file = file();
    let id = at(&file, 1, |tx| insert(tx, &mail(false), &Begin::Waiting));
    at(&file, 1, |tx| finish(tx, id, &SendOutcome::Sent, false));
    assert_eq!(state(&file, id).0, State::Waiting);
    at(&file, 1, |tx| begin(tx, id));
    at(&file, 1, |tx| {
        finish(tx, id, &SendOutcome::Unknown("?".into()), false)
    });
    at(&file, 1, |tx| finish(tx, id, &SendOutcome::Sent, false));
    assert_eq!(state(&file, id).0, State::Unknown);
    assert!(at(&file, MINUTE_MS, |tx| begin(tx, id)).is_none());
    // One that was erased meanwhile.
    at(&file, 1, |tx| finish(tx, 99, &SendOutcome::Sent, false));
}

#[test]
fn what_a_crash_cut_off_is_unknown_and_what_waited_waits_still() {
    let file = file();
    let begun = at(&file, 1, |tx| insert(tx, &mail(true), &Begin::Sending));
    let secret = at(&file, 1, |tx| insert(tx, &mail(true), &Begin::Waiting));
    let waits = at(&file, 1, |tx| insert(tx, &mail(false), &Begin::Waiting));
    // As a version did that wrote it down.
    let old = "UPDATE messages SET body = 'Code 1', html = 'Code 1' WHERE secret";
    file.execute(old, []).unwrap();
    at(&file, 2, end_interrupted);
    assert_eq!(state(&file, begun), (State::Unknown, None, None));
    assert_eq!(state(&file, secret), (State::Failed, None, None));
    assert_eq!(state(&file, waits).0, State::Waiting);
    assert!(at(&file, 2, |tx| begin(tx, secret)).is_none());
    assert_eq!(at(&file, 2, |tx| begin(tx, waits)).unwrap().id, waits);
    let left: i64 = file
        .query_row("SELECT source_id FROM outbox", [], |row| row.get(0))
        .unwrap();
    assert_eq!(left, waits);
}

#[test]
fn a_message_begins_once_and_leaves_the_outbox_with_its_row() {
    let file = file();
    let id = at(&file, 1, |tx| insert(tx, &mail(false), &Begin::Waiting));
    assert!(at(&file, 1, |tx| begin(tx, id)).is_some());
    assert!(at(&file, 1, |tx| begin(tx, id)).is_none());
    let destination: String = file
        .query_row("SELECT destination FROM outbox", [], |row| row.get(0))
        .unwrap();
    assert_eq!(destination, "email:users");
    file.execute("DELETE FROM messages", []).unwrap();
    assert!(
        !file
            .prepare("SELECT 1 FROM outbox")
            .unwrap()
            .exists([])
            .unwrap()
    );
}

#[test]
fn a_secret_is_given_up_after_ten_minutes() {
    let file = file();
    let id = at(&file, 0, |tx| insert(tx, &mail(true), &Begin::Waiting));
    assert_eq!(state(&file, id), (State::Waiting, Some(0), None));
    assert!(!is_any_expired(&file, Timestamp(10 * MINUTE_MS - 1)).unwrap());
    assert!(is_any_expired(&file, Timestamp(10 * MINUTE_MS)).unwrap());
    at(&file, 10 * MINUTE_MS, expire);
    assert_eq!(state(&file, id), (State::Failed, None, None));
    assert!(!is_any_expired(&file, Timestamp(10 * MINUTE_MS)).unwrap());
}
