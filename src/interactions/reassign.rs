//! Interactions of one delegate become another's, for two records of one person. The only change
//! that an interaction ever sees: who it was does not change, only under which record.

use super::presence::{self, subject};
use crate::{
    error::Result,
    store::Tx,
    types::{DelegateId, DeviceId},
};
use std::collections::BTreeSet;

/// Moves the interactions of `from` to `to`, with the refusals, and makes the presence of both
/// anew. How many interactions moved.
///
/// # Errors
/// When they cannot be written.
pub fn reassign(tx: &Tx<'_>, from: DelegateId, to: DelegateId) -> Result<usize> {
    let devices = devices(tx, from)?;
    let moved: usize = tx.query_row(
        "SELECT count(*) FROM interactions
         WHERE first_delegate_id = ?1 OR second_delegate_id = ?1 OR third_delegate_id = ?1",
        [from],
        |row| row.get(0),
    )?;
    for column in [
        "first_delegate_id",
        "second_delegate_id",
        "third_delegate_id",
    ] {
        tx.prepare_cached(&format!(
            "UPDATE interactions SET {column} = ?2 WHERE {column} = ?1"
        ))?
        .execute([from, to])?;
    }
    for device in devices {
        presence::rebuild(tx, from, device)?;
        presence::rebuild(tx, to, device)?;
    }
    tx.prepare_cached("DELETE FROM presence WHERE delegate_id = ?1")?
        .execute([from])?;
    tx.prepare_cached("UPDATE refusals SET delegate_id = ?2 WHERE delegate_id = ?1")?
        .execute([from, to])?;
    Ok(moved)
}

/// Where a delegate did anything that presence follows from.
fn devices(tx: &Tx<'_>, delegate: DelegateId) -> Result<BTreeSet<DeviceId>> {
    let mut devices: BTreeSet<DeviceId> = tx
        .prepare_cached("SELECT device_id FROM presence WHERE delegate_id = ?1")?
        .query_map([delegate], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let mut statement = tx.prepare_cached(
        "SELECT interaction_type, first_delegate_id, second_delegate_id, first_device_id
         FROM interactions
         WHERE (first_delegate_id = ?1 OR second_delegate_id = ?1) AND first_device_id IS NOT NULL",
    )?;
    let mut rows = statement.query([delegate])?;
    while let Some(row) = rows.next()? {
        let kind: String = row.get(0)?;
        if subject(&kind, row.get(1)?, row.get(2)?) == Some(delegate) {
            devices.insert(row.get(3)?);
        }
    }
    Ok(devices)
}
