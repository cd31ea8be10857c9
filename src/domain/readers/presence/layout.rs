//! Which antenna watches which place, and by which rules.

use super::TagRead;
use crate::core::presence::{PlacePresence, PresenceSettings, Zone};
use std::collections::{HashMap, HashSet};

/// The place that one antenna watches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AntennaPlace {
    pub reader: i64,
    /// None: every antenna of the reader.
    pub antenna: Option<u16>,
    pub place: i64,
    pub zone: Zone,
}

/// A place as an antenna watches it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spot {
    pub place: i64,
    pub zone: Zone,
    pub rules: PresenceSettings,
}

/// Every antenna that watches a place.
#[derive(Debug, Clone, Default)]
pub struct Layout {
    spots: HashMap<(i64, Option<u16>), Spot>,
    rules: HashMap<i64, PresenceSettings>,
    default: PresenceSettings,
    /// The time until which each reader was out of order; in the future for one that still is.
    pub(super) down_until: HashMap<i64, i64>,
}

impl Layout {
    /// `places` has what places set in place of the settings.
    pub fn new(
        antennas: impl IntoIterator<Item = AntennaPlace>,
        places: impl IntoIterator<Item = (i64, PlacePresence)>,
        settings: &PresenceSettings,
    ) -> Self {
        let mut layout = Self {
            default: *settings,
            ..Self::default()
        };
        let places = places.into_iter();
        layout.rules = places
            .map(|(place, own)| (place, settings.at(&own)))
            .collect();
        for one in antennas {
            let rules = layout.rules(one.place);
            let (place, zone) = (one.place, one.zone);
            layout
                .spots
                .insert((one.reader, one.antenna), Spot { place, zone, rules });
        }
        layout
    }

    /// The spot that a read tells of.
    pub fn spot(&self, read: &TagRead) -> Option<&Spot> {
        let spots = &self.spots;
        spots
            .get(&(read.reader, Some(read.antenna)))
            .or_else(|| spots.get(&(read.reader, None)))
    }

    /// Returns whether a read is strong enough, and of an antenna that watches a place.
    pub fn knows(&self, read: &TagRead) -> bool {
        // A level that is no number is no level.
        self.spot(read).is_some_and(|spot| {
            read.rssi_dbm >= spot.rules.rssi_floor_dbm && read.rssi_dbm.is_finite()
        })
    }

    /// Returns whether an antenna hears a place as a room.
    pub fn has_room(&self, place: i64) -> bool {
        let mut spots = self.spots.values();
        spots.any(|spot| spot.place == place && spot.zone == Zone::Room)
    }

    /// Returns whether any antenna watches a place.
    pub fn watches(&self, place: i64) -> bool {
        self.spots.values().any(|spot| spot.place == place)
    }

    /// The rules of a place.
    pub fn rules(&self, place: i64) -> PresenceSettings {
        self.rules.get(&place).copied().unwrap_or(self.default)
    }

    /// Notes which readers are out of order: that they hear nothing tells nothing.
    pub fn set_down(&mut self, down: &HashSet<i64>, now_ms: i64) {
        let over_ms = now_ms - self.longest_ms();
        for until in self.down_until.values_mut() {
            *until = (*until).min(now_ms);
        }
        self.down_until.retain(|_, until| *until > over_ms);
        self.down_until
            .extend(down.iter().map(|reader| (*reader, i64::MAX)));
    }

    /// The time until which a reader was out of order.
    pub fn down_until(&self, reader: i64) -> i64 {
        self.down_until.get(&reader).copied().unwrap_or(i64::MIN)
    }

    /// After so long without a read, everybody has left every room.
    pub fn longest_ms(&self) -> i64 {
        let rules = self.rules.values().chain([&self.default]);
        let longest = rules.map(|rules| rules.gone_after_seconds).max();
        (i64::from(longest.unwrap_or_default()) + 30) * 1000
    }
}
