//! The rules by which tag reads become presence: the setting `presence`, and what a place says of itself in
//! `data.Presence`.

use crate::types::{
    error::{Error, Result},
    json::in_plain_words,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The part of a place that an antenna hears.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Deserialize, Serialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Zone {
    /// A room, all of it.
    #[default]
    Room,
    /// A doorway: whoever passes was outside, or was inside.
    Door,
    /// The inner side of a portal.
    Inside,
    /// The outer side of a portal.
    Outside,
}

impl Zone {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Room => "room",
            Self::Door => "door",
            Self::Inside => "inside",
            Self::Outside => "outside",
        }
    }

    /// Returns whether this is a side of a portal.
    pub fn is_side(self) -> bool {
        matches!(self, Self::Inside | Self::Outside)
    }
}

/// The setting `presence`.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct PresenceSettings {
    /// Reads within `windowMs` that make a sighting.
    pub min_reads: u32,
    pub window_ms: u32,
    /// Weaker reads are ignored.
    pub rssi_floor_dbm: f32,
    /// The lead that another place needs, as evidence over time, before somebody moves there.
    pub move_db: f32,
    /// Without a read for so long, somebody has left a room.
    pub gone_after_seconds: u32,
    /// After a pass, a doorway ignores the same tag for so long.
    pub door_dead_seconds: u32,
}

impl Default for PresenceSettings {
    fn default() -> Self {
        Self {
            min_reads: 2,
            window_ms: 2_000,
            rssi_floor_dbm: -70.0,
            move_db: 6.0,
            gone_after_seconds: 60,
            door_dead_seconds: 5,
        }
    }
}

/// `data.Presence` of a place: what it sets in place of the setting.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct PlacePresence {
    /// Set where entries and exits that readers notice count for who is inside.
    pub counts: bool,
    pub min_reads: Option<u32>,
    pub window_ms: Option<u32>,
    pub rssi_floor_dbm: Option<f32>,
    pub move_db: Option<f32>,
    pub gone_after_seconds: Option<u32>,
    pub door_dead_seconds: Option<u32>,
}

impl PresenceSettings {
    /// Reads the setting strictly; `name` is what messages call it.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`], with the path of what is wrong.
    pub fn parse(name: &str, value: &Value) -> Result<Self> {
        let settings: Self = parse(name, value)?;
        settings.check(name)?;
        Ok(settings)
    }

    fn check(&self, name: &str) -> Result<()> {
        let within = |what: &str, value: f32, least: f32, most: f32| {
            if (least..=most).contains(&value) {
                return Ok(());
            }
            Err(Error::field(
                format!("{name}.{what}"),
                format!("must be from {least} to {most}"),
            ))
        };
        #[expect(clippy::cast_precision_loss, reason = "compared with small bounds")]
        let whole = |number: u32| number as f32;
        within("minReads", whole(self.min_reads), 1.0, 20.0)?;
        within("windowMs", whole(self.window_ms), 100.0, 60_000.0)?;
        within("rssiFloorDbm", self.rssi_floor_dbm, -120.0, 0.0)?;
        within("moveDb", self.move_db, 0.0, 40.0)?;
        within(
            "goneAfterSeconds",
            whole(self.gone_after_seconds),
            1.0,
            86_400.0,
        )?;
        within(
            "doorDeadSeconds",
            whole(self.door_dead_seconds),
            0.0,
            3_600.0,
        )
    }

    /// Returns these settings, with what a place sets in their place.
    #[must_use]
    pub fn at(&self, place: &PlacePresence) -> Self {
        Self {
            min_reads: place.min_reads.unwrap_or(self.min_reads),
            window_ms: place.window_ms.unwrap_or(self.window_ms),
            rssi_floor_dbm: place.rssi_floor_dbm.unwrap_or(self.rssi_floor_dbm),
            move_db: place.move_db.unwrap_or(self.move_db),
            gone_after_seconds: place.gone_after_seconds.unwrap_or(self.gone_after_seconds),
            door_dead_seconds: place.door_dead_seconds.unwrap_or(self.door_dead_seconds),
        }
    }
}

impl PlacePresence {
    /// Reads the section strictly; `name` is what messages call it.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`], with the path of what is wrong.
    pub fn parse(name: &str, value: &Value) -> Result<Self> {
        let place: Self = parse(name, value)?;
        PresenceSettings::default().at(&place).check(name)?;
        Ok(place)
    }

    /// The section in a device's stored `data`; what cannot be read sets nothing.
    pub fn of_stored(data: Option<&str>) -> Self {
        #[derive(Deserialize)]
        struct Sections {
            #[serde(rename = "Presence", default)]
            presence: PlacePresence,
        }
        let data = data.filter(|data| data.contains("\"Presence\""));
        let sections = data.and_then(|data| serde_json::from_str::<Sections>(data).ok());
        sections.map_or_else(Self::default, |sections| sections.presence)
    }
}

fn parse<T: for<'a> Deserialize<'a>>(name: &str, value: &Value) -> Result<T> {
    serde_path_to_error::deserialize(value).map_err(|cause| {
        let path = cause.path().to_string();
        let path = if path == "." {
            String::new()
        } else {
            format!(".{path}")
        };
        let fault = in_plain_words(&cause.into_inner().to_string());
        Error::field(format!("{name}{path}"), fault)
    })
}
