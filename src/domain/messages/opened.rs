//! Who has opened an e-mail (spec: Delegate flags, `e`): its HTML part shows a picture of one dot from
//! an address that is signed, and whoever fetches it has opened the mail.

use crate::{
    core::Context,
    db::Tx,
    domain::delegates::flag,
    types::{
        DelegateId,
        error::{Error, Result},
        secret,
    },
};
use hmac::{Hmac, KeyInit, Mac};
use rusqlite::{Connection, OptionalExtension};
use sha2::Sha256;

/// Bytes of the signature that an address carries: 128 bits.
const SIGNATURE_BYTES: usize = 16;

/// A GIF of one transparent dot.
pub const PICTURE: &[u8] = &[
    0x47, 0x49, 0x46, 0x38, 0x39, 0x61, 0x01, 0x00, 0x01, 0x00, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00,
    0xff, 0xff, 0xff, 0x21, 0xf9, 0x04, 0x01, 0x00, 0x00, 0x00, 0x00, 0x2c, 0x00, 0x00, 0x00, 0x00,
    0x01, 0x00, 0x01, 0x00, 0x00, 0x02, 0x02, 0x44, 0x01, 0x00, 0x3b,
];

/// An e-mail's HTML with its picture, before the end of the body.
pub(super) fn with_picture(
    connection: &Connection,
    html: &str,
    public_url: &str,
    message: i64,
) -> Result<String> {
    let Some(token) = token(connection, message)? else {
        return Ok(html.to_owned());
    };
    let picture = format!(
        "<img src=\"{public_url}/o/{token}.gif\" width=\"1\" height=\"1\" alt=\"\" style=\"display:block\">"
    );
    // Searched in what differs from the HTML by the case of ASCII letters alone, so places agree.
    let at = html
        .to_ascii_lowercase()
        .rfind("</body>")
        .unwrap_or(html.len());
    Ok(format!("{}{picture}{}", &html[..at], &html[at..]))
}

/// The key that addresses are signed by; made when a message is first put into the outbox.
pub(super) fn ensure_key(tx: &Tx<'_>) -> Result<()> {
    if key(tx)?.is_some() {
        return Ok(());
    }
    let mut random = [0; 32];
    getrandom::fill(&mut random).map_err(Error::defect)?;
    tx.execute(
        "INSERT INTO message_key (id, key) VALUES (1, ?1)",
        [random.as_slice()],
    )?;
    Ok(())
}

fn key(connection: &Connection) -> Result<Option<Vec<u8>>> {
    Ok(connection
        .prepare_cached("SELECT key FROM message_key WHERE id = 1")?
        .query_row([], |row| row.get(0))
        .optional()?)
}

fn signature(key: &[u8], message: i64) -> Result<[u8; SIGNATURE_BYTES]> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).map_err(Error::defect)?;
    mac.update(b"opened:");
    mac.update(&message.to_be_bytes());
    let whole = mac.finalize().into_bytes();
    let mut short = [0; SIGNATURE_BYTES];
    short.copy_from_slice(&whole[..SIGNATURE_BYTES]);
    Ok(short)
}

fn token(connection: &Connection, message: i64) -> Result<Option<String>> {
    key(connection)?
        .map(|key| {
            Ok(format!(
                "{message}-{}",
                secret::hex(&signature(&key, message)?)
            ))
        })
        .transpose()
}

/// The message that an address is of, if nobody made it up and it was not opened before.
pub fn unopened(connection: &Connection, said: &str) -> Result<Option<i64>> {
    let Some(message) = said
        .split_once('-')
        .and_then(|(id, _)| id.parse::<i64>().ok())
    else {
        return Ok(None);
    };
    let Some(right) = token(connection, message)? else {
        return Ok(None);
    };
    let same = secret::same(
        &secret::digest(right.as_bytes()),
        &secret::digest(said.as_bytes()),
    );
    if !same {
        return Ok(None);
    }
    Ok(connection
        .prepare_cached("SELECT id FROM messages WHERE id = ?1 AND opened_at IS NULL")?
        .query_row([message], |row| row.get(0))
        .optional()?)
}

/// Keeps that a message was opened, and gives its delegate the flag `e`.
pub fn record(tx: &Tx<'_>, ctx: &Context, message: i64) -> Result<()> {
    tx.prepare_cached("UPDATE messages SET opened_at = ?2 WHERE id = ?1 AND opened_at IS NULL")?
        .execute((message, tx.now()))?;
    let delegate: Option<DelegateId> = tx
        .prepare_cached("SELECT delegate_id FROM messages WHERE id = ?1")?
        .query_row([message], |row| row.get(0))
        .optional()?
        .flatten();
    match delegate {
        Some(delegate) => flag::raise(tx, ctx, delegate, flag::OPENED_MAIL),
        None => Ok(()),
    }
}
