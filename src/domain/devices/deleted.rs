//! Devices that were deleted softly: one is put back, or deleted for good where nothing refers to
//! it (contract §4).

use super::RESOURCE;
use crate::{
    core::{Context, records::write},
    db::Tx,
    types::{
        DeviceId,
        error::{Error, Kind, Result},
    },
};
use rusqlite::{Connection, OptionalExtension};
use serde_json::Value;

/// Restores a deleted device, with the codes it had.
///
/// # Errors
/// As [`write::undelete`].
pub fn restore(tx: &Tx<'_>, ctx: &Context, device: DeviceId) -> Result<()> {
    write::undelete(tx, ctx, &RESOURCE, device.0)
}

/// Lists what keeps a device from being deleted for good, in words; nothing where it can be.
pub fn kept_by(connection: &Connection, device: DeviceId) -> Result<Vec<&'static str>> {
    const REASONS: [(&str, &str); 4] = [
        (
            "SELECT EXISTS (SELECT 1 FROM interactions WHERE first_device_id = ?1)
                 OR EXISTS (SELECT 1 FROM interactions WHERE second_device_id = ?1)
                 OR EXISTS (SELECT 1 FROM interactions WHERE third_device_id = ?1)",
            "interactions happened there, and they stay",
        ),
        (
            "SELECT EXISTS (SELECT 1 FROM devices WHERE parent_id = ?1)",
            "other devices belong to it, deleted ones perhaps",
        ),
        (
            "SELECT EXISTS (SELECT 1 FROM clients WHERE device_id = ?1 AND revoked_at IS NULL)",
            "an app signs in as it; revoke its credentials first",
        ),
        (
            "SELECT EXISTS (SELECT 1 FROM batches WHERE device_id = ?1)",
            "an import was made for it",
        ),
    ];
    let mut reasons = Vec::new();
    for (sql, reason) in REASONS {
        if connection
            .prepare_cached(sql)?
            .query_row([device], |row| row.get(0))?
        {
            reasons.push(reason);
        }
    }
    Ok(reasons)
}

/// Deletes a deleted device for good. The audit keeps what it was.
///
/// # Errors
/// [`Kind::Invalid`], saying what refers to it; [`Kind::DeviceNotFound`] where no deleted device
/// has this id.
pub fn erase(tx: &Tx<'_>, ctx: &Context, device: DeviceId) -> Result<()> {
    let before = stored(tx, device)?;
    let reasons = kept_by(tx, device)?;
    if !reasons.is_empty() {
        return Err(Error::invalid(format!(
            "this device cannot be deleted for good: {}",
            reasons.join("; ")
        )));
    }
    for sql in [
        // Revoked clients and closed requests stay, without the device.
        "UPDATE clients SET device_id = NULL WHERE device_id = ?1",
        "UPDATE device_requests SET device_id = NULL WHERE device_id = ?1",
        "DELETE FROM occupancy WHERE device_id = ?1",
        "DELETE FROM batch_rows WHERE record_id = ?1
             AND batch_id IN (SELECT id FROM batches WHERE kind = 'devices')",
        "DELETE FROM devices WHERE id = ?1",
    ] {
        tx.prepare_cached(sql)?.execute([device])?;
    }
    RESOURCE.audit(tx, ctx, "erase", device.0, Some(before), None)
}

/// Name and codes of a deleted device, which the API does not show.
fn stored(tx: &Tx<'_>, device: DeviceId) -> Result<Value> {
    let text: Option<String> = tx
        .prepare_cached(
            "SELECT json_object('id', id, 'name', name, 'code', code, 'externalId', external_id,
                                'deviceType', device_type)
             FROM devices WHERE id = ?1 AND deleted_at IS NOT NULL",
        )?
        .query_row([device], |row| row.get(0))
        .optional()?;
    let text = text.ok_or_else(|| {
        let message = format!("there is no deleted device {device}");
        Error::new(Kind::DeviceNotFound, message)
    })?;
    serde_json::from_str(&text).map_err(Error::defect)
}
