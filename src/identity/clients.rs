//! OAuth clients: apps, gates and other systems, each with an id and a secret of its own. The secret
//! is shown once, when it is made; the file and the audit never have it.

use super::{
    Roles, Scope, scopes,
    throttle::{Account, Endpoint, Throttle},
    tokens,
};
use crate::{
    core::{
        Context,
        audit::{self, Change},
    },
    db::{Store, Tx},
    types::{
        ClientId, DeviceId, Timestamp,
        error::{Error, Kind, Result},
        secret, text,
    },
};
use rusqlite::{Connection, OptionalExtension, Params, Row, params};
use serde_json::{Value, json};
use std::{net::IpAddr, time::Instant};

/// Characters of a client's name that go into its `client_id`.
const SLUG_MAX_CHARS: usize = 24;

#[derive(Debug, Clone, Default)]
pub struct NewClient {
    pub name: String,
    pub roles: Roles,
    pub scopes: Vec<Scope>,
    pub device: Option<DeviceId>,
    /// The delegate properties it sees; `None`: all.
    pub visible_properties: Option<Vec<String>>,
}

impl NewClient {
    pub fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            ..Self::default()
        }
    }
}

#[derive(Debug, Clone)]
pub struct Client {
    pub id: ClientId,
    pub client_id: String,
    pub name: String,
    pub roles: Roles,
    pub scopes: Vec<Scope>,
    pub device: Option<DeviceId>,
    /// The delegate properties it sees; `None`: all.
    pub visible_properties: Option<Vec<String>>,
    pub created_at: Timestamp,
    pub revoked_at: Option<Timestamp>,
}

/// A client's id and secret; the only place where its secret stands in clear.
pub struct Credentials {
    pub id: ClientId,
    pub client_id: String,
    pub client_secret: String,
}

/// Makes a client. `known_properties` are the names that `visible_properties` may hold.
///
/// # Errors
/// [`Kind::Invalid`] for a bad name or property, [`Kind::DeviceNotFound`].
pub fn create(
    tx: &Tx<'_>,
    ctx: &Context,
    new: &NewClient,
    known_properties: &[&str],
) -> Result<Credentials> {
    check_device(tx, new.device)?;
    check(new, known_properties)?;
    let client_id = fresh_client_id(&new.name)?;
    let client_secret = secret::fresh()?;
    tx.prepare_cached(
        "INSERT INTO clients (client_id, secret_hash, name, roles, scopes, device_id, visible_properties, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?
    .execute(params![
        client_id,
        secret::digest(client_secret.as_bytes()),
        new.name,
        new.roles.to_json(),
        scopes::to_json(&new.scopes),
        new.device,
        new.visible_properties.as_ref().map(|names| json!(names).to_string()),
        tx.now(),
    ])?;
    let made = find(tx, &client_id)?;
    let shown = shown(&made);
    audit::append_between(tx, ctx, "client", Some(made.id.0), None, Some(shown))?;
    Ok(Credentials {
        id: made.id,
        client_id,
        client_secret,
    })
}

fn check_device(tx: &Tx<'_>, device: Option<DeviceId>) -> Result<()> {
    let Some(device) = device else {
        return Ok(());
    };
    let exists = tx
        .prepare_cached("SELECT 1 FROM devices WHERE id = ?1 AND deleted_at IS NULL")?
        .exists([device])?;
    if exists {
        return Ok(());
    }
    let message = format!("there is no device {device}");
    Err(Error::new(Kind::DeviceNotFound, message))
}

fn check(new: &NewClient, known_properties: &[&str]) -> Result<()> {
    text::check_code("name", &new.name)?;
    let mut names = new.visible_properties.iter().flatten();
    match names.find(|name| !known_properties.contains(&name.as_str())) {
        None => Ok(()),
        Some(unknown) => Err(Error::invalid(format!(
            "\"{}\" is not a property of a delegate; those are {}",
            text::shortened(unknown),
            known_properties.join(", ")
        ))
        .at("visible properties")),
    }
}

/// The name in lower case and a random part: readable in logs and in the audit, and never the same.
fn fresh_client_id(name: &str) -> Result<String> {
    let mut random = [0; 4];
    getrandom::fill(&mut random).map_err(Error::defect)?;
    let mut slug = String::new();
    for letter in name.chars().take(SLUG_MAX_CHARS) {
        if letter.is_ascii_alphanumeric() {
            slug.push(letter.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let slug = match slug.trim_end_matches('-') {
        "" => "client",
        slug => slug,
    };
    Ok(format!("{slug}-{}", secret::hex(&random)))
}

fn select(connection: &Connection, rest: &str, parameters: impl Params) -> Result<Vec<Client>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT id, client_id, name, roles, scopes, device_id, visible_properties, created_at, revoked_at
         FROM clients {rest}"
    ))?;
    let clients = statement.query_map(parameters, client)?;
    Ok(clients.collect::<rusqlite::Result<_>>()?)
}

/// Every client, the revoked ones included, the oldest first.
pub fn list(connection: &Connection) -> Result<Vec<Client>> {
    select(connection, "ORDER BY id", [])
}

/// A page of clients, the newest first: those made before `before` in whose name or `client_id` this
/// text is. The revoked ones are among them if asked for.
pub fn page(
    connection: &Connection,
    part: &str,
    revoked: bool,
    before: Option<ClientId>,
    limit: usize,
) -> Result<Vec<Client>> {
    let before = before.map_or(i64::MAX, |before| before.0);
    select(
        connection,
        "WHERE id < ?1 AND (?2 OR revoked_at IS NULL) AND (text_contains(name, ?3) OR text_contains(client_id, ?3))
         ORDER BY id DESC LIMIT ?4",
        params![before, revoked, text::fold(part), limit],
    )
}

pub fn find(connection: &Connection, client_id: &str) -> Result<Client> {
    let found = select(connection, "WHERE client_id = ?1", [client_id])?.pop();
    found.ok_or_else(|| {
        let client_id = text::shortened(client_id);
        Error::invalid(format!("there is no client \"{client_id}\""))
    })
}

/// A client by its row's id.
pub fn get(connection: &Connection, id: ClientId) -> Result<Client> {
    let found = select(connection, "WHERE id = ?1", [id])?.pop();
    found.ok_or_else(|| Error::new(Kind::NoSuchPath, "there is no such client"))
}

/// The clients of a device, those in force first.
pub fn of_device(connection: &Connection, device: DeviceId) -> Result<Vec<Client>> {
    let rest = "WHERE device_id = ?1 ORDER BY revoked_at IS NOT NULL, id DESC";
    select(connection, rest, [device])
}

fn client(row: &Row<'_>) -> rusqlite::Result<Client> {
    Ok(Client {
        id: row.get(0)?,
        client_id: row.get(1)?,
        name: row.get(2)?,
        roles: Roles::from_json(&row.get::<_, String>(3)?),
        scopes: scopes::from_json(&row.get::<_, String>(4)?),
        device: row.get(5)?,
        visible_properties: row
            .get::<_, Option<String>>(6)?
            .map(|names| serde_json::from_str(&names).unwrap_or_default()),
        created_at: row.get(7)?,
        revoked_at: row.get(8)?,
    })
}

/// The client that has this secret and is not revoked; `None` does not tell which of it is wrong.
pub fn authenticate(
    connection: &Connection,
    client_id: &str,
    client_secret: &[u8],
) -> Result<Option<Client>> {
    if has_secret(connection, client_id, client_secret, false)? {
        find(connection, client_id).map(Some)
    } else {
        Ok(None)
    }
}

/// As [`authenticate`], for a secret that came from `address`. A correct one is never refused, whatever failed
/// there before: a whole venue may share it (contract §9).
///
/// # Errors
/// [`Kind::ClientRevoked`]; [`Kind::TooManyAttempts`] once too many secrets were wrong.
pub fn by_secret(
    store: &Store,
    throttle: &Throttle,
    client_id: &str,
    client_secret: &[u8],
    address: IpAddr,
) -> Result<Option<Client>> {
    let (found, revoked) = store.look_up(|connection| {
        let found = authenticate(connection, client_id, client_secret)?;
        let revoked = found.is_none() && is_revoked(connection, client_id, client_secret)?;
        Ok((found, revoked))
    })?;
    if revoked {
        return Err(Error::new(Kind::ClientRevoked, "this client was revoked"));
    }
    if found.is_none() {
        let nobody = Account::unknown(Endpoint::ClientSecret);
        throttle.failed(nobody, address, Instant::now())?;
    }
    Ok(found)
}

/// Returns whether a client has this secret and is revoked: only then the answer says so.
fn is_revoked(connection: &Connection, client_id: &str, client_secret: &[u8]) -> Result<bool> {
    has_secret(connection, client_id, client_secret, true)
}

fn has_secret(
    connection: &Connection,
    client_id: &str,
    client_secret: &[u8],
    revoked: bool,
) -> Result<bool> {
    let stored: Option<secret::Digest> = connection
        .prepare_cached(
            "SELECT secret_hash FROM clients WHERE client_id = ?1 AND (revoked_at IS NOT NULL) = ?2",
        )?
        .query_row(params![client_id, revoked], |row| row.get(0))
        .optional()?;
    // Without one it takes as long.
    let same = secret::same(&secret::digest(client_secret), &stored.unwrap_or_default());
    Ok(same && stored.is_some())
}

fn append(tx: &Tx<'_>, ctx: &Context, action: &'static str, client: &Client) -> Result<()> {
    audit::append(
        tx,
        ctx,
        &Change {
            action,
            record_type: "client",
            record_id: Some(client.id.0),
            before: Some(shown(client)),
            after: None,
        },
    )
}

/// Changes a client to what `new` says. Roles, the device and visible properties count for its running
/// tokens at once, and so does a scope that it loses; one that it gains counts from its next token on.
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
    let (was, is) = (Some(shown(&before)), Some(shown(&after)));
    audit::append_between(tx, ctx, "client", Some(id.0), was, is)
}

/// Revokes a client: it signs in no more, and its tokens end at once. Once is enough, twice does no
/// harm.
pub fn revoke(tx: &Tx<'_>, ctx: &Context, client_id: &str) -> Result<()> {
    let client = find(tx, client_id)?;
    if client.revoked_at.is_some() {
        return Ok(());
    }
    tx.prepare_cached("UPDATE clients SET revoked_at = ?2 WHERE id = ?1")?
        .execute(params![client.id, tx.now()])?;
    tokens::cancel_of_client(tx, client.id)?;
    append(tx, ctx, "revoke", &client)
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
pub fn rotate_secret(tx: &Tx<'_>, ctx: &Context, client_id: &str) -> Result<Credentials> {
    let client = find(tx, client_id)?;
    refuse_revoked(&client)?;
    let client_secret = secret::fresh()?;
    tx.prepare_cached("UPDATE clients SET secret_hash = ?2 WHERE id = ?1")?
        .execute(params![client.id, secret::digest(client_secret.as_bytes())])?;
    append(tx, ctx, "rotate", &client)?;
    Ok(Credentials {
        id: client.id,
        client_id: client.client_id,
        client_secret,
    })
}

/// Ends the tokens of a client, which goes on with its secret.
pub fn end_tokens(tx: &Tx<'_>, ctx: &Context, client_id: &str) -> Result<()> {
    let client = find(tx, client_id)?;
    tokens::cancel_of_client(tx, client.id)?;
    append(tx, ctx, "end-tokens", &client)
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

/// Returns the fields of a client that may be shown.
pub fn shown(client: &Client) -> Value {
    json!({
        "clientId": client.client_id,
        "name": client.name,
        "roles": client.roles.iter().map(super::Role::name).collect::<Vec<_>>(),
        "scopes": client.scopes.iter().map(|scope| scope.name()).collect::<Vec<_>>(),
        "device": client.device,
        "visibleProperties": client.visible_properties,
    })
}

#[cfg(test)]
mod tests;
