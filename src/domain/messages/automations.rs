//! Automations: a template that is sent by itself when an interaction of a type is stored, at a device
//! or anywhere, for delegates of a type or all.

use super::{Channel, templates};
use crate::{
    core::{Context, audit},
    db::Tx,
    domain::interactions::{draft, spelling},
    types::{
        error::{Error, Kind, Result},
        text,
    },
};
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde_json::{Value, json};

/// The longest name, in characters.
const NAME_MAX_CHARS: usize = 100;
/// Automations that there can be: each interaction is held against all of them.
const AUTOMATIONS_MAX: usize = 200;
/// The longest time between an interaction and its upload: a week, in minutes.
const WITHIN_MAX_MINUTES: i64 = 7 * 24 * 60;
/// The usual one, in minutes.
const WITHIN_MINUTES: i64 = 60;

/// An automation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Automation {
    pub id: i64,
    /// At this device or one below it; `None`: anywhere.
    pub device: Option<i64>,
    /// The automation as somebody enters it.
    pub entry: Entry,
    /// Interactions from before this moment send nothing, in milliseconds.
    pub since_ms: i64,
}

/// An automation as the configuration document has it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Entry {
    /// The name by which people know it.
    pub name: String,
    /// Set where it sends.
    #[serde(default = "active")]
    pub active: bool,
    /// The type of interaction.
    pub interaction_type: String,
    /// The code of the device, itself or one above; anywhere without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// The type of delegate; any without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delegate_type: Option<String>,
    /// The template's type: `email`, `sms` or `push`.
    #[serde(rename = "type")]
    pub channel: String,
    /// The template's slug.
    pub template: String,
    /// The minutes after an interaction within which its upload still sends a message.
    #[serde(default = "within")]
    pub within_minutes: i64,
}

fn active() -> bool {
    true
}

fn within() -> i64 {
    WITHIN_MINUTES
}

impl Entry {
    /// The channel of its template.
    ///
    /// # Errors
    /// [`Kind::Invalid`] for an unknown type.
    pub fn channel(&self) -> Result<Channel> {
        Channel::named(&self.channel)
    }

    /// Checks what can be checked without the file.
    ///
    /// # Errors
    /// [`Kind::Invalid`], naming the field.
    pub fn check(&self) -> Result<()> {
        let name = self.name.trim();
        if name.is_empty() || name.chars().count() > NAME_MAX_CHARS || name != self.name {
            return Err(Error::invalid(format!(
                "must have 1 to {NAME_MAX_CHARS} characters, without white space around them"
            ))
            .at("name"));
        }
        text::check_text("name", name)?;
        draft::check_type(&self.interaction_type)
            .map_err(|cause| Error::field("interactionType", cause))?;
        text::check_text(
            "delegateType",
            self.delegate_type.as_deref().unwrap_or_default(),
        )?;
        self.channel()?;
        if !(1..=WITHIN_MAX_MINUTES).contains(&self.within_minutes) {
            return Err(Error::field(
                "withinMinutes",
                format!("must be from 1 to {WITHIN_MAX_MINUTES} (a week)"),
            ));
        }
        Ok(())
    }
}

const SELECT: &str = "SELECT a.id, a.device_id, a.name, a.active, a.interaction_type, d.code,
    a.delegate_type, a.channel, a.template, a.within_minutes, a.since
    FROM automations a LEFT JOIN devices d ON d.id = a.device_id";

fn read(row: &Row<'_>) -> rusqlite::Result<Automation> {
    Ok(Automation {
        id: row.get(0)?,
        device: row.get(1)?,
        entry: Entry {
            name: row.get(2)?,
            active: row.get(3)?,
            interaction_type: row.get(4)?,
            device: row.get(5)?,
            delegate_type: row.get(6)?,
            channel: row.get(7)?,
            template: row.get(8)?,
            within_minutes: row.get(9)?,
        },
        since_ms: row.get(10)?,
    })
}

/// Every automation, by name.
pub fn all(connection: &Connection) -> Result<Vec<Automation>> {
    let mut statement =
        connection.prepare_cached(&format!("{SELECT} ORDER BY text_folded(a.name), a.id"))?;
    let rows = statement.query_map([], read)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The automation of an id.
pub fn of_id(connection: &Connection, id: i64) -> Result<Option<Automation>> {
    Ok(connection
        .prepare_cached(&format!("{SELECT} WHERE a.id = ?1"))?
        .query_row([id], read)
        .optional()?)
}

/// Stores a new automation (`id` is `None`), or one in the place of another; its id. It sends for what
/// comes from now on.
///
/// # Errors
/// [`Kind::Invalid`], naming the field; [`Kind::NoSuchPath`] when the other is gone.
pub fn save(tx: &Tx<'_>, ctx: &Context, id: Option<i64>, entry: &Entry) -> Result<i64> {
    entry.check()?;
    let known = all(tx)?;
    let of_id = |id| {
        known
            .iter()
            .find(|known| known.id == id)
            .ok_or_else(|| gone(id))
    };
    let before = id.map(of_id).transpose()?.map(|before| &before.entry);
    if id.is_none() && known.len() >= AUTOMATIONS_MAX {
        return Err(Error::invalid(format!(
            "there are {AUTOMATIONS_MAX} automations; remove some first"
        )));
    }
    if before == Some(entry) {
        return Ok(id.unwrap_or_default());
    }
    let is_named = |known: &Automation| known.entry.name == entry.name && Some(known.id) != id;
    if known.iter().any(is_named) {
        return Err(Error::field(
            "name",
            format!("there is an automation \"{}\" already", entry.name),
        ));
    }
    let kind = entry.interaction_type.as_str();
    if before.is_none_or(|before| before.interaction_type != kind) {
        spelling::check(tx, &ctx.settings, kind)
            .map_err(|cause| Error::field("interactionType", cause))?;
    }
    let id = store(tx, id, entry)?;
    let before = before.map(|before| json!(before));
    let after = Some(json!(entry));
    audit::append_between(tx, ctx, "automation", Some(id), before, after)?;
    Ok(id)
}

/// Stores an automation as it is, once its template and its device are found; its id.
fn store(tx: &Tx<'_>, id: Option<i64>, entry: &Entry) -> Result<i64> {
    let channel = entry.channel()?;
    if templates::of_slug(tx, channel, &entry.template)?.is_none() {
        return Err(Error::invalid(format!(
            "there is no template \"{}\" for {}s",
            text::shortened(&entry.template),
            channel.noun()
        ))
        .at("template"));
    }
    let device = entry.device.as_deref();
    let device = device.map(|code| device_of(tx, code)).transpose()?;
    tx.execute(
        "INSERT INTO automations (id, name, active, interaction_type, device_id, delegate_type,
             channel, template, within_minutes, since)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
         ON CONFLICT (id) DO UPDATE SET name = excluded.name, active = excluded.active,
             interaction_type = excluded.interaction_type, device_id = excluded.device_id,
             delegate_type = excluded.delegate_type, channel = excluded.channel,
             template = excluded.template, within_minutes = excluded.within_minutes,
             since = excluded.since",
        params![
            id,
            entry.name,
            entry.active,
            entry.interaction_type,
            device,
            entry.delegate_type,
            channel,
            entry.template,
            entry.within_minutes,
            tx.now()
        ],
    )?;
    Ok(id.unwrap_or_else(|| tx.last_insert_rowid()))
}

fn device_of(tx: &Tx<'_>, code: &str) -> Result<i64> {
    tx.prepare_cached("SELECT id FROM devices WHERE code = ?1 AND deleted_at IS NULL")?
        .query_row([code], |row| row.get(0))
        .optional()?
        .ok_or_else(|| {
            Error::invalid(format!(
                "there is no device with the code \"{}\"",
                text::shortened(code)
            ))
            .at("device")
        })
}

/// Removes an automation. What it has sent stays.
///
/// # Errors
/// [`Kind::NoSuchPath`] without such an automation.
pub fn remove(tx: &Tx<'_>, ctx: &Context, id: i64) -> Result<()> {
    let automation = of_id(tx, id)?.ok_or_else(|| gone(id))?;
    tx.execute("DELETE FROM automations WHERE id = ?1", [id])?;
    let before = Some(json!(automation.entry));
    audit::append_between(tx, ctx, "automation", Some(id), before, None)
}

fn gone(id: i64) -> Error {
    Error::new(
        Kind::NoSuchPath,
        format!("there is no automation {id} any more"),
    )
}

/// Every automation as the configuration document has it.
pub fn document(connection: &Connection) -> Result<Value> {
    let entries = all(connection)?.into_iter().map(|known| known.entry);
    Ok(json!(entries.collect::<Vec<_>>()))
}

/// Stores checked entries, each in the place of the one with its name; with `prune` the others go.
pub fn apply(tx: &Tx<'_>, ctx: &Context, entries: &[Entry], prune: bool) -> Result<()> {
    let known = all(tx)?;
    if prune {
        for automation in &known {
            let named = |entry: &Entry| entry.name == automation.entry.name;
            if !entries.iter().any(named) {
                remove(tx, ctx, automation.id)?;
            }
        }
    }
    for entry in entries {
        let id = known
            .iter()
            .find(|known| known.entry.name == entry.name)
            .map(|known| known.id);
        save(tx, ctx, id, entry)
            .map_err(|cause| cause.at(format!("automations ({})", entry.name)))?;
    }
    for automation in all(tx)? {
        let entry = automation.entry;
        if templates::of_slug(tx, entry.channel()?, &entry.template)?.is_none() {
            return Err(Error::invalid(format!(
                "automations ({}): there is no template \"{}\" any more",
                entry.name, entry.template
            )));
        }
    }
    Ok(())
}
