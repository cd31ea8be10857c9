//! A client's secret that is handed over to an app which asked for it (contract §7). It is made by
//! both sides and never stored in clear: see `discovery::credentials`.

use crate::types::secret::{self, Digest};
use crate::{
    db::Tx,
    types::{ClientId, error::Result},
};
use rusqlite::{Connection, OptionalExtension, params};

/// Stored while the app has not fetched its secret: the digest of nothing that
/// anybody could send.
pub const WITHHELD: Digest = [0; 32];

/// The standing of a secret that a client sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretState {
    /// The client waits for its secret: any will be its own.
    Awaited,
    InForce,
    Other,
}

/// Takes a client's secret away until [`give`] gives it one.
pub fn withhold(tx: &Tx<'_>, client: ClientId) -> Result<()> {
    tx.prepare_cached("UPDATE clients SET secret_hash = ?2 WHERE id = ?1")?
        .execute(params![client, WITHHELD])?;
    Ok(())
}

/// Returns what `client_secret` is to the client.
pub fn state(
    connection: &Connection,
    client: ClientId,
    client_secret: &str,
) -> Result<SecretState> {
    let stored = connection
        .prepare_cached("SELECT secret_hash FROM clients WHERE id = ?1 AND revoked_at IS NULL")?
        .query_row([client], |row| row.get::<_, Digest>(0))
        .optional()?;
    Ok(match stored {
        Some(WITHHELD) => SecretState::Awaited,
        Some(stored) if secret::same(&stored, &secret::digest(client_secret.as_bytes())) => {
            SecretState::InForce
        }
        _ => SecretState::Other,
    })
}

/// Gives the client this secret, if it waits for one; what the secret is to it then.
pub fn give(tx: &Tx<'_>, client: ClientId, client_secret: &str) -> Result<SecretState> {
    let state = state(tx, client, client_secret)?;
    if state != SecretState::Awaited {
        return Ok(state);
    }
    tx.prepare_cached("UPDATE clients SET secret_hash = ?2 WHERE id = ?1")?
        .execute(params![client, secret::digest(client_secret.as_bytes())])?;
    Ok(SecretState::InForce)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        core::Context,
        db::{in_transaction, migrate},
        identity::clients::{self, NewClient},
        types::Timestamp,
    };
    use std::sync::Arc;

    #[test]
    fn a_secret_is_given_once_and_what_was_withheld_lets_nobody_in() {
        let file = Connection::open_in_memory().unwrap();
        migrate::create(&file).unwrap();
        in_transaction(&file, Timestamp(1), |tx| {
            let ctx = Context::of_command("admin", Arc::default());
            let made = clients::create(tx, &ctx, &NewClient::named("App"), &[])?;
            let signs_in = |secret: &[u8]| {
                clients::authenticate(tx, &made.client_id, secret)
                    .unwrap()
                    .is_some()
            };
            assert_eq!(give(tx, made.id, "early")?, SecretState::Other);
            withhold(tx, made.id)?;
            assert!(!signs_in(made.client_secret.as_bytes()) && !signs_in(b""));
            assert_eq!(state(tx, made.id, "one")?, SecretState::Awaited);
            assert_eq!(give(tx, made.id, "one")?, SecretState::InForce);
            assert_eq!(give(tx, made.id, "two")?, SecretState::Other);
            assert!(signs_in(b"one") && !signs_in(b"two"));
            clients::revoke(tx, &ctx, &made.client_id)?;
            assert_eq!(state(tx, made.id, "one")?, SecretState::Other);
            Ok(())
        })
        .unwrap();
    }
}
