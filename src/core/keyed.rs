//! Hashes under a key of the file's own: they tell whether something is the same, and cannot be
//! looked up in a list of hashes that somebody else made.

use crate::{
    db::Tx,
    types::{
        error::{Error, Result},
        secret::Digest,
    },
};
use hmac::{Hmac, KeyInit, Mac};
use rusqlite::{Connection, OptionalExtension};
use sha2::Sha256;

/// The length of a key.
const KEY_BYTES: usize = 32;

/// The file's key.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(Vec<u8>);

impl Key {
    /// The key; `None` where nothing was ever hashed under one.
    pub fn find(connection: &Connection) -> Result<Option<Self>> {
        Ok(connection
            .prepare_cached("SELECT key FROM erasure_key WHERE id = 1")?
            .query_row([], |row| row.get(0).map(Self))
            .optional()?)
    }

    /// The key, made if need be.
    pub fn find_or_make(tx: &Tx<'_>) -> Result<Self> {
        if let Some(key) = Self::find(tx)? {
            return Ok(key);
        }
        let mut key = vec![0; KEY_BYTES];
        getrandom::fill(&mut key).map_err(Error::defect)?;
        tx.execute("INSERT INTO erasure_key (id, key) VALUES (1, ?1)", [&key])?;
        Ok(Self(key))
    }

    /// The hash of an e-mail address, whatever the case of its letters, as at sign-in.
    pub fn hash_address(&self, email: &str) -> Result<Digest> {
        self.hash(format!("address {}", email.to_ascii_lowercase()).as_bytes())
    }

    /// The hash of a text.
    pub fn hash(&self, text: &[u8]) -> Result<Digest> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).map_err(Error::defect)?;
        mac.update(text);
        Ok(mac.finalize().into_bytes().into())
    }
}
