//! Messages in the file: how they enter the outbox, and what attempts make of them.
//!
//! A message is in one state at a time, and only an attempt that began as `sending` can end: so an
//! outcome that comes after a person has decided, or after the message was erased, changes nothing. While
//! a message waits, the outbox has a pending delivery of it.
//!
//! - `decisions`: what the crew does to a message; `upkeep`: what a start ends, and what is removed

mod decisions;
mod upkeep;

pub use decisions::{cancel, cancel_some, resend};
pub use upkeep::{end_interrupted, expire, is_any_expired, thin};

use super::{
    address, opened,
    types::{Channel, State},
};
use crate::{
    core::{
        Context,
        outbox::{Delivery, Ref, Source, pending},
    },
    db::Tx,
    identity::secret_message_bodies::SecretMessageBodies,
    types::{DelegateId, Timestamp, error::Result},
};
use rusqlite::{Connection, OptionalExtension, Row, params};

/// Attempts at a message that the gateway refuses for now before it counts as failed.
pub const ATTEMPTS_MAX: u32 = 10;
/// The time for which a message may wait: a day later nobody expects it any more.
const LIFE_MS: i64 = 24 * 3_600 * 1_000;
/// The time for which a message with a secret may wait: as long as the secret is good for (contract §8, OTP).
const SECRET_LIFE_MS: i64 = 600 * 1_000;
/// The reason why a message with a secret is not sent after a new start.
pub(super) const LOST: &str =
    "what it said was a secret, known until the server ended; have a new one sent";
/// The longest reason that is kept, in characters.
const FAILURE_MAX_CHARS: usize = 500;

/// A message to be put into the outbox.
#[derive(Debug, Clone)]
pub struct NewMessage {
    /// The recipient; `None`: a user, or whoever tries a template.
    pub delegate: Option<DelegateId>,
    pub channel: Channel,
    /// The slug of its template.
    pub template: Option<String>,
    /// The destination.
    pub address: String,
    /// An e-mail's subject, a push message's title.
    pub subject: Option<String>,
    /// The text, as plain text.
    pub body: String,
    /// The text of an e-mail, as HTML.
    pub html: Option<String>,
    /// Set where the text holds a secret: it is neither shown nor written into the file.
    pub secret: bool,
    /// The cause of the message.
    pub origin: String,
}

/// The state in which a message begins.
#[derive(Debug, Clone)]
pub enum Begin {
    /// The message is sent with the next round.
    Waiting,
    /// The caller makes the first attempt, at once.
    Sending,
    /// The message cannot be sent, and why; it stands there to be seen.
    Failed(String),
}

/// The outcome of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SendOutcome {
    /// The gateway took it.
    Sent,
    /// The gateway takes nothing now: it is down, or does not let this server sign in.
    Down(String),
    /// The message was not accepted, for certain, which may change: a mailbox is full.
    Later(String),
    /// The message was not taken, for certain, and never will be: there is no such mailbox.
    Never(String),
    /// The message may have been taken.
    Unknown(String),
}

/// A message whose attempt has begun.
#[derive(Debug, Clone)]
pub struct Due {
    pub id: i64,
    /// The recipient.
    pub delegate: Option<DelegateId>,
    pub channel: Channel,
    /// The destination.
    pub address: String,
    /// Subject or title.
    pub subject: Option<String>,
    /// Plain text.
    pub body: String,
    /// HTML.
    pub html: Option<String>,
    /// Set where the text is not in the file, see [`SecretMessageBodies`].
    pub secret: bool,
    /// The time at which it was put into the outbox.
    pub created_at: Timestamp,
    /// The cause of the message.
    pub origin: String,
}

const DUE: &str = "id, delegate_id, channel, address, subject, coalesce(body, ''), html, secret, created_at, origin";

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
            origin: row.get(9)?,
        })
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
             body, html, secret, origin, attempts, tried_at, failure)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
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
        failure,
    ])?;
    let id = tx.last_insert_rowid();
    if state == State::Waiting {
        let destination = new.channel.destination(new.delegate.is_some());
        enqueue(tx, id, &destination, expiry(now, new.secret))?;
    }
    Ok(id)
}

/// Adds the pending delivery of a message. Messages do not wait for each other: each is its own
/// ordering key.
fn enqueue(tx: &Tx<'_>, id: i64, destination: &str, expires_at: Timestamp) -> Result<()> {
    let delivery = Delivery {
        of: of(id),
        ordering_key: format!("message:{id}"),
        attempts: 0,
    };
    pending::add(tx, destination, &delivery, Some(expires_at))
}

fn of(id: i64) -> Ref {
    Ref {
        source: Source::Message,
        id,
    }
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
        Err(cause) => Begin::Failed(cause.to_string()),
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

/// Begins an attempt at a message that waits; `None` if it does not wait any more, or its delegate was
/// deleted.
pub fn begin(tx: &Tx<'_>, id: i64) -> Result<Option<Due>> {
    tx.prepare_cached(
        "UPDATE messages SET state = 'cancelled', failure = 'the delegate was deleted'
         WHERE id = ?1 AND state = 'waiting'
         AND delegate_id IN (SELECT id FROM delegates WHERE deleted_at IS NOT NULL)",
    )?
    .execute([id])?;
    Ok(tx
        .prepare_cached(&format!(
            "UPDATE messages SET state = 'sending', attempts = attempts + 1, tried_at = ?2
             WHERE id = ?1 AND state = 'waiting' RETURNING {DUE}"
        ))?
        .query_row(params![id, tx.now()], Due::read)
        .optional()?)
}

/// A message whose attempt has begun.
pub fn begun(connection: &Connection, id: i64) -> Result<Due> {
    Ok(connection
        .prepare_cached(&format!(
            "SELECT {DUE} FROM messages WHERE id = ?1 AND state = 'sending'"
        ))?
        .query_row([id], Due::read)?)
}

/// Stores how an attempt ended; with `last`, no further one is made.
pub fn finish(tx: &Tx<'_>, id: i64, outcome: &SendOutcome, last: bool) -> Result<()> {
    let (state, failure) = match outcome {
        SendOutcome::Sent => (State::Sent, None),
        SendOutcome::Down(why) | SendOutcome::Later(why) if !last => (State::Waiting, Some(why)),
        SendOutcome::Down(why) | SendOutcome::Later(why) | SendOutcome::Never(why) => {
            (State::Failed, Some(why))
        }
        SendOutcome::Unknown(why) => (State::Unknown, Some(why)),
    };
    tx.prepare_cached(
        "UPDATE messages SET state = ?2, failure = ?3, sent_at = ?4
         WHERE id = ?1 AND state = 'sending'",
    )?
    .execute(params![
        id,
        state,
        failure.map(|why| shortened(why)),
        (state == State::Sent).then(|| tx.now()),
    ])?;
    Ok(())
}

pub(super) fn shortened(why: &str) -> String {
    let one_line = why.split_whitespace().collect::<Vec<_>>().join(" ");
    one_line.chars().take(FAILURE_MAX_CHARS).collect()
}

#[cfg(test)]
mod tests;
