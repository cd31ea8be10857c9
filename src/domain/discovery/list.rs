//! The lists of the Discovery page: who asks, and who was let in.

use super::{DAY_MS, credentials};
use crate::{
    identity::handover::WITHHELD,
    types::{DeviceId, Timestamp, error::Result},
};
use rusqlite::{Connection, params};

/// A request that waits.
#[derive(Debug, Clone)]
pub struct Waiting {
    pub id: i64,
    pub code: String,
    pub agent: Option<String>,
    pub address: String,
    pub preferred_type: Option<String>,
    pub digits: String,
    pub created_at: Timestamp,
    /// The device that has the code already: the app was set up anew.
    pub known: Option<(DeviceId, String)>,
}

impl Waiting {
    /// Returns whether it is the gate app, whose role is fixed.
    pub fn is_gate(&self) -> bool {
        self.preferred_type.as_deref() == Some("gate")
    }
}

/// A request that was added.
#[derive(Debug, Clone)]
pub struct GivenOut {
    pub id: i64,
    pub code: String,
    pub device: DeviceId,
    pub name: String,
    pub added_at: Timestamp,
    /// The time until which the app is shown its credentials, if that is not over.
    pub shown_until: Option<Timestamp>,
    pub fetched: bool,
    pub revoked: bool,
}

/// The requests that wait, the newest first.
pub fn waiting(connection: &Connection, now: Timestamp) -> Result<Vec<Waiting>> {
    let mut statement = connection.prepare_cached(
        "SELECT r.id, r.code, r.agent, r.address, r.preferred_type, r.secret_hash, r.created_at,
             d.id, coalesce(d.name, d.code)
         FROM device_requests r LEFT JOIN devices d ON d.code = r.code AND d.deleted_at IS NULL
         WHERE r.cleared_status IS NULL AND r.created_at > ?1 ORDER BY r.id DESC",
    )?;
    let rows = statement.query_map([now.0 - DAY_MS], |row| {
        let known: Option<DeviceId> = row.get(7)?;
        let name: Option<String> = row.get(8)?;
        Ok(Waiting {
            id: row.get(0)?,
            code: row.get(1)?,
            agent: row.get(2)?,
            address: row.get(3)?,
            preferred_type: row.get(4)?,
            digits: credentials::check_digits(&row.get(5)?),
            created_at: row.get(6)?,
            known: known.zip(name),
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The requests that were added, the one added last first, at most `most`.
pub fn given_out(connection: &Connection, now: Timestamp, most: usize) -> Result<Vec<GivenOut>> {
    let mut statement = connection.prepare_cached(
        "SELECT r.id, r.code, r.device_id, coalesce(d.name, d.code), r.cleared_at,
             iif(r.salt IS NOT NULL AND r.shown_until > ?1 AND r.updated_at <= ?1, r.shown_until, NULL),
             c.secret_hash <> ?3, c.revoked_at IS NOT NULL
         FROM device_requests r JOIN clients c ON c.id = r.client_id JOIN devices d ON d.id = r.device_id
         WHERE r.cleared_status = 'added' ORDER BY r.updated_at DESC, r.id DESC LIMIT ?2",
    )?;
    let rows = statement.query_map(params![now, most, WITHHELD], |row| {
        Ok(GivenOut {
            id: row.get(0)?,
            code: row.get(1)?,
            device: row.get(2)?,
            name: row.get(3)?,
            added_at: row.get(4)?,
            shown_until: row.get(5)?,
            fetched: row.get(6)?,
            revoked: row.get(7)?,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}
