//! The log of refusals, and of conflicts: admitted check-ins that the rules would have refused.
//! The crew looks here when a guest complains (contract §3, §6). Admitted scans of unknown codes stand among
//! the refusals until somebody has the code (`late_codes`).

use super::{
    draft::Draft, nonces, presence::Before, record::ResolvedParticipants, rows::Interaction,
};
use crate::{
    core::Context,
    db::Tx,
    domain::devices::NAME,
    types::{
        ClientId, DelegateSelector, DeviceId, Timestamp,
        error::{Error, Kind, Result},
    },
};
use rusqlite::{Connection, OptionalExtension};

/// Returns whether a failure is one that the log keeps: refused by rules, or an unknown code.
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
    insert(tx, ctx, draft, participants, refusal, false).map(drop)
}

/// Keeps an admitted scan of an unknown code, which counts for who is inside; its id.
pub fn keep_waiting(
    tx: &Tx<'_>,
    ctx: &Context,
    draft: &Draft,
    participants: &ResolvedParticipants,
    missing: &Error,
) -> Result<i64> {
    let told = format!("{missing}; the gate let the person in");
    let told = Error::new(missing.kind, told);
    let code = draft.delegates[0].as_ref().and_then(DelegateSelector::code);
    let before = Before::of_code(tx, code.unwrap_or_default())?;
    let id = insert(tx, ctx, draft, participants, &told, true)?;
    before.count(tx)?;
    Ok(id)
}

/// `waits`: for its code, with its nonce and data.
fn insert(
    tx: &Tx<'_>,
    ctx: &Context,
    draft: &Draft,
    participants: &ResolvedParticipants,
    refusal: &Error,
    waits: bool,
) -> Result<i64> {
    let nonce = draft.nonce.as_ref().filter(|_| waits);
    let data = if waits { draft.data_in_full()? } else { None };
    tx.prepare_cached(
        "INSERT INTO refusals (at, interaction_type, delegate, delegate_id, device, device_id,
                               recorded_at, client_id, user_id, code, message, admitted, nonce, data)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
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
        refusal.to_string(),
        waits,
        nonce.map(|(nonce, _)| nonce),
        data,
    ])?;
    Ok(tx.last_insert_rowid())
}

/// The interaction that a waiting scan will be, without an id.
pub fn waiting(connection: &Connection, id: i64) -> Result<Option<Interaction>> {
    let found = connection
        .prepare_cached(
            "SELECT interaction_type, device_id, data, recorded_at, at FROM refusals
             WHERE id = ?1 AND admitted = 1",
        )?
        .query_row([id], |row| {
            Ok(Interaction {
                id: None,
                kind: row.get(0)?,
                delegates: [None; 3],
                devices: [row.get(1)?, None, None],
                data: row.get(2)?,
                shared: None,
                recorded_at: row.get(3)?,
                created_at: row.get(4)?,
            })
        });
    Ok(found.optional()?)
}

/// A refusal that was taken out.
pub struct TakenOut {
    /// The nonce of a scan that waited for its code.
    pub nonce: Option<(ClientId, String)>,
}

/// Takes a refusal out; a waiting scan counts no more for who is inside. `None` where it is gone already.
pub fn take_out(tx: &Tx<'_>, id: i64) -> Result<Option<TakenOut>> {
    let found = tx
        .prepare_cached(
            "SELECT iif(admitted = 1, substr(delegate, instr(delegate, ':') + 1), NULL), client_id, nonce
             FROM refusals WHERE id = ?1",
        )?
        .query_row([id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
    let Some((code, client, nonce)) = found.optional()? else {
        return Ok(None);
    };
    let code: Option<String> = code;
    let before = code.map(|code| Before::of_code(tx, &code)).transpose()?;
    tx.prepare_cached("DELETE FROM refusals WHERE id = ?1")?
        .execute([id])?;
    if let Some(before) = before {
        before.count(tx)?;
    }
    let client: Option<i64> = client;
    Ok(Some(TakenOut {
        nonce: client.map(ClientId).zip(nonce),
    }))
}

/// Takes refusals out for good; of their nonces keyed hashes are left.
pub fn forget(tx: &Tx<'_>, ids: &[i64]) -> Result<()> {
    let mut nonces = Vec::new();
    for id in ids {
        nonces.extend(take_out(tx, *id)?.and_then(|taken| taken.nonce));
    }
    nonces::forget(tx, &nonces)
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
        refusal.to_string()
    ])?;
    Ok(())
}

/// Refusals that are counted at the most.
const COUNTED_MAX: i64 = 1_000;

/// Counts the refusals at a device since a time, among the last thousand of all.
pub fn count_since(connection: &Connection, device: DeviceId, since: Timestamp) -> Result<i64> {
    Ok(connection
        .prepare_cached(
            "SELECT count(*) FROM (SELECT device_id, admitted FROM refusals WHERE at >= ?1 ORDER BY at DESC LIMIT ?3)
             WHERE device_id = ?2 AND admitted = 0",
        )?
        .query_row((since, device, COUNTED_MAX), |row| row.get(0))?)
}

/// Counts the scans that wait for somebody who has their code.
pub fn count_waiting(connection: &Connection) -> Result<i64> {
    Ok(connection
        .prepare_cached("SELECT count(*) FROM refusals WHERE admitted = 1")?
        .query_row([], |row| row.get(0))?)
}

/// A refusal of a delegate.
#[derive(Debug, Clone)]
pub struct Refused {
    /// The time.
    pub at: Timestamp,
    /// The type.
    pub kind: String,
    /// The code that was scanned; empty where the attendee was chosen.
    pub scanned: String,
    /// The place.
    pub device: String,
    /// The reason.
    pub message: String,
}

/// The newest refusals of a delegate.
pub fn of_delegate(connection: &Connection, id: i64, limit: usize) -> Result<Vec<Refused>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT r.at, r.interaction_type, iif(r.delegate LIKE 'id:%', '', coalesce(substr(r.delegate, instr(r.delegate, ':') + 1), '')),
             coalesce({NAME}, r.device, ''), r.message
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
