//! Delegates: the attendees (spec: Delegate; contract §4). The catalogue of their properties, and
//! what is a delegate's own: flags, and what a delegate may change of itself.

pub mod api;
pub mod blocked;
pub mod duplicates;
pub mod fields;
pub mod find;
pub mod flags;
pub mod merge;
pub mod note;
pub mod overview;
pub mod people;
mod rank;
pub mod scanned;
pub mod schemas;
pub mod signed;

pub use blocked::restore;
pub use fields::FIELDS;
pub use flags::check_own_changes;
pub use overview::{NAME, name_of, type_of};
pub use people::People;

use crate::{
    core::{
        records::{
            Attachments, Brief, Changes, Resource, Selection,
            catalogue::{attach_children, searchable},
        },
        rules::folded,
        scanned::Meaning,
        search::{Counted, Subject},
        settings,
    },
    db::Tx,
    domain::interactions::{self, late_codes},
    identity::{Principal, Role, roles::lacking},
    types::{
        DelegateCode, DelegateId, DelegateSelector, Timestamp, Zone,
        error::{self, Result},
        scanned::forms,
    },
};
use rusqlite::{Connection, OptionalExtension, types::Value as Sql};
use std::{
    collections::HashMap,
    sync::{LazyLock, OnceLock},
};

/// The names of a delegate's properties, such as a client may be limited to.
pub fn property_names() -> Vec<&'static str> {
    FIELDS.iter().map(|field| field.name).collect()
}

/// Delegates, as records.
pub static RESOURCE: Resource = Resource {
    name: "delegate",
    table: "delegates",
    alive: "deleted_at IS NULL",
    alive_index: Some("delegates_alive"),
    fields: FIELDS,
    not_found: error::Kind::DelegateNotFound,
    check,
    after_write: |tx, ctx, id| {
        signed::note(tx, DelegateId(id))?;
        late_codes::settle(tx, ctx, DelegateId(id))
    },
    attach,
    own: OnceLock::new(),
};

/// Properties that can be searched.
pub static SEARCHED: LazyLock<Subject> = LazyLock::new(|| subject(RESOURCE.alive));

/// Properties of deleted delegates that can be searched; for the console alone.
pub static DELETED: LazyLock<Subject> = LazyLock::new(|| subject("deleted_at IS NOT NULL"));

fn subject(alive: &'static str) -> Subject {
    Subject {
        name: RESOURCE.name,
        table: RESOURCE.table,
        alive,
        fields: searchable(FIELDS),
        text_index: Some("delegates_search"),
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
    interactions::list::attach(connection, selection, ids, zone, &mut attachments)?;
    Ok(attachments)
}

/// The types there are, each found by a step in the index.
const TYPES: &str = "WITH RECURSIVE types (name) AS (
         SELECT min(delegate_type) FROM delegates WHERE delegate_type IS NOT NULL AND deleted_at IS NULL
         UNION ALL
         SELECT (SELECT min(delegate_type) FROM delegates WHERE delegate_type > types.name AND deleted_at IS NULL)
         FROM types WHERE name IS NOT NULL)
     SELECT name FROM types WHERE name <> ''";

/// The first hundred of the types there are.
pub fn types(connection: &Connection) -> Result<Vec<String>> {
    let mut statement = connection.prepare_cached(&format!("{TYPES} LIMIT 100"))?;
    let types = statement.query_map([], |row| row.get(0))?;
    Ok(types.collect::<rusqlite::Result<_>>()?)
}

/// The types there are, the commonest first.
pub fn common_types(connection: &Connection, limit: usize) -> Result<Vec<String>> {
    let mut statement = connection.prepare_cached(
        "SELECT delegate_type FROM delegates
         WHERE delegate_type <> '' AND deleted_at IS NULL
         GROUP BY delegate_type ORDER BY count(*) DESC, delegate_type LIMIT ?1",
    )?;
    let types = statement.query_map([limit], |row| row.get(0))?;
    Ok(types.collect::<rusqlite::Result<_>>()?)
}

/// A type as it is asked for, and the other spellings of it that attendees have.
pub fn spellings(connection: &Connection, delegate_type: &str) -> Result<Vec<String>> {
    let mut statement = connection.prepare_cached(TYPES)?;
    let asked = folded(delegate_type);
    let mut rows = statement.query([])?;
    let mut spellings = vec![delegate_type.to_owned()];
    while let Some(row) = rows.next()? {
        let name = row.get_ref(0)?.as_str().unwrap_or_default();
        if name != delegate_type && folded(name) == asked {
            spellings.push(name.to_owned());
        }
    }
    Ok(spellings)
}

/// The types there are, by name, and how many attendees each has. Those that differ only in how they are spelt are one, in
/// the spelling that most attendees have.
pub fn counted_types(connection: &Connection) -> Result<Vec<(String, i64)>> {
    let mut statement = connection.prepare_cached(
        "SELECT delegate_type, count(*) FROM delegates
         WHERE delegate_type <> '' AND deleted_at IS NULL GROUP BY delegate_type ORDER BY 1 LIMIT 100",
    )?;
    let mut rows = statement.query([])?;
    let mut types: Vec<(String, i64)> = Vec::new();
    // Of each type: where it stands, and how many have the spelling that is shown.
    let mut known: HashMap<String, (usize, i64)> = HashMap::new();
    while let Some(row) = rows.next()? {
        let (name, count): (String, i64) = (row.get(0)?, row.get(1)?);
        let entry = known.entry(folded(&name)).or_insert((types.len(), 0));
        let (place, most) = (entry.0, &mut entry.1);
        if place == types.len() {
            types.push((String::new(), 0));
        }
        types[place].1 += count;
        if count > *most {
            *most = count;
            types[place].0 = name;
        }
    }
    Ok(types)
}

/// Counts the delegates.
pub fn count(connection: &Connection) -> Result<u64> {
    let sql = "SELECT count(*) FROM delegates WHERE deleted_at IS NULL";
    Ok(connection
        .prepare_cached(sql)?
        .query_row([], |row| row.get(0))?)
}

/// Counts the delegates without a barcode.
pub fn without_code(connection: &Connection) -> Result<i64> {
    let sql = "SELECT count(*) FROM delegates WHERE deleted_at IS NULL AND barcode IS NULL";
    Ok(connection
        .prepare_cached(sql)?
        .query_row([], |row| row.get(0))?)
}

/// The barcode of any delegate.
pub fn any_code(connection: &Connection) -> Result<Option<String>> {
    let sql =
        "SELECT barcode FROM delegates WHERE deleted_at IS NULL AND barcode IS NOT NULL LIMIT 1";
    let mut statement = connection.prepare_cached(sql)?;
    Ok(statement.query_row([], |row| row.get(0)).optional()?)
}

/// Tells whether there is any delegate.
pub fn is_any(connection: &Connection) -> Result<bool> {
    let sql = "SELECT 1 FROM delegates WHERE deleted_at IS NULL";
    Ok(connection.prepare_cached(sql)?.exists([])?)
}

/// The living delegate that a text names: by id, otherwise the likeliest; the newest without a text.
pub fn named(connection: &Connection, text: &str) -> Result<Option<DelegateId>> {
    let by_id = connection
        .prepare_cached(
            "SELECT id FROM delegates WHERE deleted_at IS NULL AND (?1 = '' OR id = ?1)
             ORDER BY id DESC LIMIT 1",
        )?
        .query_row([text], |row| row.get(0))
        .optional()?;
    if by_id.is_some() {
        return Ok(by_id);
    }
    let found = people::find(connection, &People::new(text), 1)?;
    Ok(found.ids.first().copied().map(DelegateId))
}

/// The name by which people know a delegate, a deleted one included.
pub fn brief(connection: &Connection, id: i64) -> Result<Option<Brief>> {
    let brief = connection
        .prepare_cached(&format!(
            "SELECT {NAME}, coalesce(barcode, public_id),
                 iif(deleted_at IS NULL, coalesce(email, ''), 'deleted') FROM delegates p WHERE id = ?1"
        ))?
        .query_row([id], |row| Ok(Brief::new(id, row.get(0)?, [row.get(1)?, row.get(2)?])));
    Ok(brief.optional()?)
}

/// The id of the living delegate that a selector means.
///
/// # Errors
/// [`error::Kind::DelegateNotFound`]; for a blocked code the message says what happened to the badge.
pub fn find(connection: &Connection, selector: &DelegateSelector) -> Result<DelegateId> {
    let id = match selector {
        DelegateSelector::Scanned(value) => return find_scanned(connection, value),
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

/// The exact text costs its look-up alone; everything else is for texts that nobody has.
fn find_scanned(connection: &Connection, value: &str) -> Result<DelegateId> {
    for code in DelegateCode::ALL {
        let mut holder = connection.prepare_cached(code.find_sql())?;
        let found = holder.query_row([value], |row| row.get(0));
        if let Some(id) = found.optional()? {
            return Ok(id);
        }
    }
    match scanned::meaning(connection, value)? {
        Meaning::Match(found) if !found.is_blocked => Ok(DelegateId(found.id)),
        nobody => Err(scanned::missing(connection, value, &nobody)?),
    }
}

/// The delegate that a selector meant until they were deleted, and when that was. After a merge it is the one that was kept.
pub fn find_deleted(
    connection: &Connection,
    selector: &DelegateSelector,
) -> Result<Option<(DelegateId, Timestamp)>> {
    let found = match selector {
        DelegateSelector::Scanned(text) => {
            let pattern = settings::scan_pattern(connection)?;
            let forms = forms(text, pattern.as_ref()).into_iter();
            let find = |form| DelegateSelector::Scanned(form).find_deleted(connection);
            forms.map(find).find_map(Result::transpose).transpose()?
        }
        _ => selector.find_deleted(connection)?,
    };
    let Some((id, at)) = found else {
        return Ok(None);
    };
    let kept = connection
        .prepare_cached(
            "WITH RECURSIVE kept (id) AS (
                 SELECT ?1
                 UNION SELECT a.after ->> '$.into' FROM kept JOIN audit a
                 ON a.record_type = 'delegate' AND a.record_id = kept.id AND a.action = 'merge'
                 WHERE a.after ->> '$.into' IS NOT NULL)
             SELECT d.id FROM kept JOIN delegates d ON d.id = kept.id AND d.deleted_at IS NULL",
        )?
        .query_row([id], |row| row.get(0))
        .optional()?;
    Ok(Some((kept.unwrap_or(id), at)))
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
