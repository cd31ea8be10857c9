//! The gateways by which messages leave: one a channel, set up by an administrator. Its settings are shown and
//! exported; its secret (a password, a token, a service account's key) goes in and never out.

pub mod fcm;
pub mod http;
mod masked;
pub mod presets;
pub mod smtp;

pub use fcm::Fcm;
pub use http::Http;
pub use smtp::{Security, Smtp};

use super::{
    Channel,
    stored::{Due, SendOutcome},
};
use crate::{
    core::{
        Context, audit,
        outbox::destination,
        outgoing::{Client, Reach},
        settings::Communications,
    },
    db::Tx,
    types::{
        Timestamp,
        error::{Error, Result},
    },
};
use rusqlite::{
    Connection, OptionalExtension, params,
    types::{FromSql, FromSqlError, FromSqlResult, ValueRef},
};
use serde_json::{Value, json};

/// The largest secret, in bytes; a service account's key takes some 2,400.
const SECRET_MAX_BYTES: usize = 16 << 10;

/// The settings of a gateway.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Definition {
    Smtp(Smtp),
    /// A provider that takes a message by one HTTP call.
    Http(Http),
    /// Firebase Cloud Messaging, HTTP v1.
    Fcm(Fcm),
}

/// A gateway, without its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gateway {
    pub channel: Channel,
    pub definition: Definition,
    pub has_secret: bool,
    pub updated_at: Timestamp,
}

#[derive(Clone, PartialEq, Eq)]
pub enum Secret {
    Keep,
    /// Empty: there is none.
    Set(String),
}

/// A gateway as an attempt needs it. Not to be shown: it has no `Debug` on purpose.
pub(super) struct Armed {
    pub(super) definition: Definition,
    pub(super) secret: Option<String>,
}

/// The input of an attempt.
pub(super) struct Attempt<'a> {
    pub(super) due: &'a Due,
    /// The file that comes with an e-mail.
    pub(super) pdf: Option<&'a [u8]>,
    pub(super) secret: Option<&'a str>,
    pub(super) reach: Reach,
    pub(super) client: &'a Client,
}

impl Definition {
    /// Checks that it can be used for a channel; `reach` is how far calls may go.
    pub fn check(&self, channel: Channel, reach: Reach) -> Result<()> {
        match (channel, self) {
            (Channel::Email, Self::Smtp(smtp)) => smtp.check(),
            (Channel::Sms | Channel::Push, Self::Http(http)) => http.check(reach),
            (Channel::Push, Self::Fcm(fcm)) => fcm.check(reach),
            (Channel::Email, _) => Err(Error::field("kind", "must be smtp for e-mail")),
            (Channel::Sms, _) => Err(Error::field("kind", "must be http for texts")),
            (Channel::Push, _) => Err(Error::field("kind", "must be fcm or http for push")),
        }
    }

    /// The destination of the secret: whoever changes that in the console has to know the secret.
    pub fn destination(&self) -> String {
        match self {
            Self::Smtp(smtp) => {
                let (host, port, security) = (&smtp.host, smtp.port, smtp.security);
                let (user, certificate) = (&smtp.user, &smtp.certificate);
                format!("{host}:{port} {security:?} {user:?} {certificate:?}")
            }
            Self::Http(http) => http.destination(),
            Self::Fcm(fcm) => fcm.destination(),
        }
    }

    /// As the configuration document has it.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    pub(super) async fn send(
        &self,
        attempt: &Attempt<'_>,
        tokens: &fcm::Tokens,
        html: Option<String>,
    ) -> SendOutcome {
        match self {
            Self::Smtp(smtp) => smtp::send(smtp, attempt, html).await,
            Self::Http(http) => http::send(http, attempt).await,
            Self::Fcm(fcm) => fcm::send(fcm, attempt, tokens).await,
        }
    }
}

impl FromSql for Definition {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        serde_json::from_str(value.as_str()?).map_err(FromSqlError::other)
    }
}

/// Every gateway that is set up.
pub fn all(connection: &Connection) -> Result<Vec<Gateway>> {
    let mut statement = connection.prepare_cached(
        "SELECT channel, definition, secret IS NOT NULL, updated_at FROM gateways ORDER BY channel",
    )?;
    let gateways = statement.query_map([], |row| {
        Ok(Gateway {
            channel: row.get(0)?,
            definition: row.get(1)?,
            has_secret: row.get(2)?,
            updated_at: row.get(3)?,
        })
    })?;
    Ok(gateways.collect::<rusqlite::Result<_>>()?)
}

/// The gateway of a channel, where it is set up.
pub fn find(connection: &Connection, channel: Channel) -> Result<Option<Gateway>> {
    let found = all(connection)?;
    Ok(found.into_iter().find(|gateway| gateway.channel == channel))
}

pub(super) fn armed(connection: &Connection, channel: Channel) -> Result<Option<Armed>> {
    Ok(connection
        .prepare_cached("SELECT definition, secret FROM gateways WHERE channel = ?1")?
        .query_row([channel], |row| {
            Ok(Armed {
                definition: row.get(0)?,
                secret: row.get(1)?,
            })
        })
        .optional()?)
}

/// Returns whether messages to delegates may go by a channel (spec: send-comm, rule 7).
pub fn allowed(settings: &Communications, channel: Channel) -> bool {
    settings.enabled
        && match channel {
            Channel::Email => settings.email,
            Channel::Sms => settings.sms,
            Channel::Push => settings.push,
        }
}

/// Sets a gateway up that was checked, or takes it away (`None`), its secret too.
pub fn save(
    tx: &Tx<'_>,
    ctx: &Context,
    channel: Channel,
    definition: Option<&Definition>,
    secret: &Secret,
) -> Result<()> {
    let before = find(tx, channel)?;
    match definition {
        None => {
            tx.execute("DELETE FROM gateways WHERE channel = ?1", [channel])?;
        }
        Some(definition) => {
            tx.execute(
                "INSERT INTO gateways (channel, definition, updated_at) VALUES (?1, ?2, ?3)
                 ON CONFLICT (channel) DO UPDATE
                 SET definition = excluded.definition, updated_at = excluded.updated_at",
                params![channel, definition.to_json().to_string(), tx.now()],
            )?;
            if let Secret::Set(secret) = secret {
                let secret = checked(definition, secret)?;
                tx.execute(
                    "UPDATE gateways SET secret = ?2 WHERE channel = ?1",
                    params![channel, secret],
                )?;
            }
        }
    }
    for to_delegate in [false, true] {
        destination::retry(tx, &channel.destination(to_delegate))?;
    }
    let changed =
        definition.is_some() && matches!(secret, Secret::Set(secret) if !secret.is_empty());
    let after = find(tx, channel)?;
    record(tx, ctx, before.as_ref(), after.as_ref(), changed)
}

/// The secret as it is stored.
fn checked<'a>(definition: &Definition, secret: &'a str) -> Result<Option<&'a str>> {
    let secret = secret.trim();
    if secret.len() > SECRET_MAX_BYTES {
        return Err(Error::field("secret", "too long"));
    }
    if secret.is_empty() {
        return Ok(None);
    }
    if matches!(definition, Definition::Fcm(_)) {
        fcm::Account::read(secret)?;
    } else if secret.chars().any(char::is_control) {
        return Err(Error::field("secret", "must be one line"));
    }
    Ok(Some(secret))
}

/// Audits that a secret was changed, never the secret.
fn record(
    tx: &Tx<'_>,
    ctx: &Context,
    before: Option<&Gateway>,
    after: Option<&Gateway>,
    secret_changed: bool,
) -> Result<()> {
    let shown = |gateway: &Gateway, secret: &str| {
        let mut shown = gateway.definition.to_json();
        shown["channel"] = gateway.channel.name().into();
        shown["secret"] = secret.into();
        shown
    };
    let word = |has: bool| if has { "set" } else { "none" };
    let after = after.map(|gateway| {
        let secret = if secret_changed && before.is_some() {
            "changed"
        } else {
            word(gateway.has_secret)
        };
        shown(gateway, secret)
    });
    let before = before.map(|gateway| shown(gateway, word(gateway.has_secret)));
    audit::append_between(tx, ctx, "gateway", None, before, after)
}

/// Removes the secret from an answer, should the other side repeat it.
pub(super) fn without_secret(outcome: SendOutcome, secret: Option<&str>) -> SendOutcome {
    let Some(secret) = secret else {
        return outcome;
    };
    let clean = |why: String| masked::masked(&why, secret);
    match outcome {
        SendOutcome::Sent => SendOutcome::Sent,
        SendOutcome::Down(why) => SendOutcome::Down(clean(why)),
        SendOutcome::Later(why) => SendOutcome::Later(clean(why)),
        SendOutcome::Never(why) => SendOutcome::Never(clean(why)),
        SendOutcome::Unknown(why) => SendOutcome::Unknown(clean(why)),
    }
}

/// A configuration document's entry: a definition, with a secret to be set where it has one.
pub fn read(path: &str, mut said: Value) -> Result<(Definition, Secret)> {
    let secret = match said.as_object_mut().and_then(|said| said.remove("secret")) {
        None => Secret::Keep,
        Some(Value::String(secret)) => Secret::Set(secret),
        Some(account @ Value::Object(_)) => Secret::Set(account.to_string()),
        Some(_) => return Err(Error::field(format!("{path}.secret"), "must be a string")),
    };
    let definition = serde_path_to_error::deserialize(&said)
        .map_err(|cause| Error::field(path, cause.into_inner()))?;
    Ok((definition, secret))
}

/// Every gateway as the configuration document has it: by channel, without secrets.
pub fn document(connection: &Connection) -> Result<Value> {
    let mut document = json!({});
    for gateway in all(connection)? {
        document[gateway.channel.name()] = gateway.definition.to_json();
    }
    Ok(document)
}
