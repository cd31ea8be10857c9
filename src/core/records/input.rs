//! A JSON body to checked changes of a record (contract §2, §4).

use super::{Field, Kind, Resource};
use crate::types::{
    Zone,
    error::{self, Error, Faults, Result},
    json, text,
};
use rusqlite::types::Value as Sql;
use serde_json::{Map, Value};

/// The changes of a write: columns with their new values, in the catalogue's order.
#[derive(Debug, Default)]
pub struct Changes {
    columns: Vec<(&'static str, Sql)>,
    /// The merge patch of the sectioned `data`, or `null` to clear it.
    pub data: Option<Value>,
}

impl Changes {
    /// Reads the properties that a client sent. An unknown one is refused by name; a read-only one
    /// is ignored.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`], naming the property and what would be right.
    pub fn read(
        resource: &'static Resource,
        body: Map<String, Value>,
        zone: &Zone,
    ) -> Result<Self> {
        let (mut changes, mut faults) = (Self::default(), Faults::default());
        for (name, value) in body {
            let property = resource.property(&name).ok_or_else(|| {
                let known = resource.fields.iter().map(|field| field.name);
                text::unknown_property(&name, resource.name, known)
            })?;
            if !property.kind.is_writable() {
                continue;
            }
            if property.kind == Kind::Document {
                if !value.is_object() && !value.is_null() {
                    return Err(wrong(&name, "an object of named sections"));
                }
                changes.data = Some(value);
            } else if let Some(value) = faults.take(sql_value(property, value, zone)) {
                changes.set(property.column, value);
            }
        }
        faults.done()?;
        Ok(changes)
    }

    /// The new value of a column, if it changes.
    pub fn get(&self, column: &str) -> Option<&Sql> {
        self.columns
            .iter()
            .find(|(known, _)| *known == column)
            .map(|(_, value)| value)
    }

    /// Sets the new value of a column.
    pub fn set(&mut self, column: &'static str, value: impl Into<Sql>) {
        let value = value.into();
        match self.columns.iter_mut().find(|(known, _)| *known == column) {
            Some(known) => known.1 = value,
            None => self.columns.push((column, value)),
        }
    }

    /// Gives a column a value where it gets none; for a PATCH, where it would lose it.
    pub fn set_default(
        &mut self,
        column: &'static str,
        creating: bool,
        value: impl FnOnce() -> Sql,
    ) {
        let lost = match self.get(column) {
            Some(new) => *new == Sql::Null,
            None => creating,
        };
        if lost {
            self.set(column, value());
        }
    }

    /// The columns with their new values.
    pub fn columns(&self) -> &[(&'static str, Sql)] {
        &self.columns
    }

    /// The new id in a reference column, if it is set to one.
    pub fn reference(&self, column: &str) -> Option<i64> {
        match self.get(column) {
            Some(Sql::Integer(id)) => Some(*id),
            _ => None,
        }
    }
}

/// Checks that a body changes nothing but what its sender sees; `visible` are the properties that the
/// client was given, all without it (contract §4). Read-only properties are ignored as everywhere.
///
/// # Errors
/// [`crate::types::error::Kind::Forbidden`], naming the property.
pub fn check_visible(
    resource: &Resource,
    body: &Map<String, Value>,
    visible: Option<&[String]>,
) -> Result<()> {
    let Some(visible) = visible else {
        return Ok(());
    };
    let hidden = |name: &&String| {
        let property = resource.property(name);
        property.is_some_and(|property| property.kind.is_writable()) && !visible.contains(name)
    };
    match body.keys().find(hidden) {
        None => Ok(()),
        Some(name) => Err(Error::new(
            error::Kind::Forbidden,
            "this client does not see this property and may not change it",
        )
        .at(name)),
    }
}

fn wrong(name: &str, right: &str) -> Error {
    Error::field(name, format!("must be {right}"))
}

fn sql_value(property: &Field, value: Value, zone: &Zone) -> Result<Sql> {
    let name = property.name;
    if value.is_null() {
        return Ok(Sql::Null);
    }
    Ok(match property.kind {
        Kind::Code => {
            let code = string(name, value)?;
            text::check_code(name, &code)?;
            Sql::Text(code)
        }
        Kind::Flag => Sql::Integer(
            value
                .as_bool()
                .ok_or_else(|| wrong(name, "true or false"))?
                .into(),
        ),
        Kind::Time | Kind::PlainTime => Sql::Integer(zone.read(name, &value)?.0),
        Kind::Reference => Sql::Integer(reference(name, &value)?),
        _ => {
            let plain = string(name, value)?;
            text::check_text(name, &plain)?;
            if plain.is_empty() {
                Sql::Null
            } else {
                Sql::Text(plain)
            }
        }
    })
}

fn string(name: &str, value: Value) -> Result<String> {
    match value {
        Value::String(text) => Ok(text),
        _ => Err(wrong(name, "a string or null")),
    }
}

fn reference(name: &str, value: &Value) -> Result<i64> {
    referred(value).ok_or_else(|| {
        wrong(
            name,
            "an id, {\"id\": ...}, a selector such as \"code:hall\" or null",
        )
    })
}

/// The id that a reference gives: itself, or an object that carries it (contract §2).
pub fn referred(value: &Value) -> Option<i64> {
    value.get("id").unwrap_or(value).as_i64()
}

/// The `data` that results from a merge patch.
pub fn merged_data(stored: Option<&str>, patch: Value) -> Value {
    let mut data = match stored {
        Some(text) if !patch.is_null() => {
            serde_json::from_str(text).unwrap_or_else(|_| Value::Object(Map::new()))
        }
        _ => Value::Object(Map::new()),
    };
    if !patch.is_null() {
        json::merge_patch(&mut data, patch);
    }
    data
}

/// `data` as it is stored.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`] when it is larger than a record may be.
pub fn data_text(data: &Value) -> Result<Sql> {
    let text = data.to_string();
    if text.len() > json::RECORD_MAX_BYTES {
        return Err(Error::invalid(format!(
            "may have at most {} bytes when merged",
            json::RECORD_MAX_BYTES
        ))
        .at("data"));
    }
    Ok(if text == "{}" {
        Sql::Null
    } else {
        Sql::Text(text)
    })
}
