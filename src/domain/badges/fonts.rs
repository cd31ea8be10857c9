//! Fonts that administrators added for letters that the embedded ones lack. Files of some megabytes are stored in pieces, so
//! that no write keeps gates waiting: the first has the font's name and is written last, the others have that name with
//! a number behind it.

use crate::{
    core::Context,
    db::Tx,
    types::{
        error::{Error, Result},
        secret,
    },
};
use badges::Fonts;
use rusqlite::{Connection, OptionalExtension};
use serde_json::{Map, Value, json};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// The largest file, in bytes.
pub const MAX_BYTES: usize = 20 * 1024 * 1024;
/// The bytes of a piece: a few milliseconds of the writer.
const PIECE_BYTES: usize = 256 * 1024;
/// The separator of a name and a number; no name has it.
const NUMBER: char = '\u{1f}';
/// The most fonts: they are held in memory.
const FONTS_MAX: usize = 10;
/// The type of changes of fonts in the audit.
const NOUN: &str = "badgeFonts";

/// The embedded fonts alone.
pub(super) static EMBEDDED: LazyLock<Arc<Fonts>> = LazyLock::new(Arc::default);

/// The fonts that were loaded last, and what they were loaded for.
static LOADED: Mutex<Option<(Version, Arc<Fonts>)>> = Mutex::new(None);

/// Changes with the fonts of a file: the file, its fonts, and the last change of them.
type Version = (Option<String>, Vec<FontFile>, Option<i64>);

/// A font that was added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FontFile {
    /// The family, and the style unless that is the usual one.
    pub name: String,
    pub bytes: usize,
}

/// Every font that was added, by name.
pub fn all(connection: &Connection) -> Result<Vec<FontFile>> {
    let mut fonts =
        connection.prepare_cached("SELECT name, length(content) FROM badge_fonts ORDER BY name")?;
    let pieces = fonts.query_map([], |row| Ok((row.get(0)?, row.get::<_, usize>(1)?)))?;
    let fonts = joined(pieces, |bytes, more| *bytes += more)?.into_iter();
    Ok(fonts
        .map(|(name, bytes)| FontFile { name, bytes })
        .collect())
}

/// Puts the pieces of each font together; those of an upload that did not come to its end are passed over.
fn joined<T>(
    pieces: impl Iterator<Item = rusqlite::Result<(String, T)>>,
    append: impl Fn(&mut T, T),
) -> Result<Vec<(String, T)>> {
    let mut fonts: Vec<(String, T)> = Vec::new();
    for piece in pieces {
        let (name, piece) = piece?;
        match (name.split_once(NUMBER), fonts.last_mut()) {
            (None, _) => fonts.push((name, piece)),
            (Some((of, _)), Some((font, whole))) if of == font => append(whole, piece),
            (Some(_), _) => {}
        }
    }
    Ok(fonts)
}

/// The fonts that badges are drawn with. Those that were added are loaded again only where they changed.
pub fn current(connection: &Connection) -> Result<Arc<Fonts>> {
    let fonts = all(connection)?;
    if fonts.is_empty() {
        return Ok(Arc::clone(&EMBEDDED));
    }
    let changed = connection
        .prepare_cached(
            "SELECT id FROM audit WHERE record_type = ?1 AND record_id IS NULL ORDER BY id DESC LIMIT 1",
        )?
        .query_row([NOUN], |row| row.get(0))
        .optional()?;
    let version = (connection.path().map(ToOwned::to_owned), fonts, changed);
    // Whoever comes meanwhile waits for the same fonts.
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, fonts)) = loaded.as_ref().filter(|(known, _)| *known == version) {
        return Ok(Arc::clone(fonts));
    }
    let mut pieces =
        connection.prepare_cached("SELECT name, content FROM badge_fonts ORDER BY name")?;
    let pieces = pieces.query_map([], |row| Ok((row.get(0)?, row.get::<_, Vec<u8>>(1)?)))?;
    let contents = joined(pieces, Extend::extend)?.into_iter();
    let fonts = Fonts::with(contents.map(|(_, content)| content));
    Ok(Arc::clone(&loaded.insert((version, Arc::new(fonts))).1))
}

/// A font that was checked.
pub struct CheckedFont {
    /// As in [`FontFile`].
    pub name: String,
    content: Vec<u8>,
    sha256: String,
}

impl CheckedFont {
    /// Checks a file.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`] for what is no font, or one of no use.
    pub fn new(content: Vec<u8>) -> Result<Self> {
        if content.is_empty() {
            return Err(Error::invalid("choose a font first"));
        }
        Ok(Self {
            name: badges::check_font(&content).map_err(Error::invalid)?,
            sha256: secret::hex(&secret::digest(&content)),
            content,
        })
    }

    /// The numbers of its pieces, in the order in which they are written.
    pub fn pieces(&self) -> impl Iterator<Item = usize> + use<> {
        (0..self.content.len().div_ceil(PIECE_BYTES)).rev()
    }

    /// Stores a piece; with the first, which comes last, the font is there.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`] where there are too many fonts, or other pieces are gone.
    pub fn store(&self, tx: &Tx<'_>, ctx: &Context, piece: usize) -> Result<()> {
        let before = told(tx)?;
        let from = piece * PIECE_BYTES;
        let to = self.content.len().min(from + PIECE_BYTES);
        let name = match piece {
            0 => self.name.clone(),
            piece => format!("{}{NUMBER}{piece:03}", self.name),
        };
        tx.execute(
            "INSERT OR REPLACE INTO badge_fonts (name, content) VALUES (?1, ?2)",
            (name, &self.content[from..to]),
        )?;
        if piece > 0 {
            return Ok(());
        }
        let mut after = told(tx)?;
        if after.len() > FONTS_MAX {
            return Err(Error::invalid(format!(
                "there can be {FONTS_MAX} fonts; remove one that nobody needs"
            )));
        }
        let font = &mut after[&self.name];
        if font["bytes"] != self.content.len() {
            let meanwhile = "somebody else added this font meanwhile; try again";
            return Err(Error::invalid(meanwhile));
        }
        // It tells the font apart from one of its size that was there before.
        font["sha256"] = json!(self.sha256);
        ctx.audit_update(tx, NOUN, before.into(), after.into())
    }
}

/// Removes a font, and what an upload of it that did not come to its end has left.
pub fn remove(tx: &Tx<'_>, ctx: &Context, name: &str) -> Result<()> {
    let before = told(tx)?;
    tx.execute(
        "DELETE FROM badge_fonts WHERE name = ?1 OR substr(name, 1, length(?1) + 1) = ?1 || ?2",
        (name, NUMBER.to_string()),
    )?;
    let after = told(tx)?;
    ctx.audit_update(tx, NOUN, before.into(), after.into())
}

fn told(connection: &Connection) -> Result<Map<String, Value>> {
    let fonts = all(connection)?.into_iter();
    Ok(fonts
        .map(|font| (font.name, json!({"bytes": font.bytes})))
        .collect())
}
