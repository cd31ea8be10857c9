//! Keys on their way to another file: a document that nobody reads without its passphrase. Argon2id makes a key of the
//! passphrase, and ChaCha20-Poly1305 seals with it; a wrong passphrase and a changed document are told from the right ones.

use super::{SEED_BYTES, insert};
use crate::{
    core::Context,
    db::Tx,
    types::error::{Error, Result},
};
use argon2::{Algorithm, Argon2, Params, Version};
use base64::{Engine, prelude::BASE64_STANDARD};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use rusqlite::{Connection, OptionalExtension};
use serde::{Deserialize, Serialize};

/// The type of the document.
const FORMAT: &str = "gatepost ticket keys 1";
/// The shortest passphrase, in characters.
const PASSPHRASE_MIN_CHARS: usize = 12;
const SALT_BYTES: usize = 16;
/// Argon2id with 64 MiB and three passes.
const COST: (u32, u32, u32) = (64 * 1024, 3, 1);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sealed {
    format: String,
    salt: String,
    /// Nonce and sealed keys.
    keys: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct OpenKey {
    kid: u8,
    seed: String,
    first_day: String,
}

/// Returns the keys that are in use as a document.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`] where there are none, and for a short passphrase.
pub fn export(connection: &Connection, passphrase: &str) -> Result<String> {
    if passphrase.chars().count() < PASSPHRASE_MIN_CHARS {
        let message = format!("must have at least {PASSPHRASE_MIN_CHARS} characters");
        return Err(Error::field("passphrase", message));
    }
    let mut statement = connection.prepare(
        "SELECT kid, seed, first_day FROM ticket_keys
         WHERE retired_at IS NULL AND seed IS NOT NULL ORDER BY kid",
    )?;
    let keys = statement.query_map([], |row| {
        Ok(OpenKey {
            kid: row.get(0)?,
            seed: BASE64_STANDARD.encode(row.get::<_, Vec<u8>>(1)?),
            first_day: row.get(2)?,
        })
    })?;
    let keys = keys.collect::<rusqlite::Result<Vec<_>>>()?;
    if keys.is_empty() {
        return Err(Error::invalid("this file has no key in use"));
    }
    let (mut salt, mut nonce) = ([0; SALT_BYTES], [0; NONCE_LEN]);
    getrandom::fill(&mut salt).map_err(Error::defect)?;
    getrandom::fill(&mut nonce).map_err(Error::defect)?;
    let mut bytes = serde_json::to_vec(&keys).map_err(Error::defect)?;
    cipher(passphrase, &salt)?
        .seal_in_place_append_tag(
            Nonce::assume_unique_for_key(nonce),
            Aad::from(FORMAT),
            &mut bytes,
        )
        .map_err(|_| Error::defect("the keys cannot be sealed"))?;
    let document = Sealed {
        format: FORMAT.to_owned(),
        salt: BASE64_STANDARD.encode(salt),
        keys: BASE64_STANDARD.encode([&nonce[..], &bytes].concat()),
    };
    serde_json::to_string_pretty(&document).map_err(Error::defect)
}

/// Keys that a document gave.
pub struct Opened(Vec<OpenKey>);

/// Reads a document. It takes some 100 milliseconds.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`] for another passphrase, a changed document, and what is none.
pub fn open(document: &str, passphrase: &str) -> Result<Opened> {
    let none = || Error::invalid("this is no file of ticket keys");
    let sealed: Sealed = serde_json::from_str(document).map_err(|_| none())?;
    if sealed.format != FORMAT {
        return Err(none());
    }
    let decoded = |text: &str| BASE64_STANDARD.decode(text).map_err(|_| none());
    let (salt, mut bytes) = (decoded(&sealed.salt)?, decoded(&sealed.keys)?);
    let (nonce, keys) = bytes.split_at_mut_checked(NONCE_LEN).ok_or_else(none)?;
    let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| none())?;
    let keys = cipher(passphrase, &salt)?
        .open_in_place(nonce, Aad::from(FORMAT), keys)
        .map_err(|_| Error::invalid("wrong passphrase, or the file was changed"))?;
    let keys = serde_json::from_slice(keys).map_err(|_| none())?;
    Ok(Opened(keys))
}

fn cipher(passphrase: &str, salt: &[u8]) -> Result<LessSafeKey> {
    let (memory_kib, passes, lanes) = COST;
    let defect = |cause: argon2::Error| Error::defect(cause.to_string());
    let cost = Params::new(memory_kib, passes, lanes, Some(32)).map_err(defect)?;
    let mut key = [0; 32];
    Argon2::new(Algorithm::Argon2id, Version::V0x13, cost)
        .hash_password_into(passphrase.as_bytes(), salt, &mut key)
        .map_err(|_| Error::invalid("this is no file of ticket keys"))?;
    let key = UnboundKey::new(&CHACHA20_POLY1305, &key);
    let key = key.map_err(|_| Error::defect("a key of this length"))?;
    Ok(LessSafeKey::new(key))
}

impl Opened {
    /// Stores those that the file does not have, and returns their numbers.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`] where another key has a number already: then nothing is stored.
    pub fn store(&self, tx: &Tx<'_>, ctx: &Context) -> Result<Vec<u8>> {
        let mut stored = Vec::new();
        for OpenKey {
            kid,
            seed,
            first_day,
        } in &self.0
        {
            let seed = BASE64_STANDARD.decode(seed).unwrap_or_default();
            let seed: [u8; SEED_BYTES] = seed
                .try_into()
                .map_err(|_| Error::invalid("this is no file of ticket keys"))?;
            let known: Option<Option<Vec<u8>>> = tx
                .prepare_cached("SELECT seed FROM ticket_keys WHERE kid = ?1")?
                .query_row([kid], |row| row.get(0))
                .optional()?;
            match known {
                None => {
                    insert(tx, ctx, *kid, &seed, first_day)?;
                    stored.push(*kid);
                }
                Some(known) if known.as_deref() == Some(&seed) => {}
                Some(_) => {
                    return Err(Error::invalid(format!(
                        "this file has another key {kid}, or has retired it; nothing was stored"
                    )));
                }
            }
        }
        Ok(stored)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        core::ticket_keys,
        db::{Durability, Store},
    };
    use std::sync::Arc;

    const PASSPHRASE: &str = "correct horse battery";

    fn store() -> (tempfile::TempDir, Store) {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(&folder.path().join("a.db"), Durability::Normal).expect("a file");
        (folder, store)
    }

    fn write<T: Send + 'static>(
        store: &Store,
        work: impl FnOnce(&Tx<'_>, &Context) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let ctx = Context::of_command("test", Arc::default());
        store.write(move |tx| work(tx, &ctx)).wait()
    }

    #[test]
    fn keys_go_to_another_file_with_their_passphrase_alone() {
        let ((_one, office), (_two, venue)) = (store(), store());
        let short = office.look_up(|file| export(file, "too short"));
        assert!(short.unwrap_err().to_string().contains("at least 12"));
        let none = office.look_up(|file| export(file, PASSPHRASE));
        assert!(none.unwrap_err().to_string().contains("no key in use"));
        write(&office, |tx, ctx| ticket_keys::make(tx, ctx, "2026-11-27")).expect("a key");
        let document = office
            .look_up(|file| export(file, PASSPHRASE))
            .expect("a document");
        let seed: Vec<u8> = office
            .look_up(|file| {
                Ok(file.query_row("SELECT seed FROM ticket_keys", [], |row| row.get(0))?)
            })
            .expect("a seed");
        assert!(
            !document.contains(&BASE64_STANDARD.encode(seed)),
            "{document}"
        );

        let at = document
            .rfind("==")
            .or(document.rfind('"'))
            .expect("an end")
            - 8;
        let mut changed = document.clone().into_bytes();
        changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
        let changed = String::from_utf8(changed).expect("text");
        for (document, passphrase, why) in [
            (
                document.as_str(),
                "correct horse batterx",
                "wrong passphrase",
            ),
            (&changed, PASSPHRASE, "wrong passphrase"),
            ("{}", PASSPHRASE, "no file of ticket keys"),
            ("", PASSPHRASE, "no file of ticket keys"),
        ] {
            let refused = open(document, passphrase).err().expect("refused");
            assert!(refused.to_string().contains(why), "{refused}");
        }

        let take = |store: &Store| {
            let keys = open(&document, PASSPHRASE).expect("keys");
            write(store, move |tx, ctx| keys.store(tx, ctx))
        };
        assert_eq!(take(&venue).expect("stored"), [1]);
        assert_eq!(take(&venue).expect("stored before"), [0; 0]);
        let keys = |store: &Store| {
            let keys = store.look_up(ticket_keys::all).expect("keys");
            keys.into_iter()
                .map(|key| (key.kid, key.public_key, key.first_day))
                .collect::<Vec<_>>()
        };
        assert_eq!(keys(&venue), keys(&office));
        write(&venue, |tx, ctx| ticket_keys::retire(tx, ctx, 1)).expect("retired");
        assert!(
            take(&venue)
                .unwrap_err()
                .to_string()
                .contains("has retired it")
        );
    }
}
