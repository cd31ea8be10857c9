//! Interactions as rows and as JSON.

use super::{draft::Participants, shared};
use crate::{
    core::records::select::named_fields,
    types::{DelegateId, DeviceId, InteractionId, Timestamp, Zone, error::Result, json},
};
use rusqlite::{Connection, OptionalExtension, Row};
use std::fmt::Write;

/// The columns that [`Interaction::read`] reads, in its order.
pub const COLUMNS: &str = "id, interaction_type, first_delegate_id, second_delegate_id, \
    third_delegate_id, first_device_id, second_device_id, third_device_id, data, shared, \
    recorded_at, created_at";

/// The names of an interaction's properties, in the order they are shown.
pub const PROPERTY_NAMES: &[&str] = &[
    "id",
    "_type",
    "firstDelegate",
    "secondDelegate",
    "thirdDelegate",
    "firstDevice",
    "secondDevice",
    "thirdDevice",
    "interactionType",
    "data",
    "recordedAt",
    "createdAt",
    "updatedAt",
];

#[derive(Debug, Clone)]
pub struct Interaction {
    /// Its id; none for one that was only tested.
    pub id: Option<InteractionId>,
    /// Its type.
    pub kind: String,
    /// First, second and third delegate.
    pub delegates: Participants<DelegateId>,
    /// First, second and third device.
    pub devices: Participants<DeviceId>,
    /// `data` as JSON text.
    pub data: Option<String>,
    /// The places in `data` where shared values belong, as stored.
    pub shared: Option<String>,
    /// The time of the interaction, as sent.
    pub recorded_at: Timestamp,
    /// The time of arrival.
    pub created_at: Timestamp,
}

impl Interaction {
    /// Reads a row of [`COLUMNS`].
    pub fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: Some(row.get(0)?),
            kind: row.get(1)?,
            delegates: [row.get(2)?, row.get(3)?, row.get(4)?],
            devices: [row.get(5)?, row.get(6)?, row.get(7)?],
            data: row.get(8)?,
            shared: row.get(9)?,
            recorded_at: row.get(10)?,
            created_at: row.get(11)?,
        })
    }

    /// Puts the shared values in their places, as an interaction is shown.
    pub fn complete(&mut self, connection: &Connection) -> Result<()> {
        if let (Some(data), Some(places)) = (&self.data, self.shared.take()) {
            self.data = Some(shared::in_full(connection, data, &places)?);
        }
        Ok(())
    }

    /// Appends the interaction as a JSON object with the named properties, or all; properties
    /// without a value are left out, but an id of none shows as `null`.
    pub fn write(&self, zone: &Zone, fields: Option<&[&str]>, out: &mut String) {
        let shows = |name: &str| fields.is_none_or(|fields| fields.contains(&name));
        match self.id {
            Some(id) => {
                let _ = write!(out, "{{\"id\":{id}");
            }
            None => out.push_str("{\"id\":null"),
        }
        out.push_str(",\"_type\":\"interaction\"");
        for (place, name) in PROPERTY_NAMES[2..5].iter().enumerate() {
            if let Some(id) = self.delegates[place].filter(|_| shows(name)) {
                let _ = write!(out, ",\"{name}\":{{\"id\":{id},\"_type\":\"delegate\"}}");
            }
        }
        for (place, name) in PROPERTY_NAMES[5..8].iter().enumerate() {
            if let Some(id) = self.devices[place].filter(|_| shows(name)) {
                let _ = write!(out, ",\"{name}\":{{\"id\":{id},\"_type\":\"device\"}}");
            }
        }
        if shows("interactionType") {
            out.push_str(",\"interactionType\":");
            json::write_string(&self.kind, out);
        }
        if let Some(data) = self.data.as_deref().filter(|_| shows("data")) {
            out.push_str(",\"data\":");
            out.push_str(data);
        }
        if shows("recordedAt") {
            let _ = write!(out, ",\"recordedAt\":\"{}\"", zone.iso(self.recorded_at));
        }
        // Nothing changes an interaction: it was last changed when it was created.
        let stamps = ["createdAt", "updatedAt"].map(|name| (name, shows(name)));
        if stamps.iter().any(|(_, shown)| *shown) {
            let created_at = zone.iso(self.created_at);
            for (name, _) in stamps.iter().filter(|(_, shown)| *shown) {
                let _ = write!(out, ",\"{name}\":\"{created_at}\"");
            }
        }
        out.push('}');
    }

    /// The interaction as JSON text.
    pub fn to_json(&self, zone: &Zone) -> String {
        let mut out = String::with_capacity(320 + self.data.as_ref().map_or(0, String::len));
        self.write(zone, None, &mut out);
        out
    }
}

/// The interaction of an id, complete.
pub fn find(connection: &Connection, id: i64) -> Result<Option<Interaction>> {
    let mut found = find_stored(connection, id)?;
    if let Some(interaction) = &mut found {
        interaction.complete(connection)?;
    }
    Ok(found)
}

/// The interaction of an id, as it is stored; see [`Interaction::complete`].
pub fn find_stored(connection: &Connection, id: i64) -> Result<Option<Interaction>> {
    Ok(connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM interactions WHERE id = ?1"))?
        .query_row([id], Interaction::read)
        .optional()?)
}

/// The properties that `fields` names, separated by commas; `None` for all.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`] for a name that is no property.
pub fn fields(named: Option<&str>) -> Result<Option<Vec<&'static str>>> {
    let named = named_fields("interaction", named, PROPERTY_NAMES.iter().copied())?;
    let all = PROPERTY_NAMES.iter().copied();
    Ok(named.map(|named| all.filter(|name| named.contains(name)).collect()))
}
