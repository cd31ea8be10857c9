//! Hashes under secret keys of the file's own: they tell whether something is the same, and cannot be
//! looked up in a list of hashes that somebody else made.

use crate::{
    db::Tx,
    types::{
        error::{Error, Result},
        secret::{self, Digest},
    },
};
use hmac::{Hmac, KeyInit, Mac};
use rusqlite::{Connection, OptionalExtension};
use sha2::Sha256;

/// The name of the key that hashes what must not be kept, such as the codes of erased people.
const HASHES: &str = "hashes";
/// The name of the key that tickets and certificates are signed by.
pub const TICKETS: &str = "tickets";
/// The length of a key.
const KEY_BYTES: usize = 32;
/// Bytes of a signature: 128 bits.
const SIGNATURE_BYTES: usize = 16;

/// A secret key of the file.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(Vec<u8>);

impl Key {
    /// The key that hashes what must not be kept; `None` where nothing was ever hashed.
    pub fn find(connection: &Connection) -> Result<Option<Self>> {
        Self::named(connection, HASHES)
    }

    /// Returns that key, made if need be.
    pub fn find_or_make(tx: &Tx<'_>) -> Result<Self> {
        Self::named_or_make(tx, HASHES)
    }

    /// The key of a name.
    pub fn named(connection: &Connection, name: &str) -> Result<Option<Self>> {
        Ok(connection
            .prepare_cached("SELECT key FROM keys WHERE name = ?1")?
            .query_row([name], |row| row.get(0).map(Self))
            .optional()?)
    }

    /// The key of a name, made if need be.
    pub fn named_or_make(tx: &Tx<'_>, name: &str) -> Result<Self> {
        if let Some(key) = Self::named(tx, name)? {
            return Ok(key);
        }
        let mut key = vec![0; KEY_BYTES];
        getrandom::fill(&mut key).map_err(Error::defect)?;
        tx.execute("INSERT INTO keys (name, key) VALUES (?1, ?2)", (name, &key))?;
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

    /// Returns a token: what it says, a dash, and a signature of `signed`, which nobody else can make.
    pub fn token(&self, says: &str, signed: &[u8]) -> Result<String> {
        let signature = self.hash(signed)?;
        let signature = secret::hex(&signature[..SIGNATURE_BYTES]);
        Ok(format!("{says}-{signature}"))
    }
}

/// Compares a token with what somebody sent, in a time that does not tell where they differ.
pub fn is_token(right: &str, sent: &str) -> bool {
    let [right, sent] = [right, sent].map(|token| secret::digest(token.as_bytes()));
    secret::same(&right, &sent)
}
