//! Nonces: what makes a resend safe, however often and however late (contract §6).

use super::rows::{self, Interaction};
use crate::{
    error::{Error, Kind, Result},
    store::Tx,
    types::ClientId,
};
use rusqlite::OptionalExtension;

/// What a nonce stands for already; `None` when it is new. The inner is `None` when the
/// interaction was deleted since.
///
/// # Errors
/// [`Kind::KeyReused`] when it came with another type or body.
pub fn recall(
    tx: &Tx<'_>,
    client: ClientId,
    nonce: &str,
    fingerprint: &[u8; 16],
) -> Result<Option<Option<Interaction>>> {
    let found: Option<([u8; 16], i64)> = tx
        .prepare_cached(
            "SELECT fingerprint, interaction_id FROM nonces WHERE client_id = ?1 AND nonce = ?2",
        )?
        .query_row(rusqlite::params![client, nonce], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .optional()?;
    match found {
        None => Ok(None),
        Some((known, interaction)) if known == *fingerprint => {
            Ok(Some(rows::find(tx, interaction)?))
        }
        Some(_) => Err(Error::new(
            Kind::KeyReused,
            "nonce: used before with another type or body; use a new one for a new interaction",
        )),
    }
}

/// Uses a nonce up, in the transaction of its interaction.
///
/// # Errors
/// When it cannot be written.
pub fn use_up(
    tx: &Tx<'_>,
    client: ClientId,
    nonce: &str,
    fingerprint: &[u8; 16],
    interaction: i64,
) -> Result<()> {
    tx.prepare_cached(
        "INSERT INTO nonces (client_id, nonce, fingerprint, interaction_id) VALUES (?1, ?2, ?3, ?4)",
    )?
    .execute(rusqlite::params![client, nonce, fingerprint, interaction])?;
    Ok(())
}
