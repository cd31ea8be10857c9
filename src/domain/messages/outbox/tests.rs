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

fn all_open() -> Open {
    Open {
        any: Channel::ALL.to_vec(),
        to_delegates: Channel::ALL.to_vec(),
    }
}

fn state(connection: &Connection, id: i64) -> (State, Option<i64>, Option<String>) {
    connection
        .query_row(
            "SELECT state, next_at, body FROM messages WHERE id = ?1",
            [id],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )
        .unwrap()
}

#[test]
fn attempts_come_at_longer_and_longer_intervals_and_end() {
    let file = file();
    let mut now = 1_000_000;
    let id = at(&file, now, |tx| insert(tx, &mail(false), &Begin::Waiting));
    let mut waits = Vec::new();
    loop {
        let due = at(&file, now, |tx| claim(tx, &all_open(), 10));
        assert_eq!(due.iter().map(|due| due.id).collect::<Vec<_>>(), [id]);
        at(&file, now, |tx| {
            finish(tx, id, &Outcome::Later("no".into()), false)
        });
        let (state, next, _) = state(&file, id);
        let Some(next) = next else {
            assert_eq!(state, State::Failed);
            break;
        };
        assert_eq!(state, State::Waiting);
        assert!(!is_any_due(&file, &all_open(), Timestamp(next - 1)).unwrap());
        assert!(is_any_due(&file, &all_open(), Timestamp(next)).unwrap());
        waits.push((next - now) / 1_000);
        now = next;
    }
    assert_eq!(waits, [30, 120, 600, 1_800, 3_600, 7_200, 14_400]);
}

#[test]
fn only_an_attempt_that_goes_on_can_end() {
    let file = file();
    let id = at(&file, 1, |tx| insert(tx, &mail(false), &Begin::Waiting));
    at(&file, 1, |tx| finish(tx, id, &Outcome::Sent, false));
    assert_eq!(state(&file, id).0, State::Waiting);
    at(&file, 1, |tx| claim(tx, &all_open(), 10));
    at(&file, 1, |tx| {
        finish(tx, id, &Outcome::Unknown("?".into()), false)
    });
    at(&file, 1, |tx| finish(tx, id, &Outcome::Sent, false));
    assert_eq!(state(&file, id).0, State::Unknown);
    assert!(at(&file, MINUTE_MS, |tx| claim(tx, &all_open(), 10)).is_empty());
    // One that was erased meanwhile.
    at(&file, 1, |tx| finish(tx, 99, &Outcome::Sent, false));
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
    let due = at(&file, 2, |tx| claim(tx, &all_open(), 10));
    assert_eq!(due.iter().map(|due| due.id).collect::<Vec<_>>(), [waits]);
}

#[test]
fn a_message_is_claimed_once_and_only_by_open_ways() {
    let file = file();
    let mut text = mail(false);
    text.channel = Channel::Sms;
    let (email, text) = at(&file, 1, |tx| {
        Ok((
            insert(tx, &mail(false), &Begin::Waiting)?,
            insert(tx, &text, &Begin::Waiting)?,
        ))
    });
    let open = Open {
        any: vec![Channel::Sms],
        to_delegates: Vec::new(),
    };
    let ids = |due: Vec<Due>| due.into_iter().map(|due| due.id).collect::<Vec<_>>();
    assert_eq!(ids(at(&file, 1, |tx| claim(tx, &open, 10))), [text]);
    assert_eq!(ids(at(&file, 1, |tx| claim(tx, &all_open(), 10))), [email]);
    assert!(at(&file, 1, |tx| claim(tx, &all_open(), 10)).is_empty());
    assert!(!is_any_due(&file, &all_open(), Timestamp(1)).unwrap());
}

#[test]
fn a_secret_is_given_up_after_ten_minutes() {
    let file = file();
    let id = at(&file, 0, |tx| insert(tx, &mail(true), &Begin::Waiting));
    assert_eq!(state(&file, id), (State::Waiting, Some(0), None));
    let closed = Open::default();
    assert!(!is_any_due(&file, &closed, Timestamp(10 * MINUTE_MS - 1)).unwrap());
    assert!(is_any_due(&file, &closed, Timestamp(10 * MINUTE_MS)).unwrap());
    at(&file, 10 * MINUTE_MS, |tx| claim(tx, &closed, 10));
    assert_eq!(state(&file, id), (State::Failed, None, None));
}
