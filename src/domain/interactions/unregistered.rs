//! Places that admit registered attendees only, and for which nobody is registered: they refuse everybody.

use super::{
    judge::{self, DeviceCache},
    presence::PresenceChange,
};
use crate::{
    core::{rules::RuleSet, settings::Settings},
    domain::devices::{self, Offer},
    types::{DeviceId, error::Result},
};
use rusqlite::Connection;
use std::collections::HashMap;

/// Lists them. Whoever registered for a place above may enter, too.
pub fn unregistered(connection: &Connection, settings: &Settings) -> Result<Vec<Offer>> {
    let device_cache = DeviceCache::default();
    let mut known = HashMap::new();
    let mut found = Vec::new();
    for place in devices::places(connection)? {
        let id = DeviceId(place.id);
        if device_cache.place_of(connection, id)? != id {
            continue;
        }
        // What cannot be read is told at the place.
        let rules = judge::in_force(connection, &device_cache, id, &settings.access);
        let is_simple =
            |rules: &crate::core::rules::AccessRules| rules.rule_set == Some(RuleSet::Simple);
        if !rules.ok().flatten().as_ref().is_some_and(is_simple) {
            continue;
        }
        let mut is_any = false;
        for above in device_cache.path(connection, id)?.iter().copied() {
            let has_joins = match known.get(&above) {
                Some(has_joins) => *has_joins,
                None => has_joins(connection, above)?,
            };
            known.insert(above, has_joins);
            is_any |= has_joins;
        }
        if !is_any {
            found.push(place);
        }
    }
    Ok(found)
}

/// Returns whether anybody ever registered for a place itself.
fn has_joins(connection: &Connection, place: DeviceId) -> Result<bool> {
    let sql = "SELECT 1 FROM interactions WHERE first_device_id = ?1 AND effect = ?2 LIMIT 1";
    Ok(connection
        .prepare_cached(sql)?
        .exists((place, PresenceChange::Join))?)
}
