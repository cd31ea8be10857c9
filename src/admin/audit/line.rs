//! A change as a line of the page: in words, with links to the pages of what it is about.

use super::differences::{Differences, differences};
use crate::{
    core::audit::{Actor, Entry},
    domain::{delegates, devices, reports, sales, webhooks::store},
    identity::{clients, users},
    types::{
        ClientId, DeviceId, Timestamp, UserId,
        error::{Kind, Result},
    },
};
use rusqlite::Connection;
use serde_json::Value;

/// A change, ready to be shown.
pub(super) struct Line {
    pub(super) id: i64,
    pub(super) at: Timestamp,
    pub(super) who: String,
    pub(super) who_link: Option<String>,
    pub(super) deed: String,
    pub(super) kind: String,
    pub(super) record: String,
    pub(super) record_link: Option<String>,
    pub(super) differences: Differences,
    /// Whether it tells what was before, and what is since.
    tells: (bool, bool),
}

impl Line {
    /// A change in words; pages of users and clients are linked for administrators.
    pub(super) fn of(connection: &Connection, entry: &Entry, administers: bool) -> Result<Self> {
        let actor = Actor::of(connection, &entry.actor)?;
        let who_link = match &actor {
            Actor::User(_, Some(id)) if administers => Some(format!("/console/access/users/{id}")),
            Actor::Client(_, Some(id)) if administers => {
                Some(format!("/console/access/clients/{id}"))
            }
            _ => None,
        };
        let found = match entry.record_id {
            Some(id) => name(connection, &entry.record_type, id)?,
            None => None,
        };
        let there = found.is_some();
        Ok(Self {
            id: entry.id,
            at: entry.at,
            who: actor.name(),
            who_link,
            deed: deed(&entry.action),
            kind: kind(&entry.record_type),
            record: found
                .filter(|name| !name.is_empty())
                .or_else(|| told(entry))
                .unwrap_or_else(|| {
                    entry
                        .record_id
                        .map_or_else(String::new, |id| format!("no. {id}"))
                }),
            record_link: link(entry, administers).filter(|_| there),
            differences: in_words(connection, entry)?,
            tells: (entry.before.is_some(), entry.after.is_some()),
        })
    }

    pub(super) fn was(&self) -> bool {
        self.tells.0
    }

    pub(super) fn is(&self) -> bool {
        self.tells.1
    }

    /// Whether it tells both, as of something that was changed.
    pub(super) fn is_update(&self) -> bool {
        self.was() && self.is()
    }
}

fn link(entry: &Entry, administers: bool) -> Option<String> {
    let id = entry.record_id?;
    match entry.record_type.as_str() {
        "delegate" => Some(format!("/console/delegates/{id}")),
        "device" | "event" => Some(format!("/console/devices/{id}")),
        "transaction" => Some(format!("/console/sales/{id}")),
        "user" if administers => Some(format!("/console/access/users/{id}")),
        "message" => Some(format!("/console/messages/{id}")),
        "template" => Some(format!("/console/messages/templates/{id}")),
        "automation" => Some(format!("/console/messages/automations/{id}")),
        "client" if administers => Some(format!("/console/access/clients/{id}")),
        // Viewers see the audit, but not how others are told.
        "webhook" if administers => Some(format!("/console/webhooks/{id}")),
        _ => None,
    }
}

/// What differs, with the names of what a client or a user is tied to.
fn in_words(connection: &Connection, entry: &Entry) -> Result<Differences> {
    let mut all = differences(entry.before.as_ref(), entry.after.as_ref());
    let tie = match entry.record_type.as_str() {
        "client" => "device",
        "user" => "delegate",
        _ => return Ok(all),
    };
    for row in all
        .rows
        .iter_mut()
        .filter(|row| row.what.eq_ignore_ascii_case(tie))
    {
        for id in [&mut row.before, &mut row.after] {
            let named = match id.parse() {
                Ok(known) => name(connection, tie, known)?,
                Err(_) => None,
            };
            if let Some(named) = named.filter(|named| !named.is_empty()) {
                *id = format!("{named} (no. {id})");
            }
        }
    }
    Ok(all)
}

/// What a record is called now; `None` where it is gone.
fn name(connection: &Connection, record_type: &str, id: i64) -> Result<Option<String>> {
    Ok(match record_type {
        "delegate" => delegates::name_of(connection, id)?,
        "device" | "event" => devices::name_of(connection, DeviceId(id))?,
        "user" => there(users::get(connection, UserId(id)))?.map(|user| user.email),
        "client" => there(clients::get(connection, ClientId(id)))?.map(|client| client.name),
        "transaction" => sales::code_of(connection, id)?,
        "report" => reports::label_of(connection, id)?,
        "webhook" => there(store::get(connection, id))?.map(|webhook| webhook.is.name),
        _ => None,
    })
}

/// What was found; `None` where it is gone.
fn there<T>(found: Result<T>) -> Result<Option<T>> {
    match found {
        Err(gone) if gone.kind == Kind::NoSuchPath => Ok(None),
        found => found.map(Some),
    }
}

/// What the record was called, as far as the change itself tells.
fn told(entry: &Entry) -> Option<String> {
    let told = entry.after.as_ref().or(entry.before.as_ref())?;
    let text = |name: &str| told.get(name).and_then(Value::as_str);
    let full = [text("firstName"), text("lastName")];
    let full: Vec<&str> = full.into_iter().flatten().collect();
    if !full.is_empty() {
        return Some(full.join(" "));
    }
    [
        "name",
        "label",
        "slug",
        "eventName",
        "email",
        "fileName",
        "path",
        "barcode",
        "code",
    ]
    .iter()
    .find_map(|name| text(name))
    .map(ToOwned::to_owned)
}

/// What was done, in words.
pub(super) fn deed(action: &str) -> String {
    let words = match action {
        "create" => "made",
        "update" => "changed",
        "delete" => "deleted",
        "restore" => "restored",
        "revoke" => "revoked",
        "rotate" => "gave a new secret to",
        "end-tokens" => "ended the tokens of",
        "end-sessions" => "ended sessions of",
        "password" => "set a new password for",
        "second-factor" => "switched the authenticator app of",
        "recovery" => "recovery codes of",
        "erase" => "erased all of",
        "merge" => "merged another into",
        "block" => "blocked a code of",
        "undo" => "took back",
        "settle" => "settled what did not fit in",
        "reopen" => "took up again what did not fit in",
        "resume" => "had go on",
        "skip" => "had go on without what waited:",
        "pause" => "paused",
        "give-up" => "gave something up for",
        "resend" => "sent again",
        "cancel" => "called back",
        "publish" => "published",
        "discard" => "discarded",
        other => return other.replace('-', " "),
    };
    words.to_owned()
}

/// What kind of record it is, in words.
pub(super) fn kind(record_type: &str) -> String {
    match record_type {
        "batch" => "import".to_owned(),
        "transaction" => "purchase".to_owned(),
        other => other.replace(['-', '_'], " "),
    }
}
