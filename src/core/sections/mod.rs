//! Sections of `data` that have a schema (contract §4): what is written into one must fit. A section
//! without a schema takes anything. Values are validated in the transaction that writes them, so a schema has no
//! references, and the product of its size and that of a value has a bound (`types/json/size.rs`).
//!
//! - `schema`: a JSON Schema, compiled once and kept; what does not fit, in words
//! - `simple`: the schemas that a form of fields can write, and back
//! - `survey`: which stored records would not fit

mod schema;
pub mod simple;

pub use schema::{Schema, Survey, survey};

use crate::{
    core::Context,
    db::Tx,
    types::{
        error::{Error, Result},
        json::size::{SCHEMA_SIZE_MAX, schema_size},
        text::{check_text, shortened},
    },
};
use rusqlite::{Connection, OptionalExtension, params};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The longest name of a section, in characters.
const NAME_MAX_CHARS: usize = 64;
/// Sections with a schema at the most, of all kinds of record.
const SECTIONS_MAX: i64 = 200;

/// The kind of record that a section is of; an event is a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Delegate,
    /// Devices and events.
    Device,
}

impl Kind {
    /// Every kind.
    pub const ALL: &'static [Self] = &[Self::Delegate, Self::Device];

    /// Its name in the file and in a configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::Delegate => "delegate",
            Self::Device => "device",
        }
    }

    /// The kind of a name.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`].
    pub fn parse(name: &str) -> Result<Self> {
        let mut all = Self::ALL.iter().copied();
        all.find(|kind| kind.name() == name)
            .ok_or_else(|| Error::field("sections", "they are of delegate or device"))
    }

    /// The table of its records.
    fn table(self) -> &'static str {
        match self {
            Self::Delegate => "delegates",
            Self::Device => "devices",
        }
    }

    /// The kind whose records are in a table.
    pub fn of_table(table: &str) -> Option<Self> {
        let mut all = Self::ALL.iter().copied();
        all.find(|kind| kind.table() == table)
    }
}

/// Schemas by kind and name; `null` takes one away.
pub type Named = BTreeMap<Kind, Map<String, Value>>;

/// Every schema, by kind and name.
pub fn all(connection: &Connection) -> Result<Named> {
    let mut statement = connection
        .prepare_cached("SELECT record_type, name, schema FROM sections ORDER BY 1, 2")?;
    let mut rows = statement.query([])?;
    let mut named: Named = Kind::ALL.iter().map(|kind| (*kind, Map::new())).collect();
    while let Some(row) = rows.next()? {
        let kind = Kind::parse(&row.get::<_, String>(0)?)?;
        let schema = serde_json::from_str(&row.get::<_, String>(2)?).unwrap_or(Value::Null);
        named.entry(kind).or_default().insert(row.get(1)?, schema);
    }
    Ok(named)
}

/// As [`all`], as the configuration document has it.
pub fn document(connection: &Connection) -> Result<Value> {
    serde_json::to_value(all(connection)?).map_err(Error::defect)
}

/// The schema of a section, where it has one.
pub fn find(connection: &Connection, kind: Kind, name: &str) -> Result<Option<Value>> {
    let text: Option<String> = connection
        .prepare_cached("SELECT schema FROM sections WHERE record_type = ?1 AND name = ?2")?
        .query_row([kind.name(), name], |row| row.get(0))
        .optional()?;
    Ok(text.map(|text| serde_json::from_str(&text).unwrap_or(Value::Null)))
}

/// Lists the sections whose schema is not checked (see `schema.sql`).
pub fn unchecked(connection: &Connection) -> Result<Vec<(Kind, String)>> {
    let mut statement = connection
        .prepare_cached("SELECT record_type, name FROM sections WHERE NOT checked ORDER BY 1, 2")?;
    let mut rows = statement.query([])?;
    let mut unchecked = Vec::new();
    while let Some(row) = rows.next()? {
        unchecked.push((Kind::parse(&row.get::<_, String>(0)?)?, row.get(1)?));
    }
    Ok(unchecked)
}

/// Compiles every schema that is checked, so that no write has to.
pub fn compile_all(connection: &Connection) -> Result<()> {
    let mut statement = connection.prepare("SELECT schema FROM sections WHERE checked")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        // Where it cannot be used, each write into its section says so.
        let _ = Schema::of(row.get_ref(0)?.as_str().unwrap_or_default());
    }
    Ok(())
}

/// Checks names and schemas, each alone: nothing is stored that no record could be held against. A schema that is
/// `stored` already is not judged again.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`], naming the section and what is wrong.
pub fn check(named: &Named, stored: &Named) -> Result<()> {
    for (kind, sections) in named {
        let stored = stored.get(kind);
        for (name, schema) in sections {
            if stored.and_then(|stored| stored.get(name)) == Some(schema) {
                continue;
            }
            check_one(*kind, name, schema).map_err(|cause| {
                Error::field(
                    "sections",
                    format!("{}: {}: {cause}", kind.name(), shortened(name)),
                )
            })?;
        }
    }
    Ok(())
}

/// Checks the name of a section and its schema.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`], saying what is wrong.
pub fn check_one(kind: Kind, name: &str, schema: &Value) -> Result<()> {
    check_text("name", name)?;
    if name.trim() != name || !(1..=NAME_MAX_CHARS).contains(&name.chars().count()) {
        return Err(Error::invalid(format!(
            "a section's name has 1 to {NAME_MAX_CHARS} characters, and no white space around it"
        )));
    }
    if kind == Kind::Device && name == "Access" {
        return Err(Error::invalid(
            "Access holds a device's rules of entry, which are checked anyway",
        ));
    }
    if schema.is_null() {
        return Ok(());
    }
    if !schema.is_object() {
        return Err(Error::invalid("a schema is a JSON object"));
    }
    let size = schema_size(schema);
    if size > SCHEMA_SIZE_MAX {
        return Err(Error::invalid(format!(
            "the schema has a size of {size}, at most {SCHEMA_SIZE_MAX} is checked; each value and key in it counts as one, \
             a text as one more for every 16 bytes, a format as 40, and a pattern by its length"
        )));
    }
    Schema::of(&schema.to_string()).map(drop)
}

/// Stores checked schemas, each in the place of the one of its section; with `prune` the others go.
/// Records that are stored already are left alone, and so is a schema that is the same.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`] for too many; or when they cannot be written.
pub fn save(tx: &Tx<'_>, ctx: &Context, named: &Named, prune: bool) -> Result<()> {
    let before = document(tx)?;
    if prune {
        let keeps = |kind, name: &str| named.get(kind).is_some_and(|all| all.contains_key(name));
        for (kind, sections) in &all(tx)? {
            for name in sections.keys().filter(|name| !keeps(kind, name)) {
                remove(tx, *kind, name)?;
            }
        }
    }
    for (kind, sections) in named {
        for (name, schema) in sections {
            if schema.is_null() {
                remove(tx, *kind, name)?;
            } else {
                tx.execute(
                    "INSERT INTO sections (record_type, name, schema) VALUES (?1, ?2, ?3)
                     ON CONFLICT (record_type, name) DO UPDATE SET schema = excluded.schema, checked = 1
                     WHERE schema <> excluded.schema",
                    params![kind.name(), name, schema.to_string()],
                )?;
            }
        }
    }
    let count: i64 = tx.query_row("SELECT count(*) FROM sections", [], |row| row.get(0))?;
    if count > SECTIONS_MAX {
        return Err(Error::field(
            "sections",
            format!("at most {SECTIONS_MAX} may have a schema"),
        ));
    }
    ctx.audit_update(tx, "sections", before, document(tx)?)
}

fn remove(tx: &Tx<'_>, kind: Kind, name: &str) -> Result<()> {
    let sql = "DELETE FROM sections WHERE record_type = ?1 AND name = ?2";
    tx.execute(sql, params![kind.name(), name])?;
    Ok(())
}

/// Checks those sections of a record's `data` that `patch` touches, as they will be: what was stored
/// before a schema came, and is left alone, does not stand in the way of a change elsewhere.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`], with the path of what does not fit.
pub fn check_data(
    connection: &Connection,
    kind: Kind,
    touched: impl Iterator<Item = impl AsRef<str>>,
    data: &Value,
) -> Result<()> {
    let mut left = schema::COST_MAX;
    for name in touched {
        let name = name.as_ref();
        let Some(value) = data.get(name) else {
            continue;
        };
        // Asked within the transaction of the write, so that no write slips past a schema that was
        // just stored; one row by its key, and nothing where no section has a schema.
        let schema: Option<String> = connection
            .prepare_cached(
                "SELECT schema FROM sections WHERE record_type = ?1 AND name = ?2 AND checked",
            )?
            .query_row([kind.name(), name], |row| row.get(0))
            .optional()?;
        if let Some(schema) = schema {
            schema::validate(&schema, &format!("data.{name}"), value, &mut left)?;
        }
    }
    Ok(())
}
