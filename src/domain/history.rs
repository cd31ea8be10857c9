//! The audit as people read it: who did what, to which record, and what differs.

use super::{delegates, devices, reports, sales, webhooks::store};
use crate::{
    core::{
        audit::{self, Actor, Entry, HistoryOf},
        texts::{say, tx},
    },
    identity::{clients, users},
    types::{
        ClientId, DeviceId, Timestamp, UserId,
        error::{Kind, Result},
        json::{Differences, Words, differences},
        text::label,
    },
};
use rusqlite::Connection;
use serde_json::Value;

/// A change in the history of a record.
pub struct Change {
    pub at: Timestamp,
    /// `Changed`.
    pub action: String,
    pub who: String,
    pub differences: Differences,
}

/// Properties that say nothing about a change.
const LEFT_OUT: [&str; 5] = ["id", "_type", "createdAt", "updatedAt", "sources"];

/// The newest changes of a record before an entry, and the entry to continue from.
pub fn changes(
    connection: &Connection,
    of: HistoryOf,
    before: Option<i64>,
    limit: usize,
) -> Result<(Vec<Change>, Option<i64>)> {
    let mut entries = audit::history(connection, of, before, limit + 1)?;
    let more = entries.len() > limit;
    entries.truncate(limit);
    let next = entries.last().map(|last| last.id).filter(|_| more);
    let changes = entries.into_iter();
    let changes = changes.map(|entry| Change::new(connection, entry));
    Ok((changes.collect::<Result<_>>()?, next))
}

impl Change {
    fn new(connection: &Connection, mut entry: Entry) -> Result<Self> {
        for document in [&mut entry.before, &mut entry.after] {
            if let Some(Value::Object(properties)) = document {
                properties.retain(|name, _| !LEFT_OUT.contains(&name.as_str()));
            }
        }
        Ok(Self {
            at: entry.at,
            action: label(match entry.action.as_str() {
                "merge" => "merged",
                "block" => "code blocked",
                "unblock" => "code unblocked",
                action => verb(action),
            }),
            who: audit::actor_shown(connection, &entry.actor)?,
            differences: differences(entry.before.as_ref(), entry.after.as_ref(), &words()),
        })
    }
}

/// An entry of the audit with the names of what it is about.
pub struct NamedEntry {
    pub entry: Entry,
    pub actor: Actor,
    /// The name of the record.
    pub record: String,
    /// Set where the record can be found.
    pub exists: bool,
    pub differences: Differences,
}

impl NamedEntry {
    pub fn new(connection: &Connection, entry: Entry) -> Result<Self> {
        let found = match entry.record_id {
            Some(id) => name(connection, &entry.record_type, id)?,
            None => None,
        };
        let number = || entry.record_id.map(|id| say(format!("no. {id}")));
        Ok(Self {
            actor: Actor::of(connection, &entry.actor)?,
            exists: found.is_some(),
            record: found
                .filter(|name| !name.is_empty())
                .or_else(|| name_in(&entry))
                .or_else(number)
                .unwrap_or_default(),
            differences: named_differences(connection, &entry)?,
            entry,
        })
    }
}

/// The words of the page's language for values that are no texts.
fn words() -> Words {
    Words {
        yes: say("yes"),
        no: say("no"),
        number: tx("common-no-id").with("id", "{}").to_string(),
    }
}

/// A property of a difference in the language of the page; what is below it people named themselves.
#[must_use]
pub fn property(path: &str) -> String {
    match path.split_once(" › ") {
        Some((first, rest)) => format!("{} › {rest}", say(first)),
        None => say(path),
    }
}

/// The differences; a client's device and a user's attendee with their names.
fn named_differences(connection: &Connection, entry: &Entry) -> Result<Differences> {
    let mut all = differences(entry.before.as_ref(), entry.after.as_ref(), &words());
    let tie = match entry.record_type.as_str() {
        "client" => "device",
        "user" => "delegate",
        _ => return Ok(all),
    };
    let rows = all.rows.iter_mut();
    for row in rows.filter(|row| row.what.eq_ignore_ascii_case(tie)) {
        for id in [&mut row.before, &mut row.after] {
            let named = match id.parse() {
                Ok(known) => name(connection, tie, known)?,
                Err(_) => None,
            };
            if let Some(named) = named.filter(|named| !named.is_empty()) {
                let shown = tx("audit-named-no").with("name", named);
                *id = shown.with("id", &*id).to_string();
            }
        }
    }
    Ok(all)
}

/// The name of a record; `None` where it cannot be found.
fn name(connection: &Connection, record_type: &str, id: i64) -> Result<Option<String>> {
    Ok(match record_type {
        "delegate" => delegates::name_of(connection, id)?,
        "device" | "event" => devices::name_of(connection, DeviceId(id))?,
        "user" => existing(users::get(connection, UserId(id)))?.map(|user| user.email),
        "client" => existing(clients::get(connection, ClientId(id)))?.map(|client| client.name),
        "transaction" => sales::code_of(connection, id)?,
        "report" => reports::label_of(connection, id)?,
        "webhook" => existing(store::get(connection, id))?.map(|webhook| webhook.is.name),
        _ => None,
    })
}

fn existing<T>(found: Result<T>) -> Result<Option<T>> {
    match found {
        Err(gone) if gone.kind == Kind::NoSuchPath => Ok(None),
        found => found.map(Some),
    }
}

/// The name that the entry itself has for its record.
fn name_in(entry: &Entry) -> Option<String> {
    const NAMES: [&str; 9] = [
        "name",
        "label",
        "slug",
        "eventName",
        "email",
        "fileName",
        "path",
        "barcode",
        "code",
    ];
    let document = entry.after.as_ref().or(entry.before.as_ref())?;
    let text = |name: &str| document.get(name).and_then(Value::as_str);
    let names = [text("firstName"), text("lastName")];
    let names: Vec<&str> = names.into_iter().flatten().collect();
    if !names.is_empty() {
        return Some(names.join(" "));
    }
    NAMES.iter().find_map(|name| text(name)).map(str::to_owned)
}

/// The verb of an action, before the record: `changed`. An action without a verb stands for itself.
#[must_use]
pub fn verb(action: &str) -> &str {
    match action {
        "create" => "created",
        "import" => "imported",
        "update" => "changed",
        "delete" => "deleted",
        "restore" => "restored",
        "revoke" => "revoked",
        "rotate" => "renewed the secret of",
        "end-tokens" => "ended the tokens of",
        "end-sessions" => "ended sessions of",
        "password" => "set a new password for",
        "second-factor" => "switched the authenticator app of",
        "recovery" => "renewed the recovery codes of",
        "erase" => "erased",
        "empty" => "checked everybody out of",
        "merge" => "merged another into",
        "block" => "blocked a code of",
        "unblock" => "unblocked a code of",
        "undo" => "took back",
        "settle" => "settled inconsistencies of",
        "reopen" => "reopened inconsistencies of",
        "resume" => "resumed",
        "skip" => "skipped what waited for",
        "pause" => "paused",
        "give-up" => "cancelled a delivery of",
        "resend" => "sent again",
        "cancel" => "cancelled",
        "give-again" => "give again",
        "publish" => "published",
        "discard" => "discarded",
        other => other,
    }
}

/// The noun for a type of record.
#[must_use]
pub fn noun(record_type: &str) -> String {
    match record_type {
        "batch" => "import".to_owned(),
        "delegate" => "attendee".to_owned(),
        "transaction" => "purchase".to_owned(),
        "app-config" => "app config".to_owned(),
        "device-request" => "device request".to_owned(),
        "gate-message" => "gate message".to_owned(),
        "app-config-draft" => "app config draft".to_owned(),
        "ticket-key" => "ticket key".to_owned(),
        "wall-link" => "wall link".to_owned(),
        other => other.replace(['-', '_'], " "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::migrate;
    use serde_json::json;

    #[test]
    fn a_change_is_shown_value_by_value() {
        let file = Connection::open_in_memory().unwrap();
        migrate::create(&file).unwrap();
        let entry = Entry {
            id: 1,
            at: Timestamp(1),
            actor: "cli".into(),
            request_id: None,
            action: "update".into(),
            record_type: "delegate".into(),
            record_id: Some(7),
            before: Some(
                json!({"firstName": "Ada", "data": {"Data": {"meal": "vegan", "size": "M"}}, "updatedAt": "a"}),
            ),
            after: Some(
                json!({"firstName": "Ada L.", "data": {"Data": {"meal": "any", "size": "M"}},
                       "parent": {"id": 7, "_type": "delegate"}, "sources": ["admin"]}),
            ),
        };
        let change = Change::new(&file, entry).unwrap();
        assert_eq!((&*change.action, &*change.who), ("Changed", "command line"));
        let rows = change.differences.rows.iter();
        let told: Vec<String> = rows
            .map(|row| format!("{}: {} -> {}", row.what, row.before, row.after))
            .collect();
        assert_eq!(
            told,
            [
                "First name: Ada -> Ada L.",
                "Data › Data › meal: vegan -> any",
                "Parent:  -> No. 7",
            ]
        );
    }
}
