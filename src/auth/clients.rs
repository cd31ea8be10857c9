//! OAuth clients: apps, gates and other systems, each with an id and a secret of its own. The secret
//! is shown once, when it is made; the file and the audit never have it.

use super::{Context, Roles, Scope, scopes, secret, tokens};
use crate::{
    audit::{self, Change},
    error::{Error, Kind, Result},
    store::Tx,
    types::{ClientId, DeviceId, Timestamp, text},
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
    check(tx, new, known_properties)?;
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

fn check(tx: &Tx<'_>, new: &NewClient, known_properties: &[&str]) -> Result<()> {
    text::check_code("name", &new.name)?;
    if let Some(device) = new.device {
        tx.prepare_cached("SELECT id FROM devices WHERE id = ?1 AND deleted_at IS NULL")?
            .query_row([device], |row| row.get::<_, DeviceId>(0))
            .optional()?
            .ok_or_else(|| {
                Error::new(Kind::DeviceNotFound, format!("there is no device {device}"))
            })?;
    }
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
///
/// # Errors
/// When they cannot be read.
pub fn list(connection: &Connection) -> Result<Vec<Client>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, client_id, name, roles, scopes, device_id, visible_properties, created_at, revoked_at
         FROM clients ORDER BY id",
    )?;
    let clients = statement.query_map([], client)?;
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
///
/// # Errors
/// When it cannot be read.
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

/// Revokes a client: it signs in no more, and its tokens end at once. Once is enough, twice does no
/// harm.
///
/// # Errors
/// [`Kind::Invalid`] when there is no such client.
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

/// Gives a client a new secret. The old one is worth nothing from then on; access tokens it was
/// used for last until they expire, so that a gate in service is not stopped. To stop one, revoke it.
///
/// # Errors
/// [`Kind::Invalid`] when there is no such client, or when it is revoked.
pub fn rotate_secret(tx: &Tx<'_>, ctx: &Context, client_id: &str) -> Result<Credentials> {
    let client = find(tx, client_id)?;
    if client.revoked_at.is_some() {
        return Err(Error::invalid(format!(
            "client \"{client_id}\" is revoked; make a new one"
        )));
    }
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
mod tests {
    use super::*;
    use crate::store::{in_transaction, migrate};
    use std::sync::Arc;

    fn ctx() -> Context {
        Context::of_command("admin", Arc::default())
    }

    fn in_file<T>(work: impl FnOnce(&Tx<'_>) -> Result<T>) -> Result<T> {
        let connection = Connection::open_in_memory().unwrap();
        migrate::create(&connection).unwrap();
        in_transaction(&connection, Timestamp(1), work)
    }

    #[test]
    fn a_client_signs_in_with_its_newest_secret_until_it_is_revoked() {
        in_file(|tx| {
            let made = create(tx, &ctx(), &NewClient::named("Gate B"), &[])?;
            let signs_in = |secret: &str| {
                authenticate(tx, &made.client_id, secret.as_bytes())
                    .unwrap()
                    .is_some()
            };
            assert!(signs_in(&made.client_secret));
            assert!(!signs_in("") && !signs_in(&made.client_secret[1..]));
            let rotated = rotate_secret(tx, &ctx(), &made.client_id)?;
            assert!(signs_in(&rotated.client_secret) && !signs_in(&made.client_secret));
            revoke(tx, &ctx(), &made.client_id)?;
            revoke(tx, &ctx(), &made.client_id)?;
            assert!(!signs_in(&rotated.client_secret));
            assert!(rotate_secret(tx, &ctx(), &made.client_id).is_err());
            assert!(authenticate(tx, "nobody", b"")?.is_none());
            assert!(revoke(tx, &ctx(), "nobody").is_err());
            Ok(())
        })
        .unwrap();
    }

    #[test]
    fn the_audit_tells_what_was_made_and_never_the_secret() {
        in_file(|tx| {
            let made = create(tx, &ctx(), &NewClient::named("Gate B"), &[])?;
            rotate_secret(tx, &ctx(), &made.client_id)?;
            revoke(tx, &ctx(), &made.client_id)?;
            let rows: Vec<String> = tx
                .prepare("SELECT action || coalesce(before, '') || coalesce(after, '') FROM audit ORDER BY id")?
                .query_map([], |row| row.get(0))?
                .collect::<rusqlite::Result<_>>()?;
            assert_eq!(rows.len(), 3);
            for (row, action) in rows.iter().zip(["create", "rotate", "revoke"]) {
                assert!(row.starts_with(action) && row.contains(&made.client_id), "{row}");
                assert!(!row.contains("ecret"), "{row}");
            }
            Ok(())
        })
        .unwrap();
    }

    #[test]
    fn a_client_id_is_readable_and_plain() {
        for (name, slug) in [
            ("Gate B", "gate-b-"),
            ("  Süd/Tor (2) ", "s-d-tor-2-"),
            ("門", "client-"),
            (
                "a very long name of a gate app",
                "a-very-long-name-of-a-ga-",
            ),
        ] {
            let client_id = fresh_client_id(name).unwrap();
            assert!(client_id.starts_with(slug), "{client_id}");
            assert_eq!(client_id.len(), slug.len() + 8);
        }
    }

    #[test]
    fn what_a_client_cannot_have_is_refused() {
        let refused = |new: &NewClient| {
            in_file(|tx| create(tx, &ctx(), new, &["id", "barcode"]).map(|_| ()))
                .unwrap_err()
                .kind
        };
        assert_eq!(refused(&NewClient::named("")), Kind::Invalid);
        let device = NewClient {
            device: Some(DeviceId(7)),
            ..NewClient::named("A")
        };
        assert_eq!(refused(&device), Kind::DeviceNotFound);
        let seeing = |names: &[&str]| NewClient {
            visible_properties: Some(names.iter().map(ToString::to_string).collect()),
            ..NewClient::named("A")
        };
        assert_eq!(refused(&seeing(&["id", "password"])), Kind::Invalid);
        in_file(|tx| {
            create(tx, &ctx(), &seeing(&["barcode"]), &["id", "barcode"])?;
            let listed = list(tx)?;
            assert_eq!(
                listed[0].visible_properties.as_deref(),
                Some(&["barcode".to_owned()][..])
            );
            Ok(())
        })
        .unwrap();
    }
}
