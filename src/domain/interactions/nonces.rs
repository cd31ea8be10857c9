//! Nonces: what makes a resend safe, however often and however late (contract §6).

use super::{
    refusals,
    rows::{self, Interaction},
};
use crate::{
    core::keyed::Key,
    db::Tx,
    types::{
        ClientId, DelegateId, Timestamp,
        error::{Error, Kind, Result},
    },
};
use rusqlite::{Connection, OptionalExtension};

/// Finds what a nonce stands for already, as it is stored; `None` when it is new. The inner is `None` when
/// the interaction was deleted since; without an id it still waits for its code. `fingerprints` are those of this
/// request, by this version and by earlier ones.
///
/// # Errors
/// [`Kind::KeyReused`] when it came with another type or body.
pub fn recall(
    tx: &Tx<'_>,
    client: ClientId,
    nonce: &str,
    fingerprints: &[[u8; 16]],
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
        None if is_erased(tx, client, nonce, fingerprints)? => Ok(Some(None)),
        None => Ok(None),
        Some((known, id)) if fingerprints.contains(&known) => Ok(Some(if id < 0 {
            refusals::waiting(tx, -id)?
        } else {
            rows::find_stored(tx, id)?
        })),
        Some(_) => Err(reused()),
    }
}

/// The interaction of a nonce, or below zero the scan that waits for its code; either may be gone.
pub fn find(connection: &Connection, client: ClientId, nonce: &str) -> Result<Option<i64>> {
    Ok(connection
        .prepare_cached("SELECT interaction_id FROM nonces WHERE client_id = ?1 AND nonce = ?2")?
        .query_row(rusqlite::params![client, nonce], |row| row.get(0))
        .optional()?)
}

/// Has a nonce that was used up stand for an interaction.
pub fn lead_to(tx: &Tx<'_>, client: ClientId, nonce: &str, interaction: i64) -> Result<()> {
    tx.prepare_cached("UPDATE nonces SET interaction_id = ?3 WHERE client_id = ?1 AND nonce = ?2")?
        .execute(rusqlite::params![client, nonce, interaction])?;
    Ok(())
}

/// The first delegate of what a nonce stands for, also when the interaction was deleted since; nobody
/// once they were erased.
pub fn first_delegate(tx: &Tx<'_>, client: ClientId, nonce: &str) -> Result<Option<DelegateId>> {
    Ok(tx
        .prepare_cached(
            "SELECT coalesce(i.first_delegate_id, (
                 SELECT before ->> '$.firstDelegate.id' FROM audit
                 WHERE record_type = 'interaction' AND record_id = n.interaction_id AND action = 'delete'))
             FROM nonces n LEFT JOIN interactions i ON i.id = n.interaction_id
             WHERE n.client_id = ?1 AND n.nonce = ?2",
        )?
        .query_row(rusqlite::params![client, nonce], |row| row.get(0))
        .optional()?
        .flatten())
}

fn reused() -> Error {
    Error::new(
        Kind::KeyReused,
        "used before with another type or body; use a new one for a new interaction",
    )
    .at("nonce")
}

/// Returns whether a nonce is among those that are kept as hashes; there is a key once somebody was erased.
fn is_erased(
    tx: &Tx<'_>,
    client: ClientId,
    nonce: &str,
    fingerprints: &[[u8; 16]],
) -> Result<bool> {
    let Some(key) = Key::find(tx)? else {
        return Ok(false);
    };
    let found: Option<Vec<u8>> = tx
        .prepare_cached("SELECT fingerprint FROM erased_nonces WHERE client_id = ?1 AND hash = ?2")?
        .query_row(
            rusqlite::params![client, key.hash(nonce.as_bytes())?],
            |row| row.get(0),
        )
        .optional()?;
    let Some(known) = found else {
        return Ok(false);
    };
    for fingerprint in fingerprints {
        if known == key.hash(fingerprint)? {
            return Ok(true);
        }
    }
    Err(reused())
}

/// A nonce, by which reading goes on.
pub type Nonce = (ClientId, String);

/// Leaves keyed hashes of so many nonces behind one, in the order of clients and nonces, whose interactions or refusals
/// are from before a moment, or gone; returns the last that was looked at.
pub fn forget_before(
    tx: &Tx<'_>,
    (client, nonce): &Nonce,
    until: Timestamp,
    most: i64,
) -> Result<Option<Nonce>> {
    let mut statement = tx.prepare_cached(
        "SELECT client_id, nonce, coalesce(
             (SELECT created_at FROM interactions WHERE id = interaction_id),
             (SELECT at FROM refusals WHERE id = -interaction_id), 0) < ?3
         FROM nonces WHERE (client_id, nonce) > (?1, ?2) ORDER BY client_id, nonce LIMIT ?4",
    )?;
    let rows = statement.query_map(rusqlite::params![client, nonce, until, most], |row| {
        Ok(((row.get(0)?, row.get(1)?), row.get(2)?))
    })?;
    let rows: Vec<(Nonce, bool)> = rows.collect::<rusqlite::Result<_>>()?;
    let last = rows.last().map(|(nonce, _)| nonce.clone());
    let old = rows.into_iter().filter(|(_, is_old)| *is_old);
    forget(tx, &old.map(|(nonce, _)| nonce).collect::<Vec<_>>())?;
    Ok(last)
}

/// Nonces of interactions. There is no index of these: it takes a while, so it is not for the
/// writer.
pub fn of(connection: &Connection, interactions: &[i64]) -> Result<Vec<(ClientId, String)>> {
    let mut statement = connection.prepare(
        "SELECT client_id, nonce FROM nonces
         WHERE interaction_id IN (SELECT value FROM json_each(?1))",
    )?;
    let ids = serde_json::json!(interactions).to_string();
    let nonces = statement.query_map([ids], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(nonces.collect::<rusqlite::Result<_>>()?)
}

/// Keeps no more of nonces than keyed hashes, by which a resend is still known (contract §8).
pub fn forget(tx: &Tx<'_>, nonces: &[(ClientId, String)]) -> Result<()> {
    if nonces.is_empty() {
        return Ok(());
    }
    let key = Key::find_or_make(tx)?;
    for (client, nonce) in nonces {
        let fingerprint: Option<[u8; 16]> = tx
            .prepare_cached(
                "DELETE FROM nonces WHERE client_id = ?1 AND nonce = ?2 RETURNING fingerprint",
            )?
            .query_row(rusqlite::params![client, nonce], |row| row.get(0))
            .optional()?;
        let Some(fingerprint) = fingerprint else {
            continue;
        };
        tx.prepare_cached(
            "INSERT OR REPLACE INTO erased_nonces (client_id, hash, fingerprint) VALUES (?1, ?2, ?3)",
        )?
        .execute(rusqlite::params![
            client,
            key.hash(nonce.as_bytes())?,
            key.hash(&fingerprint)?
        ])?;
    }
    Ok(())
}

/// Uses a nonce up, in the transaction of its interaction.
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
