//! The limits of a client with the role of a gate alone: it records interactions of the types of gates (`types`) at its
//! own places, and may take back its own within ten minutes.

use super::{draft::Draft, judge::DeviceCache, late_codes, types};
use crate::{
    domain::apps::{GateSettings, PublishedCache, not_its_place},
    identity::{Principal, Role},
    types::{
        Timestamp,
        error::{Error, Kind, Result},
    },
};
use rusqlite::{Connection, OptionalExtension};

/// The time for which a gate may take back what it recorded, in milliseconds.
pub(super) const UNDO_MS: i64 = 10 * 60 * 1000;

/// Checks what a client wants to record: one that is a gate and nothing more is kept to its places.
///
/// # Errors
/// [`Kind::Forbidden`], and when the place does not exist.
pub fn check(
    connection: &Connection,
    device_cache: &DeviceCache,
    published: &PublishedCache,
    caller: &Principal,
    draft: &Draft,
) -> Result<()> {
    if caller.has(Role::InteractionWrite) {
        return Ok(());
    }
    let known = types::is_of_gates(&draft.kind);
    let [device, others @ ..] = &draft.devices;
    let alone =
        others.iter().all(Option::is_none) && draft.delegates[1..].iter().all(Option::is_none);
    let Some(device) = device.as_ref().filter(|_| known && alone) else {
        let types: Vec<_> = types::names_of_gates().collect();
        return Err(Error::new(
            Kind::Forbidden,
            format!(
                "a gate records {}, each of one delegate at one place; \
                 anything else needs ROLE_OAUTH2_INTERACTION_WRITE",
                types.join(", ")
            ),
        ));
    };
    let (app, found) = (caller.device, device_cache.find(connection, device));
    let place = match found {
        // It may have been deleted since; this opens no other.
        Err(cause) if cause.kind == Kind::DeviceNotFound && late_codes::is_admitted(draft) => {
            return Ok(());
        }
        found => found?,
    };
    let may_use = device_cache.may_use(app, place, || {
        match GateSettings::read(connection, published, app)?.check_place(connection, place) {
            Err(cause) if cause.kind == Kind::Forbidden => Ok(false),
            checked => checked.map(|()| true),
        }
    })?;
    may_use.then_some(()).ok_or_else(|| not_its_place(place))
}

/// Checks that a gate may take an interaction back, or below zero a scan that waits for its code.
///
/// # Errors
/// [`Kind::Forbidden`].
pub fn check_undo(
    connection: &Connection,
    caller: &Principal,
    interaction: i64,
    now: Timestamp,
) -> Result<()> {
    if caller.has(Role::InteractionWrite) {
        return Ok(());
    }
    let sql = if interaction < 0 {
        "SELECT client_id, at FROM refusals WHERE id = -?1"
    } else {
        "SELECT client_id, created_at FROM interactions WHERE id = ?1"
    };
    let recorded: Option<(Option<i64>, Timestamp)> = connection
        .prepare_cached(sql)?
        .query_row([interaction], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let is_own = recorded
        .is_none_or(|(client, at)| client == Some(caller.client.0) && now.0 - at.0 <= UNDO_MS);
    if is_own {
        return Ok(());
    }
    Err(Error::new(
        Kind::Forbidden,
        "a gate takes back only what it recorded itself in the last ten minutes",
    ))
}
