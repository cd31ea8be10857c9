//! What happens to a client after it was made. Whoever holds one of its tokens is told at once.

use super::{Client, Credentials, NewClient, append, check, check_device, find, get, shown};
use crate::{
    core::{
        Context,
        audit::{self, Change},
    },
    db::Tx,
    identity::{scopes, tokens},
    types::{
        ClientId, DeviceId,
        error::{Error, Result},
        secret,
    },
};
use rusqlite::params;
use serde_json::json;

/// Changes a client to what `new` says. Roles, the device and visible properties apply to its running
/// tokens at once, and so does a scope that it loses; one that it gains applies from its next token on.
///
/// # Errors
/// As [`super::create`]; [`crate::types::error::Kind::Invalid`] when it is revoked.
pub fn change(
    tx: &Tx<'_>,
    ctx: &Context,
    id: ClientId,
    new: &NewClient,
    known_properties: &[&str],
) -> Result<()> {
    let before = get(tx, id)?;
    refuse_revoked(&before)?;
    // A device that is deleted meanwhile must not keep a client from being changed.
    if new.device != before.device {
        check_device(tx, new.device)?;
    }
    check(new, known_properties)?;
    tx.prepare_cached(
        "UPDATE clients SET name = ?2, roles = ?3, scopes = ?4, device_id = ?5, visible_properties = ?6
         WHERE id = ?1",
    )?
    .execute(params![
        id,
        new.name,
        new.roles.to_json(),
        scopes::to_json(&new.scopes),
        new.device,
        new.visible_properties.as_ref().map(|names| json!(names).to_string()),
    ])?;
    tx.outdate_caches();
    let after = get(tx, id)?;
    audit::append(
        tx,
        ctx,
        &Change {
            action: "update",
            record_type: "client",
            record_id: Some(id.0),
            before: Some(shown(&before)),
            after: Some(shown(&after)),
        },
    )
}

/// Revokes a client: it signs in no more, and its tokens end at once. Once is enough, twice does no
/// harm.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`] when there is no such client.
pub fn revoke(tx: &Tx<'_>, ctx: &Context, client_id: &str) -> Result<()> {
    let client = find(tx, client_id)?;
    if client.revoked_at.is_some() {
        return Ok(());
    }
    tx.prepare_cached("UPDATE clients SET revoked_at = ?2 WHERE id = ?1")?
        .execute(params![client.id, tx.now()])?;
    tokens::cancel_of_client(tx, client.id)?;
    append(tx, ctx, "revoke", &client, None)
}

/// Revokes every client that is bound to a device; how many were in force.
pub fn revoke_of_device(tx: &Tx<'_>, ctx: &Context, device: DeviceId) -> Result<usize> {
    let clients: Vec<String> = tx
        .prepare_cached(
            "SELECT client_id FROM clients WHERE device_id = ?1 AND revoked_at IS NULL",
        )?
        .query_map([device], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for client in &clients {
        revoke(tx, ctx, client)?;
    }
    Ok(clients.len())
}

/// Gives a client a new secret. The old one is worth nothing from then on; access tokens it was
/// used for last until they expire, so that a gate in service is not stopped. To stop one, revoke it.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`] when there is no such client, or when it is revoked.
pub fn rotate_secret(tx: &Tx<'_>, ctx: &Context, client_id: &str) -> Result<Credentials> {
    let client = find(tx, client_id)?;
    refuse_revoked(&client)?;
    let client_secret = secret::fresh()?;
    tx.prepare_cached("UPDATE clients SET secret_hash = ?2 WHERE id = ?1")?
        .execute(params![client.id, secret::digest(client_secret.as_bytes())])?;
    append(tx, ctx, "rotate", &client, None)?;
    Ok(Credentials {
        id: client.id,
        client_id: client.client_id,
        client_secret,
    })
}

/// Ends the tokens of a client, which goes on with its secret.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`] when there is no such client.
pub fn end_tokens(tx: &Tx<'_>, ctx: &Context, client_id: &str) -> Result<()> {
    let client = find(tx, client_id)?;
    tokens::cancel_of_client(tx, client.id)?;
    append(tx, ctx, "end-tokens", &client, None)
}

fn refuse_revoked(client: &Client) -> Result<()> {
    match client.revoked_at {
        None => Ok(()),
        Some(_) => Err(Error::invalid(format!(
            "client \"{}\" is revoked; make a new one",
            client.client_id
        ))),
    }
}
