//! The instance's picture, which apps and the console show. Told by its content, never by what it
//! was sent as. No SVG: one is a document that may hold scripts and fetch from elsewhere, and apps
//! show it in engines of all kinds; a PNG of it looks the same.

use crate::{
    core::Context,
    db::Tx,
    types::{
        Timestamp,
        error::{Error, Kind, Result},
        secret,
    },
};
use base64::{Engine, engine::general_purpose::STANDARD};
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::{Value, json};

/// The largest picture, in bytes.
pub const MAX_BYTES: usize = 512 * 1024;

/// A picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Logo {
    /// Its media type.
    pub content_type: String,
    /// Its bytes.
    pub content: Vec<u8>,
    pub updated_at: Timestamp,
}

impl Logo {
    /// Changes with the content.
    pub fn tag(&self) -> String {
        format!("\"{}\"", &secret::hex(&secret::digest(&self.content))[..32])
    }

    /// The picture as text (RFC 2397): `data:image/png;base64,…`.
    pub fn to_data_uri(&self) -> String {
        format!(
            "data:{};base64,{}",
            self.content_type,
            STANDARD.encode(&self.content)
        )
    }
}

/// The bytes of a picture that is given as text (RFC 2397), checked.
///
/// # Errors
/// [`Kind::Invalid`] or [`Kind::TooLarge`], saying what would be right.
pub fn of_data_uri(text: &str) -> Result<Vec<u8>> {
    let encoded = text
        .strip_prefix("data:")
        .and_then(|rest| rest.split_once(','))
        .and_then(|(kind, encoded)| kind.ends_with(";base64").then_some(encoded));
    let content = encoded.and_then(|encoded| STANDARD.decode(encoded).ok());
    let content = content.ok_or_else(|| {
        Error::invalid("must be a picture as text, such as data:image/png;base64,…")
    })?;
    check(&content)?;
    Ok(content)
}

/// The picture, where there is one.
pub fn find(connection: &Connection) -> Result<Option<Logo>> {
    Ok(connection
        .prepare_cached("SELECT content_type, content, updated_at FROM logo")?
        .query_row([], |row| {
            Ok(Logo {
                content_type: row.get(0)?,
                content: row.get(1)?,
                updated_at: row.get(2)?,
            })
        })
        .optional()?)
}

/// The time at which the picture was put there, where there is one.
pub fn since(connection: &Connection) -> Result<Option<Timestamp>> {
    Ok(connection
        .prepare_cached("SELECT updated_at FROM logo")?
        .query_row([], |row| row.get(0))
        .optional()?)
}

/// Puts a picture in the place of the one that is there.
///
/// # Errors
/// [`Kind::Invalid`] or [`Kind::TooLarge`] for what is no picture that is taken.
pub fn save(tx: &Tx<'_>, ctx: &Context, content: &[u8]) -> Result<()> {
    let content_type = check(content)?;
    let before = told(tx)?;
    tx.execute(
        "INSERT INTO logo (id, content_type, content, updated_at) VALUES (1, ?1, ?2, ?3)
         ON CONFLICT (id) DO UPDATE SET content_type = excluded.content_type,
             content = excluded.content, updated_at = excluded.updated_at",
        params![content_type, content, tx.now()],
    )?;
    note(tx, ctx, before)
}

/// Takes the picture away.
pub fn remove(tx: &Tx<'_>, ctx: &Context) -> Result<()> {
    let before = told(tx)?;
    tx.execute("DELETE FROM logo", [])?;
    note(tx, ctx, before)
}

fn told(connection: &Connection) -> Result<Option<Value>> {
    Ok(find(connection)?.map(|logo| {
        json!({
            "contentType": logo.content_type,
            "bytes": logo.content.len(),
            "sha256": secret::hex(&secret::digest(&logo.content)),
        })
    }))
}

fn note(tx: &Tx<'_>, ctx: &Context, before: Option<Value>) -> Result<()> {
    let after = told(tx)?;
    if before == after {
        return Ok(());
    }
    tx.outdate_caches();
    let shown = |logo: Option<Value>| logo.unwrap_or_else(|| json!({}));
    ctx.audit_update(tx, "logo", shown(before), shown(after))
}

/// The media type of a picture that is taken.
///
/// # Errors
/// [`Kind::Invalid`] or [`Kind::TooLarge`], saying what would be right.
pub fn check(content: &[u8]) -> Result<&'static str> {
    if content.len() > MAX_BYTES {
        return Err(Error::new(
            Kind::TooLarge,
            format!("the picture may have at most {} KiB", MAX_BYTES / 1024),
        ));
    }
    let (begin, rest) = content.split_at(content.len().min(8));
    let kind = match begin {
        b"\x89PNG\r\n\x1a\n" if rest.get(4..8) == Some(b"IHDR") => "image/png",
        [0xff, 0xd8, 0xff, ..] => "image/jpeg",
        [b'R', b'I', b'F', b'F', ..] if rest.starts_with(b"WEBPVP8") => "image/webp",
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => "image/gif",
        [] => return Err(Error::invalid("choose a picture first")),
        _ if is_svg(content) => {
            return Err(Error::invalid(
                "an SVG may hold scripts and is not taken; save it as PNG and use that",
            ));
        }
        _ => {
            return Err(Error::invalid(
                "this is no PNG, JPEG, WebP or GIF; its content was looked at, not its name",
            ));
        }
    };
    if let Some((width, height)) = badges::too_large(content) {
        return Err(Error::new(
            Kind::TooLarge,
            format!("{width} × {height} pixels are too many: make the picture smaller"),
        ));
    }
    Ok(kind)
}

fn is_svg(content: &[u8]) -> bool {
    let head = String::from_utf8_lossy(&content[..content.len().min(1024)]).to_lowercase();
    head.contains("<svg")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_text_and_back() {
        let logo = Logo {
            content_type: "image/gif".into(),
            content: b"GIF89a\x01\0\x01\0".to_vec(),
            updated_at: Timestamp(0),
        };
        let text = logo.to_data_uri();
        assert_eq!(text, "data:image/gif;base64,R0lGODlhAQABAA==");
        assert_eq!(of_data_uri(&text).unwrap(), logo.content);
        for wrong in [
            "",
            "logo.png",
            "data:image/gif,GIF89a",
            "data:image/gif;base64,R0lGODlhAQABAA",
            "data:image/gif;base64,!!!!",
            "data:image/gif;base64,",
            "data:image/svg+xml;base64,PHN2Zy8+",
            "https://example.org/logo.png",
        ] {
            assert!(of_data_uri(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn pictures_are_told_by_their_content() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01";
        for (content, kind) in [
            (&png[..], Some("image/png")),
            (b"\xff\xd8\xff\xe0\0\x10JFIF", Some("image/jpeg")),
            (b"RIFF\x24\0\0\0WEBPVP8 ", Some("image/webp")),
            (b"GIF89a\x01\0\x01\0", Some("image/gif")),
            (b"GIF88a", None),
            (b"RIFF\x24\0\0\0WAVEfmt ", None),
            (
                b"<?xml version='1.0'?><SVG xmlns='http://www.w3.org/2000/svg'/>",
                None,
            ),
            (b"<html><script>alert(1)</script>", None),
            (b"\x89PNG", None),
            (b"", None),
        ] {
            assert_eq!(check(content).ok(), kind, "{content:?}");
        }
        let pixels = |content: &[u8]| check(content).unwrap_err().to_string();
        assert!(pixels(b"GIF89a\x30\x75\x30\x75\0\0\0").contains("30000 × 30000"));
        let mut large = png.to_vec();
        large.resize(MAX_BYTES + 1, 0);
        assert!(check(&large).is_err());
    }
}
