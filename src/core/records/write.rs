//! Creating, changing and softly deleting records; every change is audited in its transaction.

use super::{Changes, Kind, Resource, Selection, input};
use crate::{
    core::{
        Context,
        audit::{self, Change},
        changes::{self, action},
        sections,
    },
    db::{Tx, error::code_taken},
    types::{
        Timestamp,
        error::{self, Error, Faults, Result},
        selector::whole_number,
        text,
    },
};
use rusqlite::{Connection, OptionalExtension, params_from_iter, types::Value as Sql};
use serde_json::{Map, Value};
use std::fmt::Write;

/// The most generations of parents that a record may have.
pub const ANCESTORS_MAX: usize = 100;
/// The reference that makes generations.
pub const PARENT: &str = "parent";

/// Creates a record from the properties of a body; its id.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`] for properties that do not fit,
/// [`crate::types::error::Kind::CodeTaken`] for a unique code of another record.
pub fn create(
    tx: &Tx<'_>,
    ctx: &Context,
    resource: &'static Resource,
    body: Map<String, Value>,
) -> Result<i64> {
    let id = insert(tx, ctx, resource, body)?;
    audit_change(tx, ctx, resource, "create", id, None)?;
    (resource.after_write)(tx, ctx, id)?;
    Ok(id)
}

/// As [`create`], without a row in the audit, which an import has for all its records, and without what
/// follows ([`Resource::after_write`]).
pub fn insert(
    tx: &Tx<'_>,
    ctx: &Context,
    resource: &'static Resource,
    body: Map<String, Value>,
) -> Result<i64> {
    let mut changes = checked(tx, ctx, resource, None, body)?;
    check_parent(tx, resource, None, &changes)?;
    changes.set("sources", serde_json::json!([ctx.source]).to_string());
    changes.set("created_at", tx.now().0);
    changes.set("updated_at", tx.now().0);
    let columns = changes.columns();
    let mut sql = format!("INSERT INTO {} (", resource.table);
    let mut places = String::new();
    for (index, (column, _)) in columns.iter().enumerate() {
        let comma = if index == 0 { "" } else { ", " };
        let _ = write!(sql, "{comma}{column}");
        let _ = write!(places, "{comma}?{}", index + 1);
    }
    let _ = write!(sql, ") VALUES ({places})");
    tx.prepare_cached(&sql)?
        .execute(params_from_iter(columns.iter().map(|(_, value)| value)))
        .map_err(|cause| taken(tx, ctx, resource, columns, cause))?;
    Ok(tx.last_insert_rowid())
}

/// Changes a record by the properties of a body. What it has already changes nothing, its version included.
pub fn patch(
    tx: &Tx<'_>,
    ctx: &Context,
    resource: &'static Resource,
    id: i64,
    body: Map<String, Value>,
) -> Result<()> {
    let before = snapshot(tx, ctx, resource, id)?.ok_or_else(|| resource.missing(&id))?;
    let mut changes = checked(tx, ctx, resource, Some(id), body)?;
    check_parent(tx, resource, Some(id), &changes)?;
    if has_all(tx, resource, id, &changes)? {
        return Ok(());
    }
    changes.set("sources", with_source(tx, resource, ctx, id)?);
    changes.set("updated_at", next_version(tx, resource, id)?);
    let columns = changes.columns();
    let mut sql = format!("UPDATE {} SET ", resource.table);
    for (index, (column, _)) in columns.iter().enumerate() {
        let comma = if index == 0 { "" } else { ", " };
        let _ = write!(sql, "{comma}{column} = ?{}", index + 2);
    }
    sql.push_str(" WHERE id = ?1");
    let id_value = Sql::Integer(id);
    let values = std::iter::once(&id_value).chain(columns.iter().map(|(_, value)| value));
    tx.prepare_cached(&sql)?
        .execute(params_from_iter(values))
        .map_err(|cause| taken(tx, ctx, resource, columns, cause))?;
    audit_change(tx, ctx, resource, "update", id, Some(before))?;
    (resource.after_write)(tx, ctx, id)
}

/// Returns whether a record has every value of changes already.
fn has_all(tx: &Tx<'_>, resource: &Resource, id: i64, changes: &Changes) -> Result<bool> {
    let columns = changes.columns();
    if columns.is_empty() {
        return Ok(true);
    }
    let names: Vec<_> = columns.iter().map(|(column, _)| *column).collect();
    let sql = format!(
        "SELECT {} FROM {} WHERE id = ?1",
        names.join(", "),
        resource.table
    );
    let is_same = |(column, new): &(&'static str, Sql), stored: &Sql| match (new, stored) {
        // Whatever the order of its keys.
        (Sql::Text(new), Sql::Text(stored)) if *column == "data" && new != stored => {
            let parsed = |text: &str| serde_json::from_str::<Value>(text).ok();
            parsed(new).is_some_and(|new| parsed(stored) == Some(new))
        }
        _ => new == stored,
    };
    let same = tx.prepare_cached(&sql)?.query_row([id], |row| {
        for (at, change) in columns.iter().enumerate() {
            if !is_same(change, &row.get::<_, Sql>(at)?) {
                return Ok(false);
            }
        }
        Ok(true)
    })?;
    Ok(same)
}

/// Checks a body as [`create`] would, or for the record of an id as [`patch`] would. Unique codes of
/// other records are not looked at, nor is who stands above the parent; see [`check_ancestors`].
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`] for properties that do not fit.
pub fn check(
    tx: &Tx<'_>,
    ctx: &Context,
    resource: &'static Resource,
    id: Option<i64>,
    body: Map<String, Value>,
) -> Result<()> {
    checked(tx, ctx, resource, id, body).map(drop)
}

/// The changes that a body asks for, checked but for the parent.
fn checked(
    tx: &Tx<'_>,
    ctx: &Context,
    resource: &'static Resource,
    id: Option<i64>,
    body: Map<String, Value>,
) -> Result<Changes> {
    let body = with_ids(tx, resource, body)?;
    let mut changes = Changes::read(resource, body, &ctx.settings.zone)?;
    (resource.check)(tx, id, &mut changes)?;
    check_references(tx, resource, &changes)?;
    if ctx.is_strict {
        check_forms(tx, resource, id, &changes)?;
    }
    if let Some(patch) = changes.data.take() {
        changes.set("data", merged(tx, resource, id, patch)?);
    }
    Ok(changes)
}

/// Checks that values which change look like what they are. What is stored stays, and may be sent back.
fn check_forms(
    tx: &Tx<'_>,
    resource: &'static Resource,
    id: Option<i64>,
    changes: &Changes,
) -> Result<()> {
    let stored = |column| match id {
        Some(id) => stored_text(tx, resource, column, id),
        None => Ok(None),
    };
    let mut faults = Faults::default();
    for field in resource.fields {
        if let Some(Sql::Text(new)) = changes.get(field.column)
            && let Some(lacking) = field.form.lacking(new)
            && stored(field.column)?.as_deref() != Some(new)
        {
            faults.take::<()>(Err(Error::field(field.name, lacking)));
        }
    }
    faults.done()?;
    let sections = changes.data.as_ref().and_then(Value::as_object);
    for (name, section) in sections.into_iter().flatten() {
        if section.is_object() || section.is_null() {
            continue;
        }
        let data = input::merged_data(stored("data")?.as_deref(), Value::Object(Map::new()));
        if data.get(name) != Some(section) {
            let name = format!("data.{}", text::shortened(name));
            return Err(Error::field(
                name,
                "must be an object: a section has named values",
            ));
        }
    }
    Ok(())
}

/// The kind of record in a resource's table: an event is a device.
fn stored_as(resource: &Resource) -> &'static str {
    match resource.table {
        "delegates" => "delegate",
        _ => "device",
    }
}

/// The error of a write that a unique code stopped. It names the record that has the code to callers who may read it.
fn taken(
    tx: &Tx<'_>,
    ctx: &Context,
    resource: &'static Resource,
    columns: &[(&'static str, Sql)],
    cause: rusqlite::Error,
) -> Error {
    let error = code_taken(cause, resource.codes());
    let code = resource
        .codes()
        .find(|(_, code)| error.field == [*code] && error.kind == error::Kind::CodeTaken);
    let value = code.and_then(|(column, _)| columns.iter().find(|(known, _)| *known == column));
    if let (Some((_, code)), Some((_, Sql::Text(value)))) = (code, value)
        && let Ok(Some(id)) = holder(tx, resource, code, value)
    {
        return used(ctx, resource, code, id, "");
    }
    error
}

/// The error for a unique code that a record has, with more about that. It names the record to callers who may read it.
pub fn used(ctx: &Context, resource: &Resource, code: &str, id: i64, more: &str) -> Error {
    let name = stored_as(resource);
    let mut message = "this code is already used".to_owned();
    if ctx.hidden.contains(&name) {
        message.push_str(" by another record");
    } else {
        let _ = write!(message, " by {name} {id}");
    }
    if !more.is_empty() {
        let _ = write!(message, ", {more}");
    }
    Error::new(error::Kind::CodeTaken, message).at(code)
}

/// The `data` that results from a merge patch: what it touches fits the schemas of its sections.
fn merged(tx: &Tx<'_>, resource: &Resource, id: Option<i64>, patch: Value) -> Result<Sql> {
    let stored = match id {
        Some(id) => stored_text(tx, resource, "data", id)?,
        None => None,
    };
    let touched: Vec<String> = match &patch {
        Value::Object(sections) => sections.keys().cloned().collect(),
        _ => Vec::new(),
    };
    let data = input::merged_data(stored.as_deref(), patch);
    if let Some(kind) = sections::Kind::of_table(resource.table) {
        sections::check_data(tx, kind, touched.iter(), &data)?;
    }
    input::data_text(&data)
}

/// The columns of a record as they are, as JSON text that [`restore`] takes.
pub fn stored(tx: &Tx<'_>, resource: &'static Resource, id: i64) -> Result<String> {
    let columns: Vec<_> = stored_columns(resource)
        .map(|column| format!("'{column}', {column}"))
        .collect();
    let sql = format!(
        "SELECT json_object({}) FROM {} WHERE id = ?1",
        columns.join(", "),
        resource.table
    );
    tx.prepare_cached(&sql)?
        .query_row([id], |row| row.get(0))
        .optional()?
        .ok_or_else(|| resource.missing(&id))
}

/// Puts a record back to columns that [`stored`] gave; what it did not give stays.
///
/// # Errors
/// [`crate::types::error::Kind::CodeTaken`] when another record has one of its codes by now, and
/// [`crate::types::error::Kind::Invalid`] when one that it refers to is gone, or stands below it by now.
pub fn restore(
    tx: &Tx<'_>,
    ctx: &Context,
    resource: &'static Resource,
    id: i64,
    stored: &str,
) -> Result<()> {
    let before = snapshot(tx, ctx, resource, id)?.ok_or_else(|| resource.missing(&id))?;
    check_stored_references(tx, resource, id, stored)?;
    let columns: Vec<_> = stored_columns(resource)
        .map(|column| {
            let given = format!("json_type(?2, '$.{column}') IS NOT NULL");
            format!("{column} = iif({given}, json_extract(?2, '$.{column}'), {column})")
        })
        .collect();
    let sql = format!(
        "UPDATE {} SET {} WHERE id = ?1",
        resource.table,
        columns.join(", ")
    );
    tx.prepare_cached(&sql)?
        .execute(rusqlite::params![id, stored])
        .map_err(|cause| code_taken(cause, resource.codes()))?;
    audit_change(tx, ctx, resource, "update", id, Some(before))?;
    (resource.after_write)(tx, ctx, id)
}

fn check_stored_references(
    tx: &Tx<'_>,
    resource: &'static Resource,
    id: i64,
    stored: &str,
) -> Result<()> {
    for property in resource.references() {
        let column = property.column;
        let sql = format!(
            "SELECT id, EXISTS (SELECT 1 FROM {0} WHERE {0}.id = r.id)
             FROM (SELECT json_extract(?1, '$.{column}') AS id) r WHERE id IS NOT NULL",
            resource.table
        );
        let target = tx
            .prepare_cached(&sql)?
            .query_row([stored], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        match target {
            Some((_, false)) => {
                return Err(Error::field(property.name, "is gone by now"));
            }
            Some((above, true))
                if property.name == PARENT && parent(tx, resource, id)? != Some(above) =>
            {
                check_ancestors(tx, resource, Some(id), above)?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn stored_columns(resource: &'static Resource) -> impl Iterator<Item = &'static str> {
    let own = resource
        .fields
        .iter()
        .filter(|property| !matches!(property.kind, Kind::Id | Kind::Type | Kind::Attached));
    own.map(|property| property.column)
}

/// Deletes a record softly: it is out of every answer, its codes are free again (contract §4).
pub fn delete(tx: &Tx<'_>, ctx: &Context, resource: &'static Resource, id: i64) -> Result<()> {
    let before = snapshot(tx, ctx, resource, id)?.ok_or_else(|| resource.missing(&id))?;
    tx.prepare_cached(&format!(
        "UPDATE {} SET deleted_at = ?2 WHERE id = ?1",
        resource.table
    ))?
    .execute(rusqlite::params![id, tx.now()])?;
    resource.audit(tx, ctx, "delete", id, Some(before), None)?;
    refresh_referring(tx, resource, id)
}

/// Notes that records which refer to one show something else, because that is gone or back.
fn refresh_referring(tx: &Tx<'_>, resource: &'static Resource, id: i64) -> Result<()> {
    let name = stored_as(resource);
    let columns: &[&str] = match name {
        "delegate" => &["parent_id", "previous_id", "owner_id"],
        _ => &["parent_id"],
    };
    for column in columns {
        let sql = format!(
            "SELECT id FROM {} WHERE {column} = ?1 AND deleted_at IS NULL",
            resource.table
        );
        changes::note_all(tx, action::REFRESH, name, &sql, id)?;
    }
    Ok(())
}

/// Restores a record that was deleted softly, with the codes it had.
///
/// # Errors
/// [`Resource::not_found`] when none of this id is deleted; [`error::Kind::CodeTaken`], naming the code
/// and its holder, when one of its codes was given to another record since.
pub fn undelete(tx: &Tx<'_>, ctx: &Context, resource: &'static Resource, id: i64) -> Result<()> {
    let Resource { name, table, .. } = resource;
    let deleted = tx
        .prepare_cached(&format!(
            "SELECT 1 FROM {table} WHERE id = ?1 AND deleted_at IS NOT NULL"
        ))?
        .exists([id])?;
    if !deleted {
        let message = format!("there is no deleted {name} {id}");
        return Err(Error::new(resource.not_found, message));
    }
    for (column, code) in resource.codes() {
        let taken: Option<(String, i64)> = tx
            .prepare_cached(&format!(
                "SELECT o.{column}, o.id FROM {table} d
                 JOIN {table} o ON o.{column} = d.{column} AND o.deleted_at IS NULL WHERE d.id = ?1"
            ))?
            .query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        if let Some((value, holder)) = taken {
            let value = text::shortened(&value);
            return Err(Error::new(
                error::Kind::CodeTaken,
                format!(
                    "\"{value}\" was given to {name} {holder} since; give that one another code first"
                ),
            )
            .at(code));
        }
    }
    let sql = format!("UPDATE {table} SET deleted_at = NULL, updated_at = ?2 WHERE id = ?1");
    tx.prepare_cached(&sql)?
        .execute(rusqlite::params![id, tx.now()])?;
    audit_change(tx, ctx, resource, "restore", id, None)?;
    refresh_referring(tx, resource, id)?;
    (resource.after_write)(tx, ctx, id)
}

fn audit_change(
    tx: &Tx<'_>,
    ctx: &Context,
    resource: &'static Resource,
    action: &'static str,
    id: i64,
    before: Option<Value>,
) -> Result<()> {
    let after = snapshot(tx, ctx, resource, id)?;
    if let (Some(before), Some(after)) = (&before, &after)
        && !audit::differ(before, after)
    {
        // It has another version all the same.
        return changes::note(tx, changes::action::REFRESH, resource.name, id).map(drop);
    }
    resource.audit(tx, ctx, action, id, before, after)
}

impl Resource {
    /// Notes a change of one of its records.
    pub fn audit(
        &self,
        tx: &Tx<'_>,
        ctx: &Context,
        action: &'static str,
        id: i64,
        before: Option<Value>,
        after: Option<Value>,
    ) -> Result<()> {
        let change = Change {
            action,
            record_type: self.name,
            record_id: Some(id),
            before,
            after,
        };
        audit::append(tx, ctx, &change)
    }
}

/// The record as the API shows it, without what other tables hold.
fn snapshot(
    tx: &Tx<'_>,
    ctx: &Context,
    resource: &'static Resource,
    id: i64,
) -> Result<Option<Value>> {
    let json = Selection::own(resource).one(tx, "id", &id, &ctx.settings.zone)?;
    json.map(|text| serde_json::from_str(&text).map_err(Error::defect))
        .transpose()
}

/// A column of a record that is a text, such as a code.
pub fn stored_text(
    connection: &Connection,
    resource: &Resource,
    column: &str,
    id: i64,
) -> Result<Option<String>> {
    let sql = format!("SELECT {column} FROM {} WHERE id = ?1", resource.table);
    Ok(connection
        .prepare_cached(&sql)?
        .query_row([id], |row| row.get(0))
        .optional()?
        .flatten())
}

/// The most that a version may be ahead of the clock; further ahead, the clock has been put right.
const VERSION_AHEAD_MAX_MS: i64 = 1_000;

/// The version that a change gives a record: the present, or a millisecond later than the version
/// before, so that two changes at once are two versions.
fn next_version(tx: &Tx<'_>, resource: &Resource, id: i64) -> Result<i64> {
    let now = tx.now().0;
    let before = updated_at(tx, resource, id)?.map_or(0, |before| before.0);
    let ahead = (0..=VERSION_AHEAD_MAX_MS).contains(&(before - now));
    Ok(if ahead { before + 1 } else { now })
}

/// The time of a record's last change: its version. `None` when it is gone.
pub fn updated_at(
    connection: &Connection,
    resource: &Resource,
    id: i64,
) -> Result<Option<Timestamp>> {
    let sql = format!(
        "SELECT updated_at FROM {} WHERE id = ?1 AND {}",
        resource.table, resource.alive
    );
    Ok(connection
        .prepare_cached(&sql)?
        .query_row([id], |row| row.get(0))
        .optional()?)
}

/// The body with an id wherever a reference is sent as a selector such as `code:hall`.
fn with_ids(
    tx: &Tx<'_>,
    resource: &'static Resource,
    mut body: Map<String, Value>,
) -> Result<Map<String, Value>> {
    for property in resource.references() {
        if let Some(value) = body.get_mut(property.name)
            && let Value::String(selector) = value
        {
            *value = selected(tx, resource, property.name, selector)?.into();
        }
    }
    Ok(body)
}

/// The id of the living record that has a unique code.
pub fn holder(
    connection: &Connection,
    resource: &Resource,
    name: &str,
    code: &str,
) -> Result<Option<i64>> {
    let Some((column, _)) = resource.codes().find(|(_, known)| *known == name) else {
        return Ok(None);
    };
    let case = if resource.is_in_any_case(column) {
        " COLLATE NOCASE"
    } else {
        ""
    };
    let sql = format!(
        "SELECT id FROM {} WHERE {column} = ?1{case} AND {column} IS NOT NULL AND deleted_at IS NULL",
        resource.table
    );
    let mut statement = connection.prepare_cached(&sql)?;
    Ok(statement.query_row([code], |row| row.get(0)).optional()?)
}

/// The id of the living record that a selector means.
fn selected(tx: &Tx<'_>, resource: &Resource, property: &str, selector: &str) -> Result<i64> {
    let (id_type, value) = selector.split_once(':').unwrap_or_default();
    if id_type == "id" {
        return whole_number(value).map_err(|cause| Error::field(property, cause));
    }
    let known: Vec<_> = resource.codes().map(|(_, name)| name).collect();
    if !known.contains(&id_type) {
        return Err(Error::new(
            error::Kind::UnknownIdType,
            format!(
                "\"{}\" is not {{idType}}:{{id}}; the id types are id {}",
                text::shortened(selector),
                known.join(" ")
            ),
        )
        .at(property));
    }
    holder(tx, resource, id_type, value)?.ok_or_else(|| {
        Error::invalid(format!(
            "there is no {} {}",
            resource.name,
            text::shortened(selector)
        ))
        .at(property)
    })
}

fn with_source(tx: &Tx<'_>, resource: &Resource, ctx: &Context, id: i64) -> Result<String> {
    let stored = stored_text(tx, resource, "sources", id)?.unwrap_or_default();
    let mut sources: Vec<String> = serde_json::from_str(&stored).unwrap_or_default();
    if !sources.iter().any(|known| known == ctx.source) {
        sources.push(ctx.source.to_owned());
    }
    Ok(serde_json::json!(sources).to_string())
}

/// Every reference that is set must be to a living record.
fn check_references(tx: &Tx<'_>, resource: &'static Resource, changes: &Changes) -> Result<()> {
    for property in resource.references() {
        let Some(target) = changes.reference(property.column) else {
            continue;
        };
        let alive = tx
            .prepare_cached(&format!(
                "SELECT 1 FROM {} WHERE id = ?1 AND deleted_at IS NULL",
                resource.table
            ))?
            .exists([target])?;
        if !alive {
            return Err(Error::field(
                property.name,
                format!("there is no {} with id {target}", resource.name),
            ));
        }
    }
    Ok(())
}

fn check_parent(
    tx: &Tx<'_>,
    resource: &'static Resource,
    id: Option<i64>,
    changes: &Changes,
) -> Result<()> {
    let property = resource.references().find(|one| one.name == PARENT);
    match property.and_then(|property| changes.reference(property.column)) {
        Some(parent) => check_ancestors(tx, resource, id, parent),
        None => Ok(()),
    }
}

/// The id of the parent that a record has.
pub fn parent(connection: &Connection, resource: &Resource, id: i64) -> Result<Option<i64>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT parent_id FROM {} WHERE id = ?1",
        resource.table
    ))?;
    Ok(statement
        .query_row([id], |row| row.get(0))
        .optional()?
        .flatten())
}

/// Checks that a record, or a new one, may stand below another.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`] when that is the record itself or a descendant of it, or when it
/// has [`ANCESTORS_MAX`] generations above it already.
pub fn check_ancestors(
    tx: &Tx<'_>,
    resource: &Resource,
    id: Option<i64>,
    above: i64,
) -> Result<()> {
    let mut ancestor = Some(above);
    let below = match id {
        Some(id) => generations_below(tx, resource, id)?,
        None => 0,
    };
    for _ in below..=ANCESTORS_MAX {
        let Some(current) = ancestor else {
            return Ok(());
        };
        if Some(current) == id {
            return Err(Error::invalid(format!(
                "{above} is this {} itself or a descendant of it",
                resource.name
            ))
            .at("parent"));
        }
        ancestor = parent(tx, resource, current)?;
    }
    Err(Error::invalid(format!(
        "a {} may have at most {ANCESTORS_MAX} generations above it",
        resource.name
    ))
    .at("parent"))
}

/// Counts the generations below a record. Of a very large family not all are looked at.
fn generations_below(tx: &Tx<'_>, resource: &Resource, id: i64) -> Result<usize> {
    let depth: i64 = tx
        .prepare_cached(&format!(
            "WITH RECURSIVE below (id, depth) AS (
                 SELECT ?1, 0 UNION
                 SELECT child.id, depth + 1 FROM below JOIN {} AS child ON child.parent_id = below.id
                 WHERE depth <= {ANCESTORS_MAX} LIMIT 10000)
             SELECT max(depth) FROM below",
            resource.table
        ))?
        .query_row([id], |row| row.get(0))?;
    Ok(usize::try_from(depth).unwrap_or_default())
}
