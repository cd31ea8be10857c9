//! Stores webhooks. Every change is audited, without the
//! secret.

use super::{
    secret,
    webhook::{ANY, NewWebhook, Webhook},
};
use crate::{
    core::{Context, audit, changes, outbox::destination as destinations},
    db::Tx,
    domain::interactions::spelling,
    types::{
        Timestamp,
        error::{Error, Kind, Result},
    },
};
use rusqlite::{
    Connection, OptionalExtension, Row, params,
    types::{FromSql, FromSqlError, FromSqlResult, ValueRef},
};
use serde_json::{Value, json};

/// The time for which the previous secret signs as well, in milliseconds: a day.
pub const OVERLAP_MS: i64 = 24 * 60 * 60 * 1000;
/// The most webhooks.
pub const WEBHOOKS_MAX: i64 = 50;

/// The destination of a webhook in the outbox.
pub fn destination(id: i64) -> String {
    format!("webhook:{id}")
}

/// The webhook of a destination.
pub fn id_of(destination: &str) -> Option<i64> {
    destination.strip_prefix("webhook:")?.parse().ok()
}

const COLUMNS: &str = "id, uid, definition, previous_until, created_at, updated_at";

fn read(row: &Row<'_>) -> rusqlite::Result<Webhook> {
    Ok(Webhook {
        id: row.get(0)?,
        uid: row.get(1)?,
        is: row.get(2)?,
        previous_until: row.get(3)?,
        created_at: row.get(4)?,
        updated_at: row.get(5)?,
    })
}

impl FromSql for NewWebhook {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        serde_json::from_str(value.as_str()?).map_err(FromSqlError::other)
    }
}

pub fn all(connection: &Connection) -> Result<Vec<Webhook>> {
    let mut statement =
        connection.prepare_cached(&format!("SELECT {COLUMNS} FROM webhooks ORDER BY name"))?;
    let webhooks = statement.query_map([], read)?;
    Ok(webhooks.collect::<rusqlite::Result<_>>()?)
}

pub fn get(connection: &Connection, id: i64) -> Result<Webhook> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM webhooks WHERE id = ?1"))?
        .query_row([id], read)
        .optional()?
        .ok_or_else(missing)
}

/// The error for an unknown webhook.
#[must_use]
pub fn missing() -> Error {
    Error::new(Kind::NoSuchPath, "there is no such webhook any more")
}

pub(super) fn name_of(connection: &Connection, id: i64) -> Result<String> {
    Ok(get(connection, id)?.is.name)
}

/// Address and secrets of a webhook.
pub struct Endpoint {
    /// Part of the ids of its deliveries.
    pub uid: String,
    pub url: String,
    /// The secret, and the previous one while it is valid.
    pub secrets: Vec<String>,
}

/// The endpoint of a webhook; `None` if it was removed.
pub fn endpoint(connection: &Connection, id: i64, now: Timestamp) -> Result<Option<Endpoint>> {
    Ok(connection
        .prepare_cached(
            "SELECT uid, definition ->> 'url', secret, iif(previous_until > ?2, previous_secret, NULL)
             FROM webhooks WHERE id = ?1",
        )?
        .query_row(params![id, now], |row| {
            let before: Option<String> = row.get(3)?;
            let mut secrets = vec![row.get(2)?];
            secrets.extend(before);
            Ok(Endpoint {
                uid: row.get(0)?,
                url: row.get(1)?,
                secrets,
            })
        })
        .optional()?)
}

/// A webhook in the audit, whose readers may not see a key in the address.
fn audited(new: &NewWebhook) -> Value {
    let mut document = json!(new);
    let digest = crate::types::secret::digest(new.url.as_bytes());
    let mark = crate::types::secret::hex(&digest[..3]);
    document["url"] = json!(format!("{}/… ({mark})", origin(&new.url)));
    document
}

/// Scheme, host and port of an address, which everybody may see.
#[must_use]
pub fn origin(url: &str) -> &str {
    let begins = url.find("://").map_or(0, |at| at + 3);
    let length = url[begins..].find(['/', '?', '#']);
    length.map_or(url, |length| &url[..begins + length])
}

/// Creates a webhook for what happens from now on. Returns its id and its secret, which is shown
/// once. `agreed` is a secret from elsewhere.
pub fn create(
    tx: &Tx<'_>,
    ctx: &Context,
    new: &NewWebhook,
    agreed: Option<String>,
) -> Result<(i64, String)> {
    new.check(ctx.settings.reach)?;
    check_types(tx, ctx, new, None)?;
    let count: i64 = tx.query_row("SELECT count(*) FROM webhooks", [], |row| row.get(0))?;
    if count >= WEBHOOKS_MAX {
        return Err(Error::invalid(format!(
            "there can be {WEBHOOKS_MAX} webhooks; remove one that nobody needs"
        )));
    }
    check_name(tx, &new.name, None)?;
    let secret = secret::agreed_or_fresh(agreed)?;
    tx.prepare_cached(
        "INSERT INTO webhooks (uid, name, definition, secret, created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?5, ?5)",
    )?
    .execute(params![
        uuid::Uuid::new_v4().to_string(),
        new.name,
        json!(new).to_string(),
        secret,
        tx.now(),
    ])?;
    let id = tx.last_insert_rowid();
    destinations::begin(tx, &destination(id), changes::newest(tx)?)?;
    changed(tx, ctx, id, None, Some(new))?;
    Ok((id, secret))
}

/// Changes a webhook. Pending deliveries are tried at once, as the address may have been wrong.
pub fn change(tx: &Tx<'_>, ctx: &Context, id: i64, new: &NewWebhook) -> Result<()> {
    new.check(ctx.settings.reach)?;
    let before = get(tx, id)?;
    if before.is == *new {
        return Ok(());
    }
    check_name(tx, &new.name, Some(id))?;
    check_types(tx, ctx, new, Some(&before.is))?;
    tx.prepare_cached(
        "UPDATE webhooks SET name = ?2, definition = ?3, updated_at = max(?4, updated_at + 1) WHERE id = ?1",
    )?
    .execute(params![id, new.name, json!(new).to_string(), tx.now()])?;
    destinations::retry(tx, &destination(id))?;
    changed(tx, ctx, id, Some(&before.is), Some(new))
}

/// Checks the types of interactions that a webhook did not have before.
fn check_types(
    tx: &Tx<'_>,
    ctx: &Context,
    new: &NewWebhook,
    before: Option<&NewWebhook>,
) -> Result<()> {
    let had = |kind: &String| before.is_some_and(|before| before.interactions.contains(kind));
    let kinds = new.interactions.iter();
    for kind in kinds.filter(|kind| *kind != ANY && !had(kind)) {
        spelling::check(tx, &ctx.settings, kind)
            .map_err(|cause| Error::field("interactions", cause))?;
    }
    Ok(())
}

/// Gives a webhook a new secret, which is shown once. The previous one signs as well for a day
/// ([`OVERLAP_MS`]), unless it ends `at_once`. `agreed` is a secret from elsewhere; the one that it has changes nothing.
pub fn rotate(
    tx: &Tx<'_>,
    ctx: &Context,
    id: i64,
    agreed: Option<String>,
    at_once: bool,
) -> Result<String> {
    let name = name_of(tx, id)?;
    let secret = secret::agreed_or_fresh(agreed)?;
    let changed = tx
        .prepare_cached(
            "UPDATE webhooks SET previous_secret = iif(?3 IS NULL, NULL, secret), previous_until = ?3,
                    secret = ?2, updated_at = max(?4, updated_at + 1)
             WHERE id = ?1 AND secret <> ?2",
        )?
        .execute(params![
            id,
            secret,
            (!at_once).then(|| Timestamp(tx.now().0 + OVERLAP_MS)),
            tx.now(),
        ])?;
    if changed > 0 {
        write_audit(tx, ctx, id, "rotate", json!({"name": name}))?;
    }
    Ok(secret)
}

/// Removes a webhook with its pending deliveries.
pub fn remove(tx: &Tx<'_>, ctx: &Context, id: i64) -> Result<String> {
    let before = get(tx, id)?;
    destinations::remove(tx, &destination(id))?;
    tx.prepare_cached("DELETE FROM webhooks WHERE id = ?1")?
        .execute([id])?;
    changed(tx, ctx, id, Some(&before.is), None)?;
    Ok(before.is.name)
}

fn check_name(tx: &Tx<'_>, name: &str, but: Option<i64>) -> Result<()> {
    let taken = tx
        .prepare_cached("SELECT 1 FROM webhooks WHERE name = ?1 AND id IS NOT ?2")?
        .exists(params![name, but])?;
    if taken {
        return Err(
            Error::new(Kind::CodeTaken, format!("another webhook is called {name}")).at("name"),
        );
    }
    Ok(())
}

/// Audits a change of a webhook.
fn changed(
    tx: &Tx<'_>,
    ctx: &Context,
    id: i64,
    before: Option<&NewWebhook>,
    after: Option<&NewWebhook>,
) -> Result<()> {
    tx.outdate_caches();
    let (before, after) = (before.map(audited), after.map(audited));
    audit::append_between(tx, ctx, "webhook", Some(id), before, after)
}

/// Audits an action on a webhook.
pub(super) fn write_audit(
    tx: &Tx<'_>,
    ctx: &Context,
    id: i64,
    action: &'static str,
    what: Value,
) -> Result<()> {
    tx.outdate_caches();
    audit::append(
        tx,
        ctx,
        &audit::Change {
            action,
            record_type: "webhook",
            record_id: Some(id),
            before: None,
            after: Some(what),
        },
    )
}
