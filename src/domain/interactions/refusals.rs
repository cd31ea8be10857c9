//! The log of refusals, and of conflicts: admitted check-ins that the rules would have refused.
//! The crew looks here when a guest complains (contract §3, §6).

use super::{draft::Draft, record::ResolvedParticipants};
use crate::{
    core::Context,
    db::Tx,
    domain::devices::NAME,
    types::{
        Timestamp,
        error::{Error, Kind, Result},
    },
};
use rusqlite::Connection;

/// Whether a failure is one that the log keeps: refused by rules, or an unknown code.
pub fn is_kept(kind: Kind) -> bool {
    matches!(kind, Kind::Refused(_) | Kind::DelegateNotFound)
}

/// Keeps a refusal.
pub fn keep(
    tx: &Tx<'_>,
    ctx: &Context,
    draft: &Draft,
    participants: &ResolvedParticipants,
    refusal: &Error,
) -> Result<()> {
    tx.prepare_cached(
        "INSERT INTO refusals (at, interaction_type, delegate, delegate_id, device, device_id,
                               recorded_at, client_id, user_id, code, message)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    )?
    .execute(rusqlite::params![
        tx.now(),
        draft.kind,
        draft.delegates[0].as_ref().map(ToString::to_string),
        participants.delegates[0],
        draft.devices[0].as_ref().map(ToString::to_string),
        participants.devices[0],
        draft.recorded_at(tx.now()),
        ctx.client,
        ctx.user,
        refusal.kind.code(),
        refusal.message,
    ])?;
    Ok(())
}

/// Keeps a conflict: the gate admitted, the rules would not have.
pub fn keep_conflict(tx: &Tx<'_>, interaction: i64, refusal: &Error) -> Result<()> {
    tx.prepare_cached(
        "INSERT INTO conflicts (at, interaction_id, code, message) VALUES (?1, ?2, ?3, ?4)",
    )?
    .execute(rusqlite::params![
        tx.now(),
        interaction,
        refusal.kind.code(),
        refusal.message
    ])?;
    Ok(())
}

/// A refusal of a delegate.
#[derive(Debug, Clone)]
pub struct Refused {
    /// When.
    pub at: Timestamp,
    /// The type.
    pub kind: String,
    /// The code as scanned.
    pub scanned: String,
    /// Where.
    pub device: String,
    /// Why.
    pub message: String,
}

/// The newest refusals of a delegate.
pub fn of_delegate(connection: &Connection, id: i64, limit: usize) -> Result<Vec<Refused>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT r.at, r.interaction_type, coalesce(r.delegate, ''), coalesce({NAME}, r.device, ''), r.message
         FROM refusals r LEFT JOIN devices d ON d.id = r.device_id
         WHERE r.delegate_id = ?1 ORDER BY r.id DESC LIMIT ?2"
    ))?;
    let refusals = statement.query_map((id, limit), |row| {
        Ok(Refused {
            at: row.get(0)?,
            kind: row.get(1)?,
            scanned: row.get(2)?,
            device: row.get(3)?,
            message: row.get(4)?,
        })
    })?;
    Ok(refusals.collect::<rusqlite::Result<_>>()?)
}
