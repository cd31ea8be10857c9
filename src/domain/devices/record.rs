//! One device as it is stored, deleted or not, for its page and its form.

use super::{EVENT, LISTED, NAME, RESOURCE};
use crate::{
    core::{
        records::{Field, Kind},
        rules::AccessRules,
    },
    types::{DeviceId, Timestamp, Zone, error::Result},
};
use rusqlite::{Connection, OptionalExtension};
use serde_json::Value;
use std::collections::HashMap;

/// Lists the fields of a form beside type, parent, availability, rules and data.
pub fn form_fields() -> impl Iterator<Item = &'static Field> {
    LISTED.fields.iter().filter(|field| {
        matches!(field.kind, Kind::Text | Kind::Time | Kind::Code) && field.name != "deviceType"
    })
}

/// A device.
pub struct Record {
    pub id: DeviceId,
    /// The name by which people know the device.
    pub name: String,
    /// Its texts by column.
    texts: HashMap<&'static str, String>,
    pub start_at: Option<Timestamp>,
    pub end_at: Option<Timestamp>,
    pub available: bool,
    pub parent: Option<Parent>,
    pub sources: Vec<String>,
    /// `data` as it is stored, readable or not.
    pub data: Option<String>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub deleted_at: Option<Timestamp>,
}

/// The device that another belongs to.
pub struct Parent {
    pub id: i64,
    pub name: String,
    pub deleted: bool,
}

impl Record {
    /// The device of an id, deleted or not.
    pub fn find(connection: &Connection, id: i64) -> Result<Self> {
        let sql = format!(
            "SELECT d.*, {NAME} AS called, p.id AS above, coalesce(p.name, p.short_name, p.code) AS above_name,
                 p.deleted_at IS NOT NULL AS above_deleted
             FROM devices d LEFT JOIN devices p ON p.id = d.parent_id WHERE d.id = ?1"
        );
        connection
            .prepare_cached(&sql)?
            .query_row([id], |row| {
                let texts = form_fields().filter(|field| field.kind != Kind::Time);
                let columns = texts.map(|field| field.column).chain(["device_type"]);
                let mut texts = HashMap::new();
                for column in columns {
                    if let Some(text) = row.get(column)? {
                        texts.insert(column, text);
                    }
                }
                let parent_id: Option<i64> = row.get("above")?;
                let parent_name: Option<String> = row.get("above_name")?;
                let deleted = row.get("above_deleted")?;
                Ok(Self {
                    id: row.get("id")?,
                    name: row.get("called")?,
                    texts,
                    start_at: row.get("start_at")?,
                    end_at: row.get("end_at")?,
                    available: row.get("available")?,
                    sources: serde_json::from_str(&row.get::<_, String>("sources")?)
                        .unwrap_or_default(),
                    // What is no text cannot be read as JSON either.
                    data: row.get_ref("data")?.as_str_or_null().map_or_else(
                        |_| Some(String::from("(not text)")),
                        |text| text.map(ToOwned::to_owned),
                    ),
                    created_at: row.get("created_at")?,
                    updated_at: row.get("updated_at")?,
                    deleted_at: row.get("deleted_at")?,
                    parent: parent_id.zip(parent_name).map(|(id, name)| Parent {
                        id,
                        name,
                        deleted,
                    }),
                })
            })
            .optional()?
            .ok_or_else(|| RESOURCE.missing(&id))
    }

    /// A text property by its column; empty where it has none.
    pub fn text(&self, column: &str) -> &str {
        self.texts.get(column).map_or("", String::as_str)
    }

    /// Its type; empty where it has none.
    pub fn kind(&self) -> &str {
        self.text("device_type")
    }

    pub fn is_event(&self) -> bool {
        self.kind() == EVENT
    }

    /// The rules it states; `None` when they cannot be read.
    pub fn rules(&self) -> Option<AccessRules> {
        AccessRules::of_stored(self.data.as_deref())
    }

    /// `data`, an empty object where it has none or what is there cannot be read.
    pub fn document(&self) -> Value {
        self.data
            .as_deref()
            .and_then(|text| serde_json::from_str(text).ok())
            .filter(Value::is_object)
            .unwrap_or_else(|| Value::Object(serde_json::Map::new()))
    }

    /// The time frame, in words.
    pub fn when(&self, zone: &Zone) -> String {
        time_frame(self.start_at, self.end_at, zone)
    }
}

/// `2026-11-21 09:30 to 10:15`, with the second date where it is another; empty where neither is set.
pub fn time_frame(start: Option<Timestamp>, end: Option<Timestamp>, zone: &Zone) -> String {
    let minute = |at: Timestamp| {
        let plain = zone.plain(at);
        plain.strip_suffix(":00").unwrap_or(&plain).to_owned()
    };
    match (start, end) {
        (None, None) => String::new(),
        (Some(start), None) => format!("from {}", minute(start)),
        (None, Some(end)) => format!("until {}", minute(end)),
        (Some(start), Some(end)) => {
            let (start, end) = (minute(start), minute(end));
            let later = match (start.split_once(' '), end.split_once(' ')) {
                (Some((day, _)), Some((same, time))) if day == same => time,
                _ => &end,
            };
            format!("{start} to {later}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_frame_is_told_without_what_is_known() {
        let zone = Zone::default();
        let at = |text: &str| zone.read("t", &text.into()).ok();
        let (nine, ten) = (at("2026-11-21 09:00:00"), at("2026-11-21 10:15:30"));
        let tomorrow = at("2026-11-22 01:00:00");
        for (start, end, told) in [
            (nine, ten, "2026-11-21 09:00 to 10:15:30"),
            (nine, tomorrow, "2026-11-21 09:00 to 2026-11-22 01:00"),
            (nine, None, "from 2026-11-21 09:00"),
            (None, ten, "until 2026-11-21 10:15:30"),
            (None, None, ""),
        ] {
            assert_eq!(time_frame(start, end, &zone), told);
        }
    }
}
