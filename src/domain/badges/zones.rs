//! Zones: the letters of places (`data.Access.zone`) that the holder of a badge may enter, whatever the time and however
//! many are inside.

use crate::{
    core::{
        rules::{AccessRules, folded},
        settings::Settings,
    },
    domain::interactions::{
        judge::{self, DeviceCache},
        presence::History,
    },
    types::{DelegateId, DeviceId, error::Result},
};
use rusqlite::Connection;

/// The field of badges.
pub(super) const FIELD: &str = "zones";

/// The places that have letters, in the order of these.
pub(super) struct Zones {
    cache: DeviceCache,
    places: Vec<Zone>,
}

struct Zone {
    letters: String,
    place: DeviceId,
    /// Those in force there.
    rules: AccessRules,
}

impl Zones {
    /// Returns `None` where no place has letters.
    pub fn find(connection: &Connection, settings: &Settings) -> Result<Option<Self>> {
        let mut statement = connection.prepare_cached(
            "SELECT id FROM devices WHERE deleted_at IS NULL AND iif(json_valid(data), data ->> '$.Access.zone', NULL) IS NOT NULL",
        )?;
        let ids = statement.query_map([], |row| row.get(0).map(DeviceId))?;
        let (cache, mut places) = (DeviceCache::default(), Vec::new());
        for place in ids {
            let place = place?;
            let rules = judge::in_force(connection, &cache, place, &settings.access)?;
            places.extend(rules.and_then(|rules| {
                let letters = rules.zone.clone()?;
                Some(Zone {
                    letters,
                    place,
                    rules,
                })
            }));
        }
        places.sort_by(|one, other| one.letters.cmp(&other.letters));
        Ok((!places.is_empty()).then_some(Self { cache, places }))
    }

    /// Returns the letters of an attendee of a type: `A C`.
    pub fn of(&self, connection: &Connection, attendee: DelegateId, kind: &str) -> Result<String> {
        let kind = folded(kind);
        let mut history = None;
        let mut letters: Vec<&str> = Vec::new();
        for zone in &self.places {
            let mut may_enter = zone
                .rules
                .types
                .as_ref()
                .is_none_or(|types| types.contains(&kind));
            if may_enter && zone.rules.needs_join() {
                let history = match &history {
                    Some(history) => history,
                    None => history.insert(History::of(connection, &self.cache, attendee)?),
                };
                may_enter =
                    judge::is_joined(connection, &self.cache, history, attendee, zone.place)?;
            }
            if may_enter && letters.last() != Some(&zone.letters.as_str()) {
                letters.push(&zone.letters);
            }
        }
        Ok(letters.join(" "))
    }
}
