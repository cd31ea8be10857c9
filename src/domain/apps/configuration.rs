//! Which configuration is in force, what the next one is to be, and who has the one in force. Every
//! version stays in the file as it was published; the newest counts.

use super::{
    document::{Document, Settings},
    pin::SUPERVISOR_PIN,
    scope::Scope,
};
use crate::{
    core::{
        Context,
        audit::{self, Change},
        version_cache::VersionCache,
    },
    db::Tx,
    identity::{
        Role,
        clients::{self, Client},
    },
    types::{
        DeviceId, Timestamp,
        error::{Error, Kind, Result},
    },
};
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::Value;
use std::sync::Arc;

/// The version of [`Document::built_in`]: an app without a configuration says 0, and so gets it.
const BUILT_IN_VERSION: i64 = 1;

/// A configuration in force.
#[derive(Debug, Clone)]
pub struct Published {
    pub version: i64,
    pub document: Document,
    /// The publisher, as the audit names them; nobody where it is the built-in one.
    pub actor: Option<String>,
    pub published_at: Option<Timestamp>,
}

/// The draft of the next version.
#[derive(Debug, Clone)]
pub struct Draft {
    pub document: Document,
    pub actor: String,
    /// The time of the last change; a form that is made from the draft carries it.
    pub updated_at: Timestamp,
}

/// A device that runs an app, with the configuration it has.
#[derive(Debug, Clone)]
pub struct Holder {
    pub device: DeviceId,
    pub name: String,
    pub version: Option<i64>,
    /// The time at which it named the version in force for the first time; `None` while it has another.
    pub confirmed_at: Option<Timestamp>,
}

/// The version in force.
pub fn version(connection: &Connection) -> Result<i64> {
    let newest: Option<i64> = connection
        .prepare_cached("SELECT max(version) FROM app_config")?
        .query_row([], |row| row.get(0))?;
    Ok(newest.unwrap_or(BUILT_IN_VERSION))
}

/// The configuration in force, parsed once for each version.
#[derive(Default)]
pub struct PublishedCache(VersionCache<Option<(i64, Timestamp)>, Published>);

impl PublishedCache {
    /// The configuration in force.
    pub fn get(&self, connection: &Connection) -> Result<Arc<Published>> {
        let newest = connection
            .prepare_cached(
                "SELECT version, published_at FROM app_config ORDER BY version DESC LIMIT 1",
            )?
            .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        self.0.get(newest, || published(connection))
    }
}

/// The configuration in force.
pub fn published(connection: &Connection) -> Result<Published> {
    let newest = connection
        .prepare_cached(
            "SELECT version, document, actor, published_at FROM app_config ORDER BY version DESC LIMIT 1",
        )?
        .query_row([], |row| {
            Ok(Published {
                version: row.get(0)?,
                document: Document::stored(&row.get::<_, String>(1)?),
                actor: row.get(2)?,
                published_at: row.get(3)?,
            })
        })
        .optional()?;
    Ok(newest.unwrap_or_else(|| Published {
        version: BUILT_IN_VERSION,
        document: Document::built_in(),
        actor: None,
        published_at: None,
    }))
}

/// The draft, if somebody began one.
pub fn draft(connection: &Connection) -> Result<Option<Draft>> {
    Ok(connection
        .prepare_cached("SELECT document, actor, updated_at FROM app_config_draft WHERE id = 1")?
        .query_row([], |row| {
            Ok(Draft {
                document: Document::stored(&row.get::<_, String>(0)?),
                actor: row.get(1)?,
                updated_at: row.get(2)?,
            })
        })
        .optional()?)
}

/// Keeps a draft, unless it was changed since `seen` (the time of the draft that the change was made
/// from, `None` where there was none): then it gives `None` and writes nothing. Otherwise the
/// draft's new time.
pub fn save_draft(
    tx: &Tx<'_>,
    ctx: &Context,
    document: &Document,
    seen: Option<Timestamp>,
) -> Result<Option<Timestamp>> {
    let known = draft(tx)?;
    let before = known.as_ref().map(|draft| draft.updated_at);
    if before != seen {
        return Ok(None);
    }
    let was = match known {
        Some(draft) => draft.document,
        None => published(tx)?.document,
    };
    let document = document.clone().with_hashed_pins(&was)?;
    // Two changes within a millisecond are two.
    let at = before.map_or(tx.now(), |before| tx.now().max(Timestamp(before.0 + 1)));
    write_draft(tx, &document, &ctx.actor, at)?;
    append(tx, ctx, "update", None, &was, &document)?;
    Ok(Some(at))
}

fn write_draft(tx: &Tx<'_>, document: &Document, actor: &str, at: Timestamp) -> Result<()> {
    tx.prepare_cached(
        "INSERT INTO app_config_draft (id, document, actor, updated_at) VALUES (1, ?1, ?2, ?3)
         ON CONFLICT (id) DO UPDATE SET document = excluded.document, actor = excluded.actor,
             updated_at = excluded.updated_at",
    )?
    .execute(params![document.to_json().to_string(), actor, at])?;
    Ok(())
}

/// Changes settings of the device with a code, at once: in the version in force, which becomes a new one,
/// and in the draft of whoever works on one, which publishes nothing else of it. `null` puts a setting back
/// to that of all apps. The version in force from then on.
pub fn change_device(tx: &Tx<'_>, ctx: &Context, code: &str, changes: &Settings) -> Result<i64> {
    let changed = |document: &Document| {
        let (mut document, scope) = (document.clone(), Scope::Device(code.to_owned()));
        let mut settings = scope.settings(&document);
        settings.extend(changes.clone());
        settings.retain(|name, value| !(value.is_null() && changes.contains_key(name)));
        scope.put(&mut document, settings);
        document
    };
    let document = changed(&published(tx)?.document);
    let version = publish(tx, ctx, &document)?;
    if let Some(draft) = draft(tx)? {
        let next = changed(&draft.document);
        if next == document {
            discard_draft(tx, ctx)?;
        } else if next != draft.document {
            let at = tx.now().max(Timestamp(draft.updated_at.0 + 1));
            write_draft(tx, &next, &draft.actor, at)?;
            append(tx, ctx, "update", None, &draft.document, &next)?;
        }
    }
    Ok(version)
}

/// Revokes a client, and takes the supervisor PIN out of the settings of its device: whoever has the device may know
/// it. A sentence about the PIN, or nothing.
pub fn revoke_client(tx: &Tx<'_>, ctx: &Context, client: &Client) -> Result<&'static str> {
    clients::revoke(tx, ctx, &client.client_id)?;
    let Some(device) = client.device.filter(|_| client.revoked_at.is_none()) else {
        return Ok("");
    };
    let code: Option<String> = tx
        .prepare_cached("SELECT code FROM devices WHERE id = ?1")?
        .query_row([device], |row| row.get(0))
        .optional()?;
    let document = published(tx)?.document;
    let has_pin = |settings: &Settings| {
        settings
            .get(SUPERVISOR_PIN)
            .is_some_and(|pin| !pin.is_null())
    };
    let Some(code) = code else { return Ok("") };
    if document.by_device.get(&code).is_some_and(has_pin) {
        let no_pin = Settings::from_iter([(SUPERVISOR_PIN.to_owned(), Value::Null)]);
        change_device(tx, ctx, &code, &no_pin)?;
        return Ok(" The supervisor PIN of this device was removed from its settings.");
    }
    let is_shared = document
        .by_type
        .values()
        .chain([&document.default])
        .any(has_pin);
    Ok(if is_shared && client.roles.has(Role::Gate) {
        " It knew the supervisor PIN that all gates share: set another one under App configuration."
    } else {
        ""
    })
}

/// Forgets the draft, which nobody wants any more.
pub fn discard_draft(tx: &Tx<'_>, ctx: &Context) -> Result<()> {
    let Some(Draft { document, .. }) = draft(tx)? else {
        return Ok(());
    };
    remove_draft(tx)?;
    let published = published(tx)?.document;
    append(tx, ctx, "discard", None, &document, &published)
}

/// Puts the draft in force, which ends it: the version in force from then on.
pub fn publish_draft(tx: &Tx<'_>, ctx: &Context, draft: &Draft) -> Result<i64> {
    remove_draft(tx)?;
    publish(tx, ctx, &draft.document)
}

fn remove_draft(tx: &Tx<'_>) -> Result<()> {
    tx.prepare_cached("DELETE FROM app_config_draft")?
        .execute([])?;
    Ok(())
}

fn append(
    tx: &Tx<'_>,
    ctx: &Context,
    action: &'static str,
    version: Option<i64>,
    before: &Document,
    after: &Document,
) -> Result<()> {
    let record_type = match version {
        Some(_) => "app-config",
        None => "app-config-draft",
    };
    let change = Change {
        action,
        record_type,
        record_id: version,
        before: Some(before.masked()),
        after: Some(after.masked()),
    };
    audit::append(tx, ctx, &change)
}

/// Puts a document in force: the version in force from then on. It rises unless the document says
/// what is in force already. A draft that somebody works on stays; what it would change is shown
/// against the new version.
pub fn publish(tx: &Tx<'_>, ctx: &Context, document: &Document) -> Result<i64> {
    let before = published(tx)?;
    let document = &document.clone().with_hashed_pins(&before.document)?;
    if before.document == *document {
        return Ok(before.version);
    }
    let version = before.version + 1;
    tx.prepare_cached(
        "INSERT INTO app_config (version, document, actor, published_at) VALUES (?1, ?2, ?3, ?4)",
    )?
    .execute(params![
        version,
        document.to_json().to_string(),
        ctx.actor,
        tx.now()
    ])?;
    let (was, is) = (&before.document, document);
    append(tx, ctx, "publish", Some(version), was, is)?;
    Ok(version)
}

/// The version in force with the settings of a device, as [`Document::effective`] gives them.
///
/// # Errors
/// [`Kind::DeviceNotFound`].
pub fn effective(connection: &Connection, device: DeviceId) -> Result<(i64, Settings)> {
    let published = published(connection)?;
    Ok((published.version, published.of_device(connection, device)?))
}

impl Published {
    /// The settings of a device.
    ///
    /// # Errors
    /// [`Kind::DeviceNotFound`].
    pub fn of_device(&self, connection: &Connection, device: DeviceId) -> Result<Settings> {
        let (device_type, code): (Option<String>, String) = connection
            .prepare_cached(
                "SELECT device_type, code FROM devices WHERE id = ?1 AND deleted_at IS NULL",
            )?
            .query_row([device], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?
            .ok_or_else(|| missing(device))?;
        Ok(self.document.effective(device_type.as_deref(), &code))
    }
}

/// Returns whether there is such a device.
pub(super) fn is_alive(connection: &Connection, device: DeviceId) -> Result<bool> {
    Ok(connection
        .prepare_cached("SELECT 1 FROM devices WHERE id = ?1 AND deleted_at IS NULL")?
        .exists([device])?)
}

/// The error about a device that is gone.
pub(super) fn missing(device: DeviceId) -> Error {
    Error::new(
        Kind::DeviceNotFound,
        format!("there is no device id:{device} any more"),
    )
}

/// Every device that runs an app (it has pinged, or it is of a type of apps) and is not shut out, those that have not
/// confirmed the version in force first.
pub fn holders(connection: &Connection) -> Result<Vec<Holder>> {
    let mut statement = connection.prepare_cached(
        "SELECT d.id, coalesce(d.name, d.code), s.config_version,
             iif(s.config_version = ?1, s.confirmed_at, NULL)
         FROM devices d LEFT JOIN device_states s ON s.device_id = d.id
         WHERE d.deleted_at IS NULL
             AND (s.pinged_at IS NOT NULL OR d.device_type IN ('regoapp', 'mobileapp'))
             -- An app that was shut out can confirm nothing.
             AND (NOT EXISTS (SELECT 1 FROM clients c WHERE c.device_id = d.id)
                  OR EXISTS (SELECT 1 FROM clients c WHERE c.device_id = d.id AND c.revoked_at IS NULL))
         ORDER BY s.config_version IS ?1, 2, d.id",
    )?;
    let holders = statement.query_map([version(connection)?], |row| {
        Ok(Holder {
            device: row.get(0)?,
            name: row.get(1)?,
            version: row.get(2)?,
            confirmed_at: row.get(3)?,
        })
    })?;
    Ok(holders.collect::<rusqlite::Result<_>>()?)
}
