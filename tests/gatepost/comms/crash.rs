//! `kill -9` while messages are on their way: nothing is sent twice by itself, and nothing is lost
//! that had not been begun.

use super::{
    provider::{Act, Provider},
    smtp::{Act as MailAct, MailServer},
};
use crate::faults::process::{Served, gatepost, until};
use rusqlite::Connection;
use serde_json::json;
use std::path::Path;

pub fn value(db: &Path, sql: &str) -> i64 {
    let connection = Connection::open(db).expect("the file");
    connection
        .busy_timeout(std::time::Duration::from_secs(5))
        .expect("a timeout");
    connection.query_row(sql, [], |row| row.get(0)).expect(sql)
}

pub fn run(db: &Path, sql: &str) {
    let connection = Connection::open(db).expect("the file");
    connection
        .busy_timeout(std::time::Duration::from_secs(5))
        .expect("a timeout");
    connection.execute_batch(sql).expect(sql);
}

/// A file with both gateways, and `count` messages that wait.
fn prepare(db: &Path, mail: &MailServer, provider: &Provider, count: usize) {
    let config = json!({
        "settings": {"outgoing": {"allowLocal": true}},
        "gateways": {
            "email": {"kind": "smtp", "host": "127.0.0.1", "port": mail.port, "security": "none", "from": "a@example.org"},
            "sms": {"kind": "http", "url": format!("{}/sms", provider.url()), "body": "{\"to\": \"{{ to }}\"}"},
        },
    });
    let file = db.with_file_name("config.json");
    std::fs::write(&file, config.to_string()).expect("a file");
    let file = file.to_str().expect("a name");
    let applied = gatepost(db, &["config", "apply", file]);
    assert!(applied.status.success(), "{applied:?}");
    for at in 0..count {
        let (channel, address) = if at % 2 == 0 {
            ("email", format!("a{at}@example.org"))
        } else {
            ("sms", format!("+4940{at:06}"))
        };
        put(db, channel, &address);
    }
}

/// Puts a message into the outbox.
pub fn put(db: &Path, channel: &str, address: &str) {
    run(
        db,
        &format!(
            "INSERT INTO messages (channel, state, created_at, address, subject, body)
             VALUES ('{channel}', 'waiting', unixepoch() * 1000, '{address}', 'Hello', 'Hello');
             INSERT OR IGNORE INTO outbox_destinations (name) VALUES ('{channel}:users');
             INSERT INTO outbox (destination, source, source_id, ordering_key, next_at, expires_at)
             VALUES ('{channel}:users', 'message', last_insert_rowid(), 'message', 0, 9000000000000)"
        ),
    );
}

#[test]
fn an_attempt_that_a_crash_cuts_off_is_unknown_and_not_made_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let db = folder.path().join("event.db");
    let (mail, provider) = (MailServer::start(), Provider::start());
    prepare(&db, &mail, &provider, 2);
    mail.act(&[MailAct::SilentAfterMessage]);
    provider.act(&[Act::Silent]);
    let mut served = Served::start(&db);
    // Both have been given their message, and say nothing.
    mail.wait_for(1);
    provider.wait_for(1);
    served.kill();
    let sending = "SELECT count(*) FROM messages WHERE state = 'sending'";
    assert_eq!(value(&db, sending), 2);
    // One more waits.
    put(&db, "email", "later@example.org");
    let served = Served::start(&db);
    let mails = mail.wait_for(2);
    assert_eq!(mails[1].to, "RCPT TO:<later@example.org>");
    until("it is sent", || {
        value(&db, "SELECT count(*) FROM messages WHERE state = 'sent'") == 1
    });
    let unknown = "SELECT count(*) FROM messages WHERE state = 'unknown'";
    assert_eq!(value(&db, unknown), 2);
    served.stop();
    assert_eq!((mail.mails().len(), provider.calls().len()), (2, 1));
}

#[test]
fn killed_again_and_again_nothing_goes_twice_and_nothing_is_forgotten() {
    const MESSAGES: usize = 60;
    let folder = tempfile::tempdir().expect("a folder");
    let db = folder.path().join("event.db");
    let (mail, provider) = (MailServer::start(), Provider::start());
    prepare(&db, &mail, &provider, MESSAGES);
    let left = || {
        value(
            &db,
            "SELECT count(*) FROM messages WHERE state IN ('waiting', 'sending')",
        )
    };
    let came = || mail.mails().len() + provider.calls().len();
    let mut kills = 0;
    while left() > 0 {
        let mut served = Served::start(&db);
        let before = came();
        until("some are sent", || came() > before + 2 || left() == 0);
        served.kill();
        kills += 1;
        assert!(kills < MESSAGES, "it comes to no end");
    }
    assert!(kills >= 3, "only {kills} kills met it at work");
    let mut to: Vec<String> = mail.mails().into_iter().map(|mail| mail.to).collect();
    to.extend(provider.calls().into_iter().map(|call| call.body));
    let all = to.len();
    to.sort();
    to.dedup();
    assert_eq!(to.len(), all, "something came twice");
    let sent = value(&db, "SELECT count(*) FROM messages WHERE state = 'sent'");
    let unknown = value(&db, "SELECT count(*) FROM messages WHERE state = 'unknown'");
    assert_eq!(sent + unknown, i64::try_from(MESSAGES).expect("a number"));
    let came = i64::try_from(all).expect("a number");
    assert!(
        sent <= came && came <= sent + unknown,
        "{sent} {came} {unknown}"
    );
}

#[test]
fn the_end_waits_for_what_is_on_its_way() {
    let folder = tempfile::tempdir().expect("a folder");
    let db = folder.path().join("event.db");
    let (mail, provider) = (MailServer::start(), Provider::start());
    prepare(&db, &mail, &provider, 1);
    mail.act(&[MailAct::SilentAfterMessage]);
    let served = Served::start(&db);
    mail.wait_for(1);
    // Its outcome comes after the 10 s that an attempt may take, and is kept.
    served.stop();
    let why: i64 = value(
        &db,
        "SELECT count(*) FROM messages WHERE state = 'unknown' AND failure LIKE '%did not answer%'",
    );
    assert_eq!(why, 1);
}
