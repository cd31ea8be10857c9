//! Rows to JSON: which properties are read and shown, and how.

use super::{Field, Kind, Resource};
use crate::types::{Timestamp, Zone, error::Result, json, text};
use rusqlite::{Connection, OptionalExtension, Row, ToSql, types::ValueRef};
use std::fmt::Write;

/// The properties of a resource that an answer shows.
pub struct Selection {
    pub resource: &'static Resource,
    properties: Vec<&'static Field>,
    sql: String,
}

impl Selection {
    /// Every property.
    pub fn all(resource: &'static Resource) -> Self {
        Self::of(resource, resource.fields.iter().collect())
    }

    /// Every property that the record holds itself; made once for each resource.
    pub fn own(resource: &'static Resource) -> &'static Self {
        resource.own.get_or_init(|| Self::seen(resource, None))
    }

    /// As [`Selection::own`], as far as `visible` lets a client see them.
    pub fn seen(resource: &'static Resource, visible: Option<&[String]>) -> Self {
        let own = |field: &&Field| {
            let is_seen = visible.is_none_or(|names| names.iter().any(|name| name == field.name));
            field.kind.always_stands() || (field.kind != Kind::Attached && is_seen)
        };
        Self::of(resource, resource.fields.iter().filter(own).collect())
    }

    /// As [`Selection::own`], of deleted records too; for the console alone.
    pub fn own_deleted_too(resource: &'static Resource) -> Self {
        let own = |property: &&Field| property.kind != Kind::Attached;
        let properties = resource.fields.iter().filter(own).collect();
        Self::of_rows(resource, properties, "TRUE")
    }

    /// The properties that `fields` names (comma-separated; all without it), as far as `visible`
    /// lets the client see them. `id` and `_type` are always shown.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`] for a name that is no property.
    pub fn parse(
        resource: &'static Resource,
        fields: Option<&str>,
        visible: Option<&[String]>,
    ) -> Result<Self> {
        let known = resource.fields.iter().map(|field| field.name);
        let named = named_fields(resource.name, fields, known)?;
        let shown = |property: &&Field| {
            property.kind.always_stands()
                || (named
                    .as_ref()
                    .is_none_or(|named| named.contains(&property.name))
                    && visible
                        .is_none_or(|visible| visible.iter().any(|name| name == property.name)))
        };
        Ok(Self::of(
            resource,
            resource.fields.iter().filter(shown).collect(),
        ))
    }

    fn of(resource: &'static Resource, properties: Vec<&'static Field>) -> Self {
        Self::of_rows(resource, properties, resource.alive)
    }

    fn of_rows(
        resource: &'static Resource,
        properties: Vec<&'static Field>,
        condition: &str,
    ) -> Self {
        let mut sql = String::from("SELECT id, updated_at");
        for property in &properties {
            match property.kind {
                Kind::Id | Kind::Type | Kind::Attached => {}
                Kind::Reference => {
                    let _ = write!(
                        sql,
                        ", (SELECT r.id FROM {table} r WHERE r.id = {table}.{} AND r.deleted_at IS NULL)",
                        property.column,
                        table = resource.table,
                    );
                }
                // What somebody broke in the file must not break the whole answer.
                Kind::Document => {
                    let column = property.column;
                    let _ = write!(sql, ", iif(json_valid({column}), {column}, NULL)");
                }
                _ => {
                    let _ = write!(sql, ", {}", property.column);
                }
            }
        }
        let _ = write!(sql, " FROM {} WHERE {condition}", resource.table);
        Self {
            resource,
            properties,
            sql,
        }
    }

    /// Returns whether a property is shown.
    pub fn shows(&self, name: &str) -> bool {
        self.properties.iter().any(|property| property.name == name)
    }

    /// `SELECT … FROM … WHERE …`, without an end, the id first and its version second.
    pub fn sql(&self) -> &str {
        &self.sql
    }

    /// The JSON of the record that `column` identifies by `value`; `None` when there is none. The
    /// column is one of the catalogue's, never text from outside.
    pub fn one(
        &self,
        connection: &Connection,
        column: &'static str,
        value: &dyn ToSql,
        zone: &Zone,
    ) -> Result<Option<String>> {
        let found = self.one_version(connection, column, value, zone)?;
        Ok(found.map(|(json, _)| json))
    }

    /// As [`Selection::one`], with when the record was last changed: its version.
    pub fn one_version(
        &self,
        connection: &Connection,
        column: &'static str,
        value: &dyn ToSql,
        zone: &Zone,
    ) -> Result<Option<(String, Timestamp)>> {
        let mut statement =
            connection.prepare_cached(&format!("{} AND {column} = ?1", self.sql))?;
        let mut json = String::with_capacity(512);
        let version = statement
            .query_row([value], |row| {
                let id = row.get::<_, i64>(0)?;
                let attachments = (self.resource.attach)(connection, self, &[id], zone)
                    .map_err(|cause| rusqlite::Error::InvalidParameterName(cause.to_string()))?;
                self.write(row, &attachments, zone, &mut json)?;
                row.get(1)
            })
            .optional()?;
        Ok(version.map(|version| (json, version)))
    }

    /// Writes one row of [`Selection::sql`] as a JSON object; properties without a value are left
    /// out (contract §2).
    pub fn write(
        &self,
        row: &Row<'_>,
        attachments: &super::Attachments,
        zone: &Zone,
        out: &mut String,
    ) -> rusqlite::Result<()> {
        let id: i64 = row.get(0)?;
        let mut column = 2;
        out.push('{');
        for property in &self.properties {
            match property.kind {
                Kind::Id => {
                    key(property.name, out);
                    let _ = write!(out, "{id}");
                }
                Kind::Type => {
                    key(property.name, out);
                    json::write_string(self.resource.name, out);
                }
                Kind::Attached => {
                    if let Some(attached) = attachments.get(property.name, id) {
                        key(property.name, out);
                        out.push_str(attached);
                    }
                }
                _ => {
                    self.write_column(property, row.get_ref(column)?, zone, out)?;
                    column += 1;
                }
            }
        }
        out.push('}');
        Ok(())
    }

    fn write_column(
        &self,
        property: &Field,
        value: ValueRef<'_>,
        zone: &Zone,
        out: &mut String,
    ) -> rusqlite::Result<()> {
        match (property.kind, value) {
            (_, ValueRef::Null | ValueRef::Text(b"")) => {}
            (Kind::Document | Kind::Sources, ValueRef::Text(b"{}" | b"[]")) => {}
            (Kind::Document | Kind::Sources, value) => {
                key(property.name, out);
                out.push_str(value.as_str()?);
            }
            (Kind::Time | Kind::Stamp, value) => {
                key(property.name, out);
                json::write_string(&zone.iso(Timestamp(value.as_i64()?)), out);
            }
            (Kind::PlainTime, value) => {
                key(property.name, out);
                json::write_string(&zone.plain(Timestamp(value.as_i64()?)), out);
            }
            (Kind::Flag, value) => {
                key(property.name, out);
                out.push_str(if value.as_i64()? == 0 {
                    "false"
                } else {
                    "true"
                });
            }
            (Kind::Reference, value) => {
                key(property.name, out);
                let name = self.resource.name;
                let _ = write!(out, "{{\"id\":{},\"_type\":\"{name}\"}}", value.as_i64()?);
            }
            (_, value) => {
                key(property.name, out);
                json::write_string(value.as_str()?, out);
            }
        }
        Ok(())
    }
}

/// The properties that a parameter `fields` names, separated by commas; `None` for all.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`] for a name that is no property.
pub fn named_fields<'a>(
    record: &str,
    fields: Option<&'a str>,
    known: impl IntoIterator<Item = &'static str>,
) -> Result<Option<Vec<&'a str>>> {
    let Some(fields) = fields else {
        return Ok(None);
    };
    let names = fields.split(',').map(str::trim);
    let names: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
    let known: Vec<&str> = known.into_iter().collect();
    match names.iter().find(|name| !known.contains(name)) {
        None => Ok(Some(names)),
        Some(unknown) => Err(text::unknown_property(unknown, record, known).at("fields")),
    }
}

fn key(name: &str, out: &mut String) {
    if !out.ends_with('{') {
        out.push(',');
    }
    out.push('"');
    out.push_str(name);
    out.push_str("\":");
}
