//! Devices that were deleted softly: one is put back, or deleted for good where nothing refers to
//! it (contract §4).

use super::RESOURCE;
use crate::{
    core::{
        Context,
        audit::{self, Change},
        records::{Selection, write},
    },
    db::Tx,
    types::{
        DeviceId,
        error::{Error, Kind, Result},
    },
};
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::Value;

/// Puts a deleted device back, with the codes it had.
///
/// # Errors
/// [`Kind::CodeTaken`], naming the code and who has it now; [`Kind::DeviceNotFound`] where no
/// deleted device has this id.
pub fn restore(tx: &Tx<'_>, ctx: &Context, device: DeviceId) -> Result<()> {
    check_deleted(tx, device)?;
    check_codes(tx, device)?;
    tx.prepare_cached("UPDATE devices SET deleted_at = NULL, updated_at = ?2 WHERE id = ?1")?
        .execute(params![device, tx.now()])?;
    let after = snapshot(tx, ctx, device)?;
    append(tx, ctx, "restore", device, None, after)?;
    write::refresh_referring(tx, &RESOURCE, device.0)
}

fn check_deleted(connection: &Connection, device: DeviceId) -> Result<()> {
    let deleted = connection
        .prepare_cached("SELECT 1 FROM devices WHERE id = ?1 AND deleted_at IS NOT NULL")?
        .exists([device])?;
    if deleted {
        Ok(())
    } else {
        Err(Error::new(
            Kind::DeviceNotFound,
            format!("there is no deleted device {device}"),
        ))
    }
}

/// Codes of a deleted device are free, and another may have been given one of them.
fn check_codes(connection: &Connection, device: DeviceId) -> Result<()> {
    for (column, name) in RESOURCE.codes() {
        let taken: Option<(String, i64, String)> = connection
            .prepare_cached(&format!(
                "SELECT o.{column}, o.id, coalesce(o.name, o.short_name, o.code)
                 FROM devices d JOIN devices o ON o.{column} = d.{column} AND o.deleted_at IS NULL
                 WHERE d.id = ?1"
            ))?
            .query_row([device], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .optional()?;
        if let Some((code, other, other_name)) = taken {
            return Err(Error::new(
                Kind::CodeTaken,
                format!(
                    "{name}: \"{code}\" belongs to {other_name} (device {other}) by now; give that one \
                     another code first"
                ),
            ));
        }
    }
    Ok(())
}

/// What keeps a device from being deleted for good, in words; nothing where it can be.
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
    check_deleted(tx, device)?;
    let reasons = kept_by(tx, device)?;
    if !reasons.is_empty() {
        return Err(Error::invalid(format!(
            "this device cannot be deleted for good: {}",
            reasons.join("; ")
        )));
    }
    let before = stored(tx, device)?;
    for sql in [
        // What is revoked or over is told of without the device.
        "UPDATE clients SET device_id = NULL WHERE device_id = ?1",
        "UPDATE device_requests SET device_id = NULL WHERE device_id = ?1",
        "DELETE FROM occupancy WHERE device_id = ?1",
        "DELETE FROM batch_rows WHERE record_id = ?1
             AND batch_id IN (SELECT id FROM batches WHERE kind = 'devices')",
        "DELETE FROM devices WHERE id = ?1",
    ] {
        tx.prepare_cached(sql)?.execute([device])?;
    }
    append(tx, ctx, "erase", device, before, None)
}

fn snapshot(tx: &Tx<'_>, ctx: &Context, device: DeviceId) -> Result<Option<Value>> {
    let json = Selection::own(&RESOURCE).one(tx, "id", &device, &ctx.settings.zone)?;
    json.map(|text| serde_json::from_str(&text).map_err(Error::defect))
        .transpose()
}

/// Name and codes of a device that the API shows no more.
fn stored(tx: &Tx<'_>, device: DeviceId) -> Result<Option<Value>> {
    let text: Option<String> = tx
        .prepare_cached(
            "SELECT json_object('id', id, 'name', name, 'code', code, 'externalId', external_id,
                                'deviceType', device_type)
             FROM devices WHERE id = ?1",
        )?
        .query_row([device], |row| row.get(0))
        .optional()?;
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
}

fn append(
    tx: &Tx<'_>,
    ctx: &Context,
    action: &'static str,
    device: DeviceId,
    before: Option<Value>,
    after: Option<Value>,
) -> Result<()> {
    audit::append(
        tx,
        ctx,
        &Change {
            action,
            record_type: RESOURCE.name,
            record_id: Some(device.0),
            before,
            after,
        },
    )
}
