//! The log of what was refused, and of what a gate let through that the rules would have refused.
//! The crew looks here when a guest complains (contract §3, §6).

use super::{draft::Draft, record::ResolvedParticipants};
use crate::{
    core::Context,
    db::Tx,
    types::error::{Error, Kind, Result},
};

/// Whether a failure is one that the log keeps: refused by rules, or an unknown code.
#[must_use]
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
