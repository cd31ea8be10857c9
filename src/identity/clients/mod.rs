//! OAuth clients: apps, gates and other systems, each with an id and a secret of its own. The secret
//! is shown once, when it is made; the file and the audit never have it.

mod change;

pub use change::{change, end_tokens, revoke, revoke_of_device, rotate_secret};

use super::{Roles, Scope, scopes};
use crate::{core::Context, types::secret};
use crate::{
    core::audit::{self, Change},
    db::Tx,
    types::{
        ClientId, DeviceId, Timestamp,
        error::{Error, Kind, Result},
        text,
    },
};
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde_json::{Value, json};

/// Characters of a client's name that go into its `client_id`.
const SLUG_MAX_CHARS: usize = 24;

/// What a new client is to be.
#[derive(Debug, Clone, Default)]
pub struct NewClient {
    /// What people call it.
    pub name: String,
    /// What it may do.
    pub roles: Roles,
    /// What it is granted beside its roles.
    pub scopes: Vec<Scope>,
    /// The device it is bound to.
    pub device: Option<DeviceId>,
    /// The delegate properties it sees; `None`: all.
    pub visible_properties: Option<Vec<String>>,
}

impl NewClient {
    /// A client with a name and nothing else.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            ..Self::default()
        }
    }
}

/// A client as it stands in the file, without its secret.
#[derive(Debug, Clone)]
pub struct Client {
    /// The row's id.
    pub id: ClientId,
    /// The public `client_id`.
    pub client_id: String,
    /// What people call it.
    pub name: String,
    /// What it may do.
    pub roles: Roles,
    /// What it is granted beside its roles.
    pub scopes: Vec<Scope>,
    /// The device it is bound to.
    pub device: Option<DeviceId>,
    /// The delegate properties it sees; `None`: all.
    pub visible_properties: Option<Vec<String>>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
}

/// What a client signs in with; the only place where its secret stands in clear.
pub struct Credentials {
    /// The row's id.
    pub id: ClientId,
    /// The public `client_id`.
    pub client_id: String,
    /// The secret, never shown again.
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
    append(tx, ctx, "create", &made, Some(shown(&made)))?;
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
    tx.prepare_cached("SELECT id FROM devices WHERE id = ?1 AND deleted_at IS NULL")?
        .query_row([device], |row| row.get::<_, DeviceId>(0))
        .optional()?
        .map(|_| ())
        .ok_or_else(|| Error::new(Kind::DeviceNotFound, format!("there is no device {device}")))
}

fn check(new: &NewClient, known_properties: &[&str]) -> Result<()> {
    text::check_code("name", &new.name)?;
    let mut names = new.visible_properties.iter().flatten();
    match names.find(|name| !known_properties.contains(&name.as_str())) {
        None => Ok(()),
        Some(unknown) => Err(Error::invalid(format!(
            "visible properties: \"{}\" is not a property of a delegate; those are {}",
            text::shortened(unknown),
            known_properties.join(", ")
        ))),
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

/// Every client, the revoked ones included, in the order they were made.
pub fn list(connection: &Connection) -> Result<Vec<Client>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, client_id, name, roles, scopes, device_id, visible_properties, created_at, revoked_at
         FROM clients ORDER BY id",
    )?;
    let clients = statement.query_map([], client)?;
    Ok(clients.collect::<rusqlite::Result<_>>()?)
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
    let mut statement = connection.prepare_cached(
        "SELECT id, client_id, name, roles, scopes, device_id, visible_properties, created_at, revoked_at
         FROM clients
         WHERE id < ?1 AND (?2 OR revoked_at IS NULL) AND (text_contains(name, ?3) OR text_contains(client_id, ?3))
         ORDER BY id DESC LIMIT ?4",
    )?;
    let before = before.map_or(i64::MAX, |before| before.0);
    let clients = statement.query_map(params![before, revoked, text::fold(part), limit], client)?;
    Ok(clients.collect::<rusqlite::Result<_>>()?)
}

/// The client of a `client_id`.
///
/// # Errors
/// [`Kind::Invalid`] when there is none.
pub fn find(connection: &Connection, client_id: &str) -> Result<Client> {
    connection
        .prepare_cached(
            "SELECT id, client_id, name, roles, scopes, device_id, visible_properties, created_at, revoked_at
             FROM clients WHERE client_id = ?1",
        )?
        .query_row([client_id], client)
        .optional()?
        .ok_or_else(|| {
            Error::invalid(format!(
                "there is no client \"{}\"",
                text::shortened(client_id)
            ))
        })
}

/// A client by its row's id.
///
/// # Errors
/// [`Kind::NoSuchPath`] when there is none.
pub fn get(connection: &Connection, id: ClientId) -> Result<Client> {
    connection
        .prepare_cached(
            "SELECT id, client_id, name, roles, scopes, device_id, visible_properties, created_at, revoked_at
             FROM clients WHERE id = ?1",
        )?
        .query_row([id], client)
        .optional()?
        .ok_or_else(|| Error::new(Kind::NoSuchPath, "there is no such client"))
}

/// The clients of a device, those in force first.
pub fn of_device(connection: &Connection, device: DeviceId) -> Result<Vec<Client>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, client_id, name, roles, scopes, device_id, visible_properties, created_at, revoked_at
         FROM clients WHERE device_id = ?1 ORDER BY revoked_at IS NOT NULL, id DESC",
    )?;
    let clients = statement.query_map([device], client)?;
    Ok(clients.collect::<rusqlite::Result<_>>()?)
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
    let stored = connection
        .prepare_cached(
            "SELECT secret_hash FROM clients WHERE client_id = ?1 AND revoked_at IS NULL",
        )?
        .query_row([client_id], |row| row.get::<_, secret::Digest>(0))
        .optional()?;
    if secret::same(&secret::digest(client_secret), &stored.unwrap_or_default()) {
        find(connection, client_id).map(Some)
    } else {
        Ok(None)
    }
}

/// Whether a client has this secret and is revoked: it is told so, and nobody else is.
pub fn is_revoked(connection: &Connection, client_id: &str, client_secret: &[u8]) -> Result<bool> {
    let stored = connection
        .prepare_cached(
            "SELECT secret_hash FROM clients WHERE client_id = ?1 AND revoked_at IS NOT NULL",
        )?
        .query_row([client_id], |row| row.get::<_, secret::Digest>(0))
        .optional()?;
    Ok(stored.is_some_and(|stored| secret::same(&secret::digest(client_secret), &stored)))
}

/// Tells the audit what was made (`after`), or to which client something was done.
fn append(
    tx: &Tx<'_>,
    ctx: &Context,
    action: &'static str,
    client: &Client,
    after: Option<Value>,
) -> Result<()> {
    let before = after.is_none().then(|| shown(client));
    audit::append(
        tx,
        ctx,
        &Change {
            action,
            record_type: "client",
            record_id: Some(client.id.0),
            before,
            after,
        },
    )
}

/// What may be shown of a client.
#[must_use]
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
