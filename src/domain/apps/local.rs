//! The settings that an app set by itself (spec: Device endpoints, rule 6; contract §7).

use super::{
    configuration::{self, missing},
    document::Settings,
    parameters::{self, canonical, parameter},
};
use crate::{
    core::Context,
    db::Tx,
    types::{
        DeviceId,
        error::{Error, Result},
        json, text,
    },
};
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::Value;

/// Keeps the settings that an app sends beside those it sent before; `null` takes one away. What it
/// keeps now.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`], naming the setting, for one that does not fit, that an app may
/// not set, or that is forced; [`crate::types::error::Kind::DeviceNotFound`] for a device that is deleted.
pub fn save(tx: &Tx<'_>, ctx: &Context, device: DeviceId, sent: Settings) -> Result<Settings> {
    let (_, effective) = configuration::effective(tx, device)?;
    check(tx, ctx, &effective, &sent)?;
    let mut kept = settings(tx, device)?;
    for (name, value) in sent {
        if value.is_null() {
            kept.remove(&name);
        } else {
            kept.insert(name, value);
        }
    }
    let text = Value::Object(kept.clone()).to_string();
    if text.len() > json::RECORD_MAX_BYTES {
        return Err(Error::invalid(format!(
            "may have at most {} bytes with what is kept already",
            json::RECORD_MAX_BYTES
        ))
        .at("value"));
    }
    tx.prepare_cached(
        "INSERT INTO device_states (device_id, seen_at, local_settings) VALUES (?1, ?2, ?3)
         ON CONFLICT (device_id) DO UPDATE SET seen_at = excluded.seen_at,
             local_settings = excluded.local_settings",
    )?
    .execute(params![device, tx.now(), text])?;
    Ok(kept)
}

/// The settings that a device's app set by itself.
pub fn settings(connection: &Connection, device: DeviceId) -> Result<Settings> {
    let stored: Option<Option<String>> = connection
        .prepare_cached("SELECT local_settings FROM device_states WHERE device_id = ?1")?
        .query_row([device], |row| row.get(0))
        .optional()?;
    let text = stored.flatten().unwrap_or_default();
    Ok(serde_json::from_str(&text).unwrap_or_default())
}

fn check(tx: &Tx<'_>, ctx: &Context, effective: &Settings, sent: &Settings) -> Result<()> {
    let forced = effective.get("forced").and_then(Value::as_array);
    for name in sent.keys() {
        let place = format!("value.{}", text::shortened(name));
        if parameter(name).is_some_and(|known| !known.local) {
            return Err(Error::field(place, "is the server's to set, not an app's"));
        }
        let is_forced = forced.into_iter().flatten().any(|forced| {
            forced
                .as_str()
                .is_some_and(|forced| canonical(forced) == canonical(name))
        });
        if is_forced {
            return Err(Error::field(
                place,
                "is forced; the app goes back to the server's value",
            ));
        }
    }
    let set: Settings = sent
        .iter()
        .filter(|(_, value)| !value.is_null())
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    parameters::checked("value", &set, &ctx.settings.zone)?;
    match set.get("mode") {
        None => {}
        Some(Value::String(mode)) => text::check_text("value.mode", mode)?,
        Some(_) => return Err(Error::field("value.mode", "must be a string")),
    }
    match set.get("ownDevice") {
        None => Ok(()),
        Some(own) => check_own_device(tx, own),
    }
}

fn check_own_device(tx: &Tx<'_>, own: &Value) -> Result<()> {
    let id = own
        .as_i64()
        .ok_or_else(|| Error::field("value.ownDevice", "must be the id of a device"))?;
    if configuration::is_alive(tx, DeviceId(id))? {
        Ok(())
    } else {
        Err(Error::field("value.ownDevice", missing(DeviceId(id))))
    }
}
