//! An administrator decides upon a request: Add, Dismiss, and give the credentials out again (spec:
//! States and transitions; contract §7). Of two who decide at once the second is refused.

use super::{DAY_MS, Pairing, SHOWN_MS, credentials::fresh_salt};
use crate::{
    core::{
        Context,
        audit::{self, Change},
        records::write,
    },
    db::Tx,
    domain::{
        apps::{Settings, configuration},
        devices::{self, record::Record},
    },
    identity::{
        Role, Roles,
        clients::{self, NewClient},
        handover,
    },
    types::{
        ClientId, DeviceId, Timestamp,
        error::{Error, Kind, Result},
        text,
    },
};
use rusqlite::{OptionalExtension, params};
use serde_json::{Map, Value, json};

/// The preferred types that are known everywhere (spec: Device endpoints, rule 7).
pub const KNOWN_TYPES: [&str; 4] = ["checkin", "accesscontrol", "upload", "gate"];

/// Adds a request that waits: makes its device, or takes the app's device that has its code already,
/// and a client bound to it. The client's public id; `None` when it does not wait any more.
///
/// # Errors
/// [`Kind::CodeTaken`] when the code is that of a device which runs no app.
pub fn add(tx: &Tx<'_>, ctx: &Context, id: i64, delegate_write: bool) -> Result<Option<String>> {
    let waits: Option<(String, Option<String>)> = tx
        .prepare_cached(
            "SELECT code, preferred_type FROM device_requests
             WHERE id = ?1 AND cleared_status IS NULL AND created_at > ?2",
        )?
        .query_row(params![id, tx.now().0 - DAY_MS], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .optional()?;
    let Some((code, preferred)) = waits else {
        return Ok(None);
    };
    let ctx = &Context {
        source: "discovery",
        ..ctx.clone()
    };
    let preferred = preferred.as_deref();
    let device = device(tx, ctx, &code, preferred)?;
    let made = clients::create(
        tx,
        ctx,
        &NewClient {
            roles: roles(preferred, delegate_write),
            device: Some(device),
            ..NewClient::named(&format!("App {}", text::shortened(&code)))
        },
        &[],
    )?;
    // Its secret is made when the app asks for it.
    handover::withhold(tx, made.id)?;
    tx.prepare_cached(
        "UPDATE device_requests SET cleared_status = 'added', cleared_at = ?2, updated_at = ?2,
             device_id = ?3, client_id = ?4, shown_until = ?5, salt = ?6 WHERE id = ?1",
    )?
    .execute(params![
        id,
        tx.now(),
        device,
        made.id,
        Timestamp(tx.now().0 + SHOWN_MS),
        fresh_salt()?
    ])?;
    let after = json!({"code": code, "device": device, "clientId": made.client_id});
    append(tx, ctx, "add", id, after)?;
    Ok(Some(made.client_id))
}

/// Adds a request with a pairing code: the app becomes a gate of the code's place, and is called like it.
///
/// # Errors
/// [`Kind::DeviceNotFound`] when the place is gone.
pub(super) fn pair(tx: &Tx<'_>, pairing: &Pairing, id: i64, code: &str) -> Result<()> {
    let ctx = &pairing.ctx;
    let place = Record::find(tx, pairing.place.0)?;
    if place.deleted_at.is_some() {
        return Err(devices::RESOURCE.missing(&pairing.place));
    }
    add(tx, ctx, id, false)?;
    let device: i64 = tx
        .prepare_cached("SELECT device_id FROM device_requests WHERE id = ?1")?
        .query_row([id], |row| row.get(0))?;
    let name = Map::from_iter([("name".to_owned(), json!(free_name(tx, &place.name)?))]);
    write::patch(tx, ctx, &devices::RESOURCE, device, name)?;
    let at = format!("code:{}", place.text("code"));
    let settings = Settings::from_iter([("place".to_owned(), json!(at))]);
    configuration::change_device(tx, ctx, code, &settings)?;
    Ok(())
}

/// The name of a place for its gate, with a number where another gate has it.
fn free_name(tx: &Tx<'_>, place: &str) -> Result<String> {
    let mut taken = tx.prepare_cached(
        "SELECT 1 FROM devices WHERE name = ?1 AND deleted_at IS NULL AND device_type IN ('regoapp', 'mobileapp')",
    )?;
    let mut name = place.to_owned();
    for number in 2.. {
        if !taken.exists([&name])? {
            break;
        }
        name = format!("{place} {number}");
    }
    Ok(name)
}

/// The roles of the app's client (contract §7).
fn roles(preferred: Option<&str>, delegate_write: bool) -> Roles {
    if preferred == Some("gate") {
        return Roles::default().with(Role::Gate);
    }
    let mut roles = Roles::default().with(Role::InteractionWrite);
    if preferred != Some("upload") {
        roles = roles.with(Role::DelegateRead).with(Role::DeviceRead);
    }
    if delegate_write {
        roles = roles.with(Role::DelegateWrite);
    }
    roles
}

/// The device that the app is from now on.
fn device(tx: &Tx<'_>, ctx: &Context, code: &str, preferred: Option<&str>) -> Result<DeviceId> {
    let own_type = preferred.filter(|preferred| !KNOWN_TYPES.contains(preferred));
    let mut properties = Map::new();
    let device_type = devices::APP_TYPES[usize::from(own_type.is_some())];
    properties.insert("deviceType".to_owned(), json!(device_type));
    if let Some(own_type) = own_type {
        properties.insert("deviceTags".to_owned(), json!(own_type));
    }
    let known: Option<(i64, Option<String>, Option<String>)> = tx
        .prepare_cached(
            "SELECT id, device_type, name FROM devices WHERE code = ?1 AND deleted_at IS NULL",
        )?
        .query_row([code], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    let id = match known {
        None => {
            properties.insert("code".to_owned(), json!(code));
            write::create(tx, ctx, &devices::RESOURCE, properties)?
        }
        // An app that was set up anew is the device that it was.
        Some((id, Some(kind), _)) if devices::APP_TYPES.contains(&kind.as_str()) => {
            write::patch(tx, ctx, &devices::RESOURCE, id, properties)?;
            id
        }
        Some((id, _, name)) => {
            return Err(Error::new(
                Kind::CodeTaken,
                format!(
                    "the code \"{}\" is that of {}, which runs no app; dismiss the request and choose another code on the app",
                    text::shortened(code),
                    name.unwrap_or_else(|| format!("device {id}"))
                ),
            ));
        }
    };
    Ok(DeviceId(id))
}

/// Dismisses a request that waits; whether it did.
pub fn dismiss(tx: &Tx<'_>, ctx: &Context, id: i64) -> Result<bool> {
    let code: Option<String> = tx
        .prepare_cached(
            "UPDATE device_requests SET cleared_status = 'dismissed', cleared_at = ?2, updated_at = ?2
             WHERE id = ?1 AND cleared_status IS NULL RETURNING code",
        )?
        .query_row(params![id, tx.now()], |row| row.get(0))
        .optional()?;
    let Some(code) = code else {
        return Ok(false);
    };
    append(tx, ctx, "dismiss", id, json!({"code": code}))?;
    Ok(true)
}

/// Shows an app that missed its credentials new ones, for ten minutes from now; those it may have
/// had are worth nothing from then on. Until when, or `None` when it was never added or its client is
/// revoked.
pub fn give_again(tx: &Tx<'_>, ctx: &Context, id: i64) -> Result<Option<Timestamp>> {
    let added: Option<(ClientId, String, String)> = tx
        .prepare_cached(
            "SELECT c.id, c.client_id, r.code FROM device_requests r
             JOIN clients c ON c.id = r.client_id AND c.revoked_at IS NULL
             WHERE r.id = ?1 AND r.cleared_status = 'added'",
        )?
        .query_row([id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    let Some((client, client_id, code)) = added else {
        return Ok(None);
    };
    handover::withhold(tx, client)?;
    let shown_until = Timestamp(tx.now().0 + SHOWN_MS);
    tx.prepare_cached(
        "UPDATE device_requests SET updated_at = ?2, shown_until = ?3, salt = ?4 WHERE id = ?1",
    )?
    .execute(params![id, tx.now(), shown_until, fresh_salt()?])?;
    let after = json!({"code": code, "clientId": client_id});
    append(tx, ctx, "give-again", id, after)?;
    Ok(Some(shown_until))
}

/// Forgets what credentials are made of, once their time is over. How many requests it was of.
pub fn forget_salts(tx: &Tx<'_>) -> Result<usize> {
    // One that began in the future, says a clock that was put back.
    let forgotten = tx
        .prepare_cached(
            "UPDATE device_requests SET salt = NULL
             WHERE salt IS NOT NULL AND (shown_until <= ?1 OR updated_at > ?1)",
        )?
        .execute([tx.now()])?;
    Ok(forgotten)
}

fn append(tx: &Tx<'_>, ctx: &Context, action: &'static str, id: i64, after: Value) -> Result<()> {
    audit::append(
        tx,
        ctx,
        &Change {
            action,
            record_type: "device-request",
            record_id: Some(id),
            before: None,
            after: Some(after),
        },
    )
}
