//! The outbox in the file: what is put into it, what is due, and what became of an attempt.
//!
//! A message is in one state at a time, and only an attempt that began as `sending` can end: so an
//! outcome that comes after a person has decided, or after the message was erased, changes nothing.
//!
//! - `decisions`: what the crew does to a message; `upkeep`: what a start ends, and what is let go

mod decisions;
mod upkeep;

pub use decisions::{cancel, resend};
pub use upkeep::{end_interrupted, thin};

use super::{
    address, opened,
    types::{Channel, State},
};
use crate::{
    core::Context,
    db::Tx,
    identity::secret_message_bodies::SecretMessageBodies,
    types::{DelegateId, Timestamp, error::Result},
};
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde_json::json;

/// Attempts at a message before it counts as failed.
pub const ATTEMPTS_MAX: i64 = 8;
/// Seconds until the next attempt, after the first, the second ….
const BACK_OFF_S: [i64; 7] = [30, 120, 600, 1_800, 3_600, 7_200, 14_400];
/// How long a message may wait: a day later nobody expects it any more.
const LIFE_MS: i64 = 24 * 3_600 * 1_000;
/// How long a message with a secret may wait: as long as the secret is good for (contract §8, OTP).
const SECRET_LIFE_MS: i64 = 600 * 1_000;
/// Why a message with a secret is not sent after a new start.
pub(super) const LOST: &str =
    "what it said was a secret, known until the server ended; have a new one sent";
/// The longest reason that is kept, in characters.
const FAILURE_MAX_CHARS: usize = 500;

/// A message to be put into the outbox.
#[derive(Debug, Clone)]
pub struct NewMessage {
    /// Whom it is for; `None`: a user, or whoever tries a template.
    pub delegate: Option<DelegateId>,
    /// By which way it goes.
    pub channel: Channel,
    /// The slug of its template.
    pub template: Option<String>,
    /// Where it goes.
    pub address: String,
    /// An e-mail's subject, a push message's title.
    pub subject: Option<String>,
    /// What it says, as plain text.
    pub body: String,
    /// What an e-mail says, as HTML.
    pub html: Option<String>,
    /// It holds a secret: what it says is neither shown nor written into the file.
    pub secret: bool,
    /// What had it sent.
    pub origin: String,
}

/// In which state a message begins.
#[derive(Debug, Clone)]
pub enum Begin {
    /// It is sent with the next round.
    Waiting,
    /// Who puts it there makes the first attempt, at once.
    Sending,
    /// It cannot be sent, and why; it stands there to be seen.
    Failed(String),
}

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The gateway took it.
    Sent,
    /// It was not taken, for certain, which may change: the gateway is down, a password wrong.
    Later(String),
    /// It was not taken, for certain, and never will be: there is no such mailbox.
    Never(String),
    /// It may have been taken.
    Unknown(String),
}

/// A message whose attempt has begun.
#[derive(Debug, Clone)]
pub struct Due {
    /// Which.
    pub id: i64,
    /// Whom it is for.
    pub delegate: Option<DelegateId>,
    /// By which way it goes.
    pub channel: Channel,
    /// Where it goes.
    pub address: String,
    /// Subject or title.
    pub subject: Option<String>,
    /// Plain text.
    pub body: String,
    /// HTML.
    pub html: Option<String>,
    /// What it says is not in the file, see [`SecretMessageBodies`].
    pub secret: bool,
    /// When it was put into the outbox.
    pub created_at: Timestamp,
}

const DUE: &str =
    "id, delegate_id, channel, address, subject, coalesce(body, ''), html, secret, created_at";

impl Due {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: row.get(0)?,
            delegate: row.get(1)?,
            channel: row.get(2)?,
            address: row.get(3)?,
            subject: row.get(4)?,
            body: row.get(5)?,
            html: row.get(6)?,
            secret: row.get(7)?,
            created_at: row.get(8)?,
        })
    }
}

/// Which messages may go now: channels that have a gateway, and of those the ones that messages to
/// delegates may take (the setting `communications`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Open {
    /// With a gateway.
    pub any: Vec<Channel>,
    /// With a gateway, and not switched off.
    pub to_delegates: Vec<Channel>,
}

impl Open {
    fn names(channels: &[Channel]) -> String {
        let names: Vec<_> = channels.iter().map(|channel| channel.name()).collect();
        json!(names).to_string()
    }
}

/// Puts a message into the outbox; its id.
pub fn insert(tx: &Tx<'_>, new: &NewMessage, begin: &Begin) -> Result<i64> {
    let now = tx.now();
    let (state, failure, attempts) = match begin {
        Begin::Waiting => (State::Waiting, None, 0),
        Begin::Sending => (State::Sending, None, 1),
        Begin::Failed(why) => (State::Failed, Some(shortened(why)), 0),
    };
    if new.html.is_some() && new.delegate.is_some() {
        opened::ensure_key(tx)?;
    }
    tx.prepare_cached(
        "INSERT INTO messages (delegate_id, channel, template, state, created_at, address, subject,
             body, html, secret, origin, attempts, tried_at, next_at, expires_at, failure)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
    )?
    .execute(params![
        new.delegate,
        new.channel,
        new.template,
        state,
        now,
        new.address,
        new.subject,
        (!new.secret).then_some(&new.body),
        new.html.as_ref().filter(|_| !new.secret),
        new.secret,
        new.origin,
        attempts,
        (attempts > 0).then_some(now),
        (state == State::Waiting).then_some(now),
        (state == State::Waiting).then(|| expiry(now, new.secret)),
        failure,
    ])?;
    Ok(tx.last_insert_rowid())
}

/// Puts an e-mail with a secret into the outbox, such as a one-time password for a user; its id. What
/// it says stands in memory alone, and is not sent after 10 minutes. What cannot be sent, because the
/// address is none, stands there as failed.
pub fn enqueue_secret(
    tx: &Tx<'_>,
    ctx: &Context,
    secret_message_bodies: &SecretMessageBodies,
    to: &str,
    subject: &str,
    text: String,
) -> Result<i64> {
    let begin = match address::email(to) {
        Ok(_) => Begin::Waiting,
        Err(cause) => Begin::Failed(cause.message),
    };
    let new = NewMessage {
        delegate: None,
        channel: Channel::Email,
        template: None,
        address: to.trim().to_owned(),
        subject: Some(subject.to_owned()),
        body: String::new(),
        html: None,
        secret: true,
        origin: ctx.actor.clone(),
    };
    let id = insert(tx, &new, &begin)?;
    // Before it is committed, so that nobody claims it without its text. Of a transaction that fails
    // the id is given again, to a message with another text or without a secret.
    secret_message_bodies.keep(id, text, tx.now(), expiry(tx.now(), true));
    Ok(id)
}

fn expiry(now: Timestamp, secret: bool) -> Timestamp {
    Timestamp(now.0 + if secret { SECRET_LIFE_MS } else { LIFE_MS })
}

/// Whether [`claim`] would change anything.
pub fn is_any_due(connection: &Connection, open: &Open, now: Timestamp) -> Result<bool> {
    Ok(connection
        .prepare_cached(
            "SELECT 1 FROM messages WHERE state = 'waiting' AND (expires_at <= ?1
                 OR (next_at <= ?1 AND channel IN (SELECT value FROM json_each(?2))
                     AND (delegate_id IS NULL OR channel IN (SELECT value FROM json_each(?3)))))",
        )?
        .exists(params![
            now,
            Open::names(&open.any),
            Open::names(&open.to_delegates)
        ])?)
}

/// Begins an attempt at each of the oldest messages that are due, at most `most`; those that are too
/// late, or whose delegate was deleted, go out of the queue.
pub fn claim(tx: &Tx<'_>, open: &Open, most: usize) -> Result<Vec<Due>> {
    let now = tx.now();
    tx.prepare_cached(
        "UPDATE messages SET state = 'failed', next_at = NULL, expires_at = NULL,
             failure = coalesce(failure || '; ', '') || 'it could not be sent in time'
         WHERE state = 'waiting' AND expires_at <= ?1",
    )?
    .execute([now])?;
    tx.prepare_cached(
        "UPDATE messages SET state = 'cancelled', next_at = NULL, failure = 'the delegate was deleted'
         WHERE state = 'waiting' AND next_at <= ?1 AND delegate_id IN
             (SELECT id FROM delegates WHERE deleted_at IS NOT NULL)",
    )?
    .execute([now])?;
    let mut statement = tx.prepare_cached(&format!(
        "UPDATE messages SET state = 'sending', attempts = attempts + 1, tried_at = ?1
         WHERE id IN (SELECT id FROM messages WHERE state = 'waiting' AND next_at <= ?1
             AND channel IN (SELECT value FROM json_each(?2))
             AND (delegate_id IS NULL OR channel IN (SELECT value FROM json_each(?3)))
             ORDER BY next_at, id LIMIT ?4)
         RETURNING {DUE}"
    ))?;
    let rows = statement.query_map(
        params![
            now,
            Open::names(&open.any),
            Open::names(&open.to_delegates),
            i64::try_from(most).unwrap_or(i64::MAX)
        ],
        Due::read,
    )?;
    let mut due = rows.collect::<rusqlite::Result<Vec<_>>>()?;
    due.sort_by_key(|due| due.id);
    Ok(due)
}

/// A message whose attempt has begun.
pub fn begun(connection: &Connection, id: i64) -> Result<Due> {
    Ok(connection
        .prepare_cached(&format!(
            "SELECT {DUE} FROM messages WHERE id = ?1 AND state = 'sending'"
        ))?
        .query_row([id], Due::read)?)
}

/// Writes down how an attempt ended. With `last` no further one is made by itself.
pub fn finish(tx: &Tx<'_>, id: i64, outcome: &Outcome, last: bool) -> Result<()> {
    let attempt: Option<i64> = tx
        .prepare_cached("SELECT attempts FROM messages WHERE id = ?1 AND state = 'sending'")?
        .query_row([id], |row| row.get(0))
        .optional()?;
    let Some(attempts) = attempt else {
        return Ok(());
    };
    let now = tx.now();
    let again = !last && attempts < ATTEMPTS_MAX;
    let (state, failure) = match outcome {
        Outcome::Sent => (State::Sent, None),
        Outcome::Later(why) if again => (State::Waiting, Some(why)),
        Outcome::Later(why) | Outcome::Never(why) => (State::Failed, Some(why)),
        Outcome::Unknown(why) => (State::Unknown, Some(why)),
    };
    let waits = state == State::Waiting;
    tx.prepare_cached(
        "UPDATE messages SET state = ?2, failure = ?3, sent_at = ?4, next_at = ?5,
             expires_at = iif(?6, expires_at, NULL)
         WHERE id = ?1",
    )?
    .execute(params![
        id,
        state,
        failure.map(|why| shortened(why)),
        (state == State::Sent).then_some(now),
        waits.then(|| next(now, attempts)),
        waits,
    ])?;
    Ok(())
}

/// When the attempt after so many is due.
fn next(now: Timestamp, attempts: i64) -> Timestamp {
    let at = usize::try_from(attempts - 1).unwrap_or_default();
    let wait_s = BACK_OFF_S[at.min(BACK_OFF_S.len() - 1)];
    Timestamp(now.0 + wait_s * 1_000)
}

fn shortened(why: &str) -> String {
    let one_line = why.split_whitespace().collect::<Vec<_>>().join(" ");
    one_line.chars().take(FAILURE_MAX_CHARS).collect()
}

#[cfg(test)]
mod tests;
