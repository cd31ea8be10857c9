//! Webhooks in the configuration document (contract §10), matched by name. Secrets are
//! never exported, and those in place are kept; a document may bring a secret that
//! was agreed on with the receiver.

use super::{
    decisions, secret, store,
    webhook::{NewWebhook, Webhook},
};
use crate::{
    core::{
        Context,
        outbox::{Pause, State, destination},
        outgoing::Reach,
        settings,
    },
    db::Tx,
    types::{
        error::{Error, Result},
        json,
    },
};
use rusqlite::Connection;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::{collections::BTreeSet, sync::Arc};

/// A webhook in the document.
pub struct Entry {
    pub webhook: NewWebhook,
    /// `false`: paused by a person. Absent: unchanged.
    active: Option<bool>,
    secret: Option<String>,
}

/// The properties of an entry beside the settings.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Beside {
    active: Option<bool>,
    secret: Option<String>,
}

impl Entry {
    /// Reads an entry.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`], naming the property.
    pub fn read(mut entry: Map<String, Value>) -> Result<Self> {
        let beside = ["active", "secret"].map(|name| Some((name.to_owned(), entry.remove(name)?)));
        let beside: Map<String, Value> = beside.into_iter().flatten().collect();
        let text = |part: Map<String, Value>| Value::Object(part).to_string().into_bytes();
        let Beside { active, secret } = json::parse(&text(beside))?;
        Ok(Self {
            webhook: json::parse(&text(entry))?,
            active,
            secret,
        })
    }
}

/// Every webhook, without its secret.
pub fn export(connection: &Connection) -> Result<Value> {
    let webhooks = store::all(connection)?.into_iter();
    webhooks
        .map(|webhook| {
            let state = destination::get(connection, &store::destination(webhook.id))?;
            Ok(with_state(&webhook, &state))
        })
        .collect()
}

/// A webhook in the document, and whether a person paused it.
pub(super) fn with_state(webhook: &Webhook, state: &State) -> Value {
    let mut document = serde_json::json!(webhook.is);
    let is_paused = state.paused.is_some_and(|(_, why)| why == Pause::Asked);
    document["active"] = (!is_paused).into();
    document
}

/// Validates entries, without the settings that the same document may bring.
pub fn check(entries: &[Entry]) -> Result<()> {
    let mut names = BTreeSet::new();
    for entry in entries {
        if !names.insert(entry.webhook.name.as_str()) {
            return Err(of(entry, Error::field("name", "stands twice")));
        }
        let checked = entry
            .webhook
            .check(Reach::Local)
            .and_then(|()| entry.secret.as_deref().map_or(Ok(()), secret::check));
        checked.map_err(|cause| of(entry, cause))?;
    }
    Ok(())
}

fn of(entry: &Entry, cause: Error) -> Error {
    cause.at(format!("webhooks: {}", entry.webhook.name))
}

/// Stores validated entries, each over the webhook with its name; with `prune` the
/// others are removed.
pub fn save(tx: &Tx<'_>, ctx: &Context, entries: &[Entry], prune: bool) -> Result<()> {
    let ctx = &Context {
        settings: Arc::new(settings::load(tx)?),
        ..ctx.clone()
    };
    let there = store::all(tx)?;
    if prune {
        let named = |name: &str| entries.iter().any(|entry| entry.webhook.name == name);
        for webhook in there.iter().filter(|webhook| !named(&webhook.is.name)) {
            store::remove(tx, ctx, webhook.id)?;
        }
    }
    for entry in entries {
        let known = there
            .iter()
            .find(|webhook| webhook.is.name == entry.webhook.name);
        put(tx, ctx, entry, known.map(|webhook| webhook.id)).map_err(|cause| of(entry, cause))?;
    }
    Ok(())
}

/// Stores an entry as a webhook that is there, or as a new one; its id and, of a new one, its secret.
pub(super) fn put(
    tx: &Tx<'_>,
    ctx: &Context,
    entry: &Entry,
    known: Option<i64>,
) -> Result<(i64, Option<String>)> {
    let (id, secret) = match known {
        None => {
            let made = store::create(tx, ctx, &entry.webhook, entry.secret.clone())?;
            (made.0, Some(made.1))
        }
        Some(id) => {
            store::change(tx, ctx, id, &entry.webhook)?;
            if let Some(secret) = &entry.secret {
                store::rotate(tx, ctx, id, Some(secret.clone()), true)?;
            }
            (id, None)
        }
    };
    match (
        entry.active,
        destination::get(tx, &store::destination(id))?.paused,
    ) {
        (Some(false), None) => decisions::pause(tx, ctx, id)?,
        (Some(true), Some((_, Pause::Asked))) => decisions::resume(tx, ctx, id)?,
        _ => {}
    }
    Ok((id, secret))
}
