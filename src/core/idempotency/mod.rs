//! `Idempotency-Key`: the answer of a create is kept for 7 days and given again to the same key,
//! written in the transaction of its effect (contract §6).
//!
//! A batch is written in slices; each slice leaves its part of the answer, so that a batch that
//! was interrupted goes on where it stopped when it is sent again.

use crate::{
    core::{Context, keyed},
    db::{ATTACHED, Tx},
    types::{
        ClientId,
        error::{Error, Kind, Result},
        secret, text,
    },
};
use rusqlite::{Connection, OptionalExtension};

/// The time for which an answer is kept.
const KEPT_MS: i64 = 7 * 24 * 3600 * 1000;
/// Expired keys removed at each new one, so that no write has to remove many.
const PURGED_AT_ONCE: i64 = 4;

/// A key as a request brings it.
#[derive(Debug, Clone)]
pub struct Key {
    client: ClientId,
    key: String,
    operation: String,
    fingerprint: [u8; 16],
}

impl Key {
    /// The key of a request: its header, what it does, and the fingerprint of its body.
    ///
    /// # Errors
    /// [`Kind::Invalid`] for a key that is empty or longer than 255 characters.
    pub fn of(
        ctx: &Context,
        header: Option<String>,
        operation: impl Into<String>,
        fingerprint: impl FnOnce() -> Result<[u8; 16]>,
    ) -> Result<Option<Self>> {
        let (Some(key), Some(client)) = (header, ctx.client) else {
            return Ok(None);
        };
        text::check_code("Idempotency-Key", &key)?;
        Ok(Some(Self {
            client,
            key,
            operation: operation.into(),
            fingerprint: fingerprint()?,
        }))
    }
}

/// An answer: its status and its body, an envelope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// The HTTP status.
    pub status: u16,
    /// The envelope, or the part of it that a slice of a batch made.
    pub body: String,
    /// The number of the request's items that are done with it.
    pub done: usize,
}

/// The result of a request: of its work, or the answer stored under its key.
#[derive(Debug)]
pub enum Once<T> {
    /// The result of a request without a key; its answer is still to be rendered, and nothing has to wait for that.
    Fresh(T),
    /// The answer under the key, made now or before.
    Stored(Stored),
}

impl<T> Once<T> {
    /// The answer.
    pub fn rendered(self, render: impl FnOnce(T) -> Stored) -> Stored {
        match self {
            Self::Fresh(outcome) => render(outcome),
            Self::Stored(stored) => stored,
        }
    }
}

/// The answer stored under the key, for work that goes through several transactions before it
/// has one.
///
/// # Errors
/// [`Kind::KeyReused`] when the key stands for another request.
pub fn recall(tx: &Tx<'_>, key: Option<&Key>) -> Result<Option<Stored>> {
    let Some(key) = key else {
        return Ok(None);
    };
    match find(tx, key)? {
        Some(row) => find_part(tx, row, 0),
        None => Ok(None),
    }
}

/// Gives the answer stored under the key, or does `work`, renders its answer and stores that when
/// it is a success. Without a key it just does `work`.
///
/// # Errors
/// [`Kind::KeyReused`] when the key stands for another request, and what `work` fails with.
pub fn once<T>(
    tx: &Tx<'_>,
    key: Option<&Key>,
    work: impl FnOnce() -> Result<T>,
    render: impl FnOnce(T) -> Stored,
) -> Result<Once<T>> {
    part(tx, key, 0, work, render)
}

/// As [`once`], for one part of an answer that is made in several transactions.
pub fn part<T>(
    tx: &Tx<'_>,
    key: Option<&Key>,
    part: usize,
    work: impl FnOnce() -> Result<T>,
    render: impl FnOnce(T) -> Stored,
) -> Result<Once<T>> {
    let Some(key) = key else {
        return work().map(Once::Fresh);
    };
    let row = find(tx, key)?;
    if let Some(row) = row
        && let Some(stored) = find_part(tx, row, part)?
    {
        return Ok(Once::Stored(stored));
    }
    let stored = render(work()?);
    if (200..300).contains(&stored.status) {
        let row = match row {
            Some(row) => row,
            None => insert(tx, key)?,
        };
        tx.prepare_cached(
            "INSERT INTO idempotency_parts (key_id, part, done, status, body) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute(rusqlite::params![row, part, stored.done, stored.status, stored.body])?;
    }
    Ok(Once::Stored(stored))
}

/// The place of an answer in the file: its key and which part of it.
pub type Place = (i64, i64);

/// The newest answer that is kept, for [`holding`].
pub fn newest(connection: &Connection) -> Result<i64> {
    let sql = "SELECT coalesce(max(id), 0) FROM idempotency_keys";
    Ok(connection.query_row(sql, [], |row| row.get(0))?)
}

/// Finds the answers newer than `after` that hold one of these texts. They are read one by one: all of them take a
/// while.
pub fn holding(connection: &Connection, texts: &[String], after: i64) -> Result<Vec<Place>> {
    let mut statement = connection.prepare(
        "SELECT key_id, part FROM idempotency_parts
         WHERE key_id > ?2 AND EXISTS (SELECT 1 FROM json_each(?1) WHERE instr(body, value) > 0)",
    )?;
    let texts = serde_json::json!(texts).to_string();
    let places = statement.query_map((texts, after), |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(places.collect::<rusqlite::Result<_>>()?)
}

/// Changes an answer that is kept. Its request is still known, by a keyed hash: what a client makes its
/// keys of may be somebody's address.
pub fn rewrite(tx: &Tx<'_>, place: Place, change: impl FnOnce(&str) -> String) -> Result<()> {
    let body: Option<String> = tx
        .prepare_cached("SELECT body FROM idempotency_parts WHERE key_id = ?1 AND part = ?2")?
        .query_row(place, |row| row.get(0))
        .optional()?;
    if let Some(body) = body {
        tx.prepare_cached(
            "UPDATE idempotency_parts SET body = ?3 WHERE key_id = ?1 AND part = ?2",
        )?
        .execute((place.0, place.1, change(&body)))?;
        hide_key(tx, place.0)?;
    }
    Ok(())
}

/// The prefix of a key of which a keyed hash is left.
const HIDDEN: &str = "erased:";

fn hidden(key: &keyed::Key, text: &str) -> Result<String> {
    let hash = key.hash(format!("Idempotency-Key {text}").as_bytes())?;
    Ok(format!("{HIDDEN}{}", secret::hex(&hash)))
}

fn hide_key(tx: &Tx<'_>, row: i64) -> Result<()> {
    let text: String = tx
        .prepare_cached("SELECT key FROM idempotency_keys WHERE id = ?1")?
        .query_row([row], |row| row.get(0))?;
    if !text.starts_with(HIDDEN) {
        let hash = hidden(&keyed::Key::find_or_make(tx)?, &text)?;
        tx.prepare_cached("UPDATE idempotency_keys SET key = ?2 WHERE id = ?1")?
            .execute((row, hash))?;
    }
    Ok(())
}

/// A key that is known: its row, the operation, the fingerprint of the request, and since when.
type Known = (i64, String, [u8; 16], i64);

fn known(tx: &Tx<'_>, client: ClientId, key: &str) -> Result<Option<Known>> {
    Ok(tx
        .prepare_cached(
            "SELECT id, operation, fingerprint, created_at FROM idempotency_keys
             WHERE client_id = ?1 AND key = ?2",
        )?
        .query_row(rusqlite::params![client, key], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        })
        .optional()?)
}

fn find(tx: &Tx<'_>, key: &Key) -> Result<Option<i64>> {
    let found = match known(tx, key.client, &key.key)? {
        None => match keyed::Key::find(tx)? {
            Some(secret) => known(tx, key.client, &hidden(&secret, &key.key)?)?,
            None => None,
        },
        found => found,
    };
    let Some((id, operation, fingerprint, created_at)) = found else {
        return Ok(None);
    };
    if created_at < tx.now().0 - KEPT_MS {
        tx.execute("DELETE FROM idempotency_keys WHERE id = ?1", [id])?;
        return Ok(None);
    }
    if operation != key.operation || fingerprint != key.fingerprint {
        return Err(Error::new(
            Kind::KeyReused,
            "used before with another request; use a new key for a new request",
        )
        .at("Idempotency-Key"));
    }
    Ok(Some(id))
}

fn find_part(tx: &Tx<'_>, row: i64, part: usize) -> Result<Option<Stored>> {
    Ok(tx
        .prepare_cached(
            "SELECT status, body, done FROM idempotency_parts WHERE key_id = ?1 AND part = ?2",
        )?
        .query_row(rusqlite::params![row, part], |row| {
            Ok(Stored {
                status: row.get(0)?,
                body: row.get(1)?,
                done: row.get(2)?,
            })
        })
        .optional()?)
}

/// Forgets the answers that are not in the file beside ours, because the records that they tell of go with a rehearsal:
/// the same key makes them anew. An interaction is not made anew: as for its nonce, its answer has no content from now on.
/// The answers about what stays, such as webhooks, are left.
pub fn forget_rehearsed(tx: &Tx<'_>) -> Result<()> {
    tx.execute_batch(&format!(
        "CREATE TEMP TABLE rehearsed_keys AS SELECT id, operation FROM main.idempotency_keys AS d
             WHERE operation NOT LIKE 'POST /webhook/%' AND NOT EXISTS (SELECT 1 FROM {ATTACHED}.idempotency_keys AS s
                 WHERE s.id = d.id AND s.created_at = d.created_at);
         UPDATE main.idempotency_parts SET status = 200, body = coalesce((
             SELECT group_concat(CASE WHEN value ->> '$.status' >= 400 THEN value
                 ELSE json_replace(value, '$.status', 200, '$.data', json('{{}}'), '$.meta', json_object('replayed', json('true'))) END)
             FROM json_each('[' || body || ']')), '')
         WHERE key_id IN (SELECT id FROM temp.rehearsed_keys WHERE operation LIKE 'POST /interaction/%');
         DELETE FROM main.idempotency_keys
         WHERE id IN (SELECT id FROM temp.rehearsed_keys WHERE operation NOT LIKE 'POST /interaction/%');
         DROP TABLE temp.rehearsed_keys;"
    ))?;
    Ok(())
}

fn insert(tx: &Tx<'_>, key: &Key) -> Result<i64> {
    tx.prepare_cached(
        "DELETE FROM idempotency_keys WHERE id IN
         (SELECT id FROM idempotency_keys WHERE created_at < ?1 ORDER BY created_at LIMIT ?2)",
    )?
    .execute([tx.now().0 - KEPT_MS, PURGED_AT_ONCE])?;
    tx.prepare_cached(
        "INSERT INTO idempotency_keys (client_id, key, operation, fingerprint, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5)",
    )?
    .execute(rusqlite::params![
        key.client,
        key.key,
        key.operation,
        key.fingerprint,
        tx.now()
    ])?;
    Ok(tx.last_insert_rowid())
}
