//! Delegates: the attendees (spec: Delegate; contract §4). The catalogue of their properties, and
//! what is a delegate's own: flags, and what a delegate may change of itself.

pub mod api;
pub mod blocked;
mod copies;
pub mod erase;
pub mod erased;
pub mod flag;
pub mod index;
pub mod merge;
mod myself;
pub mod note;
pub mod restore;

pub use copies::{PUT_ASIDE, of as copies_with};
pub use myself::check_own_changes;

use crate::{
    core::{
        records::{
            Attachments, Changes, Kind, Property, Resource, Selection,
            catalogue::{attach_children, searchable},
        },
        search::{Counted, Subject},
    },
    db::{Tx, totals},
    domain::interactions,
    identity::{Principal, Role, roles::lacking},
    types::{
        DelegateId, DelegateSelector, Zone,
        error::{self, Result},
    },
};
use rusqlite::{Connection, OptionalExtension, types::Value as Sql};
use std::sync::{LazyLock, OnceLock};

/// Everything a delegate has.
#[rustfmt::skip]
pub const PROPERTIES: &[Property] = &[
    Property::new("id", "id", Kind::Id, "Never changes, never means another delegate."),
    Property::new("_type", "", Kind::Type, "Always `delegate`."),
    Property::new("parent", "parent_id", Kind::Reference, "The delegate this one belongs to; send an id or `{\"id\": …}`."),
    Property::new("previous", "previous_id", Kind::Reference, "The delegate that this one replaces."),
    Property::new("owner", "owner_id", Kind::Reference, "The delegate who may read this one."),
    Property::new("children", "", Kind::Attached, "Delegates whose parent this is, at most 1,000."),
    Property::new("barcode", "barcode", Kind::Code, "Unique code, 1 to 255 characters, compared exactly."),
    Property::new("publicId", "public_id", Kind::Code, "Unique code; a UUID made by the server when absent."),
    Property::new("rfid", "rfid", Kind::Code, "Unique code."),
    Property::new("externalId", "external_id", Kind::Code, "Unique code."),
    Property::new("code", "code", Kind::Code, "Unique code."),
    Property::new("uhfId", "uhf_id", Kind::Code, "Unique code."),
    Property::new("slug", "slug", Kind::Code, "Unique code."),
    Property::new("firstName", "first_name", Kind::Text, ""),
    Property::new("lastName", "last_name", Kind::Text, ""),
    Property::new("email", "email", Kind::Text, ""),
    Property::new("phone", "phone", Kind::Text, ""),
    Property::new("jobTitle", "job_title", Kind::Text, ""),
    Property::new("company", "company", Kind::Text, ""),
    Property::new("delegateType", "delegate_type", Kind::Text, "A type name of the event's own, such as `visitor`."),
    Property::new("rawFlags", "raw_flags", Kind::Text, "Single-letter flags; stored lowercase, each once, sorted."),
    Property::new("sources", "sources", Kind::Sources, "Where the record came from: `api`, `admin`, `import`, `tx`, `discovery`."),
    Property::new("data", "data", Kind::Document, "Named sections; a PATCH merges by key (RFC 7396)."),
    Property::new("firstInteractions", "", Kind::Attached, "Interactions with this delegate as the first, the newest 1,000, or fewer of 4 MiB."),
    Property::new("secondInteractions", "", Kind::Attached, "… as the second."),
    Property::new("thirdInteractions", "", Kind::Attached, "… as the third."),
    Property::new("createdAt", "created_at", Kind::Stamp, ""),
    Property::new("updatedAt", "updated_at", Kind::Stamp, ""),
];

/// The names of a delegate's properties, such as a client may be limited to.
#[must_use]
pub fn property_names() -> Vec<&'static str> {
    PROPERTIES.iter().map(|property| property.name).collect()
}

/// Delegates, as records.
pub static RESOURCE: Resource = Resource {
    name: "delegate",
    table: "delegates",
    alive: "deleted_at IS NULL",
    alive_index: Some("delegates_alive"),
    total: Some(totals::delegates),
    properties: PROPERTIES,
    not_found: error::Kind::DelegateNotFound,
    check,
    attach,
    own: OnceLock::new(),
};

/// What can be searched.
pub static SEARCHED: LazyLock<Subject> = LazyLock::new(|| subject(RESOURCE.alive));

/// What can be searched of those that are deleted; for the console alone.
pub static DELETED: LazyLock<Subject> = LazyLock::new(|| subject("deleted_at IS NOT NULL"));

fn subject(alive: &'static str) -> Subject {
    Subject {
        name: RESOURCE.name,
        table: RESOURCE.table,
        alive,
        fields: searchable(
            PROPERTIES,
            &[
                "first_name",
                "last_name",
                "email",
                "phone",
                "job_title",
                "company",
                "barcode",
                "external_id",
            ],
        ),
        text_index: Some("delegates_search"),
        beginnings: &["last_name", "first_name", "company"],
        kind: None,
        stretches: None,
        shared: None,
        document: "data",
        counted: Some(Counted {
            table: "interactions",
            kind: "interaction_type",
            own: [
                "first_delegate_id",
                "second_delegate_id",
                "third_delegate_id",
            ],
            others: [
                ("firstDevice", "first_device_id"),
                ("secondDevice", "second_device_id"),
                ("thirdDevice", "third_device_id"),
            ],
            shown_as: [
                "firstInteractions",
                "secondInteractions",
                "thirdInteractions",
            ],
        }),
        statements: true,
        messages: Some(
            "id IN (SELECT delegate_id FROM messages WHERE state = 'sent' AND channel = :channel
                AND (:template IS NULL OR template = :template))",
        ),
        batches: Some(
            "id IN (SELECT record_id FROM batch_rows JOIN batches ON batches.id = batch_id
                WHERE kind = 'delegates' AND undone_at IS NULL
                AND (:device IS NULL OR device_id = :device))",
        ),
    }
}

fn check(tx: &Tx<'_>, id: Option<i64>, changes: &mut Changes) -> Result<()> {
    blocked::check(tx, changes)?;
    changes.set_default("public_id", id.is_none(), || {
        Sql::Text(uuid::Uuid::new_v4().to_string())
    });
    if let Some(Sql::Text(flags)) = changes.get("raw_flags") {
        let flags = normal_flags(flags);
        changes.set("raw_flags", flags);
    }
    Ok(())
}

/// Flags as they are stored: lowercase, each once, sorted (contract §4). What people write between
/// them is none.
fn normal_flags(flags: &str) -> String {
    let mut flags: Vec<char> = flags
        .chars()
        .filter(|flag| !flag.is_whitespace() && !matches!(flag, ',' | ';'))
        .flat_map(char::to_lowercase)
        .collect();
    flags.sort_unstable();
    flags.dedup();
    flags.into_iter().collect()
}

fn attach(
    connection: &Connection,
    selection: &Selection,
    ids: &[i64],
    zone: &Zone,
) -> Result<Attachments> {
    let mut attachments = Attachments::default();
    if selection.shows("children") {
        attach_children(connection, &RESOURCE, ids, &mut attachments)?;
    }
    interactions::embed::attach(connection, selection, ids, zone, &mut attachments)?;
    Ok(attachments)
}

/// The id of the living delegate that a selector means.
///
/// # Errors
/// [`error::Kind::DelegateNotFound`]; of a blocked code it says what became of the badge.
pub fn find(connection: &Connection, selector: &DelegateSelector) -> Result<DelegateId> {
    let id = match selector {
        DelegateSelector::Id(id) => connection
            .prepare_cached("SELECT id FROM delegates WHERE id = ?1 AND deleted_at IS NULL")?
            .query_row([id], |row| row.get(0)),
        DelegateSelector::Code(code, value) => connection
            .prepare_cached(code.find_sql())?
            .query_row([value], |row| row.get(0)),
    };
    match id.optional()? {
        Some(id) => Ok(id),
        None => Err(blocked::missing(connection, selector)?),
    }
}

/// The delegate that a selector means, if the caller may read it: with the role all, otherwise the
/// caller's own and those it owns (contract §9). Who may read only its own is not told whether
/// another exists.
///
/// # Errors
/// [`error::Kind::DelegateNotFound`] or [`error::Kind::Forbidden`].
pub fn find_readable(
    connection: &Connection,
    selector: &DelegateSelector,
    caller: &Principal,
) -> Result<DelegateId> {
    let found = find(connection, selector);
    if caller.has(Role::DelegateRead) {
        return found;
    }
    let own = match (found, caller.delegate) {
        (Ok(id), Some(own)) => {
            let owner: Option<DelegateId> = connection
                .prepare_cached("SELECT owner_id FROM delegates WHERE id = ?1")?
                .query_row([id], |row| row.get(0))?;
            (id == own || owner == Some(own)).then_some(id)
        }
        _ => None,
    };
    own.ok_or_else(|| lacking(&[Role::DelegateRead]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_lowercase_unique_and_sorted() {
        for (sent, stored) in [("Vps", "psv"), ("aAbB", "ab"), (" e, f;", "ef"), ("", "")] {
            assert_eq!(normal_flags(sent), stored);
        }
    }
}
