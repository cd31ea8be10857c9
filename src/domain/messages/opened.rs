//! The record of who has opened an e-mail (spec: Delegate flags, `e`): its HTML part shows a picture of one dot from an
//! address that is signed, and whoever fetches it has opened the mail.

use crate::{
    core::{
        Context,
        keyed::{self, Key},
    },
    db::Tx,
    domain::delegates::flags,
    types::{DelegateId, error::Result},
};
use rusqlite::{Connection, OptionalExtension};

/// The name of the key that addresses are signed by.
const KEY: &str = "messages";

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

/// Makes the key that addresses are signed by, before a message is put into the outbox.
pub(super) fn ensure_key(tx: &Tx<'_>) -> Result<()> {
    Key::named_or_make(tx, KEY).map(drop)
}

fn token(connection: &Connection, message: i64) -> Result<Option<String>> {
    let Some(key) = Key::named(connection, KEY)? else {
        return Ok(None);
    };
    let signed = [b"opened:", &message.to_be_bytes()[..]].concat();
    key.token(&message.to_string(), &signed).map(Some)
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
    if !keyed::is_token(&right, said) {
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
        Some(delegate) => flags::raise(tx, ctx, delegate, flags::OPENED_MAIL),
        None => Ok(()),
    }
}
